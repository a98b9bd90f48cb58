"""How many clusters: the rule against its definition, and on data with a known number."""

import json

import numpy as np
import pytest
from scipy import sparse
from scipy.cluster.hierarchy import cophenet, linkage
from scipy.spatial.distance import squareform
from sklearn.cluster import KMeans
from sklearn.metrics import silhouette_score
from sklearn.neighbors import NearestNeighbors

from coterie import LWEA, Ensemble, RandomizedEnsemble, how_many_clusters, metrics
from coterie.choosing._resampling import (
    _low_and_local,
    consensus_distribution,
    runs_on_parts,
)
from coterie.datasets import load
from coterie.generation._recipes import make_generator
from strategies import random_labels


def lumps(seed, k, n, d, apart=8.0):
    rng = np.random.default_rng(seed)
    side = int(np.ceil(k ** (1 / d)))
    corners = np.stack(np.meshgrid(*[np.arange(side)] * d), axis=-1).reshape(-1, d)[:k]
    return apart * corners[np.arange(n) % k] + rng.normal(size=(n, d))


@pytest.mark.parametrize(
    ("k", "n", "d"), [(2, 120, 2), (3, 100, 5), (5, 200, 2), (9, 270, 3), (30, 900, 2)]
)
def test_recommended_number_for_features(k, n, d, seed):
    found = how_many_clusters(lumps(seed, k, n, d), random_state=seed)
    assert found.recommended == k
    assert found.structure.has_structure
    assert found.certainty > 0.5
    assert found.reason.startswith(f"{k} clusters")


@pytest.mark.parametrize(
    ("k", "n", "base"),
    [
        *((2, 150, base) for base in ((2, 20), "near")),
        *((4, 200, base) for base in (None, (2, 20), "near")),
        *((8, 320, base) for base in (None, (2, 20), "near")),
    ],
)
def test_recommended_number_for_ensembles(k, n, base, seed):
    n_clusters = (max(2, k - 1), k + 1) if base == "near" else base
    maker = RandomizedEnsemble(n_partitions=40, n_clusters=n_clusters, random_state=seed)
    ensemble = maker.fit_transform(lumps(seed, k, n, 2))
    found = how_many_clusters(ensemble, structure=False, random_state=seed)
    assert abs(found.recommended - k) <= 1


def test_two_lumps_in_fine_partitions_without_features():
    ensemble = RandomizedEnsemble(n_partitions=40, random_state=0).fit_transform(
        lumps(0, 2, 150, 2)
    )
    assert how_many_clusters(ensemble, structure=False, random_state=0).recommended == 2


def test_criteria_by_their_definition():
    X = lumps(0, 4, 120, 3, apart=4.0)
    ensemble = make_generator("default", 120, random_state=0).fit_transform(X)
    found = how_many_clusters(X, range(2, 9), ensemble=ensemble, random_state=0)
    nearest = NearestNeighbors(n_neighbors=5).fit(X).kneighbors(return_distance=False)
    for i, k in enumerate(range(2, 9)):
        labels = LWEA(k, min_share=0.1).fit(ensemble).labels_
        silhouette = silhouette_score(X, labels)
        leaks = [(labels[nearest[labels == c]] != c).mean() for c in range(k)]
        assert found.criteria["silhouette"][i] == pytest.approx(silhouette)
        assert found.criteria["isolation"][i] == pytest.approx(1 - max(leaks))
        assert found.criteria["score"][i] == pytest.approx(silhouette * (1 - max(leaks)))
    scores = found.criteria["score"]
    peaks = [
        k
        for i, k in enumerate(found.n_clusters)
        if scores[i] >= max(scores[max(0, i - 1) : i + 2]) and scores[i] >= 0.97 * scores.max()
    ]
    assert found.recommended == peaks[-1]
    far = np.abs(found.n_clusters - found.recommended) > 1
    assert scores[found.n_clusters == found.second] == scores[far].max()


def test_no_gap_is_told_and_changes_nothing(seed):
    noise = np.random.default_rng(seed).normal(size=(150, 3))
    found = how_many_clusters(noise, random_state=0)
    assert not found.structure.has_structure
    assert "No gap between clusters was found" in found.structure.reason
    assert found.structure.reason in repr(found)
    alone = how_many_clusters(noise, structure=False, random_state=0)
    assert found.recommended == alone.recommended > 1


def test_certainty_is_lower_where_numbers_compete():
    clear = how_many_clusters(lumps(0, 4, 200, 2, apart=9.0), structure=False, random_state=0)
    touching = how_many_clusters(lumps(0, 4, 200, 2, apart=2.0), structure=False, random_state=0)
    assert clear.certainty > touching.certainty


