"""What methods with soft memberships share: starts, checks, the order of clusters."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from coterie._labels import order_by_size
from coterie._progress import track_progress
from coterie.consensus._base import BaseConsensus
from coterie.ensemble import Ensemble

__all__ = [
    "SoftConsensus",
    "check_init",
    "draw_memberships",
    "draw_seeds",
    "largest_cluster_first",
    "nearest_seeds",
    "run_starts",
    "soften",
    "warn_of_empty_clusters",
]

Array = NDArray[np.float64]

SOFTENED = 0.5  # share of an object's mass that a softened label gives to all clusters alike


class SoftConsensus(BaseConsensus):
    """Base of the consensus functions with memberships.

    A method writes `_memberships(codes)`, the memberships of label rows.
    """

    membership_: Array

    def predict_proba(self, X: ArrayLike | Ensemble | Any) -> Array:
        """Return the memberships of new label rows.

        Parameters
        ----------
        X : Ensemble or array-like of shape (n_new, n_partitions)
            As for `predict`.

        Returns
        -------
        membership : ndarray of shape (n_new, k)
            Columns as in `membership_`; rows sum to 1. A row without any known label has 1/k
            everywhere, or the shares of the clusters if the method estimates them.
        """
        check_is_fitted(self)
        return self._memberships(self._encode(X))

    def _memberships(self, codes: NDArray[np.int32]) -> Array:
        raise NotImplementedError(f"{type(self).__name__} must define _memberships")


# --- starts ------------------------------------------------------------------------------------


def draw_memberships(n_objects: int, n_clusters: int, seed: Any) -> Array:
    """Return (k, n): columns drawn from the uniform Dirichlet distribution."""
    rng = np.random.default_rng(seed)
    return np.ascontiguousarray(rng.dirichlet(np.ones(n_clusters), size=n_objects).T)


def draw_seeds(
    ensemble: Ensemble, n_clusters: int, random: np.random.RandomState | np.random.Generator
) -> NDArray[np.int64]:
    """Return (p,): for each distinct label row the nearest of k rows drawn far apart.

    The first is an object drawn at random, each next one is drawn with a probability in
    proportion to the squared distance to the nearest so far, as in k-means++; the distance of
    two rows is the share of partitions that put them apart. With fewer distinct rows than
    clusters, the last clusters stay empty.
    """
    return nearest_seeds(*ensemble.patterns[:2], n_clusters, random)


def nearest_seeds(
    rows: NDArray[np.int32],
    counts: NDArray[np.int64],
    n_clusters: int,
    random: np.random.RandomState | np.random.Generator,
) -> NDArray[np.int64]:
    """Do what `draw_seeds` says with weighted distinct rows."""
    from coterie._kernels.mixture import mean_disagreement

    nearest = np.zeros(len(rows), dtype=np.int64)
    distance = np.full(len(rows), np.inf)
    odds = counts.astype(np.float64)
    for cluster in range(n_clusters):
        if odds.sum() == 0:
            break
        ends = np.cumsum(odds)
        seed = int(np.searchsorted(ends, random.uniform() * ends[-1], side="right"))
        found = mean_disagreement(rows, rows[seed])
        found[seed] = 0.0
        nearer = found < distance
        nearest[nearer] = cluster
        distance[nearer] = found[nearer]
        odds = counts * distance**2
    return nearest


def soften(labels: NDArray[np.int64], n_clusters: int) -> Array:
    """Return (k, n) memberships: half in the cluster of the label, half spread over all."""
    Y = np.full((n_clusters, len(labels)), SOFTENED / n_clusters)
    Y[labels, np.arange(len(labels))] += 1.0 - SOFTENED
    return Y


def run_starts(n_starts: int, run: Callable[[int, Callable[[float], None]], Any]) -> list[Any]:
    """Return ``run(start, report)`` for every start, as many at a time as there are threads.

    `report` takes the share of the start that is done.
    """
    from numba import get_num_threads, set_num_threads

    n_threads = get_num_threads()
    workers = max(1, min(n_starts, n_threads))
    with (
        track_progress("starts", 100 * n_starts, n_starts) as done,
        # numba keeps the number of threads for each thread of Python.
        ThreadPoolExecutor(workers, initializer=set_num_threads, initargs=(n_threads,)) as pool,
    ):

        def run_one(start: int) -> Any:
            def report(share: float) -> None:
                done[start] = max(done[start], int(100 * share))

            found = run(start, report)
            report(1.0)
            return found

        return list(pool.map(run_one, range(n_starts)))


# --- clusters ----------------------------------------------------------------------------------


def largest_cluster_first(membership: Array) -> Array:
    """Return memberships with columns in the order that their labels will have.

    Ties go to the lowest column, so another order can change labels: until nothing changes.
    """
    k = membership.shape[1]
    for _ in range(k + 1):
        labels = np.argmax(membership, axis=1)
        names = order_by_size(labels)
        used = np.empty(names.max() + 1, dtype=np.int64)
        used[names] = labels
        order = np.concatenate([used, np.setdiff1d(np.arange(k), used)])
        if np.array_equal(order, np.arange(k)):
            break
        membership = membership[:, order]
    return np.ascontiguousarray(membership)


def warn_of_empty_clusters(estimator: Any, n_found: int) -> None:
    """Warn if fewer clusters than `n_clusters` are the best for some object.

    To be called by `_keep`, which `_fit` calls.
    """
    asked = estimator.n_clusters
    if asked is not None and n_found < asked:
        plural = "" if n_found == 1 else "s"
        warnings.warn(
            f"{type(estimator).__name__} found {n_found} cluster{plural}, fewer than n_clusters="
            f"{asked}: the others are no object's best and stay empty.",
            UserWarning,
            stacklevel=5,
        )


# --- checks ------------------------------------------------------------------------------------


def check_init(init: Any, n_clusters: int | None, n_objects: int) -> Array | None:
    """Return given memberships as columns, (k, n), or None for 'random'; refuse anything else."""
    if isinstance(init, str):
        if init == "random":
            return None
        raise ValueError(
            f"init must be 'random' or memberships of shape (n_objects, k); got {init!r}."
        )
    membership = np.array(init, dtype=np.float64)
    if membership.ndim != 2 or membership.shape[0] != n_objects or membership.shape[1] < 1:
        raise ValueError(
            f"init must be 'random' or memberships of shape ({n_objects}, k), one row per object; "
            f"got shape {membership.shape}."
        )
    k = membership.shape[1]
    if n_clusters is not None and n_clusters != k:
        raise ValueError(f"init must have n_clusters = {n_clusters} columns; got {k}.")
    sums = membership.sum(axis=1)
    # Written so that NaN fails.
    if not (membership >= 0).all() or not (np.abs(sums - 1.0) <= 1e-6).all():
        raise ValueError(
            "init must hold probabilities: no entry negative, every row summing to 1. Divide the "
            "rows by their sums."
        )
    return np.ascontiguousarray((membership / sums[:, None]).T)
