"""CSPA: the graph of distinct rows is that of all objects; METIS and spectral partitions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from coterie import CSPA, Ensemble, MemoryLimitError
from coterie.consensus._cspa import similarity_graph
from strategies import label_matrices, noisy_labels


@given(labels=label_matrices())
def test_graph_holds_votes_between_distinct_rows(labels):
    ensemble = Ensemble(labels)
    Z = naive.incidence(labels)
    together = Z @ Z.T
    inverse = ensemble.patterns.inverse
    expected = np.zeros((inverse.max() + 1,) * 2)
    for i in range(len(labels)):
        for j in range(len(labels)):
            if inverse[i] != inverse[j]:
                expected[inverse[i], inverse[j]] += together[i, j]
    assert similarity_graph(ensemble).toarray().tolist() == expected.tolist()


def test_graph_is_made_in_blocks(monkeypatch):
    _, labels = noisy_labels(0, 50, 6, missing=0.1)
    whole = similarity_graph(Ensemble(labels)).toarray()
    monkeypatch.setattr("coterie.consensus._cspa._BLOCK", 70)
    assert similarity_graph(Ensemble(labels)).toarray().tolist() == whole.tolist()


def test_metis_finds_balanced_clusters(seed):
    truth = np.random.default_rng(seed).permutation(np.repeat([0, 1, 2, 3], 20))
    labels = np.column_stack([np.where(np.random.default_rng(seed + e).random(80) < 0.2,
                                       np.random.default_rng(seed - e + 99).integers(0, 4, 80),
                                       truth) for e in range(12)])  # fmt: skip
    found = CSPA(4, partitioner="metis", random_state=0).fit(labels)
    assert naive.same_partition(found.labels_, truth)


def test_metis_balances_where_spectral_does_not():
    truth = np.repeat([0, 1], [45, 15])
    labels = np.column_stack([truth] * 5 + [np.arange(60)])  # all rows distinct
    assert naive.same_partition(CSPA(2, random_state=0).fit(labels).labels_, truth)
    balanced = CSPA(2, partitioner="metis", random_state=0).fit(labels)
    assert np.bincount(balanced.labels_).max() <= 33  # METIS takes its limit a little freely


@settings(max_examples=40)
@given(labels=label_matrices(), data=st.data())
def test_metis_gives_the_number_asked_for(labels, data):
    k = data.draw(st.integers(1, len(labels)))
    fitted = CSPA(k, partitioner="metis", random_state=0).fit(labels)
    assert fitted.n_clusters_ == k


def test_spectral_partition_of_the_co_association(seed):
    from sklearn.cluster import KMeans

    _, labels = noisy_labels(seed, 90, 9, noise=0.3)
    shares = np.array(naive.coassociation(labels), dtype=float)
    rows = naive.spectral_rows(shares, 4)
    expected = KMeans(4, n_init=20, random_state=0).fit_predict(rows)
    assert naive.same_partition(CSPA(4, random_state=0).fit(labels).labels_, expected)
    rows = naive.spectral_rows(shares, 4, skip_first=True)
    expected = KMeans(4, n_init=20, random_state=0).fit_predict(rows)
    found = CSPA(4, skip_first=True, random_state=0).fit(labels)
    assert naive.same_partition(found.labels_, expected)


def test_graph_too_large(monkeypatch):
    _, labels = noisy_labels(0, 60, 9, noise=0.5)
    monkeypatch.setenv("COTERIE_MEMORY_LIMIT", "50kB")
    with pytest.raises(MemoryLimitError, match=r"graph of \d+ distinct label rows.*spectral"):
        CSPA(2, partitioner="metis").fit(labels)


def test_words_of_errors():
    with pytest.raises(ValueError, match=r"partitioner must be .*spectral.*; got 'hmetis'"):
        CSPA(partitioner="hmetis").fit([[0], [1]])
    with pytest.raises(ValueError, match="imbalance must "):
        CSPA(partitioner="metis", imbalance=-1).fit([[0], [1], [0]])
