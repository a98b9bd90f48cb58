"""SciPy pdist with the Hamming metric, then SciPy's linkage."""

from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import pdist


def average(labels, n_clusters):
    return fcluster(linkage(pdist(labels, "hamming"), "average"), n_clusters, "maxclust")


def single(labels, n_clusters):
    return fcluster(linkage(pdist(labels, "hamming"), "single"), n_clusters, "maxclust")
