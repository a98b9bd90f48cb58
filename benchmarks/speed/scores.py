"""Did it do the work? Checks of a result, none of them timed."""

from __future__ import annotations

import numpy as np


def largest_error(matrix, labels, n_rows=100):
    """Return the largest error of a co-association matrix in some rows, by the definition."""
    rows = np.unique(np.linspace(0, len(labels) - 1, n_rows).astype(int))
    found = matrix[rows]
    found = found.toarray() if hasattr(found, "toarray") else np.asarray(found)
    error = 0.0
    for i, row in zip(rows, found, strict=True):
        both = (labels >= 0) & (labels[i] >= 0)
        together = ((labels == labels[i]) & both).sum(axis=1)
        share = together / np.maximum(both.sum(axis=1), 1)
        error = max(error, float(np.abs(row - share).max()))
    return error


def adjusted_rand(first, second):
    """Return the agreement of two partitions, 1 for the same."""
    from sklearn.metrics import adjusted_rand_score

    return float(adjusted_rand_score(first, second))


def equal(first, second):
    """Return 1 if two arrays are equal, else 0."""
    return float(np.array_equal(first, second))
