"""Weights of clusters and of partitions, and similarity of clusters, from contingency tables.

All of them come from the overlap, the counts of objects that two clusters share, so that their
cost does not grow with the number of objects.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from coterie.blocks import LabelBlocks
from coterie.ensemble import Ensemble

__all__ = [
    "cluster_links",
    "cluster_weights",
    "jaccard",
    "partition_weights",
]


def cluster_weights(ensemble: Ensemble | LabelBlocks, theta: float) -> NDArray[np.float64]:
    """Return (K,): the ensemble-driven cluster index (ECI) of each cluster, in (0, 1].

    The weight of a cluster c is exp(-H(c) / (theta L)). H(c) is the sum over the L partitions of
    the entropy, base 2, of their labels among the members of c. A cluster that no partition
    splits has weight 1. Members whose label a partition misses are left out of its entropy.
    """
    entropies = []
    for e in range(ensemble.n_partitions):
        table, starts = ensemble.tables(e), ensemble.offsets[:-1]
        seen = np.add.reduceat(table, starts, axis=1)
        split = np.add.reduceat(xlogy(table, table), starts, axis=1)
        entropies.append((_log_of(seen) - split / np.maximum(seen, 1)).sum(axis=1))
    entropy = np.maximum(np.concatenate(entropies), 0.0) / np.log(2.0)
    weights: NDArray[np.float64] = np.exp(-entropy / (theta * ensemble.n_partitions))
    return weights


def partition_weights(ensemble: Ensemble | LabelBlocks) -> NDArray[np.float64]:
    """Return (L,): the normalized crowd agreement index (NCAI) of each partition, in [0, 1].

    It is the mean NMI of a partition with the others, normalized by the larger entropy, over the
    largest such mean. Two partitions are compared on the objects that both saw. Where no partition
    agrees with another, all weights are 1.
    """
    n_partitions = ensemble.n_partitions
    agreement = np.zeros((n_partitions, n_partitions))
    for e in range(n_partitions):
        table, starts = ensemble.tables(e), ensemble.offsets[:-1]
        rows, columns = np.add.reduceat(table, starts, axis=1), table.sum(axis=0)
        n_both = rows.sum(axis=0)
        both, scale = _log_of(n_both), np.maximum(n_both, 1)
        row_entropy = both - xlogy(rows, rows).sum(axis=0) / scale
        column_entropy = both - np.add.reduceat(xlogy(columns, columns), starts) / scale
        cells = np.add.reduceat(xlogy(table, table).sum(axis=0), starts)
        shared = row_entropy + column_entropy - (both - cells / scale)
        larger = np.maximum(row_entropy, column_entropy)
        # Two constant partitions are the same, if some object shows it.
        agreement[e] = np.where(larger > 1e-12, shared / np.maximum(larger, 1e-12), n_both > 0)
    np.fill_diagonal(agreement, 0.0)
    mean = np.maximum(agreement, 0.0).sum(axis=1)
    largest = mean.max()
    return mean / largest if largest > 1e-12 else np.ones(n_partitions)


def jaccard(ensemble: Ensemble | LabelBlocks) -> NDArray[np.float64]:
    """Return (K, K): shared objects of two clusters over the objects in either; diagonal 1."""
    overlap = ensemble.overlap
    sizes = np.diagonal(overlap)
    shares: NDArray[np.float64] = overlap / (sizes[:, None] + sizes - overlap)
    return shares


def cluster_links(
    ensemble: Ensemble | LabelBlocks, weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return (K, K): the sum over clusters z of weights[z] min(J_xz, J_yz), J the Jaccard index."""
    from coterie._kernels.cluster_links import shared_neighbours

    return shared_neighbours(jaccard(ensemble), weights)


def _log_of(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the logarithms of counts, 0 where the count is 0."""
    return np.log(np.maximum(counts, 1))
