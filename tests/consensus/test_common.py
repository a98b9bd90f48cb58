"""What any consensus function must satisfy.

Every class in the table of methods runs through everything here: nothing needs to be added for a
new method. A property that a method cannot have is named on its class (`exceptions`), with the
reason, and is a strict expected failure: once the method has it, the test says so.
"""

import pickle
from importlib import import_module

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import is_valid_linkage
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

import naive
from coterie import Ensemble
from coterie.consensus import CONSENSUS
from coterie.views._order import tree_of
from strategies import label_matrices, noisy_labels

TAKES_LABELS = "X is a label matrix: the check feeds continuous features, which are refused"
SKLEARN_EXCEPTIONS = {
    "check_clustering": TAKES_LABELS,
    "check_positive_only_tag_during_fit": TAKES_LABELS,
}

every_method = pytest.mark.parametrize("name", sorted(CONSENSUS))

# MSTEClust and PWEC say so where no number of clusters is better than another.
# HNE, MCLA, ECPCS and the methods with memberships say so where they end with another number than
# was asked for.
pytestmark = pytest.mark.filterwarnings(
    "ignore:the spanning tree weighs nothing:UserWarning",
    "ignore:no edge is left:UserWarning",
    "ignore:no object ended:UserWarning",
    "ignore:.* found .* fewer than n_clusters:UserWarning",
)


@pytest.fixture(autouse=True)
def _expect_exceptions(request):
    callspec = getattr(request.node, "callspec", None)
    name = callspec.params.get("name") if callspec else None
    if name is not None:
        reason = CONSENSUS[name].exceptions.get(request.node.originalname.removeprefix("test_"))
        if reason:
            request.applymarker(pytest.mark.xfail(reason=reason, strict=True))


def make(name, n_clusters=None, **parameters):
    """Return the method, quick and with a fixed seed."""
    method = CONSENSUS[name]
    if n_clusters is None and not method.finds_n_clusters:
        n_clusters = 2
    known = method().get_params()
    if "random_state" in known:
        parameters.setdefault("random_state", 0)
    return method(n_clusters=n_clusters, **parameters)


def assert_well_formed(fitted, n_objects, n_columns):
    labels = fitted.labels_
    assert labels.dtype == np.int64
    assert labels.shape == (n_objects,)
    sizes = np.bincount(labels)
    assert (sizes > 0).all()
    assert labels.tolist() == naive.order_by_size(labels)
    assert type(fitted.n_clusters_) is int
    assert fitted.n_clusters_ == len(sizes)
    assert fitted.n_features_in_ == n_columns
    assert fitted.confidence_.dtype == np.float64
    assert fitted.confidence_.shape == (n_objects,)
    assert (fitted.confidence_ >= 0).all()
    assert (fitted.confidence_ <= 1).all()


def relabelled(labels, seed):
    """The same partitions with other names for the clusters; -1 stays."""
    random = np.random.default_rng(seed)
    renamed = labels.copy()
    for e in range(labels.shape[1]):
        names = random.permutation(1000)[: labels.max() + 1] + 5
        renamed[:, e] = np.where(labels[:, e] < 0, -1, names[labels[:, e]])
    return renamed


# --- form ----------------------------------------------------------------------------------------


# A method may warn that an ensemble says nothing.
may_warn = pytest.mark.filterwarnings("ignore::UserWarning")


@may_warn
@every_method
@settings(max_examples=25)
@given(labels=label_matrices(max_objects=8, unlabelled=True))
def test_any_label_matrix_is_clustered(name, labels):
    for n_clusters in (None, 1, len(labels)):
        if n_clusters is None and not CONSENSUS[name].finds_n_clusters:
            continue
        fitted = make(name, n_clusters).fit(labels)
        assert_well_formed(fitted, *labels.shape)
        if n_clusters is not None and "every_number_of_clusters" not in CONSENSUS[name].exceptions:
            assert fitted.n_clusters_ == n_clusters
        predicted = fitted.predict(labels)
        assert predicted.dtype == np.int64
        assert set(predicted) <= set(fitted.labels_)


