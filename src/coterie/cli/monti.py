"""``coterie monti``: one consensus for each number of clusters, as tables and a report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
from rich import box
from rich.table import Table as PrintedTable
from rich.text import Text

from coterie._files import written_whole
from coterie.cli._console import Notes, step, wide_console
from coterie.cli._errors import InputError, did_you_mean, refused_input
from coterie.cli._input import read_input
from coterie.cli._options import Preparing, Resampling, TableOptions, parse_part
from coterie.cli._output import print_json
from coterie.cli._tables import NotNumbers, as_numbers, read_table, without_missing
from coterie.per_k import ConsensusPerK
from coterie.per_k._tables import write_tables
from coterie.report import check_report_extra, render_per_k, summarize_per_k

__all__ = ["consensus_per_number"]

_RAW_DISTANCES = ("pearson", "spearman", "precomputed")
_OPTIONS = {
    "estimator": "--estimator",
    "distance": "--distance",
    "k_range": "--max-k",
    "n_resamples": "--resamples",
    "n_null": "--null",
    "max_samples": "--max-samples",
    "max_features": "--max-features",
    "inner_linkage": "--inner-linkage",
    "linkage": "--linkage",
}


def consensus_per_number(
    data: Path,
    folder: Path,
    table: TableOptions,
    preparing: Preparing,
    runs: Resampling,
    *,
    annotate: Sequence[str] = (),
    matrices: bool = False,
    as_json: bool = False,
    raw_text: bool = False,
    quiet: bool = False,
) -> None:
    """Find a consensus for each number of clusters; write tables and report, print the answer."""
    notes = Notes(quiet=quiet)
    _check_folder(folder)
    if runs.distance in _RAW_DISTANCES or runs.estimator == "nmf":
        preparing = preparing._replace(raw=True)
    with step(f"Reading {data}", quiet=quiet):
        annotations = _annotations(data, table, preparing, annotate)
        kept = table._replace(exclude=[*(table.exclude or ()), *annotate] or None)
        given = read_input(data, kept, preparing, notes, as_labels=False, seed=runs.seed)
    features = given.features
    assert features is not None
    if features.truth is not None:
        annotations[str(table.truth)] = list(features.truth)
    model = _make_model(runs)
    with (
        step("Clustering", quiet=quiet, counted=False),
        notes.of_warnings(),
        refused_input(_OPTIONS),
    ):
        model.fit(features.X)
    with step("Writing tables and report", quiet=quiet), refused_input():
        summary = summarize_per_k(
            model,
            ids=features.ids,
            truth=features.truth,
            source=given.source,
            preparation=features.words,
            notes=notes.texts,
        )
        page = render_per_k(model, summary, annotations=annotations)
        names = range(len(features.X)) if features.ids is None else features.ids
        written = write_tables(model, folder, names, matrices=matrices, raw_text=raw_text)
        with written_whole(folder / "report.html") as temporary:
            temporary.write_text(page, encoding="utf-8")
    if as_json:
        print_json(summary)
    elif not quiet:
        print_numbers(summary)
        print(f"wrote {folder / 'report.html'} and {len(written)} tables in {folder}")


def _check_folder(folder: Path) -> None:
    """Refuse a folder that cannot be written to, before any work is done."""
    with refused_input():
        check_report_extra()
    if folder.exists() and not folder.is_dir():
        raise InputError(f"--output {folder} is a file; give the name of a folder.")
    if not folder.exists() and not folder.parent.is_dir():
        raise InputError(
            f"--output {folder}: the directory {folder.parent} does not exist; make it first."
        )


def _annotations(
    data: Path, options: TableOptions, preparing: Preparing, names: Sequence[str]
) -> dict[str, Any]:
    """Return the columns to show: numbers where all values are numbers, else text."""
    if not names:
        return {}
    if preparing.transpose or str(data) == "-":
        raise InputError(
            "--annotate names columns of a file with a row per object; it cannot be used with "
            "--transpose or with standard input."
        )
    table = read_table(data, separator=options.separator, header=not options.no_header)
    known, missing = table.frame.columns, options.missing or ()
    found: dict[str, Any] = {}
    for name in names:
        if name not in known:
            raise InputError(
                f"--annotate must name a column of {table.name}; got {name!r}."
                f"{did_you_mean(name, known)}"
            )
        column = table.frame[name]
        numbers = as_numbers(column, missing)
        if isinstance(numbers, NotNumbers):
            found[name] = without_missing(column.cast(pl.String), missing).to_list()
        else:
            found[name] = numbers.tolist()
    return found


def _make_model(runs: Resampling) -> ConsensusPerK:
    max_features = parse_part(runs.max_features, "--max-features")
    return ConsensusPerK(
        runs.estimator,
        range(2, runs.max_k + 1),
        runs.resamples,
        parse_part(runs.max_samples, "--max-samples"),
        1.0 if max_features is None else max_features,
        distance=runs.distance,
        linkage=runs.linkage,
        inner_linkage=runs.inner_linkage,
        n_null=runs.null,
        n_jobs=runs.jobs,
        random_state=runs.seed,
    )


def print_numbers(summary: dict[str, Any]) -> None:
    """Print the reasons and the criteria for people."""
    console = wide_console()
    for i, reason in enumerate(summary["reasons"]):
        console.print(Text(reason, style="bold" if i == 0 else ""), soft_wrap=True)
    numbers = summary["numbers"]
    table = PrintedTable(box=box.SIMPLE_HEAD, padding=(0, 0, 0, 1))
    names = [name for name in numbers if name not in ("k", "best")]
    for name in ("clusters", *names):
        table.add_column(name.replace("_", " "), justify="right", no_wrap=True)
    for i, k in enumerate(numbers["k"]):
        cells = (numbers[name][i] for name in names)
        style = "reverse" if numbers["best"][i] else None
        table.add_row(str(k), *("-" if c is None else f"{c:.3f}" for c in cells), style=style)
    console.print(table)
