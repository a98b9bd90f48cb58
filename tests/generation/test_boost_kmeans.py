"""Boost-KM against the steps of its description."""

import itertools
import math

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.utils.estimator_checks import parametrize_with_checks

import naive
from coterie import BoostKMeans, Ensemble
from coterie.generation import _boost_kmeans as module


def memberships(X, centers):
    """The definition, object by object."""
    table = []
    for x in X:
        d = [math.dist(x, m) for m in centers]
        if 0.0 in d:
            table.append([float(value == 0.0) / d.count(0.0) for value in d])
        else:
            table.append([1.0 / sum(d[j] / other for other in d) for j in range(len(d))])
    return np.array(table)


def test_memberships_are_those_of_the_definition(seed):
    random = np.random.default_rng(seed)
    X, centers = random.normal(size=(30, 3)), random.normal(size=(4, 3))
    X[0] = centers[2]
    centers[1] = centers[3]
    X[1] = centers[1]
    found = module.memberships_of(X, centers)
    assert found == pytest.approx(memberships(X, centers))
    assert found[0].tolist() == [0, 0, 1, 0]
    assert found.sum(axis=1) == pytest.approx(np.ones(30))


def test_clustering_errors():
    table = np.array([[1.0, 0.0], [0.5, 0.5], [0.8, 0.2]])
    assert module.clustering_errors(table, "minmax") == pytest.approx([0.0, 1.0, 0.4])
    entropy = -(0.8 * math.log(0.8) + 0.2 * math.log(0.2)) / math.log(2)
    assert module.clustering_errors(table, "entropy") == pytest.approx([0.0, 1.0, entropy])
    assert module.clustering_errors(np.ones((3, 1)), "entropy").tolist() == [0, 0, 0]


def test_clusters_are_matched_by_shared_objects(seed):
    random = np.random.default_rng(seed)
    reference, labels = random.integers(0, 4, 60), random.integers(0, 4, 60)
    order = module.match_clusters(labels, reference, 4)
    shared = max(
        sum((labels[reference == c] == other[c]).sum() for c in range(4))
        for other in itertools.permutations(range(4))
    )
    assert sum((labels[reference == c] == order[c]).sum() for c in range(4)) == shared


@pytest.mark.parametrize("criterion", ["minmax", "entropy"])
def test_rounds_follow_the_description(seed, criterion):
    X, _ = make_blobs(120, centers=4, cluster_std=1.5, random_state=seed)
    fitted = BoostKMeans(4, 30, criterion, random_state=seed).fit(X)
    weights = np.full(120, 1 / 120)
    largest, n_falls = 0.0, 0
    logs = []
    for t, centers in enumerate(fitted.cluster_centers_):
        assert n_falls < 3
        h = memberships(X, centers)
        if criterion == "minmax":
            cq = 1 - h.max(axis=1) + h.min(axis=1)
        else:
            cq = -(h * np.log(h)).sum(axis=1) / math.log(4)
        eps = 0.5 * (weights @ cq)
        assert eps <= 0.5
        logs.append(math.log((1 - eps) / eps))
        n_falls, largest = (n_falls + 1, largest) if eps < largest else (0, eps)
        weights = weights * ((1 - eps) / eps) ** cq
        weights /= weights.sum()
        assert fitted.ensemble_.n_partitions > t
    assert n_falls == 3 or fitted.n_rounds_ == 30
    assert fitted.round_weights_ == pytest.approx(np.array(logs) / sum(logs))
    total = sum(w * memberships(X, c) for w, c in zip(logs, fitted.cluster_centers_, strict=True))
    assert fitted.labels_.tolist() == total.argmax(axis=1).tolist()
    assert fitted.membership_ == pytest.approx(total / sum(logs))


def test_clear_clusters_are_found(seed):
    X, truth = make_blobs(150, centers=[[0, 0], [9, 0], [0, 9]], random_state=seed)
    fitted = BoostKMeans(3, random_state=0).fit(X)
    assert naive.same_partition(fitted.labels_, truth)
    assert fitted.labels_.tolist() == naive.order_by_size(fitted.labels_)
    assert fitted.predict(X).tolist() == fitted.labels_.tolist()
    assert isinstance(fitted.ensemble_, Ensemble)
    assert fitted.ensemble_.shape == (150, fitted.n_rounds_)


def test_every_object_on_a_centre():
    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    assert BoostKMeans(2, random_state=0).fit(X).labels_.tolist() == [0, 0, 1, 1]
    assert BoostKMeans(1, random_state=0).fit(X).labels_.tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"n_clusters": 0}, "n_clusters must be at least 1; got 0"),
        ({"n_clusters": 9}, r"at most the number of samples, n_samples = 4; got 9"),
        ({"n_rounds": 1.5}, "n_rounds must be an integer; got 1.5"),
        ({"criterion": "x"}, "criterion must be 'minmax' or 'entropy'; got 'x'"),
    ],
)
def test_words_of_errors(parameters, words):
    with pytest.raises((TypeError, ValueError), match=words):
        BoostKMeans(**{"n_clusters": 2} | parameters).fit([[0.0], [1.0], [2.0], [3.0]])


@parametrize_with_checks([BoostKMeans(n_clusters=2, n_rounds=10, random_state=0)])
def test_scikit_learns_checks(estimator, check):
    check(estimator)
