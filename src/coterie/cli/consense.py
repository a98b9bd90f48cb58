"""``coterie consense``: many clusterings in, their consensus out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coterie.cli import _options as options
from coterie.cli._errors import InputError, refused_input

if TYPE_CHECKING:
    from coterie.cli._console import Notes
    from coterie.cli._output import Destinations
    from coterie.ensemble import Ensemble

__all__ = ["consense", "consense_labels"]


def consense(
    labels: Annotated[
        Path,
        typer.Argument(
            metavar="LABELS",
            help="Table with a header, a row per object and a column per partition: .csv, .tsv "
            "(also .gz), .parquet or .npy; or a folder of Parquet files; or an ensemble (.npz); - "
            "for CSV on standard input.",
            show_default=False,
        ),
    ],
    truth: options.Truth = None,
    id_column: options.Id = None,
    columns: options.Columns = None,
    exclude: options.Exclude = None,
    separator: options.Separator = None,
    no_header: options.NoHeader = False,
    missing: options.Missing = None,
    clusters: options.Clusters = None,
    method: options.Method = None,
    settings: options.Set = None,
    seed: options.Seed = 0,
    dask: options.Dask = None,
    output: options.Output = None,
    raw_text: options.RawText = False,
    as_json: options.Json = False,
    report: options.Report = None,
    save_ensemble: options.SaveEnsemble = None,
    quiet: options.Quiet = False,
) -> None:
    """Find the consensus of clusterings that you already have.

    Every column of LABELS is one clustering; names of clusters may be numbers or text, and mean
    nothing across columns. The result is as that of 'coterie cluster'.

    A folder of Parquet files, and a table over the memory limit, are read in blocks; --output is
    then a folder, too.
    """
    from coterie.cli._output import Destinations

    consense_labels(
        labels,
        Destinations(output, as_json, report, save_ensemble, quiet, raw_text=raw_text),
        truth=truth,
        id_column=id_column,
        columns=columns,
        exclude=exclude,
        separator=separator,
        no_header=no_header,
        missing=missing,
        clusters=clusters,
        method=method,
        settings=settings,
        seed=seed,
        dask=dask,
    )


def consense_labels(
    labels: Path,
    destinations: Destinations,
    *,
    truth: str | None = None,
    id_column: str | None = None,
    columns: list[str] | None = None,
    exclude: list[str] | None = None,
    separator: str | None = None,
    no_header: bool = False,
    missing: list[str] | None = None,
    clusters: int | None = None,
    method: str | None = None,
    settings: list[str] | None = None,
    seed: int = 0,
    dask: str | None = None,
) -> None:
    """Find the consensus with the options of the command, and send the results on their way."""
    from coterie.cli._blocks import BlockRun, consense_in_blocks, refuse_in_blocks, why_in_blocks
    from coterie.cli._console import Notes, step
    from coterie.cli._run import deliver_results, find_consensus, make_consensus
    from coterie.cli._tables import file_kind, read_labels, read_table

    why = why_in_blocks(labels, dask)
    if why is not None:
        refuse_in_blocks(truth=truth, missing=missing)
        run = BlockRun(
            labels, destinations, id_column, columns or (), exclude or (), None, dask, seed
        )
        consensus = make_consensus(method, clusters, options.parse_settings(settings))
        consense_in_blocks(run, consensus, why)
        return
    quiet = destinations.quiet
    notes = Notes(quiet=quiet)
    destinations.check(labels)
    ids: list[str] | None = None
    classes: list[str | None] | None = None
    with step(f"Reading {labels}", quiet=quiet, watching=True):
        consensus = make_consensus(method, clusters, options.parse_settings(settings))
        if file_kind(labels) == ".npz":
            table_options = (truth, id_column, columns, exclude, separator, missing)
            if no_header or any(option is not None for option in table_options):
                raise InputError(
                    f"{labels} is an ensemble, which has no columns to choose: --id, --truth, "
                    "--columns, --exclude, --separator, --no-header and --missing are for tables."
                )
            ensemble = load_ensemble(labels)
        else:
            partitions, names, ids, classes = read_labels(
                read_table(
                    labels,
                    separator=separator,
                    header=not no_header,
                    vectors=[name for name in (truth, id_column) if name is not None],
                ),
                id_column=id_column,
                truth_column=truth,
                columns=columns or (),
                exclude=exclude or (),
                missing=missing or (),
            )
            ensemble = _as_ensemble(partitions, names, notes)
    if clusters is not None and clusters > ensemble.n_objects:
        raise InputError(
            f"--clusters must be at most the number of objects ({ensemble.n_objects}); got "
            f"{clusters}."
        )
    numbers = find_consensus(consensus, ensemble, seed, notes)
    if destinations.save_ensemble is not None:
        ensemble.save(destinations.save_ensemble)
    deliver_results(
        consensus,
        destinations,
        notes,
        cluster_numbers=numbers,
        ids=ids,
        truth=classes,
        source="standard input" if str(labels) == "-" else labels.name,
    )


def load_ensemble(path: Path) -> Ensemble:
    """Read an ensemble file; say in one line why it cannot be read."""
    from coterie import Ensemble, MemoryLimitError
    from coterie.cli._tables import check_file

    check_file(path)
    try:
        return Ensemble.load(path)
    except ValueError as error:
        if isinstance(error, MemoryLimitError) or "newer coterie" in str(error):
            raise InputError(str(error)) from error
        raise InputError(
            f"{path} is not an ensemble that coterie wrote (with --save-ensemble or Ensemble.save)."
        ) from error


def _as_ensemble(partitions: list[Any], names: list[str], notes: Notes) -> Ensemble:
    from coterie import Ensemble

    with notes.of_warnings(), refused_input():
        return Ensemble(partitions, names=names)
