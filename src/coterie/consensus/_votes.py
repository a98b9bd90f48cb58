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
        offsets = ensemble.offsets
        votes = np.empty((n_clusters, offsets[-1]), dtype=np.int64)
        seen = np.empty((n_clusters, ensemble.n_partitions), dtype=np.int64)
        for e, k in enumerate(ensemble.n_clusters):
            codes = ensemble.labels[:, e]
            place = labels * k + codes
            table = np.bincount(place[codes >= 0], minlength=n_clusters * k)
            votes[:, offsets[e] : offsets[e + 1]] = table.reshape(n_clusters, k)
            seen[:, e] = votes[:, offsets[e] : offsets[e + 1]].sum(axis=1)
        return cls(offsets, votes, seen)

    def confidence(self, ensemble: Ensemble, labels: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return for each object the share of votes that keep it with the rest of its cluster.

        For an object alone in its cluster: the share that keeps it apart from the cluster that
        is nearest to it.
        """
        from coterie._kernels.support import own_and_best_other

        own, other = own_and_best_other(
            ensemble.labels, labels, self.offsets, self.votes, self.seen
        )
        return np.where(own >= 0, own, 1.0 - other)

    def shares(self, codes: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return (m, k): of the votes between each row and each cluster, the share for together."""
        from coterie._kernels.support import shares_by_cluster

        return shares_by_cluster(codes, self.offsets, self.votes, self.seen)

    def predict(self, codes: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return the cluster with the largest share for each row; ties to the largest cluster."""
        step = max(1, _BLOCK // len(self.votes))
        blocks = [
            np.argmax(self.shares(codes[start : start + step]), axis=1)
            for start in range(0, len(codes), step)
        ]
        return np.concatenate(blocks).astype(np.int64)
