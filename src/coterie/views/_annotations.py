"""Known facts about the objects, shown beside them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["annotation_codes"]


def annotation_codes(
    annotations: Mapping[str, ArrayLike] | None, n_objects: int
) -> dict[str, tuple[NDArray[np.float64], list[str] | None]]:
    """Return the values of each annotation, and the names of its classes; None for numbers.

    Text, truth values and integers of at most ten values are classes, in sorted order; missing
    values are NaN.
    """
    found: dict[str, tuple[NDArray[np.float64], list[str] | None]] = {}
    for name, values in (annotations or {}).items():
        column = np.asarray(values, dtype=object)
        if column.shape != (n_objects,):
            raise ValueError(
                f"annotations must have one value for each of the {n_objects} objects; "
                f"{name!r} has shape {column.shape}."
            )
        missing = np.array([v is None or v != v or v == "" for v in column])
        known = column[~missing]
        numbers = _as_numbers(known)
        codes = np.full(n_objects, np.nan)
        if numbers is not None and (len(set(known)) > 10 or (numbers % 1 != 0).any()):
            codes[~missing] = numbers
            found[str(name)] = codes, None
            continue
        classes = sorted(set(known.tolist()), key=lambda v: (str(type(v)), v))
        codes[~missing] = [classes.index(v) for v in known]
        found[str(name)] = codes, [f"{c:g}" if isinstance(c, float) else str(c) for c in classes]
    return found


def _as_numbers(values: NDArray[Any]) -> NDArray[np.float64] | None:
    if any(isinstance(v, str | bool | np.bool_) for v in values):
        return None
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError):
        return None
