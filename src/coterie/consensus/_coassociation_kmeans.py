"""K-means on the rows of the co-association matrix (Kuncheva, Hadjitodorov and Todorova, 2006)."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie._about import DOMENICONI_2009, MethodWords
from coterie._graphs import (
    as_seed,
    cluster_order,
    draw_rows,
    fill_empty_parts,
    fit_kmeans,
    incidence_of,
)
from coterie._kernels.clusters import add_rows
from coterie._limits import check_fits, one_thread
from coterie.consensus._base import BaseConsensus
from coterie.consensus._parameters import one_of
from coterie.consensus._wspa import cosine_factor
from coterie.ensemble import Ensemble

__all__ = ["CoassociationKMeans"]


class KMeansResult(NamedTuple):
    """What k-means found."""

    labels: NDArray[np.int64]
    inertia: float
    n_iter: int


def overlap_factor(ensemble: Ensemble) -> NDArray[np.float64]:
    """Return F (K, r) with FF' = Z'Z / L^2.

    An object's row of ZZ'/L is z'Z'/L, z its 0/1 row of Z, so inner products of such rows are those
    of the rows z'F: the sums of the rows of F of the object's clusters.
    """
    order = cluster_order(ensemble)  # rounding must not depend on the names of clusters
    inner = ensemble.overlap[np.ix_(order, order)] / float(ensemble.n_partitions) ** 2
    values, vectors = np.linalg.eigh(inner)
    kept = values > 1e-12 * values[-1]
    factor = np.empty((len(order), int(kept.sum())))
    factor[order] = vectors[:, kept] * np.sqrt(values[kept])
    return factor


def dense_rows(ensemble: Ensemble) -> NDArray[np.float64]:
    """Return points as far from each other as the rows of ZZ'/L, one for each distinct label row.

    The columns of equal objects are one, times the root of their number.
    """
    rows, counts, _ = ensemble.patterns
    check_fits(
        16 * len(rows) ** 2,
        f"the co-association of {len(rows)} distinct label rows",
        hint="Use fewer partitions (select)",
    )
    incidence = incidence_of(rows, ensemble.offsets)
    together: NDArray[np.float64] = (incidence @ incidence.T).toarray()
    return together / ensemble.n_partitions * np.sqrt(counts)


def weighted_rows(ensemble: Ensemble) -> NDArray[np.float64]:
    """Return points as far from each other as the rows of Psi = UU', U the scaled posteriors."""
    factor = cosine_factor(ensemble)
    values, vectors = np.linalg.eigh(factor.T @ factor)
    kept = values > 1e-12 * values[-1]
    return factor @ (vectors[:, kept] * np.sqrt(values[kept]))


def cluster_points(
    points: NDArray[np.float64],
    counts: NDArray[np.int64],
    inverse: NDArray[np.int64] | None,
    n_clusters: int,
    *,
    n_init: int,
    max_iter: int,
    seed: int,
) -> KMeansResult:
    """Cluster weighted points; return a label for each object, no cluster empty."""
    fitted = fit_kmeans(
        points, min(n_clusters, len(points)), counts, seed, n_init=n_init, max_iter=max_iter
    )
    labels = fitted.labels_.astype(np.int64)
    distances = ((points - fitted.cluster_centers_[labels]) ** 2).sum(axis=1)
    labels = fill_empty_parts(labels, n_clusters, distances=distances, inverse=inverse)
    return KMeansResult(labels, float(fitted.inertia_), int(fitted.n_iter_))


def cluster_label_rows(
    ensemble: Ensemble, n_clusters: int, *, n_init: int, max_iter: int, seed: int
) -> KMeansResult:
    """Cluster distinct label rows; where there are very many, fit k-means to a sample of them."""
    rows, counts, inverse = ensemble.patterns
    options = {"n_init": n_init, "max_iter": max_iter, "seed": seed}
    if ensemble.offsets[-1] > len(rows):  # then rows of the matrix itself are shorter
        return cluster_points(dense_rows(ensemble), counts, inverse, n_clusters, **options)
    factor = overlap_factor(ensemble)
    chosen, weights = draw_rows(counts, n_clusters, factor.shape[1], seed)
    points = add_rows(rows[chosen], ensemble.offsets, factor)
    if len(chosen) == len(rows):
        return cluster_points(points, counts, inverse, n_clusters, **options)
    fitted = fit_kmeans(points, n_clusters, weights, seed, n_init=n_init, max_iter=max_iter)
    centers = fitted.cluster_centers_
    # |x - c|^2 = |x|^2 + |c|^2 - 2 <x, c>, and <x, c> is a sum over the clusters of x.
    scores = (centers**2).sum(axis=1) - 2.0 * add_rows(rows, ensemble.offsets, factor @ centers.T)
    labels = np.argmin(scores, axis=1)
    squares = (ensemble.overlap.astype(np.float64) ** 2).sum() / ensemble.n_partitions**2
    inertia = float(squares + counts @ scores[np.arange(len(labels)), labels])
    labels = fill_empty_parts(labels, n_clusters, inverse=inverse)
    return KMeansResult(labels, inertia, int(fitted.n_iter_))


