"""PEACE: the likelihood of soft memberships, its gradient, and two ways uphill.

Memberships come as `Y`, (K, p): one column per distinct label row ("pattern"), one row per
cluster, so that the inner loops run over patterns. `weights` says how many objects each column
stands for. The counts of a row of pairs are made from the labels when they are needed, in small
integers, by the kernels of co-association: nothing here holds an array over pairs.

A pair that no partition puts together (or that none puts apart) has no such term, whatever its
probability: hence the choices `x if c > 0.0 else 1.0` under fractions.
"""

from __future__ import annotations

import math

import numpy as np

from coterie._kernels._jit import njit, parallel_njit, prange
from coterie._kernels.coassociation import (
    _TILE,
    count_observed,
    count_together,
    seen_partitions,
)


@njit
def load_row(columns, missing, has_missing, weights, i, seen, small, both, together, apart):
    """Write for pattern i the weighted counts of partitions that put it with, and apart from, all.

    The entry of i itself is 0 in both. Return how many partitions saw i. `seen`, `small` and
    `both` are scratch.
    """
    n = columns.shape[1]
    n_seen = seen_partitions(columns, i, missing, seen)
    for start in range(0, n, _TILE):
        stop = min(n, start + _TILE)
        count_together(columns, i, seen, n_seen, start, stop, small)
        if has_missing:
            count_observed(columns, missing, seen, n_seen, start, stop, both)
            for j in range(stop - start):
                w = weights[start + j]
                together[start + j] = w * small[j]
                apart[start + j] = w * (np.float64(both[j]) - np.float64(small[j]))
        else:
            for j in range(stop - start):
                w = weights[start + j]
                together[start + j] = w * small[j]
                apart[start + j] = w * (np.float64(n_seen) - np.float64(small[j]))
    together[i] = 0.0
    apart[i] = 0.0
    return n_seen


@njit
def dot(x, y):
    """Return the sum of x y in eight running sums: quick, and the same on every machine."""
    n = x.shape[0]
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
    j = 0
    while j + 8 <= n:
        s0 += x[j] * y[j]
        s1 += x[j + 1] * y[j + 1]
        s2 += x[j + 2] * y[j + 2]
        s3 += x[j + 3] * y[j + 3]
        s4 += x[j + 4] * y[j + 4]
        s5 += x[j + 5] * y[j + 5]
        s6 += x[j + 6] * y[j + 6]
        s7 += x[j + 7] * y[j + 7]
        j += 8
    while j < n:
        s0 += x[j] * y[j]
        j += 1
    return ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))


@njit
def total(x):
    """Return the sum of x in eight running sums."""
    n = x.shape[0]
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
    j = 0
    while j + 8 <= n:
        s0 += x[j]
        s1 += x[j + 1]
        s2 += x[j + 2]
        s3 += x[j + 3]
        s4 += x[j + 4]
        s5 += x[j + 5]
        s6 += x[j + 6]
        s7 += x[j + 7]
        j += 8
    while j < n:
        s0 += x[j]
        j += 1
    return ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))


@njit
def pair_probabilities(Y, y, out):
    """Write y'y_j for every column j."""
    n_clusters, n = Y.shape
    out[:] = 0.0
    for k in range(n_clusters):
        if y[k] != 0.0:
            row, share = Y[k], y[k]
            for j in range(n):
                out[j] += share * row[j]


@njit
def slopes(together, apart, a, out):
    """Write the derivative of each pair's term with respect to its probability a."""
    for j in range(a.shape[0]):
        c, r, x = together[j], apart[j], a[j]
        out[j] = c / (x if c > 0.0 else 1.0) - r / ((1.0 - x) if r > 0.0 else 1.0)


@njit
def gap_of(g, y):
    """Return (g_U - g_V, U, V): the steepest way to move mass from V, where there is some, to U.

    Of equal ones the lowest.
    """
    best, worst = 0, -1
    for k in range(g.shape[0]):
        if g[k] > g[best]:
            best = k
        if y[k] > 0.0 and (worst < 0 or g[k] < g[worst]):
            worst = k
    return g[best] - g[worst], best, worst


@njit
def directional(together, apart, a, d, step, out):
    """Return rho(step): the derivative of the likelihood along d, -inf outside the domain."""
    inside = True
    for j in range(a.shape[0]):
        c, r = together[j], apart[j]
        x = a[j] + step * d[j]
        z = 1.0 - x
        inside &= (c == 0.0 or x > 0.0) and (r == 0.0 or z > 0.0)
        out[j] = d[j] * (c / (x if c > 0.0 else 1.0) - r / (z if r > 0.0 else 1.0))
    return total(out) if inside else -np.inf


