"""Weighted bipartite partitioning, WBPA (Domeniconi and Al-Razgan, 2009)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from coterie._about import DOMENICONI_2009, MethodWords
from coterie._graphs import (
    BipartiteParts,
    as_seed,
    cluster_order,
    cut_bipartite_graph,
    incidence_of,
    transfer_cut,
)
from coterie._limits import check_fits
from coterie.consensus._hbgf import HBGF, ensemble_order
from coterie.consensus._wspa import integer_weights
from coterie.ensemble import Ensemble

__all__ = ["WBPA", "posterior_matrix"]


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


class WBPA(HBGF):
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

    def _cut(self, ensemble: Ensemble) -> BipartiteParts:
        if ensemble.posteriors is None:
            return super()._cut(ensemble)
        order = column_order(ensemble)
        A = posterior_matrix(ensemble)[:, order]
        seed = as_seed(self.random_state)
        if self.partitioner == "metis":
            parts = cut_bipartite_graph(
                csr_matrix(integer_weights(A)),
                self.n_clusters,
                imbalance=self.imbalance,
                random_state=seed,
            )
        else:
            parts = transfer_cut(A, self.n_clusters, skip_first=self.skip_first, random_state=seed)
        return ensemble_order(parts, order)
