"""The graph of the clusters of all partitions, whose edges are Jaccard indices."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from coterie._kernels._jit import njit, parallel_njit, prange
from coterie._progress import stretch

_ROOM = 1 << 23  # entries that may be found at a time: some partitions with all that follow


def shared_objects(
    codes: NDArray[np.uint32],
    counts: NDArray[np.int64],
    offsets: NDArray[np.int64],
    check: Callable[[int], None],
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    """Return (ends, indices, shared) of a CSR matrix (K, K): the objects that two clusters share.

    Only pairs of a cluster and one of a later partition that share any. `codes` (p, L) are the
    clusters of each label row out of all K, K itself where a label is missing, and `counts` the
    objects that have it. Nothing of the size of K^2 is made. `check` is told from time to time
    how many entries there will be.
    """
    n_all, n_partitions = int(offsets[-1]), codes.shape[1]
    n_pairs = np.diff(offsets) * (n_all - offsets[1:])
    ends = np.zeros(n_all + 1, dtype=np.int64)
    indices, shared = [], []
    n_found = n_looked_at = first = 0
    with stretch("overlap of clusters", int(n_pairs.sum())) as done:
        while first < n_partitions:
            # As many partitions as there is room for, but at least one.
            n_fit = int(np.searchsorted(np.cumsum(n_pairs[first:]), _ROOM, side="right"))
            last = first + max(1, n_fit)
            starts = np.concatenate([[0], np.cumsum(n_pairs[first:last])])
            places = np.empty(starts[-1], dtype=np.int32)
            sums = np.empty(starts[-1], dtype=np.int64)
            _fill_strips(codes, counts, offsets, first, starts, places, sums, ends)
            for e in range(first, last):
                n_here = int(ends[offsets[e] + 1 : offsets[e + 1] + 1].sum())
                strip = slice(starts[e - first], starts[e - first] + n_here)
                indices.append(places[strip])
                shared.append(sums[strip])
                n_found += n_here
            n_looked_at += int(starts[-1])
            check(n_found * int(n_pairs.sum()) // max(n_looked_at, 1))
            first = last
            done[0] = n_looked_at
    return np.cumsum(ends), np.concatenate(indices), np.concatenate(shared)


@parallel_njit
def _fill_strips(codes, counts, offsets, first, starts, places, sums, ends):
    """Fill the strips of some partitions; `ends[c + 1]` gets the number of entries of cluster c."""
    n_strips = starts.size - 1
    # The later a partition, the shorter its strip: one from each end, for every thread as much.
    for half in prange((n_strips + 1) // 2):
        _fill_strip(first + half, codes, counts, offsets, starts[half], places, sums, ends)
        other = n_strips - 1 - half
        if other != half:
            _fill_strip(first + other, codes, counts, offsets, starts[other], places, sums, ends)


@njit
def _fill_strip(e, codes, counts, offsets, start, places, sums, ends):
    """Count the objects that the clusters of partition e share with those of all later ones."""
    n_all, base = offsets[-1], np.uint32(offsets[e + 1])
    own = np.uint32(offsets[e])
    # The last column is that of missing labels, which saves a branch in the inner loop.
    table = np.zeros((offsets[e + 1] - offsets[e], n_all - offsets[e + 1] + 1), dtype=np.int64)
    for i in range(codes.shape[0]):
        if codes[i, e] < n_all:
            row, count = table[codes[i, e] - own], counts[i]
            for f in range(e + 1, codes.shape[1]):
                row[codes[i, f] - base] += count
    at = start
    for c in range(table.shape[0]):
        before = at
        for d in range(table.shape[1] - 1):
            if table[c, d] > 0:
                places[at] = base + d
                sums[at] = table[c, d]
                at += 1
        ends[own + c + 1] = at - before


@njit
def mirrored_jaccard(ends, indices, shared, sizes):
    """Return (ends, indices, values): Jaccard indices in both directions, 1 on the diagonal."""
    n = sizes.size
    lengths = np.zeros(n + 1, dtype=np.int64)
    for c in range(n):
        lengths[c + 1] += ends[c + 1] - ends[c] + 1
        for at in range(ends[c], ends[c + 1]):
            lengths[indices[at] + 1] += 1
    both = np.cumsum(lengths)
    places, values = np.empty(both[-1], dtype=np.int32), np.empty(both[-1])
    # Rows are taken in order, so that in each row the clusters before it come first, in order.
    following = both[:-1].copy()
    for c in range(n):
        places[following[c]] = c
        values[following[c]] = 1.0
        following[c] += 1
        for at in range(ends[c], ends[c + 1]):
            d = indices[at]
            value = shared[at] / (sizes[c] + sizes[d] - shared[at])
            places[following[c]], values[following[c]] = d, value
            places[following[d]], values[following[d]] = c, value
            following[c] += 1
            following[d] += 1
    return both, places, values
