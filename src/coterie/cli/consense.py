"""``coterie consense``: many clusterings in, their consensus out."""

from __future__ import annotations

from pathlib import Path

from coterie.cli._blocks import BlockRun, consense_in_blocks, why_in_blocks
from coterie.cli._console import Notes, step
from coterie.cli._input import read_input
from coterie.cli._options import Chosen, Destinations, Preparing, TableOptions
from coterie.cli._output import check_destinations
from coterie.cli._run import deliver_results, find_consensus, make_consensus

__all__ = ["consense_labels"]


def consense_labels(
    labels: Path,
    table: TableOptions,
    chosen: Chosen,
    to: Destinations,
    *,
    seed: int = 0,
    labels_to_pipe: bool = True,
    dask: str | None = None,
) -> None:
    """Find the consensus with the options of the command, and deliver the results."""
    why = why_in_blocks(labels, dask)
    if why is not None:
        consense_in_blocks(BlockRun(labels, table, to, None, dask, seed, why), chosen)
        return
    notes = Notes(quiet=to.quiet)
    check_destinations(to, labels)
    consensus = make_consensus(chosen)
    with step(f"Reading {labels}", quiet=to.quiet):
        given = read_input(labels, table, Preparing(), notes, as_labels=True)
    given.check_number(chosen.clusters)
    ensemble = given.ensemble
    assert ensemble is not None
    numbers = find_consensus(consensus, ensemble, seed, notes)
    if to.save_ensemble is not None:
        ensemble.save(to.save_ensemble)
    details = given.details() | {"cluster_numbers": numbers, "labels_to_pipe": labels_to_pipe}
    deliver_results(consensus, to, notes, **details)
