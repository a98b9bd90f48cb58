"""Cutting hypergraphs into balanced parts with Mt-KaHyPar (Gottesbueren et al., 2021)."""

from __future__ import annotations

import os
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from coterie._memory import check_fits, memory_limit_bytes
from coterie._partition._kmeans import fill_empty_parts
from coterie._partition._multilevel import coarsen, cut_multilevel, refine
from coterie._partition._options import check_imbalance, heaviest_parts
from coterie._partition._spectral import spectral_hypergraph
from coterie._progress import stretch

if TYPE_CHECKING:
    from coterie._kernels.hypergraph import Hypergraph

__all__ = ["cut_hypergraph", "settled_spectral_cut"]

_MOST_PARTS = 100  # beyond, Mt-KaHyPar begins by itself: ours look at each part for every move
_BYTES_PER_PIN = 64  # of lists of numbers, and Mt-KaHyPar's own
# Where a spectral partition settles the cut: improving it changes its cut by no more than this
# share, and not because most hyperedges are in most parts anyway, so that no small move is of any
# use; and there is a balance to keep: else the lightest cut may be another, one large part and some
# that are tiny. Where more than half is cut, even our own cuts have little to go by.
_NEAR = 0.1
_MOST_CUT = 0.25
_MOSTLY_CUT = 0.5
_LARGEST_IMBALANCE = 0.2


def cut_hypergraph(
    graph: Hypergraph, n_parts: int, *, imbalance: float = 0.05, random_state: int = 0
) -> NDArray[np.int64]:
    """Return a part for each vertex: parts of about the same weight, few hyperedges cut.

    What is small is the sum, over hyperedges, of the number of parts each is in, less 1. All
    hyperedges weigh the same. The best of several cuts by `cut_multilevel` is improved by
    Mt-KaHyPar, with its deterministic preset: the result does not depend on the number of threads.
    To begin by itself, Mt-KaHyPar needs ten times as long. It does so with more than 100 parts,
    and where more than half of what can be cut is cut; then the better one is kept. With an
    `imbalance` above 0.2 a spectral partition is improved too.

    Parameters
    ----------
    graph : Hypergraph
        With its hyperedges in the order of their sizes.
    n_parts : int
        At most the number of vertices. None of the parts is empty.
    imbalance : float, default=0.05
        By how much a part may be heavier than the mean, if the weights allow it.
    random_state : int, default=0
        Seed.

    Returns
    -------
    labels : ndarray of int64, shape (n,)

    Raises
    ------
    ImportError
        If the package mtkahypar is not installed.
    """
    from coterie._kernels.hypergraph import cost

    labels = _only_cut(graph, n_parts, imbalance)
    if labels is not None:
        return labels
    seed = int(random_state) % 2**31
    if n_parts > _MOST_PARTS:
        return _fill(graph, _by_package(graph, None, n_parts, imbalance, seed), n_parts)
    heaviest = heaviest_parts(graph.weights, n_parts, imbalance)
    starts = [cut_multilevel(graph, heaviest, seed)]
    if imbalance > _LARGEST_IMBALANCE and _has_room(graph):
        starts.append(_spectral(graph, n_parts, seed))
    found = [_improve(graph, start, heaviest, imbalance, seed) for start in starts]
    if cost(graph, found[0], heaviest)[1] > _MOSTLY_CUT * _most_cut(graph, n_parts):
        found.append(_by_package(graph, None, n_parts, imbalance, seed))
    found = [_fill(graph, labels, n_parts) for labels in found]
    return min(found, key=lambda labels: cost(graph, labels, heaviest))


def settled_spectral_cut(
    graph: Hypergraph, n_parts: int, *, imbalance: float = 0.05, random_state: int = 0
) -> NDArray[np.int64] | None:
    """Return a spectral partition, improved by Mt-KaHyPar, if that settles the cut, else None.

    It does so where clusters are of about the same size: the partition is near to balance, its cut
    is small, and improving it changes little.

    Parameters
    ----------
    graph, n_parts, imbalance, random_state
        As for `cut_hypergraph`.
    """
    from coterie._kernels.hypergraph import cost

    labels = _only_cut(graph, n_parts, imbalance)
    if labels is not None:
        return labels
    if n_parts > _MOST_PARTS or imbalance > _LARGEST_IMBALANCE or not _has_room(graph):
        return None
    seed = int(random_state) % 2**31
    start = _spectral(graph, n_parts, seed)
    too_heavy, before = cost(graph, start, heaviest_parts(graph.weights, n_parts, 2 * imbalance))
    most = _MOST_CUT * _most_cut(graph, n_parts)
    if too_heavy > 0 or before > (1 + _NEAR) * most:
        return None
    heaviest = heaviest_parts(graph.weights, n_parts, imbalance)
    labels = _fill(graph, _improve(graph, start, heaviest, imbalance, seed), n_parts)
    too_heavy, after = cost(graph, labels, heaviest)
    settled = too_heavy == 0 and abs(after - before) <= _NEAR * before and after <= most
    return labels if settled else None


