"""Features, not labels: 20 Gaussian clouds in 16 dimensions."""

import numpy as np
from sklearn.datasets import make_blobs


def make(n_objects, seed):
    X, _ = make_blobs(n_objects, 16, centers=20, cluster_std=2.5, random_state=seed)
    return X.astype(np.float32)
