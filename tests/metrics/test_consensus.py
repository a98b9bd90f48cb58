"""Item and cluster consensus, against the definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import naive
from coterie import metrics
from strategies import label_matrices


@given(labels=label_matrices(), data=st.data())
def test_consensus_of_items_and_clusters(labels, data):
    n = len(labels)
    clusters = np.array(data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    votes = [[naive.votes(labels.tolist(), i, j) for j in range(n)] for i in range(n)]
    share = np.array([[t / s if s else 0.0 for t, s in row] for row in votes])
    item = metrics.item_consensus(labels, clusters)
    cluster = metrics.cluster_consensus(labels, clusters)
    for c in range(clusters.max() + 1):
        members = np.flatnonzero(clusters == c)
        pairs = [share[i, j] for i in members for j in members if i < j]
        assert_allclose(cluster[c], np.mean(pairs) if pairs else np.nan)
        for i in range(n):
            others = [share[i, j] for j in members if j != i]
            assert_allclose(item[i, c], np.mean(others) if others else np.nan)


def test_blocks_change_nothing(monkeypatch):
    labels = np.random.default_rng(0).integers(-1, 3, size=(30, 6))
    clusters = np.arange(30) % 4
    whole = metrics.item_consensus(labels, clusters)
    monkeypatch.setattr("coterie.metrics._consensus._BLOCK", 100)
    assert_allclose(metrics.item_consensus(labels, clusters), whole)


@pytest.mark.parametrize("clusters", [[0, 1], [0, -1, 0], [0.0, 1.0, 0.0]])
def test_labels_must_fit(clusters):
    with pytest.raises(ValueError, match="labels must be 3 integers"):
        metrics.item_consensus([[0], [0], [1]], clusters)
