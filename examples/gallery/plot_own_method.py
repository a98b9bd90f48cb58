"""
A method of one's own
=====================

A consensus method is a class with one function, `_fit(ensemble)`, that returns a label for each
object. Here it is the medoid: the partition that agrees most with the others. Confidence,
prediction, the report, `compare` and plots come with it.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

from coterie import EAC, LWEA, RandomizedEnsemble, compare, plotting
from coterie.consensus import BaseConsensus
from coterie.metrics import pairwise_nmi


class Medoid(BaseConsensus):
    """The partition of the ensemble that agrees most with the others."""

    def __init__(self, n_clusters=None):
        self.n_clusters = n_clusters

    def _fit(self, ensemble):
        agreement = pairwise_nmi(ensemble).sum(axis=1)
        self.medoid_ = int(np.argmax(np.round(agreement, 12)))
        return ensemble.labels[:, self.medoid_].astype(np.int64)


X, species = load_iris(return_X_y=True)
ensemble = RandomizedEnsemble(n_partitions=40, n_clusters=(3, 6), random_state=0).fit_transform(X)
medoid = Medoid().fit(ensemble)
print(f"partition {medoid.medoid_} with {medoid.n_clusters_} clusters")

# %%
# Beside two other methods, on the same ensemble.

methods = {"medoid": Medoid(), "eac": EAC(n_clusters=3), "lwea": LWEA(n_clusters=3)}
result = compare(ensemble, species, methods=methods, n_clusters=None, stability=2)
print(result)

_, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
plotting.plot_coassociation(medoid, ax=axes[0])
plotting.plot_agreement(result, ax=axes[1])
