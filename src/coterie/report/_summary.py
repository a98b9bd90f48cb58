"""Gathering what is worth knowing about a consensus, as plain data."""

from __future__ import annotations

import platform
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import sklearn
from numpy.typing import ArrayLike, NDArray

from coterie import __version__, metrics
from coterie.choosing import (
    ClusterNumbers,
    ClusterTrust,
    cautions,
    cluster_trust,
    find_gap,
)
from coterie.consensus._base import BaseConsensus
from coterie.consensus._votes import ClusterVotes
from coterie.ensemble import Ensemble
from coterie.generation._runs import name_of
from coterie.metrics._tables import nmi_of, tables_with
from coterie.report._features import features_of_clusters
from coterie.report._words import (
    BY_SCORE,
    describe_base,
    method_words,
    methods_text,
    reason_for_number,
)
from coterie.views._blocks import mean_blocks
from coterie.views._curves import choice_curve
from coterie.views._cuts import Cuts, as_groups, cut_at_numbers
from coterie.views._order import consensus_order
from coterie.views._profiles import profiles
from coterie.views._projection import place_objects

__all__ = ["SCORES", "summarize"]

FORMAT = 3  # of the summary; goes up when a key changes its meaning
SCORES = ("nmi", "ari", "pairwise_f", "class_f", "consistency_index", "error_rate")
"""Functions of `coterie.metrics` that compare a consensus with known classes."""

MAX_SHOWN = 5_000  # objects in the pictures
_MAX_LABELS = 600_000  # of the objects in the pictures, by all partitions
_LEAST_SHOWN = 300
_BLOCKS = 400  # rows of the heat map as a whole
_MAX_DOUBTFUL = 20
_MAX_NUMBERS = 60


