"""Trees of objects from an ensemble, by any linkage that needs no matrix, or by SciPy.

`average_tree` serves every method whose similarity of two objects is a sum over partitions:
plain votes (EAC), votes weighted by partition (LACA, WEAC) or by cluster (LWEA). It works on the
distinct rows of labels, and chooses among three ways that give the same tree except for ties:

greedy
    up to `GREEDY_MOST` distinct rows: the best pair is merged again and again, by the
    definition, ties by the smallest names. This is the answer that brute force gives.
triangle
    the nearest-neighbour chain on the sums over pairs of clusters, after a first round in which
    all rows that are each other's nearest are merged at once, from labels alone. That round
    leaves about two thirds of the clusters, so the triangle takes less than half the memory.
matrix-free
    where that triangle would not fit the memory limit: more such rounds until it does, or,
    forced, all the way, sums being made from labels and never kept.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie._labels import first_appearance, order_by_size
from coterie._limits import check_fits, memory_limit_bytes
from coterie._progress import track_progress
from coterie.ensemble import Ensemble, compact_codes

__all__ = [
    "Regime",
    "Tree",
    "average_tree",
    "complete_tree",
    "merge_sums",
    "scipy_linkage",
    "single_tree",
    "tree_of_leaves",
    "tree_of_sums",
]

Regime = Literal["auto", "triangle", "matrix-free"]

_Merges = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]

GREEDY_MOST = 1500  # leaves; beyond, looking for lost partners can become cubic
_WORTHWHILE = 0.1  # a round that merges fewer than this share of clusters is the last


class Tree(NamedTuple):
    """The n - 1 merges of a hierarchy, best first; a cluster is known by its smallest object."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    link: NDArray[np.float64]
    """Similarity at which the two were merged; never rises."""

    @classmethod
    def of_merges(
        cls,
        first: NDArray[np.int64],
        second: NDArray[np.int64],
        link: NDArray[np.float64],
        tolerance: float,
    ) -> Tree:
        """Put merges into the order of their links, and let no rounding error make links rise."""
        from coterie._kernels.linkage import make_monotone

        make_monotone(first, second, link, len(first) + 1)
        if not (np.diff(link) <= tolerance).all():
            order = np.argsort(-link, kind="stable")
            first, second, link = first[order], second[order], link[order]
        # Greedy merging met equal links in the order of the tie rule: it stays.
        return cls(first, second, np.minimum.accumulate(link))

    @classmethod
    def from_scipy(cls, matrix: NDArray[np.float64]) -> Tree:
        """Return the tree of SciPy's linkage matrix; links are 1 - height."""
        from coterie._kernels.linkage import smallest_leaves

        first, second = smallest_leaves(matrix)
        return cls(first, second, 1.0 - matrix[:, 2])

    @property
    def n_objects(self) -> int:
        """Number of leaves of the tree."""
        return len(self.first) + 1

    def cut(self, n_clusters: int) -> NDArray[np.int64]:
        """Return the labels after all but the last ``n_clusters - 1`` merges."""
        from coterie._kernels.linkage import cut_merges

        n = self.n_objects
        return order_by_size(cut_merges(self.first, self.second, n - n_clusters, n))

    def cut_large(self, n_clusters: int, min_size: float) -> NDArray[np.int64] | None:
        """Cut where `n_clusters` clusters have at least `min_size` objects.

        Returns the labels after the fewest splits that give `n_clusters` large clusters; objects in
        smaller ones have the label -1. None where no cut has that many.
        """
        n = self.n_objects
        matrix = self.to_scipy(np.zeros(n - 1))
        sizes = np.concatenate([np.ones(n), matrix[:, 3]])
        is_large = (sizes >= min_size).astype(np.int64)
        parts = matrix[:, :2].astype(np.int64)
        gained = is_large[parts].sum(axis=1) - is_large[n:]  # by undoing each merge; at most 1
        n_large = is_large[-1] + np.concatenate([[0], np.cumsum(gained[::-1])])
        enough = np.flatnonzero(n_large == n_clusters)
        if len(enough) == 0:
            return None
        labels = self.cut(int(enough[0]) + 1)
        return np.where(labels < n_clusters, labels, -1)

    def n_clusters_above(self, link: float) -> int:
        """Return how many clusters are left when only merges at `link` or better are made."""
        return self.n_objects - int(np.searchsorted(-self.link, -link, side="right"))

    def to_scipy(self, heights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return SciPy's linkage matrix, with one height per merge."""
        from coterie._kernels.linkage import scipy_tree

        return scipy_tree(self.first, self.second, heights, self.n_objects)


def average_tree(
    ensemble: Ensemble,
    *,
    together: NDArray[np.float64] | None = None,
    apart: NDArray[np.float64] | None = None,
    regime: Regime = "auto",
) -> Tree:
    """Merge the clusters with the highest mean score of their pairs, down to one.

    Parameters
    ----------
    ensemble : Ensemble
        The partitions.
    together : ndarray of shape (n_partitions,) or (K,), optional
        What each partition that saw both objects gives for a pair that it puts together: one
        weight per partition, or one for each of the K clusters of all partitions. The score of a
        pair is the sum over partitions. Default: the score is the co-association.
    apart : ndarray of shape (n_partitions,), optional
        What each partition gives for a pair that it saw and puts apart. Default: 0.
    regime : {'auto', 'triangle', 'matrix-free'}
        See the top of this module.

    Returns
    -------
    tree : Tree
        Links are mean scores.
    """
    from coterie._kernels import linkage as kernels

    if regime not in ("auto", "triangle", "matrix-free"):
        raise ValueError(f"regime must be 'auto', 'triangle' or 'matrix-free'; got {regime!r}.")
    if together is None:
        kind = kernels.SHARES if ensemble.has_missing else kernels.COUNTS
        weights = _NO_WEIGHTS
        # With missing labels other pairs than identical ones can have co-association 1, and the
        # order among them is part of the definition while it can be afforded.
        collapse = kind == kernels.COUNTS or ensemble.n_objects > GREEDY_MOST
        tolerance = 0.0 if kind == kernels.COUNTS else 1e-12
    else:
        kind = kernels.WEIGHTS
        weights = _Weights.of(ensemble, together, apart)
        collapse = _identical_merge_first(ensemble, weights)
        tolerance = 1e-12 * weights.largest_score(ensemble.offsets)
    leaves = _leaves(ensemble, kind, collapse, weights)
    unit = ensemble.n_partitions if kind == kernels.COUNTS else 1.0
    if kind == kernels.WEIGHTS and regime == "auto" and len(leaves.counts) > GREEDY_MOST:
        leaves, unit = _in_points(leaves)
        tolerance = 0.0
    merges = _average_merges(leaves, tolerance, regime, memory_limit_bytes())
    tree = _tree_of_objects(ensemble, leaves, merges, collapse, tolerance)
    return tree._replace(link=tree.link / unit)


def tree_of_sums(sums: NDArray[np.float64], sizes: NDArray[np.int64]) -> Tree:
    """Merge by average linkage clusters with known sums of scores across each two of them."""
    from coterie._kernels import linkage as kernels

    triangle = sums[np.tril_indices(len(sums), -1)]
    tolerance = 1e-12 * float(np.abs(sums / np.outer(sizes, sizes)).max(initial=0.0))
    first, second, link = kernels.merge_greedily(
        triangle, sizes.astype(np.float64), kernels.AVERAGE, tolerance
    )
    return Tree.of_merges(first, second, link, tolerance)


def merge_sums(sums: NDArray[np.float64], sizes: NDArray[np.float64], tolerance: float) -> _Merges:
    """Merge leaves by average linkage, given the sums of scores over the pairs of their objects.

    ``sums[u (u - 1) / 2 + v]`` is that of leaves u > v; `sizes` counts their objects. Both are
    used up.
    """
    from coterie._kernels import linkage as kernels

    n_leaves = len(sizes)
    if n_leaves <= max(1, GREEDY_MOST):
        return kernels.merge_greedily(sums, sizes, kernels.AVERAGE, tolerance)
    every = np.arange(n_leaves)
    nothing = kernels.Leaves(  # the chain reads sums, so it will not look at labels
        kind=kernels.WEIGHTS,
        columns=np.zeros((1, 1), dtype=np.uint8),
        missing=np.uint8(255),
        has_missing=False,
        n_codes=1,
        offsets=np.zeros(1, dtype=np.int64),
        together=np.empty(0),
        apart=np.empty(0),
        points_together=np.empty(0, dtype=np.int32),
        points_apart=np.empty(0, dtype=np.int32),
        counts=np.ones(1, dtype=np.int64),
        count_type=np.empty(0, dtype=np.uint8),
    )
    after = np.full(n_leaves, -1)
    with track_progress("merging clusters", n_leaves**2) as done:
        return kernels.merge_by_chain(
            nothing, every.copy(), every, after, sizes, tolerance, sums, done
        )


def tree_of_leaves(
    inverse: NDArray[np.int64],
    merges: _Merges,
    own_links: NDArray[np.float64],
    tolerance: float = 0.0,
) -> Tree:
    """Return the tree of objects, given the merges of leaves and the leaf of each object.

    Objects of the same leaf are merged first; their links are `own_links`, one per leaf.
    """
    first, second, link = merges
    first_object = first_appearance(inverse, len(own_links))
    copies = np.flatnonzero(first_object[inverse] != np.arange(len(inverse)))
    copies = copies[np.argsort(first_object[inverse[copies]], kind="stable")]
    return Tree.of_merges(
        np.concatenate([first_object[inverse[copies]], first_object[first]]),
        np.concatenate([copies, first_object[second]]),
        np.concatenate([own_links[inverse[copies]], link]),
        tolerance,
    )


def single_tree(ensemble: Ensemble) -> Tree:
    """Merge by the largest co-association of any pair, in O(n) memory (a spanning tree)."""
    from coterie._kernels import linkage as kernels
    from coterie._kernels import spanning_tree

    if ensemble.n_objects <= GREEDY_MOST:
        return _greedy_tree(ensemble, kernels.SINGLE)
    kind = kernels.SHARES if ensemble.has_missing else kernels.COUNTS
    leaves = _leaves(ensemble, kind, collapse=True)
    find_tree = (
        spanning_tree.tree_of_shares if ensemble.has_missing else spanning_tree.tree_of_counts
    )
    with track_progress("spanning tree", len(leaves.counts)) as done:
        edges, weights = find_tree(leaves, done)
    order = np.lexsort((edges[:, 1], edges[:, 0], weights))
    top = 1.0 if ensemble.has_missing else ensemble.n_partitions
    first, second = kernels.name_clusters(edges[order])
    merges = (first, second, top - weights[order])
    tree = _tree_of_objects(ensemble, leaves, merges, collapse=True)
    return tree._replace(link=tree.link / top)


def scipy_linkage(ensemble: Ensemble, method: str) -> tuple[Tree, NDArray[np.float64]]:
    """Merge by any method of `scipy.cluster.hierarchy.linkage` on 1 - co-association.

    These need the distances of all pairs: 8 bytes each. Returns the tree, with links 1 - height
    in SciPy's order, and SciPy's matrix.
    """
    from scipy.cluster import hierarchy

    from coterie._kernels.coassociation import condensed_distances

    n = ensemble.n_objects
    check_fits(
        8 * n * (n - 1) // 2,
        f"the distances of all pairs of {n} objects, which linkage={method!r} needs,",
        hint="Use linkage='average' or 'single', which need none",
    )
    distances = condensed_distances(ensemble.compact_codes, ensemble.has_missing)
    with track_progress("merging clusters (SciPy)"):
        matrix = hierarchy.linkage(distances, method=method)
    return Tree.from_scipy(matrix), matrix


def complete_tree(ensemble: Ensemble) -> Tree:
    """Merge by the smallest co-association of any pair."""
    from coterie._kernels import linkage as kernels

    if ensemble.n_objects > GREEDY_MOST:
        return scipy_linkage(ensemble, "complete")[0]
    return _greedy_tree(ensemble, kernels.COMPLETE)


def _greedy_tree(ensemble: Ensemble, rule: int) -> Tree:
    from coterie._kernels import linkage as kernels

    kind = kernels.SHARES if ensemble.has_missing else kernels.COUNTS
    collapse = not ensemble.has_missing
    leaves = _leaves(ensemble, kind, collapse)
    alone = leaves._replace(counts=np.ones_like(leaves.counts))
    merges = _merge_greedily(alone, rule, tolerance=0.0)
    tree = _tree_of_objects(ensemble, leaves, merges, collapse)
    top = 1.0 if ensemble.has_missing else ensemble.n_partitions
    return tree._replace(link=tree.link / top)


# --- leaves ---------------------------------------------------------------------------------------


class _Weights(NamedTuple):
    """What partitions give for pairs of objects that they saw."""

    together: NDArray[np.float64]
    """(K,): for a pair together in each cluster."""
    apart: NDArray[np.float64]
    """(L,): for a pair that each partition puts apart."""

    @classmethod
    def of(
        cls,
        ensemble: Ensemble,
        together: NDArray[np.float64],
        apart: NDArray[np.float64] | None,
    ) -> _Weights:
        together = np.asarray(together, dtype=np.float64)
        if len(together) == ensemble.n_partitions:
            together = np.repeat(together, ensemble.n_clusters)
        if apart is None:
            apart = np.zeros(ensemble.n_partitions)
        return cls(together, np.asarray(apart, dtype=np.float64))

    def largest_score(self, offsets: NDArray[np.int64]) -> float:
        """Return the largest absolute score that a pair could have."""
        together = np.maximum.reduceat(np.abs(self.together), offsets[:-1])
        return float(np.maximum(together, np.abs(self.apart)).sum())


def _identical_merge_first(ensemble: Ensemble, weights: _Weights) -> bool:
    """Return whether identical rows can be merged before all others.

    They are each other's nearest only if no partition scores "together" below "apart". Other rows
    can tie with them unless every partition scores it higher. Up to `GREEDY_MOST` objects, the
    order among ties is that of the definition.
    """
    apart = np.repeat(weights.apart, ensemble.n_clusters)
    if ensemble.n_objects <= GREEDY_MOST:
        return not ensemble.has_missing and bool((weights.together > apart).all())
    least = np.maximum(apart, 0) if ensemble.has_missing else apart
    return bool((weights.together >= least).all())


_NO_WEIGHTS = _Weights(np.empty(0), np.empty(0))


def _leaves(ensemble, kind, collapse, weights=_NO_WEIGHTS):
    from coterie._kernels.coassociation import count_dtype, missing_code
    from coterie._kernels.linkage import Leaves

    n_codes = int(ensemble.n_clusters.max())
    if collapse:
        columns = compact_codes(ensemble.patterns.labels, n_codes)
        counts = ensemble.patterns.counts
    else:
        columns = ensemble.compact_codes
        counts = np.ones(ensemble.n_objects, dtype=np.int64)
    return Leaves(
        kind=kind,
        columns=columns,
        missing=missing_code(columns),
        has_missing=ensemble.has_missing,
        n_codes=n_codes,
        offsets=ensemble.offsets,
        together=weights.together,
        apart=weights.apart,
        points_together=np.empty(0, dtype=np.int32),
        points_apart=np.empty(0, dtype=np.int32),
        counts=counts,
        # The spanning tree needs two numbers above the largest count.
        count_type=np.empty(0, dtype=count_dtype(ensemble.n_partitions + 2)),
    )


def _tree_of_objects(  # type: ignore[no-untyped-def]
    ensemble, leaves, merges, collapse, tolerance=0.0
) -> Tree:
    """Put the merges of identical objects before those of leaves."""
    if collapse:
        return tree_of_leaves(ensemble.patterns.inverse, merges, _self_scores(leaves), tolerance)
    first, second, link = merges
    return Tree.of_merges(first, second, link, tolerance)


def _in_points(leaves):
    """Return the leaves with weights rounded to whole numbers, and how many make up 1.

    Whole numbers below 2^30 are added up twice as fast as floats, without rounding, so that
    equal links stay equal. The error of a score is below 1e-9 of the largest possible one for
    each partition.
    """
    from coterie._kernels import linkage as kernels

    largest = _Weights(leaves.together, leaves.apart).largest_score(leaves.offsets)
    unit = 2.0**30 / largest if largest > 0 else 1.0
    together, apart = np.rint(leaves.together * unit), np.rint(leaves.apart * unit)
    whole = leaves._replace(
        kind=kernels.POINTS,
        together=together,
        apart=apart,
        points_together=together.astype(np.int32),
        points_apart=apart.astype(np.int32),
    )
    return whole, unit


def _self_scores(leaves) -> NDArray[np.float64]:  # type: ignore[no-untyped-def]
    """Return what two objects with the same row score."""
    from coterie._kernels import linkage as kernels

    seen = leaves.columns != leaves.missing
    if leaves.kind == kernels.COUNTS:
        return seen.sum(axis=0).astype(np.float64)
    if leaves.kind == kernels.SHARES:
        return seen.any(axis=0).astype(np.float64)
    scores = np.zeros(seen.shape[1])
    for e, codes in enumerate(leaves.columns):
        scores[seen[e]] += leaves.together[leaves.offsets[e] + codes[seen[e]]]
    return scores


# --- merging --------------------------------------------------------------------------------------


def _average_merges(leaves, tolerance: float, regime: Regime, limit: int) -> _Merges:  # type: ignore[no-untyped-def]
    from coterie._kernels import linkage as kernels

    n_leaves = leaves.columns.shape[1]
    if n_leaves == 1:
        nothing = np.empty(0, dtype=np.int64)
        return nothing, nothing, np.empty(0)
    if regime == "auto" and n_leaves <= GREEDY_MOST:
        return _merge_greedily(leaves, kernels.AVERAGE, tolerance)

    dtype = _sum_dtype(leaves)
    clusters = _Clusters.of_leaves(leaves)
    found: list[_Merges] = []
    while regime != "triangle":
        n_now = len(clusters.heads)
        with track_progress("nearest neighbours", n_now, kernels.n_chunks(n_now)) as done:
            if found:
                nearest, links = kernels.nearest_clusters(
                    leaves,
                    clusters.cluster,
                    clusters.heads,
                    clusters.after,
                    clusters.sizes,
                    tolerance,
                    done,
                )
            else:
                nearest, links = kernels.nearest_leaves(leaves, tolerance, done)
        u = np.arange(len(nearest))
        u = u[(nearest[nearest] == u) & (u < nearest)]
        found.append((clusters.heads[u], clusters.heads[nearest[u]], links[u]))
        before = len(clusters.heads)
        clusters = clusters.merged(u, nearest[u])
        n_left = len(clusters.heads)
        if regime == "auto" and _triangle_bytes(n_left, dtype) <= limit:
            break
        if n_left == 1 or before - n_left < _WORTHWHILE * before:
            break
    n_left = len(clusters.heads)
    if n_left > 1:
        if regime == "triangle":
            check_fits(
                _triangle_bytes(n_left, dtype),
                f"the triangle of sums over {n_left} clusters ({np.dtype(dtype)})",
                limit=limit,
                hint="Use regime='auto'",
            )
        use_triangle = regime != "matrix-free" and _triangle_bytes(n_left, dtype) <= limit
        triangle = np.empty(n_left * (n_left - 1) // 2 if use_triangle else 0, dtype=dtype)
        if use_triangle:
            _fill_triangle(leaves, clusters, triangle)
        with track_progress("merging clusters", n_left**2) as done:
            first, second, links = kernels.merge_by_chain(
                leaves,
                clusters.cluster,
                clusters.heads,
                clusters.after,
                clusters.sizes,
                tolerance,
                triangle,
                done,
            )
        found.append((clusters.heads[first], clusters.heads[second], links))
    first, second, links = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return first, second, links


def _merge_greedily(leaves, rule: int, tolerance: float) -> _Merges:  # type: ignore[no-untyped-def]
    from coterie._kernels import linkage as kernels

    n_leaves = leaves.columns.shape[1]
    triangle = np.empty(n_leaves * (n_leaves - 1) // 2)
    clusters = _Clusters.of_leaves(leaves)
    _fill_triangle(leaves, clusters, triangle)
    return kernels.merge_greedily(triangle, clusters.sizes, rule, tolerance)


def _fill_triangle(leaves, clusters: _Clusters, triangle: NDArray[Any]) -> None:  # type: ignore[no-untyped-def]
    from coterie._kernels import linkage as kernels

    n = len(clusters.heads)
    with track_progress("votes between clusters", n, kernels.n_chunks(n)) as done:
        kernels.fill_triangle(
            leaves, clusters.cluster, clusters.heads, clusters.after, triangle, done
        )


class _Clusters(NamedTuple):
    """Clusters of leaves, in the order of their smallest leaf, each a list of leaves."""

    cluster: NDArray[np.int64]
    """(p,): the cluster of each leaf."""
    heads: NDArray[np.int64]
    """(c,): the smallest leaf of each cluster."""
    tails: NDArray[np.int64]
    """(c,): the last leaf in the list of each cluster."""
    after: NDArray[np.int64]
    """(p,): the next leaf in the list, or -1."""
    sizes: NDArray[np.float64]
    """(c,): number of objects."""

    @classmethod
    def of_leaves(cls, leaves) -> _Clusters:  # type: ignore[no-untyped-def]
        every = np.arange(leaves.columns.shape[1])
        return cls(
            cluster=every,
            heads=every.copy(),
            tails=every.copy(),
            after=np.full(len(every), -1),
            sizes=leaves.counts.astype(np.float64),
        )

    def merged(self, first: NDArray[np.int64], second: NDArray[np.int64]) -> _Clusters:
        """Return the clusters after merging disjoint pairs, first < second."""
        after = self.after.copy()
        after[self.tails[first]] = self.heads[second]
        tails = self.tails.copy()
        tails[first] = self.tails[second]
        sizes = self.sizes.copy()
        sizes[first] += self.sizes[second]
        left = np.ones(len(self.heads), dtype=bool)
        left[second] = False
        name = np.cumsum(left) - 1
        name[second] = name[first]
        return _Clusters(name[self.cluster], self.heads[left], tails[left], after, sizes[left])


def _sum_dtype(leaves) -> type[np.uint32] | type[np.float64]:  # type: ignore[no-untyped-def]
    """Return the narrowest type in which sums over pairs are exact (or the usual, for floats)."""
    from coterie._kernels.linkage import COUNTS

    n_objects = int(leaves.counts.sum())
    largest = (n_objects // 2 + 1) ** 2 * leaves.columns.shape[0]
    return np.uint32 if leaves.kind == COUNTS and largest < 2**32 else np.float64


def _triangle_bytes(n_clusters: int, dtype: type) -> int:
    return n_clusters * (n_clusters - 1) // 2 * np.dtype(dtype).itemsize
