"""Order of objects in pictures, and the tree of a fitted method."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from coterie._kernels.coassociation import Codes
from coterie._kernels.linkage import cut_merges, name_clusters, scipy_tree, smallest_leaves
from coterie._kernels.vat import least_shares, nearest_of_sample, visit_nearest
from coterie._labels import order_by_size
from coterie.consensus._votes import ClusterVotes
from coterie.ensemble import Ensemble, compact_codes

__all__ = [
    "ConsensusTree",
    "agreement_order",
    "consensus_order",
    "leaf_order",
    "tree_of",
    "vat_order",
]

VAT_MAX_ROWS = 20_000  # distinct rows; of more, a sample is ordered
_VAT_SAMPLE = 4_000
_MAX_CLUSTERS = 2_000  # ordered by a tree; more clusters are ordered by size


class ConsensusTree(NamedTuple):
    """Tree of a consensus method."""

    linkage: NDArray[np.float64]
    """(n - 1, 4): in the format of `scipy.cluster.hierarchy`, heights may be infinite."""
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    """(n - 1,): the merges, each cluster by its smallest object."""

    @property
    def least_clusters(self) -> int:
        """The fewest clusters that merges of finite height leave."""
        return 1 + int(np.isinf(self.linkage[:, 2]).sum())

    def cut(self, n_clusters: int) -> NDArray[np.int64]:
        """Return the labels, largest cluster first."""
        n = len(self.first) + 1
        return order_by_size(cut_merges(self.first, self.second, n - n_clusters, n))


def tree_of(consensus: Any) -> ConsensusTree | None:
    """Return the tree of a fitted method, from its linkage or spanning tree; None without one."""
    n = len(consensus.labels_)
    linkage = getattr(consensus, "linkage_", None)
    if linkage is not None and len(linkage) == n - 1 and n > 1:
        linkage = np.ascontiguousarray(linkage, dtype=np.float64)
        return ConsensusTree(linkage, *smallest_leaves(linkage))
    edges = getattr(consensus, "tree_", None)
    if isinstance(edges, np.ndarray) and edges.shape == (n - 1, 3) and n > 1:
        first, second = name_clusters(edges[:, :2].astype(np.int64))
        linkage = scipy_tree(first, second, np.ascontiguousarray(edges[:, 2], dtype=float), n)
        return ConsensusTree(linkage, first, second)
    return None


def leaf_order(linkage: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the leaves of a tree from left to right, the larger of two branches first.

    In this order the clusters of every cut are contiguous.
    """
    n = len(linkage) + 1
    sizes = np.concatenate([np.ones(n), linkage[:, 3]])
    left, right = linkage[:, 0].astype(np.int64), linkage[:, 1].astype(np.int64)
    turned = np.array(linkage, dtype=np.float64)
    swap = sizes[right] > sizes[left]
    turned[swap, 0], turned[swap, 1] = right[swap], left[swap]
    return np.asarray(leaves_list(turned), dtype=np.int64)


def consensus_order(consensus: Any) -> NDArray[np.int64]:
    """Return the objects in an order in which clusters are contiguous, similar ones side by side.

    The order is that of the method's tree, so that the clusters of every cut are contiguous.
    Without a tree, clusters are ordered by average linkage of their co-association, and objects
    of a cluster by falling confidence.
    """
    labels = consensus.labels_
    if len(labels) == 1:
        return np.zeros(1, dtype=np.int64)
    tree = tree_of(consensus)
    if tree is not None:
        order = leaf_order(tree.linkage)
        if (np.diff(labels[order]) != 0).sum() == labels.max():
            return order
    else:
        order = np.argsort(-consensus.confidence_, kind="stable")
    place = np.empty(len(labels))
    place[order] = np.arange(len(labels))
    return order[np.argsort(_cluster_places(consensus, place)[labels[order]], kind="stable")]


