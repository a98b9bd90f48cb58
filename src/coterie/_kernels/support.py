"""How much of an ensemble puts an object with each cluster of a consensus."""

from __future__ import annotations

import numpy as np

from coterie._kernels._jit import njit, parallel_njit, prange


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
def _tally(row, offsets, cluster_votes, cluster_seen):
    """Return (votes for together, votes cast) between a label row and one consensus cluster."""
    together, cast = 0, 0
    for e in range(row.size):
        if row[e] >= 0:
            cast += cluster_seen[e]
            # A code past the last is a cluster that no known object is in.
            if row[e] < offsets[e + 1] - offsets[e]:
                together += cluster_votes[offsets[e] + row[e]]
    return together, cast


@parallel_njit
def shares_by_cluster(rows, offsets, votes, seen):
    """Return (m, k): of the votes between each row and each cluster, the share for together."""
    shares = np.zeros((rows.shape[0], votes.shape[0]))
    for i in prange(rows.shape[0]):
        for c in range(votes.shape[0]):
            together, cast = _tally(rows[i], offsets, votes[c], seen[c])
            if cast > 0:
                shares[i, c] = together / cast
    return shares


@parallel_njit
def own_and_best_other(rows, labels, offsets, votes, seen):
    """Return each object's share with its own cluster, itself left out, and the best other.

    An object that is alone in its cluster has the share -1 with it. Where no partition saw both
    the object and another of its cluster, its share is 0, as it is for an object that none saw
    at all. Where there is no other cluster, the best other is 0.
    """
    n = rows.shape[0]
    sizes = np.zeros(votes.shape[0], dtype=np.int64)
    for i in range(n):
        sizes[labels[i]] += 1
    own = np.zeros(n)
    other = np.zeros(n)
    for i in prange(n):
        n_seen = 0
        for e in range(rows.shape[1]):
            n_seen += rows[i, e] >= 0
        for c in range(votes.shape[0]):
            together, cast = _tally(rows[i], offsets, votes[c], seen[c])
            if c == labels[i]:
                # Itself: one vote for together by each partition that saw it.
                if cast > n_seen:
                    own[i] = (together - n_seen) / (cast - n_seen)
                elif sizes[c] == 1 and n_seen > 0:
                    own[i] = -1.0
            elif cast > 0:
                other[i] = max(other[i], together / cast)
    return own, other
