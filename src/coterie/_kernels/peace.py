"""PEACE: the likelihood of soft memberships, its gradient, and two ways uphill.

Memberships come as `Y`, (K, p): one row per cluster and one column per object, or per distinct
label row ("pattern"), so that the inner loops run over columns. `pairs` is the `Problem` of
`coterie.consensus._peace`: the labels, and how many objects each column stands for. The counts of
one row of pairs are made from the labels when they are needed.

A pair that no partition puts together (or that none puts apart) has no such term, whatever its
probability: hence the choices `x if c > 0.0 else 1.0` under fractions.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie._kernels._jit import njit, parallel_njit, prange
from coterie._kernels.coassociation import (
    _TILE,
    count_observed,
    count_together,
    seen_partitions,
)

MAX_ACTIVE = 16  # clusters whose memberships one Newton step changes: bounds its cost for large K


class Scratch(NamedTuple):
    """Arrays for one row of pairs: an entry per column, and one more."""

    seen: NDArray[np.int64]
    """The partitions that saw the object of the row."""
    tiles: NDArray[Any]
    """(2, _TILE) counts."""
    together: NDArray[np.float64]
    """Votes for "together" with each column, times its objects."""
    apart: NDArray[np.float64]
    a: NDArray[np.float64]
    """Probability of each pair."""
    slope: NDArray[np.float64]
    """First derivative of each pair's term with respect to its probability."""
    curvature: NDArray[np.float64]
    """Second derivative, negated."""
    d: NDArray[np.float64]
    """Change of the probabilities along a line."""
    work: NDArray[np.float64]


@njit
def make_scratch(pairs):
    """Return arrays for one row of pairs."""
    n_partitions, n = pairs.columns.shape
    return Scratch(
        np.empty(n_partitions, dtype=np.int64),
        np.empty((2, _TILE), dtype=pairs.count_type.dtype),
        np.empty(n + 1),
        np.empty(n + 1),
        np.empty(n + 1),
        np.empty(n + 1),
        np.empty(n + 1),
        np.empty(n + 1),
        np.empty(n + 1),
    )


@njit
def load_row(pairs, i, n, scratch):
    """Write the votes of column i with the first `n` columns to `scratch.together` and `.apart`.

    They are weighted by the objects of the other column. The entry of i itself is 0 in both.
    Return how many partitions saw i.
    """
    n_seen = seen_partitions(pairs.columns, i, pairs.missing, scratch.seen)
    with_i, observed = scratch.tiles[0], scratch.tiles[1]
    for start in range(0, n, _TILE):
        stop = min(n, start + _TILE)
        count_together(pairs.columns, i, scratch.seen, n_seen, start, stop, with_i)
        if pairs.has_missing:
            count_observed(
                pairs.columns, pairs.missing, scratch.seen, n_seen, start, stop, observed
            )
        else:
            observed[: stop - start] = n_seen
        weights = pairs.weights[start:stop]
        together, apart = scratch.together[start:stop], scratch.apart[start:stop]
        for j in range(stop - start):
            together[j] = weights[j] * with_i[j]
            apart[j] = weights[j] * (np.float64(observed[j]) - np.float64(with_i[j]))
    if i < n:
        scratch.together[i] = 0.0
        scratch.apart[i] = 0.0
    return n_seen


# --- sums --------------------------------------------------------------------------------------


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
def combine_rows(Y, some, shares, out):
    """Write the sum of the rows `some` of Y, times `shares`, to `out`."""
    out[:] = 0.0
    for s in range(some.size):
        row, share = Y[some[s]], shares[s]
        if share != 0.0:
            for j in range(out.size):
                out[j] += share * row[j]


@njit
def pair_probabilities(Y, y, out):
    """Write y'y_j for every column j."""
    combine_rows(Y, np.arange(y.size), y, out)


# --- the whole likelihood ----------------------------------------------------------------------


