"""SciPy sparse product of the incidence with itself, made dense (as ours is)."""

import numpy as np
from benchmarks.speed.methods.onehot import incidence


def coassociation(labels, n_clusters):
    Z = incidence(labels)
    C = (Z @ Z.T).toarray()
    C /= labels.shape[1]
    return C


def coassociation_subsampled(labels, n_clusters):
    Z = incidence(labels)
    present = (labels >= 0).astype(np.float32)
    C = (Z @ Z.T).toarray()
    C /= np.maximum(present @ present.T, 1)
    return C
