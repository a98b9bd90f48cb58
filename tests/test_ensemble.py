"""The ensemble: what it accepts and refuses, its immutability, files, and ensembles from it."""

import copy
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse

import coterie
import naive
from coterie import Ensemble, MemoryLimitError, _encode
from coterie._archives import write_archive
from coterie._ensemble_files import to_arrays
from coterie.ensemble import as_ensemble
from strategies import label_matrices, string_tables

CODES = [[0, 0], [0, -1], [1, 0], [-1, 1]]  # what every table of `SAME_PARTITIONS` says
SAME_PARTITIONS = {
    "nested lists": [[3, 7], [3, None], [5, 7], [None, 9]],
    "tuples of rows": ((3, 7), (3, -1), (5, 7), (-1, 9)),
    "int8": np.array([[3, 7], [3, -1], [5, 7], [-1, 9]], dtype=np.int8),
    "Fortran order": np.asfortranarray([[3, 7], [3, -1], [5, 7], [-1, 9]]),
    "strided": np.array([[3, 0, 7, 0], [3, 0, -1, 0], [5, 0, 7, 0], [-1, 0, 9, 0]])[:, ::2],
    "big-endian": np.array([[3, 7], [3, -1], [5, 7], [-1, 9]], dtype=">i8"),
    "float with NaN": np.array([[3, 7], [3, np.nan], [5, 7], [np.nan, 9]]),
    "float with -1": np.array([[3.0, 7], [3, -1.0], [5, 7], [-1, 9]], dtype=np.float32),
    "negative and huge": np.array([[-(2**62), 7], [-(2**62), -1], [2**62, 7], [-1, 2**40]]),
    "huge Python integers": [[-(3**50), 7], [-(3**50), None], [0, 7], [None, 9]],
    "huge floats": np.array([[-(2.0**60), 1], [-(2.0**60), np.nan], [2.0**60, 1], [np.nan, 2]]),
    "strings and None": [["a", "x"], ["a", None], ["b", "x"], [None, "y"]],
    "strings and NaN": [["a", "x"], ["a", np.nan], ["b", "x"], [float("nan"), "y"]],
    "strings and numbers": [["a", 7], ["a", None], ["b", 7], [None, 9.0]],
    "object array": np.array([["a", 1], ["a", pd.NA], ["b", 1.0], [pd.NaT, 2]], dtype=object),
    "bools": np.array([[False, False], [False, None], [True, False], [None, True]]),
    "masked integers": np.ma.masked_equal([[3, 7], [3, 0], [5, 7], [0, 9]], 0),
    "masked floats": np.ma.masked_less([[3.0, 7.0], [3, -9.5], [5, 7], [-9.5, 9]], 0),
    "list of arrays": [np.array([3, 3, 5, -1]), np.array(["x", None, "x", "y"])],
    "tuple of arrays": (np.array([3.0, 3, 5, np.nan]), np.array([7, -1, 7, 9], dtype=np.int16)),
    "arrays and a list": [np.array([3, 3, 5, -1]), ["x", None, "x", "y"]],
    "masked arrays": [np.ma.masked_equal([3, 3, 5, 0], 0), np.array([7, -1, 7, 9])],
    "series": [pd.Series([3, 3, 5, None]), pl.Series(["x", None, "x", "y"])],
    "pandas": pd.DataFrame({"a": [3, 3, 5, None], "b": ["x", None, "x", "y"]}),
    "pandas nullable": pd.DataFrame(
        {
            "a": pd.array([3, 3, 5, None], dtype="Int64"),
            "b": pd.array([False, None, False, True], dtype="boolean"),
        }
    ),
    "pandas strings": pd.DataFrame(
        {
            "a": pd.array(["3", "3", "5", pd.NA], dtype="string"),
            "b": pd.array([1.0, None, 1.0, 2.0], dtype="Float64"),
        }
    ),
    "pandas categories": pd.DataFrame(
        {
            "a": pd.Categorical(["u", "u", "w", None], categories=["z", "u", "w"]),
            "b": pd.Categorical([4, None, 4, 8]),
        }
    ),
    "pandas, names twice": pd.DataFrame([[3, 7], [3, None], [5, 7], [None, 9]], columns=["a", "a"]),
    "pandas, other index": pd.DataFrame(
        {"a": [3, 3, 5, -1], "b": [7, -1, 7, 9]}, index=[9, 9, 1, 0]
    ),
    "polars": pl.DataFrame({"a": [3, 3, 5, None], "b": ["x", None, "x", "y"]}),
    "polars floats": pl.DataFrame({"a": [3.0, 3.0, 5.0, float("nan")], "b": [1.0, None, 1.0, 2.0]}),
    "polars categories": pl.DataFrame(
        {
            "a": pl.Series(["u", "u", "w", None], dtype=pl.Categorical),
            "b": pl.Series(["p", None, "p", "q"], dtype=pl.Enum(["p", "unused", "q"])),
        }
    ),
    "polars bools": pl.DataFrame(
        {"a": [False, False, True, None], "b": pl.Series([1, None, 1, 2], dtype=pl.UInt8)}
    ),
}

WITH_EVERYTHING = {
    "labels": [["a", 3], ["b", 3], [None, 4], ["a", -1]],
    "groups": ["k-means", "ward"],
    "validity": [0.25, 1.0],
    "posteriors": [
        np.array([[1.0, 0], [0, 1], [0.5, 0.5], [0.9, 0.1]]),
        np.array([[0.7, 0.3], [0.7, 0.3], [0, 1], [0.5, 0.5]]),
    ],
    "subspaces": [(np.eye(2), np.ones((2, 2)) / 2), (np.ones((2, 3)), np.ones((2, 3)) / 3)],
}


@pytest.fixture
def full():
    return Ensemble(**WITH_EVERYTHING)


