"""The results as tables, as users of ConsensusClusterPlus know them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from coterie._files import escape_formulas, written_whole

if TYPE_CHECKING:
    from coterie.per_k._estimator import ConsensusPerK

__all__ = ["tables_of", "write_tables"]


def tables_of(model: ConsensusPerK, names: Sequence[Any]) -> dict[str, dict[str, list[Any]]]:
    """Return each table as columns by name; `names` are those of the objects."""
    numbers = model.k_range_.tolist()
    names = list(names)
    items, clusters = _consensus_tables(model, names)
    return {
        "numbers": _numbers_table(model),
        "classes": {"item": names} | {f"k={k}": model.labels_[k].tolist() for k in numbers},
        "confidence": {"item": names} | {f"k={k}": model.confidence_[k].tolist() for k in numbers},
        "cluster_consensus": clusters,
        "item_consensus": items,
        "cdf": {"consensus": (np.arange(101) / 100).tolist()}
        | {f"k={k}": model.cdf(k).tolist() for k in numbers},
    }


def _numbers_table(model: ConsensusPerK) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {"k": model.k_range_.tolist()}
    criteria = {
        "silhouette": model.silhouette_,
        "pac": model.pac_,
        "area": model.area_,
        "delta_area": model.delta_area_,
        "rcsi": model.rcsi_,
        "p_value": model.p_values_,
    }
    columns |= {name: list(v.values()) for name, v in criteria.items() if v is not None}
    columns["best"] = [k == model.best_k_ for k in columns["k"]]
    return columns


def _consensus_tables(
    model: ConsensusPerK, names: list[Any]
) -> tuple[dict[str, list[Any]], dict[str, list[Any]]]:
    """Return item and cluster consensus, a row for each item or cluster of each number."""
    items: dict[str, list[Any]] = {c: [] for c in ("k", "cluster", "item", "item_consensus")}
    clusters: dict[str, list[Any]] = {c: [] for c in ("k", "cluster", "size", "cluster_consensus")}
    for k, labels in model.labels_.items():
        item, n = model.item_consensus(k), len(names)
        items["k"] += [k] * (k * n)
        items["cluster"] += np.repeat(np.arange(k), n).tolist()
        items["item"] += names * k
        items["item_consensus"] += item.T.ravel().tolist()
        clusters["k"] += [k] * k
        clusters["cluster"] += list(range(k))
        clusters["size"] += np.bincount(labels, minlength=k).tolist()
        clusters["cluster_consensus"] += model.cluster_consensus(k).tolist()
    return items, clusters


def write_tables(
    model: ConsensusPerK,
    folder: str | os.PathLike[str],
    names: Sequence[Any],
    *,
    matrices: bool = False,
    raw_text: bool = False,
) -> list[Path]:
    """Write the tables as CSV files into a folder; return the files."""
    import polars as pl

    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    tables = tables_of(model, names)
    if matrices:
        for k in model.k_range_.tolist():
            matrix = model.consensus_matrix(k)
            columns = {str(name): matrix[:, j].tolist() for j, name in enumerate(names)}
            tables[f"consensus_matrix_k={k}"] = {"item": list(names)} | columns
    for name, columns in tables.items():
        frame = pl.DataFrame(columns, strict=False, nan_to_null=True)
        path = folder / f"{name}.csv"
        with written_whole(path) as temporary:
            shown = frame if raw_text else escape_formulas(frame)
            shown.write_csv(temporary, float_precision=6)
        written.append(path)
    return written
