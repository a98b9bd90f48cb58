"""One-step clustering: scikit-learn's checks, kinds of input, pipelines, words of errors."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.datasets import make_blobs
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import naive
from coterie import EAC, HBGF, LACA, ConsensusClustering, Ensemble, RandomizedEnsemble
from coterie.consensus import CONSENSUS

FEW = RandomizedEnsemble(n_partitions=8)


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(60, centers=[[0, 0], [9, 0], [0, 9]], cluster_std=0.5, random_state=0)


def small(**parameters):
    return ConsensusClustering(**{"generator": FEW, "random_state": 0, **parameters})


@pytest.mark.slow
@pytest.mark.parametrize(
    "estimator",
    [ConsensusClustering(random_state=0), small(consensus=EAC(), n_clusters=2)],
    ids=["default", "EAC"],
)
def test_scikit_learns_checks(estimator):
    failed = [
        (result["check_name"], result["exception"])
        for result in check_estimator(estimator, on_skip=None, on_fail=None)
        # The only check that may not run is one that scikit-learn leaves out by itself.
        if result["status"] not in ("passed", "skipped")
        or (result["status"] == "skipped" and "SCIPY_ARRAY_API" not in str(result["exception"]))
    ]
    assert failed == []


# PTA joins these few objects with three neighbours each, and the graph falls into six pieces.
@pytest.mark.parametrize("consensus", sorted(set(CONSENSUS) - {"pta"}))
def test_clusters_are_found(blobs, consensus):
    X, truth = blobs
    model = ConsensusClustering(n_clusters=3, consensus=consensus, random_state=0).fit(X)
    assert naive.same_partition(model.labels_, truth)
    assert model.labels_.dtype == np.int64
    assert model.n_clusters_ == 3
    assert model.n_features_in_ == 2
    assert model.confidence_.shape == (60,)
    assert isinstance(model.ensemble_, Ensemble)
    assert model.ensemble_.shape == (60, 100)
    assert isinstance(model.consensus_, CONSENSUS[consensus])
    assert model.predict(X).tolist() == model.labels_.tolist()
    new = np.array([[9.1, 0.2], [0.1, 8.8], [-0.3, 0.1]])
    expected = [model.labels_[np.argmin(((X - x) ** 2).sum(axis=1))] for x in new]
    assert model.predict(new).tolist() == expected


def test_number_of_clusters_is_found(blobs):
    X, truth = blobs
    model = ConsensusClustering(
        generator=RandomizedEnsemble(n_partitions=30, n_clusters=(3, 6)),
        consensus="eac",
        random_state=0,
    ).fit(X)
    assert naive.same_partition(model.labels_, truth)


@pytest.mark.slow
def test_same_seed_same_result_on_any_number_of_jobs(blobs):
    X, _ = blobs
    one = small(n_clusters=3).fit(X)
    two = small(n_clusters=3, n_jobs=2).fit(X)
    assert one.ensemble_ == two.ensemble_
    assert one.labels_.tolist() == two.labels_.tolist()
    other = small(n_clusters=3, random_state=1).fit(X)
    assert one.ensemble_ != other.ensemble_


@pytest.mark.parametrize("consensus", sorted(CONSENSUS))
@pytest.mark.parametrize("make_seed", [int, np.random.RandomState], ids=["int", "RandomState"])
def test_seed_reaches_the_consensus(consensus, make_seed):
    # Noise has no clusters, so that methods with random starts end in different places.
    X = np.random.default_rng(0).random((60, 3))
    fits = [
        small(n_clusters=4, consensus=consensus, random_state=make_seed(5)).fit(X) for _ in range(3)
    ]
    assert len({fit.labels_.tobytes() for fit in fits}) == 1
    assert len({fit.confidence_.tobytes() for fit in fits}) == 1


def test_seeds_of_parts(blobs):
    X, _ = blobs
    model = small(n_clusters=3, consensus="hbgf", random_state=7).fit(X)
    # The stated rule: the generator gets the seed, the consensus a number drawn from it.
    assert model.generator_.random_state == 7
    assert model.consensus_.random_state == np.random.RandomState(7).randint(2**31 - 1)
    own = small(
        generator=RandomizedEnsemble(n_partitions=5, random_state=3),
        consensus=HBGF(3, random_state=4),
        random_state=7,
    ).fit(X)
    assert (own.generator_.random_state, own.consensus_.random_state) == (3, 4)
    unseeded = small(n_clusters=3, consensus="hbgf", random_state=None).fit(X)
    assert unseeded.consensus_.random_state is None


def test_parts_are_cloned_and_get_the_parameters(blobs):
    X, _ = blobs
    generator, consensus = RandomizedEnsemble(n_partitions=5), EAC(linkage="single")
    model = ConsensusClustering(3, generator, consensus, n_jobs=1, random_state=7).fit(X)
    assert not hasattr(generator, "ensemble_")
    assert not hasattr(consensus, "labels_")
    assert generator.random_state is None
    assert consensus.n_clusters is None
    assert model.generator_.random_state == 7
    assert model.generator_.n_jobs == 1
    assert model.consensus_.linkage == "single"
    assert model.consensus_.n_clusters == 3
    # What is not given is left as the parts have it.
    own = ConsensusClustering(
        generator=RandomizedEnsemble(n_partitions=5, random_state=3), consensus=EAC(n_clusters=2)
    ).fit(X)
    assert own.generator_.random_state == 3
    assert own.consensus_.n_clusters == 2


def test_clone_parameters_pickle(blobs):
    X, _ = blobs
    model = small(n_clusters=3)
    assert clone(model).get_params(deep=False).keys() == model.get_params(deep=False).keys()
    model.set_params(generator__n_partitions=4)
    assert model.fit(X).ensemble_.n_partitions == 4
    again = pickle.loads(pickle.dumps(model))
    assert again.predict(X).tolist() == model.predict(X).tolist()
    for parameters in ParameterGrid({"n_clusters": [2, 3], "consensus": ["eac", EAC()]}):
        assert small(**parameters).fit(X).n_clusters_ == parameters["n_clusters"]
    model.set_params(generator=None)
    FEW.set_params(n_partitions=8)


def test_parameters_of_a_consensus_given_by_name(blobs):
    X, _ = blobs
    model = small(n_clusters=3, consensus="eac")
    assert model.get_params()["consensus__linkage"] == "average"
    assert "consensus__linkage" not in model.get_params(deep=False)
    assert clone(model).consensus == "eac"
    model.set_params(consensus__linkage="single")
    assert clone(model).fit(X).consensus_.linkage == "single"
    model.set_params(consensus="laca", consensus__ess=3)
    assert (type(model.consensus), model.consensus.ess) == (LACA, 3)
    with pytest.raises(ValueError, match="Invalid parameter 'linkage' for estimator LACA"):
        model.set_params(consensus__linkage="single")
    by_name = small(consensus="hbgf").set_params(consensus__imbalance=0.1).fit(X)
    # As without the parameter: the number is looked for, the default of the class is not taken.
    assert by_name.n_clusters_ == by_name.cluster_numbers_.recommended == 3
    grid = ParameterGrid({"consensus__linkage": ["single", "complete"]})
    for parameters in grid:
        fitted = small(n_clusters=3, consensus="eac").set_params(**parameters).fit(X)
        assert fitted.consensus_.linkage == parameters["consensus__linkage"]


def test_confidence_of_new_objects(blobs):
    X, _ = blobs
    model = small(n_clusters=3).fit(X)
    between = (X[model.labels_ == 0].mean(axis=0) + X[model.labels_ == 1].mean(axis=0)) / 2
    found = model.predict_confidence(np.vstack([X[:1], between]))
    assert found[0] > 0.9
    assert found[1] < found[0]
    assert ((found >= 0) & (found <= 1)).all()
    with pytest.raises(NotFittedError):
        small().predict_confidence(X)


def test_kinds_of_input_agree(blobs):
    X, _ = blobs
    X = np.where(np.abs(X) < 0.3, 0.0, X)
    expected = small(n_clusters=3).fit(X)
    for given in (
        X.tolist(),
        np.asfortranarray(X),
        pd.DataFrame(X, columns=["a", "b"]),
        pl.DataFrame(X, schema=["a", "b"]),
    ):
        model = small(n_clusters=3).fit(given)
        assert model.labels_.tolist() == expected.labels_.tolist()
        assert model.predict(given).tolist() == expected.predict(X).tolist()


def test_names_of_features(blobs):
    X, _ = blobs
    for frame in (pd.DataFrame(X, columns=["a", "b"]), pl.DataFrame(X, schema=["a", "b"])):
        model = small(n_clusters=3).fit(frame)
        assert model.feature_names_in_.tolist() == ["a", "b"]
        with pytest.raises(ValueError, match="feature names should match"):
            model.predict(frame[["b", "a"]])


@pytest.mark.parametrize("make_sparse", [sparse.csr_matrix, sparse.csr_array, sparse.coo_array])
def test_sparse_input(blobs, make_sparse):
    X, truth = blobs
    model = small(n_clusters=3).fit(make_sparse(X))
    assert naive.same_partition(model.labels_, truth)
    assert model.predict(make_sparse(X)).tolist() == model.labels_.tolist()


@pytest.mark.parametrize("output", ["default", "pandas", "polars"])
def test_pipelines(blobs, output):
    X, truth = blobs
    whole = make_pipeline(StandardScaler(), PCA(2), small(n_clusters=3)).set_output(
        transform=output
    )
    assert naive.same_partition(whole.fit_predict(X), truth)
    assert whole.predict(X).tolist() == whole[-1].labels_.tolist()
    parts = make_pipeline(
        StandardScaler(), RandomizedEnsemble(n_partitions=8, random_state=0), EAC(n_clusters=3)
    ).set_output(transform=output)
    fitted = clone(parts).fit(X)
    assert naive.same_partition(fitted[-1].labels_, truth)
    assert fitted.predict(X).tolist() == fitted[-1].labels_.tolist()


def test_generator_of_other_clusterers(blobs):
    X, truth = blobs
    generator = RandomizedEnsemble([KMeans(n_init=1)], n_partitions=6, n_clusters=3)
    assert naive.same_partition(small(generator=generator, n_clusters=3).fit(X).labels_, truth)


def test_one_object():
    assert small(n_clusters=1).fit([[1.0, 2.0]]).labels_.tolist() == [0]


@pytest.mark.parametrize("consensus", ["laca", "eac", "msteclust"])
@pytest.mark.parametrize("bases", [None, AgglomerativeClustering()], ids=["k-means", "ward"])
@pytest.mark.parametrize("make_X", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_constant_data_is_one_cluster(consensus, bases, make_X):
    if bases is not None and make_X is sparse.csr_array:
        pytest.skip("agglomerative clustering takes no sparse data")
    generator = RandomizedEnsemble(bases, n_partitions=5)  # ward cuts even equal objects
    model = small(generator=generator, consensus=consensus)
    with pytest.warns(UserWarning, match="all objects are the same"):
        model.fit(make_X(np.ones((50, 3))))
    assert model.n_clusters_ == 1
    assert model.consensus_.n_clusters_ == 1


def test_constant_data_can_be_cut_if_asked():
    generator = RandomizedEnsemble(AgglomerativeClustering(), n_partitions=5)
    assert small(generator=generator, n_clusters=2).fit(np.ones((20, 3))).n_clusters_ == 2


@pytest.mark.parametrize(
    ("parameters", "X", "kind", "words"),
    [
        ({"consensus": "typo"}, [[0.0], [1]], ValueError, r"consensus must be .* 'eac'.*'typo'"),
        ({"n_clusters": 3}, [[0.0], [1]], ValueError, r"n_clusters must be between 1 and .* got 3"),
        ({"n_clusters": 1.5}, [[0.0], [1]], TypeError, r"n_clusters must be an integer or None"),
        ({}, [[np.nan], [1]], ValueError, "contains NaN"),
        ({}, [[np.inf], [1]], ValueError, "infinity"),
        ({}, [1.0, 2.0], ValueError, "Expected 2D array"),
        ({}, np.zeros((0, 2)), ValueError, r"0 sample\(s\)"),
        ({}, [["a"], ["b"]], ValueError, "could not convert string to float"),
    ],
)
def test_words_of_errors(parameters, X, kind, words):
    with pytest.raises(kind, match=words):
        small(**parameters).fit(X)


def test_predict_needs_fit_and_the_same_features(blobs):
    X, _ = blobs
    with pytest.raises(NotFittedError):
        small().predict(X)
    with pytest.raises(
        ValueError, match="X has 1 features, but ConsensusClustering is expecting 2"
    ):
        small(n_clusters=3).fit(X).predict(X[:, :1])
