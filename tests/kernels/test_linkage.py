"""Trees against greedy merging by the definition, in all regimes."""

from contextlib import contextmanager

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform

import naive
from coterie import Ensemble, MemoryLimitError, _linkage
from coterie._kernels import linkage as kernels
from coterie._limits import limit_memory
from coterie._linkage import Tree, average_tree, complete_tree, scipy_linkage, single_tree
from strategies import (
    label_matrices,
    noisy_labels,
    pair_weights,
    random_labels,
    weights_by_cluster,
)

REGIMES = ["auto", "triangle", "matrix-free"]
every_regime = pytest.mark.parametrize("regime", REGIMES)
GREEDY_TREES = {"average": average_tree, "single": single_tree, "complete": complete_tree}


@contextmanager
def beyond_greedy():
    """Make small ensembles go the way of large ones."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_linkage, "GREEDY_MOST", 0)
        yield


def merges_of(tree):
    assert tree.first.dtype == tree.second.dtype == np.int64
    assert (np.diff(tree.link) <= 0).all()
    return list(zip(tree.first.tolist(), tree.second.tolist(), tree.link.tolist(), strict=True))


def assert_same_merges(tree, exact):
    found = merges_of(tree)
    assert [(u, v) for u, v, _ in found] == [(u, v) for u, v, _ in exact]
    assert tree.link == pytest.approx([float(link) for _, _, link in exact], abs=1e-11)


def weighted_labels(**options):
    return label_matrices(**options).flatmap(
        lambda labels: st.tuples(st.just(labels), pair_weights(labels.shape[1]))
    )


def cluster_weighted_labels(**options):
    return label_matrices(**options).flatmap(
        lambda labels: st.tuples(st.just(labels), weights_by_cluster(labels))
    )


def flat(together):
    """The weights of all clusters in the order of the ensemble's clusters."""
    return np.array([weights[name] for weights in together for name in sorted(weights)])


def mean_scores(labels, together, apart):
    """The scores as floats, for larger ensembles."""
    seen = (labels[:, None] >= 0) & (labels[None] >= 0)
    same = labels[:, None] == labels[None]
    return (seen * np.where(same, together, apart)).sum(axis=2)


# --- greedy: every tie as in the definition ------------------------------------------------------


@pytest.mark.parametrize("rule", sorted(GREEDY_TREES))
@given(labels=label_matrices())
def test_greedy_tree_is_that_of_the_definition(rule, labels):
    exact = naive.greedy_merges(naive.coassociation(labels.tolist()), rule)
    assert_same_merges(GREEDY_TREES[rule](Ensemble(labels)), exact)


@given(drawn=weighted_labels())
def test_greedy_tree_of_weights_is_that_of_the_definition(drawn):
    labels, (together, apart) = drawn
    exact = naive.greedy_merges(naive.weighted_scores(labels.tolist(), together, apart))
    assert_same_merges(average_tree(Ensemble(labels), together=together, apart=apart), exact)


@given(drawn=cluster_weighted_labels())
def test_greedy_tree_of_weighted_clusters_is_that_of_the_definition(drawn):
    labels, (together, apart) = drawn
    scores = naive.weighted_scores(labels.tolist(), together, apart)
    tree = average_tree(Ensemble(labels), together=flat(together), apart=apart)
    if any(weight <= apart[e] for e, by in enumerate(together) for weight in by.values()):
        assert_same_merges(tree, naive.greedy_merges(scores))
    else:  # identical rows come first, whatever else ties with them
        naive.check_merges(scores, merges_of(tree))


@given(labels=label_matrices(max_objects=8), data=st.data())
def test_cut_is_that_of_the_definition(labels, data):
    n = len(labels)
    k = data.draw(st.integers(1, n))
    exact = naive.greedy_merges(naive.coassociation(labels.tolist()))
    tree = average_tree(Ensemble(labels))
    assert tree.cut(k).tolist() == naive.cut(exact, n, k)
    link = data.draw(st.sampled_from([-0.1, 0.05, 0.55, 1.1]))
    assert tree.n_clusters_above(link) == n - sum(float(x) >= link for _, _, x in exact)


