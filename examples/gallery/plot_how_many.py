"""
How many clusters?
==================

Seven groups, of which two overlap, so that six can be seen. The rule scores every number of
clusters by how compact and how isolated the clusters are, and tells how certain the choice is.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_blobs

from coterie import how_many_clusters, plotting, structure_test

X, _ = make_blobs(500, centers=7, cluster_std=0.8, center_box=(-12, 12), random_state=1)
numbers = how_many_clusters(X, n_runs=10, random_state=0)
print(numbers.reason)
print("by other criteria:", numbers.choices)

# %%
# The score of each number, and the consensus distribution: a flat curve in the middle means that
# pairs are either always or never together.

_, axes = plt.subplots(1, 3, figsize=(11, 3.4), layout="constrained")
axes[0].scatter(*X.T, s=5)
axes[0].set(xticks=[], yticks=[])
plotting.plot_n_clusters(numbers, ax=axes[1])
plotting.plot_consensus_cdf(numbers, ax=axes[2])

# %%
# And is there anything at all?

print(structure_test(X, random_state=0))
