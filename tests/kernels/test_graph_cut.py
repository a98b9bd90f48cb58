"""Moving vertices of graphs, against the definition: every move looked at, every time."""

import numpy as np
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from coterie._kernels.graph_cut import improve_cut


@st.composite
def cut_graphs(draw):
    """Weights with ties, lonely vertices and parts that are too heavy or empty."""
    n, k = draw(st.integers(1, 9)), draw(st.integers(1, 4))
    random = np.random.default_rng(draw(st.integers(0, 10_000)))
    weights = np.triu(random.integers(0, draw(st.sampled_from([2, 4, 1000])), (n, n)), 1)
    weights[random.random((n, n)) < draw(st.sampled_from([0.0, 0.5, 0.9]))] = 0
    vertex_weights = random.integers(1, draw(st.sampled_from([2, 10])), n)
    labels = random.integers(0, k, n)
    mean = vertex_weights.sum() / k
    heaviest = [int(draw(st.sampled_from([0.8, 1.05, 1.5, 9.0])) * mean) for _ in range(k)]
    return weights + weights.T, vertex_weights, labels, np.array(heaviest)


@settings(max_examples=400)
@given(made=cut_graphs(), patience=st.integers(1, 9))
def test_improving_looks_at_every_move(made, patience):
    weights, vertex_weights, labels, heaviest = made
    graph = scipy.sparse.csr_matrix(weights)
    found = labels.copy()
    improve_cut(
        (graph.indptr, graph.indices, graph.data), vertex_weights, found, heaviest, patience
    )
    expected = naive.improve_graph_cut(
        weights, vertex_weights.tolist(), labels.tolist(), heaviest.tolist(), patience
    )
    assert found.tolist() == expected


def test_moves_that_do_not_help_by_themselves():
    # A pair in the wrong part: to move one of it cuts more, to move both cuts less.
    pairs = [(0, 1, 10), (2, 3, 10), (4, 5, 20), (0, 2, 4), (1, 3, 4), (0, 4, 6), (1, 5, 6)]
    graph = np.zeros((6, 6), dtype=np.int64)
    for i, j, weight in pairs:
        graph[i, j] = graph[j, i] = weight
    labels = np.array([0, 0, 0, 0, 1, 1])
    arrays = scipy.sparse.csr_matrix(graph)
    arrays = arrays.indptr, arrays.indices, arrays.data
    heaviest, ones = np.array([4, 4]), np.ones(6, dtype=np.int64)
    for patience, expected in ((1, [0, 0, 0, 0, 1, 1]), (2, [1, 1, 0, 0, 1, 1])):
        found = labels.copy()
        improve_cut(arrays, ones, found, heaviest, patience)
        assert found.tolist() == expected
