"""Test whether data have clusters, against data without structure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.spatial.distance import pdist, squareform
from scipy.stats import t
from sklearn.utils import check_array

from coterie._checks import check_random_state
from coterie._kernels.prominence import peak_prominences
from coterie._progress import track_progress
from coterie._reading import check_table
from coterie.ensemble import Ensemble

__all__ = ["StructureTest", "structure_test"]

NULLS = ("uniform", "permuted")
_LEAST_SHARE = 0.05  # a cluster counts from this share of the objects
_LEAST_OBJECTS = 10  # with fewer distinct objects the test decides nothing
_MOST_PARTITIONS = 30  # of an ensemble, compared with as many of the null
_LABELLED, _PER_CLUSTER, _MOST_LABELLED = 300, 10, 1000  # objects of an ensemble
_LABEL_DRAWS = 19
CLEAR = 0.6  # by how much a second region of an ensemble must stand out
_FEW = 100  # objects; with fewer the test finds only clear gaps
_SWEEPS = 8  # of k-means on the noise that an ensemble is compared with


@dataclass(frozen=True)
class StructureTest:
    """Result of `structure_test`.

    Attributes
    ----------
    has_structure : bool
        Whether `p_value` is at most `alpha`: there are clusters. Of an ensemble the second
        region must also stand out by a co-association of 0.6.
    p_value : float
        Share of the null draws, the observed data counted as one, that stand out as much. For
        an ensemble: from Student's t distribution, by the mean and spread of the draws.
    alpha : float
        The level of the decision.
    statistic : float
        How far the second peak of density stands out of the saddle between it and the first.
    null_statistics : ndarray
        The same for each draw from the null.
    null : str
        What the data were compared with.
    kind : {'features', 'ensemble'}
        What was tested.
    n_used : int
        Number of objects used.
    reason : str
        The answer in a sentence.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import structure_test
    >>> noise = np.random.default_rng(0).normal(size=(100, 2))
    >>> test = structure_test(noise, n_null=99, random_state=0)
    >>> test.has_structure, test.kind, len(test.null_statistics)
    (False, 'features', 99)
    """

    has_structure: bool
    p_value: float
    alpha: float
    statistic: float
    null_statistics: NDArray[np.float64]
    null: str
    kind: str
    n_used: int
    reason: str

    @property
    def is_decided(self) -> bool:
        """Whether there was enough to test; `reason` says what was missing."""
        return self.statistic != 0.0 or bool(self.null_statistics.any())

    def as_dict(self) -> dict[str, Any]:
        """Return the result as plain data, ready for JSON."""
        draws = self.null_statistics[np.isfinite(self.null_statistics)]
        return {
            "has_structure": self.has_structure,
            "p_value": self.p_value,
            "alpha": self.alpha,
            "statistic": self.statistic if np.isfinite(self.statistic) else None,
            "null_mean": float(draws.mean()) if len(draws) else None,
            "null_largest": float(draws.max()) if len(draws) else None,
            "null": self.null,
            "n_null": len(self.null_statistics),
            "kind": self.kind,
            "n_used": self.n_used,
            "reason": self.reason,
        }

    def __repr__(self) -> str:
        answer = "structure" if self.has_structure else "no structure"
        return f"StructureTest({answer}, p = {self.p_value:.3g}, null: {self.null})"


def structure_test(
    X: ArrayLike | Ensemble | Any,
    *,
    null: Literal["uniform", "permuted"] = "uniform",
    n_null: int = 199,
    alpha: float = 0.01,
    max_objects: int = 500,
    random_state: int | np.random.RandomState | None = None,
) -> StructureTest:
    """Test whether data have clusters at all.

    The statistic asks for two dense regions with an emptier one between: clusters grow as
    objects within a rising distance are joined, and where two of them meet, each with at least
    5 % of the objects, it is measured how far the less dense peak stands above the saddle. One
    lump of any kind, be it uniform, normal, skewed or heavy-tailed, has one peak; what chance
    adds is learnt from draws of the null. Clusters may have any shape.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_objects, n_features), or Ensemble
        Features; scale them first if their units are not comparable. An `Ensemble` is tested by
        its co-association; see Notes. (A matrix of labels must be made an `Ensemble`.)
    null : {'uniform', 'permuted'}, default='uniform'
        What is called "no structure". 'uniform': a uniform distribution with the same
        covariance, for an ensemble: k-means partitions of a uniform square, with the same
        numbers of clusters. 'permuted': every feature shuffled by itself, for an ensemble every
        partition; this keeps the clusters that a feature has by itself, and so finds only what
        lies between features.
    n_null : int, default=199
        Number of draws; for an ensemble always 19, from which the p-value is extrapolated.
    alpha : float, default=0.01
        The largest p-value that is called structure. The test calls noise structured in about
        this share of cases. ``1 / (n_null + 1)`` is the smallest p-value there is.
    max_objects : int, default=500
        Objects used, drawn at random. Of an ensemble 300 to 1,000 are used, the more the finer
        its partitions are.
    random_state : int, RandomState instance or None, default=None
        Seed of the draws.

    Returns
    -------
    test : StructureTest
        Named results; `as_dict` gives plain data.

    Notes
    -----
    The density at an object is read from the distance of its m-th nearest neighbour, m about
    log2(n) - 2. Distances between objects are mutual reachability distances, as in HDBSCAN
    [1]_; the stand-out of a peak is the logarithm of the ratio of the two distances. Features
    that take few values, such as counts and answers yes or no, are spread evenly over the steps
    between their values, so that ties are not taken for clusters. Objects that are repeated in
    data without such features count once.

    An ensemble has lost what lies between the objects, so its test is a weaker one: it says
    whether its partitions agree on clusters more than those that k-means makes of noise in the
    plane, and by a wide margin. An algorithm that cuts noise in the same way every time (k-means
    with 3 clusters on a long strip) looks like one that has found something. Where
    there are features, test these.

    References
    ----------
    .. [1] Campello, Moulavi & Sander (2013), Density-based clustering based on hierarchical
       density estimates, :doi:`10.1007/978-3-642-37456-2_14`.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import structure_test
    >>> rng = np.random.default_rng(0)
    >>> noise = rng.normal(size=(200, 2))
    >>> structure_test(noise, random_state=0).has_structure
    False
    >>> two_lumps = noise + np.repeat([[0], [7]], 100, axis=0)
    >>> structure_test(two_lumps, random_state=0)
    StructureTest(structure, p = 0.005, null: uniform)
    """
    _check_parameters(null, n_null, alpha, max_objects)
    rng = np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
    if isinstance(X, Ensemble):
        return _test_ensemble(X, null, alpha, rng)
    check_table(X)
    X = check_array(X, dtype=np.float64, accept_sparse="csr", ensure_min_samples=1)
    if sparse.issparse(X):
        X = _dense_part(X, max_objects, rng)
    return _test_features(X, null, n_null, alpha, max_objects, rng)


def _check_parameters(null: str, n_null: int, alpha: float, max_objects: int) -> None:
    if null not in NULLS:
        raise ValueError(f"null must be 'uniform' or 'permuted'; got {null!r}.")
    if not n_null >= 1:
        raise ValueError(f"n_null must be at least 1; got {n_null}.")
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must lie between 0 and 1; got {alpha}.")
    if alpha < 1 / (n_null + 1):
        raise ValueError(
            f"alpha must be at least 1 / (n_null + 1) = {1 / (n_null + 1):.3g}, the smallest "
            f"p-value there is; got {alpha}. Raise n_null to at least {round(1 / alpha) - 1}."
        )
    if not max_objects >= _LEAST_OBJECTS:
        raise ValueError(f"max_objects must be at least {_LEAST_OBJECTS}; got {max_objects}.")


# --- features -----------------------------------------------------------------------------------


def _test_features(
    X: NDArray[np.float64],
    null: str,
    n_null: int,
    alpha: float,
    max_objects: int,
    rng: np.random.Generator,
) -> StructureTest:
    X = _distinct_if_continuous(X)
    if len(X) > max_objects:
        X = X[np.sort(rng.choice(len(X), max_objects, replace=False))]
    X = X[:, np.ptp(X, axis=0) > 0]
    if len(X) < _LEAST_OBJECTS or X.shape[1] == 0:
        why = (
            "no features: all objects are the same"
            if X.shape[1] == 0
            else f"fewer than {_LEAST_OBJECTS} distinct objects"
        )
        return _undecided(why, null, alpha, "features", len(X), n_null)
    X = _spread_ties(X, rng)
    scores = _principal_scores(X)
    observed = _peak_of_points(scores)
    draws = np.empty(n_null)
    with track_progress("", n_null) as done:
        for b in range(n_null):
            if null == "uniform":
                drawn = (rng.random(scores.shape) - 0.5) * (np.sqrt(12.0) * scores.std(axis=0))
            else:
                drawn = rng.permuted(X, axis=0)
            draws[b] = _peak_of_points(drawn)
            done[0] = b + 1
    return _decided(observed, draws, null, alpha, "features", len(X))


def _dense_part(X: Any, max_objects: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return at most `max_objects` rows of a sparse matrix, without columns that are all 0."""
    if X.shape[0] > max_objects:
        X = X[np.sort(rng.choice(X.shape[0], max_objects, replace=False))]
    dense: NDArray[np.float64] = X[:, np.unique(X.indices)].toarray()
    return dense


