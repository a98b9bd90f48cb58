import itertools
import math
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

import naive
from coterie import PEACE, Ensemble, _progress
from coterie._kernels import peace as kernels
from coterie.consensus._peace import (
    Problem,
    climb_by_columns,
    climb_by_the_paper,
    gradient,
    kkt_residual,
    log_likelihood,
    mean_observations,
    place_rows,
)
from coterie.consensus._soft import draw_seeds, largest_cluster_first, run_starts, soften
from strategies import label_matrices, noisy_labels

SOLVERS = ("auto", "paper")
fewer = pytest.mark.filterwarnings("ignore:PEACE found:UserWarning")


def start(n, k, draw=0):
    return np.random.default_rng(draw).dirichlet(np.ones(k), size=n)


def sparse_start(n, k, draw=0):
    """Memberships with entries of exactly 0; nobody wholly in one cluster."""
    membership = start(n, k, draw)
    rng = np.random.default_rng(draw)
    for row in membership:
        row[rng.permutation(k)[: rng.integers(0, k - 1)]] = 0.0
    return membership / membership.sum(axis=1, keepdims=True)


def tolerance(labels, tol):
    return tol * naive.pair_counts(labels)[1].sum(axis=1).mean()


# --- likelihood, gradient, residual --------------------------------------------------------------


@pytest.mark.parametrize("draw", range(5))
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_likelihood_gradient_and_residual_match_the_definition(draw, missing):
    _, labels = noisy_labels(draw, 23, 7, noise=0.4, missing=missing)
    labels[5:8] = labels[4]
    c, N = naive.pair_counts(labels)
    ensemble, membership = Ensemble(labels), start(23, 4, draw)
    Y = membership.T
    assert log_likelihood(ensemble, membership) == pytest.approx(
        naive.peace_likelihood(c, N, Y), rel=1e-12
    )
    g = naive.peace_gradient(c, N, Y)
    np.testing.assert_allclose(gradient(ensemble, membership).T, g, rtol=1e-11, atol=1e-9)
    assert kkt_residual(ensemble, membership) == pytest.approx(
        naive.peace_direction(g, Y)[0], rel=1e-10
    )


@given(labels=label_matrices(max_objects=8), draw=st.integers(0, 99), k=st.integers(2, 4))
def test_likelihood_of_any_labels(labels, draw, k):
    c, N = naive.pair_counts(labels)
    membership = sparse_start(len(labels), k, draw)
    expected = naive.peace_likelihood(c, N, membership.T)
    assert log_likelihood(Ensemble(labels), membership) == pytest.approx(expected, abs=1e-9)


def test_gradient_is_the_derivative():
    _, labels = noisy_labels(0, 12, 6, noise=0.4, missing=0.2)
    ensemble, membership = Ensemble(labels), start(12, 3)
    g = gradient(ensemble, membership)
    for i, k in itertools.product(range(12), range(3)):
        up, down = membership.copy(), membership.copy()
        up[i, k] += 1e-6
        down[i, k] -= 1e-6
        slope = (log_likelihood(ensemble, up) - log_likelihood(ensemble, down)) / 2e-6
        assert slope == pytest.approx(g[i, k], rel=1e-6)


def test_terms_without_votes_are_absent():
    ensemble = Ensemble([[0, 0], [0, 0], [1, 1]])
    assert log_likelihood(ensemble, [[1, 0], [1, 0], [0, 1]]) == 0.0
    assert log_likelihood(ensemble, [[1, 0], [0, 1], [0, 1]]) == -math.inf
    assert np.isfinite(gradient(ensemble, [[1, 0], [1, 0], [0, 1]])).all()


@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 63, 64, 65, 1000])
def test_sums_are_folded_rightly(n):
    x, y = np.random.default_rng(n).normal(size=(2, n))
    assert kernels.dot(x, y, np.empty(n)) == pytest.approx(math.fsum(x * y), abs=1e-12)
    assert kernels.fold(x.copy()) == pytest.approx(math.fsum(x), abs=1e-12)


# --- solver='paper' -------------------------------------------------------------------------------


