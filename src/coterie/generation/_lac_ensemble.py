"""Ensembles of LAC for many values of h (Domeniconi and Al-Razgan, 2009)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler
from sklearn.utils import Tags
from sklearn.utils.sparsefuncs import min_max_axis
from sklearn.utils.validation import check_is_fitted

from coterie._checks import check_choice, check_clusterer, check_random_state
from coterie._ensemble_parts import frozen
from coterie._limits import check_fits
from coterie.ensemble import Ensemble
from coterie.generation._lac import (
    WeightedClusters,
    assign_nearest,
    check_features,
    draw_start,
    locally_adapt,
    posteriors_of_distances,
    weighted_distances,
)
from coterie.generation._randomized import _ReturnsEnsemble

__all__ = ["LACEnsemble"]

_SCALES = (None, "minmax", "zscore")
_RUNS = 16  # runs whose distances are computed at a time


class LACEnsemble(
    _ReturnsEnsemble, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator
):
    """Partitions by locally adaptive clustering, one for each of many values of h.

    The right h is hard to know, so many are tried, and a consensus combines the partitions [1]_.
    They come with soft memberships (`posteriors`, formulas (6) and (7)), with the centres and
    feature weights of their clusters (`subspaces`) and with the features themselves, so that
    `coterie.WSPA`, `coterie.WBPA` and `coterie.WSBPA` find all they need.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters of each partition.
    inv_h : iterable of float, optional
        The values of 1/h, one partition each; 0 means equal weights. Default: ``range(1, 26)``.
    scale : {None, 'minmax', 'zscore'}, default=None
        What is done to features first: nothing, the range of each becomes [0, 1], or each gets
        mean 0 and variance 1. See Notes.
    init : {'farthest', 'random'} or array of shape (n_clusters, n_features), default='farthest'
        The start, as in `coterie.LAC`, the same for every h. An array is in the units of the
        scaled features.
    n_init : int, default=1
        Number of starts. Each is followed for every h, so that there are
        ``n_init * len(inv_h)`` partitions; `groups` tells the starts apart.
    max_iter : int, default=100
        The most iterations of a run.
    random_state : int, RandomState instance or None, default=None
        Seed of the starts.

    Attributes
    ----------
    ensemble_ : Ensemble
        The partitions, with `posteriors`, `subspaces` and `features`.
    n_iter_ : int
        Iterations of the longest run.
    n_iters_ : ndarray of int, shape (n_partitions,)
        Iterations of each run.
    converged_ : ndarray of bool, shape (n_partitions,)
        Whether the last iteration of a run changed nothing.
    offset_, factor_ : ndarray of shape (n_features,)
        How features are scaled: ``(X - offset_) * factor_``.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, if `X` had any.

    See Also
    --------
    coterie.LAC : One such run.

    Notes
    -----
    **Scale.** What a value of h means depends on the unit of the features, and so do the
    posteriors, because (6) adds 1 to a distance. The paper does not say how its data were
    scaled. If all partitions come out alike, the range of `inv_h` does not fit the data. Sparse
    data are only multiplied, not shifted; this changes the centres and nothing else.

    **Time.** All runs of a start go through the data together. Runs that have converged are left
    out of further iterations, and the first assignment, which all runs share, is computed once.

    **New objects.** `transform` puts them where the nearest centre is, in its weighted distance.
    A cluster in which there is no training object gets the code ``ensemble_.n_clusters[e]``.

    References
    ----------
    .. [1] C. Domeniconi and M. Al-Razgan, "Weighted cluster ensembles: methods and analysis",
       ACM TKDD 2(4), 2009, :doi:`10.1145/1460797.1460800`.

    Examples
    --------
    >>> from coterie import LACEnsemble, WBPA
    >>> from coterie.datasets import make_two_gaussian
    >>> X, y = make_two_gaussian(random_state=0)
    >>> ensemble = LACEnsemble(n_clusters=2, scale="minmax", random_state=0).fit_transform(X)
    >>> ensemble
    Ensemble(600 objects, 25 partitions with 2 clusters)
    >>> ensemble.posteriors[0].shape, ensemble.subspaces[0][1].shape
    ((600, 2), (2, 2))
    """

    def __init__(
        self,
        n_clusters: int = 2,
        inv_h: Iterable[float] | None = None,
        scale: str | None = None,
        *,
        init: str | ArrayLike = "farthest",
        n_init: int = 1,
        max_iter: int = 100,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.inv_h = inv_h
        self.scale = scale
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: ArrayLike | Any, y: Any = None) -> Self:
        """Make the partitions.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_objects, n_features)
            The objects.
        y : None
            Ignored.

        Returns
        -------
        self : LACEnsemble
            The fitted transformer.
        """
        X = check_features(self, X, reset=True)
        check_clusterer(self, "n_clusters", "max_iter", "n_init", n_samples=X.shape[0])
        inv_h = self._check_inv_h()
        check_fits(
            8 * X.shape[0] * self.n_clusters * len(inv_h) * self.n_init,
            f"the posteriors of {X.shape[0]} objects in {self.n_init * len(inv_h)} partitions",
            hint="Use fewer values of inv_h",
        )
        self._fit_scale(X)
        X = self._scaled(X)
        random = check_random_state(self.random_state)
        starts = [
            locally_adapt(
                X,
                draw_start(X, self.n_clusters, self.init, random),
                inv_h,
                max_iter=self.max_iter,
            )
            for _ in range(self.n_init)
        ]
        self._set_fitted(X, starts)
        return self

    def transform(self, X: ArrayLike | Any) -> NDArray[np.int32]:
        """Label objects, new or not, in the vocabulary of the fitted ensemble.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_objects, n_features)
            The objects.

        Returns
        -------
        labels : ndarray of int32 of shape (n_objects, n_partitions), or frame
            One column per partition of `ensemble_`. `set_output` chooses a pandas or polars
            frame instead.
        """
        check_is_fitted(self)
        X = self._scaled(check_features(self, X, reset=False))
        # Clusters without members come last and share one code.
        labels = assign_nearest(X, self._centres, self._weights).T
        return np.ascontiguousarray(np.minimum(labels, self.ensemble_.n_clusters), dtype=np.int32)

    def scale_features(self, X: ArrayLike | Any) -> Any:
        """Return features in the units of the centres, as `coterie.WSBPA` wants them to predict.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_objects, n_features)
            The objects.

        Returns
        -------
        scaled : ndarray or CSR matrix of shape (n_objects, n_features)
        """
        check_is_fitted(self)
        return self._scaled(check_features(self, X, reset=False)).copy()

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = []
        return tags

    # --- steps --------------------------------------------------------------------------------

    def _check_inv_h(self) -> NDArray[np.float64]:
        if not isinstance(self.init, str) and self.n_init > 1:
            raise ValueError(
                f"n_init must be 1 where init gives the centres; got {self.n_init}. All starts "
                "would be the same."
            )
        if self.inv_h is None:
            return np.arange(1.0, 26.0)
        try:
            inv_h = np.array([float(value) for value in np.atleast_1d(list(self.inv_h))])
        except (TypeError, ValueError):
            inv_h = np.empty(0)
        if not len(inv_h) or not np.isfinite(inv_h).all() or (inv_h < 0).any():
            raise ValueError(
                "inv_h must be one or more numbers of at least 0, such as range(1, 26): the values "
                f"of 1/h; got {self.inv_h!r}."
            )
        return inv_h

    def _fit_scale(self, X: Any) -> None:
        """Set `offset_` and `factor_`; sparse data are not shifted, which changes no distance."""
        check_choice("scale", self.scale, _SCALES)
        self.offset_ = np.zeros(X.shape[1])
        self.factor_ = np.ones(X.shape[1])
        if self.scale == "zscore":
            scaler = StandardScaler(with_mean=not issparse(X)).fit(X)
            self.factor_ = 1.0 / scaler.scale_
            if not issparse(X):
                self.offset_ = scaler.mean_
        elif self.scale == "minmax" and issparse(X):
            low, high = min_max_axis(X, axis=0)
            self.factor_ = 1.0 / MaxAbsScaler().fit((high - low)[None]).scale_
        elif self.scale == "minmax":
            scaler = MinMaxScaler().fit(X)
            self.factor_, self.offset_ = scaler.scale_, scaler.data_min_

    def _scaled(self, X: Any) -> Any:
        if self.scale is None:
            return X
        if issparse(X):
            scaled = X.copy()
            scaled.data *= self.factor_[X.indices]
            return scaled
        scaled = (X - self.offset_) * self.factor_
        return frozen(np.ascontiguousarray(scaled))

    def _set_fitted(self, X: Any, starts: list[WeightedClusters]) -> None:
        """Set the fitted attributes; clusters with members first, in the order of the start."""
        self.n_iters_ = np.concatenate([found.n_iter for found in starts])
        self.n_iter_ = int(self.n_iters_.max())
        self.converged_ = np.concatenate([found.converged for found in starts])
        centres = np.concatenate([found.centres for found in starts])
        weights = np.concatenate([found.weights for found in starts])
        labels = np.concatenate([found.labels for found in starts])
        for run, column in enumerate(labels):
            is_empty = np.bincount(column, minlength=self.n_clusters) == 0
            if is_empty.any():
                order = np.argsort(is_empty, kind="stable")
                centres[run], weights[run] = centres[run][order], weights[run][order]
                labels[run] = np.argsort(order)[column]
        posteriors = _posteriors(X, centres, weights)
        self._centres, self._weights = centres, weights
        self.ensemble_ = Ensemble(
            list(labels),
            groups=np.repeat(np.arange(len(starts)), len(labels) // len(starts)),
            posteriors=posteriors,
            subspaces=list(zip(centres, weights, strict=True)),
            features=X,
        )
        self._n_features_out = len(labels)


def _posteriors(
    X: Any, centres: NDArray[np.float64], weights: NDArray[np.float64]
) -> list[NDArray[np.float64]]:
    """Return the posteriors (6) of each run, computed for several runs at a time."""
    _, k, n_features = centres.shape
    found = []
    for low in range(0, len(centres), _RUNS):
        own = slice(low, low + _RUNS)
        flat = (table[own].reshape(-1, n_features) for table in (centres, weights))
        distances = weighted_distances(X, *flat)
        found += [
            frozen(posteriors_of_distances(distances[:, first : first + k]))
            for first in range(0, distances.shape[1], k)
        ]
    return found