@every_method
def test_every_number_of_clusters(name):
    _, labels = noisy_labels(0, 12, 5, n_clusters=3)
    labels[:4] = labels[0]  # fewer distinct rows than objects
    for k in range(1, 13):
        fitted = make(name, k).fit(labels)
        assert fitted.n_clusters_ == k
        assert_well_formed(fitted, 12, 5)


@may_warn
@every_method
def test_one_object(name):
    fitted = make(name, 1).fit([[3, 7]])
    assert fitted.labels_.tolist() == [0]
    assert_well_formed(fitted, 1, 2)
    if CONSENSUS[name].finds_n_clusters:
        assert make(name).fit([[3, 7]]).labels_.tolist() == [0]


@may_warn
@every_method
def test_two_objects(name):
    for labels in ([[3, 7], [3, 7]], [[3, 7], [4, 8]], [[3, 7], [3, -1]]):
        for k, expected in ((1, [0, 0]), (2, [0, 1])):
            assert make(name, k).fit(labels).labels_.tolist() == expected
        if CONSENSUS[name].finds_n_clusters:
            assert_well_formed(make(name).fit(labels), 2, 2)


# --- one cluster, and objects that nobody labels -----------------------------------------------


CONSTANT = [
    np.zeros((7, 3), dtype=int),
    np.tile([4, -7, 0, 2], (5, 1)),
    np.array([[0, -1], [0, 0], [-1, 0], [0, 0]]),
    np.array([[0], [0]]),
]


@every_method
@pytest.mark.parametrize("labels", CONSTANT, ids=["zeros", "names", "missing", "two"])
def test_constant_partitions_mean_one_cluster(name, labels):
    if not CONSENSUS[name].finds_n_clusters:
        pytest.skip("does not find the number of clusters")
    with pytest.warns(UserWarning, match="no partition puts two objects apart"):
        fitted = make(name).fit(labels)
    assert fitted.labels_.tolist() == [0] * len(labels)
    assert fitted.n_clusters is None
    assert_well_formed(fitted, *labels.shape)
    assert fitted.predict(labels).tolist() == [0] * len(labels)


def interleaved(labels, places):
    """Rows without any label put in at places of the result."""
    whole = np.full((len(labels) + len(places), labels.shape[1]), -1)
    whole[np.setdiff1d(np.arange(len(whole)), places)] = labels
    return whole


@may_warn
@every_method
def test_unlabelled_object_is_no_cluster(name):
    fitted = make(name, 2).fit([[0, 0], [0, 0], [1, 1], [-1, -1]])
    assert fitted.labels_.tolist() == [0, 0, 1, 0]
    assert fitted.confidence_[3] == 0
    assert (fitted.confidence_[:3] > 0.5).all()


@may_warn
@every_method
@settings(max_examples=15)
@given(labels=label_matrices(max_objects=8, unlabelled=True), data=st.data())
def test_unlabelled_objects_change_nothing(name, labels, data):
    labels = labels[(labels != -1).any(axis=1)]
    n_places = data.draw(st.integers(1, 3))
    n = len(labels) + n_places
    places = data.draw(st.lists(st.integers(0, n - 1), min_size=n_places, max_size=n_places,
                                unique=True))  # fmt: skip
    others = np.setdiff1d(np.arange(n), places)
    for k in (None, 1, min(2, len(labels))):
        if k is None and not CONSENSUS[name].finds_n_clusters:
            continue
        fitted = make(name, k).fit(interleaved(labels, places))
        expected = make(name, k).fit(labels)
        assert fitted.labels_[others].tolist() == expected.labels_.tolist()
        assert fitted.confidence_[others].tolist() == expected.confidence_.tolist()
        assert (fitted.labels_[places] == 0).all()
        assert (fitted.confidence_[places] == 0).all()
        assert_well_formed(fitted, n, labels.shape[1])
        assert fitted.predict(labels).tolist() == expected.predict(labels).tolist()


