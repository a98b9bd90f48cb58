"""One method at a time, timed and weighed: in this process, or in one that can be stopped.

``python -m coterie.choosing._worker`` reads jobs from its standard input and writes what it finds
to its standard output, both as pickles with their length in front. Nobody but the process that
started it writes to it.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import struct
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from coterie._memory import MemoryLimitError
from coterie.ensemble import Ensemble

__all__ = ["Job", "read_message", "run_job", "write_message"]

_PILOT_FROM = 5000  # objects; from here on a method is tried on a part first
_PILOT_PARTS = (10, 5)
_MEASURABLE = 0.1  # seconds from which the growth of time is believed
_HOPELESS = 2.0  # times the limit: not even tried
_FOR_STABILITY = 0.5  # of the limit: no further halves after that
_LOOK_EVERY = 0.005  # seconds between two looks at the memory in use


@dataclass(frozen=True)
class Job:
    """A method to fit, and how often to fit it to halves of the ensemble."""

    name: str
    estimator: Any
    halves: int
    seed: int
    time_limit: float | None


Row = dict[str, Any]


def run_job(job: Job, ensemble: Ensemble) -> Iterator[Row]:
    """Yield what is known of the method so far: first the consensus, then its stability too."""
    start = time.perf_counter()
    _warm_up(job.estimator, ensemble)
    estimate = _estimate(job, ensemble)
    limit = job.time_limit
    if estimate is not None and limit is not None and estimate > _HOPELESS * limit:
        yield {
            "status": "skipped",
            "reason": f"would take about {estimate:.0f} s, by a trial on fewer objects; the time "
            f"limit is {limit:g} s",
        }
        return
    row = _fit(job.estimator, ensemble)
    yield row
    if row["status"] != "ok" or job.halves == 0 or ensemble.n_partitions < 4:
        return
    scores: list[float] = []
    rng = np.random.default_rng(job.seed)
    for _ in range(job.halves):
        elapsed = time.perf_counter() - start
        if limit is not None and elapsed + row["seconds"] > _FOR_STABILITY * limit:
            break
        score = _agreement_of_halves(job.estimator, ensemble, row["n_clusters"], rng)
        if score is None:
            break
        scores.append(score)
    if scores:
        yield {**row, "stability": float(np.mean(scores)), "n_halves": len(scores)}


def _fresh(estimator: Any) -> Any:
    from sklearn.base import clone

    return clone(estimator)


def _warm_up(estimator: Any, ensemble: Ensemble) -> None:
    """Compile what the method needs, on a few objects, so that it is not timed."""
    few = _rows_of(ensemble, np.linspace(0, ensemble.n_objects - 1, 60).round().astype(int))
    _quietly(lambda: _fresh(estimator).fit(few))


def _estimate(job: Job, ensemble: Ensemble) -> float | None:
    """Return the seconds that the method is likely to take, from two smaller runs."""
    n = ensemble.n_objects
    if job.time_limit is None or n < _PILOT_FROM:
        return None
    rng = np.random.default_rng(job.seed)
    taken = []
    for part in _PILOT_PARTS:
        few = _rows_of(ensemble, np.sort(rng.choice(n, n // part, replace=False)))
        # Time on the processor: what others do on the machine must not count.
        start = time.process_time()
        if _quietly(lambda few=few: _fresh(job.estimator).fit(few)) is None:  # type: ignore[misc]
            return None  # let the whole say why
        taken.append(time.process_time() - start)
    power = 2.0
    if taken[0] > _MEASURABLE:
        power = float(np.clip(np.log2(taken[1] / taken[0]), 1.0, 2.5))
    return taken[1] * _PILOT_PARTS[1] ** power


def _quietly(action: Callable[[], Any]) -> Any:
    with warnings.catch_warnings(), contextlib.suppress(Exception):
        warnings.simplefilter("ignore")
        return action()
    return None


def _rows_of(ensemble: Ensemble, rows: NDArray[np.int64]) -> Ensemble:
    rows = np.unique(rows)
    labels = ensemble.labels[rows]
    seen = (labels >= 0).any(axis=0)
    if not seen.any():
        return ensemble
    kept = np.flatnonzero(seen)
    extras: dict[str, Any] = {}
    if ensemble.posteriors is not None or ensemble.subspaces is not None:
        codes = [np.unique(labels[labels[:, e] >= 0, e]) for e in kept]
        if ensemble.posteriors is not None:
            extras["posteriors"] = [
                ensemble.posteriors[e][np.ix_(rows, c)] for e, c in zip(kept, codes, strict=True)
            ]
        if ensemble.subspaces is not None:
            extras["subspaces"] = [
                tuple(array[c] for array in ensemble.subspaces[e])
                for e, c in zip(kept, codes, strict=True)
            ]
    return Ensemble(
        labels[:, kept], groups=ensemble.groups[kept], validity=ensemble.validity[kept], **extras
    )


def _fit(estimator: Any, ensemble: Ensemble) -> Row:
    estimator = _fresh(estimator)
    with _memory_in_use() as memory, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        start = time.perf_counter()
        try:
            estimator.fit(ensemble)
        except (ValueError, TypeError, ImportError, MemoryLimitError) as error:
            return {"status": "refused", "reason": _first_line(error)}
        except MemoryError:
            return {"status": "failed", "reason": "ran out of memory"}
        except Exception as error:
            return {"status": "failed", "reason": f"{type(error).__name__}: {_first_line(error)}"}
        seconds = time.perf_counter() - start
    notes = [_first_line(w.message) for w in caught if issubclass(w.category, UserWarning)]
    return {
        "status": "ok",
        "reason": "",
        "labels": estimator.labels_,
        "confidence": estimator.confidence_,
        "n_clusters": int(estimator.n_clusters_),
        "seconds": seconds,
        "peak_memory": memory(),
        "notes": list(dict.fromkeys(notes)),
    }


def _first_line(error: object) -> str:
    return " ".join(str(error).split())


def _agreement_of_halves(
    estimator: Any, ensemble: Ensemble, n_clusters: int, rng: np.random.Generator
) -> float | None:
    """Return the ARI of the consensus of one half of the partitions and that of the other."""
    from coterie.metrics import ari

    order = rng.permutation(ensemble.n_partitions)
    middle = len(order) // 2
    found = []
    for half in (order[:middle], order[middle:]):
        part = ensemble.select(np.sort(half))
        fitted = _quietly(lambda part=part: _fresh(estimator).fit(part))  # type: ignore[misc]
        if fitted is None:
            return None
        found.append(fitted.labels_)
    return ari(*found)


@contextlib.contextmanager
def _memory_in_use() -> Iterator[Callable[[], int | None]]:
    """Watch the memory of this process; yield what tells the most it grew, in bytes."""
    start = _resident()
    most = [start]
    done = threading.Event()

    def look() -> None:
        while not done.wait(_LOOK_EVERY):
            now = _resident()
            if now is not None and most[0] is not None:
                most[0] = max(most[0], now)

    watcher = threading.Thread(target=look, daemon=True)
    if start is not None:
        watcher.start()
    try:
        yield lambda: None if start is None or most[0] is None else most[0] - start
    finally:
        done.set()
        if start is not None:
            watcher.join()


def _resident() -> int | None:
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):
        return None


# --- the process --------------------------------------------------------------------------------


def write_message(file: IO[bytes], message: Any) -> None:
    """Write an object with its length in front."""
    data = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    file.write(struct.pack("<Q", len(data)))
    file.write(data)
    file.flush()


def read_message(file: IO[bytes]) -> Any:
    """Read what `write_message` wrote; EOFError at the end."""
    head = file.read(8)
    if len(head) < 8:
        raise EOFError
    (length,) = struct.unpack("<Q", head)
    data = file.read(length)
    if len(data) < length:
        raise EOFError
    return pickle.loads(data)


def _main() -> None:
    stdin, stdout = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not get between the messages
    try:
        threads, ensemble = read_message(stdin)
        import numba
        from threadpoolctl import threadpool_limits

        numba.set_num_threads(max(1, min(threads, numba.get_num_threads())))
        with threadpool_limits(threads):
            while True:
                job = read_message(stdin)
                try:
                    for row in run_job(job, ensemble):
                        write_message(stdout, row)
                except Exception as error:
                    reason = f"{type(error).__name__}: {_first_line(error)}"
                    write_message(stdout, {"status": "failed", "reason": reason})
                write_message(stdout, None)
    except (EOFError, BrokenPipeError, KeyboardInterrupt):
        return


if __name__ == "__main__":
    _main()
