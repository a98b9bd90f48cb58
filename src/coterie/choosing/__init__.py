"""Choosing: is there structure, how many clusters, which method, which partitions."""

from coterie.choosing._cautions import Caution, cautions
from coterie.choosing._compare import Comparison, MethodResult, compare
from coterie.choosing._how_many import ClusterNumbers, how_many_clusters
from coterie.choosing._ranks import MeanRanks, mean_ranks
from coterie.choosing._select import select
from coterie.choosing._structure import StructureTest, structure_test

__all__ = [
    "Caution",
    "ClusterNumbers",
    "Comparison",
    "MeanRanks",
    "MethodResult",
    "StructureTest",
    "cautions",
    "compare",
    "how_many_clusters",
    "mean_ranks",
    "select",
    "structure_test",
]
