"""The largest eigenvalues of symmetric matrices.

Of small ones by LAPACK; of larger ones, which may be given as a product G'G of a sparse G, by the
method of Lanczos, piece by piece where they are those of a graph in several pieces.
"""

from __future__ import annotations

from inspect import signature
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse
import scipy.sparse.csgraph
import scipy.sparse.linalg
from numpy.typing import NDArray

from coterie._memory import check_fits, memory_limit_bytes
from coterie._progress import stretch

__all__ = ["EQUAL", "SMALL", "WAY_OUT", "ZERO", "Product", "lanczos", "largest_pairs"]

ZERO = 1e-10  # eigenvalues of a normalised similarity lie between 0 and 1
EQUAL = 1e-9
WAY_OUT = "Use fewer partitions (select) or partitions with fewer clusters"
SMALL = 400  # rows of an eigenproblem that is quickly solved whatever the way
_BYTES = 24  # for each entry of a matrix that LAPACK is given
_ROUGHLY = 1e-2  # how nearly it must be known whether an eigenvalue was missed
_FEW = 50  # rows of a matrix with many entries that are looked at to see it as one piece
_DENSE = 0.2  # share of entries that are not 0, up to which a matrix is worth taking as sparse

# What ARPACK draws where a start is used up, the same in every run (SciPy 1.17 and later).
_SEED = {"rng": 0} if "rng" in signature(scipy.sparse.linalg.eigsh).parameters else {}


class _Operator(scipy.sparse.linalg.LinearOperator):
    """What multiplies a vector, or several, without checks: on small ones these cost as much."""

    def __init__(self, shape: tuple[int, int], one: Any, many: Any = None) -> None:
        super().__init__(np.float64, shape)
        self.matvec, self._matmat = one, many

    def _matvec(self, vector: NDArray[np.float64]) -> NDArray[np.float64]:
        return self.matvec(vector)


class Product:
    """G'G for a sparse G, which is never made."""

    def __init__(self, factor: Any) -> None:
        self._factor = factor.tocsr()
        self.shape = (factor.shape[1], factor.shape[1])

    def pieces(self) -> tuple[int, NDArray[np.int32]]:
        """Return the number of pieces of the graph, and the piece of each row."""
        G = self._factor
        graph = scipy.sparse.bmat([[None, G.T], [G, None]], format="csr")
        piece = scipy.sparse.csgraph.connected_components(graph, directed=False)[1]
        # Rows of G without entries are pieces too, but not of G'G: the others are numbered anew.
        piece = np.unique(piece[: self.shape[0]], return_inverse=True)[1].astype(np.int32)
        return int(piece.max()) + 1, piece

    def block(self, members: NDArray[np.int64]) -> Product:
        """Return the matrix of some rows, which have nothing in common with others."""
        columns = self._factor[:, members]
        return Product(columns[np.diff(columns.indptr) > 0])

    def diagonal(self) -> NDArray[np.float64]:
        """Return the diagonal."""
        return np.asarray(self._factor.multiply(self._factor).sum(axis=0)).ravel()

    def operator(self) -> Any:
        """Return what multiplies vectors."""
        G, turned = self._factor, self._factor.T.tocsr()
        return _Operator(self.shape, lambda v: turned @ (G @ v), lambda V: turned @ (G @ V))

    def toarray(self) -> NDArray[np.float64]:
        """Return the matrix."""
        found: NDArray[np.float64] = (self._factor.T @ self._factor).toarray()
        return found


