"""K-means on the rows of the co-association matrix (Kuncheva, Hadjitodorov and Todorova, 2006)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coterie._about import DOMENICONI_2009, MethodWords
from coterie._memory import check_fits
from coterie._partition import (
    LabelRows,
    Parts,
    Points,
    as_seed,
    fill_empty_parts,
    incidence_of,
    kmeans,
    one_blas_thread,
)
from coterie.consensus._base import BaseConsensus
from coterie.consensus._wspa import cosine_factor
from coterie.ensemble import Ensemble

__all__ = ["CoassociationKMeans"]


def coassociation_rows(ensemble: Ensemble) -> Points | LabelRows:
    """Return things as far from each other as the rows of ZZ'/L, one for each distinct label row.

    The rows are z ZZ'/L in all n columns, so their inner products are those of the z with the
    overlap Z'Z / L^2. With more clusters than distinct rows, the rows themselves are shorter: the
    columns of equal objects are one, times the root of their number.
    """
    rows, counts, _ = ensemble.patterns
    n_all = int(ensemble.offsets[-1])
    if n_all <= len(rows):
        inner = ensemble.overlap / float(ensemble.n_partitions) ** 2
        return LabelRows(rows, ensemble.offsets, inner, counts)
    check_fits(
        16 * len(rows) ** 2,
        f"the co-association of {len(rows)} distinct label rows",
        way_out="Use fewer partitions (select)",
    )
    incidence = incidence_of(rows, ensemble.offsets)
    shares = (incidence @ incidence.T).toarray() / ensemble.n_partitions
    return Points(shares * np.sqrt(counts), counts)


def weighted_rows(ensemble: Ensemble) -> Points:
    """Return points as far from each other as the rows of Psi = UU', U the scaled posteriors."""
    factor = cosine_factor(ensemble)
    values, vectors = np.linalg.eigh(factor.T @ factor)
    kept = values > 1e-12 * values[-1]
    return Points(factor @ (vectors[:, kept] * np.sqrt(values[kept])))


@one_blas_thread
def cluster_rows(
    ensemble: Ensemble, n_clusters: int, *, weighted: bool, n_init: int, max_iter: int, seed: int
) -> tuple[NDArray[np.int64], Parts]:
    """Return a label for each object, and what k-means came to."""
    inverse: NDArray[np.int64] | None = None
    cloud: Points | LabelRows
    if weighted and ensemble.posteriors is not None:
        cloud = weighted_rows(ensemble)
    else:  # hard labels are posteriors of 0 and 1
        cloud, inverse = coassociation_rows(ensemble), ensemble.patterns.inverse
    found = kmeans(cloud, n_clusters, seed=seed, n_init=n_init, max_iter=max_iter)
    return fill_empty_parts(found.labels, found.distances, n_clusters, inverse), found


class CoassociationKMeans(BaseConsensus):
    """K-means with the rows of the co-association matrix as data (Co-as and wCo-as).

    An object is described by how often it is together with each other object, and these rows are
    clustered by k-means [1]_, [2]_. The matrix is not made: distances of its rows follow from the
    numbers of objects that two clusters share.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters. The method does not find it by itself.
    weighted : bool, default=False
        Use the similarity Psi of `WSPA` instead: the mean cosine of the posteriors of two objects
        (wCo-as [2]_). The ensemble must have posteriors; hard labels are posteriors of 0 and 1,
        so that it makes no difference for them.
    n_init : int, default=10
        Number of starts; the one with the smallest sum of squares is returned.
    max_iter : int, default=300
        The most steps of one start.
    random_state : int, RandomState instance or None, default=None
        Seed of the starts.

    Attributes
    ----------
    labels_ : ndarray of int64, shape (n_objects,)
        Consecutive from 0, largest cluster first.
    n_clusters_ : int
        Number of clusters.
    inertia_ : float
        Sum of the squared distances of objects to their centres.
    n_iter_ : int
        Steps of the returned start.
    confidence_ : ndarray of shape (n_objects,)
        How safe the object's place is, by one measure for all methods: of the support for its
        own cluster and for the best other one, the share of its own. Near 0.5 the other would
        do as well.
    ensemble_ : Ensemble
        What was fitted.
    n_features_in_ : int
        Number of partitions.

    See Also
    --------
    coterie.CSPA : A spectral partition of the same matrix.

    Notes
    -----
    A missing label is no vote: the partition puts the object together with nobody.

    One start takes centres that are far apart, the others are greedy k-means++. With more than
    20,000 distinct label rows, starts are compared on a sample of the objects, the best goes on
    with larger ones and then with all, and it is over when no more than one object in a thousand
    changes its cluster. Centres at the same distance: the first. A cluster left empty, as where
    there are fewer distinct label rows than clusters, gets the object farthest from its centre.

    References
    ----------
    .. [1] L. I. Kuncheva, S. T. Hadjitodorov and L. P. Todorova, "Experimental comparison of
       cluster ensemble methods", FUSION, 2006, :doi:`10.1109/ICIF.2006.301614`.
    .. [2] C. Domeniconi and M. Al-Razgan, "Weighted cluster ensembles: methods and analysis",
       ACM TKDD 2(4), 2009, :doi:`10.1145/1460797.1460800`.

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
        missing="No vote: the partition puts the object together with nobody.",
        name=("k-means on the rows of the co-association matrix (Kuncheva et al., 2006)"),
        references=(
            "L. I. Kuncheva, S. T. Hadjitodorov and L. P. Todorova (2006). Experimental "
            "comparison of cluster ensemble methods. Proceedings of the 9th International "
            "Conference on Information Fusion. doi:10.1109/ICIF.2006.301614",
            DOMENICONI_2009,
        ),
    )

    finds_n_clusters = False

    def __init__(
        self,
        n_clusters: int | None = 2,
        *,
        weighted: bool = False,
        n_init: int = 10,
        max_iter: int = 300,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.weighted = weighted
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state

    def _fit(self, ensemble: Ensemble) -> NDArray[np.int64]:
        for name in ("n_init", "max_iter"):
            if not getattr(self, name) >= 1:
                raise ValueError(f"{name} must be at least 1; got {getattr(self, name)}.")
        assert self.n_clusters is not None
        labels, found = cluster_rows(
            ensemble,
            self.n_clusters,
            weighted=self.weighted,
            n_init=self.n_init,
            max_iter=self.max_iter,
            seed=as_seed(self.random_state),
        )
        self.inertia_ = found.inertia
        self.n_iter_ = found.n_iter
        return labels
