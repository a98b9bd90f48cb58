"""Limits of a computation: memory of arrays over pairs, threads of kernels and of libraries."""

from __future__ import annotations

import math
import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

__all__ = [
    "MemoryLimitError",
    "check_fits",
    "kernel_threads",
    "limit_memory",
    "memory_limit_bytes",
    "one_thread",
]

_ENVIRONMENT = "COTERIE_MEMORY_LIMIT"
_DEFAULT = 2 * 1024**3
_UNITS = {"": 1, "k": 1024, "m": 1024**2, "g": 1024**3, "t": 1024**4}


_in_force: ContextVar[int | None] = ContextVar("coterie_memory_limit", default=None)


class MemoryLimitError(MemoryError, ValueError):
    """An array over pairs of objects would not fit the memory limit.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import Ensemble, MemoryLimitError
    >>> ensemble = Ensemble(np.zeros((1000, 2), dtype=int))
    >>> try:
    ...     ensemble.coassociation(memory_limit="1 MB")
    ... except MemoryLimitError:
    ...     print("too large")
    too large
    """


def memory_limit_bytes(limit: int | float | str | None = None) -> int:
    """Return the limit in bytes: the argument, that of `limit_memory`, the environment, or 2 GiB.

    Parameters
    ----------
    limit : int, str or None
        Bytes, or a size such as ``'500MB'`` or ``'4 GB'`` (powers of 1024).

    Examples
    --------
    >>> memory_limit_bytes("4 GB")
    4294967296
    """
    name = "memory_limit"
    if limit is None:
        limit = _in_force.get()
    if limit is None:
        name = _ENVIRONMENT
        limit = os.environ.get(_ENVIRONMENT) or _DEFAULT
    size: Any = limit
    if isinstance(limit, str):
        match = re.fullmatch(r"\s*([0-9]+\.?[0-9]*)\s*([kmgt]?)i?b?\s*", limit.lower())
        size = float(match[1]) * _UNITS[match[2]] if match else None
    if not isinstance(size, Real) or isinstance(size, bool) or not math.isfinite(size):
        raise ValueError(
            f"{name} must be a number of bytes or a size such as '4GB'; got {limit!r}."
        )
    if size <= 0:
        raise ValueError(f"{name} must be positive; got {limit!r}.")
    return int(float(size))


def check_fits(
    n_bytes: int, what: str, *, limit: int | float | str | None = None, hint: str
) -> None:
    """Raise `MemoryLimitError` if `what` would take more than the limit."""
    allowed = memory_limit_bytes(limit)
    if n_bytes > allowed:
        raise MemoryLimitError(
            f"{what} would take {format_bytes(n_bytes)}, over the memory limit of "
            f"{format_bytes(allowed)}. {hint}, or raise the limit with memory_limit= "
            f"or the environment variable {_ENVIRONMENT} (for example '8GB')."
        )


@contextmanager
def limit_memory(limit: int | float | str | None) -> Iterator[None]:
    """Make this the default memory limit of everything that the calling thread runs inside.

    None leaves the limit as it is.
    """
    token = _in_force.set(_in_force.get() if limit is None else memory_limit_bytes(limit))
    try:
        yield
    finally:
        _in_force.reset(token)


def format_bytes(n_bytes: float) -> str:
    """Return a size for people: 1536 becomes '1.5 kB'."""
    power = 0
    while n_bytes >= 1024 and power < 4:
        n_bytes /= 1024
        power += 1
    unit = ("bytes", "kB", "MB", "GB", "TB")[power]
    return f"{n_bytes:.0f} {unit}" if power == 0 else f"{n_bytes:.1f} {unit}"


@contextmanager
def kernel_threads(n_jobs: int | None) -> Iterator[None]:
    """Run parallel kernels on `n_jobs` threads, then restore the number of threads.

    The setting is that of the calling thread. Results do not depend on it.

    Parameters
    ----------
    n_jobs : int or None
        Number of threads, at most those that numba has; -1 means all of them, -2 all but one,
        None leaves the number as it is.
    """
    if n_jobs is None:
        yield
        return
    if not isinstance(n_jobs, Integral) or isinstance(n_jobs, bool) or n_jobs == 0:
        raise ValueError(
            f"n_jobs must be None, a number of threads or -1 for all of them; got {n_jobs!r}."
        )
    import numba  # half a second: only where kernels run

    from coterie._kernels._jit import threads_are_lost

    if threads_are_lost():
        yield
        return
    available: int = numba.config.NUMBA_NUM_THREADS
    wanted = int(n_jobs) if n_jobs > 0 else available + 1 + int(n_jobs)
    before = numba.get_num_threads()
    numba.set_num_threads(max(1, min(wanted, available)))
    try:
        yield
    finally:
        numba.set_num_threads(before)


class _OneThread:
    """How many computations of this process hold BLAS at one thread, and what restores it."""

    lock = threading.Lock()
    count = 0
    limiter: Any = None


@cache
def _thread_pools(packages: frozenset[str]) -> ThreadpoolController:
    """Return the thread pools of this process, looked up once for each set of packages."""
    import scipy.linalg  # noqa: F401  loads its own BLAS
    import sklearn.cluster
    import sklearn.mixture  # noqa: F401  loads OpenMP
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@contextmanager
def one_thread(packages: frozenset[str] = frozenset()) -> Iterator[None]:
    """Hold BLAS, LAPACK and OpenMP at one thread; also a decorator, ``@one_thread()``.

    Several threads add partial sums in the order in which they finish (scikit-learn's k-means
    does), which changes the last bit from run to run. One thread is no slower here: eigenproblems
    of some thousand rows gain little from two threads, and lose much when other processes are at
    work.

    BLAS counts its threads per process, so the first computation to enter sets the limit and the
    last to leave restores it, whichever threads they are in; OpenMP counts per calling thread.

    Parameters
    ----------
    packages : frozenset of str
        Packages whose compiled code is about to run. Thread pools are looked up again for each
        new set, because a package may have loaded a library of its own.
    """
    pools = _thread_pools(packages)
    with _OneThread.lock:
        if _OneThread.count == 0:
            _OneThread.limiter = pools.limit(limits=1, user_api="blas")
        _OneThread.count += 1
    try:
        with pools.limit(limits=1, user_api="openmp"):
            yield
    finally:
        with _OneThread.lock:
            _OneThread.count -= 1
            if _OneThread.count == 0:
                _OneThread.limiter.restore_original_limits()
                _OneThread.limiter = None
