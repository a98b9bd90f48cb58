"""Hierarchical consensus by normalized edges (Li, Yu, Hao and Li, 2007)."""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie._about import MethodWords
from coterie._labels import order_by_size
from coterie._limits import check_fits
from coterie._progress import track_progress
from coterie.consensus._base import BaseConsensus
from coterie.consensus._eac import nearest_object_cluster
from coterie.ensemble import Ensemble, compact_codes

__all__ = ["HNE"]

AUTO_THRESHOLDS = (0.10, 0.15, 0.20, 0.25, 0.30, 0.35, 0.40)
"""Where the paper's experience is that the method works well."""

_PAPER = 0.30


class ThresholdGraph(NamedTuple):
    """Which distinct label rows have an edge, and who has these rows."""

    columns: NDArray[Any]
    """(L, p): compact codes of the distinct rows."""
    start: NDArray[np.int64]
    neighbours: NDArray[np.int32]
    """Row p's neighbours are ``neighbours[start[p]:start[p + 1]]``, itself among them."""
    counts: NDArray[np.int64]
    """(p,): objects with each row."""
    inverse: NDArray[np.int64]
    """(n,): the row of each object."""

    @property
    def n_edges(self) -> int:
        """Number of pairs of objects with an edge."""
        degrees = np.diff(self.start)
        ends = np.repeat(self.counts, degrees) @ self.counts[self.neighbours]
        return int(ends - self.counts[degrees > 0].sum()) // 2


class Merges(NamedTuple):
    """Merges in their order; a cluster is known by its smallest object."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    edges: NDArray[np.int64]
    """Edges between the two clusters."""
    normalized: NDArray[np.float64]
    """Normalized edges (3)."""

    def cut(self, n_objects: int, n_clusters: int) -> NDArray[np.int64]:
        """Return the labels when `n_clusters` are left, or more if there are not enough merges."""
        from coterie._kernels.linkage import cut_merges

        n_merges = min(len(self.first), n_objects - n_clusters)
        return order_by_size(cut_merges(self.first, self.second, n_merges, n_objects))


class Trial(NamedTuple):
    """One threshold of a scan."""

    threshold: float
    n_clusters: int
    agreement: float
    """Mean adjusted Rand index with the partitions at the other candidate thresholds; NaN where
    the partition is no candidate."""


def least_counts(threshold: float, n_partitions: int) -> NDArray[np.int64]:
    """Return how many of 0, 1, ..., L partitions must agree for a share above the threshold.

    The share is one division, rounded to the nearest double as the threshold itself is: 9/30 is
    the double that 0.30 is, so it is not larger. Where no number is enough it is one too many.

    Examples
    --------
    >>> least_counts(0.30, 30)[[10, 20, 30]]
    array([ 4,  7, 10])
    """
    least = np.empty(n_partitions + 1, dtype=np.int64)
    for observed in range(n_partitions + 1):
        shares = np.arange(observed + 1) / max(observed, 1)  # rises, so the last is the largest
        least[observed] = np.searchsorted(shares, threshold, side="right")
    least[0] = 1  # 0 of 0 is no edge
    return least


def check_threshold(name: str, value: Any) -> None:
    """Raise unless the value is a number of at least 0 and below 1, or 'auto'."""
    if isinstance(value, str) and value == "auto":
        return
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(
            f"{name} must be a number of at least 0 and below 1, or 'auto'; got {value!r}."
        )
    if not 0 <= float(value) < 1:
        raise ValueError(
            f"{name} must be at least 0 and below 1, or no edge is possible; got {value}."
        )


def threshold_graph(ensemble: Ensemble, threshold: float) -> ThresholdGraph:
    """Return the graph (2): an edge where more than this share of partitions say together."""
    from coterie._kernels.coassociation import Codes
    from coterie._kernels.normalized_edges import count_neighbours, find_neighbours

    patterns = ensemble.patterns
    columns = compact_codes(patterns.labels, int(ensemble.n_clusters.max()))
    least = least_counts(threshold, ensemble.n_partitions)
    codes = Codes.of(columns, ensemble.has_missing)
    n_rows = columns.shape[1]
    with track_progress("numbers of neighbours", n_rows, n_rows) as done:
        start = np.concatenate([[0], np.cumsum(count_neighbours(codes, least, done))])
    check_fits(
        4 * int(start[-1]),
        f"the threshold graph of {n_rows} distinct label rows with {int(start[-1]) // 2} edges",
        hint="Use a higher threshold or partitions with more clusters, which leave fewer edges",
    )
    with track_progress("neighbours", n_rows, n_rows) as done:
        neighbours = find_neighbours(codes, least, start, done)
    return ThresholdGraph(columns, start, neighbours, patterns.counts, patterns.inverse)


def merge_clusters(graph: ThresholdGraph, threshold: float) -> Merges:
    """Merge the two clusters with the most normalized edges (3) until no edge is left."""
    from coterie._kernels.normalized_edges import merge_by_normalized_edges

    n = len(graph.inverse)
    objects = np.argsort(graph.inverse, kind="stable")
    object_start = np.concatenate([[0], np.cumsum(graph.counts)])
    f = (1.0 - threshold) / (1.0 + threshold)
    power = np.arange(n + 1, dtype=np.float64) ** (1.0 + f)
    with track_progress("merging clusters", n) as done:
        merges = merge_by_normalized_edges(
            graph.start, graph.neighbours, object_start, objects, power, done
        )
    return Merges(*merges)


def scipy_tree(merges: Merges, n_objects: int) -> NDArray[np.float64]:
    """Return SciPy's linkage matrix; clusters that were not joined are, at infinite height."""
    from coterie._kernels.linkage import cut_merges
    from coterie._kernels.linkage import scipy_tree as build

    # Normalized edges can rise again after a merge: the height of a tree cannot fall.
    heights = 1.0 / np.minimum.accumulate(merges.normalized)
    left = np.unique(cut_merges(merges.first, merges.second, len(merges.first), n_objects))
    first = np.concatenate([merges.first, np.full(len(left) - 1, left[0])])
    second = np.concatenate([merges.second, left[1:]])
    heights = np.concatenate([heights, np.full(len(left) - 1, np.inf)])
    return build(first, second, heights, n_objects)


