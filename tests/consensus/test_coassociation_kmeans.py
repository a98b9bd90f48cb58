"""K-means on co-association rows against k-means on the dense matrix."""

import numpy as np
import pytest
from sklearn.cluster import KMeans

import naive
from coterie import CoassociationKMeans, Ensemble
from coterie._graphs import _cluster_rows, incidence_of
from coterie.consensus._coassociation_kmeans import dense_rows, overlap_factor, weighted_rows
from coterie.metrics import ari
from strategies import noisy_labels, random_labels


def matrix_rows(labels):
    Z = naive.incidence(labels)
    return Z @ Z.T / labels.shape[1]


@pytest.mark.parametrize("n_partitions", [6, 60])  # fewer, and more, clusters than distinct rows
def test_points_are_as_far_as_rows_of_the_matrix(seed, n_partitions):
    labels = random_labels(seed, 80, n_partitions, missing=0.1)
    labels[10:20] = labels[0]  # with multiplicities
    ensemble = Ensemble(labels)
    rows, _, inverse = ensemble.patterns
    if n_partitions == 6:
        points = incidence_of(rows, ensemble.offsets) @ overlap_factor(ensemble)
    else:
        points = dense_rows(ensemble)
    whole = matrix_rows(labels)
    far = ((whole[:, None] - whole) ** 2).sum(axis=2)
    found = ((points[:, None] - points) ** 2).sum(axis=2)
    assert found[np.ix_(inverse, inverse)] == pytest.approx(far, abs=1e-9)


def test_very_many_rows_are_clustered_by_a_sample(monkeypatch):
    truth, labels = noisy_labels(0, 3000, 8, n_clusters=5, noise=0.3)
    whole = CoassociationKMeans(5, random_state=0).fit(labels)
    monkeypatch.setattr(_cluster_rows, "_MOST_ROWS", 500)
    found = CoassociationKMeans(5, random_state=0).fit(labels)
    assert ari(truth, found.labels_) > 0.9
    assert whole.inertia_ < found.inertia_ < 1.05 * whole.inertia_
    matrix, own = matrix_rows(labels), 0.0
    for c in range(5):
        members = matrix[found.labels_ == c]
        own += ((members - members.mean(axis=0)) ** 2).sum()
    assert own <= found.inertia_ <= 1.02 * own  # centres are those of the sample


def test_best_start_is_that_of_scikit_learn(seed):
    _, labels = noisy_labels(seed, 150, 10, noise=0.3)
    expected = KMeans(4, n_init=20, random_state=0).fit(matrix_rows(labels))
    found = CoassociationKMeans(4, random_state=0).fit(labels)
    assert naive.same_partition(found.labels_, expected.labels_)
    assert found.inertia_ == pytest.approx(expected.inertia_)


def random_posteriors(seed, labels):
    random = np.random.default_rng(seed)
    ensemble = Ensemble(labels)
    found = []
    for e, k in enumerate(ensemble.n_clusters):
        soft = random.dirichlet(np.ones(k), size=len(labels))
        soft[np.arange(len(labels)), ensemble.labels[:, e]] += 1.0
        found.append(soft / soft.sum(axis=1, keepdims=True))
    return found


def test_weighted_rows_are_those_of_the_mean_cosine(seed):
    _, labels = noisy_labels(seed, 60, 5, noise=0.3)
    posteriors = random_posteriors(seed, labels)
    ensemble = Ensemble(labels, posteriors=posteriors)
    psi = sum(
        np.array([[p @ q / np.sqrt((p @ p) * (q @ q)) for q in P] for p in P]) for P in posteriors
    ) / len(posteriors)
    points = weighted_rows(ensemble)
    far = ((psi[:, None] - psi) ** 2).sum(axis=2)
    found = ((points[:, None] - points) ** 2).sum(axis=2)
    assert found == pytest.approx(far, abs=1e-9)
    expected = KMeans(4, n_init=20, random_state=0).fit(psi)
    fitted = CoassociationKMeans(4, weighted=True, random_state=0).fit(ensemble)
    assert fitted.inertia_ <= 1.01 * expected.inertia_
    own = sum(
        ((psi[fitted.labels_ == c] - psi[fitted.labels_ == c].mean(axis=0)) ** 2).sum()
        for c in range(4)
    )
    assert fitted.inertia_ == pytest.approx(own)


def test_hard_labels_are_posteriors_of_0_and_1(seed):
    _, labels = noisy_labels(seed, 60, 5, noise=0.3)
    plain = CoassociationKMeans(3, random_state=0).fit(labels)
    weighted = CoassociationKMeans(3, weighted=True, random_state=0).fit(labels)
    assert plain.labels_.tolist() == weighted.labels_.tolist()
    hard = [(labels[:, e, None] == np.unique(labels[:, e])).astype(float) for e in range(5)]
    soft = CoassociationKMeans(3, weighted=True, random_state=0)
    soft.fit(Ensemble(labels, posteriors=hard))
    assert soft.inertia_ == pytest.approx(plain.inertia_, rel=0.01)


def test_many_objects_need_no_matrix(monkeypatch):
    # The matrix of 20,000 objects would take 3.2 GB.
    truth, labels = noisy_labels(0, 20_000, 8, n_clusters=5, noise=0.4)
    monkeypatch.setenv("COTERIE_MEMORY_LIMIT", "1MB")
    found = CoassociationKMeans(5, random_state=0).fit(labels)
    assert ari(truth, found.labels_) > 0.9


def test_words_of_errors():
    for name in ("n_init", "max_iter"):
        with pytest.raises(ValueError, match=f"{name} must be at least 1; got 0"):
            CoassociationKMeans(**{name: 0}).fit([[0], [1]])
