"""Heat map of features x objects: the features that make the clusters, in consensus order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.choosing import ClusterFeatures

__all__ = ["CLIP", "FeatureMap", "diverging_palette", "feature_map", "marker_features"]

CLIP = 2.5
"""Standard deviations from the mean at which colours end."""
_LEVELS = 101
# Below the mean orange, above it blue, as in the table of profiles.
_STOPS = ((179, 88, 6), (241, 163, 64), (247, 247, 247), (103, 169, 207), (5, 72, 130))


class FeatureMap(NamedTuple):
    """What the heat map shows."""

    features: list[str]
    """Names of the rows."""
    clusters: list[int]
    """The cluster that each row was chosen for."""
    values: NDArray[np.float64]
    """(rows, columns): standard deviations from the mean of the feature, in [-CLIP, CLIP]."""
    edges: NDArray[np.int64]
    """(columns + 1,): column b holds the objects from edges[b] on of the order."""
    column_clusters: NDArray[np.int64]
    """(columns,): the cluster of most objects of a column."""


def marker_features(found: ClusterFeatures, n_features: int) -> list[tuple[str, int]]:
    """Return names of features and the cluster each is chosen for; no feature twice.

    Clusters take turns, each with its next feature of largest effect.
    """
    k = int(found.cluster.max()) + 1
    rows = [np.flatnonzero(found.cluster == c) for c in range(k)]
    taken: dict[str, int] = {}
    for rank in range(len(rows[0])):
        for c in range(k):
            if len(taken) < n_features:
                taken.setdefault(str(found.feature[rows[c][rank]]), c)
    order = sorted(taken, key=lambda name: taken[name])
    return [(name, taken[name]) for name in order]


def feature_map(
    X: NDArray[Any],
    names: Sequence[str],
    found: ClusterFeatures,
    labels: NDArray[np.int64],
    order: NDArray[np.int64],
    *,
    n_features: int = 30,
    most_columns: int = 400,
) -> FeatureMap:
    """Return the heat map of the features that differ most, objects in the given order.

    Neighbouring objects share a column where there are more than `most_columns`; the value is
    their mean. Missing values count as the mean of the feature.
    """
    chosen = marker_features(found, n_features)
    place = {str(name): j for j, name in enumerate(names)}
    columns = [place[name] for name, _ in chosen]
    values = np.asarray(X[:, columns], dtype=np.float64)
    mean, deviation = np.nanmean(values, axis=0), np.nanstd(values, axis=0)
    scaled = np.nan_to_num((values - mean) / np.where(deviation > 0, deviation, 1.0))
    n = len(order)
    edges = np.linspace(0, n, min(n, most_columns) + 1).round().astype(np.int64)
    sums = np.add.reduceat(scaled[order], edges[:-1], axis=0)
    means = np.clip(sums / np.diff(edges)[:, None], -CLIP, CLIP)
    middle = order[(edges[:-1] + edges[1:] - 1) // 2]
    return FeatureMap(
        [name for name, _ in chosen], [c for _, c in chosen], means.T, edges, labels[middle]
    )


def diverging_palette() -> NDArray[np.uint8]:
    """Return (101, 3) colours from orange over white to blue."""
    stops = np.array(_STOPS, dtype=np.float64)
    at = np.linspace(0, len(stops) - 1, _LEVELS)
    colours = np.stack([np.interp(at, range(len(stops)), c) for c in stops.T], axis=1)
    return colours.round().astype(np.uint8)
