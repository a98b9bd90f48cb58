"""Cuts of graphs made lighter by moving single vertices (Fiduccia and Mattheyses, 1982)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie._partition._options import heaviest_parts

__all__ = ["FINE", "PATIENCE", "balanced_cut", "is_soon_improved"]

FINE = 10_000  # what the largest weight becomes where weights are no integers
PATIENCE = 50  # moves in a row that do not help
_MOST_GAINS = 100_000  # vertices times parts, for which the best move is looked for again and again


def is_soon_improved(n_vertices: int, n_parts: int) -> bool:
    """Whether a graph is small enough to look for the best of all moves again and again."""
    return n_vertices * n_parts <= _MOST_GAINS


def balanced_cut(
    graph: Any,
    labels: NDArray[np.int64],
    n_parts: int,
    *,
    vertex_weights: NDArray[np.int64],
    imbalance: float,
) -> NDArray[np.int64]:
    """Return a cut near to another one, with parts of about the same weight.

    Parts that are heavier than `imbalance` allows give vertices away, as far as these find room;
    then single ones move while that makes the cut lighter. No part becomes empty.

    Parameters
    ----------
    graph : SciPy sparse matrix (CSR) of shape (n, n)
        Symmetric, not negative; the diagonal does not count. Weights are scaled so that the largest
        is 10,000, and rounded, to at least 1.
    labels : ndarray of int64, shape (n,)
        Parts 0 to k-1, none of them empty.
    n_parts : int
    vertex_weights : ndarray of int64, shape (n,)
    imbalance : float
        By how much a part may be heavier than the mean.
    """
    from coterie._kernels.graph_cut import improve_cut, whole_weights

    ends, indices = graph.indptr, graph.indices
    weights = whole_weights(ends, indices, graph.data, FINE)
    heaviest = heaviest_parts(vertex_weights, n_parts, imbalance)
    found = labels.copy()
    improve_cut((ends, indices, weights), vertex_weights, found, heaviest, PATIENCE)
    return found
