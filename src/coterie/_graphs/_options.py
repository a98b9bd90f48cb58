"""Parameters of methods that cut graphs: partitioner, imbalance."""

from __future__ import annotations

from numbers import Real

import numpy as np

__all__ = ["check_imbalance", "check_partitioner"]


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
