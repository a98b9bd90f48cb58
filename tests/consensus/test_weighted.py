"""WSPA, WBPA and WSBPA: the paper's matrices, their partitions, and weighted clusters."""

import os
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline

import naive
from coterie import HBGF, PEACE, WBPA, WSBPA, WSPA, Ensemble, LACEnsemble, MemoryLimitError
from coterie._graphs import incidence_of
from coterie.consensus._wbpa import posterior_matrix
from coterie.consensus._wsbpa import mean_weights
from coterie.consensus._wspa import cosine_factor, weighted_similarity
from coterie.datasets import make_three_gaussian, make_two_gaussian
from coterie.metrics import error_rate
from strategies import noisy_labels, random_labels

METHODS = {"wspa": WSPA, "wbpa": WBPA, "wsbpa": WSBPA}
every_method = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)

CENTRES = [[0, 0, 0, 0], [8, 0, 8, 0], [0, 8, 8, 0]]
X, y = make_blobs(90, n_features=4, centers=CENTRES, cluster_std=1.5, random_state=2)
ENSEMBLE = LACEnsemble(3, [0.5, 1, 2, 4, 8], "minmax", random_state=0).fit_transform(X)


@st.composite
def soft_ensembles(draw):
    """Posteriors of any kind: rows of zeros, zeros in rows, rows that do not sum to 1."""
    n, n_partitions = draw(st.integers(2, 8)), draw(st.integers(1, 4))
    seed = draw(st.integers(0, 10**6))
    random = np.random.default_rng(seed)
    posteriors, labels = [], []
    for _ in range(n_partitions):
        k = draw(st.integers(1, 4))
        table = random.dirichlet(np.ones(k), size=n)
        if draw(st.booleans()):
            table[random.random(n) < 0.3] = 0.0
        if draw(st.booleans()):
            table = table[np.zeros(n, dtype=int)]
        posteriors.append(table)
        labels.append(np.where(table.sum(axis=1) > 0, table.argmax(axis=1), -1))
        labels[-1][0] = max(labels[-1][0], 0)
    widths = [len(np.unique(column[column >= 0])) for column in labels]
    posteriors = [
        np.pad(p, ((0, 0), (0, max(0, k - p.shape[1]))))
        for p, k in zip(posteriors, widths, strict=True)
    ]
    return Ensemble(np.column_stack(labels), posteriors=posteriors)


# --- matrices ------------------------------------------------------------------------------------


@given(ensemble=soft_ensembles())
def test_cosine_similarity_is_that_of_the_paper(ensemble):
    expected = naive.weighted_similarity(ensemble.posteriors, naive.cosine_similarity)
    np.testing.assert_allclose(weighted_similarity(ensemble), expected, atol=1e-12)
    factor = cosine_factor(ensemble)
    np.testing.assert_allclose(factor @ factor.T, expected, atol=1e-12)


@settings(max_examples=100)
@given(ensemble=soft_ensembles())
def test_kl_similarity_is_that_of_the_paper(ensemble):
    found = weighted_similarity(ensemble, "kl")
    expected = naive.weighted_similarity(ensemble.posteriors, naive.kl_similarity)
    np.testing.assert_allclose(found, expected, atol=1e-9)
    assert np.array_equal(found, found.T)


@pytest.mark.parametrize("similarity", ["cosine", "kl"])
def test_similarities_of_lac(similarity):
    twin = {"cosine": naive.cosine_similarity, "kl": naive.kl_similarity}[similarity]
    np.testing.assert_allclose(
        weighted_similarity(ENSEMBLE, similarity),
        naive.weighted_similarity(ENSEMBLE.posteriors, twin),
        atol=1e-9,
    )


def test_kl_of_memberships_with_zeros():
    posteriors = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
    found = weighted_similarity(Ensemble([[0], [0], [1], [1]], posteriors=[posteriors]), "kl")
    assert found[0, 1] == 1.0
    assert found[0, 2] == 0.0
    assert found[0, 3] == pytest.approx(0.75, abs=1e-3)


