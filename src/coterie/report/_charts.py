"""The static charts of the page: where their bars, dots and ticks go."""

from __future__ import annotations

from typing import Any

import numpy as np

from coterie.views._curves import readable_range

__all__ = ["choice_chart", "trust_chart"]

_WIDTH, _LEFT = 560, 58
_MAX_DOTS = 1_000
_MAX_ROWS = 300
_MAX_GROUPS = 6
_CAPTIONS = {
    "lifetime": "Lifetime of each number of clusters: the range of thresholds at which the tree "
    "is cut into that many. The longest is best.",
    "score": "Score of each number of clusters: the mean silhouette times the isolation of the "
    "least isolated cluster. The largest number within 3 % of the highest score was chosen.",
    "likelihood": "Log-likelihood of the tree cut into each number of clusters. The highest is "
    "best.",
    "criterion": "The criterion of the method for each number of clusters that it tried. The "
    "{best} is best.",
}


def choice_chart(summary: dict[str, Any]) -> dict[str, Any] | None:
    """Return the chart of what the number of clusters was chosen by."""
    choice = summary["choice"]
    if choice is None:
        return None
    known = [
        (k, value)
        for k, value in zip(choice["numbers"], choice["values"], strict=True)
        if value is not None
    ]
    if not known:
        return None
    bars = choice["kind"] == "lifetime"
    height, top, bottom = 200, 12, 172
    values = np.array([value for _, value in known])
    numbers = np.array([k for k, _ in known])
    low, high = 0.0, float(values.max())
    if not bars:
        low, high = readable_range(numbers, values, summary["n_clusters"])
    off_scale = [k for k, value in known if not low <= value <= high]
    ticks = _ticks(low, high)
    if bars:
        high = max(ticks[-1], high)
    else:
        margin = 0.06 * (high - low)
        low, high = low - margin, high + margin
        ticks = [tick for tick in ticks if low <= tick <= high]
    step = (_WIDTH - _LEFT) / len(known)
    numbered = 1 if len(known) <= 25 else 5

    def y(value: float) -> float:
        inside = min(max(value, low), high)
        return round(bottom - (bottom - top) * (inside - low) / ((high - low) or 1.0), 2)

    marks = [
        {
            "k": k,
            "x": round(_LEFT + step * (i + 0.5), 2),
            "y": y(value),
            "chosen": k == summary["n_clusters"],
            "numbered": k % numbered == 0 or k == summary["n_clusters"],
            "title": f"{k} cluster{'s' * (k != 1)}: {value:.6g}",
        }
        for i, (k, value) in enumerate(known)
    ]
    own = f" {summary['n_clusters']} is marked"
    own += ", the number that was asked for." if summary["n_clusters_given"] else "."
    if off_scale:
        own += f" Off the scale, at its edge: {', '.join(map(str, off_scale))}."
    return {
        "width": _WIDTH,
        "height": height,
        "left": _LEFT,
        "bottom": bottom,
        "bar": round(0.75 * step, 2),
        "ticks": [{"y": y(tick), "text": _short(tick)} for tick in ticks],
        "marks": marks,
        "curve": "" if bars else " ".join(f"{mark['x']},{mark['y']}" for mark in marks),
        "label": f"{choice['name']} of each number of clusters",
        "caption": _CAPTIONS[choice["kind"]].format(best=choice["best"]) + own,
    }


def trust_chart(summary: dict[str, Any]) -> dict[str, Any]:
    """Return the chart and the table of partitions, the most trusted first."""
    rows = summary["partitions"]
    weighed = "rho" in rows[0]
    best = "weight" if weighed else "nmi"
    ranked = sorted(rows, key=lambda row: -(row[best] if row[best] is not None else -np.inf))
    dots = ranked[:_MAX_DOTS]
    if weighed:
        x = np.array([row["r"] for row in dots])
        y = np.array([row["rho"] for row in dots])
        weight = np.abs([row["weight"] for row in dots])
        radius = 3 + 6 * np.sqrt(weight / max(float(weight.max()), 1e-12))
        far = min(1.0, max(0.05, 1.15 * float(x.max())))
    else:
        x = np.array([row["n_clusters"] for row in dots], dtype=float)
        y = np.array([np.nan if row["nmi"] is None else row["nmi"] for row in dots])
        radius = np.full(len(dots), 4.5)
        far = float(x.max()) + 1
    height, top, bottom = 270, 22, 228
    near = 0.0 if weighed else max(0.0, float(x.min()) - 1)

    def at_x(value: float) -> float:
        return round(_LEFT + 12 + (_WIDTH - _LEFT - 24) * (value - near) / (far - near), 2)

    def at_y(value: float) -> float:
        return round(bottom - (bottom - top) * value, 2)

    numbers = _ticks(near, far)
    if not weighed:
        numbers = sorted({round(tick) for tick in numbers})
    chart = {
        "width": _WIDTH,
        "height": height,
        "left": _LEFT,
        "bottom": bottom,
        "x_ticks": [{"at": at_x(t), "text": _short(t)} for t in numbers if near <= t <= far],
        "y_ticks": [{"at": at_y(t), "text": _short(t)} for t in (0, 0.25, 0.5, 0.75, 1)],
        "dots": [
            {
                "x": at_x(float(x[i])),
                "y": at_y(float(y[i])),
                "r": round(float(radius[i]), 2),
                "title": _dot_title(row),
            }
            for i, row in enumerate(dots)
            if np.isfinite(y[i])
        ],
        "diagonal": None,
    }
    left_out = f" The first {_MAX_DOTS} are drawn." if len(ranked) > _MAX_DOTS else ""
    if weighed:
        chart |= {
            "label": "Reliability of the partitions",
            "x_name": "r: how often it joins objects of different clusters",
            "y_name": "ρ: how often it joins objects of the same cluster",
            "diagonal": [at_x(0), at_y(0), at_x(far), at_y(far)],
            "caption": "Each dot is a partition, and its area is the weight of the partition. Top "
            "left is best; a partition on the dashed line carries no information." + left_out,
            "words": _words_on_weights(summary),
        }
    else:
        chart |= {
            "label": "Agreement of the partitions with the consensus",
            "x_name": "clusters of the partition",
            "y_name": "NMI with the consensus",
            "caption": "Each dot is a partition. Partitions with a low value were outvoted by the "
            "others." + left_out,
            "words": _words_on_agreement(summary),
        }
    chart |= _table(ranked[:_MAX_ROWS], weighed)
    return chart


