"""Reading tables: features, labels, names of objects and known classes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from coterie._mat import read_mat
from coterie._progress import track_progress
from coterie._reading import (
    MISSING_WORDS,
    check_regular,
    read_csv,
    read_npy,
    read_parquet,
    row_name_column,
)
from coterie.cli._errors import InputError, did_you_mean, refused_input
from coterie.cli._options import TableOptions

__all__ = [
    "NotNumbers",
    "Table",
    "as_numbers",
    "check_file",
    "check_finite",
    "file_kind",
    "known_classes",
    "mark_missing",
    "names_of_objects",
    "not_numbers",
    "read_labels",
    "read_table",
    "shorten_list",
    "used_columns",
    "with_row_names",
    "without_missing",
]

SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
ENDINGS = ".csv, .tsv, .csv.gz, .tsv.gz, .parquet, .npy or .mat"

_MAX_NAMED = 5


class Table(NamedTuple):
    """A table as it stands in a file."""

    name: str
    frame: pl.DataFrame
    """From a text file every column is text, so that '01' stays '01'."""

    def column(self, name: str, option: str) -> pl.Series:
        """Return a column by the name that an option gave."""
        if name not in self.frame.columns:
            raise InputError(
                f"{option} must name a column of {self.name}; got {name!r}."
                f"{did_you_mean(name, self.frame.columns)} The columns are "
                f"{shorten_list(self.frame.columns)}."
            )
        return self.frame[name]


class Labels(NamedTuple):
    """Clusterings of the same objects, and what was kept aside."""

    partitions: list[NDArray[Any]]
    names: list[str]
    ids: list[str] | None
    truth: list[str | None] | None


# --- files --------------------------------------------------------------------------------------


def file_kind(path: Path) -> str:
    """Return the ending that says what is in a file, '.gz' left out."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes[-1:] == [".gz"]:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def check_file(path: Path) -> None:
    """Raise InputError unless the path leads to a file that can be read."""
    if path.is_dir():
        raise InputError(f"{path} is a directory; give a file ({ENDINGS}).")
    if not path.exists():
        parent = path.parent
        near = [entry.name for entry in parent.iterdir()] if parent.is_dir() else []
        raise InputError(f"{path} does not exist.{did_you_mean(path.name, near, cutoff=0.8)}")
    with refused_input():
        check_regular(path)


def read_table(
    path: Path,
    *,
    separator: str | None = None,
    header: bool = True,
    vectors: Sequence[str] = (),
) -> Table:
    """Read a CSV, TSV, Parquet, NPY or MAT file; '-' is CSV on standard input.

    A MAT file gives the columns of its matrix, and the vectors named in `vectors`.
    """
    with refused_input({"separator": "--separator"}):
        if str(path) == "-":
            if sys.stdin is None:
                raise InputError("standard input is closed; give a file.")
            name = "standard input"
            frame = read_csv(sys.stdin.buffer, name, separator=separator or ",", header=header)
            return _checked(name, frame)
        check_file(path)
        return _checked(str(path), _read_frame(path, separator, header, vectors))


def _read_frame(
    path: Path, separator: str | None, header: bool, vectors: Sequence[str]
) -> pl.DataFrame:
    """Read a file; its ending tells the format."""
    kind = file_kind(path)
    if kind in SEPARATORS or separator is not None:
        return read_csv(path, path, separator=separator or SEPARATORS[kind], header=header)
    if kind in (".parquet", ".pq"):
        return read_parquet(path)
    if kind == ".npy":
        return _array_frame(read_npy(path), path)
    if kind == ".mat":
        return _read_mat(path, vectors)
    if kind == ".npz":
        raise InputError(
            f"{path} is not a table but an archive; for an ensemble use 'coterie consense'."
        )
    raise InputError(
        f"{path}: the ending does not tell the format. Use {ENDINGS}, or give the character "
        "between two fields with --separator."
    )


def _array_frame(array: NDArray[Any], path: Path) -> pl.DataFrame:
    if array.ndim != 2:
        raise InputError(
            f"{path} must hold an array with two axes, rows and columns; it has {array.ndim}."
        )
    if array.dtype.kind not in "biufU":
        raise InputError(f"{path} must hold numbers or text; it holds {array.dtype}.")
    if array.dtype == np.float16:
        array = array.astype(np.float32)
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    if array.dtype == np.longdouble:
        array = array.astype(np.float64)
    return pl.DataFrame({str(i): np.ascontiguousarray(array[:, i]) for i in range(array.shape[1])})


