"""pyckmeans: consensus k-means.

It makes its k-means runs by itself in `fit`; here they are replaced by objects whose `predict`
gives the partitions of the benchmark, so that only the consensus, its `predict`, is timed. That
includes quality indices of the result, which cannot be turned off.
"""

import numpy as np
from pyckmeans import CKmeans


class Replay:
    def __init__(self, labels):
        self.labels = labels

    def predict(self, x):
        return self.labels[x[:, 0].astype(np.intp)]


def prepare(labels):
    return labels.shape, [Replay(column.copy()) for column in labels.T]


def average(prepared, n_clusters):
    return _consensus(prepared, n_clusters, "average")


def single(prepared, n_clusters):
    return _consensus(prepared, n_clusters, "single")


def _consensus(prepared, n_clusters, linkage):
    (n_objects, n_partitions), replays = prepared
    model = CKmeans(n_clusters, n_rep=n_partitions, metrics=())
    model.kmeans = replays
    model.sel_feat = np.zeros((n_partitions, 1), dtype=int)
    return model.predict(np.arange(n_objects, dtype=float)[:, None], linkage_type=linkage).cl
