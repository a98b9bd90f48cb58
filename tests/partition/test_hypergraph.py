"""Cuts of hypergraphs by Mt-KaHyPar."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
import strategies
from coterie._partition import _hypergraph as module
from coterie._partition import cut_hypergraph, settled_spectral_cut
from strategies import hypergraph_of, noisy_labels


def hyperedges(labels):
    return [np.flatnonzero(c).tolist() for c in naive.incidence(labels).T]


def cut(edges, n, k, *, weights=None, **options):
    return cut_hypergraph(hypergraph_of(edges, n, weights), k, **options)


def settled(edges, n, k, **options):
    return settled_spectral_cut(hypergraph_of(edges, n), k, **options)


def by_package(edges, n, k, imbalance=0.05, seed=0):
    """Mt-KaHyPar's own cut, from scratch."""
    return module._by_package(hypergraph_of(edges, n), None, k, imbalance, seed)


@settings(max_examples=100)
@given(data=st.data())
def test_no_part_is_ever_empty(data):
    n = data.draw(st.integers(1, 12))
    k = data.draw(st.integers(1, n))
    edges = data.draw(st.lists(st.sets(st.integers(0, n - 1)).map(sorted), max_size=6))
    weights = data.draw(
        st.none() | st.lists(st.integers(1, 50), min_size=n, max_size=n).map(np.array)
    )
    labels = cut(edges, n, k, weights=weights)
    assert labels.dtype == np.int64
    assert sorted(set(labels.tolist())) == list(range(k))


def test_planted_parts_are_found(seed):
    truth = np.random.default_rng(seed).permutation(np.repeat(np.arange(4), 25))
    labels = np.column_stack([truth] * 3)
    found = cut(hyperedges(labels), 100, 4)
    assert naive.same_partition(found, truth)


def test_parts_are_balanced(seed):
    _, labels = noisy_labels(seed, 200, 6)
    for imbalance in (0.05, 0.3):
        sizes = np.bincount(cut(hyperedges(labels), 200, 4, imbalance=imbalance))
        assert sizes.max() <= 50 * (1 + imbalance)
    weights = np.ones(200, dtype=int)
    weights[:10] = 20
    found = cut(hyperedges(labels), 200, 4, weights=weights)
    assert np.bincount(found, weights=weights).max() <= 1.05 * weights.sum() / 4


def planted_hyperedges(seed, sizes, noise):
    """Clusters of partitions that follow parts of the given sizes, but for some labels."""
    random = np.random.default_rng(seed)
    truth = random.permutation(np.repeat(np.arange(len(sizes)), sizes))
    wrong = [random.random(len(truth)) < noise for _ in range(8)]
    columns = [np.where(w, random.integers(0, len(sizes), len(truth)), truth) for w in wrong]
    return truth, hyperedges(np.column_stack(columns))


@pytest.mark.parametrize("sizes", [[60] * 5, [200, 40, 30, 20, 10]])
def test_cuts_are_as_light_as_the_packages_own(seed, sizes):
    for noise in (0.01, 0.02, 0.05, 0.2, 0.5):
        ratios = []
        for number in range(3):
            _, edges = planted_hyperedges([seed, number], sizes, noise)
            found = cut(edges, 300, 5)
            assert np.bincount(found).max() <= 63
            scratch = by_package(edges, 300, 5)
            ratios.append(naive.hypergraph_cut(edges, found) / naive.hypergraph_cut(edges, scratch))
        assert np.mean(ratios) <= 1.03


@pytest.mark.parametrize("imbalance", [0.05, 0.3, 1.0])
def test_where_most_is_cut_anyway(imbalance):
    # Every hyperedge has vertices in every part of the truth, which no small move makes better.
    truth, edges = planted_hyperedges(2, [120] * 5, 0.5)
    assert naive.hypergraph_cut(edges, truth) == 4 * len(edges)
    assert settled(edges, 600, 5, imbalance=imbalance) is None
    found = naive.hypergraph_cut(edges, cut(edges, 600, 5, imbalance=imbalance))
    scratch = naive.hypergraph_cut(edges, by_package(edges, 600, 5, imbalance))
    assert found <= 1.01 * scratch < 0.95 * 4 * len(edges)


