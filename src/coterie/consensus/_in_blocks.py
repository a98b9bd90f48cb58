"""Consensus of label rows in blocks: a rule found from small tables, then rows assigned by it.

A method that runs on blocks finds a rule, which gives label rows their parts. A pass counts the
parts and their votes; labels and confidence are then computed block by block, when they are asked
for. No step holds more than one block of rows in a process.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie._checks import as_seed
from coterie._graphs import cut_blocks
from coterie._kernels.clusters import count_parts
from coterie._kernels.support import tally
from coterie.blocks import LabelBlocks, Results, Rule, on_all_codes
from coterie.consensus._votes import ClusterVotes

__all__ = [
    "MetaClusters",
    "Placement",
    "SampleLabels",
    "cut_in_blocks",
    "label_rows",
    "place_blocks",
    "results_of",
]

SAMPLE = 20_000
"""Objects that a method is fitted to which cannot run on blocks; the others are predicted."""


class SampleLabels(NamedTuple):
    """Objects of a sample have their labels, others go where votes of the sample say."""

    objects: NDArray[np.int64]
    """(m,): labelled objects in rising order."""
    labels: NDArray[np.int64]
    """(m,)."""
    votes: ClusterVotes

    @classmethod
    def of(
        cls,
        blocks: LabelBlocks,
        objects: NDArray[np.int64],
        labels: NDArray[np.int64],
        n_clusters: int,
    ) -> SampleLabels:
        """Count the votes of a sample; objects with the label -1 are not part of it."""
        kept = labels >= 0
        objects, labels = objects[kept], labels[kept]
        rows = blocks.take(objects)
        return cls(
            objects, labels, ClusterVotes.count_rows(rows, labels, blocks.offsets, n_clusters)
        )

    def __call__(self, codes: NDArray[np.int32], start: int) -> NDArray[np.int64]:
        """Return the cluster of each row."""
        if len(codes) == 0:
            return np.empty(0, dtype=np.int64)
        found = self.votes.predict(codes)
        low, high = np.searchsorted(self.objects, [start, start + len(codes)])
        found[self.objects[low:high] - start] = self.labels[low:high]
        return found


class Placement(NamedTuple):
    """Clusters of all rows: the rule, the names of its parts, and what confidence needs."""

    rule: Rule
    rank: NDArray[np.int64]
    """(k,): the label of each part."""
    votes: ClusterVotes
    sizes: NDArray[np.int64]
    """(n_clusters,): objects of each cluster."""


def cut_in_blocks(
    consensus: Any,
    blocks: LabelBlocks,
    *,
    weights: NDArray[np.float64] | None = None,
    product: bool = False,
) -> tuple[Rule, int]:
    """Return the rule of a spectral cut, and its number of parts, by the method's parameters."""
    if getattr(consensus, "partitioner", "spectral") != "spectral":
        raise ValueError(
            f"partitioner must be 'spectral' where rows come in blocks; got "
            f"{consensus.partitioner!r}, which needs the graph of all objects in memory."
        )
    rule, clusters = cut_blocks(
        blocks,
        consensus.n_clusters,
        weights=weights,
        product=product,
        skip_first=getattr(consensus, "skip_first", False),
        random_state=as_seed(consensus.random_state),
    )
    if not product:
        consensus._cluster_parts = clusters
    return rule, consensus.n_clusters


class MetaClusters(NamedTuple):
    """Puts a label row to the meta-cluster of whose clusters it is in the largest share."""

    offsets: NDArray[np.int64]
    parts: NDArray[np.int64]
    """(K,): the meta-cluster of each cluster."""

    def __call__(self, codes: NDArray[np.int32], start: int) -> NDArray[np.int64]:
        """Return the meta-cluster of each row."""
        return np.argmax(self.associate(codes), axis=1)

    def associate(self, codes: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return (m, k): the share of each meta-cluster's clusters that each label row is in.

        A code past the last is a cluster that is not known, and counts as missing.
        """
        sizes = np.bincount(self.parts)
        # Counts are whole numbers, so that equal shares are equal after one division.
        found: NDArray[np.float64]
        found = count_parts(codes, self.offsets, self.parts, len(sizes)) / sizes
        return found


def place_blocks(blocks: LabelBlocks, rule: Rule, n_parts: int) -> Placement:
    """Count the parts of all rows, and name them: largest first, then by their first object."""
    first, sizes, votes, seen = blocks.reduce(
        _count, _join_counts, rule, blocks.offsets, n_parts, blocks.n_objects, words="votes"
    )
    order = np.lexsort((first, -sizes))
    n_found = int((sizes > 0).sum())
    kept = order[:n_found]
    rank = np.empty(n_parts, dtype=np.int64)
    rank[order] = np.arange(n_parts)
    cluster_votes = ClusterVotes(blocks.offsets, votes[kept], seen[kept])
    return Placement(rule, rank, cluster_votes, sizes[kept])


def label_rows(
    codes: NDArray[np.int32], start: int, placement: Placement
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return label and confidence of all rows of a block.

    Rows without any label go to the largest cluster, with confidence 0.
    """
    labels = np.zeros(len(codes), dtype=np.int64)
    confidence = np.zeros(len(codes))
    labelled = (codes >= 0).any(axis=1)
    rows = codes if labelled.all() else codes[labelled]
    if len(rows):
        found = placement.rank[placement.rule(rows, start)]
        labels[labelled] = found
        confidence[labelled] = placement.votes.confidence_of_objects(rows, found, placement.sizes)
    return labels, confidence


def results_of(blocks: LabelBlocks, placement: Placement) -> Results:
    """Return labels and confidence of all rows, computed when they are asked for."""
    given = blocks.arguments(label_rows, placement)
    return Results(blocks.source, on_all_codes, given)


def _count(
    codes: NDArray[np.int32],
    start: int,
    rule: Rule,
    offsets: NDArray[np.int64],
    n_parts: int,
    n_objects: int,
) -> tuple[NDArray[np.int64], ...]:
    parts = rule(codes, start)
    sizes = np.bincount(parts, minlength=n_parts)
    first = np.full(n_parts, n_objects, dtype=np.int64)
    first[parts[::-1]] = start + np.arange(len(parts) - 1, -1, -1)  # the last one written stays
    return first, sizes, *tally(codes, parts, offsets, n_parts)


def _join_counts(left: Any, right: Any) -> Any:
    return np.minimum(left[0], right[0]), *(a + b for a, b in zip(left[1:], right[1:], strict=True))
