"""How a fitted estimator shows itself in a notebook: plain HTML, no script."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np
from sklearn import get_config

__all__ = ["FittedRepr", "fitted_html"]

_PIXELS = 160
_MAX_CLUSTERS = 8
_MAX_OBJECTS = 200_000  # beyond, the heat map is of a sample


class FittedRepr:
    """Lets an estimator show what it found; before `fit`, scikit-learn's own diagram."""

    def _repr_html_inner(self) -> str:
        if not hasattr(self, "labels_"):
            inner: str = super()._repr_html_inner()  # type: ignore[misc]
            return inner
        return fitted_html(self)

    def _repr_mimebundle_(self, **settings: Any) -> dict[str, str]:
        """Return the text and, unless scikit-learn is told otherwise, the HTML of a notebook."""
        if not hasattr(self, "labels_") or get_config()["display"] != "diagram":
            bundle: dict[str, str] = super()._repr_mimebundle_(**settings)  # type: ignore[misc]
            return bundle
        return {"text/plain": repr(self), "text/html": fitted_html(self)}


def fitted_html(model: Any) -> str:
    """Return what a fitted estimator found: size, number of clusters, confidence, heat map."""
    from coterie.views._blocks import mean_blocks
    from coterie.views._order import consensus_order
    from coterie.views._palette import PALETTE
    from coterie.views._png import blue_png, png_data_uri

    consensus = getattr(model, "consensus_", model)
    ensemble, labels, confidence = consensus.ensemble_, consensus.labels_, consensus.confidence_
    n, k = len(labels), int(consensus.n_clusters_)
    order = consensus_order(consensus)
    if n > _MAX_OBJECTS:
        order = order[np.linspace(0, n - 1, _MAX_OBJECTS).round().astype(np.int64)]
    picture = png_data_uri(blue_png(mean_blocks(ensemble, order, _PIXELS).shares))
    sizes = np.bincount(labels)
    bars = "".join(
        f'<div style="display:flex;align-items:center;gap:.5em;line-height:1.35">'
        f'<span style="width:1.5em;text-align:right">{c}</span>'
        f'<span style="background:{PALETTE[c % len(PALETTE)]};height:.7em;border-radius:2px;'
        f'width:{max(8 * size / sizes[0], 0.1):.2f}em"></span>'
        f"<span>{size:,} ({confidence[labels == c].mean():.2f})</span></div>"
        for c, size in enumerate(sizes[:_MAX_CLUSTERS])
    )
    if k > _MAX_CLUSTERS:
        bars += f"<div>and {k - _MAX_CLUSTERS:,} smaller</div>"
    low = int((confidence < 0.5).sum())
    facts = {
        "objects": f"{n:,}",
        "partitions": f"{ensemble.n_partitions:,}",
        "clusters": f"{k:,}" + ("" if consensus.n_clusters is None else " (as asked for)"),
        "mean confidence": f"{confidence.mean():.2f}",
        "below 0.5": f"{low:,} object{'' if low == 1 else 's'}",
    }
    if consensus is not model:
        facts["consensus"] = type(consensus).__name__
    rows = "".join(
        f'<tr><td style="text-align:left;opacity:.7;padding:0 .8em 0 0">{escape(name)}</td>'
        f'<td style="text-align:left;padding:0">{escape(value)}</td></tr>'
        for name, value in facts.items()
    )
    return (
        '<div style="font-family:system-ui,sans-serif;font-size:13px;line-height:1.45">'
        f'<div style="font-family:monospace;white-space:pre-wrap;margin-bottom:.5em">'
        f"{escape(repr(model))}</div>"
        '<div style="display:flex;gap:1.5em;flex-wrap:wrap;align-items:flex-start">'
        f'<img src="{picture}" width="{_PIXELS}" height="{_PIXELS}" '
        'style="image-rendering:pixelated;border:1px solid #8884" '
        'alt="Co-association of the objects, ordered by cluster">'
        f'<table style="border-collapse:collapse;margin:0;font-size:inherit">{rows}</table>'
        f"<div><div style='opacity:.7'>objects (mean confidence)</div>{bars}</div>"
        "</div></div>"
    )
