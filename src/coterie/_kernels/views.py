"""Patterns and overlap: the views of an ensemble that everything else is computed from."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coterie._kernels._jit import njit, parallel_njit, prange

_BLOCK = 4096  # objects at a time: their labels for all partitions stay in the second-level cache
_SIDE = 64  # of a tile


def find_patterns(
    labels: NDArray[np.int32],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return (first, inverse, counts) of the distinct rows, in the order of their first object.

    `first` is the first object with each row, `inverse` the row of each object.
    """
    n = labels.shape[0]
    table = np.full(max(16, 1 << (2 * n - 1).bit_length()), -1, dtype=np.int64)
    inverse = np.empty(n, dtype=np.int64)
    n_patterns = _assign_patterns(labels, _hash_rows(labels), table, inverse)
    counts = np.bincount(inverse, minlength=n_patterns)
    first = np.empty(n_patterns, dtype=np.int64)
    first[inverse[::-1]] = np.arange(n - 1, -1, -1)
    return first, inverse, counts


@parallel_njit
def _hash_rows(labels):
    """Return a 64-bit hash of each row (FNV-1a by words, then a final mix)."""
    n, n_partitions = labels.shape
    hashes = np.empty(n, dtype=np.uint64)
    for i in prange(n):
        h = np.uint64(14695981039346656037)
        for e in range(n_partitions):
            h = (h ^ np.uint64(np.uint32(labels[i, e]))) * np.uint64(1099511628211)
        h ^= h >> np.uint64(32)
        h *= np.uint64(0x9E3779B97F4A7C15)
        hashes[i] = h ^ (h >> np.uint64(29))
    return hashes


@njit
def _assign_patterns(labels, hashes, table, inverse):
    """Fill `inverse`; equal hashes are compared label by label, so the answer is exact."""
    n, n_partitions = labels.shape
    mask = np.uint64(table.size - 1)
    first = np.empty(n, dtype=np.int64)
    n_patterns = 0
    for i in range(n):
        slot = hashes[i] & mask
        while True:
            pattern = table[slot]
            if pattern < 0:
                table[slot] = n_patterns
                first[n_patterns] = i
                inverse[i] = n_patterns
                n_patterns += 1
                break
            j = first[pattern]
            if hashes[i] == hashes[j]:
                same = True
                for e in range(n_partitions):
                    if labels[i, e] != labels[j, e]:
                        same = False
                        break
                if same:
                    inverse[i] = pattern
                    break
            slot = (slot + np.uint64(1)) & mask
    return n_patterns


def count_overlap(
    labels: NDArray[np.int32],
    n_clusters: NDArray[np.int64],
    has_missing: bool,
    done: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return the (K, K) counts of objects that two clusters share.

    The first cell of `done` gets the number of objects counted.

    Memory beside the result does not grow with the number of objects. A missing label gets a
    cluster of its own while counting, which saves a branch in the inner loop and is cut off
    at the end.
    """
    widths = n_clusters + 1 if has_missing else n_clusters
    offsets = np.concatenate([[0], np.cumsum(widths)])
    counts = np.zeros((offsets[-1], offsets[-1]), dtype=np.int64)
    codes = np.empty((labels.shape[1], _BLOCK), dtype=np.int64)
    for start in range(0, labels.shape[0], _BLOCK):
        _count_block(labels[start : start + _BLOCK], offsets, codes, counts)
        done[0] = start
    if has_missing:
        known = np.delete(np.arange(offsets[-1]), offsets[1:] - 1)
        counts = counts[np.ix_(known, known)]
    _mirror(counts)
    return counts


@parallel_njit
def _count_block(block, offsets, codes, counts):
    """Add the pairs of clusters (e <= f) that the objects of one block are in."""
    n_block, n_partitions = block.shape
    for e in prange(n_partitions):
        missing = offsets[e + 1] - 1
        for i in range(n_block):
            label = block[i, e]
            codes[e, i] = missing if label < 0 else offsets[e] + label
    # Partition e has L - e partners: e and L - 1 - e together have the same number for every
    # e, which keeps all threads busy.
    for half in prange((n_partitions + 1) // 2):
        _count_partners(half, codes, n_block, counts)
        if n_partitions - 1 - half != half:
            _count_partners(n_partitions - 1 - half, codes, n_block, counts)


@parallel_njit
def _mirror(counts):
    """Copy the upper triangle to the lower, in square tiles, in place."""
    n_strips = (counts.shape[0] + _SIDE - 1) // _SIDE
    # The lower a strip of tiles, the longer: one from each end, for every thread as much.
    for half in prange((n_strips + 1) // 2):
        _mirror_strip(half, counts)
        if n_strips - 1 - half != half:
            _mirror_strip(n_strips - 1 - half, counts)


@njit
def _mirror_strip(strip, counts):
    top = strip * _SIDE
    for left in range(0, top + 1, _SIDE):
        for i in range(top, min(counts.shape[0], top + _SIDE)):
            for j in range(left, min(i, left + _SIDE)):
                counts[i, j] = counts[j, i]


@njit
def _count_partners(e, codes, n_block, counts):
    for f in range(e, codes.shape[0]):
        for i in range(n_block):
            counts[codes[e, i], codes[f, i]] += 1


@parallel_njit
def count_tables(columns, missing, e, offsets):
    """Return (k_e, K): the contingency tables of partition e with every partition."""
    n_partitions, n = columns.shape
    counts = np.zeros((offsets[e + 1] - offsets[e], offsets[-1]), dtype=np.int64)
    for f in prange(n_partitions):
        for i in range(n):
            if columns[e, i] != missing and columns[f, i] != missing:
                counts[columns[e, i], offsets[f] + columns[f, i]] += 1
    return counts
