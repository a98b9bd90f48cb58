"""What was done, in words that fit a methods section, with references.

What is told about a method stands on its class (`about`, see `coterie._about`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from coterie._about import STREHL, MethodWords, words_of
from coterie.choosing import ClusterNumbers

__all__ = ["BY_SCORE", "describe_base", "method_words", "methods_text", "reason_for_number"]


_BASES = {
    "KMeans": "k-means",
    "MiniBatchKMeans": "mini-batch k-means",
    "BisectingKMeans": "bisecting k-means",
    "AgglomerativeClustering": "{linkage}-linkage agglomerative clustering",
    "SpectralClustering": "spectral clustering",
    "GaussianMixture": "a Gaussian mixture",
    "BayesianGaussianMixture": "a Bayesian Gaussian mixture",
    "Birch": "BIRCH",
}

_MAX_EXCLUDED = 10  # columns named
_SOFTWARE = (
    "F. Pedregosa et al. (2011). Scikit-learn: machine learning in Python. Journal of Machine "
    "Learning Research, 12, 2825-2830."
)
_COTERIE = "The coterie developers. coterie: cluster ensembles for Python, version {version}."


BY_SCORE = (
    "the one with the highest product of the mean silhouette and the isolation of clusters, among "
    "the cuts of a consensus tree (LWEA)"
)
"""Completes "the number of clusters is ..." where `how_many_clusters` chose it."""


def method_words(consensus: Any) -> MethodWords:
    """Return how to speak of a fitted consensus estimator, its parameters filled in."""
    words = words_of(type(consensus))
    return words._replace(name=words.name.format_map(_Parameters(consensus.get_params(deep=False))))


class _Parameters(dict[str, Any]):
    """Parameters that fill braces; one that a version does not have stays in its braces."""

    def __missing__(self, name: str) -> str:
        return f"{{{name}}}"


def describe_base(estimator: Any) -> str:
    """Return the name of a base clusterer in words."""
    cls = type(estimator).__name__
    params = estimator.get_params(deep=False)
    text = _BASES.get(cls, cls).format_map(params)
    if params.get("init") == "random" and params.get("n_init") == 1:
        text += " with one random start"
    return text


def reason_for_number(consensus: Any, numbers: ClusterNumbers | None = None) -> str:
    """Return why the result has this number of clusters, in a sentence or two."""
    if numbers is not None:
        return numbers.reason
    k = consensus.n_clusters_
    if consensus.n_clusters is not None:
        return f"{count(k, 'cluster')} as asked for."
    cls = type(consensus).__name__
    if k == 1 < consensus.ensemble_.n_objects and (consensus.ensemble_.n_clusters == 1).all():
        return "1 cluster: no partition puts two objects apart."
    text = f"{cls} found {count(k, 'cluster')}; the number is {method_words(consensus).number}"
    curve = getattr(consensus, "n_clusters_curve_", None)
    if curve is not None and not len(curve):
        return f"{count(k, 'cluster')}: too few objects for a choice."
    if curve is None or k not in curve:
        return f"{text}."
    text += f" ({curve.name} {_digits(curve[k])}"
    sign = 1 if curve.larger_is_better else -1
    others = [(sign * value, -number) for number, value in curve.items() if number != k]
    if others:
        value, number = max(others)
        text += f"; the next best is {_digits(sign * value)}, for {count(-number, 'cluster')}"
    return f"{text})."


def methods_text(summary: dict[str, Any]) -> tuple[str, list[str]]:
    """Return a methods section for a summary, and its references."""
    sentences = [_made(summary), *_preparation(summary)]
    ensemble, agreement = summary["ensemble"], summary["agreement"]
    if ensemble["missing"] > 0:
        sentences.append(
            f"{_percent(ensemble['missing'])} of the labels are missing; a partition counts for a "
            "pair of objects only if it labels both."
        )
    sentences.append(f"The partitions were combined by {summary['consensus']['words']}.")
    k = count(summary["n_clusters"], "cluster")
    if summary["n_clusters_given"]:
        sentences.append(f"The number of clusters was set to {summary['n_clusters']}.")
    else:
        sentences.append(
            f"This gave {k}; the number was not set but is {summary['consensus']['number']}."
        )
    sentences += _convergence(summary["consensus"])
    sentences.append(
        f"The consensus shares a mean normalised mutual information of {agreement['anmi']:.2f} "
        f"with the partitions (Strehl and Ghosh, 2002). The mean confidence of the "
        f"objects is {agreement['confidence']:.2f} (confidence of an object: "
        f"{summary['consensus']['confidence']})."
    )
    seed = summary["generation"]["seed"] if summary["generation"] else None
    own, *others = (f"{name} {version}" for name, version in summary["versions"].items())
    end = f" Seed: {seed}." if seed is not None else ""
    sentences.append(f"The analysis was done with {own} under {_list(others)}.{end}")
    coterie = _COTERIE.format(version=summary["versions"]["coterie"])
    references = {*summary["consensus"]["references"], STREHL, coterie}
    if summary["generation"]:
        references.add(_SOFTWARE)
    return " ".join(sentences), sorted(references)


def _made(summary: dict[str, Any]) -> str:
    """Return the sentence on how the partitions were made."""
    objects = count(summary["n_objects"], "object")
    ensemble = summary["ensemble"]
    n_partitions = count(ensemble["n_partitions"], "partition")
    low, high = ensemble["n_clusters"]
    clusters = f"{low} to {high} clusters" if low != high else count(low, "cluster")
    generation = summary["generation"]
    if generation is None:
        return f"{n_partitions} of {objects}, with {clusters} each, were taken as given."
    features = count(summary["n_features"], "feature")
    text = (
        f"{objects} with {features} ({generation['preparation']}) were clustered "
        f"{ensemble['n_partitions']} times by {_list(generation['bases'])}, each time into a "
        f"number of clusters drawn at random ({clusters})"
        if low != high
        else f"{objects} with {features} ({generation['preparation']}) were clustered "
        f"{ensemble['n_partitions']} times by {_list(generation['bases'])} into {clusters}"
    )
    parts = []
    if generation["max_features"] != "all":
        parts.append(f"{generation['max_features']} of the features")
    if generation["max_samples"] != "all":
        parts.append(f"{generation['max_samples']} of the objects")
    if parts:
        text += f", on a random {' and '.join(parts)} each time"
    return text + "."


def _preparation(summary: dict[str, Any]) -> list[str]:
    """Return the sentences on what was left out of the data or filled in."""
    sentences = []
    excluded = summary["excluded"]
    if excluded:
        named = [f"'{name}'" for name in excluded[:_MAX_EXCLUDED]]
        if len(excluded) > _MAX_EXCLUDED:
            named.append(f"{len(excluded) - _MAX_EXCLUDED} more")
        subject = "The column" if len(excluded) == 1 else "The columns"
        verb = "was" if len(excluded) == 1 else "were"
        sentences.append(f"{subject} {_list(named)} {verb} left out.")
    if summary["n_imputed"]:
        values = count(summary["n_imputed"], "missing value")
        verb = "was" if summary["n_imputed"] == 1 else "were"
        sentences.append(f"{values} of the features {verb} filled in.")
    return sentences


def _convergence(consensus: dict[str, Any]) -> list[str]:
    """Return the sentence on whether an iterative method has converged."""
    if not isinstance(consensus["converged"], bool):
        return []
    steps = f" after {count(consensus['n_iter'], 'iteration')}" if consensus["n_iter"] else ""
    if consensus["converged"]:
        return [f"The method converged{steps}."]
    return [f"The method stopped{steps} without having converged."]


def count(n: int, noun: str) -> str:
    """Return '1 cluster', '2 clusters', '12,000 objects'."""
    return f"{n:,} {noun}" + ("" if n == 1 else "s")


def _digits(value: float) -> str:
    return f"{value:.3f}" if abs(value) < 1000 else f"{value:,.0f}"


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def _list(items: Sequence[str]) -> str:
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"
