"""Tables as text, for the ``repr`` of results."""

from __future__ import annotations

__all__ = ["align"]


def align(rows: list[list[str]], *, n_left: int = 0) -> list[str]:
    """Return rows of cells as lines: the first `n_left` columns to the left, others to the right.

    A row with fewer cells than the first one holds a remark, which may be of any length.
    """
    n_columns = len(rows[0])
    full = [row for row in rows if len(row) == n_columns]
    widths = [max(len(r[i]) for r in (rows if i < n_left else full)) for i in range(n_columns)]
    lines = []
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row[:n_left], widths, strict=False)]
        if len(row) == n_columns:
            rest = zip(row[n_left:], widths[n_left:], strict=True)
            cells += [cell.rjust(width) for cell, width in rest]
        else:
            cells += row[n_left:]
        lines.append("  ".join(cells).rstrip())
    return lines
