"""Fit methods and measure time, memory and stability, here or in processes that can be stopped."""

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
from joblib.externals.loky import ProcessPoolExecutor
from numpy.typing import NDArray
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from coterie._limits import MemoryLimitError, kernel_threads
from coterie._processes import end_with, safe_children
from coterie._progress import track_progress
from coterie.ensemble import Ensemble
from coterie.metrics import ari

__all__ = ["Job", "run_here", "run_in_processes"]

_WARM_UP = 60  # objects on which a method is run first, so that compilation is not timed
_FOR_STABILITY = 0.5  # share of the time limit after which no further halves are fitted
_SAMPLING_INTERVAL = 0.005  # seconds between two looks at the memory in use


@dataclass(frozen=True)
class Job:
    """A method to fit, and how often to fit it to halves of the ensemble."""

    name: str
    estimator: Any
    halves: int
    seed: int
    time_limit: float | None


Row = dict[str, Any]


# --- one method ---------------------------------------------------------------------------------


def find_consensus(ensemble: Ensemble, job: Job) -> Row:
    """Return labels, confidence, time and memory of a method, or why it gave none."""
    _fit_quietly(job.estimator, _few_objects(ensemble))
    estimator = clone(job.estimator)
    with _peak_memory() as peak, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        start = time.perf_counter()
        try:
            estimator.fit(ensemble)
        except (ValueError, TypeError, ImportError, MemoryLimitError) as error:
            return {"status": "refused", "reason": _one_line(error)}
        except MemoryError:
            return {"status": "failed", "reason": "ran out of memory"}
        except Exception as error:
            return {"status": "failed", "reason": f"{type(error).__name__}: {_one_line(error)}"}
        seconds = time.perf_counter() - start
    notes = [_one_line(w.message) for w in caught if issubclass(w.category, UserWarning)]
    return {
        "status": "ok",
        "reason": "",
        "labels": estimator.labels_,
        "confidence": estimator.confidence_,
        "n_clusters": int(estimator.n_clusters_),
        "seconds": seconds,
        "peak_memory": peak(),
        "notes": list(dict.fromkeys(notes)),
    }


