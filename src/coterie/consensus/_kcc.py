"""KCC, k-means-based consensus clustering (Wu, Liu, Xiong, Cao and Chen, 2015)."""

from __future__ import annotations

from typing import ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie._about import MethodWords
from coterie._graphs import as_seed, draw_rows, fill_empty_parts
from coterie._kernels.clusters import add_rows
from coterie._kernels.label_tables import sum_members
from coterie._progress import track_progress
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
        every = votes.sum(axis=1, keepdims=True)
        sizes = np.diff(self.offsets)
        seen = np.repeat(np.add.reduceat(votes, self.offsets[:-1], axis=0), sizes, axis=0)
        all_seen = np.repeat(np.add.reduceat(every, self.offsets[:-1], axis=0), sizes, axis=0)
        overall = every / np.maximum(all_seen, 1e-300)
        return np.where(seen > 0, votes / np.maximum(seen, 1e-300), overall)

    def distances(self, shares: NDArray[np.float64], utility: str) -> NDArray[np.float64]:
        """Return (p, k): the distance of each row to each part, over the labels it has."""
        if utility == "entropy":
            table = -np.log(np.maximum(shares, np.finfo(np.float64).tiny))
        else:
            squares = np.add.reduceat(shares**2, self.offsets[:-1], axis=0)
            table = 1.0 - 2.0 * shares + np.repeat(squares, np.diff(self.offsets), axis=0)
        found: NDArray[np.float64] = add_rows(self.rows, self.offsets, table)
        return found


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


def cluster_label_rows(
    ensemble: Ensemble, n_clusters: int, utility: str, n_init: int, max_iter: int, seed: int
) -> tuple[NDArray[np.int64], Parts]:
    """Return a label for each object, and what k-means found.

    Where there are very many distinct rows, starts are compared on a sample of the objects.
    """
    rows, counts, inverse = ensemble.patterns
    n_parts = min(int(n_clusters), len(rows))
    chosen, hits = draw_rows(counts, n_parts, n_parts, seed)
    sample = LabelRows(rows[chosen], hits.astype(np.float64), ensemble.offsets)
    is_whole = len(chosen) == len(rows)
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
    if not is_whole:
        data = LabelRows(rows, counts.astype(np.float64), ensemble.offsets)
        start = np.argmin(data.distances(best.shares, utility), axis=1)
        best = lloyd(data, start, n_parts, utility, max_iter, settled=_SETTLED)
    return fill_empty_parts(best.labels, n_clusters, inverse=inverse), best


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
    history_ : ndarray of shape (n_iter_, 2)
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
        labels, found = cluster_label_rows(
            ensemble,
            self.n_clusters,
            self.utility,
            self.n_init,
            self.max_iter,
            as_seed(self.random_state),
        )
        self.inertia_, self.n_iter_ = found.inertias[-1], len(found.inertias)
        self.history_ = np.column_stack([np.arange(1, self.n_iter_ + 1), found.inertias])
        return labels
