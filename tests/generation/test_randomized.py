"""RandomizedEnsemble: what is drawn, what comes out, and that it is the same every time."""

from __future__ import annotations

import math
import pickle
import warnings

import joblib
import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.cluster import (
    DBSCAN,
    HDBSCAN,
    OPTICS,
    AffinityPropagation,
    AgglomerativeClustering,
    Birch,
    BisectingKMeans,
    KMeans,
    MeanShift,
    MiniBatchKMeans,
    SpectralClustering,
)
from sklearn.datasets import make_blobs
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.mixture import BayesianGaussianMixture, GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from coterie.ensemble import Ensemble, as_ensemble
from coterie.generation import RandomizedEnsemble
from coterie.generation._runs import encode_labels, number_parameter, prepare_estimator

X, _ = make_blobs(90, n_features=5, centers=4, cluster_std=1.5, random_state=0)
X_NEW, _ = make_blobs(40, n_features=5, centers=4, cluster_std=2.5, random_state=0)

WITH_NUMBER = {
    "k-means": KMeans(init="random", n_init=1),
    "mini-batch": MiniBatchKMeans(n_init=1),
    "bisecting": BisectingKMeans(),
    "ward": AgglomerativeClustering(),
    "single": AgglomerativeClustering(linkage="single"),
    "complete": AgglomerativeClustering(linkage="complete", metric="manhattan"),
    "average": AgglomerativeClustering(linkage="average", metric="cosine"),
    "spectral": SpectralClustering(affinity="nearest_neighbors", n_neighbors=20),
    "mixture": GaussianMixture(reg_covar=1e-2),
    "bayesian": BayesianGaussianMixture(reg_covar=1e-2, max_iter=20),
    "birch": Birch(threshold=0.1),
    "pipeline": make_pipeline(StandardScaler(), PCA(n_components=2), KMeans(n_init=1)),
    "pipeline-ward": make_pipeline(StandardScaler(), AgglomerativeClustering()),
}
WITHOUT_NUMBER = {
    "dbscan": DBSCAN(eps=2.5, min_samples=3),
    "hdbscan": HDBSCAN(min_cluster_size=4, cluster_selection_method="leaf", copy=False),
    "optics": OPTICS(min_samples=5),
    "mean-shift": MeanShift(bandwidth=5.0),
    "affinity": AffinityPropagation(),
    "threshold": AgglomerativeClustering(n_clusters=None, distance_threshold=8.0),
    "birch-alone": Birch(threshold=2.0, n_clusters=None),
}
ALL = WITH_NUMBER | WITHOUT_NUMBER


@pytest.fixture(autouse=True)
def _spectral_graphs_may_fall_apart():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Graph is not fully connected")
        yield


@parametrize_with_checks(
    [
        RandomizedEnsemble(n_partitions=3),
        RandomizedEnsemble(AgglomerativeClustering(), n_partitions=2, n_clusters=(1, 2)),
    ]
)
def test_scikit_learn_checks(estimator, check):
    # One scikit-learn check of the array API skips itself unless SCIPY_ARRAY_API is set; none
    # is expected to fail.
    check(estimator)


# --- what is drawn ----------------------------------------------------------------------------


def test_default_numbers_of_clusters_lie_between_the_roots():
    maker = RandomizedEnsemble(n_partitions=60, random_state=0).fit(X)
    drawn = {draw.n_clusters for draw in maker.runs_}
    assert drawn == set(range(math.ceil(math.sqrt(90) / 2), math.isqrt(90) + 1))
    assert maker.ensemble_.shape == (90, 60)
    np.testing.assert_array_equal(
        maker.ensemble_.n_clusters, [draw.n_clusters for draw in maker.runs_]
    )
    assert not maker.ensemble_.has_missing


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_few_objects(n):
    ensemble = RandomizedEnsemble(n_partitions=4, random_state=0).fit_transform(X[:n])
    assert (ensemble.n_clusters == min(2, n)).all()


