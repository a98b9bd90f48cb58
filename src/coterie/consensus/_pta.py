"""PTA and PTGP, probability trajectories (Huang, Lai and Wang, 2016)."""

from __future__ import annotations

from functools import partial
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from coterie._about import IN_NO_CLUSTER, MethodWords
from coterie._checks import check_integer
from coterie._graphs import MatrixGraph, as_seed, cluster_order, incidence_of, transfer_cut
from coterie._limits import check_fits
from coterie._linkage import Tree, merge_sums, tree_of_leaves
from coterie.consensus._parameters import one_of
from coterie.consensus._trajectories import trajectory_similarity
from coterie.consensus._tree import TreeConsensus
from coterie.ensemble import Ensemble

__all__ = ["PTA"]

_TIE = 1e-12  # mean similarities that differ by less are equal
_MOST_STEPS = 20


def default_steps(n_patterns: int) -> int:
    """Return the paper's number of steps and of neighbours: at most 20, half of sqrt(p)."""
    return max(1, min(_MOST_STEPS, int(np.sqrt(n_patterns) / 2)))


def elite_neighbours(similarity: NDArray[np.float64], n_neighbors: int) -> NDArray[np.float64]:
    """Return the similarities of pairs of which one is among the nearest of the other, else 0.

    The diagonal is 0. Of equal neighbours the first are taken.
    """
    others = similarity.copy()
    np.fill_diagonal(others, -1.0)
    nearest = np.argsort(-others, axis=1, kind="stable")[:, :n_neighbors]
    kept = np.zeros(similarity.shape, dtype=bool)
    np.put_along_axis(kept, nearest, True, axis=1)
    return np.where(kept | kept.T, np.maximum(others, 0.0), 0.0)


def pattern_similarity(ensemble: Ensemble, n_steps: int) -> NDArray[np.float64]:
    """Return (p, p): the cosines of random walks from two distinct label rows."""
    rows, counts, _ = ensemble.patterns
    n_rows = len(rows)
    check_fits(
        48 * n_rows**2,
        f"the random walks on {n_rows} distinct objects",
        hint="Use LWEA or LWGP, which need no matrix of pairs",
    )
    incidence = incidence_of(rows, ensemble.offsets)
    together = (incidence @ incidence.T).toarray() / ensemble.n_partitions
    graph = elite_neighbours(together, n_steps)
    # Steps go to a pattern in proportion to its objects.
    return trajectory_similarity(graph * counts * counts[:, None], n_steps)


def pattern_tree(ensemble: Ensemble, similarity: NDArray[np.float64]) -> Tree:
    """Merge distinct label rows by average linkage; identical objects come first."""
    _, counts, inverse = ensemble.patterns
    triangle = similarity[np.tril_indices(len(counts), -1)]
    merges = merge_sums(triangle, np.ones(len(counts)), _TIE)
    return tree_of_leaves(inverse, merges, np.ones(len(counts)), _TIE)


def pattern_graph(ensemble: Ensemble, similarity: NDArray[np.float64]) -> MatrixGraph:
    """Return the graph of distinct label rows and clusters, in the order of `cluster_order`.

    The weight of an edge is the mean similarity of the row and the rows in the cluster.
    """
    rows, _, inverse = ensemble.patterns
    incidence = incidence_of(rows, ensemble.offsets)[:, cluster_order(ensemble)]
    sizes = np.asarray(incidence.sum(axis=0)).ravel()
    return MatrixGraph((incidence.T @ similarity).T / sizes, None, inverse)


class PTA(TreeConsensus):
    """Probability trajectories: objects are similar if random walks from them go the same way.

    Objects with the same labels form a microcluster. Microclusters are joined with their nearest
    neighbours by co-association, and random walks on this graph describe each of them. The
    cosine of two walks is the similarity of the microclusters. It is cut by average linkage (PTA)
    or through the graph of microclusters and clusters (PTGP) [1]_.

    Parameters
    ----------
    cut : {'average', 'graph'}, default='average'
        Average linkage of the microclusters (PTA), or a spectral cut of the graph in which the
        edge between a microcluster and a cluster is the mean similarity to its microclusters
        (PTGP).
    n_steps : int, optional
        Steps of the random walks, and number of nearest neighbours that are kept. Default: half
        of the square root of the number of microclusters, at most 20.

    Attributes
    ----------
    linkage_ : ndarray of shape (n_objects - 1, 4)
        With 'average': the tree in the format of `scipy.cluster.hierarchy`; heights are
        1 - similarity.

    Notes
    -----
    All microclusters count the same in the linkage and in the cut; their sizes count in the steps
    of the random walks. Time grows with the cube of the number p of microclusters and memory with
    its square, which is checked against the limit: a method for some thousand distinct objects.

    On few objects the default number of neighbours is small, and the graph of neighbours can fall
    into more pieces than there are clusters. Pieces have similarity 0, so that which of them are
    merged is decided by the order of the objects. Then a larger `n_steps`, or ``cut='graph'``, is
    right.

    Missing labels: an object is in no cluster of a partition that did not label it.

    Examples
    --------
    >>> from coterie import PTA
    >>> votes = [[0, 0, 0], [0, 0, 1], [0, 0, 0], [0, 1, 0], [2, 2, 2], [2, 2, 1], [2, 2, 2]]
    >>> PTA(n_clusters=2, cut="graph", random_state=0).fit(votes).labels_
    array([0, 0, 0, 0, 1, 1, 1])
    """

    about = MethodWords(
        title="Probability trajectories",
        does=(
            "Compares objects by where random walks lead from them, so that the whole "
            "neighbourhood counts and single wrong votes do not."
        ),
        use="Some thousand distinct objects, and noisy partitions.",
        cost="Time O(p^3), memory p^2, checked against the limit.",
        missing=IN_NO_CLUSTER,
        name=(
            "probability trajectories (PTA, PTGP; Huang et al., 2016), cut by '{cut}': "
            "distinct label rows are compared by random walks on the graph of their "
            "nearest neighbours"
        ),
        references=(
            (
                "D. Huang, J.-H. Lai and C.-D. Wang (2016). Robust ensemble clustering using "
                "probability trajectories. IEEE Transactions on Knowledge and Data "
                "Engineering, 28(5), 1312-1326. doi:10.1109/TKDE.2015.2503753"
            ),
        ),
    )
    exceptions = dict.fromkeys(
        ("confidence_is_lower_where_partitions_disagree",),
        "there are three distinct rows, and walks of one step from two of them lead to the third",
    )
    finds_n_clusters = False
    rules: ClassVar = {
        "cut": one_of("average", "graph"),
        "n_steps": partial(check_integer, at_least=1, optional=True),
    }

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        cut: Literal["average", "graph"] = "average",
        n_steps: int | None = None,
        memory_limit: int | str | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.cut = cut
        self.n_steps = n_steps
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit(self, ensemble: Ensemble) -> NDArray[np.int64]:
        n_steps = self.n_steps or default_steps(len(ensemble.patterns.counts))
        similarity = pattern_similarity(ensemble, n_steps)
        if self.cut == "average":
            return self._keep_and_cut(pattern_tree(ensemble, similarity))
        self.__dict__.pop("linkage_", None)  # of an earlier fit
        graph = pattern_graph(ensemble, similarity)
        return transfer_cut(graph, self.n_clusters, random_state=as_seed(self.random_state)).objects
