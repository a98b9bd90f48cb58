import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

import naive
from coterie import BaumEagon, Ensemble
from coterie.consensus._baum_eagon import factorisation_error, grow_memberships
from coterie.consensus._peace import Problem
from strategies import label_matrices, noisy_labels


def start(n, k, draw=0):
    return np.random.default_rng(draw).dirichlet(np.ones(k), size=n)


def shares(labels, diagonal=True):
    """(S, seen): co-association, and which pairs have a term."""
    c, N = naive.pair_counts(labels)
    own = (np.asarray(labels) != -1).sum(axis=1) if diagonal else 0
    c[np.diag_indices_from(c)] = N[np.diag_indices_from(N)] = own
    return np.divide(c, N, out=np.zeros_like(c), where=N > 0), N > 0


@pytest.mark.parametrize("draw", range(3))
@pytest.mark.parametrize("diagonal", [True, False])
@pytest.mark.parametrize("missing", [0.0, 0.5])
def test_growth_transform_matches_the_definition(draw, diagonal, missing):
    _, labels = noisy_labels(draw, 20, 4, noise=0.4, missing=missing)
    S, seen = shares(labels, diagonal)
    membership = start(20, 3, draw)
    problem, Y = Problem.of_objects(Ensemble(labels)), membership.T.copy()
    expected = [Y]
    for _ in range(5):
        expected.append(naive.baum_eagon(S, seen, expected[-1]))
    found = grow_memberships(problem, Y, solver="paper", diagonal=diagonal, tol=0.0, max_iter=5)
    np.testing.assert_allclose(found.Y, expected[-1], atol=1e-12)
    errors = [naive.baum_eagon_error(S, seen, Y) for Y in expected]
    np.testing.assert_allclose(found.history, errors, rtol=1e-12)
    assert factorisation_error(Ensemble(labels), membership, diagonal=diagonal) == pytest.approx(
        errors[0]
    )


@pytest.mark.parametrize("solver", ["auto", "paper"])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_error_never_rises(solver, missing, seed):
    _, labels = noisy_labels(seed, 50, 7, noise=0.5, missing=missing)
    fitted = BaumEagon(4, solver=solver, n_init=2, random_state=seed).fit(labels)
    assert fitted.converged_
    assert len(fitted.history_) == fitted.n_iter_ + 1
    assert fitted.history_[:, 0].tolist() == list(range(fitted.n_iter_ + 1))
    assert (np.diff(fitted.history_[:, 1]) <= 1e-12).all()
    assert fitted.error_ == fitted.history_[-1, 1] == min(run.error for run in fitted.runs_)
    assert fitted.error_ == pytest.approx(
        factorisation_error(Ensemble(labels), fitted.membership_), rel=1e-9
    )


@pytest.mark.filterwarnings("ignore:BaumEagon found:UserWarning")
@given(labels=label_matrices(max_objects=7), k=st.integers(1, 4))
def test_any_labels_and_number_of_clusters(labels, k):
    n = len(labels)
    for n_clusters in {1, min(k, n), n}:
        fitted = BaumEagon(n_clusters, n_init=1, tol=1e-4, random_state=0).fit(labels)
        assert fitted.membership_.shape == (n, n_clusters)
        assert fitted.membership_.sum(axis=1) == pytest.approx(np.ones(n))
        assert fitted.labels_.tolist() == fitted.membership_.argmax(axis=1).tolist()
        assert fitted.labels_.tolist() == naive.order_by_size(fitted.labels_)
        assert set(fitted.predict(labels)) <= set(fitted.labels_)


def test_extrapolation_ends_no_higher_in_fewer_steps(seed):
    _, labels = noisy_labels(seed, 60, 9, noise=0.4)
    membership = start(60, 4, seed)
    quick, plain = (
        BaumEagon(4, solver=solver, init=membership).fit(labels) for solver in ("auto", "paper")
    )
    assert quick.error_ <= plain.error_ + 1e-4
    assert quick.n_iter_ < plain.n_iter_ / 2


def test_given_start_and_limit():
    _, labels = noisy_labels(0, 30, 7, noise=0.3)
    membership = start(30, 3)
    with pytest.warns(ConvergenceWarning, match="stopped after 4 steps"):
        fitted = BaumEagon(3, init=membership, max_iter=4).fit(labels)
    assert fitted.n_iter_ == 4
    assert not fitted.converged_
    assert fitted.history_[0, 1] == pytest.approx(factorisation_error(Ensemble(labels), membership))


@pytest.mark.parametrize("draw", range(3))
def test_new_rows_minimise_their_error(draw):
    _, labels = noisy_labels(draw, 40, 9, noise=0.4, missing=0.1)
    fitted = BaumEagon(3, random_state=draw).fit(labels[:35])
    placed = fitted.predict_proba(labels[35:])
    assert placed.sum(axis=1) == pytest.approx(np.ones(5))
    assert fitted.predict(labels[35:]).tolist() == placed.argmax(axis=1).tolist()
    rng = np.random.default_rng(draw)
    for row, y in zip(labels[35:], placed, strict=True):
        S, seen = shares(np.vstack([labels[:35], row]))
        s, M = S[-1, :-1][seen[-1, :-1]], fitted.membership_[seen[-1, :-1]]
        for other in rng.dirichlet(np.ones(3), size=20):
            assert ((s - M @ y) ** 2).sum() <= ((s - M @ other) ** 2).sum() + 1e-9
    assert fitted.predict_proba([[-1] * 9]).tolist() == [[1 / 3] * 3]


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"init": "kmeans"}, "init must be 'random' or memberships"),
        ({"init": np.ones((4, 3)) / 3}, "init must have n_clusters = 2 columns; got 3"),
        ({"solver": "newton"}, "solver must be 'auto' or 'paper'; got 'newton'"),
        ({"tol": -1}, "tol must not be negative; got -1"),
        ({"tol": None}, r"tol must be a number; got None \(NoneType\)"),
        ({"n_init": 0}, "n_init must be at least 1; got 0"),
    ],
)
def test_bad_parameters(parameters, words):
    with pytest.raises((TypeError, ValueError), match=words):
        BaumEagon(2, **parameters).fit([[0, 0], [0, 0], [1, 1], [1, 1]])


def test_two_clusters_by_default():
    fitted = BaumEagon(random_state=0).fit([[0, 0], [0, 0], [1, 1], [1, 1]])
    assert fitted.labels_.tolist() == [0, 0, 1, 1]


def test_empty_clusters_are_said():
    with pytest.warns(UserWarning, match="BaumEagon found 1 cluster, fewer than n_clusters=2"):
        fitted = BaumEagon(2, random_state=0).fit([[0, 0]] * 3)
    assert fitted.n_clusters_ == 1
    assert fitted.membership_.shape == (3, 2)