@pytest.mark.parametrize(
    ("given", "allowed"),
    [(5, {5}), ((2, 4), {2, 3, 4}), ([3, 3], {3}), (np.array([2, 3]), {2, 3}), (np.int64(3), {3})],
)
def test_n_clusters(given, allowed):
    maker = RandomizedEnsemble(n_partitions=30, n_clusters=given, random_state=1).fit(X)
    assert set(maker.ensemble_.n_clusters) == allowed


@pytest.mark.parametrize(
    ("given", "sizes"),
    [
        (1.0, {5}),
        (5, {5}),
        (1, {1}),
        (0.5, {2}),
        (0.01, {1}),
        ((0.4, 0.8), {2, 3, 4}),
        ((1, 3), {1, 2, 3}),
        ((2, 1.0), {2, 3, 4, 5}),
    ],
)
def test_max_features(given, sizes):
    maker = RandomizedEnsemble(n_partitions=40, max_features=given, random_state=0).fit(X)
    features = [np.arange(5) if d.features is None else d.features for d in maker.runs_]
    assert {len(f) for f in features} == sizes
    assert all((np.diff(f) > 0).all() for f in features)
    assert {int(f) for drawn in features for f in drawn} == set(range(5))


@pytest.mark.parametrize(
    ("given", "low", "high"), [(0.5, 45, 45), (20, 20, 20), ((30, 0.5), 30, 45)]
)
def test_max_samples(given, low, high):
    maker = RandomizedEnsemble(n_partitions=25, max_samples=given, random_state=0).fit(X)
    seen = (maker.ensemble_.labels >= 0).sum(axis=0)
    assert low <= seen.min() <= seen.max() <= high
    assert (low == high) == (seen.min() == seen.max())
    for column, draw in zip(maker.ensemble_.labels.T, maker.runs_, strict=True):
        np.testing.assert_array_equal(np.flatnonzero(column >= 0), draw.objects)


def test_no_run_asks_for_more_clusters_than_objects():
    maker = RandomizedEnsemble(n_partitions=30, n_clusters=(2, 20), max_samples=(3, 6)).fit(X)
    assert all(draw.n_clusters <= draw.n_objects for draw in maker.runs_)


def test_runs_can_be_made_again_by_hand():
    maker = RandomizedEnsemble(n_partitions=5, max_features=3, max_samples=0.6, random_state=3)
    ensemble = maker.fit_transform(X)
    for e, draw in enumerate(maker.runs_):
        k_means = KMeans(draw.n_clusters, init="random", n_init=1, random_state=draw.seed)
        found = k_means.fit_predict(X[np.ix_(draw.objects, draw.features)])
        np.testing.assert_array_equal(found, ensemble.labels[draw.objects, e])


# --- the same every time ----------------------------------------------------------------------


MIXED = [KMeans(n_init=1), GaussianMixture(reg_covar=1e-2), AgglomerativeClustering()]


def _mixed(**options):
    options = {"n_partitions": 5, "max_features": (2, 4), "max_samples": 0.8} | options
    return RandomizedEnsemble(MIXED, validity="hubert", random_state=7, **options)


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_jobs_and_backends_change_nothing(backend):
    alone = _mixed().fit_transform(X)
    trees = RandomizedEnsemble(MIXED[2], n_partitions=2, validity="cophenetic", random_state=0)
    alone_trees = trees.fit_transform(X)
    with joblib.parallel_config(backend=backend, n_jobs=2):
        assert _mixed().fit_transform(X) == alone
        assert trees.fit_transform(X) == alone_trees


def test_memory_order_changes_nothing():
    assert _mixed().fit_transform(np.asfortranarray(X)) == _mixed().fit_transform(X)


def test_runs_do_not_depend_on_how_many_there_are():
    few, many = _mixed(n_partitions=2).fit_transform(X), _mixed().fit_transform(X)
    chosen = many.select([0, 1, 5, 6, 10, 11])
    assert chosen == Ensemble(few, names=chosen.names)


def test_estimators_draw_independently():
    twins = RandomizedEnsemble([KMeans(), KMeans()], n_partitions=6, random_state=0).fit(X)
    seeds = {draw.seed for draw in twins.runs_}
    assert len(seeds) == 12


