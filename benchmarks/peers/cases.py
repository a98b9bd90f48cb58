"""The data of the comparison: from scikit-learn and seeded generators, standardised."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_blobs
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

N_PARTITIONS = 30


class Case(NamedTuple):
    """One data set, and an ensemble of it."""

    name: str
    X: np.ndarray
    truth: np.ndarray
    labels: np.ndarray

    @property
    def n_clusters(self) -> int:
        return int(self.truth.max()) + 1


def all_cases() -> list[Case]:
    """Return four sets of scikit-learn and two of Gaussian clouds."""
    sets = {
        loader.__name__.removeprefix("load_"): loader(return_X_y=True)
        for loader in (load_iris, load_wine, load_breast_cancer, load_digits)
    }
    sets["clouds"] = make_blobs(1000, centers=10, n_features=10, cluster_std=3.0, random_state=0)
    sizes = np.maximum(8, 600 * 0.6 ** np.arange(8)).astype(int)
    sets["uneven clouds"] = make_blobs(sizes, n_features=10, cluster_std=3.0, random_state=0)
    return [_case(name, *found) for name, found in sets.items()]


def _case(name: str, X: np.ndarray, truth: np.ndarray) -> Case:
    X = X / max(X.std(), 1e-9) if name == "digits" else StandardScaler().fit_transform(X)
    random = np.random.default_rng(0)
    root = np.sqrt(len(X))
    with threadpool_limits(1):
        columns = [
            KMeans(
                int(random.integers(root / 2, root + 1)),
                init="random",
                n_init=1,
                random_state=int(random.integers(2**31)),
            ).fit_predict(X)
            for _ in range(N_PARTITIONS)
        ]
    return Case(name, X, truth, np.column_stack(columns).astype(np.int32))
