"""What pictures of one consensus per number of clusters show."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.ensemble import Ensemble
from coterie.metrics import item_consensus
from coterie.metrics._consensus import silhouette_of_items
from coterie.per_k import ConsensusPerK
from coterie.views._fitted import fitted
from coterie.views._order import consensus_order

__all__ = [
    "AtNumber",
    "ConsensusCurves",
    "at_number",
    "consensus_curves",
    "consensus_silhouette",
    "stacked_items",
    "tracking_table",
]


class AtNumber(NamedTuple):
    """The consensus of one number of clusters, with the attributes of a fitted method."""

    labels_: NDArray[np.int64]
    confidence_: NDArray[np.float64]
    ensemble_: Ensemble
    linkage_: NDArray[np.float64]
    n_clusters_: int


def at_number(model: Any, k: int | None = None) -> Any:
    """Return the consensus of `k` clusters (default: the best number), or that of any method.

    It has the attributes of `AtNumber` at least.
    """
    if isinstance(model, ConsensusPerK):
        k = model.best_k_ if k is None else int(k)
        ensemble = model._ensemble(k)
        return AtNumber(model.labels_[k], model.confidence_[k], ensemble, model.linkages_[k], k)
    consensus = fitted(model)
    if k is not None and k != consensus.n_clusters_:
        raise ValueError(
            f"k must be the number of clusters of the consensus ({consensus.n_clusters_}) or None; "
            f"got {k!r}. Only ConsensusPerK has several numbers."
        )
    return consensus


def tracking_table(model: ConsensusPerK) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the objects in the order of the best number's tree, and their clusters for each k.

    The table has a row for each number of clusters, in the order of `k_range_`.
    """
    order = consensus_order(at_number(model))
    return order, np.stack([model.labels_[k][order] for k in model.k_range_.tolist()])


class ConsensusCurves(NamedTuple):
    """Distribution of the consensus for each number of clusters."""

    numbers: NDArray[np.int64]
    cdf: NDArray[np.float64]
    """(m, 101): share of pairs with a consensus of at most 0, 0.01, ..., 1."""
    delta_area: NDArray[np.float64]
    best: int


def consensus_curves(source: Any) -> ConsensusCurves:
    """Return the curves of a `ConsensusPerK`, or of `how_many_clusters` with runs on parts."""
    if isinstance(source, ConsensusPerK):
        numbers = source.k_range_
        cdf = np.stack([source.cdf(k) for k in numbers.tolist()])
        return ConsensusCurves(
            numbers, cdf, np.array(list(source.delta_area_.values())), source.best_k_
        )
    if not len(source.cdf):
        raise ValueError(
            "this plot shows runs on random parts of the data, and numbers has none. Make it with "
            "how_many_clusters(X, n_runs=20) or ConsensusPerK."
        )
    growth = source.criteria["delta_area"]
    return ConsensusCurves(source.n_clusters, source.cdf, growth, source.recommended)


def stacked_items(view: Any, order: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return (n, k): the item consensus of the objects in their order, NaN as 1.

    The only member of a cluster has no item consensus with it; it is drawn whole.
    """
    item = item_consensus(view.ensemble_, view.labels_)[order]
    return np.nan_to_num(item, nan=1.0)


def consensus_silhouette(view: Any) -> NDArray[np.float64]:
    """Return the silhouette of every object by the distance 1 - consensus."""
    return silhouette_of_items(item_consensus(view.ensemble_, view.labels_), view.labels_)
