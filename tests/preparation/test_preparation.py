"""Preparing tables: kinds of columns, fair weights, missing cells, reductions, words, state."""

import json
import pickle
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from coterie import ConsensusClustering, TablePreparation
from coterie.preparation._columns import CATEGORY_VARIANCE


def customers(n=400, seed=0):
    """(frame, segment): four segments that differ in numbers and categories."""
    random = np.random.default_rng(seed)
    segment = random.integers(0, 4, n)
    age = np.round(random.normal(25 + 12 * segment, 3), 1).tolist()
    for i in range(0, n, 29):
        age[i] = None
    start = date(2020, 1, 1)
    frame = pl.DataFrame(
        {
            "customer_id": [f"C-{i}" for i in random.permutation(n)],
            "age": age,
            "income": np.exp(random.normal(7 + segment % 2, 1.5)).round(2),
            "plan": [None if i % 50 == 0 else "abcd"[s] for i, s in enumerate(segment)],
            "active": (random.random(n) < np.where(segment > 1, 0.95, 0.05)).tolist(),
            "joined": [start + timedelta(days=int(d)) for d in random.integers(0, 900, n)],
            "price": [Decimal(int(p)) / 4 for p in 9 * segment + random.integers(0, 9, n)],
            "country": ["NL"] * n,
            "remark": [f"text {i // 2}" for i in range(n)],
            "empty": [1.0, 2.0] + [None] * (n - 2),
        }
    )
    return frame, segment


def as_text(frame):
    return frame.select(pl.col(name).cast(pl.String) for name in frame.columns)


def kinds(preparation):
    return {column.name: column.kind for column in preparation.columns_}


def column_of(preparation, name):
    return next(column for column in preparation.columns_ if column.name == name)


def mean_square(features):
    """Mean squared distance of two rows drawn at random, with replacement."""
    return 2 * features.var(axis=0).sum()


@pytest.mark.parametrize(
    "estimator",
    [TablePreparation(random_state=0), TablePreparation(scale="standard", reduce=1)],
    ids=["default", "reduced"],
)
def test_scikit_learns_checks(estimator):
    failed = [
        (result["check_name"], result["exception"])
        for result in check_estimator(estimator, on_skip=None, on_fail=None)
        if result["status"] not in ("passed", "skipped")
        or (result["status"] == "skipped" and "SCIPY_ARRAY_API" not in str(result["exception"]))
    ]
    assert failed == []


def test_customers():
    frame, segment = customers()
    preparation = TablePreparation()
    features = preparation.fit_transform(frame)
    assert kinds(preparation) == {
        "customer_id": "identifier",
        "age": "number",
        "income": "number",
        "plan": "category",
        "active": "category",
        "joined": "date",
        "price": "number",
        "country": "constant",
        "remark": "text",
        "empty": "empty",
    }
    assert preparation.notes_ == [
        "3 numeric columns scaled.",
        "1 date counted in days.",
        "2 categories encoded.",
        "Scaled by median and quartiles (heavy tails): 'income'.",
        "22 missing cells imputed.",
        "Left out: 'customer_id' (identifier), 'country' (constant), 'remark' (free text), "
        "'empty' (nearly all cells missing).",
    ]
    assert preparation.summary_.startswith("3 numeric columns scaled; 1 date counted in days; 2")
    assert preparation.summary_.count("\n") == 0
    assert preparation.get_feature_names_out().tolist()[:2] == ["age", "income"]
    assert "plan=(missing)" in preparation.get_feature_names_out()
    assert features.shape == (400, len(preparation.get_feature_names_out()))
    assert np.isfinite(features).all()
    found = ConsensusClustering(4, random_state=0).fit_predict(features)
    assert adjusted_rand_score(segment, found) > 0.8


def test_kinds_of_frames_agree():
    frame, _ = customers()
    expected = TablePreparation().fit(frame)
    for data in (frame.to_dict(as_series=False), as_text(frame).to_dict(as_series=False)):
        for make in (pd.DataFrame, lambda data: pl.DataFrame(data, infer_schema_length=None)):
            other = TablePreparation().fit(make(data))
            assert kinds(other) == kinds(expected)
            assert other.notes_ == expected.notes_
            np.testing.assert_array_equal(other.transform(make(data)), expected.transform(frame))
            np.testing.assert_array_equal(expected.transform(make(data)), other.transform(frame))


