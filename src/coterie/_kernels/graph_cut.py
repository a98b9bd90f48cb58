"""Graphs: the edges between parts, and moving vertices so that they weigh less.

A graph is the three arrays of a symmetric CSR matrix without a diagonal: where rows end, columns,
weights.
"""

from __future__ import annotations

import numpy as np

from coterie._kernels._jit import njit
from coterie._kernels.hypergraph import excess, weigh_parts

_MOST_SEARCHES = 5
_NEVER = np.int64(-(1 << 62))  # less than any gain


@njit
def weigh_cut(graph, labels):
    """Return the weight of the edges between parts, each counted in both directions."""
    ends, neighbours, edge_weights = graph
    total = edge_weights[:0].sum()
    for v in range(labels.size):
        for at in range(ends[v], ends[v + 1]):
            if labels[neighbours[at]] != labels[v]:
                total += edge_weights[at]
    return total


@njit
def whole_weights(ends, indices, values, largest):
    """Return weights, scaled so that the largest becomes `largest`, as whole numbers from 1 on.

    0 on the diagonal, and where they are 0.
    """
    most = 0.0
    for v in range(ends.size - 1):
        for at in range(ends[v], ends[v + 1]):
            if indices[at] != v:
                most = max(most, values[at])
    whole = np.zeros(values.size, dtype=np.int64)
    for v in range(ends.size - 1):
        for at in range(ends[v], ends[v + 1]):
            if indices[at] != v and values[at] > 0:
                whole[at] = max(1, np.int64(np.rint(values[at] * (largest / most))))
    return whole


@njit
def improve_cut(graph, vertex_weights, labels, heaviest, patience):
    """Move vertices to other parts while that helps (Fiduccia and Mattheyses, 1982); in place.

    The search is that of hypergraphs: the best move is made, whether it helps or not, each vertex
    once, until `patience` moves in a row have not helped; then all after the best moment are taken
    back. A move may make a part heavier than `heaviest` (k,) allows; then only vertices of that
    part move, to parts with room for them, until it is not. No part becomes empty. All weights are
    whole numbers.
    """
    n_parts, n = heaviest.size, labels.size
    links = link_weights(graph, labels, n_parts)
    gains, targets = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    is_stale = np.ones(n, dtype=np.bool_)  # whose best move is to be found again
    weights, sizes = weigh_parts(vertex_weights, labels, n_parts)
    moved, origin = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    is_free, room = np.empty(n_parts, dtype=np.bool_), np.empty(n_parts, dtype=np.int64)
    for _ in range(_MOST_SEARCHES):
        was_moved = np.zeros(n, dtype=np.bool_)
        best_excess = now_excess = excess(weights, heaviest)
        total = best = np.int64(0)
        n_moves = n_kept = 0
        while n_moves < n and n_moves - n_kept < patience:
            for part in range(n_parts):
                room[part] = heaviest[part] - weights[part]
                is_free[part] = sizes[part] > 1 and (now_excess == 0 or room[part] < 0)
            if now_excess == 0:
                renew_gains(links, labels, gains, targets, is_stale)
                gain, v, part = best_of_gains(gains, targets, labels, was_moved, is_free)
            else:
                gain, v, part = best_move(links, vertex_weights, labels, was_moved, is_free, room)
            if v < 0:
                break
            moved[n_moves], origin[n_moves] = v, labels[v]
            move(graph, vertex_weights, labels, links, weights, sizes, is_stale, v, part)
            was_moved[v] = True
            n_moves += 1
            total += gain
            now_excess = excess(weights, heaviest)
            if now_excess < best_excess or (now_excess == best_excess and total > best):
                best_excess, best, n_kept = now_excess, total, n_moves
        for i in range(n_moves - 1, n_kept - 1, -1):
            move(
                graph, vertex_weights, labels, links, weights, sizes, is_stale, moved[i], origin[i]
            )
        if n_kept == 0:
            break


@njit
def link_weights(graph, labels, n_parts):
    """Return (n, k): the weight of the edges between each vertex and each part."""
    ends, neighbours, edge_weights = graph
    links = np.zeros((labels.size, n_parts), dtype=np.int64)
    for v in range(labels.size):
        for at in range(ends[v], ends[v + 1]):
            links[v, labels[neighbours[at]]] += edge_weights[at]
    return links


@njit
def renew_gains(links, labels, gains, targets, is_stale):
    """Find the best move anew where it is stale: the first part of equal ones; in place."""
    for v in range(labels.size):
        if not is_stale[v]:
            continue
        is_stale[v] = False
        gains[v], targets[v] = _NEVER, -1
        own = labels[v]
        held = links[v, own]
        for part in range(links.shape[1]):
            if links[v, part] - held > gains[v] and part != own:
                gains[v], targets[v] = links[v, part] - held, part


@njit
def best_of_gains(gains, targets, labels, was_moved, is_free):
    """Return the best move as `best_move` does, where there is room for all vertices."""
    best, best_vertex, best_part = _NEVER, -1, -1
    for v in range(labels.size):
        if gains[v] > best and not was_moved[v] and is_free[labels[v]]:
            best, best_vertex, best_part = gains[v], v, targets[v]
    return best, best_vertex, best_part


@njit
def best_move(links, vertex_weights, labels, was_moved, is_free, room):
    """Return by how much the cut gets lighter, a vertex, and its new part.

    The first vertex of equal ones, and its first part. Without a move that is allowed, a vertex
    that was not moved and whose part is free, to a part with room, the vertex is -1.
    """
    best, best_vertex, best_part = _NEVER, -1, -1
    for v in range(labels.size):
        own = labels[v]
        if was_moved[v] or not is_free[own]:
            continue
        held, weight = links[v, own], vertex_weights[v]
        for part in range(room.size):
            if links[v, part] - held > best and part != own and weight <= room[part]:
                best, best_vertex, best_part = links[v, part] - held, v, part
    return best, best_vertex, best_part


@njit
def move(graph, vertex_weights, labels, links, weights, sizes, is_stale, v, part):
    """Put a vertex into another part; in place."""
    ends, neighbours, edge_weights = graph
    old = labels[v]
    for at in range(ends[v], ends[v + 1]):
        links[neighbours[at], old] -= edge_weights[at]
        links[neighbours[at], part] += edge_weights[at]
        is_stale[neighbours[at]] = True
    is_stale[v] = True
    weights[old] -= vertex_weights[v]
    weights[part] += vertex_weights[v]
    sizes[old] -= 1
    sizes[part] += 1
    labels[v] = part
