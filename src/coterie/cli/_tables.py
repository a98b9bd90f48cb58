"""Reading tables: features, labels, names of objects and known classes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie._progress import stretch
from coterie.cli._errors import InputError, did_you_mean, one_line

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Features", "Table", "as_numbers", "read_features", "read_labels", "read_table"]

SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
ENDINGS = ".csv, .tsv, .csv.gz, .tsv.gz, .parquet, .npy or .mat"
MISSING = ("", "NA", "N/A", "NaN", "nan", "null", "None", "?")
"""What stands for a missing value in a text file."""

_CLASS_NAMES = {"class", "label", "labels", "target", "truth", "y", "species"}
_ID_NAMES = {"", "id", "ids", "index", "row", "name", "unnamed: 0"}
_MOST_NAMED = 5


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
                f"{_some(self.frame.columns)}."
            )
        return self.frame[name]


class Features(NamedTuple):
    """What is clustered, and what was kept aside."""

    X: NDArray[np.float64]
    columns: list[str]
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
    """Refuse what is no file that can be read."""
    if path.is_dir():
        raise InputError(f"{path} is a directory; give a file ({ENDINGS}).")
    if not path.exists():
        parent = path.parent
        near = [entry.name for entry in parent.iterdir()] if parent.is_dir() else []
        raise InputError(f"{path} does not exist.{did_you_mean(path.name, near, cutoff=0.8)}")


def read_table(
    path: Path,
    *,
    separator: str | None = None,
    header: bool = True,
    vectors: Sequence[str] = (),
) -> Table:
    """Read a CSV, TSV, Parquet, NPY or MAT file, or CSV from the standard input for '-'.

    Of a MAT file these are the columns of its matrix and the vectors that are named.
    """
    if str(path) == "-":
        return _checked("standard input", _read_text(sys.stdin.buffer.read(), separator, header))
    check_file(path)
    kind = file_kind(path)
    reader: Callable[[], pl.DataFrame]
    if kind in SEPARATORS or separator is not None:
        mark = separator or SEPARATORS[kind]
        reader = lambda: _read_text(path, mark, header)  # noqa: E731
    elif kind in (".parquet", ".pq"):
        reader = lambda: _read_parquet(path)  # noqa: E731
    elif kind == ".npy":
        reader = lambda: _read_npy(path)  # noqa: E731
    elif kind == ".mat":
        reader = lambda: _read_mat(path, vectors)  # noqa: E731
    elif kind == ".npz":
        raise InputError(
            f"{path} is not a table but an archive; for an ensemble use 'coterie consense'."
        )
    else:
        raise InputError(
            f"{path} has an ending that says nothing about its format; use {ENDINGS}, or say "
            "what stands between its fields with --separator."
        )
    return _checked(str(path), _refused(path, reader))


def _refused(path: Path, reader: Callable[[], pl.DataFrame]) -> pl.DataFrame:
    """Return what a reader returns; say in one line why it cannot read."""
    import polars as pl

    try:
        return reader()
    except pl.exceptions.NoDataError:
        raise InputError(f"{path} is empty.") from None
    except (pl.exceptions.PolarsError, ValueError, EOFError) as error:
        why = str(error).strip().split("\n")[0].rstrip(".")
        if "more fields" in why:
            why = "some lines have more fields than the first"
        if "pickle" in why:
            why = "it is not a numpy array of numbers or text"
        raise InputError(f"{path} cannot be read as a table: {one_line(why)}.") from error


def _read_text(source: Path | bytes, separator: str | None, header: bool) -> pl.DataFrame:
    import polars as pl

    if separator is not None and len(separator.encode()) != 1:
        raise InputError(f"--separator must be one character; got {separator!r}.")
    return pl.read_csv(source, separator=separator or ",", has_header=header, infer_schema=False)


def _read_parquet(path: Path) -> pl.DataFrame:
    import polars as pl

    return pl.read_parquet(path)


def _read_npy(path: Path) -> pl.DataFrame:
    import polars as pl

    array = np.load(path, allow_pickle=False)
    if not isinstance(array, np.ndarray):
        raise ValueError("it holds no array")
    if array.ndim != 2:
        raise ValueError(f"the array must have two axes, rows and columns; it has {array.ndim}")
    if array.dtype.kind not in "biufU":
        raise ValueError(f"the array must hold numbers or text; it holds {array.dtype}")
    if array.dtype == np.float16:
        array = array.astype(np.float32)
    return pl.DataFrame({str(i): np.ascontiguousarray(array[:, i]) for i in range(array.shape[1])})


def _read_mat(path: Path, vectors: Sequence[str]) -> pl.DataFrame:
    import polars as pl

    from coterie._mat import read_mat

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
                f"{name} has one column, {frame.columns[0]!r}; if {other!r} stands between its "
                f"fields, add --separator {'$' if other == chr(9) else ''}{other!r}."
            )
    return Table(name, frame)


# --- columns ------------------------------------------------------------------------------------


def read_features(
    table: Table,
    *,
    id_column: str | None,
    truth_column: str | None,
    columns: Sequence[str],
    exclude: Sequence[str],
    impute: str | None,
    note: Callable[[str], None],
) -> Features:
    """Return the feature matrix of a table, and the columns that were kept aside."""
    used = _used_columns(table, id_column, truth_column, columns, exclude)
    if len(used) == 0:
        raise InputError(f"{table.name} has no column left to cluster by.")
    if table.frame.height < 2:
        raise InputError(f"{table.name} has one row; clustering needs at least two.")
    numbers, wrong = [], []
    with stretch("columns", len(used)) as done:
        for name in used:
            series = as_numbers(table.frame[name])
            if isinstance(series, str):
                wrong.append(f"column {name!r} holds {series}")
            else:
                numbers.append(series)
            done[0] += 1
    if wrong:
        them = "it" if len(wrong) == 1 else "them"
        raise InputError(
            f"features must be numbers: {_some(wrong, most=3)}. Keep {them} aside with --id or "
            f"--truth, or leave {them} out with --exclude."
        )
    _note_suspicious(table, used, note)
    X = np.column_stack(numbers)
    _check_finite(X, used)
    X = _impute(X, used, impute)
    _check_constant(table, X, used, note)
    return Features(X, used, _ids(table, id_column), _truth(table, truth_column))


def read_labels(
    table: Table,
    *,
    id_column: str | None,
    truth_column: str | None,
    columns: Sequence[str],
    exclude: Sequence[str],
    missing: Sequence[str],
) -> tuple[list[NDArray[Any]], list[str] | None, list[str | None] | None]:
    """Return the partitions of a table of labels, and the columns that were kept aside."""
    used = _used_columns(table, id_column, truth_column, columns, exclude)
    if len(used) == 0:
        raise InputError(f"{table.name} has no column left: each partition is a column.")
    partitions = []
    with stretch("columns", len(used)) as done:
        for name in used:
            partitions.append(_as_labels(table.frame[name], missing))
            done[0] += 1
    return partitions, _ids(table, id_column), _truth(table, truth_column)


def _used_columns(
    table: Table,
    id_column: str | None,
    truth_column: str | None,
    columns: Sequence[str],
    exclude: Sequence[str],
) -> list[str]:
    aside = set()
    for name, option in ((id_column, "--id"), (truth_column, "--truth")):
        if name is not None:
            table.column(name, option)
            aside.add(name)
    for name in exclude:
        table.column(name, "--exclude")
    for name in columns:
        table.column(name, "--columns")
        if name in aside:
            raise InputError(f"column {name!r} cannot be kept aside and be used by --columns.")
    chosen = list(dict.fromkeys(columns)) or table.frame.columns
    return [name for name in chosen if name not in aside and name not in exclude]


def as_numbers(series: pl.Series) -> NDArray[np.float64] | str:
    """Return a column as numbers, NaN where missing, or a text that says what it holds."""
    import polars as pl

    if series.dtype.is_numeric() or series.dtype == pl.Boolean:
        return series.cast(pl.Float64).to_numpy().astype(np.float64)
    if series.dtype != pl.String:
        return f"values of the type {series.dtype}"
    text = series.str.strip_chars()
    text = text.set(text.is_in(list(MISSING)), None)
    numbers = text.cast(pl.Float64, strict=False)
    wrong = text.filter(numbers.is_null() & text.is_not_null())
    if len(wrong):
        return f"text ({_shortened(wrong[0])})"
    return numbers.to_numpy().astype(np.float64)


def _as_labels(series: pl.Series, missing: Sequence[str]) -> NDArray[Any]:
    """Return a column of labels: integers where it reads as such, else text; None is missing."""
    import polars as pl

    if series.dtype == pl.String:
        text = series.str.strip_chars()
        text = text.set(text.is_in([*MISSING, *missing]), None)
        numbers = text.cast(pl.Int64, strict=False)
        if not numbers.cast(pl.String).eq_missing(text).all():
            # '1.0' is a number, '01' and '1a' are names.
            numbers = text.cast(pl.Float64, strict=False)
            pointed = numbers.is_not_null() & text.str.contains(".", literal=True)
            if not (pointed.fill_null(False) | text.is_null()).all():
                numbers = text
        series = numbers
    elif missing:
        text = series.cast(pl.String)
        series = series.set(text.is_in(list(missing)), None)
    if series.dtype.is_float():
        broken = series.filter(series.is_finite() & (series != series.floor()))
        if len(broken):
            raise InputError(
                f"labels must name clusters; column {series.name!r} holds {broken[0]}. Leave it "
                "out with --exclude; a table of features is for 'coterie cluster'."
            )
    if series.null_count():
        return np.array(series.to_list(), dtype=object)
    return series.to_numpy()


def _ids(table: Table, name: str | None) -> list[str] | None:
    import polars as pl

    if name is None:
        return None
    return table.frame[name].cast(pl.String).fill_null("").to_list()


def _truth(table: Table, name: str | None) -> list[str | None] | None:
    import polars as pl

    if name is None:
        return None
    text = table.frame[name].cast(pl.String).str.strip_chars()
    values = text.set(text.is_in(list(MISSING)), None).to_list()
    if all(value is None for value in values):
        raise InputError(f"--truth column {name!r} is empty.")
    return values


# --- checks -------------------------------------------------------------------------------------


def _check_finite(X: NDArray[np.float64], names: Sequence[str]) -> None:
    infinite = np.isinf(X)
    if infinite.any():
        row, column = np.argwhere(infinite)[0]
        raise InputError(
            f"features must be finite; column {names[column]!r} holds {X[row, column]} in row "
            f"{row} (counted from 0). Mend the file or leave the column out with --exclude."
        )


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
            f"{table.name} has nothing to cluster by: all rows are the same in {_some(constant)}."
        )
    if constant:
        note(f"the same in all rows, and so without effect: {_some(constant)}.")


def _note_suspicious(table: Table, used: Sequence[str], note: Callable[[str], None]) -> None:
    """Say what looks like a mistake but may be meant."""
    for name in used:
        if name.strip().casefold() in _CLASS_NAMES:
            note(f"column {name!r} is used as a feature; --truth {name} would keep it aside.")
        if name.strip().casefold() in _ID_NAMES:
            note(f"column {name!r} is used as a feature; --id {name!r} would keep it aside.")
    if _looks_like_data(table.frame.columns):
        note(
            f"the first line of {table.name} was taken for the names of the columns; if it is "
            "data, add --no-header."
        )


def _looks_like_data(names: Sequence[str]) -> bool:
    """Whether names are numbers, and not those of the columns."""
    try:
        numbers = [float(name.partition("_duplicated_")[0]) for name in names]
    except ValueError:
        return False
    return numbers not in (list(range(len(names))), list(range(1, len(names) + 1)))


def _shortened(value: str, most: int = 30) -> str:
    return repr(value if len(value) <= most else value[: most - 1] + "…")


def _some(items: Sequence[str], most: int = _MOST_NAMED) -> str:
    shown = ", ".join(items[:most])
    return shown if len(items) <= most else f"{shown} and {len(items) - most} more"
