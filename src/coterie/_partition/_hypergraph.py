"""Cutting hypergraphs into balanced parts by Mt-KaHyPar (Gottesbueren et al., 2021)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike, NDArray

from coterie._partition._kmeans import fill_empty_parts
from coterie._progress import stretch

__all__ = ["cut_hypergraph"]


def cut_hypergraph(
    hyperedges: Any,
    n_vertices: int,
    n_parts: int,
    *,
    vertex_weights: ArrayLike | None = None,
    imbalance: float = 0.05,
    random_state: int = 0,
) -> NDArray[np.int64]:
    """Return a part for each vertex: parts of about the same weight, few hyperedges cut.

    What is small is the sum, over hyperedges, of the number of parts each is in, less 1. All
    hyperedges weigh the same. The deterministic preset of Mt-KaHyPar is used: the result does not
    depend on the number of threads.

    Parameters
    ----------
    hyperedges : SciPy sparse matrix of shape (m, n_vertices), or sequence of m sequences of int
        The vertices of each hyperedge. Those with fewer than two do not count.
    n_vertices : int
    n_parts : int
        At most `n_vertices`. None of the parts is empty.
    vertex_weights : array-like of int, shape (n_vertices,), optional
        What is balanced; 1 for each if not given.
    imbalance : float, default=0.05
        By how much a part may be heavier than the mean, if the weights allow it.
    random_state : int, default=0
        Seed. It decides between cuts that the partitioner finds equally good.

    Returns
    -------
    labels : ndarray of int64, shape (n_vertices,)

    Raises
    ------
    ImportError
        If the package mtkahypar is not installed.
    """
    if not 1 <= n_parts <= n_vertices:
        raise ValueError(
            f"n_parts must be between 1 and the number of vertices ({n_vertices}); got {n_parts}."
        )
    if not imbalance >= 0:
        raise ValueError(f"imbalance must not be negative; got {imbalance}.")
    package = _package()
    if n_parts == 1:
        return np.zeros(n_vertices, dtype=np.int64)
    if n_parts == n_vertices:
        return np.arange(n_vertices)

    edges = [edge for edge in _lists(hyperedges) if len(edge) > 1]
    started = _started()
    package.set_seed(int(random_state) % 2**31)
    context = started.context_from_preset(package.PresetType.DETERMINISTIC)
    context.set_partitioning_parameters(n_parts, float(imbalance), package.Objective.KM1)
    context.logging = False
    weights = np.ones(n_vertices, dtype=np.int64) if vertex_weights is None else vertex_weights
    graph = started.create_hypergraph(
        context, n_vertices, len(edges), edges, np.asarray(weights).tolist(), [1] * len(edges)
    )
    with stretch("cutting the hypergraph (Mt-KaHyPar)"):
        labels = np.array(graph.partition(context).get_partition(), dtype=np.int64)
    # A part can be empty where single vertices weigh more than a part should.
    return fill_empty_parts(labels, -np.asarray(weights, dtype=np.float64), n_parts)


def _lists(hyperedges: Any) -> Sequence[Sequence[int]]:
    if not scipy.sparse.issparse(hyperedges):
        return [list(map(int, edge)) for edge in hyperedges]
    matrix = hyperedges.tocsr()
    indices = matrix.indices.tolist()
    ends = matrix.indptr.tolist()
    return [indices[a:b] for a, b in pairwise(ends)]


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