def test_kl_of_tiny_probabilities():
    small = np.array([1e-3, 1e-9, 1e-12, 0.5])
    posteriors = np.column_stack([small, 1 - small])
    ensemble = Ensemble([[1], [1], [1], [0]], posteriors=[posteriors])
    expected = naive.kl_similarity(posteriors)
    np.testing.assert_allclose(weighted_similarity(ensemble, "kl"), expected, atol=1e-9)


def test_posterior_matrix_is_that_of_the_paper():
    A, _ = naive.weighted_bipartite(ENSEMBLE.posteriors)
    assert np.array_equal(posterior_matrix(ENSEMBLE), A)
    labels = random_labels(0, 12, 4, missing=0.2)
    hard = Ensemble(labels)
    A, _ = naive.weighted_bipartite(hard.memberships())
    assert np.array_equal(posterior_matrix(hard).toarray(), A)


# --- partitions ----------------------------------------------------------------------------------


def dense_spectral(S, k, skip_first):
    """Ng, Jordan and Weiss on a dense matrix, by numpy and scikit-learn."""
    root = 1 / np.sqrt(S.sum(axis=1))
    values, vectors = np.linalg.eigh(root[:, None] * S * root)
    order = np.argsort(values)[::-1]
    rows = vectors[:, order[1 : k + 1] if skip_first else order[:k]]
    rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return KMeans(k, n_init=50, random_state=0).fit_predict(rows)


@pytest.mark.slow
@pytest.mark.parametrize("skip_first", [False, True])
def test_spectral_is_that_of_the_dense_matrices(skip_first, seed):
    table, _ = make_blobs(70, n_features=3, centers=3, cluster_std=1.0, random_state=seed)
    ensemble = LACEnsemble(3, [1, 3, 9], "zscore", random_state=seed).fit_transform(table)
    options = {"n_clusters": 3, "random_state": 0, "skip_first": skip_first}
    for similarity, twin in (("cosine", naive.cosine_similarity), ("kl", naive.kl_similarity)):
        psi = naive.weighted_similarity(ensemble.posteriors, twin)
        found = WSPA(similarity=similarity, **options).fit_predict(ensemble)
        assert naive.same_partition(found, dense_spectral(psi, 3, skip_first))
    A, _ = naive.weighted_bipartite(ensemble.posteriors)
    rows = naive.transfer_rows(A, 3, skip_first=skip_first)
    kmeans = KMeans(3, n_init=50, random_state=0).fit(rows[:70])
    wbpa = WBPA(**options).fit(ensemble)
    whole = np.r_[wbpa.labels_, wbpa.cluster_labels_]
    assert naive.same_partition(whole, np.r_[kmeans.labels_, kmeans.predict(rows[70:])])
    assert len(wbpa.cluster_labels_) == A.shape[1]


def test_hard_labels_are_posteriors_of_0_and_1(seed):
    _, labels = noisy_labels(seed, 60, 9, noise=0.3, missing=0.1)
    hard = Ensemble(labels)
    soft = Ensemble(labels, posteriors=hard.memberships())
    for method in METHODS.values():
        one = method(4, random_state=0).fit(hard)
        two = method(4, random_state=0).fit(soft)
        assert error_rate(one.labels_, two.labels_) <= 0.02  # eigenvectors differ by rounding
    for partitioner in ("spectral", "metis"):
        if partitioner == "metis":
            pytest.importorskip("pymetis")
        cosine = WSPA(4, partitioner=partitioner, random_state=0).fit(hard)
        kl = WSPA(4, partitioner=partitioner, similarity="kl", random_state=0).fit(hard)
        assert cosine.labels_.tolist() == kl.labels_.tolist()


@pytest.mark.slow
@every_method
def test_gaussian_mixtures(method):
    columns, posteriors = [], []
    for seed in range(5):
        mixture = GaussianMixture(3, init_params="k-means++", random_state=seed).fit(X)
        posteriors.append(mixture.predict_proba(X))
        columns.append(posteriors[-1].argmax(axis=1))
        assert len(np.unique(columns[-1])) == 3
    ensemble = Ensemble(columns, posteriors=posteriors)
    assert error_rate(y, method(3, random_state=0).fit_predict(ensemble)) < 0.03


