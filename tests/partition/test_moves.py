"""Cuts brought to parts of about the same weight, against the definition."""

import numpy as np
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from coterie._kernels.graph_cut import whole_weights
from coterie._partition import balanced_cut, heaviest_parts


@settings(max_examples=200)
@given(data=st.data(), seed=st.integers(0, 10_000))
def test_balanced_cuts(data, seed):
    n = data.draw(st.integers(1, 9))
    k = data.draw(st.integers(1, min(n, 4)))
    imbalance = data.draw(st.sampled_from([0.0, 0.05, 0.5, 9.0]))
    random = np.random.default_rng(seed)
    weights = random.random((n, n)) * (random.random((n, n)) < 0.7)
    weights = weights + weights.T  # with a diagonal, which does not count
    graph = scipy.sparse.csr_matrix(weights)
    vertex_weights = random.integers(1, 10, n)
    labels = random.permutation([*range(k), *random.integers(0, k, n - k)])
    before = labels.copy()
    found = balanced_cut(graph, labels, k, vertex_weights=vertex_weights, imbalance=imbalance)
    assert labels.tolist() == before.tolist()
    assert sorted(set(found.tolist())) == list(range(k))
    heaviest = heaviest_parts(vertex_weights, k, imbalance).tolist()
    expected = naive.improve_graph_cut(
        naive.whole_weights(weights), vertex_weights.tolist(), labels.tolist(), heaviest, 50
    )
    assert found.tolist() == expected


def test_parts_become_even_and_what_belongs_together_stays():
    # Three groups of four, one part of two groups: it is divided between them.
    blocks = np.kron(np.eye(3), np.ones((4, 4))) + 0.01
    labels = np.array([0] * 8 + [1] * 3 + [2])
    found = balanced_cut(
        scipy.sparse.csr_matrix(blocks),
        labels,
        3,
        vertex_weights=np.ones(12, dtype=np.int64),
        imbalance=0.05,
    )
    assert naive.same_partition(found, np.repeat([0, 1, 2], 4))


def test_weights_become_whole_numbers():
    weights = np.array([[9.0, 0.5, 1e-9], [0.5, 9.0, 0.25], [1e-9, 0.25, 0.0]])
    graph = scipy.sparse.csr_matrix(weights)
    graph.data = whole_weights(graph.indptr, graph.indices, graph.data, 10_000)
    assert graph.toarray().tolist() == [[0, 10_000, 1], [10_000, 0, 5000], [1, 5000, 0]]
    assert graph.toarray().tolist() == naive.whole_weights(weights).tolist()