def arrays_of(ensemble):
    """Every array that can be reached from an ensemble."""
    return [
        ensemble.labels,
        ensemble.columns,
        ensemble.groups,
        ensemble.validity,
        ensemble.n_clusters,
        ensemble.offsets,
        ensemble.overlap,
        ensemble.compact_codes,
        *ensemble.patterns,
        *ensemble.categories,
        *(ensemble.posteriors or ()),
        *(array for pair in ensemble.subspaces or () for array in pair),
    ]


# --- what is accepted ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(SAME_PARTITIONS))
def test_accepted_input(name):
    ensemble = Ensemble(SAME_PARTITIONS[name])
    assert ensemble.labels.dtype == np.int32
    assert ensemble.labels.tolist() == CODES
    assert ensemble.shape == (4, 2)
    assert ensemble.n_clusters.tolist() == [2, 2]
    assert ensemble.has_missing
    # The values behind the codes lead back to the same codes.
    assert_array_equal(ensemble.encode(SAME_PARTITIONS[name]), CODES)


@pytest.mark.parametrize(
    "labels",
    [np.matrix([[3, 7], [3, 7], [5, 7]]), np.array([[b"3", b"7"], [b"3", b"7"], [b"5", b"7"]])],
)
def test_accepted_input_that_cannot_miss_labels(labels):
    assert Ensemble(labels).labels.tolist() == [[0, 0], [0, 0], [1, 0]]


def test_unsigned_integers_past_int64():
    labels = np.array([[2**64 - 1], [0], [2**64 - 1]], dtype=np.uint64)
    assert Ensemble(labels).labels.ravel().tolist() == [1, 0, 1]


def test_numbers_among_strings_are_the_same_name_however_written():
    ensemble = Ensemble(np.array([[1], [1.0], [np.int8(1)], ["1"], ["a"]], dtype=object))
    assert ensemble.labels.ravel().tolist() == [0, 0, 0, 0, 1]


def test_empty_strings_are_names():
    assert Ensemble([[""], ["a"], [None]]).labels.ravel().tolist() == [0, 1, -1]


def test_strings_that_look_missing_are_names():
    names = [["-1"], ["nan"], ["None"], ["NA"]]
    assert not Ensemble(names).has_missing
    assert Ensemble(names).n_clusters.tolist() == [4]


@given(labels=label_matrices())
def test_codes_follow_the_sorted_values(labels):
    ensemble = Ensemble(labels)
    for e, column in enumerate(labels.T.tolist()):
        codes, names = naive.codes(column)
        assert ensemble.labels[:, e].tolist() == codes
        assert ensemble.categories[e].tolist() == names
    assert ensemble.has_missing == bool((labels == -1).any())


@given(table=string_tables())
def test_strings_are_read_exactly(table):
    ensemble = Ensemble(table)
    back = [
        [None if code < 0 else ensemble.categories[e][code] for e, code in enumerate(row)]
        for row in ensemble.labels
    ]
    assert back == table.tolist()


@pytest.mark.parametrize(
    ("labels", "shape"),
    [([[0]], (1, 1)), ([[5, "a", 2.0]], (1, 3)), ([[0], [1]], (2, 1)), ([[7]] * 5, (5, 1))],
)
def test_smallest_ensembles(labels, shape):
    ensemble = Ensemble(labels)
    assert ensemble.shape == shape
    assert len(ensemble) == ensemble.n_objects == shape[0]
    assert ensemble.n_partitions == shape[1]
    assert ensemble.coassociation().shape == (shape[0], shape[0])


def test_constant_and_singleton_partitions_are_legal():
    ensemble = Ensemble(np.column_stack([np.zeros(5, dtype=int), np.arange(5)]))
    assert ensemble.n_clusters.tolist() == [1, 5]


def test_columns_without_opinion_are_dropped_with_a_warning():
    labels = [[None, 3, -1, 0], [None, 4, -1, 0]]
    with pytest.warns(
        UserWarning,
        match=r"dropped 2 partition\(s\) with no label at all: partition_0, partition_2\.",
    ) as caught:
        ensemble = Ensemble(
            labels, groups=["a", "b", "c", "d"], validity=[0, 0.5, 1, 0.25], posteriors=None
        )
    assert caught[0].filename == __file__
    assert ensemble.labels.tolist() == [[0, 0], [1, 0]]
    assert ensemble.columns.tolist() == [1, 3]
    assert ensemble.n_columns == 4
    assert ensemble.groups.tolist() == ["b", "d"]
    assert ensemble.validity.tolist() == [0.5, 0.25]


def test_what_belongs_to_dropped_columns_is_dropped_too():
    keep, drop = np.eye(2), np.zeros((2, 0))
    pairs = [(drop, drop), (keep, keep)]
    with pytest.warns(UserWarning, match="dropped 1"):
        ensemble = Ensemble([[-1, 0], [-1, 1]], posteriors=[drop, keep], subspaces=pairs)
    assert_array_equal(ensemble.posteriors[0], keep)
    assert_array_equal(ensemble.subspaces[0], (keep, keep))


def test_defaults():
    ensemble = Ensemble([[0, 1], [1, 1]])
    assert ensemble.groups.tolist() == [0, 0]
    assert ensemble.validity.tolist() == [1.0, 1.0]
    assert ensemble.posteriors is None
    assert ensemble.subspaces is None
    assert ensemble.columns.tolist() == [0, 1]


