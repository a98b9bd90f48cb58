"""Spectral cuts (Ng, Jordan and Weiss, 2002), without a matrix of all pairs of objects.

The k leading eigenvectors of a similarity, normalised by degrees, give each object a row; rows are
scaled to length 1 and clustered by k-means. Where the similarity is a product BB', or the graph is
bipartite with edge weights B, they follow from the smaller of two eigenproblems: if GG' is the
normalised similarity and v an eigenvector of G'G with eigenvalue s, then Gv / sqrt(s) is an
eigenvector of GG'.
"""

from __future__ import annotations

from inspect import signature
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse
import scipy.sparse.linalg
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from coterie._graphs._bipartite import (
    HINT,
    LabelGraph,
    MatrixGraph,
    as_graph,
    scale_matrix,
)
from coterie._graphs._cluster_rows import cluster_rows, fill_empty_parts, most_rows
from coterie._kernels.clusters import add_rows, nearest_centers
from coterie._limits import check_fits, one_thread
from coterie._progress import track_progress
from coterie.blocks import LabelBlocks, Lookup, Rule, sample_rows

__all__ = [
    "BipartiteParts",
    "BlockCut",
    "cut_blocks",
    "similarity_cut",
    "spectral_cut",
    "transfer_cut",
]

_SMALL = 500  # rows of an eigenproblem that LAPACK solves whole
_DENSE = 4096  # rows of an eigenproblem whose matrix is made; past that, products with B
_ZERO = 1e-10  # eigenvalues of a normalised similarity are at most 1

# ARPACK draws a vector where a start is used up: the same in every run (SciPy 1.17 and later).
_SEED = {"rng": 0} if "rng" in signature(scipy.sparse.linalg.eigsh).parameters else {}


class BipartiteParts(NamedTuple):
    """Parts of a bipartite graph."""

    objects: NDArray[np.int64]
    """(n,): the part of each object; no part is without objects."""
    clusters: NDArray[np.int64]
    """(r,): the part of each column."""


class Embedding(NamedTuple):
    """Directions of the vertices of a bipartite graph: rows of length 1, or 0 without edges."""

    rows: NDArray[np.float64]
    """(p, d)."""
    columns: NDArray[np.float64]
    """(r, d)."""
    table: NDArray[np.float64]
    """(r, d): rows are B @ table, scaled to length 1. It embeds new rows as well."""
    degrees: NDArray[np.float64]
    """(r,): degrees of rows are B @ degrees."""
    length: float
    """Of the vector of the square roots of the degrees of all objects."""


# --- cuts --------------------------------------------------------------------------------------


@one_thread()
def transfer_cut(
    B: Any, n_parts: int, *, skip_first: bool = False, random_state: int = 0, n_init: int = 10
) -> BipartiteParts:
    """Cut a bipartite graph of objects and clusters (transfer cut; Li, Wu and Chang, 2012).

    With B (p, r) the weights of the edges, D the row sums of B and W = B' D^-1 B: the k leading
    eigenvectors V of W, normalised by its degrees, place the columns at degree^-1/2 V and the
    objects at D^-1 B degree^-1/2 V, the mean of their columns. Rows are scaled to length 1, and
    objects are clustered by k-means; columns go to the nearest centre. Only an eigenproblem of the
    smaller side of B is solved, and never one of n x n.

    Parameters
    ----------
    B : LabelGraph, MatrixGraph, array or SciPy sparse matrix
        `LabelGraph(ensemble, weights)` for the objects and clusters of an ensemble, with a weight
        for each cluster; `MatrixGraph(B, counts, inverse)` for any other weights of distinct rows;
        a matrix has one object for each row. Not negative.
    n_parts : int
        At most the number of objects. Every part gets an object.
    skip_first : bool, default=False
        Use eigenvectors 2 to k+1 instead of 1 to k.
    random_state : int, default=0
        Seed of k-means.
    n_init : int, default=10
        Number of starts of k-means.

    Returns
    -------
    parts : BipartiteParts
        `objects` (n,) and `clusters` (r,), the columns in the order of the ensemble's clusters.

    Notes
    -----
    The result does not depend on the names of the ensemble's clusters. A row without edges lies at
    the origin.

    Examples
    --------
    >>> from coterie import Ensemble
    >>> votes = [[0, 0, 0], [0, 0, 1], [0, 0, 0], [1, 1, 1], [1, -1, 1], [1, 1, 1]]
    >>> parts = transfer_cut(LabelGraph(Ensemble(votes)), 2)
    >>> parts.objects, parts.clusters
    (array([1, 1, 1, 0, 0, 0]), array([1, 0, 1, 0, 1, 0]))
    """
    graph = as_graph(B)
    rows, columns, *_ = embed_bipartite(graph, n_parts, skip_first=skip_first)
    objects, centers = _cluster(rows, graph, n_parts, random_state, n_init)
    nearest = np.argmin((centers**2).sum(axis=1) - 2.0 * columns @ centers.T, axis=1)
    return BipartiteParts(objects, graph.named(nearest))


