"""Cutting hypergraphs into balanced parts by Mt-KaHyPar (Gottesbueren et al., 2021)."""

from __future__ import annotations

import os
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike, NDArray

from coterie._memory import memory_limit_bytes
from coterie._partition._kmeans import fill_empty_parts
from coterie._partition._options import check_imbalance
from coterie._partition._spectral import spectral_hypergraph
from coterie._progress import stretch

__all__ = ["cut_hypergraph"]

# Where a spectral partition is worth its time: beyond, Mt-KaHyPar's own beginning is as fast.
_MOST_PARTS_TO_BEGIN = 100
_LARGEST_EIGENPROBLEM = 2000
# Where it settles the cut: improving it changes its cut by no more than this share, and not because
# most hyperedges are in most parts anyway, so that no small move is of any use; and there is a
# balance to keep: else the lightest cut may be another, one large part and some that are tiny.
_NEAR = 0.1
_MOST_CUT = 0.25
_LARGEST_IMBALANCE = 0.2


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

    Mt-KaHyPar first improves a spectral partition. Most often that settles it, ten times faster
    than a cut from scratch. Where the partition is far from balance, cuts more than a quarter of
    what can be cut, changes its cut by more than a tenth, or `imbalance` is above 0.2, a cut is
    made from scratch too. Of the two the lighter one is kept, or that nearer to balance if the
    weights allow none.

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
    check_imbalance(imbalance)
    package = _package()
    if n_parts == 1:
        return np.zeros(n_vertices, dtype=np.int64)
    if n_parts == n_vertices:
        return np.arange(n_vertices)

    pins = _incidence(hyperedges, n_vertices)
    weights = np.ones(n_vertices, dtype=np.int64) if vertex_weights is None else vertex_weights
    weights = np.asarray(weights, dtype=np.int64)
    seed = int(random_state) % 2**31
    started = _started()
    context = started.context_from_preset(package.PresetType.DETERMINISTIC)
    context.set_partitioning_parameters(n_parts, float(imbalance), package.Objective.KM1)
    context.logging = False
    indices, ends = pins.indices.tolist(), pins.indptr.tolist()
    edges = [indices[a:b] for a, b in pairwise(ends)]
    graph = started.create_hypergraph(
        context, n_vertices, len(edges), edges, weights.tolist(), [1] * len(edges)
    )
    # Mt-KaHyPar up to version 1.6 leaves parts empty, where single vertices weigh more than a part
    # should or where it costs less. They get the vertices of fewest hyperedges.
    spare = np.empty(n_vertices)
    spare[np.lexsort((weights, np.diff(pins.tocsc().indptr)))] = -np.arange(n_vertices)

    def found(cut: Any) -> NDArray[np.int64]:
        return fill_empty_parts(np.array(cut.get_partition(), dtype=np.int64), spare, n_parts)

    with stretch("cutting the hypergraph (Mt-KaHyPar)"):
        package.set_seed(seed)
        labels = None
        if _begins_spectral(pins.shape, n_parts):
            start = spectral_hypergraph(pins.T, n_parts, vertex_weights=weights, random_state=seed)
            cut = graph.create_partitioned_hypergraph(context, n_parts, start.tolist())
            changed_little = _improve(cut, context)
            labels = found(cut)
            most = int(np.minimum(np.diff(pins.indptr), n_parts).sum()) - len(edges)
            if changed_little and cut.km1() <= _MOST_CUT * most and imbalance <= _LARGEST_IMBALANCE:
                return labels
        package.set_seed(seed)
        other = found(graph.partition(context))
    if labels is None:
        return other
    return min(other, labels, key=lambda labels: _cost(labels, pins, weights, imbalance))


def _begins_spectral(shape: tuple[int, int], n_parts: int) -> bool:
    size = min(shape)
    return (
        0 < size <= _LARGEST_EIGENPROBLEM
        and n_parts <= _MOST_PARTS_TO_BEGIN
        and 24 * size**2 <= memory_limit_bytes()
    )


def _improve(cut: Any, context: Any) -> bool:
    """Improve a partition, if it is not far from balance; return whether that changed little."""
    before = cut.km1()
    if cut.imbalance(context) > 2 * context.epsilon:
        return False
    if before > 0 or not _is_balanced(cut, context):
        cut.improve_partition(context, 1)
    return _is_balanced(cut, context) and abs(cut.km1() - before) <= _NEAR * before


def _cost(
    labels: NDArray[np.int64], pins: Any, weights: NDArray[np.int64], imbalance: float
) -> tuple[float, int]:
    """Return by how much a partition is out of balance, and its cut."""
    masses = np.bincount(labels, weights=weights)
    # As Mt-KaHyPar counts: of a mean that is a whole number.
    over = float(masses.max() / np.ceil(masses.mean())) - 1
    each = (np.ones(len(labels)), labels, np.arange(len(labels) + 1))
    n_parts_of_all = (pins @ scipy.sparse.csr_matrix(each)).nnz
    return over if over > imbalance + 1e-9 else 0.0, n_parts_of_all - pins.shape[0]


def _is_balanced(cut: Any, context: Any) -> bool:
    return bool(cut.imbalance(context) <= context.epsilon + 1e-9)


def _incidence(hyperedges: Any, n_vertices: int) -> Any:
    """Return (m, n_vertices): 1 where a vertex is in a hyperedge of two or more."""
    if scipy.sparse.issparse(hyperedges):
        matrix = scipy.sparse.csr_matrix(hyperedges, copy=True)
    else:
        ends = np.cumsum([0, *map(len, hyperedges)])
        indices = np.array([vertex for edge in hyperedges for vertex in edge], dtype=np.int64)
        shape = (len(ends) - 1, n_vertices)
        matrix = scipy.sparse.csr_matrix((np.ones(len(indices)), indices, ends), shape=shape)
    matrix.sum_duplicates()
    matrix.data[:] = 1
    return matrix[np.diff(matrix.indptr) > 1]


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
