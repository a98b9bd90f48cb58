"""HGPA: balanced cuts of a hypergraph, and its normalised cut."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from coterie import HGPA, Ensemble, MemoryLimitError
from coterie.consensus import _hgpa as module
from coterie.metrics import nmi
from strategies import label_matrices, noisy_labels


def balanced_labels(seed, noise):
    random = np.random.default_rng(seed)
    truth = random.permutation(np.repeat([0, 1, 2], 20))
    columns = [
        np.where(random.random(60) < noise, random.integers(0, 3, 60), truth) for _ in range(10)
    ]
    return truth, np.column_stack(columns)


def test_clusters_of_the_same_size_are_found(seed):
    truth, labels = balanced_labels(seed, 0.05)
    assert naive.same_partition(HGPA(3, random_state=0).fit(labels).labels_, truth)


def cut_pins(labels, found):
    """What is made small: the parts that each cluster is in, less 1."""
    return sum(len(set(found[c > 0])) - 1 for c in naive.incidence(labels).T)


def test_cut_is_not_heavier_than_that_of_the_truth(seed):
    for noise in (0.05, 0.2, 0.4):
        truth, labels = balanced_labels(seed, noise)
        found = HGPA(3, random_state=0).fit(labels).labels_
        assert cut_pins(labels, found) <= cut_pins(labels, truth)


def test_parts_are_of_the_same_size(seed):
    _, labels = noisy_labels(seed, 200, 8)
    sizes = np.bincount(HGPA(4, random_state=0).fit(labels).labels_)
    assert sizes.max() <= 1.05 * 50


def test_equal_objects_stay_together():
    labels = np.repeat([[0, 0], [1, 1], [0, 2]], [30, 3, 3], axis=0)
    found = HGPA(3, random_state=0).fit(labels)
    assert np.bincount(found.labels_).tolist() == [30, 3, 3]


def test_spectral_partition_of_the_hypergraph(seed):
    from sklearn.cluster import KMeans

    _, labels = noisy_labels(seed, 90, 9, noise=0.2)
    Z = naive.incidence(labels)
    rows = naive.spectral_rows(Z / Z.sum(axis=0) @ Z.T, 4)
    expected = KMeans(4, n_init=20, random_state=0).fit_predict(rows)
    found = HGPA(4, partitioner="spectral", random_state=0).fit(labels)
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
    groups = module.group_rows(rows, n_groups, seed)
    assert naive.same_partition(groups, np.array(expected))
    assert sorted(set(groups.tolist())) == list(range(groups.max() + 1))


@given(labels=label_matrices(), seed=st.integers(0, 9))
def test_hyperedges_are_clusters_of_groups(labels, seed):
    ensemble = Ensemble(labels)
    _, counts, inverse = ensemble.patterns
    groups = module.group_rows(ensemble.patterns.labels, min(3, len(counts)), seed)
    pins, weights = module.hyperedges(ensemble, groups)
    assert weights.tolist() == np.bincount(groups[inverse]).tolist()
    expected = {
        tuple(sorted(set(groups[inverse][column > 0]))) for column in naive.incidence(labels).T
    }
    assert {tuple(np.flatnonzero(row).tolist()) for row in pins.toarray()} == expected


def test_many_rows_are_cut_in_groups(monkeypatch):
    random = np.random.default_rng(0)
    truth = np.repeat(np.arange(4), 1500)
    # Each partition cuts every cluster in two, elsewhere; a few labels are wrong.
    labels = np.column_stack([
        np.where(random.random(6000) < 0.002, random.integers(0, 8, 6000),
                 2 * truth + (random.random(6000) < 0.5))
        for _ in range(12)
    ])  # fmt: skip
    assert len(Ensemble(labels).patterns.counts) > 5000
    sizes = []
    cut = module.cut_hypergraph
    monkeypatch.setattr(
        module, "cut_hypergraph", lambda *args, **kw: sizes.append(args[1]) or cut(*args, **kw)
    )
    fitted = HGPA(4, random_state=0).fit(labels)
    assert 500 < sizes[0] <= 1000
    assert nmi(truth, fitted.labels_) > 0.95
    assert np.bincount(fitted.labels_).max() <= 1.1 * 1500
    assert HGPA(4, random_state=0).fit(labels).labels_.tolist() == fitted.labels_.tolist()


def test_words_of_errors(monkeypatch):
    with pytest.raises(ValueError, match=r"partitioner must be one of .*hypergraph.*; got 'metis'"):
        HGPA(partitioner="metis").fit([[0], [1]])
    with pytest.raises(ValueError, match="imbalance must be finite and not negative"):
        HGPA(imbalance=-1).fit([[0], [1], [0]])
    monkeypatch.setenv("COTERIE_MEMORY_LIMIT", "1kB")
    with pytest.raises(MemoryLimitError, match=r"hypergraph of .* label rows.*spectral"):
        HGPA().fit(noisy_labels(0, 50, 5)[1])
