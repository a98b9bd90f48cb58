"""One base run: draw its choices from its own seed, fit a clusterer, read its labels.

Plain functions without state. Whatever happens in a run depends on the data, the recipe, the
estimator and the run's two indices alone, so runs may be made in any order and place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.neighbors import VALID_METRICS, NearestNeighbors
from sklearn.pipeline import Pipeline

from coterie._encode import MISSING
from coterie._limits import one_thread
from coterie.metrics import VALIDITY

__all__ = [
    "Draw",
    "Outcome",
    "Recipe",
    "draw_run",
    "execute_run",
    "label_by_neighbour",
    "label_by_predict",
    "name_of",
    "nearest_objects",
    "number_parameter",
    "prepare_estimator",
]

_COPY_FLAGS = ("copy", "copy_x", "copy_X")
# Attributes of the size of the training data that no `predict` of scikit-learn reads.
# (Birch's leaves are a linked list: pickling it recurses once per leaf.)
_TRAINING_BULK = ("labels_", "affinity_matrix_", "root_", "dummy_leaf_")


class Recipe(NamedTuple):
    """What all runs of an ensemble share. Ranges are pairs (low, high), both included."""

    entropy: tuple[int, ...]
    n_objects: int
    n_features: int
    clusters: tuple[int, int]
    features: tuple[int, int]
    objects: tuple[int, int]
    noise: str
    validity: str | Callable[[Any, NDArray[Any]], float] | None


class Draw(NamedTuple):
    """What one run drew."""

    group: int
    """Index of the estimator."""
    run: int
    """Index of the run among those of its estimator."""
    n_clusters: int
    """Number of clusters to ask for."""
    seed: int
    """Seed of the estimator."""
    n_objects: int
    """Number of objects used."""
    features: NDArray[np.int64] | None
    """The features used, ascending; None means all."""
    objects: NDArray[np.int64] | None
    """The objects used, ascending; None means all."""

    def used(self, X: Any) -> Any:
        """Return the rows and columns of `X` that the run used."""
        return select_features(X if self.objects is None else X[self.objects], self)


class Outcome(NamedTuple):
    """What one run found."""

    group: int
    run: int
    codes: NDArray[Any]
    """Clusters 0..k-1 of the objects used, -1 for none."""
    values: NDArray[np.int64]
    """The estimator's own label behind each code. Singletons of noise come after these."""
    validity: float
    estimator: Any
    """The fitted estimator, where labelling new objects needs it."""

    @property
    def n_clusters(self) -> int:
        """Number of clusters, singletons of noise included."""
        return int(self.codes.max(initial=MISSING)) + 1


def draw_run(recipe: Recipe, group: int, run: int, *, objects: bool = True) -> Draw:
    """Draw the choices of a run from its own generator.

    The objects are drawn last; ``objects=False`` leaves them out where they are not needed.
    """
    rng = np.random.default_rng(np.random.SeedSequence(recipe.entropy, spawn_key=(group, run)))
    n_used = _between(rng, *recipe.objects)
    low, high = recipe.clusters
    n_clusters = _between(rng, min(low, n_used), min(high, n_used))
    features = _subset(rng, recipe.n_features, _between(rng, *recipe.features))
    seed = int(rng.integers(2**31 - 1))
    chosen = _subset(rng, recipe.n_objects, n_used) if objects else None
    return Draw(group, run, n_clusters, seed, n_used, features, chosen)


def _between(rng: np.random.Generator, low: int, high: int) -> int:
    return int(rng.integers(low, high, endpoint=True))


def _subset(rng: np.random.Generator, n: int, size: int) -> NDArray[np.int64] | None:
    if size == n:
        return None
    return np.sort(rng.choice(n, size=size, replace=False, shuffle=False))


def select_features(X: Any, draw: Draw) -> Any:
    """Return the columns of `X` that the run used."""
    return X if draw.features is None else X[:, draw.features]


# --- estimators -------------------------------------------------------------------------------


def number_parameter(estimator: Any) -> str | None:
    """Return the parameter with the number of clusters, or None if there is none to set.

    In a pipeline it is that of the last step (a PCA before it has `n_components`, too). None also
    for an estimator whose number is None: it finds the number by itself.
    """
    if isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        inner = number_parameter(last)
        return None if inner is None else f"{name}__{inner}"
    params = estimator.get_params(deep=False)
    for parameter in ("n_clusters", "n_components"):
        if parameter in params:
            value = params[parameter]
            if hasattr(value, "get_params"):  # Birch takes a clusterer for its last step
                inner = number_parameter(value)
                return None if inner is None else f"{parameter}__{inner}"
            return None if value is None else parameter
    nested = [p for p in estimator.get_params() if p.endswith("__n_clusters")]
    return nested[0] if len(nested) == 1 else None


