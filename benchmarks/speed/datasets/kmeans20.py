"""20 k-means partitions with 20 to 60 clusters, as many as those of U-SENC."""

from benchmarks.speed.datasets import kmeans


def make(n_objects, seed):
    return kmeans.make(n_objects, seed, clusters=(20, 60))[:, :20].copy()
