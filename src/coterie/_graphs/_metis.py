"""Cutting graphs into balanced parts by METIS (Karypis and Kumar, 1998)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike, NDArray

from coterie._checks import check_number
from coterie._progress import track_progress

__all__ = ["cut_bipartite_graph", "cut_graph"]

_N_CUTS = 5  # that METIS makes in one run, of which it returns the lightest
_MOST_RUNS = 10  # while some part is empty
_N_SEEDS = 2**31 - 1
_FINE = 10_000  # what the largest weight becomes where weights are no integers


def cut_graph(
    weights: Any,
    n_parts: int,
    *,
    vertex_weights: ArrayLike | None = None,
    imbalance: float = 0.05,
    random_state: int = 0,
) -> NDArray[np.int64]:
    """Return a part for each vertex: parts of about the same weight, few heavy edges cut.

    METIS halves the graph again and again. If a part is empty, it runs again with the next seed.
    If no run fills all parts, an empty part gets the vertex that is held least by its own part.

    Parameters
    ----------
    weights : SciPy sparse matrix of shape (n, n)
        Symmetric, not negative; the diagonal does not count. Weights that are no integers are
        scaled so that the largest is 10,000, and rounded, to at least 1.
    n_parts : int
        At most the number of vertices. None of the parts is empty.
    vertex_weights : array-like of int, shape (n,), optional
        What is balanced; 1 for each if not given.
    imbalance : float, default=0.05
        By how much a part may be heavier than the mean.
    random_state : int, default=0
        Seed.

    Returns
    -------
    labels : ndarray of int64, shape (n,)

    Raises
    ------
    ImportError
        If the package pymetis is not installed.
    """
    graph = scipy.sparse.csr_matrix(weights)
    needed = np.ones(graph.shape[0], dtype=bool)
    runs = ((int(random_state) + run, True) for run in range(_MOST_RUNS))
    return _cut(graph, n_parts, needed, runs, vertex_weights, imbalance)


def cut_bipartite_graph(
    A: Any, n_parts: int, *, imbalance: float = 0.05, random_state: int = 0
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Cut the graph of the rows and columns of A; return a part for each row and each column.

    Rows and columns are vertices of weight 1. Every part has rows, and columns if METIS finds such
    a cut. Halving tends to cut off rows without any column, so METIS also makes all parts at once,
    and the lighter cut is kept; it runs again while some part is empty.

    Parameters
    ----------
    A : SciPy sparse matrix of shape (n, r)
        Weights of the edges, not negative.
    n_parts : int
        At most n.
    imbalance, random_state
        As for `cut_graph`.
    """
    n, n_columns = A.shape
    graph = scipy.sparse.bmat([[None, A.T], [A, None]], format="csr")
    is_row = np.arange(n_columns + n) >= n_columns
    runs = ((int(random_state) + run // 2, run % 2 == 0) for run in range(_MOST_RUNS))
    parts = _cut(graph, n_parts, is_row, runs, None, imbalance, least_runs=2)
    return parts[is_row], parts[~is_row]


def _cut(
    graph: Any,
    n_parts: int,
    needed: NDArray[np.bool_],
    runs: Iterable[tuple[int, bool]],
    vertex_weights: ArrayLike | None,
    imbalance: float,
    least_runs: int = 1,
) -> NDArray[np.int64]:
    """Return the best cut of runs (seed, recursive), until in one no part is empty.

    Parts need both vertices that are `needed` and others, if there are any. The best cut has the
    fewest empty parts; of equal ones it is the lightest. Parts without needed vertices are filled.
    """
    n, n_needed = len(needed), int(needed.sum())
    if not 1 <= n_parts <= n_needed:
        raise ValueError(
            f"n_parts must be between 1 and the number of vertices that parts need ({n_needed}); "
            f"got {n_parts}."
        )
    check_number("imbalance", imbalance)
    metis = _metis()
    if n_parts == 1:
        return np.zeros(n, dtype=np.int64)
    if n_parts == n:
        return np.arange(n)
    graph = _integer_graph(graph, metis)
    arguments = _adjacency(graph, metis)
    if vertex_weights is not None:
        arguments["vweights"] = np.asarray(vertex_weights, dtype=np.int64)
    n_others = min(n_parts, n - n_needed)  # parts that can have others
    best, lowest = np.empty(0, dtype=np.int64), (n_parts + 1, 0, 0)
    with track_progress("cutting the graph (METIS)"):
        for run, (seed, recursive) in enumerate(runs, start=1):
            options = metis.Options(
                seed=seed % _N_SEEDS or _N_SEEDS,  # METIS takes 0 as 1
                ufactor=max(1, round(1000 * min(imbalance, n_parts))),
                ncuts=_N_CUTS,
                # Two-hop matching, which METIS 4 did not have, joins objects that have nothing but
                # a common cluster: far worse cuts of the graph of objects and clusters.
                no2hop=1,
            )
            found = metis.part_graph(n_parts, recursive=recursive, options=options, **arguments)
            labels = np.asarray(found[1], dtype=np.int64)
            cost = (
                n_parts - len(np.unique(labels[needed])),
                max(0, n_others - len(np.unique(labels[~needed]))),
                int(found[0]),
            )
            if cost < lowest:
                best, lowest = labels, cost
            if run >= least_runs and lowest[:2] == (0, 0):
                break
    return _repaired(graph, best, n_parts, needed) if lowest[0] else best


def _repaired(
    graph: Any, labels: NDArray[np.int64], n_parts: int, needed: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Move into each part without a needed vertex the one that is held least by its own part.

    The first of equal ones, out of parts that hold several.
    """
    labels = labels.copy()
    sizes = np.bincount(labels[needed], minlength=n_parts)
    sources = np.repeat(np.arange(len(labels)), np.diff(graph.indptr))
    for part in np.flatnonzero(sizes == 0):
        inside = labels[sources] == labels[graph.indices]
        held = np.bincount(sources, weights=graph.data * inside, minlength=len(labels))
        movable = needed & (sizes[labels] > 1)
        vertex = int(np.argmin(np.where(movable, held, np.inf)))
        sizes[labels[vertex]] -= 1
        labels[vertex] = part
        sizes[part] = 1
    return labels


def _integer_graph(graph: Any, metis: Any) -> Any:
    """Return the graph without its diagonal, with integer weights whose sum METIS can hold."""
    graph = graph - scipy.sparse.diags(graph.diagonal(), format="csr", dtype=graph.dtype)
    graph.eliminate_zeros()
    graph.sort_indices()
    data = graph.data
    if data.dtype.kind not in "iub":
        rounded = np.rint(data)
        if not np.array_equal(rounded, data):
            rounded = np.maximum(1, np.rint(data * (_FINE / data.max())))
        data = rounded
    data = data.astype(np.int64)
    # METIS adds weights up in its own integers, which may have 32 bits.
    width = getattr(metis._internal, "_idx_type_width", lambda: 32)()
    most = 2.0 ** (int(width) - 2)
    total = float(data.sum(dtype=np.float64))
    if total > most:
        data = np.maximum(1, np.floor(data * (most / total))).astype(np.int64)
    return scipy.sparse.csr_matrix((data, graph.indices, graph.indptr), shape=graph.shape)


def _adjacency(graph: Any, metis: Any) -> dict[str, Any]:
    indptr = graph.indptr.astype(np.int64)
    indices = graph.indices.astype(np.int64)
    if not len(indices):
        return {"adjacency": [[] for _ in range(graph.shape[0])]}
    if hasattr(metis, "CSRAdjacency"):
        return {"adjacency": metis.CSRAdjacency(indptr, indices), "eweights": graph.data}
    return {"xadj": indptr, "adjncy": indices, "eweights": graph.data}


def _metis() -> Any:
    try:
        import pymetis
        import pymetis._internal
    except ImportError as error:
        raise ImportError(
            "partitioner='metis' needs the package pymetis, which is not installed: "
            "pip install \"coterie[metis]\", or use partitioner='spectral', which needs nothing."
        ) from error
    return pymetis
