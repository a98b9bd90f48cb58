"""``coterie report``: one HTML file from data, from labels or from a saved result."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from coterie.cli import _options as options
from coterie.cli._errors import InputError, refused_input

__all__ = ["report"]


def report(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A table of features (.csv, .tsv, .parquet, .npy), an ensemble (.npz), a table "
            "of labels (with --labels), or a result that --json printed (.json).",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FILE.html", help="Where the report goes."),
    ] = Path("report.html"),
    labels: Annotated[
        bool,
        typer.Option(
            "--labels",
            help="The columns are clusterings, as for 'coterie consense', not features.",
            rich_help_panel="Input",
        ),
    ] = False,
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
    clusters: options.Clusters = None,
    method: options.Method = None,
    settings: options.Set = None,
    seed: options.Seed = 0,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Write a report that opens in any browser, without a network.

    Short for 'coterie cluster FILE --report report.html' (or 'coterie consense'), which have
    more options. A result that --json printed is shown as it is.
    """
    from coterie.cli._output import Destinations
    from coterie.cli._tables import FEATURE_OPTIONS, file_kind

    destinations = Destinations(None, as_json, output, None, quiet, labels_to_pipe=False)
    kind = file_kind(file)
    for_genes = transpose or log or top_features or center
    table: dict[str, Any] = {
        "truth": truth,
        "id_column": id_column,
        "columns": columns,
        "exclude": exclude,
        "separator": separator,
        "no_header": no_header,
        "missing": missing,
        "clusters": clusters,
        "method": method,
        "settings": settings,
    }
    if kind == ".json":
        given = [name for name, value in table.items() if value]
        if given or labels or raw or standardize or impute or seed or for_genes:
            raise InputError(
                f"{file} is a finished result and is shown as it is; leave out the options that "
                "say how to find one."
            )
        _show_result(file, destinations)
    elif kind == ".npz" or labels:
        if raw or standardize or impute or for_genes:
            raise InputError(f"{FEATURE_OPTIONS} are for features, not for labels.")
        from coterie.cli.consense import consense_labels

        consense_labels(file, destinations, seed=seed, **table)
    else:
        from coterie.cli._run import Partitioning
        from coterie.cli._tables import Preparing
        from coterie.cli.cluster import cluster_table

        filling = None if impute is None else impute.value
        preparing = Preparing(
            raw, standardize, filling, seed, transpose, log, top_features, by.value, center
        )
        cluster_table(file, destinations, preparing, Partitioning(seed=seed), **table)
    if not quiet and not as_json:
        print(f"{output}: open it in a browser.")


def _show_result(file: Path, destinations: Any) -> None:
    """Render what --json printed."""
    from coterie._reading import read_json
    from coterie.cli._tables import check_file

    check_file(file)
    destinations.check(file)
    with refused_input():
        summary = read_json(file)
    needed = ("format", "objects", "cuts", "consensus", "ensemble")
    other = f"{file} is not a result of coterie; 'coterie cluster DATA --json' prints one."
    if not isinstance(summary, dict) or any(key not in summary for key in needed):
        raise InputError(other)
    try:
        destinations.write_files(summary)
    except (OSError, InputError):
        raise
    except Exception as error:  # of any kind, by what is missing in somebody else's JSON
        tells = isinstance(error, ImportError) or "must be of format" in str(error)
        raise InputError(str(error) if tells else other) from error
    if destinations.json:
        destinations.print(summary)