@njit
def likelihood(pairs, Y):
    """Return the log-likelihood over all pairs of objects, without binomial coefficients."""
    scratch = make_scratch(pairs)
    together, apart, a = scratch.together, scratch.apart, scratch.a
    value = 0.0
    for i in range(Y.shape[1]):
        n_seen = load_row(pairs, i, i, scratch)
        y = Y[:, i].copy()
        pair_probabilities(Y[:, :i], y, a[:i])
        own = 0.5 * (pairs.weights[i] - 1.0) * n_seen
        row = own * math.log(inner(y, y)) if own > 0.0 else 0.0
        for j in range(i):
            if together[j] > 0.0:
                row += together[j] * math.log(a[j])
            if apart[j] > 0.0:
                row += apart[j] * math.log(max(1.0 - a[j], 0.0))  # rounding can pass 0
        value += pairs.weights[i] * row
    return value


@njit
def slopes(together, apart, a, out):
    """Write the derivative of each pair's term with respect to its probability a."""
    for j in range(a.shape[0]):
        c, r, x = together[j], apart[j], a[j]
        out[j] = c / (x if c > 0.0 else 1.0) - r / ((1.0 - x) if r > 0.0 else 1.0)


@njit
def gradients(pairs, Y):
    """Return the gradient g_i of every column (of one object of each pattern), (K, p)."""
    n = Y.shape[1]
    scratch = make_scratch(pairs)
    a, slope = scratch.a[:n], scratch.slope[:n]
    G = np.empty_like(Y)
    for i in range(n):
        n_seen = load_row(pairs, i, n, scratch)
        pair_probabilities(Y, Y[:, i].copy(), a)
        slopes(scratch.together, scratch.apart, a, slope)
        own = (pairs.weights[i] - 1.0) * n_seen / a[i]
        for k in range(Y.shape[0]):
            G[k, i] = dot(Y[k], slope, scratch.work) + own * Y[k, i]
    return G


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
def steepest(G, Y):
    """Return (gap, J) of Proposition 1: the column in which moving mass pays most.

    The first of equal ones. The gap is 0 where the KKT conditions hold.
    """
    gap, found = -np.inf, 0
    for i in range(Y.shape[1]):
        here = gap_of(G[:, i], Y[:, i])[0]
        if here > gap:
            gap, found = here, i
    return gap, found


# --- the paper's algorithm ---------------------------------------------------------------------


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
def update_gradients(G, Y, j, old, scratch):
    """Bring G up to date after column j was changed from `old`; `scratch` holds the row of j."""
    n = Y.shape[1]
    a, before, after = scratch.a[:n], scratch.curvature[:n], scratch.slope[:n]
    new = Y[:, j].copy()
    slopes(scratch.together, scratch.apart, a, before)
    pair_probabilities(Y, new, a)
    slopes(scratch.together, scratch.apart, a, after)
    for k in range(Y.shape[0]):
        g = G[k]
        if old[k] != 0.0 or new[k] != 0.0:
            for i in range(n):
                g[i] += new[k] * after[i] - old[k] * before[i]
        g[j] = dot(Y[k], after, scratch.work)


@njit
def climb_one_by_one(pairs, Y, G, stop_below, max_steps, path):
    """Take at most `max_steps` steps of the paper's algorithm; return how many.

    Every column stands for one object. `G` are the gradients of `Y`; both are changed in place,
    at O(nK) for a step. What was done in each step goes to `path` (its length decides how many
    are kept): J, U, V, step.
    """
    n = Y.shape[1]
    scratch = make_scratch(pairs)
    together, apart, a, d = scratch.together[:n], scratch.apart[:n], scratch.a[:n], scratch.d[:n]
    for t in range(max_steps):
        gap, j = steepest(G, Y)
        if gap < stop_below:
            return t
        y = Y[:, j].copy()
        _, u, v = gap_of(G[:, j], y)
        load_row(pairs, j, n, scratch)
        pair_probabilities(Y, y, a)
        for i in range(n):
            d[i] = Y[u, i] - Y[v, i]
        step = bisect(together, apart, a, d, y[v], scratch.work[:n])
        if t < path.shape[0]:
            path[t, 0], path[t, 1], path[t, 2], path[t, 3] = j, u, v, step
        if step == 0.0:
            return t  # the gap is rounding: no number is small enough to be a step
        Y[u, j] += step
        Y[v, j] = 0.0 if step == y[v] else Y[v, j] - step
        update_gradients(G, Y, j, y, scratch)
    return max_steps


