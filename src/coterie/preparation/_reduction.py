"""Wide tables: columns of one unit, word counts, and reduction to components."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import normalize

from coterie._limits import one_thread
from coterie.preparation._columns import Column

__all__ = ["Reduction", "are_counts", "column_moments", "share_unit"]

ONE_UNIT = 10.0
"""Columns are of one unit if none varies more than this many times as much as the median one."""
MOST_ZERO = 0.8
"""Counts are of words or the like if at least this share of them is 0."""


def are_counts(matrix: Any) -> bool:
    """Whether a table holds counts as of words: mostly 0, and the others mostly 1 or 2."""
    cells = matrix.data if sparse.issparse(matrix) else matrix
    present = cells[cells != 0]
    if present.size == 0 or present.size > (1 - MOST_ZERO) * matrix.shape[0] * matrix.shape[1]:
        return False
    if present.min() < 0 or not (present == np.floor(present)).all():
        return False
    return bool((present <= 2).mean() > 0.5)


def share_unit(columns: list[Column], matrix: Any) -> bool:
    """Scale the numbers of a wide table by one factor if they share a unit; return whether they do.

    The many columns of a wide table are mostly measured alike: genes, pixels, sensors. Scaling
    each by itself would raise the noise of those that hardly vary. Where they vary too
    differently, as raw intensities do, their logarithms are taken first, if none is negative.
    If that does not help, the columns are left as they are.
    """
    shape = "plain"
    mean, deviation = column_moments(matrix)
    if not _is_one_unit(deviation) and matrix.min() >= 0:
        shape = "log"
        mean, deviation = column_moments(
            matrix.log1p() if sparse.issparse(matrix) else np.log1p(matrix)
        )
    if not _is_one_unit(deviation):
        return False
    common = float(np.sqrt(np.mean(deviation**2)))
    words = "logarithm, " if shape == "log" else ""
    for column, m in zip(columns, mean, strict=True):
        column.shape, column.mean, column.deviation = shape, float(m), common
        column.treatment = words + "scaled as all numbers together"
    return True


def column_moments(matrix: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return mean and standard deviation of the columns."""
    if not sparse.issparse(matrix):
        return matrix.mean(axis=0), matrix.std(axis=0)
    mean = np.asarray(matrix.mean(axis=0)).ravel()
    square = np.asarray(matrix.multiply(matrix).mean(axis=0)).ravel()
    return mean, np.sqrt(np.maximum(square - mean**2, 0))


def _is_one_unit(deviation: NDArray[np.float64]) -> bool:
    return bool(deviation.max() <= ONE_UNIT * np.median(deviation[deviation > 0]))


class Reduction(NamedTuple):
    """A linear map to fewer components, as plain arrays."""

    kind: str
    """'counts': tf-idf, truncated SVD, rows of length 1. 'pca': centred. 'svd': not centred."""
    offset: NDArray[np.float64]
    """For 'counts' the weight of each word, otherwise what is subtracted."""
    components: NDArray[np.float64]
    """Shape (n_components, n_columns)."""

    @classmethod
    @one_thread()
    def fit(cls, matrix: Any, kind: str, n_components: int, random_state: Any) -> Self:
        """Find the components of a dense or sparse matrix."""
        n_components = min(n_components, matrix.shape[0] - 1, matrix.shape[1])
        if kind == "pca":
            pca = PCA(n_components, random_state=random_state).fit(matrix)
            return cls(kind, pca.mean_, pca.components_)
        offset = np.zeros(matrix.shape[1])
        if kind == "counts":
            offset = TfidfTransformer().fit(sparse.csr_array(matrix)).idf_
            matrix = _tf_idf(matrix, offset)
        svd = TruncatedSVD(n_components, random_state=random_state).fit(matrix)
        return cls(kind, offset, svd.components_)

    @one_thread()
    def transform(self, matrix: Any) -> NDArray[Any]:
        """Return the components of the rows."""
        components = self.components.astype(matrix.dtype, copy=False).T
        if self.kind == "counts":
            return normalize(_tf_idf(matrix, self.offset) @ components)
        projected = matrix @ components
        projected -= (self.offset @ self.components.T).astype(matrix.dtype)
        return projected


def _tf_idf(matrix: Any, idf: NDArray[np.float64]) -> Any:
    """Return 1 + log(count), weighted by the rarity of the words, in rows of length 1."""
    weighted = sparse.csr_array(matrix, copy=True)
    weighted.eliminate_zeros()
    weighted.data = (1 + np.log(np.maximum(weighted.data, 1))) * idf[weighted.indices]
    return normalize(weighted, copy=False)