def test_long_text_is_read_as_short_text():
    random = np.random.default_rng(0)
    column = pl.DataFrame({"a": random.normal(size=3000).astype(str)})
    long = TablePreparation().fit_transform(column)
    short = TablePreparation().fit(column).transform(column[:10])
    np.testing.assert_array_equal(long[:10], short)
    spoilt = column.with_columns(pl.when(pl.int_range(3000) == 7).then(pl.lit("NA")).otherwise("a"))
    preparation = TablePreparation().fit(spoilt.select(a=spoilt.to_series(1)))
    assert preparation.columns_[0].n_missing == 1


# --- numbers --------------------------------------------------------------------------------------


def test_numbers_are_standardised():
    X = np.random.default_rng(0).normal([3, -2], [5, 0.1], size=(200, 2))
    preparation = TablePreparation().fit(X)
    np.testing.assert_allclose(preparation.transform(X), StandardScaler().fit_transform(X))
    np.testing.assert_array_equal(TablePreparation(scale=None).fit_transform(X), X)


def test_heavy_tails_do_not_hide_the_middle():
    random = np.random.default_rng(0)
    values = np.r_[random.normal(0, 1, 300), 1e6, -1e7]
    frame = pl.DataFrame({"a": values})
    assert TablePreparation(scale="standard").fit_transform(frame)[:300].std() < 1e-3
    preparation = TablePreparation()
    features = preparation.fit_transform(frame)[:, 0]
    assert features[:300].std() > 0.3
    assert "heavy tails" in preparation.columns_[0].treatment
    assert (np.argsort(features) == np.argsort(values)).all()


@pytest.mark.parametrize("share", [0.05, 0.2])
def test_a_small_group_far_off_stays_far_off(share):
    random = np.random.default_rng(0)
    n = int(1000 * share)
    values = np.r_[random.normal(0, 1, 1000 - n), random.normal(30, 1, n)]
    preparation = TablePreparation()
    features = preparation.fit_transform(values[:, None])[:, 0]
    assert features[-n:].min() - features[:-n].max() > features[:-n].std()
    assert ("heavy tails" in preparation.columns_[0].treatment) == (share < 0.1)


def test_flags_and_nearly_constant_columns():
    values = np.zeros((1000, 2))
    values[:500, 0] = values[:5, 1] = 7
    features = TablePreparation().fit_transform(values)
    assert mean_square(features[:, [0]]) == pytest.approx(2 * CATEGORY_VARIANCE)
    # The rare flag puts its rows no farther off than one at a tenth of the rows would.
    farthest = np.sqrt(CATEGORY_VARIANCE) / 0.3
    assert np.ptp(features[:, 1]) == pytest.approx(farthest)
    rare = pl.DataFrame({"a": ["x"] * 5 + ["y"] * 995})
    assert np.ptp(TablePreparation().fit_transform(rare)) == pytest.approx(farthest)


# --- categories -----------------------------------------------------------------------------------


@pytest.mark.parametrize("counts", [(50, 50), (70, 30), (40, 30, 20, 10), (5,) * 20])
def test_all_categories_weigh_the_same(counts):
    levels = [f"level {i}" for i, count in enumerate(counts) for _ in range(count)]
    features = TablePreparation().fit_transform(pl.DataFrame({"a": levels}))
    assert features.shape[1] == (1 if len(counts) == 2 else len(counts))
    assert mean_square(features) == pytest.approx(2 * CATEGORY_VARIANCE)
    np.testing.assert_allclose(features.mean(axis=0), 0, atol=1e-12)


def test_rare_levels_are_grouped_and_new_ones_join_them():
    levels = ["a"] * 300 + ["b"] * 200 + ["c"] * 2 + ["d"]
    frame = pl.DataFrame({"x": levels})
    preparation = TablePreparation().fit(frame)
    assert preparation.get_feature_names_out().tolist() == ["x=a", "x=b", "x=(other)"]
    assert preparation.columns_[0].treatment == "4 levels, 2 of them rare and grouped"
    other, new, known = preparation.transform(pl.DataFrame({"x": ["c", "new", "a"]}))
    assert other.tolist() == new.tolist()
    assert other.tolist() != known.tolist()


