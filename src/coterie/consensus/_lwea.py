"""LWEA, locally weighted evidence accumulation (Huang, Wang and Lai, 2018)."""

from __future__ import annotations

from coterie._about import HUANG_2018, IN_NO_CLUSTER, TREE_COST, MethodWords
from coterie._linkage import Regime, Tree, average_tree
from coterie.consensus._tree import MAX_OBJECTS, TreeConsensus
from coterie.consensus._weights import cluster_weights
from coterie.ensemble import Ensemble

__all__ = ["LWEA"]


class LWEA(TreeConsensus):
    """Locally weighted evidence accumulation.

    Each cluster of each partition has a weight: high if the other partitions keep its members
    together, low if they split them. The similarity of two objects is the sum of the weights of
    the clusters that they share, over the number of partitions. The average-linkage tree of that
    similarity is cut into `n_clusters` [1]_.

    It is `coterie.EAC` with a weight per cluster. No matrix of pairs is made where it would not
    fit the memory limit, and identical objects cost nothing.

    Parameters
    ----------
    theta : float, default=0.4
        How fast the weight of a cluster falls with its entropy: the weight is
        exp(-entropy / (theta n_partitions)). A large value weighs all clusters alike.
    min_share : float, default=0.0
        Smallest cluster that counts as one of the `n_clusters`, as a share of the mean cluster
        size n_objects / n_clusters. Objects of smaller branches join the cluster that the
        partitions put them with most often. 0 is the method as published: an outlier can be a
        cluster. If no cut of the tree has `n_clusters` clusters of that size, the published cut is
        returned.

    Attributes
    ----------
    linkage_ : ndarray of shape (n_objects - 1, 4)
        The tree in the format of `scipy.cluster.hierarchy`; heights are 1 - similarity. Of the
        objects in `sample_`, if the tree was grown on a sample.
    sample_ : ndarray of int or None
        The objects that the tree was grown on; None means all.
    weights_ : ndarray of shape (K,)
        Weight of each cluster of each partition (ECI), partition after partition, in (0, 1].

    See Also
    --------
    coterie.EAC : The same with equal weights.

    Notes
    -----
    Missing labels: an object is in no cluster of a partition that did not label it. So the
    partition adds nothing to the similarity of its pairs, and does not count for the entropy of
    clusters on that object.

    Ties: up to 1,500 objects (distinct ones, where no label is missing) tied pairs are merged
    smallest first, a cluster being known by its first object. Beyond, ties go to the smallest
    neighbour of each cluster, and weights are rounded to 2^-30 of the largest possible similarity.

    Examples
    --------
    >>> from coterie import LWEA
    >>> votes = [[0, 0, 0], [0, 0, 0], [0, 1, 1], [1, 1, 1], [1, 1, 1]]
    >>> lwea = LWEA(n_clusters=2).fit(votes)
    >>> lwea.labels_
    array([1, 1, 0, 0, 0])
    >>> lwea.weights_.round(2)
    array([0.22, 1.  , 1.  , 0.47, 1.  , 0.47])
    >>> lwea.cut_tree(3)
    array([0, 0, 2, 1, 1])
    """

    about = MethodWords(
        title="Locally weighted evidence accumulation",
        does=(
            "Evidence accumulation in which clusters count differently. A cluster whose "
            "members the other partitions keep together counts fully; one that they split "
            "counts little."
        ),
        use=(
            "The first choice for partitions with many clusters, and for ensembles in "
            "which good and bad clusters stand in the same partition. It does not find the "
            "number of clusters; ConsensusClustering chooses it."
        ),
        cost=TREE_COST,
        missing=IN_NO_CLUSTER,
        name=(
            "locally weighted evidence accumulation (LWEA; Huang et al., 2018): "
            "average-linkage clustering of the objects, their similarity being the summed "
            "weights of the clusters that two of them share, where a cluster weighs less "
            "the more the other partitions split it (theta = {theta})"
        ),
        references=(HUANG_2018,),
    )
    finds_n_clusters = False

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        theta: float = 0.4,
        min_share: float = 0.0,
        max_objects: int | None = MAX_OBJECTS,
        regime: Regime = "auto",
        memory_limit: int | str | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.theta = theta
        self.min_share = min_share
        self.max_objects = max_objects
        self.regime = regime
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs

    def _grow(self, ensemble: Ensemble) -> Tree:
        self.weights_ = cluster_weights(ensemble, self.theta)
        together = self.weights_ / ensemble.n_partitions
        return average_tree(ensemble, together=together, regime=self.regime)