@every_method
def test_memberships_of_peace(method):
    _, labels = noisy_labels(0, 40, 10, noise=0.2)
    peace = PEACE(4, random_state=0).fit(labels)
    ensemble = Ensemble(peace.labels_[:, None], posteriors=[peace.membership_])
    found = method(4, random_state=0).fit(ensemble)
    assert naive.same_partition(found.labels_, peace.labels_)


def test_two_gaussian_as_in_the_paper(seed):
    pytest.importorskip("pymetis")
    data, truth = make_two_gaussian(random_state=seed)
    for scale in ("minmax", "zscore"):
        maker = LACEnsemble(2, range(1, 51), scale, random_state=seed)
        ensemble = maker.fit_transform(data)
        for method in METHODS.values():
            for partitioner in ("metis", "spectral"):
                fitted = method(2, partitioner=partitioner, random_state=0).fit(ensemble)
                assert error_rate(truth, fitted.labels_) <= 0.01


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.* objects have no label:UserWarning")
def test_metis_never_leaves_a_part_empty():
    pytest.importorskip("pymetis")
    data, truth = make_three_gaussian(random_state=0)
    soft = LACEnsemble(3, [1, 5, 20], "minmax", random_state=0).fit_transform(data)
    errors = []
    for seed in range(15):
        fitted = WBPA(3, partitioner="metis", random_state=seed).fit(soft)
        assert np.bincount(fitted.labels_).shape == (3,)
        assert np.bincount(fitted.cluster_labels_, minlength=3).min() > 0
        errors.append(error_rate(truth, fitted.labels_))
    assert np.median(errors) < 0.05
    for seed in range(40):
        labels = random_labels(seed, 6 + seed, 1 + seed % 4, most=4, missing=0.2)
        fitted = WBPA(3, partitioner="metis", random_state=seed).fit(labels)
        assert (np.bincount(fitted.labels_, minlength=3) > 0).all()


def renamed(ensemble, seed):
    """The same ensemble, the clusters of each partition under other names."""
    random = np.random.default_rng(seed)
    labels, posteriors = ensemble.labels.copy(), []
    for e, table in enumerate(ensemble.posteriors):
        names = random.permutation(table.shape[1])
        labels[:, e] = np.where(labels[:, e] >= 0, names[labels[:, e]], -1)
        posteriors.append(table[:, np.argsort(names)])
    return Ensemble(labels, posteriors=posteriors)


@pytest.mark.parametrize("method", [WSPA, WBPA])
def test_names_of_clusters_do_not_matter_to_metis(method):
    pytest.importorskip("pymetis")
    for seed in range(20):
        random = np.random.default_rng(seed)
        tables = [random.dirichlet(np.ones(k), 12) for k in random.integers(2, 5, 4)]
        labels = np.column_stack([table.argmax(axis=1) for table in tables])
        ensemble = Ensemble(labels, posteriors=tables)
        cut = method(3, partitioner="metis", random_state=seed)
        found = cut.fit(ensemble).labels_.tolist()
        assert cut.fit(renamed(ensemble, seed)).labels_.tolist() == found


def test_hard_labels_are_cut_by_metis_as_by_hbgf():
    pytest.importorskip("pymetis")
    for seed in range(20):
        labels = random_labels(seed, 30, 4, most=4, missing=0.1)
        wbpa, hbgf = (
            method(3, partitioner="metis", random_state=seed).fit(labels) for method in (WBPA, HBGF)
        )
        assert wbpa.labels_.tolist() == hbgf.labels_.tolist()
        assert wbpa.cluster_labels_.tolist() == hbgf.cluster_labels_.tolist()


@every_method
@pytest.mark.parametrize("k", [1, 2, 5, 90])
def test_metis_gives_every_number_of_clusters(method, k):
    pytest.importorskip("pymetis")
    if method is WSBPA and k > 3:
        pytest.skip("objects go to the nearest centre, and some centre may be the nearest to none")
    fitted = method(k, partitioner="metis", random_state=0).fit(ENSEMBLE)
    assert fitted.n_clusters_ == k