def test_new_levels_without_a_group():
    two = TablePreparation().fit(pl.DataFrame({"x": ["a", "a", "b", "b"]}))
    assert two.transform(pl.DataFrame({"x": ["new", None]})).tolist() == [[0], [0]]
    three = TablePreparation().fit(pl.DataFrame({"x": list("aabbcc") * 9}))
    a, new = three.transform(pl.DataFrame({"x": ["a", "new"]}))
    assert (new < 0).all()
    assert (a > 0).sum() == 1


def test_categories_can_be_dropped():
    frame, _ = customers()
    preparation = TablePreparation(categories="drop").fit(frame)
    assert preparation.get_feature_names_out().tolist() == ["age", "income", "joined", "price"]
    assert "'plan', 'active' (category)" in preparation.summary_


def test_codes_and_mixed_cells_are_categories():
    frame = pl.DataFrame({"zip": ["0123", "4567"] * 10, "size": ["1", "2", "1", "large"] * 5})
    assert kinds(TablePreparation().fit(frame)) == {"zip": "category", "size": "category"}
    long = pl.DataFrame({"zip": ["0123", "4567"] * 1000})
    assert kinds(TablePreparation().fit(long)) == {"zip": "category"}
    prices = TablePreparation().fit(pl.DataFrame({"p": ["1.50", "2.50", "free"] * 9}))
    new = prices.transform(pl.DataFrame({"p": ["1.50", "2.50"]}))
    assert (new > 0).tolist() == [[True, False, False], [False, True, False]]
    mixed = pd.DataFrame({"size": [1, 2, 1, "large"] * 5})
    preparation = TablePreparation().fit(mixed)
    assert preparation.get_feature_names_out().tolist() == ["size=1", "size=2", "size=large"]
    np.testing.assert_array_equal(
        preparation.transform(pd.DataFrame({"size": [1.0, 2.0]})),
        preparation.transform(pd.DataFrame({"size": ["1", "2"]})),
    )


# --- identifiers and other columns left out -------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "values", "kind"),
    [
        ("a", [f"u{i}" for i in range(40)], "identifier"),
        ("a", range(40), "identifier"),  # numbers the rows
        ("a", [str(i) for i in reversed(range(1, 41))], "identifier"),
        ("a", range(7, 47), "number"),
        ("", range(7, 47), "identifier"),
        ("Unnamed: 0", range(7, 47), "identifier"),
        ("customer_id", [i**2 for i in range(40)], "identifier"),
        ("CustomerID", [i**2 for i in range(40)], "identifier"),
        ("paid", [i**2 for i in range(40)], "number"),
        ("store_id", [1, 2, 5, 5] * 10, "category"),
        ("user_id", [*range(39), 1], "identifier"),
        ("a", ["x", "y"] * 20, "category"),
        ("a", [0.5 * i for i in range(40)], "number"),
        ("a", [3.0] * 40, "constant"),
        ("a", ["x"] * 40, "constant"),
        ("a", ["x"] * 20 + [None] * 20, "category"),
        ("a", [[1]] * 40, "text"),
        ("a", [None] * 37 + [1, 2, 3], "empty"),
        ("a", ["", "NA", "?", "nan"] * 10, "empty"),
    ],
)
def test_what_a_column_is(name, values, kind):
    values = list(values)
    for make in (pl.DataFrame, pd.DataFrame):
        frame = make({"other": [0.5, 1.5, 2.0, 9.0] * 10, name: values})
        preparation = TablePreparation().fit(frame)
        assert column_of(preparation, name).kind == kind
        assert np.isfinite(preparation.transform(frame)).all()


def test_first_column_of_consecutive_integers_numbers_the_rows():
    frame = pl.DataFrame({"nr": range(1000, 1040), "a": [0.5, 1.5, 2.0, 9.0] * 10})
    assert kinds(TablePreparation().fit(frame)) == {"nr": "identifier", "a": "number"}
    # An array has no identifiers.
    assert TablePreparation().fit_transform(np.arange(40.0)[:, None]).shape == (40, 1)


def test_nothing_left():
    words = r"no column to cluster by. Left out: 'a' \(constant\), 'b' \(identifier\)"
    with pytest.raises(ValueError, match=words):
        TablePreparation().fit(pl.DataFrame({"a": [1, 1, 1], "b": ["x", "y", "z"]}))


