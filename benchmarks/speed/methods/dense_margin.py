"""MSTEClust's matrix of separations by NumPy, then SciPy's minimum spanning tree."""

import numpy as np
from benchmarks.speed.methods.groups import groups_and_validity, rounded_weights
from scipy.sparse.csgraph import minimum_spanning_tree

_ROWS = 64  # at a time, so that only the result is n x n


def margin_tree(labels, n_clusters):
    # SciPy takes 0 for "no edge": shift all weights by 1.
    tree = minimum_spanning_tree(separations(labels) + 1.0, overwrite=True)
    return rounded_weights(tree.data - 1.0)


def separations(labels):
    n = len(labels)
    groups, validity = groups_and_validity(labels.shape[1])
    columns = np.ascontiguousarray(labels.T)
    H = np.empty((n, n))
    for start in range(0, n, _ROWS):
        rows = slice(start, min(n, start + _ROWS))
        best = np.full((rows.stop - start, n), -1.0)
        for group in np.unique(groups):
            runs = np.flatnonzero(groups == group)
            apart = np.zeros(best.shape, dtype=np.uint8)
            weighed = np.zeros(best.shape)
            for e in runs:
                differ = columns[e, rows, None] != columns[e]
                apart += differ
                weighed += validity[e] * differ
            share = apart / len(runs)
            margin = validity[runs].mean() * np.abs(1.0 - 2.0 * share)
            better = margin > best + 1e-12
            best[better] = margin[better]
            H[rows][better] = weighed[better] / len(runs)
    return np.round(H, 12, out=H)