def test_ensemble_of_an_ensemble(full):
    assert Ensemble(full) == full
    other = Ensemble(full, validity=[0, 0])
    assert other.validity.tolist() == [0, 0]
    assert other.groups.tolist() == full.groups.tolist()
    assert as_ensemble(full) is full
    assert as_ensemble([[0], [1]]) == Ensemble([[0], [1]])


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64, ">i4"])
@pytest.mark.parametrize("block", [1, 3, 1 << 20])
@given(labels=label_matrices())
def test_labels_that_are_codes_already_are_read_at_once(dtype, block, labels):
    one_by_one = [_encode.encode_column(column, 0) for column in labels.T]
    consecutive = np.column_stack([column.codes for column in one_by_one]).astype(dtype)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_encode, "_BLOCK", block)
        found = _encode.plain_columns(consecutive)
        assert found is not None
        for own, expected in zip(found, one_by_one, strict=True):
            assert_array_equal(own.codes, expected.codes)
            assert_array_equal(own.categories, np.arange(len(expected.categories)))
        # With a code left out they are not, nor with one that is too large or below -1.
        for odd in (len(labels), -2):
            other = consecutive.copy()
            other[0, 0] = odd
            assert _encode.plain_columns(other) is None
        if len(labels) > 2:
            assert _encode.plain_columns(np.full((len(labels), 2), 1, dtype=dtype)) is None


def test_codes_that_need_not_be_read_again_are_still_copied():
    given_labels = np.array([[0, 1], [1, 0], [2, -1]], dtype=np.int32)
    ensemble = Ensemble(given_labels)
    given_labels[0, 0] = 2
    assert ensemble.labels[0, 0] == 0
    assert [c.tolist() for c in ensemble.categories] == [[0, 1, 2], [0, 1]]


@pytest.mark.filterwarnings("ignore:posteriors.*another column")
def test_labels_name_columns_of_posteriors_that_are_nobodys():
    posterior = np.array([[0.8, 0.15, 0.05], [0.7, 0.2, 0.1], [0.05, 0.15, 0.8]])
    centres, weights = np.array([[0.0], [5.0], [9.0]]), np.array([[0.1], [0.2], [0.7]])
    for labels, order in (
        ([0, 0, 2], [0, 2, 1]),  # column 1 is nobody's
        ([1, 1, 2], [1, 2, 0]),
        ([0, 0, 1], [0, 1, 2]),
        (["0", "0", "2"], [0, 1, 2]),  # names are no numbers, nor are these:
        ([5, 5, 7], [0, 1, 2]),
    ):
        ensemble = Ensemble(
            [np.array(labels)], posteriors=[posterior], subspaces=[(centres, weights)]
        )
        assert_array_equal(ensemble.posteriors[0], posterior[:, order])
        assert_array_equal(ensemble.subspaces[0][0], centres[order])
        assert_array_equal(ensemble.subspaces[0][1], weights[order])
        # They are put in order once.
        assert Ensemble(ensemble) == ensemble
        assert ensemble.select([0]) == ensemble


def test_missing_labels_have_no_posteriors():
    posterior = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]])
    ensemble = Ensemble([[-1], [0], [1]], posteriors=[posterior])
    assert ensemble.posteriors[0].tolist() == [[0, 0], [0.8, 0.2], [0.3, 0.7]]
    assert posterior[0].tolist() == [0.9, 0.1]


def test_posteriors_against_their_labels_are_warned_of():
    labels = [[0], [0], [1], [-1]]
    posterior = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.3, 0.7]])
    Ensemble(labels, posteriors=[posterior])
    Ensemble(labels, posteriors=[np.full((4, 2), 0.5)])  # ties say nothing
    few = posterior.copy()
    few[0] = few[0, ::-1]
    Ensemble(labels, posteriors=[few])
    with pytest.warns(UserWarning, match=r"posteriors\[0\].*for 3 of 3 objects") as found:
        ensemble = Ensemble(labels, posteriors=[posterior[:, ::-1]])
    assert found[0].filename == __file__
    ensemble.select([0])  # said once


