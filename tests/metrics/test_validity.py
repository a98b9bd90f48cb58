"""Hubert's Gamma and the cophenetic correlation, against SciPy and the definitions."""

import tracemalloc
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.cluster.hierarchy import cophenet, linkage
from scipy.spatial.distance import pdist
from sklearn.base import clone
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.datasets import load_iris

import naive
from coterie import MemoryLimitError
from coterie.metrics import VALIDITY, cophenetic_correlation, hubert_gamma

LINKAGES = ["single", "complete", "average", "ward", "centroid", "median", "weighted"]


@st.composite
def labelled_objects(draw):
    n, n_features = draw(st.integers(1, 12)), draw(st.integers(1, 6))
    X = draw(hnp.arrays(float, (n, n_features), elements=st.integers(-8, 8)))
    return X, draw(st.lists(st.integers(-1, 3), min_size=n, max_size=n))


def blobs(n, n_features, seed, k=5):
    rng = np.random.default_rng(seed)
    labels = rng.integers(k, size=n)
    return 3.0 * rng.normal(size=(k, n_features))[labels] + rng.normal(size=(n, n_features)), labels


def rotated_simplex(n):
    corners = np.linalg.qr(np.random.default_rng(0).normal(size=(n, n)))[0]
    assert 0 < np.ptp(pdist(corners)) < 1e-14
    return corners


@given(case=labelled_objects())
def test_gamma_matches_the_definition(case):
    X, labels = case
    assert hubert_gamma(X, labels) == pytest.approx(naive.hubert_gamma(X, labels), abs=1e-9)


@pytest.mark.parametrize(("n", "n_features"), [(31, 1), (33, 4), (1100, 7), (2200, 3)])
def test_gamma_across_blocks_and_tiles(n, n_features):
    X, labels = blobs(n, n_features, seed=n)
    expected = np.corrcoef(pdist(X), pdist(labels[:, None]) > 0)[0, 1]
    assert hubert_gamma(X, labels) == pytest.approx(expected, rel=1e-12)


def test_gamma_of_iris():
    # Origin: numpy.corrcoef(pdist(X), pdist(y[:, None]) > 0) on scikit-learn's iris.
    iris = load_iris()
    assert hubert_gamma(iris.data, iris.target) == pytest.approx(0.68004959, abs=1e-8)


@pytest.mark.parametrize(
    ("X", "labels"),
    [
        ([[0.0], [1.0], [5.0]], [0, 0, 0]),  # one cluster
        ([[0.0], [1.0], [5.0]], [0, 1, 2]),  # all singletons
        (np.eye(5), [0, 0, 1, 1, 1]),  # all distances the same
        (rotated_simplex(7), [0, 0, 1, 1, 1, 0, 1]),  # the same up to rounding
        (np.full((4, 2), 0.1), [0, 0, 1, 1]),  # all distances 0
        ([[0.0], [1.0]], [0, 1]),  # one pair
        ([[0.0]], [0]),  # no pair
    ],
)
def test_gamma_is_zero_where_it_is_not_defined(X, labels):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert hubert_gamma(X, labels) == 0.0


@pytest.mark.parametrize("factor", [1e-250, 1e-9, 1e9, 1e250])
def test_units_do_not_matter(factor):
    X, labels = blobs(60, 3, seed=2)
    assert hubert_gamma(factor * X, labels) == pytest.approx(hubert_gamma(X, labels), rel=1e-12)
    tree = linkage(X, "average")
    scaled = tree * [1, 1, factor, 1]
    assert cophenetic_correlation(factor * X, scaled) == pytest.approx(
        cophenetic_correlation(X, tree), rel=1e-12
    )


def test_gamma_far_from_the_origin():
    X, labels = blobs(300, 4, seed=3)
    X = np.round(X * 2**20) / 2**20  # so that moving loses no digits
    assert hubert_gamma(X + 2.0**30, labels) == pytest.approx(hubert_gamma(X, labels), rel=1e-11)


def test_gamma_where_distances_hardly_vary():
    # In 3,000 dimensions distances vary by 1 in 80: sums of squares would lose four digits.
    rng = np.random.default_rng(4)
    X, labels = rng.normal(size=(60, 3000)), rng.integers(3, size=60)
    expected = np.corrcoef(pdist(X), pdist(labels[:, None]) > 0)[0, 1]
    assert hubert_gamma(X, labels) == pytest.approx(expected, rel=1e-12)


def test_no_matrix_of_pairs():
    X, labels = blobs(5000, 4, seed=6)
    tracemalloc.start()
    try:
        hubert_gamma(X, labels)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 20 * X.nbytes  # 3 MB; the distances alone would take 100


@pytest.mark.parametrize("method", LINKAGES)
@settings(max_examples=40, deadline=None)
@given(case=labelled_objects())
def test_cophenetic_matches_scipy(method, case):
    X, _ = case
    if len(X) < 2:
        return
    distances = pdist(X)
    tree = linkage(distances, method)
    expected = naive.correlation(distances, cophenet(tree))
    found = cophenetic_correlation(X, tree)
    if np.ptp(tree[:, 2]) > 1e-9:  # otherwise heights differ by rounding only
        assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("method", LINKAGES)
def test_cophenetic_across_tiles(method):
    X, _ = blobs(1500, 3, seed=7)
    tree = linkage(X, method)
    expected, _ = cophenet(tree, pdist(X))
    assert cophenetic_correlation(X, tree) == pytest.approx(expected, rel=1e-11)


def test_cophenetic_keeps_to_the_memory_limit(monkeypatch):
    X, _ = blobs(50, 2, seed=7)
    monkeypatch.setenv("COTERIE_MEMORY_LIMIT", "10kB")
    with pytest.raises(MemoryLimitError, match="distances between 50 objects would take"):
        cophenetic_correlation(X, linkage(X))


