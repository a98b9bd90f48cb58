"""Weighted bipartite partitioning, WBPA (Domeniconi and Al-Razgan, 2009)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from coterie._about import DOMENICONI_2009, MethodWords
from coterie._graphs import (
    BipartiteParts,
    LabelGraph,
    as_seed,
    cluster_order,
    cut_bipartite_graph,
    incidence_of,
    transfer_cut,
)
from coterie._labels import order_by_size
from coterie._limits import check_fits
from coterie.blocks import LabelBlocks, Rule
from coterie.consensus._base import BaseConsensus
from coterie.consensus._in_blocks import cut_in_blocks
from coterie.consensus._wspa import integer_weights
from coterie.ensemble import Ensemble

__all__ = ["WBPA", "cut_bipartite", "posterior_matrix"]


def posterior_matrix(ensemble: Ensemble) -> Any:
    """Return A (n, K), formula (11): posteriors side by side; sparse if they are hard labels."""
    if ensemble.posteriors is None:
        return incidence_of(ensemble.labels, ensemble.offsets)
    n_all = sum(p.shape[1] for p in ensemble.posteriors)
    check_fits(
        8 * ensemble.n_objects * n_all,
        f"the posteriors of {ensemble.n_objects} objects in {n_all} clusters side by side",
        hint="Use fewer partitions (select)",
    )
    return np.hstack(ensemble.posteriors)


def column_order(ensemble: Ensemble) -> NDArray[np.int64]:
    """Return the columns of A in an order that does not depend on the names of clusters.

    By partition, in each by the first object; clusters without objects come last.
    """
    order = cluster_order(ensemble)
    if ensemble.posteriors is None:
        return order
    widths = np.array([p.shape[1] for p in ensemble.posteriors])
    starts = np.cumsum(widths) - widths
    offsets = ensemble.offsets
    found = []
    for e, (start, width) in enumerate(zip(starts, widths, strict=True)):
        own = order[offsets[e] : offsets[e + 1]] - offsets[e]
        found.append(start + np.concatenate([own, np.arange(len(own), width)]))
    return np.concatenate(found)


def cut_bipartite(
    ensemble: Ensemble,
    n_parts: int,
    *,
    partitioner: str = "spectral",
    imbalance: float = 0.05,
    skip_first: bool = False,
    random_state: int = 0,
) -> BipartiteParts:
    """Cut the graph of objects and clusters, whose edges weigh P(cluster | object).

    Every part holds at least one object.
    """
    options: dict[str, Any] = {"skip_first": skip_first, "random_state": random_state}
    if partitioner == "spectral" and ensemble.posteriors is None:
        return transfer_cut(LabelGraph(ensemble), n_parts, **options)
    order = column_order(ensemble)
    A = posterior_matrix(ensemble)[:, order]
    if partitioner == "metis":
        whole = csr_matrix(integer_weights(A)) if isinstance(A, np.ndarray) else A
        objects, ordered = cut_bipartite_graph(
            whole, n_parts, imbalance=imbalance, random_state=random_state
        )
    else:
        objects, ordered = transfer_cut(A, n_parts, **options)
    clusters = np.empty_like(ordered)
    clusters[order] = ordered
    return BipartiteParts(objects, clusters)


def in_order(labels: NDArray[np.int64], n_parts: int) -> NDArray[np.int64]:
    """Return (n_parts,): the place of each part, largest first; those without objects last."""
    place = np.full(n_parts, -1)
    place[labels] = order_by_size(labels)
    place[place < 0] = np.arange((place >= 0).sum(), n_parts)
    return place


class WBPA(BaseConsensus):
    """Weighted bipartite partitioning: cut the graph of objects and clusters.

    An object is joined to every cluster of every partition, with its posterior probability of
    the cluster as the weight [1]_. The graph is cut into `n_clusters` parts, objects and clusters
    together. With hard labels WBPA is HBGF [2]_.

    Parameters
    ----------
    partitioner : {'spectral', 'metis'}, default='spectral'
        How the graph is cut. 'spectral' allows clusters of any size. 'metis' makes parts of
        about the same size, so use it only where clusters are; it needs the package pymetis.

    Attributes
    ----------
    cluster_labels_ : ndarray of int64, shape (K,)
        The consensus cluster of each cluster of each partition, partition after partition, in the
        order of the columns of `posteriors`.

    See Also
    --------
    coterie.LACEnsemble : Makes the ensembles that the paper uses.
    coterie.WSBPA : Gives centres and feature weights, too.

    Notes
    -----
    Any ensemble with `posteriors` will do: from LAC, from a Gaussian mixture, fuzzy memberships.
    Hard labels are taken as posteriors of 0 and 1. A missing label is a row of zeros: no edges.

    The spectral partition is the transfer cut, as in `coterie.HBGF`: leading eigenvectors of the K
    clusters place the clusters, and each object stands at the weighted mean of its clusters. Hard
    labels need neither the graph nor the matrix of posteriors, so that a million objects in fifty
    partitions take seconds.

    METIS sees objects and clusters as vertices of the same weight. It cuts both by recursive
    bisection and all parts at once; the lighter cut is kept. It runs again, up to ten times, while
    some part is without clusters. No part is ever without objects.

    References
    ----------
    .. [1] C. Domeniconi and M. Al-Razgan, "Weighted cluster ensembles: methods and analysis",
       ACM TKDD 2(4), 2009, :doi:`10.1145/1460797.1460800`.
    .. [2] X. Z. Fern and C. E. Brodley, "Solving cluster ensemble problems by bipartite graph
       partitioning", ICML, 2004, :doi:`10.1145/1015330.1015414`.

    Examples
    --------
    >>> from coterie import LACEnsemble, WBPA
    >>> from coterie.datasets import make_two_gaussian
    >>> from sklearn.pipeline import make_pipeline
    >>> X, y = make_two_gaussian(random_state=0)
    >>> maker = LACEnsemble(n_clusters=2, scale="minmax", random_state=0)
    >>> model = make_pipeline(maker, WBPA(n_clusters=2, random_state=0)).fit(X)
    >>> model.predict([[0, 9], [16, 5]])
    array([0, 1])
    """

    about = MethodWords(
        title="Weighted bipartite partitioning algorithm",
        does=(
            "As HBGF, but edges between objects and clusters weigh as much as the probability "
            "that the object is in the cluster."
        ),
        use="Soft base partitions and many objects. With hard labels it is HBGF.",
        cost="Time and memory about linear in n K, plus an eigenproblem of size K.",
        missing="No edge to a partition that did not see the object.",
        name=(
            "weighted bipartite partitioning (WBPA; Domeniconi and Al-Razgan, 2009): the graph of"
            " objects and clusters, weighed by the probability of the cluster given the object, "
            "is cut into parts"
        ),
        references=(DOMENICONI_2009,),
    )

    finds_n_clusters = False

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        partitioner: str = "spectral",
        imbalance: float = 0.05,
        skip_first: bool = False,
        memory_limit: int | str | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.partitioner = partitioner
        self.imbalance = imbalance
        self.skip_first = skip_first
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit(self, ensemble: Ensemble) -> NDArray[np.int64]:
        parts = self._cut(ensemble)
        place = in_order(parts.objects, int(self.n_clusters or 1))
        self.cluster_labels_ = place[parts.clusters]
        return parts.objects

    def _cut(self, ensemble: Ensemble) -> BipartiteParts:
        return cut_bipartite(
            ensemble,
            self.n_clusters,
            partitioner=self.partitioner,
            imbalance=self.imbalance,
            skip_first=self.skip_first,
            random_state=as_seed(self.random_state),
        )

    def _fit_blocks(self, blocks: LabelBlocks) -> tuple[Rule, int]:
        # Blocks hold hard labels, with which WBPA is HBGF.
        return cut_in_blocks(self, blocks)
