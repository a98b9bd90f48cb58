"""The first 30 of the k-means partitions."""

from benchmarks.speed.datasets import kmeans

N_PARTITIONS = 30


def make(n_objects, seed):
    return kmeans.make(n_objects, seed)[:, :N_PARTITIONS].copy()
