"""What commands have in common: make partitions, find the consensus, deliver the results."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.choosing import ClusterNumbers
from coterie.cli._bases import base_estimators
from coterie.cli._console import Notes, on_terminal, step
from coterie.cli._errors import InputError, did_you_mean, refused_input
from coterie.cli._options import (
    Chosen,
    Destinations,
    Partitioning,
    parse_part,
    parse_range,
    parse_settings,
)
from coterie.cli._output import needs_pictures, print_results, write_files
from coterie.clustering import DEFAULT_CONSENSUS, ConsensusClustering, by_name, choose_number
from coterie.consensus import CONSENSUS
from coterie.consensus._base import BaseConsensus, pass_seed
from coterie.ensemble import Ensemble
from coterie.generation import RandomizedEnsemble
from coterie.generation._recipes import make_generator
from coterie.report import summarize

__all__ = [
    "check_method",
    "deliver_results",
    "find_consensus",
    "fit_model",
    "make_consensus",
    "make_ensemble",
    "summarized",
]

_OPTIONS = {
    "n_partitions": "--partitions",
    "n_clusters": "--base-clusters",
    "max_features": "--max-features",
    "max_samples": "--max-samples",
    "random_state": "--seed",
}
_SMALL = 2_000_000  # numbers read by all runs; below, starting workers takes longer than the work


def generator_of(parts: Partitioning, X: NDArray[np.float64]) -> RandomizedEnsemble:
    """Return the generator: the recipe, changed where an option says so."""
    given: dict[str, Any] = {
        "n_partitions": parts.partitions,
        "n_clusters": parse_range(parts.base_clusters, "--base-clusters"),
        "max_features": parse_part(parts.max_features, "--max-features"),
        "max_samples": parse_part(parts.max_samples, "--max-samples"),
        "left_out": None if parts.max_samples is None else "missing",
        "checkpoint": parts.checkpoint,
        "estimators": base_estimators(parts.base) if parts.base else None,
    }
    given = {name: value for name, value in given.items() if value is not None}
    with refused_input(_OPTIONS):
        generator = make_generator(parts.recipe, len(X), random_state=parts.seed, **given)
    small = X.size * generator.n_partitions < _SMALL
    return generator.set_params(n_jobs=parts.jobs or (1 if small else -1))


def check_method(name: str) -> str:
    """Return the name of a consensus method as the table has it."""
    if name.casefold() not in CONSENSUS:
        raise InputError(
            f"--method must be one of {', '.join(CONSENSUS)}; got {name!r}."
            f"{did_you_mean(name, CONSENSUS)}"
        )
    return name.casefold()


def make_consensus(chosen: Chosen) -> BaseConsensus:
    """Return the consensus estimator that the options ask for."""
    settings = parse_settings(chosen.settings)
    name = check_method(chosen.method or DEFAULT_CONSENSUS)
    consensus = by_name(name)
    others = list(consensus.get_params(deep=False))
    others.remove("n_clusters")
    for parameter in settings:
        if parameter not in others:
            raise InputError(
                f"--set: {name} has the parameters {', '.join(others)}; got {parameter!r}."
                f"{did_you_mean(parameter, others)}"
            )
    return consensus.set_params(n_clusters=chosen.clusters, **settings)


def fit_model(
    X: NDArray[np.float64], parts: Partitioning, consensus: BaseConsensus, notes: Notes
) -> ConsensusClustering:
    """Make the partitions, choose the number of clusters and find the consensus."""
    generator = generator_of(parts, X)
    model = ConsensusClustering(
        generator=generator,
        consensus=consensus,
        n_jobs=generator.n_jobs,
        random_state=parts.seed,
    )
    with (
        step("Clustering", quiet=notes.quiet, counted=False),
        notes.of_warnings(),
        refused_input(_OPTIONS),
    ):
        return model.fit(X)


def make_ensemble(X: NDArray[np.float64], parts: Partitioning, notes: Notes) -> RandomizedEnsemble:
    """Make the partitions, and show how far it is."""
    generator = generator_of(parts, X)
    with (
        step("Making partitions", quiet=notes.quiet),
        notes.of_warnings(),
        refused_input(_OPTIONS),
    ):
        return generator.fit(X)


def find_consensus(
    consensus: BaseConsensus, ensemble: Ensemble, seed: int, notes: Notes
) -> ClusterNumbers | None:
    """Fit the consensus; return the evidence for a number of clusters that it did not find."""
    words = f"Consensus of {ensemble.n_partitions} partitions ({type(consensus).__name__})"
    with (
        step(words, quiet=notes.quiet, counted=False),
        notes.of_warnings(),
        refused_input(),
    ):
        numbers = choose_number(consensus, ensemble, random_state=seed)
        pass_seed(consensus, seed).fit(ensemble)
    return numbers


def deliver_results(
    model: Any, to: Destinations, notes: Notes, *, labels_to_pipe: bool = True, **details: Any
) -> None:
    """Gather the summary, write the files and print."""
    with step("Gathering the results", quiet=notes.quiet):
        details["pictures"] = needs_pictures(to)
        summary = summarized(model, notes, **details)
    with step("Writing the results", quiet=notes.quiet):
        write_files(summary, to)
    if not on_terminal():  # there the printed summary has them
        notes.add(f"structure: {summary['structure']['words']}")
        for caution in summary["cautions"]:
            notes.add(f"caution: {caution['words']}")
    print_results(summary, to, labels_to_pipe=labels_to_pipe)


def summarized(model: Any, notes: Notes, **details: Any) -> dict[str, Any]:
    """Return the summary with the notes so far."""
    with refused_input():
        return summarize(model, notes=notes.texts, **details)
