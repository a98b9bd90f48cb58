"""The form in which labels leave the library."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["first_appearance", "order_by_size"]


def order_by_size(labels: ArrayLike) -> NDArray[np.int64]:
    """Rename clusters to 0, 1, ..., largest first; of equal ones, the one with object 0 first.

    Examples
    --------
    >>> order_by_size([7, 3, 3, 5, 5])
    array([2, 0, 0, 1, 1])
    """
    labels = np.asarray(labels)
    if labels.dtype.kind in "iu" and labels.min() >= 0 and labels.max() < 2 * len(labels):
        sizes = np.bincount(labels)
        first = first_appearance(labels, len(sizes))
        codes = labels
    else:
        _, first, codes, sizes = np.unique(
            labels, return_index=True, return_inverse=True, return_counts=True
        )
    rank = np.empty(len(sizes), dtype=np.int64)
    rank[np.lexsort((first, -sizes))] = np.arange(len(sizes))
    return rank[codes]


def first_appearance(labels: NDArray[Any], n_labels: int) -> NDArray[np.int64]:
    """Return the first object with each label; the number of objects where there is none.

    An order of clusters that does not depend on their names. Negative labels do not count.
    """
    first = np.full(n_labels, len(labels))
    seen = np.flatnonzero(labels >= 0)[::-1]
    first[labels[seen]] = seen  # the last one written stays
    return first