@pytest.mark.parametrize(
    ("rule", "code"), [("single", kernels.SINGLE), ("complete", kernels.COMPLETE)]
)
def test_merged_cluster_that_ties_takes_over_a_partner(rule, code):
    # 1 and 4 merge first. Then, by single linkage, 0 is as near to them, through 4, as to its
    # partner 2: the smaller name wins.
    similarity = np.zeros((5, 5), dtype=int)
    for (i, j), value in {(1, 4): 3, (0, 4): 1, (0, 2): 1, (2, 3): 1}.items():
        similarity[i, j] = similarity[j, i] = value
    exact = naive.greedy_merges(similarity.tolist(), rule)
    triangle = np.array([float(similarity[u, v]) for u in range(5) for v in range(u)])
    first, second, link = kernels.merge_greedily(triangle, np.ones(5), code, 0.0)
    assert list(zip(first, second, strict=True)) == [(u, v) for u, v, _ in exact]
    assert link.tolist() == [float(x) for _, _, x in exact]


# --- rounds, triangle, matrix-free ---------------------------------------------------------------


@every_regime
@given(labels=label_matrices(max_objects=12))
def test_each_merge_is_of_a_best_pair(regime, labels):
    with beyond_greedy():
        tree = average_tree(Ensemble(labels), regime=regime)
    naive.check_merges(naive.coassociation(labels.tolist()), merges_of(tree))


@every_regime
@given(drawn=weighted_labels(max_objects=12))
def test_each_merge_by_weights_is_of_a_best_pair(regime, drawn):
    labels, (together, apart) = drawn
    with beyond_greedy():
        tree = average_tree(Ensemble(labels), together=together, apart=apart, regime=regime)
    scores = naive.weighted_scores(labels.tolist(), together, apart)
    # Weights may be rounded to 2^-30 of the largest possible score.
    naive.check_merges(scores, merges_of(tree), tolerance=1e-7)


@every_regime
@given(drawn=cluster_weighted_labels(max_objects=12))
def test_each_merge_by_weighted_clusters_is_of_a_best_pair(regime, drawn):
    labels, (together, apart) = drawn
    with beyond_greedy():
        tree = average_tree(Ensemble(labels), together=flat(together), apart=apart, regime=regime)
    scores = naive.weighted_scores(labels.tolist(), together, apart)
    naive.check_merges(scores, merges_of(tree), tolerance=1e-7)


def test_weight_against_agreement_in_one_cluster_keeps_twins_apart():
    labels = np.array([[0, 0], [0, 0], [1, 0], [1, 0]])
    tree = average_tree(Ensemble(labels), together=np.array([-1.0, 1.0, 0.5]))
    assert naive.same_partition(tree.cut(3), [0, 1, 2, 2])
    assert tree.link[0] == 1.5


@given(labels=label_matrices(max_objects=12))
def test_each_merge_of_a_spanning_tree_is_of_a_best_pair(labels):
    with beyond_greedy():
        tree = single_tree(Ensemble(labels))
    similarity = naive.coassociation(labels.tolist())
    naive.check_merges(similarity, merges_of(tree), rule="single")


