"""How much memory one array of pairs may take, and the error when it would take more."""

from __future__ import annotations

import math
import os
import re
from numbers import Real
from typing import Any

__all__ = ["MemoryLimitError", "check_fits", "memory_limit_bytes"]

_ENVIRONMENT = "COTERIE_MEMORY_LIMIT"
_DEFAULT = 2 * 1024**3
_UNITS = {"": 1, "k": 1024, "m": 1024**2, "g": 1024**3, "t": 1024**4}


class MemoryLimitError(MemoryError, ValueError):
    """An array over pairs of objects would not fit the memory limit."""


def memory_limit_bytes(limit: int | float | str | None = None) -> int:
    """Return the limit in bytes: the argument, else the environment, else 2 GiB.

    Parameters
    ----------
    limit : int, str or None
        Bytes, or a size such as ``'500MB'`` or ``'4 GB'`` (powers of 1024).

    Examples
    --------
    >>> memory_limit_bytes("4 GB")
    4294967296
    """
    name = "memory_limit"
    if limit is None:
        name = _ENVIRONMENT
        limit = os.environ.get(_ENVIRONMENT) or _DEFAULT
    size: Any = limit
    if isinstance(limit, str):
        match = re.fullmatch(r"\s*([0-9]+\.?[0-9]*)\s*([kmgt]?)i?b?\s*", limit.lower())
        size = float(match[1]) * _UNITS[match[2]] if match else None
    if not isinstance(size, Real) or isinstance(size, bool) or not math.isfinite(size):
        raise ValueError(
            f"{name} must be a number of bytes or a size such as '4GB'; got {limit!r}."
        )
    if size <= 0:
        raise ValueError(f"{name} must be positive; got {limit!r}.")
    return int(float(size))


def check_fits(
    n_bytes: int, what: str, *, limit: int | float | str | None = None, hint: str
) -> None:
    """Raise `MemoryLimitError` if `what` would take more than the limit."""
    allowed = memory_limit_bytes(limit)
    if n_bytes > allowed:
        raise MemoryLimitError(
            f"{what} would take {format_bytes(n_bytes)}, over the memory limit of "
            f"{format_bytes(allowed)}. {hint}, or raise the limit with memory_limit= "
            f"or the environment variable {_ENVIRONMENT} (for example '8GB')."
        )


def format_bytes(n_bytes: float) -> str:
    """Return a size for people: 1536 becomes '1.5 kB'."""
    power = 0
    while n_bytes >= 1024 and power < 4:
        n_bytes /= 1024
        power += 1
    unit = ("bytes", "kB", "MB", "GB", "TB")[power]
    return f"{n_bytes:.0f} {unit}" if power == 0 else f"{n_bytes:.1f} {unit}"
