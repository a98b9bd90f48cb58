"""Doubt within a cluster: confidence beside what is usual in the cluster."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["within_confidence"]


def within_confidence(labels: ArrayLike, confidence: ArrayLike) -> NDArray[np.float64]:
    """Return the confidence of each object relative to the median of its cluster, at most 1.

    A cluster that coarse partitions merge with its neighbour has low confidence as a whole. This
    measure takes that level off: 1 means as safe as the typical object of the cluster, and low
    values mark the doubtful objects within it.

    Parameters
    ----------
    labels : array-like of int of shape (n_objects,)
        Clusters 0, 1, ..., k - 1, such as `labels_` of a consensus method.
    confidence : array-like of shape (n_objects,)
        Such as its `confidence_`.

    Returns
    -------
    within : ndarray of shape (n_objects,)
        In [0, 1]; 0 for objects that nothing supports (confidence 0). These do not count for the
        median.

    Notes
    -----
    Below the median the order of a cluster's objects is that of their confidence. Six other
    measures from the labels (support, margin, entropy, likelihood and others) did not reliably
    order them better on labelled sets that they were not chosen on; ``python -m
    benchmarks.within`` scores them.

    Examples
    --------
    >>> within_confidence([0, 0, 0, 1, 1], [0.6, 0.6, 0.45, 1.0, 0.9]).round(2)
    array([1.  , 1.  , 0.75, 1.  , 0.95])
    """
    names, values = np.asarray(labels), np.asarray(confidence, dtype=np.float64)
    if names.ndim != 1 or names.dtype.kind not in "iu" or values.shape != names.shape:
        raise ValueError(
            "labels and confidence must be vectors of the same length, labels integers; got "
            f"shapes {names.shape} ({names.dtype}) and {values.shape}."
        )
    within = np.zeros(len(values))
    order = np.argsort(names, kind="stable")
    order = order[values[order] > 0]
    starts = np.flatnonzero(np.diff(names[order])) + 1
    for own in np.split(order, starts):
        if len(own):
            within[own] = np.minimum(values[own] / np.median(values[own]), 1.0)
    return within
