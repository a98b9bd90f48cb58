"""PWEC against its definition."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import coterie.consensus._pwec as module
import naive
from coterie import EAC, PWEC, Ensemble, MemoryLimitError
from strategies import label_matrices, noisy_labels, random_labels

pytestmark = pytest.mark.filterwarnings(
    "ignore:no partition puts two objects apart:UserWarning",
    "ignore:.* objects have no label:UserWarning",
)


@st.composite
def grouped(draw, **options):
    """(labels, groups): one to four groups of any sizes."""
    labels = draw(label_matrices(**options))
    n_partitions = labels.shape[1]
    most = draw(st.integers(0, 3))
    groups = draw(st.lists(st.integers(0, most), min_size=n_partitions, max_size=n_partitions))
    return labels, groups


def fit(labels, groups=None, **parameters):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "the spanning tree weighs nothing")
        return PWEC(**parameters).fit(Ensemble(labels, groups=groups))


def variance_matrix(labels, groups):
    table = labels.tolist()
    return naive.pair_matrix(
        len(table), lambda i, j: naive.variance_separation(table, i, j, groups)
    )


def assert_tree(found, tree, tolerance=2e-12):
    assert found.tree_[:, 2] == pytest.approx([w for w, _, _ in tree], abs=tolerance)
    weights = sorted(weight for weight, _, _ in tree)
    for k in range(1, len(tree) + 2):
        # Where rounding to 12 decimals cannot have changed the order.
        if k == 1 or k > len(tree) or weights[-k + 1] - weights[-k] > 1e-9:
            assert naive.same_partition(
                naive.tree_cut(tree, k),
                naive.tree_cut([(w, int(i), int(j)) for i, j, w in found.tree_], k),
            )


# --- against the twin ----------------------------------------------------------------------------


@given(case=grouped())
def test_tree_of_variances(case):
    labels, groups = case
    tree = naive.spanning_tree(variance_matrix(labels, groups))
    found = fit(labels, groups)
    assert_tree(found, tree)
    assert found.criterion_ == pytest.approx(
        [naive.tree_criterion([(w, int(i), int(j)) for i, j, w in found.tree_], k)
         for k in range(2, min(10, len(labels)) + 1)]
    )  # fmt: skip
    assert found.linkage_ is None


@given(case=grouped(min_objects=2))
def test_average_linkage(case):
    labels, groups = case
    similarity = 1 - np.array(variance_matrix(labels, groups))
    for k in (1, 2, len(labels)):
        found = fit(labels, groups, cut="average", n_clusters=k)
        assert found.n_clusters_ == k
    heights = found.linkage_[:, 2]
    assert (np.diff(heights) >= 0).all()
    ensemble = Ensemble(labels, groups=groups)
    merges = module.average_tree(ensemble, "variance")
    naive.check_merges(similarity.tolist(), list(zip(*map(np.ndarray.tolist, merges), strict=True)))
    assert heights == pytest.approx(np.maximum(1 - merges.link, 0))
    assert found.tree_ is None
    assert found.criterion_ is None


@given(labels=label_matrices(min_objects=2), data=st.data())
def test_fixed_weights(labels, data):
    n_partitions = labels.shape[1]
    value = st.sampled_from([0.5, 1.0, 1.0, 3.0])
    weights = data.draw(st.lists(value, min_size=n_partitions, max_size=n_partitions))
    table = labels.tolist()
    matrix = naive.pair_matrix(
        len(table), lambda i, j: naive.fixed_separation(table, i, j, weights)
    )
    assert_tree(fit(labels, weights=weights), naive.spanning_tree(matrix))
    merges = module.average_tree(Ensemble(labels), "fixed", weights=np.array(weights))
    naive.check_merges(
        (1 - np.array(matrix)).tolist(), list(zip(*map(np.ndarray.tolist, merges), strict=True))
    )


@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("greedy_most", [10, 1500])
def test_more_objects(monkeypatch, greedy_most, missing, seed):
    # The chain meets ties in another order, so its tree is checked by itself.
    monkeypatch.setattr(module, "GREEDY_MOST", greedy_most)
    truth, labels = noisy_labels(seed, 80, 15, noise=0.3, missing=missing)
    chosen = np.random.default_rng(seed).integers(0, 60, size=80)
    groups = np.repeat([0, 1], [5, 10])
    tree = module.average_tree(Ensemble(labels[chosen], groups=groups), "variance")
    similarity = 1 - np.array(variance_matrix(labels[chosen], groups.tolist()))
    naive.check_merges(similarity.tolist(), list(zip(*map(np.ndarray.tolist, tree), strict=True)))
    assert naive.ari(truth[chosen], tree.cut(4)) > 0.8


# --- what follows from the definition ------------------------------------------------------------


def test_weights_of_an_example():
    # P = 1/2 of two runs and 1/4 of four: weights 2 / (1/4) = 8 and 4 / (3/16) = 64/3.
    votes = [[0, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 1]]
    expected = (8 * 0.5 + 64 / 3 * 0.25) / (8 + 64 / 3)
    assert fit(votes, [0, 0, 1, 1, 1, 1]).tree_[0, 2] == pytest.approx(expected)
    # Unanimous groups outweigh all others, by their number of runs.
    votes = [[0, 0, 0, 0, 0, 0], [0, 1, 1, 0, 0, 0]]
    assert fit(votes, [0, 0, 1, 2, 2, 2]).tree_[0, 2] == pytest.approx(1 / 4)


def test_one_group_is_evidence_accumulation(seed):
    _, labels = noisy_labels(seed, 60, 20, noise=0.3)
    for k in (2, 4, 7):
        ours = fit(labels, n_clusters=k, cut="average")
        eac = EAC(n_clusters=k).fit(labels)
        assert ours.labels_.tolist() == eac.labels_.tolist()
    assert ours.linkage_[:, 2] == pytest.approx(eac.linkage_[:, 2])


def test_validity_plays_no_part(seed):
    labels = random_labels(seed, 30, 6)
    plain = PWEC(3).fit(Ensemble(labels, groups=[0, 0, 0, 1, 1, 1]))
    judged = PWEC(3).fit(
        Ensemble(labels, groups=[0, 0, 0, 1, 1, 1], validity=[0, 0.1, 0.2, 1, 1, 1])
    )
    assert plain.tree_.tolist() == judged.tree_.tolist()


@pytest.mark.parametrize("cut", ["tree", "average"])
def test_runs_of_weight_zero_are_left_out(cut, seed):
    _, labels = noisy_labels(seed, 40, 5, noise=0.1)
    with_noise = np.hstack([random_labels(seed, 40, 5, missing=0.1), labels])
    weights = [0.0] * 5 + [1.0, 2.0, 1.0, 1.0, 1.0]
    one = PWEC(4, weights=weights, cut=cut).fit(with_noise)
    other = PWEC(4, weights=weights[5:], cut=cut).fit(labels)
    assert one.labels_.tolist() == other.labels_.tolist()
    if cut == "tree":
        assert one.predict(with_noise).tolist() == other.predict(labels).tolist()
    assert one.predict(with_noise[:7]).shape == (7,)


@pytest.mark.filterwarnings("ignore:dropped")
def test_weights_name_the_columns_of_the_input():
    votes = [[-1, 0, 0], [-1, 0, 1], [-1, 1, 1]]
    found = PWEC(2, weights=[5.0, 1.0, 3.0]).fit(votes)
    assert found.tree_[:, 2].tolist() == [0.25, 0.75]


# --- degenerate input, errors --------------------------------------------------------------------


@pytest.mark.parametrize("cut", ["tree", "average"])
def test_identical_partitions_are_returned(cut):
    truth = np.repeat([0, 1, 2], [5, 4, 3])
    labels = np.column_stack([truth] * 4)
    assert fit(labels, [0, 0, 1, 1], cut=cut, n_clusters=3).labels_.tolist() == truth.tolist()
    if cut == "tree":
        assert fit(labels, [0, 0, 1, 1]).labels_.tolist() == truth.tolist()


def test_constant_partitions_warn():
    with pytest.warns(UserWarning, match="one cluster"):
        assert PWEC().fit(np.zeros((4, 3), dtype=int)).n_clusters_ == 1


def test_one_object():
    assert fit([[3, 7]]).labels_.tolist() == [0]
    assert fit([[3, 7]], cut="average", n_clusters=1).linkage_.shape == (0, 4)


def test_objects_that_nobody_saw_are_not_joined_first(monkeypatch):
    monkeypatch.setattr(module, "GREEDY_MOST", 0)
    labels = [[0, 0], [-1, -1], [0, 0], [-1, -1], [1, 1]]
    found = fit(labels, cut="average", n_clusters=4)
    assert naive.same_partition(found.labels_, [0, 1, 0, 2, 3])


def test_average_linkage_keeps_to_the_memory_limit():
    labels = random_labels(0, 400, 8)
    with pytest.raises(MemoryLimitError, match=r"separations of all pairs.*cut='tree'"):
        PWEC(3, cut="average", memory_limit=1000).fit(labels)
    # Fixed weights need no separations of pairs where no label is missing.
    limited = PWEC(3, weights=np.ones(8), cut="average", memory_limit=1000).fit(labels)
    assert limited.n_clusters_ == 3


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"cut": "ward"}, "cut must be 'tree' or 'average'; got 'ward'"),
        ({"cut": "average"}, "cut='average' does not find the number of clusters"),
        ({"weights": [1, 2, 3]}, r"weights must have one entry per partition \(2\); got .*\(3,\)"),
        ({"weights": [1, -2]}, "weights must be finite and not negative"),
        ({"weights": [1, np.nan]}, "weights must be finite and not negative"),
        ({"weights": [0, 0]}, "weights must be positive for some partition"),
        ({"weights": "best"}, "weights must be numbers, one per partition"),
        ({"max_clusters": 1}, "max_clusters must be at least 2"),
    ],
)
def test_bad_parameters(parameters, words):
    with pytest.raises(ValueError, match=words):
        PWEC(**parameters).fit([[0, 0], [1, 1], [1, 1]])
