"""Parameters of methods that cut graphs: partitioner, imbalance, seed."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from sklearn.utils import check_random_state

__all__ = ["as_seed", "check_imbalance", "check_partitioner"]


def as_seed(random_state: int | np.random.RandomState | None) -> int:
    """Return an integer seed; an integer stands for itself."""
    if isinstance(random_state, Integral) and not isinstance(random_state, bool):
        check_random_state(random_state)  # raises if it is out of range
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def check_partitioner(
    partitioner: str, imbalance: float, known: tuple[str, ...] = ("spectral", "metis")
) -> None:
    """Raise ValueError for an unknown partitioner or a bad imbalance, also where it is unused."""
    if partitioner not in known:
        raise ValueError(f"partitioner must be one of {known}; got {partitioner!r}.")
    check_imbalance(imbalance)


def check_imbalance(imbalance: float) -> None:
    """Raise ValueError unless the imbalance is a finite, non-negative number."""
    if not isinstance(imbalance, Real) or isinstance(imbalance, bool):
        raise ValueError(f"imbalance must be a number; got {imbalance!r}.")
    if not 0 <= imbalance < np.inf:
        raise ValueError(f"imbalance must be finite and not negative; got {imbalance}.")