@every_method
def test_attributes_cover_unlabelled_objects(name):
    _, labels = noisy_labels(3, 41, 12, noise=0.2, missing=0.1)
    places = [0, 7, 43]
    with pytest.warns(UserWarning, match="3 of 44 objects have no label"):
        fitted = make(name, 4).fit(interleaved(labels, places))
    part = make(name, 4).fit(labels)
    for attribute, value in vars(part).items():
        whole = getattr(fitted, attribute)
        if isinstance(value, np.ndarray) and value.ndim and value.shape[0] in (39, 40, 41):
            assert whole.shape[0] == value.shape[0] + 3, attribute
        elif isinstance(value, np.ndarray):
            assert whole.shape == value.shape, attribute
    if getattr(fitted, "linkage_", None) is not None:
        assert is_valid_linkage(fitted.linkage_)
        assert fitted.linkage_[-1, 3] == 44
    tree, part_tree = tree_of(fitted), tree_of(part)
    others = np.setdiff1d(np.arange(44), places)
    for k in (4, 5) if tree is not None else ():
        assert naive.same_partition(tree.cut(k)[others], part_tree.cut(k))
    if tree is not None and name != "laca":  # its labels are not the cut of its last tree
        assert naive.same_partition(tree.cut(fitted.n_clusters_), fitted.labels_)


@may_warn
@every_method
def test_few_objects_and_one_without_labels(name):
    """Nothing to compare among numbers of clusters: once an error in extending the curve."""
    fitted = make(name, 1).fit([[0, 0], [1, 1], [-1, -1]])
    assert_well_formed(fitted, 3, 2)


@may_warn
@pytest.mark.parametrize("name", ["peace", "baum_eagon"])
def test_start_with_unlabelled_objects(name):
    labels = np.array([[0, 0], [0, 0], [-1, -1], [1, 1], [1, 1]])
    start = np.array([[0.9, 0.1], [0.8, 0.2], [0.5, 0.5], [0.1, 0.9], [0.2, 0.8]])
    fitted = make(name, 2, init=start).fit(labels)
    assert fitted.labels_.tolist() == [0, 0, 0, 1, 1]
    assert fitted.membership_[2].tolist() == [0.5, 0.5]
    assert fitted.init is start


@every_method
def test_fit_predict_is_labels(name):
    _, labels = noisy_labels(0, 30, 6)
    method = make(name, 4)
    assert method.fit_predict(labels).tolist() == method.labels_.tolist()
    assert method.fit(labels) is method


# --- properties ----------------------------------------------------------------------------------


@every_method
@pytest.mark.parametrize("given_k", [True, False])
def test_unanimous_partitions_are_returned(name, seed, given_k):
    if not given_k and not CONSENSUS[name].finds_n_clusters:
        pytest.skip("does not find the number of clusters")
    truth = np.array([0, 0, 1, 1, 2, 2, 2, 0])
    labels = relabelled(np.column_stack([truth] * 5), seed)
    fitted = make(name, 3 if given_k else None).fit(labels)
    assert naive.same_partition(fitted.labels_, truth)
    assert fitted.predict(labels).tolist() == fitted.labels_.tolist()


@every_method
def test_unanimous_partitions_leave_no_doubt(name):
    truth = np.array([0, 0, 1, 1, 2, 2, 2, 0])
    fitted = make(name, 3).fit(np.column_stack([truth] * 5))
    assert fitted.confidence_ == pytest.approx(np.ones(8))


@may_warn
@every_method
@settings(max_examples=15)
@given(labels=label_matrices(max_objects=8))
def test_confidence_is_the_same_measure_for_all(name, labels):
    fitted = make(name, min(2, len(labels))).fit(labels)
    exact = naive.confidence(labels.tolist(), fitted.labels_.tolist())
    assert fitted.confidence_.tolist() == pytest.approx([float(x) for x in exact])


