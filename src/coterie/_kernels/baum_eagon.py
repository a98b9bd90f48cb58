"""The growth transform of Baum and Eagon for memberships whose products match co-association."""

from __future__ import annotations

import numpy as np

from coterie._kernels._jit import njit, parallel_njit, prange
from coterie._kernels.peace import dot, gap_of, inner, load_row, make_scratch, pair_probabilities


@njit
def grow(pairs, diagonal, Y):
    """Return the transform of the memberships `Y` (K, n), and the errors at `Y`.

    The error of an object is the sum over j of (S_ij - y_i'y_j)^2. A pair that no partition saw
    has no term. With `diagonal`, the pair of an object with itself has one.
    """
    n_clusters, n = Y.shape
    image, errors = np.empty_like(Y), np.empty(n)
    scratch = make_scratch(pairs)
    together, apart, a, rest = scratch.together, scratch.apart, scratch.a[:n], scratch.slope[:n]
    for i in range(n):
        n_seen = load_row(pairs, i, n, scratch)
        if diagonal:
            together[i] = n_seen
        y = Y[:, i].copy()
        pair_probabilities(Y, y, a)
        terms = 0.0
        for j in range(n):
            observed = together[j] + apart[j]
            here = 1.0 if observed > 0.0 else 0.0
            terms += here
            rest[j] = here * (together[j] / (observed if observed > 0.0 else 1.0) - a[j])
        errors[i] = dot(rest, rest, scratch.work)
        total = 0.0
        for k in range(n_clusters):
            image[k, i] = y[k] * (terms + dot(Y[k], rest, scratch.work))
            total += image[k, i]
        for k in range(n_clusters):
            image[k, i] = image[k, i] / total if total > 0.0 else y[k]
    return image, errors


@njit
def products(rows, last):
    """Return the (m, m) products of `rows` with each other, and the (m,) products with `last`."""
    m = rows.shape[0]
    square, right, work = np.empty((m, m)), np.empty(m), np.empty(last.shape[0])
    for s in range(m):
        right[s] = dot(rows[s], last, work)
        for t in range(s + 1):
            square[s, t] = square[t, s] = dot(rows[s], rows[t], work)
    return square, right


@parallel_njit
def fit_rows(together, observed, M, out):
    """Write to `out` (m, K) the memberships y that minimise sum_j (S_j - y'm_j)^2 for each row.

    `M` (K, n) are the memberships of the known objects, `out` holds the start. Mass is moved
    from the worst to the best cluster as far as that pays, which is exact for a quadratic.
    """
    n_rows = together.shape[0]
    n_clusters, n = M.shape
    for r in prange(n_rows):
        H, g, y = np.zeros((n_clusters, n_clusters)), np.zeros(n_clusters), out[r]
        for j in range(n):
            if observed[r, j] > 0:
                share = together[r, j] / np.float64(observed[r, j])
                for k in range(n_clusters):
                    if M[k, j] != 0.0:
                        g[k] += M[k, j] * share
                        for m in range(n_clusters):
                            H[k, m] += M[k, j] * M[m, j]
        size = 0.0
        for k in range(n_clusters):
            g[k] -= inner(H[k], y)
            size = max(size, H[k, k])
        for _ in range(1000 * n_clusters):
            gap, up, down = gap_of(g, y)
            if gap <= 1e-9 * size:
                break
            curvature = H[up, up] + H[down, down] - 2.0 * H[up, down]
            most = y[down]
            amount = gap / curvature if curvature * most > gap else most
            y[down] = 0.0 if amount == most else most - amount
            y[up] += amount
            for k in range(n_clusters):
                g[k] -= amount * (H[k, up] - H[k, down])
