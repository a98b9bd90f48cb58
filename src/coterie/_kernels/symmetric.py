"""Products of a sparse symmetric matrix and a vector, which take most of the time of Lanczos.

Only the entries above the diagonal are read, each for two products: half the memory, which then
mostly stays in the second-level cache.
"""

from __future__ import annotations

import numpy as np

from coterie._kernels._jit import njit


@njit
def after_diagonal(ends, indices):
    """Return where the entries above the diagonal start in each row; columns must be sorted."""
    n = ends.size - 1
    starts = np.empty(n, dtype=np.int64)
    for i in range(n):
        at = ends[i]
        while at < ends[i + 1] and indices[at] <= i:
            at += 1
        starts[i] = at
    return starts


@njit
def multiply(ends, indices, values, starts, diagonal, x):
    """Return the product with the vector x."""
    product = diagonal * x
    for i in range(x.size):
        total, own = 0.0, x[i]
        for at in range(starts[i], ends[i + 1]):
            j = indices[at]
            total += values[at] * x[j]
            product[j] += values[at] * own
        product[i] += total
    return product
