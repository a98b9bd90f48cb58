"""HGPA: balanced cuts of a hypergraph, and its normalised cut."""

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from coterie import HGPA, Ensemble
from coterie._graphs import cluster_order
from coterie.consensus import _hgpa as module
from strategies import label_matrices, noisy_labels, random_labels


def balanced_labels(seed, noise):
    random = np.random.default_rng(seed)
    truth = random.permutation(np.repeat([0, 1, 2], 20))
    columns = [
        np.where(random.random(60) < noise, random.integers(0, 3, 60), truth) for _ in range(10)
    ]
    return truth, np.column_stack(columns)


def by_package(k=2, **options):
    """HGPA as in the paper."""
    return HGPA(k, partitioner="hypergraph", random_state=0, **options)


def test_clusters_of_the_same_size_are_found(seed):
    truth, labels = balanced_labels(seed, 0.05)
    assert naive.same_partition(HGPA(3, random_state=0).fit(labels).labels_, truth)
    assert naive.same_partition(by_package(3).fit(labels).labels_, truth)


def test_default_needs_no_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "mtkahypar", None)
    truth, labels = balanced_labels(0, 0.05)
    assert naive.same_partition(HGPA(3, random_state=0).fit(labels).labels_, truth)
    with pytest.raises(ImportError, match=r'pip install "coterie\[hypergraph\]"'):
        by_package(3).fit(labels)


def test_clusters_of_different_sizes_are_found():
    truth = np.repeat([0, 1], [45, 15])
    labels = np.column_stack([truth] * 5 + [np.arange(60)])
    assert naive.same_partition(HGPA(2, random_state=0).fit(labels).labels_, truth)
    assert np.bincount(by_package(2).fit(labels).labels_).max() <= 1.05 * 30


def test_parts_are_of_the_same_size(seed):
    _, labels = noisy_labels(seed, 200, 8)
    sizes = np.bincount(by_package(4).fit(labels).labels_)
    assert sizes.max() <= 1.05 * 50


def test_equal_objects_stay_together():
    labels = np.repeat([[0, 0], [1, 1], [0, 2]], [30, 3, 3], axis=0)
    found = by_package(3).fit(labels)
    assert np.bincount(found.labels_).tolist() == [30, 3, 3]


def test_spectral_partition_of_the_hypergraph(seed):
    from sklearn.cluster import KMeans

    _, labels = noisy_labels(seed, 90, 9, noise=0.2)
    Z = naive.incidence(labels)
    rows = naive.spectral_rows(Z / Z.sum(axis=0) @ Z.T, 4)
    expected = KMeans(4, n_init=20, random_state=0).fit_predict(rows)
    found = HGPA(4, random_state=0).fit(labels)
    assert naive.same_partition(found.labels_, expected)


@settings(max_examples=30)
@given(labels=label_matrices(), data=st.data())
def test_either_way_gives_the_number_asked_for(labels, data):
    k = data.draw(st.integers(1, len(labels)))
    for partitioner in ("hypergraph", "spectral"):
        assert HGPA(k, partitioner=partitioner, random_state=0).fit(labels).n_clusters_ == k


@given(labels=label_matrices(), data=st.data())
def test_rows_are_grouped_with_those_that_share_most_labels(labels, data):
    rows = Ensemble(labels).patterns.labels
    n_groups = data.draw(st.integers(1, len(rows)))
    seed = data.draw(st.integers(0, 9))
    drawn = sorted(np.random.default_rng(seed).permutation(len(rows))[:n_groups])
    shared = [[sum((row == rows[d]) & (row >= 0)) for d in drawn] for row in rows]
    expected = [np.argmax(counts) for counts in shared]
    for group, d in enumerate(drawn):
        expected[d] = group
    groups = module.group_rows(rows, n_groups, seed)
    assert naive.same_partition(groups, np.array(expected))
    assert sorted(set(groups.tolist())) == list(range(groups.max() + 1))


@given(labels=label_matrices(), data=st.data())
def test_hyperedges_are_clusters_of_groups(labels, data):
    ensemble = Ensemble(labels)
    rows = ensemble.patterns.labels
    groups = module.group_rows(rows, data.draw(st.integers(1, len(rows))), 0)
    clusters = naive.incidence(rows.tolist()).T
    expected = [sorted(set(groups[cluster > 0].tolist())) for cluster in clusters]
    found = module.hyperedges(ensemble, groups)
    assert found == [expected[c] for c in cluster_order(ensemble)]


def test_many_rows_are_cut_in_groups(monkeypatch):
    random = np.random.default_rng(0)
    truth = np.repeat(np.arange(4), 1500)
    labels = np.column_stack([2 * truth + (random.random(6000) < 0.5) for _ in range(12)])
    assert len(Ensemble(labels).patterns.counts) > 5000
    seen, cut = [], module.cut_hypergraph
    monkeypatch.setattr(
        module,
        "cut_hypergraph",
        lambda edges, weights, *given, **more: (
            seen.append(weights) or cut(edges, weights, *given, **more)
        ),
    )
    found = by_package(4).fit(labels).labels_
    assert len(seen[0]) == 1000
    assert seen[0].sum() == 6000
    assert naive.same_partition(found, truth)


def test_rows_with_labels_that_others_have_too(seed):
    # The first row has all labels of every other.
    random = np.random.default_rng(seed)
    labels = np.where(random.random((400, 12)) < 0.5, -1, 0)
    labels[0] = 0
    groups = module.group_rows(Ensemble(labels).patterns.labels, 200, 0)
    assert sorted(set(groups.tolist())) == list(range(200))


def test_names_of_clusters_do_not_matter(seed):
    # All clusters are of the same size, so that nothing else gives them an order.
    random = np.random.default_rng(seed)
    for _ in range(2):
        labels = np.column_stack([random.permutation(504) // 84 for _ in range(7)])
        renamed = np.column_stack([random.permutation(6)[column] for column in labels.T])
        for k in (3, 5):
            first, second = (by_package(k).fit(x).labels_ for x in (labels, renamed))
            assert first.tolist() == second.tolist()


def test_the_seed_is_heeded():
    labels = random_labels(0, 200, 6)
    found = {
        tuple(HGPA(5, partitioner="hypergraph", random_state=seed).fit(labels).labels_)
        for seed in range(3)
    }
    assert len(found) > 1


def test_words_of_errors():
    with pytest.raises(ValueError, match=r"partitioner must be .*hypergraph.*; got 'metis'"):
        HGPA(partitioner="metis").fit([[0], [1]])
    with pytest.raises(ValueError, match="imbalance must "):
        HGPA(imbalance=-1).fit([[0], [1], [0]])
