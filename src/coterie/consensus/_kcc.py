"""KCC, k-means-based consensus clustering (Wu, Liu, Xiong, Cao and Chen, 2015)."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie._about import MethodWords
from coterie._graphs import as_seed, fill_empty_parts, most_rows
from coterie._kernels.clusters import add_rows
from coterie._kernels.label_tables import sum_members
from coterie._progress import track_progress
from coterie.blocks import (
    LabelBlocks,
    Lookup,
    Rule,
    fixed_point,
    sample_rows,
    scale_for,
    sum_rows,
)
from coterie.consensus._base import BaseConsensus
from coterie.consensus._parameters import one_of
from coterie.ensemble import Ensemble

__all__ = ["KCC"]

_SETTLED = 1e-3  # share of the objects that may still change their part where there is a sample
_COMPARED = 1e-2  # the same while starts are compared


class LabelRows(NamedTuple):
    """Weighted label rows, and where the clusters of each partition start."""

    rows: NDArray[np.int32]
    weights: NDArray[np.float64]
    offsets: NDArray[np.int64]

    def shares(self, parts: NDArray[np.int64], n_parts: int) -> NDArray[np.float64]:
        """Return (K, k): the share of each label in each part, among the labels of its partition.

        In a part that a partition did not see, it is the share in all rows.
        """
        votes = sum_members(self.rows, self.offsets, self.weights, parts, n_parts)
        return label_shares(votes, self.offsets)

    def distances(self, shares: NDArray[np.float64], utility: str) -> NDArray[np.float64]:
        """Return (p, k): the distance of each row to each part, over the labels it has."""
        table = distance_table(shares, self.offsets, utility)
        found: NDArray[np.float64] = add_rows(self.rows, self.offsets, table)
        return found


def label_shares(votes: NDArray[Any], offsets: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return (K, k): counts of labels in parts, over the labels of their partition in the part."""
    every = votes.sum(axis=1, keepdims=True)
    sizes = np.diff(offsets)
    seen = np.repeat(np.add.reduceat(votes, offsets[:-1], axis=0), sizes, axis=0)
    all_seen = np.repeat(np.add.reduceat(every, offsets[:-1], axis=0), sizes, axis=0)
    overall = every / np.maximum(all_seen, 1e-300)
    return np.where(seen > 0, votes / np.maximum(seen, 1e-300), overall)


def distance_table(
    shares: NDArray[np.float64], offsets: NDArray[np.int64], utility: str
) -> NDArray[np.float64]:
    """Return (K, k): what each label of a row adds to its distance to each part."""
    if utility == "entropy":
        return -np.log(np.maximum(shares, np.finfo(np.float64).tiny))
    squares = np.add.reduceat(shares**2, offsets[:-1], axis=0)
    return 1.0 - 2.0 * shares + np.repeat(squares, np.diff(offsets), axis=0)


class NearestShares(NamedTuple):
    """Puts a label row to the part at the smallest distance, the first of equal ones."""

    offsets: NDArray[np.int64]
    table: NDArray[np.float64]

    def __call__(self, codes: NDArray[np.int32], start: int) -> NDArray[np.int64]:
        """Return the part of each row."""
        return np.argmin(add_rows(codes, self.offsets, self.table), axis=1)


class Parts(NamedTuple):
    """What k-means found."""

    labels: NDArray[np.int64]
    shares: NDArray[np.float64]
    inertias: list[float]
    """Of each iteration."""


def draw_start(data: LabelRows, n_parts: int, random: np.random.Generator) -> NDArray[np.int64]:
    """Return the nearest of some rows for each row; the rows are drawn by k-means++."""
    every = np.arange(len(data.rows))
    nearest = np.full(len(every), np.inf)
    labels = np.zeros(len(every), dtype=np.int64)
    odds = data.weights
    for part in range(n_parts):
        seed = random.choice(every, p=odds / odds.sum())
        alone = LabelRows(data.rows[[seed]], np.ones(1), data.offsets)
        shares = alone.shares(np.zeros(1, dtype=np.int64), 1)
        distances = data.distances(shares, "euclidean")[:, 0]
        labels[distances < nearest] = part
        labels[seed] = part
        nearest = np.minimum(nearest, distances)
        nearest[seed] = 0.0
        odds = data.weights * nearest
        if not odds.any():
            break
    return labels


