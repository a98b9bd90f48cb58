"""Consensus labels at other numbers of clusters, for the slider of the report."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from coterie._kernels.linkage import cut_merges, smallest_leaves
from coterie._labels import order_by_size
from coterie._progress import track_progress
from coterie.consensus._tree import TreeConsensus
from coterie.views._order import cluster_tree, tree_of

__all__ = ["Cuts", "cut_at_numbers", "nearby_numbers"]

REFIT_MAX_OBJECTS = 2_000  # up to which a method without a tree is fitted for each number
_ALWAYS = 10
_AROUND = 3


class Cuts(NamedTuple):
    """Labels for several numbers of clusters."""

    numbers: list[int]
    """Ascending; the fitted one is among them."""
    labels: NDArray[np.int64]
    """(len(numbers), n): each row largest cluster first."""
    how: str
    """'cut', 'refit', 'merged' or 'only'."""
    words: str
    """How the others were found, as a sentence."""


def nearby_numbers(n_clusters: int, n_objects: int) -> list[int]:
    """Return the default numbers: 2 to 10, and three on either side of the one that was found."""
    numbers = {*range(2, _ALWAYS + 1), *range(n_clusters - _AROUND, n_clusters + _AROUND + 1)}
    return sorted(k for k in numbers if 1 < k <= n_objects or k == n_clusters)


def cut_at_numbers(
    consensus: Any,
    numbers: Sequence[int] | None = None,
) -> Cuts:
    """Return the labels of a fitted consensus at its own and at other numbers of clusters.

    A method that left a tree is cut at other heights. Without a tree, it is fitted again for
    each number, up to 2,000 objects; beyond, its clusters are merged by average linkage.

    Parameters
    ----------
    consensus : fitted consensus method
    numbers : sequence of int, optional
        Default: `nearby_numbers`.
    """
    k, n = int(consensus.n_clusters_), len(consensus.labels_)
    wanted = nearby_numbers(k, n) if numbers is None else sorted({*numbers, k})
    name = type(consensus).__name__
    cuts = _cut_tree(consensus, wanted)
    if cuts is not None:
        found = cuts
        how, words = "cut", f"the tree of {name} is cut at another height"
    elif n <= REFIT_MAX_OBJECTS:
        found = _refit(consensus, [j for j in wanted if j != k])
        how, words = "refit", f"{name} was fitted again with that number"
    else:
        found = _merge(consensus, [j for j in wanted if j < k])
        how = "merged"
        words = (
            f"the {k} clusters of {name} are merged by the mean co-association of their objects "
            "(fitting again would take long)"
        )
    found[k] = consensus.labels_
    if len(found) == 1:
        how, words = "only", "no other number can be shown"
    ordered = sorted(found)
    labels = np.stack([found[j] for j in ordered]).astype(np.int64)
    return Cuts(ordered, labels, how, words[0].upper() + words[1:] + ".")


def _cut_tree(consensus: Any, numbers: Sequence[int]) -> dict[int, NDArray[np.int64]] | None:
    """Cut the tree of the method; None if there is no tree."""
    tree = tree_of(consensus)
    least = 1 if tree is None else tree.least_clusters
    if isinstance(consensus, TreeConsensus) and hasattr(consensus, "linkage_"):
        # The tree may be that of a sample, and small branches may count as no clusters.
        n_leaves = len(consensus.linkage_) + 1
        return {j: consensus.cut_tree(j) for j in numbers if least <= j <= n_leaves}
    if tree is None:
        return None
    return {j: tree.cut(j) for j in numbers if least <= j <= len(consensus.labels_)}


def _refit(consensus: Any, numbers: Sequence[int]) -> dict[int, NDArray[np.int64]]:
    """Fit again for each number; leave out fits that fail or give another number."""
    found = {}
    with (
        track_progress("other numbers of clusters", len(numbers)) as done,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")  # of a number that nobody asked for
        for j in numbers:
            with contextlib.suppress(ValueError):
                again = clone(consensus).set_params(n_clusters=j).fit(consensus.ensemble_)
                if again.labels_.max() + 1 == j:
                    found[j] = again.labels_
            done[0] += 1
    return found


def _merge(consensus: Any, numbers: Sequence[int]) -> dict[int, NDArray[np.int64]]:
    """Merge the clusters of the consensus."""
    k = int(consensus.n_clusters_)
    if not numbers or k < 3:
        return {}
    tree = cluster_tree(consensus.ensemble_, consensus.labels_)
    first, second = smallest_leaves(tree)
    return {
        j: order_by_size(cut_merges(first, second, k - j, k)[consensus.labels_]) for j in numbers
    }


def as_groups(cuts: Cuts) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (group of each object, label of each group at each number).

    Objects with the same labels at all numbers are one group. Cuts of a tree are nested, mostly,
    so that there are about as many groups as clusters at the largest number.
    """
    table, group = np.unique(cuts.labels.T, axis=0, return_inverse=True)
    return group.ravel().astype(np.int64), table
