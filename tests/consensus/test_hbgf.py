"""HBGF: objects and clusters cut together."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from coterie import HBGF, MemoryLimitError
from strategies import label_matrices, noisy_labels


@pytest.mark.parametrize("skip_first", [False, True])
@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_spectral_partition_is_the_transfer_cut(seed, skip_first, missing):
    from sklearn.cluster import KMeans

    _, labels = noisy_labels(seed, 120, 10, noise=0.3, missing=missing)
    rows = naive.transfer_rows(naive.incidence(labels), 4, skip_first=skip_first)
    kmeans = KMeans(4, n_init=20, random_state=0).fit(rows[:120])
    expected = np.concatenate([kmeans.labels_, kmeans.predict(rows[120:])])
    found = HBGF(4, skip_first=skip_first, random_state=0).fit(labels)
    both = np.concatenate([found.labels_, found.cluster_labels_])
    assert naive.same_partition(both, expected)


@pytest.mark.parametrize("partitioner", ["spectral", "metis"])
def test_objects_are_in_the_parts_of_their_clusters(seed, partitioner):
    truth = np.random.default_rng(seed).permutation(np.repeat([0, 1, 2], 20))
    labels = np.column_stack([truth] * 5)
    fitted = HBGF(3, partitioner=partitioner, random_state=0).fit(labels)
    assert naive.same_partition(fitted.labels_, truth)
    places = fitted.ensemble_.labels + fitted.ensemble_.offsets[:-1]
    assert (fitted.cluster_labels_[places] == fitted.labels_[:, None]).all()


@pytest.mark.parametrize("partitioner", ["spectral", "metis"])
@settings(max_examples=30)
@given(labels=label_matrices(), data=st.data())
def test_number_asked_for_is_given(partitioner, labels, data):
    k = data.draw(st.integers(1, len(labels)))
    fitted = HBGF(k, partitioner=partitioner, random_state=0).fit(labels)
    assert fitted.n_clusters_ == k
    assert len(fitted.cluster_labels_) == fitted.ensemble_.offsets[-1]
    assert fitted.cluster_labels_.max() < k


def test_metis_with_three_parts_has_clusters_in_each(seed):
    _, labels = noisy_labels(seed, 150, 12, n_clusters=3, noise=0.3)
    fitted = HBGF(3, partitioner="metis", random_state=0).fit(labels)
    assert set(fitted.cluster_labels_.tolist()) == {0, 1, 2}
    assert np.bincount(fitted.labels_).max() <= 1.15 * 50


def test_graph_too_large(monkeypatch):
    _, labels = noisy_labels(0, 60, 9)
    monkeypatch.setenv("COTERIE_MEMORY_LIMIT", "60kB")
    with pytest.raises(MemoryLimitError, match=r"graph of 60 objects in 9 partitions.*spectral"):
        HBGF(2, partitioner="metis").fit(labels)
    HBGF(2).fit(labels)


def test_words_of_errors():
    with pytest.raises(ValueError, match=r"partitioner must be .*; got 'x'"):
        HBGF(partitioner="x").fit([[0], [1]])