def lloyd(
    data: LabelRows,
    labels: NDArray[np.int64],
    n_parts: int,
    utility: str,
    max_iter: int,
    settled: float = 0.0,
) -> Parts:
    """Go from label shares to nearest parts and back, until no row changes its part.

    Or no more than the share `settled` of the weight. An empty part gets the farthest row.
    """
    inertias: list[float] = []
    total = data.weights.sum()
    while True:
        shares = data.shares(labels, n_parts)
        distances = data.distances(shares, utility)
        nearest = np.argmin(distances, axis=1)
        least = distances[np.arange(len(nearest)), nearest]
        nearest = fill_empty_parts(nearest, n_parts, distances=least)
        moved = data.weights[nearest != labels].sum()
        labels = nearest
        inertias.append(float(data.weights @ least))
        if moved <= settled * total or len(inertias) == max_iter:
            return Parts(labels, shares, inertias)


def settle(
    view: Ensemble | LabelBlocks, shares: NDArray[np.float64], utility: str, max_iter: int
) -> tuple[NearestShares, Parts]:
    """Continue k-means with all label rows, until few objects change their part.

    Every step is a pass over the rows: parts follow from the shares, and need not be kept.
    """
    offsets, n = view.offsets, view.n_objects
    scale = scale_for(n, 710.0 * view.n_partitions)  # no label adds more to a distance
    before = NearestShares(offsets, distance_table(shares, offsets, utility))
    votes, _, _ = sum_rows(view, _count_votes, before, before, scale)
    inertias: list[float] = []
    while True:
        shares = label_shares(votes, offsets)
        rule = NearestShares(offsets, distance_table(shares, offsets, utility))
        votes, moved, inertia = sum_rows(view, _count_votes, rule, before, scale)
        inertias.append(float(inertia / scale))
        before = rule
        if moved <= _SETTLED * n or len(inertias) == max_iter:
            return rule, Parts(np.empty(0, dtype=np.int64), shares, inertias)


