"""Spectral partitions (Ng, Jordan and Weiss, 2002), without a matrix of all pairs of objects.

The k leading eigenvectors of the similarity, normalised by degrees, give each object a row; rows
are scaled to length 1 and clustered by k-means. Where the similarity is a product FF', or the graph
is bipartite, they follow from an eigenproblem of the size of F's columns: if GG' is the normalised
similarity and v an eigenvector of G'G with eigenvalue s, then Gv / sqrt(s) is one of GG'.

Eigenvalues of 0 are left out. Where the last eigenvalue used equals the next one, the directions in
their common space are chosen by the first objects, so that the result depends neither on the names
of clusters nor on the eigensolver.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse
import scipy.sparse.csgraph
import scipy.sparse.linalg
from numpy.typing import NDArray

from coterie._memory import check_fits, memory_limit_bytes
from coterie._partition._blas import one_blas_thread
from coterie._partition._eigen import EQUAL, SMALL, WAY_OUT, ZERO, Product, largest_pairs
from coterie._partition._kmeans import Points, fill_empty_parts, kmeans
from coterie.ensemble import Ensemble

__all__ = [
    "cluster_order",
    "spectral_bipartite",
    "spectral_bipartite_labels",
    "spectral_dense",
    "spectral_from_factor",
    "spectral_graph",
    "spectral_hypergraph",
    "spectral_labels",
]

_BYTES_PER_LABEL = 64  # of a sparse matrix of labels, its transpose and its graph
_BLOCK = 1 << 24  # numbers in one block of rows
_ENTRIES = 4  # of a Gram matrix, that cost as much as one of its factor in products instead


class Embedding(NamedTuple):
    """Directions in which objects are told apart."""

    rows: NDArray[np.float64]
    """(n, d): for each object (or distinct row), of length 1, or 0 where nothing is known."""
    columns: NDArray[np.float64]
    """(r, d): the same for each column of the factor."""


# --- matrices ----------------------------------------------------------------------------------


@one_blas_thread
def spectral_dense(
    similarity: Any,
    n_parts: int,
    *,
    skip_first: bool = False,
    random_state: int = 0,
    n_init: int = 10,
) -> NDArray[np.int64]:
    """Return the parts of a symmetric, non-negative similarity matrix; its diagonal is kept.

    Parameters
    ----------
    similarity : array or SciPy sparse matrix of shape (n, n)
    n_parts : int
        None of them is empty.
    skip_first : bool, default=False
        Eigenvectors 2 to k+1 instead of 1 to k.
    random_state : int, default=0
        Seed of the starts of k-means.
    n_init : int, default=10
        Number of starts.
    """
    if n_parts == 1:
        return np.zeros(similarity.shape[0], dtype=np.int64)
    _, rows = _embed_similarity(_float_matrix(similarity), n_parts, skip_first)
    return _cluster(rows, n_parts, random_state, n_init)


@one_blas_thread
def spectral_graph(
    graph: Any, n_parts: int, *, random_state: int = 0, n_init: int = 2
) -> NDArray[np.int64]:
    """Return the same for a sparse graph, with fewer starts of k-means.

    The first start are the vertices that a QR decomposition of the eigenvectors picks as the most
    independent of each other (Damle, Minden and Ying, 2019). With a random one beside it, it comes
    as near to the best partition as ten that are all random.

    Parameters
    ----------
    graph : SciPy sparse matrix of shape (n, n)
        Symmetric, not negative; its diagonal is kept.
    n_parts, random_state, n_init
        As for `spectral_dense`.
    """
    if n_parts == 1:
        return np.zeros(graph.shape[0], dtype=np.int64)
    vectors, rows = _embed_similarity(_float_matrix(graph), n_parts, skip_first=False)
    first = _most_independent(vectors, n_parts)
    return _cluster(rows, n_parts, random_state, n_init, first=first)


@one_blas_thread
def spectral_from_factor(
    factor: Any,
    n_parts: int,
    *,
    skip_first: bool = False,
    random_state: int = 0,
    n_init: int = 10,
) -> NDArray[np.int64]:
    """Return the parts of the similarity FF', its diagonal kept, which is never made.

    Parameters
    ----------
    factor : array or SciPy sparse matrix of shape (n, r), F
        FF' must not be negative anywhere.
    n_parts, skip_first, random_state, n_init
        As for `spectral_dense`.
    """
    if n_parts == 1:
        return np.zeros(factor.shape[0], dtype=np.int64)
    factor = _float_matrix(factor)
    degrees = _flat(factor @ _flat(factor.sum(axis=0)))
    rows = _embed_matrix(
        factor, np.ones(factor.shape[1]), degrees, n_parts, skip_first=skip_first
    ).rows
    return _cluster(rows, n_parts, random_state, n_init)


@one_blas_thread
def spectral_bipartite(
    A: Any,
    n_parts: int,
    *,
    skip_first: bool = False,
    random_state: int = 0,
    n_init: int = 10,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the parts of a bipartite graph: one label for each row and one for each column.

    The whole graph [[0, A'], [A, 0]] is embedded, and rows and columns are clustered together.
    Every part holds at least one row.

    Parameters
    ----------
    A : array or SciPy sparse matrix of shape (n, r)
        Weights of the edges, not negative.
    n_parts, skip_first, random_state, n_init
        As for `spectral_dense`.
    """
    A = _float_matrix(A)
    if n_parts == 1:
        return np.zeros(A.shape[0], dtype=np.int64), np.zeros(A.shape[1], dtype=np.int64)
    degrees = _flat(A.sum(axis=1))
    found = _embed_matrix(
        A, _inverse_root(_flat(A.sum(axis=0))), degrees, n_parts, skip_first=skip_first
    )
    return _cluster_both(found, None, None, n_parts, random_state, n_init)


