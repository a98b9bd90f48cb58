"""Threshold graphs of label rows, and merging clusters by their normalized edges.

The graph is on distinct rows ("patterns"), in compressed rows: the neighbours of pattern p are
``neighbours[start[p]:start[p + 1]]``, p itself among them, because two objects with the same
labels have an edge. Objects stay apart until they are merged: all objects of a pattern that are
still alone have the same edges, so they are counted once and taken smallest first.
"""

from __future__ import annotations

import heapq
import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie._kernels._jit import njit, parallel_njit, prange
from coterie._kernels.coassociation import _TILE, count_observed, count_together, seen_partitions

# --- graph ----------------------------------------------------------------------------------------


@njit
def _mark_neighbours(rows, least, i, begin, seen, together, observed):
    """Write to `together` whether each object of a tile is a neighbour of i; return how many."""
    n_partitions, n = rows.columns.shape
    stop = min(n, begin + _TILE)
    n_seen = seen_partitions(rows.columns, i, rows.missing, seen)
    count_together(rows.columns, i, seen, n_seen, begin, stop, together)
    n_found = 0
    if rows.has_missing:
        count_observed(rows.columns, rows.missing, seen, n_seen, begin, stop, observed)
        for j in range(stop - begin):
            is_near = together[j] >= least[observed[j]]
            together[j] = is_near
            n_found += is_near
    else:
        enough = together.dtype.type(min(least[n_partitions], n_partitions))
        # Where no count is enough (`least` above the number of partitions) nothing is near.
        possible = together.dtype.type(least[n_partitions] <= n_partitions)
        for j in range(stop - begin):
            is_near = possible if together[j] >= enough else together.dtype.type(0)
            together[j] = is_near
            n_found += is_near
    return n_found


@parallel_njit
def count_neighbours(rows, least, done):
    """Return the number of neighbours of each pattern.

    Two patterns are neighbours if at least ``least[observed]`` partitions put them together,
    `observed` being the partitions that saw both. `rows` are the `Codes` of the patterns. `done`
    has a cell for each pattern.
    """
    n_partitions, n = rows.columns.shape
    degrees = np.empty(n, dtype=np.int64)
    for i in prange(n):
        seen = np.empty(n_partitions, dtype=np.int64)
        together = np.empty(_TILE, dtype=rows.count_type.dtype)
        observed = np.empty(_TILE, dtype=rows.count_type.dtype)
        degree = 0
        for begin in range(0, n, _TILE):
            degree += _mark_neighbours(rows, least, i, begin, seen, together, observed)
        degrees[i] = degree
        done[i] = 1
    return degrees


@parallel_njit
def find_neighbours(rows, least, start, done):
    """Return the neighbours of each pattern; those of pattern i begin at ``start[i]``."""
    n_partitions, n = rows.columns.shape
    neighbours = np.empty(start[-1], dtype=np.int32)
    for i in prange(n):
        seen = np.empty(n_partitions, dtype=np.int64)
        together = np.empty(_TILE, dtype=rows.count_type.dtype)
        observed = np.empty(_TILE, dtype=rows.count_type.dtype)
        place = start[i]
        for begin in range(0, n, _TILE):
            last = place + _mark_neighbours(rows, least, i, begin, seen, together, observed)
            j = 0
            while place < last:
                if together[j]:
                    neighbours[place] = begin + j
                    place += 1
                j += 1
        done[i] = 1
    return neighbours


# --- merging --------------------------------------------------------------------------------------


class Objects(NamedTuple):
    """The graph of patterns, and which objects of each pattern are still alone."""

    start: NDArray[np.int64]
    neighbours: NDArray[np.int32]
    object_start: NDArray[np.int64]
    objects: NDArray[np.int64]
    """The objects of each pattern, rising, in compressed rows."""
    pattern: NDArray[np.int64]
    """Of each object."""
    rank: NDArray[np.int64]
    """Of each object among those with the same pattern."""
    multiplicity: NDArray[np.int64]
    """Objects of each pattern."""
    taken: NDArray[np.int64]
    """How many objects of each pattern are no longer alone: the first ones."""


