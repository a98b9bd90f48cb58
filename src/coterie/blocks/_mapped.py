"""Blocks computed from blocks: mapped, kept on disk or on workers, written as Parquet parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from coterie._files import written_whole
from coterie._progress import track_progress
from coterie.blocks._run import delay_blocks, iterate_blocks, quiet_graphs, reduce_blocks
from coterie.blocks._sources import FileState, Source, _npy_rows, read_part
from coterie.blocks._store import PartStore

__all__ = ["BlockColumn", "Results", "Written", "keep_labels", "map_source", "take_rows"]


class Results(NamedTuple):
    """Label and confidence of every row, as a function of blocks."""

    source: Source
    function: Callable[..., tuple[NDArray[np.int64], NDArray[np.float64]]]
    arguments: list[tuple[Any, ...]]
    """Of the function, after the rows, for each block."""

    def column(self, which: int) -> Any:
        """Return labels (0) or confidence (1): a Dask array, or a `BlockColumn`."""
        found = BlockColumn(self, which)
        return found.to_dask() if self.source.is_delayed else found

    def write(self, store: PartStore, ids: Source | None, words: str) -> Written:
        """Write a Parquet file for each block; blocks that are finished are not computed again."""
        numbers = range(len(self.source.parts))
        starts = np.cumsum([0, *self.source.lengths[:-1]]).tolist()
        given = [
            (self.function, store, b, starts[b], ids.parts[b] if ids is not None else None, *extra)
            for b, extra in zip(numbers, self.arguments, strict=True)
        ]
        found: Written = reduce_blocks(
            self.source, _write_part, given, Written.join, words, lazily=True
        )
        return found


class Written(NamedTuple):
    """What was written."""

    n_rows: int
    sizes: NDArray[np.int64]
    confidence: float
    """Sum over objects."""

    @staticmethod
    def join(left: Written, right: Written) -> Written:
        """Add up two parts."""
        sizes = np.zeros(max(len(left.sizes), len(right.sizes)), dtype=np.int64)
        sizes[: len(left.sizes)] += left.sizes
        sizes[: len(right.sizes)] += right.sizes
        return Written(left.n_rows + right.n_rows, sizes, left.confidence + right.confidence)


def _write_part(
    part: Any,
    function: Callable[..., Any],
    store: PartStore,
    number: int,
    start: int,
    ids: Any,
    *arguments: Any,
) -> Written:
    """Write the results of a block, unless they are there, and say what they are."""
    import polars as pl

    path = store.path(number)
    if not store.is_done(number):
        labels, confidence = function(read_part(part), *arguments)
        names = np.arange(start, start + len(labels))
        columns = {"id": names if ids is None else read_part(ids).to_series(0)}
        frame = pl.DataFrame({**columns, "cluster": labels, "confidence": confidence})
        with written_whole(path) as temporary:
            frame.write_parquet(temporary)
        store.finish(number)
    frame = pl.read_parquet(path, columns=["cluster", "confidence"])
    sizes = np.bincount(frame["cluster"].to_numpy())
    return Written(frame.height, sizes, float(frame["confidence"].sum()))


class BlockColumn:
    """Labels or confidence of all rows, computed block by block when they are asked for.

    Parameters
    ----------
    results : Results
    which : {0, 1}
        0 for labels, 1 for confidence.
    """

    def __init__(self, results: Results, which: int) -> None:
        self._results, self._which = results, which
        self.shape = (results.source.n_rows,)
        self.dtype = np.dtype(np.float64 if which else np.int64)

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        what = "confidence" if self._which else "labels"
        n_blocks = len(self._results.source.parts)
        return f"BlockColumn({what} of {len(self)} objects in {n_blocks} blocks)"

    def __iter__(self) -> Iterator[NDArray[Any]]:
        """Yield the values block by block."""
        source, function, arguments = self._results
        given = [(function, self._which, *extra) for extra in arguments]
        yield from iterate_blocks(source, _pick, given, "rows")

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("the values are computed when they are asked for: copy=False cannot")
        return np.concatenate(list(self)).astype(dtype or self.dtype, copy=False)

    def to_dask(self) -> Any:
        """Return a Dask array; nothing is computed yet."""
        import dask.array

        source, function, arguments = self._results
        values = delay_blocks(source, _pick, [(function, self._which, *x) for x in arguments])
        return dask.array.concatenate(
            [
                dask.array.from_delayed(value, (length,), self.dtype)
                for value, length in zip(values, source.lengths, strict=True)
            ]
        )


def _pick(rows: Any, function: Callable[..., Any], which: int, *arguments: Any) -> NDArray[Any]:
    found: NDArray[Any] = function(rows, *arguments)[which]
    return found


def map_source(
    source: Source, function: Callable[[Any, Any], Any], shared: Any, n_columns: int
) -> Source:
    """Return the source of ``function(rows, shared)``; with Dask, `shared` is sent once."""
    if source.on_dask:
        parts = delay_blocks(source, function, [(shared,)] * len(source.parts))
        return source._replace(parts=tuple(parts), n_columns=n_columns, names=None, is_delayed=True)
    parts = [partial(_apply, function, part, shared) for part in source.parts]
    return source._replace(parts=tuple(parts), n_columns=n_columns, names=None)


def _apply(function: Callable[[Any, Any], Any], part: Any, shared: Any) -> Any:
    return function(read_part(part), shared)


def keep_labels(source: Source, store: PartStore | None) -> Source:
    """Keep the label rows of all blocks, so that passes need not compute them again.

    With Dask they stay on the workers; else they are written to `store`, and blocks that are
    there already are not computed again.
    """
    if source.on_dask:
        import dask

        with quiet_graphs():
            return source._replace(parts=tuple(dask.persist(*source.parts)))
    assert store is not None
    parts, files = [], []
    with track_progress("labels of the partitions", source.n_rows) as done:
        for number, (part, length) in enumerate(zip(source.parts, source.lengths, strict=True)):
            path = store.path(number)
            if not store.is_done(number):
                labels = read_part(part)
                with written_whole(path) as temporary, open(temporary, "wb") as file:
                    np.save(file, labels)
                store.finish(number)
            done[0] += length
            state = FileState.of(Path(path))
            files.append(state)
            parts.append(partial(_npy_rows, state, 0, length))
    return source._replace(parts=tuple(parts), files=tuple(files))


def take_rows(
    source: Source, rows: NDArray[np.int64], stack: Callable[[Sequence[Any]], Any]
) -> Any:
    """Return some rows, given in rising order, joined by `stack`."""
    starts = np.cumsum([0, *source.lengths[:-1]]).tolist()
    given = [(start, length, rows) for start, length in zip(starts, source.lengths, strict=True)]
    found = reduce_blocks(source, _some_rows, given, _join_lists, "sample of the rows")
    return stack(found)


def _some_rows(table: Any, start: int, length: int, rows: NDArray[np.int64]) -> list[Any]:
    low, high = np.searchsorted(rows, [start, start + length])
    chosen = rows[low:high] - start
    if len(chosen) == 0:
        return []
    return [table.iloc[chosen] if hasattr(table, "iloc") else table[chosen]]


def _join_lists(left: list[Any], right: list[Any]) -> list[Any]:
    return left + right
