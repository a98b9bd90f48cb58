"""One column: what it is, and how its cells become numbers of comparable weight.

A standardised number has an expected squared difference of 2 between two random rows. Every other
column is scaled to the same figure.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.preparation._cells import Cells, check_finite, level_name, parse_cell

__all__ = ["Column", "fit_column"]

NEARLY_EMPTY = 0.9
"""A column with a larger share of missing cells is left out."""
NEARLY_CONSTANT = 0.9
"""A flag or category whose largest level has a larger share is scaled as if it had this one."""
HEAVY_TAILS = 2.0
"""Tails are heavy if the standard deviation exceeds this many times the one of the quartiles,"""
HEAVY_KURTOSIS = 6.0
"""and the kurtosis exceeds that of the Laplace distribution."""
RARE_LEVEL = 0.01
"""Levels with a smaller share, or of one row only, are grouped."""
MOST_LEVELS = 30
"""Of more levels, the rarest are grouped."""
FEWEST_NUMBERED = 20
"""With fewer rows, consecutive integers are no sign of an identifier."""

LARGEST = 1e100
"""Larger numbers are refused: their squares would leave the range of floats."""
SMALLEST = 1e-12
"""Numbers that differ by less, relative to their size, are the same."""

_QUARTILES = 1.349  # interquartile range of the standard normal distribution
CATEGORY_VARIANCE = 1 / 8
"""Variance of an encoded category; that of a scaled number is 1.

Levels are discrete: with the weight of a number a single category would cut the data into clusters
of its own. This is about the weight of k-prototypes (Huang, 1998), half a standard deviation for
two levels that differ.
"""
_LOWEST_VARIANCE = NEARLY_CONSTANT * (1 - NEARLY_CONSTANT)
_ID_NAME = re.compile(
    r"(|index|row|row[ _]?(nr|no|num|number)|unnamed: ?0|(.*[ _.-])?(id|ids|uuid|guid))",
    re.IGNORECASE,
)
_ID_CAMEL = re.compile(r"[a-z](Id|ID|Ids|IDs)$")


_UNKNOWN = -1


@dataclass
class Column:
    """What a column is, and how its cells become features.

    Examples
    --------
    >>> import polars as pl
    >>> from coterie import TablePreparation
    >>> people = pl.DataFrame({"age": [25, 32, 51, 40], "plan": ["a", "b", "b", "a"]})
    >>> age, plan = TablePreparation().fit(people).columns_
    >>> plan.kind, plan.names_out()
    ('category', ['plan=b'])
    """

    name: str
    kind: str
    """'number', 'category', 'date', 'identifier', 'constant', 'empty' or 'text'."""
    treatment: str
    """What was done, in words."""
    n_missing: int = 0
    """Missing cells of the table that was fitted."""
    fill: float = field(default=0.0, repr=False)
    """Number that stands for a missing cell."""
    shape: str = field(default="plain", repr=False)
    """'plain', 'asinh' or 'log': the curve that a number is put through."""
    center: float = field(default=0.0, repr=False)
    spread: float = field(default=1.0, repr=False)
    """For 'asinh': the median, and the standard deviation that the quartiles suggest."""
    mean: float = field(default=0.0, repr=False)
    deviation: float = field(default=1.0, repr=False)
    """What is subtracted after the curve, and what the rest is divided by."""
    levels: list[str | None] = field(default_factory=list, repr=False)
    """Levels with a place of their own; None is 'missing'."""
    has_other: bool = field(default=False, repr=False)
    """Whether the last place is for all other levels."""
    shares: list[float] = field(default_factory=list, repr=False)
    """Share of the rows at each place."""
    weight: float = field(default=1.0, repr=False)
    """Factor of the 0/1 columns of a category."""
    date_format: str | None = field(default=None, repr=False)
    """How dates were written, if they were text."""

    @property
    def n_out(self) -> int:
        """Number of features that the column becomes."""
        if self.kind == "category":
            return 1 if len(self.shares) == 2 else len(self.shares)
        return int(self.kind in ("number", "date"))

    @property
    def is_used(self) -> bool:
        """Whether the column is among the features."""
        return self.n_out > 0

    def names_out(self) -> list[str]:
        """Return the names of the features that the column becomes."""
        if self.kind != "category":
            return [self.name] * self.n_out
        places = ["(missing)" if level is None else level for level in self.levels]
        places += ["(other)"] * self.has_other
        return [f"{self.name}={place}" for place in places[len(places) - self.n_out :]]

    def numbers(self, cells: Cells) -> NDArray[np.float64]:
        """Return the cells of a 'number' or 'date' column, missing ones filled."""
        values = cells.values
        if cells.kind != self.kind:
            values = self._as_fitted(cells)
        check_finite(values, self.name)
        missing = np.isnan(values)
        return np.where(missing, self.fill, values) if missing.any() else values

    def _as_fitted(self, cells: Cells) -> NDArray[np.float64]:
        """Read text as the numbers or dates that the column held; raise ValueError if it is not."""
        words = "numbers" if self.kind == "number" else "dates"
        held = f"column {self.name!r} held {words} when the table was fitted"
        if cells.kind != "text":
            raise ValueError(f"{held}; now it holds cells of another kind ({cells.kind}).")
        numbers = np.empty(len(cells.values))
        for row, value in enumerate(cells.values):
            try:
                numbers[row] = parse_cell(value, self.kind, self.date_format)
            except ValueError:
                raise ValueError(f"{held}; got {value!r} in row {row} (counted from 0).") from None
        return numbers

    def write(self, cells: Cells, out: NDArray[Any]) -> None:
        """Write the features of the column into `out`, shape (n, `n_out`)."""
        if self.kind == "category":
            self._write_levels(cells, out)
        else:
            out[:, 0] = (self._curve(self.numbers(cells)) - self.mean) / self.deviation

    def _curve(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.shape == "asinh":
            return np.arcsinh((values - self.center) / self.spread)
        if self.shape == "log":
            return np.log1p(np.maximum(values, 0))
        return values

    def indicators(self, cells: Cells) -> tuple[NDArray[np.float64], list[str]]:
        """Return (n, levels) of 0 and 1, and the names of the levels."""
        codes = self._level_codes(cells)
        places = ["(missing)" if level is None else level for level in self.levels]
        places += ["(other)"] * self.has_other
        shares = (codes[:, None] == np.arange(len(places))).astype(np.float64)
        return shares, [f"{self.name} = {place}" for place in places]

    def _level_codes(self, cells: Cells) -> NDArray[np.intp]:
        """Return the position of each cell's level; -1 for a level that was not fitted."""
        place = {level: i for i, level in enumerate(self.levels)}
        elsewhere = len(self.levels) if self.has_other else _UNKNOWN
        values = _level_names(cells)
        return np.fromiter((place.get(value, elsewhere) for value in values), np.intp, len(values))

    def _write_levels(self, cells: Cells, out: NDArray[Any]) -> None:
        codes = self._level_codes(cells)
        for i in range(self.n_out):
            at = i + len(self.shares) - self.n_out
            out[:, i] = ((codes == at) - self.shares[at]) * self.weight
        if self.n_out == 1:  # neither of the two levels: the middle
            out[codes == _UNKNOWN, 0] = 0


