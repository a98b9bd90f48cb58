"""WEAC, weighted evidence accumulation (Huang, Lai and Wang, 2015)."""

from __future__ import annotations

from coterie._about import HUANG_2015, IN_NO_CLUSTER, TREE_COST, MethodWords
from coterie._linkage import Regime, Tree, average_tree
from coterie.consensus._tree import MAX_OBJECTS, TreeConsensus
from coterie.consensus._weights import partition_weights
from coterie.ensemble import Ensemble

__all__ = ["WEAC"]


class WEAC(TreeConsensus):
    """Weighted evidence accumulation: partitions count by their agreement with the others.

    The weight of a partition is its mean normalized mutual information with the other partitions,
    over the largest such mean (NCAI). The similarity of two objects is the weighted share of the
    partitions that put them together, and its average-linkage tree is cut into `n_clusters`
    [1]_. It is `coterie.EAC` with a weight per partition.

    Attributes
    ----------
    linkage_ : ndarray of shape (n_objects - 1, 4)
        The tree in the format of `scipy.cluster.hierarchy`; heights are 1 - similarity. Of the
        objects in `sample_`, if the tree was grown on a sample.
    sample_ : ndarray of int or None
        The objects that the tree was grown on; None means all.
    weights_ : ndarray of shape (n_partitions,)
        Weight of each partition (NCAI), in [0, 1]; the largest is 1.

    See Also
    --------
    coterie.EAC : The same with equal weights.
    coterie.LWEA : The same with a weight per cluster.
    coterie.GPMGLA : Graph partitioning by the same weights.

    Notes
    -----
    Missing labels: an object is in no cluster of a partition that did not label it, so that the
    partition adds nothing to the similarity of its pairs. Two partitions are compared on the
    objects that both labelled.

    Examples
    --------
    >>> from coterie import WEAC
    >>> votes = [[0, 0, 0], [0, 0, 1], [0, 0, 0], [1, 1, 1], [1, 1, 0], [1, 1, 1]]
    >>> weac = WEAC(n_clusters=2).fit(votes)
    >>> weac.labels_
    array([0, 0, 0, 1, 1, 1])
    >>> weac.weights_.round(2)
    array([1.  , 1.  , 0.15])
    """

    about = MethodWords(
        title="Weighted evidence accumulation",
        does=(
            "Evidence accumulation in which partitions count by their agreement with the others."
        ),
        use=(
            "An ensemble in which whole partitions are bad. Where partitions are bad in "
            "parts, use LWEA."
        ),
        cost=TREE_COST,
        missing=IN_NO_CLUSTER,
        name=(
            "weighted evidence accumulation clustering (WEAC; Huang et al., 2015): "
            "average-linkage clustering of the objects by the weighted share of "
            "partitions that put two of them together, where a partition weighs more the "
            "better it agrees with the others"
        ),
        references=(HUANG_2015,),
    )
    finds_n_clusters = False

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        max_objects: int | None = MAX_OBJECTS,
        regime: Regime = "auto",
        memory_limit: int | str | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.max_objects = max_objects
        self.regime = regime
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs

    def _grow(self, ensemble: Ensemble) -> Tree:
        self.weights_ = partition_weights(ensemble)
        return average_tree(
            ensemble,
            together=self.weights_ / self.weights_.sum(),
            regime=self.regime,
        )
