"""``coterie compare``: every consensus method on the same partitions, side by side."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coterie._limits import format_bytes
from coterie.cli import _options as options
from coterie.cli._bases import base_estimators
from coterie.cli._choosing import AsLabels, Data, Input, check_writable, read_input
from coterie.cli._errors import InputError, did_you_mean, refused_input

if TYPE_CHECKING:
    from coterie.choosing import Comparison

__all__ = ["compare"]

_COMPARISON = "Comparison"
_ENSEMBLE = "Ensemble"
_MOST_METHODS = 12  # in the matrix of agreement on a terminal


def compare(
    data: Data,
    as_labels: AsLabels = None,
    truth: options.Truth = None,
    id_column: options.Id = None,
    columns: options.Columns = None,
    exclude: options.Exclude = None,
    separator: options.Separator = None,
    no_header: options.NoHeader = False,
    missing: options.Missing = None,
    raw: options.Raw = False,
    standardize: options.Standardize = False,
    impute: options.Impute = None,
    transpose: options.Transpose = False,
    log: options.Log = False,
    top_features: options.TopFeatures = None,
    by: options.By = options.Variation.mad,
    center: options.Center = False,
    recipe: options.Recipe = options.RecipeName.default,
    partitions: options.Partitions = None,
    base: options.Base = None,
    base_clusters: options.BaseClusters = None,
    seed: options.Seed = 0,
    methods: Annotated[
        list[str] | None,
        typer.Option(
            "--method",
            "-m",
            metavar="NAME",
            help="Compare only this method. Repeat for more. Default: all.",
            rich_help_panel=_COMPARISON,
        ),
    ] = None,
    clusters: Annotated[
        str,
        typer.Option(
            "--clusters",
            "-k",
            metavar="K",
            help="Number of clusters that the methods are told; 'auto' is the one that 'coterie "
            "choose' recommends, 'own' lets each method find it.",
            rich_help_panel=_COMPARISON,
        ),
    ] = "auto",
    halves: Annotated[
        int,
        typer.Option(
            "--halves",
            metavar="N",
            min=0,
            help="How often the partitions are halved to measure stability.",
            rich_help_panel=_COMPARISON,
        ),
    ] = 3,
    time_limit: Annotated[
        float,
        typer.Option(
            "--time-limit",
            metavar="SECONDS",
            min=0.001,
            help="What a method may take; it is stopped or left out beyond.",
            rich_help_panel=_COMPARISON,
        ),
    ] = 60.0,
    jobs: options.Jobs = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write the leaderboard here: .csv, .tsv or .json (with all labels).",
            rich_help_panel="Output",
        ),
    ] = None,
    as_json: options.Json = False,
    report: options.Report = None,
    quiet: options.Quiet = False,
) -> None:
    """Compare the consensus methods on one ensemble, and say which to take.

    The leaderboard has the number of clusters, agreement with the partitions (ANMI, mean NMI),
    stability (ARI between the consensus of two halves of the partitions), time and memory, and
    with --truth the scores against known classes. The method with the best agreement is
    recommended; the truth is not looked at for that.
    """
    from coterie.cli._console import Notes, step
    from coterie.cli._output import Destinations
    from coterie.cli._run import Partitioning, make_ensemble
    from coterie.cli._tables import Preparing

    notes = Notes(quiet=quiet)
    check_writable(output, "--output", (".csv", ".tsv", ".json"))
    Destinations(None, False, report, None, quiet).check(data)
    names = _check_methods(methods)
    number = _parse_clusters(clusters)
    base_estimators(base or ())  # refused before any work
    if jobs == 0:
        raise InputError("--jobs must be a number of at least 1, or -1 for all processors; got 0.")
    with step(f"Reading {data}", quiet=quiet, watching=True):
        given = read_input(
            data,
            as_labels=as_labels,
            truth=truth,
            id_column=id_column,
            columns=columns,
            exclude=exclude,
            separator=separator,
            no_header=no_header,
            missing=missing,
            preparing=Preparing(
                raw,
                standardize,
                None if impute is None else impute.value,
                seed,
                transpose,
                log,
                top_features,
                by.value,
                center,
            ),
            notes=notes,
        )
    if isinstance(number, int) and number > given.n_objects:
        raise InputError(
            f"--clusters must be at most the number of objects ({given.n_objects}); got {number}."
        )
    ensemble, generator = given.ensemble, None
    if ensemble is None:
        assert given.features is not None
        parts = Partitioning(recipe.value, partitions, base, base_clusters, jobs=jobs, seed=seed)
        generator = make_ensemble(given.features.X, parts, notes)
        ensemble = generator.ensemble_
    from coterie.choosing import compare as run_all

    with (
        step("Comparing methods", quiet=quiet, watching=True),
        notes.of_warnings(),
        refused_input({"n_clusters": "--clusters", "n_jobs": "--jobs"}),
    ):
        comparison = run_all(
            ensemble,
            given.truth,
            methods=names,
            n_clusters=_number_for(number, given, ensemble, seed),
            stability=halves,
            time_limit=time_limit,
            n_jobs=jobs,
            random_state=seed,
        )
    if output is not None:
        _write(comparison, output)
    if report is not None:
        _write_report(comparison, ensemble, given, generator, report, seed, notes)
    if as_json:
        from coterie.cli._output import _print_json

        _print_json({"source": given.source, **comparison.as_dict()}, sys.stdout)
    elif not quiet:
        print_comparison(comparison)
        written = [path for path in (output, report) if path is not None]
        if written:
            print(f"wrote {', '.join(map(str, written))}")


def _write_report(
    comparison: Comparison,
    ensemble: Any,
    given: Any,
    generator: Any,
    path: Path,
    seed: int,
    notes: Any,
) -> None:
    """Write a report on the recommended method, with the leaderboard."""
    from coterie.cli._output import Destinations
    from coterie.cli._run import deliver_results, find_consensus
    from coterie.consensus import CONSENSUS

    if comparison.recommended is None:
        raise InputError(f"--report {path}: {comparison.reason}")
    row = comparison[comparison.recommended]
    consensus = CONSENSUS[row.method](n_clusters=row.n_clusters if row.n_clusters_given else None)
    find_consensus(consensus, ensemble, seed, notes)
    features = given.features
    details = {}
    if features is not None:
        details = {
            "X": features.X,
            "original": features.original,
            "feature_names": features.columns,
            "preparation": features.words,
            "excluded": features.excluded,
            "n_imputed": features.n_imputed,
        }
    deliver_results(
        consensus,
        Destinations(None, False, path, None, True, labels_to_pipe=False),
        notes,
        ids=given.ids,
        truth=given.truth,
        generator=generator,
        comparison=comparison.as_dict(),
        source=given.source,
        cluster_numbers=comparison.numbers,
        seed=seed,
        **details,
    )


def _check_methods(methods: list[str] | None) -> list[str] | None:
    from coterie.consensus import CONSENSUS

    if not methods:
        return None
    names = [name.casefold() for name in methods]
    for name in names:
        if name not in CONSENSUS:
            raise InputError(
                f"--method must be one of {', '.join(CONSENSUS)}; got {name!r}."
                f"{did_you_mean(name, CONSENSUS)}"
            )
    return list(dict.fromkeys(names))


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


def _number_for(number: int | str | None, given: Input, ensemble: Any, seed: int) -> Any:
    """Return what the methods are told: by default the number that 'coterie cluster' takes."""
    if number != "auto" or given.features is None:
        return number
    from coterie.choosing import how_many_clusters

    return how_many_clusters(given.features.X, ensemble=ensemble, random_state=seed)


def _write(comparison: Comparison, path: Path) -> None:
    import json

    import polars as pl

    from coterie._files import written_whole

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
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from coterie.cli._choosing import wide_console

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


def _print_agreement(comparison: Comparison, console: Any) -> None:
    from rich import box
    from rich.table import Table

    names = comparison.methods[:_MOST_METHODS]
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