def _cluster_places(consensus: Any, place: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a sort key per cluster."""
    labels, k = consensus.labels_, int(consensus.labels_.max()) + 1
    if tree_of(consensus) is not None:
        return np.bincount(labels, weights=place) / np.bincount(labels)
    if not 2 < k <= _MAX_CLUSTERS:
        return np.arange(k, dtype=np.float64)
    tree = cluster_tree(consensus.ensemble_, labels)
    places = np.empty(k)
    places[leaf_order(tree)] = np.arange(k)
    return places


def cluster_tree(ensemble: Ensemble, labels: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the average linkage of clusters by the co-association between their objects."""
    k = int(labels.max()) + 1
    votes = ClusterVotes.tally(ensemble, labels, k)
    together = votes.votes.astype(np.float64) @ votes.votes.T
    both = votes.seen.astype(np.float64) @ votes.seen.T
    distance = 1.0 - np.divide(together, both, out=np.zeros_like(together), where=both > 0)
    np.fill_diagonal(distance, 0.0)
    return np.asarray(linkage(squareform(distance, checks=False), "average"))


def agreement_order(agreement: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return methods in an order in which those that agree (large ARI) are side by side."""
    n = len(agreement)
    if n < 3:
        return np.arange(n)
    distances = squareform(np.clip(1.0 - agreement, 0.0, None), checks=False)
    return np.asarray(leaves_list(linkage(distances, "average", optimal_ordering=True)))


def vat_order(ensemble: Ensemble) -> NDArray[np.int64]:
    """Return the order of VAT: objects as Prim's algorithm meets them on 1 - co-association.

    It starts from one end of the largest dissimilarity; ties go to the smallest index, and
    objects with the same labels stay together. Rows of the matrix are made when they are
    needed. With more than 20,000 distinct rows a sample of 4,000 is ordered, and the others
    stand behind the most similar one of it [2]_.

    References
    ----------
    .. [1] J. C. Bezdek and R. J. Hathaway, "VAT: a tool for visual assessment of (cluster)
       tendency", IJCNN 2002, :doi:`10.1109/IJCNN.2002.1007487`.
    .. [2] R. J. Hathaway, J. C. Bezdek and J. M. Huband, "Scalable visual assessment of cluster
       tendency for large data sets", Pattern Recognition 39(7), 2006,
       :doi:`10.1016/j.patcog.2006.02.011`.

    Examples
    --------
    >>> vat_order(Ensemble([[0, 0], [1, 1], [0, 0], [1, 0], [1, 1]]))
    array([0, 2, 3, 1, 4])
    """
    patterns = ensemble.patterns
    n_codes = int(ensemble.n_clusters.max())
    p = len(patterns.counts)
    if p <= VAT_MAX_ROWS:
        rank = np.empty(p, dtype=np.float64)
        rank[_vat(patterns.labels, n_codes, ensemble.has_missing)] = np.arange(p)
    else:
        sample = np.linspace(0, p - 1, _VAT_SAMPLE).round().astype(np.int64)
        rank = _ranks_by_sample(patterns.labels, sample, n_codes, ensemble.has_missing)
    return np.argsort(rank[patterns.inverse], kind="stable")


def _vat(rows: NDArray[np.int32], n_codes: int, has_missing: bool) -> NDArray[np.int64]:
    codes = Codes.of(compact_codes(rows, n_codes), has_missing)
    return np.asarray(visit_nearest(codes, int(np.argmin(least_shares(codes)))))


def _ranks_by_sample(
    rows: NDArray[np.int32], sample: NDArray[np.int64], n_codes: int, has_missing: bool
) -> NDArray[np.float64]:
    """Return a rank per row: that of the sampled row it is most similar to."""
    rank = np.empty(len(rows))
    place = np.empty(len(sample))
    place[_vat(rows[sample], n_codes, has_missing)] = np.arange(len(sample))
    rank[sample] = place
    others = np.setdiff1d(np.arange(len(rows)), sample)
    columns = compact_codes(rows[np.concatenate([sample, others])], n_codes)
    rank[others] = place[nearest_of_sample(Codes.of(columns, has_missing), len(sample))]
    return rank
