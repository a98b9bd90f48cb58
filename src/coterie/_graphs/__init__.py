"""Embeddings and cuts of graphs.

Everything here takes a seed, gives the same result on any number of threads, and never returns an
empty part. METIS and Mt-KaHyPar make parts of about the same weight; spectral cuts allow clusters
of any size and need no extra package.
"""

from coterie._checks import as_seed
from coterie._graphs._bipartite import (
    LabelGraph,
    MatrixGraph,
    cluster_order,
    cluster_sizes,
    incidence_of,
)
from coterie._graphs._cluster_rows import (
    cluster_rows,
    draw_rows,
    fill_empty_parts,
    fit_kmeans,
    most_rows,
)
from coterie._graphs._hypergraph import cut_hypergraph
from coterie._graphs._metis import cut_bipartite_graph, cut_graph
from coterie._graphs._spectral import (
    BipartiteParts,
    cut_blocks,
    embed_bipartite,
    similarity_cut,
    spectral_cut,
    transfer_cut,
)

__all__ = [
    "BipartiteParts",
    "LabelGraph",
    "MatrixGraph",
    "as_seed",
    "cluster_order",
    "cluster_rows",
    "cluster_sizes",
    "cut_bipartite_graph",
    "cut_blocks",
    "cut_graph",
    "cut_hypergraph",
    "draw_rows",
    "embed_bipartite",
    "fill_empty_parts",
    "fit_kmeans",
    "incidence_of",
    "most_rows",
    "similarity_cut",
    "spectral_cut",
    "transfer_cut",
]
