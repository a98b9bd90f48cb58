"""Consensus clustering of single cells: AnnData in, AnnData out, beside scanpy.

Results go where scanpy's go: ordered categories and confidences into ``.obs``, label matrices into
``.obsm``, parameters and tables into ``.uns``. All of them survive ``.h5ad`` files exactly.
AnnData, igraph and matplotlib are imported when a function needs them
(``pip install "coterie[anndata]"``).
"""

from coterie.anndata._consensus import cluster, consensus
from coterie.anndata._leiden import leiden_ensemble
from coterie.anndata._plots import plot_confidence, plot_stability

__all__ = ["cluster", "consensus", "leiden_ensemble", "plot_confidence", "plot_stability"]
