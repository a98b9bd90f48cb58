"""``coterie monti``: one consensus for each number of clusters, with tables and a report."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from coterie.cli import _options as options
from coterie.cli._errors import InputError, refused_input

if TYPE_CHECKING:
    from coterie.cli._console import Notes
    from coterie.cli._tables import Features, Preparing, Table
    from coterie.per_k import ConsensusPerK

__all__ = ["monti"]

_CONSENSUS = "Consensus"
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


class EstimatorName(StrEnum):
    """Base clusterers."""

    hierarchical = "hierarchical"
    kmeans = "kmeans"
    kmedoids = "kmedoids"
    nmf = "nmf"
    spectral = "spectral"


class LinkageName(StrEnum):
    """Linkages of a tree."""

    average = "average"
    complete = "complete"
    single = "single"
    ward = "ward"
    weighted = "weighted"
    centroid = "centroid"
    median = "median"


class _Input(NamedTuple):
    """What is clustered, and what is shown beside it."""

    features: Features
    annotations: dict[str, list[Any]]
    source: str


def monti(
    data: Annotated[
        Path,
        typer.Argument(
            metavar="DATA",
            help="Table with a header, a row per object: .csv, .tsv (also .gz), .parquet or "
            ".npy; - for CSV on standard input.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="DIR",
            help="Folder for the tables and the report; it is made if it is not there.",
            show_default=False,
            rich_help_panel="Output",
        ),
    ],
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
    max_k: Annotated[
        int,
        typer.Option(
            "--max-k",
            "-k",
            metavar="K",
            min=2,
            help="Try 2 to K clusters.",
            rich_help_panel=_CONSENSUS,
        ),
    ] = 10,
    estimator: Annotated[
        EstimatorName | None,
        typer.Option(
            "--estimator",
            help="Base clusterer. Default: kmeans; with --distance hierarchical.",
            rich_help_panel=_CONSENSUS,
        ),
    ] = None,
    distance: Annotated[
        str | None,
        typer.Option(
            "--distance",
            metavar="NAME",
            help="Distance of two rows for hierarchical, kmedoids and spectral: pearson, "
            "spearman, precomputed (the table is a square matrix of distances), or a metric of "
            "SciPy such as euclidean. pearson, spearman and precomputed imply --raw.",
            rich_help_panel=_CONSENSUS,
        ),
    ] = None,
    resamples: Annotated[
        int,
        typer.Option(
            "--resamples",
            metavar="N",
            min=2,
            help="Random parts of the data.",
            rich_help_panel=_CONSENSUS,
        ),
    ] = 100,
    max_samples: Annotated[
        str,
        typer.Option(
            "--max-samples",
            metavar="PART",
            help="Objects of a part: a share (0.8) or a number.",
            rich_help_panel=_CONSENSUS,
        ),
    ] = "0.8",
    max_features: Annotated[
        str | None,
        typer.Option(
            "--max-features",
            metavar="PART",
            help="Features of a part: a share (0.8) or a number. Default: all.",
            rich_help_panel=_CONSENSUS,
        ),
    ] = None,
    linkage: Annotated[
        LinkageName,
        typer.Option(
            "--linkage", help="Linkage of the tree of the consensus.", rich_help_panel=_CONSENSUS
        ),
    ] = LinkageName.average,
    inner_linkage: Annotated[
        LinkageName,
        typer.Option(
            "--inner-linkage",
            help="Linkage of the base clusterer hierarchical.",
            rich_help_panel=_CONSENSUS,
        ),
    ] = LinkageName.average,
    null: Annotated[
        int,
        typer.Option(
            "--null",
            metavar="N",
            min=0,
            help="Data sets without clusters to compare with (M3C); 25 or more. Each takes as "
            "long as the analysis itself.",
            rich_help_panel=_CONSENSUS,
        ),
    ] = 0,
    annotate: Annotated[
        list[str] | None,
        typer.Option(
            "--annotate",
            metavar="COLUMN",
            help="Show this column beside the heat maps, and do not cluster by it. Repeat for "
            "more.",
            rich_help_panel="Output",
        ),
    ] = None,
    matrices: Annotated[
        bool,
        typer.Option(
            "--matrices",
            help="Also write the consensus matrix of each number.",
            rich_help_panel="Output",
        ),
    ] = False,
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    as_json: options.Json = False,
    raw_text: options.RawText = False,
    quiet: options.Quiet = False,
) -> None:
    """Make one consensus for each number of clusters (Monti et al.), as ConsensusClusterPlus does.

    Writes a folder of CSV tables (classes, item consensus, cluster consensus, PAC and areas, CDF)
    and report.html with CDF, delta area, tracking plot and consensus matrices; prints the best
    number and why, also when there seem to be no clusters.
    """
    from coterie.cli._console import Notes, step
    from coterie.cli._tables import Preparing

    notes = Notes(quiet=quiet)
    _check_folder(output)
    plain = raw or distance in _RAW_DISTANCES or estimator is EstimatorName.nmf
    preparing = Preparing(plain, standardize, None if impute is None else impute.value, seed)
    with step(f"Reading {data}", quiet=quiet, watching=True):
        given = _read(
            data,
            preparing,
            notes,
            annotate or [],
            id_column=id_column,
            truth_column=truth,
            columns=columns or (),
            exclude=[*(exclude or ()), *(annotate or ())],
            missing=missing or (),
            separator=separator,
            header=not no_header,
        )
    from coterie import ConsensusPerK

    model = ConsensusPerK(
        None if estimator is None else estimator.value,
        range(2, max_k + 1),
        resamples,
        options.parse_part(max_samples, "--max-samples"),
        options.parse_part(max_features, "--max-features"),
        distance=distance,
        linkage=linkage.value,
        inner_linkage=inner_linkage.value,
        n_null=null,
        n_jobs=jobs,
        random_state=seed,
    )
    with (
        step("Clustering", quiet=quiet, counted=False, watching=True),
        notes.of_warnings(),
        refused_input(_OPTIONS),
    ):
        model.fit(given.features.X)
    _deliver(model, given, output, notes, matrices=matrices, as_json=as_json, raw_text=raw_text)


def _check_folder(folder: Path) -> None:
    """Refuse a folder that cannot be written to, before any work is done."""
    from coterie.report import check_report_extra

    with refused_input():
        check_report_extra()
    if folder.exists() and not folder.is_dir():
        raise InputError(f"--output {folder} is a file; give the name of a folder.")
    if not folder.exists() and not folder.parent.is_dir():
        raise InputError(
            f"--output {folder}: the directory {folder.parent} does not exist; make it first."
        )


def _read(
    data: Path,
    preparing: Preparing,
    notes: Notes,
    annotate: list[str],
    *,
    separator: str | None,
    header: bool,
    **kept: Any,
) -> _Input:
    """Read the features, and the columns to show beside them."""
    from coterie.cli._tables import read_features, read_table

    table = read_table(data, separator=separator, header=header)
    annotations = _annotations(table, annotate, kept["missing"])
    features = read_features(table, preparing, note=notes.add, **kept)
    if features.truth is not None:
        annotations[str(kept["truth_column"])] = list(features.truth)
    return _Input(features, annotations, "standard input" if str(data) == "-" else data.name)


def _annotations(table: Table, names: list[str], missing: Sequence[str]) -> dict[str, list[Any]]:
    """Return the columns to show: numbers where all values are numbers, else text."""
    import polars as pl

    from coterie.cli._errors import did_you_mean
    from coterie.cli._tables import NotNumbers, as_numbers, without_missing

    known = table.frame.columns
    for name in names:
        if name not in known:
            raise InputError(
                f"--annotate must name a column of {table.name}; got {name!r}."
                f"{did_you_mean(name, known)}"
            )
    found = {}
    for name in names:
        numbers = as_numbers(table.frame[name], missing)
        if isinstance(numbers, NotNumbers):
            found[name] = without_missing(table.frame[name].cast(pl.String), missing).to_list()
        else:
            found[name] = numbers.tolist()
    return found


def _deliver(
    model: ConsensusPerK,
    given: _Input,
    folder: Path,
    notes: Notes,
    *,
    matrices: bool,
    as_json: bool,
    raw_text: bool,
) -> None:
    """Write tables and report, and print the answer."""
    from coterie._files import written_whole
    from coterie.cli._console import step
    from coterie.cli._output import _print_json
    from coterie.per_k._tables import write_tables
    from coterie.report import render_per_k, summarize_per_k

    features = given.features
    names = list(range(len(features.X))) if features.ids is None else features.ids
    with step("Writing tables and report", quiet=notes.quiet), refused_input():
        summary = summarize_per_k(
            model,
            ids=features.ids,
            truth=features.truth,
            source=given.source,
            preparation=features.words,
            notes=notes.texts,
        )
        page = render_per_k(model, summary, annotations=given.annotations)
        written = write_tables(model, folder, names, matrices=matrices, raw_text=raw_text)
        with written_whole(folder / "report.html") as temporary:
            temporary.write_text(page, encoding="utf-8")
    if as_json:
        _print_json(summary, sys.stdout)
    elif not notes.quiet:
        print_numbers(summary)
        print(f"wrote {folder / 'report.html'} and {len(written)} tables in {folder}")


def print_numbers(summary: dict[str, Any]) -> None:
    """Print the reasons and the criteria for people."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from coterie.cli._choosing import wide_console

    console = wide_console()
    for i, reason in enumerate(summary["reasons"]):
        console.print(Text(reason, style="bold" if i == 0 else ""), soft_wrap=True)
    numbers = summary["numbers"]
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 0, 0, 1))
    names = [name for name in numbers if name not in ("k", "best")]
    for name in ("clusters", *names):
        table.add_column(name.replace("_", " "), justify="right", no_wrap=True)
    for i, k in enumerate(numbers["k"]):
        cells = (numbers[name][i] for name in names)
        style = "reverse" if numbers["best"][i] else None
        table.add_row(str(k), *("-" if c is None else f"{c:.3f}" for c in cells), style=style)
    console.print(table)
