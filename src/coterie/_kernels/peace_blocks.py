"""Votes on pairs between rows and groups of rows, from the labels: O(nLK), not O(n^2).

`columns`, (L, p), are narrow codes as in the kernels of co-association, `missing` the code that
means missing, `weights` the number of objects each of the p rows stands for.
"""

from __future__ import annotations

import numpy as np

from coterie._kernels._jit import njit


@njit
def votes_with_groups(columns, missing, n_codes, weights, groups, n_groups):
    """Return (n_groups, p): in how many partitions a row is with the objects of each group.

    Every partition in which it is with some object of the group counts once for each of them;
    its own objects are among those of its group.
    """
    n_partitions, n = columns.shape
    sizes = np.empty((n_groups, n_codes + 1))
    codes = np.empty(n, dtype=np.int64)
    together = np.zeros((n_groups, n))
    for e in range(n_partitions):
        row = columns[e]
        for i in range(n):
            codes[i] = n_codes if row[i] == missing else row[i]
        sizes[:] = 0.0
        for i in range(n):
            sizes[groups[i], codes[i]] += weights[i]
        for g in range(n_groups):
            size, target = sizes[g], together[g]
            size[n_codes] = 0.0  # missing labels are no group
            for i in range(n):
                target[i] += size[codes[i]]
    return together


@njit
def votes_with_row(columns, missing, i):
    """Return for every row in how many partitions it is with row i."""
    n_partitions, n = columns.shape
    together = np.zeros(n, dtype=np.int64)
    for e in range(n_partitions):
        code = columns[e, i]
        if code != missing:
            for j in range(n):
                together[j] += columns[e, j] == code
    return together


@njit
def divide(columns, missing, n_codes, weights, max_rounds):
    """Return two sides, 0 and 1, of the rows: those that are together more often on one side.

    It starts from the row that is least with all the others, and the one that is least with it.
    """
    n = columns.shape[1]
    side = np.zeros(n, dtype=np.int64)
    with_all = votes_with_groups(columns, missing, n_codes, weights, side, 1)[0]
    with_first = votes_with_row(columns, missing, np.argmin(with_all))
    with_second = votes_with_row(columns, missing, np.argmin(with_first))
    for i in range(n):
        side[i] = with_second[i] > with_first[i]
    for _ in range(max_rounds):
        size = np.zeros(2)
        for i in range(n):
            size[side[i]] += weights[i]
        if size.min() == 0.0:
            break
        near = votes_with_groups(columns, missing, n_codes, weights, side, 2)
        moved = False
        for i in range(n):
            new = 1 if near[1, i] / size[1] > near[0, i] / size[0] else 0
            moved |= new != side[i]
            side[i] = new
        if not moved:
            break
    return side
