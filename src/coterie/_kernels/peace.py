"""PEACE: the likelihood of soft memberships, its gradient, and two ways uphill.

Memberships come as `Y`, (K, p): one column per distinct label row ("pattern"), one row per
cluster, so that the inner loops run over patterns. `weights` says how many objects each column
stands for. The counts of a row of pairs are made from the labels when they are needed, in small
integers, by the kernels of co-association. `counts` has the type for them; where it is not empty
it holds them for all pairs, (1, p, p) together and with missing labels (2, p, p) also observed.

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

REACH = 1.2  # how far a pass moves a column, its best place being at 1 (over-relaxation)


@njit
def load_row(
    columns, missing, has_missing, counts, weights, i, n, seen, small, both, together, apart
):
    """Write for pattern i the weighted counts of partitions that put it with, and apart from, all.

    "All" are the first `n` patterns. The entry of i itself is 0 in both. Return how many
    partitions saw i. `seen`, `small` and `both` are scratch.
    """
    held = counts.shape[0] > 0
    n_seen = seen_partitions(columns, i, missing, seen)
    for start in range(0, n, _TILE):
        stop = min(n, start + _TILE)
        with_i, observed = small[: stop - start], both[: stop - start]
        if held:
            with_i = counts[0, i, start:stop]
        else:
            count_together(columns, i, seen, n_seen, start, stop, small)
        if has_missing:
            if held:
                observed = counts[1, i, start:stop]
            else:
                count_observed(columns, missing, seen, n_seen, start, stop, both)
            for j in range(stop - start):
                w = weights[start + j]
                together[start + j] = w * with_i[j]
                apart[start + j] = w * (np.float64(observed[j]) - np.float64(with_i[j]))
        else:
            for j in range(stop - start):
                w = weights[start + j]
                together[start + j] = w * with_i[j]
                apart[start + j] = w * (np.float64(n_seen) - np.float64(with_i[j]))
    if i < n:
        together[i] = 0.0
        apart[i] = 0.0
    return n_seen


@njit
def fold(x):
    """Return the sum of x, which is destroyed.

    Sums are folded eight to one, then added up: every loop but the short last ones is over
    independent entries, so it becomes vector instructions without any leave to reorder sums, and
    the result is the same on every machine.
    """
    n = x.shape[0]
    h = n // 8
    for j in range(h):
        x[j] = ((x[j] + x[j + h]) + (x[j + 2 * h] + x[j + 3 * h])) + (
            (x[j + 4 * h] + x[j + 5 * h]) + (x[j + 6 * h] + x[j + 7 * h])
        )
    s = 0.0
    for j in range(h):
        s += x[j]
    for j in range(8 * h, n):
        s += x[j]
    return s


@njit
def dot(x, y, work):
    """Return the sum of x y, folded as in `fold`; `work` is scratch of an eighth of their size."""
    n = x.shape[0]
    h = n // 8
    for j in range(h):
        work[j] = (
            (x[j] * y[j] + x[j + h] * y[j + h])
            + (x[j + 2 * h] * y[j + 2 * h] + x[j + 3 * h] * y[j + 3 * h])
        ) + (
            (x[j + 4 * h] * y[j + 4 * h] + x[j + 5 * h] * y[j + 5 * h])
            + (x[j + 6 * h] * y[j + 6 * h] + x[j + 7 * h] * y[j + 7 * h])
        )
    s = fold(work[:h])
    for j in range(8 * h, n):
        s += x[j] * y[j]
    return s


@njit
def inner(x, y):
    """Return the sum of x y for vectors as short as a membership."""
    s = 0.0
    for k in range(x.shape[0]):
        s += x[k] * y[k]
    return s


@njit
def pair_probabilities(Y, y, out):
    """Write y'y_j for every column j."""
    add_rows(Y, np.arange(y.size), y, out)


@njit
def add_rows(Y, some, shares, out):
    """Write the sum of the rows `some` of Y, times `shares`, to `out`; two rows at a time."""
    n = Y.shape[1]
    used = np.empty(some.size, dtype=np.int64)
    n_used = 0
    for s in range(some.size):
        if shares[s] != 0.0:
            used[n_used] = s
            n_used += 1
    if n_used % 2 == 1:
        row, share = Y[some[used[0]]], shares[used[0]]
        for j in range(n):
            out[j] = share * row[j]
    else:
        out[:n] = 0.0
    for u in range(n_used % 2, n_used, 2):
        one, two = Y[some[used[u]]], Y[some[used[u + 1]]]
        first, second = shares[used[u]], shares[used[u + 1]]
        for j in range(n):
            out[j] += first * one[j] + second * two[j]


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
    return fold(out) if inside else -np.inf