def test_metis_balances_and_spectral_does_not():
    pytest.importorskip("pymetis")
    truth = np.repeat([0, 1], [80, 20])
    labels = np.column_stack([truth] * 6)
    assert np.bincount(WBPA(2, random_state=0).fit_predict(labels)).tolist() == [80, 20]
    assert np.bincount(WSPA(2, random_state=0).fit_predict(labels)).tolist() == [80, 20]
    halves = WSPA(2, partitioner="metis", random_state=0).fit_predict(labels)
    assert np.bincount(halves).max() <= 52


@every_method
@pytest.mark.parametrize("partitioner", ["spectral", "metis"])
def test_same_seed_same_result(method, partitioner):
    if partitioner == "metis":
        pytest.importorskip("pymetis")
    one, two = (method(3, partitioner=partitioner, random_state=5).fit(ENSEMBLE) for _ in range(2))
    assert one.labels_.tolist() == two.labels_.tolist()


def test_clusters_and_objects_have_the_same_numbers():
    # Clusters that coincide with the consensus must be in the part of their objects.
    truth = np.repeat([0, 1, 2], [10, 30, 20])
    wbpa = WBPA(3, random_state=0).fit(np.column_stack([truth] * 4))
    assert wbpa.labels_.tolist() == np.repeat([2, 0, 1], [10, 30, 20]).tolist()
    assert wbpa.cluster_labels_.tolist() == [2, 0, 1] * 4


# --- weighted clusters ---------------------------------------------------------------------------


@pytest.mark.parametrize("partitioner", ["spectral", "metis"])
def test_weights_and_centres_are_those_of_the_paper(partitioner):
    if partitioner == "metis":
        pytest.importorskip("pymetis")
    fitted = WSBPA(3, partitioner=partitioner, random_state=0).fit(ENSEMBLE)
    expected = naive.mean_weights(ENSEMBLE.subspaces, fitted.cluster_labels_, 3)
    np.testing.assert_allclose(fitted.feature_weights_, expected, atol=1e-12)
    for part in range(3):
        members = ENSEMBLE.features[fitted.graph_labels_ == part]
        np.testing.assert_allclose(fitted.cluster_centers_[part], members.mean(axis=0))
    nearest = naive.lac_assign(ENSEMBLE.features, fitted.cluster_centers_, fitted.feature_weights_)
    assert fitted.labels_.tolist() == nearest
    assert error_rate(y, fitted.labels_) < 0.03
    plain = WBPA(3, partitioner=partitioner, random_state=0).fit(ENSEMBLE)
    assert naive.same_partition(plain.labels_, fitted.graph_labels_)


def test_a_part_without_clusters_has_equal_weights():
    found = mean_weights(ENSEMBLE, np.zeros(15, dtype=int), 3)
    assert np.array_equal(found[1:], np.full((2, 4), 0.25))
    expected = naive.mean_weights(ENSEMBLE.subspaces, [0] * 15, 3)
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_prediction_by_features():
    maker = LACEnsemble(3, range(1, 7), "zscore", random_state=0)
    fitted = WSBPA(3, random_state=0).fit(maker.fit_transform(X))
    scaled = maker.scale_features(X)
    assert fitted.predict(scaled).tolist() == fitted.labels_.tolist()
    assert fitted.predict(sparse.csr_matrix(scaled)).tolist() == fitted.labels_.tolist()
    assert fitted.predict(scaled[:2].tolist()).tolist() == fitted.labels_[:2].tolist()
    rows = maker.transform(X)
    votes = fitted.predict(rows)
    assert error_rate(votes, fitted.labels_) < 0.05
    assert fitted.predict(Ensemble(rows)).tolist() == votes.tolist()
    pipeline = make_pipeline(maker, WSBPA(3, random_state=0)).fit(X)
    assert pipeline.predict(X).tolist() == votes.tolist()


def test_prediction_where_features_and_partitions_are_as_many():
    maker = LACEnsemble(3, range(1, 5), "minmax", random_state=0)
    fitted = WSBPA(3, random_state=0).fit(maker.fit_transform(X))
    assert fitted.predict(maker.scale_features(X)).tolist() == fitted.labels_.tolist()
    rows = maker.transform(X)
    assert fitted.predict(rows).tolist() == fitted.predict(Ensemble(rows)).tolist()


