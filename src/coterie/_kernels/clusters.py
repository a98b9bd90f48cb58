"""Sums over label rows and the steps of k-means, for points and for label rows.

Rows are codes 0..k-1 in each column, -1 where a label is missing; `offsets` says where the clusters
of each partition start in tables of all K clusters. Sums are made in blocks that depend on the
sizes alone and are added in order, so that they do not depend on the number of threads. For small
calls, of which k-means makes many, no threads are woken.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coterie._kernels._jit import njit, parallel_njit, prange
from coterie._progress import stretch

_BLOCK = 4096  # rows at a time
_TILE = 256  # points at a time: what is known of them stays in the first-level cache
_ROOM = 1 << 22  # numbers that the partial sums of all blocks may take
_MOST_BLOCKS = 64
_QUICK = 4_000_000  # operations, a millisecond or two, for which no threads are woken


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
    rows: NDArray[np.int32], weights: NDArray[np.float64], offsets: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return (K, K): the summed weights of the rows that two clusters share."""
    n_all = int(offsets[-1])
    table = np.zeros((n_all + 1, n_all + 1))  # the last cluster is that of missing labels
    codes = np.empty((rows.shape[1], _BLOCK), dtype=np.int64)
    with stretch("overlap of clusters", len(rows)) as done:
        for start in range(0, len(rows), _BLOCK):
            block = rows[start : start + _BLOCK]
            _encode_block(block, offsets, n_all, codes)
            _weigh_block(codes, weights[start : start + _BLOCK], len(block), table)
            done[0] = start
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


def add_rows(rows, offsets, table):
    """Return (p, d): for each label row the sum of the rows of `table` (K, d) of its clusters."""
    sums = np.zeros((len(rows), table.shape[1]))
    if rows.size * table.shape[1] <= _QUICK:
        _add_rows(rows, offsets, table, 0, len(rows), sums)
    else:
        _add_rows_parallel(rows, offsets, table, sums)
    return sums


@njit
def _add_rows(rows, offsets, table, start, stop, sums):
    for i in range(start, stop):
        target = sums[i]
        for e in range(rows.shape[1]):
            if rows[i, e] >= 0:
                source = table[offsets[e] + rows[i, e]]
                for c in range(target.size):
                    target[c] += source[c]


