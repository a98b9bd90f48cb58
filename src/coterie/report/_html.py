"""Rendering a summary as one HTML file that needs nothing else."""

from __future__ import annotations

import base64
import hashlib
import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coterie.report._charts import choice_chart, trust_chart
from coterie.report._leaderboard import leaderboard
from coterie.report._summary import FORMAT
from coterie.report._words import count
from coterie.views._feature_map import diverging_palette
from coterie.views._palette import PALETTE
from coterie.views._png import indexed_png, png_data_uri

__all__ = ["check_report_extra", "render_html"]

_PAGE = Path(__file__).parent / "page"
_MAX_CLUSTERS = 50
_MAX_MARKERS = 8  # features of a cluster on the page; the download has more

_SCORE_WORDS = {
    "nmi": ("NMI", "normalised mutual information, geometric mean; 1 is perfect"),
    "ari": ("ARI", "Rand index adjusted for chance; 1 is perfect, 0 is chance"),
    "pairwise_f": ("Pairwise F", "F measure over pairs of objects; 1 is perfect"),
    "class_f": ("Class F", "best F of each class among the clusters, weighted by class size"),
    "consistency_index": ("Consistency", "share of objects in the best one-to-one matching"),
    "error_rate": ("Error rate", "share of objects in a cluster that stands for another class"),
}
_PROJECTION_TITLES = {
    "components": "The objects by their features",
    "features": "The objects by their features",
    "labels": "The objects by their labels",
}