@one_blas_thread
def spectral_hypergraph(
    incidence: Any,
    n_parts: int,
    *,
    vertex_weights: NDArray[np.int64],
    random_state: int = 0,
    n_init: int = 2,
) -> NDArray[np.int64]:
    """Return the parts of a hypergraph by its normalised cut (Zhou, Huang and Schoelkopf, 2006).

    k-means starts as in `spectral_graph`.

    Parameters
    ----------
    incidence : SciPy sparse matrix of 0 and 1, shape (n, m)
        The vertices that are in each hyperedge.
    vertex_weights : ndarray of int, shape (n,)
        Above 0: each vertex counts as so many equal ones.
    n_parts, random_state, n_init
        As for `spectral_dense`.
    """
    if n_parts == 1:
        return np.zeros(incidence.shape[0], dtype=np.int64)
    incidence = _float_matrix(incidence)
    degrees = _flat(incidence.sum(axis=1))
    column_scale = _inverse_root(_flat(vertex_weights @ incidence))
    rows = _embed_matrix(
        incidence, column_scale, degrees, n_parts, skip_first=False, counts=vertex_weights
    ).rows
    first = _most_independent(rows, n_parts)
    return _cluster(rows, n_parts, random_state, n_init, vertex_weights, first=first)


# --- hard labels -------------------------------------------------------------------------------


@one_blas_thread
def spectral_labels(
    ensemble: Ensemble,
    n_parts: int,
    *,
    by_size: bool = False,
    skip_first: bool = False,
    random_state: int = 0,
    n_init: int = 10,
) -> NDArray[np.int64]:
    """Return the parts of the similarity ZZ', Z the 0/1 incidence of objects and clusters.

    The same as `spectral_from_factor(Z, ...)`, on distinct label rows and without Z.

    Parameters
    ----------
    ensemble : Ensemble
    by_size : bool, default=False
        Each cluster counts with 1 / its size: the similarity is that of the normalised
        hypergraph (Zhou, Huang and Schoelkopf, 2006).
    n_parts, skip_first, random_state, n_init
        As for `spectral_dense`.
    """
    if n_parts == 1:
        return np.zeros(ensemble.n_objects, dtype=np.int64)
    found = _embed_labels(ensemble, n_parts, by_size=by_size, skip_first=skip_first)
    patterns = ensemble.patterns
    return _cluster(found.rows, n_parts, random_state, n_init, patterns.counts, patterns.inverse)


