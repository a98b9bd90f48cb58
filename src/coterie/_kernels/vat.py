"""The order in which Prim's algorithm meets objects: VAT (Bezdek and Hathaway, 2002)."""

from __future__ import annotations

import numpy as np

from coterie._kernels._jit import njit, parallel_njit, prange
from coterie._kernels.coassociation import share_row, share_scratch


@parallel_njit
def least_shares(codes):
    """Return for each object its smallest co-association with any other."""
    n = codes.columns.shape[1]
    least = np.empty(n)
    for i in prange(n):
        row = np.empty(n)
        share_row(codes, i, share_scratch(codes), row)
        least[i] = row.min()
    return least


@njit
def visit_nearest(codes, start):
    """Return the objects in the order of Prim's algorithm; ties go to the smallest index."""
    n = codes.columns.shape[1]
    scratch = share_scratch(codes)
    row = np.empty(n)
    best = np.full(n, -1.0)  # largest co-association with an object met so far
    order = np.empty(n, dtype=np.int64)
    current = start
    for step in range(n):
        order[step] = current
        best[current] = -2.0
        share_row(codes, current, scratch, row)
        following = -1
        for j in range(n):
            if best[j] == -2.0:
                continue
            best[j] = max(best[j], row[j])
            if following < 0 or best[j] > best[following]:
                following = j
        current = following
    return order


@parallel_njit
def nearest_of_sample(codes, n_sample):
    """Return for each object after the first `n_sample` the most similar one among these."""
    n = codes.columns.shape[1]
    nearest = np.empty(n - n_sample, dtype=np.int64)
    for r in prange(n - n_sample):
        shares = np.empty(n_sample)
        share_row(codes, n_sample + r, share_scratch(codes), shares)
        nearest[r] = np.argmax(shares)
    return nearest
