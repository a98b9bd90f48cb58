"""
Clusterings from elsewhere
==========================

Three people and two programs sorted the same ten animals. They used names of their own, one of
them did not know all animals, and one sorted more finely. A consensus needs no matching of names.
"""

import matplotlib.pyplot as plt
import pandas as pd

from coterie import EAC, Ensemble, plotting

votes = pd.DataFrame(
    {
        "Ada": ["pet", "pet", "farm", "farm", "farm", "wild", "wild", "wild", "sea", "sea"],
        "Ben": ["A", "A", "A", "B", "B", "C", "C", "C", "D", "D"],
        "Chi": [1, 1, 2, 2, 2, 3, None, 3, 4, None],
        "program 1": [0, 0, 1, 1, 1, 2, 2, 2, 3, 3],
        "program 2": [0, 1, 2, 2, 3, 4, 4, 4, 5, 5],
    },
    index=["cat", "dog", "horse", "cow", "sheep", "lion", "tiger", "wolf", "whale", "seal"],
)
ensemble = Ensemble(votes)
print(ensemble, ensemble.names)

# %%
# The consensus, with the confidence of each animal. The horse is the doubtful one: Ben puts it
# with the pets.

eac = EAC(n_clusters=4).fit(ensemble)
result = votes.assign(consensus=eac.labels_, confidence=eac.confidence_.round(2))
print(result[["consensus", "confidence"]])

# %%
# Who agrees with whom, and how often two animals are together.

_, ax = plt.subplots(figsize=(5, 4.2), layout="constrained")
plotting.plot_coassociation(eac, ax=ax)
