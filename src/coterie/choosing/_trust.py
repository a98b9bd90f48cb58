"""Trust in each cluster: do the partitions agree on it, and do resamples find it again."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from coterie._limits import kernel_threads
from coterie._progress import track_progress
from coterie.choosing._worker import restrict_to
from coterie.consensus._base import BaseConsensus, pass_seed
from coterie.consensus._votes import ClusterVotes
from coterie.ensemble import Ensemble
from coterie.metrics import cluster_consensus

__all__ = ["ClusterTrust", "cluster_trust"]

VERY_STABLE, STABLE, DOUBTFUL = 0.85, 0.75, 0.6
"""Mean Jaccard indices from which a cluster is very stable, stable, and more than chance."""
_LEAST_PARTITIONS = 3  # fewer cannot be resampled
_MOST_DRAWN = 30  # partitions of a resample
_MOST_MEMBERS = 2_000  # of a cluster, whose pairs are looked at where labels are missing
_PER_CLUSTER = 3  # objects of a resample for each cluster, at least


@dataclass(frozen=True)
class ClusterTrust:
    """Result of `cluster_trust`: one entry per cluster.

    Attributes
    ----------
    size : ndarray of int64, shape (k,)
        Number of objects.
    consensus : ndarray of shape (k,)
        Cluster consensus: mean co-association over the pairs of the cluster. NaN for a cluster
        of one object. Fine partitions split every cluster, so compare it with `between`.
    nearest : ndarray of int64, shape (k,)
        The other cluster with the largest mean co-association; -1 if there is none.
    between : ndarray of shape (k,)
        Mean co-association with that cluster; NaN if there is none.
    stability : ndarray of shape (k,)
        Mean over the resamples of the largest Jaccard index between the cluster and a cluster of
        the resample. NaN where it cannot be told.
    n_resamples : int
        Number of resamples.
    n_drawn : int
        Number of objects in a resample.

    Examples
    --------
    >>> from coterie import EAC, cluster_trust
    >>> votes = [[0, 0], [0, 0], [1, 1], [1, 1]]
    >>> trust = cluster_trust(EAC(n_clusters=2).fit(votes), n_resamples=0)
    >>> trust.size, trust.verdicts
    (array([2, 2]), ['unknown', 'unknown'])
    """

    size: NDArray[np.int64]
    consensus: NDArray[np.float64]
    nearest: NDArray[np.int64]
    between: NDArray[np.float64]
    stability: NDArray[np.float64]
    n_resamples: int
    n_drawn: int

    @property
    def verdicts(self) -> list[str]:
        """For each cluster 'very stable', 'stable', 'doubtful', 'not stable' or 'unknown'."""
        return [_verdict(value) for value in self.stability]

    @property
    def words(self) -> list[str]:
        """For each cluster a sentence."""
        return [
            _sentence(c, value, int(near), len(self.size) == 1)
            for c, (value, near) in enumerate(zip(self.stability, self.nearest, strict=True))
        ]

    def as_dicts(self) -> list[dict[str, Any]]:
        """Return one dictionary of plain data per cluster, ready for JSON or a data frame."""
        return [
            {
                "cluster": c,
                "size": int(self.size[c]),
                "consensus": _plain(self.consensus[c]),
                "nearest": int(self.nearest[c]) if self.nearest[c] >= 0 else None,
                "between": _plain(self.between[c]),
                "stability": _plain(self.stability[c]),
                "verdict": self.verdicts[c],
                "words": self.words[c],
            }
            for c in range(len(self.size))
        ]

    def __repr__(self) -> str:
        head = ("cluster", "size", "consensus", "nearest", "between", "stability", "verdict")
        rows = [list(head)]
        for row in self.as_dicts():
            values = [row[name] for name in head]
            rows.append([_text(v) for v in values])
        widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
        return "\n".join(
            "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
            for row in rows
        )


def cluster_trust(
    model: Any,
    *,
    n_resamples: int = 30,
    max_objects: int = 1_000,
    random_state: int | np.random.RandomState | None = None,
) -> ClusterTrust:
    """Return how far each cluster of a consensus can be trusted.

    Two measures for each cluster. *Cluster consensus* is the mean co-association over the pairs
    of its objects [1]_. *Stability* asks whether the cluster is found again [2]_: the same method
    with the same number of clusters is fitted to resamples of the ensemble, and the most similar
    cluster is measured by the Jaccard index, the share of objects in both among those in either.
    Below 0.6 a cluster is not to be trusted; from 0.85 on it is very stable.

    A resample is half of the objects, and 30 partitions drawn with replacement (all of them, if
    there are fewer). So both the choice of partitions and that of objects vary; the base
    clusterings are not made again.

    Parameters
    ----------
    model : fitted consensus function or ConsensusClustering
        What found the clusters.
    n_resamples : int, default=30
        Number of resamples; 0 leaves stability out (NaN).
    max_objects : int, default=1000
        Most objects of a resample.
    random_state : int, RandomState or None
        Seed of the resamples.

    Returns
    -------
    trust : ClusterTrust
        Arrays with one entry per cluster; `words` says it in sentences.

    Notes
    -----
    Missing labels count neither for nor against a pair; a pair that no partition saw counts 0.
    Where labels are missing, the consensus of a cluster with more than 2,000 objects is that of
    2,000 of them, drawn at random. A resample without any object of a cluster says nothing about
    it. With fewer than three partitions, or a single cluster, stability is NaN.

    Clusters of data without any structure can be stable, where every partition cuts at the same
    place: `structure_test` asks whether there is a gap.

    References
    ----------
    .. [1] Monti et al. (2003), Consensus clustering. Machine Learning 52, 91-118.
    .. [2] Hennig (2007), Cluster-wise assessment of cluster stability. Computational Statistics
       & Data Analysis 52, 258-271.

    Examples
    --------
    >>> from coterie import EAC, cluster_trust
    >>> votes = [[0, 0, 0, 0], [0, 0, 0, 0], [1, 1, 1, 0], [1, 1, 2, 1], [1, 1, 2, 1]]
    >>> trust = cluster_trust(EAC(n_clusters=2).fit(votes), random_state=0)
    >>> trust.consensus.round(2)
    array([0.67, 1.  ])
    >>> trust.nearest
    array([1, 0])
    """
    _check_parameters(n_resamples, max_objects)
    consensus = getattr(model, "consensus_", model)
    if not isinstance(consensus, BaseConsensus):
        raise TypeError(
            "model must be a fitted consensus method or ConsensusClustering; got "
            f"{type(model).__name__}."
        )
    check_is_fitted(consensus)
    rng = np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
    ensemble, labels = consensus.ensemble_, consensus.labels_
    k = consensus.n_clusters_
    votes = ClusterVotes.tally(ensemble, labels, k)
    nearest, between = _nearest_clusters(votes)
    n_drawn = _n_drawn(ensemble.n_objects, k, max_objects)
    if k == 1 or ensemble.n_partitions < _LEAST_PARTITIONS:
        n_resamples = 0
    return ClusterTrust(
        size=np.bincount(labels, minlength=k),
        consensus=_consensus(ensemble, labels, rng),
        nearest=nearest,
        between=between,
        stability=_stability(consensus, n_resamples, n_drawn, rng),
        n_resamples=n_resamples,
        n_drawn=n_drawn,
    )


def _check_parameters(n_resamples: Any, max_objects: Any) -> None:
    for name, value, least in (("n_resamples", n_resamples, 0), ("max_objects", max_objects, 10)):
        if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
            raise ValueError(f"{name} must be a whole number of at least {least}; got {value!r}.")


def _n_drawn(n_objects: int, n_clusters: int, most: int) -> int:
    """Return half of the objects, within limits: enough for all clusters, and at most `most`."""
    least = max(10, _PER_CLUSTER * n_clusters)
    return min(n_objects, max(least, min(most, (n_objects + 1) // 2)))


# --- agreement ------------------------------------------------------------------------------------


def _consensus(
    ensemble: Ensemble, labels: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return the cluster consensus; where labels are missing, of some members of large clusters."""
    if not ensemble.has_missing:
        return cluster_consensus(ensemble, labels)
    kept = []
    for c in range(int(labels.max()) + 1):
        members = np.flatnonzero(labels == c)
        if len(members) > _MOST_MEMBERS:
            members = rng.choice(members, _MOST_MEMBERS, replace=False)
        kept.append(members)
    rows = np.sort(np.concatenate(kept))
    return cluster_consensus(
        ensemble if len(rows) == len(labels) else ensemble.take(rows), labels[rows]
    )


