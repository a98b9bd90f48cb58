"""openensembles: co-occurrence matrix and its linkage.

It clusters data by itself; partitions made elsewhere are put into its `cluster` object.
Its `cut` takes a distance, so its tree is cut by SciPy into the number of clusters asked for.
"""

import openensembles as oe
import pandas as pd
from scipy.cluster.hierarchy import fcluster


def prepare(labels):
    frame = pd.DataFrame(labels.astype(float))
    ensemble = oe.cluster(oe.data(frame, list(range(labels.shape[1]))))
    for e, column in enumerate(labels.T):
        ensemble.labels[f"partition {e}"] = column.copy()
    return ensemble


def coassociation(ensemble, n_clusters):
    return ensemble.co_occurrence_matrix().co_matrix.to_numpy()


def average(ensemble, n_clusters):
    return fcluster(ensemble.co_occurrence_matrix().link("average"), n_clusters, "maxclust")


def single(ensemble, n_clusters):
    return fcluster(ensemble.co_occurrence_matrix().link("single"), n_clusters, "maxclust")
