"""Progress of long computations.

Code that can take long opens a task with `track_progress`: a description, a number of steps, and
an array in which the code, compiled code in any thread included, counts the steps done. Tasks can
be nested. `report_progress` reads the counts from a thread of its own and hands them to a
function; without it, tasks cost nothing.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["report_progress", "track_progress"]

Cells = NDArray[np.int64]
Report = Callable[[int, int, str], None]

INTERVAL = 0.2  # seconds between two reports
MIN_DURATION = 0.5  # seconds before a task is reported


class Task(NamedTuple):
    """A task under way."""

    description: str
    total: int
    """Number of steps; 0 if unknown."""
    cells: Cells
    began: float


_tasks: ContextVar[list[Task] | None] = ContextVar("coterie_tasks", default=None)


@contextmanager
def track_progress(description: str, total: int = 0, n_cells: int = 1) -> Iterator[Cells]:
    """Open a task; yield the cells that count its steps, all 0.

    The number of steps done is the sum of the cells. Workers that run at the same time have a
    cell each.
    """
    cells = np.zeros(n_cells, dtype=np.int64)
    tasks = _tasks.get()
    if tasks is None:
        yield cells
        return
    tasks.append(Task(description, total, cells, time.perf_counter()))
    try:
        yield cells
    finally:
        tasks.pop()


@contextmanager
def report_progress(report: Report) -> Iterator[None]:
    """Call a function at intervals with the progress of what runs inside the ``with`` block.

    Parameters
    ----------
    report : callable
        Called as ``report(done, total, description)`` from a thread of its own, five times a
        second, for tasks that take longer than half a second. `total` is 0 where the number of
        steps is not known.

    Examples
    --------
    >>> from coterie import EAC, report_progress
    >>> with report_progress(lambda done, total, description: print(description, done, total)):
    ...     labels = EAC(2).fit_predict([[0, 0], [0, 1], [1, 1]])
    """
    tasks: list[Task] = []
    token = _tasks.set(tasks)
    over = threading.Event()

    def watch() -> None:
        while not over.wait(INTERVAL):
            state = current(tuple(tasks), time.perf_counter())
            if state is not None:
                report(*state)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
        _tasks.reset(token)


def current(tasks: tuple[Task, ...], now: float) -> tuple[int, int, str] | None:
    """Return the state to report, None if no task has lasted long enough.

    It is that of the innermost task with a known number of steps, else of the innermost task,
    and the description names the tasks around it, too.
    """
    lasting = [task for task in tasks if now - task.began >= MIN_DURATION]
    if not lasting:
        return None
    counted = [i for i, task in enumerate(lasting) if task.total > 0]
    last = counted[-1] if counted else len(lasting) - 1
    description = ": ".join(task.description for task in lasting[: last + 1] if task.description)
    task = lasting[last]
    return min(int(task.cells.sum()), task.total), task.total, description
