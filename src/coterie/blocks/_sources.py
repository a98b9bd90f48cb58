"""Where blocks of a table come from: an array, a memory-mapped file, Parquet files, Dask.

A source has parts, one for each block. A part is a function without arguments that returns the rows
of the block; it can be sent to another process. Parts of a Dask collection are delayed values.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from tokenize import TokenError
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["BlockError", "Source", "array_source", "dask_source", "open_source", "read_part"]

BLOCK_NUMBERS = 1 << 24
"""Numbers in one block; the rows of a block are this over the number of columns."""


class BlockError(ValueError):
    """A block cannot be read, or its file has changed."""


class Source(NamedTuple):
    """A table in blocks of rows."""

    parts: tuple[Any, ...]
    """Functions that return a block, or Dask's delayed blocks."""
    lengths: tuple[int, ...]
    """Number of rows of each block."""
    n_columns: int
    names: tuple[str, ...] | None
    files: tuple[FileState, ...] = ()
    """What the blocks are read from; empty for arrays and Dask."""
    is_delayed: bool = False
    """Whether parts are Dask's delayed values."""
    on_dask: bool = False
    """Whether blocks are computed by Dask, on the client in force."""

    @property
    def n_rows(self) -> int:
        """Number of rows of all blocks."""
        return sum(self.lengths)

    def describe(self) -> dict[str, Any]:
        """Return what must stay the same for a computation to be continued."""
        return {
            "rows": self.n_rows,
            "columns": list(self.names) if self.names else self.n_columns,
            "files": [[Path(f.path).name, f.n_bytes, f.modified] for f in self.files],
        }


class FileState(NamedTuple):
    """A file as it was when it was opened."""

    path: str
    n_bytes: int
    modified: int
    """Time of the last change, in nanoseconds."""

    @classmethod
    def of(cls, path: Path) -> FileState:
        """Look at a file."""
        try:
            found = os.stat(path)
        except OSError as error:
            raise BlockError(f"{path} cannot be read: {error.strerror}.") from error
        return cls(str(path), found.st_size, found.st_mtime_ns)

    def check(self) -> None:
        """Raise BlockError if the file is not what it was."""
        if FileState.of(Path(self.path)) != self:
            raise BlockError(
                f"{self.path} has changed since it was opened, so that its rows may be of two "
                "different tables. Start again without the checkpoint, if there is one."
            )


def open_source(
    path: str | os.PathLike[str],
    *,
    columns: Sequence[str] | None = None,
    block_rows: int | None = None,
) -> Source:
    """Open a table on disk: a .npy file, a .parquet file, or a folder of Parquet files.

    Parameters
    ----------
    path : path
        Files of a folder are taken in the order of their names.
    columns : sequence of str, optional
        The columns to read, of Parquet files. Default: all.
    block_rows : int, optional
        Rows of a block. Default: as many as make 16 million numbers.
    """
    path = Path(path)
    if path.is_dir():
        files = sorted(path.glob("*.parquet"))
        if not files:
            raise BlockError(f"{path} holds no file that ends in .parquet.")
        return _parquet_source(files, columns, block_rows)
    if path.suffix == ".parquet":
        return _parquet_source([path], columns, block_rows)
    if path.suffix == ".npy":
        return _npy_source(path, block_rows)
    raise BlockError(
        f"blocks can be read from a .npy file, a .parquet file or a folder of these; got {path}."
    )


def array_source(table: NDArray[Any], *, block_rows: int | None = None) -> Source:
    """Return the source of an array with two axes; one block if `block_rows` is not given."""
    n, n_columns = table.shape
    step = n if block_rows is None else block_rows
    starts = range(0, n, step)
    return Source(
        tuple(partial(_array_rows, table, start, start + step) for start in starts),
        tuple(min(step, n - start) for start in starts),
        n_columns,
        None,
    )


