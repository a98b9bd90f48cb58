"""Gene tables: logarithms, the most variable features, centring; state and pipelines."""

import json

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

from coterie import ConsensusClustering, ExpressionPreparation, TablePreparation

cells = st.one_of(st.integers(0, 4).map(float), st.floats(0, 1e6), st.just(np.nan))
tables = st.tuples(st.integers(1, 8), st.integers(1, 6)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=cells)
)


def naive(X, log, top, by, center):
    """The definition, column by column."""
    columns = []
    for column in np.asarray(X, dtype=float).T:
        values = [np.log2(v + 1) if log else v for v in column]
        known = [v for v in values if not np.isnan(v)]
        middle = np.median(known) if known else 0.0
        if not known:
            spread = -1.0
        elif by == "mad":
            spread = np.median([abs(v - middle) for v in known])
        else:
            spread = np.var(known)
        columns.append((spread, [v - middle if center else v for v in values]))
    order = sorted(range(len(columns)), key=lambda j: (-columns[j][0], j))
    kept = sorted(order[: len(columns) if top is None else top])
    return np.array([columns[j][1] for j in kept]).T


@given(
    X=tables,
    log=st.booleans(),
    top=st.one_of(st.none(), st.integers(1, 7)),
    by=st.sampled_from(["mad", "variance"]),
    center=st.booleans(),
)
def test_matches_the_definition(X, log, top, by, center):
    made = ExpressionPreparation(log=log, top_features=top, by=by, center=center)
    expected = naive(X, log, top, by, center)
    got = made.fit_transform(X)
    assert got.shape == expected.shape
    spreads = np.sort(made.variation_[~np.isnan(made.variation_)])
    if by == "mad" or (np.diff(spreads) > 1e-9 * np.abs(spreads[1:])).all():  # no near ties
        np.testing.assert_allclose(got, expected, atol=1e-8)
    np.testing.assert_allclose(made.transform(X), got)
    state = json.loads(json.dumps(made.to_dict()))
    np.testing.assert_allclose(ExpressionPreparation.from_dict(state).transform(X), got)


def test_estimator_checks():
    check_estimator(ExpressionPreparation(), on_skip=None)
    check_estimator(ExpressionPreparation(top_features=2, by="variance", center=True), on_skip=None)


def test_names_follow_the_features():
    frame = pl.DataFrame({"low": [1, 1, 2], "high": [0, 9, 30], "mid": [1, 3, 9]})
    made = ExpressionPreparation(top_features=2).fit(frame)
    assert made.get_feature_names_out().tolist() == ["high", "mid"]
    assert made.set_output(transform="polars").transform(frame).columns == ["high", "mid"]
    assert made.notes_ == ["2 of 3 features kept, those of the largest median absolute deviation."]


def test_in_a_pipeline():
    random = np.random.default_rng(0)
    counts = random.poisson(20, (40, 60)).astype(float)
    counts[20:, :10] *= 8
    model = make_pipeline(
        ExpressionPreparation(log=True, top_features=15, center=True),
        TablePreparation(),
        ConsensusClustering(2, random_state=0),
    )
    found = model.fit_predict(counts)
    assert len(set(found[:20])) == len(set(found[20:])) == 1
    assert found[0] != found[-1]
    np.testing.assert_array_equal(model.predict(counts[:5]), found[:5])


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"log": True}, "log takes values of at least 0; column 1 holds -2 in row 0"),
        ({"by": "sd"}, "by must be 'mad' or 'variance'; got 'sd'"),
        ({"top_features": 0}, "top_features must be a whole number of at least 1"),
        ({"top_features": 2.5}, "top_features must be a whole number of at least 1"),
    ],
)
def test_bad_input_is_refused(parameters, words):
    with pytest.raises(ValueError, match=words):
        ExpressionPreparation(**parameters).fit([[1.0, -2.0], [3.0, 4.0]])


def test_state_of_another_version_is_refused():
    with pytest.raises(ValueError, match="must be of format 1; got 7"):
        ExpressionPreparation.from_dict({"format": 7})
