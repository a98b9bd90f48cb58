"""How well a partition of the objects is supported by an ensemble (Monti et al., 2003)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coterie._kernels.coassociation import (
    count_block,
    count_dtype,
    missing_code,
    observe_block,
)
from coterie._kernels.support import tally
from coterie.ensemble import Ensemble, as_ensemble

__all__ = ["cluster_consensus", "item_consensus"]

_BLOCK = 1 << 22  # entries of one block of co-associations


def item_consensus(ensemble: Any, labels: ArrayLike) -> NDArray[np.float64]:
    """Return the mean co-association of every object with the members of every cluster.

    The object itself is left out of its own cluster. In a well-made partition an object's own
    cluster has a value near 1, and all others have values near 0 [1]_. Memory is linear in the
    number of objects.

    Parameters
    ----------
    ensemble : Ensemble or array-like of shape (n_objects, n_partitions)
        The partitions.
    labels : array-like of int of shape (n_objects,)
        Clusters 0, 1, ..., k - 1.

    Returns
    -------
    item : ndarray of shape (n_objects, k)
        NaN for the only member of a cluster and its own cluster, and for clusters without
        members. A pair that no partition saw has co-association 0.

    References
    ----------
    .. [1] Monti, Tamayo, Mesirov & Golub (2003), Consensus clustering,
       :doi:`10.1023/A:1023949509487`.

    Examples
    --------
    >>> from coterie.metrics import item_consensus
    >>> votes = [[0, 0], [0, 0], [0, 1], [1, 1]]
    >>> item_consensus(votes, [0, 0, 1, 1])
    array([[1.  , 0.25],
           [1.  , 0.25],
           [0.5 , 0.5 ],
           [0.  , 0.5 ]])
    """
    ensemble = as_ensemble(ensemble)
    labels = _check_labels(labels, ensemble.n_objects)
    k = int(labels.max()) + 1
    members = (labels[:, None] == np.arange(k)).astype(np.float64)
    blocks = [shares @ members for shares in _share_blocks(ensemble.compact_codes)]
    sums = np.concatenate(blocks)
    sizes = members.sum(axis=0) - members
    return np.divide(sums, sizes, out=np.full_like(sums, np.nan), where=sizes > 0)


def cluster_consensus(ensemble: Any, labels: ArrayLike) -> NDArray[np.float64]:
    """Return for every cluster the mean co-association of its pairs of objects.

    Near 1 the ensemble always puts the members together [1]_.

    Parameters
    ----------
    ensemble : Ensemble or array-like of shape (n_objects, n_partitions)
        The partitions.
    labels : array-like of int of shape (n_objects,)
        Clusters 0, 1, ..., k - 1.

    Returns
    -------
    cluster : ndarray of shape (k,)
        NaN for clusters with fewer than two members.

    References
    ----------
    .. [1] Monti, Tamayo, Mesirov & Golub (2003), Consensus clustering,
       :doi:`10.1023/A:1023949509487`.

    Examples
    --------
    >>> from coterie.metrics import cluster_consensus
    >>> votes = [[0, 0], [0, 0], [0, 1], [1, 1]]
    >>> cluster_consensus(votes, [0, 0, 1, 1])
    array([1. , 0.5])
    """
    ensemble = as_ensemble(ensemble)
    labels = _check_labels(labels, ensemble.n_objects)
    sizes = np.bincount(labels)
    sums = _sum_pairs(ensemble, labels) if ensemble.has_missing else _sum_votes(ensemble, labels)
    pairs = sizes * (sizes - 1) / 2
    return np.divide(sums, pairs, out=np.full(len(sizes), np.nan), where=sizes > 1)


def _sum_votes(ensemble: Ensemble, labels: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the sum of co-associations over the pairs of each cluster; no label is missing."""
    votes, _ = tally(ensemble.labels, labels, ensemble.offsets, int(labels.max()) + 1)
    together: NDArray[np.float64] = (votes * (votes - 1) // 2).sum(axis=1) / ensemble.n_partitions
    return together


def _sum_pairs(ensemble: Ensemble, labels: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the sum of co-associations over the pairs of each cluster, pair by pair."""
    sums = np.zeros(int(labels.max()) + 1)
    for c in range(len(sums)):
        members = np.flatnonzero(labels == c)
        for shares in _share_blocks(np.ascontiguousarray(ensemble.compact_codes[:, members])):
            sums[c] += shares.sum() / 2
    return sums


def _share_blocks(columns: NDArray[Any]) -> Iterator[NDArray[np.float64]]:
    """Yield blocks of rows of the co-association matrix of some objects, its diagonal 0."""
    n = columns.shape[1]
    missing, dtype = missing_code(columns), count_dtype(len(columns))
    step = max(1, _BLOCK // max(n, 1))
    for start in range(0, n, step):
        rows = np.arange(start, min(n, start + step))
        together, observed = np.empty((2, len(rows), n), dtype=dtype)
        count_block(columns, missing, rows, together)
        observe_block(columns, missing, rows, observed)
        shares = together / np.maximum(observed, 1)
        shares[np.arange(len(rows)), rows] = 0.0
        yield shares


def mean_of_own(item: NDArray[np.float64], labels: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the cluster consensus, given the item consensus: its mean over the members."""
    own = item[np.arange(len(labels)), labels]
    sizes = np.bincount(labels, minlength=item.shape[1])
    sums = np.bincount(labels, np.nan_to_num(own), minlength=item.shape[1])
    return np.divide(sums, sizes, out=np.full(len(sizes), np.nan), where=sizes > 1)


def silhouette_of_items(
    item: NDArray[np.float64], labels: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the silhouette of every object by the distance 1 - consensus.

    The mean distance to a cluster is 1 - item consensus, so no matrix of pairs is needed. The
    only member of a cluster has silhouette 0, as in scikit-learn.
    """
    places = np.arange(len(labels)), labels
    own = 1.0 - item[places]
    others = 1.0 - item
    others[places] = np.inf
    nearest = others.min(axis=1)
    largest = np.maximum(own, nearest)
    found = np.divide(nearest - own, largest, out=np.zeros(len(own)), where=largest > 0)
    found[np.isnan(own) | np.isinf(nearest)] = 0.0
    return found


def _check_labels(labels: ArrayLike, n_objects: int) -> NDArray[np.int64]:
    labels = np.asarray(labels)
    if labels.shape != (n_objects,) or labels.dtype.kind not in "iu" or labels.min() < 0:
        raise ValueError(
            f"labels must be {n_objects} integers of at least 0, one for each object of the "
            f"ensemble; got shape {labels.shape} and dtype {labels.dtype}."
        )
    return labels.astype(np.int64)