# --- the whole likelihood ----------------------------------------------------------------------


@njit
def likelihood(columns, missing, has_missing, scratch, weights, Y):
    """Return the log-likelihood over all pairs of objects, without binomial coefficients."""
    n_partitions, n = columns.shape
    seen = np.empty(n_partitions, dtype=np.int64)
    small, both = np.empty(_TILE, dtype=scratch.dtype), np.empty(_TILE, dtype=scratch.dtype)
    together, apart, a = np.empty(n), np.empty(n), np.empty(n)
    value = 0.0
    for i in range(n):
        n_seen = load_row(
            columns, missing, has_missing, weights, i, seen, small, both, together, apart
        )
        pair_probabilities(Y, Y[:, i].copy(), a)
        own = 0.5 * (weights[i] - 1.0) * n_seen
        row = own * math.log(a[i]) if own > 0.0 else 0.0
        for j in range(i):
            if together[j] > 0.0:
                row += together[j] * math.log(a[j])
            if apart[j] > 0.0:
                row += apart[j] * math.log(max(1.0 - a[j], 0.0))  # rounding can pass 0
        value += weights[i] * row
    return value


@njit
def log_of_ratio(new, old):
    """Return log(new / old): by its series where they are close, which is quicker."""
    d = (new - old) / old
    if -0.01 < d < 0.01:  # what is left out is below 1e-17 of the result
        tail = 1 / 5 + d * (-1 / 6 + d * (1 / 7 - d / 8))
        return d * (1.0 + d * (-1 / 2 + d * (1 / 3 + d * (-1 / 4 + d * tail))))
    return math.log(max(new, 0.0) / old)  # rounding can pass 0


@njit
def gain(columns, missing, has_missing, scratch, weights, Y, Z, changed):
    """Return the log-likelihood of Z minus that of Y, pair by pair: exact where they are close.

    `changed` says in which columns they may differ.
    """
    n_partitions, n = columns.shape
    seen = np.empty(n_partitions, dtype=np.int64)
    small, both = np.empty(_TILE, dtype=scratch.dtype), np.empty(_TILE, dtype=scratch.dtype)
    together, apart, a, b = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    value = 0.0
    for i in range(n):
        if not changed[i]:
            continue
        n_seen = load_row(
            columns, missing, has_missing, weights, i, seen, small, both, together, apart
        )
        pair_probabilities(Y, Y[:, i].copy(), a)
        pair_probabilities(Z, Z[:, i].copy(), b)
        own = 0.5 * (weights[i] - 1.0) * n_seen
        row = own * log_of_ratio(b[i], a[i]) if own > 0.0 else 0.0
        for j in range(n):
            if j >= i and changed[j]:
                continue  # counted in row j
            if together[j] > 0.0:
                row += together[j] * log_of_ratio(b[j], a[j])
            if apart[j] > 0.0:
                row += apart[j] * log_of_ratio(1.0 - b[j], 1.0 - a[j])
        value += weights[i] * row
    return value


@njit
def gradients(columns, missing, has_missing, scratch, weights, Y, out):
    """Write the gradient g_i of every column (of one object of each pattern) to `out` (K, p)."""
    n_partitions, n = columns.shape
    seen = np.empty(n_partitions, dtype=np.int64)
    small, both = np.empty(_TILE, dtype=scratch.dtype), np.empty(_TILE, dtype=scratch.dtype)
    together, apart, a, w = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    for i in range(n):
        n_seen = load_row(
            columns, missing, has_missing, weights, i, seen, small, both, together, apart
        )
        pair_probabilities(Y, Y[:, i].copy(), a)
        slopes(together, apart, a, w)
        own = (weights[i] - 1.0) * n_seen / a[i]
        for k in range(Y.shape[0]):
            out[k, i] = dot(Y[k], w) + own * Y[k, i]


@njit
def observations(columns, missing, has_missing, scratch, weights, out):
    """Write for each pattern the number of votes on the pairs of one of its objects: sum_j N_ij."""
    n_partitions, n = columns.shape
    seen = np.empty(n_partitions, dtype=np.int64)
    small, both = np.empty(_TILE, dtype=scratch.dtype), np.empty(_TILE, dtype=scratch.dtype)
    together, apart = np.empty(n), np.empty(n)
    for i in range(n):
        n_seen = load_row(
            columns, missing, has_missing, weights, i, seen, small, both, together, apart
        )
        out[i] = total(together) + total(apart) + (weights[i] - 1.0) * n_seen


