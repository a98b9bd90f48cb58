"""K-means for points and for label rows, with weights, the same on any number of threads."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from coterie._progress import stretch

__all__ = ["LabelRows", "Parts", "Points", "fill_empty_parts", "kmeans", "lloyd"]

_TIE = 1e-10  # of the mean squared length: distances closer than this are equal
_SAMPLE = 20_000  # starts are compared on a sample of the objects where there are more points
_SAMPLE_PER_PART = 100
_SETTLED = 1e-3  # share of the weight that may still change its part where there is a sample
_COMPARED = 1e-2  # the same while starts are compared
_SHARES = 100  # parts in which the way of k-means to its end is told


class Cloud(Protocol):
    """What k-means needs to know of things to cluster."""

    weights: NDArray[np.float64]

    @property
    def squares(self) -> NDArray[np.float64]:
        """Squared length of each."""

    def __len__(self) -> int: ...

    def take(self, chosen: NDArray[np.int64], weights: NDArray[np.float64]) -> Cloud:
        """Return some of them, with other weights."""

    def at(self, chosen: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return centres that lie on some of them."""

    def means(self, labels: NDArray[np.int64], masses: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the centre of each part, whose masses are given and positive."""

    def nearest(self, centers: NDArray[np.float64], slack: float) -> tuple[Any, Any]:
        """Return the nearest centre of each, the first of equal ones, and the distance^2."""

    def distances(self, centers: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return (k, n): squared distances."""


class Points:
    """Points (n, d), with weights."""

    def __init__(self, points: NDArray[np.float64], weights: NDArray[Any] | None = None) -> None:
        self.points = np.ascontiguousarray(points, dtype=np.float64)
        self.weights = np.ones(len(points)) if weights is None else weights.astype(np.float64)

    def __len__(self) -> int:
        return len(self.points)

    @cached_property
    def squares(self) -> NDArray[np.float64]:
        """Squared length of each point."""
        squares: NDArray[np.float64] = np.einsum("ij,ij->i", self.points, self.points)
        return squares

    def take(self, chosen: NDArray[np.int64], weights: NDArray[np.float64]) -> Points:
        """Return some of the points, with other weights."""
        return Points(self.points[chosen], weights)

    def at(self, chosen: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the points themselves, as centres."""
        return self.points[chosen].copy()

    def means(self, labels: NDArray[np.int64], masses: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the weighted mean of each part."""
        from coterie._kernels.clusters import sum_points

        return sum_points(self.points, self.weights, labels, len(masses)) / masses[:, None]

    def nearest(self, centers: NDArray[np.float64], slack: float) -> tuple[Any, Any]:
        """Return the nearest centre of each point, and the squared distance."""
        from coterie._kernels.clusters import nearest_of_points

        across, half = self._prepared(centers)
        return nearest_of_points(self.points, self.squares, across, half, slack)

    def distances(self, centers: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return (k, n): squared distances."""
        found = centers @ self.points.T
        found *= -2.0
        found += self.squares
        found += np.einsum("ij,ij->i", centers, centers)[:, None]
        np.maximum(found, 0.0, out=found)
        return found

    @staticmethod
    def _prepared(centers: NDArray[np.float64]) -> tuple[Any, Any]:
        half = 0.5 * np.einsum("ij,ij->i", centers, centers)
        return np.ascontiguousarray(centers.T), half


class LabelRows:
    """Label rows as vectors of 0 and 1 in the space of all K clusters, with an inner product.

    With `inner` = the overlap Z'Z the distance of two rows is that of two rows of the
    co-association matrix ZZ', which is never made. Centres are (k, K).
    """

    def __init__(
        self,
        rows: NDArray[np.int32],
        offsets: NDArray[np.int64],
        inner: NDArray[np.float64],
        weights: NDArray[Any],
    ) -> None:
        self.rows = rows
        self.offsets = offsets
        self.inner = inner
        self.weights = weights.astype(np.float64)

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def squares(self) -> NDArray[np.float64]:
        """Squared length of each row."""
        from coterie._kernels.clusters import quadratic_form

        found: NDArray[np.float64] = quadratic_form(self.rows, self.offsets, self.inner)
        return found

    def take(self, chosen: NDArray[np.int64], weights: NDArray[np.float64]) -> LabelRows:
        """Return some of the rows, with other weights."""
        return LabelRows(self.rows[chosen], self.offsets, self.inner, weights)

    def at(self, chosen: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return centres that lie on some of the rows."""
        centers = np.zeros((len(chosen), self.offsets[-1]))
        which, partition = np.nonzero(self.rows[chosen] >= 0)
        place = self.offsets[partition] + self.rows[chosen[which], partition]
        centers[which, place] = 1.0
        return centers

    def means(self, labels: NDArray[np.int64], masses: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the mean of the rows of each part."""
        from coterie._kernels.clusters import sum_label_rows

        sums = sum_label_rows(self.rows, self.offsets, self.weights, labels, len(masses))
        found: NDArray[np.float64] = sums / masses[:, None]
        return found

    def nearest(self, centers: NDArray[np.float64], slack: float) -> tuple[Any, Any]:
        """Return the nearest centre of each row, and the squared distance."""
        from coterie._kernels.clusters import nearest_of_rows

        table, half = self._prepared(centers)
        return nearest_of_rows(self.rows, self.offsets, self.squares, table, half, slack)

    def distances(self, centers: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return (k, p): squared distances."""
        from coterie._kernels.clusters import distances_of_rows

        found: NDArray[np.float64] = distances_of_rows(
            self.rows, self.offsets, self.squares, *self._prepared(centers)
        )
        return found

    def _prepared(self, centers: NDArray[np.float64]) -> tuple[Any, Any]:
        table = self.inner @ centers.T
        half = 0.5 * np.einsum("kc,ck->k", centers, table)
        return np.ascontiguousarray(table), half


class Parts(NamedTuple):
    """What k-means found."""

    labels: NDArray[np.int64]
    distances: NDArray[np.float64]
    """Squared, of each point to its centre."""
    centers: NDArray[np.float64]
    inertia: float
    n_iter: int


def kmeans(
    cloud: Cloud,
    n_parts: int,
    *,
    seed: int = 0,
    n_init: int = 10,
    max_iter: int = 300,
    first: NDArray[np.int64] | None = None,
) -> Parts:
    """Return the best of several starts of k-means.

    The first start takes the points `first`, or else points that are as far from each other as
    can be; the others are greedy k-means++. Of starts whose sums of squares differ by less than
    rounding, the first is kept. Some parts may be empty where points coincide.

    Where there are many points, starts (without `first`) are compared on a sample of 20,000 objects
    (or 100 for each part), the best goes on with five times as many, and so on up to all points. It
    is over when no more than one object in a thousand changes its part.
    """
    random = np.random.default_rng(seed)
    n_sample = max(_SAMPLE, _SAMPLE_PER_PART * n_parts)
    if len(cloud) <= n_sample:
        return _best_start(cloud, n_parts, random, n_init, max_iter, settled=0.0, first=first)
    part = _sample(cloud, n_sample, random)
    centers = _best_start(part, n_parts, random, n_init, max_iter, settled=_COMPARED).centers
    with stretch("k-means, all objects", _SHARES) as done:
        while n_sample < len(cloud):
            centers = lloyd(part, centers, max_iter=max_iter, settled=_SETTLED).centers
            n_sample *= 5
            part = _sample(cloud, n_sample, random) if n_sample < len(cloud) else cloud
        return lloyd(part, centers, max_iter=max_iter, settled=_SETTLED, done=done)


def _best_start(
    cloud: Cloud,
    n_parts: int,
    random: np.random.Generator,
    n_init: int,
    max_iter: int,
    settled: float,
    first: NDArray[np.int64] | None = None,
) -> Parts:
    best = None
    first = _spread(cloud, n_parts) if first is None else first
    with stretch("k-means, starts", n_init) as done:
        for seeds in (first, *_draw(cloud, n_parts, n_init - 1, random)):
            found = lloyd(cloud, cloud.at(seeds), max_iter=max_iter, settled=settled)
            if best is None or found.inertia < best.inertia * (1 - 1e-9) - 1e-15:
                best = found
            done[0] += 1
    assert best is not None  # n_init is at least 1
    return best


def _sample(cloud: Cloud, n_objects: int, random: np.random.Generator) -> Cloud:
    """Return what `n_objects` draws by weight have hit, weighted by the number of hits."""
    ends = np.cumsum(cloud.weights)
    drawn = np.searchsorted(ends, random.uniform(0, ends[-1], n_objects), side="right")
    chosen, counts = np.unique(np.minimum(drawn, len(cloud) - 1), return_counts=True)
    return cloud.take(chosen, counts.astype(np.float64))


def lloyd(
    cloud: Cloud,
    centers: NDArray[np.float64],
    *,
    max_iter: int = 300,
    settled: float = 0.0,
    done: NDArray[np.int64] | None = None,
) -> Parts:
    """Move centres to the means of their parts until no point changes its part.

    Or no more than the share `settled` of the weight. A centre that has lost its points goes to the
    point farthest from its own. The first cell of `done` gets how far that share has come down, in
    powers of ten, as a part of `_SHARES`.
    """
    n_parts = len(centers)
    slack = _slack(cloud)
    labels, distances = cloud.nearest(centers, slack / 2)
    enough = settled * float(cloud.weights.sum())
    n_iter = 0
    while n_iter < max_iter:
        n_iter += 1
        labels, distances = _refill(cloud, labels, distances, n_parts, slack)
        masses = np.bincount(labels, weights=cloud.weights, minlength=n_parts)
        means = cloud.means(labels, np.where(masses > 0, masses, 1.0))
        centers = np.where((masses > 0)[:, None], means, centers)
        before = labels
        labels, distances = cloud.nearest(centers, slack / 2)
        moved = float(cloud.weights[labels != before].sum())
        if moved <= enough:
            break
        if done is not None:
            total = float(cloud.weights.sum())
            done[0] = int(_SHARES * np.log(moved / total) / np.log(settled))
    return Parts(labels, distances, centers, float(cloud.weights @ distances), n_iter)


def _slack(cloud: Cloud) -> float:
    return _TIE * float(np.average(cloud.squares, weights=cloud.weights))


def _refill(
    cloud: Cloud,
    labels: NDArray[np.int64],
    distances: NDArray[np.float64],
    n_parts: int,
    slack: float,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Give each part without points the point farthest from its centre, if any is off it."""
    sizes = np.bincount(labels, minlength=n_parts)
    empty = np.flatnonzero(sizes == 0)
    if not len(empty):
        return labels, distances
    labels, distances = labels.copy(), distances.copy()
    for part in empty:
        i = _first_of_largest(np.where(sizes[labels] > 1, distances, 0.0), slack)
        if distances[i] <= slack:
            break
        sizes[labels[i]] -= 1
        labels[i], distances[i] = part, 0.0
        sizes[part] = 1
    return labels, distances


def _first_of_largest(values: NDArray[np.float64], slack: float) -> int:
    """Return the first entry that is within `slack` of the largest."""
    return int(np.argmax(values >= values.max() - slack))


def _spread(cloud: Cloud, n_parts: int) -> NDArray[np.int64]:
    """Return points far apart: the one nearest to the mean, then the farthest from all so far.

    On rows of length 1 this is close to the start of Ng, Jordan and Weiss: directions as near to
    orthogonal as can be.
    """
    slack = _slack(cloud)
    whole = np.zeros(len(cloud), dtype=np.int64)
    mean = cloud.means(whole, np.array([cloud.weights.sum()]))
    seeds = [_first_of_largest(-cloud.distances(mean)[0], slack)]
    nearest = np.full(len(cloud), np.inf)
    for _ in range(1, n_parts):
        nearest = np.minimum(nearest, cloud.distances(cloud.at(np.array(seeds[-1:])))[0])
        seeds.append(_first_of_largest(nearest, slack))
    return np.array(seeds)


def _draw(
    cloud: Cloud, n_parts: int, n_starts: int, random: np.random.Generator
) -> NDArray[np.int64]:
    """Return (n_starts, n_parts) seeds by greedy k-means++ (the best of 2 + log k draws each time).

    All starts at once: one call for the distances of all draws.
    """
    n, slack = len(cloud), _slack(cloud)
    starts = np.arange(n_starts)
    seeds = np.empty((n_starts, n_parts), dtype=np.int64)
    nearest = np.full((n_starts, n), np.inf)
    odds = np.broadcast_to(cloud.weights, nearest.shape)
    for part in range(n_parts):
        n_trials = 2 + int(np.log(n_parts)) if part else 1
        ends = np.cumsum(odds, axis=1)
        drawn = random.uniform(size=(n_starts, n_trials)) * ends[:, -1:]
        tries = np.empty(drawn.shape, dtype=np.int64)
        for start in starts:
            tries[start] = np.searchsorted(ends[start], drawn[start], side="right")
        tries = np.minimum(tries, n - 1)
        distances = cloud.distances(cloud.at(tries.ravel())).reshape(n_starts, n_trials, n)
        closer = np.minimum(nearest[:, None], distances, out=distances)
        sums = closer @ cloud.weights
        least = sums.min(axis=1, keepdims=True)
        chosen = np.argmax(sums <= least + 1e-9 * np.maximum(least, slack), axis=1)
        # Fewer different points than parts: then none is left to draw from.
        left = ends[:, -1] > 0
        seeds[:, part] = np.where(left, tries[starts, chosen], seeds[:, 0])
        nearest = closer[starts, chosen]
        odds = cloud.weights * np.where(nearest > slack, nearest, 0.0)
    return seeds


def fill_empty_parts(
    labels: NDArray[np.int64],
    distances: NDArray[np.float64],
    n_parts: int,
    inverse: NDArray[np.int64] | None = None,
) -> NDArray[np.int64]:
    """Return a part for each object, none of the `n_parts` empty.

    `labels` and `distances` (from the own centre) are those of distinct things, `inverse` says
    which of them each object is. An empty part gets the thing farthest from its centre, the first
    of equal ones, out of a part with several; when every part holds one thing, an object of the
    largest part, the first of its equals.
    """
    labels, distances = labels.copy(), distances.copy()
    sizes = np.bincount(labels, minlength=n_parts)
    empty = list(np.flatnonzero(sizes == 0))
    while empty and sizes.max() > 1:
        value = np.where(sizes[labels] > 1, distances, -np.inf)
        i = int(np.argmax(value))
        sizes[labels[i]] -= 1
        labels[i], distances[i] = empty.pop(0), 0.0
        sizes[labels[i]] = 1
    if inverse is not None:
        labels = labels[inverse]
        sizes = np.bincount(labels, minlength=n_parts)
        for part in empty:
            i = int(np.argmax(labels == np.argmax(sizes)))
            sizes[labels[i]] -= 1
            labels[i] = part
            sizes[part] = 1
    return labels
