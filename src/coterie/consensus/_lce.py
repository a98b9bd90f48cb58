"""LCE, link-based cluster ensemble (Iam-On, Boongoen, Garrett and Price, 2011)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from coterie._about import IN_NO_CLUSTER, MethodWords
from coterie._graphs import as_seed, transfer_cut
from coterie.consensus._base import BaseConsensus
from coterie.consensus._linked_graph import LinkedGraph
from coterie.consensus._parameters import number
from coterie.consensus._weights import cluster_links
from coterie.ensemble import Ensemble

__all__ = ["LCE"]


def refined_memberships(ensemble: Ensemble, decay: float) -> NDArray[np.float64]:
    """Return (K, K): how far the members of a cluster belong to another of the same partition.

    It is `decay` times the weight of the neighbours that the two clusters share (weighted
    connected triple), over the largest such weight; 1 for the cluster itself, 0 for clusters of
    other partitions.
    """
    links = cluster_links(ensemble, np.ones(int(ensemble.offsets[-1])))
    partition = np.repeat(np.arange(ensemble.n_partitions), ensemble.n_clusters)
    links *= partition[:, None] == partition
    np.fill_diagonal(links, 0.0)
    links *= decay / max(float(links.max()), 1e-300)
    np.fill_diagonal(links, 1.0)
    return links


class LCE(BaseConsensus):
    """Link-based cluster ensemble.

    An object belongs wholly to its own cluster of a partition, and in part to the other clusters of
    that partition: the more neighbours they share with its own, by the Jaccard index of clusters
    of all partitions. The bipartite graph of objects and clusters with these memberships as
    weights is cut into `n_clusters` parts [1]_, [2]_.

    Parameters
    ----------
    decay : float, default=0.9
        Membership of an object in the cluster most similar to its own, in [0, 1]. With 0 it is
        `coterie.HBGF`.

    See Also
    --------
    coterie.HBGF : The same with memberships of 0 and 1.

    Notes
    -----
    The similarity of clusters is the weighted connected triple (WCT) of the paper.

    Missing labels: an object is in no cluster of a partition that did not label it, and belongs to
    none of them in part. Time and memory are linear in the number of objects.

    References
    ----------
    .. [2] N. Iam-On, T. Boongoen and S. Garrett, "LCE: a link-based cluster ensemble method for
       improved gene expression data analysis", Bioinformatics 26(12), 2010,
       :doi:`10.1093/bioinformatics/btq226`.

    Examples
    --------
    >>> from coterie import LCE
    >>> votes = [[0, 0, 0], [0, 0, 1], [0, 0, 0], [1, 1, 1], [1, None, 1], [1, 1, 1], [1, 1, 0]]
    >>> LCE(n_clusters=2, random_state=0).fit(votes).labels_
    array([1, 1, 1, 0, 0, 0, 0])
    """

    about = MethodWords(
        title="Link-based cluster ensemble",
        does=(
            "Fills in what a partition leaves open: an object belongs in part to the "
            "other clusters of a partition, the more neighbours they share with its own "
            "cluster. The graph of objects and clusters with these memberships is cut."
        ),
        use="Partitions with many small clusters, and very many objects.",
        cost="Time and memory linear in n L; the clusters' table takes K^2.",
        missing=IN_NO_CLUSTER,
        name=(
            "link-based cluster ensemble (LCE; Iam-On et al., 2011): a spectral cut of "
            "the graph of objects and clusters, where an object belongs in part to "
            "clusters that share neighbours with its own (decay = {decay})"
        ),
        references=(
            (
                "N. Iam-On, T. Boongoen, S. Garrett and C. Price (2011). A link-based "
                "approach to the cluster ensemble problem. IEEE Transactions on Pattern "
                "Analysis and Machine Intelligence, 33(12), 2396-2409. "
                "doi:10.1109/TPAMI.2011.84"
            ),
        ),
    )
    finds_n_clusters = False
    rules: ClassVar = {"decay": number(at_most=1)}

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        decay: float = 0.9,
        memory_limit: int | str | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.decay = decay
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit(self, ensemble: Ensemble) -> NDArray[np.int64]:
        graph = LinkedGraph(ensemble, refined_memberships(ensemble, self.decay))
        return transfer_cut(graph, self.n_clusters, random_state=as_seed(self.random_state)).objects
