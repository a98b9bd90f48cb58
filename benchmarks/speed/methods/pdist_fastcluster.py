"""SciPy pdist with the Hamming metric, then fastcluster in place: the best by hand."""

import fastcluster
from scipy.cluster.hierarchy import fcluster
from scipy.spatial.distance import pdist


def average(labels, n_clusters):
    return _cut(labels, n_clusters, "average")


def single(labels, n_clusters):
    return _cut(labels, n_clusters, "single")


def _cut(labels, n_clusters, linkage):
    tree = fastcluster.linkage(pdist(labels, "hamming"), method=linkage, preserve_input=False)
    return fcluster(tree, n_clusters, "maxclust")
