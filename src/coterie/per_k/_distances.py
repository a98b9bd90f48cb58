"""Distances between objects, by the names that users of gene expression know."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist, squareform
from scipy.stats import rankdata
from sklearn.metrics import pairwise_distances

from coterie._limits import check_fits, one_thread

__all__ = ["Metric", "check_distances", "coordinates", "distance_matrix"]

Metric = str | Callable[[Any, Any], float]

_MOST_NAMED = 5  # rows in a message
_HINT = "Use estimator='kmeans', which needs no distances"


def distance_matrix(
    X: NDArray[np.float64], metric: Metric, *, memory_limit: int | str | None = None
) -> NDArray[np.float64]:
    """Return the (n, n) distances of the rows of `X`.

    'pearson' and 'spearman' are 1 - correlation; other names are those of SciPy's `pdist`.
    """
    n = len(X)
    check_fits(
        8 * n * n, f"the distances of all pairs of {n} objects", limit=memory_limit, hint=_HINT
    )
    if metric in ("pearson", "spearman"):
        rows = _unit_rows(X, str(metric))
        with one_thread():  # the same sums on any number of threads
            distances = 1.0 - rows @ rows.T
        np.maximum(distances, 0.0, out=distances)
    elif metric == "euclidean":
        with one_thread():
            distances = pairwise_distances(X)
    else:
        distances = squareform(_scipy_distances(X, metric))
    distances = (distances + distances.T) / 2
    np.fill_diagonal(distances, 0.0)
    return distances


def check_distances(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a precomputed distance matrix, exactly symmetric, or raise."""
    if X.ndim != 2 or X.shape[0] != X.shape[1]:
        raise ValueError(
            "X must be a square matrix of distances with distance='precomputed'; got shape "
            f"{X.shape}. For a table of features, name the distance, such as 'euclidean'."
        )
    if (X < 0).any():
        raise ValueError(
            "X must hold distances of at least 0 with distance='precomputed'; got "
            f"{X.min():.6g}. A similarity s such as a correlation becomes a distance by 1 - s."
        )
    scale = float(X.max(initial=0.0))
    if not np.allclose(X, X.T, rtol=1e-6, atol=1e-8 * scale):
        raise ValueError(
            "X must be symmetric with distance='precomputed'; it differs from its transpose by up "
            f"to {np.abs(X - X.T).max():.3g}. Use (X + X.T) / 2 if both halves mean the same."
        )
    if not np.allclose(np.diag(X), 0.0, atol=1e-8 * scale):
        raise ValueError(
            "X must have zeros on its diagonal with distance='precomputed'; got up to "
            f"{np.diag(X).max():.6g}. Is it a matrix of similarities?"
        )
    distances: NDArray[np.float64] = (X + X.T) / 2
    np.fill_diagonal(distances, 0.0)
    return distances


def coordinates(X: NDArray[np.float64], metric: Metric) -> NDArray[np.float64]:
    """Return coordinates whose Euclidean distances are, or are closest to, those of the metric.

    For correlations they are the rows with mean 0 and length 1: the squared distance is twice
    1 - correlation. For 'precomputed' and other metrics: principal coordinates.
    """
    if metric == "euclidean":
        return X
    if metric in ("pearson", "spearman"):
        return _unit_rows(X, str(metric))
    distances = X if metric == "precomputed" else distance_matrix(X, metric)
    squares = distances**2
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1, keepdims=True) + squares.mean()
    values, vectors = np.linalg.eigh(-centred / 2)
    kept = values > 1e-10 * max(float(values[-1]), 1e-300)
    found: NDArray[np.float64] = (vectors[:, kept] * np.sqrt(values[kept]))[:, ::-1]
    return found


def _unit_rows(X: NDArray[np.float64], metric: str) -> NDArray[np.float64]:
    """Return the rows (their ranks for 'spearman') with mean 0 and length 1."""
    rows = rankdata(X, axis=1) if metric == "spearman" else X
    rows = rows - rows.mean(axis=1, keepdims=True)
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    flat = np.flatnonzero(length[:, 0] <= 1e-12 * np.maximum(np.abs(X).max(axis=1), 1e-300))
    if len(flat):
        named = ", ".join(map(str, flat[:_MOST_NAMED])) + ", ..." * (len(flat) > _MOST_NAMED)
        raise ValueError(
            f"distance={metric!r} needs features that vary within each object; all features are "
            f"equal in {len(flat)} of {len(X)} rows ({named}). Leave these rows out, or use "
            "distance='euclidean'."
        )
    return rows / length


def _scipy_distances(X: NDArray[np.float64], metric: Metric) -> NDArray[np.float64]:
    try:
        distances: NDArray[np.float64] = pdist(X, metric)
    except (ValueError, TypeError) as error:
        raise ValueError(
            f"distance must be 'pearson', 'spearman', 'precomputed', a metric of SciPy's pdist "
            f"such as 'cityblock', or a callable; got {metric!r} ({error})."
        ) from error
    if not np.isfinite(distances).all():
        raise ValueError(
            f"distance={metric!r} is not defined for some pairs of these objects (NaN). Use "
            "another distance, or leave the objects out."
        )
    return distances
