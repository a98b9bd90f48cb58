"""Sums over all pairs of objects, without a matrix of pairs."""

from __future__ import annotations

import numpy as np

from coterie._kernels._jit import njit, parallel_njit, prange

_ROWS = 32  # objects whose distances to one tile are computed in turn
_TILE = 1024  # objects in a tile: their features stay in the second-level cache


@njit
def order_leaves(children):
    """Return (order, joined, n_pairs) of a binary tree given by its merges.

    `order` is a left-to-right order of the leaves, `joined[p]` the merge that joins the leaves
    at positions p and p + 1, and `n_pairs[m]` how many pairs of leaves merge m joins. Merges
    come after the merges of their children, so the first merge that joins the leaves at
    positions p < q is the largest of joined[p..q-1], whether or not heights ever fall.
    """
    n_merges = children.shape[0]
    n = n_merges + 1
    first = np.empty(n + n_merges, dtype=np.int64)
    last = np.empty(n + n_merges, dtype=np.int64)
    sizes = np.ones(n + n_merges, dtype=np.int64)
    following = np.full(n, -1, dtype=np.int64)
    joined_after = np.empty(n, dtype=np.int64)
    n_pairs = np.empty(n_merges, dtype=np.int64)
    for leaf in range(n):
        first[leaf] = leaf
        last[leaf] = leaf
    for m in range(n_merges):
        left = children[m, 0]
        right = children[m, 1]
        n_pairs[m] = sizes[left] * sizes[right]
        sizes[n + m] = sizes[left] + sizes[right]
        following[last[left]] = first[right]
        joined_after[last[left]] = m
        first[n + m] = first[left]
        last[n + m] = last[right]
    order = np.empty(n, dtype=np.int64)
    joined = np.empty(n_merges, dtype=np.int64)
    leaf = first[n + n_merges - 1]
    for position in range(n):
        order[position] = leaf
        if position < n_merges:
            joined[position] = joined_after[leaf]
        leaf = following[leaf]
    return order, joined, n_pairs


@parallel_njit
def sum_over_pairs(columns, joined, levels, shift):
    """Return (n, 3) sums over the pairs i < j of each i: of s, of s^2 and of s * level.

    `columns` (D, n) holds the features of the objects in the order of the leaves, s is their
    Euclidean distance less `shift`, and level is ``levels[max(joined[i..j-1])]``. Each row is
    written by one thread in a fixed order of additions.
    """
    n = columns.shape[1]
    n_blocks = (n + _ROWS - 1) // _ROWS
    sums = np.zeros((n, 3))
    # The first block has the most pairs and the last the fewest: together each two have the
    # same number, which keeps all threads busy.
    for half in prange((n_blocks + 1) // 2):
        _sum_block(half, columns, joined, levels, shift, sums)
        if n_blocks - 1 - half != half:
            _sum_block(n_blocks - 1 - half, columns, joined, levels, shift, sums)
    return sums


@njit
def _sum_block(block, columns, joined, levels, shift, sums):
    n = columns.shape[1]
    begin = block * _ROWS
    end = min(begin + _ROWS, n)
    merges = np.full(_ROWS, -1, dtype=np.int64)
    shifted = np.empty(_TILE)
    for start in range(begin, n, _TILE):
        stop = min(start + _TILE, n)
        for i in range(begin, end):
            low = max(start, i + 1)
            if low >= stop:
                continue
            _fill_distances(columns, i, low, stop, shift, shifted)
            merge = merges[i - begin]
            level = levels[merge] if merge >= 0 else 0.0
            total = 0.0
            squares = 0.0
            products = 0.0
            for j in range(low, stop):
                if joined[j - 1] > merge:
                    merge = joined[j - 1]
                    level = levels[merge]
                value = shifted[j - low]
                total += value
                squares += value * value
                products += value * level
            merges[i - begin] = merge
            sums[i, 0] += total
            sums[i, 1] += squares
            sums[i, 2] += products


@njit
def _fill_distances(columns, i, low, stop, shift, shifted):
    """Write the distances of i to the objects low..stop-1, less `shift`."""
    width = stop - low
    for t in range(width):
        shifted[t] = 0.0
    n_features = columns.shape[0]
    whole = n_features - n_features % 4
    for d in range(0, whole, 4):  # four at a time: `shifted` is loaded and stored less often
        c0 = columns[d, i]
        c1 = columns[d + 1, i]
        c2 = columns[d + 2, i]
        c3 = columns[d + 3, i]
        for t in range(width):
            j = low + t
            shifted[t] += (
                (columns[d, j] - c0) ** 2
                + (columns[d + 1, j] - c1) ** 2
                + (columns[d + 2, j] - c2) ** 2
                + (columns[d + 3, j] - c3) ** 2
            )
    for d in range(whole, n_features):
        centre = columns[d, i]
        for t in range(width):
            shifted[t] += (columns[d, low + t] - centre) ** 2
    for t in range(width):
        shifted[t] = np.sqrt(shifted[t]) - shift