@every_method
def test_confidence_is_lower_where_partitions_disagree(name):
    truth = np.repeat([0, 1], 6)
    labels = np.column_stack([truth] * 10)
    labels[0, :4] = 1
    fitted = make(name, 2).fit(labels)
    assert naive.same_partition(fitted.labels_, truth)
    assert (fitted.confidence_[0] < fitted.confidence_[1:]).all()


@every_method
def test_clear_majority_is_found(name, seed):
    truth, labels = noisy_labels(seed, 60, 20, noise=0.1)
    assert naive.same_partition(make(name, 4).fit(labels).labels_, truth)


@every_method
@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_renaming_clusters_changes_nothing(name, seed, missing):
    _, labels = noisy_labels(seed, 40, 9, noise=0.3, missing=missing)
    fitted = make(name, 4).fit(labels)
    renamed = make(name, 4).fit(relabelled(labels, seed))
    assert fitted.labels_.tolist() == renamed.labels_.tolist()
    assert fitted.confidence_ == pytest.approx(renamed.confidence_)
    as_text = Ensemble(np.where(labels < 0, None, np.char.add("c", labels.astype(str))))
    assert make(name, 4).fit(as_text).labels_.tolist() == fitted.labels_.tolist()


@every_method
def test_order_of_partitions_changes_nothing(name, seed):
    # Up to ties, which the order of additions could break in another way: so clear clusters.
    _, labels = noisy_labels(seed, 60, 20, noise=0.1)
    order = np.random.default_rng(seed).permutation(20)
    fitted, permuted = make(name, 4).fit(labels), make(name, 4).fit(labels[:, order])
    assert fitted.labels_.tolist() == permuted.labels_.tolist()
    assert fitted.confidence_ == pytest.approx(permuted.confidence_)


@every_method
def test_order_of_objects_changes_nothing(name, seed):
    # Up to ties, which are broken by the smallest objects: so clear clusters.
    _, labels = noisy_labels(seed, 60, 20, noise=0.1)
    order = np.random.default_rng(seed).permutation(60)
    fitted, permuted = make(name, 4).fit(labels), make(name, 4).fit(labels[order])
    assert naive.same_partition(fitted.labels_[order], permuted.labels_)


@every_method
def test_partitions_given_twice_change_nothing(name, seed):
    _, labels = noisy_labels(seed, 60, 20, noise=0.1)
    twice = np.hstack([labels, labels])
    assert make(name, 4).fit(labels).labels_.tolist() == make(name, 4).fit(twice).labels_.tolist()


@every_method
def test_same_input_same_result(name, seed):
    _, labels = noisy_labels(seed, 50, 7, noise=0.4, missing=0.1)
    for k in (None, 5) if CONSENSUS[name].finds_n_clusters else (5,):
        one, two = make(name, k).fit(labels), make(name, k).fit(labels)
        assert one.labels_.tolist() == two.labels_.tolist()
        assert one.confidence_.tolist() == two.confidence_.tolist()
        # Fitting again leaves no trace of the fit before.
        again = make(name, k).fit(labels[:, :3]).fit(labels)
        assert again.labels_.tolist() == one.labels_.tolist()


@every_method
def test_missing_labels_are_filled_by_the_others(name, seed):
    truth, labels = noisy_labels(seed, 60, 20, noise=0.0, missing=0.3)
    fitted = make(name, 4).fit(labels)
    assert naive.same_partition(fitted.labels_, truth)
    assert (fitted.confidence_ > 0.5).all()
    assert fitted.predict(labels).tolist() == fitted.labels_.tolist()


@every_method
def test_input_is_not_changed(name):
    _, labels = noisy_labels(0, 30, 5, missing=0.1)
    before = labels.copy()
    make(name, 3).fit(labels).predict(labels)
    assert np.array_equal(labels, before)
    assert labels.flags.writeable


# --- kinds of input ------------------------------------------------------------------------------


