"""Threshold graphs of label rows, and merging clusters by their normalized edges.

The graph is on distinct rows ("patterns"), in compressed rows: the neighbours of pattern p are
``neighbours[start[p]:start[p + 1]]``, p itself among them, because two objects with the same
labels have an edge. Objects stay apart until they are merged: all objects of a pattern that are
still alone have the same edges, so they are counted once and taken smallest first.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie._kernels._jit import njit, parallel_njit, prange
from coterie._kernels.coassociation import (
    _TILE,
    count_dtype,
    count_observed,
    count_together,
    missing_code,
    seen_partitions,
)
from coterie._progress import stretch

TOLERANCE = 1e-12  # normalized edges that differ by a smaller share are equal


class Graph(NamedTuple):
    """A threshold graph of patterns in compressed rows."""

    start: NDArray[np.int64]
    neighbours: NDArray[np.int32]


# --- graph ----------------------------------------------------------------------------------------


def count_neighbours(
    columns: NDArray[Any], has_missing: bool, least: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return where each pattern's neighbours start in the graph, and where the last end.

    Two patterns are neighbours if at least ``least[observed]`` partitions put them together,
    `observed` being the partitions that saw both.
    """
    scratch = np.empty(0, dtype=count_dtype(columns.shape[0]))
    degrees = np.empty(columns.shape[1], dtype=np.int64)
    n = columns.shape[1]
    with stretch("numbers of neighbours", n, n) as done:
        missing = missing_code(columns)
        _count_neighbours(columns, missing, has_missing, least, scratch, degrees, done)
    return np.concatenate([[0], np.cumsum(degrees)])


def find_neighbours(
    columns: NDArray[Any],
    has_missing: bool,
    least: NDArray[np.int64],
    start: NDArray[np.int64],
) -> Graph:
    """Return the graph whose rows `count_neighbours` measured."""
    scratch = np.empty(0, dtype=count_dtype(columns.shape[0]))
    neighbours = np.empty(start[-1], dtype=np.int32)
    n = columns.shape[1]
    with stretch("neighbours", n, n) as done:
        missing = missing_code(columns)
        _find_neighbours(columns, missing, has_missing, least, scratch, start, neighbours, done)
    return Graph(start, neighbours)


@njit
def _mark_neighbours(columns, has_missing, missing, least, i, seen, begin, together, observed):
    """Write to `together` whether each object of a tile is a neighbour of i; return how many."""
    n_partitions, n = columns.shape
    stop = min(n, begin + _TILE)
    n_seen = seen_partitions(columns, i, missing, seen)
    count_together(columns, i, seen, n_seen, begin, stop, together)
    n_found = 0
    if has_missing:
        count_observed(columns, missing, seen, n_seen, begin, stop, observed)
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
def _count_neighbours(columns, missing, has_missing, least, scratch, degrees, done):
    n_partitions, n = columns.shape
    for i in prange(n):
        seen = np.empty(n_partitions, dtype=np.int64)
        together = np.empty(_TILE, dtype=scratch.dtype)
        observed = np.empty(_TILE, dtype=scratch.dtype)
        degree = 0
        for begin in range(0, n, _TILE):
            degree += _mark_neighbours(
                columns, has_missing, missing, least, i, seen, begin, together, observed
            )
        degrees[i] = degree
        done[i] = 1


@parallel_njit
def _find_neighbours(columns, missing, has_missing, least, scratch, start, neighbours, done):
    n_partitions, n = columns.shape
    for i in prange(n):
        seen = np.empty(n_partitions, dtype=np.int64)
        together = np.empty(_TILE, dtype=scratch.dtype)
        observed = np.empty(_TILE, dtype=scratch.dtype)
        place = start[i]
        for begin in range(0, n, _TILE):
            n_found = _mark_neighbours(
                columns, has_missing, missing, least, i, seen, begin, together, observed
            )
            last = place + n_found
            j = 0
            while place < last:
                if together[j]:
                    neighbours[place] = begin + j
                    place += 1
                j += 1
        done[i] = 1


