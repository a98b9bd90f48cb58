"""Contingency tables of one partition with many, as lists of their cells.

Only cells that hold objects are listed, so the tables of a partition with all others take at
most one cell per object and partition, whatever the numbers of clusters. All scores are sums
over cells: because the counts of a row add up to the size of its cluster, a sum over the
clusters of a partition is a sum over cells as well (sum_i a_i g(a_i) = sum_ij c_ij g(a_i)).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "Tables",
    "ari_of",
    "ari_of_pairs",
    "check_partition",
    "nmi_of",
    "nmi_of_entropies",
    "tables_with",
]


class Tables(NamedTuple):
    """The cells that hold objects, of several contingency tables of the same row partition."""

    n_tables: int
    table: NDArray[np.int64]
    """(m,): which table a cell belongs to."""
    counts: NDArray[np.int64]
    """(m,): how many objects are in the cell."""
    rows: NDArray[np.int64]
    """(m,): how many objects of the table are in the row of the cell."""
    columns: NDArray[np.int64]
    """(m,): how many objects of the table are in the column of the cell."""

    def sums(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Return the sum over the objects of each table; `values` are per cell."""
        sums = np.bincount(self.table, self.counts * values, minlength=self.n_tables)
        return np.asarray(sums, dtype=np.float64)


def nmi_of(tables: Tables) -> NDArray[np.float64]:
    """Return the NMI, I / sqrt(H H), of each table; NaN for a table without objects."""
    n = tables.sums(np.ones(len(tables.table)))
    objects = n[tables.table]
    counts, rows, columns = tables.counts, tables.rows, tables.columns
    # As floats: the products of two counts may not fit an integer.
    information = tables.sums(np.log((counts / rows) * (objects / columns)))
    entropies = tables.sums(np.log(objects / rows)), tables.sums(np.log(objects / columns))
    return nmi_of_entropies(information, *entropies, ari_of(tables))


def nmi_of_entropies(
    information: NDArray[np.float64],
    first: NDArray[np.float64],
    second: NDArray[np.float64],
    ari: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return I / sqrt(H H) in [0, 1]; 1 and NaN exactly where the adjusted Rand index is."""
    nmi = np.zeros(information.shape)
    product = first * second
    np.divide(information, np.sqrt(np.maximum(product, 0.0)), out=nmi, where=product > 0)
    nmi = np.clip(nmi, 0.0, 1.0)
    exact = (ari == 1.0) | np.isnan(ari)  # equal partitions, also constant ones; no objects
    nmi[exact] = ari[exact]
    return nmi


def ari_of(tables: Tables) -> NDArray[np.float64]:
    """Return the adjusted Rand index of each table; NaN for a table without objects."""
    return ari_of_pairs(
        tables.sums(np.ones(len(tables.table))),
        tables.sums(tables.counts - 1),
        tables.sums(tables.rows - tables.counts),
        tables.sums(tables.columns - tables.counts),
    )


def ari_of_pairs(
    n: NDArray[Any],
    both: NDArray[Any],
    first_only: NDArray[Any],
    second_only: NDArray[Any],
) -> NDArray[np.float64]:
    """Return the adjusted Rand index from counts of objects and of ordered pairs; NaN for none.

    Pairs are counted as in scikit-learn's `pair_confusion_matrix`: together in both partitions, in
    the first only, in the second only. Differences between integers lose no digits where one
    partition is nearly constant.
    """
    # As floats: the products of two counts of pairs may not fit an integer.
    n, both, first_only, second_only = (
        np.asarray(count, dtype=np.float64) for count in (n, both, first_only, second_only)
    )
    neither = n * (n - 1) - both - first_only - second_only
    excess = 2.0 * (both * neither - first_only * second_only)
    largest = (both + first_only) * (first_only + neither)
    largest += (both + second_only) * (second_only + neither)
    ari = np.ones(n.shape)
    np.divide(excess, largest, out=ari, where=(first_only > 0) | (second_only > 0))
    ari[n == 0] = np.nan
    return ari


def tables_with(
    codes: NDArray[np.integer[Any]], labels: NDArray[np.int32], n_clusters: NDArray[np.int64]
) -> Tables:
    """Return the tables of one partition with each column of `labels`; -1 is missing in both."""
    n = len(codes)
    n_codes = int(codes.max()) + 1
    known = codes >= 0
    codes = codes.astype(np.int64)
    cells = []
    for e, width in enumerate(n_clusters.tolist()):
        column = labels[:, e].astype(np.int64)
        seen = known & (column >= 0)
        first, second = (codes, column) if seen.all() else (codes[seen], column[seen])
        joint = first * width + second
        if n_codes * width <= 4 * n + 1024:
            counts = np.bincount(joint, minlength=n_codes * width)
            held = np.flatnonzero(counts)
            counts = counts[held]
        else:
            held, counts = np.unique(joint, return_counts=True)
        row, col = np.divmod(held, width)
        sizes = np.bincount(first, minlength=n_codes), np.bincount(second, minlength=width)
        cells.append((np.full(len(held), e), counts, sizes[0][row], sizes[1][col]))
    return Tables(len(n_clusters), *(np.concatenate(part) for part in zip(*cells, strict=True)))


def check_partition(labels: ArrayLike, name: str, n_objects: int | None = None) -> NDArray[np.intp]:
    """Return one label vector as codes 0..k-1, in the order of the sorted labels.

    Every value is the name of a cluster, -1 too, as in scikit-learn.
    """
    values = np.asarray(labels)
    if values.ndim != 1:
        hint = " Pass labels.ravel()." if values.ndim == 2 and 1 in values.shape else ""
        raise ValueError(
            f"{name} must be 1-D, one label per object; got shape {values.shape}.{hint}"
        )
    if values.size == 0:
        raise ValueError(f"{name} must label at least one object; got none.")
    if n_objects is not None and len(values) != n_objects:
        raise ValueError(
            f"{name} must have one label for each of the {n_objects} objects; got {len(values)}."
        )
    if _any_missing(values):
        raise ValueError(
            f"{name} must label every object; got NaN or None. Leave those objects out first."
        )
    if values.dtype.kind == "f" and (values != np.floor(values)).any():
        odd = float(values[values != np.floor(values)][0])
        raise ValueError(f"{name} must name clusters (integers or strings); got {odd!r}.")
    try:
        return np.unique(values, return_inverse=True)[1]
    except TypeError:  # names of several types, which cannot be sorted
        return np.unique(values.astype(str), return_inverse=True)[1]


def _any_missing(values: NDArray[Any]) -> bool:
    if values.dtype.kind == "f":
        return bool(np.isnan(values).any())
    return values.dtype.kind == "O" and any(
        value is None
        or type(value).__name__ in ("NAType", "NaTType")
        or (isinstance(value, float) and value != value)
        for value in values
    )
