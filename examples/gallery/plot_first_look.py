"""
A first look: one call, one picture
===================================

Run the default on 178 wines, described by 13 chemical measurements, and look at what the
partitions agree on.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

from coterie import ConsensusClustering, TablePreparation, plotting

X = TablePreparation().fit_transform(load_wine().data)
model = ConsensusClustering(random_state=0).fit(X)
print(model.ensemble_)
print(f"{model.n_clusters_} clusters, mean confidence {model.confidence_.mean():.2f}")

# %%
# Dark squares are groups that the partitions keep together. The confidence of each object says
# how clearly its own cluster is ahead of the next best one.

_, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
plotting.plot_coassociation(model, ax=axes[0])
plotting.plot_confidence(model, ax=axes[1])

# %%
# Why this number of clusters? The score of each number, and how certain the choice is: the share
# of bootstrap samples of the objects in which it wins.

print(model.cluster_numbers_)