# --- merging --------------------------------------------------------------------------------------


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
    n_patterns, n = start.size - 1, objects.size
    most = max(n - 1, 0)
    first, second = np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64)
    edges, link = np.empty(most, dtype=np.int64), np.empty(most)

    pattern = np.empty(n, dtype=np.int64)
    rank = np.empty(n, dtype=np.int64)  # of an object among those with the same pattern
    for p in range(n_patterns):
        for t in range(object_start[p], object_start[p + 1]):
            pattern[objects[t]] = p
            rank[objects[t]] = t - object_start[p]
    taken = np.zeros(n_patterns, dtype=np.int64)  # objects no longer alone
    multiplicity = object_start[1:] - object_start[:-1]

    # Which clusters the objects of a pattern went to, and how many: a list for each pattern.
    went_head = np.full(n_patterns, -1, dtype=np.int64)
    went_next = np.empty(n, dtype=np.int64)
    went_to = np.empty(n, dtype=np.int64)
    went_count = np.empty(n, dtype=np.int64)
    n_went = 0

    alive = np.zeros(most, dtype=np.bool_)
    parent = np.arange(most)
    smallest = np.empty(most, dtype=np.int64)
    size = np.empty(most, dtype=np.int64)
    no_ids, no_counts = np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int64)
    no_keys, no_names = np.empty(0), np.empty(0, dtype=np.int64)
    # For each cluster: patterns with objects that are alone, and the edges with one of them;
    # clusters, and the edges with them; the heap of its partners, once it is made.
    near_patterns, pattern_edges = [no_ids] * most, [no_counts] * most
    near_clusters, cluster_edges = [no_ids] * most, [no_counts] * most
    n_near = np.zeros(most, dtype=np.int64)
    heap_keys, heap_names, heap_nodes = [no_keys] * most, [no_names] * most, [no_ids] * most
    heap_size = np.full(most, -1, dtype=np.int64)

    top = (  # the heap of clusters: best pair of each
        np.empty(most),
        np.empty(most, dtype=np.int64),
        np.empty(most, dtype=np.int64),
        np.empty(most, dtype=np.int64),
        np.empty(most, dtype=np.int64),
    )
    top_size = 0

    place = np.full(max(n_patterns, most), -1, dtype=np.int64)  # scratch
    found_ids, found_edges = np.empty(most, dtype=np.int32), np.empty(most, dtype=np.int64)
    alone_u, alone_v = 0, -1  # the first pair of single objects with an edge
    alone_key = 1.0 / _expected(power, 1, 1) if n > 1 else 0.0

    m = 0
    while m < most:
        # The best pair with a cluster in it.
        while top_size > 0:
            c, node = top[3][0], top[4][0]
            if alive[c]:
                if node >= n_patterns:
                    if alive[node - n_patterns]:
                        break
                elif taken[node] < multiplicity[node]:
                    single = objects[object_start[node] + taken[node]]
                    if single == top[1][0] or single == top[2][0]:
                        break
                if heap_size[c] < 0:
                    heap_keys[c], heap_names[c], heap_nodes[c] = _make_heap(
                        c, size, smallest, alive, power, near_patterns[c], pattern_edges[c],
                        near_clusters[c], cluster_edges[c], n_near[c],
                        taken, multiplicity, object_start, objects,
                    )  # fmt: skip
                    heap_size[c] = heap_keys[c].size
                heap_size[c] = _drop_lost_partners(
                    heap_keys[c], heap_names[c], heap_nodes[c], heap_size[c],
                    alive, taken, multiplicity, object_start, objects,
                )  # fmt: skip
                if heap_size[c] > 0:
                    name = heap_names[c][0]
                    top[0][0] = heap_keys[c][0]
                    top[1][0], top[2][0] = min(smallest[c], name), max(smallest[c], name)
                    top[4][0] = heap_nodes[c][0]
                    _sink(top, top_size)
                    continue
            top_size -= 1
            _swap(top, 0, top_size)
            _sink(top, top_size)

        # The first pair of objects that are alone.
        if alone_v >= 0 and (
            rank[alone_u] < taken[pattern[alone_u]] or rank[alone_v] < taken[pattern[alone_v]]
        ):
            alone_v = -1
        while alone_v < 0 and alone_u < n:
            p = pattern[alone_u]
            if rank[alone_u] >= taken[p]:
                alone_v = _first_single_neighbour(
                    alone_u, p, start, neighbours, taken, multiplicity, object_start, objects
                )
            if alone_v < 0:
                alone_u += 1

        # Take the better.
        if top_size > 0 and (
            alone_v < 0 or _is_before(top[0][0], top[1][0], top[2][0], alone_key, alone_u, alone_v)
        ):
            u, v, key = top[1][0], top[2][0], top[0][0]
            one, two = top[3][0] + n_patterns, top[4][0]
        elif alone_v >= 0:
            u, v, key = alone_u, alone_v, alone_key
            one, two = pattern[u], pattern[v]
        else:
            break

        # Merge.
        n_members = 0
        capacity = 0
        for node in (one, two):
            if node < n_patterns:
                taken[node] += 1
                n_members += 1
                capacity += start[node + 1] - start[node]
            else:
                alive[node - n_patterns] = False
                parent[node - n_patterns] = m
                n_members += size[node - n_patterns]
                capacity += near_patterns[node - n_patterns].size
        first[m], second[m], link[m] = u, v, key
        # Whole, and exact up to 2^50: rounding takes the error of the division back.
        expected = _expected(power, _size(one, n_patterns, size), _size(two, n_patterns, size))
        edges[m] = np.int64(np.rint(key * expected))
        smallest[m], size[m] = u, n_members

        ids, counts = np.empty(capacity, dtype=np.int32), np.empty(capacity, dtype=np.int64)
        n_ids = 0
        for node in (one, two):
            if node < n_patterns:
                n_ids = _add_pattern(
                    start, neighbours, node, taken, multiplicity, place, ids, counts, n_ids
                )
            else:
                c = node - n_patterns
                n_ids = _add_counts(
                    near_patterns[c], pattern_edges[c], taken, multiplicity, place, ids, counts,
                    n_ids,
                )  # fmt: skip
        for t in range(n_ids):
            place[ids[t]] = -1
        near_patterns[m], pattern_edges[m] = ids[:n_ids], counts[:n_ids]

        n_found = 0
        for node in (one, two):
            if node < n_patterns:
                n_found = _add_clusters_of_pattern(
                    start, neighbours, node, m, parent, went_head, went_next, went_to, went_count,
                    place, found_ids, found_edges, n_found,
                )  # fmt: skip
            else:
                c = node - n_patterns
                n_found = _add_clusters(
                    near_clusters[c], cluster_edges[c], n_near[c], alive, place, found_ids,
                    found_edges, n_found,
                )  # fmt: skip
                near_patterns[c], pattern_edges[c] = no_ids, no_counts
                near_clusters[c], cluster_edges[c] = no_ids, no_counts
                heap_keys[c], heap_names[c], heap_nodes[c] = no_keys, no_names, no_ids
        for t in range(n_found):
            place[found_ids[t]] = -1
        near_clusters[m] = found_ids[:n_found].copy()
        cluster_edges[m] = found_edges[:n_found].copy()
        n_near[m] = n_found

        for node in (one, two):
            if node < n_patterns:
                n_went = _note_where(
                    node, m, parent, went_head, went_next, went_to, went_count, n_went
                )
        alive[m] = True

        # Tell the clusters around, and find the best partner.
        for t in range(n_found):
            c = found_ids[t]
            if n_near[c] == near_clusters[c].size:
                near_clusters[c], cluster_edges[c], n_near[c] = _make_room(
                    near_clusters[c], cluster_edges[c], alive
                )
            near_clusters[c][n_near[c]] = m
            cluster_edges[c][n_near[c]] = found_edges[t]
            n_near[c] += 1
        key, name, node = _best_partner(
            m, size, smallest, power, near_patterns[m], pattern_edges[m], near_clusters[m],
            cluster_edges[m], n_found, n_patterns, taken, object_start, objects,
        )  # fmt: skip
        if node >= 0:
            top[0][top_size] = key
            top[1][top_size], top[2][top_size] = min(u, name), max(u, name)
            top[3][top_size], top[4][top_size] = m, node
            top_size += 1
            _rise(top, top_size)
        m += 1
        done[0] = m
    return first[:m], second[:m], edges[:m], link[:m]


