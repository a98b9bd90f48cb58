"""Draw the figure of each method: its consensus on five data sets, told the number of clusters.

``python docs/methods/draw.py [METHOD ...]`` writes ``docs/methods/figures/METHOD.png``.
"""

import sys
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.datasets import make_blobs, make_moons
from sklearn.preprocessing import StandardScaler

from coterie import Ensemble, LACEnsemble, RandomizedEnsemble
from coterie._methods import METHODS, LazyClasses
from coterie.metrics import ari
from coterie.views._palette import cluster_colour

FOLDER = Path(__file__).parent / "figures"
N_OBJECTS = 300
SOFT = ("wspa", "wbpa", "wsbpa")
"""Methods for partitions with posteriors: their partitions are made by LACEnsemble."""
SEVERAL = ("msteclust", "pwec")
"""Methods for several algorithms: k-means and single linkage."""


def data_sets() -> Iterator[tuple[str, NDArray, NDArray]]:
    """Yield (title, features, truth)."""
    rng = np.random.default_rng(0)
    yield "round", *make_blobs(N_OBJECTS, centers=4, cluster_std=0.9, random_state=3)
    sizes = [220, 50, 30]
    centers = [[0, 0], [6, 0], [3, 5.5]]
    X, y = make_blobs(sizes, centers=centers, cluster_std=[1.6, 0.7, 0.6], random_state=1)
    yield "different sizes", X, y
    X, y = make_blobs(N_OBJECTS, centers=3, cluster_std=1.0, random_state=170)
    yield "long", X @ [[0.6, -0.64], [-0.41, 0.85]], y
    yield "bent", *make_moons(N_OBJECTS, noise=0.06, random_state=0)
    angle = rng.uniform(0, 2 * np.pi, N_OBJECTS)
    y = (np.arange(N_OBJECTS) < N_OBJECTS // 3).astype(int)
    radius = np.where(y, rng.normal(0, 0.25, N_OBJECTS), rng.normal(1.3, 0.12, N_OBJECTS))
    yield "nested", np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), y


@cache
def ensembles(kind: str) -> list[tuple[str, NDArray, NDArray, Ensemble]]:
    """Return the data sets with an ensemble each."""
    made = []
    for title, X, y in data_sets():
        X = StandardScaler().fit_transform(X)
        made.append((title, X, y, MAKERS[kind](X, int(y.max()) + 1)))
    return made


def kmeans_partitions(X: NDArray, n_clusters: int) -> Ensemble:
    """Return 50 fine k-means partitions."""
    return RandomizedEnsemble(n_partitions=50, n_clusters=(10, 30), random_state=0).fit_transform(X)


def lac_partitions(X: NDArray, n_clusters: int) -> Ensemble:
    """Return 15 partitions with posteriors and feature weights."""
    maker = LACEnsemble(n_clusters=n_clusters, inv_h=range(1, 16), random_state=0)
    return maker.fit_transform(X)


def two_algorithms(X: NDArray, n_clusters: int) -> Ensemble:
    """Return 25 partitions by k-means and 25 by single linkage."""
    options = {"n_partitions": 25, "max_samples": 0.9, "random_state": 0}
    kmeans = RandomizedEnsemble(
        [("k-means", KMeans(init="random", n_init=1))], n_clusters=(10, 30), **options
    )
    single = RandomizedEnsemble(
        [("single", AgglomerativeClustering(linkage="single"))], n_clusters=(2, 10), **options
    )
    return kmeans.fit_transform(X).concat(single.fit_transform(X))


MAKERS: dict[str, Callable[[NDArray, int], Ensemble]] = {
    "k-means": kmeans_partitions,
    "soft": lac_partitions,
    "several": two_algorithms,
}


def draw(name: str) -> None:
    """Draw and save the figure of one method."""
    cls = LazyClasses(METHODS)[name]
    kind = "soft" if name in SOFT else "several" if name in SEVERAL else "k-means"
    figure, axes = plt.subplots(1, 5, figsize=(10, 2.35), layout="constrained")
    for ax, (title, X, y, ensemble) in zip(axes, ensembles(kind), strict=True):
        model = cls(n_clusters=int(y.max()) + 1)
        if "random_state" in model.get_params():
            model.set_params(random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # fewer clusters than asked is seen in the figure
            model.fit(ensemble)
        size = 6 + 22 * (1 - model.confidence_)
        colours = [cluster_colour(label) for label in model.labels_]
        ax.scatter(*X.T, s=size, c=colours, linewidths=0)
        ax.set_title(f"{title}: {max(ari(y, model.labels_), 0):.2f}", fontsize=11)
        ax.set(xticks=[], yticks=[])
        ax.spines[:].set_color("#c8cdd3")
    figure.savefig(FOLDER / f"{name}.png", dpi=130)
    plt.close(figure)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for method in sys.argv[1:] or METHODS:
        draw(method)
