"""Boost-KM, clustering by boosting (Frossyniotis, Likas and Stafylopatis, 2004)."""

from __future__ import annotations

import warnings
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import pairwise_distances
from sklearn.utils.validation import check_is_fitted, validate_data

from coterie._checks import check_choice, check_clusterer, check_random_state
from coterie._limits import one_thread
from coterie._reading import check_table
from coterie.ensemble import Ensemble

__all__ = ["BoostKMeans"]

CRITERIA = ("minmax", "entropy")

_PATIENCE = 3  # rounds in a row with a falling error that end the boosting
_LEAST_ERROR = 1e-12  # an error of 0 would have an infinite weight


class Round(NamedTuple):
    """One round of boosting that was kept."""

    centers: NDArray[np.float64]
    """(C, d), in the order of the aggregate's clusters."""
    memberships: NDArray[np.float64]
    """(n, C)."""
    weight: float
    """log beta."""


def memberships_of(X: NDArray[np.float64], centers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (n, C): 1 / sum_k (d_ij / d_ik); an object on a centre belongs to it wholly."""
    distances = pairwise_distances(X, centers)
    on_center = distances == 0
    closeness = 1.0 / np.where(on_center, 1.0, distances)
    touching = on_center.any(axis=1)
    closeness[touching] = on_center[touching]
    found: NDArray[np.float64] = closeness / closeness.sum(axis=1, keepdims=True)
    return found


def clustering_errors(memberships: NDArray[np.float64], criterion: str) -> NDArray[np.float64]:
    """Return (n,): the paper's CQ in [0, 1], 1 for an object that belongs to no cluster."""
    n_clusters = memberships.shape[1]
    if n_clusters == 1:
        return np.zeros(len(memberships))
    if criterion == "minmax":
        return 1.0 - memberships.max(axis=1) + memberships.min(axis=1)
    logs = np.log(np.where(memberships > 0, memberships, 1.0))
    return -(memberships * logs).sum(axis=1) / np.log(n_clusters)


def match_clusters(
    labels: NDArray[np.int64], reference: NDArray[np.int64], n_clusters: int
) -> NDArray[np.int64]:
    """Return for each reference cluster the cluster matched to it (most objects in common)."""
    table = np.zeros((n_clusters, n_clusters), dtype=np.int64)
    np.add.at(table, (reference, labels), 1)
    return linear_sum_assignment(-table)[1]


def aggregate(rounds: list[Round]) -> NDArray[np.int64]:
    """Return the cluster of the largest weighted sum of memberships."""
    total = sum(r.weight * r.memberships for r in rounds)
    return np.argmax(total, axis=1)


def largest_first(labels: NDArray[np.int64], n_clusters: int) -> NDArray[np.int64]:
    """Return the clusters from large to small; of equal ones, that with the first object first."""
    sizes = np.bincount(labels, minlength=n_clusters)
    first = np.full(n_clusters, len(labels))
    first[labels[::-1]] = np.arange(len(labels) - 1, -1, -1)  # the last one written stays
    return np.lexsort((first, -sizes))


@one_thread()
def boost(
    X: NDArray[np.float64],
    n_clusters: int,
    n_rounds: int,
    criterion: str,
    random: np.random.RandomState,
) -> list[Round]:
    """Run k-means in rounds; objects that were clustered badly are drawn more often."""
    n = len(X)
    weights = np.full(n, 1.0 / n)
    worst, n_falls = 0.0, 0
    rounds: list[Round] = []
    for _ in range(n_rounds):
        drawn = random.choice(n, size=n, p=weights)
        kmeans = KMeans(n_clusters, n_init=1, random_state=random.randint(2**31 - 1))
        with warnings.catch_warnings():
            # A sample may hold fewer distinct objects than clusters: then centres coincide.
            warnings.simplefilter("ignore", ConvergenceWarning)
            centers = kmeans.fit(X[drawn]).cluster_centers_
        memberships = memberships_of(X, centers)
        if rounds:
            order = match_clusters(memberships.argmax(axis=1), aggregate(rounds), n_clusters)
            centers, memberships = centers[order], memberships[:, order]
        errors = clustering_errors(memberships, criterion)
        error = float(np.clip(0.5 * (weights @ errors), _LEAST_ERROR, 1.0))
        if error > 0.5:
            break
        beta = (1.0 - error) / error
        rounds.append(Round(centers, memberships, np.log(beta)))
        if error < worst:
            n_falls += 1
            if n_falls == _PATIENCE:
                break
        else:
            n_falls, worst = 0, error
        weights = weights * beta**errors
        weights /= weights.sum()
    return rounds


class BoostKMeans(ClusterMixin, BaseEstimator):
    """Boosted k-means (Boost-KM): badly clustered objects are drawn more often.

    In each round k-means is run on objects drawn with replacement. Objects that lie between
    clusters get a larger chance to be drawn in the next round. The consensus of the rounds is the
    weighted sum of the memberships [1]_.

    Implemented from descriptions of the method in several other sources.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters in each round and in the consensus.
    n_rounds : int, default=100
        Largest number of rounds.
    criterion : {'minmax', 'entropy'}, default='minmax'
        What makes an object badly clustered: 1 - largest + smallest membership, or the entropy of
        its memberships over log n_clusters.
    random_state : int, RandomState instance or None, default=None
        Seed of the draws and of k-means.

    Attributes
    ----------
    labels_ : ndarray of int64, shape (n_samples,)
        The consensus: consecutive from 0, largest cluster first.
    membership_ : ndarray of shape (n_samples, n_clusters)
        Weighted mean of the memberships of the rounds.
    cluster_centers_ : ndarray of shape (n_rounds, n_clusters, n_features)
        The centres of each round, clusters in the order of the labels.
    round_weights_ : ndarray of shape (n_rounds,)
        Weight of each round in the consensus; they sum to 1.
    n_rounds_ : int
        Number of rounds that were kept.
    ensemble_ : Ensemble
        The partitions of the rounds.
    n_features_in_ : int
        Number of features.

    Notes
    -----
    Memberships are 1 / sum_k (d_j / d_k), d the Euclidean distance to the centres; an object on a
    centre belongs to it wholly. The error of a round is half the weighted mean of the criterion,
    and beta = (1 - error) / error. Boosting ends when three rounds in a row have a smaller error
    than the largest so far. From the second round on, clusters are renamed to share most objects
    with the consensus so far.

    References
    ----------
    .. [1] D. Frossyniotis, A. Likas and A. Stafylopatis, "A clustering method based on boosting",
       Pattern Recognition Letters 25(6), 2004, :doi:`10.1016/j.patrec.2003.12.018`.

    Examples
    --------
    >>> from coterie import BoostKMeans
    >>> X = [[0.0], [0.1], [0.2], [5.0], [5.1], [5.3]]
    >>> BoostKMeans(n_clusters=2, random_state=0).fit_predict(X)
    array([0, 0, 0, 1, 1, 1])
    """

    def __init__(
        self,
        n_clusters: int = 8,
        n_rounds: int = 100,
        criterion: Literal["minmax", "entropy"] = "minmax",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_rounds = n_rounds
        self.criterion = criterion
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Cluster the objects.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self : object
        """
        check_table(X)
        data: NDArray[np.float64] = validate_data(self, X, dtype=np.float64)
        check_clusterer(self, "n_clusters", "n_rounds", n_samples=len(data))
        check_choice("criterion", self.criterion, CRITERIA)
        rounds = boost(
            data,
            self.n_clusters,
            self.n_rounds,
            self.criterion,
            check_random_state(self.random_state),
        )
        weights = np.array([r.weight for r in rounds])
        # Where no round separates anything, all weights are 0.
        weights = weights if weights.any() else np.ones(len(rounds))
        self.round_weights_ = weights / weights.sum()
        order = largest_first(aggregate(rounds), self.n_clusters)
        self.cluster_centers_ = np.stack([r.centers[order] for r in rounds])
        self.membership_ = self._memberships(data)
        self.labels_ = np.argmax(self.membership_, axis=1).astype(np.int64)
        self.n_rounds_ = len(rounds)
        self.ensemble_ = Ensemble(np.column_stack([r.memberships.argmax(axis=1) for r in rounds]))
        return self

    def predict(self, X: ArrayLike) -> NDArray[np.int64]:
        """Return the cluster of new objects.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of int64, shape (n_samples,)
        """
        check_is_fitted(self)
        data: NDArray[np.float64] = validate_data(self, X, dtype=np.float64, reset=False)
        return np.argmax(self._memberships(data), axis=1).astype(np.int64)

    def _memberships(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        total = np.zeros((len(X), self.cluster_centers_.shape[1]))
        for weight, centers in zip(self.round_weights_, self.cluster_centers_, strict=True):
            total += weight * memberships_of(X, centers)
        return total
