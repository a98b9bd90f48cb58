"""A criterion over the number of clusters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

__all__ = ["ClusterNumberCurve"]


class ClusterNumberCurve(Mapping[int, float]):
    """A value for each number of clusters, from a first number on.

    Attributes
    ----------
    name : str
        What the value is.
    larger_is_better : bool
        Direction: whether the best number of clusters has the largest value, or the smallest.
    numbers, array : ndarray
        The numbers of clusters and their values.

    Examples
    --------
    >>> curve = ClusterNumberCurve("lifetime", 2, [0.1, 0.5, 0.2], larger_is_better=True)
    >>> curve[3], curve.best, list(curve)
    (0.5, 3, [2, 3, 4])
    """

    def __init__(
        self, name: str, first: int, values: NDArray[np.float64], *, larger_is_better: bool
    ) -> None:
        self.name = name
        self.first = first
        self.array: NDArray[np.float64] = np.asarray(values, dtype=np.float64)
        self.larger_is_better = larger_is_better

    @property
    def numbers(self) -> NDArray[np.int64]:
        """The numbers of clusters."""
        return np.arange(self.first, self.first + len(self.array))

    @property
    def best(self) -> int:
        """The number of clusters with the best value, the smallest of equal ones."""
        choose = np.argmax if self.larger_is_better else np.argmin
        return self.first + int(choose(self.array))

    def __getitem__(self, n_clusters: int) -> float:
        if not self.first <= n_clusters < self.first + len(self.array):
            raise KeyError(n_clusters)
        return float(self.array[n_clusters - self.first])

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.first, self.first + len(self.array)))

    def __len__(self) -> int:
        return len(self.array)

    def __repr__(self) -> str:
        last = self.first + len(self.array) - 1
        best = "largest" if self.larger_is_better else "smallest"
        return f"<{self.name} of {self.first} to {last} clusters, {best} is best>"

    def extended(self, n_more: int, value: float) -> ClusterNumberCurve:
        """Return the curve with one value for more numbers of clusters."""
        values = np.concatenate([self.array, np.full(n_more, value)])
        return ClusterNumberCurve(
            self.name, self.first, values, larger_is_better=self.larger_is_better
        )
