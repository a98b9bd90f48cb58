"""
Images: handwritten digits
==========================

Nobody tells the method what the digits are. The most confident images of each cluster are typical
ones; the least confident are those that people stumble over, too.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from coterie import ConsensusClustering
from coterie.metrics import ari

digits = load_digits()
model = ConsensusClustering(n_clusters=10, random_state=0).fit(digits.data)
print(f"ARI with the digits: {ari(digits.target, model.labels_):.2f}")

# %%
# One row per cluster: five images of high confidence at the left, the five of lowest confidence
# at the right. Above the latter stands the digit that was meant.

figure, axes = plt.subplots(10, 10, figsize=(7, 7.4), layout="constrained")
for cluster, row in enumerate(axes):
    members = np.flatnonzero(model.labels_ == cluster)
    order = members[np.argsort(model.confidence_[members], kind="stable")]
    for ax, index in zip(row, [*order[::-1][:5], *order[:5]], strict=True):
        ax.imshow(digits.images[index], cmap="gray_r")
        ax.axis("off")
    for ax, index in zip(row[5:], order[:5], strict=True):
        ax.set_title(str(digits.target[index]), fontsize=8, pad=1)
figure.suptitle("sure                                                    doubtful", fontsize=11)
