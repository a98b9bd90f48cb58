"""Generators of the synthetic data sets on which cluster ensembles are compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from coterie.datasets._checks import (
    RandomState,
    check_count,
    check_scale,
    class_sizes,
    generator,
)

__all__ = [
    "make_cigar",
    "make_complex_image",
    "make_half_rings",
    "make_noisy_classes",
    "make_three_gaussian",
    "make_three_paths",
    "make_two_gaussian",
    "make_two_spirals",
]

Points: TypeAlias = NDArray[np.float64]
Labels: TypeAlias = NDArray[np.int64]

OUTLIER = -1  # the label of points that belong to no class


def make_two_spirals(
    n_samples: int | Sequence[int] = 200,
    *,
    noise: float = 0.05,
    spacing: Literal["length", "angle"] = "length",
    shuffle: bool = False,
    random_state: RandomState = None,
) -> tuple[Points, Labels]:
    """Make two spiral arms around each other, a set that k-means cannot separate.

    The arms are r = t for angles t from pi/2 to 7 pi/2, one and a half turns, and its mirror
    image through the origin [1]_, [2]_. They stay a distance of about pi apart; with 100 points
    each, neighbours on an arm are 0.6 apart. Small clusters seldom reach across, so that a
    consensus of k-means partitions with 60 clusters can tell the arms apart, as in [2]_.

    Parameters
    ----------
    n_samples : int or pair of int, default=200
        Number of points, divided evenly, or the number on each arm.
    noise : float, default=0.05
        Standard deviation of the Gaussian noise added to both coordinates.
    spacing : {'length', 'angle'}, default='length'
        Whether points are equally spaced along the arm, or in the angle t. The latter thins the
        arms out to a spacing of 1 at their outer ends, which is too much for partitions with 60
        clusters: the outer ends come apart.
    shuffle : bool, default=False
        Whether to put the points in random order; otherwise the arms follow each other.
    random_state : int, Generator, RandomState or None, default=None
        Seed or source of random numbers. The same integer gives the same set.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        The points.
    y : ndarray of int64, shape (n_samples,)
        The arm of each point, 0 or 1.

    References
    ----------
    .. [1] Fred & Jain (2002), Data clustering using evidence accumulation, ICPR,
       276-280.
    .. [2] Li, Yu, Hao & Li (2007), Clustering ensembles based on normalized edges, PAKDD,
       LNAI 4426, 664-671.

    Examples
    --------
    >>> from coterie.datasets import make_two_spirals
    >>> X, y = make_two_spirals(random_state=0)
    >>> X.shape
    (200, 2)
    >>> X[[0, 100]].round(3)
    array([[ 0.006,  1.564],
           [-0.033, -1.601]])
    """
    sizes = class_sizes(n_samples, [1, 1])
    noise = check_scale("noise", noise)
    if spacing not in ("length", "angle"):
        raise ValueError(f"spacing must be 'length' or 'angle'; got {spacing!r}.")
    rng = generator(random_state)

    first, second = (_spiral(size, 0.5 * np.pi, 3.5 * np.pi, spacing) for size in sizes)
    X = np.vstack([first, -second])
    X += rng.normal(scale=noise, size=X.shape)
    return _finish(X, sizes, shuffle, rng)


def make_two_gaussian(
    n_samples: int | Sequence[int] = 600,
    *,
    shuffle: bool = False,
    random_state: RandomState = None,
) -> tuple[Points, Labels]:
    """Make the Two-Gaussian set: one cluster is tall, the other wide.

    Means (0.5, 5) and (12, 5), variances (1, 9) and (6, 2), no correlation, 300 points each
    [1]_. The paper prints the variances as standard deviations; read so, its clusters would
    overlap far more than its results allow.

    Parameters
    ----------
    n_samples : int or pair of int, default=600
        Number of points, divided evenly, or the number in each class.
    shuffle : bool, default=False
        Whether to put the points in random order; otherwise the classes follow each other.
    random_state : int, Generator, RandomState or None, default=None
        Seed or source of random numbers. The same integer gives the same set.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        The points.
    y : ndarray of int64, shape (n_samples,)
        The class of each point, 0 or 1.

    References
    ----------
    .. [1] Domeniconi & Al-Razgan (2009), Weighted cluster ensembles: methods and analysis,
       sections 5 and 6, :doi:`10.1145/1460797.1460800`.

    Examples
    --------
    >>> from coterie.datasets import make_two_gaussian
    >>> X, y = make_two_gaussian(random_state=0)
    >>> X.shape, X[y == 1].mean(axis=0).round()
    ((600, 2), array([12.,  5.]))
    """
    return _gaussians(
        n_samples, [(0.5, 5), (12, 5)], [(1, 9), (6, 2)], shuffle, generator(random_state)
    )


def make_three_gaussian(
    n_samples: int | Sequence[int] = 900,
    *,
    shuffle: bool = False,
    random_state: RandomState = None,
) -> tuple[Points, Labels]:
    """Make the Three-Gaussian set: a wide cluster between two tall ones.

    Means (2, 5), (12, 5) and (23, 5), variances (1, 9), (6, 2) and (1, 9), no correlation, 300
    points each [1]_. The paper prints the variances as standard deviations; read so, k-means
    would err on 30 % of the points instead of about 1 %.

    Parameters
    ----------
    n_samples : int or triple of int, default=900
        Number of points, divided evenly, or the number in each class.
    shuffle : bool, default=False
        Whether to put the points in random order; otherwise the classes follow each other.
    random_state : int, Generator, RandomState or None, default=None
        Seed or source of random numbers. The same integer gives the same set.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        The points.
    y : ndarray of int64, shape (n_samples,)
        The class of each point, 0 to 2.

    References
    ----------
    .. [1] Domeniconi & Al-Razgan (2009), Weighted cluster ensembles: methods and analysis,
       section 6, :doi:`10.1145/1460797.1460800`.

    Examples
    --------
    >>> from coterie.datasets import make_three_gaussian
    >>> X, y = make_three_gaussian(random_state=0)
    >>> X.shape, X[y == 2].mean(axis=0).round()
    ((900, 2), array([23.,  5.]))
    """
    return _gaussians(
        n_samples,
        [(2, 5), (12, 5), (23, 5)],
        [(1, 9), (6, 2), (1, 9)],
        shuffle,
        generator(random_state),
    )


def make_noisy_classes(
    n_samples: int | Sequence[int] = 100,
    *,
    n_noise: int = 0,
    n_features: int = 16,
    shuffle: bool = False,
    random_state: RandomState = None,
) -> tuple[Points, Labels]:
    """Make two round and two chain-like classes in 16 dimensions, with noise features.

    The model of the MSTEClust experiments [1]_. Classes 0 and 1 are normal with unit covariance
    about (0, ..., 0) and (6, ..., 6). Classes 2 and 3 are random walks: the first object is
    (-6, 6, ..., -6, 6) or (6, -6, ..., 6, -6) plus 0.1 e, and each next one is the one before it
    plus 0.25 (1, ..., 1) plus 0.25 e, where e is standard normal. Then `n_noise` features drawn
    at random are replaced by values uniform over the feature's range in the sample.

    Parameters
    ----------
    n_samples : int or sequence of 4 int, default=100
        Number of objects, divided evenly, or the number in each class.
    n_noise : int, default=0
        Number of features that are replaced by noise, d_0 in the paper.
    n_features : int, default=16
        Number of features, noise included.
    shuffle : bool, default=False
        Whether to put the objects in random order; otherwise the classes follow each other.
    random_state : int, Generator, RandomState or None, default=None
        Seed or source of random numbers. The same integer gives the same set.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        The objects.
    y : ndarray of int64, shape (n_samples,)
        The class of each object, 0 to 3.

    Notes
    -----
    For one integer `random_state` and without shuffling, sets with more noise differ from sets
    with less only in the features that became noise in between: a curve over `n_noise` compares
    like with like.

    References
    ----------
    .. [1] Berikov, Cluster ensemble with averaged co-association matrix maximizing the
       expected margin, section 5.

    Examples
    --------
    >>> from coterie.datasets import make_noisy_classes
    >>> clean, y = make_noisy_classes(random_state=0)
    >>> noisy, y = make_noisy_classes(n_noise=3, random_state=0)
    >>> clean.shape, int((clean != noisy).any(axis=0).sum())
    ((100, 16), 3)
    """
    sizes = class_sizes(n_samples, [1, 1, 1, 1])
    n_features = check_count("n_features", n_features, low=1)
    n_noise = check_count("n_noise", n_noise, low=0, high=n_features)
    rng = generator(random_state)

    zigzag = np.where(np.arange(n_features) % 2 == 0, -6.0, 6.0)
    X = np.vstack(
        [
            rng.normal(0.0, 1.0, size=(sizes[0], n_features)),
            rng.normal(6.0, 1.0, size=(sizes[1], n_features)),
            _walk(zigzag, sizes[2], rng),
            _walk(-zigzag, sizes[3], rng),
        ]
    )
    low, high = X.min(axis=0), X.max(axis=0)
    for feature in rng.permutation(n_features)[:n_noise]:
        X[:, feature] = rng.uniform(low[feature], high[feature], size=len(X))
    return _finish(X, sizes, shuffle, rng)


def make_half_rings(
    n_samples: int | Sequence[int] = 400,
    *,
    noise: float = 0.1,
    shuffle: bool = False,
    random_state: RandomState = None,
) -> tuple[Points, Labels]:
    """Make two interlocked half rings, the upper sparse and the lower dense.

    After the half-rings of Fred and Jain [1]_: 100 points in the upper ring and 300 in the lower.
    K-means cuts through both rings. The sizes are theirs; the radius of 1, the centres (0, 0) and
    (1, 0) and the noise are ours.

    Parameters
    ----------
    n_samples : int or pair of int, default=400
        Number of points, divided 1 : 3, or the number in the upper and in the lower ring.
    noise : float, default=0.1
        Standard deviation of the Gaussian noise added to both coordinates.
    shuffle : bool, default=False
        Whether to put the points in random order; otherwise the rings follow each other.
    random_state : int, Generator, RandomState or None, default=None
        Seed or source of random numbers. The same integer gives the same set.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        The points.
    y : ndarray of int64, shape (n_samples,)
        0 for the upper ring, 1 for the lower.

    References
    ----------
    .. [1] Fred & Jain (2002), Data clustering using evidence accumulation, ICPR,
       276-280.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie.datasets import make_half_rings
    >>> X, y = make_half_rings(random_state=0)
    >>> X.shape, np.bincount(y)
    ((400, 2), array([100, 300]))
    """
    sizes = class_sizes(n_samples, [1, 3])
    noise = check_scale("noise", noise)
    rng = generator(random_state)

    X = np.vstack(
        [
            _arc(sizes[0], (0.0, 0.0), 1.0, 0.0, np.pi, rng),
            _arc(sizes[1], (1.0, 0.0), 1.0, np.pi, 2 * np.pi, rng),
        ]
    )
    X += rng.normal(scale=noise, size=X.shape)
    return _finish(X, sizes, shuffle, rng)


def make_cigar(
    n_samples: int | Sequence[int] = 250,
    *,
    noise: float = 0.15,
    shuffle: bool = False,
    random_state: RandomState = None,
) -> tuple[Points, Labels]:
    """Make two long parallel clusters and two small round ones.

    After the cigar set used with evidence accumulation [1]_: four clusters of 100, 100, 25 and 25
    points, of different shapes and sizes. The places are ours: bars from (-4, 0) to (4, 0) and
    from (-4, 1.5) to (4, 1.5), discs of radius 0.5 about (-2.5, 3.5) and (2.5, 3.5). K-means cuts
    the long clusters across.

    Parameters
    ----------
    n_samples : int or sequence of 4 int, default=250
        Number of points, divided 4 : 4 : 1 : 1, or the number in each cluster.
    noise : float, default=0.15
        Standard deviation of the Gaussian noise added to both coordinates.
    shuffle : bool, default=False
        Whether to put the points in random order; otherwise the clusters follow each other.
    random_state : int, Generator, RandomState or None, default=None
        Seed or source of random numbers. The same integer gives the same set.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        The points.
    y : ndarray of int64, shape (n_samples,)
        The cluster of each point: 0 and 1 are long, 2 and 3 small.

    References
    ----------
    .. [1] Fred & Jain (2005), Combining multiple clusterings using evidence accumulation,
       :doi:`10.1109/TPAMI.2005.113`.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie.datasets import make_cigar
    >>> X, y = make_cigar(random_state=0)
    >>> X.shape, np.bincount(y)
    ((250, 2), array([100, 100,  25,  25]))
    """
    sizes = class_sizes(n_samples, [4, 4, 1, 1])
    noise = check_scale("noise", noise)
    rng = generator(random_state)

    X = np.vstack(
        [
            _bar(sizes[0], (-4.0, 0.0), (4.0, 0.0), rng),
            _bar(sizes[1], (-4.0, 1.5), (4.0, 1.5), rng),
            _disc(sizes[2], (-2.5, 3.5), 0.5, rng),
            _disc(sizes[3], (2.5, 3.5), 0.5, rng),
        ]
    )
    X += rng.normal(scale=noise, size=X.shape)
    return _finish(X, sizes, shuffle, rng)


def make_three_paths(
    n_samples: int | Sequence[int] = 800,
    *,
    n_outliers: int = 200,
    noise: float = 0.1,
    shuffle: bool = False,
    random_state: RandomState = None,
) -> tuple[Points, Labels]:
    """Make three curved paths in a field of outliers.

    After the 3-paths set of Fischer and Buhmann [1]_ as it is described in [2]_: three path-like
    clusters of 200 points each, corrupted by 200 noise points. The original is
    not available; ours are three arms that start 120 degrees apart on a circle of radius 1.5 and
    bend by 140 degrees on their way out to radius 5, with outliers uniform over the square from
    -5.5 to 5.5. K-means cuts across the paths, single linkage finds little but outliers, and
    chains of outliers lie between the paths.

    Parameters
    ----------
    n_samples : int or triple of int, default=800
        Number of points, outliers included, the rest divided evenly; or the number on each path,
        and the outliers come on top.
    n_outliers : int, default=200
        Number of points that belong to no path. They come last.
    noise : float, default=0.1
        Standard deviation of the Gaussian noise added to both coordinates of the paths.
    shuffle : bool, default=False
        Whether to put the points in random order; otherwise the paths follow each other.
    random_state : int, Generator, RandomState or None, default=None
        Seed or source of random numbers. The same integer gives the same set.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        The points.
    y : ndarray of int64, shape (n_samples,)
        The path of each point, 0 to 2, and -1 for outliers. The paper leaves these out of its
        error rates: compare on ``y >= 0``.

    References
    ----------
    .. [1] Fischer & Buhmann (2003), Bagging for path-based clustering, IEEE Trans.
       Pattern Analysis and Machine Intelligence 25(11), 1411-1415.
    .. [2] Li, Yu, Hao & Li (2007), Clustering ensembles based on normalized edges, PAKDD,
       LNAI 4426, 664-671.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie.datasets import make_three_paths
    >>> X, y = make_three_paths(random_state=0)
    >>> X.shape, np.bincount(y + 1)
    ((800, 2), array([200, 200, 200, 200]))
    """
    n_outliers = check_count("n_outliers", n_outliers, low=0)
    sizes = class_sizes(n_samples, [1, 1, 1], n_outliers=n_outliers)
    noise = check_scale("noise", noise)
    rng = generator(random_state)

    paths = [
        _bent_arm(size, 2 * np.pi * arm / 3, rng) + rng.normal(scale=noise, size=(size, 2))
        for arm, size in enumerate(sizes)
    ]
    outliers = rng.uniform(-5.5, 5.5, size=(n_outliers, 2))
    return _finish(np.vstack([*paths, outliers]), sizes, shuffle, rng)


def make_complex_image(
    n_samples: int | Sequence[int] = 743,
    *,
    n_outliers: int = 10,
    noise: float = 0.08,
    shuffle: bool = False,
    random_state: RandomState = None,
) -> tuple[Points, Labels]:
    """Make an image of seven shapes: rings, half rings, bars and a disc.

    After the complex image (image-c) of Fred and Jain [1]_ with the class sizes given in [2]_:
    200, 200, 100, 100, 50, 50 and 33 points and an outer circle of 10 points that count as noise,
    743 in all; ``make_complex_image(739, n_outliers=6)`` has the size given in [3]_. The image
    itself is not available: the shapes and their places are ours.

    ===== ====== ===============================================
    class points shape
    ===== ====== ===============================================
    0        200 ring of radius 2.4 about (0, 0)
    1        200 half ring of radius 1.8, open to the left
    2        100 ring of radius 1.3 about (0, 0)
    3        100 half ring of radius 1.8, open to the right
    4         50 disc of radius 0.4 about (0, 0)
    5         50 bar of length 3 above the half rings
    6         33 bar of length 2 above that
    -1        10 outer circle, of radius 3.3 about (0, 0)
    ===== ====== ===============================================

    Parameters
    ----------
    n_samples : int or sequence of 7 int, default=743
        Number of points, outliers included, the rest divided in the proportions above; or the
        number in each class, and the outliers come on top.
    n_outliers : int, default=10
        Number of points on the outer circle. They come last.
    noise : float, default=0.08
        Standard deviation of the Gaussian noise added to both coordinates, except on the outer
        circle.
    shuffle : bool, default=False
        Whether to put the points in random order; otherwise the classes follow each other.
    random_state : int, Generator, RandomState or None, default=None
        Seed or source of random numbers. The same integer gives the same set.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        The points.
    y : ndarray of int64, shape (n_samples,)
        The class of each point, 0 to 6, and -1 for outliers. The paper leaves these out of its
        error rates: compare on ``y >= 0``.

    References
    ----------
    .. [1] Fred & Jain (2005), Combining multiple clusterings using evidence accumulation,
       :doi:`10.1109/TPAMI.2005.113`.
    .. [2] Li, Yu, Hao & Li (2007), Clustering ensembles based on normalized edges, PAKDD,
       LNAI 4426, 664-671.
    .. [3] Lourenço et al. (2013), Probabilistic evidence accumulation for clustering ensembles,
       table 1, :doi:`10.5220/0004267900580067`.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie.datasets import make_complex_image
    >>> X, y = make_complex_image(random_state=0)
    >>> X.shape, np.bincount(y + 1)
    ((743, 2), array([ 10, 200, 200, 100, 100,  50,  50,  33]))
    """
    n_outliers = check_count("n_outliers", n_outliers, low=0)
    sizes = class_sizes(n_samples, [200, 200, 100, 100, 50, 50, 33], n_outliers=n_outliers)
    noise = check_scale("noise", noise)
    rng = generator(random_state)

    turn = 2 * np.pi
    shapes = [
        _arc(sizes[0], (0.0, 0.0), 2.4, 0.0, turn, rng),
        _arc(sizes[1], (6.4, -0.2), 1.8, -turn / 4, turn / 4, rng),
        _arc(sizes[2], (0.0, 0.0), 1.3, 0.0, turn, rng),
        _arc(sizes[3], (6.9, -1.5), 1.8, turn / 4, 3 * turn / 4, rng),
        _disc(sizes[4], (0.0, 0.0), 0.4, rng),
        _bar(sizes[5], (5.0, 2.5), (8.0, 2.5), rng),
        _bar(sizes[6], (5.5, 3.5), (7.5, 3.5), rng),
    ]
    X = np.vstack(shapes)
    X += rng.normal(scale=noise, size=X.shape)
    start = rng.uniform(0, turn)
    outliers = _on_circle(start + turn * np.arange(n_outliers) / max(n_outliers, 1), 3.3)
    return _finish(np.vstack([X, outliers]), sizes, shuffle, rng)


def _gaussians(
    n_samples: int | Sequence[int],
    means: Sequence[tuple[float, float]],
    variances: Sequence[tuple[float, float]],
    shuffle: bool,
    rng: np.random.Generator,
) -> tuple[Points, Labels]:
    """Return normal classes without correlation."""
    sizes = class_sizes(n_samples, [1] * len(means))
    X = np.vstack(
        [
            rng.normal(mean, np.sqrt(variance), size=(size, 2))
            for size, mean, variance in zip(sizes, means, variances, strict=True)
        ]
    )
    return _finish(X, sizes, shuffle, rng)


def _finish(
    X: Points, sizes: Sequence[int], shuffle: bool, rng: np.random.Generator
) -> tuple[Points, Labels]:
    """Label the points class by class, those left over as outliers; shuffle if asked."""
    y = np.full(len(X), OUTLIER, dtype=np.int64)
    y[: sum(sizes)] = np.repeat(np.arange(len(sizes)), sizes)
    if shuffle:
        order = rng.permutation(len(X))
        X, y = X[order], y[order]
    return X, y


def _walk(start: Points, size: int, rng: np.random.Generator) -> Points:
    """Return a random walk that drifts by 0.25 in every coordinate."""
    steps = 0.25 + 0.25 * rng.normal(size=(size, len(start)))
    steps[0] = start + 0.1 * rng.normal(size=len(start))
    return np.cumsum(steps, axis=0)


def _on_circle(angle: Points, radius: float | Points) -> Points:
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


def _spiral(size: int, start: float, stop: float, spacing: str) -> Points:
    """Return points on the spiral r = t, equally spaced in the angle or along the arm."""
    angle = np.linspace(start, stop, size)
    if spacing == "length":
        fine = np.linspace(start, stop, 10_000)
        length = (fine * np.sqrt(1 + fine**2) + np.arcsinh(fine)) / 2
        angle = np.interp(np.linspace(length[0], length[-1], size), length, fine)
    return _on_circle(angle, angle)


def _bent_arm(size: int, direction: float, rng: np.random.Generator) -> Points:
    """Return points on a path that starts in `direction` and bends to the left as it leaves."""
    inner, outer = 1.5, 5.0
    radius = np.sqrt(inner**2 + (outer**2 - inner**2) * _stratified(size, rng))
    bend = np.deg2rad(140) * (radius - inner) / (outer - inner)
    return _on_circle(direction + bend, radius)


def _stratified(size: int, rng: np.random.Generator) -> Points:
    """Return one uniform number in each of `size` equal parts of [0, 1)."""
    return (np.arange(size) + rng.uniform(size=size)) / size


def _arc(
    size: int,
    centre: tuple[float, float],
    radius: float,
    start: float,
    stop: float,
    rng: np.random.Generator,
) -> Points:
    return np.asarray(centre) + _on_circle(start + (stop - start) * _stratified(size, rng), radius)


def _disc(
    size: int, centre: tuple[float, float], radius: float, rng: np.random.Generator
) -> Points:
    angle = rng.uniform(0, 2 * np.pi, size=size)
    return np.asarray(centre) + _on_circle(angle, radius * np.sqrt(rng.uniform(size=size)))


def _bar(
    size: int, start: tuple[float, float], stop: tuple[float, float], rng: np.random.Generator
) -> Points:
    way = _stratified(size, rng)[:, np.newaxis]
    return (1 - way) * np.asarray(start) + way * np.asarray(stop)
