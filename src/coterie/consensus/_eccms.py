"""EC-CMS, co-association matrix self-enhancement (Jia, Tao, Wang and Wang, 2023)."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from coterie._about import IN_NO_CLUSTER, MethodWords
from coterie._checks import check_integer
from coterie._graphs import incidence_of
from coterie._limits import check_fits, one_thread
from coterie._linkage import Tree, merge_sums
from coterie._progress import track_progress
from coterie.consensus._parameters import number
from coterie.consensus._tree import TreeConsensus
from coterie.consensus._weights import cluster_weights
from coterie.ensemble import Ensemble

__all__ = ["ECCMS"]

_THETA = 0.4  # of the cluster weights in the locally weighted co-association
_PENALTY = 1.0  # of the ADMM; the result does not depend on it
_TIE = 1e-9  # mean similarities that differ by less are equal
_ARRAYS = 8  # of n x n, at the same time


def shared_weight(ensemble: Ensemble, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (n, n): summed weights of the clusters that two objects share, over partitions."""
    Z = incidence_of(ensemble.labels, ensemble.offsets)
    table: NDArray[np.float64] = (Z.multiply(weights).tocsr() @ Z.T).toarray()
    return table / ensemble.n_partitions


@one_thread()
def enhance(
    A: NDArray[np.float64],
    H: NDArray[np.float64],
    *,
    smoothness: float,
    max_iter: int,
    tol: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return C that minimises tr(C'LC) + smoothness / 2 |A - C|^2, and the change by iteration.

    L is the Laplacian of H. C is symmetric, lies in [0, 1], and equals A where H > 0. The problem
    is convex and is solved by ADMM: C without the constraints, F its projection on them, U the sum
    of their differences. L falls into blocks, one for each connected component of H.
    """
    n = len(A)
    known = H > 0
    laplacian = np.diag(H.sum(axis=1)) - H
    _, piece = connected_components(known, directed=False)
    order = np.argsort(piece, kind="stable")
    blocks = np.split(order, np.flatnonzero(np.diff(piece[order])) + 1)
    diagonal = smoothness + _PENALTY
    solvers = [
        (b, np.linalg.inv(2.0 * laplacian[np.ix_(b, b)] + diagonal * np.eye(len(b))))
        for b in blocks
        if len(b) > 1
    ]
    F, U = A.copy(), np.zeros_like(A)
    changes = []
    with track_progress("self-enhancement", max_iter) as done:
        for n_iter in range(1, max_iter + 1):
            right = smoothness * A + _PENALTY * (F - U)
            C = right / diagonal
            for block, inverse in solvers:
                C[block] = inverse @ right[block]
            before = F
            F = C + U
            F = np.clip((F + F.T) / 2, 0.0, 1.0)
            F[known] = A[known]
            U += C - F
            done[0] = n_iter
            changes.append(max(np.linalg.norm(C - F), np.linalg.norm(F - before)) / n)
            if changes[-1] < tol:
                break
    return F, np.array(changes)


class ECCMS(TreeConsensus):
    """Ensemble clustering by self-enhancement of the co-association matrix (EC-CMS).

    Pairs of objects that nearly all partitions put together are taken as certain. What they say
    about their other pairs is made to agree: the locally weighted co-association of `coterie.LWEA`
    is replaced by the nearest matrix that is smooth along the certain pairs. Average linkage on
    that matrix gives `n_clusters` clusters [1]_.

    The matrix of all pairs is needed, and each of some ten iterations multiplies it: a method for
    some thousand objects.

    Parameters
    ----------
    alpha : float, default=0.8
        Smallest co-association of a certain pair, in (0, 1].
    smoothness : float, default=0.4
        Weight of the distance to the given matrix (lambda of the paper), positive. The smaller it
        is, the smoother is the result.
    max_iter : int, default=200
        Largest number of iterations.
    tol : float, default=1e-6
        Root mean square change of the matrix at which the iterations end.
    max_objects : int, default=5000
        With more objects there is an error instead of a very long computation.

    Attributes
    ----------
    linkage_ : ndarray of shape (n_objects - 1, 4)
        The tree in the format of `scipy.cluster.hierarchy`; heights are 1 - similarity.
    n_iter_ : int
        Number of iterations.
    history_ : ndarray of shape (n_iter, 2)
        Iteration, and root mean square change of the matrix in it.

    See Also
    --------
    coterie.LWEA : The same without the enhancement, for any number of objects.

    Notes
    -----
    Missing labels: an object is in no cluster of a partition that did not label it.

    Examples
    --------
    >>> from coterie import ECCMS
    >>> votes = [[0, 0, 0], [0, 0, 1], [0, 0, 0], [1, 1, 1], [1, None, 1], [1, 1, 1], [1, 1, 0]]
    >>> ECCMS(n_clusters=2).fit(votes).labels_
    array([1, 1, 1, 0, 0, 0, 0])
    """

    about = MethodWords(
        title="Co-association matrix self-enhancement",
        does=(
            "Takes pairs that nearly all partitions put together as certain, and lets "
            "them correct the similarity of the other pairs."
        ),
        use="Up to some thousand objects. With more, use LWEA.",
        cost="Time O(n^3) for each iteration, memory n^2, checked against the limit.",
        missing=IN_NO_CLUSTER,
        name=(
            "co-association matrix self-enhancement (EC-CMS; Jia et al., 2023): the "
            "locally weighted co-association is made smooth along pairs with a "
            "co-association of at least {alpha}, followed by average-linkage clustering"
        ),
        references=(
            (
                "Y. Jia, S. Tao, R. Wang and Y. Wang (2023). Ensemble clustering via "
                "co-association matrix self-enhancement. IEEE Transactions on Neural Networks "
                "and Learning Systems. doi:10.1109/TNNLS.2023.3249207"
            ),
        ),
    )
    finds_n_clusters = False
    objective = "change of the matrix"
    rules: ClassVar = {
        "alpha": number(positive=True, at_most=1),
        "smoothness": number(positive=True),
        "max_objects": partial(check_integer, at_least=1),
    }

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        alpha: float = 0.8,
        smoothness: float = 0.4,
        max_iter: int = 200,
        tol: float = 1e-6,
        max_objects: int = 5000,
        memory_limit: int | str | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.alpha = alpha
        self.smoothness = smoothness
        self.max_iter = max_iter
        self.tol = tol
        self.max_objects = max_objects
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs

    def _fit(self, ensemble: Ensemble) -> NDArray[np.int64]:
        self._check(ensemble)
        everywhere = np.ones(int(ensemble.offsets[-1]))
        H = shared_weight(ensemble, everywhere)
        H[self.alpha - 1e-12 > H] = 0.0
        A = shared_weight(ensemble, cluster_weights(ensemble, _THETA))
        np.fill_diagonal(A, 1.0)
        C, changes = enhance(A, H, smoothness=self.smoothness, max_iter=self.max_iter, tol=self.tol)
        self.n_iter_ = len(changes)
        self.history_ = np.column_stack([np.arange(1, self.n_iter_ + 1), changes])
        triangle = C[np.tril_indices(len(C), -1)]
        first, second, link = merge_sums(triangle, np.ones(len(C)), _TIE)
        return self._keep_and_cut(Tree.of_merges(first, second, link, _TIE))

    def _check(self, ensemble: Ensemble) -> None:
        n = ensemble.n_objects
        if n > self.max_objects:
            raise ValueError(
                f"ECCMS takes time that grows with the cube of the number of objects; there are "
                f"{n}, more than max_objects={self.max_objects}. Use LWEA, or raise max_objects."
            )
        check_fits(
            8 * _ARRAYS * n**2,
            f"the matrices of all pairs of {n} objects",
            hint="Use LWEA, which needs none",
        )