@one_blas_thread
def spectral_bipartite_labels(
    ensemble: Ensemble,
    n_parts: int,
    *,
    skip_first: bool = False,
    random_state: int = 0,
    n_init: int = 10,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the parts of the graph of objects and clusters: a label for each of both.

    The same as `spectral_bipartite(Z, ...)`, on distinct label rows and without Z.
    """
    if n_parts == 1:
        n_all = int(ensemble.offsets[-1])
        return np.zeros(ensemble.n_objects, dtype=np.int64), np.zeros(n_all, dtype=np.int64)
    found = _embed_labels(ensemble, n_parts, by_size=True, skip_first=skip_first)
    # The seeds of k-means must not depend on the names of clusters.
    order = cluster_order(ensemble)
    found = found._replace(columns=found.columns[order])
    patterns = ensemble.patterns
    rows, columns = _cluster_both(
        found, patterns.counts, patterns.inverse, n_parts, random_state, n_init
    )
    named = np.empty_like(columns)
    named[order] = columns
    return rows, named


def cluster_order(ensemble: Ensemble) -> NDArray[np.int64]:
    """Return the K clusters in an order that does not depend on their names.

    By partition, and in each by the first object.
    """
    from coterie._kernels.clusters import describe_clusters

    rows, counts, _ = ensemble.patterns  # in the order of their first objects
    first, _ = describe_clusters(rows, counts, ensemble.offsets)
    partition = np.repeat(np.arange(ensemble.n_partitions), ensemble.n_clusters)
    return np.lexsort((first, partition))


# --- embeddings --------------------------------------------------------------------------------


class _Leading(NamedTuple):
    values: NDArray[np.float64]
    vectors: NDArray[np.float64]


def _leading(
    gram: Any,
    n_parts: int,
    skip_first: bool,
    objects_of: Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]],
    by_degree: NDArray[np.float64],
) -> _Leading:
    """Return the k leading eigenpairs, largest first, those of eigenvalue 0 left out.

    `objects_of` turns eigenvectors and eigenvalues into the rows of objects, `by_degree` is the
    leading eigenvector of a connected graph in the same terms, each object as often as it occurs.
    Where an eigenvalue is a multiple one, they decide which directions of its space are taken.
    """
    last = n_parts + 1 if skip_first else n_parts
    values, vectors = largest_pairs(gram, min(gram.shape[0], last))
    kept = values > max(ZERO, values[max(0, len(values) - last)] - EQUAL)
    values, vectors = values[kept][::-1], vectors[:, kept][:, ::-1]
    for at_top in (False, True):
        # The last one may be tied with the next; and where the first is left out, it may be tied
        # with the second (a graph in several pieces): then the vector of the degrees is meant.
        place = 0 if at_top else min(last, len(values)) - 1
        tied = np.abs(values - values[place]) < EQUAL if len(values) else np.zeros(0, dtype=bool)
        if not (skip_first and tied.sum() > 1 if at_top else len(values) > last):
            continue
        start, stop = int(np.argmax(tied)), len(tied) - int(np.argmax(tied[::-1]))
        n_tied = int(tied.sum())
        check_fits(
            24 * len(by_degree) * n_tied,
            f"{n_tied} equal eigenvectors of {len(by_degree)} distinct objects",
            way_out=WAY_OUT,
        )
        rows = objects_of(vectors[:, tied], values[tied])
        first = rows.T @ by_degree if skip_first and start == 0 else None
        turned = vectors[:, tied] @ _first_directions(rows, min(stop, last) - start, first)
        vectors = np.hstack([vectors[:, :start], turned, vectors[:, stop:last]])
        values = values[: vectors.shape[1]]
    return _Leading(values[int(skip_first) : last], vectors[:, int(skip_first) : last])


def _first_directions(
    rows: NDArray[np.float64], n_wanted: int, first: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Return (m, n_wanted) orthonormal directions: those of the first objects that have any."""
    left = rows.copy()
    found: list[NDArray[np.float64]] = []
    for _ in range(n_wanted):
        if first is not None and not found:
            direction = first
        else:
            lengths = np.einsum("ij,ij->i", left, left)
            direction = left[np.argmax(lengths > 1e-6 * lengths.max())]
            for known in found:  # once more, for rounding
                direction = direction - (direction @ known) * known
        direction = direction / np.linalg.norm(direction)
        found.append(direction)
        left -= np.outer(left @ direction, direction)
    return np.array(found).T


def _most_independent(rows: NDArray[np.float64], n_wanted: int) -> NDArray[np.int64]:
    """Return the rows that a QR decomposition picks first."""
    _, picked = scipy.linalg.qr(rows.T, mode="r", pivoting=True, check_finite=False)
    first: NDArray[np.int64] = picked[:n_wanted].astype(np.int64)
    return first


def _embed_similarity(
    similarity: Any, n_parts: int, skip_first: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the leading eigenvectors of a similarity matrix, and their rows of length 1."""
    degrees = _flat(similarity.sum(axis=1))
    scale = _inverse_root(degrees)
    normalised = _scaled(similarity, scale, scale)
    by_degree = np.sqrt(degrees / max(float(degrees.sum()), 1e-300))
    leading = _leading(normalised, n_parts, skip_first, lambda vectors, values: vectors, by_degree)
    return leading.vectors, _of_length_one(leading.vectors, by_degree)


def _embed_matrix(
    factor: Any,
    column_scale: NDArray[np.float64],
    degrees: NDArray[np.float64],
    n_parts: int,
    *,
    skip_first: bool,
    counts: NDArray[np.int64] | None = None,
) -> Embedding:
    """Embed rows and columns by the singular vectors of G = D^-1/2 F C, C the scale of columns.

    `counts` says how often each row is there, 1 if not given.
    """
    n, r = factor.shape
    times = np.ones(n) if counts is None else counts.astype(np.float64)
    root, per_root = np.sqrt(times), _inverse_root(times)[:, None]
    row_scale = _inverse_root(degrees)
    by_degree = np.sqrt(degrees / max(float(times @ degrees), 1e-300))
    if n <= r:
        G = _scaled(factor, root * row_scale, column_scale)
        leading = _leading(
            _products_of_rows(G),
            n_parts,
            skip_first,
            lambda vectors, values: per_root * vectors,
            times * by_degree,
        )
        rows = per_root * leading.vectors
        columns = _dense(G.T @ leading.vectors) / np.sqrt(leading.values)
    else:
        check_fits(16 * r**2, f"the eigenproblem of {r} by {r}", way_out=WAY_OUT)
        gram = np.zeros((r, r))
        for block in _blocks(n, r):
            G = _scaled(factor[block], (root * row_scale)[block], column_scale)
            gram += _dense(G.T @ G)

        def objects_of(
            vectors: NDArray[np.float64], values: NDArray[np.float64]
        ) -> NDArray[np.float64]:
            table = column_scale[:, None] * vectors / np.sqrt(values)
            return row_scale[:, None] * _dense(factor @ table)

        leading = _leading(gram, n_parts, skip_first, objects_of, times * by_degree)
        rows = objects_of(leading.vectors, leading.values)
        columns = leading.vectors
    return Embedding(_of_length_one(rows, by_degree), _of_length_one(columns, None))


def _products_of_rows(G: Any) -> Any:
    """Return GG', or what can be multiplied by in its place."""
    n = G.shape[0]
    if scipy.sparse.issparse(G) and _by_products(G.nnz, n):
        return Product(G.T)
    check_fits(16 * n**2, f"the eigenproblem of {n} by {n}", way_out=WAY_OUT)
    return _dense(G @ G.T)


def _by_products(n_entries: int, size: int) -> bool:
    """Tell whether products with a sparse factor do for a Gram matrix.

    They are quicker where the factor has few entries, and need no room for the matrix.
    """
    is_quicker = size > SMALL and _ENTRIES * n_entries < size**2
    return is_quicker or 24 * size**2 > memory_limit_bytes()


def _embed_labels(
    ensemble: Ensemble, n_parts: int, *, by_size: bool, skip_first: bool
) -> Embedding:
    """Embed distinct label rows and clusters: G = D^-1/2 Z C, C = 1 or sizes^-1/2."""
    from coterie._kernels.clusters import add_rows, weigh_overlap

    rows, counts, _ = ensemble.patterns
    offsets = ensemble.offsets
    n_all = int(offsets[-1])
    sizes = cluster_sizes(ensemble).astype(np.float64)
    column_scale = 1.0 / np.sqrt(sizes) if by_size else np.ones(n_all)
    if by_size:
        degrees = (rows >= 0).sum(axis=1).astype(np.float64)
    else:
        degrees = add_rows(rows, offsets, sizes[:, None])[:, 0]
    if len(rows) <= n_all:
        # Few rows: their incidence is small, and so is the eigenproblem of their pairs.
        Z = incidence_of(rows, offsets)
        return _embed_matrix(
            Z, column_scale, degrees, n_parts, skip_first=skip_first, counts=counts
        )

    row_scale = _inverse_root(degrees)

    def sums_of(vectors: NDArray[np.float64], values: NDArray[np.float64]) -> NDArray[np.float64]:
        table = column_scale[:, None] * vectors / np.sqrt(values)
        found: NDArray[np.float64] = add_rows(rows, offsets, np.ascontiguousarray(table))
        return found

    total = max(float(counts @ degrees), 1e-300)
    gram: Any
    if _by_products(rows.size, n_all) and _BYTES_PER_LABEL * rows.size <= memory_limit_bytes():
        gram = Product(
            _scaled(incidence_of(rows, offsets), np.sqrt(counts) * row_scale, column_scale)
        )
    else:
        check_fits(
            24 * n_all**2,
            f"the eigenproblem of {n_all} clusters (float64)",
            way_out=WAY_OUT,
        )
        if by_size and not ensemble.has_missing:
            gram = ensemble.overlap / ensemble.n_partitions
        else:
            share = np.divide(counts, degrees, out=np.zeros(len(rows)), where=degrees > 0)
            gram = weigh_overlap(rows, share, offsets)
        gram *= column_scale[:, None] * column_scale
    leading = _leading(
        gram,
        n_parts,
        skip_first,
        lambda *pair: row_scale[:, None] * sums_of(*pair),
        counts * np.sqrt(degrees / total),
    )
    # Scaling to length 1 undoes D^-1/2, so it is left out.
    return Embedding(
        _of_length_one(sums_of(leading.vectors, leading.values), degrees / np.sqrt(total)),
        _of_length_one(leading.vectors, None),
    )


def cluster_sizes(ensemble: Ensemble) -> NDArray[np.int64]:
    """Return (K,): the number of objects in each cluster of each partition."""
    from coterie._kernels.clusters import describe_clusters

    rows, counts, _ = ensemble.patterns
    sizes: NDArray[np.int64] = describe_clusters(rows, counts, ensemble.offsets)[1]
    return sizes


def incidence_of(rows: NDArray[np.int32], offsets: NDArray[np.int64]) -> Any:
    """Return Z as a CSR matrix (p, K): which cluster of each partition a row is in."""
    present = rows >= 0
    indptr = np.concatenate([[0], np.cumsum(present.sum(axis=1))])
    indices = (rows + offsets[:-1])[present]
    data = np.ones(len(indices))
    return scipy.sparse.csr_matrix((data, indices, indptr), shape=(len(rows), int(offsets[-1])))


# --- clustering the rows -----------------------------------------------------------------------


def _cluster(
    rows: NDArray[np.float64],
    n_parts: int,
    seed: int,
    n_init: int,
    counts: NDArray[np.int64] | None = None,
    inverse: NDArray[np.int64] | None = None,
    first: NDArray[np.int64] | None = None,
) -> NDArray[np.int64]:
    found = kmeans(Points(rows, counts), n_parts, seed=seed, n_init=n_init, first=first)
    return fill_empty_parts(found.labels, found.distances, n_parts, inverse)


def _cluster_both(
    embedding: Embedding,
    counts: NDArray[np.int64] | None,
    inverse: NDArray[np.int64] | None,
    n_parts: int,
    seed: int,
    n_init: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    n_rows, n_columns = len(embedding.rows), len(embedding.columns)
    weights = np.ones(n_rows + n_columns)
    if counts is not None:
        weights[:n_rows] = counts
    points = np.concatenate([embedding.rows, embedding.columns])
    found = kmeans(Points(points, weights), n_parts, seed=seed, n_init=n_init)
    labels = fill_empty_parts(found.labels[:n_rows], found.distances[:n_rows], n_parts, inverse)
    return labels, found.labels[n_rows:]


# --- small things ------------------------------------------------------------------------------


def _inverse_root(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 1 / sqrt, 0 for 0."""
    return np.divide(1.0, np.sqrt(values), out=np.zeros(len(values)), where=values > 0)


def _of_length_one(
    rows: NDArray[np.float64], expected: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """Scale rows to length 1; what is 0 but for rounding stays 0.

    `expected` is the length of each row in the direction of the degrees alone.
    """
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    if expected is None:
        expected = np.full(len(rows), lengths.max(initial=0.0))
    known = (lengths > 1e-8 * expected) & (expected > 0)
    scale = np.divide(1.0, lengths, out=np.zeros(len(rows)), where=known)
    found: NDArray[np.float64] = rows * scale[:, None]
    return found


def _scaled(matrix: Any, rows: NDArray[np.float64], columns: NDArray[np.float64]) -> Any:
    if scipy.sparse.issparse(matrix):
        matrix = matrix.tocsr()
        data = matrix.data * np.repeat(rows, np.diff(matrix.indptr)) * columns[matrix.indices]
        return scipy.sparse.csr_matrix((data, matrix.indices, matrix.indptr), shape=matrix.shape)
    return rows[:, None] * matrix * columns


def _blocks(n: int, r: int) -> list[slice]:
    step = max(1, _BLOCK // max(r, 1))
    return [slice(start, start + step) for start in range(0, n, step)]


def _float_matrix(matrix: Any) -> Any:
    if scipy.sparse.issparse(matrix):
        return matrix.tocsr().astype(np.float64, copy=False)
    return np.asarray(matrix, dtype=np.float64)


def _flat(values: Any) -> NDArray[np.float64]:
    return np.asarray(values, dtype=np.float64).ravel()


def _dense(matrix: Any) -> NDArray[np.float64]:
    return matrix.toarray() if scipy.sparse.issparse(matrix) else np.asarray(matrix)
