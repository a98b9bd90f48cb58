"""Local moves on LACA's likelihood, from tables of label counts.

For fixed parameters the likelihood is a constant plus the sum of scores over pairs in the same
cluster. The score of object i with cluster c is, summed over the partitions e that saw i,

    gain_e * (members of c with the label of i in e) + apart_e * (members of c that e saw),

which the tables give in O(L) for each cluster. Tables are indexed by label first and cluster
last, so that the scores of all clusters are added up side by side.
"""

from __future__ import annotations

import numpy as np

from coterie._kernels._jit import njit, parallel_njit, prange

_BLOCK = 16384  # objects that are scored at once, before any of them moves


@njit
def cluster_scores(row, gain, apart, offsets, counts, seen, all_apart, out):
    """Write the score of one label row with every cluster (sum over its members) to `out`.

    `all_apart` is what each cluster would score if every partition saw the row and put it apart
    from all members; it saves work for rows without missing labels.
    """
    complete = True
    for e in range(row.size):
        if row[e] < 0:
            complete = False
    if complete:
        out[:] = all_apart
    else:
        out[:] = 0.0
        for e in range(row.size):
            if row[e] >= 0:
                for c in range(out.size):
                    out[c] += apart[e] * seen[e, c]
    for e in range(row.size):
        code = row[e]
        # A code past the last is a cluster that no known object is in.
        if 0 <= code < offsets[e + 1] - offsets[e]:
            with_label = counts[offsets[e] + code]
            for c in range(out.size):
                out[c] += gain[e] * with_label[c]


@njit
def score_all_apart(apart, seen, n_clusters):
    """Return what each cluster scores with a row that every partition puts apart from it."""
    total = np.zeros(n_clusters)
    for e in range(apart.size):
        for c in range(n_clusters):
            total[c] += apart[e] * seen[e, c]
    return total


@njit
def _self_score(row, gain, apart):
    """Return what an object scores with itself: to be left out of its own cluster."""
    score = 0.0
    for e in range(row.size):
        if row[e] >= 0:
            score += gain[e] + apart[e]
    return score


@njit
def _best_move(
    row,
    label,
    gain,
    apart,
    offsets,
    counts,
    seen,
    sizes,
    all_apart,
    n_clusters,
    may_leave,
    out,
):
    """Return (cluster, improvement) of the best move of one object; its own cluster if none.

    Cluster `n_clusters` is an empty one; `may_leave` says whether the object may found it, or
    leave its own cluster empty.
    """
    cluster_scores(
        row, gain, apart, offsets, counts, seen, all_apart[:n_clusters], out[:n_clusters]
    )
    here = out[label] - _self_score(row, gain, apart)
    best, best_score = label, here
    if sizes[label] > 1 or may_leave:
        for c in range(n_clusters):
            if c != label and sizes[c] > 0 and out[c] > best_score:
                best, best_score = c, out[c]
        if may_leave and sizes[label] > 1 and best_score < 0.0:
            best, best_score = n_clusters, 0.0
    return best, best_score - here


@parallel_njit
def _wanted_moves(
    labels, model, start, stop, gain, apart, offsets, counts, seen, sizes, n_clusters, may_leave
):
    """Return the best move of each object of a block, all scored on the same tables."""
    wanted = np.empty(stop - start, dtype=np.int64)
    n_tasks = (stop - start + 255) // 256
    all_apart = score_all_apart(apart, seen, n_clusters)
    for task in prange(n_tasks):
        out = np.empty(n_clusters)
        for i in range(start + task * 256, min(stop, start + (task + 1) * 256)):
            best, improvement = _best_move(
                labels[i],
                model[i],
                gain,
                apart,
                offsets,
                counts,
                seen,
                sizes,
                all_apart,
                n_clusters,
                may_leave,
                out,
            )
            wanted[i - start] = best if improvement > 0.0 else model[i]
    return wanted


