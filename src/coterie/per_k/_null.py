"""Data of the same covariance without clusters, and PAC compared with theirs (M3C)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist, squareform

from coterie._progress import track_progress
from coterie.choosing._resampling import consensus_distribution
from coterie.per_k._distances import coordinates
from coterie.per_k._runs import Runs

__all__ = ["compare_with_null", "draw_null", "null_pac"]


def null_pac(
    runs: Runs, X: NDArray[np.float64], numbers: NDArray[np.int64], n_null: int, seed: int
) -> NDArray[np.float64]:
    """Return (n_null, len(numbers)): PAC of the same analysis of data without clusters."""
    found = np.empty((n_null, len(numbers)))
    rng = np.random.default_rng(seed)
    with track_progress("data without clusters", n_null) as done:
        for b, drawn in enumerate(draw_null(X, n_null, rng, runs)):
            made = runs.make(drawn, numbers, int(rng.integers(2**31 - 1)))
            found[b] = [consensus_distribution(made[k]).pac for k in numbers.tolist()]
            done[0] += 1
    return found


def draw_null(
    X: NDArray[np.float64], n_null: int, rng: np.random.Generator, runs: Runs
) -> Iterator[NDArray[np.float64]]:
    """Yield data whose principal components are independent normal variables.

    Mean and covariance of the features are those of `X` in expectation. Precomputed distances
    are replaced by those of such data in principal coordinates. For NMF negative values become 0.
    """
    from_distances = runs.distance == "precomputed"
    features = coordinates(X, "precomputed") if from_distances else X
    mean = features.mean(axis=0)
    _, singular, axes = np.linalg.svd(features - mean, full_matrices=False)
    scale = singular / np.sqrt(max(len(features) - 1, 1))
    for _ in range(n_null):
        drawn = mean + (rng.normal(size=(len(features), len(scale))) * scale) @ axes
        if from_distances:
            yield squareform(pdist(drawn))
        else:
            yield np.maximum(drawn, 0.0) if runs.estimator == "nmf" else drawn


def compare_with_null(
    pac: NDArray[np.float64], null: NDArray[np.float64], n_pairs: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the relative cluster stability index (RCSI) and the p-value of each number.

    RCSI is log(mean PAC of the null) - log(PAC); a PAC of 0 counts as half a pair.
    """
    least = 0.5 / max(n_pairs, 1)
    rcsi = np.log(np.maximum(null.mean(axis=0), least)) - np.log(np.maximum(pac, least))
    p_values = (1 + (null <= pac).sum(axis=0)) / (len(null) + 1)
    return rcsi, p_values