# --- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("labels", "kind", "words"),
    [
        ([0, 1, 2], ValueError, r"Expected 2D array.*got shape \(3,\).*np\.column_stack"),
        (pd.Series([0, 1]), ValueError, r"Expected 2D array.*got shape \(2,\)"),
        (3, ValueError, r"Expected 2D array.*got shape \(\)"),
        (None, ValueError, r"Expected 2D array.*got shape \(\)"),
        ("labels", ValueError, r"Expected 2D array.*got shape \(\)"),
        (np.zeros((2, 2, 2)), ValueError, r"got shape \(2, 2, 2\)\.$"),
        ([[0, 1], [0]], ValueError, r"rows of different lengths.*Mark objects .* with -1"),
        (
            [np.array([0, 1]), np.array([0, 1, 2])],
            ValueError,
            r"label vectors of lengths \[2, 3\]\. Mark objects .* with -1",
        ),
        ([], ValueError, r"Expected 2D array.*got shape \(0,\)"),
        (np.zeros((0, 3)), ValueError, r"at least one object and one partition; got 0 sample\(s\)"),
        (np.zeros((3, 0)), ValueError, r"0 feature\(s\)"),
        ([np.array([])], ValueError, r"got 0 sample\(s\) and 1 feature\(s\)"),
        (pd.DataFrame({"a": []}), ValueError, r"got 0 sample\(s\) and 1 feature\(s\)"),
        (pl.DataFrame(), ValueError, r"0 feature\(s\)"),
        (pd.DataFrame(index=[0, 1]), ValueError, r"0 feature\(s\)"),
        ([[0, 0.5], [1, 1]], ValueError, r"column 1 holds 0\.5\. .*ConsensusClustering"),
        (np.array([[1, 2.5]], dtype=object), ValueError, r"column 1 holds 2\.5"),
        ([[np.inf], [1]], ValueError, r"column 0 holds inf"),
        ([[1e300], [1]], ValueError, r"column 0 holds 1e\+300"),
        (pl.DataFrame({"a": [0.25, None]}), ValueError, r"column 0 holds 0\.25"),
        ([[1j]], ValueError, r"Complex data not supported.*column 0"),
        (
            np.array([["2020-01-01"]], dtype="datetime64[D]"),
            TypeError,
            r"column 0 has dtype datetime64\[D\]\. Convert it with \.astype\(str\)",
        ),
        (
            np.array([[{"a": 1}]], dtype=object),
            TypeError,
            r"must be a string or a number.*column 0 holds a dict",
        ),
        (sparse.csr_matrix([[1]]), TypeError, r"got a sparse matrix\. Pass labels\.toarray\(\)"),
        (pl.LazyFrame({"a": [1]}), TypeError, r"got a lazy frame\. Pass labels\.collect\(\)"),
        ([[-1], [None]], ValueError, r"every partition is missing on every object"),
        (np.full((2, 2), np.nan), ValueError, r"every partition is missing on every object"),
    ],
    ids=str,
)
def test_refused_labels(labels, kind, words):
    with pytest.raises(kind, match=words):
        Ensemble(labels)


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        ({"groups": ["a"]}, r"groups must have one entry per partition \(2\); got shape \(1,\)"),
        ({"groups": "a"}, r"groups must have one entry per partition \(2\); got shape \(\)"),
        ({"validity": [1, 1, 1]}, r"validity must have one entry per partition \(2\); got .*3"),
        ({"validity": [1, 1.01]}, r"validity must lie in \[0, 1\]"),
        ({"validity": [-0.01, 1]}, r"validity must lie in \[0, 1\]"),
        ({"validity": [np.nan, 1]}, r"validity must lie in \[0, 1\]"),
        ({"validity": ["good", 1]}, r"validity must be numbers in \[0, 1\]"),
        ({"posteriors": [np.eye(2)]}, r"posteriors must be one array per partition \(2\); got 1"),
        (
            {"posteriors": [np.eye(2), np.ones((3, 1))]},
            r"posteriors\[1\] must have shape \(2, 1\).*got \(3, 1\)",
        ),
        ({"posteriors": [np.ones((2, 1))] * 2}, r"posteriors\[0\] must have shape \(2, 2\)"),
        ({"posteriors": [np.ones(2)] * 2}, r"posteriors\[0\] must have shape \(2, 2\)"),
        ({"posteriors": [-np.eye(2)] * 2}, r"posteriors\[0\] must be finite and not negative"),
        ({"posteriors": [np.full((2, 2), np.inf)] * 2}, r"posteriors\[0\] must be finite"),
        (
            {"posteriors": [np.full((2, 2), np.nan)] * 2},
            r"posteriors\[0\] must be finite.*; got nan.* row of 0",
        ),
        ({"subspaces": [(np.eye(2), -np.eye(2))] * 2}, r"subspaces\[0\] .*negative.*; got -1"),
        (
            {"subspaces": [(np.eye(2), np.full((2, 2), np.nan))] * 2},
            r"subspaces\[0\] must be finite",
        ),
        ({"subspaces": [(np.eye(2), np.eye(2))]}, r"subspaces must be one pair .* \(2\); got 1"),
        (
            {"subspaces": [(np.eye(2), np.eye(3))] * 2},
            r"subspaces\[0\] must be two arrays of shape \(2, n_features\); got .* and \(3, 3\)",
        ),
        (
            {"subspaces": [(np.ones((1, 2)), np.ones((1, 2)))] * 2},
            r"subspaces\[0\] must have a row for each of the 2 clusters; got 1",
        ),
    ],
)
def test_refused_extras(extra, words):
    with pytest.raises(ValueError, match=words):
        Ensemble([[0, 5], [1, 5]], **extra)


# --- immutability --------------------------------------------------------------------------------


def test_nothing_can_be_changed(full):
    for name in ("labels", "groups", "new"):
        with pytest.raises(AttributeError, match=f"immutable: cannot set '{name}'"):
            setattr(full, name, 1)
    with pytest.raises(AttributeError, match="immutable: cannot delete 'labels'"):
        del full.labels
    assert not any(array.flags.writeable for array in arrays_of(full))


@pytest.mark.parametrize(
    "duplicate",
    [
        copy.copy,
        copy.deepcopy,
        lambda ensemble: pickle.loads(pickle.dumps(ensemble)),
        lambda ensemble: ensemble.select(slice(None)),
        lambda ensemble: ensemble.select([1, 0]),
        lambda ensemble: ensemble.take([2, 1, 0]),
        lambda ensemble: ensemble.concat(ensemble),
        Ensemble,
    ],
)
def test_nothing_can_be_changed_in_a_copy(full, duplicate):
    full.overlap  # noqa: B018  # computed before copying
    assert not any(array.flags.writeable for array in arrays_of(duplicate(full)))


def test_pickling_keeps_everything(full):
    again = pickle.loads(pickle.dumps(full))
    assert again == full
    assert again.labels is not full.labels
    assert_array_equal(again.overlap, full.overlap)


def test_input_is_neither_frozen_nor_shared():
    labels = np.array([[0, 1], [1, 1]], dtype=np.int32)
    groups, validity = np.array([3, 4]), np.array([0.5, 0.5])
    posterior, centres, weights = np.eye(2), np.eye(2), np.eye(2)
    given_arrays = [labels, groups, validity, posterior, centres, weights]
    before = [array.copy() for array in given_arrays]
    ensemble = Ensemble(
        labels,
        groups=groups,
        validity=validity,
        posteriors=[posterior, posterior],
        subspaces=[(centres, weights)] * 2,
    )
    for array, copied in zip(given_arrays, before, strict=True):
        assert array.flags.writeable
        assert_array_equal(array, copied)
        assert not any(np.shares_memory(array, own) for own in arrays_of(ensemble))


def test_read_only_view_of_an_open_array_is_copied():
    base = np.eye(2)
    view = base.view()
    view.flags.writeable = False
    ensemble = Ensemble([[0], [1]], posteriors=[view], subspaces=[(view, view)])
    base[:] = 7
    assert_array_equal(ensemble.posteriors[0], np.eye(2))
    assert_array_equal(ensemble.subspaces[0][0], np.eye(2))


