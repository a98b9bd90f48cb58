"""Voting after relabelling (Dudoit and Fridlyand, 2003; Ayad and Kamel, 2008)."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from coterie._about import MethodWords
from coterie._kernels.support import tally
from coterie._labels import first_appearance, order_by_size
from coterie._linkage import average_tree
from coterie._progress import track_progress
from coterie.blocks import LabelBlocks, Rule, draw_sample, fixed_point, scale_for
from coterie.consensus._in_blocks import SAMPLE, SampleLabels
from coterie.consensus._parameters import one_of
from coterie.consensus._soft import SoftConsensus, warn_of_empty_clusters
from coterie.ensemble import Ensemble
from coterie.metrics._tables import Tables, nmi_of

__all__ = ["Voting"]


class Ballot(NamedTuple):
    """Votes of the clusters of all partitions, and the result."""

    stands_for: NDArray[np.float64]
    """(K, k): the vote of a member of each cluster of each partition; rows sum to 1."""
    votes: NDArray[np.float64]
    """(p, k): votes for each distinct label row."""
    labels: NDArray[np.int64]
    """(n,): the label with most votes, the smallest of equal ones."""


def choose_reference(ensemble: Ensemble, n_clusters: int) -> tuple[NDArray[np.int64], int | None]:
    """Return the partition that the others are first relabelled by, and which one it is.

    Of the partitions with `n_clusters` clusters that saw every object, the one with the highest
    mean NMI with all partitions, the first of equal ones. If there is none: average linkage on
    the co-association, cut at `n_clusters`.
    """
    best = most_agreeing(ensemble, n_clusters)
    if best is not None:
        return order_by_size(ensemble.labels[:, best]), best
    return average_tree(ensemble).cut(n_clusters), None


def most_agreeing(view: Ensemble | LabelBlocks, n_clusters: int) -> int | None:
    """Return the partition with `n_clusters` clusters that agrees most with all, or None.

    It must have seen every object. Of equal ones (within 1e-12) it is the first.
    """
    starts = view.offsets[:-1]
    n_seen = np.add.reduceat(view.cluster_facts[1], starts)
    best, most = None, -np.inf
    for e in np.flatnonzero((n_seen == view.n_objects) & (view.n_clusters == n_clusters)):
        table = view.tables(int(e))
        row, column = np.nonzero(table)
        partner = np.searchsorted(view.offsets, column, side="right") - 1
        in_row = np.add.reduceat(table, starts, axis=1)
        cells = (table[row, column], in_row[row, partner], table.sum(axis=0)[column])
        score = float(nmi_of(Tables(view.n_partitions, partner, *cells)).mean())
        if score > most + 1e-12:
            best, most = int(e), score
    return best


def match_clusters(table: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return (k_e, k): the label that each cluster of a partition gets, as rows of 0 and 1.

    The matching with most objects in common, by the Hungarian method. A cluster left over gets
    the label it has most objects in common with, the smallest of equal ones. Which of several
    best matchings it is depends on the order of the rows.
    """
    chosen = np.argmax(table, axis=1)
    clusters, labels = linear_sum_assignment(table, maximize=True)
    chosen[clusters] = labels
    return (chosen[:, None] == np.arange(table.shape[1])).astype(np.float64)


