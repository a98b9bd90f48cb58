"""LWGP, locally weighted graph partitioning (Huang, Wang and Lai, 2018)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coterie._about import HUANG_2018, IN_NO_CLUSTER, MethodWords
from coterie._graphs import LabelGraph, as_seed, transfer_cut
from coterie.blocks import LabelBlocks, Rule
from coterie.consensus._base import BaseConsensus
from coterie.consensus._in_blocks import cut_in_blocks
from coterie.consensus._weights import cluster_weights
from coterie.ensemble import Ensemble

__all__ = ["LWGP"]


class LWGP(BaseConsensus):
    """Locally weighted graph partitioning.

    Each cluster of each partition has a weight: high if the other partitions keep its members
    together, low if they split them. An edge of that weight joins an object with each cluster it
    is in, and the graph of objects and clusters is cut into `n_clusters` parts [1]_. It is
    `coterie.HBGF` with a weight per cluster.

    Parameters
    ----------
    theta : float, default=0.4
        How fast the weight of a cluster falls with its entropy: the weight is
        exp(-entropy / (theta n_partitions)). A large value weighs all clusters alike.

    Attributes
    ----------
    weights_ : ndarray of shape (K,)
        Weight of each cluster of each partition (ECI), partition after partition, in (0, 1].

    See Also
    --------
    coterie.HBGF : The same with equal weights.
    coterie.LWEA : A tree of the objects by the same weights.

    Notes
    -----
    Missing labels: an object is in no cluster of a partition that did not label it, so that the
    edge is not there. Time and memory are linear in the number of objects.

    Examples
    --------
    >>> from coterie import LWGP
    >>> votes = [[0, 0, 0], [0, 0, 1], [0, 0, 0], [1, 1, 1], [1, None, 1], [1, 1, 1], [1, 1, 0]]
    >>> LWGP(n_clusters=2, random_state=0).fit(votes).labels_
    array([1, 1, 1, 0, 0, 0, 0])
    """

    about = MethodWords(
        title="Locally weighted graph partitioning",
        does=(
            "Joins each object with the clusters it is in, and cuts this graph. A cluster "
            "whose members the other partitions keep together has strong edges; one that "
            "they split has weak edges."
        ),
        use=(
            "Very many objects, a number of clusters that is known, and partitions with "
            "good and bad clusters."
        ),
        cost="Time and memory linear in n L; the clusters' table takes K^2.",
        missing=IN_NO_CLUSTER,
        name=(
            "locally weighted graph partitioning (LWGP; Huang et al., 2018): a spectral "
            "cut of the graph of objects and clusters, where the edges of a cluster weigh "
            "less the more the other partitions split it (theta = {theta})"
        ),
        references=(HUANG_2018,),
    )
    finds_n_clusters = False

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        theta: float = 0.4,
        memory_limit: int | str | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.theta = theta
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit(self, ensemble: Ensemble) -> NDArray[np.int64]:
        self.weights_ = cluster_weights(ensemble, self.theta)
        graph = LabelGraph(ensemble, self.weights_)
        return transfer_cut(graph, self.n_clusters, random_state=as_seed(self.random_state)).objects

    def _fit_blocks(self, blocks: LabelBlocks) -> tuple[Rule, int]:
        self.weights_ = cluster_weights(blocks, self.theta)
        return cut_in_blocks(self, blocks, weights=self.weights_)