def test_results_belong_to_the_caller(full):
    full.coassociation()[:] = 7
    assert full.coassociation().max() == 1
    np.asarray(full)[:] = 7
    assert full.labels.max() == 1


def test_as_array(full):
    assert np.asarray(full).dtype == np.int32
    assert np.asarray(full, dtype=float).tolist() == full.labels.tolist()
    assert np.array(full, copy=False) is not None
    with pytest.raises(ValueError, match="another dtype needs a copy"):
        np.array(full, dtype=float, copy=False)


def test_equality():
    one = Ensemble([["a", 1], ["b", 2]])
    assert one == Ensemble([["a", 1], ["b", 2]])
    assert one != Ensemble([["a", 1], ["c", 2]])  # other names
    assert one != Ensemble([["a", 1], ["b", 2]], validity=[1, 0])
    assert one != Ensemble([["a", 1], ["b", 2]], posteriors=[np.eye(2)] * 2)
    assert one != [["a", 1], ["b", 2]]
    with pytest.raises(TypeError, match="unhashable"):
        hash(one)


def test_repr():
    assert repr(Ensemble([[0, 0], [1, 1]])) == "Ensemble(2 objects, 2 partitions with 2 clusters)"
    assert repr(Ensemble([[0, 0], [-1, 1]])) == (
        "Ensemble(2 objects, 2 partitions with 1 to 2 clusters, 25% missing)"
    )


# --- the matrix of pairs -------------------------------------------------------------------------


def test_objects_never_seen_together_have_coassociation_0():
    matrix = Ensemble([[0, -1], [-1, 0], [-1, -1], [0, 0]]).coassociation()
    assert matrix.tolist() == [[1, 0, 0, 1], [0, 1, 0, 1], [0, 0, 0, 0], [1, 1, 0, 1]]


def test_coassociation_past_the_limit(monkeypatch):
    ensemble = Ensemble(np.arange(100)[:, None])
    assert ensemble.coassociation(memory_limit=80_000).shape == (100, 100)
    words = (
        r"the co-association matrix of 100 objects \(float64\) would take 78\.1 kB, over the "
        r"memory limit of 78\.1 kB.*fit one on the ensemble.*COTERIE_MEMORY_LIMIT"
    )
    with pytest.raises(MemoryLimitError, match=words):
        ensemble.coassociation(memory_limit=79_999)
    assert ensemble.coassociation(dtype="float32", memory_limit=79_999).dtype == np.float32
    monkeypatch.setenv("COTERIE_MEMORY_LIMIT", "1kB")
    with pytest.raises(MemoryLimitError, match=r"over the memory limit of 1\.0 kB"):
        ensemble.coassociation()
    with pytest.raises(MemoryLimitError, match=r"the overlap of 100 clusters .* \(select\)"):
        ensemble.overlap  # noqa: B018


def test_coassociation_is_of_floats():
    with pytest.raises(TypeError, match="dtype must be a float dtype such as float32; got int64"):
        Ensemble([[0], [1]]).coassociation(dtype=np.int64)


# --- ensembles from ensembles --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("columns", "kept"),
    [
        ([1], [1]),
        (1, [1]),
        ([1, 0, 1], [1, 0, 1]),
        ([-1], [1]),
        (slice(None, None, -1), [1, 0]),
        ([False, True], [1]),
        (np.array([0], dtype=np.uint8), [0]),
    ],
)
def test_select(full, columns, kept):
    chosen = full.select(columns)
    assert_array_equal(chosen.labels, full.labels[:, kept])
    assert chosen.groups.tolist() == [full.groups[e] for e in kept]
    assert chosen.validity.tolist() == [full.validity[e] for e in kept]
    for out, e in enumerate(kept):
        assert_array_equal(chosen.categories[out], full.categories[e])
        assert_array_equal(chosen.posteriors[out], full.posteriors[e])
        assert_array_equal(chosen.subspaces[out], full.subspaces[e])


@pytest.mark.parametrize(
    ("columns", "kind", "words"),
    [
        ([2], IndexError, r"columns must name some of the 2 partitions \(0 to 1\)"),
        ([True], IndexError, r"or be a mask of that length"),
        (["a"], TypeError, r"columns must be positions .* slice; got <U1"),
        ([0.0], TypeError, r"got float64"),
        ([[0, 1]], ValueError, r"columns must have one axis; got shape \(1, 2\)"),
        ([False, False], ValueError, r"at least one partition; got none"),
        (slice(5, 9), ValueError, r"at least one partition; got none"),
    ],
)
def test_select_refuses(full, columns, kind, words):
    with pytest.raises(kind, match=words):
        full.select(columns)


@given(labels=label_matrices(), data=st.data())
def test_take_is_the_ensemble_of_the_rows(labels, data):
    objects = data.draw(st.lists(st.integers(0, len(labels) - 1), min_size=1))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "dropped")
        try:
            expected = Ensemble(labels[objects], validity=np.linspace(0, 1, labels.shape[1]))
        except ValueError:
            with pytest.raises(ValueError, match="every partition is missing"):
                Ensemble(labels).take(objects)
            return
        whole = Ensemble(labels, validity=np.linspace(0, 1, labels.shape[1]))
        assert whole.take(objects) == expected


def test_take_with_masks_and_slices(full):
    assert full.take([True, False, False, True]).labels.tolist() == [[0, 0], [0, -1]]
    assert full.take(slice(1, 3)).categories[1].tolist() == [3, 4]
    assert full.take(2 - 1).labels.tolist() == [[0, 0]]
    assert full.take([0]).posteriors is None


@pytest.mark.parametrize(
    ("objects", "kind", "words"),
    [
        ([], ValueError, r"objects must name at least one object; got none"),
        ([4], IndexError, r"objects must name some of the 4 objects \(0 to 3\)"),
        ([True], IndexError, r"or be a mask of that length"),
        ([0.5], TypeError, r"objects must be positions .* got float64"),
        ([[0]], ValueError, r"shape \(1, 1\)"),
    ],
)
def test_take_refuses(full, objects, kind, words):
    with pytest.raises(kind, match=words):
        full.take(objects)


