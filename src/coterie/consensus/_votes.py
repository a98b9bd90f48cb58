"""What the partitions say about an object and a consensus cluster: confidence and prediction."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.ensemble import Ensemble

__all__ = ["ClusterVotes"]

_BLOCK = 1 << 22  # entries of one block of shares


class ClusterVotes(NamedTuple):
    """How often each label of each partition occurs in each consensus cluster.

    A partition that saw two objects casts one vote on them, for together or for apart. All that
    follows is shares of such votes, so a missing label counts neither way.
    """

    offsets: NDArray[np.int64]
    votes: NDArray[np.int64]
    """(k, K): members of the consensus cluster in each cluster of each partition."""
    seen: NDArray[np.int64]
    """(k, L): members of the consensus cluster that each partition saw."""

    @classmethod
    def tally(cls, ensemble: Ensemble, labels: NDArray[np.int64], n_clusters: int) -> ClusterVotes:
        """Count the labels of the members of each consensus cluster."""
        return cls.count_rows(ensemble.labels, labels, ensemble.offsets, n_clusters)

    @classmethod
    def count_rows(
        cls,
        codes: NDArray[np.int32],
        labels: NDArray[np.int64],
        offsets: NDArray[np.int64],
        n_clusters: int,
    ) -> ClusterVotes:
        """Count the codes of the rows of each cluster; `offsets` as in `Ensemble`."""
        from coterie._kernels.support import tally

        return cls(offsets, *tally(codes, labels, offsets, n_clusters))

    def confidence(self, ensemble: Ensemble, labels: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return how safe each object's place is, in [0, 1].

        Support is the share of votes that put the object with the members of a cluster, itself
        left out. Confidence is own support / (own support + that of the best other cluster):
        fine partitions lower both, so that it does not depend on how fine they are. For an
        object alone in its cluster it is 1 - the support of the best other cluster, for a
        single cluster its own support; 0 where nothing supports the object's place.
        """
        sizes = np.bincount(labels, minlength=len(self.votes))
        return self.confidence_of_objects(ensemble.labels, labels, sizes)

    def confidence_of_objects(
        self, codes: NDArray[np.int32], labels: NDArray[np.int64], sizes: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return the confidence of some of the counted objects; `sizes` are those of clusters."""
        from coterie._kernels.support import own_and_best_other

        own, other = own_and_best_other(codes, labels, sizes, self.offsets, self.votes, self.seen)
        if len(self.votes) == 1:
            return np.where(own >= 0, own, 1.0)
        both = own + other
        share = np.divide(own, both, out=np.zeros(len(own)), where=(own >= 0) & (both > 0))
        return np.where(own >= 0, share, 1.0 - other)

    def confidence_of_rows(
        self, codes: NDArray[np.int32], labels: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return how safe the place of new label rows is: the measure of `confidence`."""
        found = np.zeros(len(codes))
        step = max(1, _BLOCK // len(self.votes))
        for start in range(0, len(codes), step):
            rows = slice(start, start + step)
            shares = self.shares(codes[rows])
            each, at = np.arange(len(shares)), labels[rows]
            own = shares[each, at]
            if len(self.votes) == 1:
                found[rows] = own
                continue
            shares[each, at] = 0.0
            both = own + shares.max(axis=1)
            found[rows] = np.divide(own, both, out=np.zeros(len(own)), where=both > 0)
        return found

    def shares(self, codes: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return (m, k): of the votes between each row and each cluster, the share for together."""
        from coterie._kernels.support import shares_by_cluster

        return shares_by_cluster(codes, self.offsets, self.votes, self.seen)

    def runner_up(self, ensemble: Ensemble, labels: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the other cluster with the largest share for each object, -1 where none has any.

        Ties go to the largest cluster.
        """
        found = np.empty(len(labels), dtype=np.int64)
        step = max(1, _BLOCK // len(self.votes))
        for start in range(0, len(labels), step):
            own = labels[start : start + step]
            shares = self.shares(ensemble.labels[start : start + step])
            shares[np.arange(len(own)), own] = 0.0
            best = shares.argmax(axis=1)
            found[start : start + step] = np.where(shares.max(axis=1) > 0, best, -1)
        return found

    def predict(self, codes: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return the cluster with the largest share for each row; ties to the largest cluster."""
        step = max(1, _BLOCK // len(self.votes))
        blocks = [
            np.argmax(self.shares(codes[start : start + step]), axis=1)
            for start in range(0, len(codes), step)
        ]
        return np.concatenate(blocks).astype(np.int64)