@one_thread()
def similarity_cut(
    B: Any, n_parts: int, *, skip_first: bool = False, random_state: int = 0, n_init: int = 10
) -> NDArray[np.int64]:
    """Cut the graph of objects whose similarity is BB', its diagonal kept; BB' is never made.

    Parameters
    ----------
    B, n_parts, skip_first, random_state, n_init
        As for `transfer_cut`.

    Returns
    -------
    labels : ndarray of int64, shape (n,)
    """
    graph = as_graph(B)
    rows = embed_product(graph, n_parts, skip_first=skip_first)
    return _cluster(rows, graph, n_parts, random_state, n_init)[0]


@one_thread()
def spectral_cut(
    similarity: Any,
    n_parts: int,
    *,
    skip_first: bool = False,
    random_state: int = 0,
    n_init: int = 10,
) -> NDArray[np.int64]:
    """Cut a graph given by its similarity matrix.

    Parameters
    ----------
    similarity : array or SciPy sparse matrix of shape (n, n)
        Symmetric, not negative; its diagonal is kept.
    n_parts, skip_first, random_state, n_init
        As for `transfer_cut`.

    Returns
    -------
    labels : ndarray of int64, shape (n,)
    """
    rows = embed_similarity(similarity, n_parts, skip_first=skip_first)
    return _cluster(rows, MatrixGraph(similarity), n_parts, random_state, n_init)[0]


class SpectralRule(NamedTuple):
    """Embeds label rows and puts them to the nearest centre."""

    offsets: NDArray[np.int64]
    table: NDArray[np.float64]
    """(K, d): see `Embedding.table`, by the clusters of the ensemble."""
    degrees: NDArray[np.float64]
    """(K, 1)."""
    length: float
    centers: NDArray[np.float64]

    def __call__(self, codes: NDArray[np.int32], start: int) -> NDArray[np.int64]:
        """Return the part of each row."""
        degrees = add_rows(codes, self.offsets, self.degrees)[:, 0]
        rows = add_rows(codes, self.offsets, self.table)
        rows *= _inverse_root(degrees)[:, None]
        expected = np.sqrt(degrees) / max(self.length, 1e-300)
        return nearest_centers(_unit_rows(rows, expected), self.centers)


class BlockCut(NamedTuple):
    """A spectral cut of objects that come in blocks."""

    rule: Rule
    clusters: NDArray[np.int64]
    """(K,): the part of each cluster."""


@one_thread()
def cut_blocks(
    blocks: LabelBlocks,
    n_parts: int,
    *,
    weights: NDArray[np.float64] | None = None,
    product: bool = False,
    skip_first: bool = False,
    random_state: int = 0,
) -> BlockCut:
    """Cut the graph of objects and clusters, or with `product` that of objects, in blocks.

    As `transfer_cut` and `similarity_cut`, with one difference: where k-means is fitted to a
    sample, a part that no object is nearest to stays empty.
    """
    sample = sample_rows(blocks, most_rows(n_parts, n_parts), random_state)
    if n_parts > len(sample.rows):
        raise ValueError(
            f"n_clusters must be at most the number of distinct label rows ({len(sample.rows)}) "
            f"where rows come in blocks; got {n_parts}."
        )
    graph = LabelGraph(blocks, weights, sample)
    embed = _embed_by_product if product else embed_bipartite
    found = embed(graph, n_parts, skip_first=skip_first)
    parts, centers = _cluster(found.rows, graph, n_parts, random_state, 10)
    nearest = np.argmin((centers**2).sum(axis=1) - 2.0 * found.columns @ centers.T, axis=1)
    rule: Rule = Lookup(sample.rows, parts)
    if not sample.is_whole:
        table = np.ascontiguousarray(graph.by_cluster(found.table))
        degrees = graph.by_cluster(found.degrees)[:, None]
        rule = SpectralRule(blocks.offsets, table, degrees, found.length, centers)
    return BlockCut(rule, graph.named(nearest))


