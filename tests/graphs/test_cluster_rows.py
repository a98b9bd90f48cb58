"""K-means on distinct rows, and parts that are never empty."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

import naive
from coterie._graphs import _cluster_rows as module
from coterie._graphs import cluster_rows, draw_rows, fill_empty_parts


def inertia(X, labels):
    return sum(((X[labels == c] - X[labels == c].mean(axis=0)) ** 2).sum() for c in set(labels))


def test_weights_count_as_copies(seed):
    random = np.random.default_rng(seed)
    X, _ = make_blobs(90, 2, centers=4, random_state=seed)
    counts = random.integers(1, 5, 90)
    weighted = cluster_rows(X, 4, counts=counts).labels
    copied = cluster_rows(np.repeat(X, counts, axis=0), 4).labels
    assert naive.same_partition(np.repeat(weighted, counts), copied)


def test_centres_are_the_means_of_parts(seed):
    X = np.random.default_rng(seed).normal(size=(60, 3))
    labels, centers = cluster_rows(X, 4)
    expected = [X[labels == c].mean(axis=0) for c in range(4)]
    assert centers == pytest.approx(np.array(expected), abs=0.05)


@pytest.mark.slow
def test_many_rows_are_clustered_by_a_sample(seed, monkeypatch):
    X, _ = make_blobs(5000, 3, centers=6, cluster_std=0.5, random_state=seed)
    monkeypatch.setattr(module, "_MOST_ROWS", 100)
    monkeypatch.setattr(module, "_ROWS_PER_PART", 20)
    sizes = []
    fit = module.fit_kmeans
    monkeypatch.setattr(
        module,
        "fit_kmeans",
        lambda X, *given, **more: sizes.append(len(X)) or fit(X, *given, **more),
    )
    found = cluster_rows(X, 6).labels
    assert sizes[0] <= 120
    best = KMeans(6, n_init=10, random_state=0).fit(X)
    assert inertia(X, found) <= best.inertia_ * 1.1
    assert cluster_rows(X, 6).labels.tolist() == found.tolist()


def test_samples_are_drawn_by_weight(monkeypatch):
    monkeypatch.setattr(module, "_MOST_ROWS", 1000)
    monkeypatch.setattr(module, "_ROWS_PER_PART", 1)
    counts = np.ones(2000, dtype=int)
    counts[7] = 2000
    chosen, weights = draw_rows(counts, 2, 5, random_state=0)
    assert weights.sum() == 1000
    assert 400 < weights[chosen == 7].sum() < 600
    # Long rows: fewer of them. Few rows: all.
    assert draw_rows(counts, 2, module._MOST_NUMBERS // 100, random_state=0)[1].sum() == 100
    assert draw_rows(counts[:900], 2, 5, random_state=0)[1].tolist() == counts[:900].tolist()


def test_fewer_distinct_rows_than_parts():
    X = np.repeat(np.arange(2.0), 5)[:, None]
    labels, _ = cluster_rows(X, 4)
    assert labels.max() < 4
    assert naive.same_partition(cluster_rows(X[:3], 5).labels, [0, 1, 2])


def test_empty_parts_are_filled_by_a_stated_rule():
    labels, distances = np.array([0, 0, 0, 2]), np.array([1.0, 5.0, 5.0, 9.0])
    # The farthest out of a part with several; of equal ones the first.
    assert fill_empty_parts(labels, 4, distances=distances).tolist() == [0, 1, 3, 2]
    assert labels.tolist() == [0, 0, 0, 2]
    # One row in each part: then equal objects are put apart, out of the largest part.
    found = fill_empty_parts(np.array([0, 1]), 4, inverse=np.array([0, 1, 1, 1, 0]))
    assert found.tolist() == [3, 2, 1, 1, 0]


def test_empty_parts_are_filled_whatever_the_distances():
    for distances in (None, -np.ones(4), np.array([-5.0, -1.0, -2.0, -9.0])):
        found = fill_empty_parts(np.zeros(4, dtype=np.int64), 3, distances=distances)
        assert len(np.unique(found)) == 3
