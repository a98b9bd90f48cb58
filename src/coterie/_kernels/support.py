"""How much of an ensemble puts an object with each cluster of a consensus."""

from __future__ import annotations

import numpy as np

from coterie._kernels._jit import njit, parallel_njit, prange

_BLOCK = 256  # rows at a time


@njit
def tally(rows, labels, offsets, n_clusters):
    """Return (votes, seen): members of each consensus cluster in each cluster, and partition."""
    n, n_partitions = rows.shape
    votes = np.zeros((n_clusters, offsets[-1]), dtype=np.int64)
    seen = np.zeros((n_clusters, n_partitions), dtype=np.int64)
    for i in range(n):
        for e in range(n_partitions):
            if rows[i, e] >= 0:
                votes[labels[i], offsets[e] + rows[i, e]] += 1
                seen[labels[i], e] += 1
    return votes, seen


@njit
def _tally_row(row, offsets, votes, seen, members, together, cast):
    """Write the votes for together, and those cast, between a label row and every cluster.

    `votes` (K, k) and `seen` (L, k) have the clusters innermost, so that several of them go into
    one instruction. `members` (k,) is what all partitions saw of each cluster.
    """
    for c in range(together.size):
        together[c] = 0
        cast[c] = members[c]
    for e in range(row.size):
        if row[e] < 0:
            for c in range(together.size):
                cast[c] -= seen[e, c]
        # A code past the last is a cluster that no known object is in.
        elif row[e] < offsets[e + 1] - offsets[e]:
            place = offsets[e] + row[e]
            for c in range(together.size):
                together[c] += votes[place, c]


@parallel_njit
def shares_by_cluster(rows, offsets, votes, seen):
    """Return (m, k): of the votes between each row and each cluster, the share for together."""
    n, n_clusters = rows.shape[0], votes.shape[0]
    by_label, by_partition, members = votes.T.copy(), seen.T.copy(), seen.sum(axis=1)
    shares = np.zeros((n, n_clusters))
    for block in prange((n + _BLOCK - 1) // _BLOCK):
        together = np.empty(n_clusters, dtype=np.int64)
        cast = np.empty(n_clusters, dtype=np.int64)
        for i in range(block * _BLOCK, min(n, (block + 1) * _BLOCK)):
            _tally_row(rows[i], offsets, by_label, by_partition, members, together, cast)
            for c in range(n_clusters):
                if cast[c] > 0:
                    shares[i, c] = together[c] / cast[c]
    return shares


@parallel_njit
def own_and_best_other(rows, labels, sizes, offsets, votes, seen):
    """Return each object's share with its own cluster, itself left out, and the best other.

    An object that is alone in its cluster has the share -1 with it. Where no partition saw both
    the object and another of its cluster, its share is 0, as it is for an object that none saw
    at all. Where there is no other cluster, the best other is 0. `sizes` (k,) counts the objects
    of each cluster, also those that are not among `rows`.
    """
    n, n_clusters = rows.shape[0], votes.shape[0]
    by_label, by_partition, members = votes.T.copy(), seen.T.copy(), seen.sum(axis=1)
    own = np.zeros(n)
    other = np.zeros(n)
    for block in prange((n + _BLOCK - 1) // _BLOCK):
        together = np.empty(n_clusters, dtype=np.int64)
        cast = np.empty(n_clusters, dtype=np.int64)
        for i in range(block * _BLOCK, min(n, (block + 1) * _BLOCK)):
            n_seen = 0
            for e in range(rows.shape[1]):
                n_seen += rows[i, e] >= 0
            _tally_row(rows[i], offsets, by_label, by_partition, members, together, cast)
            for c in range(n_clusters):
                if c == labels[i]:
                    # Itself: one vote for together by each partition that saw it.
                    if cast[c] > n_seen:
                        own[i] = (together[c] - n_seen) / (cast[c] - n_seen)
                    elif sizes[c] == 1 and n_seen > 0:
                        own[i] = -1.0
                elif cast[c] > 0:
                    other[i] = max(other[i], together[c] / cast[c])
    return own, other