def spread_clusters(table: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return (k_e, k): the share of each cluster's objects that have each label."""
    return table / np.maximum(table.sum(axis=1, keepdims=True), 1)


def hold_ballot(
    ensemble: Ensemble, labels: NDArray[np.int64], n_clusters: int, voting: str
) -> Ballot:
    """Relabel every partition by `labels`, and let them vote."""
    rows, _, inverse = ensemble.patterns
    offsets = ensemble.offsets
    tables, _ = tally(ensemble.labels, labels, offsets, n_clusters)
    stands_for = stand_for(tables.T, offsets, ensemble.cluster_facts[0], voting)
    votes = MostVotes(offsets, stands_for).votes(rows)
    return Ballot(stands_for, votes, winners(votes)[inverse])


def stand_for(
    tables: NDArray[np.int64],
    offsets: NDArray[np.int64],
    first: NDArray[np.int64],
    voting: str,
) -> NDArray[np.float64]:
    """Return (K, k): the vote of a member of each cluster, from the tables with the reference."""
    relabel = match_clusters if voting == "plurality" else spread_clusters
    found = np.empty(tables.shape)
    for start, stop in pairwise(offsets):
        # Clusters in the order of their first objects: their names must not break ties.
        order = np.argsort(first[start:stop])
        found[start + order] = relabel(tables[start:stop][order])
    return found


class OneColumn(NamedTuple):
    """The clusters of one partition under new names."""

    column: int
    names: NDArray[np.int64]

    def __call__(self, codes: NDArray[np.int32], start: int) -> NDArray[np.int64]:
        """Return the name of each row's cluster."""
        return self.names[codes[:, self.column]]


class MostVotes(NamedTuple):
    """Puts a label row to the label with most votes."""

    offsets: NDArray[np.int64]
    stands_for: NDArray[np.float64]

    def votes(self, codes: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return (m, k): the votes for each row."""
        votes = np.zeros((len(codes), self.stands_for.shape[1]))
        for e in range(codes.shape[1]):
            own = self.stands_for[self.offsets[e] : self.offsets[e + 1]]
            votes += cast_votes(own, codes[:, e])
        return votes

    def __call__(self, codes: NDArray[np.int32], start: int) -> NDArray[np.int64]:
        """Return the label of each row."""
        return winners(self.votes(codes))


def _hold_ballot_of_block(
    codes: NDArray[np.int32], start: int, before: Rule, rule: MostVotes, scale: float
) -> tuple[NDArray[np.int64], int, int]:
    """Return tables of the new labels, how many changed, and the sum of the votes for them."""
    votes = rule.votes(codes)
    labels = winners(votes)
    changed = int((labels != before(codes, start)).sum())
    tables, _ = tally(codes, labels, rule.offsets, votes.shape[1])
    return tables, changed, int(fixed_point(votes.max(axis=1), scale).sum())


def _tables_of_block(
    codes: NDArray[np.int32], start: int, rule: Rule, offsets: NDArray[np.int64], n_labels: int
) -> NDArray[np.int64]:
    tables: NDArray[np.int64] = tally(codes, rule(codes, start), offsets, n_labels)[0]
    return tables


def _sum_tuples(left: tuple[Any, ...], right: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(a + b for a, b in zip(left, right, strict=True))


def cast_votes(stands_for: NDArray[np.float64], codes: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return (p, k): the votes of one partition; none where it missed the object."""
    # Code -1, and a code past the last, take the row of zeros at the end.
    padded = np.vstack([stands_for, np.zeros(stands_for.shape[1])])
    known = (codes >= 0) & (codes < len(stands_for))
    found: NDArray[np.float64] = padded[np.where(known, codes, len(stands_for))]
    return found


def winners(votes: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the label with most votes in each row; of those within 1e-9, the smallest."""
    return np.argmax(votes >= votes.max(axis=1, keepdims=True) - 1e-9, axis=1)


def shares(votes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return votes as shares of their sum in each row; all equal where there is no vote."""
    total = votes.sum(axis=1, keepdims=True)
    return np.divide(votes, total, out=np.full_like(votes, 1.0 / votes.shape[1]), where=total > 0)


class Voting(SoftConsensus):
    """Voting on labels, after the partitions have been given the same names for clusters.

    Every partition is relabelled to agree with a reference as well as can be, by the Hungarian
    method, and then each object gets the label that most partitions give it [1]_. The result is
    the next reference, until nothing changes: with plurality voting, the number of labels that
    agree with the consensus never falls on the way.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of labels. The method does not find it by itself.
    voting : {'plurality', 'cumulative'}, default='plurality'
        With 'plurality' every cluster stands for one label: matched one to one, and clusters
        beyond the number of labels go to the label they have most objects in common with. With
        'cumulative' a cluster's vote is divided over the labels, by the share of its objects
        that have them in the reference [2]_; this suits partitions with many more clusters
        than `n_clusters`.
    max_iter : int, default=100
        Largest number of rounds. 1 is a single vote with the names of the first reference.

    Attributes
    ----------
    n_clusters_ : int
        Number of clusters found: labels with which some object ended.
    membership_ : ndarray of shape (n_objects, n_clusters)
        Share of the votes for each label, 1 / `n_clusters` for objects that no partition saw.
        Columns in the order of the labels; labels that no object has come last.
    reference_ : int or None
        The partition that was the first reference; None if it was average linkage.
    n_iter_ : int
        Number of rounds.
    converged_ : bool
        Whether the last round changed nothing.
    history_ : ndarray of shape (n_iter, 2)
        Number of rounds, and then the sum over objects of the votes for their label. With
        plurality voting it never falls.

    Warns
    -----
    UserWarning
        If no object ended with some of the labels, so that there are fewer clusters than asked
        for.

    Notes
    -----
    The first reference is, of the partitions with `n_clusters` clusters and no missing label,
    the one with the highest mean NMI with all partitions (the first of equal ones). If there is
    none, it is what average linkage on the co-association (`EAC`) finds.

    Missing labels are no vote. An object without any vote gets label 0.

    Ties: the smallest label, in the order of the sizes in the reference. Of several best
    matchings with the reference, one is taken that depends on the order of the objects, never on
    the names of the clusters.

    Prediction: the label with most votes for the new row. `predict_proba` gives their shares.

    Examples
    --------
    >>> from coterie import Voting
    >>> votes = [[0, 1, "a"], [0, 1, "a"], [0, 0, "b"], [1, 0, "b"], [1, 0, "b"]]
    >>> voting = Voting(n_clusters=2).fit(votes)
    >>> voting.labels_
    array([1, 1, 0, 0, 0])
    >>> voting.membership_.round(2)
    array([[0.  , 1.  ],
           [0.  , 1.  ],
           [0.67, 0.33],
           [1.  , 0.  ],
           [1.  , 0.  ]])
    >>> voting.predict([[0, 1, None], [1, 1, "b"]])
    array([1, 0])
    """

    about = MethodWords(
        title="Voting after relabelling",
        does=(
            "Renames the clusters of every partition to agree with a reference as well as can be,"
            " and gives each object the label with most votes; repeated until nothing changes."
        ),
        use=(
            "Partitions that all have about the number of clusters you want, such as bagged runs "
            "of one algorithm. For partitions with many more clusters use voting='cumulative', or"
            " another method."
        ),
        cost="Time O(n L k) for each of a few rounds, memory linear in n L.",
        missing="No vote.",
        name=(
            "{voting} voting after relabelling (Dudoit and Fridlyand, 2003; Ayad and Kamel, "
            "2008): partitions are given the same names for clusters, and each object the label "
            "with most votes"
        ),
        references=(
            "S. Dudoit and J. Fridlyand (2003). Bagging to improve the accuracy of a clustering "
            "procedure. Bioinformatics, 19(9), 1090-1099. doi:10.1093/bioinformatics/btg038",
            "H. G. Ayad and M. S. Kamel (2008). Cumulative voting consensus method for partitions"
            " with variable number of clusters. IEEE Transactions on Pattern Analysis and Machine"
            " Intelligence, 30(1), 160-173. doi:10.1109/TPAMI.2007.1138",
        ),
    )
    exceptions = dict.fromkeys(
        ("every_number_of_clusters", "two_objects"),
        "a label may win no object: then there are fewer clusters, with a warning",
    )

    finds_n_clusters = False
    objective = "votes for the consensus"

    n_clusters: int

    saved_state = None

    rules: ClassVar = {"voting": one_of("plurality", "cumulative")}

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        voting: Literal["plurality", "cumulative"] = "plurality",
        max_iter: int = 100,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.voting = voting
        self.max_iter = max_iter
        self.n_jobs = n_jobs

    def _fit(self, ensemble: Ensemble) -> NDArray[np.int64]:
        labels, self.reference_ = choose_reference(ensemble, self.n_clusters)
        self.converged_ = False
        history = []
        for round_ in range(self.max_iter):
            with track_progress(f"round {round_ + 1}"):
                ballot = hold_ballot(ensemble, labels, self.n_clusters, self.voting)
            self.converged_ = np.array_equal(ballot.labels, labels)
            self.n_iter_ = round_ + 1
            history.append((self.n_iter_, ensemble.patterns.counts @ ballot.votes.max(axis=1)))
            labels = ballot.labels
            if self.converged_:
                break
        self.history_ = np.array(history)
        return self._keep(ensemble, ballot)

    def _keep(self, ensemble: Ensemble, ballot: Ballot) -> NDArray[np.int64]:
        """Put the labels in the order of their clusters."""
        n_labels = ballot.votes.shape[1]
        sizes = np.bincount(ballot.labels, minlength=n_labels)
        self._order = np.lexsort((first_appearance(ballot.labels, n_labels), -sizes))
        self._rank = np.argsort(self._order)
        self._stands_for = ballot.stands_for
        self._is_used = sizes > 0
        warn_of_empty_clusters(self, int(self._is_used.sum()))
        self.membership_ = shares(ballot.votes)[:, self._order][ensemble.patterns.inverse]
        return self._rank[ballot.labels]

    def _memberships(self, codes: NDArray[np.int32]) -> NDArray[np.float64]:
        return shares(self._count_votes(codes))[:, self._order]

    def _fit_blocks(self, blocks: LabelBlocks) -> tuple[Rule, int]:
        offsets, k = blocks.offsets, self.n_clusters
        first = blocks.cluster_facts[0]
        rule = self._first_rule(blocks)
        tables = blocks.reduce(_tables_of_block, np.add, rule, offsets, k)
        scale = scale_for(blocks.n_objects, blocks.n_partitions)
        history = []
        for round_ in range(self.max_iter):
            before = rule
            rule = MostVotes(offsets, stand_for(tables.T, offsets, first, self.voting))
            tables, changed, votes = blocks.reduce(
                _hold_ballot_of_block, _sum_tuples, before, rule, scale
            )
            self.n_iter_, self.converged_ = round_ + 1, changed == 0
            history.append((self.n_iter_, votes / scale))
            if self.converged_:
                break
        self.history_ = np.array(history)
        return rule, k

    def _first_rule(self, blocks: LabelBlocks) -> Rule:
        """Return the first reference; without a partition for it, average linkage of a sample."""
        self.reference_ = most_agreeing(blocks, self.n_clusters)
        if self.reference_ is not None:
            start, stop = blocks.offsets[self.reference_ : self.reference_ + 2]
            first, sizes = (facts[start:stop] for facts in blocks.cluster_facts)
            return OneColumn(self.reference_, np.argsort(np.lexsort((first, -sizes))))
        n = blocks.n_objects
        objects = draw_sample(n, min(n, SAMPLE))
        self._say_sampled(len(objects), n)
        labels = average_tree(blocks.sample(objects)).cut(self.n_clusters)
        return SampleLabels.of(blocks, objects, labels, self.n_clusters)

    def _predict(self, codes: NDArray[np.int32]) -> NDArray[np.int64]:
        votes = self._count_votes(codes)
        votes[:, ~self._is_used] = -1.0
        return self._rank[winners(votes)]

    def _count_votes(self, codes: NDArray[np.int32]) -> NDArray[np.float64]:
        return MostVotes(self.ensemble_.offsets, self._stands_for).votes(codes)
