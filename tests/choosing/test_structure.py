"""Is there structure: noise must be called noise, clusters must be found."""

import numpy as np
import pytest
from scipy import sparse

from coterie import Ensemble, RandomizedEnsemble, structure_test

NOISE = {
    "uniform": lambda rng: rng.random((200, 2)),
    "normal": lambda rng: rng.normal(size=(200, 4)),
    "strip": lambda rng: rng.random((200, 2)) * [6, 1],
    "skewed": lambda rng: rng.lognormal(size=(200, 2)),
    "correlated": lambda rng: rng.normal(size=(200, 3)) @ rng.normal(size=(3, 3)),
    "counts": lambda rng: rng.poisson(2.0, size=(200, 3)).astype(float),
    "answers": lambda rng: rng.integers(0, 2, size=(200, 8)).astype(float),
}


def lumps(rng, k, n=200, d=2, apart=8.0):
    """k normal lumps around corners of a grid, and their classes."""
    side = int(np.ceil(k ** (1 / d)))
    corners = np.stack(np.meshgrid(*[np.arange(side)] * d), axis=-1).reshape(-1, d)[:k]
    classes = np.arange(n) % k
    return apart * corners[classes] + rng.normal(size=(n, d)), classes


@pytest.mark.parametrize("kind", NOISE)
def test_noise_is_called_noise(kind):
    found = [
        structure_test(NOISE[kind](np.random.default_rng(s)), n_null=99, random_state=s)
        for s in range(10)
    ]
    assert sum(test.has_structure for test in found) <= 1
    # A test that never rejects would not be one: p-values of noise are spread, or large.
    assert np.median([test.p_value for test in found]) > 0.05


@pytest.mark.parametrize(("k", "d"), [(2, 2), (3, 2), (7, 2), (4, 10), (12, 3)])
def test_lumps_are_found(k, d):
    for s in range(5):
        X, _ = lumps(np.random.default_rng(s), k, d=d)
        test = structure_test(X, n_null=99, random_state=s)
        assert test.has_structure
        assert test.statistic > test.null_statistics.max()
        assert "There are gaps between clusters" in test.reason


def test_shapes_that_are_not_round_are_found(seed):
    rng = np.random.default_rng(seed)
    angle = rng.random(300) * 2 * np.pi
    radius = np.repeat([1.0, 4.0], 150)
    rings = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    assert structure_test(rings + 0.1 * rng.normal(size=(300, 2)), random_state=0).has_structure


def test_shuffled_features_keep_the_clusters_of_a_single_feature(seed):
    rng = np.random.default_rng(seed)
    X, _ = lumps(rng, 2, d=1)
    X = np.column_stack([X, rng.normal(size=len(X))])
    assert structure_test(X, random_state=0).has_structure
    assert not structure_test(X, null="permuted", random_state=0).has_structure


def test_repeated_objects_are_no_clusters(seed):
    few = np.random.default_rng(seed).random((60, 2))
    test = structure_test(np.repeat(few, 8, axis=0), random_state=0)
    assert not test.has_structure
    assert test.n_used == 60


def test_same_seed_same_result():
    X = np.random.default_rng(0).normal(size=(900, 2))
    first, second = (structure_test(X, n_null=99, random_state=3) for _ in range(2))
    assert first.p_value == second.p_value
    assert first.null_statistics.tolist() == second.null_statistics.tolist()
    assert first.n_used == 500


@pytest.mark.parametrize(
    "X", [np.ones((50, 3)), np.repeat([[0.0], [1.0]], 2, axis=0), [[1.0, 2.0]]]
)
def test_too_little_to_tell(X):
    test = structure_test(X)
    assert not test.has_structure
    assert test.p_value == 1.0
    assert "cannot be decided" in test.reason


def test_sparse_features(seed):
    X = np.random.default_rng(seed).normal(size=(120, 3)) + np.repeat([[0], [8]], 60, axis=0)
    X = np.column_stack([X, np.zeros(120)])
    found = structure_test(sparse.coo_array(X), random_state=seed)
    assert found.as_dict() == structure_test(X, random_state=seed).as_dict()
    assert structure_test(sparse.csr_array(X), max_objects=50, random_state=0).n_used == 50
    assert "cannot be decided" in structure_test(sparse.csr_array((30, 2))).reason


@pytest.mark.slow
def test_ensembles_of_noise_and_of_lumps():
    rng = np.random.default_rng(0)
    for n_clusters in (None, (2, 12)):
        maker = RandomizedEnsemble(n_partitions=20, n_clusters=n_clusters, random_state=0)
        noise = maker.fit_transform(rng.normal(size=(200, 3)))
        assert not structure_test(noise, random_state=0).has_structure
        ensemble = maker.fit_transform(lumps(rng, 4)[0])
        assert structure_test(ensemble, random_state=0).has_structure
    random = Ensemble(rng.integers(0, 5, size=(200, 20)))
    for null in ("uniform", "permuted"):
        assert not structure_test(random, null=null, random_state=0).has_structure


def test_result_is_plain_data():
    import json

    test = structure_test(np.random.default_rng(0).random((40, 2)), n_null=99, random_state=0)
    assert json.loads(json.dumps(test.as_dict(), allow_nan=False))["kind"] == "features"
    assert repr(test).startswith("StructureTest(")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"null": "normal"}, "null must be 'uniform' or 'permuted'"),
        ({"alpha": 0.001}, "Raise n_null to at least 999"),
        ({"alpha": 2}, "alpha must lie between 0 and 1"),
        ({"n_null": 0}, "n_null must be at least 1"),
        ({"max_objects": 3}, "max_objects must be at least 10"),
    ],
)
def test_bad_settings(settings, words):
    with pytest.raises(ValueError, match=words):
        structure_test(np.random.default_rng(0).random((40, 2)), **settings)
