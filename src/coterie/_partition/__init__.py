"""Cutting graphs and hypergraphs into parts, behind one kind of signature.

Everything here takes a seed, gives the same result on any number of threads, and never returns an
empty part. METIS and Mt-KaHyPar make parts of about the same weight; spectral partitions take
clusters of any size and need no extra package.
"""

from coterie._partition._blas import one_blas_thread
from coterie._partition._hypergraph import cut_hypergraph, settled_spectral_cut
from coterie._partition._kmeans import (
    LabelRows,
    Parts,
    Points,
    fill_empty_parts,
    kmeans,
    lloyd,
)
from coterie._partition._metis import cut_bipartite_graph, cut_graph, cut_weight
from coterie._partition._moves import balanced_cut
from coterie._partition._options import as_seed, check_partitioner, heaviest_parts
from coterie._partition._spectral import (
    cluster_order,
    cluster_sizes,
    incidence_of,
    spectral_bipartite,
    spectral_bipartite_labels,
    spectral_dense,
    spectral_from_factor,
    spectral_graph,
    spectral_hypergraph,
    spectral_labels,
)

__all__ = [
    "LabelRows",
    "Parts",
    "Points",
    "as_seed",
    "balanced_cut",
    "check_partitioner",
    "cluster_order",
    "cluster_sizes",
    "cut_bipartite_graph",
    "cut_graph",
    "cut_hypergraph",
    "cut_weight",
    "fill_empty_parts",
    "heaviest_parts",
    "incidence_of",
    "kmeans",
    "lloyd",
    "one_blas_thread",
    "settled_spectral_cut",
    "spectral_bipartite",
    "spectral_bipartite_labels",
    "spectral_dense",
    "spectral_from_factor",
    "spectral_graph",
    "spectral_hypergraph",
    "spectral_labels",
]
