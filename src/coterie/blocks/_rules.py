"""Rules that give label rows their parts."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from coterie._kernels.views import find_patterns

__all__ = ["Lookup", "Rule"]


class Rule(Protocol):
    """Gives label rows their parts; can be sent to another process."""

    def __call__(self, codes: NDArray[np.int32], start: int) -> NDArray[np.int64]:
        """Return a part for each row; `start` counts the labelled rows before the first."""


class Lookup(NamedTuple):
    """Known rows have known parts."""

    rows: NDArray[np.int32]
    """(p, L): distinct rows."""
    parts: NDArray[np.int64]
    """(p,)."""

    def __call__(self, codes: NDArray[np.int32], start: int) -> NDArray[np.int64]:
        """Return the part of each row, -1 for a row that is not known."""
        if len(codes) == 0:
            return np.empty(0, dtype=np.int64)
        _, inverse, _ = find_patterns(np.concatenate([self.rows, codes]))
        found = inverse[len(self.rows) :]
        known = found < len(self.rows)
        return np.where(known, self.parts[np.where(known, found, 0)], -1)
