"""Hierarchical merging of objects whose similarity is read from an ensemble.

A *leaf* is a distinct row of labels that `counts` objects have. The link of two clusters under
average linkage is the mean similarity over all pairs of objects across them. Everything here
keeps *sums* over pairs, not means: merging two clusters adds two sums, and for plain votes all
sums are integers. So links that are equal in exact arithmetic are equal in the computer, and
ties are decided by the stated rule, never by rounding.

Clusters are known by their smallest leaf. A link is better than another only if it is larger by
more than `tolerance` (0 where sums are integers).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie._kernels._jit import njit, parallel_njit, prange
from coterie._kernels.coassociation import (
    _TILE,
    count_together,
    seen_partitions,
    share_tile,
)

# What a pair of objects scores.
COUNTS = 0  # the number of partitions that put them together
SHARES = 1  # that number over the number of partitions that saw both
WEIGHTS = 2  # for each partition that saw both: the weight of the cluster they share, or for apart
POINTS = 3  # the same with whole numbers for weights, which is faster, and exact

# How the similarity of two clusters follows from their pairs of objects.
AVERAGE = 0
SINGLE = 1
COMPLETE = 2

_CHUNK = 16  # clusters per task
_MANY = 24  # with more leaves than this a cluster is compared by its table, not leaf by leaf


class Leaves(NamedTuple):
    """The things to be merged, and what two of them score."""

    kind: int
    """COUNTS, SHARES, WEIGHTS or POINTS."""
    columns: NDArray[Any]
    """(L, p) compact codes, one column per leaf."""
    missing: Any
    """The code that means missing, of the type of `columns`."""
    has_missing: bool
    n_codes: int
    """All other codes are below this."""
    offsets: NDArray[np.int64]
    """(L + 1,): where the clusters of each partition start in `together`."""
    together: NDArray[np.float64]
    """(K,): for WEIGHTS and POINTS, what a partition gives for a pair together in each cluster."""
    apart: NDArray[np.float64]
    """(L,): what each partition gives for a pair that it saw and puts apart."""
    points_together: NDArray[np.int32]
    """The same for POINTS; the largest possible score fits int32."""
    points_apart: NDArray[np.int32]
    """The same for POINTS."""
    counts: NDArray[np.int64]
    """(p,): how many objects each leaf stands for."""
    count_type: NDArray[Any]
    """An empty array of the type in which partitions are counted."""


# --- similarities of one leaf, one cluster ------------------------------------------------------
#
# Leaves are scored a tile at a time, so that what is added up stays in the first-level cache.


@njit
def _make_scratch(leaves):
    """Return the arrays that scoring works in: one set for each task."""
    n_partitions = leaves.columns.shape[0]
    return (
        np.empty(n_partitions, dtype=np.int64),
        np.empty((2, _TILE), dtype=leaves.count_type.dtype),
        np.empty(_TILE, dtype=np.int32),
        np.empty(_TILE),
        np.empty(_TILE),
    )


@njit
def _score_tile(leaves, i, n_seen, start, stop, scratch, out):
    """Write the score of leaf i with leaves start..stop-1 to the front of `out`.

    The sum over partitions runs in the same order for (i, j) and (j, i), so that the two come
    out equal to the last bit.
    """
    seen, counts, points, _, _ = scratch
    columns = leaves.columns
    if leaves.kind == COUNTS:
        count_together(columns, i, seen, n_seen, start, stop, counts[0])
        for j in range(stop - start):
            out[j] = counts[0, j]
    elif leaves.kind == SHARES:
        share_tile(leaves, i, seen, n_seen, start, stop, counts, out)
    elif leaves.kind == POINTS:
        _weigh(leaves, _points(leaves), i, seen, n_seen, start, stop, points)
        for j in range(stop - start):
            out[j] = points[j]
    else:
        _weigh(leaves, (leaves.together, leaves.apart), i, seen, n_seen, start, stop, out)


@njit
def _points(leaves):
    """Return the weights in whole numbers."""
    return leaves.points_together, leaves.points_apart


@njit
def _weigh(leaves, weights, i, seen, n_seen, start, stop, out):
    """Add up for leaves start..stop-1 the weights of the partitions of `seen`."""
    columns, missing, offsets = leaves.columns, leaves.missing, leaves.offsets
    together, apart = weights
    none = apart.dtype.type(0)
    target = out[: stop - start]
    if leaves.has_missing:
        target[:] = none
        for s in range(n_seen):
            e = seen[s]
            code, row = columns[e, i], columns[e, start:stop]
            same, other = together[offsets[e] + code], apart[e]
            for j in range(stop - start):
                target[j] += same if row[j] == code else (none if row[j] == missing else other)
        return
    # Everyone saw everything: what all say of a pair that is apart everywhere, and what each
    # partition that puts the pair together adds. Two partitions at a time, for speed.
    apart_everywhere = none
    for e in range(n_seen):
        apart_everywhere = apart.dtype.type(apart_everywhere + apart[e])
    target[:] = apart_everywhere
    e = 0
    while e + 2 <= n_seen:
        code_a, code_b = columns[e, i], columns[e + 1, i]
        row_a, row_b = columns[e, start:stop], columns[e + 1, start:stop]
        gain_a = apart.dtype.type(together[offsets[e] + code_a] - apart[e])
        gain_b = apart.dtype.type(together[offsets[e + 1] + code_b] - apart[e + 1])
        for j in range(stop - start):
            target[j] += (gain_a if row_a[j] == code_a else none) + (
                gain_b if row_b[j] == code_b else none
            )
        e += 2
    if e < n_seen:
        code, row = columns[e, i], columns[e, start:stop]
        gain = apart.dtype.type(together[offsets[e] + code] - apart[e])
        for j in range(stop - start):
            target[j] += gain if row[j] == code else none


@njit
def _sum_scores(leaves, head, after, cluster, scratch, sums):
    """Write to `sums` the sum of scores of one cluster with every cluster, over objects.

    The cluster is the list of leaves that starts at `head` and goes on by `after`; `cluster` is
    the cluster of each leaf.
    """
    seen, _, _, scores, total = scratch
    n_leaves = leaves.columns.shape[1]
    n_members = 0
    leaf = head
    while leaf >= 0:
        n_members += 1
        leaf = after[leaf]
    by_table = leaves.kind != SHARES and n_members > _MANY
    values = _label_values(leaves, head, after) if by_table else np.empty((0, 0))
    sums[:] = 0.0
    for start in range(0, n_leaves, _TILE):
        stop = min(n_leaves, start + _TILE)
        total[: stop - start] = 0.0
        if by_table:
            _look_up(leaves, values, start, stop, total)
        else:
            leaf = head
            while leaf >= 0:
                n_seen = seen_partitions(leaves.columns, leaf, leaves.missing, seen)
                _score_tile(leaves, leaf, n_seen, start, stop, scratch, scores)
                weight = np.float64(leaves.counts[leaf])
                for j in range(stop - start):
                    total[j] += weight * scores[j]
                leaf = after[leaf]
        for j in range(stop - start):
            sums[cluster[start + j]] += total[j] * leaves.counts[start + j]


@njit
def _label_values(leaves, head, after):
    """Return (L, codes): what an object with each label scores with a cluster, summed over it."""
    n_partitions = leaves.columns.shape[0]
    values = np.zeros((n_partitions, leaves.n_codes))
    for e in range(n_partitions):
        labels, value = leaves.columns[e], values[e]
        leaf = head
        while leaf >= 0:
            if labels[leaf] != leaves.missing:
                value[labels[leaf]] += leaves.counts[leaf]
            leaf = after[leaf]
        if leaves.kind != COUNTS:
            n_seen = value.sum()
            start, apart = leaves.offsets[e], leaves.apart[e]
            for code in range(leaves.offsets[e + 1] - start):
                together = leaves.together[start + code]
                value[code] = together * value[code] + apart * (n_seen - value[code])
    return values


@njit
def _look_up(leaves, values, start, stop, total):
    """Add the value of each label of leaves start..stop-1: quick where a cluster is large."""
    for e in range(values.shape[0]):
        labels, value = leaves.columns[e, start:stop], values[e]
        if leaves.has_missing:
            for j in range(stop - start):
                if labels[j] != leaves.missing:
                    total[j] += value[labels[j]]
        else:
            for j in range(stop - start):
                total[j] += value[labels[j]]


# --- rounds: all clusters find their nearest at once ---------------------------------------------


@parallel_njit
def nearest_leaves(leaves, tolerance, done):
    """Return for each leaf the nearest other one (ties: the smallest) and the link.

    `done` has a cell for each chunk, for the number of its leaves.

    All pairs of objects across two leaves score the same, so the link is the score itself.
    """
    n_leaves = leaves.columns.shape[1]
    nearest = np.empty(n_leaves, dtype=np.int64)
    links = np.empty(n_leaves)
    for chunk in prange((n_leaves + _CHUNK - 1) // _CHUNK):
        scratch = _make_scratch(leaves)
        seen, counts, points, scores, _ = scratch
        for i in range(chunk * _CHUNK, min(n_leaves, (chunk + 1) * _CHUNK)):
            n_seen = seen_partitions(leaves.columns, i, leaves.missing, seen)
            best, best_score = -1, -np.inf
            for start in range(0, n_leaves, _TILE):
                stop = min(n_leaves, start + _TILE)
                # In the type of the scores, whose maximum the compiler finds by vectors.
                if leaves.kind == COUNTS:
                    count_together(leaves.columns, i, seen, n_seen, start, stop, counts[0])
                    j, score = _first_best(counts[0], i - start, stop - start, 0.0)
                elif leaves.kind == POINTS:
                    _weigh(leaves, _points(leaves), i, seen, n_seen, start, stop, points)
                    j, score = _first_best(points, i - start, stop - start, 0.0)
                else:
                    _score_tile(leaves, i, n_seen, start, stop, scratch, scores)
                    j, score = _first_best(scores, i - start, stop - start, tolerance)
                if j >= 0 and (best < 0 or score > best_score + tolerance):
                    best, best_score = start + j, score
            nearest[i] = best
            links[i] = best_score
            done[chunk] += 1
    return nearest, links


@njit
def _first_best(scores, self, n, tolerance):
    """Return the first place, other than `self`, of the largest score, and that score."""
    left = scores[: min(max(self, 0), n)]
    right = scores[max(self + 1, 0) : n]
    best = -np.inf
    if left.size > 0:
        best = np.float64(left.max())
    if right.size > 0:
        best = max(best, np.float64(right.max()))
    for j in range(n):
        if j != self and scores[j] >= best - tolerance:
            return j, np.float64(scores[j])
    return -1, -np.inf


@parallel_njit
def nearest_clusters(leaves, cluster, heads, after, sizes, tolerance, done):
    """Return for each cluster the nearest other one (ties: the smallest) and the link.

    `done` has a cell for each chunk, for the number of its clusters.
    """
    n_clusters = heads.size
    nearest = np.empty(n_clusters, dtype=np.int64)
    links = np.empty(n_clusters)
    for chunk in prange((n_clusters + _CHUNK - 1) // _CHUNK):
        scratch = _make_scratch(leaves)
        sums = np.empty(n_clusters)
        for u in range(chunk * _CHUNK, min(n_clusters, (chunk + 1) * _CHUNK)):
            _sum_scores(leaves, heads[u], after, cluster, scratch, sums)
            best, best_link = -1, -np.inf
            for v in range(n_clusters):
                link = sums[v] / sizes[v]
                if v != u and (best < 0 or link > best_link + tolerance * sizes[u]):
                    best, best_link = v, link
            nearest[u] = best
            links[u] = sums[best] / (sizes[u] * sizes[best])
            done[chunk] += 1
    return nearest, links


@parallel_njit
def fill_triangle(leaves, cluster, heads, after, triangle, done):
    """Write the sum of scores of clusters u > v to ``triangle[u (u - 1) / 2 + v]``.

    `done` has a cell for each chunk, for the number of its clusters.
    """
    n_clusters = heads.size
    for chunk in prange((n_clusters + _CHUNK - 1) // _CHUNK):
        scratch = _make_scratch(leaves)
        sums = np.empty(n_clusters)
        for u in range(chunk * _CHUNK, min(n_clusters, (chunk + 1) * _CHUNK)):
            _sum_scores(leaves, heads[u], after, cluster, scratch, sums)
            start = u * (u - 1) // 2
            for v in range(u):
                triangle[start + v] = sums[v]
            done[chunk] += 1


def n_chunks(n: int) -> int:
    """Return in how many chunks the kernels for all clusters at once go over n of them."""
    return -(-n // _CHUNK)


# --- the nearest-neighbour chain -----------------------------------------------------------------


@njit
def merge_by_chain(
    leaves,
    cluster,
    heads,
    after,
    sizes,
    tolerance,
    triangle,
    done,
):
    """Merge all clusters into one by the nearest-neighbour chain (Murtagh, 1983).

    Average linkage is reducible: two clusters that are each other's nearest stay so until they
    are merged, whatever else is merged before. A chain from any cluster to its nearest, to the
    nearest of that one and so on ends in such a pair after links that only grow.

    Sums come from `triangle`, or where it is empty from the labels. `cluster`, `after`, `sizes`
    and `triangle` are used up. Returns (first, second, link) in the order of merging. What is
    left to do grows with the square of the clusters left, so the first cell of `done` gets the
    square of all less that.
    """
    n_clusters = heads.size
    use_triangle = triangle.size > 0
    scratch = _make_scratch(leaves)
    sums = np.empty(n_clusters)
    tails = np.empty(n_clusters, dtype=np.int64)
    for u in range(n_clusters):
        leaf = heads[u]
        while after[leaf] >= 0:
            leaf = after[leaf]
        tails[u] = leaf

    active = np.arange(n_clusters)
    n_active = n_clusters
    first = np.empty(n_clusters - 1, dtype=np.int64)
    second = np.empty(n_clusters - 1, dtype=np.int64)
    links = np.empty(n_clusters - 1)
    chain = np.empty(n_clusters, dtype=np.int64)
    length = 0
    n_merged = 0
    while n_active > 1:
        if length == 0:
            chain[0] = active[0]
            length = 1
        u = chain[length - 1]
        if use_triangle:
            _read_row(triangle, u, active, n_active, sums)
        else:
            _sum_scores(leaves, heads[u], after, cluster, scratch, sums)
        # The cluster before in the chain wins ties: the chain must end somewhere.
        best, best_link = -1, -np.inf
        if length > 1:
            best = chain[length - 2]
            best_link = sums[best] / sizes[best]
        for a in range(n_active):
            v = active[a]
            link = sums[v] / sizes[v]
            if v != u and (best < 0 or link > best_link + tolerance * sizes[u]):
                best, best_link = v, link
        if length == 1 or best != chain[length - 2]:
            chain[length] = best
            length += 1
            continue
        length -= 2
        keep, gone = min(u, best), max(u, best)
        first[n_merged] = keep
        second[n_merged] = gone
        links[n_merged] = sums[best] / (sizes[u] * sizes[best])
        n_merged += 1
        n_active = _without(active, n_active, gone)
        if use_triangle:
            _add_rows(triangle, keep, gone, active, n_active)
        else:
            leaf = heads[gone]
            while leaf >= 0:
                cluster[leaf] = keep
                leaf = after[leaf]
            after[tails[keep]] = heads[gone]
            tails[keep] = tails[gone]
        sizes[keep] += sizes[gone]
        done[0] = n_clusters * n_clusters - n_active * n_active
    return first, second, links


@njit
def _place(u, v):
    """Return where the pair stands in the triangle."""
    return u * (u - 1) // 2 + v if u > v else v * (v - 1) // 2 + u


@njit
def _read_row(triangle, u, active, n_active, out):
    start = u * (u - 1) // 2
    for a in range(n_active):
        v = active[a]
        if v < u:
            out[v] = triangle[start + v]
        elif v > u:
            out[v] = triangle[v * (v - 1) // 2 + u]


@njit
def _add_rows(triangle, keep, gone, active, n_active):
    for a in range(n_active):
        v = active[a]
        if v != keep:
            triangle[_place(keep, v)] += triangle[_place(gone, v)]


@njit
def _without(active, n_active, gone):
    """Remove `gone` from the sorted list; return the new length."""
    a = np.searchsorted(active[:n_active], gone)
    active[a : n_active - 1] = active[a + 1 : n_active]
    return n_active - 1


# --- greedy merging: the definition, for as many leaves as allow it ------------------------------


@njit
def merge_greedily(triangle, sizes, rule, tolerance):
    """Merge the best pair, ties by the smallest (u, v), until one cluster is left.

    `triangle` holds sums for AVERAGE, similarities for SINGLE and COMPLETE; it and `sizes` are
    used up. Each cluster u remembers its best partner v > u; after a merge only clusters that
    had lost theirs look again. Returns (first, second, link) in the order of merging.
    """
    n = sizes.size
    alive = np.ones(n, dtype=np.bool_)
    partner = np.empty(n, dtype=np.int64)
    best = np.empty(n)
    for u in range(n):
        _find_partner(triangle, sizes, rule, tolerance, alive, u, partner, best)
    first = np.empty(n - 1, dtype=np.int64)
    second = np.empty(n - 1, dtype=np.int64)
    links = np.empty(n - 1)
    for step in range(n - 1):
        u = -1
        for w in range(n):
            if alive[w] and partner[w] >= 0 and (u < 0 or best[w] > best[u] + tolerance):
                u = w
        v = partner[u]
        first[step], second[step], links[step] = u, v, best[u]
        alive[v] = False
        for w in range(n):
            if alive[w] and w != u:
                kept, lost = _place(u, w), _place(v, w)
                if rule == AVERAGE:
                    triangle[kept] += triangle[lost]
                elif rule == SINGLE:
                    triangle[kept] = max(triangle[kept], triangle[lost])
                else:
                    triangle[kept] = min(triangle[kept], triangle[lost])
        sizes[u] += sizes[v]
        for w in range(n):
            if not alive[w]:
                continue
            if w == u or partner[w] == u or partner[w] == v:
                _find_partner(triangle, sizes, rule, tolerance, alive, w, partner, best)
            elif w < u and partner[w] > u:
                # The merged cluster is no better than its parts were, but it may tie with the
                # partner of w, and it has the smaller name.
                link = _link(triangle, sizes, rule, w, u)
                if link >= best[w] - tolerance:
                    partner[w], best[w] = u, link
    return first, second, links


@njit
def _link(triangle, sizes, rule, u, v):
    value = np.float64(triangle[_place(u, v)])
    return value / (np.float64(sizes[u]) * np.float64(sizes[v])) if rule == AVERAGE else value


@njit
def _find_partner(triangle, sizes, rule, tolerance, alive, u, partner, best):
    partner[u], best[u] = -1, -np.inf
    for v in range(u + 1, sizes.size):
        if alive[v]:
            link = _link(triangle, sizes, rule, u, v)
            if partner[u] < 0 or link > best[u] + tolerance:
                partner[u], best[u] = v, link


# --- trees ---------------------------------------------------------------------------------------


@njit
def make_monotone(first, second, links, n_leaves):
    """Lower links, in place, that exceed one below them in the tree by a rounding error."""
    lowest = np.full(n_leaves, np.inf)
    for m in range(first.size):
        u, v = first[m], second[m]
        links[m] = min(links[m], lowest[u], lowest[v])
        lowest[u] = links[m]


@njit
def scipy_tree(first, second, heights, n_leaves):
    """Return SciPy's linkage matrix of merges (a cluster known by one leaf of it) in order."""
    tree = np.empty((first.size, 4))
    parent = np.arange(n_leaves)
    name = np.arange(n_leaves)
    size = np.ones(n_leaves)
    for m in range(first.size):
        u, v = _root(parent, first[m]), _root(parent, second[m])
        tree[m, 0], tree[m, 1] = min(name[u], name[v]), max(name[u], name[v])
        tree[m, 2], tree[m, 3] = heights[m], size[u] + size[v]
        parent[v] = u
        name[u] = n_leaves + m
        size[u] += size[v]
    return tree