def test_prediction_refuses_other_widths():
    fitted = WSBPA(3, random_state=0).fit(ENSEMBLE)
    width, n_partitions = ENSEMBLE.features.shape[1], ENSEMBLE.n_partitions
    for odd in (np.zeros((2, 9)), np.zeros(width), np.zeros((2, 1, width))):
        words = rf"X must have {width} columns.* or {n_partitions} columns of labels; got shape"
        with pytest.raises(ValueError, match=words):
            fitted.predict(odd)
    # Labels are never sparse; a column past the last would be read out of bounds.
    for n_columns in (1, width - 1, width + 1, 10**9):
        odd = sparse.csr_matrix(([1.0], ([0], [n_columns - 1])), shape=(1, n_columns))
        with pytest.raises(ValueError, match=rf"X must have {width} columns.*got shape \(1, "):
            fitted.predict(odd)


def test_sparse_features():
    thin = sparse.csr_matrix(np.where(np.abs(X) < 1, 0, X))
    ensemble = LACEnsemble(3, [0.1, 0.3], random_state=0).fit_transform(thin)
    fitted = WSBPA(3, random_state=0).fit(ensemble)
    dense = WSBPA(3, random_state=0).fit(
        LACEnsemble(3, [0.1, 0.3], random_state=0).fit_transform(thin.toarray())
    )
    np.testing.assert_allclose(fitted.cluster_centers_, dense.cluster_centers_)
    assert fitted.labels_.tolist() == dense.labels_.tolist()
    assert fitted.predict(thin).tolist() == fitted.labels_.tolist()
    assert pickle.loads(pickle.dumps(fitted)).predict(thin).tolist() == fitted.labels_.tolist()


def test_without_features_objects_stay_where_the_cut_put_them():
    bare = Ensemble(ENSEMBLE.labels, posteriors=ENSEMBLE.posteriors, subspaces=ENSEMBLE.subspaces)
    fitted = WSBPA(3, random_state=0).fit(bare)
    assert fitted.labels_.tolist() == fitted.graph_labels_.tolist()
    expected = naive.mean_weights(bare.subspaces, fitted.cluster_labels_, 3)
    np.testing.assert_allclose(fitted.feature_weights_, expected, atol=1e-12)
    full = WSBPA(3, random_state=0).fit(ENSEMBLE)
    np.testing.assert_allclose(fitted.cluster_centers_, full.cluster_centers_, atol=0.02)
    assert fitted.predict(ENSEMBLE.features).shape == (90,)


def test_centres_without_features_are_exact_where_partitions_agree():
    truth = np.repeat([0, 1], [4, 6])
    table = np.random.default_rng(0).normal(size=(10, 3))
    centres = np.array([table[truth == c].mean(axis=0) for c in (0, 1)])
    subspaces = [(centres, np.full((2, 3), 1 / 3))] * 3
    fitted = WSBPA(2, random_state=0).fit(Ensemble([truth] * 3, subspaces=subspaces))
    np.testing.assert_allclose(fitted.cluster_centers_, centres[[1, 0]])


def test_without_subspaces_it_is_wbpa():
    _, labels = noisy_labels(0, 40, 8)
    fitted = WSBPA(4, random_state=0).fit(ENSEMBLE)
    fitted.set_params(n_clusters=4).fit(labels)
    assert not hasattr(fitted, "cluster_centers_")
    assert not hasattr(fitted, "feature_weights_")
    assert fitted.labels_.tolist() == WBPA(4, random_state=0).fit_predict(labels).tolist()
    with pytest.raises(ValueError, match="no feature weights, because the ensemble had no subs"):
        fitted.top_features()


