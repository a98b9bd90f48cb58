"""What the consensus functions that cut a tree of the objects share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from coterie._labels import order_by_size
from coterie._linkage import Tree
from coterie.blocks import LabelBlocks, Rule, draw_sample
from coterie.consensus._base import BaseConsensus, check_n_clusters
from coterie.consensus._in_blocks import SampleLabels
from coterie.consensus._votes import ClusterVotes
from coterie.ensemble import Ensemble

__all__ = ["MAX_OBJECTS", "TreeConsensus"]

MAX_OBJECTS = 20_000
"""Default of `max_objects`."""


class TreeConsensus(BaseConsensus):
    """Base of the consensus functions that cut a tree of the objects.

    A method writes `_grow(ensemble)`, which returns the tree; heights are 1 - similarity. It may
    have the parameters `min_share` and `max_objects`.
    """

    linkage_: NDArray[np.float64]
    sample_: NDArray[np.int64] | None = None
    min_share: float = 0.0
    max_objects: Any = None

    def cut_tree(self, n_clusters: int) -> NDArray[np.int64]:
        """Cut the fitted tree into another number of clusters.

        Parameters
        ----------
        n_clusters : int
            Number of clusters, from 1 to the number of objects in the tree.

        Returns
        -------
        labels : ndarray of int64, shape (n_objects,)
            What `labels_` would be with this number; the tree is not made again.
        """
        check_is_fitted(self)
        if not hasattr(self, "linkage_"):
            raise ValueError(f"{self!r} has no tree; cut_tree is for methods that make one.")
        check_n_clusters(self, n_clusters, len(self.linkage_) + 1)
        return self._cut(Tree.from_scipy(self.linkage_), n_clusters, self.ensemble_)

    def _fit(self, ensemble: Ensemble) -> NDArray[np.int64]:
        self.sample_ = _draw_sample(ensemble, self.max_objects)
        tree = self._grow(ensemble if self.sample_ is None else ensemble.take(self.sample_))
        self.linkage_ = tree.to_scipy(1.0 - tree.link)
        if self.n_clusters > tree.n_objects:
            raise ValueError(
                f"n_clusters must be at most the number of objects in the tree ({tree.n_objects}, "
                f"a sample); got {self.n_clusters}. Set max_objects=None for a tree of all objects."
            )
        return self._cut(tree, self.n_clusters, ensemble)

    @property
    def runs_on_blocks(self) -> bool:
        """Whether all label rows count where they come in blocks, and not a sample of them."""
        return type(self)._fit_blocks is not TreeConsensus._fit_blocks

    def _fit_blocks(self, blocks: LabelBlocks) -> tuple[Rule, int]:
        """Cut the tree of a sample, the one that `max_objects` draws in memory."""
        if type(self)._fit is not TreeConsensus._fit:
            return super()._fit_blocks(blocks)
        n = blocks.n_objects
        n_drawn = min(n, self.max_objects or MAX_OBJECTS)
        self.sample_ = draw_sample(n, n_drawn)
        self._say_sampled(n_drawn, n)
        check_n_clusters(self, self.n_clusters, n_drawn)
        tree = self._grow(blocks.sample(self.sample_))
        self.linkage_ = tree.to_scipy(1.0 - tree.link)
        labels = _cut_large(tree, self.n_clusters, self.min_share)
        return SampleLabels.of(blocks, self.sample_, labels, self.n_clusters), self.n_clusters

    def _keep_and_cut(self, tree: Tree) -> NDArray[np.int64]:
        """Keep a tree of all objects, heights being 1 - similarity, and return its clusters."""
        self.linkage_ = tree.to_scipy(1.0 - tree.link)
        return tree.cut(self.n_clusters)

    def _grow(self, ensemble: Ensemble) -> Tree:
        raise NotImplementedError(f"{type(self).__name__} must define _grow")

    def _cut(self, tree: Tree, n_clusters: int, ensemble: Ensemble) -> NDArray[np.int64]:
        """Cut the tree, and put the objects that are in no cluster of it where votes say."""
        cut = _cut_large(tree, n_clusters, self.min_share)
        rows = slice(None) if self.sample_ is None else self.sample_
        labels = np.full(ensemble.n_objects, -1, dtype=np.int64)
        labels[rows] = cut
        return order_by_size(place_rest(ensemble, labels, n_clusters))


def place_rest(ensemble: Ensemble, labels: NDArray[np.int64], n_clusters: int) -> NDArray[np.int64]:
    """Put objects with the label -1 into the cluster that partitions put them with most often."""
    rest = labels < 0
    if not rest.any():
        return labels
    votes = ClusterVotes.count_rows(
        ensemble.labels[~rest], labels[~rest], ensemble.offsets, n_clusters
    )
    placed = labels.copy()
    placed[rest] = votes.predict(ensemble.labels[rest])
    return placed


def _cut_large(tree: Tree, n_clusters: int, min_share: float) -> NDArray[np.int64]:
    """Cut into clusters of at least `min_share` times the mean size, if there are such.

    Objects of smaller branches have the label -1.
    """
    if min_share == 0:
        return tree.cut(n_clusters)
    min_size = max(2.0, min_share * tree.n_objects / n_clusters)
    labels = tree.cut_large(n_clusters, min_size)
    return tree.cut(n_clusters) if labels is None else labels


def _draw_sample(ensemble: Ensemble, max_objects: int | None) -> NDArray[np.int64] | None:
    """Return objects drawn at random where distinct rows are too many; None means all."""
    if max_objects is None or ensemble.n_objects <= max_objects:
        return None
    if len(ensemble.patterns.counts) <= max_objects:
        return None
    return draw_sample(ensemble.n_objects, max_objects)
