"""Clusters and label rows as a bipartite graph."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from coterie import Ensemble
from coterie._graphs import LabelGraph, MatrixGraph, cluster_order, cluster_sizes, incidence_of
from strategies import label_matrices


@given(labels=label_matrices())
def test_incidence_sizes_and_order(labels):
    ensemble = Ensemble(labels)
    Z = naive.incidence(labels)
    assert np.array_equal(incidence_of(ensemble.labels, ensemble.offsets).toarray(), Z)
    assert cluster_sizes(ensemble).tolist() == Z.sum(axis=0).tolist()
    order = cluster_order(ensemble)
    for e in range(ensemble.n_partitions):
        own = order[ensemble.offsets[e] : ensemble.offsets[e + 1]]
        assert sorted(own) == list(range(ensemble.offsets[e], ensemble.offsets[e + 1]))
        first = [int(np.argmax(Z[:, c])) for c in own]
        assert first == sorted(first)


@given(labels=label_matrices(), seed=st.integers(0, 99))
def test_label_rows_do_what_their_matrix_does(labels, seed):
    ensemble = Ensemble(labels)
    random = np.random.default_rng(seed)
    rows, counts, _ = ensemble.patterns
    weights = random.uniform(0.5, 2, int(ensemble.offsets[-1]))
    graph = LabelGraph(ensemble, weights)
    order = cluster_order(ensemble)
    B = (naive.incidence(rows.tolist()) * weights)[:, order]
    matrix = MatrixGraph(B, counts)
    table, degrees = random.random((B.shape[1], 3)), random.uniform(0.5, 2, B.shape[1])
    totals = B @ degrees
    scale = np.divide(counts, totals, out=np.zeros(len(B)), where=totals > 0)
    assert graph.shape == matrix.shape == B.shape
    assert graph.whole().toarray() == pytest.approx(B)
    assert graph @ table == pytest.approx(matrix @ table)
    assert graph @ table[:, 0] == pytest.approx(B @ table[:, 0])
    assert graph.column_sums() == pytest.approx(counts @ B)
    assert matrix.column_sums() == pytest.approx(counts @ B)
    assert graph.gram(degrees) == pytest.approx(B.T * scale @ B)
    assert matrix.gram(degrees) == pytest.approx(B.T * scale @ B)
    assert graph.named(order).tolist() == list(range(len(order)))
