"""scikit-learn's AgglomerativeClustering."""

import numpy as np
from benchmarks.speed.methods import sparse_product_dense
from sklearn.cluster import AgglomerativeClustering


def average(labels, n_clusters):
    """On a precomputed 1 - C, C from the sparse product."""
    C = sparse_product_dense.coassociation(labels, n_clusters)
    distance = np.subtract(1.0, C, out=C)
    clusterer = AgglomerativeClustering(n_clusters, metric="precomputed", linkage="average")
    return clusterer.fit_predict(distance)


def single(labels, n_clusters):
    """On the labels themselves."""
    clusterer = AgglomerativeClustering(n_clusters, metric="hamming", linkage="single")
    return clusterer.fit_predict(labels)
