"""Label matrices of every shape, type and container, most of them unkind."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
from numpy.typing import NDArray

__all__ = ["Votes", "draw_votes"]

MISSING = -1


class Votes(NamedTuple):
    """A label matrix and the same in some container."""

    labels: NDArray[np.int64]
    """(n, L), -1 is missing."""
    given: Any
    """What is given to coterie."""


def draw_votes(rng: np.random.Generator, *, most_objects: int = 80) -> Votes:
    """Draw a label matrix in which no column is missing as a whole."""
    n = int(rng.choice([1, 2, 3, rng.integers(4, 13), rng.integers(13, most_objects + 1)]))
    n_partitions = int(rng.choice([1, 2, 3, rng.integers(4, 20)]))
    truth = rng.integers(0, int(rng.integers(1, 6)), n)
    labels = np.column_stack([_column(rng, n, truth) for _ in range(n_partitions)])
    if rng.random() < 0.3:  # twins
        labels = labels[rng.integers(0, n, n)]
    if rng.random() < 0.2:  # the same partition again, in other words
        labels[:, -1] = labels[:, 0] * 3 + 1
    if rng.random() < 0.5:
        labels[rng.random(labels.shape) < rng.choice([0.05, 0.3, 0.9])] = MISSING
    if rng.random() < 0.1:
        labels[rng.integers(0, n)] = MISSING
    empty = (labels == MISSING).all(axis=0)
    labels[0, empty] = 0
    return Votes(labels, _in_container(rng, labels))


def _column(rng: np.random.Generator, n: int, truth: NDArray[np.int64]) -> NDArray[np.int64]:
    kind = rng.choice(["noisy", "noisy", "random", "constant", "singletons", "sizes"])
    if kind == "noisy":
        drawn = rng.integers(0, truth.max() + 1, n)
        return np.where(rng.random(n) < rng.choice([0.0, 0.1, 0.5]), drawn, truth)
    if kind == "random":
        return rng.integers(0, int(rng.integers(1, n + 1)), n)
    if kind == "constant":
        return np.full(n, rng.integers(0, 5))
    if kind == "singletons":
        return rng.permutation(n)
    return np.minimum(rng.geometric(0.4, n), n) - 1


def _in_container(rng: np.random.Generator, labels: NDArray[np.int64]) -> Any:
    """Return the matrix as some kind of array, list or frame."""
    makers = [_plain, _other_dtype, _floats, _text, _columns, _pandas, _polars, _strided]
    return makers[rng.integers(len(makers))](rng, labels)


def _plain(rng: np.random.Generator, labels: NDArray[np.int64]) -> Any:
    return labels.copy()


def _other_dtype(rng: np.random.Generator, labels: NDArray[np.int64]) -> Any:
    dtype = rng.choice(["int8", "int16", "int32", ">i4", ">i8", "int64"])
    array = labels.astype(dtype)
    array.flags.writeable = bool(rng.random() < 0.5)
    return array


def _floats(rng: np.random.Generator, labels: NDArray[np.int64]) -> Any:
    array = labels.astype(rng.choice(["float32", "float64"]))
    array[labels == MISSING] = np.nan
    return array


def _text(rng: np.random.Generator, labels: NDArray[np.int64]) -> Any:
    names = np.array(["", "a", "ä", "x,y", 'q"', " ", "=1", "01", "1", "\u202e", "None"])
    array = np.empty(labels.shape, dtype=object)
    array[:] = names[labels % len(names)] + (labels // len(names)).astype(str)
    array[labels == MISSING] = None
    return array


def _columns(rng: np.random.Generator, labels: NDArray[np.int64]) -> Any:
    return [column.copy() for column in labels.T]


def _pandas(rng: np.random.Generator, labels: NDArray[np.int64]) -> Any:
    frame = pd.DataFrame(labels, columns=[f"c{e}" for e in range(labels.shape[1])])
    frame = frame.astype("Int64").mask(labels == MISSING)
    return frame.astype("category") if rng.random() < 0.3 else frame


def _polars(rng: np.random.Generator, labels: NDArray[np.int64]) -> Any:
    cells = labels.astype(object)
    cells[labels == MISSING] = None
    return pl.DataFrame({f"c{e}": column.tolist() for e, column in enumerate(cells.T)})


def _strided(rng: np.random.Generator, labels: NDArray[np.int64]) -> Any:
    room = np.zeros((2 * len(labels), 3 * labels.shape[1]), dtype=np.int64, order="F")
    room[::2, ::3] = labels
    return room[::2, ::3]