@every_regime
@pytest.mark.parametrize("missing", [0.0, 0.15])
@pytest.mark.parametrize("signs", ["all for", "some against"])
def test_regimes_agree_without_ties(monkeypatch, seed, regime, missing, signs):
    # Large enough for several tasks of 16 clusters, and for tables of clusters over 24 leaves.
    # A score depends only on who agrees: with 60 partitions no two pairs are alike.
    labels = random_labels(seed, 240, 60, most=4, missing=missing)
    random = np.random.default_rng(seed)
    together, apart = random.random(60), -random.random(60)
    if signs == "some against":
        together[:9], apart[:9] = apart[:9].copy(), together[:9].copy()
    elif not missing:
        labels[200:] = labels[:40]  # twins: handled once
    ensemble = Ensemble(labels)
    scores = mean_scores(labels, together, apart)
    condensed = squareform(scores.max() - scores, checks=False)
    expected = hierarchy.linkage(condensed, "average")
    monkeypatch.setattr(_linkage, "GREEDY_MOST", 0)
    tree = average_tree(ensemble, together=together, apart=apart, regime=regime)
    assert scores.max() - tree.link == pytest.approx(expected[:, 2], rel=1e-7, abs=1e-6)
    for k in (2, 3, 10, 100):
        wanted = hierarchy.fcluster(expected, k, "maxclust")
        assert naive.same_partition(tree.cut(k), wanted)


@pytest.mark.parametrize("missing", [0.0, 0.15])
def test_greedy_agrees_without_ties(seed, missing):
    labels = random_labels(seed, 240, 60, most=4, missing=missing)
    random = np.random.default_rng(seed)
    together, apart = random.random(60), -random.random(60)
    scores = mean_scores(labels, together, apart)
    expected = hierarchy.linkage(squareform(scores.max() - scores, checks=False), "average")
    tree = average_tree(Ensemble(labels), together=together, apart=apart)
    assert scores.max() - tree.link == pytest.approx(expected[:, 2])
    assert naive.same_partition(tree.cut(7), hierarchy.fcluster(expected, 7, "maxclust"))


@every_regime
@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_larger_votes_give_a_tree_of_best_pairs(monkeypatch, seed, regime, missing):
    _, labels = noisy_labels(seed, 150, 9, missing=missing)
    monkeypatch.setattr(_linkage, "GREEDY_MOST", 0)
    ensemble = Ensemble(labels)
    tree = average_tree(ensemble, regime=regime)
    sums = ensemble.coassociation()
    sizes = np.ones(len(sums))
    np.fill_diagonal(sums, -np.inf)
    for u, v, link in merges_of(tree):
        means = sums / np.outer(sizes, sizes)
        assert link == pytest.approx(means[u, v], abs=1e-9)
        assert means.max() <= link + 1e-9
        sums[u] += sums[v]
        sums[:, u] = sums[u]
        sums[u, u] = sums[v] = sums[:, v] = -np.inf
        sizes[u] += sizes[v]


def test_rounds_go_on_until_the_triangle_fits(monkeypatch, seed):
    labels = random_labels(seed, 200, 60, most=4)
    together = np.random.default_rng(seed).random(60)
    ensemble, apart = Ensemble(labels), np.zeros(60)
    monkeypatch.setattr(_linkage, "GREEDY_MOST", 0)
    filled = []
    fill = kernels.fill_triangle
    monkeypatch.setattr(
        kernels, "fill_triangle", lambda *args: (filled.append(args[-2].nbytes), fill(*args))
    )
    free = average_tree(ensemble, together=together, apart=apart)
    with limit_memory(20_000):
        tight = average_tree(ensemble, together=together, apart=apart)
    with limit_memory(1):
        none = average_tree(ensemble, together=together, apart=apart)
    assert len(filled) == 2
    assert filled[1] <= 20_000 < filled[0]
    for tree in (tight, none):
        assert tree.link == pytest.approx(free.link)
        assert naive.same_partition(tree.cut(20), free.cut(20))


@pytest.mark.skipif(numba.config.NUMBA_NUM_THREADS < 2, reason="numba has one thread here")
@every_regime
@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_number_of_threads_changes_nothing(monkeypatch, seed, regime, missing):
    _, labels = noisy_labels(seed, 400, 9, missing=missing)
    monkeypatch.setattr(_linkage, "GREEDY_MOST", 0)
    before, trees = numba.get_num_threads(), []
    try:
        for n_threads in (1, 2):
            numba.set_num_threads(n_threads)
            trees.append(average_tree(Ensemble(labels), regime=regime))
    finally:
        numba.set_num_threads(before)
    for one, two in zip(*trees, strict=True):
        assert np.array_equal(one, two)


