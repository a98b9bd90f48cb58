"""``coterie predict``: new rows into the clusters of a saved model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coterie.cli import _options as options
from coterie.cli._errors import InputError, did_you_mean, refused_input

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from coterie._model_file import SavedModel
    from coterie.cli._tables import Table

__all__ = ["predict"]


def predict(
    model: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL",
            help="A model that 'coterie cluster --save-model' wrote (.npz).",
            show_default=False,
        ),
    ],
    data: Annotated[
        Path,
        typer.Argument(
            metavar="DATA",
            help="Table with the columns of the model, a row per object: .csv, .tsv (also .gz), "
            ".parquet or .npy; - for CSV on standard input. Other columns are left aside.",
            show_default=False,
        ),
    ],
    id_column: options.Id = None,
    separator: options.Separator = None,
    no_header: options.NoHeader = False,
    output: options.Output = None,
    raw_text: options.RawText = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Put new rows into the clusters of a saved model.

    The result is one row per object: its name (or row number from 0), its cluster and its
    confidence in [0, 1], by the same measure as that of 'coterie cluster'.
    """
    from coterie.cli._console import step
    from coterie.cli._output import Destinations
    from coterie.cli._tables import _ids, check_file, read_table

    destinations = Destinations(output, as_json, None, None, quiet, raw_text=raw_text)
    destinations.check(data)
    check_file(model)
    with step(f"Reading {data}", quiet=quiet), refused_input():
        from coterie._model_file import load_model

        saved = load_model(model)
        table = read_table(data, separator=separator, header=not no_header)
        X = _features(table, saved)
        if id_column is not None:
            table.column(id_column, "--id")
        ids = _ids(table, id_column)
    rows = saved.generator.transform(X)
    clusters, confidence = saved.consensus.predict(rows), saved.consensus.predict_confidence(rows)
    summary: dict[str, Any] = {
        "n_objects": len(X),
        "n_clusters": saved.consensus.n_clusters_,
        "objects": {
            "id": list(range(len(X))) if ids is None else ids,
            "cluster": clusters.tolist(),
            "confidence": confidence.tolist(),
            "truth": None,
        },
    }
    destinations.write_files(summary)
    if as_json or output is None or str(output) == "-":
        destinations._replace(output=None if as_json else Path("-")).print(summary)


def _features(table: Table, saved: SavedModel) -> NDArray[np.float64]:
    """Return the features of the model from the columns of a table."""
    n_features = saved.generator.n_features_in_
    names = saved.feature_names or table.frame.columns[:n_features]
    X = features_of_table(table, names, saved.preparation)
    if X.shape[1] != n_features:
        raise InputError(f"{table.name} must have the {n_features} columns of the model.")
    return X


def features_of_table(
    table: Table, names: list[str], preparation: dict[str, Any] | None
) -> NDArray[np.float64]:
    """Return the features of a table, prepared as another one was."""
    preparation = preparation or {}
    if "table" in preparation:
        return _prepared(table, preparation)
    X = _numbers(table, _known(table, names))
    if preparation:
        X = (X - preparation["mean"]) / preparation["scale"]
    return X


def _prepared(table: Table, preparation: dict[str, Any]) -> NDArray[np.float64]:
    """Prepare a table as that of the model was; columns that were left out need not be there."""
    import polars as pl

    from coterie import TablePreparation
    from coterie.cli._tables import mark_missing

    prepare = TablePreparation.from_dict(preparation["table"])
    _known(table, [column.name for column in prepare.columns_ if column.is_used])
    empty = pl.lit(None, dtype=pl.String)
    frame = table.frame.select(
        pl.col(column.name) if column.is_used else empty.alias(column.name)
        for column in prepare.columns_
    )
    return prepare.transform(mark_missing(frame, preparation["missing"]))


def _known(table: Table, names: list[str]) -> list[str]:
    """Return the names of the columns of the model; refuse a table that lacks one."""
    absent = [name for name in names if name not in table.frame.columns]
    if absent:
        raise InputError(
            f"{table.name} must have the {len(names)} columns of the model; not there: "
            f"{', '.join(map(repr, absent[:8]))}.{did_you_mean(absent[0], table.frame.columns)}"
        )
    return names


def _numbers(table: Table, names: list[str]) -> NDArray[np.float64]:
    """Return columns of numbers, none of them missing."""
    import numpy as np

    from coterie.cli._tables import NotNumbers, _check_finite, as_numbers

    columns = []
    for name in names:
        column = as_numbers(table.frame[name])
        if isinstance(column, NotNumbers):
            raise InputError(
                f"column {name!r} of {table.name} must hold numbers; it holds {column.words}."
            )
        if np.isnan(column).any():
            row = int(np.flatnonzero(np.isnan(column))[0])
            raise InputError(
                f"column {name!r} of {table.name} has no number in row {row} (counted from 0); "
                "fill it in first."
            )
        columns.append(column)
    X = np.column_stack(columns)
    _check_finite(X, names)
    return X