class Clusters(NamedTuple):
    """The clusters, numbered by the merge that made them."""

    alive: NDArray[np.bool_]
    parent: NDArray[np.int64]
    smallest: NDArray[np.int64]
    """The smallest object: the name of the cluster."""
    size: NDArray[np.int64]
    near_patterns: list[NDArray[np.int32]]
    """Patterns with objects that are alone and have an edge with the cluster."""
    pattern_edges: list[NDArray[np.int64]]
    """Edges of the cluster with one object of each of them."""
    near_clusters: list[NDArray[np.int32]]
    cluster_edges: list[NDArray[np.int64]]
    n_near: NDArray[np.int64]
    """How many entries of `near_clusters` are in use."""


class Moves(NamedTuple):
    """Which clusters the objects of a pattern went to: a linked list for each pattern."""

    head: NDArray[np.int64]
    next: NDArray[np.int64]
    to: NDArray[np.int64]
    number: NDArray[np.int64]
    """Of objects that went there."""
    n_used: NDArray[np.int64]


class Found(NamedTuple):
    """A list of different numbers with counts, made anew for every merge."""

    place: NDArray[np.int64]
    """Where a number stands in the list, or -1."""
    ids: NDArray[np.int32]
    counts: NDArray[np.int64]


class Merging(NamedTuple):
    """All that changes while clusters are merged."""

    objects: Objects
    clusters: Clusters
    moves: Moves
    best_pairs: list[Any]
    """A heap of each cluster's best pair: (-normalized edges, u, v, cluster, partner's node)."""
    found: Found
    power: NDArray[np.float64]
    """(n_objects + 1,): the edges expected among s objects, s^(1 + f)."""


@njit
def merge_by_normalized_edges(start, neighbours, object_start, objects, power, done):
    """Merge the two clusters with the largest normalized edges until no edge is left.

    Parameters
    ----------
    start, neighbours : ndarray
        The graph of patterns.
    object_start, objects : ndarray
        The objects of each pattern, rising, in compressed rows.
    power : ndarray of shape (n_objects + 1,)
        What s objects are expected to have of edges, s^(1 + f).
    done : ndarray
        Its first cell gets the number of merges.

    Returns
    -------
    first, second, edges, link : ndarray
        For each merge the two clusters, by their smallest objects, first < second, the edges
        between them and the normalized edges.

    Notes
    -----
    A cluster made by merge m has the number m. A pair of clusters is looked after by the newer
    one, and its edges do not change while both exist. So each cluster has a fixed set of
    partners, of which it only loses some: it offers the best one to a heap of all clusters.
    When that partner is gone and the pair comes first, it offers the best one that is left. Pairs
    of single objects have all the same normalized edges, and need no heap: a pointer to the first.
    """
    most = max(objects.size - 1, 0)
    first, second = np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64)
    edges, link = np.empty(most, dtype=np.int64), np.empty(most)
    n_patterns = start.size - 1
    state = Merging(
        _all_alone(start, neighbours, object_start, objects),
        _no_clusters(most),
        _no_moves(n_patterns, objects.size),
        [(0.0, np.int64(0), np.int64(0), np.int64(0), np.int64(0)) for _ in range(0)],
        _empty_found(max(n_patterns, most), most),
        power,
    )
    single_key = -_rounded(1.0 / _expected(power, 1, 1)) if objects.size > 1 else 0.0
    u, v = 0, -1  # the first pair of single objects with an edge
    m = 0
    while m < most:
        _drop_lost_pairs(state)
        u, v = _next_single_pair(state.objects, u, v)
        heap = state.best_pairs
        if len(heap) > 0 and (v < 0 or heap[0][:3] < (single_key, u, v)):
            key, first[m], second[m], c, two = heap[0]
            one = c + n_patterns
        elif v >= 0:
            key, first[m], second[m] = single_key, u, v
            one, two = state.objects.pattern[u], state.objects.pattern[v]
        else:
            break
        expected = _expected(power, _size(state, one), _size(state, two))
        edges[m] = np.int64(np.rint(-key * expected))  # whole, and exact up to 2^43
        link[m] = edges[m] / expected
        _merge(state, m, one, two, first[m])
        _tell_neighbours(state, m)
        _offer_best_partner(state, m)
        m += 1
        done[0] = m
    return first[:m], second[:m], edges[:m], link[:m]