# --- one object at a time, all its memberships at once -----------------------------------------


@njit
def pair_derivatives(scratch, n):
    """Write the first derivatives of the pairs' terms, and the second ones, negated."""
    for j in range(n):
        c, r = scratch.together[j], scratch.apart[j]
        x = 1.0 / (scratch.a[j] if c > 0.0 else 1.0)
        z = 1.0 / ((1.0 - scratch.a[j]) if r > 0.0 else 1.0)
        scratch.slope[j] = c * x - r * z
        scratch.curvature[j] = c * x * x + r * z * z


@njit
def active_clusters(g, y, best, worst):
    """Return the clusters whose memberships a step changes, rising: at most `MAX_ACTIVE`.

    Clusters that have no mass and would get none stay out. Of more, those between which most is
    to be gained.
    """
    n_clusters = g.size
    level = inner(g, y)
    gain = np.zeros(n_clusters)
    n_some = 0
    for k in range(n_clusters):
        if y[k] > 0.0 or g[k] >= level:
            gain[k] = 1e-300 + abs(g[k] - level) * max(y[k], 1.0 / n_clusters)
            n_some += 1
    gain[best] = gain[worst] = np.inf
    return np.sort(np.argsort(-gain, kind="mergesort")[: min(n_some, MAX_ACTIVE)])


@njit
def second_derivatives(Y, y, some, own, scratch):
    """Return the second derivatives of the likelihood in the memberships `some` of one column."""
    n = Y.shape[1]
    square = inner(y, y)
    H = np.empty((some.size, some.size))
    for s in range(some.size):
        row = Y[some[s]]
        for j in range(n):
            scratch.work[j] = scratch.curvature[j] * row[j]
        for t in range(s + 1):
            own_curvature = 4.0 * own / (square * square) * y[some[s]] * y[some[t]]
            H[s, t] = H[t, s] = -dot(scratch.work[:n], Y[some[t]], scratch.d) - own_curvature
    return H


@njit
def best_move(g, H, y):
    """Return the move p that is best by the quadratic model g'p + p'Hp/2, y + p a membership.

    Mass goes from the worst to the best coordinate, as far as the model says, again and again.
    """
    n_clusters = y.shape[0]
    p = np.zeros(n_clusters)
    r = g.copy()
    first = -1.0
    for _ in range(30 * n_clusters):
        gap, up, down = gap_of(r, y + p)
        if first < 0.0:
            first = gap
        if gap <= 1e-3 * first:
            break
        curvature = -(H[up, up] + H[down, down] - 2.0 * H[up, down])
        most = y[down] + p[down]
        if curvature * most > gap:
            step = gap / curvature
            p[down] -= step
        else:
            step = most
            p[down] = -y[down]
        p[up] += step
        for k in range(n_clusters):
            r[k] += step * (H[k, up] - H[k, down])
    return p


@njit
def is_safe(slope, curvature):
    """Return whether the likelihood surely rises over a whole step along a line.

    It is self-concordant, because counts are at least 1. So it rises by at least
    slope + x + log(1 - x), where x^2 is the curvature.
    """
    x = math.sqrt(curvature)
    return x < 0.9 and slope + x + math.log(1.0 - x) > 0.25 * slope


