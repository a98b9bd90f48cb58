"""Agreement within an ensemble, against the definitions column by column."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import naive
from coterie import metrics
from coterie.ensemble import Ensemble

PAIRWISE = {"pairwise_nmi": naive.nmi, "pairwise_ari": naive.ari}
every_score = pytest.mark.parametrize("name", sorted(PAIRWISE))


@st.composite
def label_matrices(draw, min_partitions=1):
    shape = draw(st.tuples(st.integers(1, 10), st.integers(min_partitions, 5)))
    low = draw(st.sampled_from([-1, 0]))
    matrix = draw(hnp.arrays(np.int64, shape, elements=st.integers(low, 3)))
    assume((matrix >= 0).any(axis=0).all())
    return matrix


@every_score
@settings(deadline=None)
@given(labels=label_matrices())
def test_pairwise_scores_match_the_definition(name, labels):
    expected = naive.pairwise_scores_of(labels, PAIRWISE[name])
    np.fill_diagonal(expected, 1.0)
    ensemble = Ensemble(labels)
    found = getattr(metrics, name)(ensemble)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    np.testing.assert_array_equal(found, found.T)


@pytest.mark.parametrize(("name", "score"), [("pairwise_nmi", "nmi"), ("pairwise_ari", "ari")])
def test_pairwise_scores_are_those_of_two_partitions(name, score):
    rng = np.random.default_rng(0)
    labels = np.column_stack([rng.integers(k, size=400) for k in (1, 2, 3, 7, 20, 400, 60, 2)])
    found = getattr(metrics, name)(labels)
    for e, f in [(0, 1), (1, 2), (2, 6), (3, 4), (4, 5), (5, 5), (1, 7)]:
        expected = getattr(metrics, score)(labels[:, e], labels[:, f])
        assert found[e, f] == pytest.approx(expected, abs=1e-12)


@every_score
@settings(deadline=None)
@given(labels=label_matrices(), data=st.data())
def test_equal_partitions_score_exactly_one(name, labels, data):
    names = np.array(data.draw(st.permutations(range(4))))
    twins = [labels[:, 0], np.where(labels[:, 0] < 0, -1, names[labels[:, 0]])]
    assert (getattr(metrics, name)(np.column_stack(twins)) == 1.0).all()


@every_score
def test_nearly_constant_partitions_lose_no_digits(name):
    n = 1_000_000
    labels = np.zeros((n, 2), dtype=int)
    labels[0] = [1, 1]
    labels[1, 1] = 2
    found = getattr(metrics, name)(labels)[0, 1]
    if name == "pairwise_ari":
        # Pairs: both n' = (n-1)(n-2)/2 - (n-2), second part only cut: exact in rationals.
        both = math.comb(n - 2, 2)
        t1, t2, pairs = math.comb(n - 1, 2), math.comb(n - 2, 2), math.comb(n, 2)
        expected = 2 * (both * pairs - t1 * t2) / ((t1 + t2) * pairs - 2 * t1 * t2)
    else:
        p = 1 / n
        first = -p * math.log(p) - (1 - p) * math.log1p(-p)
        second = -2 * p * math.log(p) - (1 - 2 * p) * math.log1p(-2 * p)
        expected = first / math.sqrt(first * second)  # the first follows from the second
    assert found == pytest.approx(expected, rel=1e-9)


@every_score
def test_partitions_without_common_objects(name):
    labels = [[0, -1, 0], [1, -1, 0], [-1, 0, 1], [-1, 1, 1]]
    found = getattr(metrics, name)(labels)
    assert np.isnan(found[0, 1])
    assert np.isnan(found[1, 0])
    assert np.isfinite(np.delete(found.ravel(), [1, 3])).all()


# --- diversity --------------------------------------------------------------------------------


@settings(deadline=None)
@given(labels=label_matrices(min_partitions=2))
def test_pairwise_diversity_matches_formula_14(labels):
    n_partitions = labels.shape[1]
    for diversity, score in [(metrics.diversity_nmi, naive.nmi), (metrics.diversity_p, naive.ari)]:
        terms = [
            1 - score(*naive.common_objects(labels[:, i], labels[:, j]))
            for i in range(n_partitions - 1)
            for j in range(i + 1, n_partitions)
            if naive.common_objects(labels[:, i], labels[:, j])[0]
        ]
        if terms:
            assert diversity(labels) == pytest.approx(sum(terms) / len(terms), abs=1e-12)
        else:
            with pytest.raises(ValueError, match="no two partitions of this ensemble saw"):
                diversity(labels)


@settings(deadline=None)
@given(labels=label_matrices(min_partitions=2), data=st.data())
def test_diversity_from_the_consensus_matches_formula_16(labels, data):
    n, n_partitions = labels.shape
    consensus = np.array(data.draw(st.lists(st.integers(-1, 3), min_size=n, max_size=n)))
    departures = []
    for column in labels.T:
        seen = column >= 0
        departures.append(1 - naive.ari(column[seen], consensus[seen]))
    np1 = sum(departures) / n_partitions
    np2 = math.sqrt(sum((d - np1) ** 2 for d in departures) / (n_partitions - 1))
    assert metrics.diversity_np1(labels, consensus) == pytest.approx(np1, abs=1e-12)
    assert metrics.diversity_np2(labels, consensus) == pytest.approx(np2, abs=1e-7)
    assert metrics.diversity_ari(labels, consensus) == pytest.approx((1 - np1 + np2) / 2, abs=1e-7)


@settings(max_examples=20, deadline=None)
@given(column=st.lists(st.integers(0, 3), min_size=2, max_size=10), n_partitions=st.integers(2, 5))
def test_identical_members(column, n_partitions):
    labels = np.column_stack([column] * n_partitions)
    assert metrics.diversity_nmi(labels) == 0.0
    assert metrics.diversity_p(labels) == 0.0
    assert metrics.diversity_np1(labels, column) == 0.0
    assert metrics.diversity_np2(labels, column) == 0.0
    assert metrics.diversity_ari(labels, column) == 0.5


def test_golden_diversity():
    # By hand: ar of {01|23} with {01|2|3} is (1 - 1/3) / (3/2 - 1/3) = 4/7; NMI is
    # log 2 / sqrt(log 2 * 3/2 log 2) = sqrt(2/3).
    labels, consensus = [[0, 0], [0, 0], [1, 1], [1, 2]], [0, 0, 1, 1]
    assert metrics.diversity_nmi(labels) == pytest.approx(1 - math.sqrt(2 / 3))
    assert metrics.diversity_p(labels) == pytest.approx(3 / 7)
    assert metrics.diversity_np1(labels, consensus) == pytest.approx(3 / 14)
    assert metrics.diversity_np2(labels, consensus) == pytest.approx(3 / 14 * math.sqrt(2))
    expected = (1 - 3 / 14 + 3 / 14 * math.sqrt(2)) / 2
    assert metrics.diversity_ari(labels, consensus) == pytest.approx(expected)


def test_pairs_without_common_objects_are_left_out():
    labels = [[0, -1, 0], [1, -1, 0], [-1, 0, 1], [-1, 1, 1]]
    # The first two share no object; each shares two with the third, which has them together.
    assert metrics.diversity_nmi(labels) == 1.0
    assert metrics.diversity_p(labels) == 1.0
    with pytest.raises(ValueError, match="no two partitions of this ensemble saw an object"):
        metrics.diversity_nmi(np.array(labels)[:, :2])


def test_one_partition_has_no_diversity():
    labels = [[0], [1], [1]]
    for diversity in (metrics.diversity_nmi, metrics.diversity_p):
        with pytest.raises(ValueError, match="at least two partitions; got 1"):
            diversity(labels)
    for diversity in (metrics.diversity_np2, metrics.diversity_ari):
        with pytest.raises(ValueError, match="at least two partitions; got 1"):
            diversity(labels, [0, 1, 1])
    assert metrics.diversity_np1(labels, [0, 1, 1]) == 0.0
    assert metrics.pairwise_nmi(labels).tolist() == [[1.0]]


def test_consensus_must_label_the_objects():
    for diversity in (metrics.diversity_np1, metrics.diversity_np2, metrics.diversity_ari):
        with pytest.raises(ValueError, match="consensus must have one label for each of the 3"):
            diversity([[0, 1], [1, 1], [1, 0]], [0, 1])
