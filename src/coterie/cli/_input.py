"""What a command clusters: features or clusterings, read from a file or from standard input."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie._limits import MemoryLimitError
from coterie.cli._console import Notes
from coterie.cli._errors import InputError, refused_input
from coterie.cli._features import Features, read_features
from coterie.cli._genes import note_genes_in_rows, transposed
from coterie.cli._options import FEATURE_OPTIONS, Preparing, TableOptions
from coterie.cli._tables import (
    NotNumbers,
    Table,
    as_numbers,
    check_file,
    file_kind,
    read_labels,
    read_table,
    used_columns,
    with_row_names,
)
from coterie.ensemble import Ensemble

__all__ = ["Input", "load_ensemble", "read_input"]


class Input(NamedTuple):
    """An ensemble, or else features."""

    ensemble: Ensemble | None
    features: Features | None
    source: str
    ids: list[str] | None = None
    truth: list[str | None] | None = None

    @property
    def n_objects(self) -> int:
        """Number of objects."""
        if self.features is not None:
            return len(self.features.X)
        assert self.ensemble is not None
        return self.ensemble.n_objects

    @property
    def data(self) -> Any:
        """The features as they are clustered, or the ensemble."""
        return self.ensemble if self.features is None else self.features.X

    def check_number(self, n_clusters: int | None) -> None:
        """Raise InputError for more clusters than objects."""
        if n_clusters is not None and n_clusters > self.n_objects:
            raise InputError(
                f"--clusters must be at most the number of objects ({self.n_objects}); got "
                f"{n_clusters}."
            )

    def details(self) -> dict[str, Any]:
        """Return what `coterie.report.summarize` takes beside the model."""
        details = {"ids": self.ids, "truth": self.truth, "source": self.source}
        if self.features is None:
            return details
        return details | {
            "X": self.features.X,
            "original": self.features.original,
            "feature_names": self.features.columns,
            "preparation": self.features.words,
            "excluded": self.features.excluded,
            "n_imputed": self.features.n_imputed,
        }


def read_input(
    path: Path,
    options: TableOptions,
    preparing: Preparing,
    notes: Notes,
    *,
    as_labels: bool | None,
    seed: int = 0,
) -> Input:
    """Read features or clusterings; where `as_labels` is None, decide and say so."""
    source = "standard input" if str(path) == "-" else path.name
    if as_labels is not False and file_kind(path) == ".npz":
        if any(options):
            raise InputError(
                f"{path} is an ensemble, which has no columns to choose: --id, --truth, --columns, "
                "--exclude, --separator, --no-header and --missing are for tables."
            )
        return Input(load_ensemble(path), None, source)
    vectors = [name for name in (options.truth, options.id_column) if name is not None]
    table = read_table(
        path, separator=options.separator, header=not options.no_header, vectors=vectors
    )
    if preparing.transpose and not as_labels:
        table, id_column = transposed(table, options.id_column, notes.add)
        options = options._replace(id_column=id_column)
    else:
        options = with_row_names(table, options, notes.add)
    if as_labels is None:
        as_labels = not any(preparing) and _look_like_labels(table, options, notes)
    if not as_labels:
        if not preparing.transpose:
            note_genes_in_rows(table, options, notes.add)
        features = read_features(table, options, preparing, seed=seed, note=notes.add)
        return Input(None, features, source, features.ids, features.truth)
    if any(preparing):
        raise InputError(f"{FEATURE_OPTIONS} are for features, not for clusterings.")
    labels = read_labels(table, options)
    with notes.of_warnings(), refused_input():
        ensemble = Ensemble(labels.partitions, names=labels.names)
    return Input(ensemble, None, source, labels.ids, labels.truth)


def load_ensemble(path: Path) -> Ensemble:
    """Read an ensemble file; say in one line why it cannot be read."""
    check_file(path)
    try:
        return Ensemble.load(path)
    except ValueError as error:
        if isinstance(error, MemoryLimitError) or "newer coterie" in str(error):
            raise InputError(str(error)) from error
        why = " It is damaged: its checksum does not fit." if "checksum" in str(error) else ""
        raise InputError(
            f"{path} is not an ensemble that coterie wrote (with --save-ensemble or Ensemble.save)."
            f"{why}"
        ) from error


def _look_like_labels(table: Table, options: TableOptions, notes: Notes) -> bool:
    used = used_columns(table, options)
    if used and all(name.startswith("partition_") for name in used):
        notes.add("the columns were taken for clusterings; --features says that they are not.")
        return True
    values = [as_numbers(table.frame[name], options.missing or ()) for name in used]
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
    known = column[~np.isnan(column)]
    return bool((known == np.floor(known)).all()) and len(np.unique(known)) <= len(column) / 3
