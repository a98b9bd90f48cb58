"""
Categories only
===============

Mushroom-like records without a single number: each column is a category. Every column is a
clustering by itself, so the table *is* an ensemble, and no distance has to be invented.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from coterie import EAC, HBGF, LACA, Ensemble, MixtureModel, plotting
from coterie.metrics import ari

rng = np.random.default_rng(1)
kind = rng.choice(3, size=400, p=[0.5, 0.3, 0.2])
levels = {
    "cap": ["flat", "round", "bell"],
    "colour": ["brown", "white", "red"],
    "gills": ["free", "attached", "none"],
    "ring": ["one", "two", "none"],
    "smell": ["none", "almond", "foul"],
    "habitat": ["wood", "meadow", "path"],
}
noise = {"cap": 0.3, "colour": 0.3, "gills": 0.2, "ring": 0.2, "smell": 0.1, "habitat": 1.0}
table = pd.DataFrame(
    {
        name: np.array(values)[
            np.where(rng.random(400) < noise[name], rng.integers(0, 3, 400), kind)
        ]
        for name, values in levels.items()
    }
)
table.loc[rng.random(400) < 0.1, "smell"] = None  # nobody smelled at these
ensemble = Ensemble(table)
print(ensemble)

# %%
# Four methods, told the number. ``habitat`` is noise, and LACA finds that out: its votes get no
# weight.

for method in (
    LACA(n_clusters=3),
    EAC(n_clusters=3),
    HBGF(n_clusters=3, random_state=0),
    MixtureModel(n_clusters=3, random_state=0),
):
    print(f"{type(method).__name__:13} ARI {ari(kind, method.fit_predict(ensemble)):.2f}")

laca = LACA(n_clusters=3).fit(ensemble)
_, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
plotting.plot_reliability(laca, ax=axes[0])
plotting.plot_coassociation(laca, ax=axes[1])
