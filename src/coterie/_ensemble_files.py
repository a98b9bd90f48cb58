"""Ensembles as named arrays (for npz files) and as tables of text."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from coterie._encode import MISSING, Column
from coterie._ensemble_parts import shorten
from coterie._files import escape_formulas, unescape_formulas, written_whole
from coterie._reading import read_csv, row_name_column

if TYPE_CHECKING:
    import polars as pl

    from coterie.ensemble import Ensemble

__all__ = ["from_arrays", "read_label_table", "to_arrays", "write_label_table"]

FORMAT = 2  # files of format 1 have no checksum


# --- arrays -------------------------------------------------------------------------------------


def to_arrays(ensemble: Ensemble) -> dict[str, NDArray[Any]]:
    """Return everything that makes an ensemble, as named arrays."""
    arrays: dict[str, NDArray[Any]] = {
        "format": np.asarray(FORMAT),
        "labels": ensemble.labels,
        "columns": ensemble.columns,
        "n_columns": np.asarray(ensemble.n_columns),
        "names": np.array(ensemble.names),
        "groups": ensemble.groups,
        "validity": ensemble.validity,
    }
    arrays |= {f"categories_{e}": c for e, c in enumerate(ensemble.categories)}
    arrays |= {f"posteriors_{e}": p for e, p in enumerate(ensemble.posteriors or ())}
    for e, (centres, weights) in enumerate(ensemble.subspaces or ()):
        arrays |= {f"centres_{e}": centres, f"weights_{e}": weights}
    features = ensemble.features
    if isinstance(features, np.ndarray):
        arrays["features"] = features
    elif features is not None:
        arrays |= {f"features_{name}": getattr(features, name) for name in _SPARSE}
        arrays["features_shape"] = np.array(features.shape)
    return arrays


_SPARSE = ("data", "indices", "indptr")


def from_arrays(
    arrays: Mapping[str, NDArray[Any]], path: object
) -> tuple[list[Column], dict[str, Any]]:
    """Return the partitions in the arrays of a file, and the other parts of the ensemble."""
    file_format = int(arrays["format"])
    if file_format > FORMAT:
        raise ValueError(
            f"{path} was written by a newer coterie (format {file_format}); update coterie to "
            "read it."
        )
    if file_format > 1 and "checksum" not in arrays:
        raise ValueError("it has no checksum, so it is damaged")
    columns = _read_partitions(arrays)
    parts: dict[str, Any] = {"groups": arrays["groups"], "validity": arrays["validity"]}
    partitions = range(len(columns))
    if "posteriors_0" in arrays:
        parts["posteriors"] = [arrays[f"posteriors_{e}"] for e in partitions]
    if "centres_0" in arrays:
        parts["subspaces"] = [(arrays[f"centres_{e}"], arrays[f"weights_{e}"]) for e in partitions]
    if "features_data" in arrays:
        from scipy.sparse import csr_matrix  # not needed by most ensembles

        stored = tuple(arrays[f"features_{name}"] for name in _SPARSE)
        parts["features"] = csr_matrix(stored, shape=tuple(arrays["features_shape"]))
        parts["features"].check_format(full_check=True)
    else:
        parts["features"] = arrays.get("features")
    if "names" in arrays:
        parts["names"] = [str(name) for name in arrays["names"]]
    else:  # files of version 0.1
        parts["names"] = [f"partition_{column}" for column in arrays["columns"]]
    return columns, parts


def _read_partitions(arrays: Mapping[str, NDArray[Any]]) -> list[Column]:
    """Return the partitions in the arrays of a file, checked: compiled code trusts the codes."""
    labels = arrays["labels"]
    if labels.ndim != 2 or labels.dtype.kind not in "iu":
        raise ValueError(f"labels must be a table of integers; got {labels.dtype}{labels.shape}")
    columns = []
    for e in range(labels.shape[1]):
        categories = arrays[f"categories_{e}"]
        codes = labels[:, e].astype(np.int32)
        if categories.ndim != 1 or codes.min() < MISSING or codes.max() >= len(categories):
            raise ValueError(f"the codes of partition {e} do not fit its categories")
        columns.append(Column(codes, categories))
    return columns


# --- tables of text -----------------------------------------------------------------------------


def read_label_table(
    path: str | os.PathLike[str], *, separator: str, id_column: str | None
) -> pl.DataFrame:
    """Read a table of labels with a header; columns that read like numbers become numbers."""
    table = unescape_formulas(read_csv(Path(path), path, separator=separator))
    if id_column is not None:
        if id_column not in table.columns:
            raise ValueError(
                f"id_column must name a column of {path}; got {id_column!r}, the columns are "
                f"{shorten(table.columns)}."
            )
        table = table.drop(id_column)
    elif table.width > 1 and (row_names := row_name_column(table)) is not None:
        table = table.drop(row_names)
    return table.select(_numbers_of_text(column) for column in table)


def write_label_table(ensemble: Ensemble, path: str | os.PathLike[str], *, separator: str) -> None:
    """Write the labels as a table with a header, as they were given; empty is missing."""
    import polars as pl

    columns = {}
    for e, (name, categories) in enumerate(zip(ensemble.names, ensemble.categories, strict=True)):
        as_read = _numbers_of_text(pl.Series(categories.astype(str)))
        is_text = categories.dtype.kind == "U"
        if is_text and as_read.dtype.is_numeric() and (as_read == MISSING).any():
            raise ValueError(
                f"partition {name!r} has a cluster of the name '{MISSING}', which a "
                "table of text cannot tell from a missing label. Rename it, or use save."
            )
        codes = ensemble.labels[:, e]
        values = pl.Series(categories)[np.maximum(codes, 0)]
        columns[name] = pl.select(pl.when(pl.Series(codes >= 0)).then(values)).to_series()
    with written_whole(path) as temporary:
        escape_formulas(pl.DataFrame(columns)).write_csv(temporary, separator=separator)


def _numbers_of_text(column: pl.Series) -> pl.Series:
    """Return a series of text as numbers if all fields read like numbers.

    "01" does not: as a number it would be the same as "1".
    """
    import polars as pl

    fields = column.drop_nulls()
    integer = "-?(0|[1-9][0-9]*)"
    for pattern, dtype in (
        (f"^{integer}$", pl.Int64),
        (rf"^({integer}(\.[0-9]+([eE][+-]?[0-9]+)?)?|[nN]a[nN])$", pl.Float64),
    ):
        if fields.str.contains(pattern).all():
            numbers = column.cast(dtype, strict=False)
            return numbers if numbers.null_count() == column.null_count() else column
    return column
