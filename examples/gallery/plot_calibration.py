"""
Is confidence right?
====================

Confidence says how clearly an object's own cluster is ahead of the next one. If that means
something, objects of high confidence must be right more often. Here it is measured on handwritten
digits; "right" means that the object has the majority's digit of its cluster.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from coterie import ConsensusClustering

X, digit = load_digits(return_X_y=True)
counts = {}
for name in ("lwea", "hbgf", "eac"):
    model = ConsensusClustering(n_clusters=10, consensus=name, random_state=0).fit(X)
    majority = np.array([np.bincount(digit[model.labels_ == c]).argmax() for c in range(10)])
    right = majority[model.labels_] == digit
    order = np.argsort(model.confidence_, kind="stable")
    tenths = np.array_split(order, 10)
    counts[name] = (
        [model.confidence_[t].mean() for t in tenths],
        [right[t].mean() for t in tenths],
    )
    low, high = right[tenths[0]].mean(), right[tenths[-1]].mean()
    print(f"{name:5} right: {right.mean():.2f}, least sure tenth {low:.2f}, most sure {high:.2f}")

# %%
# Each dot is a tenth of the objects. Where a line rises, confidence orders objects rightly. It
# is no probability: partitions that all make the same mistake are confident and wrong.

_, ax = plt.subplots(figsize=(5.2, 4), layout="constrained")
for (name, (sure, right)), mark in zip(counts.items(), "os^", strict=True):
    ax.plot(sure, right, marker=mark, label=name)
ax.set(xlabel="mean confidence of a tenth of the objects", ylabel="share with the cluster's digit")
ax.set_ylim(0, 1.02)
ax.legend(frameon=False)