def measure_stability(ensemble: Ensemble, job: Job, row: Row, spent: float) -> Row:
    """Return the mean ARI between consensus partitions of random halves of the partitions.

    `row` is the result of `find_consensus`, which took `spent` seconds. No further halves are
    fitted after half the time limit.
    """
    if row["status"] != "ok" or ensemble.n_partitions < 4:
        return {}
    start = time.perf_counter() - spent
    deadline = np.inf if job.time_limit is None else _FOR_STABILITY * job.time_limit
    rng = np.random.default_rng(job.seed)
    scores: list[float] = []
    for _ in range(job.halves):
        if time.perf_counter() - start + row["seconds"] > deadline:
            break
        order = rng.permutation(ensemble.n_partitions)
        halves = np.array_split(order, [len(order) // 2])
        fits = [_fit_quietly(job.estimator, ensemble.select(np.sort(half))) for half in halves]
        if None in fits:
            break
        scores.append(ari(*(fitted.labels_ for fitted in fits)))
    return {"stability": float(np.mean(scores)), "n_halves": len(scores)} if scores else {}


def _few_objects(ensemble: Ensemble) -> Ensemble:
    """Return the ensemble of a few objects spread over all, soft memberships included."""
    rows = np.linspace(0, ensemble.n_objects - 1, _WARM_UP).round().astype(int)
    return restrict_to(ensemble, np.unique(rows))


def restrict_to(ensemble: Ensemble, rows: NDArray[np.int64]) -> Ensemble:
    """Return the ensemble of some objects, soft memberships included; all if these have no label.

    Partitions without any label on these objects are left out.
    """
    labels = ensemble.labels[rows]
    if not (labels >= 0).any():
        return ensemble
    soft = None if ensemble.posteriors is None else [p[rows] for p in ensemble.posteriors]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of partitions without any label on these objects
        return Ensemble(
            labels,
            groups=ensemble.groups,
            validity=ensemble.validity,
            posteriors=soft,
            subspaces=ensemble.subspaces,
            features=None if ensemble.features is None else ensemble.features[rows],
        )


def _fit_quietly(estimator: Any, ensemble: Ensemble) -> Any:
    """Return the fitted estimator; None if it failed."""
    with warnings.catch_warnings(), contextlib.suppress(Exception):
        warnings.simplefilter("ignore")
        return clone(estimator).fit(ensemble)
    return None


def _one_line(error: object) -> str:
    return " ".join(str(error).split())


@contextlib.contextmanager
def _peak_memory() -> Iterator[Callable[[], int | None]]:
    """Yield a function that returns by how many bytes this process has grown at most."""
    start = _resident_bytes()
    largest = start or 0
    done = threading.Event()

    def sample() -> None:
        nonlocal largest
        while not done.wait(_SAMPLING_INTERVAL):
            largest = max(largest, _resident_bytes() or 0)

    if start is None:
        yield lambda: None
        return
    sampler = threading.Thread(target=sample, daemon=True)
    sampler.start()
    try:
        yield lambda: largest - start
    finally:
        done.set()
        sampler.join()


def _resident_bytes() -> int | None:
    """Return the resident memory of this process; None where the system does not tell."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):
        return None


# --- many methods -------------------------------------------------------------------------------


def run_here(jobs: list[Job], ensemble: Ensemble) -> dict[str, Row]:
    """Run the jobs one after the other in this process."""
    found = {}
    with track_progress("methods", len(jobs)) as done:
        for job in jobs:
            start = time.perf_counter()
            row = find_consensus(ensemble, job)
            spent = time.perf_counter() - start
            found[job.name] = row | measure_stability(ensemble, job, row, spent)
            done[0] += 1
    return found


def run_in_processes(
    jobs: list[Job], ensemble: Ensemble, n_workers: int, n_threads: int
) -> dict[str, Row]:
    """Run the jobs in worker processes of `n_threads` each; stop those that take too long."""
    workers = [_Worker(ensemble, n_threads) for _ in range(n_workers)]
    free: queue.SimpleQueue[_Worker] = queue.SimpleQueue()
    for worker in workers:
        free.put(worker)

    def run_on_free_worker(job: Job) -> Row:
        worker = free.get()
        try:
            return worker.run(job)
        finally:
            free.put(worker)

    found: dict[str, Row] = {}
    threads = ThreadPoolExecutor(n_workers)
    try:
        with safe_children(), track_progress("methods", len(jobs)) as done:
            futures = {threads.submit(run_on_free_worker, job): job.name for job in jobs}
            for future in as_completed(futures):
                found[futures[future]] = future.result()
                done[0] += 1
    finally:
        threads.shutdown(wait=False, cancel_futures=True)
        for worker in workers:
            worker.close()
    return found


class _Worker:
    """A pool of one process, replaced by a new one where it had to be stopped."""

    def __init__(self, ensemble: Ensemble, n_threads: int) -> None:
        self._setup = (os.getpid(), ensemble, n_threads)
        self._pool: Any = None
        self._closed = False
        self._lock = threading.Lock()

    def run(self, job: Job) -> Row:
        """Return what was found before the job was done or stopped."""
        row: Row = {}
        try:
            self._call(None, _start)  # the start of a process is not timed
            start = time.perf_counter()
            row = self._call(job.time_limit, find_consensus, job)
            spent = time.perf_counter() - start
            left = None if job.time_limit is None else job.time_limit - spent
            return row | self._call(left, measure_stability, job, row, spent)
        except TimeoutError:
            self._stop()
            reason = f"stopped at the time limit of {job.time_limit:g} s"
            return row or {"status": "skipped", "reason": reason}
        except BrokenProcessPool as error:
            self._stop()
            reason = f"its process ended unexpectedly: {_one_line(error)}"
            if "SIGKILL" in str(error):
                reason = "its process was ended by the system, most likely because memory ran out"
            return row or {"status": "failed", "reason": reason}
        except Exception as error:  # such as what cannot be sent to a process
            reason = f"{type(error).__name__}: {_one_line(error)}"
            return row or {"status": "failed", "reason": reason}

    def close(self) -> None:
        """End the process for good."""
        self._closed = True
        self._stop()

    def _call(self, timeout: float | None, step: Callable[..., Row], *args: Any) -> Row:
        with self._lock:
            if self._closed:
                raise RuntimeError("the comparison was interrupted")
            if self._pool is None:
                self._pool = ProcessPoolExecutor(1, initializer=_initialize, initargs=self._setup)
            future = self._pool.submit(_run_step, step, *args)
        row: Row = future.result(timeout)
        return row

    def _stop(self) -> None:
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(kill_workers=True)


class _Given:
    """What a worker process was given when it was started."""

    ensemble: Ensemble
    n_threads: int


def _initialize(parent: int, ensemble: Ensemble, n_threads: int) -> None:
    """Prepare a worker process."""
    end_with(parent)
    devnull = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):  # what a library prints must not get between our output
        os.dup2(devnull, stream)
    threadpool_limits(n_threads)
    _Given.ensemble, _Given.n_threads = ensemble, n_threads


def _run_step(step: Callable[..., Row], *args: Any) -> Row:
    with kernel_threads(_Given.n_threads):
        return step(_Given.ensemble, *args)


def _start(ensemble: Ensemble) -> Row:
    return {}