def scan_thresholds(ensemble: Ensemble, n_clusters: int | None) -> list[Trial]:
    """Cluster at each of `AUTO_THRESHOLDS`, and say how far the partitions agree.

    Candidates are the partitions that have `n_clusters` (or, if none has, as few as can be
    had); without `n_clusters`, those that neither join nor separate all objects (or, if there
    are none, all).
    """
    from coterie.metrics import ari

    n = ensemble.n_objects
    found = []
    for threshold in AUTO_THRESHOLDS:
        graph = threshold_graph(ensemble, threshold)
        found.append(merge_clusters(graph, threshold).cut(n, n_clusters or 1))
    numbers = np.array([int(labels.max()) + 1 for labels in found])
    fits = (numbers > 1) & (numbers < n) if n_clusters is None else numbers == numbers.min()
    if not fits.any():
        fits[:] = True
    trials = []
    for t, threshold in enumerate(AUTO_THRESHOLDS):
        agreement = np.nan
        if fits[t]:
            others = [ari(found[t], found[s]) for s in np.flatnonzero(fits) if s != t]
            agreement = float(np.mean(others)) if others else 1.0
        trials.append(Trial(threshold, int(numbers[t]), agreement))
    return trials


def best_trial(trials: list[Trial]) -> float:
    """Return the threshold that agrees best with the others; of equal ones nearest to 0.30."""
    most = max(t.agreement for t in trials if not np.isnan(t.agreement))
    tied = [t.threshold for t in trials if t.agreement >= most - 1e-12]
    return min(tied, key=lambda threshold: (round(abs(threshold - _PAPER), 9), threshold))