@pytest.mark.parametrize("draw", [0, 1, 4])
@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_the_papers_path_is_followed(draw, missing):
    # Of draws without ties: where an object is moved twice running, two entries of its gradient
    # are equal but for rounding, and another order of additions can take the other one.
    _, labels = noisy_labels(draw, 60, 9, noise=0.4, missing=missing)
    labels[3:6] = labels[2]
    c, N = naive.pair_counts(labels)
    Y = start(60, 4, draw).T.copy()
    expected, path = naive.peace(c, N, Y, 1e-12, 200)
    problem = Problem.of_objects(Ensemble(labels))
    found = np.full((200, 4), -1.0)
    steps = kernels.climb_one_by_one(problem, Y, problem.gradient(Y), 0.0, 200, found)
    assert steps == len(path) == 200
    np.testing.assert_array_equal(found[:, :3], np.array(path)[:, :3])
    np.testing.assert_allclose(found[:, 3], np.array(path)[:, 3], atol=1e-12)
    np.testing.assert_allclose(Y, expected, atol=1e-12)
    assert ((Y == 0) == (expected == 0)).all()


def test_the_estimator_takes_the_papers_path():
    _, labels = noisy_labels(1, 20, 9, noise=0.4)
    c, N = naive.pair_counts(labels)
    membership = start(20, 3)
    expected, _ = naive.peace(c, N, membership.T, 0.0, 50)
    with pytest.warns(ConvergenceWarning, match="50 iterations"):
        fitted = PEACE(3, solver="paper", init=membership, max_iter=50).fit(labels)
    assert fitted.n_iter_ == 50
    assert not fitted.converged_
    np.testing.assert_allclose(fitted.membership_, largest_cluster_first(expected.T), atol=1e-8)


def test_bisection_stops_at_the_left_end():
    together, apart = np.array([3.0, 1.0]), np.array([1.0, 2.0])
    a, d, work = np.array([0.4, 0.5]), np.array([0.6, -0.3]), np.empty(2)
    step = kernels.bisect(together, apart, a, d, 0.9, work)
    assert kernels.directional(together, apart, a, d, step, work) >= 0
    after = np.nextafter(step, 1)
    assert kernels.directional(together, apart, a, d, after, work) < 0
    assert kernels.bisect(together, apart, a, d, 0.01, work) == 0.01


# --- solver='auto' --------------------------------------------------------------------------------


@pytest.mark.parametrize("climb", [climb_by_columns, climb_by_the_paper])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_likelihood_never_falls(climb, missing, seed):
    _, labels = noisy_labels(seed, 50, 9, noise=0.5, missing=missing)
    labels[10:20] = labels[9]
    ensemble = Ensemble(labels)
    problem = Problem.of_objects(ensemble)
    if climb is climb_by_columns:
        problem = Problem.of_patterns(ensemble)
    Y = start(len(problem.weights), 5, seed).T.copy()
    trace = [problem.log_likelihood(state.Y) for state in climb(problem, Y, 1e-4, 10**6)]
    assert len(trace) > 5
    assert (np.diff(trace) >= -1e-9).all()


@pytest.mark.parametrize("n_clusters", [4, 30])  # also more than a move changes at once
def test_no_single_move_lowers_the_likelihood(n_clusters, seed):
    _, labels = noisy_labels(seed, 40, 9, noise=0.6, missing=0.1)
    labels[10:20] = labels[9]
    problem = Problem.of_patterns(Ensemble(labels))
    p = len(problem.weights)
    Y = start(p, n_clusters, seed).T.copy()
    scratch = kernels.make_scratch(problem)
    now = problem.log_likelihood(Y)
    for i in [*range(p)] * 3:
        own = 0.5 * (problem.weights[i] - 1) * kernels.load_row(problem, i, p, scratch)
        kernels.move(Y, i, own, scratch, 0.0)
        before, now = now, problem.log_likelihood(Y)
        assert now >= before - 1e-9
        assert (Y >= 0).all()
        assert Y.sum(axis=0) == pytest.approx(np.ones(p), abs=1e-12)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_kkt_conditions_hold_at_the_end(solver, missing, seed):
    _, labels = noisy_labels(seed, 40, 9, noise=0.5, missing=missing)
    labels[10:15] = labels[9]
    fitted = PEACE(4, solver=solver, n_init=2, random_state=seed).fit(labels)
    c, N = naive.pair_counts(labels)
    Y = fitted.membership_.T
    assert (Y >= 0).all()
    assert Y.sum(axis=0) == pytest.approx(np.ones(40), abs=1e-9)
    gap = naive.peace_direction(naive.peace_gradient(c, N, Y), Y)[0]
    assert gap < tolerance(labels, 1e-6)
    assert fitted.tolerance_ == pytest.approx(tolerance(labels, 1e-6))
    assert mean_observations(Ensemble(labels)) == pytest.approx(tolerance(labels, 1.0))
    assert fitted.kkt_residual_ == pytest.approx(gap, abs=1e-9)
    assert fitted.log_likelihood_ == pytest.approx(naive.peace_likelihood(c, N, Y), rel=1e-12)
    assert fitted.converged_
    assert (np.diff(fitted.history_[:, 1]) >= -1e-9).all()
    assert fitted.history_[-1].tolist() == [fitted.n_iter_, fitted.log_likelihood_]


