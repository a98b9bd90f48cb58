"""consensusclustering: consensus matrix of subsampled partitions (Monti et al., 2003).

It wants data and a clusterer; it gets the numbers of the objects and a clusterer that gives them
the labels of the benchmark. It must leave objects out, and draws them itself.
"""

import warnings

import numpy as np
from benchmarks.speed.datasets import FRACTION, SEED
from consensusclustering import ConsensusClustering


class Replay:
    def __init__(self, labels):
        self.columns = iter(labels.T)
        self.n_clusters = None

    def set_params(self, **params):
        return self

    def fit_predict(self, x):
        labels = next(self.columns)[x[:, 0]]
        return np.where(labels < 0, 0, labels)  # it refuses -1 (the warm-up draws other objects)


def coassociation_subsampled(labels, n_clusters):
    n_objects, n_partitions = labels.shape
    model = ConsensusClustering(
        Replay(labels),
        min_clusters=n_clusters,
        max_clusters=n_clusters,
        n_resamples=n_partitions,
        resample_frac=FRACTION,
        rng=SEED,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # pairs never drawn together: 0/0
        model.fit(np.arange(n_objects)[:, None])
    return model.consensus_k(n_clusters)
