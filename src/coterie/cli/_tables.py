"""Reading tables: features, labels, names of objects and known classes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie._progress import track_progress
from coterie._reading import check_regular, read_csv, read_npy, read_parquet, row_name_column
from coterie.cli._errors import InputError, did_you_mean, refused_input

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "Features",
    "Preparing",
    "Table",
    "as_numbers",
    "read_features",
    "read_labels",
    "read_table",
]

SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
ENDINGS = ".csv, .tsv, .csv.gz, .tsv.gz, .parquet, .npy or .mat"
MISSING = ("", "NA", "N/A", "NaN", "nan", "null", "None", "?")
"""What stands for a missing value in a text file."""

FEATURE_OPTIONS = "--raw, --standardize, --impute, --transpose, --log, --top-features and --center"
"""Options that say how features are prepared."""

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
                f"{_shorten(self.frame.columns)}."
            )
        return self.frame[name]


class Labels(NamedTuple):
    """Clusterings of the same objects, and what was kept aside."""

    partitions: list[NDArray[Any]]
    names: list[str]
    ids: list[str] | None
    truth: list[str | None] | None


class Features(NamedTuple):
    """What is clustered, and what was kept aside."""

    X: NDArray[np.float64]
    """The features as they are clustered."""
    original: NDArray[np.float64]
    """The same in terms that people know, for profiles."""
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


class Preparing(NamedTuple):
    """How features are made from the columns of a table."""

    raw: bool = False
    standardize: bool = False
    impute: str | None = None
    seed: int = 0
    transpose: bool = False
    log: bool = False
    top_features: int | None = None
    by: str = "mad"
    center: bool = False

    @property
    def is_for_genes(self) -> bool:
        """Whether rows and columns are exchanged, or features chosen or changed first."""
        return self.transpose or self.is_expression

    @property
    def is_expression(self) -> bool:
        """Whether features are chosen or changed first."""
        return self.log or self.top_features is not None or self.center

    @property
    def is_plain(self) -> bool:
        """Whether numbers are taken as the file has them, or only standardised and filled in."""
        return self.raw or self.standardize or self.impute is not None


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
    with refused_input():
        check_regular(path)


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
    """Read a file in the format that its ending says."""
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
        f"{path} has an ending that says nothing about its format; use {ENDINGS}, or say "
        "what stands between its fields with --separator."
    )


def _array_frame(array: NDArray[Any], path: Path) -> pl.DataFrame:
    import polars as pl

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
    preparing: Preparing,
    *,
    id_column: str | None,
    truth_column: str | None,
    columns: Sequence[str],
    exclude: Sequence[str],
    missing: Sequence[str],
    note: Callable[[str], None],
) -> Features:
    """Return the features of a table, and the columns that were kept aside."""
    from coterie.cli._genes import express, note_genes_in_rows, transposed

    if preparing.transpose:
        table, id_column = transposed(table, id_column, note)
    else:
        id_column = find_row_names(table, id_column, [*columns, *exclude], note)
    used = _used_columns(table, id_column, truth_column, columns, exclude)
    if len(used) == 0:
        raise InputError(f"{table.name} has no column left to cluster by.")
    if not preparing.transpose:
        note_genes_in_rows(table, id_column, used, note)
    if table.frame.height < 2:
        raise InputError(f"{table.name} has one row; clustering needs at least two.")
    if _looks_like_data(table.frame.columns):
        note(
            f"the first line of {table.name} was taken for the names of the columns; if it is "
            "data, add --no-header."
        )
    read = _plain_features if preparing.is_plain else _prepared_features
    if preparing.is_expression:
        chosen, expression = express(table, used, preparing, missing)
        note(f"prepared: {' '.join(expression.notes_)}")
        made = read(chosen, chosen.frame.columns, preparing, (), note)
        state = {"fitted": expression.to_dict(), "missing": list(missing)}
        made = made._replace(
            words="; ".join([*(text.rstrip(".") for text in expression.notes_), made.words]),
            preparation={"expression": state} | (made.preparation or {}),
        )
    else:
        made = read(table, used, preparing, missing, note)
    _note_suspicious([name for name in made.used if name not in made.excluded], note)
    aside = {*used, id_column, truth_column}
    return made._replace(
        ids=_ids(table, id_column),
        truth=_truth(table, truth_column, missing),
        excluded=[*(name for name in table.frame.columns if name not in aside), *made.excluded],
    )


def _prepared_features(
    table: Table,
    used: list[str],
    preparing: Preparing,
    missing: Sequence[str],
    note: Callable[[str], None],
) -> Features:
    """Prepare columns of all kinds: see `coterie.TablePreparation`."""
    from coterie import TablePreparation

    frame = mark_missing(table.frame.select(used), missing)
    _check_nearly_numbers(frame, note)
    prepare = TablePreparation(random_state=preparing.seed)
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
    """Return what was done to the columns in use; the report tells of the others elsewhere."""
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
    _check_finite(X, used)
    n_imputed = int(np.isnan(X).sum())
    X = _impute(X, used, preparing.impute)
    _check_constant(table, X, used, note)
    words = [f"missing values filled by the {preparing.impute}"] if preparing.impute else []
    words.append("standardised" if preparing.standardize else "raw values")
    scaled, preparation = X, None
    if preparing.standardize:
        from sklearn.preprocessing import StandardScaler

        scaler = StandardScaler()
        scaled = scaler.fit_transform(X)
        preparation = {"mean": scaler.mean_.tolist(), "scale": scaler.scale_.tolist()}
    return Features(scaled, X, used, used, None, None, [], n_imputed, ", ".join(words), preparation)


def read_labels(
    table: Table,
    *,
    id_column: str | None,
    truth_column: str | None,
    columns: Sequence[str],
    exclude: Sequence[str],
    missing: Sequence[str],
    note: Callable[[str], None],
) -> Labels:
    """Return the partitions of a table of labels, and the columns that were kept aside."""
    id_column = find_row_names(table, id_column, [*columns, *exclude], note)
    used = _used_columns(table, id_column, truth_column, columns, exclude)
    if len(used) == 0:
        raise InputError(f"{table.name} has no column left: each partition is a column.")
    partitions = []
    with track_progress("columns", len(used)) as done:
        for name in used:
            partitions.append(_as_labels(table.frame[name], missing))
            done[0] += 1
    return Labels(partitions, used, _ids(table, id_column), _truth(table, truth_column, missing))


def find_row_names(
    table: Table, id_column: str | None, named: Sequence[str], note: Callable[[str], None]
) -> str | None:
    """Return the column with the names of the rows: that of --id, or as R's write.csv makes it."""
    found = row_name_column(table.frame)
    if id_column is not None or found is None or found in named or table.frame.width < 2:
        return id_column
    note(
        "the first column has no heading and a different value in each row: it was taken for the "
        "names of the rows."
    )
    return found


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


