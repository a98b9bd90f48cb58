"""The model of hard clusters beside PEACE's."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

import naive
from coterie import PEACE, Ensemble
from coterie._kernels import peace_blocks as kernels
from coterie.consensus import _peace_blocks as coarse
from coterie.consensus._peace import Problem
from strategies import label_matrices, noisy_labels


@given(labels=label_matrices(max_objects=9), draw=st.integers(0, 5))
def test_votes_within_and_between_groups(labels, draw):
    ensemble = Ensemble(labels)
    p = len(ensemble.patterns.counts)
    groups = np.random.default_rng(draw).integers(0, 3, p)
    blocks = coarse.Blocks.of(coarse.Votes.of(Problem.of_patterns(ensemble)), groups, 3)
    c, N = naive.pair_counts(labels)
    inverse = ensemble.patterns.inverse
    of_object = groups[inverse]
    expected = np.zeros((2, 3, 3))
    of_rows = np.zeros((2, p, 3))
    for i, j in itertools.combinations(range(len(labels)), 2):
        u, v = sorted((of_object[i], of_object[j]))
        expected[:, u, v] += c[i, j], N[i, j]
    for row in range(p):
        one = np.flatnonzero(inverse == row)[0]
        for j in np.flatnonzero(inverse != row):
            of_rows[:, row, of_object[j]] += c[one, j], N[one, j]
    np.testing.assert_allclose(np.triu(blocks.together), expected[0])
    np.testing.assert_allclose(np.triu(blocks.observed), expected[1])
    np.testing.assert_allclose(blocks.together, blocks.together.T)
    np.testing.assert_allclose(blocks.row_together, of_rows[0])
    np.testing.assert_allclose(blocks.row_observed, of_rows[1])


def test_likelihood_of_blocks():
    # The binomial coefficients are left out, as in PEACE's likelihood.
    for c, n in ((0, 5), (5, 5), (2, 5), (0, 0)):
        found = coarse.block_likelihood(np.array([c * 1.0]), np.array([n * 1.0]))[0]
        share = c / n if n else 0.0
        coefficient = binom.logpmf(c, n, 0.5) - n * np.log(0.5) if n else 0.0
        expected = binom.logpmf(c, n, share) - coefficient if n else 0.0
        assert found == pytest.approx(expected)


def test_rows_are_divided_into_their_two_groups(seed):
    truth, labels = noisy_labels(seed, 60, 15, noise=0.2, n_clusters=2, missing=0.1)
    votes = coarse.Votes.of(Problem.of_objects(Ensemble(labels)))
    assert naive.same_partition(kernels.divide(*votes[:4], 10), truth)


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
    better = coarse.coarse_optimum(coarse.Votes.of(problem), Y)
    assert problem.log_likelihood(better) > problem.log_likelihood(Y)
    assert naive.same_partition(better.argmax(axis=0), truth)


@given(labels=label_matrices(max_objects=8), k=st.integers(1, 5), draw=st.integers(0, 5))
def test_likelihood_of_groups_never_falls(labels, k, draw):
    votes = coarse.Votes.of(Problem.of_patterns(Ensemble(labels)))
    groups = np.random.default_rng(draw).integers(0, k, len(votes.weights))
    blocks = coarse.Blocks.of(votes, groups, k)
    for better in (coarse.settled(votes, blocks), coarse.rearranged(votes, blocks)):
        assert better.likelihood() >= blocks.likelihood()
    # What is handed to the climb are memberships under which every pair is possible.
    Y = coarse.softened(blocks)
    np.testing.assert_allclose(Y.sum(axis=0), 1.0)
    assert (Y > 0).all()


def test_growth_never_lowers_the_likelihood(seed):
    _, labels = noisy_labels(seed, 30, 9, noise=0.5)
    c, N = naive.pair_counts(labels)
    Y = np.random.default_rng(seed).dirichlet(np.ones(4), 30).T
    now = naive.peace_likelihood(c, N, Y)
    for _ in range(20):
        Y = coarse.grown(Y, Y, c, N - c)
        before, now = now, naive.peace_likelihood(c, N, Y)
        assert now >= before - 1e-9


def test_no_worse_than_the_papers_solver_in_the_mean():
    # Clusters that overlap: a climb can end with one cluster in two columns, two in one.
    rng = np.random.default_rng(0)
    points = rng.normal(size=(240, 2)) + 3.0 * rng.normal(size=(8, 2))[np.arange(240) % 8]
    nearest = [
        np.argmin(((points[:, None] - points[rng.integers(240, size=k)]) ** 2).sum(axis=2), axis=1)
        for k in rng.integers(10, 20, size=30)
    ]
    ensemble = Ensemble(np.column_stack(nearest))
    reached = {
        solver: np.mean([
            run.log_likelihood
            for run in PEACE(8, solver=solver, n_init=20, tol=1e-4, random_state=0)
            .fit(ensemble)
            .runs_
        ])
        for solver in ("auto", "paper")
    }  # fmt: skip
    assert reached["auto"] >= reached["paper"]
