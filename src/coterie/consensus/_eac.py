"""Evidence accumulation (Fred and Jain, 2005)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from coterie._about import BOTH_SEEN, TREE_COST, MethodWords
from coterie._linkage import (
    Regime,
    Tree,
    average_tree,
    complete_tree,
    scipy_linkage,
    single_tree,
)
from coterie.consensus._curve import ClusterNumberCurve
from coterie.consensus._parameters import one_of
from coterie.consensus._tree import TreeConsensus
from coterie.ensemble import Ensemble, compact_codes

__all__ = ["EAC"]

LINKAGES = ("average", "single", "complete", "weighted", "ward", "centroid", "median")

_TIE = 1e-12  # lifetimes that differ by less are equal
_BLOCK = 1 << 24  # entries of one block of counts in prediction


def evidence_tree(
    ensemble: Ensemble,
    linkage: str,
    *,
    regime: Regime = "auto",
) -> tuple[Tree, NDArray[np.float64]]:
    """Merge objects by their co-association; return the tree, and in SciPy's format."""
    if linkage in ("weighted", "ward", "centroid", "median") and ensemble.n_objects > 1:
        return scipy_linkage(ensemble, linkage)
    if linkage == "average":
        tree = average_tree(ensemble, regime=regime)
    elif linkage == "single":
        tree = single_tree(ensemble)
    else:
        tree = complete_tree(ensemble)
    return tree, tree.to_scipy(1.0 - tree.link)