@parallel_njit
def _add_rows_parallel(rows, offsets, table, sums):
    n = rows.shape[0]
    for block in prange((n + _BLOCK - 1) // _BLOCK):
        start, stop = block * _BLOCK, min(n, (block + 1) * _BLOCK)
        _add_rows(rows, offsets, table, start, stop, sums)


def quadratic_form(rows, offsets, inner):
    """Return (p,): for each label row the sum of `inner` (K, K) over the pairs of its clusters."""
    forms = np.empty(len(rows))
    if rows.size * rows.shape[1] <= _QUICK:
        _form_rows(rows, offsets, inner, 0, len(rows), forms)
    else:
        _form_rows_parallel(rows, offsets, inner, forms)
    return forms


@njit
def _form_rows(rows, offsets, inner, start, stop, forms):
    for i in range(start, stop):
        total = 0.0
        for e in range(rows.shape[1]):
            if rows[i, e] >= 0:
                source = inner[offsets[e] + rows[i, e]]
                total += source[offsets[e] + rows[i, e]]
                for f in range(e):
                    if rows[i, f] >= 0:
                        total += 2.0 * source[offsets[f] + rows[i, f]]
        forms[i] = total


@parallel_njit
def _form_rows_parallel(rows, offsets, inner, forms):
    n = rows.shape[0]
    for block in prange((n + _BLOCK - 1) // _BLOCK):
        start, stop = block * _BLOCK, min(n, (block + 1) * _BLOCK)
        _form_rows(rows, offsets, inner, start, stop, forms)


@njit
def _pick(acc, slack):
    """Return the first entry that is within `slack` of the smallest."""
    least = acc[0]
    for c in range(1, acc.size):
        least = min(least, acc[c])
    for c in range(acc.size):
        if acc[c] <= least + slack:
            return c
    return 0


@njit
def _score_row(row, offsets, table, half_squares, acc):
    """Write |c|^2 / 2 - <x, c> for all centres, x a label row.

    `table` (K, k) holds the products of clusters and centres.
    """
    acc[:] = half_squares
    for e in range(row.size):
        if row[e] >= 0:
            source = table[offsets[e] + row[e]]
            for c in range(acc.size):
                acc[c] -= source[c]


@njit
def _nearest_points(points, squares, across, half_squares, slack, start, stop, labels, distances):
    """Find the nearest centres of points start..stop-1; `across` is (d, k).

    Some points at a time, which are innermost in every loop: there are more of them than centres
    or dimensions, so that the loops are worth vector instructions.
    """
    n_dimensions, n_centers = across.shape
    turned, scores = np.empty((n_dimensions, _TILE)), np.empty((n_centers, _TILE))
    least = np.empty(_TILE)
    for first in range(start, stop, _TILE):
        size = min(stop - first, _TILE)
        for i in range(size):
            for d in range(n_dimensions):
                turned[d, i] = points[first + i, d]
        least[:size] = np.inf
        for c in range(n_centers):
            score = scores[c]
            score[:size] = half_squares[c]  # |c|^2 / 2 - <x, c>
            for d in range(n_dimensions):
                value, column = across[d, c], turned[d]
                for i in range(size):
                    score[i] -= column[i] * value
            for i in range(size):
                least[i] = min(least[i], score[i])
        for i in range(size):
            c = 0
            while c < n_centers - 1 and not scores[c, i] <= least[i] + slack:
                c += 1
            labels[first + i] = c
            distances[first + i] = max(0.0, squares[first + i] + 2.0 * scores[c, i])


@parallel_njit
def _nearest_points_parallel(points, squares, across, half_squares, slack, labels, distances):
    n = points.shape[0]
    for block in prange((n + _BLOCK - 1) // _BLOCK):
        start, stop = block * _BLOCK, min(n, (block + 1) * _BLOCK)
        _nearest_points(
            points, squares, across, half_squares, slack, start, stop, labels, distances
        )


def nearest_of_points(points, squares, across, half_squares, slack):
    """Return the nearest centre of each point, the first within `slack`, and its distance^2."""
    n = len(points)
    labels, distances = np.empty(n, dtype=np.int64), np.empty(n)
    if n * across.size <= _QUICK:
        _nearest_points(points, squares, across, half_squares, slack, 0, n, labels, distances)
    else:
        _nearest_points_parallel(points, squares, across, half_squares, slack, labels, distances)
    return labels, distances


@njit
def _nearest_rows(
    rows, offsets, squares, table, half_squares, slack, start, stop, labels, distances
):
    acc = np.empty(half_squares.size)
    for i in range(start, stop):
        _score_row(rows[i], offsets, table, half_squares, acc)
        labels[i] = _pick(acc, slack)
        distances[i] = max(0.0, squares[i] + 2.0 * acc[labels[i]])


@parallel_njit
def _nearest_rows_parallel(rows, offsets, squares, table, half_squares, slack, labels, distances):
    n = rows.shape[0]
    for block in prange((n + _BLOCK - 1) // _BLOCK):
        start, stop = block * _BLOCK, min(n, (block + 1) * _BLOCK)
        _nearest_rows(
            rows, offsets, squares, table, half_squares, slack, start, stop, labels, distances
        )


def nearest_of_rows(rows, offsets, squares, table, half_squares, slack):
    """Do the same for label rows."""
    n = len(rows)
    labels, distances = np.empty(n, dtype=np.int64), np.empty(n)
    if rows.size * len(half_squares) <= _QUICK:
        _nearest_rows(rows, offsets, squares, table, half_squares, slack, 0, n, labels, distances)
    else:
        _nearest_rows_parallel(
            rows, offsets, squares, table, half_squares, slack, labels, distances
        )
    return labels, distances


@njit
def _row_distances(rows, offsets, squares, table, half_squares, start, stop, distances):
    acc = np.empty(half_squares.size)
    for i in range(start, stop):
        _score_row(rows[i], offsets, table, half_squares, acc)
        for c in range(acc.size):
            distances[c, i] = max(0.0, squares[i] + 2.0 * acc[c])


@parallel_njit
def _row_distances_parallel(rows, offsets, squares, table, half_squares, distances):
    n = rows.shape[0]
    for block in prange((n + _BLOCK - 1) // _BLOCK):
        start, stop = block * _BLOCK, min(n, (block + 1) * _BLOCK)
        _row_distances(rows, offsets, squares, table, half_squares, start, stop, distances)


def distances_of_rows(rows, offsets, squares, table, half_squares):
    """Return (k, p): the squared distance of every label row to every centre."""
    n = len(rows)
    distances = np.empty((len(half_squares), n))
    if rows.size * len(half_squares) <= _QUICK:
        _row_distances(rows, offsets, squares, table, half_squares, 0, n, distances)
    else:
        _row_distances_parallel(rows, offsets, squares, table, half_squares, distances)
    return distances


def sum_points(
    points: NDArray[np.float64],
    weights: NDArray[np.float64],
    labels: NDArray[np.int64],
    n_parts: int,
) -> NDArray[np.float64]:
    """Return (k, d): the weighted sum of the points of each part."""
    room = max(1, n_parts * points.shape[1])
    n_blocks = max(1, min(_MOST_BLOCKS, _ROOM // room, points.size // _QUICK + 1))
    size = -(-len(points) // n_blocks)
    partial = np.zeros((n_blocks, n_parts, points.shape[1]))
    if n_blocks == 1:
        _sum_block(points, weights, labels, 0, len(points), partial[0])
        return partial[0]
    _sum_blocks(points, weights, labels, size, partial)
    return partial.sum(axis=0)


@njit
def _sum_block(points, weights, labels, start, stop, sums):
    for i in range(start, stop):
        target = sums[labels[i]]
        for d in range(points.shape[1]):
            target[d] += weights[i] * points[i, d]


@parallel_njit
def _sum_blocks(points, weights, labels, size, partial):
    for block in prange(partial.shape[0]):
        stop = min(points.shape[0], (block + 1) * size)
        _sum_block(points, weights, labels, block * size, stop, partial[block])


def sum_label_rows(rows, offsets, weights, labels, n_parts):
    """Return (k, K): the weight of the rows of each part in each cluster."""
    table = np.zeros((offsets[-1], n_parts))
    if rows.size <= _QUICK:
        for e in range(rows.shape[1]):
            _sum_column(rows, offsets, weights, labels, e, table)
    else:
        _sum_columns(rows, offsets, weights, labels, table)
    return np.ascontiguousarray(table.T)


@njit
def _sum_column(rows, offsets, weights, labels, e, table):
    for i in range(rows.shape[0]):
        if rows[i, e] >= 0:
            table[offsets[e] + rows[i, e], labels[i]] += weights[i]


@parallel_njit
def _sum_columns(rows, offsets, weights, labels, table):
    for e in prange(rows.shape[1]):
        _sum_column(rows, offsets, weights, labels, e, table)
