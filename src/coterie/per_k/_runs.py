"""Runs of a base clusterer on random parts of the data, the same parts for all numbers."""

from __future__ import annotations

from contextlib import closing
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.utils import get_tags

from coterie._progress import track_progress
from coterie.choosing._resampling import runs_on_parts
from coterie.ensemble import Ensemble
from coterie.generation._parallel import run_unordered
from coterie.generation._parameters import count_range
from coterie.generation._runs import Recipe, draw_run, number_parameter
from coterie.per_k._clusterers import NMFClustering, on_distances
from coterie.per_k._distances import Metric, check_distances, distance_matrix

__all__ = ["NAMES", "Runs"]

NAMES = ("hierarchical", "kmeans", "kmedoids", "nmf", "spectral")
"""Base clusterers by name."""
_FROM_DISTANCES = ("hierarchical", "kmedoids", "spectral")
_BLOCK = 25  # runs of one task for a worker


class Runs(NamedTuple):
    """How partitions are made, whatever the data."""

    estimator: Any
    """A name of `NAMES` or a clusterer."""
    distance: Metric | None
    inner_linkage: str
    n_resamples: int
    max_samples: float
    max_features: float
    memory_limit: int | str | None
    n_jobs: int | None

    @property
    def uses_distances(self) -> bool:
        """Whether the base clusterer starts from distances, not from features."""
        if isinstance(self.estimator, str):
            return self.estimator in _FROM_DISTANCES
        return self.distance is not None

    @property
    def metric(self) -> Metric:
        """The distance that the base clusterer works with."""
        return "euclidean" if self.distance is None else self.distance

    @property
    def takes_sparse(self) -> bool:
        """Whether features may be a sparse matrix."""
        if self.uses_distances:
            return False
        return bool(get_tags(self.feature_clusterer()).input_tags.sparse)

    def check(self) -> None:
        """Raise if estimator and distance do not fit together."""
        if isinstance(self.estimator, str):
            if self.estimator not in NAMES:
                raise ValueError(
                    f"estimator must be one of {', '.join(map(repr, NAMES))} or a clusterer; got "
                    f"{self.estimator!r}."
                )
            if self.distance not in (None, "euclidean") and not self.uses_distances:
                raise ValueError(
                    f"estimator={self.estimator!r} works on features, not on distances; leave "
                    f"distance out or use estimator='hierarchical'; got distance={self.distance!r}."
                )
        elif not hasattr(self.estimator, "get_params") or isinstance(self.estimator, type):
            raise TypeError(
                "estimator must be a name or a clusterer with scikit-learn's interface; got "
                f"{self.estimator!r}."
            )
        elif number_parameter(self.estimator) is None:
            raise ValueError(
                "estimator must have a parameter n_clusters or n_components, because it is asked "
                f"for every number in k_range; {type(self.estimator).__name__} has none that is "
                "set."
            )
        if self.distance == "precomputed" and self.max_features not in (1.0, None):
            raise ValueError(
                "max_features must be 1.0 with distance='precomputed', where there are no "
                f"features; got {self.max_features!r}."
            )

    def part_sizes(self, n_objects: int) -> tuple[int, int]:
        """Return the smallest and the largest number of objects of a part."""
        return count_range("max_samples", self.max_samples, n_objects, "objects")

    def feature_clusterer(self) -> Any:
        """Return the clusterer for features."""
        if self.estimator == "kmeans":
            return KMeans(n_init=3)
        return NMFClustering() if self.estimator == "nmf" else self.estimator

    def make(self, X: Any, numbers: NDArray[np.int64], seed: int) -> dict[int, Ensemble]:
        """Return for each number of clusters the partitions of all random parts of `X`."""
        if self.uses_distances:
            return self._from_distances(X, numbers, seed)
        made = {}
        with track_progress("runs on parts of the data", len(numbers)) as done:
            for k in numbers.tolist():
                made[k] = runs_on_parts(
                    self.feature_clusterer(),
                    *(X, k, self.n_resamples),
                    max_samples=self.max_samples,
                    max_features=self.max_features,
                    n_jobs=self.n_jobs,
                    seed=seed,
                )
                done[0] += 1
        return made

    def _from_distances(
        self, X: NDArray[np.float64], numbers: NDArray[np.int64], seed: int
    ) -> dict[int, Ensemble]:
        n, n_features = X.shape
        features = count_range("max_features", self.max_features, n_features, "features")
        objects = self.part_sizes(n)
        recipe = Recipe((seed,), n, n_features, (2, 2), features, objects, "missing", None)
        whole = features[0] == n_features
        data = self.distances(X) if whole else X
        blocks = [
            (self, data, whole, numbers, recipe, range(b, min(b + _BLOCK, self.n_resamples)))
            for b in range(0, self.n_resamples, _BLOCK)
        ]
        labels = {k: np.full((self.n_resamples, n), -1, dtype=np.int16) for k in numbers.tolist()}
        results = run_unordered(_label_parts, blocks, n_jobs=self.n_jobs, one_by_one=False)
        with track_progress("runs on parts of the data", len(blocks)) as done, closing(results):
            for runs, found in results:
                for run, (drawn, columns) in zip(runs, found, strict=True):
                    for k, column in zip(labels, columns.T, strict=True):
                        labels[k][run, drawn] = column
                done[0] += 1
        return {k: Ensemble(rows.T) for k, rows in labels.items()}

    def distances(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the distances of all pairs of objects."""
        if self.distance == "precomputed":
            return check_distances(X)
        return distance_matrix(X, self.metric, memory_limit=self.memory_limit)


_Part = tuple[NDArray[np.int64] | slice, NDArray[np.int16]]


def _label_parts(
    made: Runs,
    data: NDArray[np.float64],
    whole: bool,
    numbers: NDArray[np.int64],
    recipe: Recipe,
    runs: range,
) -> tuple[range, list[_Part]]:
    """Cluster some of the random parts; `data` are distances if `whole`, else features."""
    cluster = on_distances(made.estimator, made.inner_linkage)
    found: list[_Part] = []
    for run in runs:
        draw = draw_run(recipe, 0, run)
        drawn = slice(None) if draw.objects is None else draw.objects
        if whole:
            part = data[drawn][:, drawn]
        else:
            part = distance_matrix(draw.used(data), made.metric, memory_limit=made.memory_limit)
        found.append((drawn, cluster(part, numbers, draw).astype(np.int16)))
    return runs, found