def test_sums_past_32_bits_are_exact(monkeypatch):
    # Two blocks of 40,000 identical objects: 40,000^2 pairs, 3 votes each, over 2^32.
    n = 40_000
    labels = np.zeros((2 * n + 1, 4), dtype=np.int8)
    labels[n:, 3] = 1
    labels[-1] = 2
    monkeypatch.setattr(_linkage, "GREEDY_MOST", 0)
    for regime in REGIMES:
        tree = average_tree(Ensemble(labels), regime=regime)
        assert tree.link[-2:].tolist() == [0.75, 0.0]
        assert np.bincount(tree.cut(3)).tolist() == [n, n, 1]


# --- trees ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["weighted", "ward", "centroid", "median", "complete"])
@given(labels=label_matrices(min_objects=2))
def test_scipys_methods_get_the_exact_distances(method, labels):
    distance = [[1 - float(c) for c in row] for row in naive.coassociation(labels.tolist())]
    condensed = np.array(distance)[np.triu_indices(len(labels), 1)]
    tree, matrix = scipy_linkage(Ensemble(labels), method)
    assert np.array_equal(matrix, hierarchy.linkage(condensed, method))
    # The tree has the same merges: cut it everywhere.
    clusters = [{i} for i in range(len(labels))]
    for m, (left, right, height, _) in enumerate(matrix):
        clusters.append(clusters[int(left)] | clusters[int(right)])
        assert {tree.first[m], tree.second[m]} == {
            min(clusters[int(left)]),
            min(clusters[int(right)]),
        }
        assert tree.first[m] < tree.second[m]
        assert tree.link[m] == 1 - height


def test_to_scipy_names_clusters_as_scipy_does():
    tree = Tree(np.array([1, 0, 0]), np.array([3, 2, 1]), np.array([0.9, 0.5, 0.1]))
    assert tree.to_scipy(1 - tree.link) == pytest.approx(
        np.array([[1, 3, 0.1, 2], [0, 2, 0.5, 2], [4, 5, 0.9, 4]])
    )


def test_links_that_rise_by_rounding_are_lowered():
    links = np.array([0.5, 0.5 + 1e-16 + 1e-15, 0.7])
    kernels.make_monotone(np.array([0, 0, 2]), np.array([1, 4, 3]), links, 5)
    assert links.tolist() == [0.5, 0.5, 0.7]


def test_one_object_has_a_tree_without_merges():
    for grow in (average_tree, single_tree, complete_tree):
        tree = grow(Ensemble([[0, 1]]))
        assert tree.n_objects == 1
        assert len(tree.link) == 0
        assert tree.cut(1).tolist() == [0]


def test_words_of_errors(monkeypatch):
    ensemble = Ensemble(random_labels(0, 50, 5))
    with pytest.raises(
        ValueError, match=r"regime must be 'auto', 'triangle' or 'matrix-free'; got 'x'"
    ):
        average_tree(ensemble, regime="x")
    with (
        limit_memory(10),
        pytest.raises(MemoryLimitError, match=r"triangle of sums over \d+ clusters.*Use regime="),
    ):
        average_tree(ensemble, regime="triangle")
    words = r"linkage='ward' needs, would take 9.6 kB, over .* of 10 bytes"
    with limit_memory(10), pytest.raises(MemoryLimitError, match=words):
        scipy_linkage(ensemble, "ward")
    monkeypatch.setattr(_linkage, "GREEDY_MOST", 0)
    with limit_memory(10), pytest.raises(MemoryLimitError, match="linkage='complete' needs"):
        complete_tree(ensemble)
