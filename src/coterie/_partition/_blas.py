"""One thread for linear algebra, where more would change the last digits or take longer."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from threadpoolctl import ThreadpoolController

__all__ = ["one_blas_thread"]

P = ParamSpec("P")
T = TypeVar("T")


@functools.cache
def _controller() -> ThreadpoolController:
    # Finding the libraries takes longer than many a small problem, so it is done once.
    import scipy.linalg  # noqa: F401  brings its own library

    return ThreadpoolController()


def one_blas_thread(function: Callable[P, T]) -> Callable[P, T]:
    """Return the function with BLAS and LAPACK on one thread while it runs.

    Sums then come out the same on every number of threads, so that ties stay ties. It is no
    slower: eigenproblems of some thousand rows gain little from two threads, and lose much when
    other processes are at work (measured: 0.2 s against 5 s for 1,256 rows on two busy cores).
    """

    @functools.wraps(function)
    def limited(*args: P.args, **kwargs: P.kwargs) -> T:
        with _controller().limit(limits=1, user_api="blas"):
            return function(*args, **kwargs)

    return limited