class NotNumbers(NamedTuple):
    """What a column holds that is not numbers."""

    words: str
    hint: str = ""
    """How to mend it, where most of the column is numbers."""
    cell: str | None = None
    """The first cell that is to blame, where most of the others are numbers."""


def as_numbers(series: pl.Series, missing: Sequence[str] = ()) -> NDArray[np.float64] | NotNumbers:
    """Return a column as numbers, NaN where missing, or what it holds instead."""
    import polars as pl

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
    others = f" and {len(wrong) - 1:,} more that are no numbers" if len(wrong) > 1 else ""
    return NotNumbers(
        f"{_shortened(value)} in row {row} (counted from 0){others}; all else in it is numbers",
        f"Mend the file, or take {value!r} for missing with --missing {value!r} --impute median.",
        cell=value,
    )


def not_numbers(wrong: dict[str, NotNumbers]) -> str:
    """Return what is wrong with the columns that should be features, and how to mend it."""
    them = "it" if len(wrong) == 1 else "them"
    hints = [found.hint for found in wrong.values() if found.hint] or [
        f"Keep {them} aside with --id or --truth, or leave {them} out with --exclude."
    ]
    columns = [f"column {name!r} holds {found.words}" for name, found in wrong.items()]
    return f"features must be numbers: {_shorten(columns, most=3)}. {hints[0]}"


