"""Base clusterers that start from the distances of a part of the objects, for all numbers at once.

Each is a function ``(distances, numbers, draw) -> labels`` with one column per number of clusters.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import SpectralClustering
from sklearn.decomposition import NMF

from coterie._kernels.linkage import cut_merges, smallest_leaves
from coterie.generation._runs import Draw, prepare_estimator

__all__ = ["DistanceClusterer", "NMFClustering", "cut_at", "k_medoids", "on_distances"]

DistanceClusterer = Callable[[NDArray[np.float64], NDArray[np.int64], Draw], NDArray[np.int64]]

_MAX_SWAPS = 1000  # of k-medoids
_NEIGHBOURS = 10  # of the graph of spectral clustering


def on_distances(estimator: Any, inner_linkage: str) -> DistanceClusterer:
    """Return the function of a name, or of an estimator with ``metric='precomputed'``."""
    if estimator == "hierarchical":
        return lambda distances, numbers, draw: cut_at(
            linkage(squareform(distances, checks=False), inner_linkage), numbers
        )
    if estimator == "kmedoids":
        return lambda distances, numbers, draw: k_medoids(distances, numbers)
    if estimator == "spectral":
        return _spectral
    return lambda distances, numbers, draw: np.column_stack(
        [
            _labels_of(prepare_estimator(estimator, draw._replace(n_clusters=int(k))), distances)
            for k in numbers
        ]
    )


def cut_at(tree: NDArray[np.float64], numbers: ArrayLike) -> NDArray[np.int64]:
    """Cut one tree in SciPy's format into each of the numbers of clusters; a column for each."""
    n = len(tree) + 1
    first, second = smallest_leaves(tree)
    cuts = [cut_merges(first, second, n - k, n) for k in np.asarray(numbers)]
    return np.column_stack([np.unique(cut, return_inverse=True)[1] for cut in cuts])


def k_medoids(distances: NDArray[np.float64], numbers: ArrayLike) -> NDArray[np.int64]:
    """Partition around medoids (PAM), for each of the numbers of clusters; a column for each.

    The two phases of Kaufman and Rousseeuw (1990). Build: the next medoid lowers the sum of
    distances to the nearest medoid most. Swap: the exchange of a medoid and another object that
    lowers the sum most is made, until none lowers it. Ties go to the smallest index.
    """
    asked = [int(k) for k in np.asarray(numbers)]
    start = _build_medoids(distances, max(asked))
    return np.column_stack([_swap_medoids(distances, start[:k]) for k in asked])


def _build_medoids(distances: NDArray[np.float64], k: int) -> NDArray[np.int64]:
    medoids = [int(np.argmin(distances.sum(axis=1)))]
    nearest = distances[medoids[0]].copy()
    while len(medoids) < k:
        total = np.minimum(distances, nearest).sum(axis=1)
        total[medoids] = np.inf
        medoids.append(int(np.argmin(total)))
        np.minimum(nearest, distances[medoids[-1]], out=nearest)
    return np.array(medoids)


def _swap_medoids(distances: NDArray[np.float64], medoids: NDArray[np.int64]) -> NDArray[np.int64]:
    """Exchange medoids until no exchange lowers the sum of distances; return the labels."""
    medoids = medoids.copy()
    everyone = np.arange(len(distances))
    least_gain = 1e-12 * float(distances.sum()) / len(distances)
    for _ in range(_MAX_SWAPS):
        to_medoids = distances[medoids]
        labels = np.argmin(to_medoids, axis=0)
        nearest = to_medoids[labels, everyone]
        to_medoids[labels, everyone] = np.inf
        second = to_medoids.min(axis=0)
        # Row h: what each object saves if h becomes a medoid, and what it costs it if its own
        # medoid goes, too.
        saved = np.minimum(distances - nearest, 0.0)
        cost = np.minimum(distances, second) - nearest - saved
        change = saved.sum(axis=1, keepdims=True) + cost @ np.eye(len(medoids))[labels]
        change[medoids] = np.inf
        new, old = np.unravel_index(int(np.argmin(change)), change.shape)
        if not change[new, old] < -least_gain:
            break
        medoids[old] = new
    labels = np.argmin(distances[medoids], axis=0)
    labels[medoids] = np.arange(len(medoids))  # equal objects may not empty a cluster
    return labels


def _spectral(
    distances: NDArray[np.float64], numbers: NDArray[np.int64], draw: Draw
) -> NDArray[np.int64]:
    """Cut the graph of nearest neighbours by its eigenvectors."""
    model = SpectralClustering(
        affinity="precomputed_nearest_neighbors",
        n_neighbors=min(_NEIGHBOURS, len(distances)),
        assign_labels="cluster_qr",
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a graph in several parts is what clusters look like
        return on_distances(model, "")(distances, numbers, draw)


def _labels_of(estimator: Any, distances: NDArray[np.float64]) -> NDArray[np.int64]:
    labels = np.asarray(estimator.fit_predict(distances))
    if labels.shape != (len(distances),) or labels.dtype.kind not in "iu":
        raise ValueError(
            f"estimator must label each of {len(distances)} objects with an integer; "
            f"{type(estimator).__name__} gave shape {labels.shape} and dtype {labels.dtype}."
        )
    return labels.astype(np.int64)


class NMFClustering(ClusterMixin, BaseEstimator):
    """Each object in the cluster of its largest coefficient (Brunet et al., 2004).

    Non-negative matrix factorisation from a random start; the components are scaled to length 1.
    """

    def __init__(self, n_clusters: int = 2, random_state: int | None = None) -> None:
        self.n_clusters = n_clusters
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> NMFClustering:
        """Factorise `X` and set `labels_`."""
        if X.min() < 0:
            raise ValueError(
                "estimator='nmf' needs features of at least 0; the smallest is "
                f"{X.min():.6g}. Do not centre or standardise them, or use another estimator."
            )
        model = NMF(self.n_clusters, init="random", random_state=self.random_state, max_iter=400)
        weights = model.fit_transform(X) * np.linalg.norm(model.components_, axis=1)
        self.labels_ = np.argmax(weights, axis=1)
        return self
