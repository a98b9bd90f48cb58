"""Counting, for pairs of objects, the partitions that put them together.

Labels come as `columns`, (L, n) codes in the narrowest unsigned type (`Ensemble.compact_codes`),
whose largest value means missing. The loop over objects is innermost and counts are as narrow
as the labels, so that the compiler turns it into byte-wide vector instructions.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from coterie._kernels._jit import njit, parallel_njit, prange

_TILE = 4096  # objects at a time: a tile of counts stays in the first-level cache


class Codes(NamedTuple):
    """Labels of objects, as the functions below read them.

    Any other named tuple with these fields will do.
    """

    columns: NDArray[Any]
    """(L, n) codes."""
    missing: Any
    """The code that means missing, of the type of `columns`."""
    has_missing: bool
    count_type: NDArray[Any]
    """An empty array of the type in which partitions are counted."""

    @classmethod
    def of(cls, columns: NDArray[Any], has_missing: bool) -> Codes:
        """Return the codes with the narrowest type to count partitions in."""
        count_type = np.empty(0, dtype=count_dtype(len(columns)))
        return cls(columns, missing_code(columns), has_missing, count_type)


def missing_code(columns: NDArray[Any]) -> Any:
    """Return the code that means missing in `columns`, of the same type."""
    return columns.dtype.type(np.iinfo(columns.dtype).max)


def count_dtype(n_partitions: int) -> type[np.unsignedinteger[Any]]:
    """Return the narrowest type that can count `n_partitions`."""
    return np.uint8 if n_partitions <= 255 else np.uint16 if n_partitions <= 65535 else np.uint32


@njit
def seen_partitions(columns, i, missing, seen):
    """Write the partitions that saw object i to the front of `seen`; return how many."""
    n_seen = 0
    for e in range(columns.shape[0]):
        if columns[e, i] != missing:
            seen[n_seen] = e
            n_seen += 1
    return n_seen


@njit
def count_together(columns, i, seen, n_seen, start, stop, out):
    """Count for objects start..stop-1 the partitions of `seen` that put them with object i.

    An object that a partition missed has another code than object i, so it is not counted.
    Four partitions at a time: a quarter of the loads and stores of `out`.
    """
    target = out[: stop - start]
    target[:] = 0
    one = target.dtype.type(1)
    none = target.dtype.type(0)
    s = 0
    while s + 4 <= n_seen:
        a, b, c, d = seen[s], seen[s + 1], seen[s + 2], seen[s + 3]
        code_a, code_b, code_c, code_d = columns[a, i], columns[b, i], columns[c, i], columns[d, i]
        row_a, row_b = columns[a, start:stop], columns[b, start:stop]
        row_c, row_d = columns[c, start:stop], columns[d, start:stop]
        for j in range(stop - start):
            target[j] += (
                (one if row_a[j] == code_a else none)
                + (one if row_b[j] == code_b else none)
                + (one if row_c[j] == code_c else none)
                + (one if row_d[j] == code_d else none)
            )
        s += 4
    while s < n_seen:
        code = columns[seen[s], i]
        row = columns[seen[s], start:stop]
        for j in range(stop - start):
            target[j] += one if row[j] == code else none
        s += 1


@njit
def count_observed(columns, missing, seen, n_seen, start, stop, out):
    """Count for objects start..stop-1 the partitions of `seen` that saw them."""
    target = out[: stop - start]
    target[:] = 0
    one = target.dtype.type(1)
    none = target.dtype.type(0)
    for s in range(n_seen):
        row = columns[seen[s], start:stop]
        for j in range(stop - start):
            target[j] += one if row[j] != missing else none


@njit
def share_tile(codes, i, seen, n_seen, start, stop, counts, out):
    """Write the co-association of object i with objects start..stop-1 to the front of `out`.

    `counts` is scratch of shape (2, stop - start) or larger, of the count type.
    """
    together, observed = counts[0], counts[1]
    count_together(codes.columns, i, seen, n_seen, start, stop, together)
    if codes.has_missing:
        count_observed(codes.columns, codes.missing, seen, n_seen, start, stop, observed)
        for j in range(stop - start):
            n_both = np.float64(observed[j])
            out[j] = together[j] / (n_both if n_both > 0.0 else 1.0)
    else:
        for j in range(stop - start):
            out[j] = together[j] / n_seen


@njit
def share_scratch(codes):
    """Return the scratch arrays of `share_row`: one pair for each thread."""
    return (
        np.empty(codes.columns.shape[0], dtype=np.int64),
        np.empty((2, _TILE), dtype=codes.count_type.dtype),
    )


@njit
def share_row(codes, i, scratch, out):
    """Write the co-association of object i with every object to `out`."""
    seen, counts = scratch
    n_seen = seen_partitions(codes.columns, i, codes.missing, seen)
    for start in range(0, out.size, _TILE):
        stop = min(out.size, start + _TILE)
        share_tile(codes, i, seen, n_seen, start, stop, counts, out[start:stop])


@parallel_njit
def count_block(columns, missing, rows, out):
    """Write to `out` (len(rows), n) how many partitions put each of `rows` with every object."""
    n_partitions, n = columns.shape
    for r in prange(rows.size):
        seen = np.empty(n_partitions, dtype=np.int64)
        tile = np.empty(_TILE, dtype=out.dtype)  # known to overlap nothing, unlike `out`
        n_seen = seen_partitions(columns, rows[r], missing, seen)
        for start in range(0, n, _TILE):
            stop = min(n, start + _TILE)
            count_together(columns, rows[r], seen, n_seen, start, stop, tile)
            out[r, start:stop] = tile[: stop - start]


@parallel_njit
def observe_block(columns, missing, rows, out):
    """Write to `out` (len(rows), n) how many partitions saw each of `rows` and every object."""
    n_partitions, n = columns.shape
    for r in prange(rows.size):
        seen = np.empty(n_partitions, dtype=np.int64)
        tile = np.empty(_TILE, dtype=out.dtype)
        n_seen = seen_partitions(columns, rows[r], missing, seen)
        for start in range(0, n, _TILE):
            stop = min(n, start + _TILE)
            count_observed(columns, missing, seen, n_seen, start, stop, tile)
            out[r, start:stop] = tile[: stop - start]


def n_blocks(columns: NDArray[Any]) -> int:
    """Return the number of blocks of objects that `nearest_of_first` goes through."""
    return -(-columns.shape[1] // _TILE)


def nearest_of_first(
    columns: NDArray[Any], n_first: int, done: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return for each object which of the first `n_first` it is most often together with.

    The first of equal ones. Each block has a cell of `done`, for the number of its objects.
    """
    nearest = np.empty(columns.shape[1], dtype=np.int64)
    scratch = np.empty(0, dtype=count_dtype(columns.shape[0]))
    _find_nearest(columns, missing_code(columns), n_first, scratch, nearest, done)
    return nearest


