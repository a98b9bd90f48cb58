"""ECPCS, ensemble clustering by propagating cluster-wise similarities (Huang et al., 2021)."""

from __future__ import annotations

import warnings
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from coterie._about import IN_NO_CLUSTER, MethodWords
from coterie._graphs import as_seed, cluster_order, spectral_cut
from coterie._limits import check_fits
from coterie._linkage import Tree, merge_sums, tree_of_leaves
from coterie.blocks import LabelBlocks, Rule
from coterie.consensus._in_blocks import MetaClusters
from coterie.consensus._mcla import number_parts
from coterie.consensus._parameters import one_of
from coterie.consensus._trajectories import trajectory_similarity
from coterie.consensus._tree import TreeConsensus
from coterie.consensus._weights import jaccard
from coterie.ensemble import Ensemble

__all__ = ["ECPCS"]

_TIE = 1e-12  # mean similarities that differ by less are equal


def cluster_similarity(ensemble: Ensemble | LabelBlocks, n_steps: int) -> NDArray[np.float64]:
    """Return (K, K): cosines of random walks from two clusters, along their Jaccard indices."""
    order = cluster_order(ensemble)  # so that rounding does not depend on the names of clusters
    graph = jaccard(ensemble)[np.ix_(order, order)]
    np.fill_diagonal(graph, 0.0)
    similarity = np.empty_like(graph)
    similarity[np.ix_(order, order)] = trajectory_similarity(graph, n_steps)
    return similarity


def cut_clusters(
    ensemble: Ensemble | LabelBlocks, similarity: NDArray[np.float64], n_parts: int, seed: int
) -> NDArray[np.int64]:
    """Return (K,): the meta-cluster of each cluster, numbered by the first cluster in each."""
    order = cluster_order(ensemble)
    found = spectral_cut(similarity[np.ix_(order, order)], n_parts, random_state=seed)
    return number_parts(found, order)


