"""
Labels that outgrow one machine: Dask
=====================================

A label matrix as a Dask array: its rows stay in blocks, on one machine or on a cluster, and only
small tables of clusters come together. The result is that of the same labels in memory.
"""

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from coterie import HBGF, RandomizedEnsemble

X, _ = make_blobs(20_000, centers=6, cluster_std=1.2, random_state=2)
maker = RandomizedEnsemble(
    n_partitions=15, n_clusters=(8, 16), max_samples=2_000, left_out="assigned", random_state=0
)
labels = maker.fit_transform(X).labels
blocks = da.from_array(labels, chunks=(2_500, -1))
print(blocks)

# %%
# Fit on the blocks, and on the array.

from_blocks = HBGF(n_clusters=6, random_state=0).fit(blocks)
from_memory = HBGF(n_clusters=6, random_state=0).fit(labels)
same = np.asarray(from_blocks.labels_) == from_memory.labels_
print(f"the same cluster for {same.mean():.1%} of the objects")

_, axes = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained")
for ax, model, title in zip(axes, (from_blocks, from_memory), ("Dask", "NumPy"), strict=True):
    ax.scatter(*X[::5].T, c=np.asarray(model.labels_)[::5], cmap="tab10", s=3)
    ax.set(xticks=[], yticks=[], title=title)
