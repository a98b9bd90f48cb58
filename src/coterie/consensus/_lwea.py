"""LWEA, locally weighted evidence accumulation (Huang, Wang and Lai, 2018)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coterie._about import HUANG_2018, IN_NO_CLUSTER, TREE_COST, MethodWords
from coterie._linkage import Regime, Tree, average_tree
from coterie.consensus._tree import MAX_OBJECTS, TreeConsensus
from coterie.consensus._weights import check_theta, cluster_weights
from coterie.ensemble import Ensemble

__all__ = ["LWEA"]


def locally_weighted_tree(
    ensemble: Ensemble,
    weights: NDArray[np.float64],
    *,
    regime: Regime = "auto",
    memory_limit: int | str | None = None,
) -> Tree:
    """Merge objects by the mean weight, over partitions, of the clusters that they share."""
    return average_tree(
        ensemble,
        together=weights / ensemble.n_partitions,
        regime=regime,
        memory_limit=memory_limit,
    )


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
    n_clusters : int, default=2
        Number of clusters. The method does not find it by itself.
    theta : float, default=0.4
        How fast the weight of a cluster falls with its entropy: the weight is
        exp(-entropy / (theta n_partitions)). A large value weighs all clusters alike.
    min_share : float, default=0.0
        Smallest cluster that counts as one of the `n_clusters`, as a share of the mean cluster
        size n_objects / n_clusters. Objects of smaller branches join the cluster that the
        partitions put them with most often. 0 is the method as published: an outlier can be a
        cluster. If no cut of the tree has so many clusters of that size, the published cut is
        returned.
    max_objects : int or None, default=20000
        Largest number of distinct label rows that the tree is grown on. If there are more, it is
        grown on so many objects drawn at random (with a fixed seed), and the others join the
        cluster that the partitions put them with most often. None: always all.
    regime : {'auto', 'triangle', 'matrix-free'}, default='auto'
        Keep the sums over pairs of clusters, or make them from the labels. By default they are
        kept as soon as they fit `memory_limit`.
    memory_limit : int or str, optional
        Memory limit for pairwise arrays, in bytes or as a size such as ``'4GB'``. Default: the
        environment variable ``COTERIE_MEMORY_LIMIT``, else 2 GB.

    Attributes
    ----------
    labels_ : ndarray of int64, shape (n_objects,)
        Consecutive from 0, largest cluster first.
    n_clusters_ : int
        Number of clusters.
    linkage_ : ndarray of shape (n_objects - 1, 4)
        The tree in the format of `scipy.cluster.hierarchy`; heights are 1 - similarity. Of the
        objects in `sample_`, if the tree was grown on a sample.
    sample_ : ndarray of int or None
        The objects that the tree was grown on; None means all.
    weights_ : ndarray of shape (K,)
        Weight of each cluster of each partition (ECI), partition after partition, in (0, 1].
    confidence_ : ndarray of shape (n_objects,)
        Confidence in [0, 1]: support for the object's own cluster / (own + best other cluster).
    ensemble_ : Ensemble
        What was fitted.
    n_features_in_ : int
        Number of partitions.

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

    References
    ----------
    .. [1] D. Huang, C.-D. Wang and J.-H. Lai, "Locally weighted ensemble clustering", IEEE
       Transactions on Cybernetics 48(5), 2018, :doi:`10.1109/TCYB.2017.2702343`.

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
    ) -> None:
        self.n_clusters = n_clusters
        self.theta = theta
        self.min_share = min_share
        self.max_objects = max_objects
        self.regime = regime
        self.memory_limit = memory_limit

    def _grow(self, ensemble: Ensemble) -> Tree:
        check_theta(self.theta)
        self.weights_ = cluster_weights(ensemble, self.theta)
        return locally_weighted_tree(
            ensemble, self.weights_, regime=self.regime, memory_limit=self.memory_limit
        )
