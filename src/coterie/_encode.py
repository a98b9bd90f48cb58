"""Read label matrices of any kind into integer codes; -1 is missing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie._r import R_MISSING_TEXT, called_from_r
from coterie._reading import refuse_anndata

__all__ = [
    "MISSING",
    "Column",
    "column_names",
    "encode_column",
    "plain_columns",
    "read_columns",
    "recode",
]

MISSING = -1  # "this partition has no opinion on this object"
_R_MISSING = -(2**31)  # NA_integer_ of R

_BLOCK = 1 << 20  # labels checked at a time

_NOT_LABELS = (
    "labels must name clusters (integers or strings), one column per partition; column {column} "
    "holds {value!r}. For features, use ConsensusClustering, or make an ensemble of them first "
    "with RandomizedEnsemble(...).fit_transform(X)."
)


class Column(NamedTuple):
    """One partition: codes 0..k-1 or MISSING per object, and the value behind each code."""

    codes: NDArray[np.int32]
    categories: NDArray[Any]


def read_columns(labels: Any) -> list[NDArray[Any]]:
    """Return the partitions in `labels` as 1-D arrays of raw values.

    A mapping of names to label vectors, and a list or tuple with 1-D arrays or series in it, are
    read as columns; everything else as an (n, L) table, so nested plain lists are rows, as numpy
    reads them. Called from R, a list of lists is an R list of vectors: columns.
    """
    refuse_anndata(labels)
    if hasattr(labels, "toarray") and hasattr(labels, "nnz"):
        raise TypeError(
            "labels must be dense, one column per partition; got a sparse matrix. "
            "Pass labels.toarray()."
        )
    from_r = called_from_r()
    vectors = list(labels.values()) if isinstance(labels, Mapping) else labels
    are_columns = vectors is not labels or (
        isinstance(labels, list | tuple)
        and (any(map(_is_vector, labels)) or (from_r and all(isinstance(v, list) for v in labels)))
    )
    frame = _frame_columns(labels)
    if frame is not None:
        columns = frame
    elif are_columns:
        columns = [_values(v) if _is_vector(v) else _plain_vector(v) for v in vectors]
    else:
        columns = list(_as_table(labels).T)
    if from_r:
        columns = [_without_missing_text(column) for column in columns]
    lengths = {len(column) for column in columns}
    if len(lengths) > 1:
        raise ValueError(
            "all partitions must label the same objects; got label vectors of lengths "
            f"{sorted(lengths)}. Mark objects a partition did not see with -1."
        )
    if not columns or not lengths or lengths == {0}:
        n_objects = next(iter(lengths), 0)
        raise ValueError(
            "labels must hold at least one object and one partition; got "
            f"{n_objects} sample(s) and {len(columns)} feature(s) (shape=({n_objects}, "
            f"{len(columns)})) while a minimum of 1 is required."
        )
    return columns


def column_names(labels: Any) -> list[str] | None:
    """Return the names of a frame's columns, a mapping or a list of series, or None if it has none.

    The numbers that pandas gives to columns without a name are no names.
    """
    if isinstance(labels, Mapping):
        return [str(name) for name in labels]
    if isinstance(labels, list | tuple):
        names = [getattr(vector, "name", None) for vector in labels]
        has_names = all(isinstance(name, str) and name for name in names)
    else:
        names = list(getattr(labels, "columns", ()))
        has_names = not all(isinstance(name, int | np.integer) for name in names)
    return [str(name) for name in names] if has_names else None


def plain_columns(labels: Any) -> list[Column] | None:
    """Return the columns of an integer array whose labels are codes already, else None.

    Clusterers return such labels: every code 0..k-1 occurs in its column, and perhaps MISSING. All
    columns are checked at once, which is much faster than `encode_column`. The codes are views of
    the array, with its dtype.
    """
    if type(labels) is not np.ndarray or labels.ndim != 2 or labels.dtype.kind != "i":
        return None
    if labels.size == 0 or labels.min() < MISSING or labels.max() >= len(labels):
        return None
    n_codes = labels.max(axis=0).astype(np.int64) + 1
    # Which values occur: for each column a cell for MISSING and one for each code.
    ends = np.cumsum(n_codes + 1)
    starts = ends - (n_codes + 1)
    occurs = np.zeros(int(ends[-1]), dtype=bool)
    occurs[starts] = True
    step = max(1, _BLOCK // labels.shape[1])
    for first in range(0, len(labels), step):
        occurs[labels[first : first + step] + (starts - MISSING)] = True
    if not occurs.all():
        return None
    return [
        Column(codes, np.arange(n, dtype=np.int64))
        for codes, n in zip(labels.T, n_codes, strict=True)
    ]


def encode_column(values: NDArray[Any], position: int) -> Column:
    """Replace the values of one partition by codes in the order of the sorted values."""
    values = np.asanyarray(values)
    if isinstance(values, np.ma.MaskedArray):
        hidden = np.ma.getmaskarray(values)
        values = values.data.astype(object)
        values[hidden] = None
    kind = values.dtype.kind
    if kind == "f":
        seen = ~np.isnan(values)
        whole = np.zeros(values.shape, dtype=np.int64)
        kept = values[seen]
        with np.errstate(invalid="ignore"):
            integers = kept.astype(np.int64)
        if not np.array_equal(integers, kept):
            odd = kept[integers != kept][0]
            raise ValueError(_NOT_LABELS.format(column=position, value=float(odd)))
        whole[seen] = integers
        whole[~seen] = MISSING
        return _encode_integers(whole)
    if kind in "bi":
        return _encode_integers(values.astype(np.int64, copy=False))
    if kind == "u":
        if values.size and values.max() > np.iinfo(np.int64).max:
            return _encode_strings(values.astype(str), np.ones(len(values), dtype=bool))
        return _encode_integers(values.astype(np.int64))
    if kind in "US":
        return _encode_strings(values.astype(str), np.ones(len(values), dtype=bool))
    if kind == "O":
        return _encode_objects(values, position)
    if kind == "c":
        raise ValueError(
            f"Complex data not supported: labels must name clusters; column {position} is complex."
        )
    raise TypeError(
        f"labels must name clusters (integers or strings); column {position} has dtype "
        f"{values.dtype}. Convert it with .astype(str)."
    )


def recode(column: Column, categories: NDArray[Any]) -> NDArray[np.int32]:
    """Return the codes of `column` in the vocabulary of other `categories`.

    A value that `categories` does not have gets the code ``len(categories)``: a cluster of its
    own, which no known object shares.
    """
    if len(column.categories) == 0:
        return column.codes
    unknown = len(categories)
    if column.categories.dtype.kind == categories.dtype.kind:
        own, known = column.categories, categories
    else:  # integers against strings: a table read back from text says "1" where memory says 1
        own, known = column.categories.astype(str), categories.astype(str)
    order = np.argsort(known, kind="stable")
    slot = np.minimum(np.searchsorted(known, own, sorter=order), unknown - 1)
    found = order[slot]
    translation = np.where(known[found] == own, found, unknown)
    codes = np.full(column.codes.shape, MISSING, dtype=np.int32)
    seen = column.codes >= 0
    codes[seen] = translation[column.codes[seen]]
    return codes


def _encode_integers(values: NDArray[np.int64]) -> Column:
    seen = values != MISSING
    if len(values) and values.min() < MISSING:
        seen &= values != _R_MISSING
    all_seen = bool(seen.all())
    kept = values if all_seen else values[seen]
    if kept.size == 0:
        return Column(np.full(len(values), MISSING, dtype=np.int32), np.empty(0, dtype=np.int64))
    low, high = int(kept.min()), int(kept.max())
    if high - low < 4 * len(values) + 1024:
        # Labels are nearly always small: counting is much faster than sorting.
        used = np.bincount(kept - low) > 0
        categories = np.flatnonzero(used) + low
        translation = np.cumsum(used, dtype=np.int32) - np.int32(1)
        kept_codes = translation[kept - low]
    else:
        categories, kept_codes = np.unique(kept, return_inverse=True)
    if all_seen:
        return Column(kept_codes.astype(np.int32, copy=False), categories)
    codes = np.full(len(values), MISSING, dtype=np.int32)
    codes[seen] = kept_codes
    return Column(codes, categories)


def _encode_strings(values: NDArray[np.str_], seen: NDArray[np.bool_]) -> Column:
    codes = np.full(len(values), MISSING, dtype=np.int32)
    categories, codes[seen] = np.unique(values[seen], return_inverse=True)
    return Column(codes, categories)


def _encode_objects(values: NDArray[np.object_], position: int) -> Column:
    seen = np.array([not _is_missing(value) for value in values], dtype=bool)
    kept = values[seen]
    for value in kept:
        if isinstance(value, float | np.floating) and not float(value).is_integer():
            raise ValueError(_NOT_LABELS.format(column=position, value=float(value)))
        if isinstance(value, list | dict | set | np.ndarray):
            raise TypeError(
                "argument must be a string or a number: labels must name clusters, one value "
                f"per object and partition; column {position} holds a {type(value).__name__}."
            )
    numbers = int | float | np.integer | np.floating | np.bool_
    if all(isinstance(value, numbers) and abs(int(value)) < 2**63 for value in kept):
        whole = np.full(len(values), MISSING, dtype=np.int64)
        whole[seen] = [int(value) for value in kept]
        return _encode_integers(whole)
    strings = np.full(len(values), "", dtype=object)
    # 1.0 and 1 are the same name.
    strings[seen] = [
        str(int(value) if isinstance(value, float | np.floating) else value) for value in kept
    ]
    return _encode_strings(strings.astype(str), seen)


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, float | np.floating):
        return bool(np.isnan(value))
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and value == MISSING


def _is_vector(value: Any) -> bool:
    """Whether `value` is an array or series (not a plain list) with one axis."""
    return hasattr(value, "__array__") and len(getattr(value, "shape", ())) == 1


def _plain_vector(values: Any) -> NDArray[Any]:
    """Return a plain list among label vectors as an array."""
    vector = np.empty(len(values) if isinstance(values, list | tuple) else 0, dtype=object)
    if len(vector) == 0:
        raise ValueError(
            "labels must be a list of label vectors, all with one axis; one of them is a "
            f"{type(values).__name__}, or empty."
        )
    vector[:] = values
    return vector


def _without_missing_text(column: NDArray[Any]) -> NDArray[Any]:
    """Return a column from R with None where its text is R's missing value."""
    if column.dtype.kind not in "OU":
        return column
    values = column.astype(object)
    values[column == R_MISSING_TEXT] = None
    return values


