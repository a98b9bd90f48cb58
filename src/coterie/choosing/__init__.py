"""Choosing: is there structure, how many clusters, which method, which partitions."""

from coterie.choosing._cautions import Caution, Gap, cautions, find_gap
from coterie.choosing._compare import Comparison, MethodResult, compare
from coterie.choosing._features import ClusterFeatures, cluster_features
from coterie.choosing._how_many import ClusterNumbers, how_many_clusters
from coterie.choosing._ranks import MeanRanks, mean_ranks
from coterie.choosing._select import select
from coterie.choosing._structure import StructureTest, structure_test
from coterie.choosing._trust import ClusterTrust, cluster_trust

__all__ = [
    "Caution",
    "ClusterFeatures",
    "ClusterNumbers",
    "ClusterTrust",
    "Comparison",
    "Gap",
    "MeanRanks",
    "MethodResult",
    "StructureTest",
    "cautions",
    "cluster_features",
    "cluster_trust",
    "compare",
    "find_gap",
    "how_many_clusters",
    "mean_ranks",
    "select",
    "structure_test",
]
