"""LACA past the tree: the latent model as a rule for label rows, and tables of its clusters.

Every step is a pass over the label rows that counts tables, or works on tables alone. The cluster
of an object follows from its label row, so that nothing is kept for single objects, and rows may
come from memory or in blocks.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie._kernels.label_tables import sum_members
from coterie._kernels.laca import Tables, best_mean_score, best_sum_score, mean_score_with_own
from coterie._kernels.views import find_patterns
from coterie._linkage import Tree, average_tree, tree_of_sums
from coterie._progress import track_progress
from coterie.blocks import (
    LabelBlocks,
    Lookup,
    Rule,
    draw_sample,
    merge_distinct,
    reduce_rows,
    sum_rows,
)
from coterie.consensus._laca_model import Model, Parameters
from coterie.ensemble import Ensemble

__all__ = ["RowModel", "TableSearch", "stop_at"]

MAX_CELLS = 2000  # groups of objects that the coarse start merges
SAMPLE = 4000  # objects of the sample that the other start grows a tree on
CELL_SAMPLE = 50_000  # objects by which the partitions of the groups are chosen
MAX_MISFITS = 20_000  # objects without a place that are clustered among themselves
MIN_SHARE = 1e-5  # of the objects that a cluster of misfits must hold
MAX_FOUNDED = 100  # clusters of misfits that are founded in one round

View = Ensemble | LabelBlocks


class Scores(NamedTuple):
    """Puts a label row to the cluster that it scores best with, the first of equal ones."""

    tables: Tables
    by_mean: bool
    """Whether the mean score with the members counts, or their sum."""

    def __call__(self, codes: NDArray[np.int32], start: int) -> NDArray[np.int64]:
        """Return the cluster of each row."""
        best = best_mean_score if self.by_mean else best_sum_score
        found: NDArray[np.int64] = best(codes, self.tables)
        return found


class Renamed(NamedTuple):
    """A rule whose parts got new names."""

    rule: Rule
    names: NDArray[np.int64]

    def __call__(self, codes: NDArray[np.int32], start: int) -> NDArray[np.int64]:
        """Return the new name of each row's part."""
        return self.names[self.rule(codes, start)]


class Cells(NamedTuple):
    """Groups the rows that have the same labels in some partitions."""

    columns: NDArray[np.int64]
    groups: Lookup

    def __call__(self, codes: NDArray[np.int32], start: int) -> NDArray[np.int64]:
        """Return the group of each row."""
        return self.groups(np.ascontiguousarray(codes[:, self.columns]), start)


class Founded(NamedTuple):
    """A rule from which some label rows are excepted: they have clusters of their own."""

    rule: Rule
    misfits: Lookup

    def __call__(self, codes: NDArray[np.int32], start: int) -> NDArray[np.int64]:
        """Return the cluster of each row."""
        founded = self.misfits(codes, start)
        return np.where(founded >= 0, founded, self.rule(codes, start))


class RowModel(NamedTuple):
    """A latent model: a rule for label rows, and the tables of its clusters."""

    rule: Rule
    tables: Model
    """Without labels of objects."""

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return self.tables.n_clusters

    def merged(self, names: NDArray[np.int64]) -> RowModel:
        """Return the model after clusters got the same new name."""
        return RowModel(Renamed(self.rule, names), self.tables.merged(names))

    def key(self) -> tuple[bytes, ...]:
        """Return what is equal for equal models, whatever the order of their clusters."""
        return tuple(sorted(column.tobytes() for column in self.tables.counts.T))

    def in_memory(self, ensemble: Ensemble) -> Model:
        """Return the model with the labels of all objects."""
        rows, _, inverse = ensemble.patterns
        return self.tables._replace(labels=self.rule(rows, 0)[inverse])


def stop_at(tree: Tree, n_clusters: int | None) -> int:
    """Return where the paper stops: at the last link that is not negative, or two clusters."""
    if n_clusters is not None:
        return n_clusters
    return min(max(2, tree.n_clusters_above(0.0)), tree.n_objects)


def count_model(view: View, rule: Rule, n_clusters: int) -> RowModel:
    """Count the tables of a rule in one pass; clusters without objects are left out."""
    counts, sizes = sum_rows(view, _count_tables, rule, view.offsets, n_clusters)
    used = sizes > 0
    if not used.all():
        rule = Renamed(rule, np.cumsum(used) - 1)
        counts, sizes = counts[:, used], sizes[used]
    return RowModel(rule, _model_of_counts(counts, sizes, view.offsets))