def similarity_tree(ensemble: Ensemble, similarity: NDArray[np.float64]) -> Tree:
    """Merge objects by the mean similarity, over partitions, of the clusters that they are in."""
    from coterie._kernels.cluster_links import sum_cluster_similarities

    rows, counts, inverse = ensemble.patterns
    n_rows = len(rows)
    check_fits(
        4 * n_rows * (n_rows - 1),
        f"the similarities of all pairs of {n_rows} distinct objects, which method='hc' needs,",
        hint="Use method='mc', which needs none",
    )
    sums = np.empty(n_rows * (n_rows - 1) // 2)
    sum_cluster_similarities(rows, ensemble.offsets, similarity, sums)
    sums /= ensemble.n_partitions
    if (counts > 1).any():
        for u in range(1, n_rows):
            sums[u * (u - 1) // 2 : u * (u + 1) // 2] *= counts[:u] * counts[u]
    merges = merge_sums(sums, counts.astype(np.float64), _TIE)
    own = (rows >= 0).sum(axis=1) / ensemble.n_partitions
    return tree_of_leaves(inverse, merges, own, _TIE)


class ECPCS(TreeConsensus):
    """Ensemble clustering by propagating the similarities of clusters.

    Two clusters are similar if random walks from them, along the Jaccard indices of all clusters,
    go the same way: also clusters that share no object can be similar, through others [1]_. With
    ``method='mc'`` the clusters are cut into `n_clusters` meta-clusters by that similarity, and
    each object goes to the meta-cluster of whose clusters it is in the largest share. With
    ``method='hc'`` the similarity of two objects is the mean similarity of their clusters, and the
    average-linkage tree of the objects is cut.

    Parameters
    ----------
    method : {'mc', 'hc'}, default='mc'
        Meta-clustering, whose cost grows linearly with the number of objects, or hierarchical
        clustering, which keeps the similarities of all pairs of distinct objects.
    n_steps : int, default=20
        Steps of the random walks.

    Attributes
    ----------
    n_clusters_ : int
        Number of clusters found. With 'mc' there are fewer than `n_clusters` if no object goes to
        some meta-cluster.
    similarity_ : ndarray of shape (K, K)
        Similarity of the clusters of all partitions, in [0, 1].
    cluster_labels_ : ndarray of int64, shape (K,)
        With 'mc': the meta-cluster of each cluster of each partition.
    linkage_ : ndarray of shape (n_objects - 1, 4)
        With 'hc': the tree in the format of `scipy.cluster.hierarchy`; heights are 1 - similarity.

    Warns
    -----
    UserWarning
        If no object goes to some meta-cluster.

    See Also
    --------
    coterie.MCLA : Meta-clustering by the Jaccard indices themselves.

    Notes
    -----
    Missing labels: an object is in no cluster of a partition that did not label it.

    Examples
    --------
    >>> from coterie import ECPCS
    >>> votes = [[0, 0, 0], [0, 0, 1], [0, 0, 0], [1, 1, 1], [1, 1, 1], [1, 1, 1], [1, 1, 0]]
    >>> ECPCS(n_clusters=2, random_state=0).fit(votes).labels_
    array([1, 1, 1, 0, 0, 0, 0])
    >>> ECPCS(n_clusters=2, method="hc").fit(votes).labels_
    array([1, 1, 1, 0, 0, 0, 0])
    """

    about = MethodWords(
        title="Propagation of cluster-wise similarities",
        does=(
            "Finds similar clusters of all partitions, also those that share no object "
            "but similar neighbours. These are joined to meta-clusters, and each object "
            "goes where most of its clusters went (method='mc'), or objects are merged by "
            "the similarity of their clusters (method='hc')."
        ),
        use="method='mc' for very many objects; method='hc' for some ten thousand.",
        cost=(
            "'mc': time and memory linear in n L, K^3 for the walks. 'hc': time O(p^2 L), "
            "memory p^2."
        ),
        missing=IN_NO_CLUSTER,
        name=(
            "ensemble clustering by propagating cluster-wise similarities "
            "(ECPCS-{method}; Huang et al., 2021): clusters are compared by random walks "
            "of {n_steps} steps along their Jaccard indices"
        ),
        references=(
            (
                "D. Huang, C.-D. Wang, H. Peng, J. Lai and C.-K. Kwoh (2021). Enhanced "
                "ensemble clustering via fast propagation of cluster-wise similarities. IEEE "
                "Transactions on Systems, Man, and Cybernetics: Systems, 51(1), 508-520. "
                "doi:10.1109/TSMC.2018.2876202"
            ),
        ),
    )
    exceptions = dict.fromkeys(
        ("every_number_of_clusters", "two_objects"),
        "no object may go to some meta-cluster: then there are fewer clusters, with a warning",
    )
    finds_n_clusters = False
    rules: ClassVar = {"method": one_of("mc", "hc")}

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        method: Literal["mc", "hc"] = "mc",
        n_steps: int = 20,
        memory_limit: int | str | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.method = method
        self.n_steps = n_steps
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit(self, ensemble: Ensemble) -> NDArray[np.int64]:
        self.similarity_ = cluster_similarity(ensemble, self.n_steps)
        if self.method == "hc":
            return self._keep_and_cut(similarity_tree(ensemble, self.similarity_))
        rule = self._meta_clusters(ensemble)
        rows, _, inverse = ensemble.patterns
        chosen = rule(rows, 0)
        found = np.unique(chosen)
        if len(found) < self.n_clusters:
            warnings.warn(
                f"no object ended with {self.n_clusters - len(found)} of the "
                f"n_clusters={self.n_clusters} meta-clusters; there are {len(found)} clusters.",
                UserWarning,
                stacklevel=3,
            )
        return chosen[inverse]

    def _fit_blocks(self, blocks: LabelBlocks) -> tuple[Rule, int]:
        if self.method != "mc":
            return super()._fit_blocks(blocks)
        self.similarity_ = cluster_similarity(blocks, self.n_steps)
        rule = self._meta_clusters(blocks)
        return rule, int(rule.parts.max()) + 1

    def _meta_clusters(self, view: Ensemble | LabelBlocks) -> MetaClusters:
        """Cut the clusters by their similarity."""
        self.__dict__.pop("linkage_", None)  # of an earlier fit
        self.cluster_labels_ = cut_clusters(
            view,
            self.similarity_,
            min(self.n_clusters, int(view.offsets[-1])),
            as_seed(self.random_state),
        )
        return MetaClusters(view.offsets, self.cluster_labels_)
