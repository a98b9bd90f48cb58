"""Bipartite graphs of objects and clusters, as a matrix or by the label rows of an ensemble.

Both kinds do the same: sums, products and B' diag(1 / degrees) B. Columns of a `LabelGraph` stand
in an order that does not depend on the names of clusters, so that nothing computed from it does.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from coterie._kernels.clusters import add_rows, weigh_overlap
from coterie._limits import check_fits
from coterie.blocks import (
    LabelBlocks,
    SampleRows,
    fixed_point,
    reduce_rows,
    scale_for,
    sum_rows,
)
from coterie.ensemble import Ensemble

__all__ = [
    "LabelGraph",
    "MatrixGraph",
    "as_graph",
    "cluster_order",
    "cluster_sizes",
    "incidence_of",
]

HINT = "Use fewer partitions (select) or partitions with fewer clusters"
_BLOCK = 1 << 24  # numbers in one block of rows
_BYTES_PER_LABEL = 48  # of a sparse matrix of labels and its transpose


class MatrixGraph:
    """The bipartite graph of a matrix B (p, r) of edge weights, dense or sparse.

    Parameters
    ----------
    B : array-like or SciPy sparse matrix of shape (p, r)
        Not negative.
    counts : ndarray of int, shape (p,), optional
        How many objects have each row; 1 if not given.
    inverse : ndarray of int, shape (n,), optional
        Which row each object has; each has its own if not given. Rows that no object has are
        vertices of the graph as well.
    """

    def __init__(
        self,
        B: Any,
        counts: NDArray[np.int64] | None = None,
        inverse: NDArray[np.int64] | None = None,
    ) -> None:
        if scipy.sparse.issparse(B):
            self.matrix = B.tocsr().astype(np.float64, copy=False)
        else:
            self.matrix = np.asarray(B, dtype=np.float64)
        self.shape = self.matrix.shape
        self.counts = np.ones(self.shape[0], dtype=np.int64) if counts is None else counts
        self.inverse = inverse
        self.is_sample = False

    def __matmul__(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(self.matrix @ table)

    def column_sums(self) -> NDArray[np.float64]:
        """Return (r,): the summed weights of the edges of each column."""
        return np.asarray(self.matrix.T @ self.counts.astype(np.float64))

    def gram(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return B' diag(counts / (B @ table)) B, dense; 0 is taken for 1 / 0."""
        n, r = self.shape
        scale = self.counts * _inverse(self @ table)
        found = np.zeros((r, r))
        step = max(1, _BLOCK // max(r, 1))
        for start in range(0, n, step):
            block = self.matrix[start : start + step]
            scaled = scale_matrix(block, np.sqrt(scale[start : start + step]), np.ones(r))
            product = scaled.T @ scaled
            found += product.toarray() if scipy.sparse.issparse(product) else product
        return found

    def whole(self) -> Any:
        """Return B."""
        return self.matrix

    def named(self, columns: NDArray[Any]) -> NDArray[Any]:
        """Return what belongs to columns in the order of the ensemble's clusters."""
        return columns


class LabelGraph:
    """The graph of the objects and clusters of an ensemble: B = Z diag(weights).

    Z is the 0/1 table of distinct label rows and clusters. It is not made unless it is small.

    Parameters
    ----------
    view : Ensemble or LabelBlocks
    weights : ndarray of shape (K,), optional
        The weight of the edges of each cluster, positive; 1 if not given.
    sample : SampleRows, optional
        With blocks: the label rows that are the rows of B. Sums over objects, such as `gram`, are
        still those of all objects.
    """

    def __init__(
        self,
        view: Ensemble | LabelBlocks,
        weights: NDArray[np.float64] | None = None,
        sample: SampleRows | None = None,
    ) -> None:
        self.inverse: NDArray[np.int64] | None
        if sample is not None:
            self._rows, self.counts, self.inverse = sample.rows, sample.counts, None
        else:
            assert isinstance(view, Ensemble)
            self._rows, self.counts, self.inverse = view.patterns
        self.is_sample = sample is not None and not sample.is_whole
        self._view = view
        self._offsets = view.offsets
        n_all = int(self._offsets[-1])
        self.shape = (len(self._rows), n_all)
        self._order = cluster_order(view)
        weights = np.ones(n_all) if weights is None else np.asarray(weights, dtype=np.float64)
        self._weights = weights[self._order]
        self._sizes = cluster_sizes(view)[self._order]

    def __matmul__(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        weighted = self.by_cluster(table)
        flat = weighted.reshape(len(weighted), -1)
        sums = add_rows(self._rows, self._offsets, np.ascontiguousarray(flat))
        return sums.reshape(len(sums), *table.shape[1:])

    def by_cluster(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the rows whose sums over the clusters of a label row are its row of B @ table."""
        return self.named((self._weights * table.T).T)

    def column_sums(self) -> NDArray[np.float64]:
        """Return (K,): the summed weights of the edges of each cluster."""
        return self._weights * self._sizes

    def gram(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return B' diag(counts / (B @ table)) B, dense; 0 is taken for 1 / 0."""
        check_fits(
            24 * self.shape[1] ** 2,
            f"the eigenproblem of {self.shape[1]} clusters (float64)",
            hint=HINT,
        )
        degrees = self.by_cluster(table)[:, None]
        n_objects = self._view.n_objects
        largest = reduce_rows(self._view, _largest_weight, max, self._offsets, degrees)
        scale = scale_for(n_objects, largest)
        sums = sum_rows(self._view, _weigh_by_degree, self._offsets, degrees, scale)[0]
        found: NDArray[np.float64] = sums[np.ix_(self._order, self._order)] / scale
        found *= self._weights[:, None] * self._weights
        return found

    def whole(self) -> Any:
        """Return B, sparse."""
        check_fits(
            _BYTES_PER_LABEL * self._rows.size,
            f"the sparse graph of {self.shape[0]} distinct label rows and {self.shape[1]} clusters",
            hint=HINT,
        )
        Z = incidence_of(self._rows, self._offsets)[:, self._order]
        return scale_matrix(Z, np.ones(self.shape[0]), self._weights)

    def named(self, columns: NDArray[Any]) -> NDArray[Any]:
        """Return what belongs to columns in the order of the ensemble's clusters."""
        found = np.empty_like(columns)
        found[self._order] = columns
        return found


def _largest_weight(
    rows: NDArray[np.int32], counts: Any, offsets: NDArray[np.int64], degrees: NDArray[np.float64]
) -> float:
    return float(_inverse(add_rows(rows, offsets, degrees)[:, 0]).max(initial=1e-300))


def _weigh_by_degree(
    rows: NDArray[np.int32],
    counts: NDArray[np.int64],
    offsets: NDArray[np.int64],
    degrees: NDArray[np.float64],
    scale: float,
) -> tuple[NDArray[np.int64]]:
    """Return the weighted overlap in fixed point; a row weighs 1 / its degree."""
    weights = fixed_point(_inverse(add_rows(rows, offsets, degrees)[:, 0]), scale)
    return (weigh_overlap(rows, weights * counts, offsets),)


def _inverse(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 1 / values, 0 for 0."""
    return np.divide(1.0, values, out=np.zeros(len(values)), where=values > 0)


def as_graph(B: Any) -> LabelGraph | MatrixGraph:
    """Return a graph; a matrix becomes a `MatrixGraph` with one object for each row."""
    return B if isinstance(B, (LabelGraph, MatrixGraph)) else MatrixGraph(B)


def cluster_order(view: Ensemble | LabelBlocks) -> NDArray[np.int64]:
    """Return the K clusters in an order that does not depend on their names.

    By partition, and in each by the first object.
    """
    first, _ = view.cluster_facts
    partition = np.repeat(np.arange(view.n_partitions), view.n_clusters)
    return np.lexsort((first, partition))


def cluster_sizes(view: Ensemble | LabelBlocks) -> NDArray[np.int64]:
    """Return (K,): the number of objects in each cluster of each partition."""
    return view.cluster_facts[1]


def incidence_of(rows: NDArray[np.int32], offsets: NDArray[np.int64]) -> Any:
    """Return Z as a CSR matrix (p, K): which cluster of each partition a row is in."""
    present = rows >= 0
    indptr = np.concatenate([[0], np.cumsum(present.sum(axis=1))])
    indices = (rows + offsets[:-1])[present]
    data = np.ones(len(indices))
    return scipy.sparse.csr_matrix((data, indices, indptr), shape=(len(rows), int(offsets[-1])))


def scale_matrix(matrix: Any, rows: NDArray[np.float64], columns: NDArray[np.float64]) -> Any:
    """Return diag(rows) matrix diag(columns), dense or sparse as the matrix."""
    if scipy.sparse.issparse(matrix):
        return scipy.sparse.diags(rows) @ matrix @ scipy.sparse.diags(columns)
    return rows[:, None] * matrix * columns
