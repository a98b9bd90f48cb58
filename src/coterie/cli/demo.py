"""``coterie demo``: see it work on bundled data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from coterie.cli import _options as options
from coterie.cli._errors import InputError

__all__ = ["demo"]

_SEED = 0


def demo(
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="DIR", help="Directory for the files; made if needed."
        ),
    ] = Path("coterie-demo"),
    report: options.Report = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Cluster Fisher's iris flowers and write a report: no data needed."""
    from coterie.cli._console import Notes, step
    from coterie.cli._output import Destinations, print_summary, write_labels
    from coterie.cli._run import Partitioning, fit_model, make_consensus, summarized
    from coterie.cli._tables import Preparing, read_features, read_table

    notes = Notes(quiet=True)  # printed with the summary
    destinations = Destinations(None, as_json, report, None, quiet, labels_to_pipe=False)
    destinations.check(None)
    _make_directory(output)
    data = output / "iris.csv"
    with step("Loading", quiet=quiet):
        _write_iris(data)
        features = read_features(
            read_table(data),
            Preparing(seed=_SEED),
            id_column="flower",
            truth_column="species",
            columns=(),
            exclude=(),
            missing=(),
            note=notes.add,
        )
        consensus = make_consensus(None, None, {})
    model = fit_model(features.X, Partitioning(seed=_SEED), consensus, notes)
    with step("Writing the report", quiet=quiet):
        summary = summarized(
            model,
            notes,
            X=features.X,
            original=features.original,
            feature_names=features.columns,
            ids=features.ids,
            truth=features.truth,
            source="iris.csv",
            preparation=features.words,
        )
        write_labels(summary, output / "labels.csv")
        model.ensemble_.save(output / "ensemble.npz")
        report_words = _write_report(summary, report or output / "report.html")
    if as_json:
        destinations.print(summary)
    if quiet or as_json:
        return
    n_partitions = model.ensemble_.n_partitions
    print(
        f"Fisher's iris flowers: {len(features.X)} flowers of 3 species, 4 measurements each, "
        f"clustered {n_partitions} times\nby k-means. The consensus did not see the species; two "
        "of them overlap.\n"
    )
    print_summary(summary, [])
    print(
        f"\nwrote   {report_words}\n"
        f"        {output / 'labels.csv'}    the clusters, with a confidence for each flower\n"
        f"        {output / 'ensemble.npz'}  the {n_partitions} partitions\n"
        f"        {data}      the data\n\n"
        f"next    coterie cluster {data} --id flower --truth species --clusters 3\n"
        f"        coterie choose {data} --id flower --truth species\n"
        f"        coterie consense {output / 'ensemble.npz'} --method eac"
    )


def _make_directory(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise InputError(
            f"--output must be a directory or a name for one; {path} is a file."
        ) from None


def _write_iris(path: Path) -> None:
    """Write the data as a user would have it."""
    import polars as pl
    from sklearn.datasets import load_iris

    from coterie._files import written_whole

    iris = load_iris()
    flowers = [f"iris-{i:03d}" for i in range(1, len(iris.data) + 1)]
    species = [str(iris.target_names[c]) for c in iris.target]
    columns = {name: iris.data[:, j] for j, name in enumerate(iris.feature_names)}
    with written_whole(path) as temporary:
        pl.DataFrame({"flower": flowers, **columns, "species": species}).write_csv(temporary)


def _write_report(summary: dict[str, Any], path: Path) -> str:
    """Write the report, and return the line that says so, or how to get one."""
    from coterie.cli._output import write_report
    from coterie.report import check_report_extra

    try:
        check_report_extra()
    except ImportError as error:
        return f"no report: {error}"
    write_report(summary, path)
    return f"{path}   open it in a browser"
