"""MSTEClust against its definition."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from coterie import EAC, Ensemble, MSTEClust
from coterie.consensus._unlabelled import is_one_cluster
from strategies import label_matrices, noisy_labels, random_labels

pytestmark = pytest.mark.filterwarnings(
    "ignore:no partition puts two objects apart:UserWarning",
    "ignore:.* objects have no label:UserWarning",
)

VALIDITY = st.sampled_from([0.0, 0.25, 0.5, 0.5, 0.75, 1.0])


@st.composite
def grouped(draw, **options):
    """(labels, groups, validity): one to four groups of any sizes, ties among them likely."""
    labels = draw(label_matrices(**options))
    n_partitions = labels.shape[1]
    n_groups = draw(st.integers(1, 4))
    groups = draw(
        st.lists(st.integers(0, n_groups - 1), min_size=n_partitions, max_size=n_partitions)
    )
    validity = draw(st.lists(VALIDITY, min_size=n_partitions, max_size=n_partitions))
    if draw(st.booleans()):
        validity = [1.0] * n_partitions
    return labels, groups, validity


def fit(labels, groups=None, validity=None, **parameters):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "the spanning tree weighs nothing")
        return MSTEClust(**parameters).fit(Ensemble(labels, groups=groups, validity=validity))


# --- against the twin ----------------------------------------------------------------------------


@pytest.mark.parametrize("rule", ["margin", "printed"])
@given(case=grouped())
def test_everything_is_as_defined(rule, case):
    labels, groups, validity = case
    table, n = labels.tolist(), len(labels)
    tree = naive.spanning_tree(
        naive.pair_matrix(n, lambda i, j: naive.separation(table, i, j, groups, validity, rule)[0])
    )
    found = fit(labels, groups, validity, rule=rule, max_clusters=5)
    assert found.tree_[:, :2].tolist() == [[i, j] for _, i, j in tree]
    assert found.tree_[:, 2] == pytest.approx([weight for weight, _, _ in tree], abs=1e-12)
    assert found.tree_.shape == (n - 1, 3)

    candidates = range(2, min(5, n) + 1)
    criterion = [naive.tree_criterion(tree, k) for k in candidates]
    assert found.criterion_ == pytest.approx(criterion)
    if n > 1:
        best = next(k for k, value in zip(candidates, criterion, strict=True)
                    if value <= min(criterion) + 1e-12)  # fmt: skip
        # Where no partition puts two objects apart there is one cluster, whatever the criterion.
        best = 1 if is_one_cluster(Ensemble(labels)) else best
        assert found.n_clusters_ == best
        assert found.labels_.tolist() == naive.tree_cut(tree, best)
    for k in range(1, n + 1):
        fixed = fit(labels, groups, validity, rule=rule, n_clusters=k)
        assert fixed.labels_.tolist() == naive.tree_cut(tree, k)

    judged = [
        naive.separation(table, i, j, groups, validity, rule) for j in range(n) for i in range(j)
    ]
    judged = [(place, margin) for _, place, margin in judged if place is not None]
    shares = [
        sum(place == m for place, _ in judged) / max(1, len(judged))
        for m in range(len(set(groups)))
    ]
    assert found.group_share_ == pytest.approx(shares)
    margin = float(sum(margin for _, margin in judged)) / max(1, len(judged))
    assert found.expected_margin_ == pytest.approx(margin)
    assert found.groups_.tolist() == sorted(set(groups))


@given(case=grouped(min_objects=2, max_objects=7), rule=st.sampled_from(["margin", "printed"]))
def test_prediction_is_the_nearest_object(case, rule):
    labels, groups, validity = case
    found = fit(labels, groups, validity, rule=rule)
    new = labels[::-1].copy()
    new[0] = np.where(new[0] == -1, 0, -1)
    new[-1, 0] = 99
    for row, cluster in zip(new.tolist(), found.predict(new), strict=True):
        table = [*labels.tolist(), row]
        distances = [
            round(float(naive.separation(table, i, len(labels), groups, validity, rule)[0]), 12)
            for i in range(len(labels))
        ]
        near = [found.labels_[i] for i, d in enumerate(distances) if d == min(distances)]
        votes = [near.count(c) for c in range(found.n_clusters_)]
        assert cluster == votes.index(max(votes))


@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("twins", [False, True])
def test_more_objects(missing, twins, seed):
    random = np.random.default_rng(seed)
    _, labels = noisy_labels(seed, 60, 12, noise=0.3, missing=missing)
    labels = labels[random.integers(0, 15, size=60)] if twins else labels
    groups = random.permutation(np.repeat([0, 1, 2], [2, 3, 7])).tolist()
    validity = random.uniform(0.2, 1.0, size=12).tolist()
    found = fit(labels, groups, validity)
    table = labels.tolist()
    tree = naive.spanning_tree(
        naive.pair_matrix(
            60, lambda i, j: naive.separation(table, i, j, groups, validity, "margin")[0]
        )
    )
    assert found.tree_[:, 2].sum() == pytest.approx(sum(weight for weight, _, _ in tree))
    criterion = [naive.tree_criterion(tree, k) for k in range(2, 11)]
    assert found.criterion_ == pytest.approx(criterion)
    assert found.labels_.tolist() == naive.tree_cut(tree, 2 + int(np.argmin(criterion)))


# --- what follows from the definition ------------------------------------------------------------


@given(labels=label_matrices(min_objects=2, missing=False))
def test_one_group_is_single_linkage_on_coassociation(labels):
    tree = fit(labels).tree_
    heights = EAC(linkage="single").fit(labels).linkage_[:, 2]
    assert tree[:, 2] == pytest.approx(np.sort(heights), abs=1e-12)


def test_the_rules_differ():
    # Three runs of validity 1 split 2 : 1 over the pair, three of validity 0.5 agree on it:
    # gamma (2p - 1) is 1/3 against 1/2, gamma p is 2/3 against 1/2.
    votes = [[0, 0, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0]]
    groups, validity = [0, 0, 0, 1, 1, 1], [1.0, 1.0, 1.0, 0.5, 0.5, 0.5]
    margin = fit(votes, groups, validity)
    printed = fit(votes, groups, validity, rule="printed")
    assert margin.tree_[0, 2] == 0.0
    assert printed.tree_[0, 2] == pytest.approx(1 / 3)
    assert margin.group_share_.tolist() == [0.0, 1.0]
    assert printed.group_share_.tolist() == [1.0, 0.0]
    assert margin.expected_margin_ == pytest.approx(1 / 2)
    assert printed.expected_margin_ == pytest.approx(1 / 3)


def test_equally_good_groups_go_to_the_first():
    # 1/3 and 2/3 apart: the same margin, which plain floats would not see.
    for share in ([1, 0, 0], [1, 1, 0]):
        votes = [[0] * 6, [*share, *(1 - v for v in share)]]
        found = fit(votes, [0, 0, 0, 1, 1, 1])
        assert found.group_share_.tolist() == [1.0, 0.0]
        assert found.tree_[0, 2] == pytest.approx(sum(share) / 3)


def test_groups_by_name_are_sorted():
    found = fit([[0, 1], [0, 1], [1, 0]], ["ward", "k-means"])
    assert found.groups_.tolist() == ["k-means", "ward"]


def test_single_runs_weigh_by_their_own_validity():
    votes = [[0, 0], [0, 1]]
    assert fit(votes, validity=[1.0, 0.2]).tree_[0, 2] == pytest.approx(0.1)
    assert fit(votes, validity=[0.2, 1.0]).tree_[0, 2] == pytest.approx(0.5)


def test_a_group_without_validity_is_not_trusted(seed):
    truth, labels = noisy_labels(seed, 50, 6, noise=0.0)
    noise = random_labels(seed, 50, 6)
    found = fit(np.hstack([noise, labels]), [0] * 6 + [1] * 6, [0.0] * 6 + [1.0] * 6)
    assert naive.same_partition(found.labels_, truth)
    assert found.group_share_.tolist() == [0.0, 1.0]


def test_order_of_runs_changes_nothing(seed):
    random = np.random.default_rng(seed)
    labels = random_labels(seed, 40, 9, missing=0.1)
    groups, validity = random.integers(0, 3, 9), random.random(9)
    order = random.permutation(9)
    one = fit(labels, groups, validity)
    other = fit(labels[:, order], groups[order], validity[order])
    assert one.tree_.tolist() == other.tree_.tolist()
    assert one.labels_.tolist() == other.labels_.tolist()
    assert one.group_share_.tolist() == other.group_share_.tolist()


def test_same_input_same_result():
    labels = random_labels(0, 3000, 10)
    one, two = fit(labels), fit(labels)
    assert one.tree_.tobytes() == two.tree_.tobytes()
    assert one.expected_margin_ == two.expected_margin_


# --- degenerate input ----------------------------------------------------------------------------


def test_identical_partitions_are_returned():
    truth = np.repeat([0, 1, 2, 3], [5, 4, 3, 2])
    found = fit(np.column_stack([truth] * 4), [0, 0, 1, 1], [1.0, 0.5, 0.5, 0.5])
    assert found.labels_.tolist() == truth.tolist()
    assert found.expected_margin_ == pytest.approx(0.75)
    assert found.group_share_.tolist() == [1.0, 0.0]


def test_one_partition_is_returned():
    truth = np.repeat([0, 1, 2], [5, 4, 3])
    assert fit(truth[:, None]).labels_.tolist() == truth.tolist()


@pytest.mark.parametrize(
    ("labels", "validity"),
    [
        (np.arange(15).reshape(5, 3), [0.0, 0.0, 0.0]),  # nothing is worth anything
        ([[3, 7], [4, 7]], [0.0, 1.0]),
    ],
)
def test_a_tree_without_weight_warns(labels, validity):
    with pytest.warns(UserWarning, match=r"weighs nothing.*2 are returned.*n_clusters"):
        found = MSTEClust().fit(Ensemble(labels, validity=validity))
    assert found.n_clusters_ == 2
    assert found.criterion_ == pytest.approx(np.log(np.arange(2, len(labels) + 1)))
    assert MSTEClust(n_clusters=1).fit(labels).n_clusters_ == 1  # and no warning


def test_all_singletons():
    found = fit(np.arange(12)[:, None].repeat(3, axis=1))
    assert (found.tree_[:, 2] == 1.0).all()
    # One cluster of 11 - r and r + 1 alone against more of them: (9) has its minimum inside.
    assert found.n_clusters_ == 2 + int(np.argmin(found.criterion_))


def test_one_object():
    found = fit([[3, 7]])
    assert found.labels_.tolist() == [0]
    assert found.tree_.shape == (0, 3)
    assert found.criterion_.shape == (0,)
    assert found.group_share_.tolist() == [0.0]
    assert found.expected_margin_ == 0.0


def test_two_objects():
    found = fit([[3, 7], [4, 8]])
    assert found.labels_.tolist() == [0, 1]
    assert found.tree_.tolist() == [[0.0, 1.0, 1.0]]
    assert found.criterion_.tolist() == [np.log(2)]


def test_objects_that_nobody_saw_hang_on_the_largest_cluster():
    labels = [[0, 0], [-1, -1], [0, 0], [-1, -1], [1, 1]]
    found = fit(labels)
    assert found.tree_.tolist() == [[0, 1, 0.0], [0, 2, 0.0], [0, 3, 0.0], [0, 4, 1.0]]


@pytest.mark.parametrize(
    ("parameters", "kind", "words"),
    [
        ({"rule": "max"}, ValueError, "rule must be 'margin' or 'printed'; got 'max'"),
        ({"max_clusters": 1}, ValueError, "max_clusters must be at least 2"),
        ({"max_clusters": 3.0}, TypeError, r"max_clusters must be an integer; got 3\.0"),
        ({"max_clusters": True}, TypeError, "max_clusters must be an integer; got True"),
    ],
)
def test_bad_parameters(parameters, kind, words):
    with pytest.raises(kind, match=words):
        MSTEClust(**parameters).fit([[0, 0], [1, 1], [1, 1]])
