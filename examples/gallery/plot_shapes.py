"""
Shapes that k-means cannot see
==============================

K-means alone cuts two spirals straight through. Many fine k-means partitions, combined, follow
them: each partition cuts the arms into small pieces, and the pieces overlap along the arms.
"""

import matplotlib.pyplot as plt
from sklearn.cluster import KMeans

from coterie import EAC, HNE, RandomizedEnsemble
from coterie.datasets import make_two_spirals
from coterie.metrics import ari

X, arm = make_two_spirals(random_state=0)
ensemble = RandomizedEnsemble(n_partitions=100, n_clusters=(40, 60), random_state=0).fit_transform(
    X
)

results = {
    "k-means": KMeans(n_clusters=2, n_init=10, random_state=0).fit_predict(X),
    "one of the partitions": ensemble.labels[:, 0],
    "EAC, average linkage": EAC(n_clusters=2).fit_predict(ensemble),
    "EAC, single linkage": EAC(n_clusters=2, linkage="single").fit_predict(ensemble),
    "HNE": HNE(n_clusters=2).fit_predict(ensemble),
}

# %%
# Single linkage and HNE follow the chain of votes along each arm. Average linkage asks for
# clusters whose members are together on average, and an arm's two ends never are.

_, axes = plt.subplots(1, 5, figsize=(12, 2.8), layout="constrained")
for ax, (name, labels) in zip(axes, results.items(), strict=True):
    ax.scatter(*X.T, c=labels, cmap="tab20" if labels.max() > 1 else "coolwarm", s=6)
    ax.set_title(f"{name}\nARI {ari(arm, labels):.2f}", fontsize=9)
    ax.set(xticks=[], yticks=[])
