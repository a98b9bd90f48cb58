"""What methods that cut graphs are told: which partitioner, how much imbalance, which seed."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

__all__ = ["as_seed", "check_imbalance", "check_partitioner", "heaviest_parts"]


def as_seed(random_state: int | np.random.RandomState | None) -> int:
    """Return an integer seed; an integer stands for itself."""
    if isinstance(random_state, Integral) and not isinstance(random_state, bool):
        check_random_state(random_state)  # refuses what is out of range
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def check_partitioner(
    partitioner: str, imbalance: float, known: tuple[str, ...] = ("spectral", "metis")
) -> None:
    """Refuse an unknown partitioner, and what is no imbalance, also where it is not used."""
    if partitioner not in known:
        raise ValueError(f"partitioner must be one of {known}; got {partitioner!r}.")
    check_imbalance(imbalance)


def check_imbalance(imbalance: float) -> None:
    """Refuse what is not a number from 0 on."""
    if not isinstance(imbalance, Real) or isinstance(imbalance, bool):
        raise ValueError(f"imbalance must be a number; got {imbalance!r}.")
    if not 0 <= imbalance < np.inf:
        raise ValueError(f"imbalance must be finite and not negative; got {imbalance}.")


def heaviest_parts(
    weights: NDArray[np.integer], n_parts: int, imbalance: float
) -> NDArray[np.int64]:
    """Return (k,): what each part may weigh, the mean being a whole number, as for Mt-KaHyPar."""
    total = int(weights.sum())
    most = (1 + imbalance) * -(-total // n_parts)
    return np.full(n_parts, int(min(most + 1e-9, total)))
