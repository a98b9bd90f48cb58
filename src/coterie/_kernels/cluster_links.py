"""Similarities of clusters, and of label rows through their clusters."""

from __future__ import annotations

import numpy as np

from coterie._kernels._jit import parallel_njit, prange


@parallel_njit
def shared_neighbours(similarity, weights):
    """Return (K, K): the sum over z of ``weights[z] min(similarity[x, z], similarity[y, z])``.

    `similarity` is symmetric and not negative.
    """
    n = similarity.shape[0]
    links = np.zeros((n, n))
    for x in prange(n):
        row = links[x]
        for z in range(n):
            own = similarity[x, z]
            if own > 0:
                weight, others = weights[z], similarity[z]
                for y in range(n):
                    row[y] += weight * min(own, others[y])
    return links


@parallel_njit
def sum_cluster_similarities(rows, offsets, similarity, triangle):
    """Add up, over partitions, the similarity of the clusters that two label rows are in.

    `rows` is (p, L) with -1 for missing, `similarity` (K, K). The sum of rows u > v is written to
    ``triangle[u (u - 1) / 2 + v]``.
    """
    for u in prange(rows.shape[0]):
        target = triangle[u * (u - 1) // 2 : u * (u + 1) // 2]
        target[:] = 0.0
        for e in range(rows.shape[1]):
            if rows[u, e] >= 0:
                start = offsets[e]
                values = similarity[start + rows[u, e], start : offsets[e + 1]]
                for v in range(u):
                    if rows[v, e] >= 0:
                        target[v] += values[rows[v, e]]