def summarize(
    model: Any,
    *,
    X: ArrayLike | None = None,
    original: ArrayLike | None = None,
    feature_names: Sequence[str] | None = None,
    ids: Sequence[Any] | NDArray[Any] | None = None,
    truth: Sequence[Any] | NDArray[Any] | None = None,
    generator: Any = None,
    cluster_numbers: ClusterNumbers | None = None,
    comparison: dict[str, Any] | None = None,
    source: str | None = None,
    preparation: str = "raw values",
    excluded: Sequence[str] = (),
    n_imputed: int = 0,
    notes: Sequence[str] = (),
    seed: int | None = None,
    numbers: Sequence[int] | None = None,
    pictures: bool = True,
) -> dict[str, Any]:
    """Return what is worth knowing about a consensus as plain data.

    Parameters
    ----------
    model : fitted consensus function or ConsensusClustering
        What found the clusters.
    X : array-like of shape (n_objects, n_features), optional
        The features as they were clustered: objects are drawn by their principal components.
        Default: by the labels in the ensemble.
    original : array-like of shape (n_objects, n_features), optional
        The features in their own units, for the profiles of the clusters. Default: `X`.
    feature_names : sequence of str, optional
        Their names. Default: those of the generator, or numbers.
    ids : sequence of length n_objects, optional
        Names of the objects. Default: their row numbers from 0.
    truth : sequence of length n_objects, optional
        Known classes to score against; None, NaN or an empty string where not known.
    generator : fitted RandomizedEnsemble, optional
        What made the partitions. A ConsensusClustering brings its own.
    cluster_numbers : ClusterNumbers, optional
        The evidence for the number of clusters, where a rule chose it. A ConsensusClustering
        brings its own.
    comparison : dict, optional
        How several methods compare on the ensemble, from ``coterie.compare(...).as_dict()``.
    source : str, optional
        Where the data came from: a file name, for the title.
    preparation : str, default='raw values'
        What was done to the features, in words.
    excluded : sequence of str
        Columns of the data that were left out.
    n_imputed : int, default=0
        Number of missing values of the features that were filled in.
    notes : sequence of str
        Warnings that the reader should see.
    seed : int, optional
        The seed that gives the same result again. Default: that of the model or the generator.
    numbers : sequence of int, optional
        Numbers of clusters for the slider of the report. Default: 2 to 10, and some around the
        number found.
    pictures : bool, default=True
        Whether to gather what only pictures need: other numbers of clusters, heat map,
        projection and profiles. Of many objects a sample is drawn, at most 5,000.

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
    if cluster_numbers is None:
        cluster_numbers = getattr(model, "cluster_numbers_", None)
    if seed is None and model is not consensus:
        seed = getattr(model, "random_state", None)
    gap = find_gap(
        consensus, X, structure=None if cluster_numbers is None else cluster_numbers.structure
    )
    trust = cluster_trust(consensus, random_state=0)
    ensemble, labels = consensus.ensemble_, consensus.labels_
    names = _names(ids, ensemble.n_objects)
    partitions = _partitions(consensus, generator)
    runner_up = _runner_up(consensus)
    summary: dict[str, Any] = {
        "format": FORMAT,
        "source": source,
        "n_objects": ensemble.n_objects,
        "n_features": None if generator is None else int(generator.n_features_in_),
        "n_clusters": int(consensus.n_clusters_),
        "n_clusters_given": consensus.n_clusters is not None and cluster_numbers is None,
        "reason": reason_for_number(consensus, cluster_numbers),
        "choice": _choice(consensus, cluster_numbers),
        "cluster_numbers": None if cluster_numbers is None else cluster_numbers.as_dict(cdf=False),
        "consensus": _method(consensus, cluster_numbers),
        "agreement": {
            "anmi": _mean(row["nmi"] for row in partitions),
            "confidence": _rounded(consensus.confidence_.mean()),
        },
        "scores": None if truth is None else _scores(truth, labels),
        "clusters": _clusters(consensus, trust),
        "ensemble": _ensemble(ensemble),
        "generation": None if generator is None else _generation(generator, preparation, seed),
        "excluded": [str(name) for name in excluded],
        "n_imputed": int(n_imputed),
        "doubtful": _doubtful(consensus, names, runner_up, truth),
        "partitions": partitions,
        "groups": _groups(consensus, generator),
        "comparison": _plain(comparison),
        "versions": _versions(generator is not None),
        "structure": gap._asdict(),
        "cautions": [
            caution._asdict() for caution in cautions(consensus, X, structure=gap, trust=trust)
        ],
        "notes": list(notes),
    }
    summary["methods"], summary["references"] = methods_text(summary)
    summary["objects"] = _objects(consensus, names, runner_up, truth)
    summary |= dict.fromkeys(
        ("cuts", "profiles", "features", "feature_map", "shown", "heat_map", "projection")
    )
    if pictures:
        cuts = cut_at_numbers(consensus, numbers)
        summary["cuts"] = _cuts(cuts, consensus, truth)
        original, called = X if original is None else original, None
        if original is not None:
            values = _dense(original, ensemble.n_objects)
            called = _feature_names(feature_names, generator, values.shape[1])
            summary["profiles"] = profiles(values, called, cuts, int(consensus.n_clusters_))
            if consensus.n_clusters_ > 1:
                summary |= features_of_clusters(consensus, values, called)
        summary |= _pictures(consensus, X, called)
    return summary


def _objects(
    consensus: Any,
    names: list[Any],
    runner_up: list[int | None],
    truth: Sequence[Any] | NDArray[Any] | None,
) -> dict[str, Any]:
    """Return what is known about each object, column by column."""
    return {
        "id": names,
        "cluster": consensus.labels_.tolist(),
        "confidence": np.round(consensus.confidence_, 6).tolist(),
        "truth": None if truth is None else _texts(truth),
        "runner_up": runner_up,
    }


def _method(consensus: Any, numbers: ClusterNumbers | None) -> dict[str, Any]:
    """Return what is told about the consensus method, with its parameters."""
    words = method_words(consensus)
    return {
        "method": type(consensus).__name__,
        "parameters": _plain(consensus.get_params(deep=False)),
        "words": words.name,
        "number": words.number if numbers is None else BY_SCORE,
        "confidence": words.confidence,
        "references": list(words.references),
        "converged": _plain(getattr(consensus, "converged_", None)),
        "n_iter": _plain(getattr(consensus, "n_iter_", None)),
    }


def _ensemble(ensemble: Ensemble) -> dict[str, Any]:
    return {
        "n_partitions": ensemble.n_partitions,
        "n_clusters": [int(ensemble.n_clusters.min()), int(ensemble.n_clusters.max())],
        "n_patterns": len(ensemble.patterns.counts),
        "missing": _rounded(np.mean(ensemble.labels < 0)),
    }


def _names(ids: Sequence[Any] | NDArray[Any] | None, n_objects: int) -> list[Any]:
    if ids is None:
        return list(range(n_objects))
    if len(ids) != n_objects:
        raise ValueError(f"ids must have one name per object ({n_objects}); got {len(ids)}.")
    return [_plain(name) for name in ids]


def _clusters(consensus: Any, trust: ClusterTrust) -> list[dict[str, Any]]:
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
        | row
        for c, row in enumerate(trust.as_dicts())
    ]


def _partitions(consensus: Any, generator: Any) -> list[dict[str, Any]]:
    ensemble = consensus.ensemble_
    agreement = _agreement_of(consensus.labels_, ensemble)
    missing = (ensemble.labels < 0).mean(axis=0)
    groups = _group_names(ensemble.groups, generator)
    rows = [
        {
            "partition": int(ensemble.columns[e]),
            "name": ensemble.names[e],
            "group": groups[e],
            "n_clusters": int(ensemble.n_clusters[e]),
            "missing": _rounded(missing[e]),
            "validity": _rounded(ensemble.validity[e]),
            "nmi": agreement[e],
        }
        for e in range(ensemble.n_partitions)
    ]
    if hasattr(consensus, "rho_"):
        for row, rho, r, weight in zip(
            rows, consensus.rho_, consensus.r_, consensus.weights_[:, 0], strict=True
        ):
            row |= {"rho": _rounded(rho), "r": _rounded(r), "weight": _rounded(weight)}
    return rows


def _agreement_of(labels: NDArray[np.int64], ensemble: Ensemble) -> list[float | None]:
    """Return the NMI of labels with each partition."""
    return [
        _rounded(nmi) for nmi in nmi_of(tables_with(labels, ensemble.labels, ensemble.n_clusters))
    ]


def _group_names(groups: NDArray[Any], generator: Any) -> list[str | None]:
    """Return the algorithm that made each partition; None where nothing was said about it."""
    if groups.dtype.kind == "U":
        return [str(group) for group in groups]
    bases = getattr(generator, "_base_estimators", [])
    if len(bases) > int(groups.max()):
        return [name_of(bases[group]) for group in groups]
    if len(np.unique(groups)) == 1:
        return [None] * len(groups)
    return [f"group {group}" for group in groups]


def _groups(consensus: Any, generator: Any) -> list[dict[str, Any]] | None:
    """Return for which share of the pairs each group of partitions was trusted, if it is known."""
    shares = getattr(consensus, "group_share_", None)
    if shares is None:
        return None
    names = _group_names(np.asarray(consensus.groups_), generator)
    return [
        {"group": name, "share": _rounded(share)} for name, share in zip(names, shares, strict=True)
    ]


def _runner_up(consensus: Any) -> list[int | None]:
    """Return the cluster that each object would be in next, None where no partition names one."""
    found = consensus._votes.runner_up(consensus.ensemble_, consensus.labels_)
    return [None if c < 0 else c for c in found.tolist()]


def _doubtful(
    consensus: Any,
    names: list[Any],
    runner_up: list[int | None],
    truth: Sequence[Any] | NDArray[Any] | None,
) -> list[dict[str, Any]]:
    """Return the objects of lowest confidence; those of confidence 1 are left out."""
    confidence = consensus.confidence_
    lowest = np.argsort(confidence, kind="stable")[:_MAX_DOUBTFUL]
    return [
        {
            "id": names[i],
            "row": int(i),
            "cluster": int(consensus.labels_[i]),
            "confidence": _rounded(confidence[i]),
            "runner_up": runner_up[i],
            "truth": None if truth is None else _text(truth[i]),
        }
        for i in lowest
        if confidence[i] < 1.0
    ]


def _choice(consensus: Any, numbers: ClusterNumbers | None) -> dict[str, Any] | None:
    """Return what the number of clusters was chosen by, for a few numbers around it."""
    most = max(15, min(consensus.n_clusters_ + 4, _MAX_NUMBERS))
    if numbers is not None and len(numbers.n_clusters):
        shown = numbers.n_clusters <= most
        return {
            "kind": "score",
            "name": "score",
            "best": "highest",
            "numbers": numbers.n_clusters[shown].tolist(),
            "values": [_rounded(value) for value in numbers.criteria["score"][shown]],
        }
    curve = choice_curve(consensus, most)
    if curve is None or not len(curve.numbers):
        return None
    return {
        "kind": curve.kind,
        "name": curve.name,
        "best": curve.best,
        "numbers": curve.numbers.tolist(),
        "values": [_rounded(value) for value in curve.values],
    }


def _scores(truth: Sequence[Any] | NDArray[Any], labels: NDArray[np.int64]) -> dict[str, Any]:
    if len(truth) != len(labels):
        raise ValueError(f"truth must have one class per object ({len(labels)}); got {len(truth)}.")
    texts = _texts(truth)
    known = np.array([text is not None for text in texts], dtype=bool)
    if not known.any():
        raise ValueError("truth must name the class of at least one object; got none.")
    classes, codes = np.unique([text for text in texts if text is not None], return_inverse=True)
    found = {name: _rounded(getattr(metrics, name)(codes, labels[known])) for name in SCORES}
    return {"n_classes": len(classes), "n_scored": int(known.sum()), **found}


def _generation(generator: Any, preparation: str, seed: Any) -> dict[str, Any]:
    params = generator.get_params(deep=False)
    bases = getattr(generator, "_base_estimators", [])
    seed = params.get("random_state") if seed is None else seed
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
    versions = {"coterie": __version__, "Python": platform.python_version()}
    if made:
        versions["scikit-learn"] = sklearn.__version__
    return versions


# --- what pictures need ---------------------------------------------------------------------------


def _cuts(cuts: Cuts, consensus: Any, truth: Sequence[Any] | NDArray[Any] | None) -> dict[str, Any]:
    group, table = as_groups(cuts)
    return {
        "numbers": cuts.numbers,
        "how": cuts.how,
        "words": cuts.words,
        "group": group.tolist(),
        "clusters": table.tolist(),
        "agreement": [_agreement(consensus, labels) for labels in cuts.labels],
        "scores": None if truth is None else [_scores(truth, labels) for labels in cuts.labels],
    }


def _agreement(consensus: Any, labels: NDArray[np.int64]) -> dict[str, Any]:
    """Return how far the partitions support labels, which need not be the fitted ones."""
    ensemble = consensus.ensemble_
    anmi = _mean(_agreement_of(labels, ensemble))
    if np.array_equal(labels, consensus.labels_):
        return {"anmi": anmi, "confidence": _rounded(consensus.confidence_.mean())}
    if type(consensus)._confidence is not BaseConsensus._confidence:
        return {"anmi": anmi, "confidence": None}  # a measure that only a fit gives
    votes = ClusterVotes.tally(ensemble, labels, int(labels.max()) + 1)
    return {"anmi": anmi, "confidence": _rounded(votes.confidence(ensemble, labels).mean())}


def _pictures(consensus: Any, X: ArrayLike | None, names: list[str] | None) -> dict[str, Any]:
    """Return which objects are shown, in what order, and where and with what labels."""
    ensemble = consensus.ensemble_
    order = consensus_order(consensus)
    n = len(order)
    most = min(MAX_SHOWN, max(_LEAST_SHOWN, _MAX_LABELS // ensemble.n_partitions))
    # Evenly along the order, so that each cluster is shown with its share of the objects.
    shown = order if n <= most else order[np.linspace(0, n - 1, most).round().astype(np.int64)]
    blocks = mean_blocks(ensemble, order, _BLOCKS)
    features = None if X is None else _dense(X, n, shown)
    with warnings.catch_warnings():
        # A partition that labels no object of the sample is left out: no need to warn.
        warnings.simplefilter("ignore")
        place = place_objects(ensemble.take(shown), features, names)
    return {
        "shown": {"objects": shown.tolist(), "sampled": n > most},
        "heat_map": {
            "n_blocks": len(blocks.shares),
            "edges": blocks.edges.tolist(),
            "percent": np.round(100 * blocks.shares).astype(int).tolist(),
            "labels": ensemble.labels[shown].T.tolist(),
        },
        "projection": {
            "kind": place.kind,
            "axes": list(place.axes),
            "x": _places(place.places[:, 0]),
            "y": _places(place.places[:, 1]),
        },
    }


def _places(values: NDArray[np.float64]) -> list[float]:
    """Return coordinates to four digits of their range: finer than any screen."""
    low, high = float(values.min()), float(values.max())
    digits = 4 - int(np.floor(np.log10(high - low))) if high > low else 6
    return np.round(values, digits).tolist()


def _dense(X: Any, n_objects: int, objects: NDArray[np.int64] | None = None) -> NDArray[np.float64]:
    if not hasattr(X, "toarray"):
        X = np.asarray(X, dtype=np.float64)
    if len(X.shape) != 2 or X.shape[0] != n_objects:
        raise ValueError(
            f"X must have a row for each of the {n_objects} objects; got shape {X.shape}."
        )
    X = X if objects is None else X[objects]
    dense: NDArray[np.float64] = X.toarray() if hasattr(X, "toarray") else X
    return dense


def _feature_names(names: Sequence[str] | None, generator: Any, n: int) -> list[str]:
    if names is None:
        names = getattr(generator, "feature_names_in_", None)
    if names is None:
        return [f"feature {j}" for j in range(n)]
    if len(names) != n:
        raise ValueError(f"feature_names must name each of the {n} features; got {len(names)}.")
    return [str(name) for name in names]


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
    if isinstance(value, np.ndarray):
        value = value.tolist()
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
