"""The numbers that a paper prints, as data."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files

__all__ = ["Published", "published"]

_FIELDS = ["table", "row", "column", "value"]


class Published(Mapping[tuple[str, str, str], float]):
    """A paper's numbers by (table, row, column), in the order of the file.

    Attributes
    ----------
    paper : str
        Name of the file without its ending.
    """

    def __init__(self, paper: str, numbers: dict[tuple[str, str, str], float]) -> None:
        self.paper = paper
        self._numbers = numbers

    def __getitem__(self, place: tuple[str, str, str]) -> float:
        try:
            return self._numbers[place]
        except KeyError:
            raise KeyError(f"{self.paper}.csv has no number at {place}") from None

    def __iter__(self) -> Iterator[tuple[str, str, str]]:
        return iter(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)

    def rows(self, table: str) -> list[str]:
        """Return the names of the rows of a table, in the paper's order."""
        return list(dict.fromkeys(row for name, row, _ in self if name == table))

    def columns(self, table: str) -> list[str]:
        """Return the names of the columns of a table, in the paper's order."""
        return list(dict.fromkeys(column for name, _, column in self if name == table))


@cache
def published(paper: str) -> Published:
    """Read the numbers of a paper from ``published/<paper>.csv``.

    Parameters
    ----------
    paper : str
        Name of the file without its ending.

    Returns
    -------
    numbers : Published
        A mapping from (table, row, column) to the number; what a paper leaves out is not in it,
        so ``numbers.get(place)`` is None there.

    Examples
    --------
    >>> laca = published("laca")
    >>> laca["3", "Iris", "LACA NMI"]
    0.7535
    >>> laca.rows("3")[:3]
    ['Iris', 'Glass', 'Ecoli']
    """
    path = files("coterie.experiments") / "published" / f"{paper}.csv"
    numbers: dict[tuple[str, str, str], float] = {}
    reader = csv.DictReader(io.StringIO(path.read_text(encoding="utf-8")))
    if reader.fieldnames != _FIELDS:
        raise ValueError(f"{paper}.csv must have the columns {_FIELDS}; got {reader.fieldnames}.")
    for line in reader:
        place = line["table"], line["row"], line["column"]
        if place in numbers:
            raise ValueError(f"{paper}.csv has two numbers at {place}.")
        numbers[place] = float(line["value"])
    return Published(paper, numbers)
