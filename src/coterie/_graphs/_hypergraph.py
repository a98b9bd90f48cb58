"""Cutting hypergraphs into balanced parts with Mt-KaHyPar (Gottesbueren et al., 2021)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie._checks import check_number
from coterie._graphs._cluster_rows import fill_empty_parts
from coterie._progress import track_progress

__all__ = ["cut_hypergraph"]


def cut_hypergraph(
    edges: Sequence[Sequence[int]],
    weights: NDArray[np.int64],
    n_parts: int,
    *,
    imbalance: float = 0.05,
    random_state: int = 0,
) -> NDArray[np.int64]:
    """Return a part for each vertex: parts of about the same weight, few hyperedges cut.

    The objective is the sum, over hyperedges, of the number of parts each is in, less 1. The
    deterministic preset of Mt-KaHyPar does not depend on the number of threads.

    Parameters
    ----------
    edges : sequence of sequences of int
        The vertices of each hyperedge. All hyperedges weigh the same.
    weights : ndarray of int, shape (n,)
        Weights of the vertices.
    n_parts : int
        At most the number of vertices. None of the parts is empty: a part that Mt-KaHyPar leaves
        empty gets the vertex with the fewest hyperedges.
    imbalance : float, default=0.05
        By how much a part may be heavier than the mean, if the weights allow it.
    random_state : int, default=0
        Seed.

    Returns
    -------
    labels : ndarray of int64, shape (n,)

    Raises
    ------
    ImportError
        If the package mtkahypar is not installed.
    """
    n = len(weights)
    if not 1 <= n_parts <= n:
        raise ValueError(
            f"n_parts must be between 1 and the number of vertices ({n}); got {n_parts}."
        )
    check_number("imbalance", imbalance)
    package = _package()
    if n_parts in (1, n):
        return np.arange(n) % n_parts
    # The deterministic preset takes no seed, so the seed gives the order of the vertices.
    order = np.random.default_rng(int(random_state)).permutation(n)
    place = np.argsort(order)
    pins = [place[np.asarray(edge)].tolist() for edge in edges if len(edge) > 1]
    started = _started()
    context = started.context_from_preset(package.PresetType.DETERMINISTIC)
    context.set_partitioning_parameters(n_parts, float(imbalance), package.Objective.KM1)
    context.logging = False
    graph = started.create_hypergraph(
        context, n, len(pins), pins, weights[order].tolist(), [1] * len(pins)
    )
    with track_progress("cutting the hypergraph (Mt-KaHyPar)"):
        found = graph.partition(context).get_partition()
    labels = np.array(found, dtype=np.int64)[place]
    n_edges = np.bincount([v for edge in pins for v in edge], minlength=n)[place]
    return fill_empty_parts(labels, n_parts, distances=-n_edges.astype(np.float64))


@cache
def _started() -> Any:
    """Return the library, started once: it keeps its threads until the process ends."""
    return _package().initialize(os.cpu_count() or 1, False)


def _package() -> Any:
    try:
        import mtkahypar
    except ImportError as error:
        raise ImportError(
            "partitioner='hypergraph' needs the package mtkahypar, which is not installed: "
            "pip install \"coterie[hypergraph]\", or use partitioner='spectral', which needs "
            "nothing."
        ) from error
    return mtkahypar
