"""Score measures of doubt within clusters on labelled sets.

    python -m benchmarks.within FOLDER [--output results.csv]

FOLDER holds CSV files (``name.csv.gz``) with numeric columns and the class in the last, `label`.
An object is wrong if its class is not the majority of its cluster. Every other set, by the
alphabet, is for choosing a measure; the rest is for reporting it.
"""

import argparse
import warnings
from pathlib import Path

import anndata
import numpy as np
import pandas as pd
from benchmarks.within.measures import measures
from scipy.stats import rankdata
from sklearn.decomposition import PCA
from sklearn.neighbors import kneighbors_graph
from sklearn.preprocessing import StandardScaler

import coterie.anndata as ca
from coterie import HBGF, LWEA, Ensemble
from coterie.generation._recipes import make_generator

MOST_OBJECTS = 1500
FEWEST_WRONG = 10
SHARE = 0.1  # of the objects that are looked at first
BANDS = [0.0, 0.6, 0.8, 0.9, 0.95, 1.0, 1.01]


def load(path):
    """(features, classes): a sample, standardised, at most 20 components."""
    table = pd.read_csv(path, nrows=25_000).dropna()
    table = table.sample(min(len(table), MOST_OBJECTS), random_state=0)
    classes = table.pop("label").to_numpy()
    X = table.to_numpy(dtype=float)
    if X.shape[1] >= 1000 and X.min() >= 0:
        X = np.log1p(X)  # counts of words, intensities of genes
    X = StandardScaler().fit_transform(X[:, X.std(axis=0) > 0])
    if X.shape[1] > 50:
        X = PCA(min(20, len(X) - 1), random_state=0).fit_transform(X)
    return X, classes


def leiden(X):
    """Leiden at four resolutions, thirteen runs each, on a graph of neighbours."""
    graph = kneighbors_graph(X, min(15, len(X) // 3))
    adata = anndata.AnnData(X.astype(np.float32))
    adata.obsp["connectivities"] = ((graph + graph.T) / 2).tocsr()
    ca.leiden_ensemble(adata, [0.5, 1, 2, 4], n_runs=13)
    return Ensemble(adata.obsm["leiden_ensemble"])


def auc_within(scores, wrong, labels):
    """Probability that a wrong object scores below a right one of its cluster; mean over wrong."""
    total = weight = 0.0
    for c in np.unique(labels):
        own, bad = scores[labels == c], wrong[labels == c]
        n_bad, n_good = bad.sum(), (~bad).sum()
        if min(n_bad, n_good) >= 3:
            ranks = rankdata(-own)[bad].sum()
            total += (ranks - n_bad * (n_bad + 1) / 2) / n_good
            weight += n_bad
    return total / weight if weight else np.nan


def lift(scores, wrong, labels):
    """Wrong objects among the lowest tenth, over what their clusters' error rates predict."""
    rates = (np.bincount(labels, wrong) / np.bincount(labels))[labels]
    limit = np.quantile(scores, SHARE, method="inverted_cdf")
    low, tied = scores < limit, scores == limit
    taken = low + tied * ((SHARE * len(scores) - low.sum()) / tied.sum())
    return (taken * wrong).sum() / max((taken * rates).sum(), 1e-9)


def calibration(scores, wrong, labels):
    """For bands of a score: objects, wrong ones, and what their clusters' error rates predict."""
    rates = (np.bincount(labels, wrong) / np.bincount(labels))[labels]
    bands = pd.cut(scores, BANDS, right=False)
    table = pd.DataFrame({"objects": 1, "wrong": wrong, "predicted": rates})
    return table.groupby(bands, observed=False).sum()


def between(scores, labels):
    """Share of the variance that lies between clusters."""
    means = pd.Series(scores).groupby(labels).transform("mean")
    return means.var(ddof=0) / max(np.var(scores), 1e-12)


def score_set(name, X, classes):
    """A row for each ensemble, method and measure."""
    n_clusters = len(np.unique(classes))
    ensembles = {
        "k-means": make_generator("default", len(X), n_jobs=None, random_state=0).fit_transform(X),
        "Leiden": leiden(X),
    }
    for kind, ensemble in ensembles.items():
        for method in (LWEA(n_clusters, min_share=0.1), HBGF(n_clusters, random_state=0)):
            labels = method.fit(ensemble).labels_
            majority = np.array([pd.Series(classes[labels == c]).mode()[0] for c in set(labels)])
            wrong = majority[labels] != classes
            if wrong.sum() < FEWEST_WRONG:
                continue
            for measure, scores in measures(method).items():
                bands = calibration(scores, wrong, labels) if "confidence" in measure else None
                yield {
                    "bands": bands,
                    "set": name,
                    "ensemble": kind,
                    "measure": measure,
                    "auc": auc_within(scores, wrong, labels),
                    "lift": lift(scores, wrong, labels),
                    "between": between(scores, labels),
                }


def summary(table):
    """Means over sets, and on how many sets the AUC differs from that of confidence by 0.01."""
    table = table.groupby(["part", "ensemble", "measure", "set"]).mean(numeric_only=True)
    lead = (
        table["auc"].unstack("measure").sub(table["auc"].xs("confidence", level="measure"), axis=0)
    )
    found = table.groupby(["part", "ensemble", "measure"]).mean()
    found["better"] = (lead > 0.01).groupby(["part", "ensemble"]).sum().stack()
    found["worse"] = (lead < -0.01).groupby(["part", "ensemble"]).sum().stack()
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--output", type=Path)
    settings = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)
    rows = []
    for path in sorted(settings.folder.glob("*.csv.gz")):
        X, classes = load(path)
        rows.extend(score_set(path.name.removesuffix(".csv.gz"), X, classes))
        print(path.name, len(X), flush=True)
    table = pd.DataFrame(rows)
    names = sorted(table["set"].unique())
    table["part"] = np.where(table["set"].isin(names[::2]), "choosing", "reporting")
    bands = table.pop("bands")
    if settings.output:
        table.to_csv(settings.output, index=False)
    print(summary(table).round(3).to_string())
    for keys, rows in table.groupby(["part", "ensemble", "measure"]).groups.items():
        if "confidence" in keys[2]:
            print("\n", *keys)
            total = sum(bands[rows])
            print(total.assign(ratio=total["wrong"] / total["predicted"]).round(2).to_string())


if __name__ == "__main__":
    main()
