"""The spanning tree against Kruskal's algorithm with edges in the order (weight, i, j)."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from scipy.sparse.csgraph import minimum_spanning_tree

import naive
from coterie import Ensemble
from coterie._kernels import spanning_tree
from coterie._kernels.coassociation import Codes, count_dtype
from strategies import label_matrices, random_labels


def sorted_tree(find_tree, ensemble):
    codes = Codes.of(ensemble.compact_codes, ensemble.has_missing)
    count_type = np.empty(0, dtype=count_dtype(ensemble.n_partitions + 2))
    done = np.zeros(1, dtype=np.int64)
    edges, weights = find_tree(codes._replace(count_type=count_type), done)
    assert done[0] == len(edges)
    assert (edges[:, 0] < edges[:, 1]).all()
    return sorted(zip(weights.tolist(), *edges.T.tolist(), strict=True))


@given(labels=label_matrices(missing=False))
def test_tree_of_counts_is_kruskals(labels):
    n_partitions = labels.shape[1]
    exact = naive.spanning_tree(
        [[n_partitions * (1 - c) for c in row] for row in naive.coassociation(labels.tolist())]
    )
    assert sorted_tree(spanning_tree.tree_of_counts, Ensemble(labels)) == exact


@given(labels=label_matrices())
def test_tree_of_shares_is_kruskals(labels):
    exact = naive.spanning_tree(
        [[1 - c for c in row] for row in naive.coassociation(labels.tolist())]
    )
    found = sorted_tree(spanning_tree.tree_of_shares, Ensemble(labels))
    limited = [(Fraction(weight).limit_denominator(1000), i, j) for weight, i, j in found]
    assert sorted(limited) == exact


@pytest.mark.parametrize("n_partitions", [253, 254, 255])
def test_counts_at_the_edge_of_a_byte(n_partitions):
    labels = np.arange(4)[:, None].repeat(n_partitions, axis=1)  # everybody apart, always
    tree = sorted_tree(spanning_tree.tree_of_counts, Ensemble(labels))
    assert tree == [(n_partitions, 0, 1), (n_partitions, 0, 2), (n_partitions, 0, 3)]


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_total_weight_agrees_with_scipy(seed, missing):
    ensemble = Ensemble(random_labels(seed, 400, 12, missing=missing))
    distance = 1.0 - ensemble.coassociation()
    # SciPy takes 0 for "no edge".
    total = minimum_spanning_tree(distance + 1.0).sum() - (len(distance) - 1)
    tree = sorted_tree(spanning_tree.tree_of_shares, ensemble)
    assert sum(weight for weight, _, _ in tree) == pytest.approx(total)