def test_sparse_features_are_the_same_as_dense(seed):
    X = np.maximum(lumps(seed, 3, 90, 4), 0)
    dense, other = (
        how_many_clusters(M, structure=False, random_state=0) for M in (X, sparse.csr_matrix(X))
    )
    assert dense.recommended == other.recommended


def test_consensus_distribution_against_the_matrix(seed):
    ensemble = Ensemble(random_labels(seed, 40, 10))
    shares = ensemble.coassociation()[np.triu_indices(40, 1)]
    distribution = consensus_distribution(ensemble)
    expected = [(shares <= x + 1e-9).mean() for x in np.linspace(0, 1, 101)]
    assert distribution.cdf == pytest.approx(expected)
    assert distribution.area == pytest.approx(np.mean(expected[1:]))
    ambiguous = ((shares > 0.1 + 1e-9) & (shares < 0.9 - 1e-9)).mean()
    assert distribution.pac == pytest.approx(ambiguous)


def test_runs_are_compared_as_defined():
    X = lumps(0, 3, 60, 2, apart=3.0)
    found = how_many_clusters(X, [3], n_runs=6, structure=False, random_state=0)
    seeds = np.random.RandomState(0).randint(2**31 - 1, size=3)
    runs = runs_on_parts(KMeans(n_init=3), X, 3, 6, max_samples=0.8, seed=int(seeds[2]))
    scores = metrics.pairwise_ari(runs)[np.triu_indices(6, 1)]
    assert found.criteria["stability"][0] == pytest.approx(scores.mean())
    distances = squareform(1 - runs.coassociation(), checks=False)
    heights = cophenet(linkage(distances, "average"))
    expected = np.corrcoef(distances, heights)[0, 1]
    assert found.criteria["cophenetic"][0] == pytest.approx(expected)


def test_pac_prefers_the_largest_low_local_minimum():
    pac = np.array([0.0, 0.2, 0.1, 0.005, 0.007, 0.3])
    assert np.flatnonzero(_low_and_local(pac)).tolist() == [0, 3]


def test_iris_as_a_user_would():
    found = how_many_clusters(load("iris").data, random_state=0)
    assert found.recommended in (2, 3)


@pytest.mark.slow
def test_same_seed_same_result_on_any_number_of_jobs():
    X = lumps(1, 3, 80, 2)
    one, two = (
        how_many_clusters(X, [2, 3], n_runs=4, n_jobs=jobs, random_state=5) for jobs in (1, 2)
    )
    assert one.as_dict() == two.as_dict()


def test_result_is_plain_data():
    found = how_many_clusters(lumps(0, 2, 40, 2), range(2, 9), n_runs=3, random_state=0)
    plain = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    assert plain["recommended"] == found.recommended
    assert len(plain["cdf"]) == 7
    assert repr(found).splitlines()[0].split()[:2] == ["clusters", "score"]


@pytest.mark.parametrize("X", [np.ones((30, 2)), np.zeros((2, 1))])
def test_constant_data_have_one_cluster(X):
    found = how_many_clusters(X, random_state=0)
    assert found.recommended == 1
    assert len(found.n_clusters) == 0
    assert json.dumps(found.as_dict(), allow_nan=False)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["features", "ensemble"])
def test_many_objects_are_sampled(kind):
    X = np.repeat(lumps(0, 3, 60, 2), 40, axis=0)
    maker = RandomizedEnsemble(n_partitions=10, n_clusters=(2, 6), random_state=0)
    ensemble = maker.fit_transform(X)
    given = {"X": ensemble} if kind == "ensemble" else {"X": X, "ensemble": ensemble}
    found = how_many_clusters(**given, n_clusters=range(2, 6), random_state=0)
    assert found.n_used == 1500
    assert found.recommended == 3


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"n_clusters": [1, 2]}, "whole numbers of at least 2"),
        ({"n_clusters": []}, "whole numbers of at least 2"),
        ({"n_clusters": [2, 99]}, r"at most the number of objects that are used \(20\)"),
        ({"n_runs": 1}, "n_runs must be 0 .* or at least 2"),
        ({"ensemble": Ensemble([[0], [1]])}, r"must have the objects of X \(20\); got 2"),
    ],
)
def test_bad_settings(settings, words):
    with pytest.raises(ValueError, match=words):
        how_many_clusters(lumps(0, 2, 20, 2), **settings)