def test_seeds():
    made = [RandomizedEnsemble(n_partitions=4, random_state=s) for s in (0, 0, 1)]
    first, again, other = (maker.fit_transform(X) for maker in made)
    assert first == again
    assert first != other
    state = RandomizedEnsemble(n_partitions=4, random_state=np.random.RandomState(0))
    assert state.fit_transform(X) == first
    assert state.fit_transform(X) != first


def test_fixed_seed_of_the_estimator_is_replaced():
    maker = RandomizedEnsemble(
        KMeans(init="random", n_init=1, random_state=0), n_partitions=8, n_clusters=6
    )
    columns = maker.fit_transform(X).labels.T
    assert len(np.unique(columns, axis=0)) > 1


# --- estimators -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", WITH_NUMBER)
def test_clusterers_with_a_number(name):
    maker = RandomizedEnsemble(
        WITH_NUMBER[name], n_partitions=3, n_clusters=(2, 4), max_features=(3, 5), random_state=0
    )
    ensemble = maker.fit_transform(X)
    drawn = np.array([draw.n_clusters for draw in maker.runs_])
    if "bayesian" in name or "mixture" in name:  # may leave components empty
        assert (ensemble.n_clusters <= drawn).all()
    else:
        np.testing.assert_array_equal(ensemble.n_clusters, drawn)
    np.testing.assert_array_equal(maker.transform(X), ensemble.labels)
    new = maker.transform(X_NEW)
    assert new.shape == (40, 3)
    assert new.min() >= 0
    assert (new <= ensemble.n_clusters).all()


@pytest.mark.parametrize("noise", ["missing", "singletons"])
@pytest.mark.parametrize("name", WITHOUT_NUMBER)
def test_clusterers_without_a_number(name, noise):
    estimator = WITHOUT_NUMBER[name]
    maker = RandomizedEnsemble(estimator, n_partitions=2, noise=noise, random_state=0)
    ensemble = maker.fit_transform(X)
    alone = clone(estimator)
    if "random_state" in alone.get_params():
        alone.set_params(random_state=maker.runs_[0].seed)
    raw = alone.fit_predict(X)
    column = ensemble.labels[:, 0]
    clustered = raw >= 0
    np.testing.assert_array_equal(column[clustered], raw[clustered])
    if noise == "missing":
        assert (column[~clustered] == -1).all()
    else:
        np.testing.assert_array_equal(
            column[~clustered], raw.max() + 1 + np.arange((~clustered).sum())
        )
    np.testing.assert_array_equal(maker.transform(X), ensemble.labels)
    assert maker.transform(X_NEW).shape == (40, 2)


def test_density_methods_do_call_something_noise():
    for name in ("dbscan", "hdbscan", "optics"):
        assert RandomizedEnsemble(ALL[name], n_partitions=1).fit_transform(X).has_missing


def test_negative_labels_are_noise():
    labels = np.array([3, -1, 0, -3, 3, -2])
    codes, values = encode_labels(labels, "missing")
    assert codes.tolist() == [1, -1, 0, -1, 1, -1]
    assert values.tolist() == [0, 3]
    assert encode_labels(labels, "singletons")[0].tolist() == [1, 2, 0, 3, 1, 4]


@pytest.mark.parametrize("n_codes", [127, 128, 129, 40_000])
def test_codes_fit_their_type(n_codes):
    codes, _ = encode_labels(np.arange(n_codes), "missing")
    np.testing.assert_array_equal(codes, np.arange(n_codes))


@pytest.mark.parametrize(
    ("estimator", "expected"),
    [
        (KMeans(), "n_clusters"),
        (SpectralClustering(n_components=3), "n_clusters"),
        (GaussianMixture(), "n_components"),
        (DBSCAN(), None),
        (AgglomerativeClustering(n_clusters=None, distance_threshold=1.0), None),
        (Birch(n_clusters=AgglomerativeClustering()), "n_clusters__n_clusters"),
        (make_pipeline(PCA(n_components=2), KMeans()), "kmeans__n_clusters"),
        (make_pipeline(PCA(n_components=2), DBSCAN()), None),
        (
            make_pipeline(make_pipeline(PCA(), GaussianMixture())),
            "pipeline__gaussianmixture__n_components",
        ),
    ],
)
def test_number_parameter(estimator, expected):
    assert number_parameter(estimator) == expected


