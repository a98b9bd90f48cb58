"""The graph of the clusters of all partitions, whose edges are Jaccard indices.

Memory beside the result is of the size of the label rows and of one row of the graph for each
thread, never of all pairs of clusters.
"""

from __future__ import annotations

import numpy as np

from coterie._kernels._jit import njit, parallel_njit, prange

_FEW = 8  # the later clusters that a cluster meets are listed if it can meet but one in so many


@parallel_njit
def fill_strips(codes, counts, offsets, first, starts, indices, shared, lengths, done):
    """Fill the strips of some partitions: the objects that each cluster shares with later ones.

    `codes` (p, L) are the clusters of each label row out of all K, K itself where a label is
    missing, and `counts` the objects that have it. Strip s is that of partition first + s: its
    entries go to `indices` and `shared` from starts[s] on, cluster after cluster, and
    ``lengths[c]`` gets their number for cluster c. ``done[s]`` is set when it is done.
    """
    n_strips = starts.size
    # The later a partition, the less there is to do: one from each end, for every thread as much.
    for half in prange((n_strips + 1) // 2):
        _fill_strip(first + half, codes, counts, offsets, starts[half], indices, shared, lengths)
        done[half] = 1
        other = n_strips - 1 - half
        if other != half:
            _fill_strip(
                first + other, codes, counts, offsets, starts[other], indices, shared, lengths
            )
            done[other] = 1


@njit
def _fill_strip(e, codes, counts, offsets, start, indices, shared, lengths):
    n_partitions, n_all = codes.shape[1], offsets[-1]
    own, base = offsets[e], np.uint32(offsets[e + 1])
    members, ends = _members(codes[:, e], own, offsets[e + 1] - own)
    # The last cell is that of missing labels, which saves a branch in the inner loop.
    width = n_all - offsets[e + 1]
    row = np.zeros(width + 1, dtype=np.int64)
    met = np.empty(width // _FEW + 1, dtype=np.int64)
    at = start
    for c in range(ends.size - 1):
        before = at
        if (ends[c + 1] - ends[c]) * (n_partitions - e - 1) < met.size:
            n_met = 0
            for m in range(ends[c], ends[c + 1]):
                for f in range(e + 1, n_partitions):
                    d = codes[members[m], f] - base
                    if row[d] == 0:
                        met[n_met] = d
                        n_met += 1
                    row[d] += counts[members[m]]
            met[:n_met].sort()
            for t in range(n_met):
                if met[t] < width:
                    indices[at], shared[at] = base + met[t], row[met[t]]
                    at += 1
                row[met[t]] = 0
        else:
            for m in range(ends[c], ends[c + 1]):
                count = counts[members[m]]
                for f in range(e + 1, n_partitions):
                    row[codes[members[m], f] - base] += count
            for d in range(width):
                if row[d] > 0:
                    indices[at], shared[at] = base + d, row[d]
                    at += 1
                    row[d] = 0
            row[width] = 0
        lengths[own + c] = at - before


@njit
def _members(codes, own, n_clusters):
    """Return the rows of the clusters own..own + n_clusters - 1, and where those of each end."""
    ends = np.zeros(n_clusters + 1, dtype=np.int64)
    for i in range(codes.size):
        c = np.int64(codes[i]) - own
        if c < n_clusters:  # not missing
            ends[c + 1] += 1
    for c in range(n_clusters):
        ends[c + 1] += ends[c]
    place = ends[:-1].copy()
    members = np.empty(ends[-1], dtype=np.int64)
    for i in range(codes.size):
        c = np.int64(codes[i]) - own
        if c < n_clusters:
            members[place[c]] = i
            place[c] += 1
    return members, ends


@njit
def mirrored_jaccard(ends, indices, shared, sizes):
    """Return (ends, indices, values): Jaccard indices in both directions, 1 on the diagonal."""
    n = sizes.size
    lengths = np.zeros(n + 1, dtype=np.int64)
    for c in range(n):
        lengths[c + 1] += ends[c + 1] - ends[c] + 1
        for at in range(ends[c], ends[c + 1]):
            lengths[indices[at] + 1] += 1
    both = np.cumsum(lengths)
    places, values = np.empty(both[-1], dtype=np.int32), np.empty(both[-1])
    # Rows are taken in order, so that in each row the clusters before it come first, in order.
    following = both[:-1].copy()
    for c in range(n):
        places[following[c]] = c
        values[following[c]] = 1.0
        following[c] += 1
        for at in range(ends[c], ends[c + 1]):
            d = indices[at]
            value = shared[at] / (sizes[c] + sizes[d] - shared[at])
            places[following[c]], values[following[c]] = d, value
            places[following[d]], values[following[d]] = c, value
            following[c] += 1
            following[d] += 1
    return both, places, values