# --- the state at the beginning -------------------------------------------------------------------


@njit
def _all_alone(start, neighbours, object_start, objects):
    n_patterns, n = start.size - 1, objects.size
    pattern = np.empty(n, dtype=np.int64)
    rank = np.empty(n, dtype=np.int64)
    for p in range(n_patterns):
        for t in range(object_start[p], object_start[p + 1]):
            pattern[objects[t]] = p
            rank[objects[t]] = t - object_start[p]
    multiplicity = object_start[1:] - object_start[:-1]
    taken = np.zeros(n_patterns, dtype=np.int64)
    return Objects(start, neighbours, object_start, objects, pattern, rank, multiplicity, taken)


@njit
def _no_clusters(most):
    no_ids, no_counts = np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int64)
    return Clusters(
        np.zeros(most, dtype=np.bool_),
        np.arange(most),
        np.empty(most, dtype=np.int64),
        np.empty(most, dtype=np.int64),
        [no_ids] * most,
        [no_counts] * most,
        [no_ids] * most,
        [no_counts] * most,
        np.zeros(most, dtype=np.int64),
    )


@njit
def _no_moves(n_patterns, n):
    return Moves(
        np.full(n_patterns, -1, dtype=np.int64),
        np.empty(n, dtype=np.int64),
        np.empty(n, dtype=np.int64),
        np.empty(n, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
    )


@njit
def _empty_found(n_places, most):
    return Found(
        np.full(n_places, -1, dtype=np.int64),
        np.empty(most, dtype=np.int32),
        np.empty(most, dtype=np.int64),
    )


# --- the next pair --------------------------------------------------------------------------------


@njit
def _expected(power, a, b):
    """Return the denominator of (3), the same for (a, b) and (b, a)."""
    return power[a + b] - (power[a] + power[b])


@njit
def _size(state, node):
    n_patterns = state.objects.taken.size
    return np.int64(1) if node < n_patterns else state.clusters.size[node - n_patterns]


@njit
def _rounded(key):
    """Return normalized edges without their last nine bits, so that rounding breaks no tie."""
    mantissa, exponent = math.frexp(key)
    return math.ldexp(np.rint(mantissa * 2.0**44), exponent - 44)


@njit
def _has_single(objects, p):
    """Whether an object of pattern p is alone."""
    return objects.taken[p] < objects.multiplicity[p]


@njit
def _first_single(objects, p):
    """Return the smallest object of pattern p that is alone."""
    return objects.objects[objects.object_start[p] + objects.taken[p]]


@njit
def _exists(state, node, u, v):
    """Whether a node is still what it was when it became a partner in the pair (u, v)."""
    n_patterns = state.objects.taken.size
    if node >= n_patterns:
        return state.clusters.alive[node - n_patterns]
    if not _has_single(state.objects, node):
        return False
    single = _first_single(state.objects, node)
    return single in (u, v)


@njit
def _drop_lost_pairs(state):
    """Remove pairs from the top of the heap until the two clusters of the first one exist.

    A cluster whose partner is gone offers its next best one.
    """
    heap, clusters = state.best_pairs, state.clusters
    while len(heap) > 0:
        _, u, v, c, node = heap[0]
        if clusters.alive[c] and _exists(state, node, u, v):
            return
        heapq.heappop(heap)
        if clusters.alive[c]:
            _offer_best_partner(state, c)


@njit
def _next_single_pair(objects, u, v):
    """Return the first pair of single objects with an edge, from (u, v) on; v is -1 if none."""
    if v >= 0 and (_is_taken(objects, u) or _is_taken(objects, v)):
        v = -1
    while v < 0 and u < objects.pattern.size:
        if not _is_taken(objects, u):
            v = _first_single_neighbour(objects, u)
        if v < 0:
            u += 1
    return u, v


@njit
def _is_taken(objects, u):
    return objects.rank[u] < objects.taken[objects.pattern[u]]


@njit
def _first_single_neighbour(objects, u):
    """Return the smallest object that is alone and has an edge with u, or -1.

    u is the first object that is alone and has any such neighbour, so these are larger than u.
    """
    p = objects.pattern[u]
    smallest = -1
    for t in range(objects.start[p], objects.start[p + 1]):
        q = objects.neighbours[t]
        place = objects.taken[q] + (1 if q == p else 0)  # u itself is the first of its pattern
        if place < objects.multiplicity[q]:
            single = objects.objects[objects.object_start[q] + place]
            if smallest < 0 or single < smallest:
                smallest = single
    return smallest


# --- a merge --------------------------------------------------------------------------------------


@njit
def _merge(state, m, one, two, name):
    """Make cluster m of two nodes, each a single object of a pattern or a cluster."""
    objects, clusters = state.objects, state.clusters
    n_patterns = objects.taken.size
    clusters.smallest[m] = name
    clusters.size[m] = _size(state, one) + _size(state, two)
    for node in (one, two):
        if node < n_patterns:
            objects.taken[node] += 1
        else:
            clusters.alive[node - n_patterns] = False
            clusters.parent[node - n_patterns] = m
    _join_patterns(state, m, one, two)
    _join_clusters(state, m, one, two)
    for node in (one, two):
        if node < n_patterns:
            _note_move(state, node, m)
        else:
            _forget(clusters, node - n_patterns)
    clusters.alive[m] = True


@njit
def _count(found, n_found, number, count):
    """Add a count to a number; return how many different numbers there are."""
    if found.place[number] < 0:
        found.place[number] = n_found
        found.ids[n_found] = number
        found.counts[n_found] = 0
        n_found += 1
    found.counts[found.place[number]] += count
    return n_found


@njit
def _take(found, n_found):
    """Return the numbers and their counts, and clear the list."""
    for t in range(n_found):
        found.place[found.ids[t]] = -1
    return found.ids[:n_found].copy(), found.counts[:n_found].copy()


@njit
def _join_patterns(state, m, one, two):
    """Find the patterns with single objects around cluster m, and its edges with one of each."""
    objects, clusters, found = state.objects, state.clusters, state.found
    n_patterns = objects.taken.size
    n_found = 0
    for node in (one, two):
        if node < n_patterns:
            for t in range(objects.start[node], objects.start[node + 1]):
                if _has_single(objects, objects.neighbours[t]):
                    n_found = _count(found, n_found, objects.neighbours[t], 1)
        else:
            near, edges = (
                clusters.near_patterns[node - n_patterns],
                clusters.pattern_edges[node - n_patterns],
            )
            for t in range(near.size):
                if _has_single(objects, near[t]):
                    n_found = _count(found, n_found, near[t], edges[t])
    clusters.near_patterns[m], clusters.pattern_edges[m] = _take(found, n_found)


@njit
def _join_clusters(state, m, one, two):
    """Find the clusters around cluster m, and its edges with them."""
    objects, clusters, found = state.objects, state.clusters, state.found
    n_patterns = objects.taken.size
    n_found = 0
    for node in (one, two):
        if node < n_patterns:
            for t in range(objects.start[node], objects.start[node + 1]):
                n_found = _count_moved(state, objects.neighbours[t], m, n_found)
        else:
            c = node - n_patterns
            near, edges = clusters.near_clusters[c], clusters.cluster_edges[c]
            for t in range(clusters.n_near[c]):
                if clusters.alive[near[t]]:
                    n_found = _count(found, n_found, near[t], edges[t])
    clusters.n_near[m] = n_found
    clusters.near_clusters[m], clusters.cluster_edges[m] = _take(found, n_found)


@njit
def _count_moved(state, p, m, n_found):
    """Count the clusters that objects of pattern p went to, cluster m apart."""
    moves = state.moves
    entry = moves.head[p]
    while entry >= 0:
        c = _root(state.clusters.parent, moves.to[entry])
        moves.to[entry] = c
        if c != m:
            n_found = _count(state.found, n_found, c, moves.number[entry])
        entry = moves.next[entry]
    return n_found


@njit
def _note_move(state, p, m):
    """Note that an object of pattern p went to cluster m."""
    moves = state.moves
    entry = moves.head[p]
    while entry >= 0:
        if _root(state.clusters.parent, moves.to[entry]) == m:
            moves.number[entry] += 1
            return
        entry = moves.next[entry]
    new = moves.n_used[0]
    moves.to[new] = m
    moves.number[new] = 1
    moves.next[new] = moves.head[p]
    moves.head[p] = new
    moves.n_used[0] += 1


@njit
def _forget(clusters, c):
    """Free the lists of a cluster that is gone."""
    no_ids, no_counts = np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int64)
    clusters.near_patterns[c], clusters.pattern_edges[c] = no_ids, no_counts
    clusters.near_clusters[c], clusters.cluster_edges[c] = no_ids, no_counts


