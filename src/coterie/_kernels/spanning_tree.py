"""Minimum spanning trees of dense graphs whose rows are computed on the fly (Prim, 1957).

A method that has its own distance writes a short loop like `tree_of_counts`: its row function,
then `next_node`. Memory is O(n). Edges are compared by (weight, i, j) with i < j, a strict
order, so the tree is the one that Kruskal's algorithm finds with that order.
"""

from __future__ import annotations

import numpy as np

from coterie._kernels._jit import njit
from coterie._kernels.coassociation import _TILE, count_together, share_row, share_scratch


@njit
def next_node(row, current, visited, nearest, distance):
    """Take the row of distances of `current` into account; return the next node, or -1.

    `distance` holds each node's distance to the tree and `nearest` the tree's node at that
    distance; a node of the tree has the distance `visited`, larger than any other.
    """
    n = row.size
    for j in range(n):
        closer = (distance[j] != visited) & (
            (row[j] < distance[j]) | ((row[j] == distance[j]) & (current < nearest[j]))
        )
        distance[j] = row[j] if closer else distance[j]
        nearest[j] = current if closer else nearest[j]
    least = distance.min()
    if least == visited:
        return -1
    best, low, high = -1, n, n
    for j in range(n):
        if distance[j] == least:
            a, b = min(j, nearest[j]), max(j, nearest[j])
            if a < low or (a == low and b < high):
                best, low, high = j, a, b
    return best


@njit
def start_tree(n, distance, far, visited):
    """Put node 0 into the tree; return the array of nearest nodes."""
    distance[:] = far
    distance[0] = visited
    return np.full(n, n, dtype=np.int64)


@njit
def add_edge(edges, step, node, nearest):
    """Write the edge that joins `node` to the tree, smaller end first."""
    edges[step, 0] = min(node, nearest[node])
    edges[step, 1] = max(node, nearest[node])


@njit
def tree_of_counts(codes, done):
    """Return (edges, weights) for the number of partitions that put two objects apart.

    For codes without missing labels, whose `count_type` must hold a number larger than L + 1. The
    first cell of `done` gets the number of edges.
    """
    n_partitions, n = codes.columns.shape
    visited = codes.count_type.dtype.type(n_partitions + 2)
    row = np.empty(n, dtype=codes.count_type.dtype)
    together = np.empty(_TILE, dtype=codes.count_type.dtype)
    everyone = np.arange(n_partitions)
    distance = np.empty(n, dtype=codes.count_type.dtype)
    nearest = start_tree(n, distance, n_partitions + 1, visited)
    edges = np.empty((n - 1, 2), dtype=np.int64)
    weights = np.empty(n - 1)
    node = 0
    for step in range(n - 1):
        for start in range(0, n, _TILE):
            stop = min(n, start + _TILE)
            count_together(codes.columns, node, everyone, n_partitions, start, stop, together)
            target = row[start:stop]
            for j in range(stop - start):
                target[j] = n_partitions - together[j]
        node = next_node(row, node, visited, nearest, distance)
        add_edge(edges, step, node, nearest)
        weights[step] = distance[node]
        distance[node] = visited
        done[0] = step + 1
    return edges, weights


@njit
def tree_of_shares(codes, done):
    """Return (edges, weights) for 1 - co-association; missing labels are allowed."""
    n = codes.columns.shape[1]
    visited = np.inf
    row = np.empty(n)
    scratch = share_scratch(codes)
    distance = np.empty(n)
    nearest = start_tree(n, distance, 2.0, visited)
    edges = np.empty((n - 1, 2), dtype=np.int64)
    weights = np.empty(n - 1)
    node = 0
    for step in range(n - 1):
        share_row(codes, node, scratch, row)
        for j in range(n):
            row[j] = 1.0 - row[j]
        node = next_node(row, node, visited, nearest, distance)
        add_edge(edges, step, node, nearest)
        weights[step] = distance[node]
        distance[node] = visited
        done[0] = step + 1
    return edges, weights