def test_nested_seeds_are_set_and_differ():
    maker = RandomizedEnsemble(n_partitions=1, random_state=0).fit(X)
    made = prepare_estimator(make_pipeline(PCA(), KMeans()), maker.runs_[0])
    seeds = [v for p, v in made.get_params().items() if p.endswith("__random_state")]
    assert len(set(seeds)) == 2
    assert None not in seeds


def test_working_in_place_leaves_the_data_alone():
    X_mine = X.copy()
    scaler = StandardScaler(copy=False)
    maker = RandomizedEnsemble(make_pipeline(scaler, KMeans(copy_x=False)), n_partitions=2)
    maker.fit(X_mine)
    np.testing.assert_array_equal(X_mine, X)


def test_convergence_warnings_do_not_flood():
    few_points = np.repeat(np.eye(2), 10, axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        for n_jobs in (1, 2):
            maker = RandomizedEnsemble(n_partitions=3, n_clusters=4, n_jobs=n_jobs)
            assert (maker.fit_transform(few_points).n_clusters == 2).all()
            maker.transform(few_points)


class _Failing(ClusterMixin, BaseEstimator):
    def __init__(self, n_clusters=8, kind="odd"):
        self.n_clusters = n_clusters
        self.kind = kind

    def fit(self, X, y=None):
        if self.kind == "odd":
            raise np.linalg.LinAlgError("singular")
        self.labels_ = np.linspace(0, 1, len(X))
        return self


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_failing_run_says_which(n_jobs):
    maker = RandomizedEnsemble(
        [KMeans(), _Failing()], n_partitions=2, n_clusters=3, max_samples=0.5, n_jobs=n_jobs
    )
    with pytest.raises(ValueError, match=r"run \d of estimator 1 \(_Failing\) failed: LinAlg") as e:
        maker.fit(X)
    for word in ("singular", "n_clusters=3", "45 of 90 objects", "5 of 5 features", "leave it out"):
        assert word in str(e.value)
    assert not hasattr(maker, "ensemble_")
    with pytest.raises(ValueError, match="dtype float64"):
        RandomizedEnsemble(_Failing(kind="floats"), n_partitions=1).fit(X)


def test_all_noise_is_left_out():
    estimators = [KMeans(), DBSCAN(eps=1e-6)]
    with pytest.warns(UserWarning, match=r"left out 2 of 4 partitions .*DBSCAN"):
        maker = RandomizedEnsemble(estimators, n_partitions=2).fit(X)
    assert maker.ensemble_.groups.tolist() == [0, 0]
    assert maker.ensemble_.columns.tolist() == [0, 1]
    assert maker.transform(X).shape == (90, 2)
    assert len(maker.get_feature_names_out()) == 2
    with pytest.raises(ValueError, match="every run called every object noise"):
        RandomizedEnsemble(DBSCAN(eps=1e-6), n_partitions=2).fit(X)


# --- groups and validity ----------------------------------------------------------------------


def test_groups():
    plain = RandomizedEnsemble([KMeans(), DBSCAN(eps=3)], n_partitions=2).fit_transform(X)
    assert plain.groups.tolist() == [0, 0, 1, 1]
    named = RandomizedEnsemble([("a", KMeans()), ("b", Birch())], n_partitions=2).fit_transform(X)
    assert named.groups.tolist() == ["a", "a", "b", "b"]
    assert RandomizedEnsemble(KMeans(), n_partitions=2).fit_transform(X).groups.tolist() == [0, 0]


def test_validity_by_name_sees_what_the_run_saw():
    from coterie.metrics import cophenetic_correlation, hubert_gamma

    options = {"n_partitions": 3, "max_features": 2, "max_samples": 0.5, "random_state": 0}
    maker = RandomizedEnsemble(AgglomerativeClustering(), validity="hubert", **options)
    ensemble = maker.fit_transform(X)
    expected = [
        max(0, hubert_gamma(d.used(X), ensemble.labels[d.objects, e]))
        for e, d in enumerate(maker.runs_)
    ]
    np.testing.assert_allclose(ensemble.validity, expected)

    maker.set_params(validity="cophenetic")
    ensemble_of_trees = maker.fit_transform(X)
    np.testing.assert_array_equal(ensemble_of_trees.labels, ensemble.labels)
    expected = []
    for draw in maker.runs_:
        tree = AgglomerativeClustering(compute_distances=True).fit(draw.used(X))
        expected.append(max(0, cophenetic_correlation(draw.used(X), tree)))
    np.testing.assert_allclose(ensemble_of_trees.validity, expected)


def test_validity_by_callable():
    seen = []

    def share_of_first(X_used, labels):
        seen.append((X_used.shape, len(labels), labels.min()))
        return np.mean(labels == 0)

    maker = RandomizedEnsemble(
        DBSCAN(eps=2.5, min_samples=3), n_partitions=1, max_samples=60, validity=share_of_first
    )
    ensemble = maker.fit_transform(X)
    labelled = ensemble.labels[ensemble.labels >= 0]
    assert seen == [((len(labelled), 5), len(labelled), 0)]
    assert ensemble.validity.tolist() == [np.mean(labelled == 0)]
    for value, expected in [(-0.5, 0.0), (7, 1.0), (np.nan, 0.0)]:
        maker = RandomizedEnsemble(n_partitions=1, validity=lambda X, labels, v=value: v)
        assert maker.fit_transform(X).validity.tolist() == [expected]


def test_validity_in_a_pipeline_is_measured_behind_the_scaler():
    from coterie.metrics import hubert_gamma

    X_bad = X * [1, 1, 1, 1, 1000]
    maker = RandomizedEnsemble(
        make_pipeline(StandardScaler(), KMeans(n_init=1)), n_partitions=1, validity="hubert"
    )
    ensemble = maker.fit_transform(X_bad)
    scaled = StandardScaler().fit_transform(X_bad)
    assert ensemble.validity[0] == pytest.approx(hubert_gamma(scaled, ensemble.labels[:, 0]))


# --- transform --------------------------------------------------------------------------------


def test_nearest_object_of_the_run_on_its_features():
    maker = RandomizedEnsemble(
        AgglomerativeClustering(linkage="average", metric="manhattan"),
        n_partitions=4,
        max_features=3,
        max_samples=0.5,
        random_state=0,
    ).fit(X)
    new = maker.transform(X_NEW)
    for e, draw in enumerate(maker.runs_):
        distance = np.abs(X_NEW[:, None, draw.features] - draw.used(X)).sum(axis=2)
        nearest = draw.objects[distance.argmin(axis=1)]
        np.testing.assert_array_equal(new[:, e], maker.ensemble_.labels[nearest, e])


def test_left_out_objects_get_a_label_from_transform():
    maker = RandomizedEnsemble(
        [KMeans(), AgglomerativeClustering()], n_partitions=3, max_samples=0.5, random_state=0
    )
    ensemble = maker.fit_transform(X)
    rows = maker.transform(X)
    seen = ensemble.labels >= 0
    np.testing.assert_array_equal(rows[seen], ensemble.labels[seen])
    assert (rows >= 0).all()


def test_clusters_without_training_objects_get_their_own_code():
    class Odd(ClusterMixin, BaseEstimator):
        def fit(self, X, y=None):
            self.labels_ = np.where(X[:, 0] > 0, 7, 3)
            return self

        def predict(self, X):
            return np.array([3, 7, 5, 9, -1])

    maker = RandomizedEnsemble(Odd(), n_partitions=1).fit(X)
    assert maker.transform(X[:5])[:, 0].tolist() == [0, 1, 2, 2, -1]
    assert maker.set_params(noise="singletons").fit(X).transform(X[:5])[:, 0].tolist() == [
        0,
        1,
        2,
        2,
        2,
    ]


@pytest.mark.slow
def test_transform_is_the_same_on_any_number_of_jobs():
    maker = _mixed().fit(X)
    alone = maker.transform(X_NEW)
    with joblib.parallel_config(backend="loky", n_jobs=2):
        np.testing.assert_array_equal(maker.transform(X_NEW), alone)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(maker)).transform(X_NEW), alone)


