"""Gathering what is worth knowing about a consensus, as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coterie.report._heatmap import MOST_BLOCKS, consensus_order, mean_blocks
from coterie.report._words import (
    describe_base,
    method_words,
    methods_text,
    reason_for_number,
)

__all__ = ["SCORES", "summarize"]

FORMAT = 1  # of the summary; goes up when a key changes its meaning
SCORES = ("nmi", "ari", "pairwise_f", "class_f", "consistency_index", "error_rate")
"""Functions of `coterie.metrics` that compare a consensus with known classes."""

_MOST_DOUBTFUL = 20
_LEAST_LIFETIMES = 15
_MOST_LIFETIMES = 60


def summarize(
    model: Any,
    *,
    ids: Sequence[Any] | NDArray[Any] | None = None,
    truth: Sequence[Any] | NDArray[Any] | None = None,
    generator: Any = None,
    source: str | None = None,
    preparation: str = "raw values",
    notes: Sequence[str] = (),
    heat_map: bool = True,
) -> dict[str, Any]:
    """Return what is worth knowing about a consensus as plain data.

    Parameters
    ----------
    model : fitted consensus function or ConsensusClustering
        What found the clusters.
    ids : sequence of length n_objects, optional
        Names of the objects. Default: their row numbers from 0.
    truth : sequence of length n_objects, optional
        Known classes to score against; None, NaN or an empty string where not known.
    generator : fitted RandomizedEnsemble, optional
        What made the partitions. A ConsensusClustering brings its own.
    source : str, optional
        Where the data came from: a file name, for the title.
    preparation : str, default='raw values'
        What was done to the features, in words.
    notes : sequence of str
        Warnings that the reader should see.
    heat_map : bool, default=True
        Whether to include the co-association of the objects (as percent, in runs of neighbours
        where there are more than 600 objects).

    Returns
    -------
    summary : dict
        Numbers, strings, lists and dicts only, ready for ``json.dumps``. What has no value is
        None.

    Examples
    --------
    >>> from coterie import EAC
    >>> votes = [[0, 0, 0], [0, 0, 0], [0, 1, 1], [1, 1, 1], [1, 1, 1]]
    >>> summary = summarize(EAC(n_clusters=2).fit(votes), ids=list("abcde"))
    >>> summary["n_clusters"], summary["doubtful"][0]["id"]
    (2, 'c')
    """
    consensus = getattr(model, "consensus_", model)
    generator = getattr(model, "generator_", None) if generator is None else generator
    ensemble, labels = consensus.ensemble_, consensus.labels_
    names = _names(ids, ensemble.n_objects)
    words = method_words(consensus)
    partitions = _partitions(ensemble, labels)
    summary: dict[str, Any] = {
        "format": FORMAT,
        "source": source,
        "n_objects": ensemble.n_objects,
        "n_features": None if generator is None else int(generator.n_features_in_),
        "n_clusters": int(consensus.n_clusters_),
        "n_clusters_given": consensus.n_clusters is not None,
        "reason": reason_for_number(consensus),
        "consensus": {
            "method": type(consensus).__name__,
            "parameters": _plain(consensus.get_params(deep=False)),
            "words": words.name,
            "number": words.number,
            "confidence": words.confidence,
            "references": list(words.references),
            "converged": _plain(getattr(consensus, "converged_", None)),
        },
        "agreement": {
            "anmi": _mean(row["nmi"] for row in partitions),
            "confidence": _rounded(consensus.confidence_.mean()),
        },
        "scores": None if truth is None else _scores(truth, labels),
        "clusters": _clusters(consensus),
        "lifetimes": _lifetimes(consensus),
        "ensemble": {
            "n_partitions": ensemble.n_partitions,
            "n_clusters": [int(ensemble.n_clusters.min()), int(ensemble.n_clusters.max())],
            "n_patterns": len(ensemble.patterns.counts),
            "missing": _rounded(np.mean(ensemble.labels < 0)),
        },
        "generation": None if generator is None else _generation(generator, preparation),
        "doubtful": _doubtful(consensus, names, truth),
        "partitions": partitions,
        "versions": _versions(generator is not None),
        "notes": list(notes),
    }
    summary["methods"], summary["references"] = methods_text(summary)
    summary["objects"] = {
        "id": names,
        "cluster": labels.tolist(),
        "confidence": [_rounded(value) for value in consensus.confidence_],
        "truth": None if truth is None else _texts(truth),
    }
    summary["heat_map"] = _heat_map(consensus) if heat_map else None
    return summary


def _names(ids: Sequence[Any] | NDArray[Any] | None, n_objects: int) -> list[Any]:
    if ids is None:
        return list(range(n_objects))
    if len(ids) != n_objects:
        raise ValueError(f"ids must have one name per object ({n_objects}); got {len(ids)}.")
    return [_plain(name) for name in ids]


def _clusters(consensus: Any) -> list[dict[str, Any]]:
    labels, confidence = consensus.labels_, consensus.confidence_
    sizes = np.bincount(labels)
    total = np.bincount(labels, weights=confidence)
    least = np.full(len(sizes), np.inf)
    np.minimum.at(least, labels, confidence)
    return [
        {
            "cluster": c,
            "size": int(sizes[c]),
            "confidence": _rounded(total[c] / sizes[c]),
            "least_confidence": _rounded(least[c]),
        }
        for c in range(len(sizes))
    ]


def _partitions(ensemble: Any, labels: NDArray[np.int64]) -> list[dict[str, Any]]:
    from coterie.metrics._tables import nmi_of, tables_with

    agreement = nmi_of(tables_with(labels, ensemble.labels, ensemble.n_clusters))
    missing = (ensemble.labels < 0).mean(axis=0)
    return [
        {
            "partition": int(ensemble.columns[e]),
            "group": _plain(ensemble.groups[e]),
            "n_clusters": int(ensemble.n_clusters[e]),
            "missing": _rounded(missing[e]),
            "validity": _rounded(ensemble.validity[e]),
            "nmi": _rounded(agreement[e]),
        }
        for e in range(ensemble.n_partitions)
    ]


def _doubtful(
    consensus: Any, names: list[Any], truth: Sequence[Any] | NDArray[Any] | None
) -> list[dict[str, Any]]:
    """Return the objects of least confidence, those in no doubt left out."""
    confidence = consensus.confidence_
    lowest = np.argsort(confidence, kind="stable")[:_MOST_DOUBTFUL]
    return [
        {
            "id": names[i],
            "row": int(i),
            "cluster": int(consensus.labels_[i]),
            "confidence": _rounded(confidence[i]),
            "truth": None if truth is None else _text(truth[i]),
        }
        for i in lowest
        if confidence[i] < 1.0
    ]


def _lifetimes(consensus: Any) -> list[dict[str, Any]] | None:
    """Return how long the first numbers of clusters last, as far as the chosen one and beyond."""
    lifetimes = getattr(consensus, "lifetimes_", None)
    if lifetimes is None or not len(lifetimes):
        return None
    shown = max(_LEAST_LIFETIMES, consensus.n_clusters_ + 3)
    return [
        {"n_clusters": k, "lifetime": _rounded(life)}
        for k, life in enumerate(lifetimes[: min(shown, _MOST_LIFETIMES)], start=2)
    ]


def _scores(truth: Sequence[Any] | NDArray[Any], labels: NDArray[np.int64]) -> dict[str, Any]:
    from coterie import metrics

    if len(truth) != len(labels):
        raise ValueError(f"truth must have one class per object ({len(labels)}); got {len(truth)}.")
    texts = _texts(truth)
    known = np.array([text is not None for text in texts], dtype=bool)
    if not known.any():
        raise ValueError("truth must name the class of at least one object; got none.")
    classes, codes = np.unique([text for text in texts if text is not None], return_inverse=True)
    found = {name: _rounded(getattr(metrics, name)(codes, labels[known])) for name in SCORES}
    return {"n_classes": len(classes), "n_scored": int(known.sum()), **found}


def _generation(generator: Any, preparation: str) -> dict[str, Any]:
    params = generator.get_params(deep=False)
    bases = getattr(generator, "_base_estimators", [])
    seed = params.get("random_state")
    return {
        "generator": type(generator).__name__,
        "bases": [describe_base(base) for base in bases] or [type(generator).__name__],
        "preparation": preparation,
        "max_features": _part(params.get("max_features", 1.0)),
        "max_samples": _part(params.get("max_samples", 1.0)),
        "seed": int(seed) if isinstance(seed, int | np.integer) else None,
    }


def _part(value: Any) -> str:
    """Return a share, a number or a range of these in words."""
    if isinstance(value, list | tuple | np.ndarray):
        return " to ".join(_part(part) for part in value)
    if isinstance(value, float | np.floating):
        return "all" if value == 1.0 else f"{100 * value:.3g} %"
    return str(value)


def _versions(made: bool) -> dict[str, str]:
    import coterie

    versions = {"coterie": coterie.__version__}
    if made:
        import sklearn

        versions["scikit-learn"] = sklearn.__version__
    return versions


def _heat_map(consensus: Any) -> dict[str, Any]:
    order = consensus_order(consensus)
    blocks = mean_blocks(consensus.ensemble_, order, MOST_BLOCKS)
    sizes = np.bincount(consensus.labels_)
    return {
        "n_blocks": len(blocks.shares),
        "cluster_edges": [0, *np.cumsum(sizes).tolist()],
        "percent": np.round(100 * blocks.shares).astype(int).tolist(),
    }


# --- plain values -------------------------------------------------------------------------------


def _plain(value: Any) -> Any:
    """Return a value as JSON knows it; what JSON does not know, as text."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return None
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return str(value)


def _rounded(value: ArrayLike) -> float | None:
    number = float(value)  # type: ignore[arg-type]
    return round(number, 6) if np.isfinite(number) else None


def _mean(values: Any) -> float | None:
    known = [value for value in values if value is not None]
    return _rounded(np.mean(known)) if known else None


def _text(value: Any) -> str | None:
    """Return a class as text; None for what is not known."""
    value = _plain(value)
    return None if value is None or value == "" else str(value)


def _texts(values: Sequence[Any] | NDArray[Any]) -> list[str | None]:
    return [_text(value) for value in values]
