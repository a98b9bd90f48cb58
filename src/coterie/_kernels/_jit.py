"""The one place where numba's flags are set, and where its threads are kept apart."""

import functools
import os
import threading
from collections.abc import Callable
from typing import Any

import numba
from numba import prange

from coterie._kernels._cache import cache_directory

__all__ = ["njit", "parallel_njit", "prange", "threads_are_lost"]

_CACHE = cache_directory()


def _compiled(function: Callable[..., Any], variant: str, **flags: Any) -> Any:
    """Return numba's version of a function, kept in the directory of the variant.

    `error_model='numpy'`: a division needs no branch for a zero denominator. No fastmath: sums
    must come out the same on every machine, because ties are decided by comparing them.
    """
    flags |= {"nogil": True, "error_model": "numpy"}
    if _CACHE is None:
        return numba.njit(**flags)(function)
    config: Any = numba.config
    before = config.CACHE_DIR
    config.CACHE_DIR = str(_CACHE / variant)  # read when a function is decorated
    try:
        return numba.njit(cache=True, **flags)(function)
    finally:
        config.CACHE_DIR = before


def njit(function: Callable[..., Any]) -> Any:
    """Compile a kernel; other kernels may call it."""
    return _compiled(function, "kernels")


class _Threads:
    """Whether numba's threads can be used in this process, and who uses them."""

    lock = threading.Lock()
    lost = False


def _after_fork() -> None:
    _Threads.lock = threading.Lock()
    try:
        numba.threading_layer()
    except ValueError:  # none were started yet
        return
    _Threads.lost = True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def threads_are_lost() -> bool:
    """Return whether this process was forked after numba had started its threads."""
    return _Threads.lost


def parallel_njit(function: Callable[..., Any]) -> Any:
    """Compile a kernel that runs on all threads; only Python may call it.

    Every parallel kernel writes each output cell from one iteration only (or counts in integers),
    so that its result does not depend on the number of threads.

    Not every threading layer of numba can be entered from two Python threads at once, and some
    end a process that was forked after they had started. So one parallel kernel runs at a time
    (it has all processors anyway), and a forked process gets the kernel without threads.
    """
    parallel = _compiled(function, "kernels", parallel=True)
    serial = functools.cache(lambda: _compiled(function, "serial"))

    @functools.wraps(function)
    def kernel(*args: Any) -> Any:
        if _Threads.lost:
            return serial()(*args)
        with _Threads.lock:
            return parallel(*args)

    return kernel
