"""Hypergraph partitioning, HGPA (Strehl and Ghosh, 2002)."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from coterie._about import STREHL, MethodWords
from coterie._graphs import (
    LabelGraph,
    as_seed,
    cluster_order,
    cluster_sizes,
    cut_hypergraph,
    fill_empty_parts,
    similarity_cut,
)
from coterie._kernels.coassociation import n_blocks, nearest_of_first
from coterie._progress import track_progress
from coterie.consensus._base import BaseConsensus
from coterie.consensus._parameters import one_of
from coterie.ensemble import Ensemble, compact_codes

__all__ = ["HGPA"]

_GROUPS = 1000  # vertices of the hypergraph, at most
_GROUPS_PER_PART = 20  # at least


def group_rows(rows: NDArray[np.int32], n_groups: int, seed: int) -> NDArray[np.int64]:
    """Return a group, counted from 0, for each distinct label row.

    `n_groups` rows are drawn at random; every other row joins the one with which it shares most
    labels, the first of equal ones. With no more rows than groups, each row is a group.
    """
    if len(rows) <= n_groups:
        return np.arange(len(rows))
    drawn = np.sort(np.random.default_rng(seed).permutation(len(rows))[:n_groups])
    columns = compact_codes(np.concatenate([rows[drawn], rows]), int(rows.max()) + 1)
    with track_progress("grouping label rows", columns.shape[1], n_blocks(columns)) as done:
        groups = nearest_of_first(columns, n_groups, done)[n_groups:].astype(np.int64)
    groups[drawn] = np.arange(n_groups)  # a row with missing labels may be like several drawn ones
    return groups


def hyperedges(ensemble: Ensemble, groups: NDArray[np.int64]) -> list[list[int]]:
    """Return the groups of label rows in each cluster.

    Clusters are in an order that does not depend on their names.
    """
    rows, offsets = ensemble.patterns.labels, ensemble.offsets
    n_groups = int(groups.max()) + 1
    found: list[list[int]] = []
    for e in range(ensemble.n_partitions):
        seen = rows[:, e] >= 0
        pairs = np.unique(rows[seen, e].astype(np.int64) * n_groups + groups[seen])
        ends = np.searchsorted(pairs // n_groups, np.arange(1, offsets[e + 1] - offsets[e]))
        found += [members.tolist() for members in np.split(pairs % n_groups, ends)]
    return [found[c] for c in cluster_order(ensemble)]


def cut_clusters(
    ensemble: Ensemble, n_clusters: int, *, imbalance: float, seed: int
) -> NDArray[np.int64]:
    """Cut the hypergraph of distinct label rows, in groups where there are many."""
    rows, counts, inverse = ensemble.patterns
    n_parts = min(n_clusters, len(rows))
    groups = group_rows(rows, max(_GROUPS, _GROUPS_PER_PART * n_parts), seed)
    found = cut_hypergraph(
        hyperedges(ensemble, groups),
        np.bincount(groups, weights=counts).astype(np.int64),
        n_parts,
        imbalance=imbalance,
        random_state=seed,
    )
    # With fewer distinct rows than clusters, equal objects must be put apart.
    return fill_empty_parts(found[groups], n_clusters, inverse=inverse)


class HGPA(BaseConsensus):
    """Hypergraph partitioning: cut the objects apart so that few clusters are cut.

    Every cluster of every partition is a hyperedge, all of the same weight. The hypergraph is cut
    into `n_clusters` parts so that hyperedges are in as few parts as can be [1]_.

    Parameters
    ----------
    partitioner : {'spectral', 'hypergraph'}, default='spectral'
        How the hypergraph is cut. 'spectral' is the normalised cut of the hypergraph [2]_: it
        allows clusters of any size, needs no extra package and finds the truth more often.
        'hypergraph', as in the paper, makes parts of about the same size. It runs Mt-KaHyPar
        [3]_ and needs the package mtkahypar.
    imbalance : float, default=0.05
        With 'hypergraph': by how much a part may be larger than the mean.

    See Also
    --------
    coterie.HBGF : The same graph with clusters as vertices.

    Notes
    -----
    A missing label means that the object is in no hyperedge of the partition.

    With 'hypergraph', objects with the same labels are one vertex, as heavy as there are objects:
    they stay together, also where that makes a part larger than `imbalance` allows. With more than
    1,000 distinct label rows (and 20 for each cluster), that many are drawn at random, and
    each other row becomes one vertex with the row with which it shares most labels. Where there
    are fewer distinct label rows than clusters, equal objects are put apart.

    Mt-KaHyPar minimises the sum over clusters of the number of parts each is in, less 1. A cluster
    that is cut counts the same however it is cut, and parts must be of the same size, so that
    published comparisons find HGPA the weakest of the three methods of [1]_. Its deterministic
    preset does not depend on the number of threads.

    References
    ----------
    .. [2] D. Zhou, J. Huang and B. Schoelkopf, "Learning with hypergraphs: clustering,
       classification, and embedding", NIPS 19, 2006.
    .. [3] L. Gottesbueren, T. Heuer, P. Sanders and S. Schlag, "Scalable shared-memory hypergraph
       partitioning", ALENEX, 2021, :doi:`10.1137/1.9781611976472.2`.

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

    finds_n_clusters = False
    rules: ClassVar = {"partitioner": one_of("spectral", "hypergraph")}

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        partitioner: Literal["spectral", "hypergraph"] = "spectral",
        imbalance: float = 0.05,
        memory_limit: int | str | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.partitioner = partitioner
        self.imbalance = imbalance
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit(self, ensemble: Ensemble) -> NDArray[np.int64]:
        seed = as_seed(self.random_state)
        if self.partitioner == "hypergraph":
            return cut_clusters(ensemble, self.n_clusters, imbalance=self.imbalance, seed=seed)
        graph = LabelGraph(ensemble, 1.0 / np.sqrt(cluster_sizes(ensemble)))
        return similarity_cut(graph, self.n_clusters, random_state=seed)
