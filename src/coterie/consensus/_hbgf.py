"""Hybrid bipartite graph formulation, HBGF (Fern and Brodley, 2004)."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from coterie._about import FERN, MethodWords
from coterie._graphs import (
    BipartiteParts,
    LabelGraph,
    as_seed,
    cluster_order,
    cut_bipartite_graph,
    incidence_of,
    transfer_cut,
)
from coterie._labels import order_by_size
from coterie._limits import check_fits
from coterie.blocks import LabelBlocks, Rule
from coterie.consensus._base import BaseConsensus
from coterie.consensus._in_blocks import cut_in_blocks
from coterie.ensemble import Ensemble

__all__ = ["HBGF"]

_BYTES_PER_LABEL = 128  # an edge in both directions, and METIS's own copies


def in_order(labels: NDArray[np.int64], n_parts: int) -> NDArray[np.int64]:
    """Return (n_parts,): the place of each part, largest first; those without objects last."""
    place = np.full(n_parts, -1)
    place[labels] = order_by_size(labels)
    place[place < 0] = np.arange((place >= 0).sum(), n_parts)
    return place


def ensemble_order(
    parts: tuple[NDArray[np.int64], NDArray[np.int64]], order: NDArray[np.int64]
) -> BipartiteParts:
    """Return the parts of objects and clusters, where clusters were cut in the given order."""
    clusters = np.empty_like(parts[1])
    clusters[order] = parts[1]
    return BipartiteParts(parts[0], clusters)


class HBGF(BaseConsensus):
    """Hybrid bipartite graph: cut the graph of objects and clusters.

    Objects and the clusters of all partitions are vertices, and an edge joins an object with each
    cluster it is in. The graph is cut into `n_clusters` parts, objects and clusters together
    [1]_: objects are together that are in the same clusters, and clusters that have the same
    objects.

    Parameters
    ----------
    partitioner : {'spectral', 'metis'}, default='spectral'
        How the graph is cut. 'spectral' allows clusters of any size and makes no graph. 'metis'
        makes parts of about the same size, so that on clusters of different sizes 'spectral' is
        right; it needs the package pymetis.

    Attributes
    ----------
    cluster_labels_ : ndarray of int64, shape (K,)
        The part of each cluster of each partition, partition after partition; numbers as in
        `labels_`.

    See Also
    --------
    coterie.WBPA : The same with soft memberships as weights of the edges.

    Notes
    -----
    A missing label is an edge that is not there. An object without any label lies at the origin
    of the spectral embedding, as far from all parts.

    The spectral partition is the transfer cut [2]_: leading eigenvectors of the K clusters place
    the clusters, each object stands at the mean of its clusters, and k-means clusters the objects;
    clusters go to the nearest centre. Time and memory are linear in the number of objects, and a
    million objects in 50 partitions take seconds. With more clusters than distinct label rows the
    eigenproblem of the rows is solved instead.

    METIS sees objects and clusters as vertices of the same weight. It cuts both by recursive
    bisection and all parts at once; the lighter cut is kept. It runs again, up to ten times, while
    some part is without clusters. No part is ever without objects.

    References
    ----------
    .. [2] Z. Li, X.-M. Wu and S.-F. Chang, "Segmentation using superpixels: a bipartite graph
       partitioning approach", CVPR, 2012, :doi:`10.1109/CVPR.2012.6247750`.

    Examples
    --------
    >>> from coterie import HBGF
    >>> votes = [[0, 0, 0], [0, 0, 1], [0, 0, 0], [1, 1, 1], [1, None, 1], [1, 1, 1], [1, 1, 0]]
    >>> hbgf = HBGF(n_clusters=2, random_state=0).fit(votes)
    >>> hbgf.labels_
    array([1, 1, 1, 0, 0, 0, 0])
    >>> hbgf.cluster_labels_
    array([1, 0, 1, 0, 1, 0])
    """

    about = MethodWords(
        title="Hybrid bipartite graph formulation",
        does=(
            "Makes a graph with a node for each object and each cluster of every partition, "
            "joined where the object is in the cluster, and cuts objects and clusters at the same"
            " time."
        ),
        use=(
            "Large data and a known number of clusters: the graph is as small as the ensemble. A "
            "good default among the graph methods."
        ),
        cost="Time and memory about linear in n L, plus an eigenproblem of size K.",
        missing="No edge to a partition that did not see the object.",
        name=(
            "hybrid bipartite graph formulation (HBGF; Fern and Brodley, 2004): the graph of "
            "objects and clusters, joined where an object is in a cluster, is cut into parts"
        ),
        references=(FERN,),
    )

    finds_n_clusters = False

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        partitioner: Literal["spectral", "metis"] = "spectral",
        imbalance: float = 0.05,
        skip_first: bool = False,
        memory_limit: int | str | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.partitioner = partitioner
        self.imbalance = imbalance
        self.skip_first = skip_first
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit(self, ensemble: Ensemble) -> NDArray[np.int64]:
        parts = self._cut(ensemble)
        self.cluster_labels_ = in_order(parts.objects, self.n_clusters)[parts.clusters]
        return parts.objects

    def _cut(self, ensemble: Ensemble) -> BipartiteParts:
        """Cut the graph of objects and clusters; every part holds at least one object."""
        seed = as_seed(self.random_state)
        if self.partitioner == "spectral":
            return transfer_cut(
                LabelGraph(ensemble), self.n_clusters, skip_first=self.skip_first, random_state=seed
            )
        check_fits(
            _BYTES_PER_LABEL * ensemble.labels.size,
            f"the graph of {ensemble.n_objects} objects in {ensemble.n_partitions} partitions",
            hint="Use partitioner='spectral', which makes no graph",
        )
        order = cluster_order(ensemble)
        graph = incidence_of(ensemble.labels, ensemble.offsets)[:, order]
        parts = cut_bipartite_graph(
            graph, self.n_clusters, imbalance=self.imbalance, random_state=seed
        )
        return ensemble_order(parts, order)

    def _fit_blocks(self, blocks: LabelBlocks) -> tuple[Rule, int]:
        return cut_in_blocks(self, blocks)
