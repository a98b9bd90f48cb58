"""Tables that put our numbers beside the paper's."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["Row", "Table"]

_NOTHING = "–"


class Row(NamedTuple):
    """One number of the paper and ours."""

    keys: tuple[str, ...]
    """Where it stands in the table: data set, method, measure, ..."""
    paper: float | None = None
    """None where the paper has no such number."""
    ours: float | None = None
    """None where it was not computed; `note` says why."""
    std: float | None = None
    """Standard deviation over runs, where `ours` is a mean."""
    runs: int = 0
    note: str = ""
    paper_std: float | None = None
    """The paper's standard deviation, where it prints one."""

    @property
    def difference(self) -> float | None:
        """Ours minus the paper's."""
        return None if self.paper is None or self.ours is None else self.ours - self.paper


@dataclass(frozen=True)
class Table:
    """A table with paper, ours and difference.

    Parameters
    ----------
    name : str
        Name of its file, without ending.
    title : str
        What stands above it.
    keys : sequence of str
        Headings of the columns that say which number a row is about.
    rows : sequence of Row
        Each with one key per heading.
    across : bool, default=False
        Whether to spread the values of the last key over columns where people read the table.
        The CSV file has one line per number in either case.
    digits : int, default=3
        Digits after the point, for people.
    notes : sequence of str
        Remarks below the table.
    """

    name: str
    title: str
    keys: Sequence[str]
    rows: Sequence[Row]
    across: bool = False
    digits: int = 3
    notes: Sequence[str] = ()

    def to_csv(self) -> str:
        """Return one line per number, with full precision."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        headings = ["paper", "paper std", "ours", "ours std", "difference", "runs", "note"]
        writer.writerow([*self.keys, *headings])
        for row in self.rows:
            numbers = (row.paper, row.paper_std, row.ours, row.std, row.difference)
            cells = ["" if number is None else f"{number:.10g}" for number in numbers]
            writer.writerow([*row.keys, *cells, row.runs, row.note])
        return text.getvalue()

    def to_markdown(self) -> str:
        """Return the table with its title as a heading and its notes."""
        headings, lines = self.cells()
        rule = ["---" if self.is_words(i) else "---:" for i in range(len(headings))]
        body = [headings, rule, *lines]
        text = "\n".join("| " + " | ".join(map(_escape, cells)) + " |" for cells in body)
        notes = "".join(f"\n{note}\n" for note in self.notes)
        return f"## {self.title}\n\n{text}\n{notes}"

    def is_words(self, column: int) -> bool:
        """Whether a column of `cells` holds words, not numbers."""
        return column < len(self.keys) - self.across or self.cells()[0][column] == "note"

    def cells(self) -> tuple[list[str], list[list[str]]]:
        """Return headings and lines as people read them."""
        headings, lines = self._spread() if self.across else self._listed()
        noted = any(line[-1] for line in lines)
        return (headings, lines) if noted else (headings[:-1], [line[:-1] for line in lines])

    def _listed(self) -> tuple[list[str], list[list[str]]]:
        headings = [*self.keys, "paper", "ours", "difference", "note"]
        return headings, [[*row.keys, *self._numbers(row), row.note] for row in self.rows]

    def _spread(self) -> tuple[list[str], list[list[str]]]:
        columns = list(dict.fromkeys(row.keys[-1] for row in self.rows))
        in_paper = {row.keys[-1] for row in self.rows if row.paper is not None}
        headings = [*self.keys[:-1]]
        for column in columns:
            if column in in_paper:
                headings += [f"{column}, paper", "ours", "difference"]
            else:
                headings.append(f"{column}, ours" if in_paper else column)
        lines: dict[tuple[str, ...], dict[str, Row]] = {}
        for row in self.rows:
            lines.setdefault(row.keys[:-1], {})[row.keys[-1]] = row
        texts = []
        for keys, found in lines.items():
            cells = [*keys]
            for column in columns:
                numbers = self._numbers(found.get(column, Row(())))
                cells += numbers if column in in_paper else numbers[1:2]
            notes = dict.fromkeys(row.note for row in found.values() if row.note)
            texts.append([*cells, "; ".join(notes)])
        return [*headings, "note"], texts

    def _numbers(self, row: Row) -> list[str]:
        difference = row.difference
        return [
            self._text(row.paper, row.paper_std),
            self._text(row.ours, row.std),
            _NOTHING if difference is None else f"{difference:+.{self.digits}f}",
        ]

    def _text(self, number: float | None, std: float | None) -> str:
        if number is None:
            return _NOTHING
        spread = "" if std is None else f" ± {std:.{self.digits}f}"
        return f"{number:.{self.digits}f}{spread}"


def _escape(cell: str) -> str:
    return cell.replace("|", "\\|").replace("\n", " ")