@every_method
def test_kinds_of_input_agree(name):
    _, labels = noisy_labels(0, 40, 6, missing=0.1)
    expected = make(name, 4).fit(labels).labels_.tolist()
    nullable = np.where(labels < 0, np.nan, labels)
    for X in (
        Ensemble(labels),
        labels.tolist(),
        list(labels.T),
        nullable,
        pd.DataFrame(nullable),
        pd.DataFrame(labels, columns=[f"p{e}" for e in range(6)]),
        pl.DataFrame(labels, schema=[f"p{e}" for e in range(6)]),
    ):
        fitted = make(name, 4).fit(X)
        assert fitted.labels_.tolist() == expected
        assert fitted.n_features_in_ == 6
        assert fitted.predict(X).tolist() == make(name, 4).fit(labels).predict(labels).tolist()


@every_method
@pytest.mark.parametrize("library", [pd, pl])
def test_names_of_columns_are_checked(name, library):
    frame = library.DataFrame({"a": [0, 0, 1, 1], "b": ["x", "x", "y", "y"]})
    fitted = make(name, 2).fit(frame)
    assert fitted.feature_names_in_.tolist() == ["a", "b"]
    assert fitted.predict(frame[:1]).tolist() == [0]
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.predict(frame[["b", "a"]])
    fitted.fit([[0, 1], [1, 0]])
    assert not hasattr(fitted, "feature_names_in_")


@every_method
@pytest.mark.filterwarnings("ignore:dropped")
def test_column_without_any_label(name):
    labels = np.array([[-1, 0, 0], [-1, 0, 0], [-1, 1, 1], [-1, 1, 1]])
    fitted = make(name, 2).fit(labels)
    assert fitted.labels_.tolist() == [0, 0, 1, 1]
    assert fitted.n_features_in_ == 3
    assert fitted.predict(labels).tolist() == [0, 0, 1, 1]
    assert fitted.predict([[7, 1, 1]]).tolist() == [1]
    assert fitted.predict(Ensemble(labels)).tolist() == [0, 0, 1, 1]


@every_method
def test_new_rows_are_predicted(name):
    truth = np.repeat([0, 1, 2], 5)
    fitted = make(name, 3).fit(np.column_stack([truth] * 3))
    rows = [[0, 0, 0], [2, 2, 1], [1, -1, None], [99, 1, 98], [np.nan, -1, 2]]
    assert fitted.predict(rows).tolist() == [0, 2, 1, 1, 2]
    assert fitted.predict(Ensemble(rows)).tolist() == [0, 2, 1, 1, 2]
    assert fitted.predict([[-1, -1, -1]]).shape == (1,)


@may_warn
@every_method
@settings(max_examples=15)
@given(labels=label_matrices(min_objects=3, max_objects=8), data=st.data())
def test_confidence_of_new_rows_is_the_same_measure(name, labels, data):
    row = [data.draw(st.sampled_from([*column, -1])) for column in labels.T.tolist()]
    fitted = make(name, 2).fit(labels)
    (label,), (found,) = fitted.predict([row]), fitted.predict_confidence([row])
    if all(value == -1 for value in row):
        expected = 0
    elif CONSENSUS[name].confidence_is_membership:
        expected = fitted.predict_proba([row])[0, label]
    else:
        # As if the row had been one more member of the cluster, which leaves itself out.
        joined = [*labels.tolist(), row]
        expected = naive.confidence(joined, [*fitted.labels_.tolist(), label])[-1]
    assert found == pytest.approx(float(expected))


@every_method
def test_bad_rows_are_refused(name):
    fitted = make(name, 2).fit([[0, 0], [1, 1], [1, 1]])
    with pytest.raises(ValueError, match=r"X has 3 features, but \w+ is expecting 2 features"):
        fitted.predict(np.zeros((2, 3), dtype=int))
    with pytest.raises(ValueError, match=r"new label rows must have 2 columns.*got 1"):
        fitted.predict([[0], [1]])
    with pytest.raises(ValueError, match="Expected 2D array"):
        fitted.predict([0, 1])
    with pytest.raises(NotFittedError):
        make(name, 2).predict([[0, 0]])


