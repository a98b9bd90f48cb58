"""
A table of customers
====================

Numbers, categories, dates, an identifier and missing cells: what `coterie cluster customers.csv`
does to such a table, step by step. The customers are made up, in three groups.
"""

import matplotlib.pyplot as plt
import numpy as np
import polars as pl
from sklearn.pipeline import make_pipeline

from coterie import ConsensusClustering, TablePreparation, plotting

rng = np.random.default_rng(0)
group = rng.choice(3, size=600, p=[0.5, 0.3, 0.2])
spend = np.exp(rng.normal(np.array([3.0, 4.5, 6.0])[group], 0.4))
visits = rng.poisson(np.array([2, 12, 5])[group]).astype(float)
visits[rng.random(600) < 0.05] = np.nan
plans = np.array([["basic", "plus"], ["plus", "family"], ["business", "plus"]])
customers = pl.DataFrame(
    {
        "customer_id": [f"C{i:04}" for i in range(600)],
        "spend": spend.round(2),
        "visits": visits,
        "age": rng.normal(np.array([28, 45, 52])[group], 6).round(),
        "plan": plans[group, (rng.random(600) < 0.15).astype(int)],
        "country": "NL",
    }
).with_columns(pl.col("visits").fill_nan(None))
customers.head(3)

# %%
# The preparation says what it did with each column. Nothing is dropped in silence.

preparation = TablePreparation()
X = preparation.fit_transform(customers)
for column in preparation.columns_:
    print(f"{column.name:12} {column.kind:11} {column.treatment}")

# %%
# The number of clusters is found, with the evidence.

model = ConsensusClustering(random_state=0).fit(X)
print(model.cluster_numbers_.reason)
profile = customers.with_columns(cluster=model.labels_).group_by("cluster")
print(
    profile.agg(
        pl.len(), pl.col("spend", "visits", "age").median(), pl.col("plan").mode().first()
    ).sort("cluster")
)

_, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
plotting.plot_n_clusters(model.cluster_numbers_, ax=axes[0])
plotting.plot_coassociation(model, ax=axes[1])

# %%
# As one estimator, which also places new customers:

both = make_pipeline(TablePreparation(), ConsensusClustering(n_clusters=3, random_state=0))
both.fit(customers)
print(both.predict(customers[:5]))
