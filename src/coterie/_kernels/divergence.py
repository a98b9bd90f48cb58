"""The symmetric Kullback-Leibler divergence of all pairs of rows.

Both halves of a pair come out bit for bit the same: swapping two rows changes the sign of both
factors of every product. `logs` are logarithms of `rows`; rows that are not `seen` have no part
in anything.
"""

from __future__ import annotations

import numpy as np

from coterie._kernels._jit import njit, parallel_njit, prange


@njit
def _divergence(rows, logs, i, j):
    total = 0.0
    for c in range(rows.shape[1]):
        total += (rows[i, c] - rows[j, c]) * (logs[i, c] - logs[j, c])
    return 0.5 * total


@parallel_njit
def largest_divergence(rows, logs, seen):
    """Return the largest divergence of two rows."""
    n = rows.shape[0]
    largest = np.zeros(n)
    for i in prange(n):
        if seen[i]:
            for j in range(i):
                if seen[j]:
                    largest[i] = max(largest[i], _divergence(rows, logs, i, j))
    return largest.max()


@parallel_njit
def add_similarity(rows, logs, seen, largest, total):
    """Add 1 - divergence / largest to `total` (n, n) for every two rows that are seen."""
    n = rows.shape[0]
    for i in prange(n):
        if seen[i]:
            for j in range(n):
                if seen[j]:
                    apart = _divergence(rows, logs, i, j) / largest if largest > 0 else 0.0
                    total[i, j] += 1.0 - apart
