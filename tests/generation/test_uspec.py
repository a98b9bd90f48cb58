"""U-SPEC against the definition, and on shapes that k-means cannot see."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.utils.estimator_checks import parametrize_with_checks

import naive
from coterie import USPEC, RandomizedEnsemble
from coterie.generation._uspec import affinity_graph


def literal(X, representatives, n_neighbors, k):
    """Labels by the definition, from given representatives."""
    distances = np.linalg.norm(X[:, None] - representatives[None], axis=2)
    nearest = np.argsort(distances, axis=1)[:, :n_neighbors]
    kept = np.take_along_axis(distances, nearest, axis=1)
    sigma = kept.mean()
    B = np.zeros_like(distances)
    np.put_along_axis(B, nearest, np.exp(-(kept**2) / (2 * sigma**2)), axis=1)
    D = B.sum(axis=1)
    W = B.T @ (B / D[:, None])
    root = 1 / np.sqrt(W.sum(axis=1))
    _, vectors = np.linalg.eigh(root[:, None] * W * root)
    rows = (B / D[:, None]) @ (root[:, None] * vectors[:, ::-1][:, :k])
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return sigma, KMeans(k, n_init=20, random_state=0).fit_predict(rows)


@pytest.mark.slow
def test_labels_are_those_of_the_definition(seed):
    X, _ = make_blobs(400, centers=4, cluster_std=1.2, random_state=seed)
    fitted = USPEC(4, n_representatives=40, random_state=seed).fit(X)
    assert fitted.representatives_.shape == (40, 2)
    sigma, expected = literal(X, fitted.representatives_, 5, 4)
    assert fitted.sigma_ == pytest.approx(sigma)
    assert naive.same_partition(fitted.labels_, expected)
    assert fitted.labels_.tolist() == naive.order_by_size(fitted.labels_)


@pytest.mark.parametrize("make", [make_moons, make_circles])
def test_shapes_that_kmeans_cannot_see(seed, make):
    options = {"factor": 0.4} if make is make_circles else {}
    X, truth = make(2000, noise=0.05, random_state=seed, **options)
    fitted = USPEC(2, n_representatives=200, random_state=0).fit(X)
    assert naive.same_partition(fitted.labels_, truth)
    X_new, truth_new = make(300, noise=0.05, random_state=seed + 1, **options)
    assert (fitted.predict(X_new) == fitted.labels_[0]).tolist() == (truth_new == truth[0]).tolist()


def test_prediction_repeats_the_labels(seed):
    X, _ = make_blobs(500, centers=6, cluster_std=2.0, random_state=seed)
    fitted = USPEC(6, n_representatives=50, random_state=0).fit(X)
    assert fitted.predict(X).tolist() == fitted.labels_.tolist()


def test_objects_far_from_all_representatives_have_a_place():
    distances = np.array([[1.0, 2.0], [1e6, 1e6 + 1.0]])
    graph = affinity_graph(distances, np.array([[0, 1], [2, 1]]), 1.0, 3)
    assert graph.toarray()[0] == pytest.approx([np.exp(-0.5), np.exp(-2.0), 0.0])
    assert graph[1, 2] > 0


@pytest.mark.parametrize("k", [1, 3, 7, 12])
def test_few_and_equal_objects(k):
    X = np.repeat(np.arange(6.0)[:, None], 2, axis=0)
    fitted = USPEC(k, random_state=0).fit(X)
    assert len(np.unique(fitted.labels_)) == k
    assert set(fitted.predict(X)) <= set(range(k))


def test_is_a_base_of_ensembles(seed):
    X, _ = make_moons(400, noise=0.05, random_state=seed)
    base = USPEC(n_representatives=100)
    ensemble = RandomizedEnsemble(
        base, n_partitions=3, n_clusters=(4, 9), random_state=0
    ).fit_transform(X)
    assert ensemble.shape == (400, 3)
    assert ((ensemble.n_clusters >= 4) & (ensemble.n_clusters <= 9)).all()


@pytest.mark.parametrize("name", ["n_clusters", "n_representatives", "n_neighbors"])
def test_words_of_errors(name):
    with pytest.raises(ValueError, match=f"{name} must be at least 1; got 0"):
        USPEC(**{"n_clusters": 2} | {name: 0}).fit([[0.0], [1.0]])
    with pytest.raises(ValueError, match="at most the number of samples, n_samples = 2; got 3"):
        USPEC(n_clusters=3).fit([[0.0], [1.0]])


@parametrize_with_checks([USPEC(n_clusters=2, random_state=0)])
def test_scikit_learns_checks(estimator, check):
    check(estimator)