class HNE(BaseConsensus):
    """Hierarchical consensus by normalized edges.

    Two objects have an edge if more than a `threshold` share of the partitions put them
    together. Clusters are merged by their normalized edges: the number of edges between the
    two, over the number expected of clusters of their sizes [1]_. A chain of edges is enough
    to hold a cluster together, so that it can have any shape; the normalization keeps single
    edges from joining what is large.

    Only the graph is kept, never a matrix of pairs, and objects with the same labels in it once.

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters. Default: merging goes on until no edge is left between clusters, so
        these are the connected components of the graph.
    threshold : float or 'auto', default=0.3
        Edges have a co-association above this; at least 0, below 1. The paper found values
        between 0.1 and 0.4 to work, with little difference. 'auto' tries 0.10, 0.15, ..., 0.40
        and takes the one whose partition agrees best with those of the others, by the mean
        adjusted Rand index; of equal ones the nearest to 0.30. With `n_clusters`, only those
        count that get down to it, or as near as can be had; without, only those that find
        something between one cluster and all objects apart, if there are any.

    Attributes
    ----------
    n_clusters_ : int
        Number of clusters found. More than `n_clusters` if no edges were left to merge by.
    threshold_ : float
        The threshold used.
    threshold_scan_ : list of Trial or None
        With ``threshold='auto'``, for each threshold tried the number of clusters and the
        agreement with the others.
    n_edges_ : int
        Pairs of objects with an edge.
    linkage_ : ndarray of shape (n_objects - 1, 4)
        All merges in the format of `scipy.cluster.hierarchy`, in their order, also those after
        `n_clusters` was reached. The height is 1 / (normalized edges), or the greatest height
        so far where normalized edges rise again. Clusters without edges between them were not
        joined: the format wants them joined, and such rows, the last ones, have infinite
        height.
    normalized_edges_ : ndarray of shape (n_merges,)
        Normalized edges of the merges, before the unjoined.

    Warns
    -----
    UserWarning
        If there are more than `n_clusters` clusters when the edges run out.

    Notes
    -----
    The co-association is compared with the threshold as a quotient of two integers, rounded
    once: 9 of 30 partitions are not more than 0.30.

    Missing labels: the share is among the partitions that saw both objects, 0 if none did.

    Ties are the rule, at the start all pairs with an edge tie: the smallest pair is merged, a
    cluster being known by its smallest object. So the order of the objects can matter.
    Normalized edges are compared after rounding to 44 bits, so that equal ones are ties.

    Prediction: the cluster of the most similar known object (of several, the cluster with most
    of them).

    Examples
    --------
    >>> from coterie import HNE
    >>> votes = [[0, 0, 0], [0, 0, 1], [0, 1, 1], [2, 2, 2], [2, 2, 2]]
    >>> hne = HNE().fit(votes)
    >>> hne.labels_
    array([0, 0, 0, 1, 1])
    >>> hne.n_edges_
    4
    >>> hne.linkage_.round(2)
    array([[0. , 1. , 0.9, 2. ],
           [2. , 5. , 0.9, 3. ],
           [3. , 4. , 0.9, 2. ],
           [6. , 7. , inf, 5. ]])
    >>> hne.predict([[2, 2, 1], [0, 1, None]])
    array([1, 0])
    """

    about = MethodWords(
        title="Hierarchical consensus by normalized edges",
        does=(
            "Draws an edge between objects that more than a share of the partitions put together,"
            " and merges the clusters with most edges between them, given their sizes. A chain of"
            " edges holds a cluster together, but a few edges do not join large ones."
        ),
        use=(
            "Clusters of any shape, where single linkage would join everything by a few wrong "
            "votes. threshold='auto' tries several thresholds."
        ),
        cost=("Time O(p^2 L) for the graph; memory that of the graph, checked against the limit."),
        missing="The share is among the partitions that saw both objects.",
        name=(
            "hierarchical clustering by normalized edges (HNE; Li et al., 2007): objects that "
            "more than a share of {threshold} of the partitions put together have an edge, and "
            "clusters are merged by the number of edges between them, over that expected of their"
            " sizes"
        ),
        number="the one at which no edge is left between clusters",
        references=(
            "Y. Li, J. Yu, P. Hao and Z. Li (2007). Clustering ensembles based on normalized "
            "edges. PAKDD 2007, LNAI 4426. doi:10.1007/978-3-540-71701-0_71",
        ),
    )
    exceptions = dict.fromkeys(
        ("every_number_of_clusters", "two_objects"),
        "it stops where no edges are left, with a warning: there may be more clusters",
    )

    rules: ClassVar = {"threshold": check_threshold}

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        threshold: float | str = 0.3,
        memory_limit: int | str | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.threshold = threshold
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs

    def _fit(self, ensemble: Ensemble) -> NDArray[np.int64]:
        self.threshold_ = _PAPER if self.threshold == "auto" else float(self.threshold)
        self.threshold_scan_ = None
        if self.threshold == "auto":
            self.threshold_scan_ = scan_thresholds(ensemble, self.n_clusters)
            self.threshold_ = best_trial(self.threshold_scan_)
        graph = threshold_graph(ensemble, self.threshold_)
        merges = merge_clusters(graph, self.threshold_)
        self.n_edges_ = graph.n_edges
        self.normalized_edges_ = merges.normalized
        self.linkage_ = scipy_tree(merges, ensemble.n_objects)
        labels = merges.cut(ensemble.n_objects, self.n_clusters or 1)
        found = int(labels.max()) + 1
        if self.n_clusters is not None and found > self.n_clusters:
            warnings.warn(
                f"no edge is left between {found} clusters, more than n_clusters="
                f"{self.n_clusters}; they are returned as they are. A lower threshold than "
                f"{self.threshold_:g} leaves more edges.",
                UserWarning,
                stacklevel=3,
            )
        return labels

    def _predict(self, codes: NDArray[np.int32]) -> NDArray[np.int64]:
        return nearest_object_cluster(self.ensemble_, self.labels_, self.n_clusters_, codes)
