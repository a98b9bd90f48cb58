"""Talking to the person at the terminal: progress and notes on stderr, summaries on stdout."""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from coterie._progress import report_progress
from coterie.cli._errors import one_line

__all__ = [
    "Notes",
    "on_terminal",
    "output_console",
    "print_facts",
    "shows_progress",
    "step",
    "wide_console",
]


def on_terminal() -> bool:
    """Whether a person reads what is printed."""
    return sys.stdout.isatty()


def output_console() -> Console:
    """Return the console for summaries."""
    return Console(highlight=False)


def wide_console() -> Console:
    """Return the console for wide tables: in a file or pipe nothing needs to be cut off."""
    console = output_console()
    return console if console.is_terminal else Console(highlight=False, width=160)


def print_facts(facts: dict[str, Any], *, as_json: bool) -> None:
    """Print facts by name, where a fact may be a dict of facts; for people, or as JSON."""
    if as_json:
        print(json.dumps(facts, indent=2))
        return
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column()
    for name, value in facts.items():
        if isinstance(value, dict):
            inner = Table.grid(padding=(0, 2))
            for key, text in value.items():
                inner.add_row(Text(str(key)), Text(str(text)))
            grid.add_row(name, inner)
        else:
            grid.add_row(name, Text(str(value)))
    output_console().print(grid)


class Notes:
    """Short remarks for the user: on stderr once the command knows whether it is quiet."""

    def __init__(self, *, quiet: bool) -> None:
        self.quiet = quiet
        self.texts: list[str] = []

    def add(self, text: object) -> None:
        """Say something once."""
        line = one_line(text)
        if line in self.texts:
            return
        self.texts.append(line)
        if not self.quiet:
            print(f"coterie: note: {line}", file=sys.stderr)

    @contextmanager
    def of_warnings(self) -> Iterator[None]:
        """Say what the library warns of."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            yield
        for warning in caught:
            if issubclass(warning.category, UserWarning):
                self.add(warning.message)


def shows_progress(*, quiet: bool) -> bool:
    """Whether somebody sees how far a step is."""
    return not quiet and Console(stderr=True).is_terminal


class _SinceTheStart(ProgressColumn):
    """Time since the step began, whichever part of it is under way."""

    def __init__(self) -> None:
        super().__init__()
        self._began = time.monotonic()

    def render(self, task: Task) -> Text:
        """Return minutes and seconds."""
        minutes, seconds = divmod(int(time.monotonic() - self._began), 60)
        return Text(f"{minutes}:{seconds:02d}", style="progress.elapsed")


@contextmanager
def step(words: str, *, quiet: bool, counted: bool = True) -> Iterator[None]:
    """Show on a terminal that a step is under way, and how far the library is with it.

    Shown is a spinner, and a bar with the time left while a task with a known number of steps runs
    (`coterie._progress`). All of it is removed when the step is done. ``counted=False`` shows
    percentages instead of numbers, where the numbers mean nothing to a reader.
    """
    if not shows_progress(quiet=quiet):
        yield
        return
    spinner = (SpinnerColumn(), TextColumn("{task.description}"), _SinceTheStart())
    count = (MofNCompleteColumn(),) if counted else (TaskProgressColumn(),)
    bar = (BarColumn(), *count, TimeRemainingColumn(compact=True), TextColumn("left"))
    with Progress(*spinner, console=Console(stderr=True), transient=True) as progress:
        task, shown = progress.add_task(words, total=None), ""

        def show(done: int, total: int, description: str) -> None:
            nonlocal task, shown
            if description != shown:  # a new bar, so that its time left is that of this task
                progress.remove_task(task)
                text = f"{words}: {description}" if description else words
                task, shown = progress.add_task(text, total=None), description
            progress.columns = (*spinner, *bar) if total else spinner
            progress.update(task, completed=done, total=total or None)

        with report_progress(show):
            yield
