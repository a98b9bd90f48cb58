"""
Between two clusters: memberships
=================================

Labels hide the objects in between. PEACE gives every object a probability for each cluster,
chosen so that the votes of the partitions become as likely as possible.
"""

import matplotlib.pyplot as plt
import numpy as np

from coterie import PEACE, RandomizedEnsemble, plotting

rng = np.random.default_rng(0)
centres = np.array([[0, 0], [5, 0], [2.5, 4.5]])
X = np.vstack([rng.normal(centre, 0.8, size=(60, 2)) for centre in centres])
bridge = np.linspace(centres[0], centres[1], 15) + rng.normal(0, 0.15, size=(15, 2))
X = np.vstack([X, bridge])
ensemble = RandomizedEnsemble(n_partitions=60, n_clusters=(3, 5), random_state=0).fit_transform(X)
peace = PEACE(n_clusters=3, n_init=3, random_state=0).fit(ensemble)
print(peace.membership_[180:].round(2))

# %%
# Objects of the bridge are mixtures of two colours, in proportion to their memberships.

colours = peace.membership_ @ np.array([[0.0, 0.45, 0.7], [0.9, 0.62, 0.0], [0.07, 0.47, 0.2]])
_, axes = plt.subplots(1, 2, figsize=(9.5, 3.8), layout="constrained")
axes[0].scatter(*X.T, c=np.clip(colours, 0, 1), s=22)
axes[0].set(xticks=[], yticks=[], title="colour by membership")
plotting.plot_memberships(peace, ax=axes[1])
