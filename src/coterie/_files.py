"""Writing files: whole or not at all, records with a checksum, tables safe for spreadsheets."""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "checksum_fits",
    "escape_formulas",
    "unescape_formulas",
    "with_checksum",
    "written_whole",
]

_FORMULA = r"^'*[=+\-@\t\r]"  # a spreadsheet takes such a cell for a formula, unless quoted
_ESCAPED = r"^'('*[=+\-@\t\r])"


@contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path beside `path`, which takes its name if the block succeeds."""
    path = Path(path)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)  # mkstemp makes files that only the owner can read
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def with_checksum(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record for a JSON file with the checksum of its other entries."""
    return record | {"checksum": _checksum(record)}


def checksum_fits(record: dict[str, Any]) -> bool:
    """Whether a record read from a JSON file has the content that `with_checksum` saw."""
    return record.get("checksum") == _checksum(record)


def _checksum(record: dict[str, Any]) -> str:
    content = {key: value for key, value in record.items() if key != "checksum"}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def escape_formulas(frame: pl.DataFrame) -> pl.DataFrame:
    """Put a quote (') before text that a spreadsheet would run as a formula.

    Text begins a formula with =, +, -, @, a tab or a carriage return. Numbers are left as they
    are. `unescape_formulas` takes the quotes away again.
    """
    import polars as pl

    cells = []
    for name in frame.select(pl.col(pl.String)).columns:
        text = pl.col(name)
        is_number = text.cast(pl.Float64, strict=False).is_not_null()
        is_formula = text.str.contains(_FORMULA) & ~is_number
        quoted = pl.concat_str(pl.lit("'"), text)
        cells.append(pl.when(is_formula).then(quoted).otherwise(text).alias(name))
    named = {name: _escape_name(name) for name in frame.columns}
    return frame.with_columns(cells).rename(named)


def unescape_formulas(frame: pl.DataFrame) -> pl.DataFrame:
    """Take away the quotes that `escape_formulas` has put before text."""
    import polars as pl

    named = {name: re.sub(_ESCAPED, r"\1", name) for name in frame.columns}
    return frame.with_columns(pl.col(pl.String).str.replace(_ESCAPED, "$1")).rename(named)


def _escape_name(name: str) -> str:
    try:
        float(name)
    except ValueError:
        return f"'{name}" if re.match(_FORMULA, name) else name
    return name
