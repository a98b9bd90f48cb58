"""
Gene expression: one consensus for each number of clusters
==========================================================

The procedure of Monti et al. and of ConsensusClusterPlus: for each number of clusters, cluster
random parts of the samples and count how often two of them are together. The expression table is
made up: 60 tumours of three subtypes, 500 genes, of which 60 differ.
"""

import matplotlib.pyplot as plt
import numpy as np

from coterie import ConsensusPerK

rng = np.random.default_rng(0)
subtype = np.repeat([0, 1, 2], 20)
expression = rng.normal(size=(60, 500))
for kind in range(3):
    genes = slice(20 * kind, 20 * kind + 20)
    expression[subtype == kind, genes] += 3.0

per_k = ConsensusPerK(k_range=range(2, 7), n_resamples=60, random_state=0).fit(expression)
for reason in per_k.reasons_:
    print(reason)
for k in per_k.k_range_:
    clusters = per_k.cluster_consensus(k).round(2)
    print(f"k = {k}: PAC {per_k.pac_[k]:.2f}, consensus by cluster {clusters}")

# %%
# The consensus matrices. At the right number squares are dark and everything else is white:
# pairs are either always or never together.

_, axes = plt.subplots(1, 4, figsize=(12, 3.4), layout="constrained")
for ax, k in zip(axes, (2, 3, 4, 5), strict=True):
    order = np.lexsort((subtype, per_k.labels_[k]))
    matrix = per_k.consensus_matrix(k)[np.ix_(order, order)]
    ax.imshow(matrix, cmap="Blues", vmin=0, vmax=1)
    ax.set(title=f"k = {k}, PAC {per_k.pac_[k]:.2f}", xticks=[], yticks=[])
