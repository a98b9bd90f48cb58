"""Partitions by the nearest of 10 to 40 objects drawn as centres: quick for millions of objects."""

import numpy as np
from benchmarks.speed.datasets import CLUSTERS, N_FEATURES, N_PARTITIONS
from sklearn.metrics import pairwise_distances_argmin


def make(n_objects, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_objects, N_FEATURES)).astype(np.float32)
    labels = np.empty((n_objects, N_PARTITIONS), dtype=np.int32)
    for e in range(N_PARTITIONS):
        centres = X[rng.choice(n_objects, rng.integers(CLUSTERS[0], CLUSTERS[1] + 1))]
        labels[:, e] = np.unique(pairwise_distances_argmin(X, centres), return_inverse=True)[1]
    return labels