def _count_votes(
    rows: NDArray[np.int32],
    counts: NDArray[np.int64],
    rule: NearestShares,
    before: NearestShares,
    scale: float,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the labels in each part, the objects that changed it and the sum of distances."""
    distances = add_rows(rows, rule.offsets, rule.table)
    parts = np.argmin(distances, axis=1)
    least = fixed_point(distances[np.arange(len(parts)), parts], scale)
    votes = sum_members(rows, rule.offsets, counts.astype(np.float64), parts, distances.shape[1])
    moved = counts[parts != before(rows, 0)].sum()
    return votes.astype(np.int64), moved, counts @ least


def cluster_label_rows(
    view: Ensemble | LabelBlocks,
    n_clusters: int,
    utility: str,
    n_init: int,
    max_iter: int,
    seed: int,
) -> tuple[Rule, Parts]:
    """Return a rule that gives label rows their parts, and what k-means found.

    Where there are very many distinct rows, starts are compared on a sample of the objects.
    """
    rows, counts, is_whole = sample_rows(view, most_rows(n_clusters, n_clusters), seed)
    n_parts = min(int(n_clusters), len(rows))
    sample = LabelRows(rows, counts.astype(np.float64), view.offsets)
    settled = 0.0 if is_whole else _COMPARED
    random = np.random.default_rng(seed)
    best = None
    with track_progress("k-means, starts", n_init) as done:
        for _ in range(n_init):
            start = draw_start(sample, n_parts, random)
            found = lloyd(sample, start, n_parts, utility, max_iter, settled)
            if best is None or found.inertias[-1] < best.inertias[-1] * (1 - 1e-9):
                best = found
            done[0] += 1
    assert best is not None
    if is_whole:
        return Lookup(rows, best.labels), best
    return settle(view, best.shares, utility, max_iter)


class KCC(BaseConsensus):
    """K-means-based consensus clustering.

    The labels of an object are a row of 0 and 1, with a column for each cluster of each partition.
    These rows are clustered by k-means, whose distance follows from a utility of consensus [1]_:
    the squared Euclidean distance for the category utility U_c, the Kullback-Leibler divergence
    for the mutual information U_H.

    Parameters
    ----------
    utility : {'euclidean', 'entropy'}, default='euclidean'
        U_c or U_H.
    n_init : int, default=10
        Number of starts (k-means++); the one with the smallest sum of distances is returned.
    max_iter : int, default=100
        Largest number of iterations of one start.

    Attributes
    ----------
    inertia_ : float
        Sum of the distances of the objects to their clusters.
    n_iter_ : int
        Iterations of the returned start.
    history_ : ndarray of shape (n_iter, 2)
        Iteration, and sum of the distances in it.

    See Also
    --------
    coterie.MixtureModel : The soft version of 'entropy'.

    Notes
    -----
    Missing labels are left out of all sums: an object is compared with a cluster by the partitions
    that labelled it, and counts in their centres alone.

    With more than 50,000 distinct label rows, starts are compared on a random sample, and the best
    goes on with all rows until no more than one object in a thousand changes its cluster. Time and
    memory are linear in the number of objects.

    Examples
    --------
    >>> from coterie import KCC
    >>> votes = [[0, 0, 0], [0, 0, 1], [0, 0, 0], [1, 1, 1], [1, None, 1], [1, 1, 1], [1, 1, 0]]
    >>> KCC(n_clusters=2, random_state=0).fit(votes).labels_
    array([1, 1, 1, 0, 0, 0, 0])
    """

    about = MethodWords(
        title="K-means-based consensus clustering",
        does="Clusters the objects by k-means, their labels being the features.",
        use=(
            "Very many objects. On most ensembles the graph methods and trees give better clusters."
        ),
        cost="Time O(p L k) for each iteration, memory linear in n L.",
        missing="Left out of all sums.",
        name=(
            "k-means-based consensus clustering (KCC; Wu et al., 2015) with the utility "
            "'{utility}': k-means on the labels as rows of 0 and 1, from {n_init} starts"
        ),
        references=(
            (
                "J. Wu, H. Liu, H. Xiong, J. Cao and J. Chen (2015). K-means-based consensus "
                "clustering: a unified view. IEEE Transactions on Knowledge and Data "
                "Engineering, 27(1), 155-169. doi:10.1109/TKDE.2014.2316512"
            ),
        ),
    )
    finds_n_clusters = False
    objective = "sum of distances"
    rules: ClassVar = {"utility": one_of("euclidean", "entropy")}

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        utility: Literal["euclidean", "entropy"] = "euclidean",
        n_init: int = 10,
        max_iter: int = 100,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.utility = utility
        self.n_init = n_init
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit(self, ensemble: Ensemble) -> NDArray[np.int64]:
        rule, found = self._cluster(ensemble)
        rows, _, inverse = ensemble.patterns
        # The parts of distinct rows are known if there are few of them.
        parts = found.labels if len(found.labels) else rule(rows, 0)
        assert self.n_clusters is not None
        return fill_empty_parts(parts, self.n_clusters, inverse=inverse)

    def _fit_blocks(self, blocks: LabelBlocks) -> tuple[Rule, int]:
        assert self.n_clusters is not None
        return self._cluster(blocks)[0], self.n_clusters

    def _cluster(self, view: Ensemble | LabelBlocks) -> tuple[Rule, Parts]:
        assert self.n_clusters is not None
        rule, found = cluster_label_rows(
            view,
            self.n_clusters,
            self.utility,
            self.n_init,
            self.max_iter,
            as_seed(self.random_state),
        )
        self.inertia_, self.n_iter_ = found.inertias[-1], len(found.inertias)
        self.history_ = np.column_stack([np.arange(1, self.n_iter_ + 1), found.inertias])
        return rule, found
