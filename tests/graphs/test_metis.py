"""Cuts of graphs by METIS: balanced, light, and never with an empty part."""

import sys

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from coterie._graphs import _metis as module
from coterie._graphs import cut_bipartite_graph, cut_graph


@st.composite
def graphs(draw):
    """Small symmetric weights: connected or not, with lonely vertices, integers or not."""
    n = draw(st.integers(1, 12))
    seed = draw(st.integers(0, 10_000))
    density = draw(st.sampled_from([0.0, 0.1, 0.3, 1.0]))
    random = np.random.default_rng(seed)
    weights = np.triu(random.random((n, n)) * (random.random((n, n)) < density), 1)
    if draw(st.booleans()):
        weights = np.rint(5 * weights)
    return weights + weights.T


def weights_or_none(n):
    """Of n vertices."""
    return st.none() | st.lists(st.integers(1, 50), min_size=n, max_size=n).map(np.array)


def planted(seed, sizes, inside=1.0, across=0.05):
    random = np.random.default_rng(seed)
    truth = random.permutation(np.repeat(np.arange(len(sizes)), sizes))
    chance = np.where(truth[:, None] == truth, inside, across)
    weights = np.triu(random.random(chance.shape) < chance, 1) * random.uniform(
        0.5, 1, chance.shape
    )
    return truth, scipy.sparse.csr_matrix(weights + weights.T)


@settings(max_examples=150)
@given(weights=graphs(), data=st.data())
def test_no_part_is_ever_empty(weights, data):
    n = len(weights)
    k = data.draw(st.integers(1, n))
    vertex_weights = data.draw(weights_or_none(n))
    labels = cut_graph(scipy.sparse.csr_matrix(weights), k, vertex_weights=vertex_weights)
    assert labels.dtype == np.int64
    assert sorted(set(labels.tolist())) == list(range(k))


@settings(max_examples=60)
@given(seed=st.integers(0, 10_000), data=st.data())
def test_every_part_of_a_bipartite_graph_holds_rows(seed, data):
    random = np.random.default_rng(seed)
    n, r = data.draw(st.integers(1, 10)), data.draw(st.integers(1, 6))
    A = (random.random((n, r)) < data.draw(st.sampled_from([0.0, 0.3, 1.0]))).astype(int)
    k = data.draw(st.integers(1, n))
    rows, columns = cut_bipartite_graph(scipy.sparse.csr_matrix(A), k)
    assert sorted(set(rows.tolist())) == list(range(k))
    assert columns.shape == (r,)
    assert set(columns.tolist()) <= set(range(k))


def test_planted_parts_are_found(seed):
    for sizes in ((20, 20), (15, 15, 15), (12, 12, 12, 12)):
        truth, graph = planted(seed, sizes)
        assert naive.same_partition(cut_graph(graph, len(sizes)), truth)


def test_parts_are_balanced(seed):
    _, graph = planted(seed, (70, 30), across=0.1)
    for imbalance in (0.001, 0.05, 0.2):
        sizes = np.bincount(cut_graph(graph, 2, imbalance=imbalance))
        assert sizes.max() <= 50 * (1 + imbalance) + 2  # METIS takes its limit a little freely
    assert len(np.bincount(cut_graph(graph, 2, imbalance=1e300))) == 2
    heavy = np.ones(100, dtype=int)
    heavy[0] = 100
    labels = cut_graph(graph, 2, vertex_weights=heavy)
    assert (labels == labels[0]).sum() <= 10


def test_same_seed_same_cut():
    _, graph = planted(0, (30, 30, 30), inside=0.3, across=0.2)
    for seed in (0, 7, 2**32 - 1):
        one, two = (cut_graph(graph, 3, random_state=seed).tolist() for _ in range(2))
        assert one == two


def test_neighbouring_seeds_differ(monkeypatch):
    # METIS by itself takes the seeds 0 and 1 for the same.
    monkeypatch.setattr(module, "_N_CUTS", 1)
    _, graph = planted(0, (30, 30, 30), inside=0.3, across=0.2)
    zero, one, last = (
        cut_graph(graph, 3, random_state=seed).tolist() for seed in (0, 1, 2**31 - 1)
    )
    assert zero != one
    assert zero == last