def check_report_extra() -> None:
    """Raise ImportError with the name of the extra if jinja2 is not installed.

    Examples
    --------
    >>> from coterie.report import check_report_extra
    >>> check_report_extra()  # no error: jinja2 is installed
    """
    if find_spec("jinja2") is None:
        raise ImportError(
            'the report needs jinja2, which is not installed: pip install "coterie[report]"'
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
        Nothing from the network; everything that came from data is escaped, and only the
        page's own script may run.

    Raises
    ------
    ImportError
        If jinja2 is missing; the message names the extra to install.
    ValueError
        If the summary is of another version.

    Examples
    --------
    >>> from coterie import EAC
    >>> from coterie.report import render_html, summarize
    >>> votes = [[0, 0, 0], [0, 0, 0], [0, 1, 1], [1, 1, 1], [1, 1, 1]]
    >>> page = render_html(summarize(EAC(n_clusters=2).fit(votes)))
    >>> page[:15]
    '<!doctype html>'
    """
    if summary.get("format") != FORMAT:
        raise ValueError(
            f"summary must be of format {FORMAT}, as this version of coterie makes it; got "
            f"{summary.get('format')!r}. Make it again with --json or summarize."
        )
    environment, style = page_environment()
    from markupsafe import Markup

    script = (_PAGE / "report.js").read_text(encoding="utf-8")
    shown = summary["shown"] or {"objects": [], "sampled": False}
    numbers = _numbers(summary)
    return environment.get_template("report.html.j2").render(
        s=summary,
        data=Markup(_script_json(page_data(summary))),
        script=Markup(script),
        script_hash=source_hash(script),
        style=Markup(style),
        style_hash=source_hash(style),
        choice=choice_chart(summary),
        trust=trust_chart(summary),
        leaderboard=leaderboard(summary["comparison"]),
        n_numbers=len(numbers),
        fitted_index=numbers.index(summary["n_clusters"]),
        sampled=shown["sampled"],
        n_shown=len(shown["objects"]),
        projection_title=_projection_title(summary),
        projection_words=_projection_words(summary),
        score_words=_SCORE_WORDS,
        most_clusters=_MAX_CLUSTERS,
        feature_rows=_feature_rows(summary["feature_map"]),
        most_markers=_MAX_MARKERS,
    )


def page_environment() -> tuple[Any, str]:
    """Return what makes pages of templates, everything escaped, and the style of all pages."""
    check_report_extra()
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_PAGE),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"share": _share, "group": _group, "count": count}
    return environment, (_PAGE / "report.css").read_text(encoding="utf-8")


def source_hash(text: str) -> str:
    """Return what a Content-Security-Policy calls an inline script or style."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _feature_rows(shown: dict[str, Any] | None) -> list[dict[str, Any]]:
    """Return the rows of the heat map of features as pictures; the first shows the clusters."""
    if shown is None:
        return []
    colours = np.array([list(bytes.fromhex(c[1:])) for c in PALETTE], dtype=np.uint8)
    clusters = np.asarray(shown["column_clusters"]) % len(colours)
    rows = [{"name": "", "image": _strip(clusters, colours)}]
    shades = diverging_palette()
    for name, percent in zip(shown["features"], shown["percent"], strict=True):
        levels = (np.asarray(percent) + 100) * (len(shades) - 1) / 200
        rows.append({"name": name, "image": _strip(levels.round(), shades)})
    return rows


def _strip(levels: NDArray[Any], palette: NDArray[np.uint8]) -> str:
    """Return one row of pixels as a picture."""
    return png_data_uri(indexed_png(levels.astype(np.uint8)[None, :], palette))


def _numbers(summary: dict[str, Any]) -> list[int]:
    cuts = summary["cuts"]
    return [summary["n_clusters"]] if cuts is None else cuts["numbers"]


# --- the data of the page -----------------------------------------------------------------------


def page_data(summary: dict[str, Any]) -> dict[str, Any]:
    """Return what the script needs; long columns of numbers as bytes in base64."""
    objects, cuts = summary["objects"], summary["cuts"]
    if cuts is None:
        k = summary["n_clusters"]
        own = [[c] for c in range(k)]
        cuts = {"numbers": [k], "words": "", "group": objects["cluster"], "clusters": own}
        cuts |= {"agreement": [summary["agreement"]], "scores": None}
    numbered = objects["id"] == list(range(summary["n_objects"]))
    data = {
        "n": summary["n_objects"],
        "n_partitions": summary["ensemble"]["n_partitions"],
        "fitted": summary["n_clusters"],
        "numbers": cuts["numbers"],
        "words": cuts["words"],
        "group": _whole(cuts["group"]),
        "clusters": cuts["clusters"],
        "ids": None if numbered else objects["id"],
        "confidence": _packed(np.asarray(objects["confidence"], dtype="<f4"), "f4"),
        "runner_up": _whole([0 if c is None else c + 1 for c in objects["runner_up"]]),
        "truth": _classes(objects["truth"]),
        "agreement": cuts["agreement"],
        "scores": cuts["scores"],
        "palette": PALETTE,
        "profiles": summary["profiles"],
        "features": summary["features"],
        "shown": None,
        "labels": None,
        "projection": None,
    }
    if summary["heat_map"] is not None:
        data |= _pictures(summary)
    return data


def _pictures(summary: dict[str, Any]) -> dict[str, Any]:
    heat_map, projection = summary["heat_map"], summary["projection"]
    labels = np.asarray(heat_map["labels"], dtype=np.int64).T  # object by object
    wide = labels.max() >= 255
    missing = 65535 if wide else 255
    if labels.max() >= 65535:  # codes of two bytes: number the labels of the shown objects anew
        labels, missing, wide = _renumbered(labels), 65535, True
    codes = np.where(labels < 0, missing, labels)
    percent = np.asarray(heat_map["percent"], dtype=np.uint8)
    return {
        "shown": _packed(np.asarray(summary["shown"]["objects"], dtype="<u4"), "u4"),
        "missing": missing,
        "labels": _packed(codes.astype("<u2" if wide else "u1"), "u2" if wide else "u1"),
        "blocks": {
            "n": heat_map["n_blocks"],
            "edges": _packed(np.asarray(heat_map["edges"], dtype="<u4"), "u4"),
            "triangle": _packed(percent[np.tril_indices(len(percent))], "u1"),
        },
        "projection": {
            "x": _packed(np.asarray(projection["x"], dtype="<f4"), "f4"),
            "y": _packed(np.asarray(projection["y"], dtype="<f4"), "f4"),
            "axes": projection["axes"],
            "measured": projection["kind"] != "labels",  # else directions have no units
        },
    }


def _renumbered(labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return labels counted anew in each partition: no more than there are objects."""
    columns = []
    for column in labels.T:
        known, codes = np.unique(column, return_inverse=True)
        columns.append(codes - (known[0] < 0))
    return np.stack(columns, axis=1)


def _whole(values: ArrayLike) -> dict[str, str]:
    """Pack non-negative integers in 1, 2 or 4 bytes each, the fewest that hold them."""
    array = np.asarray(values)
    most = int(array.max())
    kind = "u1" if most < 256 else "u2" if most < 65536 else "u4"
    return _packed(array.astype(f"<{kind}"), kind)


def _packed(array: NDArray[Any], kind: str) -> dict[str, str]:
    return {"t": kind, "d": base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()}


def _classes(truth: list[str | None] | None) -> dict[str, Any] | None:
    """Return the classes, and for each object its class from 1, or 0 where it is not known."""
    if truth is None:
        return None
    classes = sorted({words for words in truth if words is not None})
    code = {words: c for c, words in enumerate(classes, start=1)}
    return {"classes": classes, "codes": _whole([0 if t is None else code[t] for t in truth])}


def _script_json(data: dict[str, Any]) -> str:
    """Return JSON that cannot end the script element it stands in, nor open another."""
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


# --- words --------------------------------------------------------------------------------------


def _projection_title(summary: dict[str, Any]) -> str:
    projection = summary["projection"]
    return "" if projection is None else _PROJECTION_TITLES[projection["kind"]]


def _projection_words(summary: dict[str, Any]) -> str:
    projection = summary["projection"]
    if projection is None:
        return ""
    across, up = projection["axes"]
    if projection["kind"] == "components":
        return (
            f"Principal components of the features as they were clustered: {across} to the "
            f"right, {up} upwards. Colours and shapes are clusters, numbered."
        )
    if projection["kind"] == "features":
        upwards = f", {up} upwards" if up else ""
        return f"{across} to the right{upwards}. Colours and shapes are clusters, numbered."
    return (
        "A spectral embedding of the labels: objects that share many clusters are near each "
        "other. The directions have no units. Colours and shapes are clusters, numbered."
    )


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _group(value: int) -> str:
    """Return a number with its thousands apart."""
    return f"{value:,}"
