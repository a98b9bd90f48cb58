"""``coterie predict``: new rows into the clusters of a saved model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from coterie._model_file import SavedModel, load_model
from coterie._reading import row_name_column
from coterie.cli._console import step
from coterie.cli._errors import InputError, did_you_mean, refused_input
from coterie.cli._genes import prepare_expression, transposed
from coterie.cli._options import Destinations, TableOptions
from coterie.cli._output import check_destinations, print_results, write_files
from coterie.cli._tables import (
    NotNumbers,
    Table,
    as_numbers,
    check_file,
    check_finite,
    mark_missing,
    names_of_objects,
    read_table,
)
from coterie.preparation import TablePreparation

__all__ = ["features_of_table", "predict_table"]


def predict_table(
    model: Path, data: Path, options: TableOptions, to: Destinations, *, transpose: bool = False
) -> None:
    """Put the rows of a table into the clusters of a saved model."""
    check_destinations(to, data)
    check_file(model)
    with step(f"Reading {data}", quiet=to.quiet), refused_input():
        saved = load_model(model)
        table = read_table(data, separator=options.separator, header=not options.no_header)
        id_column = options.id_column
        if transpose:
            table, id_column = transposed(table, id_column, lambda words: None)
        elif id_column is None:
            id_column = row_name_column(table.frame)
        else:
            table.column(id_column, "--id")
        ids = names_of_objects(table, id_column)
        X = _features(table, saved)
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
    write_files(summary, to)
    if to.as_json or to.output is None or str(to.output) == "-":
        print_results(summary, to._replace(output=None if to.as_json else Path("-")))


def _features(table: Table, saved: SavedModel) -> NDArray[np.float64]:
    """Return the features of the model from the columns of a table."""
    n_features = saved.generator.n_features_in_
    names = saved.feature_names or table.frame.columns[:n_features]
    X = features_of_table(table, names, saved.preparation)
    if X.shape[1] != n_features:
        raise InputError(f"{table.name} must have the {n_features} columns of the model.")
    return X


def features_of_table(
    table: Table, names: list[str], given: dict[str, Any] | None
) -> NDArray[np.float64]:
    """Return the features of a table, prepared as another one was."""
    preparation = dict(given or {})
    if "expression" in preparation:
        table = prepare_expression(table, preparation.pop("expression"))
    if "table" in preparation:
        return _prepared(table, preparation)
    X = _numbers(table, _known(table, names))
    if preparation:
        X = (X - preparation["mean"]) / preparation["scale"]
    return X


def _prepared(table: Table, preparation: dict[str, Any]) -> NDArray[np.float64]:
    """Prepare a table as that of the model was; columns that were left out need not be there."""
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
    check_finite(X, names)
    return X