def _cluster(
    rows: NDArray[np.float64],
    graph: LabelGraph | MatrixGraph,
    n_parts: int,
    random_state: int,
    n_init: int,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Cluster the rows of an embedding; return a part for each object, and the centres."""
    n_rows = len(rows) if graph.inverse is None else int(graph.inverse.max()) + 1
    labels, centers = cluster_rows(
        rows,
        n_parts,
        counts=graph.counts,
        inverse=graph.inverse,
        random_state=random_state,
        n_init=n_init,
    )
    distances = ((rows - centers[labels]) ** 2).sum(axis=1)
    objects = fill_empty_parts(
        labels[:n_rows], n_parts, distances=distances[:n_rows], inverse=graph.inverse
    )
    return objects, centers


# --- embeddings --------------------------------------------------------------------------------


def embed_bipartite(
    graph: LabelGraph | MatrixGraph, n_vectors: int, *, skip_first: bool = False
) -> Embedding:
    """Embed rows at the mean of their columns, as `transfer_cut` says."""
    ones = np.ones(graph.shape[1])
    column_scale = _inverse_root(graph.column_sums())
    return _embed(graph, ones, column_scale, n_vectors, skip_first=skip_first, power=0.5)


def embed_product(
    graph: LabelGraph | MatrixGraph, n_vectors: int, *, skip_first: bool = False
) -> NDArray[np.float64]:
    """Embed rows by the eigenvectors of BB', normalised by its degrees."""
    return _embed_by_product(graph, n_vectors, skip_first=skip_first).rows


def _embed_by_product(
    graph: LabelGraph | MatrixGraph, n_vectors: int, *, skip_first: bool = False
) -> Embedding:
    sums, column_scale = graph.column_sums(), np.ones(graph.shape[1])
    return _embed(graph, sums, column_scale, n_vectors, skip_first=skip_first, power=0.0)


def embed_similarity(
    similarity: Any, n_vectors: int, *, skip_first: bool = False
) -> NDArray[np.float64]:
    """Embed vertices by the eigenvectors of a similarity matrix, normalised by its degrees."""
    matrix = MatrixGraph(similarity).matrix
    degrees = np.asarray(matrix.sum(axis=1)).ravel()
    scale, trivial = _inverse_root(degrees), np.sqrt(degrees)
    normalised = scale_matrix(matrix, scale, scale)
    _, vectors = _leading_eigenpairs(normalised, trivial, n_vectors, skip_first)
    return _unit_rows(vectors, trivial / max(float(np.linalg.norm(trivial)), 1e-300))


def _embed(
    graph: LabelGraph | MatrixGraph,
    degree_table: NDArray[np.float64],
    column_scale: NDArray[np.float64],
    n_vectors: int,
    *,
    skip_first: bool,
    power: float,
) -> Embedding:
    """Embed by the singular vectors of G = diag(counts / degrees)^1/2 B diag(column_scale).

    Degrees of rows are B @ degree_table. Coordinates of rows are multiplied by the eigenvalues of
    GG', raised to `power`.
    """
    n, r = graph.shape
    degrees = graph @ degree_table
    row_scale, root = _inverse_root(degrees), np.sqrt(graph.counts)
    by_rows = np.sqrt(graph.counts * degrees)  # the leading eigenvector of GG'
    by_columns = column_scale * graph.column_sums()  # the leading eigenvector of G'G
    if graph.is_sample or (r < n and r <= _DENSE):
        gram = graph.gram(degree_table) * column_scale[:, None] * column_scale
        values, columns = _leading_eigenpairs(gram, by_columns, n_vectors, skip_first)
        rows = graph @ (column_scale[:, None] * columns * values ** (power - 0.5))
        rows *= row_scale[:, None]
    else:
        G = scale_matrix(graph.whole(), root * row_scale, column_scale)
        if r < n:
            values, columns = _leading_eigenpairs(_Product(G), by_columns, n_vectors, skip_first)
            rows = G @ (columns * values ** (power - 0.5))
        else:
            gram = _Product(G.T) if n > _DENSE else _dense(G @ G.T)
            values, rows = _leading_eigenpairs(gram, by_rows, n_vectors, skip_first)
            columns = (G.T @ rows) / np.sqrt(values)
            rows = rows * values**power
        rows = rows / root[:, None]
    length = float(np.sqrt(graph.column_sums() @ degree_table))  # that of by_rows
    table = column_scale[:, None] * columns * values ** (power - 0.5)
    unit = _unit_rows(rows, np.sqrt(degrees) / max(length, 1e-300))
    return Embedding(unit, _unit_rows(columns), table, degree_table, length)


class _Product(scipy.sparse.linalg.LinearOperator):
    """G'G, which is not made."""

    def __init__(self, G: Any) -> None:
        super().__init__(np.float64, (G.shape[1], G.shape[1]))
        self.G, self.transposed = G, G.T.tocsr() if scipy.sparse.issparse(G) else G.T

    def _matvec(self, vector: NDArray[np.float64]) -> NDArray[np.float64]:
        return self.transposed @ (self.G @ vector)

    def toarray(self) -> NDArray[np.float64]:
        """Return the matrix."""
        return _dense(self.transposed @ self.G)


def _leading_eigenpairs(
    matrix: Any, trivial: NDArray[np.float64], n_vectors: int, skip_first: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the leading eigenvalues, largest first, and their vectors; those of 0 are left out.

    The largest eigenvalue of a normalised similarity is 1, and `trivial` its eigenvector. In a
    graph of several pieces, the trivial vector of each piece is one, too. Eigensolvers find such
    equal eigenvalues badly and mix their vectors, so these vectors are set: first those of the
    pieces with the largest degrees. The solver gets the rest.
    """
    pieces = _pieces_of(matrix)
    mass = np.bincount(pieces, weights=trivial**2)
    largest = np.argsort(-mass, kind="stable")[: int((mass > 0).sum())][: n_vectors + 1]
    known = np.where(pieces[:, None] == largest, trivial[:, None], 0.0) / np.sqrt(mass[largest])
    used = known[:, :n_vectors]
    if skip_first and len(largest):
        n_others = min(len(largest) - 1, n_vectors)
        used = np.linalg.qr(np.column_stack([trivial, known[:, :n_others]]))[0][:, 1:]
    values = np.ones(used.shape[1])
    n_left = min(n_vectors - len(values), len(trivial) - known.shape[1])
    if n_left > 0:
        with track_progress("eigenvectors"):
            more, vectors = _solve(matrix, known, n_left)
        kept = more > _ZERO
        values = np.concatenate([values, more[kept]])
        used = np.hstack([used, vectors[:, kept]])
    return values, used


def _pieces_of(matrix: Any) -> NDArray[np.int32]:
    """Return the connected component of each vertex of a symmetric matrix."""
    if isinstance(matrix, _Product):
        graph = scipy.sparse.bmat([[None, matrix.transposed], [matrix.G, None]], format="csr")
    else:
        graph = scipy.sparse.csr_matrix(matrix)
    found: NDArray[np.int32] = connected_components(graph, directed=False)[1]
    return found[: matrix.shape[0]]


def _solve(
    matrix: Any, known: NDArray[np.float64], n_wanted: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the leading eigenpairs that are left when the known vectors are taken away."""
    size = matrix.shape[0]
    if size > _SMALL and n_wanted < size // 4:
        left = scipy.sparse.linalg.LinearOperator(
            matrix.shape, lambda v: matrix @ v - known @ (known.T @ v), dtype=np.float64
        )
        start = np.random.default_rng(0).standard_normal(size)
        start -= known @ (known.T @ start)
        n_kept = min(size, 2 * n_wanted + 28)  # more than the default: fewer products
        try:
            values, vectors = scipy.sparse.linalg.eigsh(
                left, n_wanted, v0=start, which="LA", ncv=n_kept, **_SEED
            )
        except scipy.sparse.linalg.ArpackError:  # little is left: fewer eigenvalues that are not 0
            pass
        else:
            order = np.argsort(-values, kind="stable")
            return values[order], vectors[:, order]
    check_fits(24 * size**2, f"the eigenproblem of {size} by {size}", hint=HINT)
    values, vectors = scipy.linalg.eigh(_dense(matrix) - known @ known.T, driver="evd")
    return values[::-1][:n_wanted], vectors[:, ::-1][:, :n_wanted]


# --- small things ------------------------------------------------------------------------------


def _unit_rows(
    rows: NDArray[np.float64], expected: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Scale rows to length 1; rows that are 0 but for rounding become 0.

    `expected` is the length of each row along the degrees alone.
    """
    lengths = np.sqrt((rows**2).sum(axis=1))
    if expected is None:
        expected = np.full(len(rows), lengths.max(initial=0.0))
    known = (lengths > 1e-8 * expected) & (expected > 0)
    scale = np.divide(1.0, lengths, out=np.zeros(len(rows)), where=known)
    return rows * scale[:, None]


def _inverse_root(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 1 / sqrt, 0 for 0."""
    return np.divide(1.0, np.sqrt(values), out=np.zeros(len(values)), where=values > 0)


def _dense(matrix: Any) -> NDArray[np.float64]:
    return matrix.toarray() if hasattr(matrix, "toarray") else np.asarray(matrix)