def _nearest_clusters(votes: ClusterVotes) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return for each cluster the other one of largest mean co-association, and that mean.

    Where labels are missing, the mean is the share of votes for together.
    """
    k = len(votes.votes)
    counts, seen = votes.votes.astype(np.float64), votes.seen.astype(np.float64)
    together, both = counts @ counts.T, seen @ seen.T
    shares = np.divide(together, both, out=np.zeros((k, k)), where=both > 0)
    np.fill_diagonal(shares, -1.0)
    nearest = shares.argmax(axis=1)
    between = shares[np.arange(k), nearest]
    is_alone = between <= 0
    return np.where(is_alone, -1, nearest), np.where(is_alone, np.nan, between)


# --- stability ------------------------------------------------------------------------------------


def _stability(
    consensus: BaseConsensus, n_resamples: int, n_drawn: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return for each cluster the mean of its largest Jaccard index in each resample."""
    k = consensus.n_clusters_
    total, times = np.zeros(k), np.zeros(k)
    # Small problems: several threads would wait for each other.
    with kernel_threads(1), track_progress("resamples", n_resamples) as done:
        for b in range(n_resamples):
            rows, found = _resample(consensus, n_drawn, rng)
            index = largest_jaccard(consensus.labels_[rows], found, k)
            known = ~np.isnan(index)
            total[known] += index[known]
            times += known
            done[0] = b + 1
    return np.divide(total, times, out=np.full(k, np.nan), where=times > 0)


