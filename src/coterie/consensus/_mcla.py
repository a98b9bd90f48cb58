"""Meta-clustering, MCLA (Strehl and Ghosh, 2002)."""

from __future__ import annotations

import warnings
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from coterie._about import STREHL, MethodWords
from coterie._memory import check_fits
from coterie._partition import (
    as_seed,
    balanced_cut,
    check_partitioner,
    cluster_order,
    cluster_sizes,
    cut_graph,
    spectral_graph,
)
from coterie._progress import stretch
from coterie.consensus._base import BaseConsensus
from coterie.ensemble import Ensemble

__all__ = ["MCLA"]

_BYTES_PER_PAIR = 64  # of clusters that share objects: an edge both ways, and once more normalised
_MOST_RUNS = 2  # of METIS; improved, the lighter is as light as the lightest of five
_MOST_GAINS = 20_000  # clusters times parts, beyond which a second cut takes a tenth of the time
_SLACK = 1e-12  # of equal means of NMI, which rounding may tell apart
_ROOM = 1 << 22  # pairs of clusters that are looked at side by side


def jaccard_graph(ensemble: Ensemble, order: NDArray[np.int64]) -> Any:
    """Return (K, K), sparse: the objects that two clusters share, as a share of those in either.

    Rows and columns are the clusters in the given order, which is that of their partitions.
    """
    from coterie._kernels.meta_graph import mirrored_jaccard

    n_all = len(order)
    ends, indices, shared = shared_objects(ensemble, order)
    ends, indices, values = mirrored_jaccard(ends, indices, shared, cluster_sizes(ensemble)[order])
    graph = scipy.sparse.csr_matrix((values, indices, ends), shape=(n_all, n_all))
    graph.has_canonical_format = True  # else it is looked at again and again
    return graph


