"""``coterie cluster``: a table of features in, clusters out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from coterie.cli import _options as options
from coterie.cli._bases import base_estimators
from coterie.cli._choosing import check_writable
from coterie.cli._errors import InputError, refused_input

if TYPE_CHECKING:
    from coterie.cli._output import Destinations
    from coterie.cli._run import Partitioning
    from coterie.cli._tables import Preparing

__all__ = ["cluster", "cluster_table"]

_ENSEMBLE = "Ensemble"


def cluster(
    data: Annotated[
        Path,
        typer.Argument(
            metavar="DATA",
            help="Table with a header, a row per object: .csv, .tsv (also .gz), .parquet or "
            ".npy, or a folder of Parquet files; - for CSV on standard input.",
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
    raw: options.Raw = False,
    standardize: options.Standardize = False,
    impute: options.Impute = None,
    recipe: options.Recipe = options.RecipeName.default,
    partitions: options.Partitions = None,
    base: options.Base = None,
    base_clusters: options.BaseClusters = None,
    max_features: Annotated[
        str | None,
        typer.Option(
            "--max-features",
            metavar="PART",
            help="Features of a partition, drawn at random: a share (0.5), a number (3) or a "
            "range (0.3-0.8). Default: all.",
            rich_help_panel=_ENSEMBLE,
        ),
    ] = None,
    max_samples: Annotated[
        str | None,
        typer.Option(
            "--max-samples",
            metavar="PART",
            help="Objects of a partition, in the same way; it says nothing on the others. "
            "Default: at most 5,000 to fit to, and all are labelled.",
            rich_help_panel=_ENSEMBLE,
        ),
    ] = None,
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            "--checkpoint",
            metavar="DIR",
            help="Keep finished partitions here: the same command continues after an "
            "interruption, to the same result.",
            rich_help_panel=_ENSEMBLE,
        ),
    ] = None,
    dask: options.Dask = None,
    clusters: options.Clusters = None,
    method: options.Method = None,
    settings: options.Set = None,
    output: options.Output = None,
    raw_text: options.RawText = False,
    as_json: options.Json = False,
    report: options.Report = None,
    save_ensemble: options.SaveEnsemble = None,
    save_model: options.SaveModel = None,
    quiet: options.Quiet = False,
) -> None:
    """Cluster the rows of a table by the consensus of many clusterings.

    The result is one row per object: its name (or row number from 0), its cluster (0 is the
    largest), its confidence in [0, 1] and its known class if there is one. It goes to --output,
    to a pipe as CSV; on a terminal a summary is shown.

    A folder of Parquet files, and a table over the memory limit, are read in blocks; --output is
    then a folder of Parquet files, too.
    """
    from coterie.cli._output import Destinations
    from coterie.cli._run import Partitioning
    from coterie.cli._tables import Preparing

    cluster_table(
        data,
        Destinations(output, as_json, report, save_ensemble, quiet, raw_text=raw_text),
        Preparing(raw, standardize, None if impute is None else impute.value, seed),
        Partitioning(
            *(recipe.value, partitions, base, base_clusters, max_features, max_samples),
            *(checkpoint, jobs, seed),
        ),
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
        save_model=save_model,
        dask=dask,
    )


def cluster_table(
    data: Path,
    destinations: Destinations,
    preparing: Preparing,
    parts: Partitioning,
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
    save_model: Path | None = None,
    dask: str | None = None,
) -> None:
    """Cluster a table with the options of the command, and deliver the results."""
    from coterie.cli._blocks import BlockRun, cluster_in_blocks, refuse_in_blocks, why_in_blocks
    from coterie.cli._console import Notes, step
    from coterie.cli._run import deliver_results, fit_model, make_consensus
    from coterie.cli._tables import read_features, read_table

    why = why_in_blocks(data, dask)
    if why is not None:
        refuse_in_blocks(truth=truth, save_model=save_model, impute=preparing.impute)
        aside = (id_column, columns or (), exclude or ())
        run = BlockRun(data, destinations, *aside, parts.checkpoint, dask, parts.seed)
        consensus = make_consensus(method, clusters, options.parse_settings(settings))
        cluster_in_blocks(run, parts, preparing, consensus, missing or (), why)
        return
    quiet = destinations.quiet
    notes = Notes(quiet=quiet)
    destinations.check(data)
    check_writable(save_model, "--save-model", (".npz",))
    if save_model is not None and preparing.impute is not None:
        raise InputError("--save-model does not keep what --impute fills in; fill it in before.")
    settings_given = options.parse_settings(settings)
    bases = base_estimators(parts.base or ())
    with step(f"Reading {data}", quiet=quiet, watching=True):
        consensus = make_consensus(method, clusters, settings_given)
        features = read_features(
            read_table(data, separator=separator, header=not no_header),
            preparing,
            id_column=id_column,
            truth_column=truth,
            columns=columns or (),
            exclude=exclude or (),
            missing=missing or (),
            note=notes.add,
        )
    if save_model is not None:
        from coterie._model_file import check_can_be_saved

        with refused_input():
            check_can_be_saved(consensus, [estimator for _, estimator in bases])
    if clusters is not None and clusters > len(features.X):
        raise InputError(
            f"--clusters must be at most the number of rows ({len(features.X)}); got {clusters}."
        )
    model = fit_model(features.X, parts, consensus, notes)
    if destinations.save_ensemble is not None:
        model.ensemble_.save(destinations.save_ensemble)
    if save_model is not None:
        from coterie._model_file import save_model as write_model

        with refused_input():
            write_model(
                save_model,
                model.generator_,
                model.consensus_,
                feature_names=features.used if preparing.is_plain else None,
                preparation=features.preparation,
            )
    deliver_results(
        model,
        destinations,
        notes,
        X=features.X,
        original=features.original,
        feature_names=features.columns,
        ids=features.ids,
        truth=features.truth,
        source="standard input" if str(data) == "-" else data.name,
        preparation=features.words,
        excluded=features.excluded,
        n_imputed=features.n_imputed,
    )