def test_transform_before_fit():
    with pytest.raises(NotFittedError):
        RandomizedEnsemble().transform(X)
    with pytest.raises(AttributeError, match="after fit"):
        RandomizedEnsemble().runs_  # noqa: B018


# --- kinds of input, and scikit-learn's machinery ---------------------------------------------


@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.csc_array, sparse.coo_array])
def test_sparse(make):
    X_thin = np.where(np.abs(X) < 2, 0, X)
    maker = RandomizedEnsemble(n_partitions=3, max_features=3, max_samples=0.9, random_state=0)
    ensemble = maker.fit_transform(make(X_thin))
    assert ensemble.shape == (90, 3)
    rows = maker.transform(make(X_thin))
    seen = ensemble.labels >= 0
    np.testing.assert_array_equal(rows[seen], ensemble.labels[seen])
    dbscan = RandomizedEnsemble(DBSCAN(eps=3), n_partitions=1).fit(make(X_thin))
    np.testing.assert_array_equal(dbscan.transform(make(X_thin)), dbscan.ensemble_.labels)


def test_sparse_is_refused_where_an_estimator_refuses_it():
    with pytest.raises(TypeError, match="dense data is required"):
        RandomizedEnsemble([KMeans(), AgglomerativeClustering()]).fit(sparse.csr_array(X))


