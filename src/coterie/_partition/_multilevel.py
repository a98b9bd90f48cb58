"""Cutting hypergraphs on several levels, in the manner of hMETIS (Karypis et al., 1999).

Similar vertices are joined, again and again, until few are left. These are cut in halves, and the
halves in halves, and the parts are improved while the vertices are taken apart. Several such cuts
are made, each from other random numbers; then the best is crossed with the others.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie._progress import stretch

if TYPE_CHECKING:
    from coterie._kernels.hypergraph import Hypergraph

__all__ = ["Levels", "coarsen", "cut_multilevel", "refine"]

Labels = NDArray[np.int64]

_FEW = 120  # vertices that are cut in halves
_FEW_PER_PART = 12
_JOINED = 8  # joined vertices weigh at most a part over this
_WORTHWHILE = 0.9  # of the vertices, at most so many may be left by joining them once more
_FEWEST_CUTS = 4
_MOST_CUTS = 16
_PINS = 120_000  # of the hypergraphs of all cuts, where these are not the fewest
_N_CROSSES = 2
_N_BISECTIONS = 2  # beginnings of each
_PATIENCE = 50  # moves without a gain before a search ends, where there are many vertices


def cut_multilevel(graph: Hypergraph, heaviest: NDArray[np.int64], seed: int) -> Labels:
    """Return a part for each vertex; some may be empty where vertices are few or heavy.

    Parameters
    ----------
    graph : Hypergraph
        With its hyperedges in the order of their sizes.
    heaviest : ndarray of int64, shape (k,)
        The most that each part may weigh, if the weights of the vertices allow it.
    seed : int
    """
    from numba import get_num_threads

    from coterie._kernels.hypergraph import cost

    n_cuts = int(np.clip(_PINS // max(len(graph.pins), 1), _FEWEST_CUTS, _MOST_CUTS))
    seeds = np.random.SeedSequence(seed).spawn(n_cuts + _N_CROSSES)
    random = [np.random.default_rng(s) for s in seeds]
    found: list[Labels] = []
    with (
        stretch("cutting the hypergraph", len(seeds)) as done,
        ThreadPoolExecutor(max(1, min(n_cuts, get_num_threads()))) as pool,
    ):
        for labels in pool.map(lambda r: _cut_once(graph, heaviest, r), random[:n_cuts]):
            found.append(labels)
            done[0] += 1
        best, *others = sorted(found, key=lambda labels: cost(graph, labels, heaviest))
        crosses = zip(others, random[n_cuts:], strict=False)
        for labels in pool.map(lambda pair: _cross(graph, heaviest, best, *pair), crosses):
            found.append(labels)
            done[0] += 1
    return min(found, key=lambda labels: cost(graph, labels, heaviest))


def _cut_once(
    graph: Hypergraph, heaviest: NDArray[np.int64], random: np.random.Generator
) -> Labels:
    levels = coarsen(graph, len(heaviest), random)
    labels = _bisect_recursively(levels.graphs[-1], len(heaviest), int(heaviest[0]), random)
    return refine(levels, labels, heaviest)


def _cross(
    graph: Hypergraph,
    heaviest: NDArray[np.int64],
    better: Labels,
    other: Labels,
    random: np.random.Generator,
) -> Labels:
    """Return what becomes of the better one where groups move that are in one part of both."""
    n_parts = len(heaviest)
    levels = coarsen(graph, n_parts, random, apart=better * n_parts + other)
    return refine(levels, levels.apart // n_parts, heaviest)


# --- levels ------------------------------------------------------------------------------------


class Levels(NamedTuple):
    """Hypergraphs of fewer and fewer vertices."""

    graphs: list[Hypergraph]
    groups: list[Labels]
    """For each but the last: the vertex of the next that each of its vertices has become."""
    apart: Labels
    """What kept vertices apart, for those of the last."""


def coarsen(
    graph: Hypergraph, n_parts: int, random: np.random.Generator, apart: Labels | None = None
) -> Levels:
    """Join similar vertices until few are left; those of different `apart` are never joined."""
    from coterie._kernels.hypergraph import join_similar, mapped

    apart = np.zeros(len(graph.weights), dtype=np.int64) if apart is None else apart
    heaviest = max(int(graph.weights.sum()) // (n_parts * _JOINED), int(graph.weights.max()))
    few = max(_FEW, _FEW_PER_PART * n_parts)
    levels = Levels([graph], [], apart)
    while len(levels.apart) > few:
        order = random.permutation(len(levels.apart))
        groups, n_groups = join_similar(levels.graphs[-1], order, levels.apart, heaviest)
        if n_groups > _WORTHWHILE * len(groups):
            break
        joined = np.empty(n_groups, dtype=np.int64)
        joined[groups] = levels.apart
        levels = Levels(
            [*levels.graphs, mapped(levels.graphs[-1], groups, n_groups)],
            [*levels.groups, groups],
            joined,
        )
    return levels


def refine(levels: Levels, labels: Labels, heaviest: NDArray[np.int64]) -> Labels:
    """Improve parts of the last hypergraph, then of those before it; return those of the first."""
    from coterie._kernels.hypergraph import improve

    fewest = np.ones(len(heaviest), dtype=np.int64)
    labels = labels.copy()
    improve(levels.graphs[-1], labels, heaviest, fewest, len(labels))
    for graph, groups in zip(levels.graphs[-2::-1], levels.groups[::-1], strict=True):
        labels = labels[groups]
        improve(graph, labels, heaviest, fewest, _PATIENCE)
    return labels


# --- halves ------------------------------------------------------------------------------------


def _bisect_recursively(
    graph: Hypergraph, n_parts: int, heaviest: int, random: np.random.Generator
) -> Labels:
    """Return a part for each vertex, from halves of halves."""
    from coterie._kernels.hypergraph import mapped

    labels = np.zeros(len(graph.weights), dtype=np.int64)
    waiting = [(0, n_parts)]  # parts, by the first of them and their number, that are one so far
    while waiting:
        first, number = waiting.pop()
        inside = labels == first
        size = int(inside.sum())
        if number == 1 or size == 0:
            continue
        n_first, n_second = number - number // 2, number // 2
        place = np.where(inside, np.cumsum(inside) - 1, -1)
        halves = _bisect(mapped(graph, place, size), n_first, n_second, heaviest, random)
        labels[inside] = np.where(halves == 1, first + n_first, first)
        waiting += [(first + n_first, n_second), (first, n_first)]
    return labels


def _bisect(
    graph: Hypergraph, n_first: int, n_second: int, heaviest: int, random: np.random.Generator
) -> Labels:
    """Return 0 or 1 for each vertex: what is to become the first or the second number of parts."""
    from coterie._kernels.hypergraph import cost, grow, improve

    parts = np.array([n_first, n_second])
    total, n_parts = int(graph.weights.sum()), n_first + n_second
    # The same room in this bisection and in each that follows it.
    room = (heaviest * n_parts / total) ** (1 / np.ceil(np.log2(n_parts)))
    most = np.ceil(room * total * parts / n_parts).astype(np.int64)
    found = []
    for seed in random.integers(len(graph.weights), size=_N_BISECTIONS):
        labels = grow(graph, seed, total * n_second // n_parts)
        improve(graph, labels, most, parts, len(labels))
        found.append(labels)
    return min(found, key=lambda labels: cost(graph, labels, most))