# --- the whole likelihood ----------------------------------------------------------------------


@njit
def likelihood(columns, missing, has_missing, counts, weights, Y):
    """Return the log-likelihood over all pairs of objects, without binomial coefficients."""
    n_partitions, n = columns.shape
    seen = np.empty(n_partitions, dtype=np.int64)
    small, both = np.empty(_TILE, dtype=counts.dtype), np.empty(_TILE, dtype=counts.dtype)
    together, apart, a = np.empty(n), np.empty(n), np.empty(n)
    value = 0.0
    for i in range(n):
        n_seen = load_row(
            columns, missing, has_missing, counts, weights, i, i, seen, small, both, together, apart
        )
        y = Y[:, i].copy()
        pair_probabilities(Y[:, :i], y, a[:i])
        own = 0.5 * (weights[i] - 1.0) * n_seen
        row = own * math.log(inner(y, y)) if own > 0.0 else 0.0
        for j in range(i):
            if together[j] > 0.0:
                row += together[j] * math.log(a[j])
            if apart[j] > 0.0:
                row += apart[j] * math.log(max(1.0 - a[j], 0.0))  # rounding can pass 0
        value += weights[i] * row
    return value


@njit
def log_of_close(new, old):
    """Return (log(new / old), whether they are close enough for this series to be exact)."""
    z = (new - old) / (new + old)
    q = z * z
    tail = 1 / 7 + q * (1 / 9 + q * (1 / 11 + q * (1 / 13 + q / 15)))
    return 2.0 * z * (1.0 + q * (1 / 3 + q * (1 / 5 + q * tail))), q < 0.01


@njit
def gain_of_row(together, apart, a, b, work):
    """Return the sum of c log(b / a) + r log((1 - b) / (1 - a)) over one row of pairs.

    Most pairs of an extrapolation change by little: these are summed without a logarithm, in a
    loop of vector instructions, and the others one by one.
    """
    n = a.shape[0]
    n_far = 0
    for j in range(n):
        c, r = together[j], apart[j]
        one, near = log_of_close(b[j] if c > 0.0 else 1.0, a[j] if c > 0.0 else 1.0)
        two, close = log_of_close(1.0 - b[j] if r > 0.0 else 1.0, 1.0 - a[j] if r > 0.0 else 1.0)
        n_far += 1 if not (near and close) else 0
        work[j] = c * one + r * two if near and close else 0.0
    value = fold(work)
    if n_far > 0:
        for j in range(n):
            c, r = together[j], apart[j]
            x, z = (b[j], a[j]) if c > 0.0 else (1.0, 1.0)
            x1, z1 = (1.0 - b[j], 1.0 - a[j]) if r > 0.0 else (1.0, 1.0)
            if not (log_of_close(x, z)[1] and log_of_close(x1, z1)[1]):
                value += c * math.log(x / z) + r * math.log(max(x1, 0.0) / z1)  # rounding
    return value


@njit
def gain(columns, missing, has_missing, counts, weights, Y, Z):
    """Return the log-likelihood of Z minus that of Y, pair by pair: exact where they are close."""
    n_partitions, n = columns.shape
    seen = np.empty(n_partitions, dtype=np.int64)
    small, both = np.empty(_TILE, dtype=counts.dtype), np.empty(_TILE, dtype=counts.dtype)
    together, apart, a, b = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    work = np.empty(n)
    value = 0.0
    for i in range(n):
        n_seen = load_row(
            columns, missing, has_missing, counts, weights, i, i, seen, small, both, together, apart
        )
        y, z = Y[:, i].copy(), Z[:, i].copy()
        pair_probabilities(Y[:, :i], y, a[:i])
        pair_probabilities(Z[:, :i], z, b[:i])
        own = 0.5 * (weights[i] - 1.0) * n_seen
        row = own * math.log(inner(z, z) / inner(y, y)) if own > 0.0 else 0.0
        row += gain_of_row(together[:i], apart[:i], a[:i], b[:i], work[:i])
        value += weights[i] * row
    return value