# --- dates, booleans and other types --------------------------------------------------------------


@pytest.mark.parametrize(
    "written",
    [
        lambda day: day,
        lambda day: datetime(day.year, day.month, day.day),
        lambda day: datetime(day.year, day.month, day.day, tzinfo=UTC),
        lambda day: day.isoformat(),
        lambda day: f"{day}T00:00:00Z",
        lambda day: day.strftime("%d.%m.%Y"),
        lambda day: day.strftime("%d/%m/%Y"),
        lambda day: day.strftime("%m/%d/%Y"),
    ],
)
@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame])
def test_dates(make, written):
    days = np.random.default_rng(0).permutation(np.r_[0:400:7, 16])
    cells = [written(date(2021, 1, 14) + timedelta(days=int(day))) for day in days]
    preparation = TablePreparation().fit(make({"d": cells}))
    assert kinds(preparation) == {"d": "date"}
    assert preparation.columns_[0].treatment == "days, standardised"
    expected = StandardScaler().fit_transform(days[:, None].astype(float))
    np.testing.assert_allclose(preparation.transform(make({"d": cells})), expected, atol=1e-9)
    # A single row is read in the way of the fitted table.
    few = preparation.transform(make({"d": cells[:1]}))
    np.testing.assert_allclose(few, expected[:1], atol=1e-9)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([True, False, None, True], "category"),
        ([Decimal("1.5"), Decimal("2"), None, Decimal("4")], "number"),
        ([timedelta(days=1), timedelta(hours=1), None, timedelta(0)], "number"),
        ([time(1), time(12, 30), None, time(3)], "number"),
        (["yes", "no", None, "yes"], "category"),
        ([" 1", "2 ", "?", "4"], "number"),
    ],
)
@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame])
def test_types_of_cells(make, values, kind):
    frame = make({"a": values * 5})
    preparation = TablePreparation().fit(frame)
    assert kinds(preparation) == {"a": kind}
    assert preparation.columns_[0].n_missing == 5
    assert np.isfinite(preparation.transform(frame)).all()


def test_pandas_own_types():
    frame = pd.DataFrame(
        {
            "integer": pd.array([1, None, 3, 5] * 5, dtype="Int64"),
            "category": pd.Categorical(["x", "y", None, "x"] * 5),
            "flag": pd.array([True, None, False, True] * 5, dtype="boolean"),
        }
    )
    preparation = TablePreparation().fit(frame)
    assert list(kinds(preparation).values()) == ["number", "category", "category"]
    assert "15 missing cells imputed" in preparation.summary_
    # Names that are no text.
    numbered = pd.DataFrame(np.random.default_rng(0).normal(size=(9, 2)))
    assert TablePreparation().fit(numbered).get_feature_names_out().tolist() == ["x0", "x1"]


# --- missing cells --------------------------------------------------------------------------------


def test_missing_cells_become_the_median_or_a_level():
    frame = pl.DataFrame({"a": [1.0, 2, 9, None, 2], "b": ["x", "x", "y", None, "y"]})
    preparation = TablePreparation().fit(frame)
    features = preparation.transform(frame)
    assert features[3, 0] == features[1, 0]
    assert len(np.unique(features[:, 1:], axis=0)) == 3
    assert "2 missing cells imputed" in preparation.summary_
    nothing = preparation.transform(pl.DataFrame({"a": [None], "b": [None]}))
    np.testing.assert_array_equal(nothing, features[[3]])
    array = np.array([[1.0, np.nan], [2.0, 3.0], [4.0, 5.0]])
    assert np.isfinite(TablePreparation().fit_transform(array)).all()


# --- wide tables ----------------------------------------------------------------------------------


def word_counts(n=300, words=400, seed=0):
    """(counts, topic): three topics, texts of very different lengths."""
    random = np.random.default_rng(seed)
    topic = random.integers(0, 3, n)
    rates = random.gamma(0.3, 1, size=(3, words))
    rates = rates / rates.sum(axis=1, keepdims=True) + random.dirichlet(np.full(words, 0.3))
    lengths = np.exp(random.normal(3, 1, n))
    return random.poisson(lengths[:, None] * rates[topic]), topic


