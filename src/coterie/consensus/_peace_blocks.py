"""A coarse model beside PEACE's: every object wholly in one cluster.

All pairs of two clusters then have one probability of being together, and the likelihood needs
only the votes within and between clusters, which cost O(nLK) from the labels instead of O(n^2).
That is cheap enough to try what steps of single objects cannot do: to divide two clusters anew,
or to join two and divide a third. What it finds is made soft again as a place to climb from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlog1py, xlogy

if TYPE_CHECKING:
    from coterie.consensus._peace import Problem

__all__ = ["Votes", "coarse_optimum"]

Array = NDArray[np.float64]
Groups = NDArray[np.int64]

TRIES = 3  # rearrangements that are no improvement before the search ends
ROUNDS = 20  # the most rounds in which all objects choose their cluster
HALVING = 10  # the most rounds for dividing a cluster
GROWTHS = (200, 10)  # steps uphill for the memberships of clusters, and of objects
SPREAD = 1e-4  # of all mass, given to all clusters alike: no pair becomes impossible


class Votes(NamedTuple):
    """The labels of all rows, as the kernels take them."""

    columns: NDArray[Any]
    missing: Any
    n_codes: int
    weights: Array
    """Objects per row."""
    seen: Array
    """(p, L): 1 where a partition has the row."""

    @classmethod
    def of(cls, problem: Problem) -> Votes:
        """Return the labels behind the counts of pairs, one row per column of Y."""
        seen = problem.columns != problem.missing
        n_codes = int(problem.columns[seen].max(initial=0)) + 1
        weights = problem.weights
        return cls(problem.columns, problem.missing, n_codes, weights, seen.T.astype(np.float64))

    def of_members(self, members: Groups) -> Votes:
        """Return the labels of some rows."""
        columns = np.ascontiguousarray(self.columns[:, members])
        return self._replace(
            columns=columns, weights=self.weights[members], seen=self.seen[members]
        )


class Blocks(NamedTuple):
    """Rows in groups, and the votes on their pairs."""

    groups: Groups
    row_together: Array
    """(p, k): for one object of a row with all objects of a group, without those of the row."""
    row_observed: Array
    together: Array
    """(k, k): on pairs of different objects within and between groups."""
    observed: Array

    @classmethod
    def of(cls, votes: Votes, groups: Groups, k: int) -> Blocks:
        """Count the votes."""
        from coterie._kernels.peace_blocks import votes_with_groups

        rows = np.arange(len(groups))
        mass = np.zeros((len(groups), k))
        mass[rows, groups] = votes.weights
        row_together = np.ascontiguousarray(votes_with_groups(*votes[:4], groups, k).T)
        row_observed = votes.seen @ (votes.seen.T @ mass)
        own = votes.seen.sum(axis=1)
        together, observed = mass.T @ row_together, mass.T @ row_observed
        # Within a group every pair was counted twice, and every object with itself once.
        alone = mass.T @ own
        diagonal = np.diag_indices(k)
        together[diagonal] = (together[diagonal] - alone) / 2
        observed[diagonal] = (observed[diagonal] - alone) / 2
        row_together[rows, groups] -= votes.weights * own
        row_observed[rows, groups] -= votes.weights * own
        return cls(groups, row_together, row_observed, together, observed)

    def likelihoods(self) -> Array:
        """Return the (k, k) log-likelihoods of the blocks of pairs."""
        return block_likelihood(self.together, self.observed)

    def likelihood(self) -> float:
        """Return the log-likelihood of all votes."""
        return float(np.tril(self.likelihoods()).sum())


def block_likelihood(together: Array, observed: Array) -> Array:
    """Return the log-likelihood of blocks of votes, each with the best probability."""
    share = np.divide(together, observed, out=np.zeros_like(together), where=observed > 0)
    share = np.clip(share, 0.0, 1.0)
    return xlogy(together, share) + xlog1py(np.maximum(observed - together, 0.0), -share)


def settled(votes: Votes, blocks: Blocks) -> Blocks:
    """Let all rows choose the group that makes their votes likeliest, as long as that pays."""
    k = len(blocks.together)
    likelihood = blocks.likelihood()
    twins = 0.5 * (votes.weights - 1.0) * votes.seen.sum(axis=1)
    for _ in range(ROUNDS):
        share = (blocks.together + 0.5) / (blocks.observed + 1.0)  # never 0 or 1
        apart = blocks.row_observed - blocks.row_together
        score = blocks.row_together @ np.log(share) + apart @ np.log1p(-share)
        score += twins[:, None] * np.log(np.diag(share))
        groups = np.argmax(score, axis=1)
        if np.array_equal(groups, blocks.groups):
            break
        moved = Blocks.of(votes, groups, k)
        now = moved.likelihood()
        if not now > likelihood:
            break
        blocks, likelihood = moved, now
    return blocks


def rearrangements(votes: Votes, blocks: Blocks) -> list[Groups]:
    """Return other groups, the most promising first, by what the likelihood of blocks says."""
    from coterie._kernels.peace_blocks import divide

    k = len(blocks.together)
    groups, together, observed = blocks.groups, blocks.together, blocks.observed
    likelihood = blocks.likelihoods()
    own = np.diag(likelihood)
    pairs = np.column_stack(np.tril_indices(k, -1))
    found: list[tuple[float, Groups]] = []

    def halves(members: Groups) -> tuple[float, Groups]:
        inside = votes.of_members(members)
        side = divide(*inside[:4], HALVING)
        return Blocks.of(inside, side, 2).likelihood(), side

    # Two clusters cut across: those between which there are most votes for "together".
    share = np.divide(together, observed, out=np.zeros_like(together), where=observed > 0)
    near = np.argsort(-share[pairs[:, 0], pairs[:, 1]], kind="stable")[:k]
    for u, v in pairs[near].tolist():
        members = np.flatnonzero((groups == u) | (groups == v))
        if len(members) < 2:
            continue
        after, side = halves(members)
        as_now = (groups[members] == v) == (side == 1)
        if as_now.all() or not as_now.any():
            continue
        other = groups.copy()
        other[members] = np.where(side == 1, v, u)
        found.append((after - (own[u] + own[v] + likelihood[u, v]), other))

    # One cluster in two groups, two clusters in one.
    divisions = []
    for cluster in range(k):
        members = np.flatnonzero(groups == cluster)
        if len(members) >= 2:
            after, side = halves(members)
            divisions.append((after - own[cluster], cluster, members[side == 1]))
    divisions.sort(key=lambda division: -division[0])
    one_together = together + np.diag(together)[:, None] + np.diag(together)
    one_observed = observed + np.diag(observed)[:, None] + np.diag(observed)
    loss = own[:, None] + own + likelihood - block_likelihood(one_together, one_observed)
    cheap = np.argsort(loss[pairs[:, 0], pairs[:, 1]], kind="stable")[: TRIES + k]
    for u, v in pairs[cheap].tolist():
        joined = np.where(groups == u, v, groups)
        for gain, cluster, leaving in divisions[: TRIES + 2]:
            if cluster not in (u, v):
                other = joined.copy()
                other[leaving] = u
                found.append((gain - loss[u, v], other))
    return [other for _, other in sorted(found, key=lambda candidate: -candidate[0])]


def rearranged(votes: Votes, blocks: Blocks) -> Blocks:
    """Return groups of at least the likelihood: rearranged until a few tries have not paid."""
    k = len(blocks.together)
    blocks = settled(votes, blocks)
    likelihood = blocks.likelihood()
    for _ in range(2 * k if k > 2 else 0):
        for groups in rearrangements(votes, blocks)[:TRIES]:
            other = settled(votes, Blocks.of(votes, groups, k))
            now = other.likelihood()
            if now > likelihood + 1e-6 * abs(likelihood):
                blocks, likelihood = other, now
                break
        else:
            break
    return blocks


def grown(Y: Array, others: Array, together: Array, apart: Array) -> Array:
    """Return the columns of Y after a step of expectation and maximisation.

    Their votes with each column of `others` are `together` and `apart`, (columns, others).
    """
    a = np.clip(Y.T @ others, 1e-9, 1.0 - 1e-9)
    Y = Y * (others @ (together / a).T + (1.0 - others) @ (apart / (1.0 - a)).T)
    return Y / Y.sum(axis=0)


def softened(blocks: Blocks) -> Array:
    """Return memberships: first one column per group, then each row's, given those."""
    k = len(blocks.together)
    # Half a vote more on either side, for blocks without a pair; inside a group both ends move.
    twice = 1.0 + np.eye(k)
    together = twice * (blocks.together + 0.5)
    apart = twice * (np.maximum(blocks.observed - blocks.together, 0.0) + 0.5)
    of_groups = np.full((k, k), 0.1 / k) + 0.9 * np.eye(k)
    for _ in range(GROWTHS[0]):
        before, of_groups = of_groups, grown(of_groups, of_groups, together, apart)
        if np.abs(of_groups - before).max() < 1e-4:
            break
    Y = of_groups[:, blocks.groups]
    votes = blocks.row_together + 1e-9
    against = np.maximum(blocks.row_observed - blocks.row_together, 0.0)
    for _ in range(GROWTHS[1]):
        Y = grown(Y, of_groups, votes, against)
    return np.ascontiguousarray((1.0 - SPREAD) * Y + SPREAD / k)


def coarse_optimum(votes: Votes, Y: Array) -> Array:
    """Return memberships near an optimum of the coarse model, found from those of Y."""
    blocks = Blocks.of(votes, np.argmax(Y, axis=0), len(Y))
    return softened(rearranged(votes, blocks))