def prepare_estimator(estimator: Any, draw: Draw, *, full_tree: bool = False) -> Any:
    """Return an unfitted copy with the number of clusters and the seeds that were drawn."""
    made = clone(estimator)
    parameter = number_parameter(made)
    if parameter is not None:
        made.set_params(**{parameter: draw.n_clusters})
    seeds = [p for p in sorted(made.get_params()) if p.split("__")[-1] == "random_state"]
    # The first takes the seed itself, so that users can repeat the run by hand.
    more = np.random.SeedSequence(draw.seed).generate_state(max(0, len(seeds) - 1))
    made.set_params(**dict(zip(seeds, [draw.seed, *more.tolist()], strict=False)))
    if full_tree:
        _last_step(made).set_params(compute_distances=True, compute_full_tree=True)
    return made


def name_of(estimator: Any) -> str:
    """Return the class of an estimator, of a pipeline those of its steps, for messages."""
    if isinstance(estimator, Pipeline):
        return " + ".join(name_of(step) for _, step in estimator.steps)
    return type(estimator).__name__


def has_tree(estimator: Any) -> bool:
    """Whether a fitted estimator can have a full tree, as AgglomerativeClustering has."""
    return "compute_distances" in _last_step(estimator).get_params(deep=False)


def _last_step(estimator: Any) -> Any:
    while isinstance(estimator, Pipeline):
        estimator = estimator.steps[-1][1]
    return estimator


def _seen_by_clusterer(estimator: Any, X: Any) -> Any:
    """Return `X` as the last step of a fitted pipeline gets it; `X` itself without a pipeline."""
    while isinstance(estimator, Pipeline):
        if len(estimator.steps) > 1:
            X = estimator[:-1].transform(X)
        estimator = estimator.steps[-1][1]
    return X if sparse.issparse(X) else np.asarray(X)


def _packages(estimator: Any) -> frozenset[str]:
    parts = [estimator, *estimator.get_params().values()]
    return frozenset(type(part).__module__.partition(".")[0] for part in parts)


# --- a run ------------------------------------------------------------------------------------


def execute_run(X: Any, estimator: Any, recipe: Recipe, group: int, run: int) -> Outcome:
    """Make one partition: draw, fit, read the labels, measure them."""
    draw = draw_run(recipe, group, run)
    with one_thread(_packages(estimator)):
        try:
            return _execute(X, estimator, recipe, draw)
        except Exception as error:
            # Keep the kinds that callers distinguish; other errors might not be picklable.
            kind = next(
                (k for k in (MemoryError, TypeError, ValueError) if isinstance(error, k)),
                RuntimeError,
            )
            raise kind(_error_message(estimator, recipe, draw, error)) from error


def _execute(X: Any, estimator: Any, recipe: Recipe, draw: Draw) -> Outcome:
    used = draw.used(X)
    made = prepare_estimator(estimator, draw, full_tree=recipe.validity == "cophenetic")
    # An estimator that works in place gets a copy: other runs and the user keep their data.
    raw = _labels_of(made, used.copy() if _works_in_place(made) else used)
    codes, values = encode_labels(raw, recipe.noise)
    if recipe.validity is None:
        return Outcome(draw.group, draw.run, codes, values, 1.0, _stripped(made))
    validity = _measure(recipe.validity, made, used, codes)
    return Outcome(draw.group, draw.run, codes, values, validity, _stripped(made))


def _works_in_place(estimator: Any) -> bool:
    params = estimator.get_params()
    return any(v is False and p.split("__")[-1] in _COPY_FLAGS for p, v in params.items())


def _labels_of(estimator: Any, X: Any) -> NDArray[np.int64]:
    if hasattr(estimator, "fit_predict"):
        labels = estimator.fit_predict(X)
    else:
        estimator.fit(X)
        labels = estimator.labels_ if hasattr(estimator, "labels_") else estimator.predict(X)
    labels = np.asarray(labels)
    if labels.shape != (X.shape[0],) or labels.dtype.kind not in "iu":
        raise ValueError(
            f"it must label each of the {X.shape[0]} objects with an integer; got labels of "
            f"shape {labels.shape} and dtype {labels.dtype}."
        )
    return labels.astype(np.int64, copy=False)