@njit
def gradients(columns, missing, has_missing, counts, weights, Y, out):
    """Write the gradient g_i of every column (of one object of each pattern) to `out` (K, p)."""
    n_partitions, n = columns.shape
    seen = np.empty(n_partitions, dtype=np.int64)
    small, both = np.empty(_TILE, dtype=counts.dtype), np.empty(_TILE, dtype=counts.dtype)
    together, apart, a, w = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    work = np.empty(n)
    for i in range(n):
        n_seen = load_row(
            columns, missing, has_missing, counts, weights, i, n, seen, small, both, together, apart
        )
        pair_probabilities(Y, Y[:, i].copy(), a)
        slopes(together, apart, a, w)
        own = (weights[i] - 1.0) * n_seen / a[i]
        for k in range(Y.shape[0]):
            out[k, i] = dot(Y[k], w, work) + own * Y[k, i]


@njit
def observations(columns, missing, has_missing, counts, weights, out):
    """Write for each pattern the number of votes on the pairs of one of its objects: sum_j N_ij."""
    n_partitions, n = columns.shape
    seen = np.empty(n_partitions, dtype=np.int64)
    small, both = np.empty(_TILE, dtype=counts.dtype), np.empty(_TILE, dtype=counts.dtype)
    together, apart = np.empty(n), np.empty(n)
    for i in range(n):
        n_seen = load_row(
            columns, missing, has_missing, counts, weights, i, n, seen, small, both, together, apart
        )
        out[i] = fold(together) + fold(apart) + (weights[i] - 1.0) * n_seen


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
    columns, missing, has_missing, counts, weights, Y, G, stop_below, max_steps, exact, path
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
    small, both = np.empty(_TILE, dtype=counts.dtype), np.empty(_TILE, dtype=counts.dtype)
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
        n_seen = load_row(
            columns, missing, has_missing, counts, ones, j, n, seen, small, both, c, r
        )
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
            g[j] = dot(Y[k], rest, work) + 2.0 * own / a[j] * new[k]
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
def is_safe(step, slope, bend):
    """Say whether the likelihood surely rises over a step along a line.

    It is self-concordant, the counts being at least 1: so it rises by step * slope - (-x -
    log(1 - x)) at least, where x^2 = step^2 * bend.
    """
    x = step * math.sqrt(bend)
    return x < 0.9 and step * slope + x + math.log(1.0 - x) > 0.25 * slope


@njit
def safe_step(together, apart, a, d, slope, bend, work):
    """Return a step in (0, 1] along d at which the likelihood is not lower.

    It is concave along d, so that is any step at which the slope is not negative yet. A whole
    step beyond the top is as good where it `is_safe`.
    """
    if is_safe(1.0, slope, bend):
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
def move(Y, i, own, together, apart, room, skip_below, reach):
    """Move column i to, or towards, the memberships that are best with all others fixed.

    Or somewhat beyond them, `reach` times as far, where the likelihood rises all the same: in
    passes over all columns those that come later pull this one along.
    Return (gap, moved): the gap of the KKT conditions before, and whether the column changed.
    `together` and `apart` are its counts, with one entry more than columns; that entry of
    `together` gets the weight `own` of the pairs of the pattern with itself. Their term
    log(y'y) is replaced by log(2 x'y - x'x), x the memberships now: never above it, equal at x
    with the same gradient, and concave, so that the step along a line is a concave problem.
    """
    n_clusters, n = Y.shape
    a, w, d, work, bends = room[0], room[1], room[2], room[3], room[4]
    y = Y[:, i].copy()
    pair_probabilities(Y, y, a[:n])
    for j in range(n):
        c, r = together[j], apart[j]
        x = 1.0 / (a[j] if c > 0.0 else 1.0)
        z = 1.0 / ((1.0 - a[j]) if r > 0.0 else 1.0)
        w[j] = c * x - r * z
        bends[j] = c * x * x + r * z * z
    square = inner(y, y)
    together[n], apart[n], a[n] = own, 0.0, square
    g = np.empty(n_clusters)
    for k in range(n_clusters):
        g[k] = dot(Y[k], w[:n], work) + 2.0 * own / square * y[k]
    gap, _, _ = gap_of(g, y)
    if gap < skip_below or not gap > 0.0:
        return gap, False

    # Clusters that have no mass and would get none stay out.
    level = inner(g, y)
    some = np.empty(n_clusters, dtype=np.int64)
    n_some = 0
    for k in range(n_clusters):
        if y[k] > 0.0 or g[k] >= level:
            some[n_some] = k
            n_some += 1
    some = some[:n_some]
    H = np.empty((n_some, n_some))
    for s in range(n_some):
        row = Y[some[s]]
        for j in range(n):
            work[j] = bends[j] * row[j]
        for t in range(s + 1):
            own_bend = 4.0 * own / (square * square) * y[some[s]] * y[some[t]]
            H[s, t] = H[t, s] = -dot(work[:n], Y[some[t]], d) - own_bend
    p = np.empty(n_some)
    plan(g[some], H, y[some], p)

    add_rows(Y, some, p, d)
    d[n] = slope = bend = 0.0
    for s in range(n_some):
        k = some[s]
        d[n] += 2.0 * p[s] * y[k]
        slope += p[s] * g[k]
        bend -= p[s] * inner(H[s], p)
    if not slope > 0.0:
        return gap, False
    step = safe_step(together, apart, a, d, slope, bend, work)
    if step == 1.0 and reach > 1.0:
        inside = is_safe(reach, slope, bend)
        for s in range(n_some):
            inside &= p[s] == 0.0 or y[some[s]] + reach * p[s] > 0.0
        if inside:
            step = reach
    for s in range(n_some):
        k = some[s]
        Y[k, i] = 0.0 if step == 1.0 and p[s] == -y[k] else y[k] + step * p[s]
    return gap, step > 0.0


