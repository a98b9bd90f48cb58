"""``coterie demo``: see it work on bundled data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from coterie.cli import _options as options
from coterie.cli._errors import InputError

__all__ = ["demo"]

_SEED = 0
_PARTITIONS = 100
# As in the experiments of the LACA paper: 3 or more of the features, 2 to n / 15 clusters.
_RECIPE = {"n_partitions": _PARTITIONS, "n_clusters": (2, 10), "max_features": (3, 4)}


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
    from coterie.cli._bases import base_estimators
    from coterie.cli._console import Notes, step
    from coterie.cli._output import Destinations, print_summary, write_labels
    from coterie.cli._run import find_consensus, make_consensus, make_ensemble, summarized

    notes = Notes(quiet=quiet)
    destinations = Destinations(None, as_json, report, None, quiet, labels_to_pipe=False)
    destinations.check(None)
    _make_directory(output)
    with step("Loading", quiet=quiet):
        X, names, flowers, species = _write_iris(output / "iris.csv")
        consensus = make_consensus(None, None, {}, _SEED)
    recipe = {**_RECIPE, "random_state": _SEED}
    generator = make_ensemble(X, base_estimators(()), recipe, None, notes)
    find_consensus(consensus, generator.ensemble_, notes)
    with step("Writing the report", quiet=quiet):
        summary = summarized(
            consensus,
            notes,
            X=X,
            feature_names=names,
            ids=flowers,
            truth=species,
            generator=generator,
            source="iris.csv",
        )
        write_labels(summary, output / "labels.csv")
        generator.ensemble_.save(output / "ensemble.npz")
        report_words = _write_report(summary, report or output / "report.html")
    if as_json:
        destinations.print(summary)
    if quiet or as_json:
        return
    print(
        f"Fisher's iris flowers: {len(X)} flowers of 3 species, {X.shape[1]} measurements each, "
        f"clustered {_PARTITIONS}\ntimes by k-means, each time into 2 to 10 clusters by 3 or 4 "
        "of them. The consensus did\nnot see the species.\n"
    )
    print_summary(summary, [])
    print(
        f"\nwrote   {report_words}\n"
        f"        {output / 'labels.csv'}    the clusters, with a confidence for each flower\n"
        f"        {output / 'ensemble.npz'}  the {_PARTITIONS} partitions\n"
        f"        {output / 'iris.csv'}      the data\n\n"
        f"next    coterie cluster {output / 'iris.csv'} --id flower --truth species --clusters 3"
        f"\n        coterie consense {output / 'ensemble.npz'} --set linkage=single --method eac"
    )


def _make_directory(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise InputError(
            f"--output must be a directory or a name for one; {path} is a file."
        ) from None


def _write_iris(path: Path) -> tuple[Any, list[str], list[str], list[str]]:
    """Write the data as a user would have it; return features, their names, flowers, species."""
    import polars as pl
    from sklearn.datasets import load_iris

    from coterie._files import written_whole

    iris = load_iris()
    flowers = [f"iris-{i:03d}" for i in range(1, len(iris.data) + 1)]
    species = [str(iris.target_names[c]) for c in iris.target]
    columns = {name: iris.data[:, j] for j, name in enumerate(iris.feature_names)}
    with written_whole(path) as temporary:
        pl.DataFrame({"flower": flowers, **columns, "species": species}).write_csv(temporary)
    return iris.data, list(columns), flowers, species


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
