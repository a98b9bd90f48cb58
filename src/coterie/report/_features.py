"""The features that make each cluster, for the report: plain data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.choosing import cluster_features
from coterie.views._feature_map import CLIP, feature_map
from coterie.views._order import consensus_order

__all__ = ["features_of_clusters"]

_MAX_ROWS = 50  # of a cluster
_MAX_CLUSTERS = 50


def features_of_clusters(
    consensus: Any, values: NDArray[np.float64], names: Sequence[str]
) -> dict[str, Any]:
    """Return the features that differ most in each cluster, and their heat map."""
    unique = _made_unique(names)
    labels = consensus.labels_
    found = cluster_features(values, labels, unique)
    shown = feature_map(values, unique, found, labels, consensus_order(consensus))
    clusters = range(min(int(consensus.n_clusters_), _MAX_CLUSTERS))
    return {
        "features": {
            "note": found.note,
            "n_features": len(names),
            "clusters": [found.top(c, _MAX_ROWS) for c in clusters],
        },
        "feature_map": {
            "features": shown.features,
            "clusters": shown.clusters,
            "percent": np.round(100 * shown.values / CLIP).astype(int).tolist(),
            "column_clusters": shown.column_clusters.tolist(),
        },
    }


def _made_unique(names: Sequence[str]) -> list[str]:
    """Return names with the position added to those that occur twice."""
    seen: set[str] = set()
    unique = []
    for j, name in enumerate(names):
        unique.append(f"{name} ({j})" if name in seen else str(name))
        seen.add(unique[-1])
    return unique
