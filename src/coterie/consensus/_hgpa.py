"""Hypergraph partitioning, HGPA (Strehl and Ghosh, 2002)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from coterie._about import STREHL, MethodWords
from coterie._memory import check_fits
from coterie._partition import (
    as_seed,
    check_partitioner,
    cluster_order,
    cut_hypergraph,
    fill_empty_parts,
    heaviest_parts,
    settled_spectral_cut,
    spectral_labels,
)
from coterie._progress import stretch
from coterie.consensus._base import BaseConsensus
from coterie.ensemble import Ensemble, narrow_columns

if TYPE_CHECKING:
    from coterie._kernels.hypergraph import Hypergraph

__all__ = ["HGPA"]

PARTITIONERS = ("hypergraph", "spectral")
# How it is cut: the groups of label rows, at most so many and so many for each part, and by what.
_ATTEMPTS = ((200, 20, settled_spectral_cut), (1000, 20, cut_hypergraph))
_MOST_GAINS = 50_000  # rows times parts, for which the best move is looked for again and again
_BYTES_PER_PIN = 24  # the hypergraph, both ways, and what it takes to make one of groups


def group_rows(rows: NDArray[np.int32], n_groups: int, seed: int) -> NDArray[np.int64]:
    """Return a group, counted from 0, for each distinct label row.

    `n_groups` rows are drawn at random; every other goes to that with which it shares most labels,
    the first of equal ones. Where there are no more rows, each is a group.
    """
    from coterie._kernels.coassociation import n_blocks, nearest_of_first

    if len(rows) <= n_groups:
        return np.arange(len(rows))
    drawn = np.sort(np.random.default_rng(seed).permutation(len(rows))[:n_groups])
    columns = narrow_columns(np.concatenate([rows[drawn], rows]), int(rows.max()) + 1)
    with stretch("grouping label rows", columns.shape[1], n_blocks(columns)) as done:
        groups = nearest_of_first(columns, n_groups, done)[n_groups:].astype(np.int64)
    groups[drawn] = np.arange(n_groups)  # another may have all labels of one with missing ones
    return groups


def hypergraph_of_rows(ensemble: Ensemble) -> Hypergraph:
    """Return the hypergraph of distinct label rows, as heavy as their objects; edges are clusters.

    These are in an order that does not depend on their names.
    """
    from coterie._kernels.clusters import describe_clusters
    from coterie._kernels.hypergraph import of_rows

    rows, counts, _ = ensemble.patterns
    _, sizes = describe_clusters(rows, np.ones(len(rows), dtype=np.int64), ensemble.offsets)
    order = cluster_order(ensemble)
    order = order[np.argsort(sizes[order], kind="stable")]  # small ones say most
    order = order[sizes[order] > 1]
    rank = np.full(len(sizes), -1)
    rank[order] = np.arange(len(order))
    return of_rows(rows, ensemble.offsets, rank, sizes[order], counts.astype(np.int32))


def cut_clusters(
    ensemble: Ensemble, n_clusters: int, *, imbalance: float, seed: int
) -> NDArray[np.int64]:
    """Cut the hypergraph of distinct label rows, by way of groups of them.

    If a spectral partition of few groups does not settle it, more groups are cut from scratch.
    """
    from coterie._kernels.hypergraph import cost, improve, mapped, settle, unload

    rows, _, inverse = ensemble.patterns
    n_parts = min(n_clusters, len(rows))
    _check_room(ensemble, n_parts)
    whole = hypergraph_of_rows(ensemble)
    for most, per_part, cut in _ATTEMPTS:
        groups = group_rows(rows, max(most, per_part * n_parts), seed)
        graph = mapped(whole, groups, int(groups.max()) + 1)
        found = cut(graph, n_parts, imbalance=imbalance, random_state=seed)
        if found is not None:
            break
    assert found is not None  # the last always finds one
    labels = found[groups]
    heaviest = heaviest_parts(whole.weights, n_parts, imbalance)
    if cost(whole, labels, heaviest)[0] > 0:  # groups may be too heavy where single rows are not
        if labels.size * n_parts <= _MOST_GAINS:
            improve(whole, labels, heaviest, np.ones(n_parts, dtype=np.int64), labels.size)
        unload(whole, labels, heaviest)
    settle(whole, labels, heaviest)
    # With fewer distinct rows than clusters, equal objects must be put apart.
    return fill_empty_parts(labels, np.zeros(len(labels)), n_clusters, inverse)


def _check_room(ensemble: Ensemble, n_parts: int) -> None:
    """Refuse what does not fit: the hypergraph, and tables of clusters and parts."""
    from numba import get_num_threads

    n_rows, n_partitions = ensemble.patterns.labels.shape
    n_all = int(ensemble.offsets[-1])
    check_fits(
        _BYTES_PER_PIN * n_rows * n_partitions + 5 * n_all * n_parts * (get_num_threads() + 1),
        f"the hypergraph of {n_rows} distinct label rows in {n_partitions} partitions, cut into "
        f"{n_parts} parts,",
        way_out="Use partitioner='spectral'",
    )


class HGPA(BaseConsensus):
    """Hypergraph partitioning: cut the objects apart so that few clusters are cut.

    Every cluster of every partition is a hyperedge, all of the same weight; objects are divided
    into `n_clusters` parts of about the same size so that hyperedges are in as few parts as can
    be [1]_. Published comparisons find it the weakest of the three methods of that paper: a
    cluster that is cut counts the same however it is cut, and parts must be of the same size.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters. The method does not find it by itself.
    partitioner : {'hypergraph', 'spectral'}, default='hypergraph'
        How the hypergraph is cut. 'hypergraph' is a multilevel partitioner in the manner of the
        paper's hMETIS [2]_, with Mt-KaHyPar [3]_; it needs the package mtkahypar, and makes parts
        of about the same size, so that on clusters of different sizes 'spectral' is right.
        'spectral' is the normalised cut of the hypergraph [4]_, needs no extra package and allows
        clusters of any size.
    imbalance : float, default=0.05
        With 'hypergraph': by how much a part may be larger than the mean.
    random_state : int, RandomState instance or None, default=None
        Seed of the partitioner.

    Attributes
    ----------
    labels_ : ndarray of int64, shape (n_objects,)
        Consecutive from 0, largest cluster first.
    n_clusters_ : int
        Number of clusters.
    confidence_ : ndarray of shape (n_objects,)
        How safe the object's place is, by one measure for all methods: of the support for its
        own cluster and for the best other one, the share of its own. Near 0.5 the other would
        do as well.
    ensemble_ : Ensemble
        What was fitted.
    n_features_in_ : int
        Number of partitions.

    See Also
    --------
    coterie.HBGF : The same graph with clusters as vertices.

    Notes
    -----
    A missing label means that the object is in no hyperedge of the partition.

    Objects with the same labels are one vertex, as heavy as there are objects: they stay together,
    also where that makes a part larger than `imbalance` allows. Where there are fewer distinct
    label rows than clusters, equal objects are put apart, the first of them first.

    What is small is the sum over clusters of the number of parts each is in, less 1.

    With more than 200 distinct label rows (or 20 for each cluster) so many of them are drawn at
    random, and each of the others becomes one vertex with that with which it shares most labels. A
    spectral partition of these, improved by Mt-KaHyPar, is taken if it settles the cut: it is near
    to balance, at most a quarter of what can be cut is cut, and improving it changes that by at
    most a tenth. So it is, most often, where clusters are of about the same size.

    Else, and with an `imbalance` above 0.2, up to 1,000 groups (or 20 for each cluster) are cut:
    from 4 to 16 times on several levels, by bisecting again and again few joined vertices, and
    improving the parts while these are taken apart (Fiduccia and Mattheyses [5]_). The best cut is
    crossed with others, and improved by Mt-KaHyPar. In the end each label row by itself goes where
    fewer clusters are cut, if there is room.

    Mt-KaHyPar runs with its deterministic preset: the result does not depend on the number of
    threads. It begins by itself, which takes ten times as long, with more than 100 clusters, and
    also where more than half of what can be cut is cut; then the better cut is kept.

    References
    ----------
    .. [1] A. Strehl and J. Ghosh, "Cluster ensembles: a knowledge reuse framework for combining
       multiple partitions", JMLR 3, 2002.
    .. [2] G. Karypis, R. Aggarwal, V. Kumar and S. Shekhar, "Multilevel hypergraph partitioning:
       applications in VLSI domain", IEEE Transactions on VLSI Systems 7(1), 1999,
       :doi:`10.1109/92.748202`.
    .. [3] L. Gottesbueren, T. Heuer, P. Sanders and S. Schlag, "Scalable shared-memory hypergraph
       partitioning", ALENEX, 2021, :doi:`10.1137/1.9781611976472.2`.
    .. [4] D. Zhou, J. Huang and B. Schoelkopf, "Learning with hypergraphs: clustering,
       classification, and embedding", NIPS 19, 2006.
    .. [5] C. M. Fiduccia and R. M. Mattheyses, "A linear-time heuristic for improving network
       partitions", Design Automation Conference, 1982, :doi:`10.1109/DAC.1982.1585498`.

    Examples
    --------
    >>> from coterie import HGPA
    >>> votes = [[0, 0, 0], [0, 0, 1], [0, 0, 0], [1, 1, 1], [1, None, 1], [1, 1, 1]]
    >>> HGPA(n_clusters=2, random_state=0).fit(votes).labels_
    array([0, 0, 0, 1, 1, 1])
    """

    about = MethodWords(
        title="Hypergraph partitioning algorithm",
        does=(
            "Every cluster of every partition is a hyperedge over its objects. The hypergraph is "
            "cut into k parts of about the same size so that few hyperedges are cut."
        ),
        use=(
            "Clusters that are known to be of about the same size, and many objects. On clusters "
            "of different sizes it is the weakest of its family; partitioner='spectral' does not "
            "mind sizes. Needs the extra 'hypergraph' otherwise."
        ),
        cost=(
            "Time and memory about linear in n L; of many distinct label rows groups are cut. A "
            "tenth of a second where clusters are of about the same size, up to seconds "
            "elsewhere."
        ),
        missing="An object is in no hyperedge of a partition that did not see it.",
        name=(
            "hypergraph partitioning (HGPA; Strehl and Ghosh, 2002): every cluster of every "
            "partition is a hyperedge, and the objects are cut into parts of about the same size "
            "with as few hyperedges cut as can be"
        ),
        references=(STREHL,),
    )
    exceptions = dict.fromkeys(
        (
            "clear_majority_is_found",
            "missing_labels_are_filled_by_the_others",
            "order_of_objects_changes_nothing",
        ),
        "the hypergraph is cut into parts of the same size, which these clusters are not",
    )

    finds_n_clusters = False

    def __init__(
        self,
        n_clusters: int | None = 2,
        *,
        partitioner: Literal["hypergraph", "spectral"] = "hypergraph",
        imbalance: float = 0.05,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.partitioner = partitioner
        self.imbalance = imbalance
        self.random_state = random_state

    def _fit(self, ensemble: Ensemble) -> NDArray[np.int64]:
        check_partitioner(self.partitioner, self.imbalance, PARTITIONERS)
        assert self.n_clusters is not None
        seed = as_seed(self.random_state)
        if self.partitioner == "hypergraph":
            return cut_clusters(ensemble, self.n_clusters, imbalance=self.imbalance, seed=seed)
        return spectral_labels(ensemble, self.n_clusters, by_size=True, random_state=seed)
