"""The order in which Prim's algorithm meets objects: VAT (Bezdek and Hathaway, 2002)."""

from __future__ import annotations

import numpy as np

from coterie._kernels._jit import njit, parallel_njit, prange
from coterie._kernels.coassociation import (
    _TILE,
    seen_partitions,
    share_row,
    share_tile,
)


@parallel_njit
def least_shares(columns, missing, has_missing, count_type):
    """Return for each object its smallest co-association with any other."""
    n_partitions, n = columns.shape
    least = np.empty(n)
    for i in prange(n):
        seen = np.empty(n_partitions, dtype=np.int64)
        scratch = np.empty((2, _TILE), dtype=count_type.dtype)
        row = np.empty(n)
        share_row(columns, missing, has_missing, i, seen, scratch, row)
        least[i] = row.min()
    return least


@njit
def visit_nearest(columns, missing, has_missing, count_type, start):
    """Return the objects in the order of Prim's algorithm; ties go to the smallest index."""
    n_partitions, n = columns.shape
    seen = np.empty(n_partitions, dtype=np.int64)
    scratch = np.empty((2, _TILE), dtype=count_type.dtype)
    row = np.empty(n)
    best = np.full(n, -1.0)  # largest co-association with an object met so far
    order = np.empty(n, dtype=np.int64)
    current = start
    for step in range(n):
        order[step] = current
        best[current] = -2.0
        share_row(columns, missing, has_missing, current, seen, scratch, row)
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
def nearest_of_sample(columns, missing, has_missing, count_type, n_sample):
    """Return for each object behind the first `n_sample` the most similar one among these."""
    n_partitions, n = columns.shape
    nearest = np.empty(n - n_sample, dtype=np.int64)
    for r in prange(n - n_sample):
        seen = np.empty(n_partitions, dtype=np.int64)
        scratch = np.empty((2, n_sample), dtype=count_type.dtype)
        shares = np.empty(n_sample)
        n_seen = seen_partitions(columns, n_sample + r, missing, seen)
        share_tile(
            columns, missing, has_missing, n_sample + r, seen, n_seen, 0, n_sample, scratch, shares
        )
        nearest[r] = np.argmax(shares) if n_seen else 0
    return nearest
