"""Locally adaptive clustering, LAC (Domeniconi et al., 2004 and 2007)."""

from __future__ import annotations

import hashlib
import warnings
from numbers import Real
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix, issparse
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from coterie._about import DOMENICONI_2009, MethodWords
from coterie._checks import check_clusterer, check_random_state
from coterie._kernels import lac
from coterie._reading import check_table

__all__ = [
    "LAC",
    "assign_nearest",
    "check_features",
    "draw_start",
    "locally_adapt",
    "mean_of_members",
    "posteriors_of_distances",
    "read_only",
    "weighted_distances",
]

_INITS = ("farthest", "random")


class WeightedClusters(NamedTuple):
    """Result of runs of LAC from one start: m runs, k clusters, D features."""

    centres: NDArray[np.float64]
    """(m, k, D)."""
    weights: NDArray[np.float64]
    """(m, k, D); each row sums to 1."""
    labels: NDArray[np.int32]
    """(m, n): the nearest centre of each object."""
    n_iter: NDArray[np.int64]
    """(m,)."""
    converged: NDArray[np.bool_]
    """(m,): whether the last iteration changed nothing."""


# --- Steps --------------------------------------------------------------------------------------


def assign_nearest(
    X: Any, centres: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.int32]:
    """Return (m, n): the nearest cluster of each run, formula (1); ties to the lowest number."""
    n_runs, _, n_features = centres.shape
    flat = (centres.reshape(-1, n_features), weights.reshape(-1, n_features))
    if issparse(X):
        return lac.assign_sparse(X.data, X.indices, X.indptr, *_sparse_tables(*flat), n_runs)
    return lac.assign(X, *flat, n_runs)


