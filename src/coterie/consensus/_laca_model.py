"""LACA's parameters and likelihood, from contingency tables alone.

Nothing here looks at pairs of objects: all counts of pairs are sums of c (c - 1) / 2 over the
cells of contingency tables, and a partition counts only for pairs of which it saw both objects.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.blocks import LabelBlocks
from coterie.ensemble import Ensemble

if TYPE_CHECKING:
    from coterie._kernels.laca import Tables

__all__ = ["Model", "PairCounts", "Parameters", "initial_parameters"]


class Parameters(NamedTuple):
    """The reliability of each partition, two probabilities each."""

    rho: NDArray[np.float64]
    """Of being together in the partition, for pairs together in the latent model."""
    r: NDArray[np.float64]
    """Of being together in the partition, for pairs apart in the latent model."""

    @property
    def together(self) -> NDArray[np.float64]:
        """The score (17) of a pair that the partition puts together."""
        return np.log(self.rho / self.r)

    @property
    def apart(self) -> NDArray[np.float64]:
        """The score (17) of a pair that the partition puts apart."""
        return np.log((1 - self.rho) / (1 - self.r))

    @property
    def gain(self) -> NDArray[np.float64]:
        """How much better it is to be together than apart."""
        return self.together - self.apart

    def distance(self, other: Parameters) -> float:
        """Return the sum of absolute differences, the measure of the convergence test."""
        return float(np.abs(self.rho - other.rho).sum() + np.abs(self.r - other.r).sum())


class PairCounts(NamedTuple):
    """Pairs by what the model and each partition say of them; arrays of shape (L,)."""

    n11: NDArray[np.int64]
    """Together in the model and in the partition."""
    n10: NDArray[np.int64]
    """Together in the model, apart in the partition."""
    n01: NDArray[np.int64]
    n00: NDArray[np.int64]

    def estimate(self, ess: float) -> Parameters:
        """Return the parameters (21), (22)."""
        return Parameters(
            (self.n11 + 0.5 * ess) / (self.n11 + self.n10 + ess),
            (self.n01 + 0.5 * ess) / (self.n01 + self.n00 + ess),
        )

    def log_likelihood(self, parameters: Parameters) -> float:
        """Return (6), summed over partitions."""
        rho, r = parameters
        return float(
            self.n11 @ np.log(rho)
            + self.n10 @ np.log1p(-rho)
            + self.n01 @ np.log(r)
            + self.n00 @ np.log1p(-r)
        )


class Model(NamedTuple):
    """A latent model: a partition of the objects, and its tables against the ensemble.

    Tables hold whole numbers in float64, labels in rows and clusters of the model in columns, as
    the kernels want them.
    """

    labels: NDArray[np.int64]
    counts: NDArray[np.float64]
    """(K, k): members of each model cluster in each cluster of each partition."""
    seen: NDArray[np.float64]
    """(L, k): members of each model cluster that each partition saw."""
    sizes: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        ensemble: Ensemble,
        labels: NDArray[np.int64],
        objects: NDArray[np.int64] | None = None,
    ) -> Model:
        """Count the tables of consecutive labels from 0, of all objects or of some."""
        sizes = np.bincount(labels)
        n_clusters = len(sizes)
        counts = np.empty((ensemble.offsets[-1], n_clusters))
        seen = np.empty((ensemble.n_partitions, n_clusters))
        for e, k in enumerate(ensemble.n_clusters):
            codes = ensemble.labels[:, e] if objects is None else ensemble.labels[objects, e]
            place = codes * np.int64(n_clusters) + labels
            if ensemble.has_missing:
                place = place[codes >= 0]
            table = np.bincount(place, minlength=k * n_clusters).reshape(k, n_clusters)
            counts[ensemble.offsets[e] : ensemble.offsets[e + 1]] = table
            seen[e] = table.sum(axis=0)
        return cls(labels, counts, seen, sizes)

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return len(self.sizes)

    def tables(self, ensemble: Ensemble | LabelBlocks, parameters: Parameters) -> Tables:
        """Return what the kernels need to score label rows with the clusters."""
        from coterie._kernels.laca import Tables

        gain, apart = parameters.gain, parameters.apart
        return Tables(gain, apart, ensemble.offsets, self.counts, self.seen, self.sizes)

    def pair_counts(self, ensemble: Ensemble | LabelBlocks) -> PairCounts:
        """Count pairs against each partition."""
        starts = ensemble.offsets[:-1]
        n11 = np.add.reduceat(_pairs(self.counts).sum(axis=1), starts)
        in_model = _pairs(self.seen).sum(axis=1)
        in_partition = np.add.reduceat(_pairs(self.counts.sum(axis=1)), starts)
        everything = _pairs(self.seen.sum(axis=1))
        n11, in_model, in_partition, everything = (
            np.rint(a).astype(np.int64) for a in (n11, in_model, in_partition, everything)
        )
        return PairCounts(
            n11, in_model - n11, in_partition - n11, everything - in_model - in_partition + n11
        )

    def merged(self, renaming: NDArray[np.int64]) -> Model:
        """Return the model after clusters got the same new name."""
        n_clusters = int(renaming.max()) + 1
        order = np.argsort(renaming, kind="stable")
        starts = np.searchsorted(renaming[order], np.arange(n_clusters))
        return Model(
            renaming[self.labels],
            np.add.reduceat(self.counts[:, order], starts, axis=1),
            np.add.reduceat(self.seen[:, order], starts, axis=1),
            np.add.reduceat(self.sizes[order], starts),
        )

    def compact(self) -> Model:
        """Return the model without its empty clusters."""
        used = self.sizes > 0
        if used.all():
            return self
        name = np.cumsum(used) - 1
        return Model(name[self.labels], self.counts[:, used], self.seen[:, used], self.sizes[used])

    def pair_scores(
        self, ensemble: Ensemble | LabelBlocks, parameters: Parameters
    ) -> NDArray[np.float64]:
        """Return (k, k): the sum of scores of all pairs of objects across two clusters."""
        gain = np.repeat(parameters.gain, ensemble.n_clusters)
        scores = self.counts.T @ (gain[:, None] * self.counts)
        scores += self.seen.T @ (parameters.apart[:, None] * self.seen)
        return (scores + scores.T) / 2  # the two products round differently


def initial_parameters(ensemble: Ensemble | LabelBlocks, ess: float) -> Parameters:
    """Return the parameters (10), (11), which take every partition as equally plausible.

    For each two partitions e, f the tables of e hold their contingency table, over
    the objects that both saw. Its cells, its column sums and its total give the pairs together
    in both, together in f, and seen by both.
    """
    starts = ensemble.offsets[:-1]
    n_partitions = ensemble.n_partitions
    rho, r = np.empty(n_partitions), np.empty(n_partitions)
    for e in range(n_partitions):
        block = ensemble.tables(e)
        in_f = block.sum(axis=0)  # members of each cluster of each f that e saw
        in_e = np.add.reduceat(block, starts, axis=1)  # members of each cluster of e that f saw
        both = np.add.reduceat(_pairs(block).sum(axis=0), starts)
        together_f = np.add.reduceat(_pairs(in_f), starts)
        together_e = _pairs(in_e).sum(axis=0)
        seen = _pairs(np.add.reduceat(in_f, starts))
        rho[e] = (both.sum() + 0.5 * ess) / (together_f.sum() + ess)
        r[e] = ((together_e - both).sum() + 0.5 * ess) / ((seen - together_f).sum() + ess)
    return Parameters(rho, r)


def _pairs(counts: NDArray) -> NDArray:
    """Return the number of pairs among `counts` things."""
    return counts * (counts - 1) // 2
