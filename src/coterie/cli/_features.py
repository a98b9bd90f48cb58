"""Features from the columns of a table: prepared, or as the file has them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler

from coterie._progress import track_progress
from coterie.cli._errors import InputError, refused_input
from coterie.cli._genes import express
from coterie.cli._options import Preparing, TableOptions
from coterie.cli._tables import (
    NotNumbers,
    Table,
    as_numbers,
    check_finite,
    known_classes,
    mark_missing,
    names_of_objects,
    not_numbers,
    shorten_list,
    used_columns,
)
from coterie.preparation import TablePreparation

__all__ = ["Features", "read_features"]

_CLASS_NAMES = {"class", "label", "labels", "target", "truth", "y", "species"}
_ID_NAMES = {"", "id", "ids", "index", "row", "name", "unnamed: 0"}


class Features(NamedTuple):
    """Features, and the columns that are not features."""

    X: NDArray[np.float64]
    """The features as they are clustered."""
    original: NDArray[np.float64]
    """The same in their original units, for profiles."""
    columns: list[str]
    """Names of the columns of `original`."""
    used: list[str]
    """Columns of the table that were used."""
    ids: list[str] | None
    truth: list[str | None] | None
    excluded: list[str]
    n_imputed: int
    words: str
    """What was done to the features."""
    preparation: dict[str, Any] | None = None
    """What was done to the features, as a model file keeps it."""


def read_features(
    table: Table,
    options: TableOptions,
    preparing: Preparing,
    *,
    seed: int,
    note: Callable[[str], None],
) -> Features:
    """Return the features of a table, and the columns that were kept aside."""
    used = used_columns(table, options)
    if len(used) == 0:
        raise InputError(f"{table.name} has no column left to cluster by.")
    if table.frame.height < 2:
        raise InputError(f"{table.name} has one row; clustering needs at least two.")
    if _looks_like_data(table.frame.columns):
        note(
            f"the first line of {table.name} was taken for the names of the columns; if it is "
            "data, add --no-header."
        )
    missing = options.missing or []
    if preparing.is_expression:
        chosen, fitted = express(table, used, preparing, missing)
        note(f"prepared: {' '.join(fitted.notes_)}")
        made = _scaled_features(chosen, chosen.frame.columns, preparing, seed, (), note)
        state = {"fitted": fitted.to_dict(), "missing": list(missing)}
        made = made._replace(
            words="; ".join([*(text.rstrip(".") for text in fitted.notes_), made.words]),
            preparation={"expression": state} | (made.preparation or {}),
        )
    else:
        made = _scaled_features(table, used, preparing, seed, missing, note)
    _note_suspicious([name for name in made.used if name not in made.excluded], note)
    aside = {*used, options.id_column, options.truth}
    return made._replace(
        ids=names_of_objects(table, options.id_column),
        truth=known_classes(table, options.truth, missing),
        excluded=[*(name for name in table.frame.columns if name not in aside), *made.excluded],
    )


def _scaled_features(
    table: Table,
    used: list[str],
    preparing: Preparing,
    seed: int,
    missing: Sequence[str],
    note: Callable[[str], None],
) -> Features:
    """Prepare columns of all kinds, or take numbers as they are."""
    if preparing.is_plain:
        return _plain_features(table, used, preparing, missing, note)
    return _prepared_features(table, used, seed, missing, note)


def _prepared_features(
    table: Table,
    used: list[str],
    seed: int,
    missing: Sequence[str],
    note: Callable[[str], None],
) -> Features:
    """Prepare columns of all kinds: see `coterie.TablePreparation`."""
    frame = mark_missing(table.frame.select(used), missing)
    _check_nearly_numbers(frame, note)
    prepare = TablePreparation(random_state=seed)
    with refused_input():
        X = prepare.fit_transform(frame)
        original, names = prepare.readable(frame)
    note(f"prepared: {prepare.summary_}")
    state = prepare.to_dict()
    arrays = {name: array.tolist() for name, array in state["arrays"].items()}
    columns = [column for column in prepare.columns_ if column.is_used]
    return Features(
        X,
        original,
        names,
        used=used,
        ids=None,
        truth=None,
        excluded=[column.name for column in prepare.columns_ if not column.is_used],
        n_imputed=sum(column.n_missing for column in columns),
        words=_what_was_done(prepare.notes_),
        preparation={
            "table": {"plain": state["plain"], "arrays": arrays},
            "missing": list(missing),
        },
    )


def _what_was_done(notes: list[str]) -> str:
    """Return what was done to the columns in use, in words."""
    kept = [n.rstrip(".") for n in notes if not n.startswith("Left out") and "imputed" not in n]
    return "; ".join([kept[0], *(note[0].lower() + note[1:] for note in kept[1:])])


def _plain_features(
    table: Table,
    used: list[str],
    preparing: Preparing,
    missing: Sequence[str],
    note: Callable[[str], None],
) -> Features:
    """Take numbers as the file has them; fill in missing ones and standardise if asked for."""
    numbers: list[NDArray[np.float64]] = []
    wrong: dict[str, NotNumbers] = {}
    with track_progress("columns", len(used)) as done:
        for name in used:
            values = as_numbers(table.frame[name], missing)
            if isinstance(values, NotNumbers):
                wrong[name] = values
            else:
                numbers.append(values)
            done[0] += 1
    if wrong:
        raise InputError(not_numbers(wrong))
    X = np.column_stack(numbers)
    check_finite(X, used)
    n_imputed = int(np.isnan(X).sum())
    X = _impute(X, used, preparing.impute)
    _check_constant(table, X, used, note)
    words = [f"missing values filled by the {preparing.impute}"] if preparing.impute else []
    words.append("standardised" if preparing.standardize else "raw values")
    scaled, preparation = X, None
    if preparing.standardize:
        scaler = StandardScaler()
        scaled = scaler.fit_transform(X)
        preparation = {"mean": scaler.mean_.tolist(), "scale": scaler.scale_.tolist()}
    return Features(scaled, X, used, used, None, None, [], n_imputed, ", ".join(words), preparation)


def _impute(
    X: NDArray[np.float64], names: Sequence[str], impute: str | None
) -> NDArray[np.float64]:
    """Fill missing values by the mean or median of their column, if that was asked for."""
    missing = np.isnan(X)
    if not missing.any():
        return X
    empty = np.flatnonzero(missing.all(axis=0))
    if len(empty):
        raise InputError(
            f"column {names[empty[0]]!r} has no value at all; leave it out with --exclude."
        )
    if impute is None:
        row, column = np.argwhere(missing)[0]
        raise InputError(
            f"features must not be missing; {int(missing.sum())} are, the first in column "
            f"{names[column]!r}, row {row} (counted from 0). Add --impute median (or mean) to "
            "fill them, or leave columns out with --exclude."
        )
    middle = np.nanmedian(X, axis=0) if impute == "median" else np.nanmean(X, axis=0)
    return np.where(missing, middle, X)


def _check_constant(
    table: Table, X: NDArray[np.float64], names: Sequence[str], note: Callable[[str], None]
) -> None:
    constant = [name for name, same in zip(names, (X[0] == X).all(axis=0), strict=True) if same]
    if len(constant) == len(names):
        raise InputError(
            f"{table.name} has nothing to cluster by: all rows are the same in "
            f"{shorten_list(constant)}."
        )
    if constant:
        note(f"no effect, because all rows have the same value: {shorten_list(constant)}.")


def _check_nearly_numbers(frame: pl.DataFrame, note: Callable[[str], None]) -> None:
    """Note columns with a few cells that are not numbers; raise InputError for decimal commas."""
    for series in frame.select(pl.col(pl.String)):
        found = as_numbers(series)
        if not isinstance(found, NotNumbers) or not found.hint:
            continue
        if found.cell is None:
            raise InputError(not_numbers({series.name: found}))
        note(
            f"column {series.name!r} is not used as numbers: it holds {found.words}. Correct "
            f"the file, or treat {found.cell!r} as missing with --missing {found.cell!r}."
        )


def _note_suspicious(used: Sequence[str], note: Callable[[str], None]) -> None:
    """Note columns that are probably not meant as features."""
    for name in used:
        if name.strip().casefold() in _CLASS_NAMES:
            note(f"column {name!r} is used as a feature; --truth {name} would keep it aside.")
        if name.strip().casefold() in _ID_NAMES:
            note(f"column {name!r} is used as a feature; --id {name!r} would keep it aside.")


def _looks_like_data(names: Sequence[str]) -> bool:
    """Whether the names of columns are numbers other than 0, 1, 2, ... or 1, 2, 3, ..."""
    try:
        numbers = [float(name) for name in names]
    except ValueError:
        return False
    return numbers not in (list(range(len(names))), list(range(1, len(names) + 1)))