class CoassociationKMeans(BaseConsensus):
    """K-means with the rows of the co-association matrix as data (Co-as and wCo-as).

    An object is described by how often it is together with each other object, and these rows are
    clustered by k-means [1]_, [2]_. The matrix is not made: distances of its rows follow from the
    numbers of objects that two clusters share.

    Parameters
    ----------
    weighted : bool, default=False
        Use the similarity Psi of `WSPA` instead: the mean cosine of the posteriors of two objects
        (wCo-as [2]_). The ensemble must have posteriors; hard labels are posteriors of 0 and 1,
        so that it makes no difference for them.
    n_init : int, default=10
        Number of starts; the one with the smallest sum of squares is returned.
    max_iter : int, default=300
        Largest number of steps of one start.

    Attributes
    ----------
    inertia_ : float
        Sum of the squared distances of objects to their centres.
    n_iter_ : int
        Steps of the returned start.

    See Also
    --------
    coterie.CSPA : A spectral partition of the same matrix.

    Notes
    -----
    A missing label is no vote: the partition puts the object together with no other.

    K-means is that of scikit-learn, on distinct label rows, each as heavy as it has objects. With
    more than 50,000 distinct label rows (fewer with very many clusters in the partitions), it is
    fitted to a random sample, and every object goes to the nearest centre. A cluster left empty, as
    where there are fewer distinct label rows than clusters, gets the object farthest from its
    centre.

    Examples
    --------
    >>> from coterie import CoassociationKMeans
    >>> votes = [[0, 0, 0], [0, 0, 1], [0, 0, 0], [1, 1, 1], [1, None, 1], [1, 1, 1], [1, 1, 0]]
    >>> found = CoassociationKMeans(n_clusters=2, random_state=0).fit(votes)
    >>> found.labels_
    array([1, 1, 1, 0, 0, 0, 0])
    """

    about = MethodWords(
        title="k-means on co-association",
        does=(
            "Takes the co-association of an object with all others as its features, and runs "
            "k-means on them (Co-as); with weighted=True, the weighted similarity of WSPA "
            "(wCo-as)."
        ),
        use="A baseline: compact clusters of a known number.",
        cost=(
            "Time O(p L k) for each step, memory linear in n L plus K^2; the matrix is never made."
        ),
        missing="No vote: the partition puts the object together with no other.",
        name=("k-means on the rows of the co-association matrix (Kuncheva et al., 2006)"),
        references=(
            "L. I. Kuncheva, S. T. Hadjitodorov and L. P. Todorova (2006). Experimental "
            "comparison of cluster ensemble methods. Proceedings of the 9th International "
            "Conference on Information Fusion. doi:10.1109/ICIF.2006.301614",
            DOMENICONI_2009,
        ),
    )

    finds_n_clusters = False

    rules: ClassVar = {"weighted": one_of(False, True)}

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        weighted: bool = False,
        n_init: int = 10,
        max_iter: int = 300,
        memory_limit: int | str | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.weighted = weighted
        self.n_init = n_init
        self.max_iter = max_iter
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit(self, ensemble: Ensemble) -> NDArray[np.int64]:
        for name in ("n_init", "max_iter"):
            if not getattr(self, name) >= 1:
                raise ValueError(f"{name} must be at least 1; got {getattr(self, name)}.")
        found = self._cluster(ensemble)
        self.inertia_ = found.inertia
        self.n_iter_ = found.n_iter
        return found.labels

    @one_thread()
    def _cluster(self, ensemble: Ensemble) -> KMeansResult:
        options = {
            "n_init": self.n_init,
            "max_iter": self.max_iter,
            "seed": as_seed(self.random_state),
        }
        if self.weighted and ensemble.posteriors is not None:
            points = weighted_rows(ensemble)
            everyone = np.ones(len(points), dtype=np.int64)
            return cluster_points(points, everyone, None, self.n_clusters, **options)
        # Hard labels are posteriors of 0 and 1.
        return cluster_label_rows(ensemble, self.n_clusters, **options)