def test_top_features():
    fitted = WSBPA(3, random_state=0).fit(ENSEMBLE)
    fitted.feature_weights_ = np.array(
        [[0.4, 0.4, 0.1, 0.1], [0.1, 0.2, 0.3, 0.4], [0.4, 0.1, 0.1, 0.4]]
    )
    assert fitted.top_features(list("abcd"), 2) == [
        [("a", 0.4), ("b", 0.4)],
        [("d", 0.4), ("c", 0.3)],
        [("a", 0.4), ("d", 0.4)],
    ]
    assert fitted.top_features(n=1, by="contrast") == [[("1", 0.4)], [("2", 0.3)], [("0", 0.4)]]
    with pytest.raises(ValueError, match="names must be 4, one per feature; got 1"):
        fitted.top_features(["a"])
    with pytest.raises(ValueError, match="by must be 'weight' or 'contrast'; got 'name'"):
        fitted.top_features(by="name")


@pytest.mark.parametrize("n", [0, -1, 1.5])
def test_top_features_are_a_whole_number(n):
    with pytest.raises(ValueError, match=r"n must be a whole number .* at least 1; got "):
        WSBPA(3, random_state=0).fit(ENSEMBLE).top_features(n=n)


def test_a_cluster_may_lose_all_its_objects():
    # Differences hardly count in part 0, so that every object is nearer to its centre.
    table = np.array([[0.0], [0.1], [-0.1], [-5.0], [6.0]])
    parts = np.array([0, 0, 0, 1, 1])
    subspaces = [(np.zeros((2, 1)), np.array([[1e-6], [1.0]]))]
    ensemble = Ensemble([parts], subspaces=subspaces, features=table)
    with pytest.warns(UserWarning, match="only 1 of n_clusters=2 clusters are the nearest"):
        fitted = WSBPA(2, random_state=0).fit(ensemble)
    assert fitted.n_clusters_ == 1
    assert fitted.cluster_centers_.shape == (2, 1)
    assert fitted.feature_weights_[0, 0] == 1e-6
    assert fitted.predict(table).tolist() == [0] * 5


# --- refusals ------------------------------------------------------------------------------------


@every_method
def test_bad_parameters(method):
    with pytest.raises(ValueError, match=r"partitioner must be .* got 'kmeans'"):
        method(2, partitioner="kmeans").fit(ENSEMBLE)


def test_bad_similarity():
    with pytest.raises(ValueError, match=r"similarity must be .* got 'euclid'"):
        WSPA(2, similarity="euclid").fit(ENSEMBLE)


def test_bad_subspaces():
    centres = np.zeros((2, 3))
    mixed = Ensemble(
        [[0, 0], [1, 1]], subspaces=[(centres, centres), (np.zeros((2, 2)), np.zeros((2, 2)))]
    )
    with pytest.raises(ValueError, match=r"subspaces must all have the same features.* \[2, 3\]"):
        WSBPA(2).fit(mixed)
    wide = Ensemble([[0], [1]], posteriors=[np.ones((2, 3))], subspaces=[(centres, centres)])
    with pytest.raises(ValueError, match="partition 0 has 2 centres and 3 columns of posteriors"):
        WSBPA(2).fit(wide)
    other = Ensemble([[0], [1]], subspaces=[(centres, centres)], features=np.zeros((2, 5)))
    with pytest.raises(ValueError, match=r"features must be those of the subspaces, 3 col.* got 5"):
        WSBPA(2).fit(other)
    with pytest.raises(ValueError, match=r"features must have one row for each of the 2 objects"):
        Ensemble([[0], [1]], features=np.zeros((3, 5)))
    with pytest.raises(ValueError, match="features must be finite"):
        Ensemble([[0], [1]], features=[[0.0], [np.inf]])


def test_all_pairs_only_where_they_fit(monkeypatch):
    monkeypatch.setitem(os.environ, "COTERIE_MEMORY_LIMIT", "60kB")
    with pytest.raises(MemoryLimitError, match=r"similarities of 90 objects.*similarity='cosine'"):
        WSPA(3, similarity="kl", random_state=0).fit(ENSEMBLE)
    with pytest.raises(MemoryLimitError, match=r"graph of all pairs of 90 objects.*spectral"):
        WSPA(3, partitioner="metis", random_state=0).fit(ENSEMBLE)
    assert WSPA(3, random_state=0).fit(ENSEMBLE).n_clusters_ == 3
    assert incidence_of(ENSEMBLE.labels, ENSEMBLE.offsets).shape == (90, 15)
