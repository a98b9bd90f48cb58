"""``coterie cluster``: a table of features in, clusters out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coterie.cli import _options as options
from coterie.cli._bases import base_estimators
from coterie.cli._choosing import check_writable
from coterie.cli._errors import InputError, refused_input

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from coterie.cli._output import Destinations
    from coterie.cli._tables import Features

__all__ = ["cluster", "cluster_table", "describe_preparation"]

_ENSEMBLE = "Ensemble"


def cluster(
    data: Annotated[
        Path,
        typer.Argument(
            metavar="DATA",
            help="Table with a header, a row per object: .csv, .tsv (also .gz), .parquet or "
            ".npy; - for CSV on standard input.",
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
    standardize: options.Standardize = False,
    impute: options.Impute = None,
    partitions: options.Partitions = 100,
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
            "Default: all.",
            rich_help_panel=_ENSEMBLE,
        ),
    ] = None,
    seed: options.Seed = 0,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs",
            "-j",
            metavar="N",
            help="Number of partitions made at a time. Default: all processors; 1 for small "
            "data, where starting workers would take longer.",
            rich_help_panel=_ENSEMBLE,
        ),
    ] = None,
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
    clusters: options.Clusters = None,
    method: options.Method = None,
    settings: options.Set = None,
    output: options.Output = None,
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
    """
    from coterie.cli._output import Destinations

    cluster_table(
        data,
        Destinations(output, as_json, report, save_ensemble, quiet),
        truth=truth,
        id_column=id_column,
        columns=columns,
        exclude=exclude,
        separator=separator,
        no_header=no_header,
        missing=missing,
        standardize=standardize,
        impute=impute,
        partitions=partitions,
        base=base,
        base_clusters=base_clusters,
        max_features=max_features,
        max_samples=max_samples,
        seed=seed,
        jobs=jobs,
        checkpoint=checkpoint,
        clusters=clusters,
        method=method,
        settings=settings,
        save_model=save_model,
    )


def cluster_table(
    data: Path,
    destinations: Destinations,
    *,
    truth: str | None = None,
    id_column: str | None = None,
    columns: list[str] | None = None,
    exclude: list[str] | None = None,
    separator: str | None = None,
    no_header: bool = False,
    missing: list[str] | None = None,
    standardize: bool = False,
    impute: options.Filling | None = None,
    partitions: int = 100,
    base: list[str] | None = None,
    base_clusters: str | None = None,
    max_features: str | None = None,
    max_samples: str | None = None,
    seed: int = 0,
    jobs: int | None = None,
    checkpoint: Path | None = None,
    clusters: int | None = None,
    method: str | None = None,
    settings: list[str] | None = None,
    save_model: Path | None = None,
) -> None:
    """Cluster a table with the options of the command, and send the results on their way."""
    from coterie.cli._console import Notes, step
    from coterie.cli._run import find_consensus, make_consensus, make_ensemble, tell
    from coterie.cli._tables import read_features, read_table

    quiet = destinations.quiet
    notes = Notes(quiet=quiet)
    destinations.check(data)
    check_writable(save_model, "--save-model", (".npz",))
    if save_model is not None and impute is not None:
        raise InputError("--save-model does not keep what --impute fills in; fill it in before.")
    settings_given = options.parse_settings(settings)
    recipe = {
        "n_partitions": partitions,
        "n_clusters": options.parse_range(base_clusters, "--base-clusters"),
        "max_features": options.parse_part(max_features, "--max-features"),
        "max_samples": options.parse_part(max_samples, "--max-samples"),
        "random_state": seed,
        "checkpoint": checkpoint,
    }
    bases = base_estimators(base or ())
    with step(f"Reading {data}", quiet=quiet, watching=True):
        consensus = make_consensus(method, clusters, settings_given, seed)
        features = read_features(
            read_table(data, separator=separator, header=not no_header),
            id_column=id_column,
            truth_column=truth,
            columns=columns or (),
            exclude=exclude or (),
            missing=missing or (),
            impute=None if impute is None else impute.value,
            note=notes.add,
        )
    if save_model is not None:
        from coterie._model_file import check_can_be_saved

        with refused_input():
            check_can_be_saved(consensus, [estimator for _, estimator in bases])
    X = _standardized(features.X) if standardize else features.X
    if clusters is not None and clusters > len(X):
        raise InputError(
            f"--clusters must be at most the number of rows ({len(X)}); got {clusters}."
        )
    generator = make_ensemble(X, bases, recipe, jobs, notes)
    ensemble = generator.ensemble_
    if destinations.save_ensemble is not None:
        ensemble.save(destinations.save_ensemble)
    find_consensus(consensus, ensemble, notes)
    if save_model is not None:
        _write_model(save_model, generator, consensus, features, standardize)
    tell(
        consensus,
        destinations,
        notes,
        X=X,
        original=features.X,
        feature_names=features.columns,
        ids=features.ids,
        truth=features.truth,
        generator=generator,
        source="standard input" if str(data) == "-" else data.name,
        preparation=describe_preparation(standardize, impute),
        excluded=features.excluded,
        n_imputed=features.n_imputed,
    )


def _standardized(X: NDArray[np.float64]) -> NDArray[np.float64]:
    from sklearn.preprocessing import StandardScaler

    scaled: NDArray[np.float64] = StandardScaler().fit_transform(X)
    return scaled


def _write_model(
    path: Path, generator: Any, consensus: Any, features: Features, standardize: bool
) -> None:
    """Save the model, and how the features were standardised."""
    from sklearn.preprocessing import StandardScaler

    from coterie._model_file import save_model

    preparation = None
    if standardize:
        scaler = StandardScaler().fit(features.X)
        preparation = {"mean": scaler.mean_.tolist(), "scale": scaler.scale_.tolist()}
    with refused_input():
        save_model(
            path, generator, consensus, feature_names=features.columns, preparation=preparation
        )


def describe_preparation(standardize: bool, impute: options.Filling | None) -> str:
    """Return in words what was done to the features."""
    done = [] if impute is None else [f"missing values filled by the {impute.value}"]
    done.append("standardised" if standardize else "raw values")
    return ", ".join(done)
