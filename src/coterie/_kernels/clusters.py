"""Sums over label rows.

Rows are codes 0..k-1 in each column, -1 where a label is missing; `offsets` says where the clusters
of each partition start in tables of all K clusters. Sums are made in blocks that depend on the
sizes alone and are added in order, so that they do not depend on the number of threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie._kernels._jit import njit, parallel_njit, prange

_BLOCK = 4096  # rows at a time


@parallel_njit
def _weigh_block(codes, weights, n_block, table):
    """Add the weights of a block to the pairs of clusters (e <= f) that its rows are in."""
    n_partitions = codes.shape[0]
    # Partition e has L - e partners: e and L - 1 - e together have the same number for every e.
    for half in prange((n_partitions + 1) // 2):
        _weigh_partners(half, codes, weights, n_block, table)
        if n_partitions - 1 - half != half:
            _weigh_partners(n_partitions - 1 - half, codes, weights, n_block, table)


@njit
def _weigh_partners(e, codes, weights, n_block, table):
    for f in range(e, codes.shape[0]):
        for i in range(n_block):
            table[codes[e, i], codes[f, i]] += weights[i]


@parallel_njit
def _encode_block(block, starts, missing, codes):
    for e in prange(block.shape[1]):
        for i in range(block.shape[0]):
            codes[e, i] = missing if block[i, e] < 0 else starts[e] + block[i, e]


def weigh_overlap(
    rows: NDArray[np.int32], weights: NDArray[Any], offsets: NDArray[np.int64]
) -> NDArray[Any]:
    """Return (K, K): the summed weights, integers or not, of the rows that two clusters share."""
    n_all = int(offsets[-1])
    # The last cluster is that of missing labels.
    table = np.zeros((n_all + 1, n_all + 1), dtype=weights.dtype)
    codes = np.empty((rows.shape[1], _BLOCK), dtype=np.int64)
    for start in range(0, len(rows), _BLOCK):
        block = rows[start : start + _BLOCK]
        _encode_block(block, offsets, n_all, codes)
        _weigh_block(codes, weights[start : start + _BLOCK], len(block), table)
    table = table[:n_all, :n_all]
    upper = np.triu(table, 1)
    upper += upper.T
    upper[np.diag_indices(n_all)] = np.diagonal(table)
    return upper


@njit
def describe_clusters(rows, counts, offsets):
    """Return (first, sizes), both (K,): the first row in each cluster and its objects."""
    first = np.full(offsets[-1], rows.shape[0])
    sizes = np.zeros(offsets[-1], dtype=np.int64)
    for i in range(rows.shape[0]):
        for e in range(rows.shape[1]):
            if rows[i, e] >= 0:
                c = offsets[e] + rows[i, e]
                sizes[c] += counts[i]
                if first[c] > i:
                    first[c] = i
    return first, sizes


@parallel_njit
def count_parts(rows, offsets, parts, n_parts):
    """Return (p, n_parts): how many of the clusters that each row is in belong to each part.

    `parts` (K,) is the part of each cluster. A code past the last is a cluster that is not known.
    """
    n, n_partitions = rows.shape
    counts = np.zeros((n, n_parts), dtype=np.int64)
    for i in prange(n):
        for e in range(n_partitions):
            code = rows[i, e]
            if code >= 0 and code < offsets[e + 1] - offsets[e]:
                counts[i, parts[offsets[e] + code]] += 1
    return counts


@parallel_njit
def add_rows(rows, offsets, table):
    """Return (p, d): for each label row the sum of the rows of `table` (K, d) of its clusters."""
    n, n_partitions = rows.shape
    sums = np.zeros((n, table.shape[1]))
    for i in prange(n):
        target = sums[i]
        for e in range(n_partitions):
            if rows[i, e] >= 0:
                source = table[offsets[e] + rows[i, e]]
                for c in range(target.size):
                    target[c] += source[c]
    return sums


@parallel_njit
def nearest_centers(rows, centers):
    """Return for each row the nearest centre, the first of equally near ones."""
    found = np.empty(rows.shape[0], dtype=np.int64)
    for i in prange(rows.shape[0]):
        best, least = 0, np.inf
        for c in range(centers.shape[0]):
            distance = 0.0
            for d in range(rows.shape[1]):
                distance += (rows[i, d] - centers[c, d]) ** 2
            if distance < least:
                best, least = c, distance
        found[i] = best
    return found
