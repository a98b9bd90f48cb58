"""Which number of clusters, and whether there are clusters at all."""

import numpy as np
import pytest

from coterie import ConsensusPerK
from coterie.per_k._choice import Evidence, best_place, choose
from coterie.per_k._gap import Gap, leading_scores


def gradient(rng, n, d):
    return 3 * rng.uniform(size=n)[:, None] * rng.normal(size=d) + rng.normal(size=(n, d))


@pytest.mark.parametrize("distance", ["euclidean", "pearson"])
@pytest.mark.parametrize("kind", ["gradient", "noise"])
@pytest.mark.parametrize("shape", [(80, 400), (100, 5)])
def test_gradients_and_noise_have_no_clusters(shape, kind, distance, seed):
    rng = np.random.default_rng(seed)
    X = gradient(rng, *shape) if kind == "gradient" else rng.normal(size=shape)
    X -= np.median(X, axis=0)
    found = ConsensusPerK(k_range=[2, 3], n_resamples=10, distance=distance, random_state=0).fit(X)
    assert not found.has_clusters_
    assert found.reasons_[0].startswith("No clusters were found")


@pytest.mark.parametrize("estimator", ["kmeans", "hierarchical"])
def test_clusters_in_a_tenth_of_many_features_are_found(estimator, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(90, 1000))
    for c in range(3):
        X[30 * c : 30 * (c + 1), 30 * c : 30 * (c + 1)] += 1.5
    distance = "pearson" if estimator == "hierarchical" else None
    found = ConsensusPerK(estimator, [2, 3, 4], 20, distance=distance, random_state=0).fit(X)
    assert found.has_clusters_
    assert found.best_k_ == 3


def test_leading_components_of_noise_and_of_clusters():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(60, 300))
    assert leading_scores(noise, rng).shape == (60, 2)
    noise[:20, :50] += 3
    noise[20:40, 50:100] += 3
    noise[40:, 100:150] += 3
    noise[::2, 150:200] += 3
    assert leading_scores(noise, rng).shape == (60, 3)
    assert leading_scores(noise[:, :4], rng).shape == (60, 4)


@pytest.mark.parametrize(
    ("silhouette", "place"),
    [([0.9, 0.5, 0.4], 0), ([0.9, 0.7, 0.895, 0.8], 2), ([0.9, 0.7, 0.8, 0.1], 0), ([0.5, 0.6], 1)],
)
def test_the_last_peak_near_the_highest_is_taken(silhouette, place):
    assert best_place(np.array(silhouette)) == place


@pytest.mark.parametrize(
    ("p_values", "n_null", "has_clusters", "words"),
    [
        ([0.5, 0.04], 25, True, "3 clusters stand out most"),
        ([0.5, 0.3], 25, False, "as stable as these"),
        ([0.5, 0.2], 4, True, "n_null must be at least 19"),
    ],
)
def test_data_without_clusters_can_refute(p_values, n_null, has_clusters, words):
    class Clear(Gap):
        found = True
        words = ""

    curves = np.array([[0.3, 0.1], [0.4, 0.8], [0.1, 0.9]])
    evidence = Evidence(np.array([2, 3]), *curves, np.array(p_values), n_null, Clear(None, None, 2))
    choice = choose(evidence)
    assert choice.best == 3
    assert choice.has_clusters is has_clusters
    assert words in " ".join(choice.reasons)


def test_the_distance_decides_only_where_features_are_in_doubt():
    class Test:
        def __init__(self, p_value):
            self.p_value = p_value

    assert Gap(Test(0.005), None, 2).found
    assert Gap(Test(0.05), Test(0.005), 2).found
    assert Gap(Test(0.5), Test(0.005), 9).found
    assert not Gap(Test(0.05), None, 9).found
    assert not Gap(Test(0.5), Test(0.005), 2).found
    assert not Gap(Test(0.5), Test(0.05), 9).found