def _read_mat(path: Path, vectors: Sequence[str]) -> pl.DataFrame:
    found = read_mat(path)
    _, matrix = found.labels()
    columns = {str(i): np.ascontiguousarray(matrix[:, i]) for i in range(matrix.shape[1])}
    return pl.DataFrame(
        columns | {name: found.vector(name, len(matrix)) for name in vectors if name not in columns}
    )


def _checked(name: str, frame: pl.DataFrame) -> Table:
    if frame.width == 0:
        raise InputError(f"{name} has no columns.")
    if frame.height == 0:
        raise InputError(f"{name} has a header but no rows.")
    if frame.width == 1:
        other = next((mark for mark in (";", "\t", "|") if mark in frame.columns[0]), None)
        if other is not None:
            raise InputError(
                f"{name} has one column, {frame.columns[0]!r}; if {other!r} separates its "
                f"fields, add --separator {'$' if other == chr(9) else ''}{other!r}."
            )
    return Table(name, frame)


# --- columns ------------------------------------------------------------------------------------


def read_labels(table: Table, options: TableOptions) -> Labels:
    """Return the partitions of a table of labels, and the columns that were kept aside."""
    used, missing = used_columns(table, options), options.missing or []
    if len(used) == 0:
        raise InputError(f"{table.name} has no column left: each partition is a column.")
    partitions = []
    with track_progress("columns", len(used)) as done:
        for name in used:
            partitions.append(_as_labels(table.frame[name], missing))
            done[0] += 1
    ids = names_of_objects(table, options.id_column)
    return Labels(partitions, used, ids, known_classes(table, options.truth, missing))


def with_row_names(
    table: Table, options: TableOptions, note: Callable[[str], None]
) -> TableOptions:
    """Return options whose `id_column` names the rows where R's write.csv has written names."""
    found = row_name_column(table.frame)
    named = [*(options.columns or ()), *(options.exclude or ()), options.truth]
    if options.id_column is not None or found is None or found in named or table.frame.width < 2:
        return options
    note(
        "the first column has no heading and a different value in each row: it was taken for the "
        "names of the rows."
    )
    return options._replace(id_column=found)


def used_columns(table: Table, options: TableOptions) -> list[str]:
    """Return the columns that are features or clusterings."""
    exclude = options.exclude or ()
    aside = set()
    for name, option in ((options.id_column, "--id"), (options.truth, "--truth")):
        if name is not None:
            table.column(name, option)
            aside.add(name)
    for name in exclude:
        table.column(name, "--exclude")
    for name in options.columns or ():
        table.column(name, "--columns")
        if name in aside:
            raise InputError(f"column {name!r} cannot be kept aside and be used by --columns.")
    chosen = list(dict.fromkeys(options.columns or table.frame.columns))
    return [name for name in chosen if name not in aside and name not in exclude]


class NotNumbers(NamedTuple):
    """Why a column does not hold numbers."""

    words: str
    hint: str = ""
    """How to correct it, where most of the column is numbers."""
    cell: str | None = None
    """First cell that is not a number, where most others are."""


def as_numbers(series: pl.Series, missing: Sequence[str] = ()) -> NDArray[np.float64] | NotNumbers:
    """Return a column as numbers with NaN where missing, or why it cannot be read so."""
    if series.dtype.is_numeric() or series.dtype == pl.Boolean:
        numbers = series.cast(pl.Float64)
        return numbers.set(_equals_any(series, missing), None).to_numpy().astype(np.float64)
    if series.dtype != pl.String:
        return NotNumbers(f"values of the type {series.dtype}")
    text = without_missing(series, missing)
    numbers = text.cast(pl.Float64, strict=False)
    wrong = (numbers.is_null() & text.is_not_null()).arg_true()
    if not len(wrong):
        return numbers.to_numpy().astype(np.float64)
    value, row = text[wrong[0]], int(wrong[0])
    if text.gather(wrong).str.contains(r"^[+-]?\d+,\d+$").all():
        return NotNumbers(
            f"decimal commas ({value!r} in row {row}, counted from 0)",
            "Write decimal points instead of commas, or leave the column out with --exclude.",
        )
    if 2 * len(wrong) >= len(series) - text.null_count():
        return NotNumbers(f"text ({_shortened(value)})")
    others = f" and {len(wrong) - 1:,} more that are not numbers" if len(wrong) > 1 else ""
    return NotNumbers(
        f"{_shortened(value)} in row {row} (counted from 0){others}; the rest is numbers",
        f"Correct the file, or treat {value!r} as missing: --missing {value!r} --impute median.",
        cell=value,
    )