@njit
def _expected(power, a, b):
    """Return the denominator of (3), the same for (a, b) and (b, a)."""
    return power[a + b] - (power[a] + power[b])


@njit
def _size(node, n_patterns, size):
    return np.int64(1) if node < n_patterns else size[node - n_patterns]


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
def _first_single_neighbour(u, p, start, neighbours, taken, multiplicity, object_start, objects):
    """Return the smallest object that is alone and has an edge with u, or -1.

    u is the first object that is alone and has any such neighbour, so these are larger than u.
    """
    smallest = -1
    for t in range(start[p], start[p + 1]):
        q = neighbours[t]
        place = taken[q] + (1 if q == p else 0)  # u itself is the first of its pattern
        if place < multiplicity[q]:
            single = objects[object_start[q] + place]
            if smallest < 0 or single < smallest:
                smallest = single
    return smallest


@njit
def _add_pattern(start, neighbours, p, taken, multiplicity, place, ids, counts, n_ids):
    """Add the edges of one object of pattern p with the patterns around."""
    for t in range(start[p], start[p + 1]):
        q = neighbours[t]
        if taken[q] < multiplicity[q]:
            if place[q] < 0:
                place[q] = n_ids
                ids[n_ids] = q
                counts[n_ids] = 1
                n_ids += 1
            else:
                counts[place[q]] += 1
    return n_ids


