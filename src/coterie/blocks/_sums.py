"""Sums over label rows, and samples of them, of an ensemble or of blocks alike."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie._kernels.views import find_patterns
from coterie.blocks._labels import LabelBlocks, _add, _counted
from coterie.ensemble import Ensemble

__all__ = [
    "SampleRows",
    "draw_objects",
    "draw_sample",
    "fixed_point",
    "reduce_rows",
    "sample_rows",
    "scale_for",
    "sum_rows",
]

_BITS = 62  # of a sum; the sign and one more are left free

View = Ensemble | LabelBlocks


class SampleRows(NamedTuple):
    """Distinct label rows and how many objects have each: of all objects, or of a sample."""

    rows: NDArray[np.int32]
    counts: NDArray[np.int64]
    is_whole: bool


def reduce_rows(
    view: View,
    function: Callable[..., Any],
    combine: Callable[[Any, Any], Any],
    *arguments: Any,
) -> Any:
    """Combine ``function(rows, counts, *arguments)`` over all label rows.

    Parameters
    ----------
    view : Ensemble or LabelBlocks
        An ensemble gives its distinct rows at once, with the number of objects of each.
    function : callable
        Of a module, so that it can be sent to another process.
    combine : callable
        Joins two results; associative, and the same in any order.
    """
    if isinstance(view, LabelBlocks):
        return view.reduce(_counted, combine, function, *arguments)
    rows, counts, _ = view.patterns
    return function(rows, counts, *arguments)


def sum_rows(view: View, function: Callable[..., tuple[Any, ...]], *arguments: Any) -> tuple:
    """Return the sums of ``function(rows, counts, *arguments)``, a tuple of integer arrays."""
    found: tuple[Any, ...] = reduce_rows(view, function, _add, *arguments)
    return found


def scale_for(n_objects: int, largest: float) -> float:
    """Return the power of 2 by which numbers up to `largest` are multiplied in fixed point."""
    bits = math.ceil(math.log2(max(n_objects, 2)))
    return 2.0 ** (_BITS - bits - math.ceil(math.log2(max(largest, 1e-300))))


def fixed_point(values: NDArray[np.float64], scale: float) -> NDArray[np.int64]:
    """Return numbers as integers, so that their sum does not depend on the order."""
    return np.rint(values * scale).astype(np.int64)


def draw_objects(n_objects: int, n_drawn: int, seed: int) -> NDArray[np.int64]:
    """Return objects drawn at random with replacement, in order."""
    return np.sort(np.random.default_rng(seed).integers(0, n_objects, n_drawn))


def draw_sample(n_objects: int, n_drawn: int) -> NDArray[np.int64]:
    """Return objects drawn at random, in rising order; always the same for the same numbers."""
    if n_drawn >= n_objects:
        return np.arange(n_objects)
    return np.sort(np.random.default_rng(0).choice(n_objects, n_drawn, replace=False))


def sample_rows(view: View, most: int, seed: int) -> SampleRows:
    """Return all distinct rows if there are at most `most`, else those of a sample of objects.

    The sample has `most` objects, drawn with replacement. Rows are in the order of their first
    objects.
    """
    if isinstance(view, LabelBlocks):
        distinct = view.distinct_rows(most)
        if distinct is not None:
            return SampleRows(*distinct, True)
        rows = view.take(draw_objects(view.n_objects, most, seed))
    else:
        if len(view.patterns.counts) <= most:
            return SampleRows(view.patterns.labels, view.patterns.counts, True)
        rows = view.labels[draw_objects(view.n_objects, most, seed)]
    first, _, counts = find_patterns(rows)
    return SampleRows(rows[first], counts, False)
