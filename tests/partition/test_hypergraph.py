"""Cuts of hypergraphs by Mt-KaHyPar."""

import json
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from coterie._partition import _hypergraph as module
from coterie._partition import cut_hypergraph
from strategies import noisy_labels


def hyperedges(labels):
    return [np.flatnonzero(c).tolist() for c in naive.incidence(labels).T]


@settings(max_examples=100)
@given(data=st.data())
def test_no_part_is_ever_empty(data):
    n = data.draw(st.integers(1, 12))
    k = data.draw(st.integers(1, n))
    edges = data.draw(st.lists(st.sets(st.integers(0, n - 1)).map(sorted), max_size=6))
    weights = data.draw(
        st.none() | st.lists(st.integers(1, 50), min_size=n, max_size=n).map(np.array)
    )
    labels = cut_hypergraph(edges, n, k, vertex_weights=weights)
    assert labels.dtype == np.int64
    assert sorted(set(labels.tolist())) == list(range(k))


def test_planted_parts_are_found(seed):
    truth = np.random.default_rng(seed).permutation(np.repeat(np.arange(4), 25))
    labels = np.column_stack([truth] * 3)
    found = cut_hypergraph(hyperedges(labels), 100, 4)
    assert naive.same_partition(found, truth)


def test_matrix_and_lists_agree(seed):
    _, labels = noisy_labels(seed, 60, 6)
    edges = hyperedges(labels)
    matrix = scipy.sparse.csr_matrix(naive.incidence(labels).T)
    assert cut_hypergraph(edges, 60, 4).tolist() == cut_hypergraph(matrix, 60, 4).tolist()


def test_parts_are_balanced(seed):
    _, labels = noisy_labels(seed, 200, 6)
    for imbalance in (0.05, 0.3):
        sizes = np.bincount(cut_hypergraph(hyperedges(labels), 200, 4, imbalance=imbalance))
        assert sizes.max() <= 50 * (1 + imbalance)
    weights = np.ones(200, dtype=int)
    weights[:10] = 20
    found = cut_hypergraph(hyperedges(labels), 200, 4, vertex_weights=weights)
    assert np.bincount(found, weights=weights).max() <= 1.05 * weights.sum() / 4


def parts_cut(edges, found):
    return sum(len(set(found[edge])) - 1 for edge in edges if edge)


def planted_hyperedges(seed, sizes, noise):
    """Clusters of partitions that follow parts of the given sizes, but for some labels."""
    random = np.random.default_rng(seed)
    truth = random.permutation(np.repeat(np.arange(len(sizes)), sizes))
    wrong = [random.random(len(truth)) < noise for _ in range(8)]
    columns = [np.where(w, random.integers(0, len(sizes), len(truth)), truth) for w in wrong]
    return truth, hyperedges(np.column_stack(columns))


def from_scratch(monkeypatch, *args, **kwargs):
    with monkeypatch.context() as changed:
        changed.setattr(module, "_begins_spectral", lambda *_: False)
        return cut_hypergraph(*args, **kwargs)


def watch_settled(monkeypatch):
    """Return a list that gets, for each start that is improved, whether it changed little."""
    settled = []
    improve = module._improve
    monkeypatch.setattr(
        module, "_improve", lambda *args: settled.append(improve(*args)) or settled[-1]
    )
    return settled


def test_beginning_with_a_spectral_partition_costs_little(seed, monkeypatch):
    for noise in (0.01, 0.02, 0.05, 0.2, 0.5):
        ratios = []
        for number in range(3):
            _, edges = planted_hyperedges([seed, number], [60] * 5, noise)
            found = cut_hypergraph(edges, 300, 5)
            assert np.bincount(found).max() <= 63
            scratch = from_scratch(monkeypatch, edges, 300, 5)
            ratios.append(parts_cut(edges, found) / parts_cut(edges, scratch))
        assert np.mean(ratios) <= 1.03


def test_a_good_spectral_partition_settles_it(seed, monkeypatch):
    truth, edges = planted_hyperedges(seed, [60] * 5, 0.005)
    settled = watch_settled(monkeypatch)
    found = cut_hypergraph(edges, 300, 5)
    assert settled == [True]
    assert naive.same_partition(found, truth)


def test_a_start_that_changes_much_settles_nothing(seed, monkeypatch):
    truth, edges = planted_hyperedges(seed, [60] * 5, 0.02)
    # Some vertices have changed places: in balance, but not at rest.
    poor = truth.copy()
    chosen = np.random.default_rng(seed).permutation(300)[:60]
    poor[chosen] = np.roll(poor[chosen], 1)
    settled = watch_settled(monkeypatch)
    monkeypatch.setattr(module, "spectral_hypergraph", lambda *_, **__: poor)
    found = cut_hypergraph(edges, 300, 5)
    assert settled == [False]
    assert parts_cut(edges, found) <= parts_cut(edges, from_scratch(monkeypatch, edges, 300, 5))


