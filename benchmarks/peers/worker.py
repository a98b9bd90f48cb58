"""One package on all data sets: `python -m benchmarks.peers.worker NAME DIRECTORY`.

Runs under the interpreter of the package it measures, so it needs nothing but that, NumPy and
SciPy. For each `case-*.npz` it writes `found-*.npz` with labels and seconds. The first call is not
timed.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

N_RUNS = 100


def coterie_default(X, labels, k):
    from coterie import ConsensusClustering

    return ConsensusClustering(n_clusters=k, random_state=0).fit_predict(X)


def coterie_per_k(X, labels, k):
    from coterie import ConsensusPerK

    return ConsensusPerK(k_range=[k], n_resamples=N_RUNS, random_state=0).fit(X).labels_[k]


def coterie_consensus(name):
    def fit(X, labels, k):
        import coterie

        method = getattr(coterie, name)(n_clusters=k)
        if "random_state" in method.get_params():
            method.set_params(random_state=0)
        return method.fit_predict(labels)

    return fit


def pyckmeans_features(X, labels, k):
    from pyckmeans import CKmeans

    model = CKmeans(k, n_rep=N_RUNS, random_state=0)
    model.fit(X)
    return model.predict(X, linkage_type="average").cl


def consensusclustering_features(X, labels, k):
    """It returns a consensus matrix; SciPy's average linkage makes clusters of it."""
    from consensusclustering import ConsensusClustering
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform
    from sklearn.cluster import KMeans

    model = ConsensusClustering(
        KMeans(n_init=1, random_state=0), k, k, n_resamples=N_RUNS, resample_frac=0.8, rng=0
    )
    model.fit(X)
    distance = 1.0 - np.nan_to_num(np.asarray(model.consensus_k(k)))
    np.fill_diagonal(distance, 0.0)
    tree = linkage(squareform(distance, checks=False), "average")
    return fcluster(tree, k, "maxclust")


def replayed(name):
    def fit(X, labels, k):
        from importlib import import_module

        module = import_module(f"benchmarks.speed.methods.{name}")
        return module.average(module.prepare(labels), k)

    return fit


def ensembleclustering_solver(solver):
    def fit(X, labels, k):
        import ensembleclustering

        return ensembleclustering.cluster_ensembles(
            labels.T.astype(float), nclass=k, solver=solver, random_state=0
        )

    return fit


def cluster_ensembles(X, labels, k):
    import Cluster_Ensembles

    return Cluster_Ensembles.cluster_ensembles(labels.T.astype(float), N_clusters_max=k)


METHODS: dict[str, Callable] = {
    "coterie-default": coterie_default,
    "coterie-per-k": coterie_per_k,
    **{f"coterie-{n}": coterie_consensus(n) for n in ("LWEA", "EAC", "HBGF", "HGPA", "MCLA")},
    "pyckmeans": pyckmeans_features,
    "consensusclustering": consensusclustering_features,
    "pyckmeans-labels": replayed("pyckmeans"),
    "openensembles": replayed("openensembles"),
    **{
        f"ensembleclustering-{s}": ensembleclustering_solver(s)
        for s in ("cspa", "hgpa", "mcla", "hbgf", "nmf")
    },
    "Cluster_Ensembles": cluster_ensembles,
}


def main() -> None:
    name, directory = sys.argv[1], Path(sys.argv[2])
    warm = np.random.default_rng(0)
    few = warm.normal(size=(60, 4)) + np.repeat([[0], [8], [16]], 20, axis=0)
    METHODS[name](few, warm.integers(0, 4, (60, 5)).astype(np.int32), 3)
    for path in sorted(directory.glob("case-*.npz")):
        case = np.load(path)
        start = time.perf_counter()
        found = METHODS[name](case["X"], case["labels"], int(case["n_clusters"]))
        seconds = time.perf_counter() - start
        np.savez(directory / path.name.replace("case-", "found-"), labels=found, seconds=seconds)


if __name__ == "__main__":
    main()
