"""Threshold graphs of label rows, and merging clusters by their normalized edges.

The graph is on distinct rows ("patterns"), in compressed rows: the neighbours of pattern p are
``neighbours[start[p]:start[p + 1]]``, p itself among them, because two objects with the same
labels have an edge. Objects stay apart until they are merged: all objects of a pattern that are
still alone have the same edges, so they are counted once and taken smallest first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie._kernels._jit import njit, parallel_njit, prange
from coterie._kernels.coassociation import _TILE, count_observed, count_together, seen_partitions

TOLERANCE = 1e-12  # normalized edges that differ by a smaller share are equal


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
    heap_keys: list[NDArray[np.float64]]
    """Partners of the cluster, the best first; made when the first choice is gone."""
    heap_names: list[NDArray[np.int64]]
    heap_nodes: list[NDArray[np.int32]]
    heap_size: NDArray[np.int64]
    """-1 as long as there is no heap."""


class Moves(NamedTuple):
    """Which clusters the objects of a pattern went to: a linked list for each pattern."""

    head: NDArray[np.int64]
    next: NDArray[np.int64]
    to: NDArray[np.int64]
    number: NDArray[np.int64]
    """Of objects that went there."""
    n_used: NDArray[np.int64]


class Top(NamedTuple):
    """The heap of clusters by their best pair. A node is a pattern, or n_patterns + cluster."""

    key: NDArray[np.float64]
    u: NDArray[np.int64]
    v: NDArray[np.int64]
    cluster: NDArray[np.int64]
    node: NDArray[np.int64]
    size: NDArray[np.int64]


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
    top: Top
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
    When that partner is gone, the others are put into a heap of its own, once. Pairs of single
    objects have all the same normalized edges, and need no heap: a pointer to the first.
    """
    most = max(objects.size - 1, 0)
    first, second = np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64)
    edges, link = np.empty(most, dtype=np.int64), np.empty(most)
    state = Merging(
        _all_alone(start, neighbours, object_start, objects),
        _no_clusters(most),
        _no_moves(start.size - 1, objects.size),
        _empty_top(most),
        _empty_found(max(start.size - 1, most), most),
        power,
    )
    top, n_patterns = state.top, start.size - 1
    single_key = 1.0 / _expected(power, 1, 1) if objects.size > 1 else 0.0
    single_u, single_v = 0, -1  # the first pair of single objects with an edge
    m = 0
    while m < most:
        _bring_up_existing_pair(state)
        single_u, single_v = _next_single_pair(state.objects, single_u, single_v)
        if top.size[0] > 0 and (
            single_v < 0
            or _is_before(top.key[0], top.u[0], top.v[0], single_key, single_u, single_v)
        ):
            u, v, key = top.u[0], top.v[0], top.key[0]
            one, two = top.cluster[0] + n_patterns, top.node[0]
        elif single_v >= 0:
            u, v, key = single_u, single_v, single_key
            one, two = state.objects.pattern[u], state.objects.pattern[v]
        else:
            break
        first[m], second[m], link[m] = u, v, key
        # Whole, and exact up to 2^50: rounding takes the error of the division back.
        expected = _expected(power, _size(state, one), _size(state, two))
        edges[m] = np.int64(np.rint(key * expected))
        _merge(state, m, one, two, u)
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
        [np.empty(0)] * most,
        [no_counts] * most,
        [no_ids] * most,
        np.full(most, -1, dtype=np.int64),
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
def _empty_top(most):
    return Top(
        np.empty(most),
        np.empty(most, dtype=np.int64),
        np.empty(most, dtype=np.int64),
        np.empty(most, dtype=np.int64),
        np.empty(most, dtype=np.int64),
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
def _is_before(key, u, v, other_key, other_u, other_v):
    """Whether a pair is merged before another: more normalized edges, then smaller names."""
    slack = TOLERANCE * max(key, other_key)
    if key > other_key + slack:
        return True
    if key < other_key - slack:
        return False
    return u < other_u or (u == other_u and v < other_v)


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
def _bring_up_existing_pair(state):
    """Make the first pair of the heap one whose two clusters exist; empty the heap if none does."""
    top, clusters = state.top, state.clusters
    while top.size[0] > 0:
        c = top.cluster[0]
        if clusters.alive[c]:
            if _exists(state, top.node[0], top.u[0], top.v[0]):
                return
            if clusters.heap_size[c] < 0:
                _make_heap(state, c)
            _drop_lost_partners(state, c)
            if clusters.heap_size[c] > 0:
                name = clusters.heap_names[c][0]
                top.key[0] = clusters.heap_keys[c][0]
                top.u[0], top.v[0] = (
                    min(clusters.smallest[c], name),
                    max(clusters.smallest[c], name),
                )
                top.node[0] = clusters.heap_nodes[c][0]
                _sink(top)
                continue
        top.size[0] -= 1
        _swap(top, 0, top.size[0])
        _sink(top)


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
    clusters.heap_keys[c], clusters.heap_names[c] = np.empty(0), no_counts
    clusters.heap_nodes[c] = no_ids


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
    """Return (normalized edges, smallest object, node) of the best partner; node -1 if none."""
    clusters, power = state.clusters, state.power
    # Single objects differ in their edges alone: integers.
    near, edges = clusters.near_patterns[m], clusters.pattern_edges[m]
    best_count, best_name, best_node = np.int64(0), np.int64(0), np.int64(-1)
    for t in range(near.size):
        if edges[t] >= best_count:
            name = _first_single(state.objects, near[t])
            if edges[t] > best_count or name < best_name:
                best_count, best_name, best_node = edges[t], name, np.int64(near[t])
    best_key = best_count / _expected(power, clusters.size[m], 1)
    near, edges = clusters.near_clusters[m], clusters.cluster_edges[m]
    for t in range(clusters.n_near[m]):
        c = near[t]
        key = edges[t] / _expected(power, clusters.size[m], clusters.size[c])
        if best_node < 0 or _is_before(key, clusters.smallest[c], 0, best_key, best_name, 0):
            best_key, best_name = key, clusters.smallest[c]
            best_node = np.int64(c + state.objects.taken.size)
    return best_key, best_name, best_node


@njit
def _offer_best_partner(state, m):
    """Put cluster m with its best partner into the heap of all clusters."""
    top = state.top
    key, name, node = _best_partner(state, m)
    if node >= 0:
        u, last = state.clusters.smallest[m], top.size[0]
        top.key[last] = key
        top.u[last], top.v[last] = min(u, name), max(u, name)
        top.cluster[last], top.node[last] = m, node
        top.size[0] += 1
        _rise(top)


@njit
def _make_heap(state, m):
    """Collect the partners that cluster m has left among the older ones, the best first."""
    objects, clusters, power = state.objects, state.clusters, state.power
    near, edges = clusters.near_patterns[m], clusters.pattern_edges[m]
    most = near.size + clusters.n_near[m]
    keys, names = np.empty(most), np.empty(most, dtype=np.int64)
    nodes = np.empty(most, dtype=np.int32)
    n_heap = 0
    expected = _expected(power, clusters.size[m], 1)
    for t in range(near.size):
        if _has_single(objects, near[t]):
            keys[n_heap] = edges[t] / expected
            names[n_heap] = _first_single(objects, near[t])
            nodes[n_heap] = near[t]
            n_heap += 1
    near, edges = clusters.near_clusters[m], clusters.cluster_edges[m]
    for t in range(clusters.n_near[m]):
        c = near[t]
        if c < m and clusters.alive[c]:
            keys[n_heap] = edges[t] / _expected(power, clusters.size[m], clusters.size[c])
            names[n_heap] = clusters.smallest[c]
            nodes[n_heap] = c + objects.taken.size
            n_heap += 1
    keys, names, nodes = keys[:n_heap].copy(), names[:n_heap].copy(), nodes[:n_heap].copy()
    for i in range(n_heap // 2 - 1, -1, -1):
        _sink_partner(keys, names, nodes, n_heap, i)
    clusters.heap_keys[m], clusters.heap_names[m], clusters.heap_nodes[m] = keys, names, nodes
    clusters.heap_size[m] = n_heap


@njit
def _drop_lost_partners(state, m):
    """Bring a partner that still exists to the top of a cluster's heap."""
    objects, clusters = state.objects, state.clusters
    keys, names, nodes = clusters.heap_keys[m], clusters.heap_names[m], clusters.heap_nodes[m]
    n_patterns, n_heap = objects.taken.size, clusters.heap_size[m]
    while n_heap > 0:
        node = nodes[0]
        if node >= n_patterns:
            if clusters.alive[node - n_patterns]:
                break
        elif _has_single(objects, node):
            single = _first_single(objects, node)
            if single == names[0]:
                break
            names[0] = single  # the next object of the pattern
            _sink_partner(keys, names, nodes, n_heap, 0)
            continue
        n_heap -= 1
        keys[0], names[0], nodes[0] = keys[n_heap], names[n_heap], nodes[n_heap]
        _sink_partner(keys, names, nodes, n_heap, 0)
    clusters.heap_size[m] = n_heap


@njit
def _sink_partner(keys, names, nodes, n_heap, i):
    while True:
        best = i
        for child in (2 * i + 1, 2 * i + 2):
            if child < n_heap and _is_before(
                keys[child], names[child], 0, keys[best], names[best], 0
            ):
                best = child
        if best == i:
            return
        keys[i], keys[best] = keys[best], keys[i]
        names[i], names[best] = names[best], names[i]
        nodes[i], nodes[best] = nodes[best], nodes[i]
        i = best


@njit
def _swap(top, i, j):
    top.key[i], top.key[j] = top.key[j], top.key[i]
    top.u[i], top.u[j] = top.u[j], top.u[i]
    top.v[i], top.v[j] = top.v[j], top.v[i]
    top.cluster[i], top.cluster[j] = top.cluster[j], top.cluster[i]
    top.node[i], top.node[j] = top.node[j], top.node[i]


@njit
def _comes_first(top, i, j):
    return _is_before(top.key[i], top.u[i], top.v[i], top.key[j], top.u[j], top.v[j])


@njit
def _sink(top):
    """Move the first entry of the heap down to its place."""
    i = 0
    while True:
        best = i
        for child in (2 * i + 1, 2 * i + 2):
            if child < top.size[0] and _comes_first(top, child, best):
                best = child
        if best == i:
            return
        _swap(top, i, best)
        i = best


@njit
def _rise(top):
    """Move the last entry of the heap up to its place."""
    i = top.size[0] - 1
    while i > 0:
        above = (i - 1) // 2
        if not _comes_first(top, i, above):
            return
        _swap(top, i, above)
        i = above
