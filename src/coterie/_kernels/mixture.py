"""The steps of EM for a mixture of multinomials over label rows.

Rows are codes 0..k-1 in each column, -1 where a label is missing, and any code past the last for
a cluster that is not known. `offsets` says where the clusters of each partition start in tables.
"""

from __future__ import annotations

import numpy as np

from coterie._kernels._jit import parallel_njit, prange


@parallel_njit
def expect(rows, offsets, log_weights, log_shares):
    """Return (p, k) responsibilities and the log-likelihood of each row.

    `log_shares` is (K, k): how probable each cluster of each partition is in each component. A
    missing label, and a cluster that is not known, say nothing.
    """
    n_rows, n_components = rows.shape[0], log_weights.size
    resp = np.empty((n_rows, n_components))
    likelihood = np.empty(n_rows)
    for i in prange(n_rows):
        score = resp[i]
        score[:] = log_weights
        for e in range(rows.shape[1]):
            if rows[i, e] >= 0 and rows[i, e] < offsets[e + 1] - offsets[e]:
                label = offsets[e] + rows[i, e]
                for c in range(n_components):
                    score[c] += log_shares[label, c]
        top = score.max()
        total = 0.0
        for c in range(n_components):
            score[c] = np.exp(score[c] - top)
            total += score[c]
        for c in range(n_components):
            score[c] /= total
        likelihood[i] = top + np.log(total)
    return resp, likelihood


@parallel_njit
def tally(rows, offsets, counts, resp):
    """Return (K, k) and (L, k): the weight of each component's objects in clusters, in partitions.

    Both are summed in the order of the rows, so that the names of clusters change no last digit.
    Integers (`resp` in fixed point) give integers.
    """
    table = np.zeros((offsets[-1], resp.shape[1]), dtype=resp.dtype)
    totals = np.zeros((rows.shape[1], resp.shape[1]), dtype=resp.dtype)
    for e in prange(rows.shape[1]):
        for i in range(rows.shape[0]):
            if rows[i, e] >= 0:
                label = offsets[e] + rows[i, e]
                for c in range(resp.shape[1]):
                    table[label, c] += counts[i] * resp[i, c]
                    totals[e, c] += counts[i] * resp[i, c]
    return table, totals


@parallel_njit
def mean_disagreement(rows, row):
    """Return for each row the share of partitions that put it apart from another; 1 if none."""
    share = np.ones(rows.shape[0])
    for i in prange(rows.shape[0]):
        together, observed = 0, 0
        for e in range(rows.shape[1]):
            if rows[i, e] >= 0 and row[e] >= 0:
                observed += 1
                together += rows[i, e] == row[e]
        if observed > 0:
            share[i] = (observed - together) / observed
    return share
