"""Voting against the definition."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from coterie import EAC, Ensemble, Voting
from coterie.consensus._voting import choose_reference, hold_ballot, match_clusters, spread_clusters
from coterie.metrics import anmi
from strategies import label_matrices, noisy_labels

pytestmark = pytest.mark.filterwarnings(
    "ignore:no partition puts two objects apart:UserWarning",
    "ignore:.* objects have no label:UserWarning",
)

ignore_warning = pytest.mark.filterwarnings("ignore:Voting found")
tables = st.integers(1, 4).flatmap(
    lambda k: st.lists(
        st.lists(st.integers(0, 5), min_size=k, max_size=k), min_size=1, max_size=4
    ).map(np.array)
)


# --- relabelling ---------------------------------------------------------------------------------


@given(table=tables)
def test_matching_is_the_best_of_all(table):
    given = match_clusters(table)
    assert (given.sum(axis=1) == 1).all()
    names = np.argmax(given, axis=1)
    n_clusters, k = table.shape
    few = min(n_clusters, k)
    best = max(
        sum(table[c, name] for c, name in zip(chosen, order, strict=True))
        for chosen in itertools.permutations(range(n_clusters), few)
        for order in itertools.permutations(range(k), few)
    )
    # Some one-to-one part of the matching reaches the best; the rest takes the best name.
    reached = max(
        sum(table[c, names[c]] for c in chosen)
        for chosen in itertools.combinations(range(n_clusters), few)
        if len({names[c] for c in chosen}) == few
    )
    assert reached == best


def test_clusters_left_over_take_the_name_they_share_most_with():
    table = np.array([[5, 0], [0, 5], [1, 2], [2, 1], [1, 1]])
    assert np.argmax(match_clusters(table), axis=1).tolist() == [0, 1, 1, 0, 0]
    assert spread_clusters(table)[2].tolist() == [1 / 3, 2 / 3]


def test_fewer_clusters_than_names():
    assert np.argmax(match_clusters(np.array([[3, 4, 0], [0, 4, 0]])), axis=1).tolist() == [0, 1]


# --- the ballot ----------------------------------------------------------------------------------


@given(labels=label_matrices(max_objects=7, max_partitions=3), data=st.data())
def test_votes_are_those_of_the_definition(labels, data):
    n = len(labels)
    k = data.draw(st.integers(1, 3))
    reference = np.array(data.draw(st.lists(st.integers(0, k - 1), min_size=n, max_size=n)))
    ensemble = Ensemble(labels)
    ballot = hold_ballot(ensemble, reference, k, "cumulative")
    votes = np.zeros((n, k))
    for e, i in itertools.product(range(labels.shape[1]), range(n)):
        if labels[i, e] != -1:
            inside = reference[labels[:, e] == labels[i, e]]
            votes[i] += [np.mean(inside == c) for c in range(k)]
    assert ballot.votes[ensemble.patterns.inverse] == pytest.approx(votes)


@ignore_warning
@given(labels=label_matrices(max_objects=8), data=st.data())
def test_fitted_attributes_fit_each_other(labels, data):
    k = data.draw(st.integers(1, len(labels)))
    voting = data.draw(st.sampled_from(["plurality", "cumulative"]))
    fitted = Voting(n_clusters=k, voting=voting).fit(labels)
    seen = (labels != -1).any(axis=1)
    assert fitted.membership_.shape == (len(labels), k)
    assert fitted.membership_.sum(axis=1) == pytest.approx(np.ones(len(labels)))
    assert fitted.predict_proba(labels) == pytest.approx(fitted.membership_)
    own = fitted.membership_[np.arange(len(labels)), fitted.labels_]
    assert own == pytest.approx(fitted.membership_.max(axis=1))
    assert fitted.labels_.tolist() == naive.order_by_size(fitted.labels_)
    assert fitted.n_clusters_ <= k
    if seen.all() or k == 1:
        assert fitted.predict(labels).tolist() == fitted.labels_.tolist()


@ignore_warning
@given(labels=label_matrices(max_objects=8, max_partitions=4), data=st.data())
def test_agreement_never_falls(labels, data):
    k = data.draw(st.integers(1, min(len(labels), 3)))
    agreements = []
    for rounds in range(1, 6):
        fitted = Voting(n_clusters=k, max_iter=rounds).fit(labels)
        n_seen = (labels != -1).sum(axis=1)
        agreements.append(float(fitted.membership_.max(axis=1) @ n_seen))
        assert fitted.history_[:, 0].tolist() == list(range(1, fitted.n_iter_ + 1))
        assert fitted.history_[-1, 1] == pytest.approx(agreements[-1])
        assert fitted.n_iter_ <= rounds
    assert (np.diff(agreements) >= -1e-9).all()


def test_votes_worked_by_hand():
    labels = [[0, 1, 5], [0, 1, 5], [0, 0, 6], [1, 0, 6], [1, 0, 6]]
    fitted = Voting(n_clusters=2).fit(labels)
    assert fitted.labels_.tolist() == [1, 1, 0, 0, 0]
    assert fitted.membership_.max(axis=1).tolist() == pytest.approx([1, 1, 2 / 3, 1, 1])
    assert fitted.converged_


# --- the reference -------------------------------------------------------------------------------


def test_reference_is_the_partition_nearest_to_all(seed):
    truth, labels = noisy_labels(seed, 60, 8, n_clusters=3, noise=0.3)
    labels[:, 4] = truth
    ensemble = Ensemble(labels)
    scores = [anmi(labels[:, e], ensemble) for e in range(8)]
    reference, which = choose_reference(ensemble, 3)
    assert which == int(np.argmax(scores))
    assert naive.same_partition(reference, labels[:, which])
    assert Voting(n_clusters=3).fit(labels).reference_ == which


def test_reference_has_the_right_number_of_clusters_and_all_labels():
    three = np.array([0, 0, 1, 1, 2, 2])
    two = np.array([0, 0, 0, 1, 1, 1])
    gap = np.array([0, 0, 0, 1, 1, -1])
    assert choose_reference(Ensemble([three, three, two]), 2)[1] == 2
    assert choose_reference(Ensemble([three, gap, two]), 2)[1] == 2
    reference, which = choose_reference(Ensemble([three, three, gap]), 2)
    assert which is None
    expected = EAC(n_clusters=2).fit([*zip(three, three, gap, strict=True)]).labels_
    assert reference.tolist() == expected.tolist()


def test_cumulative_voting_takes_partitions_with_many_clusters(seed):
    random = np.random.default_rng(seed)
    truth = np.repeat([0, 1, 2], 40)
    labels = np.column_stack([truth * 10 + random.integers(0, 6, size=120) for _ in range(15)])
    for voting in ("plurality", "cumulative"):
        fitted = Voting(n_clusters=3, voting=voting).fit(labels)
        assert naive.same_partition(fitted.labels_, truth)
        assert fitted.reference_ is None


# --- sizes and errors ----------------------------------------------------------------------------


def test_object_without_a_vote():
    labels = [[0, 0], [0, 0], [-1, -1], [1, 1]]
    fitted = Voting(n_clusters=2).fit(labels)
    assert fitted.labels_.tolist() == [0, 0, 0, 1]
    assert fitted.confidence_.tolist() == [1, 1, 0, 1]
    assert fitted.membership_[2].tolist() == [0.5, 0.5]


def test_empty_labels_are_said():
    labels = [[0, 0], [0, 0], [1, 1]]
    with pytest.warns(UserWarning, match="Voting found 2 clusters, fewer than n_clusters=3"):
        fitted = Voting(n_clusters=3).fit(labels)
    assert fitted.n_clusters_ == 2
    assert fitted.membership_.shape == (3, 3)
    assert set(fitted.predict([[7, 7], [0, 1]])) <= {0, 1}


def test_one_object_and_two():
    assert Voting(n_clusters=1).fit([[0, 4]]).labels_.tolist() == [0]
    assert Voting(n_clusters=2).fit([[0, 4], [1, 5]]).labels_.tolist() == [0, 1]
    assert Voting(n_clusters=1).fit([[0, 4], [1, 5]]).labels_.tolist() == [0, 0]


def test_words_of_errors():
    with pytest.raises(ValueError, match=r"voting must be .*; got 'typo'"):
        Voting(voting="typo").fit([[0], [1]])
    with pytest.raises(ValueError, match="max_iter must be at least 1; got 0"):
        Voting(max_iter=0).fit([[0], [1]])
    with pytest.raises(TypeError, match=r"max_iter must be an integer; got 'a' \(str\)"):
        Voting(max_iter="a").fit([[0], [1]])
