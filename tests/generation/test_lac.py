"""LAC and ensembles of it: the paper's steps, whatever the data look like."""

import math
import os
import pickle
import warnings

import numba
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import naive
from coterie import EAC, LAC, WBPA, Ensemble, LACEnsemble, MemoryLimitError
from coterie.generation._lac import locally_adapt, read_only, weighted_distances
from coterie.metrics import error_rate

X, _ = make_blobs(80, n_features=4, centers=3, cluster_std=[1.0, 2.0, 3.0], random_state=3)
NARROW = np.array([1.0, 0.2, 3.0, 0.01])

# A state that comes back after several iterations, found by search.
CIRCLE = np.random.default_rng(2736)
CIRCLE_SHAPE = int(CIRCLE.integers(5, 14)), int(CIRCLE.integers(2, 4))
CIRCLE_K = int(CIRCLE.integers(2, 4))
CIRCLE_X = CIRCLE.integers(0, 6, size=CIRCLE_SHAPE).astype(float)


@parametrize_with_checks(
    [LAC(n_clusters=2), LAC(n_clusters=3, h=np.inf), LACEnsemble(n_clusters=2, inv_h=[1, 5])]
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


# --- iterations ----------------------------------------------------------------------------------


@st.composite
def tables(draw):
    """(objects, start, h): with ties, twins, and starts that leave clusters empty."""
    n, n_features = draw(st.integers(2, 9)), draw(st.integers(1, 4))
    value = st.sampled_from([0.0, 0.0, 0.5, 1.0, 1.7, -2.0, 3.3])
    rows = draw(st.lists(st.lists(value, min_size=n_features, max_size=n_features), min_size=n))
    table = np.array(rows)
    # Distances that are equal on paper may differ in the last bit, and then the ways part.
    jitter = np.random.default_rng(len(rows)).normal(scale=1e-3, size=table.shape)
    table = np.where(table == 0, 0.0, table + jitter)
    k = draw(st.integers(1, min(4, len(rows))))
    start = table[draw(st.permutations(range(len(rows))))[:k]].copy()
    if draw(st.booleans()):
        start[-1] += 100.0
    return table, start, draw(st.sampled_from([0.05, 0.7, 4.0, 1e3]))


@settings(max_examples=60)
@given(case=tables(), n_iter=st.integers(1, 4))
def test_iterations_are_those_of_the_paper(case, n_iter):
    table, start, h = case
    centres, weights, labels = naive.lac(table, start, h, n_iter)
    for data in (table, sparse.csr_matrix(table)):
        found = locally_adapt(read_only(data), start, [1 / h], max_iter=n_iter)
        gaps = np.sort(naive.lac_distances(table, centres, weights), axis=1)
        if len(start) > 1 and (np.diff(gaps, axis=1)[:, 0] < 1e-9).any():
            return  # a tie at the end: rounding decides
        np.testing.assert_allclose(found.centres[0], centres, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(found.weights[0], weights, rtol=1e-9, atol=1e-9)
        assert found.labels[0].tolist() == labels


@pytest.mark.parametrize("h", [0.02, 0.3, 5.0, np.inf])
@pytest.mark.parametrize("as_sparse", [False, True])
def test_larger_data_and_many_features(h, as_sparse):
    random = np.random.default_rng(0)
    table = random.normal(size=(150, 70)) * random.exponential(size=70)
    table[random.random(table.shape) < 0.8] = 0.0
    table[:75, :3] += 2.0
    start = table[[0, 80, 149]]
    for n_iter in (1, 3):
        centres, weights, labels = naive.lac(table, start, h, n_iter)
        data = sparse.csr_matrix(table) if as_sparse else table
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            lac = LAC(3, h, init=start, max_iter=n_iter).fit(data)
        np.testing.assert_allclose(lac.cluster_centers_, centres, atol=1e-9)
        np.testing.assert_allclose(lac.feature_weights_, weights, atol=1e-9)
        assert lac.labels_.tolist() == labels
        np.testing.assert_allclose(
            lac.posteriors(data), naive.lac_posteriors(table, centres, weights), atol=1e-9
        )
        assert lac.predict(data).tolist() == labels


def test_it_ends_where_nothing_changes():
    lac = LAC(3, 2.0, init=X[:3]).fit(X)
    assert lac.converged_
    again = naive.lac_iteration(X, lac.cluster_centers_, lac.feature_weights_, 2.0)
    np.testing.assert_allclose(again[0], lac.cluster_centers_, atol=1e-12)
    np.testing.assert_allclose(again[1], lac.feature_weights_, atol=1e-12)
    centres, weights, _ = naive.lac(X, X[:3], 2.0, lac.n_iter_ - 2)
    assert not np.allclose(np.r_[centres, weights], np.r_[again[0], again[1]], atol=1e-12)


@pytest.mark.parametrize("max_iter", [7, 20, 23, 24, 25, 26])
def test_a_run_that_goes_round_in_a_circle(max_iter):
    start = CIRCLE_X[:CIRCLE_K]
    with pytest.warns(ConvergenceWarning, match="or cycles"):
        lac = LAC(CIRCLE_K, 1 / 10, init=start, max_iter=max_iter).fit(CIRCLE_X)
    assert not lac.converged_
    assert lac.n_iter_ == max_iter
    centres, weights, labels = naive.lac(CIRCLE_X, start, 1 / 10, max_iter)
    np.testing.assert_allclose(lac.cluster_centers_, centres, atol=1e-9)
    np.testing.assert_allclose(lac.feature_weights_, weights, atol=1e-9)
    assert lac.labels_.tolist() == labels


def test_fewer_distinct_objects_than_clusters_are_warned_of():
    X = np.repeat([[0.0, 0.0], [1.0, 1.0], [5.0, 5.0]], 4, axis=0)
    with pytest.warns(ConvergenceWarning, match="2 of the n_clusters=5 clusters are without"):
        lac = LAC(5, random_state=0).fit(X)
    assert naive.same_partition(lac.labels_, np.repeat([0, 1, 2], 4))


def test_a_circle_is_not_gone_round_a_million_times():
    with pytest.warns(ConvergenceWarning):
        lac = LAC(CIRCLE_K, 1 / 10, init=CIRCLE_X[:CIRCLE_K], max_iter=10**6).fit(CIRCLE_X)
    assert lac.n_iter_ == 10**6


def test_runs_together_are_the_runs_alone():
    data = read_only(X * NARROW)
    inv_h = [0.0, 0.3, 1.0, 4.0, 50.0]
    together = locally_adapt(data, X[:3] * NARROW, inv_h, max_iter=100)
    for run, value in enumerate(inv_h):
        alone = locally_adapt(data, X[:3] * NARROW, [value], max_iter=100)
        assert np.array_equal(together.centres[run], alone.centres[0])
        assert np.array_equal(together.weights[run], alone.weights[0])
        assert np.array_equal(together.labels[run], alone.labels[0])
        assert together.n_iter[run] == alone.n_iter[0]
        assert together.converged[run] == alone.converged[0]


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
def test_threads_change_nothing(make):
    found = []
    before = numba.get_num_threads()
    try:
        for n_threads in (1, min(2, numba.config.NUMBA_NUM_THREADS)):
            numba.set_num_threads(n_threads)
            ensemble = LACEnsemble(3, [0.1, 1, 9], random_state=0).fit_transform(make(X))
            found.append(ensemble)
    finally:
        numba.set_num_threads(before)
    assert found[0] == found[1]


def test_infinite_h_is_k_means():
    from sklearn.cluster import KMeans

    ours = LAC(3, np.inf, init=X[:3]).fit(X)
    assert np.array_equal(ours.feature_weights_, np.full((3, 4), 0.25))
    theirs = KMeans(3, init=X[:3], n_init=1, tol=0).fit(X)
    assert naive.same_partition(ours.labels_, theirs.labels_)


def test_small_h_looks_at_one_feature():
    lac = LAC(3, 1e-6, init=X[:3] * NARROW).fit(X * NARROW)
    np.testing.assert_allclose(lac.feature_weights_[:, 3], 1.0)


def test_a_patient_number_does_no_harm():
    # Expanded into products, distances of numbers around 1e9 would be nothing but rounding.
    table = np.column_stack([X, 1e9 + np.random.default_rng(0).normal(size=len(X))])
    start = table[:3]
    centres, weights, labels = naive.lac(table, start, 2.0, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        lac = LAC(3, 2.0, init=start, max_iter=3).fit(table)
    np.testing.assert_allclose(lac.feature_weights_, weights, rtol=1e-6)
    np.testing.assert_allclose(lac.cluster_centers_, centres, rtol=1e-12)
    assert lac.labels_.tolist() == labels


def test_sparse_distance_to_oneself_is_zero():
    table = np.abs(np.random.default_rng(0).normal(size=(6, 40)))
    table[:, 20:] = 0.0
    found = weighted_distances(read_only(sparse.csr_matrix(table)), table, np.full((6, 40), 1 / 40))
    assert np.diag(found).tolist() == [0.0] * 6
    np.testing.assert_allclose(
        found, naive.lac_distances(table, table, np.full((6, 40), 1 / 40)), atol=1e-12
    )


def test_sparse_rows_may_be_unsorted_and_stored_twice():
    table = sparse.csr_matrix(
        (np.array([1.0, 2.0, 3.0, 0.0, 5.0]), np.array([2, 0, 2, 1, 1]), np.array([0, 3, 4, 5])),
        shape=(3, 3),
    )
    before = table.data.copy()
    lac = LAC(2, 1.0, init=table.toarray()[:2]).fit(table)
    dense = LAC(2, 1.0, init=table.toarray()[:2]).fit(table.toarray())
    assert lac.labels_.tolist() == dense.labels_.tolist()
    np.testing.assert_allclose(lac.cluster_centers_, dense.cluster_centers_)
    assert np.array_equal(table.data, before)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
def test_objects_as_near_to_two_centres_go_to_the_first(make):
    # On a grid distances are often equal; weights of 1/3, or rounding, must not decide.
    for seed in range(60):
        random = np.random.default_rng(seed)
        table = random.integers(0, 4, (15, 3))
        start = table[random.permutation(15)[:3]]
        squares = ((table[:, None] - start) ** 2).sum(axis=2)  # whole numbers
        first = squares.argmin(axis=1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            for scale in (1.0, 0.1):
                lac = LAC(3, h=np.inf, init=scale * start, max_iter=1)
                found = lac.fit(make(scale * table)).cluster_centers_
                expected = [
                    table[first == c].mean(axis=0) if (first == c).any() else start[c]
                    for c in range(3)
                ]
                np.testing.assert_allclose(found, scale * np.array(expected), atol=1e-12)


# --- starts --------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
def test_farthest_first(make, seed):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = LAC(5, 1.0, random_state=seed, max_iter=1).fit(make(X))
    first = np.random.RandomState(seed).randint(len(X))
    chosen = naive.farthest_first(X, first, 5)
    centres, weights, _ = naive.lac(X, X[chosen], 1.0, 1)
    np.testing.assert_allclose(found.cluster_centers_, centres, atol=1e-9)
    np.testing.assert_allclose(found.feature_weights_, weights, atol=1e-9)


def test_random_start_takes_distinct_objects():
    lac = LAC(len(X), 1.0, init="random", random_state=0).fit(X)
    assert sorted(lac.labels_) == list(range(len(X)))


def test_same_seed_same_result():
    for maker in (LAC(3, random_state=4), LACEnsemble(3, [1, 2], n_init=2, random_state=4)):
        one, two = clone(maker).fit(X), clone(maker).fit(X)
        assert pickle.dumps(one.__dict__.get("cluster_centers_")) == pickle.dumps(
            two.__dict__.get("cluster_centers_")
        )
        if isinstance(maker, LACEnsemble):
            assert one.ensemble_ == two.ensemble_


# --- ensembles -----------------------------------------------------------------------------------


def test_posteriors_and_subspaces_are_in_the_ensemble():
    maker = LACEnsemble(3, [0.1, 1.0, 7.0], random_state=0)
    ensemble = maker.fit_transform(X)
    first = np.random.RandomState(0).randint(len(X))
    start = X[naive.farthest_first(X, first, 3)]
    for e, inv_h in enumerate([0.1, 1.0, 7.0]):
        assert maker.converged_[e]
        centres, weights, labels = naive.lac(X, start, 1 / inv_h, maker.n_iters_[e])
        np.testing.assert_allclose(ensemble.subspaces[e][0], centres, atol=1e-9)
        np.testing.assert_allclose(ensemble.subspaces[e][1], weights, atol=1e-9)
        np.testing.assert_allclose(
            ensemble.posteriors[e], naive.lac_posteriors(X, centres, weights), atol=1e-9
        )
        assert ensemble.labels[:, e].tolist() == labels
        assert ensemble.posteriors[e].argmax(axis=1).tolist() == labels
    assert np.array_equal(ensemble.features, X)


@pytest.mark.parametrize("scale", [None, "minmax", "zscore"])
def test_scales(scale):
    table = np.column_stack([X, np.full(len(X), 7.0)])
    maker = LACEnsemble(3, [1.0, 4.0], scale, random_state=0).fit(table)
    if scale == "minmax":
        expected = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    elif scale == "zscore":
        expected = (X - X.mean(axis=0)) / X.std(axis=0)
    else:
        expected = X
    scaled = maker.ensemble_.features
    np.testing.assert_allclose(scaled[:, :4], expected, atol=1e-12)
    assert np.ptp(scaled[:, 4]) == 0
    np.testing.assert_allclose(maker.scale_features(table), scaled)
    plain = LACEnsemble(3, [1.0, 4.0], random_state=0).fit(scaled)
    assert np.array_equal(plain.ensemble_.labels, maker.ensemble_.labels)
    # Sparse data are not shifted, which no distance notices.
    thin = LACEnsemble(3, [1.0, 4.0], scale, random_state=0).fit(sparse.csr_matrix(table))
    assert np.array_equal(thin.ensemble_.labels, maker.ensemble_.labels)
    for one, two in zip(thin.ensemble_.posteriors, maker.ensemble_.posteriors, strict=True):
        np.testing.assert_allclose(one, two, atol=1e-9)
    assert np.array_equal(thin.transform(sparse.csr_matrix(table)), maker.transform(table))


def test_transform_gives_the_labels_of_training():
    maker = LACEnsemble(3, [0.2, 1.0, 20.0], "zscore", random_state=0)
    ensemble = maker.fit_transform(X)
    labels = maker.transform(X)
    assert labels.dtype == np.int32
    assert np.array_equal(labels, ensemble.labels)
    assert maker.transform(X[:1]).shape == (1, 3)
    assert maker.get_feature_names_out().tolist() == [f"lacensemble{e}" for e in range(3)]


def test_clusters_without_objects():
    start = np.vstack([X[:1] + 500.0, X[:2], X[:1] + 900.0])
    maker = LACEnsemble(4, [0.5, 2.0], init=start).fit(X)
    ensemble = maker.ensemble_
    assert ensemble.n_clusters.tolist() == [2, 2]
    for e in range(2):
        centres, weights = ensemble.subspaces[e]
        assert np.array_equal(centres[2:], start[[0, 3]])  # they keep their place, and come last
        assert np.array_equal(weights[2:], np.full((2, 4), 0.25))
        np.testing.assert_allclose(
            ensemble.posteriors[e], naive.lac_posteriors(X, centres, weights), atol=1e-9
        )
        assert ensemble.posteriors[e].argmax(axis=1).tolist() == ensemble.labels[:, e].tolist()
    new = maker.transform(np.vstack([X[:1] + 500.0, X[:1] + 900.0, X[:1]]))
    assert new[:2].tolist() == [[2, 2], [2, 2]]
    assert new[2].tolist() == ensemble.labels[0].tolist()


def test_several_starts():
    ensemble = LACEnsemble(3, [1, 2], init="random", n_init=3, random_state=0).fit_transform(X)
    assert ensemble.n_partitions == 6
    assert ensemble.groups.tolist() == [0, 0, 1, 1, 2, 2]


def test_pipeline_predicts_new_objects():
    X, y = make_blobs(80, n_features=4, centers=3, random_state=0)
    maker = LACEnsemble(3, [1, 2, 3], "minmax", random_state=0)
    model = make_pipeline(maker, EAC(n_clusters=3))
    found = model.fit_predict(X)
    assert model.predict(X).tolist() == found.tolist()
    assert error_rate(y, found) < 0.05
    model = make_pipeline(
        LACEnsemble(3, [0.2, 1.0], random_state=0), WBPA(n_clusters=3, random_state=0)
    )
    assert clone(model).fit(X).predict(X[:7]).tolist() == model.fit(X).predict(X)[:7].tolist()
    frames = make_pipeline(maker, EAC(n_clusters=3)).set_output(transform="pandas")
    assert frames.fit(pd.DataFrame(X)).predict(pd.DataFrame(X)).tolist() == found.tolist()


def test_iris_is_found():
    data, truth = load_iris(return_X_y=True)
    ensemble = LACEnsemble(3, range(1, 51), random_state=0).fit_transform(data)
    errors = [error_rate(truth, column) for column in ensemble.labels.T]
    assert min(errors) < 0.05
    assert max(errors) > 0.1  # h matters


# --- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_clusters": 0}, "n_clusters must be at least 1; got 0"),
        ({"n_clusters": 2.0}, r"n_clusters must be an integer; got 2\.0"),
        ({"n_clusters": 81}, "n_clusters must be at most the number of samples.* = 80; got 81"),
        ({"max_iter": 0}, "max_iter must be at least 1; got 0"),
        ({"h": 0}, "h must be a number above 0 .* got 0"),
        ({"h": math.nan}, "h must be a number above 0 .* got nan"),
        ({"h": "1"}, "h must be a number above 0 .* got '1'"),
        ({"init": "k-means++"}, "init must be one of .* got 'k-means"),
        ({"init": np.zeros((2, 3))}, r"init must be .* = \(3, 4\); got shape \(2, 3\)"),
        ({"init": np.zeros(3)}, r"init must be .* = \(3, 4\); got shape \(3,\)"),
        ({"init": np.full((3, 4), np.nan)}, "init must be finite"),
    ],
)
def test_bad_parameters(options, words):
    with pytest.raises((TypeError, ValueError), match=words):
        LAC(**{"n_clusters": 3, **options}).fit(X)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"inv_h": []}, r"inv_h must be one or more numbers of at least 0.* got \[\]"),
        ({"inv_h": [1, -2]}, r"inv_h must be .* got \[1, -2\]"),
        ({"inv_h": 5}, "inv_h must be .* got 5"),
        ({"inv_h": [np.inf]}, r"inv_h must be .* got \[inf\]"),
        ({"scale": "robust"}, "scale must be None, 'minmax' or 'zscore'; got 'robust'"),
        ({"n_init": 0}, "n_init must be at least 1; got 0"),
        ({"n_init": 2, "init": X[:3]}, "n_init must be 1 where init gives the centres; got 2"),
    ],
)
def test_bad_ensembles(options, words):
    with pytest.raises((TypeError, ValueError), match=words):
        LACEnsemble(**{"n_clusters": 3, **options}).fit(X)


