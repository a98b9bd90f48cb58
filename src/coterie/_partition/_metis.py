"""Cutting graphs into balanced parts by METIS (Karypis and Kumar, 1998)."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike, NDArray

from coterie._partition._moves import FINE, PATIENCE, is_soon_improved
from coterie._partition._options import check_imbalance, heaviest_parts
from coterie._progress import stretch

__all__ = ["cut_bipartite_graph", "cut_graph", "cut_weight"]

_ENOUGH_EDGES = 2_000_000  # entries of the graphs of all runs that are compared
_MOST_RUNS = 5
_N_SEEDS = 2**31 - 1
_MOST_BIPARTITE_RUNS = 10  # while some part is without columns


def cut_graph(
    weights: Any,
    n_parts: int,
    *,
    vertex_weights: ArrayLike | None = None,
    imbalance: float = 0.05,
    random_state: int = 0,
    recursive: bool = True,
    n_attempts: int = 20,
    needs: ArrayLike | None = None,
    improve: bool = False,
    most_runs: int = _MOST_RUNS,
) -> NDArray[np.int64]:
    """Return a part for each vertex: parts of about the same weight, few heavy edges cut.

    Two-hop matching, which METIS 4 did not have, is off: it joins objects that have nothing but a
    common cluster, and on the graph of objects and clusters that makes far worse cuts.

    METIS is run with several seeds, and the lightest cut without an empty part is kept. If no
    run gives one, the best is repaired: an empty part gets the vertex that is held least by its
    own part.

    Parameters
    ----------
    weights : SciPy sparse matrix of shape (n, n)
        Symmetric, not negative; the diagonal does not count. Weights that are no integers are
        scaled so that the largest is 10,000, and rounded, to at least 1.
    n_parts : int
        At most the number of vertices (that are needed). None of the parts is empty.
    vertex_weights : array-like of int, shape (n,), optional
        What is balanced; 1 for each if not given.
    imbalance : float, default=0.05
        By how much a part may be heavier than the mean.
    random_state : int, default=0
        Seed of the first run; the next one has the next seed.
    recursive : bool, default=True
        Recursive bisection, else k ways at once.
    n_attempts : int, default=20
        The most runs while some part is empty.
    needs : array-like of bool, shape (n,), optional
        Vertices of which every part must hold one: for instance the objects of a bipartite graph.
    improve : bool, default=False
        Move vertices of each cut without empty parts while that makes it lighter; no part gets
        heavier than METIS made it or `imbalance` allows. With `needs`, and on graphs of more than
        100,000 vertices times parts, cuts are left as they are.
    most_runs : int, default=5
        The most runs without empty parts. There are fewer on graphs of more than 200,000 edges, one
        on the largest.

    Returns
    -------
    labels : ndarray of int64, shape (n,)

    Raises
    ------
    ImportError
        If the package pymetis is not installed.
    """
    graph = scipy.sparse.csr_matrix(weights)
    n = graph.shape[0]
    needed = np.ones(n, dtype=bool) if needs is None else np.asarray(needs, dtype=bool)
    if not 1 <= n_parts <= needed.sum():
        raise ValueError(
            f"n_parts must be between 1 and the number of vertices that parts need "
            f"({int(needed.sum())}); got {n_parts}."
        )
    check_imbalance(imbalance)
    metis = _metis()
    if n_parts == 1:
        return np.zeros(n, dtype=np.int64)
    if n_parts == n:
        return np.arange(n)

    graph = _integer_graph(graph, metis)
    arguments: dict[str, Any] = {"recursive": recursive, **_adjacency(graph, metis)}
    if vertex_weights is not None:
        arguments["vweights"] = np.asarray(vertex_weights, dtype=np.int64)
    improve = improve and needs is None and is_soon_improved(n, n_parts)
    n_runs = int(np.clip(_ENOUGH_EDGES // max(graph.nnz, 1), 1, most_runs))
    best, lowest, n_best_empty = None, np.inf, n_parts + 1
    n_tried = n_valid = 0
    with stretch("cutting the graph (METIS)", n_runs if n_runs > 1 else 0) as done:
        while n_tried < n_attempts and n_valid < n_runs:
            seed = (int(random_state) + n_tried) % _N_SEEDS or _N_SEEDS  # METIS takes 0 as 1
            options = metis.Options(
                seed=seed, ufactor=max(1, round(1000 * min(imbalance, n_parts))), no2hop=1
            )
            labels = np.asarray(metis.part_graph(n_parts, options=options, **arguments)[1])
            labels = labels.astype(np.int64)
            n_empty = n_parts - len(np.unique(labels[needed]))
            if improve and n_empty == 0:
                _improve(graph, labels, n_parts, arguments.get("vweights"), imbalance)
            weight = cut_weight(graph, labels)
            if (n_empty, weight) < (n_best_empty, lowest):
                best, lowest, n_best_empty = labels, weight, n_empty
            n_tried += 1
            n_valid += n_empty == 0
            done[0] = n_valid
    assert best is not None  # n_attempts is at least 1
    return _repaired(graph, best, n_parts, needed) if n_best_empty else best


def cut_bipartite_graph(
    A: Any, n_parts: int, *, imbalance: float = 0.05, random_state: int = 0
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Cut the graph of the rows and columns of A; return a part for each row and each column.

    Rows and columns are vertices of weight 1. Of several runs the lightest cut is kept in which
    every part has columns, if there is one. With three parts or more, recursive bisection tends to
    cut off rows without any column; then parts are also made all at once. Every part has rows.

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
    if n_parts == 1:
        return np.zeros(n, dtype=np.int64), np.zeros(n_columns, dtype=np.int64)
    graph = scipy.sparse.bmat([[None, A.T], [A, None]], format="csr")
    is_row = np.arange(n_columns + n) >= n_columns
    n_runs = int(np.clip(_ENOUGH_EDGES // max(graph.nnz, 1), 1, _MOST_RUNS))
    ways = (True, False) if n_parts > 2 else (True,)
    runs = [(recursive, run) for recursive in ways for run in range(n_runs)]
    if n_parts <= n_columns:  # more, while some part is without columns
        runs += [(way, run) for run in range(n_runs, _MOST_BIPARTITE_RUNS) for way in (True, False)]
    best, lowest = None, (n_parts + 1, np.inf)
    for n_tried, (recursive, run) in enumerate(runs):
        if n_tried >= n_runs * len(ways) and lowest[0] == 0:
            break
        parts = cut_graph(
            graph,
            n_parts,
            imbalance=imbalance,
            random_state=(int(random_state) + run) % _N_SEEDS,
            recursive=recursive,
            n_attempts=1,
            needs=is_row,
        )
        found = (n_parts - len(np.unique(parts[~is_row])), cut_weight(graph, parts))
        if best is None or found < lowest:
            best, lowest = parts, found
    assert best is not None  # there is at least one run
    return best[is_row], best[~is_row]


def cut_weight(graph: Any, labels: NDArray[np.int64]) -> float:
    """Return the weight of the edges between parts (each counted in both directions)."""
    from coterie._kernels.graph_cut import weigh_cut

    return float(weigh_cut((graph.indptr, graph.indices, graph.data), labels))


def _improve(
    graph: Any,
    labels: NDArray[np.int64],
    n_parts: int,
    vertex_weights: NDArray[np.int64] | None,
    imbalance: float,
) -> None:
    """Move vertices while that makes the cut lighter, not parts too heavy; in place."""
    from coterie._kernels.graph_cut import improve_cut
    from coterie._kernels.hypergraph import weigh_parts

    if vertex_weights is None:
        vertex_weights = np.ones(len(labels), dtype=np.int64)
    found, _ = weigh_parts(vertex_weights, labels, n_parts)
    heaviest = np.maximum(found, heaviest_parts(vertex_weights, n_parts, imbalance))
    arrays = graph.indptr, graph.indices, graph.data
    improve_cut(arrays, vertex_weights, labels, heaviest, PATIENCE)


def _repaired(
    graph: Any, labels: NDArray[np.int64], n_parts: int, needed: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Give each part without a needed vertex the one that is held least where it is.

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
            rounded = np.maximum(1, np.rint(data * (FINE / data.max())))
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
