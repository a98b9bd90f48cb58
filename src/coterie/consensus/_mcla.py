"""Meta-clustering, MCLA (Strehl and Ghosh, 2002)."""

from __future__ import annotations

import warnings
from typing import Any, Literal

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from coterie._about import STREHL, MethodWords
from coterie._graphs import (
    as_seed,
    cluster_order,
    cluster_sizes,
    cut_graph,
    incidence_of,
    spectral_cut,
)
from coterie._labels import first_appearance
from coterie._limits import check_fits, memory_limit_bytes
from coterie.blocks import LabelBlocks, Rule
from coterie.consensus._in_blocks import MetaClusters
from coterie.consensus._soft import SoftConsensus
from coterie.ensemble import Ensemble

__all__ = ["MCLA"]

_BYTES_PER_PAIR = 64  # of clusters: their overlap, Jaccard index and normalised Jaccard index


def jaccard_graph(ensemble: Ensemble | LabelBlocks, order: NDArray[np.int64]) -> Any:
    """Return (K, K): the objects that two clusters share, as a share of those in either.

    Rows and columns are the clusters in the given order. Dense where that fits the memory limit,
    else sparse.
    """
    n_all = len(order)
    sizes = cluster_sizes(ensemble)[order]
    fits = _BYTES_PER_PAIR * n_all**2 <= memory_limit_bytes()
    if fits or isinstance(ensemble, LabelBlocks):
        shared = ensemble.overlap[np.ix_(order, order)]
        return shared / (sizes[:, None] + sizes - shared)
    rows, counts, _ = ensemble.patterns
    check_fits(
        # No more pairs of clusters share objects than there are pairs of labels in rows.
        _BYTES_PER_PAIR * min(n_all**2, rows.size * rows.shape[1]),
        f"the graph of {n_all} clusters",
        hint="Use fewer partitions (select) or partitions with fewer clusters",
    )
    Z = incidence_of(rows, ensemble.offsets)[:, order]
    graph = (Z.T @ scipy.sparse.diags(counts.astype(np.float64)) @ Z).tocoo()
    graph.data /= sizes[graph.row] + sizes[graph.col] - graph.data
    return graph.tocsr()


def meta_clusters(
    ensemble: Ensemble | LabelBlocks,
    n_parts: int,
    *,
    partitioner: str,
    imbalance: float,
    seed: int,
) -> NDArray[np.int64]:
    """Return (K,): a part for each cluster of each partition.

    Parts are numbered by their first cluster, clusters being in an order that does not depend on
    their names.
    """
    order = cluster_order(ensemble)
    graph = jaccard_graph(ensemble, order)
    if partitioner == "metis":
        sizes = cluster_sizes(ensemble)[order]
        found = cut_graph(
            graph, n_parts, vertex_weights=sizes, imbalance=imbalance, random_state=seed
        )
    else:
        found = spectral_cut(graph, n_parts, random_state=seed)
    return number_parts(found, order)


def number_parts(found: NDArray[np.int64], order: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the parts of clusters in their own order, numbered by the first in the given one."""
    _, first, inverse = np.unique(found, return_index=True, return_inverse=True)
    parts = np.empty(len(order), dtype=np.int64)
    parts[order] = np.argsort(np.argsort(first))[inverse]
    return parts


class MCLA(SoftConsensus):
    """Meta-clustering: cluster the clusters, then each object joins the group it is in most.

    The clusters of all partitions are the vertices of a graph, the weight of two being their
    Jaccard index: the objects in both over those in either. It is cut into `n_clusters`
    meta-clusters, and each object goes to the one of whose clusters it is in the largest share
    [1]_. The graph does not grow with the number of objects.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of meta-clusters. The method does not find it by itself.
    partitioner : {'spectral', 'metis'}, default='spectral'
        How the graph is cut. 'spectral' allows meta-clusters of any size. 'metis', as in the
        paper, makes them hold about the same number of objects, so that on clusters of different
        sizes 'spectral' is right; it needs the package pymetis.
    imbalance : float, default=0.05
        With 'metis': by how much, about, the sizes of the clusters in a part may add up to more
        than the mean. METIS allows itself more with few and large clusters.

    Attributes
    ----------
    n_clusters_ : int
        Number of clusters found: meta-clusters with which some object ended.
    cluster_labels_ : ndarray of int64, shape (K,)
        The meta-cluster of each cluster of each partition, partition after partition; numbers as
        in `labels_`, those that no object ended with last.
    membership_ : ndarray of shape (n_objects, n_meta_clusters)
        Share of each meta-cluster's clusters that the object is in. Columns in the order of the
        labels, those that no object ended with last. `predict_proba` divides such shares by their
        sum.

    Warns
    -----
    UserWarning
        If no object ended with some of the meta-clusters, or there are fewer clusters in all
        partitions than `n_clusters`, so that there are fewer clusters than asked for.

    Notes
    -----
    The spectral partition is that of Ng, Jordan and Weiss [2]_. METIS halves the graph again and
    again, and keeps the lightest of five cuts.

    A missing label is no membership. An object without any label goes to the first meta-cluster,
    with confidence 0.

    Ties go to the meta-cluster with the lowest index: that which holds the first cluster of the
    first partition, clusters being in the order of their first objects.

    References
    ----------
    .. [2] A. Y. Ng, M. I. Jordan and Y. Weiss, "On spectral clustering: analysis and an
       algorithm", NIPS 14, 2002.

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
        "no object may go to some meta-cluster: then there are fewer clusters, with a warning",
    )

    finds_n_clusters = False

    saved_state = None

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        partitioner: Literal["spectral", "metis"] = "spectral",
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
        parts = self._meta_clusters(ensemble)
        rows, counts, inverse = ensemble.patterns
        shares = MetaClusters(ensemble.offsets, parts).associate(rows)
        chosen = np.argmax(shares, axis=1)

        sizes = np.bincount(chosen, weights=counts, minlength=shares.shape[1])
        order = np.lexsort((first_appearance(chosen, len(sizes)), -sizes))
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

    def _meta_clusters(self, view: Ensemble | LabelBlocks) -> NDArray[np.int64]:
        return meta_clusters(
            view,
            min(self.n_clusters, int(view.offsets[-1])),
            partitioner=self.partitioner,
            imbalance=self.imbalance,
            seed=as_seed(self.random_state),
        )

    def _fit_blocks(self, blocks: LabelBlocks) -> tuple[Rule, int]:
        self._cluster_parts = self._meta_clusters(blocks)
        n_parts = int(self._cluster_parts.max()) + 1
        return MetaClusters(blocks.offsets, self._cluster_parts), n_parts

    def _memberships(self, codes: NDArray[np.int32]) -> NDArray[np.float64]:
        rule = MetaClusters(self.ensemble_.offsets, self._parts)
        shares = rule.associate(codes)[:, np.argsort(self._rank)]
        total = shares.sum(axis=1, keepdims=True)
        alike = np.full_like(shares, 1.0 / shares.shape[1])
        return np.divide(shares, total, out=alike, where=total > 0)

    def _predict(self, codes: NDArray[np.int32]) -> NDArray[np.int64]:
        shares = MetaClusters(self.ensemble_.offsets, self._parts).associate(codes)
        shares[:, self._rank >= self.n_clusters_] = -1.0
        found: NDArray[np.int64] = self._rank[np.argmax(shares, axis=1)]
        return found