class _Sparse:
    """A sparse matrix, in the same terms."""

    def __init__(self, matrix: Any) -> None:
        self._matrix = matrix
        self.shape = matrix.shape
        self.diagonal, self.toarray = matrix.diagonal, matrix.toarray

    def pieces(self) -> tuple[int, NDArray[np.int32]]:
        # Most often there is one, which is seen sooner so.
        reached = scipy.sparse.csgraph.breadth_first_order(
            self._matrix, 0, return_predecessors=False
        )
        if len(reached) == self.shape[0]:
            return 1, np.zeros(self.shape[0], dtype=np.int32)
        return scipy.sparse.csgraph.connected_components(self._matrix, directed=False)

    def block(self, members: NDArray[np.int64]) -> _Sparse:
        return _Sparse(self._matrix[members][:, members])

    def operator(self) -> Any:
        """Return what multiplies vectors, quicker than the matrix itself."""
        from coterie._kernels.symmetric import after_diagonal, multiply

        graph = self._matrix
        graph.sort_indices()
        ends, indices = graph.indptr, graph.indices.view(np.uint32)  # unsigned: quicker to look up
        parts = (ends, indices, graph.data, after_diagonal(ends, graph.indices), graph.diagonal())
        return _Operator(
            graph.shape, lambda vector: multiply(*parts, vector), lambda vectors: graph @ vectors
        )


class _Dense:
    """A matrix with many entries, in the same terms."""

    def __init__(self, matrix: NDArray[np.float64]) -> None:
        self._matrix = matrix
        self.shape = matrix.shape
        self.diagonal = matrix.diagonal

    def pieces(self) -> tuple[int, NDArray[np.int32]]:
        # Most often there is one, which is seen from a few rows.
        reached = self._matrix[0] != 0
        for row in range(1, min(_FEW, len(reached))):
            if reached[row]:
                reached |= self._matrix[row] != 0
        if reached.all():
            return 1, np.zeros(self.shape[0], dtype=np.int32)
        return scipy.sparse.csgraph.connected_components(self._matrix != 0, directed=False)

    def block(self, members: NDArray[np.int64]) -> _Dense:
        return _Dense(self._matrix[np.ix_(members, members)])

    def operator(self) -> Any:
        """Return what multiplies vectors, reading half of the matrix."""
        matrix = self._matrix.T  # the same, in the order of columns
        return _Operator(
            self.shape,
            lambda vector: scipy.linalg.blas.dsymv(1.0, matrix, vector),
            lambda vectors: matrix @ vectors,
        )

    def toarray(self) -> NDArray[np.float64]:
        return self._matrix


_Graph = Product | _Sparse | _Dense


def largest_pairs(gram: Any, n_wanted: int) -> tuple[Any, Any]:
    """Return the largest eigenvalues, in rising order, and their vectors.

    There are more than `n_wanted` where the last one equals others: then all of these.

    Parameters
    ----------
    gram : array, SciPy sparse matrix or Product, of shape (m, m)
    n_wanted : int
        At most m.
    """
    size = gram.shape[0]
    with stretch("eigenvectors"):
        if isinstance(gram, Product):
            return _largest_of_pieces(gram, n_wanted)
        if size <= SMALL:
            return _by_lapack(gram, n_wanted)
        return _largest_of_pieces(_as_graph(gram), n_wanted)


def _as_graph(matrix: Any) -> _Sparse | _Dense:
    """Return what a matrix is multiplied by soonest."""
    size = matrix.shape[0]
    is_sparse = scipy.sparse.issparse(matrix)
    n_entries = matrix.nnz if is_sparse else np.count_nonzero(matrix)
    if n_entries <= _DENSE * size**2 or (is_sparse and _BYTES * size**2 > memory_limit_bytes()):
        return _Sparse(scipy.sparse.csr_matrix(matrix))
    return _Dense(matrix.toarray() if is_sparse else np.ascontiguousarray(matrix))


def _largest_of_pieces(graph: _Graph, n_wanted: int) -> tuple[Any, Any]:
    """Return the same for a matrix that may be that of a graph in several pieces.

    Each piece has eigenvectors of its own, the first of them with the same eigenvalue in all
    pieces. Of each, so many are found that none of the largest of all is missing.
    """
    n_pieces, piece = graph.pieces()
    if n_pieces == 1:
        return _largest_of_piece(graph, n_wanted, n_wanted)
    order, sizes = np.argsort(piece, kind="stable"), np.bincount(piece)
    members = np.split(order, np.cumsum(sizes)[:-1])
    found: list[tuple[Any, Any]] = [(np.empty(0), None)] * n_pieces
    n_asked = np.zeros(n_pieces, dtype=np.int64)
    short = np.arange(n_pieces)  # pieces of which more may be wanted
    while len(short):
        n_asked[short] = np.minimum(sizes[short], np.maximum(2, 2 * n_asked[short]))
        for p in short:
            found[p] = _largest_of_piece(graph.block(members[p]), int(n_asked[p]), n_wanted)
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


