"""What compare and choose have in common: a table of features or of clusterings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from coterie.cli._console import Notes
from coterie.cli._errors import InputError, refused_input

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from coterie.cli._tables import Features, Preparing, Table
    from coterie.ensemble import Ensemble

__all__ = ["AsLabels", "Data", "Input", "check_writable", "read_input", "wide_console"]

Data = Annotated[
    Path,
    typer.Argument(
        metavar="DATA|LABELS",
        help="Table of features, a row per object; or, with --labels, of clusterings, a column "
        "per partition: .csv, .tsv (also .gz), .parquet or .npy; or an ensemble (.npz); - for "
        "CSV on standard input.",
        show_default=False,
    ),
]
AsLabels = Annotated[
    bool | None,
    typer.Option(
        "--labels/--features",
        help="The columns are clusterings, or they are features. Default: features, unless some "
        "column holds text, or all are named partition_0, partition_1, ...",
        show_default=False,
        rich_help_panel="Input",
    ),
]


class Input(NamedTuple):
    """An ensemble, or else features."""

    ensemble: Ensemble | None
    features: Features | None
    truth: list[str | None] | None
    source: str
    ids: list[str] | None = None

    @property
    def n_objects(self) -> int:
        """Number of objects."""
        if self.features is not None:
            return len(self.features.X)
        assert self.ensemble is not None
        return self.ensemble.n_objects


def read_input(
    path: Path,
    *,
    as_labels: bool | None,
    truth: str | None,
    id_column: str | None,
    columns: list[str] | None,
    exclude: list[str] | None,
    separator: str | None,
    no_header: bool,
    missing: list[str] | None,
    preparing: Preparing,
    notes: Notes,
) -> Input:
    """Read features or clusterings, and say which of the two they were taken for."""
    from coterie import Ensemble
    from coterie.cli._tables import (
        FEATURE_OPTIONS,
        file_kind,
        find_row_names,
        read_features,
        read_labels,
        read_table,
    )
    from coterie.cli.consense import load_ensemble

    source = "standard input" if str(path) == "-" else path.name
    if file_kind(path) == ".npz":
        table_options = (truth, id_column, columns, exclude, separator, missing)
        if no_header or any(option is not None for option in table_options):
            raise InputError(
                f"{path} is an ensemble, which has no columns to choose: --id, --truth, --columns, "
                "--exclude, --separator, --no-header and --missing are for tables."
            )
        return Input(load_ensemble(path), None, None, source)
    table = read_table(path, separator=separator, header=not no_header)
    chosen: dict[str, Any] = {
        "id_column": id_column,
        "truth_column": truth,
        "columns": columns or (),
        "exclude": exclude or (),
        "missing": missing or (),
    }
    if not preparing.transpose:
        named = [*chosen["columns"], *chosen["exclude"]]
        chosen["id_column"] = find_row_names(table, id_column, named, notes.add)
    if as_labels is None:
        as_labels = not preparing.is_for_genes and _look_like_labels(table, chosen, notes)
    if as_labels:
        if preparing.is_plain or preparing.is_for_genes:
            raise InputError(f"{FEATURE_OPTIONS} are for features, not for clusterings.")
        partitions, names, ids, classes = read_labels(table, **chosen, note=notes.add)
        with notes.of_warnings(), refused_input():
            return Input(Ensemble(partitions, names=names), None, classes, source, ids)
    features = read_features(table, preparing, **chosen, note=notes.add)
    return Input(None, features, features.truth, source, features.ids)


def _look_like_labels(table: Table, chosen: dict[str, Any], notes: Notes) -> bool:
    from coterie.cli._tables import NotNumbers, as_numbers

    aside = {chosen["truth_column"], chosen["id_column"], *chosen["exclude"]}
    used = [name for name in (chosen["columns"] or table.frame.columns) if name not in aside]
    if used and all(name.startswith("partition_") for name in used):
        notes.add("the columns were taken for clusterings; --features says that they are not.")
        return True
    columns = [table.frame[name] for name in used if name in table.frame.columns]
    values = [as_numbers(column, chosen["missing"]) for column in columns]
    if values and all(isinstance(column, NotNumbers) and not column.hint for column in values):
        notes.add("the columns hold text, so they were taken for clusterings.")
        return True
    numbers: list[Any] = [column for column in values if not isinstance(column, NotNumbers)]
    if len(numbers) == len(values) and all(_is_like_labels(column) for column in numbers):
        notes.add(
            "the columns were taken for features; they hold few whole numbers each, so if they "
            "are clusterings, add --labels."
        )
    return False


def _is_like_labels(column: NDArray[np.float64]) -> bool:
    import numpy as np

    known = column[~np.isnan(column)]
    return bool((known == np.floor(known)).all()) and len(np.unique(known)) <= len(column) / 3


def check_writable(path: Path | None, option: str, endings: tuple[str, ...]) -> None:
    """Refuse a file that could not be written, before any work is done."""
    from coterie.cli._output import _check_ending, _check_writable

    if path is not None:
        _check_ending(path, option, endings)
        _check_writable(path, option)


def wide_console() -> Any:
    """Return the console for wide tables: in a file or pipe nothing needs to be cut off."""
    from rich.console import Console

    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=160)
