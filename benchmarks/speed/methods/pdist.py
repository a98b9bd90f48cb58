"""SciPy pdist with the Hamming metric."""

import numpy as np
from scipy.spatial.distance import pdist, squareform


def coassociation(labels, n_clusters):
    C = squareform(pdist(labels, "hamming"))
    return np.subtract(1.0, C, out=C)