def _count_tables(
    rows: NDArray[np.int32],
    counts: NDArray[np.int64],
    rule: Rule,
    offsets: NDArray[np.int64],
    n_clusters: int,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    parts = rule(rows, 0)
    weights = counts.astype(np.float64)  # whole numbers, so that sums are exact
    sizes = np.bincount(parts, weights, minlength=n_clusters).astype(np.int64)
    return sum_members(rows, offsets, weights, parts, n_clusters), sizes


def _model_of_counts(
    counts: NDArray[np.float64], sizes: NDArray[np.int64], offsets: NDArray[np.int64]
) -> Model:
    seen = np.add.reduceat(counts, offsets[:-1], axis=0)
    return Model(np.empty(0, dtype=np.int64), np.ascontiguousarray(counts), seen, sizes)


def tree_of_rows(rows: NDArray[np.int32], parameters: Parameters) -> Tree:
    """Return the tree of some label rows, with the parameters of all."""
    spoken = (rows >= 0).any(axis=0)
    return average_tree(
        Ensemble(rows[:, spoken].astype(np.int64)),
        together=parameters.together[spoken],
        apart=parameters.apart[spoken],
    )


class TableSearch:
    """Finds latent models of label rows, in memory or in blocks.

    Parameters
    ----------
    view : Ensemble or LabelBlocks
    """

    def __init__(self, view: View) -> None:
        self.view = view
        # The draw is part of the method, not of the data: always the same for the same n.
        self._sample = self._take(SAMPLE)

    def _take(self, n_drawn: int) -> NDArray[np.int32]:
        objects = draw_sample(self.view.n_objects, min(self.view.n_objects, n_drawn))
        if isinstance(self.view, LabelBlocks):
            return self.view.take(objects)
        return self.view.labels[objects]

    def likelihood(self, model: RowModel, parameters: Parameters) -> float:
        """Return the log-likelihood of a model."""
        return model.tables.pair_counts(self.view).log_likelihood(parameters)

    def first_model(self, parameters: Parameters) -> RowModel:
        """Return the better of two starts: of a sample of objects, and of groups of all of them.

        The sample sees single objects, as the tree does, but no small cluster; the groups see
        all, but as the most informative partitions put them.
        """
        starts: tuple[Callable[[], RowModel], ...] = (
            lambda: self.from_sample(parameters),
            lambda: self.merge(self.finest_cells(parameters), parameters),
        )
        with track_progress("first model", 2 * len(starts)) as done:
            moved = []
            for make in starts:
                start = make()
                done[0] += 1
                moved.append(self.move(start, parameters, steps=1))
                done[0] += 1
            return max(moved, key=lambda model: self.likelihood(model, parameters))

    def step(self, model: RowModel, parameters: Parameters) -> RowModel:
        """Infer the latent model for new parameters, in O(n L k).

        Starts from the model before, or from a new tree of the sample if that is more likely:
        moves and merges cannot split a cluster that the new parameters tell apart, a tree can.
        """
        with track_progress("", 4) as done:
            starts = [model, self.from_sample(parameters)]
            done[0] = 1
            start = max(starts, key=lambda model: self.likelihood(model, parameters))
            moved = self.move(start, parameters, steps=3)
            done[0] = 3
            return self.merge(self.place_misfits(moved, parameters), parameters)

    def cut(self, model: RowModel, parameters: Parameters, n_clusters: int) -> RowModel:
        """Return a model of exactly `n_clusters`, from finer groups where `model` has too few."""
        if model.n_clusters < n_clusters:
            model = self.finest_cells(parameters, n_clusters)
        return self.move(self.merge(model, parameters, n_clusters), parameters, steps=3)

    def from_sample(self, parameters: Parameters) -> RowModel:
        """Grow the paper's tree on a sample; every row gets the cluster it scores best with."""
        rows, offsets = self._sample, self.view.offsets
        tree = tree_of_rows(rows, parameters)
        labels = tree.cut(stop_at(tree, None))
        n_clusters = int(labels.max()) + 1
        counts = sum_members(rows, offsets, np.ones(len(rows)), labels, n_clusters)
        model = _model_of_counts(counts, np.bincount(labels), offsets)
        rule = Scores(model.tables(self.view, parameters), True)
        return count_model(self.view, rule, n_clusters)

    def move(self, model: RowModel, parameters: Parameters, *, steps: int) -> RowModel:
        """Put every row to the cluster it scores best with, while that raises the likelihood.

        All rows move at once. A step that leaves a cluster empty is not made.
        """
        reached = self.likelihood(model, parameters)
        with track_progress("moving objects", steps) as done:
            for _ in range(steps):
                rule = Scores(model.tables.tables(self.view, parameters), False)
                moved = count_model(self.view, rule, model.n_clusters)
                found = self.likelihood(moved, parameters)
                if moved.n_clusters < model.n_clusters or found <= reached:
                    break
                model, reached = moved, found
                done[0] += 1
        return model

    def merge(
        self, model: RowModel, parameters: Parameters, n_clusters: int | None = None
    ) -> RowModel:
        """Merge clusters by average linkage, with the paper's stopping rules."""
        if model.n_clusters <= (n_clusters or 2):
            return model
        tree = tree_of_sums(model.tables.pair_scores(self.view, parameters), model.tables.sizes)
        k = stop_at(tree, n_clusters)
        return model if k >= model.n_clusters else model.merged(tree.cut(k))

    def finest_cells(self, parameters: Parameters, at_least: int = 2) -> RowModel:
        """Group objects that the most informative partitions all put together.

        Partitions are taken in the order of the evidence that a pair together brings in the
        mean, while a sample of the objects falls into fewer than `MAX_CELLS` groups, or until
        there are `at_least` groups.
        """
        chosen = self._informative_partitions(parameters, at_least)
        while True:
            columns = np.array(chosen, dtype=np.int64)
            most = 4 * max(MAX_CELLS, at_least) if len(chosen) > 1 else self.view.n_objects
            merge = partial(merge_distinct, most=most)
            found = reduce_rows(self.view, _distinct_cells, merge, columns, most)
            if found is not None:
                break
            chosen.pop()  # the sample has missed most of the groups
        rows, _ = found
        if len(rows) < at_least:
            raise ValueError(
                f"n_clusters must be at most the number of distinct label rows ({len(rows)}); got "
                f"{at_least}."
            )
        return count_model(self.view, Cells(columns, Lookup(rows, np.arange(len(rows)))), len(rows))

    def _informative_partitions(self, parameters: Parameters, at_least: int) -> list[int]:
        most = max(MAX_CELLS, 2 * at_least)
        rho, _ = parameters
        evidence = rho * parameters.together + (1 - rho) * parameters.apart
        labels = self._take(CELL_SAMPLE)
        chosen: list[int] = []
        cells, n_cells = np.zeros(len(labels), dtype=np.int64), 1
        for e in np.argsort(-evidence, kind="stable").tolist():
            place = cells * (int(self.view.n_clusters[e]) + 1) + (labels[:, e] + 1)
            finer, renamed = np.unique(place, return_inverse=True)
            if len(finer) > most and n_cells >= at_least:
                if n_cells * 4 > most:
                    break
                continue
            if len(finer) > n_cells or not chosen:
                chosen.append(e)
            cells, n_cells = renamed, len(finer)
        return chosen

    def place_misfits(self, model: RowModel, parameters: Parameters) -> RowModel:
        """Give rows that score negative with their cluster clusters of their own.

        The tree would never have merged them with it. They are merged among themselves, by the
        same tree. Those that are left alone, or in groups of fewer than one object in 100,000,
        stay where they were, and so do all where there are too many.
        """
        tables = model.tables.tables(self.view, parameters)
        merge = partial(merge_distinct, most=MAX_MISFITS)
        found = reduce_rows(self.view, _find_misfits, merge, model.rule, tables)
        if found is None or not 0 < found[1].sum() <= MAX_MISFITS:
            return model
        rows, counts = found
        tree = tree_of_rows(np.repeat(rows, counts, axis=0), parameters)
        groups = tree.cut(tree.n_clusters_above(0.0))  # largest first
        least = max(2, MIN_SHARE * self.view.n_objects)
        kept = (groups < MAX_FOUNDED) & (np.bincount(groups)[groups] >= least)
        # Equal rows go the same way: that of the first of them.
        first = np.cumsum(counts) - counts
        kept, groups = kept[first], groups[first]
        if not kept.any():
            return model
        misfits = Lookup(rows[kept], model.n_clusters + groups[kept])
        n_clusters = model.n_clusters + int(groups[kept].max()) + 1
        return count_model(self.view, Founded(model.rule, misfits), n_clusters)


def _distinct_cells(
    rows: NDArray[np.int32], counts: NDArray[np.int64], columns: NDArray[np.int64], most: int
) -> tuple[NDArray[np.int32], NDArray[np.int64]] | None:
    cells = np.ascontiguousarray(rows[:, columns])
    if len(cells) == 0:
        return cells, counts
    first, inverse, _ = find_patterns(cells)
    if len(first) > most:
        return None
    return cells[first], np.bincount(inverse, counts).astype(np.int64)


def _find_misfits(
    rows: NDArray[np.int32], counts: NDArray[np.int64], rule: Rule, tables: Tables
) -> tuple[NDArray[np.int32], NDArray[np.int64]] | None:
    """Return the distinct rows that score negative with their cluster; None for too many."""
    misfit = mean_score_with_own(rows, rule(rows, 0), tables) < 0
    if counts[misfit].sum() > MAX_MISFITS:
        return None
    rows, counts = rows[misfit], counts[misfit]
    if len(rows) == 0:
        return rows, counts
    first, inverse, _ = find_patterns(rows)
    return rows[first], np.bincount(inverse, counts).astype(np.int64)
