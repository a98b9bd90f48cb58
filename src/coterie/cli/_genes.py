"""Tables of gene expression on the command line: rows that are genes, logarithms, selection."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import polars as pl

from coterie._reading import row_name_column
from coterie.cli._errors import InputError, did_you_mean, refused_input
from coterie.cli._options import Preparing, TableOptions
from coterie.cli._tables import NotNumbers, Table, as_numbers, not_numbers, used_columns
from coterie.preparation import ExpressionPreparation

__all__ = ["express", "note_genes_in_rows", "prepare_expression", "transposed"]

_LEAST_ROWS, _ROWS_PER_COLUMN, _LEAST_COLUMNS = 200, 10, 4  # of a table of genes in rows
_SAMPLE_LIKE = re.compile(r"([A-Za-z]+)[ ._-]?\d[\w.-]*")
_SHARE = 0.8  # of the columns are named like samples
_FEATURE_WORDS = {"x", "v", "f", "q", "c", "pc", "col", "column", "feature", "feat", "var"} | {
    *("variable", "attr", "attribute", "pixel", "dim", "component"),
}
_OPTIONS = {"log takes": "--log takes", "leave log out": "leave out --log"}


def transposed(
    table: Table, id_column: str | None, note: Callable[[str], None]
) -> tuple[Table, str]:
    """Exchange rows and columns; return the table and the column with the names of its rows."""
    frame = table.frame
    if id_column is not None:
        table.column(id_column, "--id")
    elif len(row_names := _names_of_rows(frame)):
        id_column = row_names[0]
    if id_column is None:
        names = [f"row_{i}" for i in range(frame.height)]
    else:
        given = [str(name) for name in frame[id_column].to_list()]
        names, repeated = _made_unique(given)
        frame = frame.drop(id_column)
        if repeated:
            shown = ", ".join(repeated[:3]) + (", ..." if len(repeated) > 3 else "")
            note(f"names of rows occur more than once ({shown}); a number was added to them.")
    if frame.width < 2:
        raise InputError(
            f"--transpose needs at least two columns of objects; {table.name} has {frame.width}."
        )
    header = "object"
    while header in names:
        header += "_"
    turned = frame.transpose(include_header=True, header_name=header, column_names=names)
    return Table(table.name, turned), header


def note_genes_in_rows(table: Table, options: TableOptions, note: Callable[[str], None]) -> None:
    """Say so where rows look like genes and columns like samples."""
    n_rows, given = table.frame.height, options.id_column
    names = [given] if given is not None else _names_of_rows(table.frame)
    samples = [name for name in used_columns(table, options) if name not in names]
    if not names or len(samples) < _LEAST_COLUMNS:
        return
    if n_rows < max(_LEAST_ROWS, _ROWS_PER_COLUMN * len(samples)):
        return
    found = [_SAMPLE_LIKE.fullmatch(name) for name in samples]
    words = [match[1].casefold() for match in found if match]
    if sum(word not in _FEATURE_WORDS for word in words) >= _SHARE * len(samples):
        note(
            f"{n_rows:,} rows and {len(samples)} columns named like samples ({samples[0]}, "
            f"{samples[1]}, ...): if the rows are genes and the columns samples, add --transpose."
        )


def express(
    table: Table, used: Sequence[str], preparing: Preparing, missing: Sequence[str]
) -> tuple[Table, Any]:
    """Return the features that are kept, as a table, and the fitted `ExpressionPreparation`."""
    made = ExpressionPreparation(
        log=preparing.log,
        top_features=preparing.top_features,
        by=preparing.by or "mad",
        center=preparing.center,
    ).set_output(transform="polars")
    frame = _numbers(table, used, missing)
    with refused_input():
        try:
            return Table(table.name, made.fit_transform(frame)), made
        except ValueError as error:
            raise InputError(_in_options(str(error))) from error


def prepare_expression(table: Table, state: dict[str, Any]) -> Table:
    """Prepare a table as that of a saved model was."""
    made = ExpressionPreparation.from_dict(state["fitted"]).set_output(transform="polars")
    names = list(made.feature_names_in_)
    kept = {names[j] for j in made.kept_}
    absent = [name for name in names if name in kept and name not in table.frame.columns]
    if absent:
        raise InputError(
            f"{table.name} must have the {len(kept)} columns of the model; not there: "
            f"{', '.join(map(repr, absent[:8]))}.{did_you_mean(absent[0], table.frame.columns)}"
        )
    frame = _numbers(table, [name for name in names if name in kept], state["missing"])
    others = [pl.lit(0.0).alias(name) for name in names if name not in kept]
    try:
        return Table(table.name, made.transform(frame.with_columns(others).select(names)))
    except ValueError as error:
        raise InputError(_in_options(str(error))) from error


def _numbers(table: Table, used: Sequence[str], missing: Sequence[str]) -> pl.DataFrame:
    """Return columns as numbers; refuse text."""
    numbers: dict[str, Any] = {}
    wrong: dict[str, NotNumbers] = {}
    for name in used:
        values = as_numbers(table.frame[name], missing)
        if isinstance(values, NotNumbers):
            wrong[name] = values
        else:
            numbers[name] = values
    if wrong:
        raise InputError(not_numbers(wrong))
    for name, values in numbers.items():
        if np.isinf(values).any():
            raise InputError(f"features must be finite; column {name!r} holds an infinite number.")
    return pl.DataFrame(numbers)


def _names_of_rows(frame: pl.DataFrame) -> list[str]:
    """Return the first column if it names the rows: text, or without a name, all different."""
    first = frame.columns[0]
    if row_name_column(frame) is not None:
        return [first]
    column = frame[first]
    if column.dtype != pl.String or column.n_unique() < 0.5 * frame.height:
        return []
    is_text = isinstance(as_numbers(column), NotNumbers)
    return [first] if is_text else []


def _made_unique(names: list[str]) -> tuple[list[str], list[str]]:
    """Return names with a number added to repeated ones, and the names that are repeated."""
    seen: set[str] = set()
    unique = []
    for name in names:
        new, number = name, 2
        while new in seen:
            new, number = f"{name} ({number})", number + 1
        seen.add(new)
        unique.append(new)
    repeated = [old for new, old in zip(unique, names, strict=True) if new != old]
    return unique, list(dict.fromkeys(repeated))


def _in_options(words: str) -> str:
    """Return an error message with the names of options in place of those of parameters."""
    for name, option in _OPTIONS.items():
        words = words.replace(name, option)
    return words