def without_missing(series: pl.Series, missing: Sequence[str] = ()) -> pl.Series:
    """Return a column of text without white space around it; what stands for missing is null."""
    text = series.str.strip_chars()
    return text.set(text.is_in([*MISSING, *missing]), None)


def mark_missing(frame: pl.DataFrame, missing: Sequence[str]) -> pl.DataFrame:
    """Return a table in which the values that stand for missing ones are null."""
    import polars as pl

    marked = []
    for series in frame if missing else ():
        if series.dtype in (pl.String, pl.Categorical, pl.Enum):
            marked.append(without_missing(series.cast(pl.String), missing))
        elif series.dtype.is_numeric():
            marked.append(series.set(_equals_any(series, missing), None))
    return frame.with_columns(marked)


def _equals_any(series: pl.Series, values: Sequence[str]) -> pl.Series:
    """Return where numbers equal one of some values that were given as text."""
    import polars as pl

    numbers = pl.Series(values, dtype=pl.String).cast(pl.Float64, strict=False).drop_nulls()
    return series.cast(pl.Float64).is_in(numbers.to_list()).fill_null(False)


def _as_labels(series: pl.Series, missing: Sequence[str]) -> NDArray[Any]:
    """Return a column of labels: integers where it reads as such, else text; None is missing."""
    import polars as pl

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
    return series.to_numpy()


def _ids(table: Table, name: str | None) -> list[str] | None:
    if name is None:
        return None
    return _as_text(table.frame[name], "--id").fill_null("").to_list()


def _truth(table: Table, name: str | None, missing: Sequence[str]) -> list[str | None] | None:
    if name is None:
        return None
    values = without_missing(_as_text(table.frame[name], "--truth"), missing).to_list()
    if all(value is None for value in values):
        raise InputError(f"--truth column {name!r} is empty.")
    return values


def _as_text(series: pl.Series, option: str) -> pl.Series:
    """Return a column of names as text; lists, structures, bytes and durations are no names."""
    import polars as pl

    kind = series.dtype
    if kind.is_nested() or kind in (pl.Binary, pl.Duration, pl.Object):
        raise InputError(
            f"{option} must hold names: text, numbers or dates; column {series.name!r} holds "
            f"values of the type {kind}."
        )
    return series.cast(pl.String)


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
            f"{table.name} has nothing to cluster by: all rows are the same in "
            f"{_shorten(constant)}."
        )
    if constant:
        note(f"the same in all rows, and so without effect: {_shorten(constant)}.")


def _check_nearly_numbers(frame: pl.DataFrame, note: Callable[[str], None]) -> None:
    """Say which cells keep a column from being numbers; refuse decimal commas."""
    import polars as pl

    for series in frame.select(pl.col(pl.String)):
        found = as_numbers(series)
        if not isinstance(found, NotNumbers) or not found.hint:
            continue
        if found.cell is None:
            raise InputError(not_numbers({series.name: found}))
        note(
            f"column {series.name!r} is not taken for numbers: it holds {found.words}. Mend the "
            f"file, or take {found.cell!r} for missing with --missing {found.cell!r}."
        )


def _note_suspicious(used: Sequence[str], note: Callable[[str], None]) -> None:
    """Say what looks like a mistake but may be meant."""
    for name in used:
        if name.strip().casefold() in _CLASS_NAMES:
            note(f"column {name!r} is used as a feature; --truth {name} would keep it aside.")
        if name.strip().casefold() in _ID_NAMES:
            note(f"column {name!r} is used as a feature; --id {name!r} would keep it aside.")


def _looks_like_data(names: Sequence[str]) -> bool:
    """Whether names are numbers, and not those of the columns."""
    try:
        numbers = [float(name) for name in names]
    except ValueError:
        return False
    return numbers not in (list(range(len(names))), list(range(1, len(names) + 1)))


def _shortened(value: str, most: int = 30) -> str:
    return repr(value if len(value) <= most else value[: most - 1] + "…")


def _shorten(items: Sequence[str], most: int = _MOST_NAMED) -> str:
    shown = ", ".join(items[:most])
    return shown if len(items) <= most else f"{shown} and {len(items) - most} more"