def encode_labels(labels: NDArray[np.int64], noise: str) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return codes 0..k-1 in the order of the labels, and the labels behind them.

    Negative labels are noise: -1 if `noise` is 'missing', else the codes k, k + 1, ... in the
    order of the objects.
    """
    is_noise = labels < 0
    values, codes = np.unique(labels[~is_noise], return_inverse=True)
    n_noise = int(is_noise.sum())
    n_codes = len(values) + (n_noise if noise == "singletons" else 0)
    narrow = next(t for t in (np.int8, np.int16, np.int32) if n_codes <= np.iinfo(t).max)
    out = np.full(len(labels), MISSING, dtype=narrow)
    out[~is_noise] = codes
    if noise == "singletons":
        out[is_noise] = np.arange(len(values), n_codes)
    return out, values


def _measure(
    validity: str | Callable[[Any, NDArray[Any]], float],
    estimator: Any,
    X: Any,
    codes: NDArray[Any],
) -> float:
    """Return the validity of a run, 0 where it is negative or not defined."""
    labelled = codes >= 0
    if labelled.sum() < 2:
        return 0.0
    X = _seen_by_clusterer(estimator, X)
    if not labelled.all():
        X, codes = X[labelled], codes[labelled]
    codes = codes.astype(np.int64)
    if callable(validity):
        value = float(validity(X, codes))
    else:
        value = float(VALIDITY[validity](X, codes, estimator=_last_step(estimator)))
    return 0.0 if np.isnan(value) else min(max(value, 0.0), 1.0)


def _stripped(estimator: Any) -> Any:
    """Return a fitted estimator without training data, None if it cannot label new objects."""
    if not hasattr(estimator, "predict") and not isinstance(estimator, Pipeline):
        return None
    last = _last_step(estimator)
    if type(last).__module__.startswith("sklearn."):
        for name in _TRAINING_BULK:
            last.__dict__.pop(name, None)
    return estimator


def _error_message(estimator: Any, recipe: Recipe, draw: Draw, error: Exception) -> str:
    parameter = number_parameter(estimator)
    asked = "" if parameter is None else f"{parameter}={draw.n_clusters}, "
    n_features = recipe.n_features if draw.features is None else len(draw.features)
    return (
        f"run {draw.run} of estimator {draw.group} ({name_of(estimator)}) failed: "
        f"{type(error).__name__}: {error}\n"
        f"The run drew {asked}{draw.n_objects} of {recipe.n_objects} objects, {n_features} of "
        f"{recipe.n_features} features and the seed {draw.seed}. Change the estimator or leave "
        "it out, or narrow n_clusters, max_features or max_samples."
    )


# --- new objects ------------------------------------------------------------------------------


def label_by_predict(
    estimator: Any, X: Any, n_clusters: int, values: NDArray[np.int64], noise: str
) -> NDArray[np.int32]:
    """Return the codes of new objects by the estimator's own `predict`.

    A cluster that no training object is in gets the code ``n_clusters``, and so does new noise
    where noise objects are clusters of their own. `values` are the estimator's labels behind
    the codes.
    """
    raw = np.asarray(estimator.predict(X), dtype=np.int64)
    codes = np.full(len(raw), n_clusters, dtype=np.int32)
    if len(values):
        slot = np.minimum(np.searchsorted(values, raw), len(values) - 1)
        known = values[slot] == raw
        codes[known] = slot[known]
    if noise == "missing":
        codes[raw < 0] = MISSING
    return codes


def label_by_neighbour(
    estimator: Any, X: Any, X_train: Any, codes: NDArray[Any]
) -> NDArray[np.int32]:
    """Return for new objects the codes of the nearest training objects of the run.

    `estimator` is a fitted pipeline, or any other clusterer, fitted or not. Neighbours are those
    in the input of the clusterer, after the other steps of a pipeline, by its metric.
    """
    nearest = nearest_objects(
        _seen_by_clusterer(estimator, X),
        _seen_by_clusterer(estimator, X_train),
        **metric_of(estimator),
    )
    return codes_of_nearest(nearest, codes)


def codes_of_nearest(nearest: NDArray[np.int64], codes: NDArray[Any]) -> NDArray[np.int32]:
    """Return the codes of the nearest objects; -1 where there is none."""
    return np.where(nearest >= 0, codes[nearest], MISSING).astype(np.int32)


def metric_of(estimator: Any) -> dict[str, Any]:
    """Return the metric of a clusterer for `nearest_objects`; Euclidean where it has none."""
    params = _last_step(estimator).get_params(deep=False)
    metric = params.get("metric")
    if not callable(metric) and metric not in VALID_METRICS["brute"]:
        return {"metric": "euclidean"}
    found = {"metric": metric}
    if metric == "minkowski" and params.get("p") is not None:
        found["p"] = params["p"]
    if params.get("metric_params"):
        found["metric_params"] = params["metric_params"]
    return found


def nearest_objects(X: Any, X_train: Any, **metric: Any) -> NDArray[np.int64]:
    """Return for each row of `X` the nearest row of `X_train`; -1 for a row with NaN."""
    nearest = np.full(X.shape[0], -1, dtype=np.int64)
    train, new = np.arange(X_train.shape[0]), np.arange(X.shape[0])
    if not sparse.issparse(X_train):
        train = np.flatnonzero(~np.isnan(X_train).any(axis=1))
        new = np.flatnonzero(~np.isnan(X).any(axis=1))
    if not len(train) or not len(new):
        return nearest
    X_train = X_train if len(train) == X_train.shape[0] else X_train[train]
    X = X if len(new) == X.shape[0] else X[new]
    if not sparse.issparse(X_train) and metric.get("metric") in ("euclidean", "minkowski"):
        # Distances from scalar products lose digits far from the origin.
        centre = X_train.mean(axis=0)
        X, X_train = X - centre, X_train - centre
    index = NearestNeighbors(n_neighbors=1, **metric).fit(X_train)
    nearest[new] = train[index.kneighbors(X, return_distance=False)[:, 0]]
    return nearest
