"""Talking to the person at the terminal: progress and notes on stderr, summaries on stdout."""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, Protocol

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


class Tell(Protocol):
    """Tells how far a step is."""

    def __call__(self, done: float, total: int, part: str = "") -> None:
        """Tell that `done` of `total` are done, of the part of the step that is under way."""


@contextmanager
def step(
    words: str, *, quiet: bool, counted: bool = True, watching: bool = False
) -> Iterator[Tell]:
    """Show that a step is under way, on a terminal; yield what tells how far it is.

    Until it is told ``(done, total)`` it shows a spinner, then a bar with the time left; told
    ``(0, 0)``, which means that nobody knows any more, a spinner again. A step may have parts, in
    which done and total are theirs, and so is the time left. What is shown goes away when the step
    is done. With ``counted=False`` the numbers are not shown: they count nothing that a reader
    knows. With ``watching=True`` nobody needs to tell: what the library says of itself is shown.
    """
    console = Console(stderr=True)
    if not shows_progress(quiet=quiet):
        yield _ignore
        return
    spinner = (SpinnerColumn(), TextColumn("{task.description}"), _SinceTheStart())
    count = (MofNCompleteColumn(),) if counted else (TaskProgressColumn(),)
    bar = (BarColumn(), *count, TimeRemainingColumn(compact=True), TextColumn("left"))
    with Progress(*spinner, console=console, transient=True) as progress:
        task, last = progress.add_task(words, total=None), ""

        def tell(done: float, total: int, part: str = "") -> None:
            nonlocal task, last
            if part != last:  # a task of its own, whose speed the time left is reckoned from
                progress.remove_task(task)
                task = progress.add_task(f"{words}: {part}" if part else words, total=None)
                last = part
            progress.columns = (*spinner, *bar) if total else spinner
            progress.update(task, completed=done, total=total or None)

        with report_progress(tell) if watching else nullcontext():
            yield tell


def _ignore(done: float, total: int, part: str = "") -> None:
    """Take no notice of progress."""
