"""Tables of the labels in each part of some label rows."""

from __future__ import annotations

import numpy as np

from coterie._kernels._jit import parallel_njit, prange


@parallel_njit
def sum_members(rows, offsets, weights, parts, n_parts):
    """Return (K, n_parts): the weight of the rows of each part in each cluster.

    `rows` is (p, L) with -1 for missing; `weights` and `parts` are (p,).
    """
    table = np.zeros((offsets[-1], n_parts))
    for e in prange(rows.shape[1]):
        start = offsets[e]
        for i in range(rows.shape[0]):
            if rows[i, e] >= 0:
                table[start + rows[i, e], parts[i]] += weights[i]
    return table