def test_concat(full):
    hard = Ensemble([[9], [8], [-1], [9]])
    joined = full.concat(hard)
    assert joined == Ensemble.concat([full, hard]) == Ensemble.concat(full, [hard])
    assert_array_equal(joined.labels, np.hstack([full.labels, hard.labels]))
    assert [c.tolist() for c in joined.categories] == [["a", "b"], [3, 4], [8, 9]]
    assert joined.groups.tolist() == ["k-means", "ward", "0"]
    assert joined.validity.tolist() == [0.25, 1, 1]
    # A missing label is a membership of 0 everywhere.
    assert joined.posteriors[2].tolist() == [[0, 1], [1, 0], [0, 0], [0, 1]]
    assert joined.subspaces is None
    both = full.concat(full)
    assert len(both.subspaces) == 4
    assert hard.concat(hard).posteriors is None
    assert hard.concat().labels.tolist() == hard.labels.tolist()


def test_concat_is_undone_by_select(full):
    assert full.concat(full).select([0, 1]) == full


def test_concat_refuses(full):
    with pytest.raises(TypeError, match=r"concat joins ensembles; wrap .* Ensemble\(labels\)"):
        full.concat([[0], [1]])
    with pytest.raises(TypeError, match="concat joins ensembles"):
        Ensemble.concat([])
    with pytest.raises(ValueError, match=r"same objects to be joined; got \[1, 4\] objects"):
        full.concat(Ensemble([[0]]))


def test_memberships(full):
    assert full.memberships() is full.posteriors
    hard = Ensemble([[0, 1], [-1, 2]]).memberships()
    assert [array.tolist() for array in hard] == [[[1], [0]], [[1, 0], [0, 1]]]


# --- new rows ------------------------------------------------------------------------------------


def test_encode_new_rows(full):
    rows = [["b", 4], ["z", 99], [None, np.nan], ["a", "3"]]
    assert full.encode(rows).tolist() == [[1, 1], [2, 2], [-1, -1], [0, 0]]
    assert full.encode(full).tolist() == full.labels.tolist()


def test_encode_numbers_read_as_text():
    ensemble = Ensemble([[10], [9], [-5]])
    assert ensemble.encode([["9"], ["10"], ["-5"], ["x"]]).ravel().tolist() == [1, 2, 0, 3]
    assert Ensemble([["10"], ["9"]]).encode([[9], [10], [7]]).ravel().tolist() == [1, 0, 2]


@given(labels=label_matrices())
def test_encode_of_the_own_rows_is_the_codes(labels):
    ensemble = Ensemble(labels)
    assert_array_equal(ensemble.encode(labels), ensemble.labels)
    assert_array_equal(ensemble.encode(labels[:1]), ensemble.labels[:1])
    assert_array_equal(ensemble.encode(Ensemble(labels)), ensemble.labels)


@pytest.mark.filterwarnings("ignore:dropped")
def test_encode_when_columns_were_dropped():
    known = Ensemble([[-1, 0, 5], [-1, 1, 6]])
    # As many columns as were given, or as there are partitions.
    assert known.encode([[7, 1, 5]]).tolist() == [[1, 0]]
    assert known.encode([[1, 5]]).tolist() == [[1, 0]]
    # An ensemble of new rows that has dropped another column: matched by place, not by number.
    other = Ensemble([[7, -1, 6], [7, -1, 5]])
    assert other.n_partitions == known.n_partitions
    assert known.encode(other).tolist() == [[-1, 1], [-1, 0]]
    assert Ensemble([[0, 1], [1, 1]]).encode(Ensemble([[-1, 1]])).tolist() == [[-1, 0]]


def test_encode_refuses_other_numbers_of_columns(full):
    with pytest.raises(ValueError, match=r"new label rows must have 2 columns, .*; got 3"):
        full.encode([[0, 1, 2]])
    with pytest.raises(ValueError, match=r"new label rows must have 2 columns, .*; got 1"):
        full.encode(Ensemble([[0]]))


# --- files ---------------------------------------------------------------------------------------


def reloaded(ensemble, path):
    ensemble.save(path)
    return Ensemble.load(path)


def test_save_and_load_everything(full, tmp_path):
    path = tmp_path / "whatever.xyz"
    again = reloaded(full, path)
    assert again == full
    assert again.labels.dtype == np.int32
    assert not any(array.flags.writeable for array in arrays_of(again))
    assert [p.name for p in tmp_path.iterdir()] == ["whatever.xyz"]
    with np.load(path, allow_pickle=False) as archive:  # no pickle inside
        assert all(archive[name].dtype.kind != "O" for name in archive.files)


@given(labels=st.one_of(label_matrices(), string_tables()))
def test_save_and_load_labels(tmp_path_factory, labels):
    ensemble = Ensemble(labels)
    assert reloaded(ensemble, tmp_path_factory.mktemp("saved") / "e.npz") == ensemble


@pytest.mark.filterwarnings("ignore:dropped")
def test_save_and_load_remember_dropped_columns(tmp_path):
    ensemble = Ensemble([[-1, 0, 5], [-1, 1, 6]], groups=["x", "y", "z"])
    again = reloaded(ensemble, tmp_path / "e")
    assert again == ensemble
    assert again.n_columns == 3
    assert again.columns.tolist() == [1, 2]
    assert again.encode([[0, 1, 5]]).tolist() == [[1, 0]]


@pytest.mark.parametrize("groups", [[1, 2], ["ä", "b"], [0.5, 1.5], [True, False], None])
def test_save_and_load_groups(tmp_path, groups):
    ensemble = Ensemble([[0, 1], [1, 1]], groups=groups)
    again = reloaded(ensemble, tmp_path / "e")
    assert again == ensemble
    assert again.groups.dtype == ensemble.groups.dtype


