"""Weighted similarity partitioning, WSPA (Domeniconi and Al-Razgan, 2009)."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from coterie._about import DOMENICONI_2009, MethodWords
from coterie._graphs import (
    LabelGraph,
    as_seed,
    cut_graph,
    similarity_cut,
    spectral_cut,
)
from coterie._limits import check_fits
from coterie.consensus._base import BaseConsensus
from coterie.consensus._parameters import one_of
from coterie.ensemble import Ensemble

__all__ = ["WSPA"]

FINE = 10_000  # what a similarity or posterior of 1 becomes in METIS's integers


def cosine_factor(ensemble: Ensemble) -> NDArray[np.float64]:
    """Return U (n, K) with UU' = Psi, formulas (8) and (10): posteriors, rows of length 1."""
    columns = [p.shape[1] for p in ensemble.memberships()]
    check_fits(
        8 * ensemble.n_objects * sum(columns),
        f"the posteriors of {ensemble.n_objects} objects in {sum(columns)} clusters side by side",
        hint="Use fewer partitions (select)",
    )
    factor = np.empty((ensemble.n_objects, sum(columns)))
    start = 0
    for posteriors in ensemble.memberships():
        lengths = np.sqrt(np.einsum("ij,ij->i", posteriors, posteriors))
        scale = np.divide(1.0, lengths, out=np.zeros(len(lengths)), where=lengths > 0)
        stop = start + posteriors.shape[1]
        np.multiply(posteriors, scale[:, None], out=factor[:, start:stop])
        start = stop
    factor /= np.sqrt(ensemble.n_partitions)
    return factor


def weighted_similarity(ensemble: Ensemble, similarity: str = "cosine") -> NDArray[np.float64]:
    """Return Psi (n, n), formula (10): the mean similarity of every two objects.

    An object that a partition has no opinion on is similar to nothing there.

    Parameters
    ----------
    ensemble : Ensemble
        With posteriors, or hard labels, which are posteriors of 0 and 1.
    similarity : {'cosine', 'kl'}, default='cosine'
        Formula (8); or (9), in base 2, divided by its largest value in the partition.
    """
    from coterie._kernels.divergence import add_similarity, largest_divergence

    n = ensemble.n_objects
    check_fits(
        8 * n * n,
        f"the similarities of {n} objects (float64)",
        hint="Use similarity='cosine' with partitioner='spectral', which needs none of this",
    )
    if similarity == "cosine":
        factor = cosine_factor(ensemble)
        return factor @ factor.T
    psi = np.zeros((n, n))
    for posteriors in ensemble.memberships():
        total = posteriors.sum(axis=1)
        seen = total > 0
        rows = posteriors / np.where(seen, total, 1.0)[:, None]
        # A probability of 0 would be infinitely far from any other: take the smallest number.
        logs = np.log2(np.maximum(rows, np.finfo(np.float64).tiny))
        add_similarity(rows, logs, seen, largest_divergence(rows, logs, seen), psi)
    return psi / ensemble.n_partitions


def integer_weights(weights: Any) -> Any:
    """Return weights in [0, 1] as METIS wants them: integers, 0 only where it was exactly 0."""
    return np.where(weights > 0, np.maximum(1, np.rint(weights * FINE)), 0).astype(np.int64)


