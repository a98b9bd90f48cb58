"""One method at a time, timed and weighed: in this process, or in one that can be stopped."""

from __future__ import annotations

import contextlib
import os
import queue
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie._limits import MemoryLimitError
from coterie._processes import end_with, safe_children
from coterie.ensemble import Ensemble

__all__ = ["Job", "run_here", "run_in_processes"]

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


def find_consensus(ensemble: Ensemble, job: Job) -> Row:
    """Return what the method found, and its time and memory; or why it found nothing."""
    _warm_up(job.estimator, ensemble)
    estimate = _estimate(job, ensemble)
    limit = job.time_limit
    if estimate is not None and limit is not None and estimate > _HOPELESS * limit:
        return {
            "status": "skipped",
            "reason": f"would take about {estimate:.0f} s, by a trial on fewer objects; the time "
            f"limit is {limit:g} s",
        }
    return _fit(job.estimator, ensemble)


def measure_stability(ensemble: Ensemble, job: Job, row: Row, spent: float) -> Row:
    """Return the stability of a method that took `spent` seconds for the row it has so far."""
    if row["status"] != "ok" or ensemble.n_partitions < 4:
        return {}
    start = time.perf_counter() - spent
    scores: list[float] = []
    rng = np.random.default_rng(job.seed)
    for _ in range(job.halves):
        elapsed = time.perf_counter() - start
        if job.time_limit is not None and elapsed + row["seconds"] > (
            _FOR_STABILITY * job.time_limit
        ):
            break
        score = _agreement_of_halves(job.estimator, ensemble, row["n_clusters"], rng)
        if score is None:
            break
        scores.append(score)
    return {"stability": float(np.mean(scores)), "n_halves": len(scores)} if scores else {}


def _fresh(estimator: Any) -> Any:
    from sklearn.base import clone

    return clone(estimator)


def _warm_up(estimator: Any, ensemble: Ensemble) -> None:
    """Compile what the method needs, on a few objects, so that it is not timed."""
    few = rows_of(ensemble, np.linspace(0, ensemble.n_objects - 1, 60).round().astype(int))
    _quietly(lambda: _fresh(estimator).fit(few))


def _estimate(job: Job, ensemble: Ensemble) -> float | None:
    """Return the seconds that the method is likely to take, from two smaller runs."""
    n = ensemble.n_objects
    if job.time_limit is None or n < _PILOT_FROM:
        return None
    rng = np.random.default_rng(job.seed)
    taken = []
    for part in _PILOT_PARTS:
        few = rows_of(ensemble, np.sort(rng.choice(n, n // part, replace=False)))
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


def rows_of(ensemble: Ensemble, rows: NDArray[np.int64]) -> Ensemble:
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


# --- where jobs run -----------------------------------------------------------------------------


def run_here(
    jobs: list[Job], ensemble: Ensemble, callback: Callable[[int, int], None] | None
) -> dict[str, Row]:
    """Run the jobs one after the other in this process."""
    found = {}
    for done, job in enumerate(jobs, start=1):
        start = time.perf_counter()
        row = find_consensus(ensemble, job)
        spent = time.perf_counter() - start
        found[job.name] = row | measure_stability(ensemble, job, row, spent)
        if callback is not None:
            callback(done, len(jobs))
    return found


def run_in_processes(
    jobs: list[Job],
    ensemble: Ensemble,
    n_workers: int,
    n_threads: int,
    callback: Callable[[int, int], None] | None,
) -> dict[str, Row]:
    """Hand out the jobs to processes of `n_threads` each; stop those that take too long."""
    workers = [_Worker(ensemble, n_threads) for _ in range(n_workers)]
    free: queue.SimpleQueue[_Worker] = queue.SimpleQueue()
    for worker in workers:
        free.put(worker)

    def attend(job: Job) -> Row:
        worker = free.get()
        try:
            return worker.run(job)
        finally:
            free.put(worker)

    found: dict[str, Row] = {}
    attendants = ThreadPoolExecutor(n_workers)
    try:
        with safe_children():
            futures = {attendants.submit(attend, job): job.name for job in jobs}
            for future in as_completed(futures):
                found[futures[future]] = future.result()
                if callback is not None:
                    callback(len(found), len(jobs))
    finally:
        attendants.shutdown(wait=False, cancel_futures=True)
        for worker in workers:
            worker.close()
    return found


class _Worker:
    """A process that runs one job at a time; a new one is started where it had to be stopped."""

    def __init__(self, ensemble: Ensemble, n_threads: int) -> None:
        self._hello = (os.getpid(), ensemble, n_threads)
        self._executor: Any = None
        self._closed = False
        self._lock = threading.Lock()

    def run(self, job: Job) -> Row:
        """Return what was found before the job was done or stopped."""
        row: Row = {}
        try:
            self._call(None, _nothing)  # the start of a process does not count
            start = time.perf_counter()
            row = self._call(job.time_limit, find_consensus, job)
            spent = time.perf_counter() - start
            left = None if job.time_limit is None else job.time_limit - spent
            return row | self._call(left, measure_stability, job, row, spent)
        except TimeoutError:
            self._stop()
            late = f"stopped at the time limit of {job.time_limit:g} s"
            return row or {"status": "skipped", "reason": late}
        except BrokenProcessPool as error:
            self._stop()
            return row or {"status": "failed", "reason": _why_ended(error)}
        except Exception as error:  # such as what cannot be sent to a process
            return row or {
                "status": "failed",
                "reason": f"{type(error).__name__}: {_first_line(error)}",
            }

    def close(self) -> None:
        """End the process for good."""
        self._closed = True
        self._stop()

    def _call(self, timeout: float | None, step: Callable[..., Row], *args: Any) -> Row:
        from joblib.externals.loky import ProcessPoolExecutor

        with self._lock:
            if self._closed:
                raise RuntimeError("nobody waits for the result any more")
            if self._executor is None:
                self._executor = ProcessPoolExecutor(
                    1, initializer=_start_worker, initargs=self._hello
                )
            future = self._executor.submit(_run_step, step, *args)
        row: Row = future.result(timeout)
        return row

    def _stop(self) -> None:
        with self._lock:
            executor, self._executor = self._executor, None
        if executor is not None:
            executor.shutdown(kill_workers=True)


def _why_ended(error: Exception) -> str:
    if "SIGKILL" in str(error):
        return "its process was ended by the system, most likely for want of memory"
    return f"its process ended unexpectedly: {_first_line(error)}"


class _Given:
    """What a worker was given when it was started."""

    ensemble: Ensemble


def _start_worker(parent: int, ensemble: Ensemble, n_threads: int) -> None:
    import numba
    from threadpoolctl import threadpool_limits

    end_with(parent)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):  # what a library prints must not get between our output
        os.dup2(nowhere, stream)
    numba.set_num_threads(max(1, min(n_threads, numba.get_num_threads())))
    threadpool_limits(n_threads)
    _Given.ensemble = ensemble


def _run_step(step: Callable[..., Row], *args: Any) -> Row:
    return step(_Given.ensemble, *args)


def _nothing(ensemble: Ensemble) -> Row:
    return {}