@parallel_njit
def _find_nearest(columns, missing, n_first, scratch, nearest, done):
    n_partitions, n = columns.shape
    for block in prange((n + _TILE - 1) // _TILE):
        seen = np.empty(n_partitions, dtype=np.int64)
        together = np.empty(_TILE, dtype=scratch.dtype)
        for i in range(block * _TILE, min(n, (block + 1) * _TILE)):
            n_seen = seen_partitions(columns, i, missing, seen)
            best, most = 0, -1
            for start in range(0, n_first, _TILE):
                stop = min(n_first, start + _TILE)
                count_together(columns, i, seen, n_seen, start, stop, together)
                for j in range(stop - start):
                    count = int(together[j])
                    if count > most:
                        best, most = start + j, count
            nearest[i] = best
            done[block] += 1


def count_matrix(columns: NDArray[Any]) -> NDArray[Any]:
    """Return the (n, n) number of partitions that put two objects together, as small integers."""
    n_partitions, n = columns.shape
    counts = np.empty((n, n), dtype=count_dtype(n_partitions))
    count_block(columns, missing_code(columns), np.arange(n), counts)
    return counts


def observed_matrix(columns: NDArray[Any]) -> NDArray[Any]:
    """Return the (n, n) number of partitions that saw both objects, as small integers."""
    n_partitions, n = columns.shape
    counts = np.empty((n, n), dtype=count_dtype(n_partitions))
    observe_block(columns, missing_code(columns), np.arange(n), counts)
    return counts


def share_matrix(columns: NDArray[Any], has_missing: bool, dtype: DTypeLike) -> NDArray[Any]:
    """Return the (n, n) co-association matrix."""
    n_partitions, n = columns.shape
    shares = np.empty((n, n), dtype=dtype)
    codes = Codes.of(columns, has_missing)
    if has_missing:
        _fill_shares(codes, shares)
    else:
        _look_up_shares(codes, (np.arange(n_partitions + 1) / n_partitions).astype(dtype), shares)
    return shares


@parallel_njit
def _fill_shares(codes, out):
    for i in prange(codes.columns.shape[1]):
        share_row(codes, i, share_scratch(codes), out[i])


@parallel_njit
def _look_up_shares(codes, values, out):
    """Without missing labels a share takes one of L + 1 values: look it up, do not divide."""
    n_partitions, n = codes.columns.shape
    for i in prange(n):
        everyone = np.arange(n_partitions)
        together = np.empty(_TILE, dtype=codes.count_type.dtype)
        for start in range(0, n, _TILE):
            stop = min(n, start + _TILE)
            count_together(codes.columns, i, everyone, n_partitions, start, stop, together)
            target = out[i, start:stop]
            for j in range(stop - start):
                target[j] = values[together[j]]


def condensed_distances(columns: NDArray[Any], has_missing: bool) -> NDArray[np.float64]:
    """Return 1 - co-association for i < j in the order of SciPy's `pdist`."""
    n = columns.shape[1]
    distances = np.empty(n * (n - 1) // 2)
    _fill_condensed(Codes.of(columns, has_missing), distances)
    return distances


@parallel_njit
def _fill_condensed(codes, out):
    n = codes.columns.shape[1]
    for i in prange(n):
        row = np.empty(n)
        share_row(codes, i, share_scratch(codes), row)
        start = i * n - i * (i + 1) // 2 - i - 1
        for j in range(i + 1, n):
            out[start + j] = 1.0 - row[j]