@njit
def residual(G, Y):
    """Return [g_J]_U - [g_J]_V of Proposition 1: 0 where the KKT conditions hold."""
    gap = 0.0
    for i in range(Y.shape[1]):
        gap = max(gap, gap_of(G[:, i], Y[:, i])[0])
    return gap


# --- the paper's algorithm ---------------------------------------------------------------------


@njit
def bisect(together, apart, a, d, most, scratch):
    """Return the step of section 3.2: all of `most`, or the zero of rho from below.

    Bisection goes on until no number lies between the ends, and returns the left end, where rho
    is not negative: so the likelihood cannot fall.
    """
    if directional(together, apart, a, d, most, scratch) >= 0.0:
        return most
    low, high = 0.0, most
    while True:
        middle = 0.5 * (low + high)
        if middle <= low or middle >= high:
            return low
        slope = directional(together, apart, a, d, middle, scratch)
        if slope < 0.0:
            high = middle
        else:
            low = middle
            if slope == 0.0:
                return low


@njit
def steepest(G, Y, top, bottom):
    """Return (gap, J): the column in which moving mass pays most; the first of equal ones."""
    n_clusters, n = G.shape
    top[:] = -np.inf
    bottom[:] = np.inf
    for k in range(n_clusters):
        g, y = G[k], Y[k]
        for i in range(n):
            top[i] = max(top[i], g[i])
            bottom[i] = min(bottom[i], g[i] if y[i] > 0.0 else np.inf)
    gap, found = -np.inf, 0
    for i in range(n):
        if top[i] - bottom[i] > gap:
            gap, found = top[i] - bottom[i], i
    return gap, found


@njit
def climb_one_by_one(
    columns, missing, has_missing, scratch, weights, Y, G, stop_below, max_steps, exact, path
):
    """Take at most `max_steps` steps of the paper's algorithm; return (steps, gap).

    `G` are the gradients of `Y`; both are changed in place, at O(nK) for a step. What was done
    in each step goes to `path` (its length decides how many are kept): J, U, V, step. The line
    search is the paper's bisection if `exact`, else any step after which little of the slope is
    left. The pairs of a pattern with itself are dealt with as in `move`.
    """
    n_partitions, n = columns.shape
    n_clusters = Y.shape[0]
    seen = np.empty(n_partitions, dtype=np.int64)
    small, both = np.empty(_TILE, dtype=scratch.dtype), np.empty(_TILE, dtype=scratch.dtype)
    ones = np.ones(n)
    c, r, before, after, rest = np.empty(n), np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    together, apart, a = np.empty(n + 1), np.empty(n + 1), np.empty(n + 1)
    d, work = np.empty(n + 1), np.empty(n + 1)
    gap, j = steepest(G, Y, before, after)
    for t in range(max_steps):
        if gap < stop_below:
            return t, gap
        y = Y[:, j].copy()
        _, u, v = gap_of(G[:, j], y)
        n_seen = load_row(columns, missing, has_missing, ones, j, seen, small, both, c, r)
        own = 0.5 * (weights[j] - 1.0) * n_seen
        pair_probabilities(Y, y, a[:n])
        square = a[j]
        for i in range(n):
            together[i], apart[i] = weights[i] * c[i], weights[i] * r[i]
            d[i] = Y[u, i] - Y[v, i]
        together[n], apart[n], a[n], d[n] = own, 0.0, square, 2.0 * (y[u] - y[v])
        if exact:
            step = bisect(together, apart, a, d, y[v], work)
        else:
            bend = 0.0
            for i in range(n + 1):
                d[i] *= y[v]
                x = a[i] if together[i] > 0.0 else 1.0
                z = (1.0 - a[i]) if apart[i] > 0.0 else 1.0
                bend += d[i] * d[i] * (together[i] / (x * x) + apart[i] / (z * z))
            step = y[v] * safe_step(together, apart, a, d, y[v] * gap, bend, work)
        if t < path.shape[0]:
            path[t, 0], path[t, 1], path[t, 2], path[t, 3] = j, u, v, step
        if step == 0.0:
            return t, gap  # the gap is rounding: no number is small enough to be a step
        slopes(c, r, a[:n], before)
        Y[u, j] += step
        Y[v, j] = 0.0 if step == y[v] else Y[v, j] - step
        new = Y[:, j].copy()
        pair_probabilities(Y, new, a[:n])
        slopes(c, r, a[:n], after)
        before[j] = after[j] = 0.0
        for i in range(n):
            rest[i] = weights[i] * after[i]
        for k in range(n_clusters):
            g, old_share, new_share = G[k], weights[j] * y[k], weights[j] * new[k]
            if old_share != 0.0 or new_share != 0.0:
                for i in range(n):
                    g[i] += new_share * after[i] - old_share * before[i]
            g[j] = dot(Y[k], rest) + 2.0 * own / a[j] * new[k]
        gap, j = steepest(G, Y, before, after)
    return max_steps, gap


