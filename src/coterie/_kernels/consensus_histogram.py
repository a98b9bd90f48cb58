"""The distribution of co-association over all pairs, without the matrix of pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie._kernels._jit import parallel_njit, prange
from coterie._kernels.coassociation import (
    count_dtype,
    count_observed,
    count_together,
    missing_code,
    seen_partitions,
)

_TILE = 4096


def share_histogram(columns: NDArray[Any], n_bins: int) -> NDArray[np.int64]:
    """Return (2 n_bins + 1,): how many pairs i < j have a co-association of each size.

    Entry 2 b counts co-associations of exactly b / n_bins, entry 2 b + 1 those between b / n_bins
    and (b + 1) / n_bins. Pairs that no partition saw together are left out. `columns` are (L, n)
    compact codes; memory is one tile per thread.
    """
    scratch = np.empty(0, dtype=count_dtype(len(columns)))
    return _tally(columns, missing_code(columns), n_bins, scratch)


@parallel_njit
def _tally(columns, missing, n_bins, scratch):
    n_partitions, n = columns.shape
    n_strips = min(n, 64)
    counts = np.zeros((n_strips, 2 * n_bins + 1), dtype=np.int64)
    for strip in prange(n_strips):
        seen = np.empty(n_partitions, dtype=np.int64)
        together = np.empty(_TILE, dtype=scratch.dtype)
        observed = np.empty(_TILE, dtype=scratch.dtype)
        for i in range(strip, n, n_strips):
            n_seen = seen_partitions(columns, i, missing, seen)
            for start in range(i + 1, n, _TILE):
                stop = min(n, start + _TILE)
                count_together(columns, i, seen, n_seen, start, stop, together)
                count_observed(columns, missing, seen, n_seen, start, stop, observed)
                for j in range(stop - start):
                    if observed[j] > 0:
                        scaled, both = n_bins * np.int64(together[j]), np.int64(observed[j])
                        inside = 1 if scaled % both > 0 else 0
                        counts[strip, 2 * (scaled // both) + inside] += 1
    return counts.sum(axis=0)
