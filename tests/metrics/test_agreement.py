"""Agreement of two partitions, against the definitions and scikit-learn."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import normalized_mutual_info_score

import naive
from coterie import metrics
from coterie.ensemble import Ensemble
from coterie.metrics import _agreement

TWO_PARTITIONS = {
    "nmi": naive.nmi,
    "ari": naive.ari,
    "rand": naive.rand,
    "pairwise_f": lambda truth, found: naive.pairwise_scores(truth, found)[0],
    "class_f": naive.class_f,
    "consistency_index": naive.consistency_index,
    "error_rate": naive.error_rate,
}
SYMMETRIC = ["nmi", "ari", "rand", "pairwise_f", "consistency_index"]
every_metric = pytest.mark.parametrize("name", sorted(TWO_PARTITIONS))


@st.composite
def two_partitions(draw, max_objects=14, max_clusters=6):
    n = draw(st.integers(1, max_objects))
    columns = [
        draw(st.lists(st.integers(-1, k - 2), min_size=n, max_size=n))
        for k in (draw(st.integers(1, max_clusters)), draw(st.integers(1, max_clusters)))
    ]
    return columns[0], columns[1]


@every_metric
@given(labels=two_partitions())
def test_metric_matches_the_definition(name, labels):
    score = getattr(metrics, name)(*labels)
    assert type(score) is float
    assert score == pytest.approx(TWO_PARTITIONS[name](*labels), abs=1e-12)


@given(labels=two_partitions())
def test_precision_and_recall_match_the_definition(labels):
    scores = metrics.pairwise_precision_recall_f(*labels)
    assert scores == pytest.approx(naive.pairwise_scores(*labels), abs=1e-12)
    exchanged = metrics.pairwise_precision_recall_f(labels[1], labels[0])
    assert (exchanged.precision, exchanged.recall) == (scores.recall, scores.precision)


@pytest.mark.parametrize("name", SYMMETRIC)
@given(labels=two_partitions())
def test_symmetric_metrics_do_not_tell_truth_from_prediction(name, labels):
    metric = getattr(metrics, name)
    assert metric(*labels) == pytest.approx(metric(labels[1], labels[0]), abs=1e-14)


@every_metric
@given(labels=two_partitions(), data=st.data())
def test_names_of_clusters_and_order_of_objects_do_not_matter(name, labels, data):
    metric = getattr(metrics, name)
    order = data.draw(st.permutations(range(len(labels[0]))))
    names = data.draw(st.permutations(["a", "b", "c", "d", "e", "f"]))
    renamed = [names[labels[1][i]] for i in order]  # -1 is the last name
    assert metric([labels[0][i] for i in order], renamed) == pytest.approx(metric(*labels))


@every_metric
@given(labels=two_partitions())
def test_equal_partitions_are_perfect(name, labels):
    truth = labels[0]
    best = 0.0 if name == "error_rate" else 1.0
    assert getattr(metrics, name)(truth, [value + 7 for value in truth]) == pytest.approx(best)


@given(labels=two_partitions())
def test_only_equal_partitions_are_perfect_for_class_f_and_consistency(labels):
    assume(not np.array_equal(*map(naive.pairs_together, labels)))
    assert metrics.class_f(*labels) < 1
    assert metrics.consistency_index(*labels) < 1


@pytest.mark.parametrize(
    ("name", "score"),
    [
        ("nmi", 0.0),
        ("ari", 0.0),
        ("rand", 0.0),
        ("pairwise_f", 0.0),
        ("class_f", 0.4),  # 2 * 1 / (4 + 1)
        ("consistency_index", 0.25),
        ("error_rate", 0.0),  # more clusters than classes: each stands for its majority
    ],
)
def test_one_class_against_all_singletons(name, score):
    assert getattr(metrics, name)([0, 0, 0, 0], [0, 1, 2, 3]) == pytest.approx(score)


def test_golden_table():
    # Counts [[3, 1, 0], [0, 2, 2]], worked out by hand. Pairs: together in both 3 + 0 + 1 + 1
    # = 5, in the truth 6 + 6 = 12, in the prediction 3 + 3 + 1 = 7, of 28.
    truth = [0, 0, 0, 0, 1, 1, 1, 1]
    found = [0, 0, 0, 1, 1, 1, 2, 2]
    assert metrics.pairwise_precision_recall_f(truth, found) == pytest.approx(
        (10 / 19, 5 / 7, 5 / 12)
    )
    assert metrics.rand(truth, found) == pytest.approx((28 - 7 - 2) / 28)
    assert metrics.ari(truth, found) == pytest.approx((5 - 3) / (19 / 2 - 3))
    assert metrics.class_f(truth, found) == pytest.approx((6 / 7 + 2 / 3) / 2)
    assert metrics.consistency_index(truth, found) == pytest.approx(5 / 8)
    assert metrics.error_rate(truth, found) == pytest.approx(1 / 8)
    assert metrics.error_rate(found, truth) == pytest.approx(3 / 8)


def test_nmi_is_geometric():
    truth, found = [0, 0, 0, 1, 1, 2], [0, 0, 1, 1, 1, 1]
    geometric = normalized_mutual_info_score(truth, found, average_method="geometric")
    assert metrics.nmi(truth, found) == geometric
    assert metrics.nmi(truth, found) > normalized_mutual_info_score(truth, found) + 1e-3


def test_nmi_never_exceeds_one():
    rng = np.random.default_rng(0)
    for k in range(2, 60):
        labels = rng.integers(k, size=101)
        assert metrics.nmi(labels, labels[::-1].copy()) <= 1.0
        assert metrics.nmi(labels, -labels) <= 1.0


@every_metric
def test_many_clusters_raise_no_warning(name, monkeypatch):
    # Some versions of scikit-learn guess that labels of which more than half are distinct mean
    # regression, and warn; here every version does.
    for called in (
        "adjusted_rand_score",
        "normalized_mutual_info_score",
        "pair_confusion_matrix",
        "rand_score",
    ):
        monkeypatch.setattr(_agreement, called, warn_and_call(getattr(_agreement, called)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        getattr(metrics, name)(np.arange(30), np.arange(30) // 2)
        getattr(metrics, name)(np.arange(30) // 10, np.arange(30))


def warn_and_call(function):
    def warning(*args, **kwargs):
        warnings.warn("The number of unique classes is greater than 50%", UserWarning, 2)
        return function(*args, **kwargs)

    return warning


@given(labels=two_partitions(max_objects=10, max_clusters=5))
def test_sparse_matching_equals_dense(labels):
    table = _agreement._contingency(*_agreement._check_two(*labels))
    dense = _agreement._match(table)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_agreement, "_DENSE_CELLS", 0)
        assert _agreement._match(table) == dense


@pytest.mark.parametrize("name", ["class_f", "consistency_index", "error_rate"])
def test_singletons_need_no_table_of_pairs(name):
    n = 50_000  # a dense table would take 20 GB
    best = 0.0 if name == "error_rate" else 1.0
    assert getattr(metrics, name)(np.arange(n), np.arange(n)[::-1]) == best


@every_metric
@pytest.mark.parametrize("make", [list, tuple, pd.Series, pl.Series, np.asarray])
def test_kinds_of_input(name, make):
    truth, found = [0, 0, 1, 1, 2], [1, 1, 0, 2, 2]
    expected = getattr(metrics, name)(truth, found)
    letters = make(["xyz"[value] for value in found])
    assert getattr(metrics, name)(make(truth), letters) == expected
    as_objects = np.array([1, 1, "a", None, None], dtype=object)
    as_objects[3:] = -1
    assert getattr(metrics, name)(np.array(truth, dtype=float), as_objects) == expected


@every_metric
@pytest.mark.parametrize(
    ("truth", "found", "words"),
    [
        ([0, 1], [0, 1, 1], "same objects; got 2 and 3 labels"),
        ([], [], "labels_true must label at least one object"),
        ([0, 1], [[0], [1]], r"labels_pred must be 1-D.*shape \(2, 1\).*ravel"),
        ([[0, 1, 2], [3, 4, 5]], [0, 1], r"labels_true must be 1-D.*shape \(2, 3\)\.$"),
        (3, [0], "labels_true must be 1-D"),
        ([0, np.nan], [0, 1], "labels_true must label every object"),
        ([0, 1], np.array(["a", None], dtype=object), "labels_pred must label every object"),
        ([0, 1], np.array(["a", pd.NA], dtype=object), "labels_pred must label every object"),
        ([0.5, 1], [0, 1], "labels_true must name clusters.*got 0.5"),
    ],
)
def test_bad_input_is_named(name, truth, found, words):
    with pytest.raises(ValueError, match=words):
        getattr(metrics, name)(truth, found)


# --- with an ensemble -----------------------------------------------------------------------


@given(labels=two_partitions(), data=st.data())
def test_anmi_is_the_mean_over_what_each_partition_saw(labels, data):
    truth, _ = labels
    n_partitions = data.draw(st.integers(1, 4))
    row = st.lists(st.integers(-1, 3), min_size=n_partitions, max_size=n_partitions)
    matrix = np.array(data.draw(st.lists(row, min_size=len(truth), max_size=len(truth))))
    assume((matrix >= 0).any(axis=0).all())
    expected = np.mean(
        [naive.nmi(np.asarray(truth)[column >= 0], column[column >= 0]) for column in matrix.T]
    )
    assert metrics.anmi(truth, Ensemble(matrix)) == pytest.approx(expected, abs=1e-12)
    assert metrics.anmi(truth, matrix) == metrics.anmi(truth, Ensemble(matrix))


def test_anmi_with_many_clusters():
    # More cells than four times the objects: counted by sorting instead of in a table.
    rng = np.random.default_rng(1)
    labels, matrix = rng.integers(400, size=900), rng.integers(400, size=(900, 3))
    expected = np.mean([metrics.nmi(labels, column) for column in matrix.T])
    assert metrics.anmi(labels, matrix) == pytest.approx(expected, rel=1e-12)


def test_anmi_of_classes_named_minus_one_and_one():
    labels = [-1, -1, 1, 1]
    assert metrics.anmi(labels, [[0], [0], [1], [1]]) == 1.0


def test_anmi_names_bad_input():
    with pytest.raises(ValueError, match="labels must have one label for each of the 3 objects"):
        metrics.anmi([0, 1], [[0], [1], [1]])


def test_all_names_are_public():
    assert sorted(metrics.__all__, key=str.lower) == sorted(set(metrics.__all__), key=str.lower)
    assert all(hasattr(metrics, name) for name in metrics.__all__)
