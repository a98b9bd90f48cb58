"""Local moves on LACA's likelihood, from tables of label counts.

For fixed parameters the likelihood is a constant plus the sum of scores over pairs in the same
cluster. The score of object i with cluster c is, summed over the partitions e that saw i,

    gain_e * (members of c with the label of i in e) + apart_e * (members of c that e saw),

which the tables give in O(L) for each cluster. Tables are indexed by label first and cluster
last, so that the inner loop runs over all clusters. A cluster may be empty.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie._kernels._jit import njit, parallel_njit, prange

_BLOCK = 16384  # objects that are scored at once, before any of them moves
_TASK = 256  # objects per task of a parallel loop


class Tables(NamedTuple):
    """The clusters of a model, and what a shared label scores."""

    gain: NDArray[np.float64]
    """(L,): score of a pair together in a partition, minus that of a pair apart."""
    apart: NDArray[np.float64]
    """(L,): score of a pair apart."""
    offsets: NDArray[np.int64]
    """(L + 1,): first row of each partition in `counts`."""
    counts: NDArray[np.float64]
    """(K, k): members of each cluster with each label."""
    seen: NDArray[np.float64]
    """(L, k): members of each cluster that each partition saw."""
    sizes: NDArray[np.int64]
    """(k,): members of each cluster."""


@njit
def cluster_scores(row, tables, all_apart, out):
    """Write the score of one label row with every cluster (sum over its members) to `out`.

    `all_apart` is `score_all_apart(tables)`: it saves work for rows without missing labels.
    """
    if (row >= 0).all():
        out[:] = all_apart
    else:
        out[:] = 0.0
        for e in range(row.size):
            if row[e] >= 0:
                for c in range(out.size):
                    out[c] += tables.apart[e] * tables.seen[e, c]
    for e in range(row.size):
        code, start = row[e], tables.offsets[e]
        # A code past the last is a cluster that no known object is in.
        if 0 <= code < tables.offsets[e + 1] - start:
            with_label = tables.counts[start + code]
            for c in range(out.size):
                out[c] += tables.gain[e] * with_label[c]


@njit
def score_all_apart(tables):
    """Return the score of each cluster with a row that every partition puts apart from it."""
    total = np.zeros(tables.sizes.size)
    for e in range(tables.apart.size):
        for c in range(total.size):
            total[c] += tables.apart[e] * tables.seen[e, c]
    return total


@njit
def _self_score(row, tables):
    """Return the score of an object with itself, which its own cluster must leave out."""
    score = 0.0
    for e in range(row.size):
        if row[e] >= 0:
            score += tables.gain[e] + tables.apart[e]
    return score


@njit
def _best_move(row, label, tables, all_apart, fixed, out):
    """Return (cluster, improvement) of the best move of one object; its own cluster if none.

    Cluster -1 is a new one. With `fixed`, no cluster is founded and none is left empty.
    """
    cluster_scores(row, tables, all_apart, out)
    here = out[label] - _self_score(row, tables)
    best, best_score = label, here
    is_alone = tables.sizes[label] == 1
    if not (is_alone and fixed):
        for c in range(out.size):
            if c != label and tables.sizes[c] > 0 and out[c] > best_score:
                best, best_score = c, out[c]
        if not fixed and not is_alone and best_score < 0.0:
            best, best_score = -1, 0.0
    return best, best_score - here


@parallel_njit
def _find_movers(labels, model, start, stop, tables, fixed):
    """Return which objects of a block would gain by a move, all scored on the same tables."""
    moves = np.empty(stop - start, dtype=np.bool_)
    all_apart = score_all_apart(tables)
    for task in prange((stop - start + _TASK - 1) // _TASK):
        out = np.empty(tables.sizes.size)
        for i in range(start + task * _TASK, min(stop, start + (task + 1) * _TASK)):
            moves[i - start] = _best_move(labels[i], model[i], tables, all_apart, fixed, out)[1] > 0
    return moves


@njit
def _move_one_by_one(labels, model, movers, tables, fixed, min_gain):
    """Move each of some objects to its best cluster, if that still gains more than `min_gain`.

    Stops early when a cluster is to be founded and no empty one is left. Returns (moves made,
    number of movers that were looked at).
    """
    n_moves = 0
    out = np.empty(tables.sizes.size)
    all_apart = score_all_apart(tables)
    for m in range(movers.size):
        i = movers[m]
        best, improvement = _best_move(labels[i], model[i], tables, all_apart, fixed, out)
        if improvement <= min_gain:
            continue
        if best < 0:
            best = np.argmin(tables.sizes)
            if tables.sizes[best] > 0:
                return n_moves, m
        old = model[i]
        for e in range(labels.shape[1]):
            code = labels[i, e]
            if code >= 0:
                tables.counts[tables.offsets[e] + code, old] -= 1.0
                tables.counts[tables.offsets[e] + code, best] += 1.0
                tables.seen[e, old] -= 1.0
                tables.seen[e, best] += 1.0
                all_apart[old] -= tables.apart[e]
                all_apart[best] += tables.apart[e]
        tables.sizes[old] -= 1
        tables.sizes[best] += 1
        model[i] = best
        n_moves += 1
    return n_moves, movers.size


def sweep(
    labels: NDArray[np.int32],
    model: NDArray[np.int64],
    tables: Tables,
    fixed: bool,
    min_gain: float,
) -> tuple[int, Tables]:
    """Offer every object its best move, in order; the likelihood never falls.

    Objects are scored a block at a time, in parallel; those that would gain by a move are scored
    again, one by one. `model` and `tables` are updated in place. Returns the number of moves, and
    the tables, which are new ones with more columns if many clusters were founded.
    """
    n_moves = 0
    for start in range(0, len(model), _BLOCK):
        stop = min(len(model), start + _BLOCK)
        movers = start + np.flatnonzero(_find_movers(labels, model, start, stop, tables, fixed))
        while len(movers):
            moved, n_done = _move_one_by_one(labels, model, movers, tables, fixed, min_gain)
            n_moves += moved
            movers = movers[n_done:]
            if len(movers):
                tables = _add_empty_clusters(tables)
    return n_moves, tables


def _add_empty_clusters(tables: Tables) -> Tables:
    """Return the tables with at least twice as many clusters."""
    k = len(tables.sizes)
    wider = [np.pad(table, [(0, 0), (0, max(8, k))]) for table in (tables.counts, tables.seen)]
    return tables._replace(
        counts=wider[0], seen=wider[1], sizes=np.pad(tables.sizes, (0, max(8, k)))
    )


@parallel_njit
def mean_score_with_own(labels, model, tables):
    """Return each object's mean score with the other members of its cluster; 0 if it is alone."""
    own = np.zeros(labels.shape[0])
    all_apart = score_all_apart(tables)
    for i in prange(labels.shape[0]):
        out = np.empty(tables.sizes.size)
        cluster_scores(labels[i], tables, all_apart, out)
        n_others = tables.sizes[model[i]] - 1
        if n_others > 0:
            own[i] = (out[model[i]] - _self_score(labels[i], tables)) / n_others
    return own


@parallel_njit
def best_sum_score(rows, tables):
    """Return for each label row the cluster with the highest sum of scores, ties to the first."""
    found = np.empty(rows.shape[0], dtype=np.int64)
    all_apart = score_all_apart(tables)
    for i in prange(rows.shape[0]):
        out = np.empty(tables.sizes.size)
        cluster_scores(rows[i], tables, all_apart, out)
        found[i] = np.argmax(out)
    return found


@parallel_njit
def best_mean_score(rows, tables):
    """Return for each label row the cluster with the highest mean score, ties to the first."""
    found = np.empty(rows.shape[0], dtype=np.int64)
    all_apart = score_all_apart(tables)
    for i in prange(rows.shape[0]):
        out = np.empty(tables.sizes.size)
        cluster_scores(rows[i], tables, all_apart, out)
        best = 0
        for c in range(1, out.size):
            if out[c] / tables.sizes[c] > out[best] / tables.sizes[best]:
                best = c
        found[i] = best
    return found
