"""Checks of parameters, with the same words everywhere: name, rule, what came."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

__all__ = [
    "as_seed",
    "check_choice",
    "check_clusterer",
    "check_integer",
    "check_number",
    "check_random_state",
    "is_integer",
    "whole_seed",
]


def is_integer(value: Any) -> bool:
    """Whether a value is an integer of any type, and no truth value."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def check_integer(name: str, value: Any, *, at_least: int, optional: bool = False) -> None:
    """Raise unless the value is an integer of at least `at_least`, or None if it is optional."""
    if optional and value is None:
        return
    if not is_integer(value):
        rule = "an integer or None" if optional else "an integer"
        raise TypeError(f"{name} must be {rule}; got {value!r} ({type(value).__name__}).")
    if value < at_least:
        raise ValueError(f"{name} must be at least {at_least}; got {value}.")


def check_clusterer(estimator: Any, *names: str, n_samples: int) -> None:
    """Raise unless the named parameters count something and there are enough samples."""
    for name in names:
        check_integer(name, getattr(estimator, name), at_least=1)
    if estimator.n_clusters > n_samples:
        raise ValueError(
            f"n_clusters must be at most the number of samples, n_samples = {n_samples}; got "
            f"{estimator.n_clusters}."
        )


def check_number(
    name: str, value: Any, *, positive: bool = False, at_most: float | None = None
) -> None:
    """Raise unless the value is a finite number, at least 0 or positive, and at most a maximum."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{name} must be a number; got {value!r} ({type(value).__name__}).")
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{name} must be finite; got {value}.")
    if positive and number <= 0:
        raise ValueError(f"{name} must be positive; got {value}.")
    if number < 0:
        raise ValueError(f"{name} must not be negative; got {value}.")
    if at_most is not None and number > at_most:
        raise ValueError(f"{name} must be at most {at_most:g}; got {value}.")


def check_choice(name: str, value: Any, choices: Sequence[Any]) -> None:
    """Raise unless the value is one of the choices."""
    if not any(type(value) is type(choice) and value == choice for choice in choices):
        known = ", ".join(map(repr, choices[:-1]))
        raise ValueError(f"{name} must be {known} or {choices[-1]!r}; got {value!r}.")


def whole_seed(random_state: Any) -> Any:
    """Return a whole number such as 0.0, which R gives for 0, as an integer; all else as it is."""
    if isinstance(random_state, float | np.floating) and float(random_state).is_integer():
        return int(random_state)
    return random_state


def check_random_state(random_state: Any) -> np.random.RandomState:
    """Return scikit-learn's random generator for a seed; whole floats are seeds, too."""
    import sklearn.utils  # a second to import, which data sets and `coterie --help` do without

    return sklearn.utils.check_random_state(whole_seed(random_state))


def as_seed(random_state: Any) -> int:
    """Return an integer seed; an integer stands for itself."""
    random_state = whole_seed(random_state)
    generator = check_random_state(random_state)  # raises if an integer is out of range
    if is_integer(random_state):
        return int(random_state)
    return int(generator.randint(np.iinfo(np.int32).max))
