"""Cuts on several levels: what must hold of every level, and that better ones are found."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import naive
from coterie._kernels.hypergraph import cost, improve
from coterie._partition import _multilevel as module
from coterie._partition import heaviest_parts
from coterie._partition._multilevel import coarsen, cut_multilevel, refine
from strategies import hypergraph_of


def planted(seed, sizes, n_edges=20, size=12, n_across=10):
    """(truth, graph): hyperedges within the parts of a truth, and some across."""
    random = np.random.default_rng(seed)
    truth = random.permutation(np.repeat(np.arange(len(sizes)), sizes))
    inside = [
        random.permutation(np.flatnonzero(truth == part))[:size]
        for part in range(len(sizes))
        for _ in range(n_edges)
    ]
    across = [random.permutation(len(truth))[:3] for _ in range(n_across)]
    return truth, hypergraph_of([e.tolist() for e in inside + across], len(truth))


def test_planted_parts_are_found(seed):
    for k in (2, 3, 5, 8):
        truth, graph = planted(seed, [60] * k, n_edges=60)
        found = cut_multilevel(graph, heaviest_parts(graph.weights, k, 0.05), seed)
        assert naive.same_partition(found, truth)


@given(data=st.data())
def test_parts_are_numbered_and_no_heavier_than_they_must_be(data):
    n = data.draw(st.integers(2, 12))
    edges = data.draw(st.lists(st.sets(st.integers(0, n - 1)).map(sorted), max_size=6))
    graph = hypergraph_of(edges, n)
    k = data.draw(st.integers(2, n))
    heaviest = heaviest_parts(graph.weights, k, 0.05)
    labels = cut_multilevel(graph, heaviest, data.draw(st.integers(0, 3)))
    assert set(labels.tolist()) <= set(range(k))
    assert cost(graph, labels, heaviest)[0] == 0  # all vertices weigh 1


def test_levels_belong_together(seed):
    _, graph = planted(seed, [100] * 6, n_edges=40)
    apart = np.random.default_rng(seed).integers(0, 3, 600)
    levels = coarsen(graph, 6, np.random.default_rng(seed), apart=apart)
    assert len(levels.graphs) == len(levels.groups) + 1 > 2
    assert len(levels.graphs[-1].weights) <= module._FEW
    place = np.arange(600)
    for upper, groups in zip(levels.graphs[1:], levels.groups, strict=True):
        assert upper.weights.sum() == 600
        assert upper.weights.max() <= 600 // 6 // module._JOINED
        place = groups[place]
        assert upper.weights.tolist() == np.bincount(place).tolist()
    assert levels.apart[place].tolist() == apart.tolist()
    # A partition of the last is one of the first, with the same cut.
    labels = np.random.default_rng(seed).integers(0, 6, len(levels.apart))
    heaviest = np.full(6, 600)
    assert cost(levels.graphs[-1], labels, heaviest) == cost(graph, labels[place], heaviest)


def test_refining_never_makes_it_worse(seed):
    _, graph = planted(seed, [100] * 6, n_edges=40)
    heaviest = heaviest_parts(graph.weights, 6, 0.05)
    random = np.random.default_rng(seed)
    for labels in (np.arange(600) % 6, random.integers(0, 6, 600), np.zeros(600, dtype=np.int64)):
        levels = coarsen(graph, 6, random, apart=labels)
        kept = levels.apart.copy()
        found = refine(levels, levels.apart, heaviest)
        assert levels.apart.tolist() == kept.tolist()
        assert cost(graph, found, heaviest) < cost(graph, labels, heaviest)


def test_the_last_level_is_improved_too(seed):
    truth, graph = planted(seed, [20] * 4, n_across=0)
    labels = np.random.default_rng(seed).permutation(truth)
    heaviest = heaviest_parts(graph.weights, 4, 0.05)
    levels = coarsen(graph, 4, np.random.default_rng(seed), apart=labels)
    assert len(levels.graphs) == 1
    found = refine(levels, levels.apart, heaviest)
    assert cost(graph, found, heaviest) < cost(graph, labels, heaviest)


def test_halves_leave_room_for_the_halves_of_halves():
    # 60 and 40 would cut nothing, but then parts of at most 1.3 of the mean may not be found.
    edges = [list(range(i, i + 8)) for i in [*range(53), *range(60, 93)]]
    graph = hypergraph_of(edges, 100)
    heaviest = int(heaviest_parts(graph.weights, 8, 0.3)[0])
    halves = module._bisect(graph, 4, 4, heaviest, np.random.default_rng(0))
    assert np.bincount(halves).max() <= np.ceil(50 * (heaviest * 8 / 100) ** (1 / 3)) < 60


def test_the_better_of_two_halvings_is_taken(monkeypatch):
    _, graph = planted(0, [40] * 4, n_edges=6, n_across=60)
    heaviest = int(heaviest_parts(graph.weights, 2, 0.05)[0])
    cuts = {}
    for n_tries in (1, 8):
        monkeypatch.setattr(module, "_N_BISECTIONS", n_tries)
        found = [module._bisect(graph, 1, 1, heaviest, np.random.default_rng(s)) for s in range(10)]
        cuts[n_tries] = np.array([cost(graph, x, np.full(2, heaviest))[1] for x in found])
    assert (cuts[8] <= cuts[1]).all()
    assert (cuts[8] < cuts[1]).any()


def test_several_levels_are_better_than_one(seed):
    cuts = []
    for number in range(5):
        truth, graph = planted([seed, number], [100] * 6, n_edges=40, n_across=60)
        heaviest = heaviest_parts(graph.weights, 6, 0.05)
        single = np.random.default_rng([seed, number]).permutation(600) % 6
        improve(graph, single, heaviest, np.ones(6, dtype=np.int64), 600)
        several = cut_multilevel(graph, heaviest, seed)
        cuts.append([cost(graph, labels, heaviest)[1] for labels in (truth, several, single)])
    of_truth, of_several, of_single = np.mean(cuts, axis=0)
    assert of_several <= of_truth < of_single


def test_crossing_and_more_cuts_pay(monkeypatch):
    def total_cut(**changes):
        with monkeypatch.context() as changed:
            for name, value in changes.items():
                changed.setattr(module, name, value)
            return sum(
                cost(graph, cut_multilevel(graph, heaviest, 0), heaviest)[1] for graph in graphs
            )

    graphs = [planted(number, [60] * 10, n_edges=8, n_across=120)[1] for number in range(6)]
    heaviest = heaviest_parts(graphs[0].weights, 10, 0.05)
    plain = {"_FEWEST_CUTS": 4, "_MOST_CUTS": 4}
    assert total_cut(**plain) < total_cut(**plain, _N_CROSSES=0)
    assert total_cut(**plain) < total_cut(_FEWEST_CUTS=1, _MOST_CUTS=1)


def test_same_seed_same_cut_on_any_number_of_threads():
    import numba

    _, graph = planted(0, [100] * 6, n_edges=40, n_across=200)
    heaviest = heaviest_parts(graph.weights, 6, 0.05)
    before = numba.get_num_threads()
    found = []
    try:
        for n_threads in {1, before}:
            numba.set_num_threads(n_threads)
            found += [cut_multilevel(graph, heaviest, 3).tolist() for _ in range(2)]
    finally:
        numba.set_num_threads(before)
    assert all(labels == found[0] for labels in found)
