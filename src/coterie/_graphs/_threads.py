"""One thread for linear algebra and k-means, so that sums come out the same on every machine."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from threadpoolctl import ThreadpoolController

__all__ = ["one_thread"]

P = ParamSpec("P")
T = TypeVar("T")


@functools.cache
def _controller() -> ThreadpoolController:
    # Finding the libraries takes longer than many small problems, so it is done once.
    import scipy.linalg  # noqa: F401  loads its own BLAS
    import sklearn.cluster  # noqa: F401  loads OpenMP

    return ThreadpoolController()


def one_thread(function: Callable[P, T]) -> Callable[P, T]:
    """Return the function with BLAS, LAPACK and OpenMP on one thread while it runs.

    BLAS and scikit-learn's k-means add up in an order that depends on the number of threads. One
    thread is no slower here: eigenproblems of some thousand rows gain little from two threads, and
    lose much when other processes are at work.
    """

    @functools.wraps(function)
    def limited(*args: P.args, **kwargs: P.kwargs) -> T:
        with _controller().limit(limits=1):
            return function(*args, **kwargs)

    return limited
