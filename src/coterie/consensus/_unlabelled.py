"""Objects that no partition labels: left out of the fit, then put into the largest cluster.

They say nothing about the clusters, so they must not use one up. A method is fitted to the other
objects; then its fitted attributes over objects are extended, so that all of them cover the
whole ensemble:

- `labels_`: the largest cluster, `confidence_`: 0;
- `membership_`: 1/k where rows are probabilities, else 0;
- `linkage_` and `tree_`: they are joined first, at the lowest height, with the first object of the
  largest cluster, so that every cut leaves them with it;
- `sample_`: the same objects, counted among all;
- curves over the number of clusters: splitting them off changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.consensus._curve import ClusterNumberCurve
from coterie.ensemble import Ensemble

__all__ = ["extend_attributes", "is_one_cluster", "labelled_objects", "labelled_part"]


def labelled_objects(ensemble: Ensemble) -> NDArray[np.bool_]:
    """Return (n,): whether at least one partition labels the object."""
    if not ensemble.has_missing:
        return np.ones(ensemble.n_objects, dtype=bool)
    return np.any(ensemble.labels >= 0, axis=1)


def labelled_part(ensemble: Ensemble, labelled: NDArray[np.bool_]) -> Ensemble:
    """Return the ensemble of the labelled objects; its codes stay the same."""
    part = ensemble.take(labelled)
    if ensemble.posteriors is None and ensemble.subspaces is None:
        return part
    # No cluster disappears, so that memberships and subspaces still fit.
    posteriors = ensemble.posteriors and [p[labelled] for p in ensemble.posteriors]
    return Ensemble(part, posteriors=posteriors, subspaces=ensemble.subspaces)


def is_one_cluster(ensemble: Ensemble) -> bool:
    """Whether no partition puts two objects apart, and shared partitions connect all objects."""
    if (ensemble.n_clusters > 1).any():
        return False
    if not ensemble.has_missing:
        return True
    seen = ensemble.labels >= 0
    reached, n_reached = seen[:, 0], 0
    while reached.sum() > n_reached:
        n_reached = reached.sum()
        reached = np.any(seen[:, np.any(seen[reached], axis=0)], axis=1)
    return bool(reached.all())


def extend_attributes(consensus: Any, labelled: NDArray[np.bool_]) -> None:
    """Extend the fitted attributes of a consensus from the labelled objects to all."""
    consensus.labels_ = _with_value(consensus.labels_, labelled, 0)
    consensus.confidence_ = _with_value(consensus.confidence_, labelled, 0.0)
    anchor = int(np.flatnonzero(labelled & (consensus.labels_ == 0))[0])
    for name, extend in _EXTENSIONS.items():
        value = getattr(consensus, name, None)
        if value is not None:
            setattr(consensus, name, extend(value, labelled, anchor))


def _with_value(values: NDArray, labelled: NDArray[np.bool_], value: Any) -> NDArray:
    extended = np.full((len(labelled), *values.shape[1:]), value, dtype=values.dtype)
    extended[labelled] = values
    return extended


def _extend_membership(values: NDArray, labelled: NDArray[np.bool_], anchor: int) -> NDArray:
    are_probabilities = np.allclose(values.sum(axis=1), 1.0)
    return _with_value(values, labelled, 1.0 / values.shape[1] if are_probabilities else 0.0)


def _extend_linkage(linkage: NDArray, labelled: NDArray[np.bool_], anchor: int) -> NDArray:
    from coterie._kernels.linkage import scipy_tree, smallest_leaves

    known, new = np.flatnonzero(labelled), np.flatnonzero(~labelled)
    if len(linkage) + 1 < len(known):  # the tree of a sample
        return linkage
    first, second = smallest_leaves(np.ascontiguousarray(linkage))
    lowest = linkage[:, 2].min(initial=np.inf)
    lowest = lowest if np.isfinite(lowest) else 0.0
    return scipy_tree(
        np.concatenate([np.full(len(new), anchor), known[first]]),
        np.concatenate([new, known[second]]),
        np.concatenate([np.full(len(new), lowest), linkage[:, 2]]),
        len(labelled),
    )


def _extend_tree(tree: NDArray, labelled: NDArray[np.bool_], anchor: int) -> NDArray:
    known, new = np.flatnonzero(labelled), np.flatnonzero(~labelled)
    extended = np.empty((len(labelled) - 1, 3))
    extended[: len(new), :2] = np.sort(np.column_stack([new, np.full(len(new), anchor)]), axis=1)
    extended[: len(new), 2] = tree[:, 2].min() if len(tree) else 0.0
    extended[len(new) :, :2] = known[tree[:, :2].astype(np.int64)]
    extended[len(new) :, 2] = tree[:, 2]
    return extended[np.lexsort((extended[:, 1], extended[:, 0], extended[:, 2]))]


def _extend_curve(curve: ClusterNumberCurve, labelled: NDArray[np.bool_], anchor: int) -> Any:
    """Add the numbers of clusters with unlabelled objects apart, if it covers all numbers."""
    n_more = int((~labelled).sum())
    if curve.name == "lifetime":
        # n_objects - 2 numbers: two labelled objects or fewer have no curve.
        n_more = max(len(labelled) - 2, 0) - len(curve)
        return curve.extended(n_more, 0.0)
    return curve.extended(n_more, curve[len(curve)]) if curve.name == "log-likelihood" else curve


def _extend_merges(values: NDArray, labelled: NDArray[np.bool_], anchor: int) -> NDArray:
    first = values[0] if len(values) else np.inf  # as many as the height in linkage_ says
    return np.concatenate([np.full(int((~labelled).sum()), first), values])


def _extend_sample(sample: NDArray, labelled: NDArray[np.bool_], anchor: int) -> NDArray:
    return np.flatnonzero(labelled)[sample]


def _extend_labels(values: NDArray, labelled: NDArray[np.bool_], anchor: int) -> NDArray:
    return _with_value(values, labelled, 0)


_EXTENSIONS: dict[str, Callable[[Any, NDArray[np.bool_], int], Any]] = {
    "membership_": _extend_membership,
    "linkage_": _extend_linkage,
    "sample_": _extend_sample,
    "tree_": _extend_tree,
    "n_clusters_curve_": _extend_curve,
    "normalized_edges_": _extend_merges,
    "graph_labels_": _extend_labels,
}
"""By the name of the attribute; a method with another one over objects adds it here."""