def test_bad_data():
    with pytest.raises(ValueError, match="NaN"):
        LAC().fit([[0.0, np.nan], [1.0, 2.0]])
    with pytest.raises(NotFittedError):
        LAC().predict(X)
    with pytest.raises(NotFittedError):
        LACEnsemble().transform(X)
    with pytest.raises(ValueError, match="4 features"):
        LAC(2).fit(X).predict(X[:, :3])


def test_memory_limit(monkeypatch):
    monkeypatch.setitem(os.environ, "COTERIE_MEMORY_LIMIT", "10kB")
    with pytest.raises(MemoryLimitError, match=r"posteriors of 80 objects in 25 partitions"):
        LACEnsemble(3).fit(X)


def test_ensembles_keep_their_features(tmp_path):
    for data in (X, sparse.csr_matrix(X)):
        ensemble = LACEnsemble(3, [1.0, 2.0], random_state=0).fit_transform(data)
        ensemble.save(tmp_path / "e.npz")
        loaded = Ensemble.load(tmp_path / "e.npz")
        assert loaded == ensemble
        assert type(loaded.features) is type(ensemble.features)
        assert pickle.loads(pickle.dumps(ensemble)) == ensemble
        assert ensemble.select([1]).features is not None
        assert ensemble.take([3, 4]).features.shape == (2, 4)
        assert Ensemble.concat([ensemble, ensemble]).features.shape == X.shape
        assert ensemble.concat(Ensemble(ensemble.labels)).features is None
        assert Ensemble(Ensemble(ensemble.labels), features=data).features.shape == X.shape
