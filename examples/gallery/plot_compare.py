"""
Comparing methods
=================

The same ensemble, many methods: who agrees with the partitions, who is stable, who agrees with
whom, and which one is recommended. The truth is only used for the last column.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from coterie import RandomizedEnsemble, compare, plotting

data = load_breast_cancer()
X = StandardScaler().fit_transform(data.data)
ensemble = RandomizedEnsemble(n_partitions=40, n_clusters=(4, 16), random_state=0).fit_transform(X)
result = compare(
    ensemble,
    data.target,
    methods=["lwea", "laca", "eac", "lwgp", "hbgf", "mcla", "kcc", "voting", "mixture"],
    n_clusters=2,
    stability=2,
    random_state=0,
)
print(result)

# %%
# Dark cells: two methods find nearly the same clusters.

_, ax = plt.subplots(figsize=(5.6, 4.6), layout="constrained")
plotting.plot_agreement(result, ax=ax)