@pytest.mark.parametrize("draw", range(4))
def test_em_steps_find_nothing_better_nearby(draw):
    _, labels = noisy_labels(draw, 20, 9, noise=0.4)
    c, N = naive.pair_counts(labels)
    fitted = PEACE(3, n_init=1, random_state=draw).fit(labels)
    Y = naive.peace_em(c, N, fitted.membership_.T)
    # A fixed point of EM, up to the tolerance.
    np.testing.assert_allclose(Y, fitted.membership_.T, atol=1e-4)
    assert naive.peace_likelihood(c, N, Y) == pytest.approx(fitted.log_likelihood_, abs=1e-4)


def test_tiny_optimum_is_exact():
    # Object 1 is with object 0 in two of three partitions and with object 2 in one.
    labels = [[0, 0, 0], [0, 0, 1], [1, 1, 1]]
    best = 2 * (2 * math.log(2 / 3) + math.log(1 / 3))
    for solver in SOLVERS:
        fitted = PEACE(2, solver=solver, random_state=0).fit(labels)
        assert fitted.log_likelihood_ == pytest.approx(best, abs=1e-9)
        assert fitted.labels_.tolist() == [0, 0, 1]
        np.testing.assert_allclose(fitted.membership_, [[1, 0], [2 / 3, 1 / 3], [0, 1]], atol=1e-6)


@pytest.mark.slow
@fewer
@pytest.mark.parametrize("draw", range(3))
def test_tiny_optimum_against_a_grid(draw):
    labels = np.random.default_rng(draw).integers(2, size=(3, 7))
    c, N = naive.pair_counts(labels)
    grid = np.linspace(0, 1, 41)
    best = max(
        naive.peace_likelihood(c, N, np.array([y, 1 - np.array(y)]))
        for y in itertools.product(grid, repeat=3)
    )
    for solver in SOLVERS:
        fitted = PEACE(2, solver=solver, n_init=10, random_state=0).fit(labels)
        assert fitted.log_likelihood_ >= best - 1e-9


# --- identical objects ----------------------------------------------------------------------------


@pytest.mark.parametrize("draw", range(5))
def test_one_column_per_pattern_means_the_same_as_one_per_object(draw):
    _, labels = noisy_labels(draw, 20, 6, noise=0.5, missing=0.2)
    labels[5:12] = labels[4]
    ensemble = Ensemble(labels)
    patterns, objects = Problem.of_patterns(ensemble), Problem.of_objects(ensemble)
    shared = start(len(patterns.weights), 3, draw).T.copy()
    spread = np.ascontiguousarray(shared[:, ensemble.patterns.inverse])
    assert patterns.log_likelihood(shared) == pytest.approx(objects.log_likelihood(spread))
    assert patterns.residual(shared) == pytest.approx(objects.residual(spread))
    np.testing.assert_allclose(
        patterns.gradient(shared)[:, ensemble.patterns.inverse], objects.gradient(spread)
    )


def test_identical_objects_get_equal_memberships():
    _, labels = noisy_labels(0, 30, 9, noise=0.4)
    labels[10:15] = labels[9]
    fitted = PEACE(3, random_state=0).fit(labels)
    assert (fitted.membership_[9:15] == fitted.membership_[9]).all()