def not_numbers(wrong: dict[str, NotNumbers]) -> str:
    """Return what is wrong with the columns that should be features, and how to mend it."""
    them = "it" if len(wrong) == 1 else "them"
    hints = [found.hint for found in wrong.values() if found.hint] or [
        f"Keep {them} aside with --id or --truth, or leave {them} out with --exclude."
    ]
    columns = [f"column {name!r} holds {found.words}" for name, found in wrong.items()]
    return f"features must be numbers: {shorten_list(columns, most=3)}. {hints[0]}"


def without_missing(series: pl.Series, missing: Sequence[str] = ()) -> pl.Series:
    """Return a column of text with white space stripped, and null for missing values."""
    text = series.str.strip_chars()
    return text.set(text.is_in([*MISSING_WORDS, *missing]), None)


def mark_missing(frame: pl.DataFrame, missing: Sequence[str]) -> pl.DataFrame:
    """Return a table with null in place of the values that stand for missing ones."""
    marked = []
    for series in frame if missing else ():
        if series.dtype in (pl.String, pl.Categorical, pl.Enum):
            marked.append(without_missing(series.cast(pl.String), missing))
        elif series.dtype.is_numeric():
            marked.append(series.set(_equals_any(series, missing), None))
    return frame.with_columns(marked)


def _equals_any(series: pl.Series, values: Sequence[str]) -> pl.Series:
    """Return which numbers equal one of `values`, which are text."""
    numbers = pl.Series(values, dtype=pl.String).cast(pl.Float64, strict=False).drop_nulls()
    return series.cast(pl.Float64).is_in(numbers.to_list()).fill_null(False)


def _as_labels(series: pl.Series, missing: Sequence[str]) -> NDArray[Any]:
    """Return a column of labels: integers where it reads as such, else text; None is missing."""
    if series.dtype == pl.String:
        text = without_missing(series, missing)
        numbers = text.cast(pl.Int64, strict=False)
        if not numbers.cast(pl.String).eq_missing(text).all():
            # '1.0' is a number, '01' and '1a' are names.
            numbers = text.cast(pl.Float64, strict=False)
            pointed = numbers.is_not_null() & text.str.contains(".", literal=True)
            if not (pointed.fill_null(False) | text.is_null()).all():
                numbers = text
        series = numbers
    elif series.dtype.is_numeric():
        series = series.set(_equals_any(series, missing), None)
    elif series.dtype != pl.Boolean:
        text = _as_text(series, "a column of labels")
        series = text.set(text.is_in(list(missing)), None)
    if series.dtype.is_float():
        broken = series.filter(series.is_finite() & (series != series.floor()))
        if len(broken):
            raise InputError(
                f"labels must name clusters; column {series.name!r} holds {broken[0]}. Leave it "
                "out with --exclude; a table of features is for 'coterie cluster'."
            )
    if series.null_count():
        return np.array(series.to_list(), dtype=object)
    try:
        return series.to_numpy()
    except pl.exceptions.PanicException as error:  # text of a damaged file
        raise InputError(f"column {series.name!r} holds text that cannot be read.") from error


def names_of_objects(table: Table, name: str | None) -> list[str] | None:
    """Return a column as names, None without a column."""
    if name is None:
        return None
    return _as_text(table.frame[name], "--id").fill_null("").to_list()


def known_classes(
    table: Table, name: str | None, missing: Sequence[str]
) -> list[str | None] | None:
    """Return a column as classes, None where not known; None without a column."""
    if name is None:
        return None
    values = without_missing(_as_text(table.frame[name], "--truth"), missing).to_list()
    if all(value is None for value in values):
        raise InputError(f"--truth column {name!r} is empty.")
    return values


def _as_text(series: pl.Series, option: str) -> pl.Series:
    """Return a column as text; raise InputError for lists, structures, bytes and durations."""
    kind = series.dtype
    if kind.is_nested() or kind in (pl.Binary, pl.Duration, pl.Object):
        raise InputError(
            f"{option} must hold names: text, numbers or dates; column {series.name!r} holds "
            f"values of the type {kind}."
        )
    return series.cast(pl.String)


def check_finite(X: NDArray[np.float64], names: Sequence[str]) -> None:
    """Raise InputError if a column holds an infinite value."""
    infinite = np.isinf(X)
    if infinite.any():
        row, column = np.argwhere(infinite)[0]
        raise InputError(
            f"features must be finite; column {names[column]!r} holds {X[row, column]} in row "
            f"{row} (counted from 0). Correct the file or leave the column out with --exclude."
        )


def _shortened(value: str, most: int = 30) -> str:
    return repr(value if len(value) <= most else value[: most - 1] + "…")


def shorten_list(items: Sequence[str], most: int = _MAX_NAMED) -> str:
    """Return the first items, and how many more there are."""
    shown = ", ".join(items[:most])
    return shown if len(items) <= most else f"{shown} and {len(items) - most} more"
