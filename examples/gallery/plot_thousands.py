"""
Thousands of partitions
=======================

More partitions make the consensus steadier, and cheap ones will do: each of these 4,000
partitions gives every wine to the nearest of a few wines drawn at random, in half of the
features. The consensus of 10, 30, ..., 2,000 of them is compared with that of as many others.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.metrics import pairwise_distances_argmin
from sklearn.preprocessing import StandardScaler

from coterie import EAC, Ensemble
from coterie.metrics import ari

X = StandardScaler().fit_transform(load_wine().data)
rng = np.random.default_rng(0)


def nearest_of_some():
    """Return one partition: the nearest of 5 to 20 random wines in 6 of 13 features."""
    features = rng.choice(13, size=6, replace=False)
    centres = rng.choice(len(X), size=rng.integers(5, 21), replace=False)
    return pairwise_distances_argmin(X[:, features], X[centres][:, features])


pool = Ensemble(np.column_stack([nearest_of_some() for _ in range(4_000)]))
print(pool)

# %%
# Time grows linearly with the partitions, and agreement between two independent halves goes to
# 1.

numbers = (10, 30, 100, 300, 1_000, 2_000)
agreement = {"average": [], "single": []}
for number in numbers:
    for name in agreement:
        method = EAC(n_clusters=3, linkage=name)
        pairs = []
        for _ in range(3):
            drawn = rng.permutation(4_000)[: 2 * number]
            halves = [pool.select(np.sort(part)) for part in np.split(drawn, 2)]
            pairs.append(ari(*(method.fit_predict(half) for half in halves)))
        agreement[name].append(np.mean(pairs))
start = time.perf_counter()
EAC(n_clusters=3).fit(pool)
print(f"EAC of all 4,000 partitions: {time.perf_counter() - start:.2f} s")

_, ax = plt.subplots(figsize=(5.5, 3.4), layout="constrained")
for (name, values), mark in zip(agreement.items(), "os", strict=True):
    ax.semilogx(numbers, values, marker=mark, label=f"EAC, {name} linkage")
ax.set(xlabel="partitions", ylabel="ARI between two consensus", ylim=(0, 1.02))
ax.legend(frameon=False)
