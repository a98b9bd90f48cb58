"""Cluster numbers that keep their meaning from one number of clusters to the next."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

__all__ = ["match_numbers"]


def match_numbers(previous: NDArray[np.int64], labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Rename clusters so that they share as many objects as possible with those before.

    Parameters
    ----------
    previous, labels : ndarray of int64, shape (n_objects,)
        Clusters 0, 1, ...; `labels` has at least as many clusters as `previous`.

    Returns
    -------
    renamed : ndarray of int64, shape (n_objects,)
        The partition of `labels`. A cluster that is matched has the number of its match; the
        others have the next free numbers, in the order of `labels`.
    """
    n_before, n_now = int(previous.max()) + 1, int(labels.max()) + 1
    shared = np.zeros((n_before, n_now), dtype=np.int64)
    np.add.at(shared, (previous, labels), 1)
    before, now = linear_sum_assignment(shared, maximize=True)
    number = np.full(n_now, -1)
    number[now] = before
    free = np.setdiff1d(np.arange(n_now), before)
    number[number < 0] = free
    return number[labels]
