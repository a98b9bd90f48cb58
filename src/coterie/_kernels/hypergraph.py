"""Hypergraphs: making them smaller, and moving vertices between parts so that fewer are cut.

What counts is the cut: the sum, over hyperedges, of the parts each is in, less 1. Every hyperedge
weighs the same. Parts have weights that must not be exceeded.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from coterie._kernels._jit import njit

_MOST_SEARCHES = 5
_EQUAL_MOVES = 32  # of which the best is looked for
_LOOKED_AT = 700  # pins that are looked at for the most similar vertex
_EQUAL = 1e-9  # sums of shares that differ by rounding alone
_NEVER = np.int32(-(1 << 30))  # the gain of a move that is no choice


class Hypergraph(NamedTuple):
    """Vertices with weights, hyperedges with pins; in both directions."""

    ends: np.ndarray
    """(m + 1,): where the pins of each hyperedge end."""
    pins: np.ndarray
    """The vertices of each hyperedge, two or more."""
    vertex_ends: np.ndarray
    """(n + 1,): where the hyperedges of each vertex end."""
    edges: np.ndarray
    """The hyperedges of each vertex, in order."""
    weights: np.ndarray
    """(n,): of the vertices, int32."""


@njit
def with_pins(ends, pins, weights):
    """Return the hypergraph of hyperedges with these pins."""
    vertex_ends, edges = transposed(ends, pins, weights.size)
    return Hypergraph(ends, pins, vertex_ends, edges, weights)


@njit
def of_rows(rows, offsets, rank, sizes, weights):
    """Return the hypergraph of label rows: its hyperedges are clusters, by their `rank` (K,).

    That of clusters which are no hyperedges is -1; `sizes` (m,) are those of the others.
    """
    ends = np.zeros(sizes.size + 1, dtype=np.int64)
    ends[1:] = np.cumsum(sizes)
    place = ends[:-1].copy()
    pins = np.empty(ends[-1], dtype=np.int32)
    for i in range(rows.shape[0]):
        for column in range(rows.shape[1]):
            if rows[i, column] >= 0:
                e = rank[offsets[column] + rows[i, column]]
                if e >= 0:
                    pins[place[e]] = i
                    place[e] += 1
    return with_pins(ends, pins, weights)


@njit
def transposed(ends, indices, n_columns):
    """Return the ends and indices of the columns of a sparse matrix whose rows are given."""
    column_ends = np.zeros(n_columns + 1, dtype=np.int64)
    for column in indices:
        column_ends[column + 1] += 1
    for column in range(n_columns):
        column_ends[column + 1] += column_ends[column]
    place = column_ends[:-1].copy()
    rows = np.empty(indices.size, dtype=np.int32)
    for row in range(ends.size - 1):
        for at in range(ends[row], ends[row + 1]):
            rows[place[indices[at]]] = row
            place[indices[at]] += 1
    return column_ends, rows


@njit
def mapped(graph, target, n_targets):
    """Return the hypergraph of what the vertices are mapped to; those mapped to -1 are left out."""
    weights = np.zeros(n_targets, dtype=np.int32)
    for v in range(target.size):
        if target[v] >= 0:
            weights[target[v]] += graph.weights[v]
    ends = np.zeros(graph.ends.size, dtype=np.int64)
    pins = np.empty(graph.pins.size, dtype=np.int32)
    last = np.full(n_targets, -1, dtype=np.int64)  # hyperedge in which it was met
    n_pins = n_edges = 0
    for e in range(graph.ends.size - 1):
        first = n_pins
        for at in range(graph.ends[e], graph.ends[e + 1]):
            u = target[graph.pins[at]]
            if u >= 0 and last[u] != e:
                last[u] = e
                pins[n_pins] = u
                n_pins += 1
        if n_pins - first > 1:
            n_edges += 1
            ends[n_edges] = n_pins
        else:
            n_pins = first
    return with_pins(ends[: n_edges + 1].copy(), pins[:n_pins].copy(), weights)


@njit
def join_similar(graph, order, apart, heaviest):
    """Return a group for each vertex, and their number: vertices in the same small hyperedges.

    Each, in the given order, joins the vertex with which it shares most hyperedges, a hyperedge
    counting 1 / (pins - 1) over the weight of the other's group, which with its own must not be
    above `heaviest`. Vertices that are `apart`, in different parts, are not joined. Of a vertex in
    many hyperedges only the first are looked at.
    """
    n = graph.weights.size
    groups = np.full(n, -1, dtype=np.int64)
    # What a group weighs is kept with its first member.
    first, group_weights = np.arange(n), graph.weights.astype(np.int64)
    rating = np.empty(n, dtype=np.float32)
    n_groups = 0
    for u in order:
        if groups[u] >= 0:
            continue
        rating[:] = 0
        n_pins = 0
        for at in range(graph.vertex_ends[u], graph.vertex_ends[u + 1]):
            e = graph.edges[at]
            size = graph.ends[e + 1] - graph.ends[e]
            share = np.float32(1 / (size - 1))
            for pin in range(graph.ends[e], graph.ends[e + 1]):
                rating[graph.pins[pin]] += share
            n_pins += size
            if n_pins > _LOOKED_AT:
                break
        rating[u] = 0
        best, best_v = np.float32(0), -1
        for v in range(n):
            if rating[v] > 0 and apart[v] == apart[u]:
                weight = group_weights[first[v]]
                value = rating[v] / np.float32(weight)
                if value > best and graph.weights[u] + weight <= heaviest:
                    best, best_v = value, v
        if best_v < 0:
            groups[u] = n_groups
            n_groups += 1
            continue
        if groups[best_v] < 0:
            groups[best_v] = n_groups
            n_groups += 1
        groups[u] = groups[best_v]
        first[u] = first[best_v]
        group_weights[first[u]] += graph.weights[u]
    return groups, n_groups


@njit
def grow(graph, seed, most):
    """Return 1 for the vertices of a part grown from one up to the weight `most`, else 0."""
    n = graph.weights.size
    labels = np.zeros(n, dtype=np.int64)
    nearness = np.zeros(n, dtype=np.float32)
    weight, v = 0, seed
    while v >= 0:
        labels[v] = 1
        weight += graph.weights[v]
        for at in range(graph.vertex_ends[v], graph.vertex_ends[v + 1]):
            e = graph.edges[at]
            share = np.float32(1 / (graph.ends[e + 1] - graph.ends[e] - 1))
            for pin in range(graph.ends[e], graph.ends[e + 1]):
                nearness[graph.pins[pin]] += share
        v, best = -1, np.float32(-1)
        for u in range(n):
            if labels[u] == 0 and nearness[u] > best and weight + graph.weights[u] <= most:
                v, best = u, nearness[u]
    return labels


# --- parts -------------------------------------------------------------------------------------


@njit
def count_pins(graph, labels, n_parts):
    """Return (m, k): the pins of each hyperedge in each part."""
    counts = np.zeros((graph.ends.size - 1, n_parts), dtype=np.int32)
    for e in range(graph.ends.size - 1):
        for at in range(graph.ends[e], graph.ends[e + 1]):
            counts[e, labels[graph.pins[at]]] += 1
    return counts


@njit
def weigh_parts(vertex_weights, labels, n_parts):
    """Return (k,), twice: the weight of each part, and the number of its vertices."""
    weights, sizes = np.zeros(n_parts, dtype=np.int64), np.zeros(n_parts, dtype=np.int64)
    for v in range(labels.size):
        weights[labels[v]] += vertex_weights[v]
        sizes[labels[v]] += 1
    return weights, sizes


@njit
def cost(graph, labels, heaviest):
    """Return by how much all parts together are too heavy, and the cut."""
    weights, _ = weigh_parts(graph.weights, labels, heaviest.size)
    counts = count_pins(graph, labels, heaviest.size)
    return excess(weights, heaviest), np.sum(counts > 0) - (graph.ends.size - 1)


@njit
def excess(weights, heaviest):
    """Return by how much all parts together are too heavy."""
    total = 0
    for part in range(weights.size):
        total += max(weights[part] - heaviest[part], 0)
    return total


@njit
def improve(graph, labels, heaviest, fewest, patience):
    """Move vertices to other parts while that helps (Fiduccia and Mattheyses, 1982); in place.

    In each search the best move is made, whether it helps or not, each vertex once, until
    `patience` moves in a row have not helped; then all after the best moment are taken back. A
    move may make a part heavier than `heaviest` (k,) allows, by the weight of one vertex; then only
    vertices of that part move, until it is not. A part with no more vertices than `fewest` (k,)
    loses none.
    """
    n_parts, n = heaviest.size, labels.size
    counts = count_pins(graph, labels, n_parts)
    weights, sizes = weigh_parts(graph.weights, labels, n_parts)
    gains = np.empty((n_parts, n), dtype=np.int32)
    moved, origin = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    free, room = np.empty(n_parts, dtype=np.bool_), np.empty(n_parts, dtype=np.int64)
    tops, shares = np.empty(n_parts, dtype=np.int32), 1 / np.diff(graph.ends)
    heaviest_vertex = np.int64(graph.weights.max())
    for _ in range(_MOST_SEARCHES):
        fill_gains(graph, labels, counts, gains)
        best_excess = now_excess = excess(weights, heaviest)
        total = best = 0
        n_moves = n_kept = 0
        while n_moves < n and n_moves - n_kept < patience:
            for part in range(n_parts):
                is_heavy = weights[part] > heaviest[part]
                free[part] = sizes[part] > fewest[part] and (now_excess == 0 or is_heavy)
                room[part] = heaviest[part] - weights[part]
                if now_excess == 0:
                    room[part] += heaviest_vertex
            v, part = best_move(graph, labels, counts, shares, gains, room, free, tops)
            if v < 0:
                break
            total += gains[part, v]
            moved[n_moves], origin[n_moves] = v, labels[v]
            move(graph, labels, counts, weights, sizes, v, part)
            update_gains(graph, labels, counts, gains, v, origin[n_moves])
            n_moves += 1
            now_excess = excess(weights, heaviest)
            if now_excess < best_excess or (now_excess == best_excess and total > best):
                best_excess, best, n_kept = now_excess, total, n_moves
        for i in range(n_moves - 1, n_kept - 1, -1):
            move(graph, labels, counts, weights, sizes, moved[i], origin[i])
        if n_kept == 0:
            break


@njit
def fill_gains(graph, labels, counts, gains):
    """Fill (k, n): by how much the cut falls if a vertex goes to a part; its own is no choice."""
    n_parts = gains.shape[0]
    row = np.empty(n_parts, dtype=np.int32)
    for v in range(labels.size):
        row[:] = count_alone(graph, labels, counts, v)
        subtract_absent(graph, counts, v, row)
        for part in range(n_parts):
            gains[part, v] = row[part]
        gains[labels[v], v] = _NEVER


@njit
def count_alone(graph, labels, counts, v):
    """Return the number of hyperedges in which a vertex is alone in its part."""
    n_alone = 0
    for at in range(graph.vertex_ends[v], graph.vertex_ends[v + 1]):
        n_alone += counts[graph.edges[at], labels[v]] == 1
    return n_alone


@njit
def subtract_absent(graph, counts, v, row):
    """Subtract from (k,) the number of hyperedges of a vertex that are not in each part."""
    for at in range(graph.vertex_ends[v], graph.vertex_ends[v + 1]):
        e = graph.edges[at]
        for part in range(row.size):
            row[part] -= counts[e, part] == 0


@njit
def best_move(graph, labels, counts, shares, gains, room, free, tops):
    """Return (vertex, part) of the largest gain, or (-1, -1).

    Vertices leave the parts that are `free` for those with `room` for them. Of equal gains, of
    which the first few are looked at, that is taken which brings most together: else nothing tells
    which moves lead on where most hyperedges are cut. `shares` (m,) are those of one pin in each
    hyperedge, and `tops` (k,) is room to work in.
    """
    n = labels.size
    all_free = True
    for part in range(free.size):
        all_free &= free[part]
    best = _NEVER // 2
    for part in range(room.size):
        row, most = gains[part], np.int32(min(room[part], np.iinfo(np.int32).max))
        largest = _NEVER
        if all_free:  # without a branch, for vector instructions
            for v in range(n):
                largest = max(largest, row[v] if graph.weights[v] <= most else _NEVER)
        else:
            for v in range(n):
                if free[labels[v]] and graph.weights[v] <= most:
                    largest = max(largest, row[v])
        tops[part] = largest
        best = max(best, largest)
    best_v, best_part, most_together, n_equal = -1, -1, -np.inf, 0
    for part in range(room.size):
        if tops[part] < best:
            continue
        row = gains[part]
        for v in range(n):
            if row[v] == best and graph.weights[v] <= room[part] and free[labels[v]]:
                together = 0.0
                for at in range(graph.vertex_ends[v], graph.vertex_ends[v + 1]):
                    e = graph.edges[at]
                    together += (counts[e, part] - counts[e, labels[v]]) * shares[e]
                if together > most_together + _EQUAL:
                    best_v, best_part, most_together = v, part, together
                n_equal += 1
                if n_equal == _EQUAL_MOVES:
                    return best_v, best_part
    return best_v, best_part


@njit
def move(graph, labels, counts, weights, sizes, v, part):
    """Put a vertex into another part."""
    before = labels[v]
    for at in range(graph.vertex_ends[v], graph.vertex_ends[v + 1]):
        counts[graph.edges[at], before] -= 1
        counts[graph.edges[at], part] += 1
    weights[before] -= graph.weights[v]
    weights[part] += graph.weights[v]
    sizes[before] -= 1
    sizes[part] += 1
    labels[v] = part


@njit
def update_gains(graph, labels, counts, gains, v, before):
    """Bring the gains up to date after vertex v, which stays now, has left part `before`."""
    now = labels[v]
    for at in range(graph.vertex_ends[v], graph.vertex_ends[v + 1]):
        e = graph.edges[at]
        first, last = graph.ends[e], graph.ends[e + 1]
        if counts[e, before] == 0:
            for pin in range(first, last):
                gains[before, graph.pins[pin]] -= 1
        elif counts[e, before] == 1:
            add_to_lonely(graph, labels, gains, first, last, before, v, 1)
        if counts[e, now] == 1:
            for pin in range(first, last):
                gains[now, graph.pins[pin]] += 1
        elif counts[e, now] == 2:
            add_to_lonely(graph, labels, gains, first, last, now, v, -1)
    for part in range(gains.shape[0]):
        gains[part, v] = _NEVER


@njit
def add_to_lonely(graph, labels, gains, first, last, part, v, amount):
    """Add to all gains of the only vertex beside v that a hyperedge has in a part."""
    for pin in range(first, last):
        u = graph.pins[pin]
        if labels[u] == part and u != v:
            for other in range(gains.shape[0]):
                gains[other, u] += amount
            break


@njit
def unload(graph, labels, heaviest):
    """Let vertices of parts that are too heavy, each in turn, go where there is room; in place.

    To the part that most of its hyperedges are in, the first of equal ones. No part becomes empty.
    """
    n_parts = heaviest.size
    counts = count_pins(graph, labels, n_parts)
    weights, sizes = weigh_parts(graph.weights, labels, n_parts)
    row = np.empty(n_parts, dtype=np.int32)
    for v in range(labels.size):
        if weights[labels[v]] <= heaviest[labels[v]] or sizes[labels[v]] == 1:
            continue
        row[:] = 0
        subtract_absent(graph, counts, v, row)
        best, best_part = _NEVER, -1
        for part in range(n_parts):
            if weights[part] + graph.weights[v] <= heaviest[part] and row[part] > best:
                best, best_part = row[part], part
        if best_part >= 0:
            move(graph, labels, counts, weights, sizes, v, best_part)


@njit
def settle(graph, labels, heaviest):
    """Let each vertex in turn go where the cut falls most, until none moves; in place.

    No part becomes too heavy or empty. Quicker than `improve`, for any number of vertices.
    """
    n_parts = heaviest.size
    counts = count_pins(graph, labels, n_parts)
    weights, sizes = weigh_parts(graph.weights, labels, n_parts)
    row = np.empty(n_parts, dtype=np.int32)
    for _ in range(_MOST_SEARCHES):
        n_moved = 0
        for v in range(labels.size):
            n_alone = count_alone(graph, labels, counts, v)
            if n_alone == 0 or sizes[labels[v]] == 1:
                continue
            row[:] = n_alone
            subtract_absent(graph, counts, v, row)
            best, best_part = 0, -1
            for part in range(n_parts):
                fits = weights[part] + graph.weights[v] <= heaviest[part]
                if part != labels[v] and row[part] > best and fits:
                    best, best_part = row[part], part
            if best_part >= 0:
                move(graph, labels, counts, weights, sizes, v, best_part)
                n_moved += 1
        if n_moved == 0:
            break