def test_nan():
    X_holes = X.copy()
    X_holes[[3, 7], [0, 1]] = np.nan
    with pytest.raises(ValueError, match="Input X contains NaN"):
        RandomizedEnsemble().fit(X_holes)
    maker = RandomizedEnsemble(HDBSCAN(min_cluster_size=8, copy=True), n_partitions=1)
    ensemble = maker.fit_transform(X_holes)
    assert ensemble.labels[[3, 7], 0].tolist() == [-1, -1]
    np.testing.assert_array_equal(maker.transform(X_holes), ensemble.labels)
    from sklearn.impute import SimpleImputer

    with pytest.raises(ValueError, match="Input X contains NaN"):
        RandomizedEnsemble(make_pipeline(StandardScaler(), KMeans())).fit(X_holes)
    pipeline = make_pipeline(StandardScaler(), SimpleImputer(), KMeans())
    assert not RandomizedEnsemble(pipeline, n_partitions=1).fit_transform(X_holes).has_missing


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames(library):
    frames = pytest.importorskip(library)
    names = [f"f{i}" for i in range(5)]
    frame = frames.DataFrame(dict(zip(names, X.T, strict=True)))
    maker = RandomizedEnsemble(n_partitions=2, random_state=0).set_output(transform=library)
    ensemble = maker.fit_transform(frame)
    assert isinstance(ensemble, Ensemble)
    assert ensemble == RandomizedEnsemble(n_partitions=2, random_state=0).fit_transform(X)
    assert maker.feature_names_in_.tolist() == names
    rows = maker.transform(frame)
    assert isinstance(rows, frames.DataFrame)
    assert list(rows.columns) == maker.get_feature_names_out().tolist()
    np.testing.assert_array_equal(rows.to_numpy(), ensemble.labels)
    with pytest.raises(ValueError, match="feature names"):
        maker.transform(frame[names[::-1]])


class _Majority(ClusterMixin, BaseEstimator):
    """The tiniest consensus: objects with the same row are together."""

    def fit(self, X, y=None):
        self.ensemble_ = as_ensemble(X)
        self.labels_ = self.ensemble_.patterns.inverse
        return self

    def predict(self, X):
        rows = self.ensemble_.encode(X)
        known = self.ensemble_.patterns.labels
        return (rows[:, None, :] == known).sum(axis=2).argmax(axis=1)


