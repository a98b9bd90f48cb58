"""How the clusters of random parts of the data agree (Monti et al., 2003), for each number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import cophenet, linkage

from coterie._kernels.coassociation import condensed_distances
from coterie._kernels.consensus_histogram import share_histogram
from coterie._limits import memory_limit_bytes
from coterie._linkage import average_tree
from coterie._progress import track_progress
from coterie.ensemble import Ensemble
from coterie.generation import RandomizedEnsemble
from coterie.metrics import pairwise_ari

__all__ = [
    "AMBIGUOUS",
    "N_BINS",
    "RESAMPLED",
    "Distribution",
    "Resampled",
    "area_growth",
    "consensus_distribution",
    "resample",
    "runs_on_parts",
]

N_BINS = 100  # of the consensus distribution
AMBIGUOUS = (0.1, 0.9)  # co-association between these is neither together nor apart
RESAMPLED = ("pac", "area", "delta_area", "cophenetic", "stability")
"""The criteria that need runs on parts of the data."""
_PAC_TIE = 0.01
_STABILITY_TIE = 0.01
_COPHENETIC_TIE = 0.005
_APPRECIABLE = 0.05  # growth of the area that still counts


class Distribution(NamedTuple):
    """Distribution of the co-association over all pairs that some partition saw together."""

    cdf: NDArray[np.float64]
    """(101,): share of pairs with a co-association of at most 0, 0.01, ..., 1."""
    pac: float
    """Share of pairs with a co-association strictly between the limits of `AMBIGUOUS`."""

    @property
    def area(self) -> float:
        """Area under the CDF, from the values at the right ends of the bins."""
        return float(self.cdf[1:].mean())


class Resampled(NamedTuple):
    """Criteria of runs on random parts, a value for each number of clusters."""

    criteria: dict[str, NDArray[np.float64]]
    choices: dict[str, int | None]
    cdf: NDArray[np.float64]


def resample(numbers: NDArray[np.int64], runs: Callable[[int], Ensemble]) -> Resampled:
    """Return the criteria; `runs` gives the partitions into k clusters of all random parts."""
    cdf = np.empty((len(numbers), N_BINS + 1))
    pac, area, cophenetic, stability = np.empty((4, len(numbers)))
    with track_progress("runs on parts of the data", len(numbers)) as done:
        for i, k in enumerate(numbers):
            tried = runs(int(k))
            distribution = consensus_distribution(tried)
            cdf[i], pac[i], area[i] = distribution.cdf, distribution.pac, distribution.area
            cophenetic[i] = _cophenetic(tried)
            stability[i] = _mean_agreement(tried)
            done[0] = i + 1
    growth = area_growth(area)
    criteria = dict(zip(RESAMPLED, (pac, area, growth, cophenetic, stability), strict=True))
    choices = {
        "pac": _last(numbers, _low_and_local(pac)),
        "area": None,
        "delta_area": _last(numbers, growth >= _APPRECIABLE),
        "cophenetic": _last(numbers, cophenetic >= _largest(cophenetic) - _COPHENETIC_TIE),
        "stability": _last(numbers, stability >= _largest(stability) - _STABILITY_TIE),
    }
    return Resampled(criteria, choices, cdf)


def runs_on_parts(
    estimator: Any,
    X: Any,
    n_clusters: int,
    n_runs: int,
    *,
    max_samples: float = 0.8,
    max_features: float = 1.0,
    n_jobs: int | None = None,
    seed: int | None = None,
) -> Ensemble:
    """Return partitions into `n_clusters`, each of a random part of the objects and features.

    The same seed gives the same parts for every number of clusters.
    """
    maker = RandomizedEnsemble(
        estimator,
        n_partitions=n_runs,
        n_clusters=n_clusters,
        max_samples=max_samples,
        max_features=max_features,
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


def consensus_distribution(ensemble: Ensemble) -> Distribution:
    """Return the distribution of the co-association, without a matrix of pairs."""
    at_most = np.cumsum(share_histogram(ensemble.compact_codes, N_BINS))
    n_pairs = max(1, int(at_most[-1]))
    low, high = (2 * round(limit * N_BINS) for limit in AMBIGUOUS)
    return Distribution(at_most[::2] / n_pairs, float(at_most[high - 1] - at_most[low]) / n_pairs)


def area_growth(area: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the delta area: the first area itself, then the relative growth from each to the next.

    `area` is in the order of the numbers of clusters.
    """
    return np.concatenate([area[:1], np.diff(area) / np.maximum(area[:-1], 1e-12)])


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