def fit_column(name: str, cells: Cells, *, position: int, scale: str | None, named: bool) -> Column:
    """Find out what a column is, and how to treat it.

    `named` says that the table has names of columns, so that it may have identifiers, too.
    """
    if cells.kind == "other":
        return Column(name, "text", "left out: lists and other compound cells")
    if cells.kind == "text":
        n_missing = sum(value is None for value in cells.values)
    else:
        check_finite(cells.values, name)
        n_missing = int(np.isnan(cells.values).sum())
    n = len(cells.values)
    if n_missing > NEARLY_EMPTY * n:
        return Column(name, "empty", f"left out: {n_missing:,} of {n:,} cells missing", n_missing)
    if cells.kind == "text":
        column = _fit_category(name, cells, named)
    else:
        column = _fit_number(name, cells, position, scale, named)
    column.n_missing = n_missing
    return column


# --- numbers --------------------------------------------------------------------------------------


def _fit_number(name: str, cells: Cells, position: int, scale: str | None, named: bool) -> Column:
    _check_range(name, cells.values)
    values = cells.values[~np.isnan(cells.values)]
    low, high = values.min(), values.max()
    if high - low <= SMALLEST * max(abs(low), abs(high), 1e-100):
        return Column(name, "constant", f"left out: always {level_name(float(low))}")
    if named and cells.kind == "number":
        if _is_row_number(values, low, high, name, position):
            return Column(name, "identifier", "left out: numbers the rows")
        if _is_id_name(name) and (values == np.floor(values)).all():
            return _fit_category(name, cells, named)
    column = Column(name, cells.kind, "", date_format=cells.date_format)
    column.fill = float(np.median(values))
    words = "days, " if cells.kind == "date" else ""
    if scale is None:
        column.treatment = words + "as it is"
        return column
    if ((values == low) | (values == high)).all():
        share = float((values == high).mean())
        column.mean = float(low + share * (high - low))
        variance = _fair_variance([share, 1 - share]) / 2
        column.deviation = float((high - low) * np.sqrt(variance / CATEGORY_VARIANCE))
        column.treatment = words + "two values, weighted as a category"
        return column
    if scale == "auto":
        column.spread, heavy = _robust_spread(values)
        if heavy:
            column.shape, column.center = "asinh", column.fill
            values = column._curve(values)
            words += "by median and quartiles (heavy tails), then "
    column.mean, column.deviation = float(values.mean()), float(values.std())
    column.treatment = words + "standardised"
    return column


