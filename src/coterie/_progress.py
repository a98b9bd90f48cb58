"""How far a long computation is, for whoever watches.

Work is told in stretches: a few words, a number of steps, and an array into whose cells whoever
does the work, compiled code in any thread included, writes how many steps it has done. If nobody
watches, that costs nothing. Stretches can lie within others.
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

__all__ = ["stretch", "watched"]

Cells = NDArray[np.int64]
Tell = Callable[[int, int, str], None]

EVERY = 0.2  # seconds from one look to the next
WORTHWHILE = 0.5  # seconds that a stretch lasts before it is told about


class Stretch(NamedTuple):
    """A part of the work."""

    words: str
    total: int
    """Number of steps; 0 where it is not known."""
    cells: Cells
    began: float


_stretches: ContextVar[list[Stretch] | None] = ContextVar("coterie_stretches", default=None)


@contextmanager
def stretch(words: str, total: int = 0, n_cells: int = 1) -> Iterator[Cells]:
    """Begin a part of the work; yield the cells for the number of steps done, all 0.

    The steps done are the sum of the cells: workers that go on at the same time have a cell each.
    """
    cells = np.zeros(n_cells, dtype=np.int64)
    stretches = _stretches.get()
    if stretches is None:
        yield cells
        return
    stretches.append(Stretch(words, total, cells, time.perf_counter()))
    try:
        yield cells
    finally:
        stretches.pop()


@contextmanager
def watched(tell: Tell) -> Iterator[None]:
    """Tell ``(done, total, words)`` now and then of what is done in this context, in a thread."""
    stretches: list[Stretch] = []
    token = _stretches.set(stretches)
    over = threading.Event()

    def watch() -> None:
        while not over.wait(EVERY):
            told = current(tuple(stretches), time.perf_counter())
            if told is not None:
                tell(*told)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
        _stretches.reset(token)


def current(stretches: tuple[Stretch, ...], now: float) -> tuple[int, int, str] | None:
    """Return what to tell: the innermost stretch that has lasted, with the words of all around it.

    One that counts its steps is told even where one within it, which has lasted, does not.
    """
    lasting = [s for s in stretches if now - s.began >= WORTHWHILE]
    if not lasting:
        return None
    counted = [i for i, s in enumerate(lasting) if s.total > 0]
    last = counted[-1] if counted else len(lasting) - 1
    words = ": ".join(s.words for s in lasting[: last + 1] if s.words)
    told = lasting[last]
    return min(int(told.cells.sum()), told.total), told.total, words
