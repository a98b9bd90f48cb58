"""The page of one consensus per number of clusters."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coterie import __version__, metrics, plotting
from coterie.per_k import ConsensusPerK
from coterie.per_k._tables import tables_of
from coterie.report._html import page_environment, source_hash

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["render_per_k", "summarize_per_k"]

_DPI = 130
_MAX_DOUBTFUL = 20
_REFERENCES = (
    "S. Monti, P. Tamayo, J. Mesirov and T. Golub (2003). Consensus clustering: a resampling-based "
    "method for class discovery and visualization of gene expression microarray data. Machine "
    "Learning, 52, 91-118. doi:10.1023/A:1023949509487",
    "M. D. Wilkerson and D. N. Hayes (2010). ConsensusClusterPlus: a class discovery tool with "
    "confidence assessments and item tracking. Bioinformatics, 26(12), 1572-1573. "
    "doi:10.1093/bioinformatics/btq170",
    "Y. Senbabaoglu, G. Michailidis and J. Z. Li (2014). Critical limitations of consensus "
    "clustering in class discovery. Scientific Reports, 4, 6207. doi:10.1038/srep06207",
)
_M3C = (
    "C. R. John et al. (2020). M3C: Monte Carlo reference-based consensus clustering. Scientific "
    "Reports, 10, 1816. doi:10.1038/s41598-020-58766-1"
)


def summarize_per_k(
    model: ConsensusPerK,
    *,
    ids: Sequence[Any] | None = None,
    truth: Sequence[Any] | None = None,
    source: str | None = None,
    preparation: str = "raw values",
    notes: Sequence[str] = (),
) -> dict[str, Any]:
    """Return what is worth knowing about one consensus per number of clusters, as plain data.

    Parameters
    ----------
    model : ConsensusPerK
        The fitted analysis.
    ids : sequence of length n_objects, optional
        Names of the objects. Default: their row numbers from 0.
    truth : sequence of length n_objects, optional
        Known classes to score each number against; None or an empty string where not known.
    source : str, optional
        Where the data came from, for the title.
    preparation : str, default='raw values'
        What was done to the features, in words.
    notes : sequence of str
        Warnings that the reader should see.

    Returns
    -------
    summary : dict
        Numbers, strings, lists and dicts only, ready for ``json.dumps``.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import ConsensusPerK
    >>> from coterie.report import summarize_per_k
    >>> X = np.random.default_rng(0).normal(size=(40, 3)) + np.repeat([[0], [9]], 20, axis=0)
    >>> model = ConsensusPerK(k_range=range(2, 4), n_resamples=10, random_state=0).fit(X)
    >>> summarize_per_k(model)["best_k"]
    2
    """
    k = model.best_k_
    labels = model.labels_[k]
    names = list(range(len(labels))) if ids is None else [str(name) for name in ids]
    tables = tables_of(model, names)
    scores = None
    if truth is not None:
        scores = {number: _scores(truth, found) for number, found in model.labels_.items()}
    return {
        "source": source,
        "n_objects": len(labels),
        "n_features": int(model.n_features_in_),
        "best_k": k,
        "has_clusters": model.has_clusters_,
        "reasons": list(model.reasons_),
        "numbers": _plain(tables["numbers"]),
        "scores": scores,
        "clusters": _clusters(model),
        "doubtful": _doubtful(model, names),
        "classes": tables["classes"],
        "methods": _methods(model, preparation),
        "references": [*_REFERENCES, _M3C] if model.n_null else list(_REFERENCES),
        "versions": {"coterie": __version__},
        "notes": list(notes),
    }


def render_per_k(
    model: ConsensusPerK,
    summary: dict[str, Any],
    *,
    annotations: Mapping[str, ArrayLike] | None = None,
) -> str:
    """Return the page of a summary, with its pictures, as one HTML file that needs nothing else.

    Parameters
    ----------
    model : ConsensusPerK
        The fitted analysis.
    summary : dict
        From `summarize_per_k`.
    annotations : mapping of str to array-like of shape (n_objects,), optional
        Known facts about the objects, drawn as bars above the heat maps.

    Returns
    -------
    page : str
        Nothing from the network; everything that came from data is escaped, and no script runs.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import ConsensusPerK
    >>> from coterie.report import render_per_k, summarize_per_k
    >>> X = np.random.default_rng(0).normal(size=(40, 3)) + np.repeat([[0], [9]], 20, axis=0)
    >>> model = ConsensusPerK(k_range=range(2, 4), n_resamples=10, random_state=0).fit(X)
    >>> page = render_per_k(model, summarize_per_k(model))
    >>> page[:15]
    '<!doctype html>'
    """
    from markupsafe import Markup

    environment, style = page_environment()
    return environment.get_template("per_k.html.j2").render(
        s=summary,
        style=Markup(style),
        style_hash=source_hash(style),
        pictures=_pictures(model),
        heat_maps=[(k, _heat_map(model, k, annotations)) for k in model.k_range_.tolist()],
    )


def _pictures(model: ConsensusPerK) -> dict[str, str]:
    """Return the pictures as addresses that hold their data."""
    draw: dict[str, tuple[Callable[[Axes], Any], float]] = {
        "cdf": (lambda ax: plotting.plot_consensus_cdf(model, ax=ax, most=12), 3.6),
        "delta_area": (lambda ax: plotting.plot_delta_area(model, ax=ax), 3.6),
        "tracking": (lambda ax: plotting.plot_tracking(model, ax=ax), 3.2),
        "tree": (lambda ax: plotting.plot_clustering_tree(model, ax=ax), 4.6),
        "clusters": (lambda ax: plotting.plot_cluster_consensus(model, ax=ax), 3.2),
        "item": (lambda ax: plotting.plot_item_consensus(model, ax=ax), 3.2),
        "silhouette": (lambda ax: plotting.plot_consensus_silhouette(model, ax=ax), 4.2),
    }
    return {name: _picture(make, height) for name, (make, height) in draw.items()}


def _heat_map(model: ConsensusPerK, k: int, annotations: Mapping[str, ArrayLike] | None) -> str:
    height = 4.4 + 0.35 * len(annotations or ())
    return _picture(
        lambda ax: plotting.plot_coassociation(model, k=k, annotations=annotations, ax=ax), height
    )


def _picture(draw: Callable[[Axes], Any], height: float) -> str:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.6, height), layout="constrained")
    draw(figure.add_subplot())
    data = io.BytesIO()
    figure.savefig(data, format="png", dpi=_DPI, bbox_inches="tight")
    return f"data:image/png;base64,{base64.b64encode(data.getvalue()).decode()}"


def _clusters(model: ConsensusPerK) -> list[dict[str, Any]]:
    labels, confidence = model.labels_[model.best_k_], model.confidence_[model.best_k_]
    consensus = model.cluster_consensus(model.best_k_)
    return [
        {
            "cluster": c,
            "size": int((labels == c).sum()),
            "consensus": _number(consensus[c]),
            "confidence": _number(confidence[labels == c].mean()),
        }
        for c in range(model.best_k_)
    ]


def _doubtful(model: ConsensusPerK, names: list[Any]) -> list[dict[str, Any]]:
    """Return the objects with the lowest confidence, and where else they could be."""
    k = model.best_k_
    labels, confidence, item = model.labels_[k], model.confidence_[k], model.item_consensus(k)
    others = np.nan_to_num(item.copy())
    others[np.arange(len(labels)), labels] = -1.0
    rows = np.argsort(confidence, kind="stable")[:_MAX_DOUBTFUL]
    return [
        {
            "id": names[i],
            "cluster": int(labels[i]),
            "confidence": _number(confidence[i]),
            "item_consensus": _number(item[i, labels[i]]),
            "other": int(others[i].argmax()),
            "other_consensus": _number(others[i].max()),
        }
        for i in rows.tolist()
    ]


def _methods(model: ConsensusPerK, preparation: str) -> str:
    """Return what was done, in words for a methods section."""
    runs = model._make_runs()
    base = runs.estimator if isinstance(runs.estimator, str) else type(runs.estimator).__name__
    if base == "hierarchical":
        base = f"hierarchical clustering ({model.inner_linkage} linkage)"
    distance = f" on {runs.metric} distances" if runs.uses_distances else ""
    low, high = model.k_range_[0], model.k_range_[-1]
    n_drawn = runs.part_sizes(len(model.labels_[model.best_k_]))[0]
    null = (
        f" PAC was compared with that of {model.n_null} data sets of the same covariance without "
        "clusters."
        if model.n_null
        else ""
    )
    return (
        f"Consensus clustering (Monti et al., 2003) with {base}{distance}, for {low} to {high} "
        f"clusters, on {model.n_resamples} random parts of {n_drawn} objects each "
        f"(features: {preparation}). Clusters are those of {model.linkage} linkage of "
        f"1 - consensus.{null} Made with coterie {__version__}, seed {model.random_state}."
    )


def _scores(truth: Sequence[Any], labels: NDArray[np.int64]) -> dict[str, float]:
    """Return NMI and ARI with the known classes, on the objects whose class is known."""
    if len(truth) != len(labels):
        raise ValueError(f"truth must have one class per object ({len(labels)}); got {len(truth)}.")
    known = np.array([name is not None and name != "" for name in truth])
    if not known.any():
        raise ValueError("truth must name the class of at least one object; got none.")
    classes = [str(name) for name, is_known in zip(truth, known, strict=True) if is_known]
    scores = {"nmi": metrics.nmi, "ari": metrics.ari}
    return {name: round(float(score(classes, labels[known])), 6) for name, score in scores.items()}


def _plain(columns: dict[str, list[Any]]) -> dict[str, list[Any]]:
    return {
        name: [_number(v) if isinstance(v, float) else v for v in values]
        for name, values in columns.items()
    }


def _number(value: float) -> float | None:
    return round(float(value), 6) if np.isfinite(value) else None
