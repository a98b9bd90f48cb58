"""SEC, spectral ensemble clustering (Liu, Wu, Liu, Tao and Fu, 2017)."""

from __future__ import annotations

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from coterie._about import IN_NO_CLUSTER, MethodWords
from coterie._graphs import (
    as_seed,
    cluster_order,
    cluster_sizes,
    draw_rows,
    fill_empty_parts,
    fit_kmeans,
    incidence_of,
)
from coterie._kernels.clusters import add_rows
from coterie.consensus._base import BaseConsensus
from coterie.ensemble import Ensemble

__all__ = ["SEC"]


def weighted_kmeans(
    ensemble: Ensemble, n_clusters: int, *, n_init: int, seed: int
) -> NDArray[np.int64]:
    """Cluster the rows Z / w with the weights w = Z (Z'1); return a label for each object.

    Where there are very many distinct rows, k-means is fitted to a sample of the objects.
    """
    rows, counts, inverse = ensemble.patterns
    offsets = ensemble.offsets
    degrees = add_rows(rows, offsets, cluster_sizes(ensemble)[:, None].astype(np.float64))[:, 0]
    # All points are scaled by the mean degree, so that their size is near 1.
    scale = np.average(degrees, weights=counts) / np.maximum(degrees, 1.0)
    n_parts = min(int(n_clusters), len(rows))
    order = cluster_order(ensemble)  # so that rounding does not depend on the names of clusters
    chosen, hits = draw_rows(counts, n_parts, ensemble.n_partitions, seed)
    points = scipy.sparse.diags(scale[chosen]) @ incidence_of(rows[chosen], offsets)[:, order]
    fitted = fit_kmeans(points.tocsr(), n_parts, hits * degrees[chosen], seed, n_init=n_init)
    centers = np.empty((len(order), n_parts))
    centers[order] = fitted.cluster_centers_.T
    # |x - c|^2 = |x|^2 + |c|^2 - 2 <x, c>, and <x, c> is a sum over the clusters of x.
    scores = (centers**2).sum(axis=0) - 2.0 * scale[:, None] * add_rows(rows, offsets, centers)
    labels = np.argmin(scores, axis=1)
    squares = scale**2 * (rows >= 0).sum(axis=1)
    distances = squares + scores[np.arange(len(rows)), labels]
    return fill_empty_parts(labels, n_clusters, distances=distances, inverse=inverse)


class SEC(BaseConsensus):
    """Spectral ensemble clustering by weighted k-means.

    The normalised cut of the co-association matrix ZZ' has the same optimum as k-means on the
    rows of Z, the 0/1 table of objects and clusters, each divided by its weight and counted with
    it; the weight of an object is the sum of the sizes of its clusters [1]_.

    Parameters
    ----------
    n_init : int, default=10
        Number of starts of k-means.

    See Also
    --------
    coterie.CSPA : A spectral cut of the same matrix by its eigenvectors.
    coterie.KCC : K-means on the rows of Z themselves.

    Notes
    -----
    Missing labels: an object is in no cluster of a partition that did not label it.

    With more than 50,000 distinct label rows, k-means is fitted to a random sample, and every
    object goes to the nearest centre. Time and memory are linear in the number of objects.

    Examples
    --------
    >>> from coterie import SEC
    >>> votes = [[0, 0, 0], [0, 0, 1], [0, 0, 0], [1, 1, 1], [1, None, 1], [1, 1, 1], [1, 1, 0]]
    >>> SEC(n_clusters=2, random_state=0).fit(votes).labels_
    array([1, 1, 1, 0, 0, 0, 0])
    """

    about = MethodWords(
        title="Spectral ensemble clustering",
        does="Looks for the normalised cut of the co-association matrix by weighted k-means.",
        use=(
            "Very many objects. On most ensembles HBGF and LWGP, which use eigenvectors, "
            "give better clusters."
        ),
        cost="Time O(p L k) for each iteration, memory linear in n L.",
        missing=IN_NO_CLUSTER,
        name=(
            "spectral ensemble clustering (SEC; Liu et al., 2017): weighted k-means on "
            "the scaled rows of the table of objects and clusters, from {n_init} starts"
        ),
        references=(
            (
                "H. Liu, J. Wu, T. Liu, D. Tao and Y. Fu (2017). Spectral ensemble clustering "
                "via weighted k-means: theoretical and practical evidence. IEEE Transactions "
                "on Knowledge and Data Engineering, 29(5), 1129-1143. "
                "doi:10.1109/TKDE.2017.2650229"
            ),
        ),
    )
    finds_n_clusters = False

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        n_init: int = 10,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit(self, ensemble: Ensemble) -> NDArray[np.int64]:
        return weighted_kmeans(
            ensemble, self.n_clusters, n_init=self.n_init, seed=as_seed(self.random_state)
        )
