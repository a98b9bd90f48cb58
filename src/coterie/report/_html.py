"""Rendering a summary as one HTML file that needs nothing else."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from coterie.report._heatmap import draw_png, png_data_uri

__all__ = ["check_report_extra", "render_html"]

_TEMPLATE = "report.html.j2"
_MOST_CLUSTERS = 50
_MOST_PARTITIONS = 200
_MOST_EDGES = 40  # lines between clusters in the heat map
_LEAST_LABEL = 0.03  # of the side of the heat map, for a cluster to get its number beside it

_SCORE_WORDS = {
    "nmi": ("NMI", "normalised mutual information, geometric mean; 1 is perfect"),
    "ari": ("ARI", "Rand index adjusted for chance; 1 is perfect, 0 is chance"),
    "pairwise_f": ("Pairwise F", "F measure over pairs of objects; 1 is perfect"),
    "class_f": ("Class F", "best F of each class among the clusters, weighted by class size"),
    "consistency_index": ("Consistency", "share of objects in the best one-to-one matching"),
    "error_rate": ("Error rate", "share of objects in a cluster that stands for another class"),
}


def check_report_extra() -> None:
    """Raise ImportError that names the extra if a package the report needs is not there."""
    missing = [name for name in ("jinja2", "matplotlib") if find_spec(name) is None]
    if missing:
        raise ImportError(
            f"the report needs {' and '.join(missing)}, which "
            f"{'is' if len(missing) == 1 else 'are'} not installed: "
            'pip install "coterie[report]"'
        )


def render_html(summary: dict[str, Any]) -> str:
    """Return a summary as one self-contained HTML page.

    Parameters
    ----------
    summary : dict
        From `summarize`, or read back from what ``--json`` printed.

    Returns
    -------
    page : str
        No script, nothing from the network; everything that came from data is escaped.

    Raises
    ------
    ImportError
        If jinja2 or matplotlib is missing; the message names the extra to install.
    """
    check_report_extra()
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["share"] = _share
    environment.filters["group"] = _group
    return environment.get_template(_TEMPLATE).render(
        s=summary,
        heat_map=_heat_map(summary),
        lifetimes=_lifetime_bars(summary),
        nmi=_nmi_range(summary),
        score_words=_SCORE_WORDS,
        most_clusters=_MOST_CLUSTERS,
        most_partitions=_MOST_PARTITIONS,
    )


def _heat_map(summary: dict[str, Any]) -> dict[str, Any] | None:
    """Return the picture and, in percent of its side, where clusters end and their numbers go."""
    if summary["heat_map"] is None:
        return None
    edges = np.asarray(summary["heat_map"]["cluster_edges"], dtype=float)
    edges = 100 * edges / edges[-1]
    wide = np.flatnonzero(np.diff(edges) >= 100 * _LEAST_LABEL)
    return {
        "uri": png_data_uri(draw_png(np.asarray(summary["heat_map"]["percent"]) / 100)),
        "n_blocks": summary["heat_map"]["n_blocks"],
        "lines": edges[1:-1].round(3).tolist() if len(edges) <= _MOST_EDGES + 1 else [],
        "numbers": [
            {"cluster": int(c), "at": round(float(edges[c] + edges[c + 1]) / 2, 3)} for c in wide
        ],
    }


def _lifetime_bars(summary: dict[str, Any]) -> dict[str, Any] | None:
    """Return the bars of the lifetimes, heights as shares of the longest."""
    rows = summary["lifetimes"]
    if not rows:
        return None
    longest = max(row["lifetime"] for row in rows) or 1.0
    step = 1 if len(rows) <= 20 else 5
    return {
        "longest": longest,
        "bars": [
            {
                "k": row["n_clusters"],
                "lifetime": row["lifetime"],
                "height": round(100 * max(row["lifetime"], 0.0) / longest, 2),
                "chosen": row["n_clusters"] == summary["n_clusters"],
                "numbered": row["n_clusters"] % step == 0
                or row["n_clusters"] == summary["n_clusters"],
            }
            for row in rows
        ],
    }


def _nmi_range(summary: dict[str, Any]) -> dict[str, float]:
    values = np.array([row["nmi"] for row in summary["partitions"] if row["nmi"] is not None])
    return {"low": values.min(), "median": np.median(values), "high": values.max()}


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _group(value: int) -> str:
    """Return a number with its thousands apart."""
    return f"{value:,}"
