"""Parallel calls with any backend of joblib."""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Callable, Generator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from typing import Any

import joblib
from sklearn.utils.parallel import Parallel, delayed

from coterie._processes import end_with, safe_children

__all__ = ["run_unordered"]

_ATTEMPTS = 3  # how often lost calls are run


def run_unordered(
    function: Callable[..., Any],
    arguments: Sequence[tuple[Any, ...]],
    *,
    n_jobs: int | None,
    one_by_one: bool,
) -> Generator[Any, None, None]:
    """Call a function with each of the arguments; yield the results as they arrive.

    Calls that are lost because the system killed a worker are run again.

    Parameters
    ----------
    function : callable
        What to call.
    arguments : sequence of tuple
        Its arguments, one tuple for each call.
    n_jobs : int or None
        As in joblib.
    one_by_one : bool
        Whether each result is needed as soon as it is computed. Otherwise joblib may send short
        calls in batches, which is faster.
    """
    waiting = dict(enumerate(arguments))
    for _ in range(_ATTEMPTS):
        if not waiting:
            return
        tasks = [delayed(_run_task)(index, function, given) for index, given in waiting.items()]
        with (
            safe_children(),
            contextlib.suppress(BrokenProcessPool),
            closing(_as_completed(tasks, n_jobs=n_jobs, one_by_one=one_by_one)) as results,
        ):
            for index, result in results:
                del waiting[index]
                yield result
    if waiting:
        raise ChildProcessError(
            f"worker processes were killed {_ATTEMPTS} times, most likely because memory ran out; "
            f"{len(waiting)} of {len(arguments)} tasks are not done. Use fewer jobs at a time."
        )


def _run_task(index: int, function: Callable[..., Any], given: tuple[Any, ...]) -> tuple[int, Any]:
    return index, function(*given)


def _as_completed(
    tasks: Sequence[Any], *, n_jobs: int | None, one_by_one: bool
) -> Generator[Any, None, None]:
    """Yield the results of delayed calls as they are completed, with any backend of joblib."""
    options: dict[str, Any] = {"n_jobs": n_jobs, "batch_size": 1 if one_by_one else "auto"}
    options |= {"initializer": end_with, "initargs": (os.getpid(),)}
    try:
        parallel = Parallel(return_as="generator_unordered", **options)
    except ValueError as error:
        if "return_as" not in str(error):
            raise
    else:
        results = parallel(tasks)
        try:
            for result in results:  # noqa: UP028  # yield from would close them with a warning
                yield result
        finally:
            with warnings.catch_warnings():
                # joblib advises whoever stops early to plan less work; stopping early is an
                # interruption here.
                warnings.simplefilter("ignore")
                results.close()
        return
    # multiprocessing and ray return lists only: short ones, so that results arrive in between.
    width = max(1, joblib.effective_n_jobs(n_jobs))
    with Parallel(**options) as parallel:
        for start in range(0, len(tasks), width):
            yield from parallel(tasks[start : start + width])
