"""The graph of the clusters of all partitions, whose edges are Jaccard indices, and its votes.

Memory beside the graph is of the size of the label rows, and for each thread of one row of the
graph or of a small table, never of all pairs of clusters.
"""

from __future__ import annotations

import numpy as np

from coterie._kernels._jit import njit, parallel_njit, prange

_TABLE = 1 << 17  # numbers in a table of all that a partition's clusters may share: 1 MB a thread
_VOTING_BLOCKS = 8


@parallel_njit
def rank_rows(rows, offsets, rank, missing):
    """Return (p, L): the ranks of the clusters that rows are in, `missing` where in none."""
    codes = np.empty(rows.shape, dtype=np.uint32)
    for i in prange(rows.shape[0]):
        for e in range(rows.shape[1]):
            codes[i, e] = rank[offsets[e] + rows[i, e]] if rows[i, e] >= 0 else missing
    return codes


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
    n_clusters, width = offsets[e + 1] - offsets[e], offsets[-1] - offsets[e + 1]
    if n_clusters * (width + 1) <= _TABLE:
        _fill_by_table(e, codes, counts, offsets, start, indices, shared, lengths)
    else:
        _fill_by_lists(e, codes, counts, offsets, start, indices, shared, lengths)


@njit
def _fill_by_table(e, codes, counts, offsets, start, indices, shared, lengths):
    own, base = offsets[e], np.uint32(offsets[e + 1])
    width = offsets[-1] - offsets[e + 1]
    # The last column is that of missing labels, which saves a branch in the inner loop.
    table = np.zeros((offsets[e + 1] - own, width + 1), dtype=np.int64)
    for i in range(codes.shape[0]):
        c = np.int64(codes[i, e]) - own
        if c < table.shape[0]:  # not missing
            row, count = table[c], counts[i]
            for f in range(e + 1, codes.shape[1]):
                row[codes[i, f] - base] += count
    at = start
    for c in range(table.shape[0]):
        before = at
        for d in range(width):
            if table[c, d] > 0:
                indices[at], shared[at] = base + d, table[c, d]
                at += 1
        lengths[own + c] = at - before


@njit
def _fill_by_lists(e, codes, counts, offsets, start, indices, shared, lengths):
    """Do the same with one row at a time, and a list of what the cluster has met."""
    own, base = offsets[e], np.uint32(offsets[e + 1])
    width = offsets[-1] - offsets[e + 1]
    members, ends = _members(codes[:, e], own, offsets[e + 1] - own)
    row = np.zeros(width + 1, dtype=np.int64)
    met = np.empty(width + 1, dtype=np.int64)
    at = start
    for c in range(ends.size - 1):
        before, n_met = at, 0
        for m in range(ends[c], ends[c + 1]):
            for f in range(e + 1, codes.shape[1]):
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


def count_votes(rows, counts, offsets, parts, n_parts):
    """Return (n_parts, K + 1): the objects that each part wins, in each cluster and, last, in all.

    A row goes to the part of whose clusters it is in the largest share, the first of equal ones.
    Takes eight times the result.
    """
    tables = np.zeros((_VOTING_BLOCKS, n_parts, offsets[-1] + 1), dtype=np.int64)
    _count_votes_of_blocks(rows, counts, offsets, parts, np.bincount(parts), tables)
    return tables.sum(axis=0)


@njit
def _count_votes(rows, counts, offsets, parts, sizes, start, stop, table):
    n_parts, n_all = sizes.size, offsets[-1]
    held = np.empty(n_parts, dtype=np.int64)
    for i in range(start, stop):
        held[:] = 0
        for e in range(rows.shape[1]):
            if rows[i, e] >= 0:
                held[parts[offsets[e] + rows[i, e]]] += 1
        best = 0
        for part in range(1, n_parts):
            if held[part] * sizes[best] > held[best] * sizes[part]:
                best = part
        for e in range(rows.shape[1]):
            if rows[i, e] >= 0:
                table[best, offsets[e] + rows[i, e]] += counts[i]
        table[best, n_all] += counts[i]


@parallel_njit
def _count_votes_of_blocks(rows, counts, offsets, parts, sizes, tables):
    n_blocks, n = tables.shape[0], rows.shape[0]
    for block in prange(n_blocks):
        start, stop = block * n // n_blocks, (block + 1) * n // n_blocks
        _count_votes(rows, counts, offsets, parts, sizes, start, stop, tables[block])
