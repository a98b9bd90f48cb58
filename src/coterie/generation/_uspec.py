"""U-SPEC, spectral clustering through representatives (Huang et al., 2020)."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.validation import check_is_fitted, validate_data

from coterie._checks import as_seed, check_clusterer
from coterie._graphs import (
    MatrixGraph,
    cluster_rows,
    embed_bipartite,
    fill_empty_parts,
    fit_kmeans,
)
from coterie._labels import order_by_size
from coterie._limits import one_thread
from coterie._progress import track_progress
from coterie._reading import check_table

__all__ = ["USPEC"]

_DRAWN = 10  # objects that are drawn for each representative
_FAR = 200.0  # an exponent past which an object is very far from a representative
_BLOCK = 1 << 16  # objects whose neighbours are found at a time


def choose_representatives(
    X: NDArray[np.float64], n_representatives: int, seed: int
) -> NDArray[np.float64]:
    """Return the centres of k-means on a random sample of the objects."""
    n_drawn = min(len(X), _DRAWN * n_representatives)
    drawn = np.sort(np.random.default_rng(seed).choice(len(X), n_drawn, replace=False))
    sample = X[drawn]
    if n_representatives >= len(sample):
        return np.unique(sample, axis=0)
    fitted = fit_kmeans(sample, n_representatives, np.ones(n_drawn, dtype=np.int64), seed, n_init=1)
    return np.unique(fitted.cluster_centers_, axis=0)


@one_thread()
def nearest_representatives(
    X: NDArray[np.float64], representatives: NDArray[np.float64], n_neighbors: int
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return (n, K) distances and numbers of the nearest representatives."""
    search = NearestNeighbors(n_neighbors=min(n_neighbors, len(representatives)))
    search.fit(representatives)
    found = []
    with track_progress("nearest representatives", len(X)) as done:
        for start in range(0, len(X), _BLOCK):
            found.append(search.kneighbors(X[start : start + _BLOCK]))
            done[0] = start
    distances, indices = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return distances, indices


def affinity_graph(
    distances: NDArray[np.float64], indices: NDArray[np.int64], sigma: float, n_columns: int
) -> Any:
    """Return (n, p), sparse: exp(-d^2 / (2 sigma^2)) for the nearest representatives.

    Very far from all of them, affinities are relative to the nearest, so that no row vanishes.
    """
    exponents = distances**2 / (2.0 * sigma**2) if sigma > 0 else np.zeros_like(distances)
    exponents -= np.maximum(exponents[:, :1] - _FAR, 0.0)
    affinities = np.exp(-exponents)
    n, k = distances.shape
    return scipy.sparse.csr_matrix(
        (affinities.ravel(), indices.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n_columns)
    )


class USPEC(ClusterMixin, BaseEstimator):
    """Ultra-scalable spectral clustering through representatives (U-SPEC).

    Some hundred representatives stand for the data: the centres of k-means on a random sample.
    Each object is joined with its nearest representatives, the more strongly the nearer they are,
    and the bipartite graph of objects and representatives is cut into `n_clusters` parts [1]_.
    Clusters may have any shape. Time and memory are linear in the number of objects.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    n_representatives : int, default=1000
        Number of representatives; at most the number of objects.
    n_neighbors : int, default=5
        Number of nearest representatives that each object is joined with.
    random_state : int, RandomState instance or None, default=None
        Seed of the sample and of k-means.

    Attributes
    ----------
    labels_ : ndarray of int64, shape (n_samples,)
        Consecutive from 0, largest cluster first.
    representatives_ : ndarray of shape (p, n_features)
        The representatives.
    sigma_ : float
        Width of the Gaussian affinity: the mean distance of objects to their nearest
        representatives.
    n_features_in_ : int
        Number of features.

    See Also
    --------
    coterie.RandomizedEnsemble : Many such clusterings; with `coterie.HBGF` this is U-SENC.

    Notes
    -----
    The nearest representatives are found exactly. The paper finds them approximately, through
    groups of representatives.

    U-SENC is an ensemble of U-SPEC partitions, cut through the graph of objects and clusters:
    ``make_pipeline(RandomizedEnsemble(USPEC(), n_partitions=20, n_clusters=(20, 60)),
    HBGF(n_clusters=k))``.

    References
    ----------
    .. [1] D. Huang, C.-D. Wang, J.-S. Wu, J.-H. Lai and C.-K. Kwoh, "Ultra-scalable spectral
       clustering and ensemble clustering", IEEE Transactions on Knowledge and Data Engineering
       32(6), 2020, :doi:`10.1109/TKDE.2019.2903410`.

    Examples
    --------
    >>> from coterie import USPEC
    >>> X = [[0.0], [0.1], [0.2], [0.3], [5.0], [5.1], [5.3]]
    >>> uspec = USPEC(n_clusters=2, n_neighbors=2, random_state=0).fit(X)
    >>> uspec.labels_
    array([0, 0, 0, 0, 1, 1, 1])
    >>> uspec.predict([[0.15], [5.2]])
    array([0, 1])
    """

    def __init__(
        self,
        n_clusters: int = 8,
        n_representatives: int = 1000,
        n_neighbors: int = 5,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_representatives = n_representatives
        self.n_neighbors = n_neighbors
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
        names = ("n_clusters", "n_representatives", "n_neighbors")
        check_clusterer(self, *names, n_samples=len(data))
        seed = as_seed(self.random_state)
        self.representatives_ = choose_representatives(data, self.n_representatives, seed)
        distances, indices = nearest_representatives(data, self.representatives_, self.n_neighbors)
        self.sigma_ = float(distances.mean())
        graph = affinity_graph(distances, indices, self.sigma_, len(self.representatives_))
        rows = self._embed(MatrixGraph(graph))
        labels, centers = cluster_rows(rows, self.n_clusters, random_state=seed)
        off = ((rows - centers[labels]) ** 2).sum(axis=1)
        filled = fill_empty_parts(labels, self.n_clusters, distances=off)
        self.labels_ = order_by_size(filled)
        _, first = np.unique(filled, return_index=True)  # no part is empty
        self._centers = np.empty_like(centers)
        self._centers[self.labels_[first]] = centers
        return self

    def predict(self, X: ArrayLike) -> NDArray[np.int64]:
        """Return the cluster of new objects, through their nearest representatives.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of int64, shape (n_samples,)
        """
        check_is_fitted(self)
        data: NDArray[np.float64] = validate_data(self, X, dtype=np.float64, reset=False)
        distances, indices = nearest_representatives(data, self.representatives_, self.n_neighbors)
        graph = affinity_graph(distances, indices, self.sigma_, len(self.representatives_))
        rows = graph @ self._table
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        rows /= np.maximum(lengths, 1e-300)
        scores = (self._centers**2).sum(axis=1) - 2.0 * rows @ self._centers.T
        return np.argmin(scores, axis=1).astype(np.int64)

    @one_thread()
    def _embed(self, graph: MatrixGraph) -> NDArray[np.float64]:
        rows, _, self._table, *_ = embed_bipartite(graph, self.n_clusters)
        return rows
