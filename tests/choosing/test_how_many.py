"""How many clusters: each criterion, and the recommendation on data with a known number."""

import json

import numpy as np
import pytest
from scipy.cluster.hierarchy import cophenet, linkage
from scipy.spatial.distance import squareform
from sklearn.datasets import make_circles

from coterie import EAC, LACA, Ensemble, MSTEClust, RandomizedEnsemble, how_many_clusters, metrics
from coterie.choosing._how_many import (
    _low_and_local,
    consensus_cdf,
    count_peaks,
    proportion_ambiguous,
)
from coterie.datasets import load
from strategies import random_labels


def lumps(seed, k, n, d, apart=8.0):
    rng = np.random.default_rng(seed)
    side = int(np.ceil(k ** (1 / d)))
    corners = np.stack(np.meshgrid(*[np.arange(side)] * d), axis=-1).reshape(-1, d)[:k]
    return apart * corners[np.arange(n) % k] + rng.normal(size=(n, d))


@pytest.mark.parametrize(("k", "n", "d"), [(2, 120, 2), (3, 100, 5), (5, 200, 2), (9, 270, 3)])
def test_recommended_number_for_features(k, n, d, seed):
    found = how_many_clusters(lumps(seed, k, n, d), n_runs=10, random_state=seed)
    assert abs(found.recommended - k) <= 1
    assert found.structure.has_structure
    assert f"{found.recommended} clusters" in found.reason


@pytest.mark.parametrize("base", [None, (2, 20), "near"])
@pytest.mark.parametrize(("k", "n"), [(2, 150), (4, 200), (8, 320)])
def test_recommended_number_for_ensembles(base, k, n, seed):
    n_clusters = (max(2, k - 1), k + 1) if base == "near" else base
    maker = RandomizedEnsemble(n_partitions=40, n_clusters=n_clusters, random_state=seed)
    ensemble = maker.fit_transform(lumps(seed, k, n, 2))
    found = how_many_clusters(ensemble, n_runs=10, structure=False, random_state=seed)
    assert abs(found.recommended - k) <= 1


def test_noise_has_one_cluster(seed):
    noise = np.random.default_rng(seed).normal(size=(150, 3))
    found = how_many_clusters(noise, range(2, 6), n_runs=5, random_state=0)
    assert found.recommended == 1
    assert found.reason == found.structure.reason
    assert how_many_clusters(noise, range(2, 6), n_runs=5, structure=False).recommended > 1


def test_criteria_of_an_ensemble_are_those_of_the_methods():
    _, labels = 0, random_labels(0, 60, 15)
    ensemble = Ensemble(labels)
    found = how_many_clusters(ensemble, range(2, 9), n_runs=4, random_state=0)
    assert found.n_clusters.tolist() == list(range(2, 9))
    eac, laca = EAC().fit(ensemble), LACA().fit(ensemble)
    assert found.criteria["lifetime"] == pytest.approx(eac.lifetimes_[:7])
    n_votes = 15 * 60 * 59 / 2
    assert found.criteria["laca"] * n_votes == pytest.approx(laca.n_clusters_path_[1:8])
    assert found.choices["laca"] == laca.n_clusters_
    mste = MSTEClust(max_clusters=8).fit(ensemble)
    assert found.criteria["msteclust"] == pytest.approx(mste.criterion_)
    assert found.choices["msteclust"] == mste.n_clusters_


def test_consensus_distribution_against_the_matrix(seed):
    ensemble = Ensemble(random_labels(seed, 40, 10))
    shares = ensemble.coassociation()[np.triu_indices(40, 1)]
    cdf = consensus_cdf(ensemble)
    expected = [(shares <= x + 1e-9).mean() for x in np.linspace(0, 1, 101)]
    assert cdf == pytest.approx(expected)
    ambiguous = ((shares > 0.1 + 1e-9) & (shares <= 0.9 + 1e-9)).mean()
    assert proportion_ambiguous(cdf) == pytest.approx(ambiguous)


