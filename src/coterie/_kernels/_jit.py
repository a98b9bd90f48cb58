"""The one place where numba's flags are set."""

from functools import partial
from typing import Any

import numba
from numba import prange

__all__ = ["njit", "parallel_njit", "prange"]

# `error_model='numpy'`: a division needs no branch for a zero denominator. No fastmath: sums
# must come out the same on every machine, because ties are decided by comparing them.
njit: Any = partial(numba.njit, cache=True, nogil=True, error_model="numpy")

# Every parallel kernel writes each output cell from one iteration only (or counts in integers),
# so that its result does not depend on the number of threads.
parallel_njit: Any = partial(njit, parallel=True)