def _largest_of_piece(graph: _Graph, n_wanted: int, n_most: int) -> tuple[Any, Any]:
    """Return the same for a graph in one piece; `n_most` of them where these cost hardly more."""
    size = graph.shape[0]
    is_small = size <= SMALL
    suits_lapack = is_small or n_wanted >= size // 8
    if n_wanted + 1 < size and not (suits_lapack and _BYTES * size**2 <= memory_limit_bytes()):
        # One more shows whether the last is alone.
        found = lanczos(graph.operator(), n_wanted + 1, np.sqrt(np.abs(graph.diagonal())))
        if found is not None:
            return found[0][1:], found[1][:, 1:]
    return _by_lapack(graph, n_wanted if is_small else min(size, max(n_wanted, n_most)))


def _by_lapack(matrix: Any, n_wanted: int) -> tuple[Any, Any]:
    size = matrix.shape[0]
    if not isinstance(matrix, np.ndarray):
        if not isinstance(matrix, _Dense):  # which is there already
            check_fits(_BYTES * size**2, f"the eigenproblem of {size} by {size}", way_out=WAY_OUT)
        matrix = matrix.toarray()
    if n_wanted < size // 8:
        try:
            values, vectors = scipy.linalg.eigh(
                matrix, subset_by_index=(size - n_wanted - 1, size - 1)
            )
        except np.linalg.LinAlgError:
            values = np.empty(0)
        # LAPACK can fail to tell many equal ones apart, and may then return fewer.
        is_whole = len(values) == n_wanted + 1
        if is_whole and (values[0] < values[1] - EQUAL or values[1] < ZERO):
            return values[1:], vectors[:, 1:]
    values, vectors = scipy.linalg.eigh(matrix, driver="evd")
    kept = values >= values[size - n_wanted] - EQUAL
    return values[kept], vectors[:, kept]


def lanczos(matrix: Any, n_wanted: int, near: NDArray[np.float64]) -> tuple[Any, Any] | None:
    """Return the same by the method of Lanczos; None where it cannot be relied on.

    It may miss copies of an equal eigenvalue, and whatever is orthogonal to its start. So it starts
    at random, about `near`, and is not believed where it finds two that are equal, does not meet
    the equation to rounding, or something larger is left when all that was found is taken away.
    """
    size = matrix.shape[0]
    n_kept = min(size, 2 * n_wanted + 28)  # more than usual: fewer products, which cost most
    check_fits(
        8 * size * (n_kept + 2 * n_wanted),
        f"the search for {n_wanted} eigenvectors of {size} by {size}",
        way_out=WAY_OUT,
    )
    random = np.random.default_rng(0)
    start = (near + 1.0 / size) * random.uniform(0.5, 1.5, size)
    try:
        values, vectors = scipy.sparse.linalg.eigsh(
            matrix, n_wanted, v0=start, which="LA", ncv=n_kept, **_SEED
        )
        order = np.argsort(values)
        values, vectors = values[order], vectors[:, order]
        off = np.abs(matrix @ vectors - vectors * values).max()
        if off > 1e-12 or np.diff(values).min(initial=1.0) < EQUAL:
            return None
        left = _Operator(
            matrix.shape,
            lambda v: matrix.matvec(v) - vectors @ ((values + 1.0) * (vectors.T @ v)),
        )
        start = random.standard_normal(size)
        start -= vectors @ (vectors.T @ start)
        most = scipy.sparse.linalg.eigsh(
            left, 1, v0=start, which="LA", tol=_ROUGHLY, return_eigenvectors=False, **_SEED
        )
    except scipy.sparse.linalg.ArpackError:
        return None
    return (values, vectors) if most[0] <= values[0] + EQUAL else None
