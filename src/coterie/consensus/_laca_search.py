"""Finding LACA's latent model: by the paper's tree, by tables of clusters, by local moves."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie._linkage import Regime, Tree, average_tree, tree_of_sums
from coterie._progress import track_progress
from coterie.consensus._laca_model import Model, Parameters
from coterie.ensemble import Ensemble

__all__ = ["Found", "coarse_start", "improve", "tables_cut", "tables_step", "tree_step"]

MAX_SWEEPS = 50
MAX_CELLS = 2000  # groups of objects that the coarse start merges
SAMPLE = 4000  # objects of the sample that the other start grows a tree on
MAX_MISFITS = 20_000  # with more misfits, none gets a new cluster
MIN_SHARE = 1e-5  # of the objects: smallest new cluster of misfits
MAX_FOUNDED = 100  # new clusters of misfits in one round
_LEAST = 1e-9  # relative to the largest possible score: moves that improve by less are rounding


class Found(NamedTuple):
    """A latent model and the tree that it is a cut of, if there is one."""

    model: Model
    tree: Tree | None


def stop_at(tree: Tree, n_clusters: int | None) -> int:
    """Return where the paper stops: at the last link that is not negative, or two clusters."""
    if n_clusters is not None:
        return n_clusters
    return min(max(2, tree.n_clusters_above(0.0)), tree.n_objects)


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


def merge_tables(
    ensemble: Ensemble, model: Model, parameters: Parameters, n_clusters: int | None = None
) -> Model:
    """Merge the clusters of a model by average linkage, with the paper's stopping rules."""
    if model.n_clusters <= (n_clusters or 2):
        return model
    tree = tree_of_sums(model.pair_scores(ensemble, parameters), model.sizes)
    k = stop_at(tree, n_clusters)
    return model if k >= model.n_clusters else model.merged(tree.cut(k))


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


# --- past the tree --------------------------------------------------------------------------------


def coarse_start(ensemble: Ensemble, parameters: Parameters) -> Model:
    """Return the better of two starts: from a sample of objects, and from groups of all of them.

    The sample sees single objects, as the tree does, but no small cluster; the groups see all,
    but only as the most informative partitions group them.
    """
    with track_progress("first model", 4) as done:
        moved = []
        for make in (
            lambda: sample_start(ensemble, parameters),
            lambda: merge_tables(ensemble, finest_cells(ensemble, parameters), parameters),
        ):
            start = make()
            done[0] += 1
            moved.append(move_objects(ensemble, start, parameters, fixed=True, sweeps=1))
            done[0] += 1
        return max(moved, key=lambda m: m.pair_counts(ensemble).log_likelihood(parameters))


def sample_start(ensemble: Ensemble, parameters: Parameters) -> Model:
    """Grow the paper's tree on a sample, and give every object the cluster it scores best with."""
    from coterie._kernels.laca import best_mean_score

    n = ensemble.n_objects
    # The draw is part of the method, not of the data: always the same for the same n.
    drawn = np.random.default_rng(0).choice(n, size=min(n, SAMPLE), replace=False)
    sample = np.sort(drawn)
    tree = _tree_of_some(ensemble, sample, parameters)
    model = Model.of(ensemble, tree.cut(stop_at(tree, None)), sample)
    labels = best_mean_score(ensemble.labels, model.tables(ensemble, parameters))
    return Model.of(ensemble, _consecutive(labels))


def _tree_of_some(ensemble: Ensemble, objects: NDArray[np.int64], parameters: Parameters) -> Tree:
    """Return the tree of some of the objects, with the parameters of all."""
    spoken = (ensemble.labels[objects] >= 0).any(axis=0)
    return average_tree(
        ensemble.select(spoken).take(objects),
        together=parameters.together[spoken],
        apart=parameters.apart[spoken],
    )


def finest_cells(ensemble: Ensemble, parameters: Parameters, at_least: int = 2) -> Model:
    """Group objects that the most informative partitions all put together.

    Partitions are taken in the order of the evidence that a pair together brings in the mean,
    while the number of groups stays below `MAX_CELLS`, or until there are `at_least` groups.
    """
    most = max(MAX_CELLS, 2 * at_least)
    rho, _ = parameters
    evidence = rho * parameters.together + (1 - rho) * parameters.apart
    cells = np.zeros(ensemble.n_objects, dtype=np.int64)
    n_cells = 1
    for e in np.argsort(-evidence, kind="stable"):
        codes = ensemble.labels[:, e]
        width = int(ensemble.n_clusters[e]) + 1  # missing labels are a group of their own
        used = np.bincount(cells * width + (codes + 1), minlength=n_cells * width) > 0
        n_finer = int(used.sum())
        if n_finer > most and n_cells >= at_least:
            if n_cells * 4 > most:
                break
            continue
        cells = (np.cumsum(used) - 1)[cells * width + (codes + 1)]
        n_cells = n_finer
    if n_cells < at_least:  # fewer distinct rows than clusters asked for
        cells = np.minimum(np.arange(ensemble.n_objects), at_least - 1)
    return Model.of(ensemble, cells)


def tables_step(
    ensemble: Ensemble, model: Model, parameters: Parameters, *, n_clusters: int | None = None
) -> Model:
    """Infer the latent model for new parameters, in O(n L k).

    Starts from the model before, or from a new tree of the sample if that is more likely: moves
    and merges cannot split a cluster that the new parameters tell apart, a tree can.
    """
    with track_progress("", 4) as done:
        starts = [model, sample_start(ensemble, parameters)]
        done[0] = 1
        start = max(starts, key=lambda m: m.pair_counts(ensemble).log_likelihood(parameters))
        done[0] = 2
        moved = move_objects(ensemble, start, parameters, fixed=True, sweeps=3)
        done[0] = 3
        if n_clusters is None:
            moved = place_misfits(ensemble, moved, parameters)
        return merge_tables(ensemble, moved, parameters, n_clusters)


def tables_cut(ensemble: Ensemble, model: Model, parameters: Parameters, n_clusters: int) -> Model:
    """Return a model of exactly `n_clusters`, from finer groups where `model` has too few."""
    if model.n_clusters < n_clusters:
        model = finest_cells(ensemble, parameters, n_clusters)
    merged = merge_tables(ensemble, model, parameters, n_clusters)
    return move_objects(ensemble, merged, parameters, fixed=True, sweeps=3)


def place_misfits(ensemble: Ensemble, model: Model, parameters: Parameters) -> Model:
    """Give objects that score negative with their cluster clusters of their own.

    The tree would never have merged them with it. They are merged among themselves, by the same
    tree. Those that are left alone, or in groups of fewer than one object in 100,000, stay where
    they were, and so do all where there are too many.
    """
    from coterie._kernels.laca import mean_score_with_own

    own = mean_score_with_own(ensemble.labels, model.labels, model.tables(ensemble, parameters))
    misfits = np.flatnonzero(own < 0)
    if not 0 < len(misfits) <= MAX_MISFITS:
        return model
    tree = _tree_of_some(ensemble, misfits, parameters)
    found = tree.cut(tree.n_clusters_above(0.0))  # largest first
    least = max(2, MIN_SHARE * ensemble.n_objects)
    kept = (found < MAX_FOUNDED) & (np.bincount(found)[found] >= least)
    labels = model.labels.copy()
    labels[misfits[kept]] = model.n_clusters + found[kept]
    return Model.of(ensemble, _consecutive(labels))


def _consecutive(labels: NDArray[np.int64]) -> NDArray[np.int64]:
    used = np.bincount(labels) > 0
    return (np.cumsum(used) - 1)[labels]
