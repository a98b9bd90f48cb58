"""The largest eigenvalues of symmetric matrices with few entries, or of any that are small."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse
import scipy.sparse.csgraph
import scipy.sparse.linalg
from numpy.typing import NDArray

from coterie._memory import check_fits
from coterie._progress import stretch

__all__ = ["EQUAL", "WAY_OUT", "ZERO", "lanczos", "largest_pairs"]

ZERO = 1e-10  # eigenvalues of a normalised similarity lie between 0 and 1
EQUAL = 1e-9
WAY_OUT = "Use fewer partitions (select) or partitions with fewer clusters"
_SMALL = 400  # rows of an eigenproblem that is quickly solved whatever the way
_DENSE = 0.4  # share of entries that are not 0, up to which a matrix is worth taking as sparse


def largest_pairs(gram: Any, n_wanted: int) -> tuple[Any, Any]:
    """Return the largest eigenvalues, in rising order, and their vectors.

    There are more than `n_wanted` where the last one equals others: then all of these.
    """
    size = gram.shape[0]
    with stretch("eigenvectors"):
        if size > _SMALL:
            sparse = scipy.sparse.csr_matrix(gram)
            if sparse.nnz <= _DENSE * size**2:
                return _largest_of_pieces(sparse, n_wanted)
        return _by_lapack(gram, n_wanted)


def _largest_of_pieces(graph: Any, n_wanted: int) -> tuple[Any, Any]:
    """Return the same for a sparse matrix, which may be that of a graph in several pieces.

    Each piece has eigenvectors of its own, the first of them with the same eigenvalue in all
    pieces. Of each, so many are found that none of the largest of all is missing.
    """
    reached = scipy.sparse.csgraph.breadth_first_order(graph, 0, return_predecessors=False)
    if len(reached) == graph.shape[0]:
        return _largest_of_piece(graph, n_wanted, n_wanted)
    n_pieces, piece = scipy.sparse.csgraph.connected_components(graph, directed=False)
    order, sizes = np.argsort(piece, kind="stable"), np.bincount(piece)
    members = np.split(order, np.cumsum(sizes)[:-1])
    found: list[tuple[Any, Any]] = [(np.empty(0), None)] * n_pieces
    n_asked = np.zeros(n_pieces, dtype=np.int64)
    short = np.arange(n_pieces)  # pieces of which more may be wanted
    while len(short):
        n_asked[short] = np.minimum(sizes[short], np.maximum(2, 2 * n_asked[short]))
        for p in short:
            block = graph[members[p]][:, members[p]]
            found[p] = _largest_of_piece(block, int(n_asked[p]), n_wanted)
        n_found = np.array([len(own) for own, _ in found])
        values = np.concatenate([own for own, _ in found])
        bar = np.sort(values)[-n_wanted] - EQUAL if len(values) >= n_wanted else -np.inf
        short = np.flatnonzero((n_found < sizes) & ([own[0] >= bar for own, _ in found]))
    owners, firsts = np.repeat(np.arange(n_pieces), n_found), np.cumsum(n_found) - n_found
    chosen = np.argsort(values, kind="stable")
    chosen = chosen[values[chosen] >= bar]
    check_fits(
        24 * graph.shape[0] * len(chosen),
        f"{len(chosen)} eigenvectors of a graph in {n_pieces} pieces",
        way_out=WAY_OUT,
    )
    vectors = np.zeros((graph.shape[0], len(chosen)))
    for column, c in enumerate(chosen):
        p = owners[c]
        vectors[members[p], column] = found[p][1][:, c - firsts[p]]
    return values[chosen], vectors


def _largest_of_piece(graph: Any, n_wanted: int, n_most: int) -> tuple[Any, Any]:
    """Return the same for a graph in one piece; `n_most` of them where these cost hardly more.

    The method of Lanczos may miss copies of an equal eigenvalue. So it is not believed where it
    finds two that are equal or does not meet the equation to rounding.
    """
    size = graph.shape[0]
    if size <= _SMALL:
        return _by_lapack(graph, n_wanted)
    if n_wanted < size // 8:
        start = np.sqrt(np.abs(graph.diagonal())) + 1.0 / size
        # One more shows whether the last is alone.
        found = lanczos(_symmetric_operator(graph), n_wanted + 1, start)
        if found is not None:
            return found[0][1:], found[1][:, 1:]
    return _by_lapack(graph, min(size, max(n_wanted, n_most)))


def _symmetric_operator(graph: Any) -> Any:
    """Return what multiplies vectors by a sparse symmetric matrix, quicker than itself."""
    from coterie._kernels.symmetric import after_diagonal, multiply

    graph.sort_indices()
    ends, indices = graph.indptr, graph.indices.view(np.uint32)  # unsigned: quicker to look up
    parts = (ends, indices, graph.data, after_diagonal(ends, graph.indices), graph.diagonal())
    return scipy.sparse.linalg.LinearOperator(
        graph.shape,
        matvec=lambda vector: multiply(*parts, vector.ravel()),
        matmat=lambda vectors: graph @ vectors,
        dtype=np.float64,
    )


def _by_lapack(matrix: Any, n_wanted: int) -> tuple[Any, Any]:
    size = matrix.shape[0]
    if scipy.sparse.issparse(matrix):
        check_fits(24 * size**2, f"the eigenproblem of {size} by {size}", way_out=WAY_OUT)
        matrix = matrix.toarray()
    if n_wanted < size // 8:
        try:
            values, vectors = scipy.linalg.eigh(
                matrix, subset_by_index=(size - n_wanted - 1, size - 1)
            )
        except np.linalg.LinAlgError:  # LAPACK can fail to tell many equal ones apart
            pass
        else:
            if values[0] < values[1] - EQUAL or values[1] < ZERO:
                return values[1:], vectors[:, 1:]
    values, vectors = scipy.linalg.eigh(matrix, driver="evd")
    kept = values >= values[size - n_wanted] - EQUAL
    return values[kept], vectors[:, kept]


def lanczos(matrix: Any, n_wanted: int, start: NDArray[np.float64]) -> tuple[Any, Any] | None:
    """Return the same by the method of Lanczos; None where it cannot be relied on."""
    try:
        # More vectors than usual are kept: fewer products with the matrix, which cost most.
        values, vectors = scipy.sparse.linalg.eigsh(
            matrix, n_wanted, v0=start, which="LA", ncv=min(matrix.shape[0], 2 * n_wanted + 28)
        )
    except scipy.sparse.linalg.ArpackError:
        return None
    order = np.argsort(values)
    values, vectors = values[order], vectors[:, order]
    off = np.abs(matrix @ vectors - vectors * values).max()
    if off > 1e-12 or np.diff(values).min(initial=1.0) < EQUAL:
        return None
    return values, vectors
