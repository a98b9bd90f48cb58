"""Rearranging the clusters of PEACE."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

import naive
from coterie import Ensemble
from coterie.consensus import _peace_moves as moves
from coterie.consensus._peace import Problem
from strategies import label_matrices, noisy_labels


@given(labels=label_matrices(max_objects=9), draw=st.integers(0, 5))
def test_votes_within_and_between_groups(labels, draw):
    ensemble = Ensemble(labels)
    groups = np.random.default_rng(draw).integers(0, 3, len(ensemble.patterns.counts))
    votes = moves.Votes.of(Problem.of_patterns(ensemble))
    together, observed = moves.pair_votes(votes.tables(groups, 3))
    c, N = naive.pair_counts(labels)
    of_object = groups[ensemble.patterns.inverse]
    expected = np.zeros((2, 3, 3))
    for i, j in itertools.combinations(range(len(labels)), 2):
        u, v = sorted((of_object[i], of_object[j]))
        expected[:, u, v] += c[i, j], N[i, j]
    np.testing.assert_allclose(np.triu(together), expected[0])
    np.testing.assert_allclose(np.triu(observed), expected[1])
    np.testing.assert_allclose(together, together.T)


def test_likelihood_of_blocks():
    # The binomial coefficients are left out, as in PEACE's likelihood.
    for c, n in ((0, 5), (5, 5), (2, 5), (0, 0)):
        found = moves.block_likelihood(np.array([c * 1.0]), np.array([n * 1.0]))[0]
        share = c / n if n else 0.0
        coefficient = binom.logpmf(c, n, 0.5) - n * np.log(0.5) if n else 0.0
        expected = binom.logpmf(c, n, share) - coefficient if n else 0.0
        assert found == pytest.approx(expected)


def test_rows_are_divided_into_their_two_groups(seed):
    truth, labels = noisy_labels(seed, 60, 15, noise=0.2, n_clusters=2, missing=0.1)
    votes = moves.Votes.of(Problem.of_objects(Ensemble(labels)))
    assert naive.same_partition(moves.divide(votes), truth)


CUT_ACROSS = [[0, 1], [0, 1], [2, 2], [3, 3]]
SHARED = [[0, 0], [0, 0], [1, 2], [3, 3]]


@pytest.mark.parametrize("halves", [CUT_ACROSS, SHARED])
@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_bad_optima_are_left(halves, missing):
    truth, labels = noisy_labels(3, 120, 30, noise=0.2, n_clusters=4, missing=missing)
    problem = Problem.of_objects(Ensemble(labels))
    half = np.arange(120) // 2 % 2
    wrong = np.array(halves)[truth, half]
    Y = np.full((4, 120), 0.02)
    Y[wrong, np.arange(120)] = 0.94
    better = moves.rearranged(problem, Y)
    assert problem.log_likelihood(better) > problem.log_likelihood(Y)
    assert naive.same_partition(better.argmax(axis=0), truth)


@given(labels=label_matrices(max_objects=8), k=st.integers(1, 5), draw=st.integers(0, 5))
def test_likelihood_never_falls(labels, k, draw):
    problem = Problem.of_patterns(Ensemble(labels))
    p = len(problem.weights)
    Y = np.random.default_rng(draw).dirichlet(np.ones(k), p).T.copy()
    if not np.isfinite(problem.log_likelihood(Y)):
        return
    better = moves.rearranged(problem, Y)
    assert problem.log_likelihood(better) >= problem.log_likelihood(Y) - 1e-9
    np.testing.assert_allclose(better.sum(axis=0), 1.0)
    assert (better >= 0).all()
