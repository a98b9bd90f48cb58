"""Clustering trees: where the objects of each cluster go when there are more clusters."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coterie.per_k import ConsensusPerK

__all__ = ["TreeEdge", "TreeNode", "clustering_tree"]


class TreeNode(NamedTuple):
    """A cluster of one level of a clustering tree."""

    level: int
    cluster: int
    size: int
    place: float
    """From left to right, in [0, 1]."""
    stability: float


class TreeEdge(NamedTuple):
    """Objects that go from a cluster of one level to a cluster of the next."""

    start: int
    end: int
    """Positions in the list of nodes."""
    n_objects: int
    share: float
    """Of the objects of the cluster at the end."""


def clustering_tree(
    source: Any,
) -> tuple[list[Any], list[TreeNode], list[TreeEdge]]:
    """Return the names of the levels, the clusters of each, and how objects move between them.

    `source` is a `ConsensusPerK`, or partitions by name (number of clusters, resolution), in
    their order. Stability is the cluster consensus; of other partitions the mean over the other
    levels of the largest Jaccard index with one of their clusters.
    """
    if isinstance(source, ConsensusPerK):
        levels = dict(source.labels_)
        stable = [source.cluster_consensus(k) for k in levels]
    else:
        levels = {name: _as_codes(labels) for name, labels in dict(source).items()}
        stable = _jaccard_stability(list(levels.values()))
    if len(levels) < 2:
        raise ValueError(f"a clustering tree needs at least two partitions; got {len(levels)}.")
    names, columns = list(levels), list(levels.values())
    if len({len(column) for column in columns}) > 1:
        raise ValueError("all partitions of a clustering tree must have the same objects.")
    return names, *_nodes_and_edges(columns, stable)


def _as_codes(labels: ArrayLike) -> NDArray[np.int64]:
    return np.unique(np.asarray(labels), return_inverse=True)[1].astype(np.int64)


def _jaccard_stability(columns: list[NDArray[np.int64]]) -> list[NDArray[np.float64]]:
    found = []
    for i, column in enumerate(columns):
        best = []
        for other in (c for j, c in enumerate(columns) if j != i):
            shared = _crossed(column, other)
            union = shared.sum(axis=1, keepdims=True) + shared.sum(axis=0) - shared
            best.append((shared / union).max(axis=1))
        found.append(np.mean(best, axis=0) if best else np.ones(column.max() + 1))
    return found


def _crossed(first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.int64]:
    shared = np.zeros((first.max() + 1, second.max() + 1), dtype=np.int64)
    np.add.at(shared, (first, second), 1)
    return shared


def _nodes_and_edges(
    columns: list[NDArray[np.int64]], stable: list[NDArray[np.float64]]
) -> tuple[list[TreeNode], list[TreeEdge]]:
    """Put each cluster under the middle of the clusters that its objects come from."""
    nodes: list[TreeNode] = []
    edges: list[TreeEdge] = []
    above: dict[int, int] = {}
    for level, column in enumerate(columns):
        sizes = np.bincount(column)
        wanted = sizes.argsort()[::-1].argsort() / max(len(sizes), 1)
        if level:
            shared = _crossed(columns[level - 1], column)
            places = np.array([nodes[above[c]].place for c in range(len(shared))])
            wanted = (shared * places[:, None]).sum(axis=0) / sizes
        rank = np.lexsort((-sizes, wanted)).argsort()
        here = {}
        for c in range(len(sizes)):
            here[c] = len(nodes)
            place = (rank[c] + 0.5) / len(sizes)
            nodes.append(TreeNode(level, c, int(sizes[c]), place, float(stable[level][c])))
        if level:
            edges += [
                TreeEdge(above[a], here[b], int(shared[a, b]), float(shared[a, b] / sizes[b]))
                for a, b in np.argwhere(shared > 0).tolist()
            ]
        above = here
    return nodes, edges