def _distinct_if_continuous(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the distinct rows, in their order, unless some feature takes few values."""
    _, first = np.unique(X, axis=0, return_index=True)
    if len(first) == len(X):
        return X
    distinct = X[np.sort(first)]
    values = [len(np.unique(column)) for column in distinct.T]
    return distinct if min(values, default=0) > len(distinct) / 2 else X


def _spread_ties(X: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Spread values that occur repeatedly over the smallest step between values."""
    spread = X.copy()
    for j, column in enumerate(X.T):
        values = np.unique(column)
        if 2 * len(values) <= len(column):
            spread[:, j] += (rng.random(len(column)) - 0.5) * np.diff(values).min()
    return spread


def _principal_scores(X: NDArray[np.float64]) -> NDArray[np.float64]:
    left, singular, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    kept = singular > 1e-10 * singular[0]
    scores: NDArray[np.float64] = left[:, kept] * singular[kept]
    return scores


def _peak_of_points(X: NDArray[np.float64]) -> float:
    return _peak(squareform(pdist(X)), ratio=True)


def _peak(distances: NDArray[np.float64], *, ratio: bool) -> float:
    n = len(distances)
    m = min(max(3, round(np.log2(n)) - 2), n - 1)
    core = np.partition(distances, m, axis=1)[:, m]
    least = max(m + 1, int(np.ceil(_LEAST_SHARE * n)))
    return float(peak_prominences(distances, core, least, ratio).max(initial=0.0))


# --- ensembles ----------------------------------------------------------------------------------


def _test_ensemble(
    ensemble: Ensemble, null: str, alpha: float, rng: np.random.Generator
) -> StructureTest:
    n, n_partitions = ensemble.shape
    columns = np.unique(
        np.linspace(0, n_partitions - 1, min(n_partitions, _MOST_PARTITIONS)).round().astype(int)
    )
    rows = np.arange(n)
    # With fewer objects, fine partitions would have singletons only.
    most = int(np.clip(_PER_CLUSTER * np.median(ensemble.n_clusters), _LABELLED, _MOST_LABELLED))
    if n > most:
        rows = np.sort(rng.choice(n, most, replace=False))
    labels = ensemble.labels[np.ix_(rows, columns)]
    if len(rows) < _LEAST_OBJECTS:
        why = f"fewer than {_LEAST_OBJECTS} objects"
        return _undecided(why, null, alpha, "ensemble", len(rows), _LABEL_DRAWS)
    observed = _peak_of_labels(labels)
    draws = np.empty(_LABEL_DRAWS)
    with track_progress("", _LABEL_DRAWS) as done:
        for b in range(_LABEL_DRAWS):
            if null == "permuted":
                drawn = rng.permuted(labels, axis=0)
            else:
                drawn = _partitions_of_noise(len(rows), ensemble.n_clusters[columns], rng)
                drawn[labels < 0] = -1
            draws[b] = _peak_of_labels(drawn)
            done[0] = b + 1
    return _decided(observed, draws, null, alpha, "ensemble", len(rows))


def _peak_of_labels(labels: NDArray[np.int32]) -> float:
    return _peak(1.0 - Ensemble(labels).coassociation(), ratio=False)


def _partitions_of_noise(
    n: int, n_clusters: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.int32]:
    """Return k-means partitions of a uniform square, each from its own random start."""
    square = rng.random((n, 2))
    labels = np.empty((n, len(n_clusters)), dtype=np.int32)
    for e, k in enumerate(n_clusters):
        centres = square[rng.choice(n, min(int(k), n), replace=False)]
        for _ in range(_SWEEPS):
            nearest = np.argmin((centres**2).sum(axis=1) - 2 * square @ centres.T, axis=1)
            sizes = np.maximum(np.bincount(nearest, minlength=len(centres)), 1)
            sums = [np.bincount(nearest, x, minlength=len(centres)) for x in square.T]
            centres = np.column_stack(sums) / sizes[:, None]
        labels[:, e] = nearest
    return labels


# --- answers ------------------------------------------------------------------------------------


def _decided(
    observed: float,
    draws: NDArray[np.float64],
    null: str,
    alpha: float,
    kind: str,
    n_used: int,
) -> StructureTest:
    if kind == "features":
        p_value = float((1 + (draws >= observed).sum()) / (1 + len(draws)))
    else:
        spread = max(float(draws.std(ddof=1)), 0.01) * np.sqrt(1 + 1 / len(draws))
        p_value = float(t.sf((observed - draws.mean()) / spread, len(draws) - 1))
    has_structure = bool(p_value <= alpha and (kind == "features" or observed >= CLEAR))
    words = {
        ("features", "uniform"): "uniform data of the same covariance",
        ("features", "permuted"): "the same data with every feature shuffled",
        ("ensemble", "uniform"): "k-means partitions of noise",
        ("ensemble", "permuted"): "the same partitions, shuffled",
    }[kind, null]
    reason = (
        "There are gaps between clusters: dense regions are set apart more than in "
        f"{words} (p = {p_value:.3g})."
        if has_structure
        else "No gap between clusters was found: by this test there are no separate clusters. "
        f"Nothing is set apart more than in {words} (p = {p_value:.3g}). Read clusters as parts "
        f"of a continuum.{_few(n_used)}"
    )
    return StructureTest(has_structure, p_value, alpha, observed, draws, null, kind, n_used, reason)


def _few(n_used: int) -> str:
    """Return what must be said of a test of few objects."""
    return f" With only {n_used} objects the test can miss clusters." if n_used < _FEW else ""


def _undecided(
    why: str, null: str, alpha: float, kind: str, n_used: int, n_null: int
) -> StructureTest:
    reason = f"Whether there is a gap between clusters cannot be decided: there are {why}."
    return StructureTest(False, 1.0, alpha, 0.0, np.zeros(n_null), null, kind, n_used, reason)
