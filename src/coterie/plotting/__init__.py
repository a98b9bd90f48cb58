"""Pictures of ensembles and of their consensus, by matplotlib.

Every function takes ``ax=None`` and returns the axes it drew on. Names and matplotlib are
imported when first used; no global setting is touched.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from coterie.plotting._choosing import plot_agreement as plot_agreement
    from coterie.plotting._choosing import plot_calibration as plot_calibration
    from coterie.plotting._choosing import plot_consensus_cdf as plot_consensus_cdf
    from coterie.plotting._choosing import plot_critical_differences as plot_critical_differences
    from coterie.plotting._choosing import plot_delta_area as plot_delta_area
    from coterie.plotting._choosing import plot_n_clusters as plot_n_clusters
    from coterie.plotting._clustering_tree import plot_clustering_tree as plot_clustering_tree
    from coterie.plotting._clusters import plot_confidence as plot_confidence
    from coterie.plotting._clusters import plot_memberships as plot_memberships
    from coterie.plotting._clusters import plot_sizes as plot_sizes
    from coterie.plotting._coassociation import plot_coassociation as plot_coassociation
    from coterie.plotting._embedding import plot_embedding as plot_embedding
    from coterie.plotting._feature_map import plot_feature_map as plot_feature_map
    from coterie.plotting._features import plot_feature_weights as plot_feature_weights
    from coterie.plotting._features import plot_words as plot_words
    from coterie.plotting._partitions import plot_diversity as plot_diversity
    from coterie.plotting._partitions import plot_likelihood as plot_likelihood
    from coterie.plotting._partitions import plot_reliability as plot_reliability
    from coterie.plotting._per_k import plot_cluster_consensus as plot_cluster_consensus
    from coterie.plotting._per_k import plot_consensus_silhouette as plot_consensus_silhouette
    from coterie.plotting._per_k import plot_item_consensus as plot_item_consensus
    from coterie.plotting._per_k import plot_tracking as plot_tracking
    from coterie.plotting._trees import plot_criterion as plot_criterion
    from coterie.plotting._trees import plot_dendrogram as plot_dendrogram
    from coterie.plotting._trees import plot_lifetimes as plot_lifetimes
    from coterie.plotting._trees import plot_tree as plot_tree

_HOME = {
    "plot_agreement": "_choosing",
    "plot_calibration": "_choosing",
    "plot_consensus_cdf": "_choosing",
    "plot_critical_differences": "_choosing",
    "plot_delta_area": "_choosing",
    "plot_n_clusters": "_choosing",
    "plot_cluster_consensus": "_per_k",
    "plot_clustering_tree": "_clustering_tree",
    "plot_coassociation": "_coassociation",
    "plot_confidence": "_clusters",
    "plot_consensus_silhouette": "_per_k",
    "plot_criterion": "_trees",
    "plot_dendrogram": "_trees",
    "plot_diversity": "_partitions",
    "plot_feature_map": "_feature_map",
    "plot_embedding": "_embedding",
    "plot_feature_weights": "_features",
    "plot_item_consensus": "_per_k",
    "plot_lifetimes": "_trees",
    "plot_likelihood": "_partitions",
    "plot_memberships": "_clusters",
    "plot_reliability": "_partitions",
    "plot_sizes": "_clusters",
    "plot_tracking": "_per_k",
    "plot_tree": "_trees",
    "plot_words": "_features",
}

__all__ = [*_HOME]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'coterie.plotting' has no attribute {name!r}")
    value = getattr(import_module(f"coterie.plotting.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
