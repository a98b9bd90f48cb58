"""The mixture of multinomials against the definition of EM."""

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from coterie import Ensemble, MixtureModel
from coterie.consensus._mixture import WeightedRows, climb, maximize
from coterie.consensus._soft import draw_seeds, run_starts
from strategies import label_matrices, noisy_labels

pytestmark = pytest.mark.filterwarnings(
    "ignore:no partition puts two objects apart:UserWarning",
    "ignore:.* objects have no label:UserWarning",
)

ignore_warning = pytest.mark.filterwarnings("ignore:MixtureModel found")


def random_responsibilities(labels, k, seed):
    """The same for objects with the same labels."""
    inverse = Ensemble(labels).patterns.inverse
    resp = np.random.default_rng(seed).dirichlet(np.ones(k), size=inverse.max() + 1)
    return resp, resp[inverse]


# --- the definition ------------------------------------------------------------------------------


def weighted(ensemble):
    return WeightedRows(*ensemble.patterns[:2], ensemble.offsets)


@given(labels=label_matrices(), k=st.integers(1, 4), seed=st.integers(0, 99))
def test_a_step_is_that_of_the_definition(labels, k, seed):
    ensemble = Ensemble(labels)
    of_patterns, of_objects = random_responsibilities(labels, k, seed)
    weights, shares, resp, likelihood = naive.mixture_step(labels, of_objects)
    components = maximize(weighted(ensemble), of_patterns)
    assert np.exp(components.log_weights) == pytest.approx(weights)
    for c in range(k):
        for e, start in enumerate(ensemble.offsets[:-1]):
            found = np.exp(components.log_shares[start : ensemble.offsets[e + 1], c])
            assert found == pytest.approx(list(shares[c][e].values()))
    start = climb(weighted(ensemble), of_patterns, tol=0, max_iter=1)
    assert start.resp[ensemble.patterns.inverse] == pytest.approx(resp)
    assert start.log_likelihoods == pytest.approx([likelihood])


@given(labels=label_matrices(min_objects=2), k=st.integers(1, 4), seed=st.integers(0, 99))
def test_likelihood_never_falls(labels, k, seed):
    resp, _ = random_responsibilities(labels, k, seed)
    start = climb(weighted(Ensemble(labels)), resp, tol=0, max_iter=30)
    assert (np.diff(start.log_likelihoods) >= -1e-9).all()
    assert np.isfinite(start.resp).all()


@ignore_warning
def test_ties_go_the_same_way_in_fit_and_prediction():
    labels = [[0], [1], [2], [-1], [4], [5]]
    fitted = MixtureModel(n_clusters=6, n_init=3, random_state=0).fit(labels)
    assert fitted.predict(labels).tolist() == fitted.labels_.tolist()


@ignore_warning
@given(labels=label_matrices(), data=st.data())
def test_fitted_attributes_fit_each_other(labels, data):
    k = data.draw(st.integers(1, len(labels)))
    fitted = MixtureModel(n_clusters=k, n_init=3, random_state=0).fit(labels)
    assert fitted.membership_.shape == (len(labels), k)
    assert fitted.membership_.sum(axis=1) == pytest.approx(np.ones(len(labels)))
    own = fitted.membership_[np.arange(len(labels)), fitted.labels_]
    assert own == pytest.approx(fitted.membership_.max(axis=1))
    assert fitted.labels_.tolist() == naive.order_by_size(fitted.labels_)
    assert fitted.n_clusters_ <= k
    assert fitted.log_likelihood_ == fitted.log_likelihoods_.max()
    assert fitted.predict(labels).tolist() == fitted.labels_.tolist()
    assert fitted.predict_proba(labels) == pytest.approx(fitted.membership_, abs=1e-9)
    exact = naive.confidence(labels.tolist(), fitted.labels_.tolist())
    assert fitted.confidence_.tolist() == pytest.approx([float(x) for x in exact])


def test_likelihood_worked_by_hand():
    # Two components: one always says 0; the other 1, and in the second column 1 or 2.
    labels = [[0, 0], [0, 0], [1, 1], [1, 2]]
    fitted = MixtureModel(n_clusters=2, random_state=0).fit(labels)
    assert fitted.labels_.tolist() == [0, 0, 1, 1]
    assert fitted.membership_.tolist() == [[1, 0], [1, 0], [0, 1], [0, 1]]
    assert fitted.log_likelihood_ == pytest.approx(4 * np.log(1 / 2) + 2 * np.log(1 / 2))
    one = MixtureModel(n_clusters=1).fit(labels)
    assert one.log_likelihood_ == pytest.approx(4 * np.log(1 / 2) + 2 * np.log(1 / 2 * 1 / 4))


