"""Rearranging the clusters of PEACE: two divided anew, or two joined and a third one divided.

Steps that change one object at a time cannot leave an optimum in which two columns of Y cut
across two clusters, or one cluster has two columns and two others share one. Here such changes
are proposed from the counts of votes within and between clusters, and taken if the likelihood
rises.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlog1py, xlogy

if TYPE_CHECKING:
    from coterie.consensus._peace import Problem

__all__ = ["rearranged"]

Array = NDArray[np.float64]

CANDIDATES = 3  # rearrangements tried before giving up
PASSES = 12  # the most passes over the objects before a rearrangement is judged
SPREAD = 0.1  # of all mass, given to all clusters alike, so that objects can still change sides
ROUNDS = 10  # for dividing a cluster


class Votes(NamedTuple):
    """Labels as whole numbers below `n_codes`; a missing one is `n_codes`."""

    codes: NDArray[np.int64]
    n_codes: int
    weights: Array

    @classmethod
    def of(cls, problem: Problem) -> Votes:
        """Return the labels behind the counts of pairs, one row per column of Y."""
        labels = problem.columns.T.astype(np.int64)
        missing = labels == problem.missing
        n_codes = int(labels[~missing].max(initial=0)) + 1
        return cls(np.where(missing, n_codes, labels), n_codes, problem.weights)

    def of_members(self, members: NDArray[np.int64]) -> Votes:
        """Return the labels of some rows."""
        return self._replace(codes=self.codes[members], weights=self.weights[members])

    def tables(self, groups: NDArray[np.int64], n_groups: int) -> Array:
        """Return (n_groups, L, n_codes): how many objects of a group are in which cluster."""
        L = self.codes.shape[1]
        width = self.n_codes + 1
        cells = (groups[:, None] * L + np.arange(L)) * width + self.codes
        counts = np.zeros(n_groups * L * width)
        counts += np.bincount(
            cells.ravel(), weights=np.repeat(self.weights, L), minlength=len(counts)
        )
        return counts.reshape(n_groups, L, width)[:, :, : self.n_codes]

    def affinities(self, tables: Array) -> Array:
        """Return (p, n_groups): in how many partitions each row is with an object of a group."""
        p, L = self.codes.shape
        padded = np.zeros((L, self.n_codes + 1, len(tables)))
        padded[:, : self.n_codes] = np.moveaxis(tables, 0, 2)
        total = np.zeros((p, len(tables)))
        for e in range(L):
            total += padded[e, self.codes[:, e]]
        return total


def pair_likelihood(tables: Array) -> Array:
    """Return for all groups u, v the log-likelihood of the votes on their pairs.

    Each block of pairs is given one probability of its own, the best one.
    """
    return block_likelihood(*pair_votes(tables))


def pair_votes(tables: Array) -> tuple[Array, Array]:
    """Return (together, observed): votes on the pairs of objects within and between groups."""
    flat, seen = tables.reshape(len(tables), -1), tables.sum(axis=2)
    together, observed = flat @ flat.T, seen @ seen.T
    # Within a group every pair was counted twice, and every object with itself once.
    own = np.diag_indices(len(tables))
    alone = seen.sum(axis=1)
    together[own] = (together[own] - alone) / 2
    observed[own] = (observed[own] - alone) / 2
    return together, observed


def block_likelihood(together: Array, observed: Array) -> Array:
    """Return the log-likelihood of blocks of votes, each with the best probability."""
    share = np.divide(together, observed, out=np.zeros_like(together), where=observed > 0)
    share = np.clip(share, 0.0, 1.0)
    return xlogy(together, share) + xlog1py(np.maximum(observed - together, 0.0), -share)


def divide(votes: Votes) -> NDArray[np.int64]:
    """Return two sides, 0 and 1, of the rows: those that are together more often on one side.

    It starts from the row that is least with all the others, and the one that is least with it.
    """
    one = votes.affinities(votes.tables(np.zeros(len(votes.codes), dtype=np.int64), 1))[:, 0]
    first = votes.codes[np.argmin(one)]
    with_first = (votes.codes == first).sum(axis=1)
    second = votes.codes[np.argmin(with_first)]
    side = ((votes.codes == second).sum(axis=1) > with_first).astype(np.int64)
    for _ in range(ROUNDS):
        size = np.bincount(side, weights=votes.weights, minlength=2)
        if size.min() == 0:
            break
        near = votes.affinities(votes.tables(side, 2)) / size
        moved = (near[:, 1] > near[:, 0]).astype(np.int64)
        if np.array_equal(moved, side):
            break
        side = moved
    return side


class Candidate(NamedTuple):
    """A way to rearrange the clusters, and what the likelihood of blocks says it is worth."""

    worth: float
    apply: Callable[[Array], Array]
    """From memberships to memberships."""
    touched: NDArray[np.bool_]
    """The rows of the clusters that it changes."""


def join_and_divide(
    Y: Array, kept: int, other: int, divided: int, leaving: NDArray[np.int64]
) -> Array:
    """Join cluster `other` to `kept`; give `other` the rows `leaving` of cluster `divided`."""
    Z = Y.copy()
    Z[kept] += Z[other]
    Z[other] = 0.0
    Z[other, leaving] = Z[divided, leaving]
    Z[divided, leaving] = 0.0
    return Z


def divide_anew(
    Y: Array, u: int, v: int, left: NDArray[np.int64], right: NDArray[np.int64]
) -> Array:
    """Give the rows `left` all that they have in clusters u and v in u, the rows `right` in v."""
    Z = Y.copy()
    mass = Y[u] + Y[v]
    Z[u, left], Z[v, left] = mass[left], 0.0
    Z[v, right], Z[u, right] = mass[right], 0.0
    return Z


def candidates(votes: Votes, Y: Array) -> list[Candidate]:
    """Return the most promising rearrangements, best first."""
    k = len(Y)
    groups = np.argmax(Y, axis=0)
    together, observed = pair_votes(votes.tables(groups, k))
    likelihood = block_likelihood(together, observed)
    own = np.diag(likelihood)
    pairs = np.column_stack(np.tril_indices(k, -1))
    found = []

    def parts_of(members: NDArray[np.int64]) -> tuple[float, NDArray[np.int64]]:
        inside = votes.of_members(members)
        side = divide(inside)
        parts = pair_likelihood(inside.tables(side, 2))
        return float(parts[0, 0] + parts[0, 1] + parts[1, 1]), side

    # Two clusters cut across: those between which there are most votes for "together".
    share = np.divide(together, observed, out=np.zeros_like(together), where=observed > 0)
    near = np.argsort(-share[pairs[:, 0], pairs[:, 1]], kind="stable")[:k]
    for u, v in pairs[near].tolist():
        members = np.flatnonzero((groups == u) | (groups == v))
        if len(members) < 2:
            continue
        now = own[u] + own[v] + likelihood[u, v]
        after, side = parts_of(members)
        change = partial(divide_anew, u=u, v=v, left=members[side == 0], right=members[side == 1])
        found.append(Candidate(after - now, change, (groups == u) | (groups == v)))

    # One cluster in two columns, two clusters in one.
    divisions = []
    for cluster in range(k):
        members = np.flatnonzero(groups == cluster)
        if len(members) >= 2:
            after, side = parts_of(members)
            divisions.append((after - own[cluster], cluster, members[side == 1]))
    divisions.sort(key=lambda division: (-division[0], division[1]))
    one_together = together + np.diag(together)[:, None] + np.diag(together)
    one_observed = observed + np.diag(observed)[:, None] + np.diag(observed)
    loss = own[:, None] + own + likelihood - block_likelihood(one_together, one_observed)
    cheap = np.argsort(loss[pairs[:, 0], pairs[:, 1]], kind="stable")[: CANDIDATES + k]
    for u, v in pairs[cheap].tolist():
        for gain, cluster, leaving in divisions[: CANDIDATES + 2]:
            if cluster not in (u, v):
                change = partial(join_and_divide, kept=v, other=u, divided=cluster, leaving=leaving)
                found.append(Candidate(gain - loss[u, v], change, np.isin(groups, (u, v, cluster))))
    return sorted(found, key=lambda candidate: -candidate.worth)[:CANDIDATES]


def is_better(problem: Problem, Y: Array, candidate: Candidate) -> tuple[bool, Array]:
    """Climb from what the candidate makes of Y; return whether it got above Y, and where to.

    Only the objects of the clusters in question move. It is given up when at its present rate
    it would not get there.
    """
    from coterie._kernels.peace import gain, sweep

    touched = candidate.touched
    loosened = (1.0 - SPREAD) * candidate.apply(Y) + SPREAD / len(Y)
    Z = np.where(touched, loosened, Y)
    before = -np.inf
    for n_passes in range(2, PASSES + 1, 2):
        sweep(*problem, Z, 0.0, touched)
        sweep(*problem, Z, 0.0, touched)
        now = gain(*problem, Y, Z, touched)
        if now > 0.0:
            return True, Z
        if now + (now - before) / 2 * (PASSES - n_passes) <= 0.0:
            break
        before = now
    return False, Z


def rearranged(problem: Problem, Y: Array) -> Array:
    """Return memberships of at least the likelihood of Y.

    Rearrangements are tried until none of the best few is an improvement.
    """
    if len(Y) < 3:
        return Y
    votes = Votes.of(problem)
    for _ in range(len(Y)):
        for candidate in candidates(votes, Y):
            better, Z = is_better(problem, Y, candidate)
            if better:
                Y = Z
                break
        else:
            break
    return Y
