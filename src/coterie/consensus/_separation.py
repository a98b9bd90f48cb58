"""Separations of a weighted ensemble, their spanning tree, and the number of clusters from it.

What MSTEClust and PWEC share: they differ in the weights alone.
"""

from __future__ import annotations

import warnings
from functools import partial
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie._checks import check_integer
from coterie._labels import first_appearance
from coterie._progress import track_progress
from coterie.ensemble import Ensemble, compact_codes

__all__ = [
    "Kind",
    "SpanningTree",
    "choose_n_clusters",
    "collect_runs",
    "cut_criterion",
    "cut_tree",
    "group_names",
    "nearest_cluster",
    "spanning_tree",
]

Kind = Literal["margin", "printed", "variance", "fixed"]
"""How runs are weighed; see `coterie._kernels.separation`."""

MAX_CLUSTERS = partial(check_integer, at_least=2)
"""The rule of `max_clusters`: 2 is the smallest number tried."""

_TIE = 1e-12  # values of the criterion that differ by less are equal
_BLOCK = 1 << 26  # labels that are looked at together in prediction


class SpanningTree(NamedTuple):
    """A minimum spanning tree over all objects, and sums over all pairs of objects."""

    edges: NDArray[np.int64]
    """(n - 1, 2): i < j, in the order of (weight, i, j)."""
    weights: NDArray[np.float64]
    """(n - 1,)"""
    wins: NDArray[np.int64]
    """(M,): for how many pairs each group was the best; only for 'margin' and 'printed'."""
    margin: float
    """The sum of their expected margins."""

    @property
    def table(self) -> NDArray[np.float64]:
        """(n - 1, 3): i, j, weight."""
        return np.column_stack([self.edges.astype(np.float64), self.weights])


def group_names(ensemble: Ensemble) -> NDArray[Any]:
    """Return the names of the groups, sorted: the order in which ties are broken."""
    return np.unique(ensemble.groups)


def collect_runs(  # type: ignore[no-untyped-def]
    ensemble: Ensemble,
    kind: Kind,
    labels: NDArray[np.int32],
    *,
    weights: NDArray[np.float64] | None = None,
):
    """Return the `Runs` of the kernels for rows of labels, group after group.

    Parameters
    ----------
    ensemble : Ensemble
        Its groups and its validity are used.
    kind : {'margin', 'printed', 'variance', 'fixed'}
        How the runs are weighed.
    labels : ndarray of int32, shape (any, n_partitions)
        Codes of `ensemble`, or of new rows in its words.
    weights : ndarray of shape (n_partitions,), optional
        For 'fixed'.
    """
    from coterie._kernels import separation as kernels
    from coterie._kernels.coassociation import count_dtype, missing_code

    names, group = np.unique(ensemble.groups, return_inverse=True)
    order = np.argsort(group, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(group))])
    quality = (ensemble.validity if weights is None else weights)[order]
    least = np.full((len(names), int(np.diff(starts).max()) + 1), np.inf)
    mean_quality = np.empty(len(names))
    for m, (start, stop) in enumerate(pairwise(starts)):
        mean_quality[m] = quality[start:stop].mean()
        least[m, : stop - start + 1] = np.cumsum([0.0, *np.sort(quality[start:stop])])
    # A new row may have one code more: a cluster that no known object is in.
    columns = compact_codes(labels[:, order], int(ensemble.n_clusters.max()) + 1)
    return kernels.Runs(
        kind=("margin", "printed", "variance", "fixed").index(kind),
        columns=columns,
        rows=np.ascontiguousarray(columns.T),
        missing=missing_code(columns),
        has_missing=bool(labels.min() < 0),
        starts=starts,
        quality=quality,
        mean_quality=mean_quality,
        least=least,
        count_type=np.empty(0, dtype=count_dtype(ensemble.n_partitions)),
    )


