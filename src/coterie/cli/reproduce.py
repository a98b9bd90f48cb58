"""``coterie reproduce``: a paper's experiment, its numbers beside ours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coterie.cli import _options as options
from coterie.cli._errors import InputError, did_you_mean, refused_input

if TYPE_CHECKING:
    from coterie.experiments import Table
    from coterie.experiments._run import Report

__all__ = ["reproduce"]

_OPTIONS = {"only": "--only", "runs": "--runs", "output": "--output"}


def _complete_paper(incomplete: str) -> list[str]:
    from coterie.experiments import EXPERIMENTS

    return [name for name in EXPERIMENTS if name.startswith(incomplete)]


def reproduce(
    paper: Annotated[
        str | None,
        typer.Argument(
            metavar="[PAPER]",
            help="Which paper. Default: list them.",
            show_default=False,
            autocompletion=_complete_paper,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="DIR",
            help="Directory for finished tasks, tables and figures; made if needed. The same "
            "command continues what was killed. Default: reproduce-PAPER.",
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            "--data",
            metavar="DIR",
            help="Directory of data sets, NAME.csv or NAME.csv.gz. Default: $COTERIE_DATA.",
        ),
    ] = None,
    runs: Annotated[
        int | None,
        typer.Option("--runs", min=1, metavar="N", help="Repetitions. Default: as in the paper."),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="SET", help="Only this data set or part. Repeat for more."),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="A small version, to see it work.")
    ] = False,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of everything.")] = 0,
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", metavar="N", help="Tasks at a time; -1: one per core.")
    ] = -1,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Run a paper's experiment and compare with its published numbers."""
    from coterie.experiments import EXPERIMENTS

    if paper is None:
        _list_papers(as_json)
        return
    if paper not in EXPERIMENTS:
        raise InputError(
            f"PAPER must be one of {', '.join(EXPERIMENTS)}; got {paper!r}."
            f"{did_you_mean(paper, EXPERIMENTS)}"
        )
    if jobs == 0:
        raise InputError("--jobs must be a number of tasks, or -1 for one per core; got 0.")
    if data is not None and not data.is_dir():
        raise InputError(f"--data must be a directory of data sets; got {data}.")
    from coterie.cli._console import step
    from coterie.experiments import get_experiment
    from coterie.experiments._run import run_experiment

    experiment = get_experiment(paper)
    with refused_input(_OPTIONS):
        experiment.tasks(runs=runs, seed=seed, quick=quick, only=only or ())
    with step(f"Reproducing {paper}", quiet=quiet, watching=True), refused_input(_OPTIONS):
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
    if as_json:
        print(json.dumps(_as_data(report)))
    elif not quiet:
        _print_report(report)


def _list_papers(as_json: bool) -> None:
    from coterie.experiments import EXPERIMENTS

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


_FIELDS = ("paper", "paper_std", "ours", "std", "difference", "runs", "note")


def _print_report(report: Report) -> None:
    """Print the tables, drawn on a terminal and as Markdown where a program reads them."""
    from coterie.cli._console import on_terminal

    for table in report.tables:
        if on_terminal():
            _print_table(table)
        else:
            print(table.to_markdown())
    for note in report.notes:
        print(f"note: {note}")
    print("wrote " + ", ".join(str(path) for path in report.files))


def _print_table(table: Table) -> None:
    from rich import box
    from rich.table import Table as Drawn
    from rich.text import Text

    from coterie.cli._console import output_console

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
