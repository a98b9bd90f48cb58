"""What NMI and ARI of every two partitions are made of, a contingency table at a time."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie._kernels._jit import njit, parallel_njit, prange


class PairSums(NamedTuple):
    """Sums over the contingency tables of pairs of partitions, each (L, L) and filled for e < f.

    Objects that one of the two did not see are left out. Counts of pairs are of ordered ones.
    """

    objects: NDArray[np.int64]
    information: NDArray[np.float64]
    """n times the mutual information."""
    first_entropy: NDArray[np.float64]
    second_entropy: NDArray[np.float64]
    both: NDArray[np.int64]
    """Pairs together in both."""
    first_only: NDArray[np.int64]
    second_only: NDArray[np.int64]
    are_equal: NDArray[np.bool_]


def sum_pairs(
    columns: NDArray[Any], missing: Any, n_clusters: NDArray[np.int64], *, logs: bool
) -> PairSums:
    """Return the sums for every two of `columns`, (L, n) compact codes.

    Without `logs` information and entropies stay 0: they take most of the time.
    """
    shape = (len(columns), len(columns))
    counts = np.zeros((4, *shape), dtype=np.int64)
    entropies = np.zeros((3, *shape))
    are_equal = np.ones(shape, dtype=np.bool_)
    _sum_all(columns, missing, n_clusters, logs, counts, entropies, are_equal)
    objects, both, first_only, second_only = counts
    information, first, second = entropies
    return PairSums(objects, information, first, second, both, first_only, second_only, are_equal)


@parallel_njit
def _sum_all(columns, missing, n_clusters, logs, counts, entropies, are_equal):
    n_partitions = columns.shape[0]
    # Partition e has L - 1 - e partners: e and L - 1 - e together have the same number.
    for half in prange((n_partitions + 1) // 2):
        _sum_partners(half, columns, missing, n_clusters, logs, counts, entropies, are_equal)
        other = n_partitions - 1 - half
        if other != half:
            _sum_partners(other, columns, missing, n_clusters, logs, counts, entropies, are_equal)


@njit
def _sum_partners(e, columns, missing, n_clusters, logs, counts, entropies, are_equal):
    n_partitions, n = columns.shape
    widest = n_clusters.max()
    table = np.zeros(n_clusters[e] * widest, dtype=np.int64)
    rows = np.zeros(n_clusters[e], dtype=np.int64)
    cols = np.zeros(widest, dtype=np.int64)
    cells = np.empty(min(n, table.size), dtype=np.int64)
    first = columns[e]
    for f in range(e + 1, n_partitions):
        second, width = columns[f], n_clusters[f]
        rows[:] = 0
        cols[:] = 0
        n_cells, n_seen = 0, 0
        for i in range(n):
            if first[i] != missing and second[i] != missing:
                row, col = np.int64(first[i]), np.int64(second[i])
                place = row * width + col
                if table[place] == 0:
                    cells[n_cells] = place
                    n_cells += 1
                table[place] += 1
                rows[row] += 1
                cols[col] += 1
                n_seen += 1
        information, first_entropy, second_entropy = 0.0, 0.0, 0.0
        both, first_only, second_only = 0, 0, 0
        same = True
        for s in range(n_cells):
            c = table[cells[s]]
            a, b = rows[cells[s] // width], cols[cells[s] % width]
            table[cells[s]] = 0
            if logs:
                information += c * np.log((c / a) * (n_seen / b))
            both += c * (c - 1)
            first_only += c * (a - c)
            second_only += c * (b - c)
            same &= c == a and c == b
        for r in range(rows.size if logs else 0):
            if rows[r] > 0:
                first_entropy += rows[r] * np.log(n_seen / rows[r])
        for c in range(width if logs else 0):
            if cols[c] > 0:
                second_entropy += cols[c] * np.log(n_seen / cols[c])
        counts[0, e, f], counts[1, e, f] = n_seen, both
        counts[2, e, f], counts[3, e, f] = first_only, second_only
        entropies[0, e, f] = information
        entropies[1, e, f], entropies[2, e, f] = first_entropy, second_entropy
        are_equal[e, f] = same