def test_pipeline_with_a_consensus():
    maker = RandomizedEnsemble(
        [("k", KMeans(n_init=1)), ("w", AgglomerativeClustering())], n_partitions=2, n_clusters=3
    )
    pipeline = clone(make_pipeline(StandardScaler(), maker, _Majority()))
    pipeline.set_params(randomizedensemble__random_state=0)
    labels = pipeline.fit_predict(X)
    assert isinstance(pipeline[-1].ensemble_, Ensemble)
    assert pipeline[-1].ensemble_.groups.tolist() == ["k", "k", "w", "w"]
    np.testing.assert_array_equal(pipeline.predict(X), labels)
    assert pipeline.predict(X_NEW).shape == (40,)
    np.testing.assert_array_equal(
        clone(pipeline).set_output(transform="pandas").fit(X).predict(X), labels
    )


def test_clone_keeps_parameters():
    maker = RandomizedEnsemble([("k", KMeans(n_init=2))], noise="singletons", n_clusters=(2, 3))
    copy = clone(maker)
    assert copy.noise == "singletons"
    assert copy.estimators[0][1] is not maker.estimators[0][1]
    assert copy.estimators[0][1].n_init == 2


@pytest.mark.parametrize("n_jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_progress_counts_partitions(n_jobs, progress):
    RandomizedEnsemble([KMeans(), Birch()], n_partitions=3, n_jobs=n_jobs).fit(X)
    assert progress.counts()["partitions"] == (6, 6)


# --- bad input --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_partitions": 0}, "n_partitions must be a number of runs of at least 1"),
        ({"n_partitions": 2.5}, "got 2.5"),
        ({"n_clusters": 0}, "n_clusters must be a number of at least 1"),
        ({"n_clusters": (5, 2)}, r"n_clusters must be .*got \(5, 2\)"),
        ({"n_clusters": 2.0}, "n_clusters must be"),
        ({"n_clusters": (2, 3, 4)}, "n_clusters must be"),
        ({"n_clusters": 91}, "at most the number of objects, n_samples = 90; got 91"),
        ({"n_clusters": 30, "max_samples": 0.1}, "leaves a run as few as 9 objects"),
        ({"max_features": 0}, "max_features must be a share in"),
        ({"max_features": 6}, "a number of features from 1 to 5"),
        ({"max_features": 1.5}, "got 1.5"),
        ({"max_features": True}, "max_features must be"),
        ({"max_features": (4, 2)}, "low <= high"),
        ({"max_samples": -0.5}, "max_samples must be a share"),
        ({"max_samples": "all"}, "got 'all'"),
        ({"noise": "drop"}, "noise must be 'missing' or 'singletons'"),
        ({"validity": "silhouette"}, "validity must be None, one of .*got 'silhouette'"),
        ({"validity": "cophenetic"}, "KMeans has not. Use validity='hubert'"),
        ({"checkpoint": 3}, "checkpoint must be the path"),
        ({"estimators": []}, "at least one clusterer"),
        ({"estimators": KMeans}, r"not classes; got KMeans. Write KMeans\(\)"),
        ({"estimators": ["kmeans"]}, "estimators must be one clusterer"),
        ({"estimators": [("a", KMeans()), KMeans()]}, "1 of 2 with a name"),
        ({"estimators": [("a", KMeans()), ("a", KMeans())]}, "names of estimators must differ"),
        ({"estimators": DBSCAN(metric="precomputed")}, "DBSCAN has metric='precomputed'"),
        ({"random_state": "x"}, "cannot be used to seed"),
    ],
)
def test_bad_parameters(options, words):
    with pytest.raises((ValueError, TypeError), match=words):
        RandomizedEnsemble(**options).fit(X)


def test_bad_data():
    with pytest.raises(ValueError, match="Expected 2D array"):
        RandomizedEnsemble().fit(X[:, 0])
    with pytest.raises(ValueError, match="could not convert string to float"):
        RandomizedEnsemble().fit([["a"], ["b"]])
    with pytest.raises(ValueError, match="expecting 5 features"):
        RandomizedEnsemble(n_partitions=1).fit(X).transform(X[:, :4])
