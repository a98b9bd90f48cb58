"""MSTEClust: weights that maximise the expected margin, and a spanning tree (Berikov, 2016)."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from coterie._about import BERIKOV_2016, BOTH_SEEN, MethodWords
from coterie.consensus._base import BaseConsensus
from coterie.consensus._curve import ClusterNumberCurve
from coterie.consensus._parameters import one_of
from coterie.consensus._separation import (
    MAX_CLUSTERS,
    choose_n_clusters,
    cut_criterion,
    cut_tree,
    group_names,
    nearest_cluster,
    spanning_tree,
)
from coterie.ensemble import Ensemble

__all__ = ["MSTEClust"]


class MSTEClust(BaseConsensus):
    """Clusters from a spanning tree of the pairs, each judged by the algorithm that is best at it.

    Partitions come in groups: the runs of one randomised algorithm. For every pair of objects
    one group is trusted, the one with the largest expected margin: good by its validity, and of
    one mind about the pair. What its runs say, each weighed by its own validity, is the
    separation of the pair. The minimum spanning tree of the separations is cut at its heaviest
    edges, into the number of clusters that a criterion prefers [1]_.

    `Ensemble` carries groups and validity; `RandomizedEnsemble` fills them in. Without them
    there is one group of runs with validity 1, and the separation is 1 - co-association.

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters. Default: the one with the smallest `criterion_`.
    max_clusters : int, default=10
        Largest number of clusters tried.
    rule : {'margin', 'printed'}, default='margin'
        Which group is trusted with a pair. With gamma the mean validity of the group and p the
        share of its runs that agree with their majority on the pair, 'margin' takes the largest
        gamma (2p - 1), the expected margin itself; 'printed' takes the largest gamma p, which
        equation (8) of the paper prints.

    Attributes
    ----------
    tree_ : ndarray of shape (n_objects - 1, 3)
        The edges of the minimum spanning tree: i, j with i < j, and their separation, in the
        order of (separation, i, j). Removing the last k - 1 leaves k clusters.
    criterion_ : ndarray of shape (min(max_clusters, n_objects) - 1,)
        log F for k = 2, 3, ...; the smallest is best, and the smallest k of equal ones.
    n_clusters_curve_ : mapping
        `criterion_` by the number of clusters; the smallest is best.
    groups_ : ndarray of shape (n_groups,)
        The names of the groups, sorted.
    group_share_ : ndarray of shape (n_groups,)
        For which share of the pairs each group was trusted, over all pairs that a run saw.
    expected_margin_ : float
        The mean of gamma (2p - 1) of the trusted groups, over the same pairs: 1 where runs of
        validity 1 agree on every pair.

    See Also
    --------
    PWEC : Weights by variance, without validity.
    EAC : With ``linkage='single'``, the same tree for one group of runs with validity 1.

    Notes
    -----
    The separation of i and j is H(i, j) = (1 / L) sum_l gamma_l [run l puts i and j apart] over
    the L runs of the trusted group, rounded to 12 decimals. It is no metric: neighbouring pairs
    may be judged by different groups. The criterion is
    log F = log k + sum_c (w_c / w_T) log N_c, with N_c the size of cluster c, w_c the weight of
    the tree's edges within it and w_T that of the whole tree.

    Rows of separations are made when the tree needs them: memory is linear in the size of the
    ensemble, time quadratic in the number of distinct label rows.

    Missing labels: a run counts for a pair only if it saw both objects. A group none of whose
    runs did is no candidate; a pair that no run saw has separation 1. The mean validity of a
    group is over all its runs.

    Ties: of groups that are equally good within 1e-12 the first in `groups_` is trusted; edges
    of the same weight are in the order of (i, j).

    Prediction: the cluster of the known object with the smallest separation; where several are
    equally near, the cluster with most of them.

    Examples
    --------
    Two algorithms, three runs each. The first is sure of the first three objects, the second of
    the last two:

    >>> from coterie import Ensemble, MSTEClust
    >>> votes = [[0, 0, 0, 0, 1, 0], [0, 0, 0, 1, 0, 0], [1, 1, 1, 0, 0, 1],
    ...          [1, 2, 1, 2, 2, 2], [1, 1, 2, 2, 2, 2]]
    >>> ensemble = Ensemble(votes, groups=["a", "a", "a", "b", "b", "b"])
    >>> mste = MSTEClust().fit(ensemble)
    >>> mste.labels_
    array([0, 0, 2, 1, 1])
    >>> mste.criterion_.round(2)
    array([1.24, 1.1 , 1.39, 1.61])
    >>> mste.group_share_
    array([0.7, 0.3])
    >>> mste.predict([[0, 0, None, 1, 1, 0]])
    array([0])
    """

    about = MethodWords(
        title="Ensemble clustering by minimum spanning trees",
        does=(
            "For partitions from several algorithms, each run many times. For every pair of "
            "objects it trusts the algorithm that is best there: valid, and of one mind about the"
            " pair. A spanning tree of what these say is cut at its heaviest edges."
        ),
        use=(
            "Several base algorithms of which each is good at a part of the data; clusters of any"
            " shape. With one algorithm it is single linkage (EAC linkage='single'), and as "
            "easily joined by a chain of wrong votes."
        ),
        cost="Time O(p^2 L), memory linear in n L.",
        missing=BOTH_SEEN,
        name=(
            "MSTEClust (Berikov, 2016): a minimum spanning tree of the objects, cut at its "
            "heaviest edges, each pair being judged by the group of partitions with the largest "
            "expected margin"
        ),
        number=(
            "the one at which the criterion F, cost of clusters and of edges in them, is smallest"
        ),
        references=(BERIKOV_2016,),
    )

    rules: ClassVar = {"rule": one_of("margin", "printed"), "max_clusters": MAX_CLUSTERS}

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        max_clusters: int = 10,
        rule: Literal["margin", "printed"] = "margin",
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.max_clusters = max_clusters
        self.rule = rule
        self.n_jobs = n_jobs

    def _fit(self, ensemble: Ensemble) -> NDArray[np.int64]:
        tree = spanning_tree(ensemble, self.rule)
        self.tree_ = tree.table
        self.criterion_ = cut_criterion(tree, self.max_clusters)
        self.n_clusters_curve_ = ClusterNumberCurve(
            "log F", 2, self.criterion_, larger_is_better=False
        )
        self.groups_ = group_names(ensemble)
        n_judged = max(1, int(tree.wins.sum()))
        self.group_share_ = tree.wins / n_judged
        self.expected_margin_ = tree.margin / n_judged
        n_clusters = self.n_clusters
        if n_clusters is None:
            n_clusters = choose_n_clusters(tree, self.criterion_)
        return cut_tree(tree, n_clusters)

    def _predict(self, codes: NDArray[np.int32]) -> NDArray[np.int64]:
        return nearest_cluster(self.ensemble_, self.rule, self.labels_, self.n_clusters_, codes)
