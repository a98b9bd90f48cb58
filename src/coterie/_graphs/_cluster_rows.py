"""The last step of spectral methods: k-means on the rows of an embedding, no part empty."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from coterie._kernels.clusters import nearest_centers
from coterie._limits import one_thread
from coterie._progress import track_progress
from coterie.blocks import draw_objects

__all__ = [
    "Clustered",
    "cluster_rows",
    "draw_rows",
    "fill_empty_parts",
    "fit_kmeans",
    "most_rows",
]

_MOST_ROWS = 50_000  # rows that k-means is fitted to; with more, to a sample of this size
_MOST_NUMBERS = 1 << 23  # numbers in these rows
_ROWS_PER_PART = 100


class Clustered(NamedTuple):
    """Parts of rows."""

    labels: NDArray[np.int64]
    """(p,): the part of each row; some parts may be empty where rows coincide."""
    centers: NDArray[np.float64]
    """(k, d): the centre of each part."""


@one_thread()
def cluster_rows(
    rows: NDArray[np.float64],
    n_parts: int,
    *,
    counts: NDArray[np.int64] | None = None,
    inverse: NDArray[np.int64] | None = None,
    random_state: int = 0,
    n_init: int = 10,
) -> Clustered:
    """Cluster weighted rows by k-means.

    With more than 50,000 rows, k-means is fitted to a sample of them, and every row goes to the
    nearest centre.

    Parameters
    ----------
    rows : ndarray of shape (p, d)
    n_parts : int
    counts : ndarray of int, shape (p,), optional
        How many objects each row stands for; 1 if not given.
    inverse : ndarray of int64, shape (n,), optional
        Which row each object has; if not given, objects stand in the order of their rows.
    random_state : int, default=0
        Seed of the starts and of the sample.
    n_init : int, default=10
        Number of starts of k-means.
    """
    if n_parts >= len(rows):
        return Clustered(np.arange(len(rows)), rows)
    if n_parts == 1 or rows.shape[1] == 0:  # nothing tells rows apart
        return Clustered(np.zeros(len(rows), dtype=np.int64), np.zeros((n_parts, rows.shape[1])))
    counts = np.ones(len(rows), dtype=np.int64) if counts is None else counts
    chosen, weights = draw_rows(counts, n_parts, rows.shape[1], random_state, inverse)
    is_whole = len(chosen) == len(rows)
    fitted = fit_kmeans(
        rows if is_whole else rows[chosen], n_parts, weights, random_state, n_init=n_init
    )
    centers = fitted.cluster_centers_
    labels = fitted.labels_ if is_whole else nearest_centers(rows, centers)
    return Clustered(labels.astype(np.int64), centers)


def draw_rows(
    counts: NDArray[np.int64],
    n_parts: int,
    n_dimensions: int,
    random_state: int,
    inverse: NDArray[np.int64] | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows that k-means is fitted to, and their weights.

    These are all rows up to 50,000 (fewer if they are long), else the rows of a random sample of
    the objects, in the order of the sample. `inverse` says which row each object has; if not
    given, objects stand in the order of their rows.
    """
    n_sample = most_rows(n_parts, n_dimensions)
    if len(counts) <= n_sample:
        return np.arange(len(counts)), counts
    n_objects = int(counts.sum()) if inverse is None else len(inverse)
    objects = draw_objects(n_objects, n_sample, random_state)
    if inverse is None:
        drawn = np.searchsorted(np.cumsum(counts), objects, side="right")
    else:
        drawn = inverse[objects]
    _, first, hits = np.unique(drawn, return_index=True, return_counts=True)
    order = np.argsort(first)
    return drawn[first[order]], hits[order]


def most_rows(n_parts: int, n_dimensions: int) -> int:
    """Return the largest number of distinct rows of which k-means takes all."""
    most = min(_MOST_ROWS, _MOST_NUMBERS // max(int(n_dimensions), 1))
    return max(most, _ROWS_PER_PART * int(n_parts))


@one_thread()
def fit_kmeans(
    rows: NDArray[np.float64],
    n_parts: int,
    weights: NDArray[np.int64],
    random_state: int,
    *,
    n_init: int = 10,
    max_iter: int = 300,
) -> KMeans:
    """Fit scikit-learn's k-means."""
    kmeans = KMeans(n_parts, n_init=n_init, max_iter=max_iter, random_state=random_state)
    with track_progress("k-means"), warnings.catch_warnings():
        # Fewer distinct rows than parts: `fill_empty_parts` does the rest.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return kmeans.fit(rows, sample_weight=weights)


def fill_empty_parts(
    labels: NDArray[np.int64],
    n_parts: int,
    *,
    distances: NDArray[np.float64] | None = None,
    inverse: NDArray[np.int64] | None = None,
) -> NDArray[np.int64]:
    """Return a part for each object, none of the `n_parts` empty.

    An empty part gets the row farthest from its centre (the first of equal ones) out of a part
    with several rows. When every part holds one row, it gets an object of the largest part.

    Parameters
    ----------
    labels : ndarray of int64, shape (p,)
        The part of each distinct row.
    n_parts : int
        At most the number of objects.
    distances : ndarray of shape (p,), optional
        Of each row to the centre of its part; equal if not given.
    inverse : ndarray of int64, shape (n,), optional
        Which row each object has; each has its own if not given.
    """
    labels = labels.copy()
    distances = np.zeros(len(labels)) if distances is None else distances.copy()
    sizes = np.bincount(labels, minlength=n_parts)
    empty = list(np.flatnonzero(sizes == 0))
    while empty and sizes.max() > 1:
        row = int(np.argmax(np.where(sizes[labels] > 1, distances, -np.inf)))
        sizes[labels[row]] -= 1
        labels[row], distances[row] = empty.pop(0), 0.0
        sizes[labels[row]] = 1
    if inverse is None:
        return labels
    labels = labels[inverse]
    sizes = np.bincount(labels, minlength=n_parts)
    for part in empty:
        i = int(np.argmax(labels == np.argmax(sizes)))
        sizes[labels[i]] -= 1
        labels[i] = part
        sizes[part] = 1
    return labels