def test_bad_runs_are_tried_again_and_repaired_in_the_end(monkeypatch):
    _, graph = planted(0, (10, 10, 10))
    metis = module._metis()
    seeds = []

    class Broken:
        Options, CSRAdjacency, _internal = metis.Options, metis.CSRAdjacency, metis._internal

        @staticmethod
        def part_graph(n_parts, options, **arguments):
            seeds.append(options.seed)
            if options.seed < 4:
                return 0, [0] * 30  # everything in one part
            return metis.part_graph(n_parts, options=options, **arguments)

    monkeypatch.setattr(module, "_metis", lambda: Broken)
    found = cut_graph(graph, 3, random_state=1)
    assert seeds == [1, 2, 3, 4]
    monkeypatch.setattr(module, "_metis", lambda: metis)
    assert naive.same_partition(found, cut_graph(graph, 3, random_state=4))

    monkeypatch.setattr(module, "_metis", lambda: Broken)
    monkeypatch.setattr(module, "_MOST_RUNS", 2)
    repaired = cut_graph(graph, 3, random_state=1)
    assert sorted(np.bincount(repaired)) == [1, 1, 28]
    # The vertex that was held least.
    held = np.asarray(module._integer_graph(graph, metis).sum(axis=1)).ravel()
    assert np.bincount(repaired)[repaired[np.argmin(held)]] == 1


def test_runs_go_on_while_a_part_is_without_columns(monkeypatch):
    # Vertices 0 and 1 are the columns.
    metis = module._metis()
    cuts = {1: [0, 0, 0, 0, 1, 1], 2: [0, 1, 0, 0, 1, 1]}
    asked = []

    class Prepared:
        Options, CSRAdjacency, _internal = metis.Options, metis.CSRAdjacency, metis._internal

        @staticmethod
        def part_graph(n_parts, options, recursive, **arguments):
            asked.append((options.seed, recursive))
            return 0, cuts.get(options.seed, cuts[1])

    monkeypatch.setattr(module, "_metis", lambda: Prepared)
    A = scipy.sparse.csr_matrix(np.repeat(np.eye(2), 2, axis=0))
    rows, columns = cut_bipartite_graph(A, 2, random_state=1)
    assert asked == [(1, True), (1, False), (2, True)]
    cuts[1] = cuts[2]  # both ways are tried even if the first cut will do
    asked.clear()
    cut_bipartite_graph(A, 2, random_state=1)
    assert asked == [(1, True), (1, False)]
    cuts[1] = [0, 0, 0, 0, 1, 1]
    assert rows.tolist() == [0, 0, 1, 1]
    assert columns.tolist() == [0, 1]
    # No run has columns in every part: then rows at least.
    rows, columns = cut_bipartite_graph(A, 2, random_state=7)
    assert rows.tolist() == [0, 0, 1, 1]
    assert columns.tolist() == [0, 0]


def test_weights_become_integers():
    weights = np.array([[9.0, 0.5, 1e-9], [0.5, 9.0, 0.25], [1e-9, 0.25, 0.0]])
    graph = module._integer_graph(scipy.sparse.csr_matrix(weights), module._metis())
    assert graph.toarray().tolist() == [[0, 10_000, 1], [10_000, 0, 5000], [1, 5000, 0]]
    whole = np.array([[0, 3.0], [3.0, 0]])
    graph = module._integer_graph(scipy.sparse.csr_matrix(whole), module._metis())
    assert graph.toarray().tolist() == whole.tolist()

    class Narrow:
        class _internal:
            _idx_type_width = staticmethod(lambda: 32)

    huge = scipy.sparse.csr_matrix(np.array([[0, 2**40, 1], [2**40, 0, 1], [1, 1, 0]]))
    graph = module._integer_graph(huge, Narrow)
    assert 2**29 < graph.data.sum() <= 2**31
    assert graph.data.min() == 1


def test_bipartite_parts_hold_rows_and_columns(seed):
    random = np.random.default_rng(seed)
    truth = random.integers(0, 3, 60)
    blocks = [np.eye(3)[np.where(random.random(60) < 0.2, random.integers(0, 3, 60), truth)]
              for _ in range(8)]  # fmt: skip
    A = scipy.sparse.csr_matrix(np.hstack(blocks))
    for k in (1, 2, 3, 5):
        rows, columns = cut_bipartite_graph(A, k)
        assert sorted(set(rows.tolist())) == list(range(k))
        assert len(columns) == 24
        assert sorted(set(columns.tolist())) == list(range(k))
    # More parts than columns: rows at least are everywhere.
    rows, _ = cut_bipartite_graph(A[:, :3], 7)
    assert sorted(set(rows.tolist())) == list(range(7))


def test_words_of_errors(monkeypatch):
    graph = scipy.sparse.csr_matrix(np.ones((3, 3)))
    with pytest.raises(ValueError, match=r"n_parts must be between 1 and .*\(3\); got 4"):
        cut_graph(graph, 4)
    with pytest.raises(ValueError, match=r"n_parts must be between 1 and .*\(1\); got 2"):
        cut_bipartite_graph(graph[:1], 2)
    with pytest.raises(ValueError, match="imbalance must not be negative; got -1"):
        cut_graph(graph, 2, imbalance=-1)
    monkeypatch.setitem(sys.modules, "pymetis", None)
    with pytest.raises(ImportError, match=r'pip install "coterie\[metis\]"'):
        cut_graph(graph, 2)