def test_counts_of_words():
    counts, topic = word_counts()
    preparation = TablePreparation(random_state=0)
    features = preparation.fit_transform(sparse.csr_array(counts))
    assert preparation.notes_ == [
        "400 columns of counts weighted by tf-idf.",
        "Counts reduced to 20 components.",
    ]
    np.testing.assert_allclose(np.linalg.norm(features, axis=1), 1)
    found = KMeans(3, n_init=5, random_state=0).fit_predict(features)
    standardised = StandardScaler().fit_transform(counts)
    plain = KMeans(3, n_init=5, random_state=0).fit_predict(standardised)
    assert adjusted_rand_score(topic, found) > 0.9
    assert adjusted_rand_score(topic, plain) < 0.5
    # Dense and sparse tables agree, and so do new rows.
    frame = pl.DataFrame(counts, schema=[f"w{i}" for i in range(400)])
    for table in (counts, frame, as_text(frame)):
        other = TablePreparation(random_state=0).fit(table)
        assert abs(np.abs(other.transform(table[:5])) - np.abs(features[:5])).max() < 1e-4
    assert preparation.transform(sparse.csr_array((1, 400))).tolist() == [[0.0] * 20]


def test_counts_beside_other_columns():
    counts, _ = word_counts()
    frame = pl.DataFrame(counts, schema=[f"w{i}" for i in range(400)]).with_columns(
        kind=pl.Series(["x", "y", "z"] * 100)
    )
    frame = frame.select("kind", *frame.columns[:-1])
    preparation = TablePreparation(random_state=0)
    features = preparation.fit_transform(frame)
    names = preparation.get_feature_names_out().tolist()
    assert names[0] == "component0"
    assert names[-3:] == ["kind=x", "kind=y", "kind=z"]
    assert mean_square(features[:, -3:]) == pytest.approx(2 * CATEGORY_VARIANCE)
    np.testing.assert_allclose(preparation.transform(frame[:9]), features[:9], atol=1e-12)


def test_wide_numbers_keep_their_common_unit():
    random = np.random.default_rng(0)
    topic = np.repeat([0, 1], 20)
    X = random.normal(0, 0.1, size=(40, 2000))
    X[:, :30] += 1.2 * (topic[:, None] - 0.5) * random.choice([-1, 1], 30)
    preparation = TablePreparation(random_state=0)
    features = preparation.fit_transform(X)
    assert features.shape == (40, 39)
    assert (
        preparation.summary_ == "2,000 numeric columns scaled; features reduced to 39 components."
    )
    gap = np.linalg.norm(features[topic == 0].mean(0) - features[topic == 1].mean(0))
    centred = X - X.mean(axis=0)
    expected = np.linalg.norm(centred[topic == 0].mean(0) - centred[topic == 1].mean(0))
    assert gap == pytest.approx(expected / np.sqrt(X.var(axis=0).mean()), rel=1e-6)
    # Intensities over several powers of ten: logarithms.
    raw = TablePreparation(random_state=0).fit(np.exp(3 * X + random.normal(9, 2, 2000)))
    assert "after taking logarithms" in raw.summary_
    larger = raw.transform(np.full((2, 2000), [[np.e**20], [np.e**30]])) @ raw.reduction_.components
    assert 0 < larger[1].mean() - larger[0].mean() < 100
    # Columns of different units: each by itself.
    units = TablePreparation(random_state=0).fit(X * np.logspace(-5, 5, 2000))
    assert units.columns_[0].deviation != units.columns_[1].deviation


def test_wide_sparse_numbers():
    X = sparse.random(60, 300, density=0.1, random_state=0, format="csr")
    reduced = TablePreparation(random_state=0)
    assert reduced.fit_transform(X).shape == (60, 50)
    kept = TablePreparation(reduce=None).fit_transform(X)
    assert sparse.issparse(kept)
    assert kept.nnz == X.nnz
    # Columns of different units: each by itself.
    factors = np.logspace(-5, 5, 300) * np.where(np.arange(300) % 2, 1, -1)
    units = sparse.csr_array(X.multiply(factors))
    scaled = TablePreparation(reduce=None).fit_transform(units).toarray()
    np.testing.assert_allclose(scaled.std(axis=0), X.getnnz(axis=0) > 0)
    with pytest.raises(ValueError, match="no column to cluster by"):
        TablePreparation().fit(sparse.csr_array((60, 300)))
    # A narrow one is as good as dense.
    narrow = sparse.csr_array(X[:, :50])
    np.testing.assert_array_equal(
        TablePreparation().fit_transform(narrow), TablePreparation().fit_transform(narrow.toarray())
    )