def test_a_start_with_different_identical_objects_is_not_lowered():
    _, labels = noisy_labels(0, 30, 9, noise=0.4)
    labels[10:15] = labels[9]
    membership = start(30, 3)
    fitted = PEACE(init=membership).fit(labels)
    first = log_likelihood(Ensemble(labels), membership)
    assert fitted.history_[0].tolist() == pytest.approx([0, first])
    assert fitted.log_likelihood_ > first


# --- edges ----------------------------------------------------------------------------------------


@fewer
@pytest.mark.parametrize("solver", SOLVERS)
@given(labels=label_matrices(max_objects=7), k=st.integers(1, 4))
def test_any_labels_and_number_of_clusters(solver, labels, k):
    n = len(labels)
    for n_clusters in {1, min(k, n), n}:
        fitted = PEACE(n_clusters, solver=solver, n_init=2, random_state=0).fit(labels)
        assert fitted.membership_.shape == (n, n_clusters)
        assert 1 <= fitted.n_clusters_ <= n_clusters
        assert fitted.labels_.tolist() == naive.order_by_size(fitted.labels_)
        assert fitted.labels_.tolist() == fitted.membership_.argmax(axis=1).tolist()
        assert fitted.confidence_.tolist() == fitted.membership_.max(axis=1).tolist()
        assert fitted.converged_
        assert set(fitted.predict(labels)) <= set(fitted.labels_)
        assert fitted.predict_proba(labels).sum(axis=1) == pytest.approx(np.ones(n))


@fewer
@pytest.mark.parametrize("solver", SOLVERS)
def test_one_and_two_objects(solver):
    one = PEACE(1, solver=solver).fit([[3, 7]])
    assert (one.log_likelihood_, one.kkt_residual_, one.converged_) == (0.0, 0.0, True)
    apart = PEACE(2, solver=solver, random_state=0).fit([[3, 7], [4, 8]])
    assert apart.log_likelihood_ == 0.0
    assert apart.labels_.tolist() == [0, 1]
    with pytest.warns(UserWarning, match="PEACE found 1 cluster, fewer than n_clusters=2"):
        same = PEACE(2, solver=solver, random_state=0).fit([[3, 7], [3, 7]])
    assert same.log_likelihood_ == pytest.approx(0.0, abs=1e-9)
    assert same.n_clusters_ == 1
    assert same.membership_.shape == (2, 2)
    half = PEACE(2, solver=solver, random_state=0).fit([[3, 7], [3, 8]])
    assert half.log_likelihood_ == pytest.approx(2 * math.log(0.5))


def test_one_cluster_is_impossible_where_partitions_split():
    fitted = PEACE(1).fit([[0, 0], [0, 1]])
    assert fitted.log_likelihood_ == -math.inf
    assert fitted.membership_.tolist() == [[1.0], [1.0]]
    assert PEACE(1).fit([[0, 0], [0, 0]]).log_likelihood_ == 0.0


def test_unseen_object():
    labels = np.array([[0, 0], [0, 0], [1, 1], [1, 1], [-1, -1]])
    with pytest.warns(UserWarning, match="1 of 5 objects have no label"):
        fitted = PEACE(2, random_state=0).fit(labels)
    assert fitted.converged_
    assert fitted.labels_[:4].tolist() in ([0, 0, 1, 1], [1, 1, 0, 0])
    assert fitted.membership_[4].sum() == pytest.approx(1.0)


# --- starts ---------------------------------------------------------------------------------------


@fewer
@pytest.mark.parametrize("solver", SOLVERS)
def test_the_best_of_all_runs_is_kept(solver):
    labels = np.random.default_rng(0).integers(4, size=(40, 8))
    fitted = PEACE(7, solver=solver, n_init=6, tol=1e-4, random_state=1).fit(labels)
    assert len(fitted.runs_) == 6
    assert len({round(run.log_likelihood, 3) for run in fitted.runs_}) > 1
    best = max(fitted.runs_, key=lambda run: run.log_likelihood)
    assert fitted.log_likelihood_ == best.log_likelihood
    assert (fitted.n_iter_, fitted.kkt_residual_) == (best.n_iter, best.kkt_residual)


