"""Parameters of `RandomizedEnsemble`: base estimators, shares and numbers, ranges of both."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from coterie._checks import is_integer
from coterie.generation._runs import name_of

__all__ = ["as_pair", "check_estimators", "count_range", "takes_input"]


def check_estimators(estimators: Any) -> tuple[list[str] | None, list[Any]]:
    """Return the names (None if not given) and the estimators."""
    if estimators is None:
        return None, [KMeans(init="random", n_init=1)]
    if not isinstance(estimators, list | tuple):
        estimators = [estimators]
    if len(estimators) == 0:
        raise ValueError("estimators must hold at least one clusterer; got none.")
    names = None
    named = [isinstance(e, tuple) and len(e) == 2 and isinstance(e[0], str) for e in estimators]
    if all(named):
        names = [name for name, _ in estimators]
        if len(set(names)) < len(names):
            raise ValueError(f"the names of estimators must differ; got {names}.")
    elif any(named):
        raise TypeError(
            "estimators must all be given as (name, clusterer), or none of them; got "
            f"{sum(named)} of {len(named)} with a name."
        )
    checked = [e[1] for e in estimators] if names else list(estimators)
    for estimator in checked:
        _check_estimator(estimator)
    return names, checked


def _check_estimator(estimator: Any) -> None:
    if isinstance(estimator, type):
        raise TypeError(
            f"estimators must be clusterers, not classes; got {estimator.__name__}. Write "
            f"{estimator.__name__}()."
        )
    if not hasattr(estimator, "get_params") or not hasattr(estimator, "fit"):
        raise TypeError(
            "estimators must be one clusterer with scikit-learn's interface, a list of these or "
            f"a list of (name, clusterer); got {estimator!r}."
        )
    for name, value in estimator.get_params().items():
        if isinstance(value, str) and value == "precomputed":
            raise ValueError(
                f"estimators must work on features, because runs draw some of them; "
                f"{name_of(estimator)} has {name}='precomputed'. Cluster the matrix yourself and "
                "pass the labels to Ensemble."
            )


def takes_input(estimator: Any, tag: str) -> bool:
    """Whether an estimator has an input tag."""
    if tag == "allow_nan" and isinstance(estimator, Pipeline):
        # A pipeline has no tag of its own: NaN must pass all its steps, or be imputed.
        for _, step in estimator.steps:
            if step in (None, "passthrough"):
                continue
            if not takes_input(step, tag):
                return False
            if "Imputer" in type(step).__name__:
                return True
        return True
    return bool(getattr(get_tags(estimator).input_tags, tag))


def count_range(name: str, value: Any, n: int, what: str) -> tuple[int, int]:
    """Return the range of numbers that a share, a number or a pair of these means."""
    pair = as_pair(value)
    low, high = (_count(name, value, part, n, what) for part in pair)
    if low > high:
        raise ValueError(f"{name} must be a pair (low, high) with low <= high; got {value!r}.")
    return low, high


def _count(name: str, value: Any, part: Any, n: int, what: str) -> int:
    if is_integer(part) and 1 <= part <= n:
        return int(part)
    if isinstance(part, float | np.floating) and 0 < part <= 1:
        return max(1, round(float(part) * n))
    raise ValueError(
        f"{name} must be a share in (0, 1], a number of {what} from 1 to {n}, or a pair "
        f"(low, high) of these; got {value!r}."
    )


def as_pair(value: Any) -> tuple[Any, Any]:
    if isinstance(value, list | tuple | np.ndarray) and len(value) == 2:
        return value[0], value[1]
    return value, value
