"""K-means against its definition, for points and for label rows."""

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

import naive
from coterie import Ensemble
from coterie._partition import LabelRows, Points, fill_empty_parts, kmeans, lloyd
from coterie._partition import _kmeans as module
from strategies import label_matrices, random_labels


def rows_of(labels):
    """Label rows with the inner product of co-association rows, and these rows themselves."""
    ensemble = Ensemble(labels)
    rows, counts, inverse = ensemble.patterns
    inner = ensemble.overlap / ensemble.n_partitions**2
    Z = naive.incidence(labels)
    dense = Z @ Z.T / ensemble.n_partitions
    return LabelRows(rows, ensemble.offsets, inner, counts), dense, inverse


@given(labels=label_matrices(min_objects=2), seed=st.integers(0, 99))
def test_label_rows_are_as_far_as_rows_of_the_matrix(labels, seed):
    cloud, dense, inverse = rows_of(labels)
    random = np.random.default_rng(seed)
    parts = random.integers(0, 2, len(cloud))
    masses = np.bincount(parts, weights=cloud.weights, minlength=2)
    centers = cloud.means(parts, np.maximum(masses, 1))
    means = [
        dense[parts[inverse] == c].mean(axis=0) if masses[c] else 0 * dense[0] for c in range(2)
    ]
    expected = [((dense - mean) ** 2).sum(axis=1) for mean in means]
    assert cloud.distances(centers)[:, inverse] == pytest.approx(np.array(expected), abs=1e-9)
    assert cloud.squares[inverse] == pytest.approx((dense**2).sum(axis=1))
    spots = random.integers(0, len(cloud), 3)
    at = cloud.distances(cloud.at(spots))
    for spot, found in zip(spots, at, strict=True):
        i = int(np.argmax(inverse == spot))
        assert found[inverse] == pytest.approx(((dense - dense[i]) ** 2).sum(axis=1), abs=1e-9)


@given(labels=label_matrices(min_objects=3), k=st.integers(2, 4), seed=st.integers(0, 99))
def test_steps_are_those_of_k_means_on_the_dense_rows(labels, k, seed):
    cloud, dense, inverse = rows_of(labels)
    if len(cloud) < k:
        return
    spots = np.random.default_rng(seed).permutation(len(cloud))[:k]
    objects = [int(np.argmax(inverse == spot)) for spot in spots]
    for n_steps in (1, 2, 5):
        # After n updates the points are assigned once more.
        expected = naive.lloyd(dense, np.ones(len(dense)), dense[objects], n_steps + 1)
        if expected is None:
            return
        found = lloyd(cloud, cloud.at(spots), max_iter=n_steps)
        assert found.labels[inverse].tolist() == expected.tolist()


@pytest.mark.parametrize("kind", ["points", "rows"])
def test_end_is_that_of_scikit_learn_from_the_same_centres(seed, kind):
    random = np.random.default_rng(seed)
    if kind == "rows":
        cloud, X, inverse = rows_of(random_labels(seed, 150, 9, missing=0.1))
    else:
        X = random.normal(size=(150, 3))
        cloud, inverse = Points(X), np.arange(150)
    # Centres between the points, so that none is as near to two of them.
    parts = random.integers(0, 4, len(cloud))
    masses = np.bincount(parts, weights=cloud.weights)
    dense = [np.average(X, axis=0, weights=parts[inverse] == c) for c in range(4)]
    expected = KMeans(4, init=np.array(dense), n_init=1, tol=0).fit(X)
    found = lloyd(cloud, cloud.means(parts, masses))
    assert found.labels[inverse].tolist() == expected.labels_.tolist()
    assert found.inertia == pytest.approx(expected.inertia_)


def test_weights_count_as_copies(seed):
    random = np.random.default_rng(seed)
    X = random.normal(size=(60, 2))
    counts = random.integers(1, 5, 60)
    weighted = lloyd(Points(X, counts), X[:3].copy())
    copied = lloyd(Points(np.repeat(X, counts, axis=0)), X[:3].copy())
    assert np.repeat(weighted.labels, counts).tolist() == copied.labels.tolist()
    assert weighted.inertia == pytest.approx(copied.inertia)