@njit
def _root(parent, c):
    while parent[c] != c:
        parent[c] = parent[parent[c]]
        c = parent[c]
    return c


@njit
def _tell_neighbours(state, m):
    """Add cluster m to the lists of the clusters around it."""
    clusters = state.clusters
    for t in range(clusters.n_near[m]):
        c = clusters.near_clusters[m][t]
        if clusters.n_near[c] == clusters.near_clusters[c].size:
            _make_room(clusters, c)
        clusters.near_clusters[c][clusters.n_near[c]] = m
        clusters.cluster_edges[c][clusters.n_near[c]] = clusters.cluster_edges[m][t]
        clusters.n_near[c] += 1


@njit
def _make_room(clusters, c):
    """Drop what is gone from the list of a cluster, and leave it half empty at least."""
    ids, counts = clusters.near_clusters[c], clusters.cluster_edges[c]
    n_left = 0
    for t in range(ids.size):
        n_left += clusters.alive[ids[t]]
    new_ids = np.empty(2 * n_left + 4, dtype=ids.dtype)
    new_counts = np.empty(2 * n_left + 4, dtype=counts.dtype)
    n_left = 0
    for t in range(ids.size):
        if clusters.alive[ids[t]]:
            new_ids[n_left] = ids[t]
            new_counts[n_left] = counts[t]
            n_left += 1
    clusters.near_clusters[c], clusters.cluster_edges[c] = new_ids, new_counts
    clusters.n_near[c] = n_left


