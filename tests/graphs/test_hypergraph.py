"""Cuts of hypergraphs by Mt-KaHyPar."""

import json
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from coterie._graphs import _hypergraph as module
from coterie._graphs import cut_hypergraph
from strategies import noisy_labels


def hyperedges(labels):
    return [np.flatnonzero(c).tolist() for c in naive.incidence(labels).T]


def cut(edges, n, k, *, weights=None, **options):
    weights = np.ones(n, dtype=np.int64) if weights is None else weights
    return cut_hypergraph(edges, weights, k, **options)


@settings(max_examples=50)
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
    _, noise = noisy_labels(seed, 100, 1)
    found = cut(hyperedges(np.column_stack([truth] * 3 + [noise])), 100, 4)
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


def test_parts_that_the_package_leaves_empty_are_filled(monkeypatch):
    class Started:
        """Mt-KaHyPar, but everything ends in part 0."""

        def __init__(self, real):
            self.context_from_preset = real.context_from_preset

        def create_hypergraph(self, *_):
            return self

        def partition(self, _):
            return self

        def get_partition(self):
            return [0] * 6

    started = Started(module._started())
    monkeypatch.setattr(module, "_started", lambda: started)
    found = cut([[0, 1, 2], [2, 3, 4], [1, 2]], 6, 3)
    # The vertices of the fewest hyperedges: 5 is in none, and 0 is the first that is in one.
    assert np.bincount(found).tolist() == [4, 1, 1]
    assert found[5] != 0
    assert found[0] != 0


@pytest.mark.slow
def test_result_does_not_depend_on_threads_or_calls():
    code = """
import json, os, sys
os.cpu_count = lambda: int(sys.argv[1])
import numpy as np
from coterie._graphs import cut_hypergraph
random = np.random.default_rng(0)
at_random = [random.permutation(400)[:60].tolist() for _ in range(40)]
parts = random.permutation(400) % 5
planted = [np.flatnonzero((parts == p) ^ (random.random(400) < 0.02)).tolist()
           for p in range(5) for _ in range(8)]
weights = np.ones(400, dtype=int)
print(json.dumps([[cut_hypergraph(edges, weights, 5, random_state=1).tolist()
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
        cut([[0, 1]], 3, 4)
    with pytest.raises(ValueError, match="imbalance must not be negative"):
        cut([[0, 1]], 3, 2, imbalance=-0.1)
    monkeypatch.setitem(sys.modules, "mtkahypar", None)
    with pytest.raises(ImportError, match=r'pip install "coterie\[hypergraph\]"'):
        cut([[0, 1]], 3, 2)
