"""SciPy's average linkage on a precomputed matrix: making the matrix is not timed."""

from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import pdist


def prepare(labels):
    return pdist(labels, "hamming")


def normalized_edges(distances, n_clusters):
    return fcluster(linkage(distances, "average"), n_clusters, "maxclust")