def test_without_balance_a_start_settles_nothing(seed, monkeypatch):
    # Parts of 60 in a chain, and a vertex that hangs on each: to cut these off costs less.
    random = np.random.default_rng(seed)
    edges = [(60 * part + random.permutation(60)[:12]).tolist() for part in [*range(5)] * 40]
    edges += [
        (60 * part + random.integers([60, 60]) + [0, 60]).tolist() for part in [*range(4)] * 6
    ]
    edges += [[60 * part, 300 + part] for part in range(4)]
    assert parts_cut(edges, cut_hypergraph(edges, 304, 5)) == 24
    settled = watch_settled(monkeypatch)
    assert parts_cut(edges, cut_hypergraph(edges, 304, 5, imbalance=4.0)) < 20
    assert settled == [True]


def test_without_balance_a_start_can_be_lighter(monkeypatch):
    _, edges = planted_hyperedges(0, [150, 60, 40, 30, 20], 0.005)
    found = cut_hypergraph(edges, 300, 5, imbalance=2.4)
    scratch = from_scratch(monkeypatch, edges, 300, 5, imbalance=2.4)
    assert parts_cut(edges, found) < 0.8 * parts_cut(edges, scratch)


def test_parts_of_other_sizes_are_cut_from_scratch(seed, monkeypatch):
    _, edges = planted_hyperedges(seed, [200, 40, 30, 20, 10], 0.1)
    scratch = from_scratch(monkeypatch, edges, 300, 5)
    assert cut_hypergraph(edges, 300, 5).tolist() == scratch.tolist()
    assert np.bincount(scratch).max() <= 63


def test_the_lighter_of_two_cuts_is_kept(seed, monkeypatch):
    _, edges = planted_hyperedges(seed, [60] * 5, 0.5)
    monkeypatch.setattr(module, "_NEAR", -1.0)  # nothing is settled
    found = cut_hypergraph(edges, 300, 5)
    scratch = from_scratch(monkeypatch, edges, 300, 5)
    assert parts_cut(edges, found) <= parts_cut(edges, scratch)
    assert np.bincount(found).max() <= 63


@pytest.mark.parametrize("imbalance", [0.05, 0.3, 1.0])
def test_where_all_is_cut_a_start_settles_nothing(monkeypatch, imbalance):
    # Every hyperedge has vertices in every part of the truth, which no small move makes better.
    truth, edges = planted_hyperedges(2, [120] * 5, 0.5)
    assert parts_cut(edges, truth) == 4 * len(edges)
    found = cut_hypergraph(edges, 600, 5, imbalance=imbalance)
    scratch = from_scratch(monkeypatch, edges, 600, 5, imbalance=imbalance)
    assert parts_cut(edges, found) <= parts_cut(edges, scratch) < 0.95 * 4 * len(edges)


def test_heavy_vertices_are_balanced_as_well_as_they_can_be():
    # No balance within 5 % exists, and the lightest cut is far from any.
    edges = [[0, 1]] * 10 + [[2, 3, 4]] * 10 + [[1, 2]]
    weights = np.array([260, 140, 40, 30, 8])
    found = cut_hypergraph(edges, 5, 2, vertex_weights=weights)
    assert np.bincount(found, weights=weights).max() == 260


def test_without_room_for_the_eigenproblem(monkeypatch):
    truth, edges = planted_hyperedges(0, [60] * 5, 0.0)
    monkeypatch.setenv("COTERIE_MEMORY_LIMIT", "1kB")
    monkeypatch.setattr(module, "spectral_hypergraph", None)
    assert naive.same_partition(cut_hypergraph(edges, 300, 5), truth)


def test_room_for_some_of_the_eigenproblem(monkeypatch):
    # The spectral partition would need LAPACK, for which there is no room: then there is none.
    edges = [[i, (i + 1) % 600] for i in range(600)]  # the eigenvalues of a ring come in pairs
    for n_bytes in (17, 23, 24, 25):
        monkeypatch.setenv("COTERIE_MEMORY_LIMIT", str(n_bytes * 600**2))
        assert len(np.unique(cut_hypergraph(edges, 600, 11))) == 11


def test_result_does_not_depend_on_threads_or_calls():
    code = """
import json, os, sys
os.cpu_count = lambda: int(sys.argv[1])
import numpy as np
from coterie._partition import cut_hypergraph
random = np.random.default_rng(0)
at_random = [random.permutation(800)[:60].tolist() for _ in range(80)]
parts = random.permutation(800) % 5
planted = [np.flatnonzero((parts == p) ^ (random.random(800) < 0.02)).tolist()
           for p in range(5) for _ in range(16)]
print(json.dumps([[cut_hypergraph(edges, 800, 5, random_state=1).tolist()
                   for edges in (at_random, planted)] for _ in range(2)]))
"""
    found = [
        json.loads(
            subprocess.run(
                [sys.executable, "-c", code, n], check=True, capture_output=True, text=True
            ).stdout
        )
        for n in ("1", "3")
    ]
    assert found[0][0] == found[0][1] == found[1][0] == found[1][1]


def test_words_of_errors(monkeypatch):
    with pytest.raises(ValueError, match=r"n_parts must be between 1 and .*\(3\); got 4"):
        cut_hypergraph([[0, 1]], 3, 4)
    with pytest.raises(ValueError, match="imbalance must be finite and not negative"):
        cut_hypergraph([[0, 1]], 3, 2, imbalance=-0.1)
    monkeypatch.setitem(sys.modules, "mtkahypar", None)
    with pytest.raises(ImportError, match=r'pip install "coterie\[hypergraph\]"'):
        cut_hypergraph([[0, 1]], 3, 2)
