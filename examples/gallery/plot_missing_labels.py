"""
Missing labels: clusterings of samples
======================================

Each clustering sees a part of the objects only. Still one consensus of all objects comes out,
because the samples overlap.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from coterie import HBGF, LACA, LWEA, MixtureModel, RandomizedEnsemble
from coterie.metrics import ari

X, digit = load_digits(n_class=6, return_X_y=True)
shares = (0.15, 0.25, 0.33, 0.66, 1.0)
methods = {
    "LWEA": LWEA(n_clusters=6),
    "HBGF": HBGF(n_clusters=6, random_state=0),
    "MixtureModel": MixtureModel(n_clusters=6, random_state=0),
    "LACA": LACA(n_clusters=6),
}
scores = {name: [] for name in methods}
for share in shares:
    maker = RandomizedEnsemble(
        n_partitions=60, n_clusters=(6, 12), max_samples=share, random_state=0
    )
    ensemble = maker.fit_transform(X)
    for name, method in methods.items():
        scores[name].append(ari(digit, method.fit_predict(ensemble)))


# %%
# Three quarters of the labels may be missing before the answer gets worse. In a label matrix a
# missing label is -1, None or NaN; in a file it is an empty field.

_, ax = plt.subplots(figsize=(5.5, 3.4), layout="constrained")
for (name, values), mark in zip(scores.items(), "os^D", strict=True):
    ax.plot(shares, values, marker=mark, label=name)
ax.set(xlabel="share of the objects that a partition sees", ylabel="ARI with the digits")
ax.set_xticks(shares, [f"{s:.0%}" for s in shares])
ax.set_ylim(0, 1)
ax.legend(frameon=False)