class WSPA(BaseConsensus):
    """Weighted similarity partitioning: cut the graph of how alike objects' posteriors are.

    In each partition an object is described by its posterior probabilities of the clusters. The
    similarity of two objects is the mean over partitions of the cosine of these vectors [1]_;
    the graph of all objects is then cut into `n_clusters` parts. With hard labels the
    similarity is the co-association, and WSPA with 'spectral' is CSPA.

    Parameters
    ----------
    partitioner : {'spectral', 'metis'}, default='spectral'
        How the graph is cut. 'spectral' allows clusters of any size, and needs no matrix of all
        pairs. 'metis' makes parts of about the same size, so use it only where clusters are; it
        needs the package pymetis and a graph of all pairs.
    similarity : {'cosine', 'kl'}, default='cosine'
        Of two vectors of posteriors: their cosine, or 1 minus their symmetric Kullback-Leibler
        divergence as a share of the largest one in the partition, which needs a matrix of all
        pairs.
    imbalance : float, default=0.001
        With 'metis': by how much a part may be larger than the mean. In a graph of all pairs an
        uneven cut has fewer edges, so METIS would use up whatever it is allowed.

    See Also
    --------
    coterie.LACEnsemble : Makes the ensembles that the paper uses.
    coterie.WBPA : Cuts the smaller graph of objects and clusters.

    Notes
    -----
    Any ensemble with `posteriors` will do: from LAC, from a Gaussian mixture, fuzzy memberships.
    Hard labels are taken as posteriors of 0 and 1.

    A missing label is a row of zeros: in that partition the object is similar to nothing, so that
    it counts as apart from all. With 'kl' and hard labels the similarities are those of 'cosine'.
    A posterior of 0 counts as the smallest positive number there.

    Spectral partitions are those of Ng, Jordan and Weiss [2]_, with the diagonal kept: the
    leading eigenvectors come from the eigenproblem of the clusters, not of the objects.

    References
    ----------
    .. [2] A. Y. Ng, M. I. Jordan and Y. Weiss, "On spectral clustering: analysis and an
       algorithm", NIPS 14, 2002.

    Examples
    --------
    >>> from coterie import LACEnsemble, WSPA
    >>> from coterie.datasets import make_two_gaussian
    >>> from coterie.metrics import error_rate
    >>> X, y = make_two_gaussian(random_state=0)
    >>> ensemble = LACEnsemble(n_clusters=2, scale="minmax", random_state=0).fit_transform(X)
    >>> wspa = WSPA(n_clusters=2, random_state=0).fit(ensemble)
    >>> round(error_rate(y, wspa.labels_), 3)
    0.008
    """

    about = MethodWords(
        title="Weighted similarity partitioning algorithm",
        does=(
            "As CSPA, but by how similar the probabilities of two objects are in each partition, "
            "instead of whether they have the same label."
        ),
        use=(
            "Soft base partitions, such as those of LACEnsemble or mixtures. With hard labels it "
            "is CSPA."
        ),
        cost=(
            "Time O(n K k) for the cosine similarity, whose matrix is never made; similarity='kl'"
            " needs all pairs."
        ),
        missing="An object is similar to nothing in a partition that did not see it.",
        name=(
            "weighted similarity partitioning (WSPA; Domeniconi and Al-Razgan, 2009): the graph "
            "of the objects, weighed by the {similarity} similarity of their cluster "
            "probabilities, is cut into clusters"
        ),
        references=(DOMENICONI_2009,),
    )

    finds_n_clusters = False
    rules: ClassVar = {"similarity": one_of("cosine", "kl")}

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        partitioner: str = "spectral",
        similarity: str = "cosine",
        imbalance: float = 0.001,
        skip_first: bool = False,
        memory_limit: int | str | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.partitioner = partitioner
        self.similarity = similarity
        self.imbalance = imbalance
        self.skip_first = skip_first
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit(self, ensemble: Ensemble) -> NDArray[np.int64]:
        seed = as_seed(self.random_state)
        hard = ensemble.posteriors is None
        similarity = "cosine" if hard else self.similarity
        if self.partitioner == "metis":
            check_fits(
                32 * ensemble.n_objects**2,
                f"the graph of all pairs of {ensemble.n_objects} objects",
                hint="Use partitioner='spectral' with similarity='cosine', or WBPA",
            )
            psi = weighted_similarity(ensemble, similarity)
            graph = csr_matrix(integer_weights(psi))
            return cut_graph(graph, self.n_clusters, imbalance=self.imbalance, random_state=seed)
        options: dict[str, Any] = {"skip_first": self.skip_first, "random_state": seed}
        if similarity == "kl":
            return spectral_cut(weighted_similarity(ensemble, "kl"), self.n_clusters, **options)
        if hard:
            return similarity_cut(LabelGraph(ensemble), self.n_clusters, **options)
        return similarity_cut(cosine_factor(ensemble), self.n_clusters, **options)