@njit
def smallest_leaves(tree):
    """Return (first, second) of SciPy's linkage matrix: each cluster by its smallest leaf."""
    n = tree.shape[0] + 1
    smallest = np.empty(2 * n - 1, dtype=np.int64)
    smallest[:n] = np.arange(n)
    first = np.empty(n - 1, dtype=np.int64)
    second = np.empty(n - 1, dtype=np.int64)
    for m in range(n - 1):
        u, v = smallest[int(tree[m, 0])], smallest[int(tree[m, 1])]
        first[m], second[m] = min(u, v), max(u, v)
        smallest[n + m] = first[m]
    return first, second


@njit
def name_clusters(edges):
    """Return (first, second) of merges along edges: each cluster by its smallest leaf."""
    parent = np.arange(edges.shape[0] + 1)
    first = np.empty(edges.shape[0], dtype=np.int64)
    second = np.empty(edges.shape[0], dtype=np.int64)
    for m in range(edges.shape[0]):
        u, v = _root(parent, edges[m, 0]), _root(parent, edges[m, 1])
        first[m], second[m] = min(u, v), max(u, v)
        parent[second[m]] = first[m]
    return first, second


@njit
def cut_merges(first, second, n_merges, n_leaves):
    """Return a label per leaf after the first `n_merges` merges: the root of its cluster."""
    parent = np.arange(n_leaves)
    for m in range(n_merges):
        u, v = _root(parent, first[m]), _root(parent, second[m])
        parent[max(u, v)] = min(u, v)
    for leaf in range(n_leaves):
        parent[leaf] = _root(parent, leaf)
    return parent


@njit
def _root(parent, leaf):
    while parent[leaf] != leaf:
        parent[leaf] = parent[parent[leaf]]
        leaf = parent[leaf]
    return leaf
