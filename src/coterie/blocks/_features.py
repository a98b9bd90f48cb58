"""Features in blocks: a sample to fit partitions to, and labels of all rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.blocks._mapped import map_source, take_rows
from coterie.blocks._sources import Source
from coterie.blocks._sums import draw_sample

__all__ = ["FEATURE_SAMPLE", "as_matrix", "lazy_rows", "sample_features"]

FEATURE_SAMPLE = 50_000
"""Rows that partitions are fitted to."""


def as_matrix(rows: Any) -> NDArray[np.float64]:
    """Return a block as features; refuse what is not a finite number."""
    matrix = rows.to_numpy() if hasattr(rows, "to_numpy") else rows
    matrix = np.ascontiguousarray(matrix, dtype=np.float64)
    if not np.isfinite(matrix).all():
        raise ValueError("features must be finite numbers; a block has NaN or infinity.")
    return matrix


def sample_features(
    source: Source, stack: Callable[[Sequence[Any]], Any] | None = None
) -> tuple[Any, int]:
    """Return a sample of the rows, always the same for the same table, and its size."""
    n_drawn = min(source.n_rows, FEATURE_SAMPLE)
    rows = draw_sample(source.n_rows, n_drawn)
    return take_rows(source, rows, _stack if stack is None else stack), n_drawn


def _stack(parts: Sequence[Any]) -> NDArray[np.float64]:
    return np.concatenate([as_matrix(part) for part in parts])


def lazy_rows(
    source: Source, function: Callable[[Any, Any], Any], shared: Any, n_columns: int, dtype: Any
) -> Any:
    """Return ``function(rows, shared)`` of all blocks as a Dask array, not computed yet."""
    import dask.array

    mapped = map_source(source, function, shared, n_columns)
    shapes = [(length, n_columns) for length in mapped.lengths]
    return dask.array.concatenate(
        [
            dask.array.from_delayed(part, shape, dtype)
            for part, shape in zip(mapped.parts, shapes, strict=True)
        ]
    )