# --- starts --------------------------------------------------------------------------------------


@given(labels=label_matrices(), k=st.integers(1, 6), seed=st.integers(0, 99))
def test_starts_are_partitions_with_the_seeds_apart(labels, k, seed):
    ensemble = Ensemble(labels)
    nearest = draw_seeds(ensemble, k, np.random.RandomState(seed))
    assert nearest.shape == ensemble.patterns.counts.shape
    assert set(nearest) == set(range(nearest.max() + 1))
    assert nearest.max() < k


def test_more_starts_never_do_worse(seed):
    _, labels = noisy_labels(seed, 80, 6, n_clusters=5, noise=0.5)
    few = MixtureModel(n_clusters=5, n_init=1, random_state=seed).fit(labels)
    many = MixtureModel(n_clusters=5, n_init=8, random_state=seed).fit(labels)
    assert many.log_likelihoods_[0] == few.log_likelihood_
    assert many.log_likelihood_ >= few.log_likelihood_
    assert many.log_likelihoods_.shape == (8,)
    assert many.history_[:, 0].tolist() == list(range(1, many.n_iter_ + 1))
    assert (np.diff(many.history_[:, 1]) >= -1e-9).all()
    assert many.history_[-1, 1] == many.log_likelihood_


def test_stops_at_max_iter():
    _, labels = noisy_labels(0, 80, 6, n_clusters=5, noise=0.6)
    fitted = MixtureModel(n_clusters=5, n_init=1, max_iter=2, tol=0, random_state=0).fit(labels)
    assert fitted.n_iter_ == 2
    assert not fitted.converged_
    assert MixtureModel(n_clusters=5, random_state=0).fit(labels).converged_


# --- what it is good for -------------------------------------------------------------------------


def test_memberships_tell_where_labels_are_missing():
    truth = np.repeat([0, 1], 10)
    labels = np.column_stack([truth] * 4)
    labels[0] = -1
    fitted = MixtureModel(n_clusters=2, random_state=0).fit(labels)
    # Nothing is known of object 0: its membership is the size of the components.
    assert sorted(fitted.membership_[0]) == pytest.approx([0.475, 0.525], abs=0.03)
    assert fitted.membership_[1:].max(axis=1) == pytest.approx(np.ones(19))


def test_twins_count_as_often_as_they_occur(seed):
    _, labels = noisy_labels(seed, 40, 5, n_clusters=3)
    twice = np.repeat(labels, 3, axis=0)
    once = MixtureModel(n_clusters=3, random_state=0).fit(labels)
    thrice = MixtureModel(n_clusters=3, random_state=0).fit(twice)
    assert thrice.log_likelihood_ == pytest.approx(3 * once.log_likelihood_)
    assert thrice.membership_[::3] == pytest.approx(once.membership_)


def test_impossible_rows_go_where_least_is_impossible():
    truth = np.repeat([0, 1], 5)
    fitted = MixtureModel(n_clusters=2, random_state=0).fit(np.column_stack([truth] * 5))
    assert fitted.predict([[0, 0, 0, 1, 1], [1, 1, 1, 0, 0]]).tolist() == [0, 1]
    assert np.isfinite(fitted.predict_proba([[0, 1, 0, 1, 99]])).all()


def test_empty_components_are_said():
    labels = [[0, 0], [0, 0], [1, 1]]
    with pytest.warns(UserWarning, match="MixtureModel found 2 clusters, fewer than n_clusters=3"):
        fitted = MixtureModel(n_clusters=3, random_state=0).fit(labels)
    assert fitted.n_clusters_ == 2
    assert fitted.membership_.shape == (3, 3)


def test_one_object_and_two():
    assert MixtureModel(n_clusters=1).fit([[0, 4]]).labels_.tolist() == [0]
    fitted = MixtureModel(n_clusters=2, random_state=0).fit([[0, 4], [1, 5]])
    assert fitted.labels_.tolist() == [0, 1]


def test_words_of_errors():
    for parameters, words in (
        ({"n_init": 0}, "n_init must be at least 1; got 0"),
        ({"max_iter": 0}, "max_iter must be at least 1; got 0"),
        ({"n_init": 2.0}, r"n_init must be an integer; got 2\.0 \(float\)"),
        ({"tol": -1}, "tol must not be negative; got -1"),
    ):
        with pytest.raises((TypeError, ValueError), match=words):
            MixtureModel(**parameters).fit([[0], [1]])


def test_starts_keep_the_number_of_threads():
    before = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        assert run_starts(3, lambda start, report: numba.get_num_threads()) == [1, 1, 1]
    finally:
        numba.set_num_threads(before)
