"""The bipartite graph of objects and clusters with edges that follow from links of clusters."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from coterie._graphs import LabelGraph, incidence_of
from coterie.ensemble import Ensemble

__all__ = ["LinkedGraph"]


class LinkedGraph(LabelGraph):
    """The graph of objects and clusters with the edges [Z M; S].

    Z is the 0/1 table of distinct label rows and clusters, which is not made; M says what edges an
    object gets from a cluster that it is in, and S holds the edges of further vertices.

    Parameters
    ----------
    ensemble : Ensemble
    memberships : ndarray of shape (K, K)
        M, rows and columns in the order of the ensemble's clusters.
    links : ndarray of shape (K, K), optional
        S: a further vertex for each cluster.

    Notes
    -----
    Weights are sums over clusters, whose last bits depend on the order of the clusters, and so on
    their names. They are rounded to 12 decimals, so that the cut does not depend on names.
    """

    def __init__(
        self,
        ensemble: Ensemble,
        memberships: NDArray[np.float64],
        links: NDArray[np.float64] | None = None,
    ) -> None:
        super().__init__(ensemble)
        order = self._order
        n_all = len(order)
        by_order = np.ix_(order, order)
        self._memberships = memberships[by_order].round(12)
        self._links = np.empty((0, n_all)) if links is None else links[by_order].round(12)
        self.counts = np.concatenate([self.counts, np.ones(len(self._links), dtype=np.int64)])
        self.shape = (len(self.counts), n_all)

    def __matmul__(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.concatenate([super().__matmul__(self._memberships @ table), self._links @ table])

    def column_sums(self) -> NDArray[np.float64]:
        """Return (K,): the summed weights of the edges of each cluster."""
        return self._memberships.T @ super().column_sums() + self._links.sum(axis=0)

    def gram(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return B' diag(counts / (B @ table)) B, dense; 0 is taken for 1 / 0."""
        inner = self._memberships.T @ super().gram(self._memberships @ table) @ self._memberships
        degrees = self._links @ table
        scale = np.divide(1.0, degrees, out=np.zeros(len(degrees)), where=degrees > 0)
        return inner + (self._links.T * scale) @ self._links

    def whole(self) -> Any:
        """Return B, sparse."""
        Z = incidence_of(self._rows, self._offsets)[:, self._order]
        objects = Z @ scipy.sparse.csr_matrix(self._memberships)
        return scipy.sparse.vstack([objects, scipy.sparse.csr_matrix(self._links)], format="csr")
