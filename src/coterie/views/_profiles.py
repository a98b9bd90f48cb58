"""What the clusters are like in terms of the original features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.views._cuts import Cuts

__all__ = ["profiles"]

_MAX_FEATURES = 30
_MAX_PROFILED = 40  # clusters of one number


def profiles(
    X: NDArray[np.float64], names: Sequence[str], cuts: Cuts, fitted: int
) -> dict[str, Any]:
    """Return the mean of the features in each cluster, for each number of clusters.

    Of many features, those are kept that differ most between the clusters of the fitted number:
    by the share of their variance that lies between clusters.
    """
    at = cuts.numbers.index(fitted)
    share = between_share(X, cuts.labels[at])
    kept = np.argsort(-share, kind="stable")[:_MAX_FEATURES]
    if X.shape[1] <= _MAX_FEATURES:
        kept = np.sort(kept)  # all of them: as they stand in the file
    shown = X[:, kept]
    return {
        "features": [str(names[j]) for j in kept],
        "n_features": X.shape[1],
        "between": _rounded(share[kept]),
        "mean": _significant(shown.mean(axis=0)),
        "std": _significant(shown.std(axis=0)),
        "by_number": [
            {
                "n_clusters": k,
                "mean": [_significant(row) for row in cluster_means(shown, labels)[:_MAX_PROFILED]],
            }
            for k, labels in zip(cuts.numbers, cuts.labels, strict=True)
        ],
    }


def cluster_means(X: NDArray[np.float64], labels: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return (k, n_features)."""
    sizes = np.bincount(labels)
    sums = np.stack([np.bincount(labels, weights=column) for column in X.T], axis=1)
    means: NDArray[np.float64] = sums / sizes[:, None]
    return means


def between_share(X: NDArray[np.float64], labels: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return for each feature the share of its variance that lies between clusters."""
    sizes = np.bincount(labels)
    centre = X.mean(axis=0)
    means = cluster_means(X, labels)
    between = (sizes[:, None] * (means - centre) ** 2).sum(axis=0)
    total = ((X - centre) ** 2).sum(axis=0)
    return np.divide(between, total, out=np.zeros_like(total), where=total > 0)


def _rounded(values: NDArray[np.float64]) -> list[float]:
    return np.round(values, 4).tolist()


def _significant(values: NDArray[np.float64]) -> list[float]:
    """Return numbers with six digits: more would be noise on the page."""
    return [float(f"{value:.6g}") for value in values]
