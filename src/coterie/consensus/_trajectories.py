"""Similarity of the vertices of a graph by random walks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coterie._limits import one_thread

__all__ = ["trajectory_similarity"]


@one_thread()
def trajectory_similarity(graph: NDArray[np.float64], n_steps: int) -> NDArray[np.float64]:
    """Return the cosines of the random walks from each two vertices.

    With P the transition probabilities, the rows of the graph divided by their sums, the walk from
    a vertex is described by its rows of P, P^2, ..., P^n_steps, one after the other. A vertex
    without edges is similar to itself alone.

    The graph is symmetric, so P = D^-1/2 N D^1/2 with N = D^-1/2 graph D^-1/2 and N = Q diag(s) Q'.
    The inner products of the walks are then D^-1/2 Q (Q'DQ * T) Q' D^-1/2 with
    T_ab = sum_t (s_a s_b)^t: one eigenproblem instead of 2 n_steps products of matrices.

    Parameters
    ----------
    graph : ndarray of shape (m, m)
        Weights of the edges: symmetric, not negative, diagonal 0.
    n_steps : int
        Length of the walks.
    """
    degrees = graph.sum(axis=1)
    linked = np.flatnonzero(degrees > 0)
    similarity = np.eye(len(graph))
    if not len(linked):
        return similarity
    root = np.sqrt(degrees[linked])
    values, vectors = np.linalg.eigh(graph[np.ix_(linked, linked)] / root / root[:, None])
    ratio = np.outer(values, values)
    power, steps = ratio.copy(), ratio.copy()
    for _ in range(n_steps - 1):
        power *= ratio
        steps += power
    spread = vectors.T * (root**2) @ vectors
    inner = vectors @ (spread * steps) @ vectors.T / root / root[:, None]
    length = np.sqrt(np.maximum(np.diagonal(inner), 1e-300))
    cosines = np.clip(inner / length / length[:, None], 0.0, 1.0)
    similarity[np.ix_(linked, linked)] = (cosines + cosines.T) / 2
    np.fill_diagonal(similarity, 1.0)
    return similarity