def test_load_refuses_what_is_no_ensemble(tmp_path, full):
    path = tmp_path / "e.npz"
    full.save(path)
    whole = path.read_bytes()
    with pytest.raises(FileNotFoundError):
        Ensemble.load(tmp_path / "none")
    np.save(tmp_path / "a.npy", np.eye(2))
    np.savez(tmp_path / "b.npz", a=np.eye(2))
    np.save(tmp_path / "object.npy", np.array([{}], dtype=object), allow_pickle=True)
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "text.csv").write_text("a,b\n1,2\n")
    names = ["a.npy", "b.npz", "object.npy", "empty", "text.csv"]
    for length in (3, len(whole) // 2, len(whole) - 1):
        (tmp_path / f"cut{length}").write_bytes(whole[:length])
        names.append(f"cut{length}")
    for name in names:
        with pytest.raises(ValueError, match=f"{name} is not an ensemble file"):
            Ensemble.load(tmp_path / name)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"format": 99}, r"was written by a newer coterie \(format 99\); update coterie"),
        ({"labels": np.array([[0, 7]] * 4)}, "codes of partition 1 do not fit its categories"),
        ({"labels": np.array([[-2, 0]] * 4)}, "codes of partition 0 do not fit its categories"),
        ({"labels": np.array([0, 1])}, "not an ensemble file"),
        ({"labels": np.zeros((4, 2))}, "labels must be a table of integers"),
        ({"validity": np.array([3.0, 1.0])}, r"not an ensemble file: validity must lie"),
        ({"groups": None}, "not an ensemble file"),
        ({"columns": None}, "not an ensemble file"),
        ({"categories_1": None}, "not an ensemble file"),
        ({"weights_1": None}, "not an ensemble file"),
    ],
)
def test_load_checks_what_it_reads(tmp_path, full, change, words):
    arrays = {**to_arrays(full), **change}
    write_archive(tmp_path / "e.npz", {k: v for k, v in arrays.items() if v is not None})
    with pytest.raises(ValueError, match=words):
        Ensemble.load(tmp_path / "e.npz")


def through_csv(ensemble, path, **options):
    ensemble.to_csv(path, **options)
    return Ensemble.from_csv(path, **options)


@given(labels=st.one_of(label_matrices(), string_tables()))
def test_csv_keeps_the_partitions(tmp_path_factory, labels):
    ensemble = Ensemble(labels)
    again = through_csv(ensemble, tmp_path_factory.mktemp("csv") / "labels.csv")
    assert again.shape == ensemble.shape
    for e in range(ensemble.n_partitions):
        assert_array_equal(again.labels[:, e] < 0, ensemble.labels[:, e] < 0)
        assert naive.same_partition(again.labels[:, e], ensemble.labels[:, e])


@pytest.mark.parametrize(
    "names",
    [
        ["01", "1", "001"],
        ["", "a", " "],
        ["a,b", 'quote "', "two\nlines"],
        ["true", "false", "True"],
        ["2020-01-01", "2021-01-01", "x"],
        ["-1", "a", "b"],
        ["inf", "nan", "NaN"],
        [3, 0, -7],
        [2**62, -(2**62), 5],
    ],
)
def test_csv_keeps_the_names(tmp_path, names):
    ensemble = Ensemble([[name] for name in [*names, None, names[0]]])
    assert through_csv(ensemble, tmp_path / "labels.csv") == ensemble
    assert through_csv(ensemble, tmp_path / "labels.tsv", separator="\t") == ensemble


@pytest.mark.parametrize("names", [["-1", "1"], ["-1.0", "2.0"]])
def test_csv_refuses_names_that_it_would_lose(tmp_path, names):
    with pytest.raises(ValueError, match=r"cluster of the name '-1'.*Rename it, or use save"):
        Ensemble([[name] for name in names]).to_csv(tmp_path / "x.csv")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("text", "codes", "names"),
    [
        ("a\n1.0\n\n-1.0\n2.0\n", [0, -1, -1, 1], [1, 2]),  # as pandas writes integers and NaN
        ("a\n1\nNaN\n2.0\n", [0, -1, 1], [1, 2]),
        ("a\n1.000e+00\n2.000e+00\n", [0, 1], [1, 2]),  # as numpy.savetxt writes
        ("a\n01\n1\n", [0, 1], ["01", "1"]),
        ("a\n18446744073709551616\n1\n", [1, 0], ["1", "18446744073709551616"]),
    ],
)
def test_csv_of_others(tmp_path, text, codes, names):
    (tmp_path / "labels.csv").write_text(text)
    ensemble = Ensemble.from_csv(tmp_path / "labels.csv")
    assert ensemble.labels.ravel().tolist() == codes
    assert ensemble.categories[0].tolist() == names


def test_csv_with_names_of_objects(tmp_path):
    (tmp_path / "x.csv").write_text("id,a,b\nu,0,x\nv,1,\n")
    ensemble = Ensemble.from_csv(tmp_path / "x.csv", id_column="id")
    assert ensemble.labels.tolist() == [[0, 0], [1, -1]]
    with pytest.raises(
        ValueError, match=r"id_column must name a column of .*; got 'name', .* are id, a, b\."
    ):
        Ensemble.from_csv(tmp_path / "x.csv", id_column="name")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "x.csv is empty"),
        ("a,b\n1,2,3\n", "line 2 has 3 fields, the first line has 2"),
        ("a,b\n1,2\n3\n", "line 3 has 1 field, the first line has 2"),
        ("a,a\n1,2\n", "two columns with the name 'a'"),
        ("a,b\n", r"got 0 sample\(s\)"),
        ("a\n0.5\n1.5\n", r"column 0 holds 0\.5"),
        ("a,b\n,\n,\n", "every partition is missing"),
    ],
)
def test_csv_that_is_refused(tmp_path, text, words):
    (tmp_path / "x.csv").write_text(text)
    with pytest.raises(ValueError, match=words):
        Ensemble.from_csv(tmp_path / "x.csv")


