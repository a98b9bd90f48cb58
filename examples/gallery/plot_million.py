"""
A million objects
=================

Nothing of the size of all pairs is ever made: 20 partitions of a million points, each fitted to a
sample and then given to everybody, and a cut of the graph of objects and clusters.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from coterie import HBGF, RandomizedEnsemble
from coterie.metrics import ari

X, truth = make_blobs(1_000_000, centers=12, cluster_std=1.1, center_box=(-14, 14), random_state=4)

start = time.perf_counter()
maker = RandomizedEnsemble(
    n_partitions=20, n_clusters=(20, 40), max_samples=5_000, left_out="assigned", random_state=0
)
ensemble = maker.fit_transform(X)
made = time.perf_counter()
hbgf = HBGF(n_clusters=12, random_state=0).fit(ensemble)
done = time.perf_counter()
print(ensemble)
print(f"partitions {made - start:.0f} s, consensus {done - made:.0f} s")
print(f"ARI with the truth {ari(truth, hbgf.labels_):.3f}")

# %%
# A sample of the objects, by cluster and by confidence. Low confidence lies along the borders.

shown = np.random.default_rng(0).choice(len(X), 6_000, replace=False)
_, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
axes[0].scatter(*X[shown].T, c=hbgf.labels_[shown], cmap="tab20", s=3)
axes[0].set_title("consensus of 1,000,000 objects")
dots = axes[1].scatter(*X[shown].T, c=hbgf.confidence_[shown], cmap="viridis", s=3, vmin=0.5)
axes[1].set_title("confidence")
plt.colorbar(dots, ax=axes[1])
for ax in axes:
    ax.set(xticks=[], yticks=[])
