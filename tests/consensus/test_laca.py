"""LACA against its slow twin, and what it promises beyond the paper."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import naive
from coterie import LACA, Ensemble
from coterie.consensus import _laca, _laca_search, _laca_tables
from coterie.consensus._laca_model import Model, initial_parameters


def same_partition(a, b):
    return np.array_equal(np.equal.outer(a, a), np.equal.outer(b, b))


def random_ensemble(draw, *, missing=0.0, n=None):
    """Good, bad, adverse, constant and singleton partitions of one hidden truth."""
    rng = np.random.default_rng(draw)
    n = int(rng.integers(8, 40)) if n is None else n
    truth = rng.integers(0, rng.integers(2, 5), n)
    columns = []
    for _ in range(int(rng.integers(4, 14))):
        kind = rng.choice(
            ["good", "bad", "adverse", "constant", "singletons"], p=[0.6, 0.2, 0.12, 0.04, 0.04]
        )
        columns.append(
            {
                "good": np.where(rng.random(n) < 0.75, truth, rng.integers(0, 6, n)),
                "bad": rng.integers(0, rng.integers(1, 7), n),
                "adverse": (np.argsort(np.argsort(truth, kind="stable")) + rng.integers(0, 2, n))
                % 5,
                "constant": np.zeros(n, dtype=int),
                "singletons": np.arange(n),
            }[kind]
        )
    labels = np.column_stack(columns)
    if missing:
        labels = np.where(rng.random(labels.shape) < missing, -1, labels)
        labels[0] = 0
    return np.asarray(Ensemble(labels)), truth


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("draw", range(20))
def test_parameters_equal_the_definition(draw, missing):
    labels, truth = random_ensemble(draw, missing=missing)
    ensemble = Ensemble(labels)
    assert_allclose(initial_parameters(ensemble, 30.0), naive.laca_initial(labels), rtol=1e-12)
    pairs = Model.of(ensemble, truth).pair_counts(ensemble)
    assert_allclose(pairs, naive.laca_pair_counts(labels, truth))
    rho, r = naive.laca_estimate(labels, truth)
    assert_allclose(pairs.estimate(30.0), (rho, r), rtol=1e-12)
    assert_allclose(
        pairs.log_likelihood(pairs.estimate(30.0)),
        naive.laca_log_likelihood(labels, truth, rho, r),
        rtol=1e-12,
    )


def test_tables_of_one_partition_equal_the_overlap(monkeypatch):
    labels, _ = random_ensemble(3, missing=0.2)
    whole = Ensemble(labels).overlap
    monkeypatch.setattr("coterie.ensemble._SMALL_OVERLAP", 0)
    ensemble = Ensemble(labels)
    parts = [ensemble.tables(e) for e in range(ensemble.n_partitions)]
    assert "overlap" not in vars(ensemble)
    assert np.array_equal(np.concatenate(parts), whole)


@pytest.mark.parametrize("missing", [0.0, 0.15])
@pytest.mark.parametrize("draw", range(25))
def test_whole_algorithm_equals_the_definition(draw, missing):
    labels, _ = random_ensemble(draw, missing=missing)
    model, rho, r, likelihood, converged, rounds = naive.laca(labels, ess=3.0)
    laca = LACA(ess=3.0).fit(labels)
    assert same_partition(laca.labels_, model)
    assert_allclose(laca.rho_, rho, atol=1e-9)
    assert_allclose(laca.r_, r, atol=1e-9)
    assert_allclose(laca.log_likelihood_, likelihood, rtol=1e-10)
    assert (laca.converged_, laca.n_iter_) == (converged, rounds)
    assert laca.n_clusters_ >= 2


@pytest.mark.parametrize("draw", range(6))
def test_k_laca_equals_the_definition_for_every_k(draw):
    labels, _ = random_ensemble(draw, n=18)
    for k in range(1, len(labels) + 1):
        model, rho, *_ = naive.laca(labels, n_clusters=k)
        laca = LACA(n_clusters=k).fit(labels)
        assert laca.n_clusters_ == k
        assert same_partition(laca.labels_, model)
        assert_allclose(laca.rho_, rho, atol=1e-9)


@pytest.mark.parametrize("regime", ["triangle", "matrix-free"])
@pytest.mark.parametrize("draw", range(8))
def test_every_regime_gives_the_same_model(draw, regime, monkeypatch):
    labels, _ = random_ensemble(draw, n=30)
    expected = LACA().fit(labels)
    found = LACA(regime=regime).fit(labels)
    assert same_partition(found.labels_, expected.labels_)
    assert_allclose(found.rho_, expected.rho_, atol=1e-9)
    # Whole-number weights, as for many objects.
    monkeypatch.setattr("coterie._linkage.GREEDY_MOST", 0)
    found = LACA().fit(labels)
    assert same_partition(found.labels_, expected.labels_)


def test_adverse_partition_votes_against_itself():
    truth = np.repeat([0, 1, 2], 8)
    adverse = np.tile(np.arange(8), 3)  # never puts two objects of one cluster together
    laca = LACA().fit(np.column_stack([truth, truth, truth, adverse]))
    assert laca.rho_[3] < laca.r_[3]
    assert laca.weights_[3, 0] < 0 < laca.weights_[3, 1]
    assert same_partition(laca.labels_, truth)


def test_random_partitions_get_no_weight():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 4, 400)
    good = [np.where(rng.random(400) < 0.85, truth, rng.integers(0, 4, 400)) for _ in range(12)]
    bad = [rng.integers(0, 5, 400) for _ in range(6)]
    laca = LACA().fit(np.column_stack(good + bad))
    assert same_partition(laca.labels_, truth)
    assert np.abs(laca.weights_[12:]).max() < 0.1 < np.abs(laca.weights_[:12]).min()


def test_likelihood_path_is_that_of_the_cuts():
    labels, _ = random_ensemble(1, n=15)
    laca = LACA(tol=0.0).fit(labels)
    assert laca.converged_ is False or laca.rounds_[-1].change == 0.0
    for k in range(1, 16):
        model = LACA(n_clusters=k, tol=0.0).fit(labels).labels_
        assert_allclose(
            laca.n_clusters_curve_[k],
            naive.laca_log_likelihood(labels, model, laca.rho_, laca.r_),
            rtol=1e-9,
        )


@pytest.mark.parametrize(("draw", "ess"), [(13, 3.0), (34, 30.0), (111, 30.0)])
def test_a_cycle_is_found_and_its_best_model_returned(draw, ess):
    labels, _ = random_ensemble(draw, missing=0.2)
    laca = LACA(ess=ess).fit(labels)
    assert not laca.converged_
    assert laca.n_iter_ < 10
    likelihoods = laca.history_[:, 1].tolist()
    repeat = likelihoods.index(likelihoods[-1])
    assert repeat < len(likelihoods) - 1
    assert_allclose(laca.log_likelihood_, max(likelihoods[repeat:]))


@pytest.mark.parametrize("draw", range(40))
def test_refinement_never_ends_below_and_never_falls(draw):
    labels, _ = random_ensemble(draw, missing=0.1 * (draw % 2))
    for k in (None, 3):
        paper = LACA(n_clusters=k, ess=3.0).fit(labels)
        better = LACA(n_clusters=k, ess=3.0, refine=True).fit(labels)
        assert better.log_likelihood_ >= paper.log_likelihood_
        steps = better.history_[:, 1].tolist()
        assert np.all(np.diff(steps) >= 0)
        assert_allclose(steps[-1], better.log_likelihood_)
        assert better.n_clusters_ >= 2
        if k is not None:
            assert better.n_clusters_ == 3


def test_refinement_does_improve_something():
    gains = [
        LACA(ess=3.0, refine=True).fit(labels).log_likelihood_
        - LACA(ess=3.0).fit(labels).log_likelihood_
        for labels, _ in map(random_ensemble, range(20))
    ]
    assert max(gains) > 0.1


@pytest.mark.parametrize("fixed", [False, True])
def test_moves_never_lower_the_likelihood_at_fixed_parameters(fixed):
    for draw in range(15):
        labels, truth = random_ensemble(draw, missing=0.1 * (draw % 2))
        ensemble = Ensemble(labels)
        parameters = initial_parameters(ensemble, 3.0)
        start = Model.of(ensemble, np.unique(truth, return_inverse=True)[1])
        moved = _laca_search.improve(ensemble, start, parameters, fixed=fixed)
        before = naive.laca_log_likelihood(labels, start.labels, *parameters)
        after = naive.laca_log_likelihood(labels, moved.labels, *parameters)
        assert after >= before - 1e-9 * abs(before)
        recounted = Model.of(ensemble, moved.labels)
        assert_allclose(moved.counts, recounted.counts)
        assert_allclose(moved.seen, recounted.seen)
        assert np.array_equal(moved.sizes, recounted.sizes)


def planted(n, n_good, n_bad, draw=0, k=6, noise=0.2):
    rng = np.random.default_rng(draw)
    truth = rng.integers(0, k, n)
    columns = []
    for _ in range(n_good):
        split = rng.integers(0, 12, (k, 3))
        column = split[truth, rng.integers(0, 3, n)]
        columns.append(np.where(rng.random(n) < noise, rng.integers(0, 12, n), column))
    columns += [rng.integers(0, 10, n) for _ in range(n_bad)]
    return np.column_stack(columns), truth


@pytest.mark.slow
@pytest.mark.parametrize("draw", range(3))
def test_multilevel_finds_what_the_tree_finds(draw):
    labels, _ = planted(2500, 24, 8, draw)
    tree = LACA(solver="tree").fit(labels)
    tables = LACA(solver="multilevel").fit(labels)
    assert tables.n_clusters_ == tree.n_clusters_ == 6
    assert np.mean(tables.labels_ == tree.labels_) > 0.99
    assert tables.log_likelihood_ >= tree.log_likelihood_ * (1 + 1e-6)
    assert tables.linkage_ is None
    assert np.abs(tables.weights_[24:]).max() < 0.05


def test_multilevel_cuts_to_any_number_of_clusters():
    labels, _ = planted(600, 10, 0)
    for k in (1, 2, 6, 9, 40):
        assert LACA(n_clusters=k, solver="multilevel").fit(labels).n_clusters_ == k


def test_multilevel_keeps_a_small_cluster_that_a_sample_would_miss(monkeypatch):
    labels, _ = planted(3000, 20, 4, k=5, noise=0.05)
    labels[:30, :20] = 20
    monkeypatch.setattr(_laca_tables, "SAMPLE", 50)
    laca = LACA(solver="multilevel").fit(labels)
    assert len(set(laca.labels_[:30])) == 1
    assert laca.labels_[0] not in laca.labels_[30:]


def test_auto_takes_the_tree_where_it_is_affordable(monkeypatch):
    labels, _ = planted(300, 8, 0)
    assert LACA().fit(labels).linkage_ is not None
    monkeypatch.setattr(_laca, "TREE_MOST", 100)
    assert LACA().fit(labels).linkage_ is None


def test_prediction_is_the_highest_mean_score():
    labels, _ = random_ensemble(4, missing=0.1)
    laca = LACA(ess=3.0).fit(labels[:-5])
    ensemble = laca.ensemble_
    new = labels[-5:]
    codes = ensemble.encode(new)
    both = np.vstack([ensemble.labels, codes])
    scores = naive.laca_scores(both, laca.rho_, laca.r_)[-5:, :-5]
    means = [[s[laca.labels_ == c].mean() for c in range(laca.n_clusters_)] for s in scores]
    assert np.array_equal(laca.predict(new), np.argmax(means, axis=1))


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"ess": 0}, "ess must be positive"),
        ({"tol": -1}, "tol must not be negative"),
        ({"max_iter": 0}, "max_iter must be at least 1"),
        ({"solver": "fast"}, "solver must be 'auto', 'tree' or 'multilevel'; got 'fast'"),
        ({"tol": "a"}, r"tol must be a number; got 'a' \(str\)"),
        ({"tol": float("nan")}, "tol must be finite; got nan"),
        ({"ess": None}, "ess must be a number; got None"),
        ({"max_iter": 2.5}, r"max_iter must be an integer; got 2\.5 \(float\)"),
        ({"refine": "yes"}, "refine must be False or True; got 'yes'"),
        ({"memory_limit": "much"}, "memory_limit must be a number of bytes"),
        ({"regime": "fast"}, "regime must be"),
    ],
)
def test_bad_parameters(parameters, words):
    with pytest.raises((TypeError, ValueError), match=words):
        LACA(**parameters).fit([[0, 1], [1, 1], [0, 0]])


def test_max_iter_is_kept():
    labels, _ = random_ensemble(2)
    laca = LACA(max_iter=1, tol=0.0).fit(labels)
    assert laca.n_iter_ == 1
    assert not laca.converged_
