"""
Bad partitions in the ensemble
==============================

Up to twelve random partitions for each good one. Evidence accumulation counts every vote alike;
LACA, LWEA and WEAC weigh votes, and `select` throws bad partitions out before.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from coterie import EAC, LACA, LWEA, WEAC, Ensemble, RandomizedEnsemble, plotting, select
from coterie.metrics import ari

data = load_wine()
X = StandardScaler().fit_transform(data.data)
good = RandomizedEnsemble(n_partitions=10, n_clusters=(3, 12), random_state=0).fit_transform(X)
rng = np.random.default_rng(0)
numbers = (0, 30, 60, 120)
methods = {
    "EAC": lambda e: EAC(n_clusters=3).fit_predict(e),
    "WEAC": lambda e: WEAC(n_clusters=3).fit_predict(e),
    "LWEA": lambda e: LWEA(n_clusters=3).fit_predict(e),
    "LACA": lambda e: LACA(n_clusters=3).fit_predict(e),
    "select, then EAC": lambda e: EAC(n_clusters=3).fit_predict(e.select(select(e))),
}
scores = {name: [] for name in methods}
for n_bad in numbers:
    bad = rng.integers(0, 3, size=(len(X), n_bad))
    ensemble = Ensemble(np.hstack([good.labels, bad]))
    for name, fit in methods.items():
        scores[name].append(ari(data.target, fit(ensemble)))

# %%
# At the right: what LACA thinks of the 130 partitions. A useful one is often right about pairs
# that belong together (high) and seldom wrong about pairs that do not (left).

laca = LACA(n_clusters=3).fit(ensemble)
_, axes = plt.subplots(1, 2, figsize=(9.5, 3.6), layout="constrained")
for (name, values), mark in zip(scores.items(), "os^Dv", strict=True):
    axes[0].plot(numbers, values, marker=mark, label=name)
axes[0].set(
    xlabel="random partitions beside 10 good ones", ylabel="ARI with the truth", ylim=(0, 1)
)
axes[0].legend(frameon=False, fontsize=8)
plotting.plot_reliability(laca, ax=axes[1])