# --- one object at a time, all its memberships at once -----------------------------------------


@njit
def plan(g, H, y, p):
    """Write to `p` the move that is best by the quadratic model g'p + p'Hp/2, y + p a membership.

    Mass goes from the worst to the best coordinate, as far as the model says, again and again.
    """
    n_clusters = y.shape[0]
    p[:] = 0.0
    r = g.copy()
    first = -1.0
    for _ in range(30 * n_clusters):
        up, down = -1, -1
        for k in range(n_clusters):
            if up < 0 or r[k] > r[up]:
                up = k
            if y[k] + p[k] > 0.0 and (down < 0 or r[k] < r[down]):
                down = k
        gap = r[up] - r[down]
        if first < 0.0:
            first = gap
        if gap <= 1e-3 * first:
            break
        bend = -(H[up, up] + H[down, down] - 2.0 * H[up, down])
        most = y[down] + p[down]
        move = most
        if bend * most > gap:
            move = gap / bend
        if move == most:
            p[down] = -y[down]
        else:
            p[down] -= move
        p[up] += move
        for k in range(n_clusters):
            r[k] += move * (H[k, up] - H[k, down])


@njit
def safe_step(together, apart, a, d, slope, bend, work):
    """Return a step in (0, 1] along d at which the likelihood is not lower.

    It is concave along d, so that is any step at which the slope is not negative yet. A whole
    step beyond the top is as good where the likelihood is self-concordant enough to say so:
    the counts are at least 1, so it rises by slope - (-x - log(1 - x)) at least, x^2 = bend.
    """
    x = math.sqrt(bend)
    if x < 0.9 and slope + x + math.log(1.0 - x) > 0.25 * slope:
        return 1.0
    high_slope = directional(together, apart, a, d, 1.0, work)
    if high_slope >= 0.0:
        return 1.0
    low, high, low_slope = 0.0, 1.0, slope
    step = min(0.5, slope / bend)
    for _ in range(60):
        now = directional(together, apart, a, d, step, work)
        if now >= 0.0:
            low, low_slope = step, now
            if now <= 0.1 * slope:
                return low
        else:
            high, high_slope = step, now
        # The secant, kept off the ends.
        share = low_slope / (low_slope - high_slope) if high_slope > -np.inf else 0.5
        step = low + (high - low) * min(max(0.95 * share, 0.05), 0.95)
    return low


@njit
def move(Y, i, own, together, apart, room, skip_below):
    """Move column i to, or towards, the memberships that are best with all others fixed.

    Return (gap, moved): the gap of the KKT conditions before, and whether the column changed.
    `together` and `apart` are its counts, with one entry more than columns; that entry of
    `together` gets the weight `own` of the pairs of the pattern with itself. Their term
    log(y'y) is replaced by log(2 x'y - x'x), x the memberships now: never above it, equal at x
    with the same gradient, and concave, so that the step along a line is a concave problem.
    """
    n_clusters, n = Y.shape
    a, w, d, work = room[0], room[1], room[2], room[3]
    y = Y[:, i].copy()
    pair_probabilities(Y, y, a[:n])
    slopes(together[:n], apart[:n], a[:n], w[:n])
    square = dot(y, y)
    together[n], apart[n], a[n] = own, 0.0, square
    g = np.empty(n_clusters)
    for k in range(n_clusters):
        g[k] = dot(Y[k], w[:n]) + 2.0 * own / square * y[k]
    gap, _, _ = gap_of(g, y)
    if gap < skip_below or not gap > 0.0:
        return gap, False

    # Clusters that have no mass and would get none stay out.
    level = dot(g, y)
    some = np.empty(n_clusters, dtype=np.int64)
    n_some = 0
    for k in range(n_clusters):
        if y[k] > 0.0 or g[k] >= level:
            some[n_some] = k
            n_some += 1
    some = some[:n_some]
    for j in range(n):
        c, r = together[j], apart[j]
        x = a[j] if c > 0.0 else 1.0
        z = (1.0 - a[j]) if r > 0.0 else 1.0
        w[j] = c / (x * x) + r / (z * z)
    H = np.empty((n_some, n_some))
    for s in range(n_some):
        row = Y[some[s]]
        for j in range(n):
            work[j] = w[j] * row[j]
        for t in range(s + 1):
            H[s, t] = H[t, s] = (
                -dot(work[:n], Y[some[t]]) - 4.0 * own / (square * square) * y[some[s]] * y[some[t]]
            )
    p = np.empty(n_some)
    plan(g[some], H, y[some], p)

    d[:] = 0.0
    slope = bend = 0.0
    for s in range(n_some):
        k = some[s]
        if p[s] != 0.0:
            row, share = Y[k], p[s]
            for j in range(n):
                d[j] += share * row[j]
            d[n] += 2.0 * share * y[k]
            slope += share * g[k]
            bend -= share * dot(H[s], p)
    if not slope > 0.0:
        return gap, False
    step = safe_step(together, apart, a, d, slope, bend, work)
    for s in range(n_some):
        k = some[s]
        Y[k, i] = 0.0 if step == 1.0 and p[s] == -y[k] else y[k] + step * p[s]
    return gap, step > 0.0