def test_more_starts_keep_the_first_ones():
    _, labels = noisy_labels(0, 30, 8, noise=0.6)
    few, many = (PEACE(4, n_init=m, random_state=3).fit(labels) for m in (2, 5))
    assert many.runs_[:2] == few.runs_


def test_given_start():
    _, labels = noisy_labels(0, 30, 8, noise=0.4)
    membership = start(30, 4)
    fitted = PEACE(init=membership).fit(labels)
    assert fitted.membership_.shape == (30, 4)
    assert len(fitted.runs_) == 1
    first = log_likelihood(Ensemble(labels), membership)
    for solver in SOLVERS:
        history = PEACE(init=membership, solver=solver).fit(labels).history_
        assert history[0].tolist() == pytest.approx([0, first], rel=1e-12)


@pytest.mark.parametrize("draw", range(3))
def test_starts_are_softened_labels(draw):
    truth, labels = noisy_labels(draw, 60, 20, n_clusters=4, noise=0.1)
    ensemble = Ensemble(labels)
    seeds = draw_seeds(ensemble, 4, np.random.default_rng(draw))[ensemble.patterns.inverse]
    assert naive.same_partition(seeds, truth)
    Y = soften(seeds, 4)
    np.testing.assert_allclose(Y.sum(axis=0), 1.0)
    assert (np.argmax(Y, axis=0) == seeds).all()
    assert np.isfinite(Problem.of_objects(ensemble).log_likelihood(Y))


@pytest.mark.slow
def test_best_start_is_no_lower_than_the_papers():
    # Clusters that overlap: a climb can end with one cluster in two columns, two in one.
    rng = np.random.default_rng(0)
    points = rng.normal(size=(240, 2)) + 3.0 * rng.normal(size=(8, 2))[np.arange(240) % 8]
    nearest = [
        np.argmin(((points[:, None] - points[rng.integers(240, size=k)]) ** 2).sum(axis=2), axis=1)
        for k in rng.integers(10, 20, size=30)
    ]
    ensemble = Ensemble(np.column_stack(nearest))
    quick, paper = (
        PEACE(8, solver=solver, tol=1e-4, random_state=0).fit(ensemble) for solver in SOLVERS
    )
    assert quick.log_likelihood_ >= paper.log_likelihood_ - 1.0
    assert quick.n_iter_ < paper.n_iter_ / 20


def test_many_clusters_take_few_passes():
    _, labels = noisy_labels(0, 60, 20, n_clusters=3, noise=0.1)
    with pytest.warns(UserWarning, match=r"found \d+ clusters, fewer than n_clusters=59"):
        fitted = PEACE(59, n_init=1, random_state=0).fit(labels)
    assert fitted.converged_
    assert fitted.n_iter_ < 300


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"init": "kmeans"}, "init must be 'random' or memberships"),
        ({"init": np.ones((3, 2)) / 2}, r"init must be .* shape \(4, k\).* got shape \(3, 2\)"),
        ({"init": np.ones((4, 3)) / 3}, "init must have n_clusters = 2 columns; got 3"),
        ({"init": np.ones((4, 2))}, "every row summing to 1"),
        ({"init": np.full((4, 2), np.nan)}, "every row summing to 1"),
        ({"init": np.tile([1.0, 0.0], (4, 1))}, "likelihood 0"),
        ({"solver": "newton"}, "solver must be 'auto' or 'paper'; got 'newton'"),
        ({"tol": -1}, "tol must not be negative; got -1"),
        ({"tol": "a"}, r"tol must be a number; got 'a' \(str\)"),
        ({"n_init": 0}, "n_init must be at least 1; got 0"),
        ({"max_iter": 1.5}, r"max_iter must be an integer; got 1\.5 \(float\)"),
        ({"max_clusters": 0}, "max_clusters must be at least 1; got 0"),
    ],
)
def test_bad_parameters(parameters, words):
    with pytest.raises((TypeError, ValueError), match=words):
        PEACE(2, **parameters).fit([[0, 0], [0, 0], [1, 1], [1, 1]])