@njit
def _apply_moves(
    labels,
    model,
    start,
    wanted,
    gain,
    apart,
    offsets,
    counts,
    seen,
    sizes,
    n_clusters,
    may_leave,
    least,
):
    """Make the moves of a block one by one, each looked at again on the tables as they are now.

    Stops early when the tables have no room for another cluster. Returns (moves made, sum of
    improvements, number of clusters, objects of the block that were done).
    """
    n_moves = 0
    improved = 0.0
    room = counts.shape[1]
    out = np.empty(room)
    all_apart = score_all_apart(apart, seen, room)
    for offset in range(wanted.size):
        i = start + offset
        if wanted[offset] == model[i]:
            continue
        best, improvement = _best_move(
            labels[i],
            model[i],
            gain,
            apart,
            offsets,
            counts,
            seen,
            sizes,
            all_apart,
            n_clusters,
            may_leave,
            out,
        )
        if improvement <= least:
            continue
        if best == n_clusters:
            if n_clusters == room:
                return n_moves, improved, n_clusters, offset
            n_clusters += 1
        old = model[i]
        for e in range(labels.shape[1]):
            code = labels[i, e]
            if code >= 0:
                counts[offsets[e] + code, old] -= 1.0
                counts[offsets[e] + code, best] += 1.0
                seen[e, old] -= 1.0
                seen[e, best] += 1.0
                all_apart[old] -= apart[e]
                all_apart[best] += apart[e]
        sizes[old] -= 1
        sizes[best] += 1
        model[i] = best
        n_moves += 1
        improved += improvement
    return n_moves, improved, n_clusters, wanted.size


def sweep(labels, model, gain, apart, offsets, counts, seen, sizes, n_clusters, may_leave, least):
    """Offer every object its best move, in order; the likelihood never falls.

    Objects are scored a block at a time, in parallel; only those that want to move are looked
    at again, one by one. `model`, `counts`, `seen` and `sizes` are updated, and returned larger
    when clusters were founded. Returns (moves, improvement, number of clusters, counts, seen,
    sizes).
    """
    n_moves, improvement = 0, 0.0
    start = 0
    while start < len(model):
        stop = min(len(model), start + _BLOCK)
        tables = (gain, apart, offsets, counts, seen, sizes)
        wanted = _wanted_moves(labels, model, start, stop, *tables, n_clusters, may_leave)
        moves, improved, n_clusters, done = _apply_moves(
            labels, model, start, wanted, *tables, n_clusters, may_leave, least
        )
        n_moves += moves
        improvement += improved
        start += done
        if start < stop:  # no room left for another cluster
            extra = max(8, n_clusters)
            counts = np.concatenate([counts, np.zeros((len(counts), extra))], axis=1)
            seen = np.concatenate([seen, np.zeros((len(seen), extra))], axis=1)
            sizes = np.concatenate([sizes, np.zeros(extra, dtype=sizes.dtype)])
    return n_moves, improvement, n_clusters, counts, seen, sizes


@parallel_njit
def own_and_best_other_score(labels, model, gain, apart, offsets, counts, seen, sizes):
    """Return each object's mean score with the rest of its cluster and with the best other one.

    Alone, or with no other cluster: 0, the score at which nothing speaks for or against.
    """
    n = labels.shape[0]
    own = np.zeros(n)
    other = np.zeros(n)
    all_apart = score_all_apart(apart, seen, sizes.size)
    for i in prange(n):
        out = np.empty(sizes.size)
        cluster_scores(labels[i], gain, apart, offsets, counts, seen, all_apart, out)
        best = -np.inf
        for c in range(sizes.size):
            if c != model[i]:
                best = max(best, out[c] / sizes[c])
        if best > -np.inf:
            other[i] = best
        if sizes[model[i]] > 1:
            own[i] = (out[model[i]] - _self_score(labels[i], gain, apart)) / (sizes[model[i]] - 1)
    return own, other


@parallel_njit
def best_mean_score(rows, gain, apart, offsets, counts, seen, sizes):
    """Return for each label row the cluster with the highest mean score, ties to the first."""
    found = np.empty(rows.shape[0], dtype=np.int64)
    all_apart = score_all_apart(apart, seen, sizes.size)
    for i in prange(rows.shape[0]):
        out = np.empty(sizes.size)
        cluster_scores(rows[i], gain, apart, offsets, counts, seen, all_apart, out)
        best = 0
        for c in range(1, sizes.size):
            if out[c] / sizes[c] > out[best] / sizes[best]:
                best = c
        found[i] = best
    return found