def test_number_of_components_and_seed():
    X = np.random.default_rng(0).normal(size=(50, 12))
    preparation = TablePreparation(reduce=3, random_state=0).fit(X)
    assert preparation.transform(X).shape == (50, 3)
    assert preparation.get_feature_names_out().tolist() == [f"component{i}" for i in range(3)]
    shifted = TablePreparation(scale=None, reduce=3, random_state=0).fit_transform(X + 7)
    np.testing.assert_allclose(shifted.mean(axis=0), 0, atol=1e-12)
    assert TablePreparation(reduce=12).fit_transform(X).shape == (50, 12)
    counts, _ = word_counts()
    first, second = (TablePreparation(random_state=1).fit_transform(counts) for _ in range(2))
    np.testing.assert_array_equal(first, second)


# --- state, pipelines, precision ------------------------------------------------------------------


@pytest.mark.parametrize("wide", [False, True])
def test_state_without_pickle(wide):
    frame = pl.DataFrame(word_counts()[0]) if wide else customers()[0]
    preparation = TablePreparation(random_state=3).fit(frame)
    state = preparation.to_dict()
    assert sorted(state["arrays"]) == (["components", "offset"] if wide else [])
    assert all(type(array) is np.ndarray for array in state["arrays"].values())
    state["plain"] = json.loads(json.dumps(state["plain"], allow_nan=False))
    again = TablePreparation.from_dict(state)
    for other in (again, pickle.loads(pickle.dumps(preparation))):
        np.testing.assert_array_equal(other.transform(frame), preparation.transform(frame))
        assert other.columns_ == preparation.columns_
        assert other.summary_ == preparation.summary_
        assert other.get_params() == preparation.get_params()
        assert (other.get_feature_names_out() == preparation.get_feature_names_out()).all()
    with pytest.raises(ValueError, match="feature names should match"):
        again.transform(frame[:, ::-1])
    state["plain"]["format"] = 99
    with pytest.raises(ValueError, match="format 1; got 99"):
        TablePreparation.from_dict(state)


def test_pipeline_and_output():
    frame, segment = customers()
    model = make_pipeline(TablePreparation(), ConsensusClustering(4, random_state=0))
    assert adjusted_rand_score(segment, clone(model).fit_predict(frame)) > 0.8
    for output, kind in (("pandas", pd.DataFrame), ("polars", pl.DataFrame)):
        made = TablePreparation().set_output(transform=output).fit_transform(frame)
        assert isinstance(made, kind)
        assert list(made.columns)[:2] == ["age", "income"]


def test_names_of_features_are_unique():
    frame = pl.DataFrame({"a": list("xyz") * 9, "a=x": [1.0, 2.5, 9.0] * 9})
    names = TablePreparation().fit(frame).get_feature_names_out().tolist()
    assert names == ["a=x", "a=y", "a=z", "a=x (2)"]


def test_precision_is_kept_and_the_table_is_not_changed():
    X = np.random.default_rng(0).normal(size=(30, 3)).astype(np.float32)
    before = X.copy()
    assert TablePreparation().fit_transform(X).dtype == np.float32
    assert TablePreparation(reduce=2).fit_transform(X).dtype == np.float32
    np.testing.assert_array_equal(X, before)


