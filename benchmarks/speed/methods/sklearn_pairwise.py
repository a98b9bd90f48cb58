"""scikit-learn pairwise distances with the Hamming metric."""

import numpy as np
from sklearn.metrics import pairwise_distances


def coassociation(labels, n_clusters):
    C = pairwise_distances(labels, metric="hamming")
    return np.subtract(1.0, C, out=C)