def _values(vector: Any) -> NDArray[Any]:
    """Return a label vector as an array in which missing values can still be recognised."""
    import narwhals.stable.v1 as nw

    series = nw.from_native(vector, pass_through=True, series_only=True)
    if not isinstance(series, nw.Series):
        return np.asanyarray(vector)
    if series.null_count() == 0:
        return np.asarray(series.to_numpy())
    if series.dtype.is_float():
        return np.asarray(series.cast(nw.Float64).to_numpy())
    return np.array(series.to_list(), dtype=object)


def _frame_columns(labels: Any) -> list[NDArray[Any]] | None:
    """Return the columns of a pandas, polars or other frame; None if `labels` is no frame."""
    if hasattr(labels, "collect") and hasattr(labels, "lazy"):
        raise TypeError("labels must be in memory; got a lazy frame. Pass labels.collect().")
    if isinstance(labels, np.ndarray | list | tuple) or not hasattr(labels, "columns"):
        return None
    if hasattr(labels, "iloc") and labels.shape[1]:  # pandas: names may occur twice
        return [_values(labels.iloc[:, i]) for i in range(labels.shape[1])]
    import narwhals.stable.v1 as nw

    frame = nw.from_native(labels, pass_through=True, eager_only=True)
    if not isinstance(frame, nw.DataFrame):
        return None
    if frame.shape[1] == 0:
        raise ValueError(
            "labels must hold at least one partition; got 0 feature(s) (shape="
            f"{frame.shape}) while a minimum of 1 is required."
        )
    return [_values(nw.to_native(frame[:, i])) for i in range(frame.shape[1])]


def _as_table(labels: Any) -> NDArray[Any]:
    try:
        table = labels if isinstance(labels, np.ndarray) else np.asanyarray(labels)
        if table.dtype.kind in "US" and not isinstance(labels, np.ndarray):
            # numpy turns [['a', None]] and [['a', nan]] into strings; keep what was missing.
            table = np.asanyarray(labels, dtype=object)
    except ValueError as error:
        raise ValueError(
            "labels must be a table with one row per object and one column per partition; got "
            "rows of different lengths. Mark objects a partition did not see with -1."
        ) from error
    if isinstance(table, np.matrix):  # its rows would have two axes
        table = np.asarray(table)
    if table.ndim != 2:
        hint = (
            " Reshape your data: for one partition pass labels.reshape(-1, 1); for a list of "
            "label vectors pass np.column_stack(list)."
        )
        raise ValueError(
            "Expected 2D array: labels must be 2-D, one row per object and one column per "
            f"partition; got shape {table.shape}." + (hint if table.ndim < 2 else "")
        )
    return table