# --- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "X", "words"),
    [
        ({"scale": "typo"}, np.eye(3), "scale must be 'auto' or 'standard' or None; got 'typo'"),
        ({"categories": 1}, np.eye(3), "categories must be 'auto' or 'drop'; got 1"),
        ({"reduce": 0}, np.eye(3), "reduce must be .* positive number of components; got 0"),
        ({}, pl.DataFrame({"a": [1.0, np.inf]}), r"column 'a' holds inf in row 1 \(counted from 0"),
        ({}, pl.DataFrame({"a": ["1", "-inf"]}), "column 'a' holds -inf in row 1"),
        ({}, np.array([[0, 1.0], [1, -np.inf]]), "column 'x1' holds -inf in row 1"),
        ({}, np.array([[0, 1.0], [1, 1e200]]), "column 'x1' holds 1e[+]200 in row 1"),
        ({}, pd.DataFrame([[1, 2]] * 3, columns=["a", "a"]), "two columns with the name 'a'"),
        ({}, pd.DataFrame({"a": [1j, 2]}), "Complex data not supported"),
        ({}, pl.DataFrame({"a": [1.0]}), r"1 sample\(s\) while a minimum of 2"),
        ({}, sparse.csr_array([[np.nan, 1], [1, 2]]), "sparse table must not hold NaN"),
        ({}, [["a"], ["b"]], "could not convert string to float"),
    ],
)
def test_words_of_errors(parameters, X, words):
    with pytest.raises(ValueError, match=words):
        TablePreparation(**parameters).fit(X)


def test_new_rows_must_fit_the_columns():
    preparation = TablePreparation()
    with pytest.raises(NotFittedError):
        preparation.transform(pl.DataFrame({"a": [1.0]}))
    preparation.fit(
        pl.DataFrame({"a": [1.0, 2.5, 9.0], "b": [date(2020, 1, d) for d in (1, 2, 9)]})
    )
    day = [date(2020, 1, 1)] * 2
    with pytest.raises(ValueError, match=r"'a' held numbers .* got 'one' in row 1"):
        preparation.transform(pl.DataFrame({"a": ["1", "one"], "b": day}))
    with pytest.raises(ValueError, match=r"'b' held dates .* another kind \(number\)"):
        preparation.transform(pl.DataFrame({"a": [1, 2], "b": [3, 4]}))
    with pytest.raises(ValueError, match=r"'b' held dates .* got 'today' in row 1"):
        preparation.transform(pl.DataFrame({"a": [1, 2], "b": ["2020-01-01", "today"]}))
    with pytest.raises(ValueError, match="feature names should match"):
        preparation.transform(pl.DataFrame({"b": day, "a": [1, 2]}))
    with pytest.raises(ValueError, match="'a' holds inf in row 0"):
        preparation.transform(pl.DataFrame({"a": [np.inf, 1], "b": day}))


# --- any table ------------------------------------------------------------------------------------

CELLS = [
    st.one_of(st.none(), st.integers(-(10**6), 10**6)),
    st.one_of(st.none(), st.floats(-1e100, 1e100)),
    st.one_of(st.none(), st.floats(-1e-100, 1e-100)),
    st.one_of(st.none(), st.booleans()),
    st.one_of(st.none(), st.sampled_from(["a", "b", "", " ", "NA", "1", "01", "2020-01-01", "ä"])),
    st.one_of(st.none(), st.text(max_size=3)),
    st.one_of(st.none(), st.dates()),
    st.one_of(st.none(), st.sampled_from([0, 1])),
]


@st.composite
def tables(draw):
    n = draw(st.integers(2, 12))
    columns = draw(st.lists(st.sampled_from(CELLS), min_size=1, max_size=4))
    return {f"c{i}": draw(st.lists(cell, min_size=n, max_size=n)) for i, cell in enumerate(columns)}


@given(tables())
def test_any_table(data):
    frame = pl.DataFrame(data, strict=False)
    preparation = TablePreparation()
    try:
        features = preparation.fit_transform(frame)
    except ValueError as error:
        assert "no column to cluster by" in str(error)  # noqa: PT017
        return
    assert np.isfinite(features).all()
    assert features.shape == (len(frame), len(preparation.get_feature_names_out()))
    used = [column for column in preparation.columns_ if column.is_used]
    # No column outweighs a standardised one.
    start = 0
    for column in used:
        part = features[:, start : start + column.n_out]
        assert mean_square(part) < 2 + 1e-6
        start += column.n_out
    np.testing.assert_array_equal(preparation.transform(frame), features)
    np.testing.assert_array_equal(preparation.transform(frame[::-1]), features[::-1])
    state = preparation.to_dict()
    state["plain"] = json.loads(json.dumps(state["plain"], allow_nan=False))
    np.testing.assert_array_equal(TablePreparation.from_dict(state).transform(frame), features)
