"""Checks of the parameters that the generators share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from coterie._checks import is_integer, whole_seed

__all__ = ["RandomState", "check_count", "check_scale", "class_sizes", "generator"]

RandomState: TypeAlias = int | np.random.Generator | np.random.RandomState | None


def generator(random_state: RandomState) -> np.random.Generator:
    """Return a numpy Generator: fresh, seeded, or the one that was passed."""
    random_state = whole_seed(random_state)
    if random_state is None or is_integer(random_state):
        if random_state is not None and int(random_state) < 0:  # type: ignore[arg-type]
            raise ValueError(f"random_state must be 0 or larger; got {random_state}.")
        return np.random.default_rng(random_state)
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.Generator(random_state._bit_generator)  # shares and advances its state
    raise TypeError(
        "random_state must be None, an integer, a numpy Generator or a numpy RandomState; got "
        f"{random_state!r}."
    )


def check_count(name: str, value: Any, *, low: int, high: int | None = None) -> int:
    """Return `value` as an int in [low, high]."""
    if not is_integer(value):
        raise TypeError(f"{name} must be an integer; got {value!r}.")
    if value < low or (high is not None and value > high):
        rule = f"{low} or larger" if high is None else f"between {low} and {high}"
        raise ValueError(f"{name} must be {rule}; got {value}.")
    return int(value)


def check_scale(name: str, value: Any) -> float:
    """Return `value` as a finite float that is not negative."""
    if not isinstance(value, Real) or isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be a number; got {value!r}.")
    scale = float(value)
    if not (math.isfinite(scale) and scale >= 0):
        raise ValueError(f"{name} must be finite and 0 or larger; got {value}.")
    return scale


def class_sizes(
    n_samples: int | Sequence[int], shares: Sequence[int], *, n_outliers: int = 0
) -> list[int]:
    """Return the number of objects in each class.

    A total is divided in the proportions `shares`, after `n_outliers` were taken off it; what
    rounding leaves goes to the largest remainders, the first class on ties. A sequence gives the
    sizes themselves, and outliers come on top.
    """
    if isinstance(n_samples, list | tuple | np.ndarray):
        if len(n_samples) != len(shares):
            raise ValueError(
                f"n_samples must be one integer or hold one size for each of the {len(shares)} "
                f"classes; got {len(n_samples)} sizes."
            )
        return [
            check_count(f"n_samples[{position}]", size, low=1)
            for position, size in enumerate(n_samples)
        ]
    if isinstance(n_samples, Sequence) or not is_integer(n_samples):
        raise TypeError(
            f"n_samples must be an integer or a sequence of {len(shares)} integers; got "
            f"{n_samples!r}."
        )
    total = int(n_samples) - n_outliers
    whole = sum(shares)
    exact: NDArray[np.int64] = total * np.asarray(shares, dtype=np.int64)
    sizes, remainders = exact // whole, exact % whole
    left = total - int(sizes.sum())
    sizes[np.argsort(-remainders, kind="stable")[:left]] += 1
    if total < 1 or sizes.min() < 1:
        besides = f" and {n_outliers} outliers" if n_outliers else ""
        raise ValueError(
            f"n_samples must leave at least one object for each of the {len(shares)} "
            f"classes{besides}; got {n_samples}."
        )
    return sizes.tolist()