def test_csv_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError):
        Ensemble.from_csv(tmp_path / "none.csv")


def test_csv_names_the_columns_of_the_input(tmp_path):
    with pytest.warns(UserWarning, match="dropped"):
        Ensemble([[-1, 0], [-1, 1]]).to_csv(tmp_path / "x.csv")
    assert (tmp_path / "x.csv").read_text() == "partition_1\n0\n1\n"


# --- names of partitions --------------------------------------------------------------------------

VOTES = [[0, 0, 1], [0, 1, 1], [1, 1, 0]]
NAMED = ["kmeans3", "ward3", "random"]


@pytest.mark.parametrize(
    "labels",
    [
        pd.DataFrame(VOTES, columns=NAMED),
        pl.DataFrame(VOTES, schema=NAMED, orient="row"),
        [pd.Series([row[e] for row in VOTES], name=name) for e, name in enumerate(NAMED)],
        Ensemble(VOTES, names=NAMED),
    ],
    ids=["pandas", "polars", "series", "ensemble"],
)
def test_names_come_from_the_input(labels):
    assert Ensemble(labels).names == tuple(NAMED)
    assert Ensemble(labels, names=["a", "b", "c"]).names == ("a", "b", "c")


@pytest.mark.parametrize("labels", [VOTES, np.array(VOTES), pd.DataFrame(VOTES)])
def test_without_names_partitions_are_counted(labels):
    assert Ensemble(labels).names == ("partition_0", "partition_1", "partition_2")


def test_names_are_kept(tmp_path):
    ensemble = Ensemble(VOTES, names=NAMED)
    ensemble.save(tmp_path / "x.npz")
    ensemble.to_csv(tmp_path / "x.csv")
    assert (tmp_path / "x.csv").read_text().startswith("kmeans3,ward3,random\n")
    for again in (
        Ensemble.load(tmp_path / "x.npz"),
        Ensemble.from_csv(tmp_path / "x.csv"),
        ensemble.take([0, 2]),
        pickle.loads(pickle.dumps(ensemble)),
    ):
        assert again.names == tuple(NAMED)
    assert ensemble.select([2, 0]).names == ("random", "kmeans3")
    assert ensemble != Ensemble(VOTES)


def test_names_of_joined_ensembles_stay_apart():
    plain, named = Ensemble(VOTES), Ensemble(VOTES, names=NAMED)
    assert plain.concat(plain).names == tuple(f"partition_{i}" for i in range(6))
    assert named.concat(plain).names == (*NAMED, "partition_0", "partition_1", "partition_2")
    assert named.concat(named).names == (*NAMED, "kmeans3_2", "ward3_2", "random_2")


def test_names_that_occur_again_are_numbered():
    assert Ensemble(VOTES, names=["a", "a", "a"]).names == ("a", "a_2", "a_3")
    assert Ensemble(VOTES, names=["a", "a", "a_2"]).names == ("a", "a_3", "a_2")
    twice = pd.DataFrame(VOTES, columns=["a", "b", "a"])
    assert Ensemble(twice).names == ("a", "b", "a_2")
    with pytest.raises(ValueError, match=r"one name per partition \(3\); got 1"):
        Ensemble(VOTES, names="abc")


def test_a_file_of_the_first_format_is_read(tmp_path):
    path = tmp_path / "x.npz"
    with pytest.warns(UserWarning, match="dropped"):
        ensemble = Ensemble([[-1, 0], [-1, 1]])
    ensemble.save(path)
    with np.load(path) as archive:
        arrays = {name: archive[name] for name in archive.files}
    del arrays["names"], arrays["checksum"]
    np.savez(path, **arrays)
    with pytest.raises(ValueError, match=r"x\.npz is not an ensemble file: it has no checksum"):
        Ensemble.load(path)
    np.savez(path, **(arrays | {"format": 1}))
    assert Ensemble.load(path) == ensemble


@pytest.mark.parametrize("dtype", [np.int32, np.int64, float, object])
def test_missing_integer_of_r_is_missing(dtype):
    na = -(2**31)
    ensemble = Ensemble(np.array([[1, 7], [na, 7], [2, na], [2, -1]]).astype(dtype))
    np.testing.assert_array_equal(ensemble.labels, [[0, 0], [-1, 0], [1, -1], [1, -1]])
    assert [c.tolist() for c in ensemble.categories] == [[1, 2], [7]]
    np.testing.assert_array_equal(ensemble.encode([[na, 7]]), [[-1, 0]])


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_anndata_is_refused_at_once():
    anndata = pytest.importorskip("anndata")
    adata = anndata.AnnData(np.eye(5, dtype=np.float32))
    takers = [
        Ensemble,
        *(maker().fit for maker in (coterie.RandomizedEnsemble, coterie.LAC, coterie.USPEC)),
        *(maker().fit for maker in (coterie.BoostKMeans, coterie.EAC, coterie.TablePreparation)),
        coterie.ConsensusClustering().fit,
        coterie.how_many_clusters,
        coterie.structure_test,
        coterie.compare,
    ]
    for take in takers:
        with pytest.raises(TypeError, match=r"coterie\.anndata\.cluster\(adata\)"):
            take(adata)


def test_mapping_of_label_vectors_is_named_columns():
    found = Ensemble({"a": [0, 0, 1], "b": np.array([5, -1, 5]), "c": ["x", None, "NA"]})
    assert found.names == ("a", "b", "c")
    assert found.labels.tolist() == [[0, 0, 1], [0, -1, -1], [1, 0, 0]]
    with pytest.raises(ValueError, match="label vectors of lengths"):
        Ensemble({"a": [0, 0, 1], "b": [0, 1]})
