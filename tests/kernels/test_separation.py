"""Rows of separations, their tree and its cuts against the definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from coterie import Ensemble
from coterie._kernels import separation
from coterie.consensus._separation import collect_runs
from strategies import label_matrices, random_labels

VALIDITY = st.sampled_from([0.0, 0.25, 0.5, 0.5, 0.75, 1.0])


@st.composite
def grouped(draw, **options):
    """(labels, groups, validity): one to four groups of any sizes, ties among them likely."""
    labels = draw(label_matrices(**options))
    n_partitions = labels.shape[1]
    n_groups = draw(st.integers(1, 4))
    groups = draw(
        st.lists(st.integers(0, n_groups - 1), min_size=n_partitions, max_size=n_partitions)
    )
    validity = draw(st.lists(VALIDITY, min_size=n_partitions, max_size=n_partitions))
    return labels, groups, validity


def dense(runs):
    """The matrix of separations, diagonal 0."""
    n = runs.columns.shape[1]
    triangle = np.empty(n * (n - 1) // 2)
    separation.fill_separations(runs, triangle, np.zeros(runs.columns.shape[1], dtype=np.int64))
    matrix = np.zeros((n, n))
    matrix[np.tril_indices(n, -1)] = triangle
    return matrix + matrix.T


@pytest.mark.parametrize("rule", ["margin", "printed"])
@given(case=grouped())
def test_best_group(rule, case):
    labels, groups, validity = case
    ensemble = Ensemble(labels, groups=groups, validity=validity)
    found = dense(collect_runs(ensemble, rule, ensemble.labels))
    table = labels.tolist()
    exact = naive.pair_matrix(
        len(table), lambda i, j: naive.separation(table, i, j, groups, validity, rule)[0]
    )
    assert found == pytest.approx(np.array(exact), abs=1e-12)


@given(case=grouped())
def test_weights_by_variance(case):
    labels, groups, _ = case
    ensemble = Ensemble(labels, groups=groups)
    found = dense(collect_runs(ensemble, "variance", ensemble.labels))
    table = labels.tolist()
    exact = naive.pair_matrix(
        len(table), lambda i, j: naive.variance_separation(table, i, j, groups)
    )
    assert found == pytest.approx(np.array(exact), abs=2e-12)


@given(case=grouped())
def test_weights_as_given(case):
    labels, _, weights = case
    weights = np.array(weights) + 0.125
    ensemble = Ensemble(labels)
    found = dense(collect_runs(ensemble, "fixed", ensemble.labels, weights=weights))
    table = labels.tolist()
    exact = naive.pair_matrix(
        len(table), lambda i, j: naive.fixed_separation(table, i, j, weights.tolist())
    )
    assert found == pytest.approx(np.array(exact), abs=2e-12)


@pytest.mark.parametrize("rule", ["margin", "printed"])
@given(case=grouped())
def test_tree_and_sums_over_pairs(rule, case):
    labels, groups, validity = case
    ensemble = Ensemble(labels, groups=groups, validity=validity)
    runs = collect_runs(ensemble, rule, ensemble.labels)
    counts = np.ones(len(labels), dtype=np.int64)
    edges, weights, wins, margin = separation.tree_of_separations(
        runs, counts, np.zeros(1, dtype=np.int64)
    )
    tree = naive.spanning_tree(dense(runs).tolist())
    order = np.lexsort((edges[:, 1], edges[:, 0], weights))
    assert edges[order].tolist() == [[i, j] for _, i, j in tree]
    assert weights[order].tolist() == [weight for weight, _, _ in tree]

    table, n = labels.tolist(), len(labels)
    judged = [
        naive.separation(table, i, j, groups, validity, rule) for j in range(n) for i in range(j)
    ]
    places = [place for _, place, _ in judged if place is not None]
    assert wins.tolist() == [places.count(m) for m in range(len(set(groups)))]
    assert margin == pytest.approx(float(sum(m for _, _, m in judged if m is not None)))


@pytest.mark.slow
@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("kind", ["margin", "printed", "variance"])
def test_many_objects(kind, missing, seed):
    # More than one tile, and bounds that spare most of the exact sums.
    random = np.random.default_rng(seed)
    labels = random_labels(seed, 2500, 30, missing=missing)
    ensemble = Ensemble(
        labels, groups=random.integers(0, 3, 30), validity=random.uniform(0.2, 1.0, 30)
    )
    runs = collect_runs(ensemble, kind, ensemble.labels)
    _, weights, wins, _ = separation.tree_of_separations(
        runs, np.ones(2500, dtype=np.int64), np.zeros(1, dtype=np.int64)
    )
    matrix = dense(runs)
    from scipy.sparse.csgraph import minimum_spanning_tree

    # SciPy takes 0 for "no edge".
    total = minimum_spanning_tree(matrix + 1.0).sum() - 2499
    assert weights.sum() == pytest.approx(total)
    if kind != "variance":
        assert wins.sum() == 2500 * 2499 // 2
    for i, j in random.integers(0, 2500, size=(20, 2)):
        if i != j and kind != "variance":
            exact, _, _ = naive.separation(
                labels.tolist(), i, j, ensemble.groups.tolist(), ensemble.validity.tolist(), kind
            )
            assert matrix[i, j] == pytest.approx(float(exact), abs=1e-12)


@pytest.mark.parametrize("n_runs", [254, 255, 256, 300])
def test_counts_at_the_edge_of_a_byte(n_runs):
    labels = np.arange(4)[:, None].repeat(n_runs, axis=1)  # everybody apart, always
    ensemble = Ensemble(labels)
    assert dense(collect_runs(ensemble, "margin", ensemble.labels)) == pytest.approx(1 - np.eye(4))


@given(case=grouped(min_objects=2))
def test_cuts_are_weighed_in_one_pass(case):
    labels, groups, validity = case
    ensemble = Ensemble(labels, groups=groups, validity=validity)
    tree = naive.spanning_tree(dense(collect_runs(ensemble, "margin", ensemble.labels)).tolist())
    edges = np.array([[i, j] for _, i, j in tree])
    weights = np.array([weight for weight, _, _ in tree])
    sums = separation.weigh_cuts(edges, weights)
    total = weights.sum()
    for k in range(1, len(labels) + 1):
        found = np.log(k) + (sums[k - 1] / total if total > 0 else 0.0)
        assert found == pytest.approx(naive.tree_criterion(tree, k))