@every_method
@pytest.mark.parametrize(
    ("n_clusters", "kind", "words"),
    [
        (0, ValueError, r"n_clusters must be between 1 and the number of objects \(3\); got 0"),
        (4, ValueError, r"n_clusters must be between 1 and the number of objects \(3\); got 4"),
        (-1, ValueError, r"n_clusters must be between 1 and .* got -1"),
        (2.0, TypeError, r"n_clusters must be an integer or None; got 2\.0 \(float\)"),
        ("2", TypeError, r"n_clusters must be an integer or None; got '2' \(str\)"),
        (True, TypeError, r"n_clusters must be an integer or None; got True \(bool\)"),
    ],
)
def test_bad_numbers_of_clusters(name, n_clusters, kind, words):
    with pytest.raises(kind, match=words):
        make(name, n_clusters).fit([[0, 0], [1, 1], [1, 1]])


@every_method
def test_numpy_integers_are_integers(name):
    assert make(name, np.int16(2)).fit([[0, 0], [1, 1], [1, 1]]).n_clusters_ == 2


@every_method
def test_number_of_clusters_may_be_left_out_where_it_can_be_found(name):
    labels = [[0, 0], [0, 0], [1, 1], [1, 1]]
    method = CONSENSUS[name](n_clusters=None)
    if method.finds_n_clusters:
        assert method.fit(labels).n_clusters_ == 2
    else:
        with pytest.raises(ValueError, match="does not find the number of clusters by itself"):
            method.fit(labels)


@every_method
def test_features_are_refused(name):
    with pytest.raises(ValueError, match=r"labels must name clusters.*ConsensusClustering"):
        make(name, 2).fit(np.random.default_rng(0).normal(size=(5, 2)))


# --- scikit-learn --------------------------------------------------------------------------------


@every_method
def test_parameters_and_clones(name):
    method = make(name, 3)
    copied = clone(method)
    assert copied is not method
    assert type(copied) is type(method)
    assert repr(copied.get_params()) == repr(method.get_params())
    assert copied.set_params(n_clusters=2).n_clusters == 2
    assert method.n_clusters == 3
    _, labels = noisy_labels(0, 20, 5)
    method.fit(labels)
    assert not hasattr(clone(method), "labels_")
    assert clone(method).fit(labels).labels_.tolist() == method.labels_.tolist()


@every_method
def test_pickles(name):
    _, labels = noisy_labels(0, 30, 5, missing=0.1)
    fitted = make(name, 3).fit(labels)
    again = pickle.loads(pickle.dumps(fitted))
    assert again.labels_.tolist() == fitted.labels_.tolist()
    assert again.predict(labels).tolist() == fitted.predict(labels).tolist()
    assert again.ensemble_ == fitted.ensemble_


@every_method
def test_works_at_the_end_of_a_pipeline(name):
    _, labels = noisy_labels(0, 30, 5)
    pipeline = make_pipeline(FunctionTransformer(Ensemble, validate=False), make(name, 3))
    expected = make(name, 3).fit(labels).labels_.tolist()
    assert pipeline.fit_predict(labels).tolist() == expected
    assert clone(pipeline).fit(labels).predict(labels).tolist() == (
        make(name, 3).fit(labels).predict(labels).tolist()
    )


@every_method
def test_is_public_and_documented(name):
    method = CONSENSUS[name]
    assert getattr(import_module("coterie"), method.__name__) is method
    for word in ("Parameters", "Attributes", "References", "Examples", *method().get_params()):
        assert word in method.__doc__, word


@parametrize_with_checks(
    [make(name) for name in sorted(CONSENSUS)],
    expected_failed_checks=lambda estimator: SKLEARN_EXCEPTIONS,
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@every_method
def test_exceptions_name_properties(name):
    assert {f"test_{property_}" for property_ in CONSENSUS[name].exceptions} <= set(globals())
