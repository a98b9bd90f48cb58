"""Reading one column of a frame: numbers, dates or text."""

from __future__ import annotations

import math
import re
from datetime import UTC, date, datetime, time, timedelta
from numbers import Real
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from coterie._reading import MISSING_WORDS

__all__ = ["Cells", "check_finite", "level_name", "parse_cell", "read_cells"]

_DATE_FORMATS = ("iso", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y")
_DATE_START = re.compile(r"\d{4}-\d{2}-\d{2}|\d{1,2}[./]\d{1,2}[./]\d{4}")
_CODE = re.compile(r"[+-]?0\d")  # '01234' is a code, not a number
_SHORT = 1_000  # rows up to which Python reads text as fast as the frame's library
_DAY = timedelta(days=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Cells(NamedTuple):
    """The cells of one column."""

    kind: str
    """'number', 'date' (days since 1970), 'text', or 'other' for what cannot be compared."""
    values: Any
    """Float64 array with NaN where missing; for text, a list with None where missing."""
    date_format: str | None = None
    """How dates were written, if they were text."""


def read_cells(
    series: nw.Series[Any], *, as_text: bool = False, date_format: str | None = None
) -> Cells:
    """Return the cells of a column.

    `as_text` leaves text as it is, though it may read as numbers or dates; `date_format`, if
    given, is the only one that is tried.
    """
    dtype = series.dtype
    is_text = dtype == nw.String or dtype == nw.Categorical or dtype == nw.Enum
    if is_text and as_text:
        return Cells("text", [_clean(value) for value in series.to_list()])
    if dtype.is_numeric():
        return Cells("number", _floats(series))
    if dtype == nw.Date or dtype == nw.Datetime:
        return Cells("date", _in_days(series.to_numpy(), "datetime64[us]"))
    if dtype == nw.Duration:
        return Cells("number", _in_days(series.to_numpy(), "timedelta64[us]"))
    if dtype == nw.String and len(series) > _SHORT:
        numbers = _cast_text(series)
        if numbers is not None:
            return Cells("number", numbers)
    if is_text:
        return _read_text(series.to_list(), date_format)
    return _read_objects(series.to_list(), date_format)


def level_name(value: Any) -> str:
    """Return the name of a category: 1, 1.0 and '1' are the same."""
    if isinstance(value, float | np.floating) and value.is_integer():
        return str(int(value))
    return str(value)


def parse_cell(value: str | None, kind: str, date_format: str | None) -> float:
    """Return a number, or the days of a date, that is written as text."""
    if value is None:
        return math.nan
    if kind == "number":
        return float(value)
    form = date_format or "iso"
    moment = datetime.fromisoformat(value) if form == "iso" else datetime.strptime(value, form)
    return _day_number(moment)


def check_finite(values: NDArray[np.floating[Any]], name: str) -> None:
    """Raise ValueError if a column holds an infinite value."""
    infinite = np.isinf(values)
    if infinite.any():
        row = int(np.argmax(infinite))
        raise ValueError(
            f"numbers must be finite; column {name!r} holds {values[row]} in row {row} (counted "
            "from 0). Correct the cell, mark it as missing, or leave the column out."
        )


# --- kinds of columns -----------------------------------------------------------------------------


def _floats(series: nw.Series[Any]) -> NDArray[np.float64]:
    return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)


def _in_days(values: NDArray[Any], unit: str) -> NDArray[np.float64]:
    values = values.astype(unit)
    days = values.astype(np.int64) / 86_400e6
    days[np.isnat(values)] = np.nan
    return days


def _cast_text(series: nw.Series[Any]) -> NDArray[np.float64] | None:
    """Return text as numbers if the frame's own library can read all of it, else None."""
    try:
        numbers = _floats(series.str.strip_chars())
    except Exception:  # each library of frames raises errors of its own
        return None
    if np.isnan(numbers).all() or series.str.contains(r"^\s*[+-]?0\d").any():
        return None
    return numbers


def _read_text(values: list[Any], date_format: str | None) -> Cells:
    text = [_clean(value) for value in values]
    present = [value for value in text if value is not None]
    if not present:
        return Cells("text", text)
    numbers = _numbers_of(text)
    if numbers is not None:
        return Cells("number", numbers)
    if _DATE_START.match(present[0]):
        for form in _DATE_FORMATS if date_format is None else (date_format,):
            days = _days_of(text, form)
            if days is not None:
                return Cells("date", days, form)
    return Cells("text", text)


def _read_objects(values: list[Any], date_format: str | None) -> Cells:
    """Read a column of Python objects, of one type or mixed."""
    values = [None if _is_missing(value) else value for value in values]
    present = [value for value in values if value is not None]
    kinds = {type(value) for value in present}
    if any(issubclass(kind, complex | np.complexfloating) for kind in kinds):
        raise ValueError("Complex data not supported: columns must hold real numbers or text.")
    if any(issubclass(kind, list | dict | tuple | set | bytes | np.ndarray) for kind in kinds):
        return Cells("other", values)
    if kinds and all(issubclass(kind, bool | np.bool_) for kind in kinds):
        return Cells("text", [None if value is None else str(bool(value)) for value in values])
    if kinds and all(issubclass(kind, date) for kind in kinds):
        return Cells("date", np.array([_day_number(value) for value in values]))
    if kinds and all(issubclass(kind, timedelta) for kind in kinds):
        days = [math.nan if value is None else value / _DAY for value in values]
        return Cells("number", np.array(days))
    if kinds and all(issubclass(kind, time) for kind in kinds):
        hours = [
            math.nan if v is None else v.hour + v.minute / 60 + v.second / 3600 for v in values
        ]
        return Cells("number", np.array(hours))
    return _read_text(
        [None if value is None else level_name(value) for value in values], date_format
    )


# --- single cells ---------------------------------------------------------------------------------


def _is_missing(value: Any) -> bool:
    """Whether a cell is None, NaN, NaT or pandas' NA."""
    if value is None or type(value).__name__ in ("NaTType", "NAType"):
        return True
    return isinstance(value, Real) and math.isnan(value)


def _clean(value: Any) -> str | None:
    if not isinstance(value, str) and _is_missing(value):
        return None
    text = str(value).strip()
    return None if text in MISSING_WORDS else text


def _numbers_of(text: list[str | None]) -> NDArray[np.float64] | None:
    try:
        numbers = [math.nan if value is None else float(value) for value in text]
    except ValueError:
        return None
    if any(value is not None and _CODE.match(value) for value in text):
        return None
    return np.array(numbers)


def _day_number(value: date | datetime | None) -> float:
    if value is None:
        return math.nan
    if not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    return (value.replace(tzinfo=value.tzinfo or UTC) - _EPOCH) / _DAY


def _days_of(text: list[str | None], form: str) -> NDArray[np.float64] | None:
    days = {}
    try:
        for value in set(text):
            days[value] = parse_cell(value, "date", form)
    except ValueError:
        return None
    return np.array([days[value] for value in text])