@njit
def sweep(columns, missing, has_missing, counts, weights, Y, skip_below):
    """Move each column once, in turn; return (largest gap met, columns moved)."""
    n_partitions, n = columns.shape
    seen = np.empty(n_partitions, dtype=np.int64)
    small, both = np.empty(_TILE, dtype=counts.dtype), np.empty(_TILE, dtype=counts.dtype)
    together, apart, room = np.empty(n + 1), np.empty(n + 1), np.empty((5, n + 1))
    largest, n_moved = 0.0, 0
    for i in range(n):
        n_seen = load_row(
            columns, missing, has_missing, counts, weights, i, n, seen, small, both, together, apart
        )
        own = 0.5 * (weights[i] - 1.0) * n_seen
        gap, moved = move(Y, i, own, together, apart, room, skip_below, REACH)
        largest = max(largest, gap)
        n_moved += moved
    return largest, n_moved


@parallel_njit
def place_new(columns, missing, has_missing, counts, weights, Y, first, tol, max_iter):
    """Find the memberships of the columns from `first` on, given those before.

    Each is placed as if alone, so that its place does not depend on the others.
    """
    n_partitions, n = columns.shape
    for new in prange(n - first):
        i = first + new
        seen = np.empty(n_partitions, dtype=np.int64)
        small, both = np.empty(_TILE, dtype=counts.dtype), np.empty(_TILE, dtype=counts.dtype)
        together, apart = np.zeros(first + 2), np.zeros(first + 2)
        room, alone = np.empty((5, first + 2)), np.empty((Y.shape[0], first + 1))
        alone[:, :first] = Y[:, :first]
        alone[:, first] = Y[:, i]
        load_row(
            columns,
            missing,
            has_missing,
            counts,
            weights,
            i,
            first,
            seen,
            small,
            both,
            together,
            apart,
        )
        below = tol * (fold(together[:first].copy()) + fold(apart[:first].copy()))
        for _ in range(max_iter):
            _, moved = move(alone, first, 0.0, together, apart, room, below, 1.0)
            if not moved:
                break
        Y[:, i] = alone[:, first]


@njit
def best_twin(columns, missing, has_missing, counts, inverse, Y):
    """Give identical objects the memberships of that one of them for which the likelihood is best.

    `columns` and `Y` are of objects, `inverse` says which are identical. The likelihood does not
    fall: see `coterie.consensus._peace`.
    """
    n_partitions, n = columns.shape
    seen = np.empty(n_partitions, dtype=np.int64)
    small, both = np.empty(_TILE, dtype=counts.dtype), np.empty(_TILE, dtype=counts.dtype)
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
            one = group[0]
            n_seen = load_row(
                columns,
                missing,
                has_missing,
                counts,
                ones,
                one,
                n,
                seen,
                small,
                both,
                together,
                apart,
            )
            for i in group:
                together[i] = apart[i] = 0.0
            best, found = -np.inf, one
            for i in group:
                y = Y[:, i].copy()
                pair_probabilities(Y, y, a)
                value = 0.5 * n_seen * (group.size - 1.0) * math.log(inner(y, y))
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
    square, right, work = np.empty((m, m)), np.empty(m), np.empty(last.shape[0])
    for s in range(m):
        right[s] = dot(rows[s], last, work)
        for t in range(s + 1):
            square[s, t] = square[t, s] = dot(rows[s], rows[t], work)
    return square, right
