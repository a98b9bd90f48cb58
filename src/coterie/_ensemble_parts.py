"""Checks of what an ensemble holds: names, groups, validity, memberships, subspaces, features."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coterie._encode import MISSING, Column

__all__ = [
    "check_features",
    "check_groups",
    "check_names",
    "check_positions",
    "check_posteriors",
    "check_subspaces",
    "check_validity",
    "default_names",
    "frozen",
    "shorten",
]

Subspace = tuple[NDArray[np.float64], NDArray[np.float64]]


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """Make an array, which must be ours, read-only; return it."""
    array.flags.writeable = False
    return array


def shorten(items: Iterable[Any], most: int = 8) -> str:
    """Return the first items as text, and how many there are more."""
    items = list(items)
    shown = ", ".join(str(item) for item in items[:most])
    return shown if len(items) <= most else f"{shown} and {len(items) - most} more"


def check_positions(name: str, given: ArrayLike | slice, n: int, what: str) -> NDArray[np.int64]:
    """Return the positions among `n` things that a slice, integers or a mask name."""
    if not isinstance(given, slice):
        given = np.atleast_1d(np.asarray(given))
        if given.size == 0:
            given = given.astype(np.int64)
        if given.dtype.kind not in "biu":
            raise TypeError(
                f"{name} must be positions (integers), a boolean mask or a slice; got "
                f"{given.dtype}."
            )
        if given.ndim > 1:
            raise ValueError(f"{name} must have one axis; got shape {given.shape}.")
    try:
        positions = np.arange(n)[given]
    except IndexError as error:
        raise IndexError(
            f"{name} must name some of the {n} {what}s (0 to {n - 1}), or be a mask of that "
            f"length; {error}."
        ) from None
    if len(positions) == 0:
        raise ValueError(f"{name} must name at least one {what}; got none.")
    return positions


# --- one value per partition --------------------------------------------------------------------


def default_names(n_partitions: int) -> tuple[str, ...]:
    """Return 'partition_0', 'partition_1' and so on."""
    return tuple(f"partition_{i}" for i in range(n_partitions))


def check_names(names: Sequence[str] | None, n_partitions: int) -> Sequence[str]:
    """Return one name per partition, no two the same."""
    if names is None:
        return default_names(n_partitions)
    names = [names] if isinstance(names, str) else list(names)
    if len(names) != n_partitions:
        raise ValueError(
            f"names must have one name per partition ({n_partitions}); got {len(names)}."
        )
    given = set(map(str, names))
    unique: dict[str, None] = {}
    for name in map(str, names):
        own, count = name, 1
        while own in unique or (count > 1 and own in given):
            count += 1
            own = f"{name}_{count}"
        unique[own] = None
    return list(unique)


def check_groups(groups: ArrayLike | None, n_partitions: int) -> NDArray[Any]:
    """Return one group per partition; 0 for all if none are given."""
    if groups is None:
        return np.zeros(n_partitions, dtype=np.int64)
    array = np.asarray(groups)
    if array.shape != (n_partitions,):
        raise ValueError(
            f"groups must have one entry per partition ({n_partitions}); got shape {array.shape}."
        )
    return array.astype(str) if array.dtype.kind in "OUS" else array


def check_validity(validity: ArrayLike | None, n_partitions: int) -> NDArray[np.float64]:
    """Return one number in [0, 1] per partition; 1 for all if none are given."""
    if validity is None:
        return np.ones(n_partitions)
    try:
        array = np.asarray(validity, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"validity must be numbers in [0, 1]; {error}.") from None
    if array.shape != (n_partitions,):
        raise ValueError(
            f"validity must have one entry per partition ({n_partitions}); got shape {array.shape}."
        )
    if not ((array >= 0) & (array <= 1)).all():
        raise ValueError("validity must lie in [0, 1]; clip it, for example with np.clip.")
    return array


# --- arrays per partition -----------------------------------------------------------------------


def check_posteriors(
    posteriors: Sequence[ArrayLike] | None,
    columns: Mapping[int, Column],
    n_given: int,
    *,
    named: bool,
) -> tuple[NDArray[np.float64], ...] | None:
    """Return the memberships of the partitions that are kept.

    Parameters
    ----------
    posteriors : sequence of arrays, or None
        One array for each of the `n_given` partitions.
    columns : mapping of int to Column
        The partitions that are kept, by their position among those given.
    n_given : int
        Number of partitions that were given.
    named : bool
        Whether labels may be the numbers of columns of the memberships.
    """
    if posteriors is None:
        return None
    if len(posteriors) != n_given:
        raise ValueError(
            f"posteriors must be one array per partition ({n_given}); got {len(posteriors)}."
        )
    return tuple(
        frozen(_check_memberships(posteriors[i], i, column, named=named))
        for i, column in columns.items()
    )


def _check_memberships(
    given: ArrayLike, position: int, column: Column, *, named: bool
) -> NDArray[np.float64]:
    array = _owned_copy(given)
    expected = (len(column.codes), len(column.categories))
    if array.ndim != 2 or array.shape[0] != expected[0] or array.shape[1] < expected[1]:
        raise ValueError(
            f"posteriors[{position}] must have shape {expected} or more columns, a row per "
            f"object and a column per cluster; got {array.shape}."
        )
    odd = array[~(array >= 0) | np.isinf(array)]
    if len(odd):
        raise ValueError(
            f"posteriors[{position}] must be finite and not negative; got {odd[0]}. An "
            "object of which a partition knows nothing has a row of 0."
        )
    if named:
        array = _in_label_order(column, array)
    missing = column.codes == MISSING
    if array[missing].any():
        array = np.where(missing[:, None], 0.0, array)
    if named:
        _compare_with_labels(position, column, array)
    return array


def _compare_with_labels(position: int, column: Column, posteriors: NDArray[np.float64]) -> None:
    """Warn where most labels are not the largest posteriors: columns are in another order."""
    known = np.flatnonzero(column.codes != MISSING)
    own = posteriors[known, column.codes[known]]
    n_other = int((own < posteriors[known].max(axis=1, initial=0.0) - 1e-9).sum())
    if 2 * n_other > len(known):
        warnings.warn(
            f"posteriors[{position}] have their largest value in another column than "
            f"that of the label for {n_other} of {len(known)} objects. Columns must be in the "
            "order of the sorted labels, and hold probabilities, not distances.",
            UserWarning,
            stacklevel=7,
        )


def _in_label_order(
    column: Column, array: NDArray[np.float64], axis: int = 1
) -> NDArray[np.float64]:
    """Return the array with the clusters that the labels name first, in the order of the labels.

    Only labels that are numbers of clusters of the array name them; otherwise it stays as it is.
    """
    names, n_clusters = column.categories, array.shape[axis]
    if len(names) == n_clusters or names.dtype.kind != "i":
        return array
    if names.min() < 0 or names.max() >= n_clusters:
        return array
    order = np.concatenate([names, np.setdiff1d(np.arange(n_clusters), names)])
    return np.take(array, order, axis=axis)


def check_subspaces(
    subspaces: Sequence[tuple[ArrayLike, ArrayLike]] | None,
    columns: Mapping[int, Column],
    n_given: int,
    *,
    named: bool,
) -> tuple[Subspace, ...] | None:
    """Return centres and feature weights of the partitions kept; see `check_posteriors`."""
    if subspaces is None:
        return None
    if len(subspaces) != n_given:
        raise ValueError(
            f"subspaces must be one pair (centres, feature weights) per partition "
            f"({n_given}); got {len(subspaces)}."
        )
    checked = []
    for i, column in columns.items():
        centres, weights = (_owned_copy(array) for array in subspaces[i])
        n_clusters = len(column.categories)
        if centres.ndim != 2 or centres.shape != weights.shape:
            raise ValueError(
                f"subspaces[{i}] must be two arrays of shape "
                f"({n_clusters}, n_features); got {centres.shape} and {weights.shape}."
            )
        if len(centres) < n_clusters:
            raise ValueError(
                f"subspaces[{i}] must have a row for each of the {n_clusters} clusters; got "
                f"{len(centres)}."
            )
        if not np.isfinite(centres).all() or not np.isfinite(weights).all():
            raise ValueError(f"subspaces[{i}] must be finite; got NaN or infinity.")
        if weights.min(initial=0.0) < 0:
            raise ValueError(
                f"subspaces[{i}] must have no negative feature weight; got {weights.min()}."
            )
        if named:
            centres = _in_label_order(column, centres, axis=0)
            weights = _in_label_order(column, weights, axis=0)
        checked.append((frozen(centres), frozen(weights)))
    return tuple(checked)


# --- features -----------------------------------------------------------------------------------


def check_features(features: Any, n_objects: int) -> Any:
    """Return features as a read-only array or CSR matrix."""
    if features is None:
        return None
    if hasattr(features, "tocsr"):
        from scipy.sparse import csr_matrix  # not needed by most ensembles

        table = csr_matrix(features, dtype=np.float64)
        if not _is_closed(table.data):
            table = table.copy()
            table.sum_duplicates()
        parts = [table.data, table.indices, table.indptr]
    else:
        table = _owned_copy(features)
        parts = [table]
    if table.ndim != 2 or table.shape[0] != n_objects:
        raise ValueError(
            f"features must have one row for each of the {n_objects} objects; got shape "
            f"{table.shape}."
        )
    if not np.isfinite(parts[0]).all():
        raise ValueError("features must be finite; fill in what is missing first.")
    for array in parts:
        frozen(array)
    return table


def _owned_copy(array: ArrayLike) -> NDArray[np.float64]:
    """Return a copy of what the caller could still change; a frozen array as it is."""
    if isinstance(array, np.ndarray) and array.dtype == np.float64 and _is_closed(array):
        return array
    return np.array(array, dtype=np.float64)


def _is_closed(array: NDArray[Any]) -> bool:
    """Whether an array is read-only and no view, whose base might be writeable."""
    return array.flags.owndata and not array.flags.writeable