def test_a_good_spectral_partition_settles_it(seed):
    truth, edges = planted_hyperedges(seed, [60] * 5, 0.005)
    assert naive.same_partition(settled(edges, 300, 5), truth)


def test_a_spectral_partition_that_changes_much_settles_nothing(seed, monkeypatch):
    truth, edges = planted_hyperedges(seed, [60] * 5, 0.02)
    # Some vertices have changed places: in balance, but not at rest.
    poor = truth.copy()
    chosen = np.random.default_rng(seed).permutation(300)[:20]
    poor[chosen] = np.roll(poor[chosen], 1)
    monkeypatch.setattr(module, "spectral_hypergraph", lambda *_, **__: poor)
    assert settled(edges, 300, 5) is None


def test_parts_of_other_sizes_are_not_settled(seed):
    _, edges = planted_hyperedges(seed, [200, 40, 30, 20, 10], 0.005)
    assert settled(edges, 300, 5) is None


def test_little_balance_to_keep(seed):
    # Parts of 60 in a chain, and a vertex that hangs on each: to cut these off costs less.
    random = np.random.default_rng(seed)
    edges = [(60 * part + random.permutation(60)[:12]).tolist() for part in [*range(5)] * 40]
    edges += [
        (60 * part + random.integers([60, 60]) + [0, 60]).tolist() for part in [*range(4)] * 6
    ]
    edges += [[60 * part, 300 + part] for part in range(4)]
    assert naive.hypergraph_cut(edges, cut(edges, 304, 5)) == 24
    assert naive.hypergraph_cut(edges, settled(edges, 304, 5)) == 24
    assert settled(edges, 304, 5, imbalance=4.0) is None
    assert naive.hypergraph_cut(edges, cut(edges, 304, 5, imbalance=4.0)) < 20


def test_a_spectral_partition_can_be_lighter(monkeypatch):
    _, edges = planted_hyperedges(0, [150, 60, 40, 30, 20], 0.005)
    found = naive.hypergraph_cut(edges, cut(edges, 300, 5, imbalance=2.4))
    assert found < 0.8 * naive.hypergraph_cut(edges, by_package(edges, 300, 5, 2.4))
    monkeypatch.setattr(module, "cut_multilevel", lambda graph, *_: np.arange(300) % 5)
    assert naive.hypergraph_cut(edges, cut(edges, 300, 5, imbalance=2.4)) <= found


def test_many_parts_are_left_to_the_package():
    edges = [[i, (i + 1) % 600] for i in range(600)]
    found = cut(edges, 600, 120)
    assert np.bincount(found).tolist() == [5] * 120
    assert settled(edges, 600, 120) is None


def test_what_the_package_makes_is_taken_if_it_is_better(seed, monkeypatch):
    _, edges = planted_hyperedges(seed, [60] * 5, 0.02)
    best = cut(edges, 300, 5)
    poor = np.arange(300) % 5
    monkeypatch.setattr(module, "cut_multilevel", lambda *_: poor)
    assert naive.hypergraph_cut(edges, cut(edges, 300, 5)) < naive.hypergraph_cut(edges, poor)
    monkeypatch.setattr(module, "cut_multilevel", lambda *_: best)
    monkeypatch.setattr(module, "_by_package", lambda *_: poor)
    monkeypatch.setattr(module, "refine", lambda levels, labels, _: poor)
    assert cut(edges, 300, 5).tolist() == best.tolist()


def test_a_cut_that_grows_too_much_settles_nothing(monkeypatch):
    # A little out of balance: to mend that, something must be cut.
    _, edges = planted_hyperedges(0, [66, 60, 60, 57, 57], 0.02)
    graph = hypergraph_of(edges, 300)
    before = naive.hypergraph_cut(edges, module._spectral(graph, 5, 0))
    after = naive.hypergraph_cut(edges, settled(edges, 300, 5))
    assert before < after
    for most, expected in ((before, True), (after, False)):
        monkeypatch.setattr(module, "_MOST_CUT", (most + 0.5) / module._most_cut(graph, 5))
        assert (settled(edges, 300, 5) is None) == expected


