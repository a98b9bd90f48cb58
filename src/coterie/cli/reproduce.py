"""``coterie reproduce``: a paper's experiment, its numbers beside ours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from rich import box
from rich.table import Table as Drawn
from rich.text import Text

from coterie.cli._console import on_terminal, output_console, step
from coterie.cli._errors import InputError, did_you_mean, refused_input
from coterie.cli._options import Destinations
from coterie.experiments import EXPERIMENTS, Table, get_experiment
from coterie.experiments._run import Report, run_experiment

__all__ = ["RunOptions", "reproduce_paper"]

_OPTIONS = {"only": "--only", "runs": "--runs", "output": "--output"}
_FIELDS = ("paper", "paper_std", "ours", "std", "difference", "runs", "note")


class RunOptions(NamedTuple):
    """How an experiment is run."""

    output: Path | None
    data: Path | None
    runs: int | None
    only: list[str] | None
    quick: bool
    seed: int
    jobs: int


def reproduce_paper(paper: str | None, settings: RunOptions, to: Destinations) -> None:
    """Run an experiment and print its tables; without a paper, list them."""
    if paper is None:
        _list_papers(to.as_json)
        return
    if paper not in EXPERIMENTS:
        raise InputError(
            f"PAPER must be one of {', '.join(EXPERIMENTS)}; got {paper!r}."
            f"{did_you_mean(paper, EXPERIMENTS)}"
        )
    output, data, runs, only, quick, seed, jobs = settings
    if jobs == 0:
        raise InputError("--jobs must be a number of tasks, or -1 for one per core; got 0.")
    if data is not None and not data.is_dir():
        raise InputError(f"--data must be a directory of data sets; got {data}.")
    experiment = get_experiment(paper)
    with refused_input(_OPTIONS):
        experiment.tasks(runs=runs, seed=seed, quick=quick, only=only or ())
    with step(f"Reproducing {paper}", quiet=to.quiet), refused_input(_OPTIONS):
        report = run_experiment(
            experiment,
            Path(f"reproduce-{paper}") if output is None else output,
            runs=runs,
            seed=seed,
            quick=quick,
            only=only or (),
            data=data,
            n_jobs=jobs,
        )
    if to.as_json:
        print(json.dumps(_as_data(report)))
    elif not to.quiet:
        _print_report(report)


def _list_papers(as_json: bool) -> None:
    titles = {name: paper.title for name, paper in EXPERIMENTS.items()}
    if as_json:
        print(json.dumps(titles))
        return
    width = max(map(len, titles))
    for name, title in titles.items():
        print(f"{name:{width}}  {title}")


def _as_data(report: Report) -> dict[str, Any]:
    return {
        "tables": {
            table.name: {
                "title": table.title,
                "rows": [
                    dict(zip(table.keys, row.keys, strict=True))
                    | {name: getattr(row, name) for name in _FIELDS}
                    for row in table.rows
                ],
            }
            for table in report.tables
        },
        "files": [str(path) for path in report.files],
        "notes": report.notes,
    }


def _print_report(report: Report) -> None:
    """Print the tables, drawn on a terminal and as Markdown where a program reads them."""
    for table in report.tables:
        if on_terminal():
            _print_table(table)
        else:
            print(table.to_markdown())
    for note in report.notes:
        print(f"note: {note}")
    print("wrote " + ", ".join(str(path) for path in report.files))


def _print_table(table: Table) -> None:
    headings, lines = table.cells()
    drawn = Drawn(title=table.title, title_justify="left", box=box.SIMPLE_HEAD)
    for i, heading in enumerate(headings):
        drawn.add_column(heading, justify="left" if table.is_words(i) else "right")
    for line in lines:
        drawn.add_row(*map(Text, line))
    console = output_console()
    console.print(drawn)
    for note in table.notes:
        console.print(Text(note))