def _most_cut(graph: Hypergraph, n_parts: int) -> int:
    """Return the cut where every hyperedge is in as many parts as it can be."""
    sizes = np.diff(graph.ends)
    return int(np.minimum(sizes, n_parts).sum()) - len(sizes)


def _only_cut(graph: Hypergraph, n_parts: int, imbalance: float) -> NDArray[np.int64] | None:
    """Refuse what cannot be cut; return the partition if there is but one."""
    n = len(graph.weights)
    if not 1 <= n_parts <= n:
        raise ValueError(
            f"n_parts must be between 1 and the number of vertices ({n}); got {n_parts}."
        )
    check_imbalance(imbalance)
    _package()
    if n_parts == 1:
        return np.zeros(n, dtype=np.int64)
    return np.arange(n) if n_parts == n else None


def _has_room(graph: Hypergraph) -> bool:
    """Tell whether a spectral partition fits the memory limit."""
    size = min(len(graph.weights), len(graph.ends) - 1)
    return size > 0 and 24 * size**2 <= memory_limit_bytes()


def _spectral(graph: Hypergraph, n_parts: int, seed: int) -> NDArray[np.int64]:
    each = (np.ones(len(graph.edges)), graph.edges, graph.vertex_ends)
    is_in = scipy.sparse.csr_matrix(each, shape=(len(graph.weights), len(graph.ends) - 1))
    return spectral_hypergraph(is_in, n_parts, vertex_weights=graph.weights, random_state=seed)


def _improve(
    graph: Hypergraph,
    labels: NDArray[np.int64],
    heaviest: NDArray[np.int64],
    imbalance: float,
    seed: int,
) -> NDArray[np.int64]:
    """Return a partition that is at least as good.

    Mt-KaHyPar improves the parts of a few joined vertices, and those of the single ones follow.
    """
    from coterie._kernels.hypergraph import cost

    n_parts = len(heaviest)
    levels = coarsen(graph, n_parts, np.random.default_rng(seed), apart=labels)
    joined = _by_package(levels.graphs[-1], levels.apart, n_parts, imbalance, seed)
    improved = refine(levels, joined, heaviest)
    return min(labels, improved, key=lambda labels: cost(graph, labels, heaviest))


def _by_package(
    graph: Hypergraph,
    start: NDArray[np.int64] | None,
    n_parts: int,
    imbalance: float,
    seed: int,
) -> NDArray[np.int64]:
    """Return the cut of Mt-KaHyPar, from scratch or from a start."""
    check_fits(
        _BYTES_PER_PIN * len(graph.pins),
        f"the hypergraph of {len(graph.weights)} vertices with {len(graph.pins)} pins, for "
        "Mt-KaHyPar,",
        way_out="Use partitioner='spectral'",
    )
    package, started = _package(), _started()
    context = started.context_from_preset(package.PresetType.DETERMINISTIC)
    context.set_partitioning_parameters(n_parts, float(imbalance), package.Objective.KM1)
    context.logging = False
    pins = graph.pins.tolist()
    edges = [pins[a:b] for a, b in pairwise(graph.ends.tolist())]
    there = started.create_hypergraph(
        context, len(graph.weights), len(edges), edges, graph.weights.tolist(), [1] * len(edges)
    )
    with stretch("cutting the hypergraph (Mt-KaHyPar)"):
        package.set_seed(seed)
        if start is None:
            cut = there.partition(context)
        else:
            cut = there.create_partitioned_hypergraph(context, n_parts, start.tolist())
            cut.improve_partition(context, 1)
    return np.array(cut.get_partition(), dtype=np.int64)


def _fill(graph: Hypergraph, labels: NDArray[np.int64], n_parts: int) -> NDArray[np.int64]:
    """Return parts none of which is empty: such a one gets the vertex of fewest hyperedges.

    Mt-KaHyPar up to version 1.6 leaves parts empty, where single vertices weigh more than a part
    should or where it costs less; our own cuts do where there are few vertices.
    """
    n = len(labels)
    spare = np.empty(n)
    spare[np.lexsort((graph.weights, np.diff(graph.vertex_ends)))] = -np.arange(n)
    return fill_empty_parts(labels, spare, n_parts)


@cache
def _started() -> Any:
    """Return the library, started once: it keeps its threads until the process ends."""
    return _package().initialize(os.cpu_count() or 1, False)


def _package() -> Any:
    try:
        import mtkahypar
    except ImportError as error:
        raise ImportError(
            "partitioner='hypergraph' needs the package mtkahypar, which is not installed: "
            "pip install \"coterie[hypergraph]\", or use partitioner='spectral', which needs "
            "nothing."
        ) from error
    return mtkahypar
