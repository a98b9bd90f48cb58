"""
Single cells: a consensus of Leiden clusterings
===============================================

Leiden gives other clusters with each resolution and seed. `coterie.anndata` runs many of them on
the neighbour graph that scanpy made, combines them, and writes clusters and confidence to
``.obs``. The cells are made up: counts of 200 genes in 500 cells of five types, two of them close
relatives.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

warnings.simplefilter("ignore")  # other packages announce their next versions
import anndata
import scanpy as sc

import coterie.anndata as ct

rng = np.random.default_rng(0)
kind = rng.choice(5, size=500, p=[0.35, 0.25, 0.2, 0.12, 0.08])
profiles = rng.gamma(0.6, 1.5, size=(5, 200))
profiles[4] = 0.75 * profiles[3] + 0.25 * profiles[4]  # a close relative
depth = rng.lognormal(0, 0.3, size=500)
counts = rng.poisson(profiles[kind] * depth[:, None]).astype(np.float32)
adata = anndata.AnnData(counts)
adata.obs["type"] = kind.astype(str)

sc.pp.normalize_total(adata)
sc.pp.log1p(adata)
sc.pp.pca(adata, n_comps=20)
sc.pp.neighbors(adata, random_state=0)

# %%
# Forty clusterings, one consensus.

ct.leiden_ensemble(adata, resolutions=(0.3, 0.6, 1.0, 1.5), n_runs=10)
ct.consensus(adata, "leiden_ensemble", n_clusters=5)
print(adata.obs.groupby("type", observed=True)["consensus"].value_counts().unstack(fill_value=0))

# %%
# Doubtful cells lie between the two relatives. At the right: how far runs at one resolution
# agree.

_, axes = plt.subplots(1, 2, figsize=(9.5, 3.8), layout="constrained")
ct.plot_confidence(adata, "consensus", basis="pca", ax=axes[0])
ct.plot_stability(adata, ax=axes[1])
