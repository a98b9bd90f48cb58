"""What cluster, consense and demo have in common: find the consensus, tell about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coterie.cli._console import Notes, on_terminal, shows_progress, step
from coterie.cli._errors import InputError, did_you_mean, refused_input
from coterie.cli._estimate import clock_progress, estimate_seconds, is_left_to_others
from coterie.cli._output import Destinations

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from coterie.consensus._base import BaseConsensus
    from coterie.ensemble import Ensemble
    from coterie.generation import RandomizedEnsemble

__all__ = [
    "default_method",
    "find_consensus",
    "make_consensus",
    "make_ensemble",
    "summarized",
    "tell",
]

_OPTIONS = {
    "n_partitions": "--partitions",
    "n_clusters": "--base-clusters",
    "max_features": "--max-features",
    "max_samples": "--max-samples",
    "random_state": "--seed",
}
_SMALL = 2_000_000  # numbers read by all runs; below, starting workers takes longer than the work


def default_method() -> str:
    """Return the method that ConsensusClustering takes by default."""
    from coterie import ConsensusClustering

    return str(ConsensusClustering().consensus)


def make_consensus(
    method: str | None, n_clusters: int | None, settings: dict[str, Any], seed: int
) -> BaseConsensus:
    """Return the consensus estimator that the options ask for."""
    from coterie.consensus import CONSENSUS
    from coterie.consensus._base import pass_seed

    name = default_method() if method is None else method.casefold()
    if name not in CONSENSUS:
        raise InputError(
            f"--method must be one of {', '.join(CONSENSUS)}; got {method!r}."
            f"{did_you_mean(name, CONSENSUS)}"
        )
    known = CONSENSUS[name]().get_params(deep=False)
    for parameter in settings:
        if parameter not in known or parameter == "n_clusters":
            others = [p for p in known if p != "n_clusters"]
            raise InputError(
                f"--set: {name} has the parameters {', '.join(others)}; got {parameter!r}."
                f"{did_you_mean(parameter, others)}"
            )
    consensus = CONSENSUS[name](n_clusters=n_clusters).set_params(**settings)
    if n_clusters is None and not consensus.finds_n_clusters:
        finders = [other for other, cls in CONSENSUS.items() if cls.finds_n_clusters]
        raise InputError(
            f"{name} does not find the number of clusters by itself: add --clusters K, or use "
            f"--method {' or '.join(finders)}."
        )
    return pass_seed(consensus, seed)


def make_ensemble(
    X: NDArray[np.float64],
    bases: list[tuple[str, Any]],
    recipe: dict[str, Any],
    jobs: int | None,
    notes: Notes,
) -> RandomizedEnsemble:
    """Make the partitions, and show how far it is."""
    from coterie import RandomizedEnsemble

    n_runs = recipe["n_partitions"] * len(bases)
    if jobs is None:
        jobs = 1 if X.size * n_runs < _SMALL else -1
    if jobs == 0:
        raise InputError("--jobs must be a number of at least 1, or -1 for all processors; got 0.")
    with step("Making partitions", quiet=notes.quiet) as tell, notes.of_warnings():
        generator = RandomizedEnsemble(bases, n_jobs=jobs, callback=tell, **recipe)
        with refused_input(_OPTIONS):
            generator.fit(X)
    return generator


def find_consensus(consensus: BaseConsensus, ensemble: Ensemble, notes: Notes) -> BaseConsensus:
    """Fit the consensus, and say that it takes a while."""
    words = f"Consensus of {ensemble.n_partitions} partitions ({type(consensus).__name__})"
    tells = consensus.get_params(deep=False).get("callback", False) is None
    seconds = None
    if is_left_to_others(consensus) and shows_progress(quiet=notes.quiet):
        with step(words, quiet=notes.quiet):
            seconds = estimate_seconds(consensus, ensemble)
    watching = not tells and seconds is None
    with (
        step(words, quiet=notes.quiet, counted=tells, watching=watching) as tell,
        notes.of_warnings(),
        refused_input(),
    ):
        if tells:
            # Taken out again, so that what is told about the method holds no function.
            consensus.set_params(callback=tell).fit(ensemble)
            return consensus.set_params(callback=None)
        with clock_progress(seconds, tell):
            return consensus.fit(ensemble)


def tell(
    consensus: BaseConsensus, destinations: Destinations, notes: Notes, **details: Any
) -> None:
    """Gather the summary and send the results where they should go."""
    with step("Gathering the results", quiet=notes.quiet) as tell_how_far:
        details |= {"pictures": destinations.needs_pictures, "callback": tell_how_far}
        summary = summarized(consensus, notes, **details)
    with step("Writing the results", quiet=notes.quiet):
        destinations.write_files(summary)
    if not on_terminal():  # there the printed summary has them
        for caution in summary["cautions"]:
            notes.add(f"caution: {caution['words']}")
    destinations.print(summary)


def summarized(consensus: BaseConsensus, notes: Notes, **details: Any) -> dict[str, Any]:
    """Return the summary with the notes so far."""
    from coterie.report import summarize

    with refused_input():
        return summarize(consensus, notes=notes.texts, **details)