def test_heights_may_fall():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.9]])  # nearly equilateral
    tree = linkage(X, "centroid")
    assert tree[1, 2] < tree[0, 2]
    assert cophenetic_correlation(X, tree) == pytest.approx(cophenet(tree, pdist(X))[0])


@pytest.mark.parametrize("method", ["single", "complete", "average", "ward"])
def test_tree_of_a_fitted_estimator(method):
    X, _ = blobs(120, 3, seed=8)
    model = AgglomerativeClustering(3, linkage=method, compute_distances=True).fit(X)
    expected, _ = cophenet(linkage(X, method), pdist(X))
    assert cophenetic_correlation(X, model) == pytest.approx(expected, rel=1e-10)


def test_cophenetic_is_zero_where_it_is_not_defined():
    X = np.eye(4)
    assert cophenetic_correlation(X, linkage(X, "single")) == 0.0  # both are constant
    line = [[0.0], [1.0], [2.0], [3.0]]
    assert cophenetic_correlation(line, linkage(line, "single")) == 0.0  # heights are constant
    rounded = linkage(line, "single") * [1, 1, 0.1, 1]
    rounded[1, 2] = np.nextafter(0.1, 1)
    assert cophenetic_correlation(line, rounded) == 0.0  # the same up to rounding
    assert cophenetic_correlation([[0.0], [1.0]], linkage([[0.0], [1.0]])) == 0.0


# --- validity indices by name -----------------------------------------------------------------


def test_hubert_validity_has_no_negative_values():
    X = [[0.0], [1.0], [10.0], [11.0]]
    assert hubert_gamma(X, [0, 1, 0, 1]) < 0
    assert VALIDITY["hubert"](X, [0, 1, 0, 1]) == 0.0
    assert VALIDITY["hubert"](X, [0, 0, 1, 1], estimator=KMeans()) == hubert_gamma(X, [0, 0, 1, 1])


def test_cophenetic_validity_takes_the_tree_of_the_run():
    X, _ = blobs(50, 2, seed=9)
    model = AgglomerativeClustering(3, linkage="single", compute_distances=True).fit(X)
    value = VALIDITY["cophenetic"](X, model.labels_, estimator=model)
    assert value == cophenetic_correlation(X, model) > 0
    assert value == pytest.approx(cophenetic_correlation(X, linkage(X, "single")))
    reversed_model = clone(model).fit(X)
    reversed_model.distances_ = -model.distances_
    assert cophenetic_correlation(X, reversed_model) < 0
    assert VALIDITY["cophenetic"](X, model.labels_, estimator=reversed_model) == 0.0


@pytest.mark.parametrize("estimator", [None, KMeans(2)])
def test_cophenetic_validity_needs_a_tree(estimator):
    with pytest.raises(ValueError, match=r"needs runs that build a tree.*got (NoneType|KMeans)\."):
        VALIDITY["cophenetic"]([[0.0], [1.0]], [0, 1], estimator=estimator)


def test_the_table_cannot_be_changed():
    with pytest.raises(TypeError):
        VALIDITY["hubert"] = None  # type: ignore[index]


# --- bad input --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("X", "labels", "words"),
    [
        ([[0.0], [1.0]], [0], "labels must have one label for each of the 2 objects; got 1"),
        ([[0.0], [np.nan]], [0, 1], "X contains NaN"),
        ([0.0, 1.0], [0, 1], "Expected 2D array"),
        (np.empty((0, 2)), [], "minimum of 1 is required"),
    ],
)
def test_gamma_names_bad_input(X, labels, words):
    with pytest.raises(ValueError, match=words):
        hubert_gamma(X, labels)


def test_cophenetic_names_bad_input():
    X, labels = blobs(30, 2, seed=10)
    tree = linkage(X)
    with pytest.raises(ValueError, match=r"tree must be a linkage matrix.*shape \(30,\).*hubert"):
        cophenetic_correlation(X, labels)
    with pytest.raises(ValueError, match="join the 29 objects of X in 28 merges; got 29"):
        cophenetic_correlation(X[1:], tree)
    broken = tree.copy()
    broken[3, 0] = 1000
    with pytest.raises(ValueError, match="tree must be a linkage matrix in SciPy's format"):
        cophenetic_correlation(X, broken)
    with pytest.raises(ValueError, match="compute_distances=True"):
        cophenetic_correlation(X, AgglomerativeClustering(3).fit(X))
    with pytest.raises(ValueError, match="KMeans lacks them"):
        cophenetic_correlation(X, KMeans(3))


def test_half_a_tree_is_refused():
    X, _ = blobs(30, 2, seed=11)
    chain = np.diag(np.ones(29), 1)
    model = AgglomerativeClustering(
        5,
        linkage="average",
        connectivity=chain + chain.T,
        compute_full_tree=False,
        compute_distances=True,
    ).fit(X)
    with pytest.raises(ValueError, match="compute_full_tree=True"):
        cophenetic_correlation(X, model)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda model: model.children_.__setitem__((2, 0), 1000),
        lambda model: model.children_.__setitem__((2, 0), model.children_[2, 1]),
        lambda model: setattr(model, "children_", model.children_[::-1]),
        lambda model: setattr(model, "distances_", model.distances_[:-1]),
    ],
)
def test_a_broken_tree_is_refused(spoil):
    X, _ = blobs(12, 2, seed=12)
    model = AgglomerativeClustering(2, compute_distances=True).fit(X)
    spoil(model)
    with pytest.raises(ValueError, match="children_ of AgglomerativeClustering must name each"):
        cophenetic_correlation(X, model)
