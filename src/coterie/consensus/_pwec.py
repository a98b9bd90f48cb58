"""PWEC: weights that minimise the variance of the margin (Berikov, 2014)."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coterie._about import BERIKOV_2016, BOTH_SEEN, MethodWords
from coterie._limits import check_fits
from coterie._linkage import GREEDY_MOST, Tree, merge_sums, tree_of_leaves
from coterie._linkage import average_tree as tree_of_votes
from coterie._progress import track_progress
from coterie.consensus._base import BaseConsensus
from coterie.consensus._curve import ClusterNumberCurve
from coterie.consensus._parameters import one_of
from coterie.consensus._separation import (
    MAX_CLUSTERS,
    Kind,
    choose_n_clusters,
    collect_runs,
    cut_criterion,
    cut_tree,
    nearest_cluster,
    spanning_tree,
)
from coterie.ensemble import Ensemble

__all__ = ["PWEC"]

_TIE = 1e-12  # links that differ by less are equal


def average_tree(
    ensemble: Ensemble,
    kind: Kind,
    *,
    weights: NDArray[np.float64] | None = None,
) -> Tree:
    """Merge the clusters with the smallest mean separation; links are 1 - mean separation.

    Weights that differ from pair to pair leave no way around the separations of all pairs of
    distinct rows. Fixed weights do, unless labels are missing.
    """
    if weights is not None and not ensemble.has_missing:
        return tree_of_votes(ensemble, together=weights / weights.sum())
    labels, counts, inverse = ensemble.patterns
    # Objects without any label are not identical. And up to GREEDY_MOST objects, the order among
    # ties is that of the definition.
    unseen = (labels < 0).all(axis=1)
    if ensemble.n_objects <= GREEDY_MOST or (unseen & (counts > 1)).any():
        labels, inverse = ensemble.labels, np.arange(ensemble.n_objects)
        counts = np.ones(ensemble.n_objects, dtype=np.int64)
    n_leaves = len(labels)
    check_fits(
        4 * n_leaves * (n_leaves - 1),
        f"the separations of all pairs of {n_leaves} distinct objects, which cut='average' needs,",
        hint="Use cut='tree', which needs none",
    )
    sums = _agreement_sums(ensemble, kind, labels, counts, weights)
    merges = merge_sums(sums, counts.astype(np.float64), _TIE)
    return tree_of_leaves(inverse, merges, np.ones(n_leaves), _TIE)


def _agreement_sums(
    ensemble: Ensemble,
    kind: Kind,
    labels: NDArray[np.int32],
    counts: NDArray[np.int64],
    weights: NDArray[np.float64] | None,
) -> NDArray[np.float64]:
    """Return the sums of 1 - separation over the objects that rows u > v stand for."""
    from coterie._kernels.separation import fill_separations

    n_leaves = len(labels)
    sums = np.empty(n_leaves * (n_leaves - 1) // 2)
    with track_progress("separations of pairs", len(sums), n_leaves) as done:
        fill_separations(collect_runs(ensemble, kind, labels, weights=weights), sums, done)
    np.subtract(1.0, sums, out=sums)
    if (counts > 1).any():
        for u in range(1, n_leaves):
            sums[u * (u - 1) // 2 : u * (u + 1) // 2] *= counts[:u] * counts[u]
    return sums


class PWEC(BaseConsensus):
    """Pairwise weighted ensemble clustering: groups of runs count by how settled they are.

    Partitions come in groups: the runs of one randomised algorithm. For every pair of objects
    the groups are weighed so that the margin of the vote has the smallest variance [1]_: a
    group that is of two minds about the pair counts little, one that always says the same
    outweighs all that do not. Validity plays no part.

    The separations of the pairs are cut into clusters by their minimum spanning tree, as in the
    paper on MSTEClust (there: PEWEC) [2]_, or by average linkage, as in the original.

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters. Default: the one with the smallest `criterion_`, which needs
        ``cut='tree'``.
    weights : array-like of shape (n_partitions,), optional
        Fixed weights of the runs, not negative, the same for all pairs, in place of the
        variance-minimising ones: the separation is then the weighted share of runs that put
        the pair apart, and groups play no part. Only their ratios matter; a run of weight 0 is
        left out. For example ``ensemble.validity``, or 1 / (runs of its group) to give all
        groups the same say.
    cut : {'tree', 'average'}, default='tree'
        How separations become clusters: the heaviest edges of the minimum spanning tree are
        removed, or clusters are merged by average linkage.
    max_clusters : int, default=10
        Largest number of clusters tried where `n_clusters` is not given.

    Attributes
    ----------
    tree_ : ndarray of shape (n_objects - 1, 3) or None
        The minimum spanning tree: i, j with i < j, and their separation, in the order of
        (separation, i, j). None for ``cut='average'``.
    criterion_ : ndarray of shape (min(max_clusters, n_objects) - 1,) or None
        log F of MSTEClust for k = 2, 3, ...; the smallest is best. None for ``cut='average'``.
    n_clusters_curve_ : mapping or None
        `criterion_` by the number of clusters; the smallest is best.
    linkage_ : ndarray of shape (n_objects - 1, 4) or None
        For ``cut='average'``: the tree in the format of `scipy.cluster.hierarchy`; heights are
        mean separations.

    See Also
    --------
    MSTEClust : Trusts one group with each pair, by validity and agreement.
    EAC : With ``linkage='average'``, the same as ``cut='average'`` for one group.

    Notes
    -----
    With P_m the share of the L_m runs of group m that put the pair apart, the weight of the
    group is proportional to L_m / (P_m (1 - P_m)), and the separation is the weighted mean of
    the P_m, rounded to 12 decimals. Where P_m is 0 or 1 for some groups, these share all the
    weight in proportion to L_m.

    Missing labels: a run counts for a pair only if it saw both objects, also in L_m; a pair
    that no run saw has separation 1.

    Prediction: with the tree, the cluster of the known object with the smallest separation, and
    where several are equally near the cluster with most of them; with average linkage, the
    cluster with the largest share of votes for it.

    Examples
    --------
    >>> from coterie import PWEC, Ensemble
    >>> votes = [[0, 0, 0, 0, 1, 0], [0, 0, 0, 1, 0, 0], [1, 1, 1, 0, 0, 1],
    ...          [1, 2, 1, 2, 2, 2], [1, 1, 2, 2, 2, 2]]
    >>> ensemble = Ensemble(votes, groups=["a", "a", "a", "b", "b", "b"])
    >>> PWEC().fit_predict(ensemble)
    array([0, 0, 2, 1, 1])
    >>> PWEC(n_clusters=2, weights=[1, 1, 1, 0.1, 0.1, 0.1], cut="average").fit_predict(ensemble)
    array([1, 1, 0, 0, 0])
    """

    about = MethodWords(
        title="Pairwise weighted ensemble clustering",
        does=(
            "For partitions from several algorithms. For every pair of objects the algorithms are"
            " weighed by how settled they are about it: one that always says the same outweighs "
            "one that is of two minds."
        ),
        use=(
            "Several base algorithms of which none is known to be better. Where their validity "
            "can be measured, MSTEClust uses it. cut='average' for compact clusters."
        ),
        cost=(
            "Time O(p^2 L), memory linear in n L; cut='average' keeps the separations of all pairs."
        ),
        missing=BOTH_SEEN,
        name=(
            "pairwise weighted ensemble clustering (PWEC; Berikov, 2014), cut by '{cut}': groups "
            "of partitions are weighed for each pair so that the variance of its margin is "
            "smallest"
        ),
        number="the one with the smallest criterion F (Berikov, 2016)",
        references=(
            "V. Berikov (2014). Weighted ensemble of algorithms for complex data clustering. "
            "Pattern Recognition Letters, 38, 99-106.",
            BERIKOV_2016,
        ),
    )

    saved_state = None

    rules: ClassVar = {"cut": one_of("tree", "average"), "max_clusters": MAX_CLUSTERS}

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        weights: ArrayLike | None = None,
        cut: Literal["tree", "average"] = "tree",
        max_clusters: int = 10,
        memory_limit: int | str | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.weights = weights
        self.cut = cut
        self.max_clusters = max_clusters
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs

    def _fit(self, ensemble: Ensemble) -> NDArray[np.int64]:
        self._columns, weights = _check_weights(self.weights, ensemble)
        self._kind: Kind = "variance" if weights is None else "fixed"
        self._weights = weights
        if weights is not None and len(weights) < ensemble.n_partitions:
            ensemble = ensemble.select(self._columns)
        self.tree_: NDArray[np.float64] | None = None
        self.criterion_: NDArray[np.float64] | None = None
        self.n_clusters_curve_: ClusterNumberCurve | None = None
        self.linkage_: NDArray[np.float64] | None = None
        if self.cut == "average":
            return self._cut_average(ensemble)
        tree = spanning_tree(ensemble, self._kind, weights=weights)
        self.tree_ = tree.table
        self.criterion_ = cut_criterion(tree, self.max_clusters)
        self.n_clusters_curve_ = ClusterNumberCurve(
            "log F", 2, self.criterion_, larger_is_better=False
        )
        n_clusters = self.n_clusters
        if n_clusters is None:
            n_clusters = choose_n_clusters(tree, self.criterion_)
        return cut_tree(tree, n_clusters)

    def _cut_average(self, ensemble: Ensemble) -> NDArray[np.int64]:
        if self.n_clusters is None:
            raise ValueError(
                "cut='average' does not find the number of clusters: n_clusters must be given. "
                "cut='tree' finds it."
            )
        tree = average_tree(ensemble, self._kind, weights=self._weights)
        self.linkage_ = tree.to_scipy(np.maximum(1.0 - tree.link, 0.0))
        return tree.cut(self.n_clusters)

    def _predict(self, codes: NDArray[np.int32]) -> NDArray[np.int64]:
        if self.cut == "average":
            return super()._predict(codes)
        ensemble = self.ensemble_
        if len(self._columns) < ensemble.n_partitions:
            ensemble = ensemble.select(self._columns)
            codes = codes[:, self._columns]
        return nearest_cluster(
            ensemble, self._kind, self.labels_, self.n_clusters_, codes, weights=self._weights
        )


def _check_weights(
    weights: ArrayLike | None, ensemble: Ensemble
) -> tuple[NDArray[np.int64], NDArray[np.float64] | None]:
    """Return which partitions count, and their weights."""
    every = np.arange(ensemble.n_partitions)
    if weights is None:
        return every, None
    try:
        array = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"weights must be numbers, one per partition; {error}.") from None
    if array.shape != (ensemble.n_columns,):
        raise ValueError(
            f"weights must have one entry per partition ({ensemble.n_columns}); got shape "
            f"{array.shape}. For one weight per group, repeat it for its partitions."
        )
    if not (np.isfinite(array) & (array >= 0)).all():
        raise ValueError("weights must be finite and not negative.")
    array = array[ensemble.columns]
    if not array.any():
        raise ValueError("weights must be positive for some partition with labels; all are 0.")
    return every[array > 0], array[array > 0]