def weighted_distances(
    X: Any, centres: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return (n, k): locally weighted Euclidean distances d_il."""
    if issparse(X):
        squared = lac.distances_sparse(
            X.data, X.indices, X.indptr, *_sparse_tables(centres, weights)
        )
    else:
        squared = lac.distances(X, centres, weights)
    return np.sqrt(squared)


def posteriors_of_distances(distances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (n, k): formula (6), P(C_l | x_i) from the distances of objects to clusters."""
    odds = distances.max(axis=1, keepdims=True) - distances + 1.0
    return odds / odds.sum(axis=1, keepdims=True)


def _sparse_tables(centres: NDArray[np.float64], weights: NDArray[np.float64]) -> tuple[Any, ...]:
    """Return the arguments of the sparse kernels: tables with features as rows, and row sums."""
    loads = weights * centres**2
    total = loads.sum(axis=1)
    return (*(np.ascontiguousarray(table.T) for table in (centres, weights, loads)), total)


def _sizes(labels: NDArray[np.int32], k: int) -> NDArray[np.int64]:
    return np.stack([np.bincount(row, minlength=k) for row in labels])


def _dispersions(
    X: Any, labels: NDArray[np.int32], centres: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return (m, k, D): X_ji, the mean squared difference to the centre; NaN without members."""
    _, k, n_features = centres.shape
    flat = centres.reshape(-1, n_features)
    if issparse(X):
        sums = lac.sum_squares_sparse(X.data, X.indices, X.indptr, labels, flat)
    else:
        sums = lac.sum_squares(X, labels, flat)
    with np.errstate(invalid="ignore"):
        return sums.reshape(centres.shape) / _sizes(labels, k)[:, :, None]


def _means(X: Any, labels: NDArray[np.int32], k: int) -> NDArray[np.float64]:
    """Return (m, k, D): formula (5), the means of the members; NaN without members."""
    if issparse(X):
        sums = lac.sum_members_sparse(X.data, X.indices, X.indptr, labels, k, X.shape[1])
    else:
        sums = lac.sum_members(X, labels, k)
    with np.errstate(invalid="ignore"):
        return sums.reshape(len(labels), k, -1) / _sizes(labels, k)[:, :, None]


def mean_of_members(X: Any, labels: NDArray[np.int64], k: int) -> NDArray[np.float64]:
    """Return (k, D): the means of the members of one partition without empty parts."""
    return _means(X, labels[None].astype(np.int32), k)[0]


def _adapted_weights(
    dispersions: NDArray[np.float64], inv_h: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return (m, k, D): formula (4), small dispersions weigh more."""
    # The smallest is taken off first, or all would vanish where 1/h is large.
    excess = dispersions - dispersions.min(axis=2, keepdims=True)
    weights = np.exp(-excess * inv_h[:, None, None])
    return weights / weights.sum(axis=2, keepdims=True)


def locally_adapt(
    X: Any, start: NDArray[np.float64], inv_h: ArrayLike, *, max_iter: int
) -> WeightedClusters:
    """Run LAC from one start for several values of 1/h at once.

    One iteration: assign with centres and weights; dispersions about the centres; new weights
    (4); assign again; new centres (5). A cluster without members keeps its centre and weights.
    A run ends when an iteration changes nothing. A run that returns to an earlier state is in a
    cycle: its state after `max_iter` iterations is found without running them all.

    Parameters
    ----------
    X : ndarray or CSR matrix of float64, shape (n_objects, n_features)
        The objects; sparse ones with sorted column numbers.
    start : ndarray of shape (k, n_features)
        The centres to start from. Weights start equal.
    inv_h : array-like of shape (m,)
        1/h of each run.
    max_iter : int
        The most iterations of a run.

    Returns
    -------
    found : WeightedClusters
    """
    inv_h = np.asarray(inv_h, dtype=np.float64)
    k, n_features = start.shape
    centres = np.repeat(np.ascontiguousarray(start)[None], len(inv_h), axis=0)
    weights = np.full_like(centres, 1.0 / n_features)
    n_iter = np.full(len(inv_h), max_iter)
    converged = np.zeros(len(inv_h), dtype=bool)
    last = np.full(len(inv_h), max_iter)  # the iteration after which a run needs no more
    seen: list[dict[bytes, int]] = [{} for _ in inv_h]
    for iteration in range(1, max_iter + 1):
        active = np.flatnonzero(~converged & (last >= iteration))
        if not len(active):
            break
        c, w = centres[active], weights[active]
        # All runs have the same start, so the first assignment is computed once.
        first = slice(0, 1) if iteration == 1 else slice(None)
        labels = assign_nearest(X, c[first], w[first])
        dispersions = _dispersions(X, labels, c[first])
        new_w = _adapted_weights(dispersions, inv_h[active])
        new_w = np.where(np.isnan(new_w), w, new_w)
        new_c = _means(X, assign_nearest(X, c, new_w), k)
        new_c = np.where(np.isnan(new_c), c, new_c)
        centres[active], weights[active] = new_c, new_w
        same = (new_c == c).all(axis=(1, 2)) & (new_w == w).all(axis=(1, 2))
        for position, run in enumerate(active):
            if same[position]:
                n_iter[run], converged[run] = iteration, True
                continue
            digest = _digest(new_c[position], new_w[position])
            earlier = seen[run].setdefault(digest, iteration)
            if earlier < iteration and last[run] == max_iter:
                last[run] = iteration + (max_iter - iteration) % (iteration - earlier)
    return WeightedClusters(
        centres, weights, assign_nearest(X, centres, weights), n_iter, converged
    )


def _digest(centres: NDArray[np.float64], weights: NDArray[np.float64]) -> bytes:
    return hashlib.blake2b(centres.tobytes() + weights.tobytes(), digest_size=16).digest()


def draw_start(
    X: Any, n_clusters: int, init: Any, random: np.random.RandomState
) -> NDArray[np.float64]:
    """Return (k, D) centres to start from.

    'farthest': a random object, then always the object farthest from the chosen ones (plain
    Euclidean; the first of equally far ones). 'random': distinct objects drawn at random. An
    array is taken as it is.
    """
    n, n_features = X.shape
    if not isinstance(init, str):
        centres = np.array(init, dtype=np.float64, order="C")
        if not np.isfinite(centres).all():
            raise ValueError("init must be finite; the centres given hold NaN or infinity.")
        if centres.shape != (n_clusters, n_features):
            raise ValueError(
                f"init must be one of {_INITS} or centres of shape (n_clusters, n_features) = "
                f"({n_clusters}, {n_features}); got shape {centres.shape}."
            )
        return centres
    if init not in _INITS:
        raise ValueError(
            f"init must be one of {_INITS} or an array of centres, one row per cluster; got "
            f"{init!r}."
        )
    if init == "random":
        return _rows(X, random.permutation(n)[:n_clusters])
    chosen = [int(random.randint(n))]
    nearest = np.full(n, np.inf)
    equal = np.ones((1, n_features))
    while len(chosen) < n_clusters:
        distance = weighted_distances(X, _rows(X, chosen[-1:]), equal)[:, 0]
        nearest = np.minimum(nearest, distance)
        # Equally far but for rounding: the first.
        chosen.append(int(np.argmax(nearest >= nearest.max() * (1 - 1e-12))))
    return _rows(X, chosen)


def _rows(X: Any, rows: ArrayLike) -> NDArray[np.float64]:
    picked = X[np.asarray(rows)]
    return np.ascontiguousarray(picked.toarray() if issparse(X) else picked)


# --- Checks -------------------------------------------------------------------------------------


def check_features(estimator: BaseEstimator, X: Any, *, reset: bool) -> Any:
    """Return checked features for the kernels: read-only float64, C order or sorted CSR."""
    check_table(X)
    X = validate_data(estimator, X, reset=reset, accept_sparse="csr", dtype=np.float64, order="C")
    return read_only(X)


def read_only(X: Any) -> Any:
    """Return a read-only view; a sparse one with sorted columns and no duplicates.

    The features of an ensemble are read-only, too, so kernels are compiled for one type of array.
    """
    if not issparse(X):
        return _read_only_view(X)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    parts = tuple(_read_only_view(array) for array in (X.data, X.indices, X.indptr))
    made = csr_matrix(parts, shape=X.shape)
    made.has_canonical_format = True
    return made


def _read_only_view(array: NDArray[Any]) -> NDArray[Any]:
    view = array.view()
    view.flags.writeable = False
    return view


class LAC(ClusterMixin, BaseEstimator):
    """Locally adaptive clustering: k-means in which every cluster weighs the features for itself.

    Along features in which a cluster is narrow, differences count more, so that clusters may
    live in different subspaces [1]_. Where k-means has centres, LAC has pairs of a centre and a
    vector of feature weights.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters.
    h : float, default=0.1
        How far weights may differ: near 0 a cluster looks at its narrowest feature alone, with
        ``numpy.inf`` all features weigh the same. It has the unit of a squared feature, so what
        is large or small depends on the scale of the data.
    init : {'farthest', 'random'} or array of shape (n_clusters, n_features), default='farthest'
        The centres to start from: a random object and then always the object that is farthest
        from the chosen ones; distinct random objects; or these.
    max_iter : int, default=100
        The most iterations.
    random_state : int, RandomState instance or None, default=None
        Seed of the start.

    Attributes
    ----------
    labels_ : ndarray of int64, shape (n_samples,)
        The nearest cluster of each object, as a row of `cluster_centers_`.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        In the order of the start.
    feature_weights_ : ndarray of shape (n_clusters, n_features)
        Each row sums to 1.
    n_iter_ : int
        Iterations; the last one changed nothing, if `converged_`.
    converged_ : bool
        Whether the last iteration changed nothing.
    n_features_in_ : int
        Number of features.

    See Also
    --------
    coterie.LACEnsemble : LAC for many values of h, whose choice is hard.

    Notes
    -----
    An iteration: objects go to the nearest centre in its weighted distance; dispersions of the
    clusters about their centres give new weights, ``exp(-dispersion / h)`` made to sum to 1;
    objects are assigned again, and the means of clusters are the new centres. A cluster without
    objects keeps centre and weights. Objects that are as near to two centres go to the first.

    The paper proves no convergence, and runs can cycle: then `converged_` is False, and the state
    after `max_iter` iterations is returned.

    Sparse data stay sparse; time is linear in the number of stored values, except for small
    distances, which are computed exactly. Distances are summed feature by feature and not expanded
    into products, so features of very different scales lose no digits.

    References
    ----------
    .. [1] C. Domeniconi, D. Gunopulos, S. Ma, B. Yan, M. Al-Razgan and D. Papadopoulos, "Locally
       adaptive metrics for clustering high dimensional data", Data Mining and Knowledge
       Discovery 14, 2007, :doi:`10.1007/s10618-006-0060-8`.
    .. [2] C. Domeniconi and M. Al-Razgan, "Weighted cluster ensembles: methods and analysis",
       ACM TKDD 2(4), 2009, section 3, :doi:`10.1145/1460797.1460800`.

    Examples
    --------
    A wide cluster and a tall one: each weighs the feature more in which it is narrow.

    >>> from coterie import LAC
    >>> from coterie.datasets import make_two_gaussian
    >>> X, y = make_two_gaussian(random_state=0)
    >>> lac = LAC(n_clusters=2, h=5, random_state=0).fit(X)
    >>> lac.feature_weights_.round(2)
    array([[0.33, 0.67],
           [0.82, 0.18]])
    >>> lac.predict([[0, 9], [16, 5]])
    array([1, 0])
    """

    about = MethodWords(
        title="Locally adaptive clustering (a base clusterer, not a consensus)",
        does=(
            "k-means in which every cluster has its own feature weights: features in which its "
            "objects are close together count more. The width h says how strongly."
        ),
        use=(
            "As the base of weighted ensembles: LACEnsemble runs it with many values of h, so "
            "that none has to be chosen. By itself, where clusters live in different features. "
            "The scale of the features matters."
        ),
        cost="Time O(n D k) for each iteration, memory linear in the data.",
        missing="Features must not be missing.",
        name="locally adaptive clustering (LAC; Domeniconi et al., 2007)",
        references=(
            "C. Domeniconi, D. Gunopulos, S. Ma, B. Yan, M. Al-Razgan and D. Papadopoulos (2007)."
            " Locally adaptive metrics for clustering high dimensional data. Data Mining and "
            "Knowledge Discovery, 14, 63-97. doi:10.1007/s10618-006-0060-8",
            DOMENICONI_2009,
        ),
    )

    cluster_centers_: NDArray[np.float64]
    feature_weights_: NDArray[np.float64]

    def __init__(
        self,
        n_clusters: int = 2,
        h: float = 0.1,
        *,
        init: str | ArrayLike = "farthest",
        max_iter: int = 100,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.h = h
        self.init = init
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: ArrayLike | Any, y: Any = None) -> Self:
        """Find clusters and their feature weights.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The objects.
        y : None
            Ignored.

        Returns
        -------
        self : LAC
            The fitted clusterer.

        Warns
        -----
        ConvergenceWarning
            If the run did not converge, or if clusters have no objects (because there are fewer
            distinct objects than clusters).
        """
        X = check_features(self, X, reset=True)
        check_clusterer(self, "n_clusters", "max_iter", n_samples=X.shape[0])
        if not isinstance(self.h, Real) or isinstance(self.h, bool) or not self.h > 0:
            raise ValueError(
                f"h must be a number above 0 (numpy.inf: equal weights); got {self.h!r}."
            )
        start = draw_start(X, self.n_clusters, self.init, check_random_state(self.random_state))
        found = locally_adapt(X, start, [1.0 / float(self.h)], max_iter=self.max_iter)
        self.cluster_centers_ = found.centres[0]
        self.feature_weights_ = found.weights[0]
        self.labels_ = found.labels[0].astype(np.int64)
        self.n_iter_ = int(found.n_iter[0])
        self.converged_ = bool(found.converged[0])
        if not self.converged_:
            warnings.warn(
                f"LAC did not converge in max_iter={self.max_iter} iterations: it needs more, or "
                "cycles. Try another h or start.",
                ConvergenceWarning,
                stacklevel=2,
            )
        n_found = len(np.unique(self.labels_))
        if n_found < self.n_clusters:
            warnings.warn(
                f"{self.n_clusters - n_found} of the n_clusters={self.n_clusters} clusters are "
                f"without objects; there are {n_found}. There may be fewer distinct objects.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def predict(self, X: ArrayLike | Any) -> NDArray[np.int64]:
        """Put objects into the cluster that is nearest in its weighted distance.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The objects.

        Returns
        -------
        labels : ndarray of int64, shape (n_samples,)
            Rows of `cluster_centers_`.
        """
        check_is_fitted(self)
        X = check_features(self, X, reset=False)
        labels = assign_nearest(X, self.cluster_centers_[None], self.feature_weights_[None])
        return labels[0].astype(np.int64)

    def posteriors(self, X: ArrayLike | Any) -> NDArray[np.float64]:
        """Return the posterior probabilities (6) of the clusters, from weighted distances.

        They add 1 to a distance and so depend on the scale of the features.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The objects.

        Returns
        -------
        posteriors : ndarray of shape (n_samples, n_clusters)
            Rows sum to 1. The largest is that of the label that `predict` gives.
        """
        check_is_fitted(self)
        X = check_features(self, X, reset=False)
        return posteriors_of_distances(
            weighted_distances(X, self.cluster_centers_, self.feature_weights_)
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