@njit
def _add_counts(more_ids, more_counts, taken, multiplicity, place, ids, counts, n_ids):
    """Add the edges of a cluster with the patterns around."""
    for t in range(more_ids.size):
        q = more_ids[t]
        if taken[q] < multiplicity[q]:
            if place[q] < 0:
                place[q] = n_ids
                ids[n_ids] = q
                counts[n_ids] = more_counts[t]
                n_ids += 1
            else:
                counts[place[q]] += more_counts[t]
    return n_ids


@njit
def _add_clusters_of_pattern(
    start, neighbours, p, m, parent, went_head, went_next, went_to, went_count, place, found_ids,
    found_edges, n_found,
):  # fmt: skip
    """Add the edges of one object of pattern p with the clusters around."""
    for t in range(start[p], start[p + 1]):
        entry = went_head[neighbours[t]]
        while entry >= 0:
            c = _root(parent, went_to[entry])
            went_to[entry] = c
            if c != m:
                if place[c] < 0:
                    place[c] = n_found
                    found_ids[n_found] = c
                    found_edges[n_found] = 0
                    n_found += 1
                found_edges[place[c]] += went_count[entry]
            entry = went_next[entry]
    return n_found


@njit
def _add_clusters(more_ids, more_edges, n_more, alive, place, found_ids, found_edges, n_found):
    """Add the edges of a cluster with the clusters around."""
    for t in range(n_more):
        c = more_ids[t]
        if alive[c]:
            if place[c] < 0:
                place[c] = n_found
                found_ids[n_found] = c
                found_edges[n_found] = 0
                n_found += 1
            found_edges[place[c]] += more_edges[t]
    return n_found


@njit
def _note_where(p, m, parent, went_head, went_next, went_to, went_count, n_went):
    """Note that an object of pattern p went to cluster m."""
    entry = went_head[p]
    while entry >= 0:
        if _root(parent, went_to[entry]) == m:
            went_count[entry] += 1
            return n_went
        entry = went_next[entry]
    went_to[n_went] = m
    went_count[n_went] = 1
    went_next[n_went] = went_head[p]
    went_head[p] = n_went
    return n_went + 1


@njit
def _root(parent, c):
    while parent[c] != c:
        parent[c] = parent[parent[c]]
        c = parent[c]
    return c


@njit
def _make_room(ids, counts, alive):
    """Return the lists without what is gone, half empty at least, and how many are left."""
    n_left = 0
    for t in range(ids.size):
        n_left += alive[ids[t]]
    new_ids = np.empty(2 * n_left + 4, dtype=ids.dtype)
    new_counts = np.empty(2 * n_left + 4, dtype=counts.dtype)
    n_left = 0
    for t in range(ids.size):
        if alive[ids[t]]:
            new_ids[n_left] = ids[t]
            new_counts[n_left] = counts[t]
            n_left += 1
    return new_ids, new_counts, n_left


