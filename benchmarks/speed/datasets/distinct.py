"""K-means partitions in which no two objects have the same row."""

import numpy as np
from benchmarks.speed.datasets import kmeans


def make(n_objects, seed):
    n_drawn = n_objects
    for _ in range(6):
        n_drawn += n_drawn // 3
        labels = kmeans.make(n_drawn, seed)
        _, first = np.unique(labels, axis=0, return_index=True)
        if len(first) >= n_objects:
            return labels[np.sort(first)[:n_objects]]
    raise RuntimeError(f"no {n_objects} distinct rows among {n_drawn} objects")
