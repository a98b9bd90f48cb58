"""How long a fit will take, judged from small parts of the ensemble.

For methods that leave their work to other packages, which do not tell how far they are. Two parts
are fitted, one twice the other, and the growth from one to the other is drawn out to the whole; a
small warm-up before keeps loading of compiled code out of it. For methods whose time grows with the
square of the number of objects they take about a tenth of the whole.
"""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["clock_progress", "estimate_seconds", "extrapolate", "is_left_to_others"]

LEAST_ROWS = 4_000  # distinct ones; below, a fit takes about a second
MANY_ROWS = 20_000  # beyond, smaller parts are long enough to judge from
_OF_PAIRS = 1.4  # a growth above this: the method goes over pairs of objects
_TICKS = 1_000


def is_left_to_others(consensus: Any) -> bool:
    """Say whether most of the time is spent in a package that does not tell how far it is."""
    parameters = consensus.get_params(deep=False)
    partitioner = parameters.get("partitioner", "spectral")
    linkage = parameters.get("linkage", "average")
    return partitioner != "spectral" or linkage not in ("average", "single")


def extrapolate(shorter: float, longer: float, times: float) -> float:
    """Return the time at `times` the size of `longer`, which is twice the size of `shorter`."""
    from math import log2

    growth = log2(max(longer, 1e-4) / max(shorter, 1e-4))
    # Over pairs it is at least quadratic, and a little more as caches are outgrown.
    exponent = min(max(growth, 2.2), 2.5) if growth > _OF_PAIRS else max(growth, 1.0)
    return longer * times**exponent


def estimate_seconds(consensus: Any, ensemble: Any) -> float | None:
    """Return about how long `consensus` will take, None where that cannot be told."""
    import numpy as np
    from sklearn.base import clone

    n, rows_in_all = ensemble.n_objects, len(ensemble.patterns.counts)
    if rows_in_all < LEAST_ROWS:
        return None
    times, sizes = [], []
    for parts in (64, 8, 4) if rows_in_all <= MANY_ROWS else (256, 32, 16):
        rows = np.linspace(0, n - 1, n // parts).round().astype(np.int64)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                part = ensemble.take(rows)
                start = time.perf_counter()
                clone(consensus).fit(part)
                times.append(time.perf_counter() - start)
                sizes.append(len(part.patterns.counts))
        except (ValueError, TypeError, ArithmeticError, ImportError):
            return None  # the whole may still go well; if not, it says why
    return extrapolate(times[1], times[2], rows_in_all / sizes[2])


@contextmanager
def clock_progress(seconds: float | None, tell: Callable[[int, int], None]) -> Iterator[None]:
    """Tell by the clock how far a task of about so many seconds is, while it is under way."""
    if seconds is None or seconds < 1.0:
        yield
        return
    done = threading.Event()

    def watch() -> None:
        start = time.perf_counter()
        while not done.wait(0.25):
            share = (time.perf_counter() - start) / seconds
            if share >= 1:  # the estimate was wrong, and nothing is known
                tell(0, 0)
                return
            tell(int(_TICKS * share), _TICKS)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()
