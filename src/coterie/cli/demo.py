"""``coterie demo``: see it work on bundled data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
from sklearn.datasets import load_iris

from coterie._files import written_whole
from coterie.cli._console import Notes, step
from coterie.cli._errors import InputError
from coterie.cli._input import read_input
from coterie.cli._options import Chosen, Destinations, Partitioning, Preparing, TableOptions
from coterie.cli._output import (
    check_destinations,
    print_results,
    print_summary,
    write_labels,
    write_report,
)
from coterie.cli._run import fit_model, make_consensus, summarized
from coterie.report import check_report_extra

__all__ = ["run_demo"]

_SEED = 0


def run_demo(output: Path, report: Path | None, as_json: bool, quiet: bool) -> None:
    """Cluster Fisher's iris flowers, write the files and print a summary."""
    notes = Notes(quiet=True)  # printed with the summary
    to = Destinations(as_json=as_json, report=report, quiet=quiet)
    check_destinations(to, None)
    _make_directory(output)
    data = output / "iris.csv"
    with step("Loading", quiet=quiet):
        _write_iris(data)
        columns = TableOptions(truth="species", id_column="flower")
        given = read_input(data, columns, Preparing(), notes, as_labels=False, seed=_SEED)
    parts = Partitioning(seed=_SEED)
    model = fit_model(given.data, parts, make_consensus(Chosen()), notes)
    with step("Writing the report", quiet=quiet):
        summary = summarized(model, notes, **given.details())
        write_labels(summary, output / "labels.csv")
        model.ensemble_.save(output / "ensemble.npz")
        report_words = _write_report(summary, report or output / "report.html")
    if as_json:
        print_results(summary, to, labels_to_pipe=False)
    if quiet or as_json:
        return
    n_partitions = model.ensemble_.n_partitions
    print(
        f"Fisher's iris flowers: {given.n_objects} flowers of 3 species, 4 measurements each, "
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
    iris = load_iris()
    flowers = [f"iris-{i:03d}" for i in range(1, len(iris.data) + 1)]
    species = [str(iris.target_names[c]) for c in iris.target]
    columns = {name: iris.data[:, j] for j, name in enumerate(iris.feature_names)}
    with written_whole(path) as temporary:
        pl.DataFrame({"flower": flowers, **columns, "species": species}).write_csv(temporary)


def _write_report(summary: dict[str, Any], path: Path) -> str:
    """Write the report, and return the line that says so, or how to get one."""
    try:
        check_report_extra()
    except ImportError as error:
        return f"no report: {error}"
    write_report(summary, path)
    return f"{path}   open it in a browser"