@njit
def safe_step(scratch, n, slope, curvature):
    """Return a step in (0, 1] along d at which the likelihood is not lower.

    It is concave along d, so that is any step at which the slope is not negative yet. A whole
    step beyond the top is as good where it `is_safe`. The first `n` entries of `scratch` count.
    """
    if is_safe(slope, curvature):
        return 1.0
    together, apart, a, d = scratch.together[:n], scratch.apart[:n], scratch.a[:n], scratch.d[:n]
    work = scratch.work[:n]
    high_slope = directional(together, apart, a, d, 1.0, work)
    if high_slope >= 0.0:
        return 1.0
    low, high, low_slope = 0.0, 1.0, slope
    step = min(0.5, slope / curvature)
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
def move(Y, i, own, scratch, skip_below):
    """Move column i to, or towards, the memberships that are best with all others fixed.

    Return (gap, moved): the gap of the KKT conditions before, and whether the column changed.
    `scratch` holds the votes of column i. The pairs of a pattern with itself have the weight `own`
    and one more entry of `scratch`. Their term log(y'y) is replaced by log(2 x'y - x'x), x the
    memberships now: never above it, equal at x with the same gradient, and concave, so that the
    step along a line is a concave problem.
    """
    n_clusters, n = Y.shape
    y = Y[:, i].copy()
    square = inner(y, y)
    pair_probabilities(Y, y, scratch.a[:n])
    pair_derivatives(scratch, n)
    scratch.together[n], scratch.apart[n], scratch.a[n] = own, 0.0, square
    g = np.empty(n_clusters)
    for k in range(n_clusters):
        g[k] = dot(Y[k], scratch.slope[:n], scratch.work) + 2.0 * own / square * y[k]
    gap, best, worst = gap_of(g, y)
    if gap < skip_below or not gap > 0.0:
        return gap, False

    some = active_clusters(g, y, best, worst)
    y_some, g_some = y[some], g[some]
    H = second_derivatives(Y, y, some, own, scratch)
    p = best_move(g_some, H, y_some)
    combine_rows(Y, some, p, scratch.d[:n])
    scratch.d[n] = 2.0 * inner(p, y_some)
    slope, along = inner(p, g_some), 0.0
    for s in range(some.size):
        along -= p[s] * inner(H[s], p)
    if not slope > 0.0:
        return gap, False
    step = safe_step(scratch, n + 1, slope, along)
    for s in range(some.size):
        Y[some[s], i] = 0.0 if step == 1.0 and p[s] == -y_some[s] else y_some[s] + step * p[s]
    return gap, step > 0.0


@njit
def sweep(pairs, Y, skip_below):
    """Move each column once, in turn; return (largest gap met, columns moved)."""
    n = Y.shape[1]
    scratch = make_scratch(pairs)
    largest, n_moved = 0.0, 0
    for i in range(n):
        n_seen = load_row(pairs, i, n, scratch)
        own = 0.5 * (pairs.weights[i] - 1.0) * n_seen
        gap, moved = move(Y, i, own, scratch, skip_below)
        largest = max(largest, gap)
        n_moved += moved
    return largest, n_moved


@njit
def place_one(pairs, Y, first, i, tol, max_iter):
    """Find the memberships of column i, given those of the first columns."""
    scratch = make_scratch(pairs)
    alone = np.empty((Y.shape[0], first + 1))
    alone[:, :first] = Y[:, :first]
    alone[:, first] = Y[:, i]
    load_row(pairs, i, first, scratch)
    scratch.together[first] = 0.0
    scratch.apart[first] = 0.0
    below = tol * (scratch.together[:first].sum() + scratch.apart[:first].sum())
    for _ in range(max_iter):
        _, moved = move(alone, first, 0.0, scratch, below)
        if not moved:
            break
    Y[:, i] = alone[:, first]


@parallel_njit
def place_new(pairs, Y, first, tol, max_iter):
    """Find the memberships of the columns from `first` on, each as if it were alone."""
    for i in prange(first, Y.shape[1]):
        place_one(pairs, Y, first, i, tol, max_iter)
