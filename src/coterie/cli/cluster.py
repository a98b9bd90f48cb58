"""``coterie cluster``: a table of features in, clusters out."""

from __future__ import annotations

from pathlib import Path

from coterie._model_file import check_can_be_saved
from coterie._model_file import save_model as write_model
from coterie.cli._bases import base_estimators
from coterie.cli._blocks import BlockRun, cluster_in_blocks, refuse_in_blocks, why_in_blocks
from coterie.cli._console import Notes, step
from coterie.cli._errors import InputError, refused_input
from coterie.cli._input import read_input
from coterie.cli._options import Chosen, Destinations, Partitioning, Preparing, TableOptions
from coterie.cli._output import check_destinations, check_writable
from coterie.cli._run import deliver_results, fit_model, make_consensus

__all__ = ["cluster_table"]


def cluster_table(
    data: Path,
    table: TableOptions,
    preparing: Preparing,
    parts: Partitioning,
    chosen: Chosen,
    to: Destinations,
    *,
    save_model: Path | None = None,
    labels_to_pipe: bool = True,
    dask: str | None = None,
) -> None:
    """Cluster a table with the options of the command, and deliver the results."""
    why = why_in_blocks(data, dask)
    if why is not None:
        refuse_in_blocks(save_model=save_model, impute=preparing.impute)
        run = BlockRun(data, table, to, parts.checkpoint, dask, parts.seed, why)
        cluster_in_blocks(run, parts, preparing, chosen)
        return
    notes = Notes(quiet=to.quiet)
    check_destinations(to, data)
    check_writable(save_model, "--save-model", (".npz",))
    if save_model is not None and preparing.impute is not None:
        raise InputError("--save-model does not keep what --impute fills in; fill it in before.")
    bases = base_estimators(parts.base)
    consensus = make_consensus(chosen)
    if save_model is not None:
        with refused_input():
            check_can_be_saved(consensus, [estimator for _, estimator in bases])
    with step(f"Reading {data}", quiet=to.quiet):
        given = read_input(data, table, preparing, notes, as_labels=False, seed=parts.seed)
    given.check_number(chosen.clusters)
    features = given.features
    assert features is not None
    model = fit_model(features.X, parts, consensus, notes)
    if to.save_ensemble is not None:
        model.ensemble_.save(to.save_ensemble)
    if save_model is not None:
        with refused_input():
            write_model(
                save_model,
                model.generator_,
                model.consensus_,
                feature_names=features.used if preparing.is_plain else None,
                preparation=features.preparation,
            )
    deliver_results(model, to, notes, labels_to_pipe=labels_to_pipe, **given.details())
