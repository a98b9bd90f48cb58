"""What the commands have in common: make partitions, find the consensus, deliver the results."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from coterie.cli import _options as options
from coterie.cli._bases import base_estimators
from coterie.cli._console import Notes, on_terminal, step
from coterie.cli._errors import InputError, did_you_mean, refused_input
from coterie.cli._output import Destinations

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from coterie.choosing import ClusterNumbers
    from coterie.clustering import ConsensusClustering
    from coterie.consensus._base import BaseConsensus
    from coterie.ensemble import Ensemble
    from coterie.generation import RandomizedEnsemble

__all__ = [
    "Partitioning",
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


class Partitioning(NamedTuple):
    """How the partitions of an ensemble are made, as the options say it."""

    recipe: str = "default"
    partitions: int | None = None
    base: list[str] | None = None
    base_clusters: str | None = None
    max_features: str | None = None
    max_samples: str | None = None
    checkpoint: Path | None = None
    jobs: int | None = None
    seed: int = 0

    def generator(self, X: NDArray[np.float64]) -> RandomizedEnsemble:
        """Return the generator: the recipe, changed where an option says so."""
        from coterie.generation._recipes import make_generator

        given: dict[str, Any] = {
            "n_partitions": self.partitions,
            "n_clusters": options.parse_range(self.base_clusters, "--base-clusters"),
            "max_features": options.parse_part(self.max_features, "--max-features"),
            "checkpoint": self.checkpoint,
        }
        given = {name: value for name, value in given.items() if value is not None}
        if self.base:
            given["estimators"] = base_estimators(self.base)
        if self.max_samples is not None:
            given["max_samples"] = options.parse_part(self.max_samples, "--max-samples")
            given["left_out"] = "missing"
        with refused_input(_OPTIONS):
            generator = make_generator(self.recipe, len(X), random_state=self.seed, **given)
        return generator.set_params(n_jobs=self._n_jobs(X, generator))

    def _n_jobs(self, X: NDArray[np.float64], generator: RandomizedEnsemble) -> int:
        if self.jobs == 0:
            raise InputError(
                "--jobs must be a number of at least 1, or -1 for all processors; got 0."
            )
        if self.jobs is not None:
            return self.jobs
        return 1 if X.size * generator.n_partitions < _SMALL else -1


def make_consensus(
    method: str | None, n_clusters: int | None, settings: dict[str, Any]
) -> BaseConsensus:
    """Return the consensus estimator that the options ask for."""
    from coterie.clustering import DEFAULT_CONSENSUS, by_name
    from coterie.consensus import CONSENSUS

    name = DEFAULT_CONSENSUS if method is None else method.casefold()
    if name not in CONSENSUS:
        raise InputError(
            f"--method must be one of {', '.join(CONSENSUS)}; got {method!r}."
            f"{did_you_mean(name, CONSENSUS)}"
        )
    consensus = by_name(name)
    known = consensus.get_params(deep=False)
    for parameter in settings:
        if parameter not in known or parameter == "n_clusters":
            others = [p for p in known if p != "n_clusters"]
            raise InputError(
                f"--set: {name} has the parameters {', '.join(others)}; got {parameter!r}."
                f"{did_you_mean(parameter, others)}"
            )
    return consensus.set_params(n_clusters=n_clusters, **settings)


def fit_model(
    X: NDArray[np.float64], parts: Partitioning, consensus: BaseConsensus, notes: Notes
) -> ConsensusClustering:
    """Make the partitions, choose the number of clusters and find the consensus."""
    from coterie import ConsensusClustering

    generator = parts.generator(X)
    model = ConsensusClustering(
        generator=generator,
        consensus=consensus,
        n_jobs=generator.n_jobs,
        random_state=parts.seed,
    )
    with (
        step("Clustering", quiet=notes.quiet, counted=False, watching=True),
        notes.of_warnings(),
        refused_input(_OPTIONS),
    ):
        return model.fit(X)


def make_ensemble(X: NDArray[np.float64], parts: Partitioning, notes: Notes) -> RandomizedEnsemble:
    """Make the partitions, and show how far it is."""
    generator = parts.generator(X)
    with (
        step("Making partitions", quiet=notes.quiet, watching=True),
        notes.of_warnings(),
        refused_input(_OPTIONS),
    ):
        return generator.fit(X)


def find_consensus(
    consensus: BaseConsensus, ensemble: Ensemble, seed: int, notes: Notes
) -> ClusterNumbers | None:
    """Fit the consensus; return the evidence for a number of clusters that it did not find."""
    from coterie.clustering import choose_number
    from coterie.consensus._base import pass_seed

    words = f"Consensus of {ensemble.n_partitions} partitions ({type(consensus).__name__})"
    with (
        step(words, quiet=notes.quiet, counted=False, watching=True),
        notes.of_warnings(),
        refused_input(),
    ):
        numbers = choose_number(consensus, ensemble, random_state=seed)
        pass_seed(consensus, seed).fit(ensemble)
    return numbers


def deliver_results(model: Any, destinations: Destinations, notes: Notes, **details: Any) -> None:
    """Gather the summary and send the results where they should go."""
    with step("Gathering the results", quiet=notes.quiet, watching=True):
        details["pictures"] = destinations.needs_pictures
        summary = summarized(model, notes, **details)
    with step("Writing the results", quiet=notes.quiet):
        destinations.write_files(summary)
    if not on_terminal():  # there the printed summary has them
        for caution in summary["cautions"]:
            notes.add(f"caution: {caution['words']}")
    destinations.print(summary)


def summarized(model: Any, notes: Notes, **details: Any) -> dict[str, Any]:
    """Return the summary with the notes so far."""
    from coterie.report import summarize

    with refused_input():
        return summarize(model, notes=notes.texts, **details)
