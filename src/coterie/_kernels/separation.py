"""How far a weighted ensemble puts two objects apart, row by row, and what is built on it.

The separation H(i, j) of two objects is a weighted share of the runs that put them apart, in
[0, 1]; which weights the runs get is the `kind` (Berikov, 2014 and 2016). Runs of one group, by
one algorithm, stand side by side. A run counts for a pair only if it saw both objects; a pair
that no run saw has separation 1.

Runs are counted in bytes, as co-association is. Sums of qualities are made only for the pairs
that need them: a count alone bounds them from below.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie._kernels._jit import njit, parallel_njit, prange
from coterie._kernels.coassociation import count_observed, count_together
from coterie._kernels.linkage import _root
from coterie._kernels.spanning_tree import add_edge, next_node, start_tree

MARGIN, PRINTED, VARIANCE, FIXED = range(4)
"""The best group by gamma (2p - 1) or by gamma p; weights by variance; weights as given."""

_TILE = 1024  # objects at a time: all scratch of a tile stays in the second-level cache
_TIE = 1e-12  # groups whose values differ by less are equally good: the first one is taken
_SLACK = 1e-9  # far above the rounding of a sum, far below what a bound can decide
_DECIMALS = 1e12  # separations are rounded to 12 decimals


class Runs(NamedTuple):
    """The runs of an ensemble, group after group, and how they are weighed."""

    kind: int
    """MARGIN, PRINTED, VARIANCE or FIXED."""
    columns: NDArray[Any]
    """(L, n) compact codes, one row per run."""
    rows: NDArray[Any]
    """(n, L): the same, one row per object."""
    missing: Any
    """The code that means missing, of the type of `columns`."""
    has_missing: bool
    starts: NDArray[np.int64]
    """(M + 1,): where the runs of each group start."""
    quality: NDArray[np.float64]
    """(L,): gamma of each run; for FIXED, its weight."""
    mean_quality: NDArray[np.float64]
    """(M,): its mean in each group."""
    least: NDArray[np.float64]
    """(M, most runs of a group + 1): the sum of the s smallest qualities of each group."""
    count_type: NDArray[Any]
    """An empty array of the type in which runs are counted."""


class Scratch(NamedTuple):
    """Arrays for one tile of one row."""

    seen: NDArray[np.int64]
    together: NDArray[Any]
    both: NDArray[Any]
    group: NDArray[np.int64]
    """The best group, or -1 where no run saw both."""
    best: NDArray[np.float64]
    """How good it is."""
    apart: NDArray[np.float64]
    """How many of its runs put the pair apart."""
    observed: NDArray[np.float64]
    """How many of its runs saw both."""
    sums: NDArray[np.float64]


@njit
def make_scratch(runs):
    """Return arrays for one tile."""
    return Scratch(
        np.empty(runs.columns.shape[0], dtype=np.int64),
        np.empty(_TILE, dtype=runs.count_type.dtype),
        np.empty(_TILE, dtype=runs.count_type.dtype),
        np.empty(_TILE, dtype=np.int64),
        np.empty(_TILE),
        np.empty(_TILE),
        np.empty(_TILE),
        np.empty((4, _TILE)),
    )


# --- one row of H -------------------------------------------------------------------------------


@njit
def separation_tile(runs, i, start, stop, limits, scratch, out):
    """Write the separation of object i from objects start..stop-1 to `out`.

    `limits` and `out` hold the tile. A separation above its limit may be replaced by a lower
    bound that is above the limit, which is faster. Where the limit is infinite, the separation is
    not used, and any number may be written.
    """
    if runs.kind == VARIANCE:
        _weigh_by_variance(runs, i, start, stop, scratch, out)
    elif runs.kind == FIXED:
        _weigh_as_given(runs, i, start, stop, scratch, out)
    else:
        _choose_groups(runs, i, start, stop, scratch)
        _weigh_by_quality(runs, i, start, stop, limits, scratch, out)
    for j in range(stop - start):
        out[j] = np.rint(out[j] * _DECIMALS) / _DECIMALS


@njit
def _count_group(runs, m, i, start, stop, scratch):
    """Count the runs of group m that put objects together with object i, and that saw both."""
    n_seen = 0
    for e in range(runs.starts[m], runs.starts[m + 1]):
        if runs.columns[e, i] != runs.missing:
            scratch.seen[n_seen] = e
            n_seen += 1
    count_together(runs.columns, i, scratch.seen, n_seen, start, stop, scratch.together)
    if runs.has_missing:
        count_observed(runs.columns, runs.missing, scratch.seen, n_seen, start, stop, scratch.both)
    else:
        scratch.both[: stop - start] = n_seen


@njit
def _choose_groups(runs, i, start, stop, scratch):
    """Find the best group for each pair, how many of its runs saw the pair, and put it apart."""
    width = stop - start
    scratch.group[:width] = -1
    scratch.best[:width] = -1.0
    for m in range(runs.mean_quality.size):
        _count_group(runs, m, i, start, stop, scratch)
        _keep_better(runs, m, scratch, width)


@njit
def _keep_better(runs, m, scratch, width):
    """Put group m in place of the best so far where it is better."""
    together, both = scratch.together[:width], scratch.both[:width]
    group, best = scratch.group[:width], scratch.best[:width]
    apart, observed = scratch.apart[:width], scratch.observed[:width]
    quality = runs.mean_quality[m]
    # gamma (2p - 1) is gamma |1 - 2P|, gamma p is gamma (1 + |1 - 2P|) / 2.
    shift = 0.0 if runs.kind == MARGIN else 1.0
    for j in range(width):
        n_both = np.float64(both[j])
        n_together = np.float64(together[j])
        n_apart = n_both - n_together
        # Where no run saw both this is NaN: not better.
        value = quality * (shift + abs(n_together - n_apart) / n_both)
        better = value > best[j] + _TIE
        best[j] = value if better else best[j]
        group[j] = m if better else group[j]
        apart[j] = n_apart if better else apart[j]
        observed[j] = n_both if better else observed[j]


@njit
def _weigh_by_quality(runs, i, start, stop, limits, scratch, out):
    """Write what the best group says; where a lower bound is above the limit, the bound."""
    apart, observed = scratch.apart, scratch.observed
    for j in range(stop - start):
        m = scratch.group[j]
        if m < 0:
            out[j] = 1.0
        elif limits[j] < np.inf:
            out[j] = runs.least[m, np.int64(apart[j])] / observed[j]
            if out[j] <= limits[j] + _SLACK:
                out[j] = _separation_by(runs, m, i, start + j)
        else:
            out[j] = np.inf


@njit
def _separation_by(runs, m, i, j):
    """Return what the runs of group m that saw both objects say, weighed by their quality."""
    apart = 0.0
    n_both = 0
    for e in range(runs.starts[m], runs.starts[m + 1]):
        a, b = runs.rows[i, e], runs.rows[j, e]
        if a != runs.missing and b != runs.missing:
            n_both += 1
            if a != b:
                apart += runs.quality[e]
    return apart / n_both


@njit
def _weigh_by_variance(runs, i, start, stop, scratch, out):
    """Weigh groups by runs / P (1 - P); those that are unanimous outweigh all others."""
    width = stop - start
    together, both = scratch.together, scratch.both
    sure, sure_apart = scratch.sums[0, :width], scratch.sums[1, :width]
    weight, apart = scratch.sums[2, :width], scratch.sums[3, :width]
    sure[:] = 0.0
    sure_apart[:] = 0.0
    weight[:] = 0.0
    apart[:] = 0.0
    for m in range(runs.mean_quality.size):
        _count_group(runs, m, i, start, stop, scratch)
        for j in range(width):
            n_both = np.float64(both[j])
            n_together = np.float64(together[j])
            n_apart = n_both - n_together
            if n_apart == 0.0 or n_together == 0.0:
                sure[j] += n_both
                sure_apart[j] += n_apart
            else:
                weight[j] += n_both**3 / (n_apart * n_together)
                apart[j] += n_both**2 / n_together
    for j in range(width):
        if sure[j] > 0.0:
            out[j] = sure_apart[j] / sure[j]
        else:
            out[j] = apart[j] / weight[j] if weight[j] > 0.0 else 1.0


@njit
def _weigh_as_given(runs, i, start, stop, scratch, out):
    width = stop - start
    total, apart = scratch.sums[0, :width], scratch.sums[1, :width]
    total[:] = 0.0
    apart[:] = 0.0
    for e in range(runs.columns.shape[0]):
        code = runs.columns[e, i]
        if code == runs.missing:
            continue
        weight = runs.quality[e]
        column = runs.columns[e, start:stop]
        for j in range(width):
            total[j] += weight if column[j] != runs.missing else 0.0
            apart[j] += weight if (column[j] != code) & (column[j] != runs.missing) else 0.0
    for j in range(width):
        out[j] = apart[j] / total[j] if total[j] > 0.0 else 1.0


# --- trees, matrices, neighbours ----------------------------------------------------------------


@njit
def tree_of_separations(runs, counts, done):
    """Return (edges, weights, wins, margin): a minimum spanning tree, and sums over pairs.

    `counts` says how many objects each one stands for. `wins` counts for each group the pairs
    of objects for which it was the best, `margin` sums their expected margins. Prim's algorithm
    meets every pair once: when the first of the two enters the tree. The first cell of `done` gets
    the number of objects in it.
    """
    n = runs.columns.shape[1]
    visited = np.inf
    scratch = make_scratch(runs)
    row = np.empty(n)
    distance = np.empty(n)
    nearest = start_tree(n, distance, 2.0, visited)
    edges = np.empty((n - 1, 2), dtype=np.int64)
    weights = np.empty(n - 1)
    wins = np.zeros(runs.mean_quality.size, dtype=np.int64)
    margin = 0.0
    node = 0
    for step in range(n):
        for start in range(0, n, _TILE):
            stop = min(n, start + _TILE)
            limits = distance[start:stop]
            separation_tile(runs, node, start, stop, limits, scratch, row[start:stop])
            if runs.kind == MARGIN or runs.kind == PRINTED:
                margin += _tally(runs, node, start, stop, limits, counts, scratch, wins)
        if step < n - 1:
            node = next_node(row, node, visited, nearest, distance)
            add_edge(edges, step, node, nearest)
            weights[step] = distance[node]
            distance[node] = visited
        done[0] = step + 1
    return edges, weights, wins, margin


@njit
def _tally(runs, i, start, stop, limits, counts, scratch, wins):
    """Count the best groups of object i with itself and with those outside the tree."""
    margin = 0.0
    apart, observed = scratch.apart, scratch.observed
    for j in range(stop - start):
        m = scratch.group[j]
        if m < 0:
            continue
        if start + j == i:
            n_pairs = counts[i] * (counts[i] - 1) // 2
        elif limits[j] < np.inf:
            n_pairs = counts[i] * counts[start + j]
        else:
            continue
        wins[m] += n_pairs
        margin += n_pairs * (runs.mean_quality[m] * abs(1.0 - 2.0 * apart[j] / observed[j]))
    return margin


@parallel_njit
def fill_separations(runs, triangle, done):
    """Write the separation of objects u > v to ``triangle[u (u - 1) / 2 + v]``.

    `done` has a cell for each u, for the number of pairs.
    """
    for u in prange(runs.columns.shape[1]):
        scratch = make_scratch(runs)
        limits = np.full(_TILE, 2.0)
        begin = u * (u - 1) // 2
        for start in range(0, u, _TILE):
            stop = min(u, start + _TILE)
            separation_tile(
                runs, u, start, stop, limits, scratch, triangle[begin + start : begin + stop]
            )
        done[u] = u


@parallel_njit
def vote_of_nearest(runs, labels, n_clusters, first_new):
    """Return for each object from `first_new` on the cluster of the known ones nearest to it.

    Where several are equally near: the cluster with most of them; of equal ones, the first.
    """
    found = np.empty(runs.columns.shape[1] - first_new, dtype=np.int64)
    for r in prange(found.size):
        scratch = make_scratch(runs)
        row = np.empty(_TILE)
        limits = np.empty(_TILE)
        votes = np.zeros(n_clusters, dtype=np.int64)
        best = 2.0
        for start in range(0, first_new, _TILE):
            stop = min(first_new, start + _TILE)
            limits[:] = best
            separation_tile(runs, first_new + r, start, stop, limits, scratch, row)
            for j in range(stop - start):
                if row[j] < best:
                    best = row[j]
                    votes[:] = 0
                if row[j] == best:
                    votes[labels[start + j]] += 1
        found[r] = np.argmax(votes)
    return found


@njit
def weigh_cuts(edges, weights):
    """Return (n,): for 1, 2, ..., n clusters the sum of w_c log N_c over clusters.

    `edges` are those of a tree over n objects, lightest first; k clusters are left when the
    last k - 1 are removed. N_c is the size of a cluster, w_c the weight of its edges. Each edge
    joins two clusters, and changes only their terms.
    """
    n = edges.shape[0] + 1
    parent = np.arange(n)
    size = np.ones(n)
    inside = np.zeros(n)
    sums = np.zeros(n)
    total = 0.0
    for m in range(n - 1):
        u, v = _root(parent, edges[m, 0]), _root(parent, edges[m, 1])
        total -= inside[u] * np.log(size[u]) + inside[v] * np.log(size[v])
        if size[u] < size[v]:
            u, v = v, u
        parent[v] = u
        size[u] += size[v]
        inside[u] += inside[v] + weights[m]
        total += inside[u] * np.log(size[u])
        sums[n - 2 - m] = total
    return sums