def shared_objects(
    ensemble: Ensemble, order: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    """Return the number of objects that each cluster shares with those of later partitions.

    As the three arrays of a CSR matrix (K, K): where rows end, columns, numbers above 0. Strips of
    it, one for each partition, are found side by side, as many as there is room for.
    """
    from coterie._kernels.meta_graph import fill_strips, rank_rows

    offsets, (rows, counts, _) = ensemble.offsets, ensemble.patterns
    n_all, n_partitions = len(order), ensemble.n_partitions
    codes = rank_rows(rows, offsets, np.argsort(order).astype(np.uint32), np.uint32(n_all))
    # No strip has more entries than pairs of clusters, nor than pairs of labels in a row.
    n_later = n_partitions - 1 - np.arange(n_partitions)
    room = np.minimum(np.diff(offsets) * (n_all - offsets[1:]), len(codes) * n_later)
    lengths = np.zeros(n_all, dtype=np.int64)
    found: list[tuple[NDArray[np.int32], NDArray[np.int64]]] = []
    first, n_found = 0, 0
    with stretch("overlap of clusters", n_partitions, n_cells=n_partitions) as done:
        while first < n_partitions:
            last = first + max(1, int(np.searchsorted(np.cumsum(room[first:]), _ROOM, "right")))
            ends = np.cumsum(room[first:last])
            _check_entries(n_found, n_all, room=int(ends[-1]) if last == first + 1 else 0)
            indices = np.empty(ends[-1], dtype=np.int32)
            shared = np.empty(ends[-1], dtype=np.int64)
            starts = ends - room[first:last]
            fill_strips(
                codes, counts, offsets, first, starts, indices, shared, lengths, done[first:last]
            )
            for e, start in zip(range(first, last), starts, strict=True):
                n_here = int(lengths[offsets[e] : offsets[e + 1]].sum())
                strip = slice(start, start + n_here)
                found.append((indices[strip].copy(), shared[strip].copy()))
                n_found += n_here
            _check_entries(n_found, n_all)
            first = last
    ends = np.concatenate([[0], np.cumsum(lengths)])
    return ends, np.concatenate([i for i, _ in found]), np.concatenate([n for _, n in found])


def _check_entries(n_entries: int, n_all: int, room: int = 0) -> None:
    check_fits(
        _BYTES_PER_PAIR * n_entries + 12 * room,
        f"the graph of {n_all} clusters",
        way_out="Use fewer partitions (select) or partitions with fewer clusters",
    )


def meta_clusters(
    ensemble: Ensemble, n_parts: int, *, partitioner: str, imbalance: float, seed: int
) -> NDArray[np.int64]:
    """Return (K,): a part for each cluster of each partition.

    Parts are numbered by their first cluster, clusters being in an order that does not depend on
    their names.
    """
    order = cluster_order(ensemble)
    graph = jaccard_graph(ensemble, order)
    sizes = cluster_sizes(ensemble)[order]
    if partitioner == "metis":
        found = cut_graph(
            graph,
            n_parts,
            vertex_weights=sizes,
            imbalance=imbalance,
            random_state=seed,
            improve=True,
            most_runs=_MOST_RUNS,
        )
        return _numbered(found, order)
    found = spectral_graph(graph, n_parts, random_state=seed)
    parts = _numbered(found, order)
    if len(order) * n_parts <= _MOST_GAINS:
        even = balanced_cut(graph, found, n_parts, vertex_weights=sizes, imbalance=imbalance)
        if (even != found).any():
            other = _numbered(even, order)
            return other if agrees_better(ensemble, other, parts) else parts
    return parts


def _numbered(found: NDArray[np.int64], order: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the parts of clusters in their own order, numbered by the first in the given one."""
    _, first, inverse = np.unique(found, return_index=True, return_inverse=True)
    parts = np.empty(len(order), dtype=np.int64)
    parts[order] = np.argsort(np.argsort(first))[inverse]
    return parts


def associate(
    rows: NDArray[np.int32], offsets: NDArray[np.int64], parts: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return (p, k): the share of each meta-cluster's clusters that each label row is in.

    A code past the last is a cluster that is not known, and counts as missing.
    """
    from coterie._kernels.clusters import count_parts

    sizes = np.bincount(parts)
    # Counts are whole numbers, so that equal shares are equal after one division.
    found: NDArray[np.float64] = count_parts(rows, offsets, parts, len(sizes)) / sizes
    return found


class Agreement(NamedTuple):
    """How well the clusters that meta-clusters lead to agree with the partitions."""

    n_clusters: int
    nmi: float
    """Mean over partitions, by the geometric mean of the two entropies."""
    nmi_by_smaller: float
    """The same by the smaller entropy."""


def agreement_with(ensemble: Ensemble, parts: NDArray[np.int64]) -> Agreement:
    """Return how well the clusters agree that follow from these parts of all K clusters."""
    from coterie._kernels.meta_graph import count_votes
    from coterie.metrics._tables import nmi_of, tables_from_sums

    rows, counts, _ = ensemble.patterns
    votes = count_votes(rows, counts, ensemble.offsets, parts, int(parts.max()) + 1)
    tables = tables_from_sums(votes[:, :-1], ensemble.offsets)
    return Agreement(
        n_clusters=int(np.count_nonzero(votes[:, -1])),
        nmi=float(nmi_of(tables).mean()),
        nmi_by_smaller=float(nmi_of(tables, by_smaller=True).mean()),
    )


def agrees_better(ensemble: Ensemble, parts: NDArray[np.int64], others: NDArray[np.int64]) -> bool:
    """Whether meta-clusters lead to clusters that agree better with the partitions than others do.

    To no fewer clusters, and a higher mean NMI. Where partitions are finer than the clusters, NMI
    prefers clusters of the same size whether or not there are such, which NMI by the smaller
    entropy does not; that, in turn, does not mind if clusters that belong apart are joined. So with
    the same number of clusters both must be higher.
    """
    one, two = agreement_with(ensemble, parts), agreement_with(ensemble, others)
    is_higher = one.nmi > two.nmi + _SLACK
    if one.n_clusters == two.n_clusters:
        return is_higher and one.nmi_by_smaller > two.nmi_by_smaller + _SLACK
    return is_higher and one.n_clusters > two.n_clusters


class MCLA(BaseConsensus):
    """Meta-clustering: cluster the clusters, then let objects go where most of theirs went.

    The clusters of all partitions are the vertices of a graph, the weight of two being their
    Jaccard index: the objects in both over those in either. It is cut into `n_clusters`
    meta-clusters, and each object goes to the one of whose clusters it is in the largest share
    [1]_. The graph does not grow with the number of objects, and holds only pairs of clusters that
    share some.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of meta-clusters. The method does not find it by itself.
    partitioner : {'spectral', 'metis'}, default='spectral'
        How the graph is cut. 'spectral' allows meta-clusters of any size. 'metis', as in the
        paper, makes them hold about the same number of objects, so that on clusters of different
        sizes 'spectral' is right; it needs the package pymetis.
    imbalance : float, default=0.05
        By how much, about, the sizes of the clusters in a part may add up to more than the mean,
        where parts are made of the same size: by 'metis', which allows itself more with few and
        large clusters, and in the second cut that 'spectral' makes (Notes).
    random_state : int, RandomState instance or None, default=None
        Seed of the partitioner.

    Attributes
    ----------
    labels_ : ndarray of int64, shape (n_objects,)
        Consecutive from 0, largest cluster first.
    n_clusters_ : int
        Number of clusters found: meta-clusters with which some object ended.
    cluster_labels_ : ndarray of int64, shape (K,)
        The meta-cluster of each cluster of each partition, partition after partition; numbers as
        in `labels_`, those that no object ended with last.
    membership_ : ndarray of shape (n_objects, n_meta_clusters)
        Share of each meta-cluster's clusters that the object is in. Columns in the order of the
        labels, those that no object ended with last.
    confidence_ : ndarray of shape (n_objects,)
        How safe the object's place is, by one measure for all methods: of the support for its
        own cluster and for the best other one, the share of its own. Near 0.5 the other would
        do as well.
    ensemble_ : Ensemble
        What was fitted.
    n_features_in_ : int
        Number of partitions.

    Warns
    -----
    UserWarning
        If no object ended with some of the meta-clusters, or there are fewer clusters in all
        partitions than `n_clusters`, so that there are fewer clusters than asked for.

    Notes
    -----
    The spectral partition is that of Ng, Jordan and Weiss [2]_; the first start of its k-means are
    clusters that a QR decomposition of the eigenvectors picks [3]_, the second is random.

    There is a second cut: the spectral one, improved by moving single clusters (Fiduccia and
    Mattheyses [4]_) so that parts are of about the same size. It is taken if the clusters that
    follow from it agree better with the partitions: there are no fewer of them, and the mean
    normalised mutual information, the objective of [1]_, is higher; with the same number of
    clusters also if it is normalised by the smaller entropy, which does not reward clusters for
    being of the same size. So it is, most often, where clusters are of about the same size and some
    partitions join them. With more than 20,000 clusters times parts there is no second cut.

    METIS halves the graph again and again, twice with different seeds. Both cuts are improved by
    moving single clusters (unless there are more than 100,000 clusters times parts), and the
    lighter one is kept.

    A missing label is no membership. An object without any label goes to the first meta-cluster,
    with confidence 0.

    Ties go to the meta-cluster with the lowest index: that which holds the first cluster of the
    first partition, clusters being in the order of their first objects.

    References
    ----------
    .. [1] A. Strehl and J. Ghosh, "Cluster ensembles: a knowledge reuse framework for combining
       multiple partitions", JMLR 3, 2002.
    .. [2] A. Y. Ng, M. I. Jordan and Y. Weiss, "On spectral clustering: analysis and an
       algorithm", NIPS 14, 2002.
    .. [3] A. Damle, V. Minden and L. Ying, "Simple, direct and efficient multi-way spectral
       clustering", Information and Inference 8(1), 2019, :doi:`10.1093/imaiai/iay008`.
    .. [4] C. M. Fiduccia and R. M. Mattheyses, "A linear-time heuristic for improving network
       partitions", Design Automation Conference, 1982, :doi:`10.1109/DAC.1982.1585498`.

    Examples
    --------
    >>> from coterie import MCLA
    >>> votes = [[0, 0, 0], [0, 0, 1], [0, 0, 0], [1, 1, 1], [1, None, 1], [1, 1, 1], [1, 1, 0]]
    >>> mcla = MCLA(n_clusters=2, random_state=0).fit(votes)
    >>> mcla.labels_
    array([1, 1, 1, 0, 0, 0, 0])
    >>> mcla.cluster_labels_
    array([1, 0, 1, 0, 1, 0])
    >>> mcla.membership_[1].round(2)
    array([0.33, 0.67])
    """

    about = MethodWords(
        title="Meta-clustering algorithm",
        does=(
            "Clusters the clusters: those of all partitions are grouped by how many objects they "
            "share, and each object goes to the group that it is in most often."
        ),
        use=(
            "Partitions with about the number of clusters you want, and any number of objects: "
            "only a graph of the clusters is made. Less suited where partitions have many small "
            "clusters."
        ),
        cost=(
            "Time O(n L^2) for what clusters share, memory for pairs of clusters that share "
            "objects."
        ),
        missing="An object counts where it has a label.",
        name=(
            "meta-clustering (MCLA; Strehl and Ghosh, 2002): the clusters of all partitions are "
            "clustered by their Jaccard similarity, and each object goes to the group of clusters"
            " that it is in most"
        ),
        references=(STREHL,),
    )
    exceptions = dict.fromkeys(
        ("every_number_of_clusters", "two_objects"),
        "a component or label may be nobody's best: then there are fewer clusters, with a warning",
    )

    finds_n_clusters = False

    saved_state = None

    def __init__(
        self,
        n_clusters: int | None = 2,
        *,
        partitioner: Literal["spectral", "metis"] = "spectral",
        imbalance: float = 0.05,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.partitioner = partitioner
        self.imbalance = imbalance
        self.random_state = random_state

    def _fit(self, ensemble: Ensemble) -> NDArray[np.int64]:
        check_partitioner(self.partitioner, self.imbalance)
        assert self.n_clusters is not None
        parts = meta_clusters(
            ensemble,
            min(self.n_clusters, int(ensemble.offsets[-1])),
            partitioner=self.partitioner,
            imbalance=self.imbalance,
            seed=as_seed(self.random_state),
        )
        rows, counts, inverse = ensemble.patterns
        shares = associate(rows, ensemble.offsets, parts)
        chosen = np.argmax(shares, axis=1)

        sizes = np.bincount(chosen, weights=counts, minlength=shares.shape[1])
        first = np.full(len(sizes), len(rows))
        first[chosen[::-1]] = np.arange(len(rows) - 1, -1, -1)
        order = np.lexsort((first, -sizes))
        self._rank = np.argsort(order)
        self._parts = parts
        self.cluster_labels_ = self._rank[parts]
        self.membership_ = shares[:, order][inverse]
        n_found = int((sizes > 0).sum())
        if n_found < self.n_clusters:
            warnings.warn(
                f"no object ended with {self.n_clusters - n_found} of the "
                f"n_clusters={self.n_clusters} meta-clusters; there are {n_found} clusters.",
                UserWarning,
                stacklevel=3,
            )
        found: NDArray[np.int64] = self._rank[chosen][inverse]
        return found

    def _predict(self, codes: NDArray[np.int32]) -> NDArray[np.int64]:
        shares = associate(codes, self.ensemble_.offsets, self._parts)
        shares[:, self._rank >= self.n_clusters_] = -1.0
        found: NDArray[np.int64] = self._rank[np.argmax(shares, axis=1)]
        return found