@njit
def sweep(columns, missing, has_missing, scratch, weights, Y, skip_below, changing):
    """Move each column of `changing` once, in turn; return (largest gap met, columns moved)."""
    n_partitions, n = columns.shape
    seen = np.empty(n_partitions, dtype=np.int64)
    small, both = np.empty(_TILE, dtype=scratch.dtype), np.empty(_TILE, dtype=scratch.dtype)
    together, apart, room = np.empty(n + 1), np.empty(n + 1), np.empty((4, n + 1))
    largest, n_moved = 0.0, 0
    for i in range(n):
        if not changing[i]:
            continue
        n_seen = load_row(
            columns, missing, has_missing, weights, i, seen, small, both, together, apart
        )
        own = 0.5 * (weights[i] - 1.0) * n_seen
        gap, moved = move(Y, i, own, together, apart, room, skip_below)
        largest = max(largest, gap)
        n_moved += moved
    return largest, n_moved


@parallel_njit
def place_new(columns, missing, has_missing, scratch, weights, Y, first, tol, max_iter):
    """Find the memberships of the columns from `first` on, whose weight is 0, given the others."""
    n_partitions, n = columns.shape
    for new in prange(n - first):
        i = first + new
        seen = np.empty(n_partitions, dtype=np.int64)
        small, both = np.empty(_TILE, dtype=scratch.dtype), np.empty(_TILE, dtype=scratch.dtype)
        together, apart, room = np.empty(n + 1), np.empty(n + 1), np.empty((4, n + 1))
        load_row(columns, missing, has_missing, weights, i, seen, small, both, together, apart)
        below = tol * (total(together[:n]) + total(apart[:n]))
        for _ in range(max_iter):
            _, moved = move(Y, i, 0.0, together, apart, room, below)
            if not moved:
                break


@njit
def best_twin(columns, missing, has_missing, scratch, inverse, Y):
    """Give identical objects the memberships of that one of them for which the likelihood is best.

    `columns` and `Y` are of objects, `inverse` says which are identical. The likelihood does not
    fall: see `coterie.consensus._peace`.
    """
    n_partitions, n = columns.shape
    seen = np.empty(n_partitions, dtype=np.int64)
    small, both = np.empty(_TILE, dtype=scratch.dtype), np.empty(_TILE, dtype=scratch.dtype)
    together, apart, a = np.empty(n), np.empty(n), np.empty(n)
    ones = np.ones(n)
    order = np.argsort(inverse, kind="mergesort")
    start = 0
    while start < n:
        stop = start + 1
        while stop < n and inverse[order[stop]] == inverse[order[start]]:
            stop += 1
        if stop - start > 1:
            group = order[start:stop]
            n_seen = load_row(
                columns, missing, has_missing, ones, group[0], seen, small, both, together, apart
            )
            for i in group:
                together[i] = apart[i] = 0.0
            best, found = -np.inf, group[0]
            for i in group:
                y = Y[:, i].copy()
                pair_probabilities(Y, y, a)
                value = 0.5 * n_seen * (group.size - 1.0) * math.log(dot(y, y))
                for j in range(n):
                    if together[j] > 0.0:
                        value += together[j] * math.log(a[j])
                    if apart[j] > 0.0:
                        value += apart[j] * math.log(max(1.0 - a[j], 0.0))
                if value > best:
                    best, found = value, i
            for i in group:
                if i != found:
                    Y[:, i] = Y[:, found]
        start = stop


@njit
def products(rows, last):
    """Return the (m, m) products of `rows` with each other, and the (m,) products with `last`."""
    m = rows.shape[0]
    square, right = np.empty((m, m)), np.empty(m)
    for s in range(m):
        right[s] = dot(rows[s], last)
        for t in range(s + 1):
            square[s, t] = square[t, s] = dot(rows[s], rows[t])
    return square, right
