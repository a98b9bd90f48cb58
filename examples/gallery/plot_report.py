"""
Reading the report
==================

`coterie cluster TABLE --report report.html` writes one HTML file. It is made from plain data,
which one can also read in Python: this script makes the summary of a report and draws its main
parts.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

from coterie import ConsensusClustering, TablePreparation, plotting
from coterie.report import render_html, summarize

wine = load_wine(as_frame=True)
X = TablePreparation().fit_transform(wine.data)
model = ConsensusClustering(random_state=0).fit(X)
summary = summarize(model, X=X, truth=wine.target, source="wine")

# %%
# What stands at the top: the number of clusters and why, then cautions.

print(summary["reason"])
for caution in summary.get("cautions", []):
    print("caution:", caution)

# %%
# The heat map: a dark square is a group that the partitions keep together. Grey beside it: some
# partitions join it to a neighbour. The box plots: how confident each cluster is, and its lowest
# object.

_, axes = plt.subplots(1, 3, figsize=(12, 3.8), layout="constrained")
plotting.plot_coassociation(model, ax=axes[0])
plotting.plot_confidence(model, ax=axes[1])
plotting.plot_sizes(model, ax=axes[2])

# %%
# The page itself is text: write it to a file and open it in a browser. It needs no network.

page = render_html(summary)
print(f"{len(page) / 1e6:.1f} MB, {page.count('<script')} scripts, all of them inside the page")
