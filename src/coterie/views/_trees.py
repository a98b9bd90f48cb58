"""Trees reduced to what can be drawn: the last merges, and a spanning tree of few nodes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie._kernels.linkage import cut_merges, name_clusters
from coterie.views._order import ConsensusTree, leaf_order

__all__ = ["DrawnTree", "TopOfTree", "contracted_tree", "top_of_tree"]

_MAX_LEAVES = 60
_MAX_NODES = 2_000


class TopOfTree(NamedTuple):
    """The last merges of a tree, ready to be drawn."""

    x: NDArray[np.float64]
    """(m, 4): corners of each merge: bottom left, top left, top right, bottom right."""
    y: NDArray[np.float64]
    cluster: NDArray[np.int64]
    """(m,): the cluster in which a merge is; -1 above the cut."""
    sizes: NDArray[np.int64]
    """(p,): objects of each leaf, from left to right."""
    leaves: NDArray[np.int64]
    """(p,): the object of each leaf, the first of several."""
    heights: NDArray[np.float64]
    """(p,): height of each leaf: 0 for a single object, else where its objects were merged."""
    cut: float | None
    """Height of the cut; None where the clusters are no cut of the tree."""


def top_of_tree(
    tree: ConsensusTree, labels: NDArray[np.int64], n_leaves: int = _MAX_LEAVES
) -> TopOfTree:
    """Return the last merges of a tree, from at most `n_leaves` leaves on.

    Merges of infinite height are left out: some methods write them for clusters that they did
    not merge.
    """
    linkage = tree.linkage
    n = len(linkage) + 1
    p = min(n, n_leaves)
    order = leaf_order(linkage)
    group = tree.cut(p)
    starts = np.concatenate([[0], np.flatnonzero(np.diff(group[order])) + 1])
    place = np.empty(p)
    place[group[order[starts]]] = np.arange(p)
    rows = np.arange(n - p, n - 1)
    rows = rows[np.isfinite(linkage[rows, 2])]
    some_leaf = np.concatenate([np.arange(n), tree.first])
    node_x = np.full(2 * n - 1, np.nan)
    heights = np.zeros(p)
    x, y = np.empty((len(rows), 4)), np.empty((len(rows), 4))
    for m, row in enumerate(rows):
        feet = linkage[row, :2].astype(np.int64)
        for node in feet:
            if node < n or node - n < n - p:
                node_x[node] = place[group[some_leaf[node]]]
        low = [linkage[node - n, 2] if node >= n else 0.0 for node in feet]
        for node, height in zip(feet, low, strict=True):
            if node < n or node - n < n - p:
                heights[int(node_x[node])] = height
        left, right = (0, 1) if node_x[feet[0]] <= node_x[feet[1]] else (1, 0)
        a, b = node_x[feet[left]], node_x[feet[right]]
        x[m] = a, a, b, b
        y[m] = low[left], linkage[row, 2], linkage[row, 2], low[right]
        node_x[n + row] = (a + b) / 2
    k = int(labels.max()) + 1
    is_cut = k >= tree.least_clusters and np.array_equal(tree.cut(k), labels)
    cluster = np.where(rows < n - k, labels[tree.first[rows]], -1) if is_cut else rows * 0 - 1
    ends = np.append(starts, n)
    cut = _cut_height(linkage, k) if is_cut else None
    return TopOfTree(x, y, cluster, np.diff(ends), order[starts], heights, cut)


def _cut_height(linkage: NDArray[np.float64], k: int) -> float:
    """Return a height between the last merge below the cut and the first above it."""
    n = len(linkage) + 1
    below = linkage[n - k - 1, 2] if k < n else 0.0
    above = linkage[n - k, 2] if k > 1 else np.inf
    if np.isinf(above):
        return float(below + 0.03 * max(below, 1e-9))
    return float((below + above) / 2)


class DrawnTree(NamedTuple):
    """A spanning tree with a place for every node."""

    places: NDArray[np.float64]
    """(p, 2): where the nodes are."""
    sizes: NDArray[np.int64]
    """(p,): objects of each node."""
    cluster: NDArray[np.int64]
    edges: NDArray[np.int64]
    """(p - 1, 2): nodes."""
    removed: NDArray[np.bool_]
    """(p - 1,): the edges between clusters."""


def contracted_tree(
    edges: NDArray[np.float64],
    labels: NDArray[np.int64],
    places: NDArray[np.float64],
    n_nodes: int = _MAX_NODES,
) -> DrawnTree:
    """Return a spanning tree with at most `n_nodes` nodes: the shortest edges are contracted."""
    n = len(labels)
    first, second = name_clusters(edges[:, :2].astype(np.int64))
    kept = min(n, max(n_nodes, int(labels.max()) + 1)) - 1
    roots = cut_merges(first, second, n - 1 - kept, n)
    names, node = np.unique(roots, return_inverse=True)
    sizes = np.bincount(node)
    middle = np.stack([np.bincount(node, weights=axis) / sizes for axis in places.T], axis=1)
    ends = node[edges[n - 1 - kept :, :2].astype(np.int64)]
    cluster = labels[names]
    return DrawnTree(middle, sizes, cluster, ends, cluster[ends[:, 0]] != cluster[ends[:, 1]])
