"""The co-association matrix as a heat map: mean values of blocks of objects."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from coterie._kernels.coassociation import missing_code
from coterie._progress import track_progress
from coterie.ensemble import Ensemble

__all__ = ["Blocks", "cluster_borders", "mean_blocks"]

MAX_BLOCKS = 600
_DENSE_CELLS = 1 << 22  # of the table of runs and clusters; beyond, it is kept sparse


class Blocks(NamedTuple):
    """Mean co-association between runs of neighbouring objects."""

    edges: NDArray[np.int64]
    """(m + 1,): run b holds the objects from edges[b] to edges[b + 1] - 1 of the order."""
    shares: NDArray[np.float64]
    """(m, m): of the votes on the pairs of two runs, the share for together."""


def mean_blocks(
    ensemble: Ensemble,
    order: NDArray[np.int64],
    most: int = MAX_BLOCKS,
) -> Blocks:
    """Return the co-association matrix in this order, at most `most` rows and columns.

    With at most `most` objects this is the matrix itself. Otherwise neighbours share a row, and
    a value is the share of votes for together among the votes on the pairs between two rows:
    the mean of the matrix where no label is missing. Needs time and memory linear in the
    number of objects.
    """
    columns = ensemble.compact_codes
    missing = missing_code(columns)
    n = len(order)
    m = min(n, most)
    edges = np.linspace(0, n, m + 1).round().astype(np.int64)
    block = np.repeat(np.arange(m), np.diff(edges))
    together = np.zeros((m, m))
    both = np.zeros((m, m))
    with track_progress("heat map", ensemble.n_partitions) as done:
        for e, k in enumerate(ensemble.n_clusters):
            narrow = columns[e][order]
            seen = narrow != missing
            codes = narrow.astype(np.int64)
            if m * k <= _DENSE_CELLS:
                cells = np.bincount(block[seen] * k + codes[seen], minlength=m * k)
                table = cells.reshape(m, k).astype(np.float64)
                together += table @ table.T
            else:
                ones = np.ones(int(seen.sum()))
                sparse = csr_array((ones, (block[seen], codes[seen])), shape=(m, int(k)))
                together += (sparse @ sparse.T).toarray()
            present = np.bincount(block[seen], minlength=m).astype(np.float64)
            both += np.outer(present, present)
            done[0] += 1
    shares = np.divide(together, both, out=np.zeros_like(together), where=both > 0)
    return Blocks(edges, shares)


def cluster_borders(labels: NDArray[np.int64], order: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where in the order another cluster begins, with 0 and n at the ends."""
    starts = np.flatnonzero(np.diff(labels[order])) + 1
    return np.concatenate([[0], starts, [len(order)]])
