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
    weights, sizes = weigh_parts(vertex_weights, labels, n_parts)
    moved, origin = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    is_free, room = np.empty(n_parts, dtype=np.bool_), np.empty(n_parts, dtype=np.int64)
    heaviest_vertex = vertex_weights.max()
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
                room[:] = heaviest_vertex
            gain, v, part = best_move(links, vertex_weights, labels, was_moved, is_free, room)
            if v < 0:
                break
            moved[n_moves], origin[n_moves] = v, labels[v]
            move(graph, vertex_weights, labels, links, weights, sizes, v, part)
            was_moved[v] = True
            n_moves += 1
            total += gain
            now_excess = excess(weights, heaviest)
            if now_excess < best_excess or (now_excess == best_excess and total > best):
                best_excess, best, n_kept = now_excess, total, n_moves
        for i in range(n_moves - 1, n_kept - 1, -1):
            move(graph, vertex_weights, labels, links, weights, sizes, moved[i], origin[i])
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
def move(graph, vertex_weights, labels, links, weights, sizes, v, part):
    """Put a vertex into another part; in place."""
    ends, neighbours, edge_weights = graph
    old = labels[v]
    for at in range(ends[v], ends[v + 1]):
        links[neighbours[at], old] -= edge_weights[at]
        links[neighbours[at], part] += edge_weights[at]
    weights[old] -= vertex_weights[v]
    weights[part] += vertex_weights[v]
    sizes[old] -= 1
    sizes[part] += 1
    labels[v] = part