# --- the partners of a cluster --------------------------------------------------------------------


@njit
def _best_partner(state, m):
    """Return (-normalized edges, smallest object, node) of the best older partner; node -1 if none.

    Of partners with equal normalized edges, the one with the smallest object.
    """
    objects, clusters, power = state.objects, state.clusters, state.power
    best = (0.0, np.int64(0), np.int64(-1))
    near, edges = clusters.near_patterns[m], clusters.pattern_edges[m]
    most_edges = np.int64(1)  # single objects differ in their edges alone
    for t in range(near.size):
        if edges[t] >= most_edges and _has_single(objects, near[t]):
            name = _first_single(objects, near[t])
            if edges[t] > most_edges or best[2] < 0 or name < best[1]:
                most_edges = edges[t]
                best = (0.0, name, np.int64(near[t]))
    if best[2] >= 0:
        key = -_rounded(most_edges / _expected(power, clusters.size[m], 1))
        best = (key, best[1], best[2])
    near, edges = clusters.near_clusters[m], clusters.cluster_edges[m]
    for t in range(clusters.n_near[m]):
        c = near[t]
        if c < m and clusters.alive[c]:
            key = -_rounded(edges[t] / _expected(power, clusters.size[m], clusters.size[c]))
            candidate = (key, clusters.smallest[c], np.int64(c + objects.taken.size))
            if best[2] < 0 or candidate < best:
                best = candidate
    return best


@njit
def _offer_best_partner(state, m):
    """Put cluster m with its best older partner into the heap."""
    key, name, node = _best_partner(state, m)
    if node >= 0:
        u = state.clusters.smallest[m]
        heapq.heappush(state.best_pairs, (key, min(u, name), max(u, name), np.int64(m), node))