def test_runs_are_compared_as_defined():
    X = lumps(0, 3, 60, 2, apart=3.0)
    found = how_many_clusters(X, [3], n_runs=6, structure=False, random_state=0)
    from coterie.choosing._how_many import _runs_of_kmeans

    seeds = np.random.RandomState(0).randint(2**31 - 1, size=4)
    runs = _runs_of_kmeans(X, 3, 6, 0.8, None, int(seeds[2]))
    scores = metrics.pairwise_ari(runs)[np.triu_indices(6, 1)]
    assert found.criteria["stability"][0] == pytest.approx(scores.mean())
    distances = squareform(1 - runs.coassociation(), checks=False)
    heights = cophenet(linkage(distances, "average"))
    expected = np.corrcoef(distances, heights)[0, 1]
    assert found.criteria["cophenetic"][0] == pytest.approx(expected)


def test_rings_have_two_clusters(seed):
    rings, _ = make_circles(400, noise=0.04, factor=0.4, random_state=seed)
    found = how_many_clusters(rings, range(2, 9), n_runs=10, random_state=0)
    assert found.recommended == found.choices["peaks"] == 2


@pytest.mark.parametrize(
    ("peaks", "count"),
    [
        ([], 1),
        ([0.3, 0.2], 1),
        ([0.9, 0.8, 0.45, 0.2], 3),  # a steep fall to what is faint: 0.45 does not count
        ([0.9, 0.8, 0.6, 0.58, 0.5, 0.2], 6),  # no fall is steep before 0.4 is passed
        ([0.97, 0.63, 0.6, 0.48, 0.2], 5),  # the fall to 0.63 is steep, but that is not faint
        ([0.9], 2),
    ],
)
def test_peaks_are_counted_to_a_steep_fall(peaks, count):
    assert count_peaks(np.array(peaks)) == count


def test_pac_prefers_the_largest_low_local_minimum():
    pac = np.array([0.0, 0.2, 0.1, 0.005, 0.007, 0.3])
    assert np.flatnonzero(_low_and_local(pac)).tolist() == [0, 3]


def test_iris_as_a_user_would():
    found = how_many_clusters(load("iris").data, range(2, 7), n_runs=10, random_state=0)
    assert found.recommended in (2, 3)


def test_same_seed_same_result_on_any_number_of_jobs():
    X = lumps(1, 3, 80, 2)
    one, two = (
        how_many_clusters(X, [2, 3], n_runs=4, n_jobs=jobs, random_state=5) for jobs in (1, 2)
    )
    assert one.as_dict() == two.as_dict()


def test_result_is_plain_data():
    seen = []
    found = how_many_clusters(
        lumps(0, 2, 40, 2), n_runs=3, random_state=0, callback=lambda *args: seen.append(args)
    )
    assert found.n_clusters.tolist() == list(range(2, 9))  # five objects for each cluster
    assert seen[-1] == (7, 7)
    plain = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    assert plain["recommended"] == found.recommended
    assert len(plain["cdf"]) == 7
    assert repr(found).splitlines()[0].split()[:2] == ["clusters", "peaks"]


@pytest.mark.parametrize("X", [np.ones((30, 2)), np.zeros((2, 1))])
def test_constant_data_have_one_cluster(X):
    found = how_many_clusters(X, random_state=0)
    assert found.recommended == 1
    assert len(found.n_clusters) == 0
    assert json.dumps(found.as_dict(), allow_nan=False)


def test_duplicates_and_large_ensembles_are_sampled():
    X = np.repeat(lumps(0, 3, 60, 2), 20, axis=0)
    maker = RandomizedEnsemble(n_partitions=10, n_clusters=(2, 6), random_state=0)
    found = how_many_clusters(maker.fit_transform(X), range(2, 6), n_runs=4, random_state=0)
    assert found.n_used == 600
    assert abs(found.recommended - 3) <= 1


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"n_clusters": [1, 2]}, "whole numbers of at least 2"),
        ({"n_clusters": []}, "whole numbers of at least 2"),
        ({"n_clusters": [2, 99]}, r"at most the number of objects that are used \(20\)"),
        ({"n_runs": 1}, "n_runs must be at least 2"),
    ],
)
def test_bad_settings(settings, words):
    with pytest.raises(ValueError, match=words):
        how_many_clusters(lumps(0, 2, 20, 2), **settings)
