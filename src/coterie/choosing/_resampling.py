"""How the clusters of random parts of the data agree (Monti et al., 2003), for each number."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import cophenet, linkage
from sklearn.cluster import KMeans

from coterie._kernels.coassociation import condensed_distances
from coterie._kernels.consensus_histogram import share_histogram
from coterie._limits import memory_limit_bytes
from coterie._linkage import average_tree
from coterie._progress import track_progress
from coterie.ensemble import Ensemble
from coterie.generation import RandomizedEnsemble
from coterie.metrics import pairwise_ari

__all__ = ["AMBIGUOUS", "N_BINS", "RESAMPLED", "Resampled", "consensus_cdf", "resample"]

N_BINS = 100  # of the consensus distribution
AMBIGUOUS = (0.1, 0.9)  # co-association between these is neither together nor apart
RESAMPLED = ("pac", "area", "delta_area", "cophenetic", "stability")
"""The criteria that need runs on parts of the data."""
_PAC_TIE = 0.01
_STABILITY_TIE = 0.01
_COPHENETIC_TIE = 0.005
_APPRECIABLE = 0.05  # growth of the area that still counts


class Resampled(NamedTuple):
    """Criteria of runs on random parts, a value for each number of clusters."""

    criteria: dict[str, NDArray[np.float64]]
    choices: dict[str, int | None]
    cdf: NDArray[np.float64]


def resample(numbers: NDArray[np.int64], runs: Callable[[int], Ensemble]) -> Resampled:
    """Return the criteria; `runs` gives the partitions into k clusters of all random parts."""
    cdf = np.empty((len(numbers), N_BINS + 1))
    cophenetic, stability = np.empty(len(numbers)), np.empty(len(numbers))
    with track_progress("runs on parts of the data", len(numbers)) as done:
        for i, k in enumerate(numbers):
            tried = runs(int(k))
            cdf[i] = consensus_cdf(tried)
            cophenetic[i] = _cophenetic(tried)
            stability[i] = _mean_agreement(tried)
            done[0] = i + 1
    area = cdf[:, :-1].mean(axis=1)
    growth = np.concatenate([area[:1], np.diff(area) / np.maximum(area[:-1], 1e-12)])
    pac = proportion_ambiguous(cdf)
    criteria = dict(zip(RESAMPLED, (pac, area, growth, cophenetic, stability), strict=True))
    choices = {
        "pac": _last(numbers, _low_and_local(pac)),
        "area": None,
        "delta_area": _last(numbers, growth >= _APPRECIABLE),
        "cophenetic": _last(numbers, cophenetic >= _largest(cophenetic) - _COPHENETIC_TIE),
        "stability": _last(numbers, stability >= _largest(stability) - _STABILITY_TIE),
    }
    return Resampled(criteria, choices, cdf)


def runs_of_kmeans(
    X: NDArray[np.float64],
    k: int,
    n_runs: int,
    max_samples: float,
    n_jobs: int | None,
    seed: int,
) -> Ensemble:
    """Return k-means partitions into k clusters, each of a random part of the objects."""
    maker = RandomizedEnsemble(
        KMeans(n_init=3),
        n_partitions=n_runs,
        n_clusters=k,
        max_samples=max_samples,
        n_jobs=n_jobs,
        random_state=seed,
    )
    return maker.fit_transform(X)


def cuts_of_halves(
    ensemble: Ensemble, numbers: NDArray[np.int64], n_runs: int, rng: np.random.Generator
) -> dict[int, NDArray[np.int64]]:
    """Return for each number (n, n_runs): cuts of the trees of random halves of the partitions."""
    n, n_partitions = ensemble.shape
    cuts = {int(k): np.empty((n, n_runs), dtype=np.int64) for k in numbers}
    for run in range(n_runs):
        half = np.sort(rng.choice(n_partitions, max(1, (n_partitions + 1) // 2), replace=False))
        tree = average_tree(ensemble.select(half))
        for k, columns in cuts.items():
            columns[:, run] = tree.cut(k)
    return cuts


def consensus_cdf(ensemble: Ensemble) -> NDArray[np.float64]:
    """Return the share of pairs whose co-association is at most 0, 0.01, ..., 1.

    Pairs that no partition saw together are left out. No matrix of pairs is made.
    """
    counts = share_histogram(ensemble.compact_codes, N_BINS)
    cdf: NDArray[np.float64] = np.cumsum(counts) / max(1, counts.sum())
    return cdf


def proportion_ambiguous(cdf: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return PAC, the share of pairs between the two limits of `AMBIGUOUS`."""
    low, high = (round(limit * N_BINS) for limit in AMBIGUOUS)
    pac: NDArray[np.float64] = cdf[..., high] - cdf[..., low]
    return pac


def _low_and_local(pac: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return where PAC is within the tie of its minimum, and not higher than at its neighbours."""
    padded = np.concatenate([[np.inf], pac, [np.inf]])
    is_local = (pac <= padded[:-2]) & (pac <= padded[2:])
    is_low: NDArray[np.bool_] = pac <= pac.min() + _PAC_TIE
    return is_low & is_local


def _cophenetic(ensemble: Ensemble) -> float:
    """Return the correlation of 1 - co-association with the heights of its tree."""
    n = ensemble.n_objects
    if n < 3 or 3 * 8 * n * n // 2 > memory_limit_bytes():
        return float("nan")
    distances = condensed_distances(ensemble.compact_codes, ensemble.has_missing)
    heights = cophenet(linkage(distances, "average"))
    if np.ptp(distances) == 0 or np.ptp(heights) == 0:
        return float("nan")
    return float(np.corrcoef(distances, heights)[0, 1])


def _mean_agreement(ensemble: Ensemble) -> float:
    """Return the mean adjusted Rand index of two partitions."""
    scores = pairwise_ari(ensemble)
    scores = scores[np.triu_indices(len(scores), 1)]
    scores = scores[~np.isnan(scores)]
    return float(scores.mean()) if len(scores) else float("nan")


def _largest(values: NDArray[np.float64]) -> float:
    """Return the largest value, NaN if none is defined."""
    known = values[~np.isnan(values)]
    return float(known.max()) if len(known) else float("nan")


def _last(numbers: NDArray[np.int64], is_good: NDArray[np.bool_]) -> int | None:
    places = np.flatnonzero(is_good)
    return int(numbers[places[-1]]) if len(places) else None