def cluster_lifetimes(heights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how long 2, 3, ..., n - 1 clusters last, from the n - 1 heights of a tree.

    k clusters last from the merge that makes them to the one that ends them.
    """
    return np.diff(np.sort(heights))[::-1]


def longest_lived(lifetimes: NDArray[np.float64], link: NDArray[np.float64]) -> int:
    """Return the number of clusters with the longest life, the smallest of equal ones.

    One cluster and n clusters are no candidates. Two objects or fewer leave no candidate: they
    are together if most of the partitions say so.
    """
    if len(lifetimes):
        return 2 + int(np.argmax(lifetimes >= lifetimes.max() - _TIE))
    return 1 + int((link <= 0.5).sum())


class EAC(TreeConsensus):
    """Evidence accumulation clustering.

    Each partition votes on each pair of objects; the share of votes for "together" is their
    co-association. A hierarchy on 1 - co-association is cut into `n_clusters`, or where a
    number of clusters lasts longest [1]_.

    Average and single linkage never hold a matrix of pairs, and work for many ten thousands of
    distinct objects; identical objects cost nothing. The other linkages are SciPy's and need
    the distances of all pairs.

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters. Default: the one with the longest lifetime.
    linkage : {'average', 'single', 'complete', 'weighted', 'ward', 'centroid', 'median'}
        How the distance of two clusters is read from their pairs of objects.

    Attributes
    ----------
    linkage_ : ndarray of shape (n_objects - 1, 4)
        The tree in the format of `scipy.cluster.hierarchy`; heights are 1 - co-association.
    n_clusters_curve_ : mapping
        Lifetime of 2, 3, ..., n_objects - 1 clusters, by the number of clusters; the largest is
        best.

    Notes
    -----
    Missing labels: a partition votes on a pair only if it saw both objects; a pair that none
    saw has co-association 0. With missing labels co-association is a ratio, and average linkage
    needs the sums over pairs of clusters to fit the memory limit to be fast.

    Ties are the rule, as co-association is a multiple of 1/L. Up to 1,500 objects (distinct
    ones, where no label is missing) tied pairs are merged smallest first, a cluster being known
    by its first object. Beyond, average linkage meets pairs in another order: ties then go to
    the smallest neighbour of each cluster; single linkage goes along the edges of a spanning
    tree, smallest first; complete linkage is SciPy's. All are deterministic.

    Prediction: the cluster with the largest share of votes for together, ties to the largest
    cluster; for single linkage, the cluster of the most similar known object.

    Examples
    --------
    >>> from coterie import EAC
    >>> votes = [[0, 0, 0], [0, 0, 0], [0, 1, 1], [1, 1, 1], [1, 1, 1]]
    >>> eac = EAC(n_clusters=2).fit(votes)
    >>> eac.labels_
    array([1, 1, 0, 0, 0])
    >>> eac.confidence_.round(2)
    array([0.9 , 0.9 , 0.67, 1.  , 1.  ])
    >>> eac.predict([[0, 0, 1], [1, 1, None]])
    array([1, 0])
    """

    about = MethodWords(
        title="Evidence accumulation clustering",
        does=(
            "Every partition votes on every pair of objects. The share of votes for together is "
            "their similarity; a tree is built on it and cut, by default where a number of "
            "clusters lasts longest."
        ),
        use=(
            "The method to compare others with; easy to explain. linkage='average' for compact "
            "clusters, linkage='single' for clusters of any shape such as spirals. All partitions"
            " count the same: for an ensemble with many bad ones use LACA."
        ),
        cost=TREE_COST,
        missing=BOTH_SEEN,
        name=(
            "evidence accumulation clustering (EAC; Fred and Jain, 2005): {linkage}-linkage "
            "clustering of the objects, their similarity being the share of partitions that put "
            "two of them together (co-association)"
        ),
        number=("the one that lasts longest in the tree, the maximum-lifetime criterion"),
        references=(
            "A. L. N. Fred and A. K. Jain (2005). Combining multiple clusterings using evidence "
            "accumulation. IEEE Transactions on Pattern Analysis and Machine Intelligence, 27(6),"
            " 835-850. doi:10.1109/TPAMI.2005.113",
        ),
    )

    rules: ClassVar = {"linkage": one_of(*LINKAGES)}

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        linkage: str = "average",
        regime: Regime = "auto",
        memory_limit: int | str | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.linkage = linkage
        self.regime = regime
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs

    def _fit(self, ensemble: Ensemble) -> NDArray[np.int64]:
        tree, self.linkage_ = evidence_tree(ensemble, self.linkage, regime=self.regime)
        lifetimes = cluster_lifetimes(self.linkage_[:, 2])
        self.n_clusters_curve_ = ClusterNumberCurve("lifetime", 2, lifetimes, larger_is_better=True)
        n_clusters = self.n_clusters
        if n_clusters is None:
            n_clusters = longest_lived(lifetimes, tree.link)
        return tree.cut(n_clusters)

    def _predict(self, codes: NDArray[np.int32]) -> NDArray[np.int64]:
        if self.linkage == "single":
            return nearest_object_cluster(self.ensemble_, self.labels_, self.n_clusters_, codes)
        return super()._predict(codes)


def nearest_object_cluster(
    ensemble: Ensemble, labels: NDArray[np.int64], n_clusters: int, codes: NDArray[np.int32]
) -> NDArray[np.int64]:
    """Return for each label row the cluster of the most similar objects (of several: the most)."""
    from coterie._kernels.coassociation import (
        count_block,
        count_dtype,
        missing_code,
        observe_block,
    )

    # New rows stand behind the known objects, so that one kernel serves both.
    n = ensemble.n_objects
    step = max(1, _BLOCK // n)
    found = np.empty(len(codes), dtype=np.int64)
    for start in range(0, len(codes), step):
        rows = codes[start : start + step]
        columns = compact_codes(
            np.vstack([ensemble.labels, rows]), int(ensemble.n_clusters.max()) + 1
        )
        new = np.arange(n, n + len(rows))
        together = np.empty((len(rows), n + len(rows)), dtype=count_dtype(ensemble.n_partitions))
        observed = np.empty_like(together)
        count_block(columns, missing_code(columns), new, together)
        observe_block(columns, missing_code(columns), new, observed)
        shares = together[:, :n] / np.maximum(observed[:, :n], 1)
        for r, share in enumerate(shares):
            closest = labels[share == share.max()]
            found[start + r] = np.argmax(np.bincount(closest, minlength=n_clusters))
    return found
