"""``coterie info FILE``: what is in a table or an ensemble."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from coterie.cli._options import TableOptions
from coterie.cli._tables import (
    NotNumbers,
    Table,
    as_numbers,
    file_kind,
    read_table,
    without_missing,
)

__all__ = ["file_facts"]

_MAX_COLUMNS = 30


def file_facts(path: Path, options: TableOptions) -> dict[str, Any]:
    """Return what is in a table or an ensemble."""
    if file_kind(path) == ".npz":
        return _ensemble_facts(path)
    table = read_table(path, separator=options.separator, header=not options.no_header)
    return _table_facts(table, options.missing or [])


def _ensemble_facts(path: Path) -> dict[str, Any]:
    from coterie.cli._input import load_ensemble  # compiled code, which a table does not need

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
        for name in table.frame.columns[:_MAX_COLUMNS]
    }
    hidden = table.frame.width - _MAX_COLUMNS
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
