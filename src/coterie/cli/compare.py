"""``coterie compare``: every consensus method on the same partitions, side by side."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from coterie import choosing
from coterie._files import written_whole
from coterie._limits import format_bytes
from coterie.choosing import Comparison, how_many_clusters
from coterie.cli._bases import base_estimators
from coterie.cli._console import Notes, step, wide_console
from coterie.cli._errors import InputError, refused_input
from coterie.cli._input import Input, read_input
from coterie.cli._options import Destinations, Partitioning, Preparing, TableOptions
from coterie.cli._output import check_destinations, check_writable, print_json
from coterie.cli._run import check_method, deliver_results, find_consensus, make_ensemble
from coterie.consensus import CONSENSUS
from coterie.ensemble import Ensemble

__all__ = ["ComparisonOptions", "compare_methods", "print_comparison"]

_MAX_METHODS = 12  # in the matrix of agreement on a terminal


class ComparisonOptions(NamedTuple):
    """Which methods are compared, and how."""

    methods: list[str] | None
    clusters: str
    halves: int
    time_limit: float


def compare_methods(
    data: Path,
    table: TableOptions,
    preparing: Preparing,
    parts: Partitioning,
    wanted: ComparisonOptions,
    to: Destinations,
    *,
    as_labels: bool | None = None,
) -> None:
    """Compare methods with the options of the command, and print the leaderboard."""
    seed, notes = parts.seed, Notes(quiet=to.quiet)
    check_writable(to.output, "--output", (".csv", ".tsv", ".json"))
    check_destinations(to._replace(output=None), data)
    names = [check_method(name) for name in wanted.methods or ()]
    number = _parse_clusters(wanted.clusters)
    base_estimators(parts.base)  # refused before any work
    with step(f"Reading {data}", quiet=to.quiet):
        given = read_input(data, table, preparing, notes, as_labels=as_labels, seed=seed)
    given.check_number(number if isinstance(number, int) else None)
    ensemble, generator = given.ensemble, None
    if ensemble is None:
        generator = make_ensemble(given.data, parts, notes)
        ensemble = generator.ensemble_
    with (
        step("Comparing methods", quiet=to.quiet),
        notes.of_warnings(),
        refused_input({"n_clusters": "--clusters", "n_jobs": "--jobs"}),
    ):
        comparison = choosing.compare(
            ensemble,
            given.truth,
            methods=list(dict.fromkeys(names)) or None,
            n_clusters=_number_for(number, given, ensemble, seed),
            stability=wanted.halves,
            time_limit=wanted.time_limit,
            n_jobs=parts.jobs,
            random_state=seed,
        )
    if to.output is not None:
        _write(comparison, to.output)
    if to.report is not None:
        details = given.details() | {"generator": generator, "seed": seed}
        _write_report(comparison, ensemble, to.report, notes, **details)
    if to.as_json:
        print_json({"source": given.source, **comparison.as_dict()})
    elif not to.quiet:
        print_comparison(comparison)
        written = [path for path in (to.output, to.report) if path is not None]
        if written:
            print(f"wrote {', '.join(map(str, written))}")


def _write_report(
    comparison: Comparison, ensemble: Ensemble, path: Path, notes: Notes, **details: Any
) -> None:
    """Write a report on the recommended method, with the leaderboard."""
    if comparison.recommended is None:
        raise InputError(f"--report {path}: {comparison.reason}")
    row = comparison[comparison.recommended]
    consensus = CONSENSUS[row.method](n_clusters=row.n_clusters if row.n_clusters_given else None)
    find_consensus(consensus, ensemble, details["seed"], notes)
    deliver_results(
        consensus,
        Destinations(report=path, quiet=True),
        notes,
        labels_to_pipe=False,
        comparison=comparison.as_dict(),
        cluster_numbers=comparison.numbers,
        **details,
    )


def _parse_clusters(text: str) -> int | str | None:
    if text == "auto":
        return "auto"
    if text == "own":
        return None
    if not text.isdecimal() or int(text) < 1:
        raise InputError(
            f"--clusters must be a number of at least 1, 'auto' or 'own'; got {text!r}."
        )
    return int(text)


def _number_for(number: int | str | None, given: Input, ensemble: Ensemble, seed: int) -> Any:
    """Return the number of clusters for the methods: by default that of 'coterie cluster'."""
    if number != "auto" or given.features is None:
        return number
    return how_many_clusters(given.features.X, ensemble=ensemble, random_state=seed)


def _write(comparison: Comparison, path: Path) -> None:
    with written_whole(path) as temporary:
        if path.suffix.lower() == ".json":
            text = json.dumps(comparison.as_dict(labels=True), allow_nan=False)
            temporary.write_text(text + "\n", encoding="utf-8")
            return
        rows = []
        for row in comparison.as_dict()["leaderboard"]:
            scores = row.pop("scores") or {}
            row["notes"] = "; ".join(row["notes"])
            rows.append({**row, **scores})
        frame = pl.DataFrame(rows, infer_schema_length=None)
        mark = "\t" if path.suffix.lower() == ".tsv" else ","
        frame.write_csv(temporary, separator=mark, float_precision=6)


def print_comparison(comparison: Comparison) -> None:
    """Print leaderboard, agreement and recommendation for people."""
    console = wide_console()
    with_scores = any(row.scores for row in comparison.rows)
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 0, 0, 1))
    table.add_column("method", no_wrap=True)
    heads = ["k", "ANMI", "stab.", "seconds", "memory"]
    heads += ["NMI", "ARI", "F", "CI", "error"] if with_scores else []
    for head in heads:
        table.add_column(head, justify="right", no_wrap=True)
    for row in comparison.rows:
        if row.status != "ok":
            continue
        best = "bold" if row.method == comparison.recommended else None
        cells = [str(row.n_clusters), _cell(row.anmi), _cell(row.stability), _cell(row.seconds, 2)]
        cells.append(_memory_cell(row.peak_memory))
        if with_scores:
            scores = row.scores or {}
            cells += [_cell(scores.get(name)) for name in ("nmi", "ari", "f", "ci", "error")]
        table.add_row(row.method, *cells, style=best)
    if comparison.methods:
        console.print(table)
    absent = [row for row in comparison.rows if row.status != "ok"]
    for row in absent:
        console.print(Text(f"{row.method}: {row.status}, {row.reason}"), soft_wrap=True)
    if absent:
        console.print()
    _print_agreement(comparison, console)
    console.print(Text(comparison.reason), soft_wrap=True)
    if comparison.numbers is not None:
        console.print(Text(comparison.numbers.reason), soft_wrap=True)


def _print_agreement(comparison: Comparison, console: Console) -> None:
    names = comparison.methods[:_MAX_METHODS]
    if len(names) < 2:
        return
    console.print("agreement of the methods (ARI)")
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 0, 0, 1))
    table.add_column("", no_wrap=True)
    for i in range(len(names)):
        table.add_column(str(i + 1), justify="right", no_wrap=True)
    for i, name in enumerate(names):
        values = [f"{comparison.agreement[i, j]:.2f}" for j in range(len(names))]
        table.add_row(f"{i + 1} {name}", *values)
    console.print(table)


def _memory_cell(n_bytes: int | None) -> str:
    """Return the memory that a method took; little cannot be told from none."""
    if n_bytes is None:
        return "-"
    return "< 1 MB" if n_bytes < 1024**2 else format_bytes(n_bytes)


def _cell(value: float | None, digits: int = 3) -> str:
    return "-" if value is None else f"{value:.{digits}f}"
