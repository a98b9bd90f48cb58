"""``coterie info``: what is installed, and what is in a file."""

from __future__ import annotations

import json
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table as Grid
from rich.text import Text

from coterie._methods import DEFAULT_METHOD
from coterie.cli._console import output_console
from coterie.cli._errors import refused_input
from coterie.cli._options import TableOptions

if TYPE_CHECKING:
    import polars as pl

    from coterie.cli._tables import Table

__all__ = ["print_info"]

_EXTRAS = {"report": ("jinja2",), "metis": ("pymetis",), "dask": ("dask",)}
_EXTRAS |= {"plot": ("matplotlib",), "hypergraph": ("mtkahypar",)}
_MOST_COLUMNS = 30


def print_info(file: Path | None, options: TableOptions, as_json: bool) -> None:
    """Print what is installed, or what is in a file."""
    facts = _installation() if file is None else _contents(file, options)
    if as_json:
        print(json.dumps(facts, indent=2))
    else:
        _print_facts(facts)


def _installation() -> dict[str, Any]:
    import platform

    import numba

    import coterie
    from coterie._about import words_of
    from coterie._limits import format_bytes, memory_limit_bytes
    from coterie.consensus import CONSENSUS

    with refused_input():
        limit = memory_limit_bytes()
    return {
        "coterie": coterie.__version__,
        "python": platform.python_version(),
        "scikit-learn": version("scikit-learn"),
        "methods": {name: words_of(cls).title for name, cls in CONSENSUS.items()},
        "default method": DEFAULT_METHOD,
        "threads": numba.get_num_threads(),
        "memory limit": f"{format_bytes(limit)} for one array over pairs of objects or "
        "one table; set COTERIE_MEMORY_LIMIT to change it",
        "extras": {extra: _extra_state(extra) for extra in sorted(_EXTRAS)},
    }


def _extra_state(extra: str) -> str:
    missing = [name for name in _EXTRAS[extra] if find_spec(name) is None]
    return "installed" if not missing else f'missing: pip install "coterie[{extra}]"'


def _contents(path: Path, options: TableOptions) -> dict[str, Any]:
    from coterie.cli._tables import file_kind, read_table

    if file_kind(path) == ".npz":
        return _ensemble_facts(path)
    table = read_table(path, separator=options.separator, header=not options.no_header)
    return _table_facts(table, options.missing or [])


def _ensemble_facts(path: Path) -> dict[str, Any]:
    import numpy as np

    from coterie.cli._input import load_ensemble

    ensemble = load_ensemble(path)
    groups, counts = np.unique(ensemble.groups, return_counts=True)
    return {
        "file": str(path),
        "kind": "ensemble",
        "objects": ensemble.n_objects,
        "distinct objects": len(ensemble.patterns.counts),
        "partitions": ensemble.n_partitions,
        "clusters of a partition": _span(ensemble.n_clusters),
        "missing labels": f"{100 * float(np.mean(ensemble.labels < 0)):.3g} %",
        "groups": {str(g): int(n) for g, n in zip(groups, counts, strict=True)},
        "soft memberships": "yes" if ensemble.posteriors is not None else "no",
    }


def _span(values: Any) -> str:
    low, high = int(values.min()), int(values.max())
    return f"{low}" if low == high else f"{low} to {high}"


def _table_facts(table: Table, missing: list[str]) -> dict[str, Any]:
    columns = {
        name: _column_facts(table.frame[name], missing)
        for name in table.frame.columns[:_MOST_COLUMNS]
    }
    hidden = table.frame.width - _MOST_COLUMNS
    if hidden > 0:
        columns["..."] = f"and {hidden} more"
    return {
        "file": table.name,
        "kind": "table",
        "rows": table.frame.height,
        "columns": table.frame.width,
        "content": columns,
    }


def _column_facts(series: pl.Series, missing: list[str]) -> str:
    """Return in words what a column holds; missing values are no values."""
    import numpy as np
    import polars as pl

    from coterie.cli._tables import NotNumbers, as_numbers, without_missing

    numbers = as_numbers(series, missing)
    if isinstance(numbers, NotNumbers):
        values = without_missing(series, missing) if series.dtype == pl.String else series
        known = values.drop_nulls()
        n_known, text = len(known), numbers.words
        if not series.dtype.is_nested() and series.dtype != pl.Object:
            text += f", {known.n_unique():,} different"
    else:
        found = numbers[~np.isnan(numbers)]
        if not len(found):
            return "empty"
        whole = "whole numbers" if (found == np.floor(found)).all() else "numbers"
        text = f"{whole} from {found.min():g} to {found.max():g}"
        text += f", {len(np.unique(found)):,} different"
        n_known = len(found)
    n_missing = len(series) - n_known
    return text + (f", {n_missing:,} missing" if n_missing else "")


def _print_facts(facts: dict[str, Any]) -> None:
    grid = Grid.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column()
    for name, value in facts.items():
        if isinstance(value, dict):
            inner = Grid.grid(padding=(0, 2))
            for key, text in value.items():
                inner.add_row(Text(str(key)), Text(str(text)))
            grid.add_row(name, inner)
        else:
            grid.add_row(name, Text(str(value)))
    output_console().print(grid)