def _check_range(name: str, values: NDArray[np.float64]) -> None:
    """Raise ValueError if squares of the values exceed the range of numbers."""
    row = int(np.nanargmax(np.abs(values)))
    if abs(values[row]) > LARGEST:
        raise ValueError(
            f"numbers must be between -{LARGEST:g} and {LARGEST:g}; column {name!r} holds "
            f"{values[row]:g} in row {row} (counted from 0)."
        )


def _robust_spread(values: NDArray[np.float64]) -> tuple[float, bool]:
    """Return the standard deviation that the quartiles suggest, and whether tails are heavy."""
    lower, upper = np.quantile(values, [0.25, 0.75])
    deviation, robust = float(values.std()), float(upper - lower) / _QUARTILES
    heavy = deviation > HEAVY_TAILS * robust
    if heavy:  # or two groups of very different sizes, which are no tails
        squares = np.square((values - values.mean()) / deviation)
        heavy = float(np.mean(np.square(squares))) > HEAVY_KURTOSIS
    if robust < 1e-6 * deviation:  # quartiles that (nearly) agree give no unit
        robust = deviation
    return robust, heavy


def _is_row_number(
    values: NDArray[np.float64], low: float, high: float, name: str, position: int
) -> bool:
    """Whether a column is 0, 1, 2, ... in some order, or unique integers named as an identifier."""
    is_named = _is_id_name(name)
    is_range = high - low == len(values) - 1 and len(values) >= FEWEST_NUMBERED
    if not (is_named or (is_range and (low in (0, 1) or position == 0))):
        return False
    return bool((values == np.floor(values)).all()) and len(np.unique(values)) == len(values)


def _is_id_name(name: str) -> bool:
    return bool(_ID_NAME.fullmatch(name.strip()) or _ID_CAMEL.search(name.strip()))


# --- categories -----------------------------------------------------------------------------------


def _fit_category(name: str, cells: Cells, named: bool) -> Column:
    values = _level_names(cells)
    counts = Counter(values)
    n, n_missing = len(values), counts[None]
    del counts[None]
    n_levels, n_present = len(counts), n - n_missing
    if n_levels == 1 and not n_missing:
        return Column(name, "constant", f"left out: always {next(iter(counts))!r}")
    if n_levels > 2 and n_levels == n_present:
        return Column(name, "identifier", "left out: different in every row")
    if n_missing:
        counts[None] = n_missing
    fewest = max(2, RARE_LEVEL * n)
    common = [level for level in counts if counts[level] >= fewest or len(counts) == 2]
    common.sort(key=lambda level: (-counts[level], level is None, level or ""))
    if 2 * n_levels > n_present > 2 or not common:
        kind = "identifier" if named and _is_id_name(name) else "text"
        return Column(name, kind, f"left out: {n_levels:,} different values")
    levels = common[:MOST_LEVELS]
    shares = [counts[level] / n for level in levels]
    grouped = len(counts) - len(levels)
    column = Column(name, "category", f"{n_levels} levels", levels=levels, has_other=grouped > 0)
    column.shares = shares + [1 - sum(shares)] * column.has_other
    variance = _fair_variance(column.shares) / (2 if column.n_out == 1 else 1)
    column.weight = float(np.sqrt(CATEGORY_VARIANCE / variance))
    if grouped:
        column.treatment += f", {grouped} of them rare and grouped"
    return column


def _fair_variance(shares: Iterable[float]) -> float:
    """Return the share of pairs of rows with different levels, at least a lower bound."""
    different = 1 - sum(share**2 for share in shares)
    return max(different, 2 * _LOWEST_VARIANCE)


def _level_names(cells: Cells) -> list[str | None]:
    if cells.kind in ("text", "other"):
        return [None if value is None else str(value) for value in cells.values]
    return [None if value != value else level_name(value) for value in cells.values.tolist()]
