"""Clusters and partitions in numbers: confidence, memberships, features, diversity."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coterie.ensemble import Ensemble
from coterie.metrics import pairwise_nmi
from coterie.metrics._tables import check_partition, nmi_of, tables_with

__all__ = [
    "DiversityAndAccuracy",
    "HeaviestFeatures",
    "SortedMemberships",
    "confidence_quantiles",
    "diversity_and_accuracy",
    "heaviest_features",
    "sorted_memberships",
]

_QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)


def confidence_quantiles(
    labels: NDArray[np.int64], confidence: NDArray[np.float64], n_clusters: int
) -> NDArray[np.float64]:
    """Return (n_clusters, 7): least, 5 %, 25 %, 50 %, 75 %, 95 % and most in each cluster."""
    order = np.argsort(labels, kind="stable")
    ends = np.cumsum(np.bincount(labels))[:n_clusters]
    members = np.split(confidence[order], ends)[:n_clusters]
    return np.array([np.quantile(values, _QUANTILES) for values in members])


class SortedMemberships(NamedTuple):
    """Memberships of objects in a row, neighbours taken together where there are many."""

    values: NDArray[np.float64]
    """(m, k): the mean membership of the objects of each bar."""
    edges: NDArray[np.int64]
    """(m + 1,): bar b holds objects edges[b] to edges[b + 1] - 1 of the order."""
    order: NDArray[np.int64]


def sorted_memberships(
    membership: ArrayLike, labels: NDArray[np.int64], most: int
) -> SortedMemberships:
    """Put objects cluster by cluster, the surest first, in at most `most` bars."""
    membership = np.asarray(membership, dtype=np.float64)
    own = membership[np.arange(len(labels)), labels]
    order = np.lexsort((-own, labels))
    m = min(len(order), most)
    edges = np.linspace(0, len(order), m + 1).round().astype(np.int64)
    sums = np.add.reduceat(membership[order], edges[:-1], axis=0)
    return SortedMemberships(sums / np.diff(edges)[:, None], edges, order)


class HeaviestFeatures(NamedTuple):
    """The features that count most in each cluster."""

    features: NDArray[np.int64]
    """(k, m): heaviest first; ties by position."""
    weights: NDArray[np.float64]
    """(k, m)"""


def heaviest_features(weights: ArrayLike, n_features: int) -> HeaviestFeatures:
    """Return the `n_features` features of largest weight for each cluster."""
    weights = np.asarray(weights, dtype=np.float64)
    if weights.ndim != 2:
        raise ValueError(f"weights must be (clusters, features); got shape {weights.shape}.")
    order = np.argsort(-weights, axis=1, kind="stable")[:, :n_features]
    return HeaviestFeatures(order, np.take_along_axis(weights, order, axis=1))


class DiversityAndAccuracy(NamedTuple):
    """For each partition, how much it differs from the others and how good it is."""

    diversity: NDArray[np.float64]
    """(L,): 1 - mean NMI with the other partitions."""
    accuracy: NDArray[np.float64]
    """(L,): NMI with the reference."""


def diversity_and_accuracy(ensemble: Ensemble, reference: ArrayLike) -> DiversityAndAccuracy:
    """Return diversity and accuracy of each partition; NaN where there is nothing to compare."""
    codes = check_partition(reference, "reference", ensemble.n_objects)
    n = ensemble.n_partitions
    accuracy = nmi_of(tables_with(codes, ensemble.labels, ensemble.n_clusters))
    if n < 2:
        return DiversityAndAccuracy(np.full(n, np.nan), accuracy)
    shared = np.array(pairwise_nmi(ensemble))
    np.fill_diagonal(shared, np.nan)
    known = ~np.isnan(shared)
    count = known.sum(axis=1)
    total = np.where(known, shared, 0.0).sum(axis=1)
    mean = np.divide(total, count, out=np.full(n, np.nan), where=count > 0)
    return DiversityAndAccuracy(1.0 - mean, accuracy)
