"""Degenerate answers are told in plain words."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import load_iris, make_blobs

from coterie import EAC, ConsensusClustering, Ensemble, RandomizedEnsemble, cluster_trust
from coterie.choosing import cautions, find_gap


def kinds(model, X=None):
    return [caution.kind for caution in cautions(model, X)]


def fitted(X, n_clusters, n_partitions=40):
    generator = RandomizedEnsemble(n_partitions=n_partitions)
    return ConsensusClustering(n_clusters, generator=generator, random_state=0).fit(X)


@pytest.fixture(scope="module")
def blobs():
    X, _ = make_blobs(300, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    return X, fitted(X, 3)


def test_separate_clusters_get_none(blobs):
    X, model = blobs
    assert kinds(model, X) == []
    assert kinds(model, csr_matrix(X)) == []
    assert kinds(model.consensus_) == []
    X = load_iris().data
    assert kinds(fitted(X, 3), X) == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n_features", [2, 5])
def test_noise_is_told_from_features_and_from_labels(seed, n_features):
    X = np.random.default_rng(seed).random((600, n_features))
    model = fitted(X, None)
    assert model.confidence_.mean() > 0.6
    for features in (X, None):
        assert kinds(model, features)[-1:] == ["no_gap"]
        words = cautions(model, features)[-1].words
        assert words.startswith("No gap between the clusters was found")
        assert f"{model.confidence_.mean():.2f}" in words


def test_many_features_are_tested_by_their_components():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(200, 300))
    two = noise + 3 * np.repeat([0, 1], 100)[:, None]
    assert kinds(fitted(two, 2, 10), two) == []
    assert kinds(fitted(noise, 2, 10), noise)[-1:] == ["no_gap"]


def test_one_object_against_all_others():
    votes = np.zeros((1974, 5), dtype=int)
    votes[3] = 1
    model = EAC(n_clusters=2).fit(votes)
    assert model.confidence_.mean() > 0.999
    lopsided, tiny = cautions(model)
    assert (lopsided.kind, tiny.kind) == ("lopsided", "tiny")
    assert "One cluster holds 1,973 of 1,974 objects" in lopsided.words
    assert "Cluster 1 (1 object) is tiny" in tiny.words


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ((50, 50), []),
        ((98, 2), ["lopsided", "tiny"]),  # of 50 on average
        ((94, 6), []),
        ((95, 5), ["lopsided"]),
        ((40, 40, 1), ["tiny"]),
        ((40, 40, 2), []),
        ((1, 1), ["tiny"]),
        ((100,), []),
    ],
)
def test_sizes(sizes, expected):
    labels = np.repeat(np.arange(len(sizes)), sizes)
    model = EAC(n_clusters=len(sizes)).fit(np.column_stack([labels] * 3))
    assert kinds(model) == expected


def test_several_tiny_clusters_are_named():
    labels = np.concatenate([np.zeros(60, dtype=int), np.arange(1, 9)])
    (tiny,) = cautions(EAC(n_clusters=9).fit(np.column_stack([labels] * 3)))
    assert "8 clusters are tiny: 1 (1 object), 2 (1 object)" in tiny.words
    assert "and 3 more" in tiny.words


def test_objects_without_any_label():
    labels = np.repeat([0, 1], 20)[:, None].repeat(3, axis=1)
    labels[[4, 30]] = -1
    with pytest.warns(UserWarning, match="2 of 40 objects have no label"):
        model = EAC(n_clusters=2).fit(Ensemble(labels))
    assert "2 objects have no label in any partition" in cautions(model)[0].words


def test_same_answer_every_time(blobs):
    X = np.random.default_rng(1).random((900, 3))
    model = fitted(X, 4)
    assert cautions(model, X) == cautions(model, X)


def gradient(random, n):
    """Objects along a curve, evenly, with noise around it."""
    t = random.random(n)
    return np.column_stack([5 * t, 3 * t**2, -2 * t]) + random.normal(scale=0.3, size=(n, 3))


NOISE = {
    "gradient": gradient,
    "uniform": lambda random, n: random.random((n, 3)),
    "normal": lambda random, n: random.normal(size=(n, 8)),
    "skewed": lambda random, n: random.exponential(size=(n, 3)),
    "heavy tails": lambda random, n: random.standard_t(4, size=(n, 3)),
    "wide": lambda random, n: random.normal(size=(60, 400)),
}


@pytest.mark.parametrize("kind", NOISE)
def test_gradient_and_noise_have_no_separate_clusters(kind):
    X = NOISE[kind](np.random.default_rng(0), 200)
    gap = find_gap(fitted(X, 3, 10), X)
    assert gap.found is False
    assert gap.kind == "features"
    assert "there are no separate clusters" in gap.words


def test_gap_is_told_or_said_to_be_unknown(blobs):
    X, model = blobs
    assert find_gap(model, X).found is True
    assert find_gap(model, X).words.startswith("There are gaps between clusters")
    assert find_gap(model).kind == "ensemble"
    few = fitted(X[:15], 3, 10)
    assert find_gap(few, X[:15]).found is None
    assert "fewer than 20 objects" in find_gap(few, X[:15]).words
    labels = EAC(n_clusters=2).fit(np.repeat([[0, 1], [1, 0]], 20, axis=0))
    assert find_gap(labels).found is None
    assert "cannot be told" in find_gap(labels).words


def test_unstable_clusters_are_a_caution():
    random = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2, 3], 20)[:, None] + np.zeros((1, 12), dtype=int)
    labels[40:] = random.integers(2, 4, (40, 12))
    consensus = EAC(n_clusters=4).fit(labels)
    trust = cluster_trust(consensus, random_state=0)
    found = {caution.kind: caution.words for caution in cautions(consensus, trust=trust)}
    unstable = [c for c, value in enumerate(trust.stability) if value < 0.6]
    assert unstable
    assert all(f"{c} (" in found["unstable"] or len(unstable) == 1 for c in unstable)
    assert "not stable" in found["unstable"]
    assert "unstable" not in {caution.kind for caution in cautions(consensus)}