def _words_on_weights(summary: dict[str, Any]) -> str:
    weight = np.array([row["weight"] for row in summary["partitions"]])
    against = int((weight < 0).sum())
    idle = int((np.abs(weight) < 0.1).sum())
    text = (
        f"{summary['consensus']['method']} estimates how reliable each partition is. Weights go "
        f"from {weight.min():.1f} (least reliable) to {weight.max():.1f} (most reliable), with a "
        f"median of {np.median(weight):.1f}."
    )
    if idle:
        text += f" {idle} of {len(weight)} have almost no weight (below 0.1)."
    if against:
        text += (
            f" {against} {'has' if against == 1 else 'have'} a negative weight: two objects that "
            "such a partition puts together count as more likely apart."
        )
    return text


def _words_on_agreement(summary: dict[str, Any]) -> str:
    nmi = np.array([row["nmi"] for row in summary["partitions"] if row["nmi"] is not None])
    low, high = summary["ensemble"]["n_clusters"]
    clusters = f"{low}" if low == high else f"{low} to {high}"
    if not len(nmi):
        return f"They have {clusters} clusters."
    method = summary["consensus"]["method"]
    groups = summary["groups"]
    if groups and len(groups) > 1:
        first = sorted(groups, key=lambda row: -row["share"])[:_MAX_GROUPS]
        shares = ", ".join(f"{row['group']} ({100 * row['share']:.0f} %)" for row in first)
        trust = f"{method} decided the pairs of objects by {shares}."
    else:
        trust = f"This page has no weights of partitions for {method}."
    return (
        f"{trust} The partitions have {clusters} clusters and share a normalised mutual "
        f"information of {nmi.min():.2f} to {nmi.max():.2f} (median {np.median(nmi):.2f}) with "
        "the consensus."
    )


def _dot_title(row: dict[str, Any]) -> str:
    made_by = "" if row["group"] is None else f" ({row['group']})"
    text = f"{row['name']}{made_by}, {row['n_clusters']} clusters"
    if row["nmi"] is not None:
        text += f", NMI {row['nmi']:.2f}"
    if "rho" in row:
        text += f", ρ {row['rho']:.2f}, r {row['r']:.2f}, weight {row['weight']:.2f}"
    return text


def _table(rows: list[dict[str, Any]], weighed: bool) -> dict[str, Any]:
    columns = [("name", "Partition", "")]
    if any(row["group"] is not None for row in rows):
        columns += [("group", "Made by", "")]
    columns += [("n_clusters", "Clusters", "d"), ("missing", "Missing", "%")]
    columns += [("nmi", "NMI", ".2f")]
    if weighed:
        columns += [("rho", "ρ", ".2f"), ("r", "r", ".3f"), ("weight", "Weight", ".2f")]
    return {
        "columns": [{"name": name, "number": bool(form)} for _, name, form in columns],
        "rows": [
            [
                {"text": _written(row[key], form), "value": row[key], "number": bool(form)}
                for key, _, form in columns
            ]
            for row in rows
        ],
    }


def _written(value: Any, form: str) -> str:
    if value is None:
        return ""
    if form == "%":
        return f"{100 * value:.3g} %"
    return format(value, form)


def _ticks(low: float, high: float) -> list[float]:
    """Return three to six round numbers that cover a range."""
    if not high > low:
        return [low]
    rough = (high - low) / 4
    power = 10.0 ** np.floor(np.log10(rough))
    step = next(power * s for s in (1, 2, 2.5, 5, 10) if power * s >= rough * 0.999)
    first, last = np.floor(low / step + 1e-9), np.ceil(high / step - 1e-9)
    return [float(step * i) for i in np.arange(first, last + 1)]


def _short(value: float) -> str:
    """Return a number for a tick: 1200000 becomes 1.2M."""
    size = abs(value)
    for unit, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if size >= 10 * unit or (size >= unit and unit > 1e3):
            return f"{value / unit:.4g}{letter}".replace("-", "−")
    return f"{value:.4g}".replace("-", "−")