def test_best_start_is_as_good_as_scikit_learns(seed):
    X, _ = make_blobs(400, 4, centers=9, cluster_std=1.5, random_state=seed)
    peer = KMeans(9, n_init=10, random_state=seed).fit(X)
    assert kmeans(Points(X), 9, seed=seed).inertia <= peer.inertia_ * 1.01


@pytest.mark.parametrize("n_init", [1, 2, 5])
def test_more_starts_are_never_worse(n_init, seed):
    points = Points(np.random.default_rng(seed).normal(size=(60, 3)))
    # The first start is the same, whatever their number.
    first, best = (kmeans(points, 6, n_init=n, seed=seed) for n in (1, n_init))
    assert best.inertia <= first.inertia + 1e-12
    # Fewer different points than parts.
    twins = Points(np.repeat(points.points[:2], 5, axis=0))
    assert kmeans(twins, 4, n_init=n_init).inertia == pytest.approx(0.0, abs=1e-12)


def test_many_points_start_from_samples(seed, monkeypatch):
    X, _ = make_blobs(5000, 3, centers=6, cluster_std=0.5, random_state=seed)
    monkeypatch.setattr(module, "_SAMPLE", 100)
    monkeypatch.setattr(module, "_SAMPLE_PER_PART", 20)
    sizes = []
    best_start = module._best_start

    def remember(cloud, *arguments, **options):
        sizes.append(len(cloud))
        return best_start(cloud, *arguments, **options)

    monkeypatch.setattr(module, "_best_start", remember)
    found = kmeans(Points(X), 6, seed=seed)
    assert max(sizes) <= 120
    assert len(found.labels) == 5000
    best = KMeans(6, n_init=10, random_state=0).fit(X)
    assert found.inertia <= best.inertia_ * 1.01


def test_equal_centres_and_empty_parts():
    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    found = lloyd(Points(X), np.array([[0.0], [0.0], [9.0]]))
    # Equal centres: the first. Nothing is off its centre once there are two, so one stays empty.
    assert len(set(found.labels.tolist())) == 2
    assert found.inertia == 0
    points = Points(np.array([[0.0], [1.0], [5.0]]))
    found = lloyd(points, np.array([[0.0], [100.0], [200.0]]))
    assert sorted(found.labels.tolist()) == [0, 1, 2]


def test_threads_do_not_matter():
    X = np.random.default_rng(0).normal(size=(30_000, 7))
    threads = numba.get_num_threads()
    found = []
    try:
        for n in {1, threads}:
            numba.set_num_threads(n)
            found.append(kmeans(Points(X), 5, seed=3).centers.tobytes())
    finally:
        numba.set_num_threads(threads)
    assert all(one == found[0] for one in found)


def test_empty_parts_are_filled_by_a_stated_rule():
    labels, distances = np.array([0, 0, 0, 2]), np.array([1.0, 5.0, 5.0, 9.0])
    # The farthest out of a part with several; of equal ones the first.
    assert fill_empty_parts(labels, distances, 4).tolist() == [0, 1, 3, 2]
    assert labels.tolist() == [0, 0, 0, 2]
    # One thing in each part: then equal objects are put apart, out of the largest part.
    inverse = np.array([0, 1, 1, 1, 0])
    found = fill_empty_parts(np.array([0, 1]), np.zeros(2), 4, inverse)
    assert found.tolist() == [0, 2, 3, 1, 0] or sorted(set(found.tolist())) == [0, 1, 2, 3]
    assert found.tolist() == [3, 2, 1, 1, 0]


def test_empty_parts_are_filled_whatever_the_distances():
    for distances in (np.zeros(4), -np.ones(4), np.array([-5.0, -1.0, -2.0, -9.0])):
        assert len(np.unique(fill_empty_parts(np.zeros(4, dtype=np.int64), distances, 3))) == 3