@njit
def _best_partner(
    m, size, smallest, power, pattern_ids, pattern_counts, cluster_ids, cluster_counts, n_clusters,
    n_patterns, taken, object_start, objects,
):  # fmt: skip
    """Return (normalized edges, smallest object, node) of the best partner; node -1 if none."""
    # Single objects differ in their edges alone: integers.
    best_count, best_name, best_node = np.int64(0), np.int64(0), np.int64(-1)
    for t in range(pattern_ids.size):
        if pattern_counts[t] >= best_count:
            p = pattern_ids[t]
            name = objects[object_start[p] + taken[p]]
            if pattern_counts[t] > best_count or name < best_name:
                best_count, best_name, best_node = pattern_counts[t], name, np.int64(p)
    best_key = best_count / _expected(power, size[m], 1)
    for t in range(n_clusters):
        c = cluster_ids[t]
        key = cluster_counts[t] / _expected(power, size[m], size[c])
        if best_node < 0 or _is_before(key, smallest[c], 0, best_key, best_name, 0):
            best_key, best_name, best_node = key, smallest[c], np.int64(c + n_patterns)
    return best_key, best_name, best_node


@njit
def _make_heap(
    m, size, smallest, alive, power, pattern_ids, pattern_counts, cluster_ids, cluster_counts,
    n_clusters, taken, multiplicity, object_start, objects,
):  # fmt: skip
    """Return the partners that cluster m has left among the older ones, the best first."""
    n_patterns = taken.size
    most = pattern_ids.size + n_clusters
    keys, names = np.empty(most), np.empty(most, dtype=np.int64)
    nodes = np.empty(most, dtype=np.int32)
    n_heap = 0
    expected = _expected(power, size[m], 1)
    for t in range(pattern_ids.size):
        p = pattern_ids[t]
        if taken[p] < multiplicity[p]:
            keys[n_heap] = pattern_counts[t] / expected
            names[n_heap] = objects[object_start[p] + taken[p]]
            nodes[n_heap] = p
            n_heap += 1
    for t in range(n_clusters):
        c = cluster_ids[t]
        if c < m and alive[c]:
            keys[n_heap] = cluster_counts[t] / _expected(power, size[m], size[c])
            names[n_heap] = smallest[c]
            nodes[n_heap] = c + n_patterns
            n_heap += 1
    keys, names, nodes = keys[:n_heap].copy(), names[:n_heap].copy(), nodes[:n_heap].copy()
    for i in range(n_heap // 2 - 1, -1, -1):
        _sink_partner(keys, names, nodes, n_heap, i)
    return keys, names, nodes


@njit
def _drop_lost_partners(
    keys, names, nodes, n_heap, alive, taken, multiplicity, object_start, objects
):
    """Bring a partner that still exists to the top of a cluster's heap; return its size."""
    n_patterns = taken.size
    while n_heap > 0:
        node = nodes[0]
        if node >= n_patterns:
            if alive[node - n_patterns]:
                return n_heap
        elif taken[node] < multiplicity[node]:
            single = objects[object_start[node] + taken[node]]
            if single == names[0]:
                return n_heap
            names[0] = single  # the next object of the pattern
            _sink_partner(keys, names, nodes, n_heap, 0)
            continue
        n_heap -= 1
        keys[0], names[0], nodes[0] = keys[n_heap], names[n_heap], nodes[n_heap]
        _sink_partner(keys, names, nodes, n_heap, 0)
    return n_heap


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
    key, u, v, c, node = top
    key[i], key[j] = key[j], key[i]
    u[i], u[j] = u[j], u[i]
    v[i], v[j] = v[j], v[i]
    c[i], c[j] = c[j], c[i]
    node[i], node[j] = node[j], node[i]


@njit
def _sink(top, top_size):
    key, u, v, _, _ = top
    i = 0
    while True:
        best = i
        for child in (2 * i + 1, 2 * i + 2):
            if child < top_size and _is_before(
                key[child], u[child], v[child], key[best], u[best], v[best]
            ):
                best = child
        if best == i:
            return
        _swap(top, i, best)
        i = best


@njit
def _rise(top, top_size):
    key, u, v, _, _ = top
    i = top_size - 1
    while i > 0:
        above = (i - 1) // 2
        if not _is_before(key[i], u[i], v[i], key[above], u[above], v[above]):
            return
        _swap(top, i, above)
        i = above
