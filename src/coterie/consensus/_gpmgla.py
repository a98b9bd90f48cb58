"""GP-MGLA, graph partitioning with multi-granularity links (Huang, Lai and Wang, 2015)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from coterie._about import HUANG_2015, IN_NO_CLUSTER, MethodWords
from coterie._graphs import as_seed, transfer_cut
from coterie.consensus._base import BaseConsensus
from coterie.consensus._linked_graph import LinkedGraph
from coterie.consensus._parameters import number
from coterie.consensus._weights import cluster_links, partition_weights
from coterie.ensemble import Ensemble

__all__ = ["GPMGLA"]


class GPMGLA(BaseConsensus):
    """Graph partitioning with multi-granularity link analysis (GP-MGLA).

    The graph has objects and clusters as vertices. An object is joined with the clusters it is
    in, the more strongly the better their partition agrees with the others (NCAI). Clusters are
    joined with clusters through the neighbours that they share: sum over clusters z of NCAI(z's
    partition) min(J(x, z), J(y, z)), J the Jaccard index, over the largest such sum. The graph is
    cut into `n_clusters` parts [1]_.

    Parameters
    ----------
    alpha : float, default=0.5
        Weight of the edges between objects and clusters beside those between clusters.

    Attributes
    ----------
    weights_ : ndarray of shape (n_partitions,)
        Weight of each partition (NCAI), in [0, 1]; the largest is 1.

    See Also
    --------
    coterie.WEAC : A tree of the objects by the same weights.
    coterie.LWGP : Weights of clusters instead of partitions, and no links of clusters.

    Notes
    -----
    Missing labels: an object is in no cluster of a partition that did not label it. Time and
    memory are linear in the number of objects.

    Examples
    --------
    >>> from coterie import GPMGLA
    >>> votes = [[0, 0, 0], [0, 0, 1], [0, 0, 0], [1, 1, 1], [1, None, 1], [1, 1, 1], [1, 1, 0]]
    >>> GPMGLA(n_clusters=2, random_state=0).fit(votes).labels_
    array([1, 1, 1, 0, 0, 0, 0])
    """

    about = MethodWords(
        title="Graph partitioning with multi-granularity link analysis",
        does=(
            "Joins objects with their clusters and clusters with similar clusters, and "
            "cuts this graph. Partitions that agree with the others count more."
        ),
        use="Very many objects and a number of clusters that is known.",
        cost="Time and memory linear in n L; the clusters' table takes K^2.",
        missing=IN_NO_CLUSTER,
        name=(
            "graph partitioning with multi-granularity link analysis (GP-MGLA; Huang et "
            "al., 2015): a spectral cut of the graph of objects and clusters, with edges "
            "between clusters that share neighbours, partitions being weighted by their "
            "agreement with the others"
        ),
        references=(HUANG_2015,),
    )
    finds_n_clusters = False
    rules: ClassVar = {"alpha": number(positive=True)}

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        alpha: float = 0.5,
        memory_limit: int | str | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.alpha = alpha
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit(self, ensemble: Ensemble) -> NDArray[np.int64]:
        self.weights_ = partition_weights(ensemble)
        weights = np.repeat(self.weights_, ensemble.n_clusters)
        links = cluster_links(ensemble, weights)
        links /= max(_largest_link(links), 1e-300)
        np.fill_diagonal(links, 1.0)
        graph = LinkedGraph(ensemble, np.diag(self.alpha * weights), links)
        return transfer_cut(graph, self.n_clusters, random_state=as_seed(self.random_state)).objects


def _largest_link(links: NDArray[np.float64]) -> float:
    """Return the largest link between two different clusters."""
    return float(np.tril(links, -1).max())
