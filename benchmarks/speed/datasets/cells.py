"""100 k-means partitions with 10 to 40 clusters: two draws of the 50 of `kmeans`, side by side."""

import numpy as np
from benchmarks.speed.datasets import kmeans


def make(n_objects, seed):
    # The same objects, so the same draw of the data and other starts.
    return np.hstack([kmeans.make(n_objects, seed), kmeans.make(n_objects, seed, start=1)])
