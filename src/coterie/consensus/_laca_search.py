"""Finding LACA's latent model by the paper's tree, and by local moves."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from coterie._linkage import Regime, Tree, average_tree
from coterie._progress import track_progress
from coterie.consensus._laca_model import Model, Parameters
from coterie.consensus._laca_tables import stop_at
from coterie.ensemble import Ensemble

__all__ = ["Found", "improve", "tree_step"]

MAX_SWEEPS = 50
_LEAST = 1e-9  # relative to the largest possible score: moves that improve by less are rounding


class Found(NamedTuple):
    """A latent model and the tree that it is a cut of, if there is one."""

    model: Model
    tree: Tree | None


def tree_step(
    ensemble: Ensemble,
    parameters: Parameters,
    *,
    n_clusters: int | None = None,
    regime: Regime = "auto",
) -> Found:
    """Infer the latent model by average linkage on the scores, from singletons (the paper)."""
    tree = average_tree(
        ensemble,
        together=parameters.together,
        apart=parameters.apart,
        regime=regime,
    )
    return Found(Model.of(ensemble, tree.cut(stop_at(tree, n_clusters))), tree)


def move_objects(
    ensemble: Ensemble, model: Model, parameters: Parameters, *, fixed: bool, sweeps: int
) -> Model:
    """Move objects one by one to the cluster they score best with, while that improves.

    With `fixed`, the number of clusters stays: none is founded and none is left empty.
    """
    from coterie._kernels.laca import sweep

    scores = np.array([parameters.together, parameters.apart])
    min_gain = _LEAST * float(np.abs(scores).max(axis=0).sum())
    labels = model.labels.copy()
    tables = model.tables(ensemble, parameters)
    tables = tables._replace(
        counts=model.counts.copy(), seen=model.seen.copy(), sizes=model.sizes.copy()
    )
    with track_progress("moving objects", sweeps) as done:
        for _ in range(sweeps):
            n_moves, tables = sweep(ensemble.labels, labels, tables, fixed, min_gain)
            done[0] += 1
            if n_moves == 0:
                break
    return Model(labels, tables.counts, tables.seen, tables.sizes).compact()


def join_clusters(ensemble: Ensemble, model: Model, parameters: Parameters) -> Model:
    """Merge the two clusters whose union improves the likelihood most, while one does."""
    scores = model.pair_scores(ensemble, parameters)
    name = np.arange(model.n_clusters)
    np.fill_diagonal(scores, -np.inf)
    while len(scores) > 2:
        u, v = np.unravel_index(np.argmax(scores), scores.shape)
        if scores[u, v] <= 0:
            break
        keep, gone = min(u, v), max(u, v)
        scores[keep] += scores[gone]
        scores[:, keep] = scores[keep]
        scores[keep, keep] = -np.inf
        scores = np.delete(np.delete(scores, gone, axis=0), gone, axis=1)
        name[name == gone] = keep
        name[name > gone] -= 1
    return model if len(scores) == model.n_clusters else model.merged(name)


def improve(
    ensemble: Ensemble,
    model: Model,
    parameters: Parameters,
    *,
    fixed: bool = False,
    sweeps: int = MAX_SWEEPS,
) -> Model:
    """Move objects and join clusters until neither improves the likelihood at `parameters`.

    The likelihood never falls: every move and every union is made because it raises the sum of
    scores over pairs in the same cluster. It ends where only one
    cluster would be left, which the paper rules out.
    """
    while True:
        moved = move_objects(ensemble, model, parameters, fixed=fixed, sweeps=sweeps)
        if fixed:
            return moved
        if moved.n_clusters < 2:
            return model
        joined = join_clusters(ensemble, moved, parameters)
        if joined.n_clusters == moved.n_clusters:
            return joined
        model = joined
