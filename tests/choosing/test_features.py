"""Features that make a cluster, beside SciPy's tests one by one."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.stats import chi2_contingency, false_discovery_control, mannwhitneyu

from coterie import cluster_features


def column(found, name, cluster, feature):
    at = (found.cluster == cluster) & (found.feature == feature)
    assert at.sum() == 1
    return getattr(found, name)[at][0]


def assert_same(first, second):
    for name, values in first.as_dict().items():
        other = second.as_dict()[name]
        if values.dtype.kind == "f":
            np.testing.assert_allclose(values, other, atol=1e-12)
        else:
            np.testing.assert_array_equal(values, other)


values = st.one_of(st.integers(0, 3).map(float), st.floats(-50, 50), st.just(np.nan))


@st.composite
def tables(draw):
    n = draw(st.integers(4, 14))
    rows = draw(st.lists(st.tuples(values, values, values), min_size=n, max_size=n))
    labels = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    labels[:3] = [0, 1, 2]
    return np.array(rows), np.array(labels)


@settings(max_examples=60)
@given(given_table=tables())
def test_numbers_match_scipy(given_table):
    X, labels = given_table
    found = cluster_features(X, labels, ["a", "b", "c"])
    for c in range(3):
        for j, name in enumerate("abc"):
            inside, outside = X[labels == c, j], X[labels != c, j]
            inside, outside = inside[~np.isnan(inside)], outside[~np.isnan(outside)]
            both = np.concatenate([inside, outside])
            effect, p = (column(found, field, c, name) for field in ("effect", "p_value"))
            if not len(inside) or not len(outside) or len(set(both)) < 2:
                assert (effect, p) == (0.0, 1.0)
                continue
            test = mannwhitneyu(inside, outside, method="asymptotic")
            wins = np.sign(inside[:, None] - outside).mean()
            assert effect == pytest.approx(wins, abs=1e-9)
            assert p == pytest.approx(test.pvalue, abs=1e-9)
            assert column(found, "mean", c, name) == pytest.approx(inside.mean())
            assert column(found, "rest", c, name) == pytest.approx(outside.mean())
            squares = sum(((part - part.mean()) ** 2).sum() for part in (inside, outside))
            pooled = np.sqrt(squares / max(len(both) - 2, 1))
            if pooled > 1e-6:
                expected = (inside.mean() - outside.mean()) / pooled
                assert column(found, "difference", c, name) == pytest.approx(expected, rel=1e-4)
    np.testing.assert_allclose(found.fdr, false_discovery_control(found.p_value))


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame])
def test_categories_match_scipy(make):
    random = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], 20)
    plan = [
        None if i == 5 else "abc"[c] if random.random() < 0.8 else "a" for i, c in enumerate(labels)
    ]
    frame = make({"plan": plan, "size": labels + random.normal(size=60), "same": ["x"] * 60})
    found = cluster_features(frame, labels)
    known = np.array([p is not None for p in plan])
    text = np.array([p or "" for p in plan])
    for c, level in ((0, "a"), (1, "b"), (2, "c")):
        counts = [
            [((labels == c) == own)[known & (text == name)].sum() for name in "abc"]
            for own in (True, False)
        ]
        test = chi2_contingency(counts, correction=False)
        name = f"plan = {level}"
        assert column(found, "effect", c, name) == pytest.approx(np.sqrt(test.statistic / 59))
        assert column(found, "p_value", c, name) == pytest.approx(test.pvalue)
        assert column(found, "kind", c, name) == "category"
        assert column(found, "p_value", c, "same = x") == 1.0
        top = found.top(c, 3)
        assert top[-1]["feature"] == "same = x"
        assert abs(top[0]["effect"]) >= abs(top[1]["effect"])


def test_sparse_and_dense_are_the_same():
    random = np.random.default_rng(1)
    X = random.poisson(0.4, (50, 9)).astype(float)
    labels = np.repeat([0, 1], 25)
    X[:25, 3] += 2
    dense, thin = cluster_features(X, labels), cluster_features(sparse.csr_matrix(X), labels)
    assert_same(dense, thin)
    assert dense.top(0, 1)[0]["feature"] == "feature 3"
    assert dense.top(0, 1)[0]["fdr"] < 1e-6
    assert "feature 3 (+" in repr(dense)


def test_blocks_of_features_are_put_together(monkeypatch):
    from coterie.choosing import _features

    X = np.random.default_rng(2).normal(size=(30, 7))
    labels = np.arange(30) % 3
    whole = cluster_features(X, labels)
    monkeypatch.setattr(_features, "_BLOCK", 60)
    assert_same(cluster_features(X, labels), whole)


def test_double_dipping_is_told():
    X, labels = [[1.0], [2.0], [3.0]], [0, 1, 1]
    assert "double dipping" in cluster_features(X, labels).note
    assert cluster_features(X, labels, used_for_clustering=False).note == ""


@pytest.mark.parametrize(
    ("X", "labels", "names", "words"),
    [
        ([[1.0], [2.0]], [0, 0], None, "at least two clusters"),
        ([[1.0], [2.0]], [0, 2], None, "numbered from 0 without gaps"),
        ([[1.0], [2.0]], [0.5, 1], None, "one whole number of at least 0 per object"),
        ([[1.0], [2.0], [3.0]], [0, 1], None, "a row for each of the 2 labels; got 3"),
        ([[1.0], [2.0]], [0, 1], ["a", "b"], "must name each of the 1 features; got 2"),
        ([["a"], ["b"]], [0, 1], None, "a table of numbers, or a frame"),
    ],
)
def test_bad_input_is_refused(X, labels, names, words):
    with pytest.raises(ValueError, match=words):
        cluster_features(X, labels, names)