def _resample(
    consensus: BaseConsensus, n_drawn: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return some objects, and their labels in the consensus of partitions drawn anew."""
    n, n_partitions = consensus.ensemble_.shape
    rows = np.sort(rng.choice(n, n_drawn, replace=False))
    columns = np.sort(rng.integers(0, n_partitions, min(n_partitions, _MOST_DRAWN)))
    part = restrict_to(consensus.ensemble_.select(columns), rows)
    again = clone(consensus)
    for name, value in consensus.get_params(deep=False).items():
        if np.ndim(value) and name in consensus.object_parameters:
            again.set_params(**{name: np.asarray(value)[rows]})
        elif np.ndim(value) == 1 and len(value) == n_partitions:
            again.set_params(**{name: np.asarray(value)[columns]})
    again.set_params(n_clusters=min(consensus.n_clusters_, n_drawn))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pass_seed(again, int(rng.integers(2**31 - 1))).fit(part)
    return rows, again.labels_


def largest_jaccard(
    labels: NDArray[np.int64], found: NDArray[np.int64], n_clusters: int
) -> NDArray[np.float64]:
    """Return for each cluster of `labels` its largest Jaccard index with a cluster of `found`.

    NaN for a cluster that has none of the objects.
    """
    n_found = int(found.max()) + 1
    both = np.bincount(labels * n_found + found, minlength=n_clusters * n_found)
    both = both.reshape(n_clusters, n_found)
    sizes = both.sum(axis=1, keepdims=True)
    index = (both / np.maximum(sizes + both.sum(axis=0) - both, 1)).max(axis=1)
    return np.where(sizes[:, 0] > 0, index, np.nan)


# --- words ----------------------------------------------------------------------------------------


def _verdict(stability: float) -> str:
    if np.isnan(stability):
        return "unknown"
    if stability >= VERY_STABLE:
        return "very stable"
    if stability >= STABLE:
        return "stable"
    return "doubtful" if stability >= DOUBTFUL else "not stable"


def _sentence(cluster: int, stability: float, nearest: int, is_only: bool) -> str:
    """Return what the stability of a cluster means."""
    share = f"{100 * stability:.0f} %"
    near = f" The nearest cluster is {nearest}." if nearest >= 0 else ""
    return {
        "unknown": f"The stability of cluster {cluster} cannot be told: "
        + ("there is no other cluster." if is_only else "too few partitions or objects."),
        "very stable": f"Cluster {cluster} is very stable: on average {share} of it is found "
        "again in resamples.",
        "stable": f"Cluster {cluster} is stable: on average {share} of it is found again in "
        "resamples.",
        "doubtful": f"Cluster {cluster} is doubtful: on average {share} of it is found again in "
        f"resamples, so its border is uncertain.{near}",
        "not stable": f"Cluster {cluster} is not stable: on average only {share} of it is found "
        f"again in resamples. Do not rely on it.{near}",
    }[_verdict(stability)]


def _text(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def _plain(value: float) -> float | None:
    return round(float(value), 6) if np.isfinite(value) else None
