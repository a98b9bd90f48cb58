"""One consensus for each number of clusters (Monti et al., 2003)."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from coterie._checks import check_choice, check_integer, check_random_state
from coterie._limits import memory_limit_bytes
from coterie._progress import track_progress
from coterie._reading import check_table
from coterie.choosing._resampling import Distribution, area_growth, consensus_distribution
from coterie.consensus._eac import EAC, LINKAGES
from coterie.ensemble import Ensemble
from coterie.metrics import item_consensus
from coterie.metrics._consensus import mean_of_own, silhouette_of_items
from coterie.per_k._choice import Evidence, choose
from coterie.per_k._distances import Metric
from coterie.per_k._gap import find_gap
from coterie.per_k._matching import match_numbers
from coterie.per_k._null import compare_with_null, null_pac
from coterie.per_k._runs import Runs
from coterie.per_k._tables import write_tables

__all__ = ["ConsensusPerK"]


class ConsensusPerK(ClusterMixin, BaseEstimator):
    """Consensus clustering with one consensus for each number of clusters.

    A base clusterer is run on many random parts of the data, for every number of clusters in
    `k_range` on the same parts. The consensus of two objects is the share of the parts with both
    of them in which they are in the same cluster. A tree of the consensus gives the clusters, and
    the distribution of the consensus shows how stable they are [1]_. This is the analysis of
    ConsensusClusterPlus in R [2]_, with the proportion of ambiguous pairs [3]_ and the comparison
    with data without clusters of M3C [4]_.

    Parameters
    ----------
    estimator : str or clusterer, optional
        The base clusterer: 'hierarchical', 'kmeans', 'kmedoids', 'nmf', 'spectral', or any
        clusterer with a parameter `n_clusters` or `n_components`. Default: 'kmeans' for features;
        with a `distance` 'hierarchical', whose tree is made once for each part and cut at every
        number.
    k_range : iterable of int, default=(2, 3, 4, 5, 6, 7, 8, 9, 10)
        Numbers of clusters, each of at least 2.
    n_resamples : int, default=100
        Number of random parts.
    max_samples : float or int, default=0.8
        Objects of a part: a share, or a number.
    max_features : float or int, default=1.0
        Features of a part: a share, or a number. With 1.0 distances are computed once.
    distance : str or callable, optional
        For 'hierarchical', 'kmedoids' and 'spectral': 'pearson' or 'spearman' (1 - correlation
        of two objects), 'precomputed' (`X` is a square matrix of distances), or a metric of
        `scipy.spatial.distance.pdist`. Default: 'euclidean'. A clusterer that is given with a
        distance gets distance matrices, so it needs ``metric='precomputed'``.
    linkage : str, default='average'
        Linkage of the tree of the consensus: 'average', 'single', 'complete', 'weighted', 'ward',
        'centroid' or 'median'.
    inner_linkage : str, default='average'
        Linkage of the base clusterer 'hierarchical', with the same choices.
    n_null : int, default=0
        Data sets without clusters that are analysed in the same way, for `rcsi_` and `p_values_`.
        25 or more make a p-value below 0.05 possible; each takes as long as the analysis itself.
    memory_limit : int or str, optional
        Memory limit in bytes for pairwise arrays, or a size such as ``'4GB'``. Default: the
        environment variable ``COTERIE_MEMORY_LIMIT``, else 2 GB.
    n_jobs : int, optional
        Number of parallel runs; None means 1, -1 all processors. The result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of the random parts, of the base clusterer and of the data without clusters.

    Attributes
    ----------
    k_range_ : ndarray of int64
        The numbers of clusters, ascending.
    labels_ : dict of int to ndarray of int64, shape (n_samples,)
        Clusters for each number. A cluster has the number of the cluster of the previous k with
        which it is matched: the matching shares as many objects as possible. For the smallest k
        the largest cluster is 0.
    confidence_ : dict of int to ndarray of shape (n_samples,)
        In [0, 1]: support for the object's own cluster / (own + best other cluster).
    ensembles_ : dict of int to Ensemble
        The partitions of the random parts; objects that were not drawn have the label -1.
    linkages_ : dict of int to ndarray of shape (n_samples - 1, 4)
        Trees of the consensus in SciPy's format; heights are 1 - consensus.
    pac_ : dict of int to float
        Proportion of ambiguous pairs: consensus strictly between 0.1 and 0.9.
    area_, delta_area_ : dict of int to float
        Area under the CDF of the consensus, and its relative growth; for the smallest k the area.
    silhouette_ : dict of int to float
        Mean silhouette of the objects by the distance 1 - consensus.
    rcsi_, p_values_ : dict of int to float, or None
        With `n_null` above 0: log(mean PAC without clusters) - log(PAC), and the share of the
        data sets without clusters, the data counted as one, with a PAC as low.
    null_pac_ : ndarray of shape (n_null, n_numbers), or None
        PAC of each data set without clusters.
    best_k_ : int
        The number with the highest silhouette of the consensus; of local maxima that are lower
        by at most 0.01 the one with the most clusters.
    has_clusters_ : bool
        Whether the data have clusters at all.
    reasons_ : list of str
        Why, in plain sentences.
    structure_ : StructureTest
        Test for a gap between clusters, by the leading principal components of the features.
    n_features_in_ : int
        Number of features.

    Notes
    -----
    Distances, the tree of one consensus at a time, and a consensus matrix when it is asked for
    take memory quadratic in the number of objects, each within `memory_limit`. All else is linear.

    A pair of objects that no part holds together has consensus 0 and is left out of the CDF.

    References
    ----------
    .. [1] Monti, Tamayo, Mesirov & Golub (2003), Consensus clustering,
       :doi:`10.1023/A:1023949509487`.
    .. [2] Wilkerson & Hayes (2010), ConsensusClusterPlus, :doi:`10.1093/bioinformatics/btq170`.
    .. [3] Şenbabaoğlu, Michailidis & Li (2014), Critical limitations of consensus clustering in
       class discovery, :doi:`10.1038/srep06207`.
    .. [4] John et al. (2020), M3C: Monte Carlo reference-based consensus clustering,
       :doi:`10.1038/s41598-020-58766-1`.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import ConsensusPerK
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 5)) + np.repeat([[0], [6], [12]], 20, axis=0)
    >>> found = ConsensusPerK(k_range=range(2, 6), random_state=0).fit(X)
    >>> found.best_k_
    3
    >>> found.cluster_consensus(3)
    array([1., 1., 1.])
    >>> found.consensus_matrix(3).shape
    (60, 60)
    """

    def __init__(
        self,
        estimator: Any = None,
        k_range: Iterable[int] = tuple(range(2, 11)),
        n_resamples: int = 100,
        max_samples: float = 0.8,
        max_features: float = 1.0,
        *,
        distance: Metric | None = None,
        linkage: str = "average",
        inner_linkage: str = "average",
        n_null: int = 0,
        memory_limit: int | str | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.k_range = k_range
        self.n_resamples = n_resamples
        self.max_samples = max_samples
        self.max_features = max_features
        self.distance = distance
        self.linkage = linkage
        self.inner_linkage = inner_linkage
        self.n_null = n_null
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: ArrayLike | Any, y: Any = None) -> Self:
        """Make the partitions and find a consensus for each number of clusters.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            A row for each object; with ``distance='precomputed'`` a square matrix of distances.
        y : None
            Ignored.

        Returns
        -------
        self : ConsensusPerK
            The fitted estimator.
        """
        runs = self._make_runs()
        check_table(X)
        X = validate_data(
            self,
            X,
            accept_sparse="csr" if runs.takes_sparse else False,
            dtype=np.float64,
            order="C",
            ensure_min_samples=3,
        )
        self.k_range_ = _check_numbers(self.k_range, runs.part_sizes(X.shape[0])[0])
        seeds = check_random_state(self.random_state).randint(2**31 - 1, size=3).tolist()
        self.ensembles_ = runs.make(X, self.k_range_, seeds[0])
        self._find_consensus()
        self._describe(runs, X, seeds)
        return self

    def fit_predict(self, X: ArrayLike | Any, y: Any = None) -> NDArray[np.int64]:
        """Fit, and return the clusters of the best number.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As in `fit`.
        y : None
            Ignored.

        Returns
        -------
        labels : ndarray of int64, shape (n_samples,)
            ``labels_[best_k_]``.
        """
        self.fit(X)
        return self.labels_[self.best_k_]

    # --- what can be asked of a fit -------------------------------------------------------------

    def consensus_matrix(self, k: int) -> NDArray[np.float64]:
        """Return the (n, n) consensus of `k` clusters: together / drawn together.

        Parameters
        ----------
        k : int
            A number of `k_range_`.

        Returns
        -------
        matrix : ndarray of shape (n_samples, n_samples)
            With ones on the diagonal. It is made anew at each call.
        """
        ensemble = self._ensemble(k)
        matrix: NDArray[np.float64] = ensemble.coassociation(memory_limit=self.memory_limit)
        return matrix

    def item_consensus(self, k: int) -> NDArray[np.float64]:
        """Return the mean consensus of each object with the members of each cluster.

        Parameters
        ----------
        k : int
            A number of `k_range_`.

        Returns
        -------
        item : ndarray of shape (n_samples, k)
            The object itself is left out. See `coterie.metrics.item_consensus`.
        """
        self._ensemble(k)
        return self._items[k].copy()

    def cluster_consensus(self, k: int) -> NDArray[np.float64]:
        """Return the mean consensus of the pairs of objects in each cluster.

        Parameters
        ----------
        k : int
            A number of `k_range_`.

        Returns
        -------
        cluster : ndarray of shape (k,)
            NaN for a cluster of one object.
        """
        return mean_of_own(self.item_consensus(k), self.labels_[k])

    def cdf(self, k: int) -> NDArray[np.float64]:
        """Return the share of pairs with a consensus of at most 0, 0.01, ..., 1.

        Parameters
        ----------
        k : int
            A number of `k_range_`.

        Returns
        -------
        cdf : ndarray of shape (101,)
        """
        self._ensemble(k)
        return self._distributions[k].cdf

    def save_tables(
        self,
        folder: str | os.PathLike[str],
        names: Sequence[Any] | None = None,
        *,
        matrices: bool = False,
    ) -> list[Path]:
        """Write the results as CSV tables.

        numbers.csv has the criteria for each number of clusters, classes.csv and confidence.csv a
        column for each number, cluster_consensus.csv and item_consensus.csv a row for each
        cluster or object of each number, cdf.csv the distribution of the consensus.

        Parameters
        ----------
        folder : path
            Where to write; it is made if it is not there.
        names : sequence of length n_samples, optional
            Names of the objects. Default: their row numbers from 0.
        matrices : bool, default=False
            Also write the consensus matrix of each number.

        Returns
        -------
        files : list of Path
            What was written.
        """
        check_is_fitted(self)
        n = len(self.labels_[self.best_k_])
        names = range(n) if names is None else names
        if len(names) != n:
            raise ValueError(f"names must have one name per object ({n}); got {len(names)}.")
        return write_tables(self, folder, list(names), matrices=matrices)

    # --- steps of fit ---------------------------------------------------------------------------

    def _make_runs(self) -> Runs:
        check_integer("n_resamples", self.n_resamples, at_least=2)
        check_integer("n_null", self.n_null, at_least=0)
        check_choice("linkage", self.linkage, LINKAGES)
        check_choice("inner_linkage", self.inner_linkage, LINKAGES)
        memory_limit_bytes(self.memory_limit)
        default = "kmeans" if self.distance is None else "hierarchical"
        runs = Runs(
            default if self.estimator is None else self.estimator,
            self.distance,
            self.inner_linkage,
            int(self.n_resamples),
            self.max_samples,
            self.max_features,
            self.memory_limit,
            self.n_jobs,
        )
        runs.check()
        return runs

    def _find_consensus(self) -> None:
        """Set labels, confidence, trees and item consensus for every number of clusters."""
        self.labels_: dict[int, NDArray[np.int64]] = {}
        self.confidence_: dict[int, NDArray[np.float64]] = {}
        self.linkages_: dict[int, NDArray[np.float64]] = {}
        self._items: dict[int, NDArray[np.float64]] = {}
        previous = None
        with track_progress("consensus", len(self.ensembles_)) as done:
            for k, ensemble in self.ensembles_.items():
                model = EAC(k, linkage=self.linkage, memory_limit=self.memory_limit).fit(ensemble)
                labels = model.labels_
                previous = labels if previous is None else match_numbers(previous, labels)
                self.labels_[k] = previous
                self.confidence_[k], self.linkages_[k] = model.confidence_, model.linkage_
                self._items[k] = item_consensus(ensemble, previous)
                done[0] += 1

    def _describe(self, runs: Runs, X: Any, seeds: list[int]) -> None:
        """Set the criteria, the comparison with data without clusters, and the best number."""
        numbers = self.k_range_
        self._distributions: dict[int, Distribution] = {
            k: consensus_distribution(ensemble) for k, ensemble in self.ensembles_.items()
        }
        pac = np.array([found.pac for found in self._distributions.values()])
        area = np.array([found.area for found in self._distributions.values()])
        growth = area_growth(area)
        self.null_pac_ = rcsi = p_values = None
        if self.n_null:
            dense = X.toarray() if hasattr(X, "toarray") else X
            self.null_pac_ = null_pac(runs, dense, numbers, int(self.n_null), seeds[1])
            n_pairs = X.shape[0] * (X.shape[0] - 1) // 2
            rcsi, p_values = compare_with_null(pac, self.null_pac_, n_pairs)
        self.pac_, self.area_ = self._by_number(pac), self._by_number(area)
        self.delta_area_ = self._by_number(growth)
        self.rcsi_ = None if rcsi is None else self._by_number(rcsi)
        self.p_values_ = None if p_values is None else self._by_number(p_values)
        gap = find_gap(runs, X, seeds[2])
        self.structure_ = gap.features
        silhouette = np.array(
            [silhouette_of_items(i, self.labels_[k]).mean() for k, i in self._items.items()]
        )
        self.silhouette_ = self._by_number(silhouette)
        choice = choose(Evidence(numbers, pac, silhouette, rcsi, p_values, int(self.n_null), gap))
        self.best_k_, self.has_clusters_, self.reasons_ = choice

    def _by_number(self, values: NDArray[np.float64]) -> dict[int, float]:
        return dict(zip(self.k_range_.tolist(), values.tolist(), strict=True))

    def _ensemble(self, k: int) -> Ensemble:
        check_is_fitted(self)
        if k not in self.ensembles_:
            raise ValueError(
                f"k must be a number of k_range_ ({', '.join(map(str, self.k_range_))}); got {k!r}."
            )
        return self.ensembles_[k]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.distance == "precomputed"
        try:
            tags.input_tags.sparse = self._make_runs().takes_sparse
        except (TypeError, ValueError, AttributeError):  # parameters that fit will refuse
            tags.input_tags.sparse = False
        return tags


def _check_numbers(k_range: Iterable[int], n_drawn: int) -> NDArray[np.int64]:
    """Return the numbers of clusters, ascending; those that a part cannot have are left out."""
    try:
        numbers = np.unique(np.array(list(k_range)))
    except TypeError:
        numbers = np.empty(0)
    if numbers.size == 0 or numbers.dtype.kind not in "iu" or numbers[0] < 2:
        raise ValueError(
            f"k_range must hold integers of at least 2, such as range(2, 11); got {k_range!r}."
        )
    possible = numbers[numbers <= n_drawn].astype(np.int64)
    if len(possible) == 0:
        raise ValueError(
            f"k_range must hold a number that is not above the number of objects of a part "
            f"({n_drawn}); got {k_range!r}. Lower k_range or raise max_samples."
        )
    if len(possible) < len(numbers):
        warnings.warn(
            f"left out numbers of clusters above the number of objects of a part ({n_drawn}); "
            f"the largest is {possible[-1]}.",
            UserWarning,
            stacklevel=3,
        )
    return possible