def spanning_tree(
    ensemble: Ensemble, kind: Kind, *, weights: NDArray[np.float64] | None = None
) -> SpanningTree:
    """Return the minimum spanning tree that Kruskal's algorithm finds.

    Edges are compared by (separation, i, j). Identical objects have separation 0 and the same
    separations from all others. So the tree is made of the distinct rows, and the other objects
    with the same labels are added where Kruskal's algorithm would add them: at the smallest
    object from which their separation is 0. Objects that no run saw have separation 1 from all.
    """
    from coterie._kernels.separation import tree_of_separations

    labels, counts, inverse = ensemble.patterns
    runs = collect_runs(ensemble, kind, labels, weights=weights)
    with track_progress("spanning tree", len(counts)) as done:
        edges, edge_weights, wins, margin = tree_of_separations(runs, counts, done)

    first = first_appearance(inverse, len(counts))
    twins = np.flatnonzero(first[inverse] != np.arange(len(inverse)))
    anchor = np.arange(len(counts))
    touching = edges[edge_weights == 0.0]
    np.minimum.at(anchor, touching[:, 1], touching[:, 0])
    unseen = np.asarray((labels < 0).all(axis=1))
    anchor[unseen] = 0
    edges = np.vstack([first[edges], np.column_stack([first[anchor[inverse[twins]]], twins])])
    edge_weights = np.concatenate([edge_weights, unseen[inverse[twins]].astype(np.float64)])

    order = np.lexsort((edges[:, 1], edges[:, 0], edge_weights))
    return SpanningTree(edges[order], edge_weights[order], wins, float(margin))


def cut_criterion(tree: SpanningTree, max_clusters: int) -> NDArray[np.float64]:
    """Return log F (9) for k = 2, 3, ..., at most `max_clusters` and the number of objects.

    log F = log k + sum_c (w_c / w_T) log N_c, where N_c is the size of cluster c and w_c the
    weight of the edges kept in it; just log k if the whole tree weighs nothing.
    """
    from coterie._kernels.separation import weigh_cuts

    k = np.arange(2, min(max_clusters, len(tree.weights) + 1) + 1)
    total = float(tree.weights.sum())
    inside = weigh_cuts(tree.edges, tree.weights)[k - 1]
    return np.log(k) + (inside / total if total > 0 else 0.0)


def choose_n_clusters(tree: SpanningTree, criterion: NDArray[np.float64]) -> int:
    """Return the k of the smallest criterion, the smallest of equal ones."""
    if len(criterion) == 0:  # a single object
        return 1
    if not tree.weights.any():
        warnings.warn(
            "the spanning tree weighs nothing: no run of the groups that decide puts any two "
            "objects apart, so the number of clusters cannot be found and 2 are returned. Give "
            "n_clusters, or partitions that differ.",
            UserWarning,
            stacklevel=5,
        )
    return 2 + int(np.argmax(criterion <= criterion.min() + _TIE))


def cut_tree(tree: SpanningTree, n_clusters: int) -> NDArray[np.int64]:
    """Return a label per object after the last ``n_clusters - 1`` edges are removed."""
    from coterie._kernels.linkage import cut_merges

    n = len(tree.weights) + 1
    return cut_merges(tree.edges[:, 0], tree.edges[:, 1], n - n_clusters, n)


def nearest_cluster(
    ensemble: Ensemble,
    kind: Kind,
    labels: NDArray[np.int64],
    n_clusters: int,
    codes: NDArray[np.int32],
    *,
    weights: NDArray[np.float64] | None = None,
) -> NDArray[np.int64]:
    """Return for each row of codes the cluster of the objects with the smallest separation."""
    from coterie._kernels.separation import vote_of_nearest

    n = ensemble.n_objects
    step = max(1, _BLOCK // ensemble.n_partitions - n, n)
    found = []
    for start in range(0, len(codes), step):
        # New rows stand behind the known objects, so that one kernel serves both.
        rows = np.vstack([ensemble.labels, codes[start : start + step]])
        runs = collect_runs(ensemble, kind, rows, weights=weights)
        found.append(vote_of_nearest(runs, labels, n_clusters, n))
    return np.concatenate(found)
