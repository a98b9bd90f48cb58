"""K-means partitions with 10 to 40 clusters of 20 Gaussian clouds.

The clouds are wide enough that most rows are distinct (the tables say how many): handling equal
rows once gains little. Few iterations: partitions only have to be different and plausible.
"""

import numpy as np
from benchmarks.speed.datasets import CLUSTERS, N_FEATURES, N_PARTITIONS
from sklearn.cluster import MiniBatchKMeans
from sklearn.datasets import make_blobs


def make(n_objects, seed, start=0, clusters=CLUSTERS):
    """Other starts give other partitions of the same objects."""
    rng = np.random.default_rng(seed)
    X, _ = make_blobs(
        n_objects, N_FEATURES, centers=20, cluster_std=2.5, random_state=int(rng.integers(2**31))
    )
    if start:
        rng = np.random.default_rng([seed, start])
    labels = np.empty((n_objects, N_PARTITIONS), dtype=np.int32)
    for e in range(N_PARTITIONS):
        clusterer = MiniBatchKMeans(
            n_clusters=int(rng.integers(clusters[0], clusters[1] + 1)),
            init="random",
            n_init=1,
            max_iter=5,
            batch_size=1024,
            random_state=int(rng.integers(2**31)),
        )
        labels[:, e] = np.unique(clusterer.fit_predict(X), return_inverse=True)[1]
    return labels
