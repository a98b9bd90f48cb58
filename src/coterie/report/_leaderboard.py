"""The table of several methods on one ensemble, from ``Comparison.as_dict()``."""

from __future__ import annotations

from typing import Any

__all__ = ["leaderboard"]

# What a column is called, how it is written, and where it comes from.
_COLUMNS = (
    ("method", "Method", ""),
    ("n_clusters", "Clusters", ",d"),
    ("anmi", "ANMI", ".3f"),
    ("stability", "Stability", ".3f"),
    ("confidence", "Confidence", ".2f"),
    ("seconds", "Seconds", ".2f"),
    ("peak_memory", "Memory", "bytes"),
)
_SCORES = (
    ("nmi", "NMI", ".3f"),
    ("ari", "ARI", ".3f"),
    ("f", "F", ".3f"),
    ("ci", "Consistency", ".3f"),
    ("error", "Error rate", ".3f"),
)


def leaderboard(comparison: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return columns and rows for the page; None if nothing was compared."""
    if not comparison or not comparison.get("leaderboard"):
        return None
    rows = [_flat(row) for row in comparison["leaderboard"]]
    kept = [
        column
        for column in (*_COLUMNS, *_SCORES)
        if any(row.get(column[0]) is not None for row in rows)
    ]
    if any(row["note"] for row in rows):
        kept.append(("note", "Note", ""))
    return {
        "words": comparison.get("reason") or "",
        "columns": [{"name": name, "number": bool(form)} for _, name, form in kept],
        "rows": [
            {
                "recommended": row.get("method") == comparison.get("recommended"),
                "cells": [
                    _cell(row.get(key), form, key == "n_clusters" and row.get("n_clusters_given"))
                    for key, _, form in kept
                ],
            }
            for row in rows
        ],
        "agreement": _agreement(comparison),
    }


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row with its scores beside the rest, and in words what there is to say."""
    notes = [*(row.get("notes") or [])]
    if row.get("reason"):
        notes.insert(0, f"{row.get('status') or 'no result'}: {row['reason']}")
    return {**row, **(row.get("scores") or {}), "note": "; ".join(map(str, notes))}


def _cell(value: Any, form: str, given: bool | None = False) -> dict[str, Any]:
    if value is None:
        text = ""
    elif form == "bytes":
        text = f"{value / 1e6:,.0f} MB" if value >= 1e6 else "< 1 MB"
    elif form and isinstance(value, int | float):
        text = format(value, form)
    else:
        text = str(value)
    return {"text": text + " (given)" * bool(given), "value": value, "number": bool(form)}


def _agreement(comparison: dict[str, Any]) -> dict[str, Any] | None:
    """Return the adjusted Rand index of every two methods, with a shade for each."""
    methods, values = comparison.get("methods") or [], comparison.get("agreement") or []
    if len(methods) < 2:
        return None
    return {
        "methods": methods,
        "rows": [
            {
                "method": method,
                "cells": [
                    {"text": f"{value:.2f}", "shade": round(0.55 * max(0.0, value), 3)}
                    for value in row
                ],
            }
            for method, row in zip(methods, values, strict=True)
        ],
    }