def test_progress_is_reported():
    told, seen = [], threading.Event()

    def tell(done, total, words):
        told.append((total, words))
        if done >= 50:
            seen.set()

    def run(start, report):
        report(0.5)
        report(0.2)  # never back
        assert seen.wait(60)
        return start

    with _progress.report_progress(tell):
        assert run_starts(2, run) == [0, 1]
    assert (200, "starts") in told


# --- number of clusters ---------------------------------------------------------------------------


@pytest.mark.parametrize("k", [2, 3, 5])
def test_number_of_clusters_is_found(k, seed):
    truth, labels = noisy_labels(seed, 60, 40, n_clusters=k, noise=0.1)
    fitted = PEACE(random_state=0, tol=1e-4).fit(labels)
    assert fitted.n_clusters_ == k
    assert naive.same_partition(fitted.labels_, truth)
    assert list(fitted.n_clusters_curve_) == list(range(1, k + 4))
    assert fitted.n_clusters_curve_.best == k


def test_n_clusters_curve_is_as_documented():
    _, labels = noisy_labels(0, 30, 10, noise=0.2, missing=0.2)
    fitted = PEACE(random_state=0).fit(labels)
    k = fitted.membership_.shape[1]
    n_labels = (labels >= 0).sum() / 30
    expected = 2 * fitted.log_likelihood_ / 29 - 0.5 * 30 * (k - 1) * math.log(n_labels)
    assert fitted.n_clusters_curve_[k] == pytest.approx(expected)
    assert PEACE(3, random_state=0).fit(labels).n_clusters_curve_ is None


def test_one_cluster_is_found():
    with pytest.warns(UserWarning, match="no partition puts two objects apart"):
        fitted = PEACE(random_state=0).fit([[0, 0]] * 5)
    assert fitted.n_clusters_ == 1
    assert PEACE(random_state=0, max_clusters=2).fit([[i] for i in range(5)]).n_clusters_ <= 2


# --- prediction -----------------------------------------------------------------------------------


@pytest.mark.parametrize("draw", range(3))
def test_new_rows_maximise_their_likelihood(draw):
    _, labels = noisy_labels(draw, 40, 9, noise=0.4, missing=0.1)
    fitted = PEACE(3, random_state=draw).fit(labels[:35])
    placed = fitted.predict_proba(labels[35:])
    rng = np.random.default_rng(draw)
    for row, y in zip(labels[35:], placed, strict=True):
        c, N = naive.pair_counts(np.vstack([labels[:35], row]))
        Y = np.vstack([fitted.membership_, y]).T
        g = naive.peace_gradient(c, N, Y)[:, -1]
        assert g.max() - g[y > 0].min() < 1e-6 * N[-1].sum()
        reached = naive.peace_likelihood(c, N, Y)
        for other in rng.dirichlet(np.ones(3), size=10):
            Y[:, -1] = other
            assert naive.peace_likelihood(c, N, Y) <= reached + 1e-9
    assert fitted.predict(labels[35:]).tolist() == placed.argmax(axis=1).tolist()


def test_rows_are_placed_in_blocks(monkeypatch):
    _, labels = noisy_labels(0, 40, 9, noise=0.4)
    fitted = PEACE(3, random_state=0).fit(labels)
    whole = fitted.predict_proba(labels)
    monkeypatch.setattr("coterie.consensus._peace._BLOCK", 7)
    np.testing.assert_array_equal(fitted.predict_proba(labels), whole)
    assert fitted.predict_proba([[-1] * 9]).tolist() == [[1 / 3] * 3]
    ensemble, membership = fitted.ensemble_, fitted.membership_
    assert place_rows(ensemble, membership[:, :1], ensemble.labels, 1e-6).tolist() == [[1.0]] * 40


def test_columns_are_in_the_order_of_labels():
    membership = np.array([[0.2, 0.5, 0.3], [0.4, 0.4, 0.2], [0.1, 0.1, 0.8], [0.0, 0.1, 0.9]])
    ordered = largest_cluster_first(membership)
    assert ordered.argmax(axis=1).tolist() == naive.order_by_size(ordered.argmax(axis=1))
    assert sorted(map(tuple, ordered.T)) == sorted(map(tuple, membership.T))