def dask_source(table: Any) -> Source:
    """Return the source of a Dask array or data frame; blocks are its chunks or partitions."""
    import dask

    if hasattr(table, "to_delayed") and hasattr(table, "columns"):
        names = tuple(map(str, table.columns))
        parts = table.to_delayed()
        lengths = dask.compute(*[dask.delayed(len)(part) for part in parts])
    else:
        if table.ndim != 2:
            raise ValueError(
                "a Dask array must have two axes, a row per object and a column per partition; "
                f"got shape {table.shape}."
            )
        names = None
        table = table.rechunk({1: -1})
        parts = table.to_delayed().ravel().tolist()
        lengths = table.chunks[0]
        if any(length != length for length in lengths):  # NaN: not known
            lengths = dask.compute(*[dask.delayed(len)(part) for part in parts])
    kept = [i for i, length in enumerate(lengths) if length > 0]
    return Source(
        tuple(parts[i] for i in kept),
        tuple(int(lengths[i]) for i in kept),
        len(names) if names is not None else int(table.shape[1]),
        names,
        is_delayed=True,
        on_dask=True,
    )


def read_part(part: Any) -> Any:
    """Return the rows of a block: an array, or a data frame."""
    return part() if isinstance(part, partial) else part


def _rows_of_block(n_columns: int, block_rows: int | None) -> int:
    return block_rows or max(1024, BLOCK_NUMBERS // max(n_columns, 1))


def _npy_source(path: Path, block_rows: int | None) -> Source:
    state = FileState.of(path)
    table = _map_npy(str(path))
    if table.ndim != 2:
        raise BlockError(f"{path} must hold an array with two axes; its shape is {table.shape}.")
    if len(table) == 0:
        raise BlockError(f"{path} holds no rows.")
    step = _rows_of_block(table.shape[1], block_rows)
    starts = range(0, len(table), step)
    return Source(
        tuple(partial(_npy_rows, state, start, start + step) for start in starts),
        tuple(min(step, len(table) - start) for start in starts),
        table.shape[1],
        None,
        (state,),
    )


def _parquet_source(
    files: Sequence[Path], columns: Sequence[str] | None, block_rows: int | None
) -> Source:
    import polars as pl

    states, parts, lengths = [], [], []
    names: list[str] | None = None
    for file in files:
        state = FileState.of(file)
        try:
            scan = pl.scan_parquet(file, glob=False)
            found = scan.collect_schema().names()
            n_rows = int(scan.select(pl.len()).collect().item())
        except (OSError, pl.exceptions.PolarsError) as error:
            raise BlockError(f"{file} cannot be read as Parquet: {_first_line(error)}") from error
        if names is None:
            names = found
        elif found != names:
            raise BlockError(
                f"{file} must have the columns of {files[0]}, in the same order; it has "
                f"{', '.join(found[:8])}."
            )
        states.append(state)
        wanted = list(columns) if columns is not None else names
        unknown = [name for name in wanted if name not in names]
        if unknown:
            raise BlockError(f"{file} has no column {unknown[0]!r}; it has {', '.join(names[:8])}.")
        step = _rows_of_block(len(wanted), block_rows)
        for start in range(0, n_rows, step):
            n_block = min(step, n_rows - start)
            parts.append(partial(_parquet_rows, state, tuple(wanted), start, n_block))
            lengths.append(n_block)
    if not parts:
        raise BlockError(f"{files[0].parent} holds no rows.")
    used = tuple(columns) if columns is not None else tuple(names or ())
    return Source(tuple(parts), tuple(lengths), len(used), used, tuple(states))


def _array_rows(table: NDArray[Any], start: int, stop: int) -> NDArray[Any]:
    return table[start:stop]


def _npy_rows(state: FileState, start: int, stop: int) -> NDArray[Any]:
    state.check()
    try:
        return np.array(_map_npy(state.path)[start:stop])
    except (OSError, ValueError) as error:
        raise BlockError(f"{state.path} cannot be read: {_first_line(error)}") from error


def _parquet_rows(state: FileState, columns: tuple[str, ...], start: int, n_rows: int) -> Any:
    import polars as pl

    state.check()
    try:
        scan = pl.scan_parquet(state.path, glob=False)
        return scan.select(columns).slice(start, n_rows).collect()
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise BlockError(
            f"rows {start} to {start + n_rows} of {state.path} cannot be read: {_first_line(error)}"
        ) from error


def _map_npy(path: str) -> NDArray[Any]:
    try:
        table: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError, SyntaxError, TokenError) as error:
        raise BlockError(f"{path} cannot be read as .npy: {_first_line(error)}") from error
    return table


def _first_line(error: BaseException) -> str:
    lines = str(error).splitlines()
    return f"{lines[0] if lines else type(error).__name__}."
