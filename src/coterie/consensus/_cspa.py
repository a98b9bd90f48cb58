"""Cluster-based similarity partitioning, CSPA (Strehl and Ghosh, 2002)."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from coterie._about import STREHL, MethodWords
from coterie._graphs import (
    LabelGraph,
    as_seed,
    cut_graph,
    fill_empty_parts,
    similarity_cut,
)
from coterie._limits import check_fits
from coterie.blocks import LabelBlocks, Rule
from coterie.consensus._base import BaseConsensus
from coterie.consensus._in_blocks import cut_in_blocks
from coterie.ensemble import Ensemble, compact_codes

__all__ = ["CSPA"]

_BLOCK = 1 << 24  # counts made at a time
_BYTES_PER_ENTRY = 64  # of the graph, METIS's own copies included


def similarity_graph(ensemble: Ensemble) -> Any:
    """Return the graph of distinct label rows as a CSR matrix of integers, without a diagonal.

    The weight of two rows is the number of partitions that put them together, times the numbers
    of objects that have them: the cut of this graph is that of the graph of all objects.
    """
    from coterie._kernels.coassociation import count_block, count_dtype, missing_code

    rows, counts, _ = ensemble.patterns
    p = len(rows)
    columns = compact_codes(rows, int(ensemble.n_clusters.max()))
    missing = missing_code(columns)
    step = max(1, _BLOCK // p)
    n_entries = 0
    data, indices, ends = [], [], [np.zeros(1, dtype=np.int64)]
    for start in range(0, p, step):
        chosen = np.arange(start, min(p, start + step))
        together = np.empty((len(chosen), p), dtype=count_dtype(ensemble.n_partitions))
        count_block(columns, missing, chosen, together)
        together[np.arange(len(chosen)), chosen] = 0
        left, right = np.nonzero(together)
        n_entries += len(left)
        check_fits(
            _BYTES_PER_ENTRY * n_entries * p // int(chosen[-1] + 1),
            f"the graph of {p} distinct label rows",
            hint="Use partitioner='spectral', which needs no graph of pairs, or HBGF",
        )
        data.append(together[left, right].astype(np.int64) * counts[chosen[left]] * counts[right])
        indices.append(right)
        ends.append(n_entries - len(left) + np.cumsum(np.bincount(left, minlength=len(chosen))))
    matrix = (np.concatenate(data), np.concatenate(indices), np.concatenate(ends))
    return scipy.sparse.csr_matrix(matrix, shape=(p, p))


def cut_similarity(
    ensemble: Ensemble, n_clusters: int, *, imbalance: float, seed: int
) -> NDArray[np.int64]:
    """Cut the graph of distinct label rows by METIS, each as heavy as it has objects."""
    _, counts, inverse = ensemble.patterns
    labels = cut_graph(
        similarity_graph(ensemble),
        min(n_clusters, len(counts)),
        vertex_weights=counts,
        imbalance=imbalance,
        random_state=seed,
    )
    # With fewer distinct rows than clusters, equal objects must be put apart.
    return fill_empty_parts(labels, n_clusters, inverse=inverse)


class CSPA(BaseConsensus):
    """Cluster-based similarity partitioning: cut the graph of how often objects are together.

    The similarity of two objects is the number of partitions that put them together; the graph of
    all objects is cut into `n_clusters` parts [1]_.

    Parameters
    ----------
    partitioner : {'spectral', 'metis'}, default='spectral'
        How the graph is cut. 'spectral' allows clusters of any size and makes no matrix of pairs.
        'metis', as in the paper, makes parts of about the same size: use it only where clusters
        are of about the same size. It needs the package pymetis, and a graph of all pairs of
        distinct label rows that are together anywhere.
    imbalance : float, default=0.001
        With 'metis': by how much a part may be larger than the mean. In a graph of nearly all
        pairs an uneven cut has fewer edges, so METIS uses up what it is allowed.

    See Also
    --------
    coterie.HBGF : Cuts the smaller graph of objects and clusters.
    coterie.WSPA : The same with soft memberships.

    Notes
    -----
    A missing label is no vote: the partition puts the object together with no other, and the
    similarity is not divided by the number of partitions that saw both. (The spectral partition
    divides by degrees, which makes up for most of that.)

    The spectral partition is that of Ng, Jordan and Weiss [2]_ with the diagonal kept. Objects with
    the same labels are handled once, with their number as a weight, by METIS too. Where there are
    fewer distinct label rows than clusters, equal objects are put apart, the first of them first.

    METIS halves the graph again and again, and keeps the lightest of five cuts.

    References
    ----------
    .. [2] A. Y. Ng, M. I. Jordan and Y. Weiss, "On spectral clustering: analysis and an
       algorithm", NIPS 14, 2002.

    Examples
    --------
    >>> from coterie import CSPA
    >>> votes = [[0, 0, 0], [0, 0, 1], [0, 0, 0], [1, 1, 1], [1, None, 1], [1, 1, 1], [1, 1, 0]]
    >>> CSPA(n_clusters=2, random_state=0).fit(votes).labels_
    array([1, 1, 1, 0, 0, 0, 0])
    """

    about = MethodWords(
        title="Cluster-based similarity partitioning algorithm",
        does=(
            "Makes a graph of the objects, weighed by the share of partitions that put two of "
            "them together, and cuts it into k parts."
        ),
        use=(
            "Compact clusters of a known number. partitioner='metis' as in the paper makes parts "
            "of about the same size; 'spectral' does not mind sizes."
        ),
        cost=(
            "Spectral: time and memory about linear in n L, plus an eigenproblem of size K; the "
            "matrix is never made. METIS: the edges of the graph, up to p^2; checked against the "
            "limit."
        ),
        missing="No vote: the partition puts the object together with no other.",
        name=(
            "cluster-based similarity partitioning (CSPA; Strehl and Ghosh, 2002): the graph of "
            "the co-association is cut into clusters"
        ),
        references=(STREHL,),
    )

    finds_n_clusters = False

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        partitioner: Literal["spectral", "metis"] = "spectral",
        imbalance: float = 0.001,
        skip_first: bool = False,
        memory_limit: int | str | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.partitioner = partitioner
        self.imbalance = imbalance
        self.skip_first = skip_first
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit(self, ensemble: Ensemble) -> NDArray[np.int64]:
        seed = as_seed(self.random_state)
        if self.partitioner == "metis":
            return cut_similarity(ensemble, self.n_clusters, imbalance=self.imbalance, seed=seed)
        return similarity_cut(
            LabelGraph(ensemble), self.n_clusters, skip_first=self.skip_first, random_state=seed
        )

    def _fit_blocks(self, blocks: LabelBlocks) -> tuple[Rule, int]:
        return cut_in_blocks(self, blocks, product=True)
