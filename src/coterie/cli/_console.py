"""Talking to the person at the terminal: progress and notes on stderr, summaries on stdout."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from coterie.cli._errors import one_line

__all__ = ["Notes", "on_terminal", "output_console", "shows_progress", "step"]


def on_terminal() -> bool:
    """Whether a person reads what is printed."""
    return sys.stdout.isatty()


def output_console() -> Console:
    """Return the console for summaries."""
    return Console(highlight=False)


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


@contextmanager
def step(words: str, *, quiet: bool, counted: bool = True) -> Iterator[Callable[[int, int], None]]:
    """Show that a step is under way, on a terminal; yield what tells how far it is.

    Until it is told ``(done, total)`` it shows a spinner, then a bar with the time left; told
    ``(0, 0)``, which means that nobody knows any more, a spinner again. What
    is shown goes away when the step is done. With ``counted=False`` the numbers are not shown:
    they are parts of an estimate and count nothing.
    """
    console = Console(stderr=True)
    if not shows_progress(quiet=quiet):
        yield _ignore
        return
    spinner = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    count = (MofNCompleteColumn(),) if counted else (TextColumn("about"),)
    bar = (BarColumn(), *count, TimeRemainingColumn(compact=True))
    with Progress(*spinner, console=console, transient=True) as progress:
        task = progress.add_task(words, total=None)

        def tell(done: int, total: int) -> None:
            progress.columns = (*spinner, *bar) if total else spinner
            progress.update(task, completed=done, total=total or None)

        yield tell


def _ignore(done: int, total: int) -> None:
    """Take no notice of progress."""