def test_spectral_partitions_weigh_vertices(monkeypatch):
    seen = []
    monkeypatch.setattr(
        module,
        "spectral_hypergraph",
        lambda pins, k, *, vertex_weights, **_: seen.append(vertex_weights.tolist()) or [0, 1, 0],
    )
    module._spectral(hypergraph_of([[0, 1], [1, 2]], 3, [3, 4, 5]), 2, 0)
    assert seen == [[3, 4, 5]]


def test_parts_that_the_package_leaves_empty_are_filled(monkeypatch):
    edges = [[i, (i + 1) % 300] for i in range(300)]
    left = np.arange(300) % 110
    left[left == 7] = 8
    monkeypatch.setattr(module, "_by_package", lambda *_: left)
    assert len(np.unique(cut(edges, 300, 110))) == 110


def test_heavy_vertices_are_balanced_as_well_as_they_can_be():
    # No balance within 5 % exists, and the lightest cut is far from any.
    edges = [[0, 1]] * 10 + [[2, 3, 4]] * 10 + [[1, 2]]
    weights = np.array([260, 140, 40, 30, 8])
    found = cut(edges, 5, 2, weights=weights)
    assert np.bincount(found, weights=weights).max() == 260


def test_without_room_for_the_eigenproblem(monkeypatch):
    truth, edges = planted_hyperedges(0, [60] * 5, 0.0)
    monkeypatch.setenv("COTERIE_MEMORY_LIMIT", "1kB")
    monkeypatch.setattr(module, "spectral_hypergraph", None)
    assert settled(edges, 300, 5) is None
    monkeypatch.setattr(module, "check_fits", lambda *_, **__: None)
    for imbalance in (0.05, 0.3):
        assert naive.same_partition(cut(edges, 300, 5, imbalance=imbalance), truth)


def test_room_for_some_of_the_eigenproblem(monkeypatch):
    # The spectral partition would need LAPACK, for which there is no room: then there is none.
    edges = [[i, (i + 1) % 600] for i in range(600)]  # the eigenvalues of a ring come in pairs
    for n_bytes in (17, 23, 24, 25):
        monkeypatch.setenv("COTERIE_MEMORY_LIMIT", str(n_bytes * 600**2))
        settled(edges, 600, 11)
        assert len(np.unique(cut(edges, 600, 11, imbalance=0.3))) == 11


def test_result_does_not_depend_on_threads_or_calls():
    code = """
import json, os, sys
os.cpu_count = lambda: int(sys.argv[1])
import numba
import numpy as np
from coterie._partition import cut_hypergraph, settled_spectral_cut
from strategies import hypergraph_of
numba.set_num_threads(min(int(sys.argv[1]), numba.config.NUMBA_NUM_THREADS))
random = np.random.default_rng(0)
at_random = [random.permutation(800)[:60].tolist() for _ in range(80)]
parts = random.permutation(800) % 5
planted, clear = ([np.flatnonzero((parts == p) ^ (random.random(800) < noise)).tolist()
                   for p in range(5) for _ in range(16)] for noise in (0.02, 0.001))
graphs = [hypergraph_of(edges, 800) for edges in (at_random, planted, clear)]
print(json.dumps([[cut_hypergraph(graph, 5, random_state=1).tolist() for graph in graphs]
                  + [settled_spectral_cut(graphs[2], 5, random_state=1).tolist()]
                  for _ in range(2)]))
"""
    found = [
        json.loads(
            subprocess.run(
                [sys.executable, "-c", code, n],
                check=True,
                capture_output=True,
                text=True,
                env={**os.environ, "PYTHONPATH": str(Path(strategies.__file__).parent)},
            ).stdout
        )
        for n in ("1", "3")
    ]
    assert found[0][0] == found[0][1] == found[1][0] == found[1][1]


def test_words_of_errors(monkeypatch):
    with pytest.raises(ValueError, match=r"n_parts must be between 1 and .*\(3\); got 4"):
        cut([[0, 1]], 3, 4)
    with pytest.raises(ValueError, match="imbalance must be finite and not negative"):
        cut([[0, 1]], 3, 2, imbalance=-0.1)
    monkeypatch.setitem(sys.modules, "mtkahypar", None)
    with pytest.raises(ImportError, match=r'pip install "coterie\[hypergraph\]"'):
        cut([[0, 1]], 3, 2)
    with pytest.raises(ImportError, match=r'pip install "coterie\[hypergraph\]"'):
        settled([[0, 1]], 3, 2)
