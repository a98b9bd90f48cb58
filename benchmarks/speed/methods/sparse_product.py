"""SciPy sparse product of the incidence with itself; the result stays sparse."""

import numpy as np
from benchmarks.speed.methods.onehot import incidence


def coassociation(labels, n_clusters):
    Z = incidence(labels)
    C = Z @ Z.T
    C.data /= labels.shape[1]
    return C


def overlap(labels, n_clusters):
    Z = incidence(labels, dtype=np.int32)
    return (Z.T @ Z).toarray()
