"""Parameters of methods that cut graphs."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from sklearn.utils import check_random_state

__all__ = ["as_seed"]


def as_seed(random_state: int | np.random.RandomState | None) -> int:
    """Return an integer seed; an integer stands for itself."""
    if isinstance(random_state, Integral) and not isinstance(random_state, bool):
        check_random_state(random_state)  # raises if it is out of range
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
