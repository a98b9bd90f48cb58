"""MCLA against its definition: Jaccard indices, meta-clusters, the vote."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from coterie import MCLA, Ensemble, MemoryLimitError
from coterie._kernels import meta_graph
from coterie._partition import _moves, cluster_order, heaviest_parts, spectral_graph
from coterie.consensus import _mcla as module
from coterie.consensus._mcla import agrees_better, associate, jaccard_graph, meta_clusters
from strategies import label_matrices, noisy_labels, random_labels

ignore_warning = pytest.mark.filterwarnings("ignore:no object ended")


@pytest.mark.parametrize("room", [1, 20, 1 << 23])
@pytest.mark.parametrize("fill", [meta_graph._fill_by_table, meta_graph._fill_by_lists])
@given(labels=label_matrices())
def test_jaccard_indices(room, fill, labels):
    ensemble = Ensemble(labels)
    order = cluster_order(ensemble)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_ROOM", room)  # some partitions at a time
        graph = jaccard_graph(ensemble, order)
    assert graph.toarray() == pytest.approx(naive.jaccard(labels)[np.ix_(order, order)])
    assert graph.has_canonical_format
    assert (graph.data > 0).all()
    # Either way to fill a strip gives the same.
    _, counts, _ = ensemble.patterns
    rank = np.argsort(order).astype(np.uint32)
    missing = np.uint32(len(order))
    codes = meta_graph.rank_rows(ensemble.patterns.labels, ensemble.offsets, rank, missing)
    ends, indices, shared = module.shared_objects(ensemble, order)
    for e in range(ensemble.n_partitions):
        first, last = ends[ensemble.offsets[e]], ends[ensemble.offsets[e + 1]]
        found = np.empty(len(indices) + 1, dtype=np.int32), np.empty(len(indices) + 1, dtype=int)
        lengths = np.zeros(len(order), dtype=np.int64)
        fill(e, codes, counts, ensemble.offsets, 0, *found, lengths)
        assert found[0][: last - first].tolist() == indices[first:last].tolist()
        assert found[1][: last - first].tolist() == shared[first:last].tolist()
        assert np.cumsum(lengths).max() == last - first


@given(labels=label_matrices(), data=st.data())
def test_objects_go_where_most_of_their_clusters_are(labels, data):
    ensemble = Ensemble(labels)
    n_all = int(ensemble.offsets[-1])
    k = data.draw(st.integers(1, n_all))
    parts = np.array(data.draw(st.permutations([*range(k), *[0] * (n_all - k)])))
    shares = associate(ensemble.labels, ensemble.offsets, parts)
    assert np.argmax(shares, axis=1).tolist() == naive.meta_vote(labels, parts)


@settings(max_examples=200)
@given(labels=label_matrices(), data=st.data())
def test_which_of_two_meta_clusterings_agrees_better(labels, data):
    ensemble = Ensemble(labels)
    n_all = int(ensemble.offsets[-1])
    k = data.draw(st.integers(1, n_all))
    parts, others = (
        np.array(data.draw(st.permutations([*range(k), *[0] * (n_all - k)]))) for _ in range(2)
    )
    found = agrees_better(ensemble, parts, others)
    assert found == naive.agrees_better(labels, parts, others)
    agreement = module.agreement_with(ensemble, parts)
    assert agreement == pytest.approx(naive.agreement(labels, parts))
    rows, counts, _ = ensemble.patterns
    votes = meta_graph.count_votes(rows, counts, ensemble.offsets, parts, k)
    chosen = naive.meta_vote(labels, parts)
    assert votes[:, -1].tolist() == [chosen.count(part) for part in range(k)]


@ignore_warning
@settings(max_examples=100)
@given(labels=label_matrices(), data=st.data())
def test_spectral_cut_or_one_of_even_parts(labels, data):
    ensemble = Ensemble(labels)
    n_all = int(ensemble.offsets[-1])
    k = data.draw(st.integers(1, n_all))
    order = cluster_order(ensemble)
    graph = jaccard_graph(ensemble, order)
    first = spectral_graph(graph, k, random_state=0)
    weights = naive.incidence(labels).sum(axis=0).astype(int)[order]
    imbalance = data.draw(st.sampled_from([0.0, 0.05, 0.5]))
    heaviest = heaviest_parts(weights, k, imbalance).tolist()
    edges = naive.whole_weights(graph.toarray())
    even = naive.improve_graph_cut(edges, weights, first, heaviest, patience=50)
    cuts = np.empty((2, n_all), dtype=int)
    for cut, parts in zip(cuts, (first, even), strict=True):
        names = list(dict.fromkeys(parts))
        cut[order] = [names.index(part) for part in parts]
    expected = cuts[int(naive.agrees_better(labels, cuts[1], cuts[0]))]
    found = meta_clusters(ensemble, k, partitioner="spectral", imbalance=imbalance, seed=0)
    assert found.tolist() == expected.tolist()


def test_even_parts_where_the_spectral_cut_leaves_some_without_objects(monkeypatch):
    labels = np.array([[0, 1], [2, 1], [0, 1], [2, 0], [0, 1]])
    assert MCLA(3, random_state=0).fit(labels).labels_.tolist() == [0, 1, 0, 2, 0]
    monkeypatch.setattr(module, "_MOST_GAINS", 4 * 3 - 1)  # clusters and parts are too many
    with pytest.warns(UserWarning, match="no object ended with 1 of the n_clusters=3"):
        assert MCLA(3, random_state=0).fit(labels).n_clusters_ == 2


@ignore_warning
@pytest.mark.parametrize("partitioner", ["spectral", "metis"])
@settings(max_examples=25)
@given(labels=label_matrices(), data=st.data())
def test_fitted_attributes_fit_each_other(partitioner, labels, data):
    k = data.draw(st.integers(1, len(labels)))
    fitted = MCLA(k, partitioner=partitioner, random_state=0).fit(labels)
    n_meta = fitted.membership_.shape[1]
    assert n_meta <= k
    assert fitted.n_clusters_ <= n_meta
    assert fitted.cluster_labels_.max() < n_meta
    own = fitted.membership_[np.arange(len(labels)), fitted.labels_]
    assert own.tolist() == fitted.membership_.max(axis=1).tolist()
    Z = naive.incidence(labels)
    expected = [Z[:, fitted.cluster_labels_ == m].mean(axis=1) for m in range(n_meta)]
    assert fitted.membership_ == pytest.approx(np.array(expected).T)
    assert fitted.predict(labels).tolist() == fitted.labels_.tolist()


def test_meta_clusters_are_a_spectral_partition_of_the_clusters(seed):
    from sklearn.cluster import KMeans

    _, labels = noisy_labels(seed, 200, 15, noise=0.3)
    rows = naive.spectral_rows(naive.jaccard(labels), 4)
    expected = KMeans(4, n_init=20, random_state=0).fit_predict(rows)
    fitted = MCLA(4, random_state=0).fit(labels)
    assert naive.same_partition(fitted.cluster_labels_, expected)


def test_metis_balances_by_the_sizes_of_clusters(seed):
    truth = np.repeat([0, 1, 2], 30)
    random = np.random.default_rng(seed)
    labels = np.column_stack([
        np.where(random.random(90) < 0.2, random.integers(0, 3, 90), truth) for _ in range(9)
    ])  # fmt: skip
    fitted = MCLA(3, partitioner="metis", random_state=0).fit(labels)
    assert naive.same_partition(fitted.labels_, truth)
    weights = naive.incidence(labels).sum(axis=0)
    sums = np.bincount(fitted.cluster_labels_, weights=weights)
    assert sums.max() <= 1.05 * sums.mean() + 1


@ignore_warning
def test_cuts_by_metis_are_improved(seed, monkeypatch):
    labels = random_labels(seed, 300, 20, most=20)
    ensemble = Ensemble(labels)
    similarity = naive.jaccard(labels)

    def weight_of_cut():
        parts = meta_clusters(ensemble, 6, partitioner="metis", imbalance=0.05, seed=0)
        return naive.cut_of(similarity, parts)

    improved = weight_of_cut()
    monkeypatch.setattr(_moves, "_MOST_GAINS", 0)
    assert improved < weight_of_cut()


def test_parts_are_numbered_by_the_first_clusters():
    # Whatever the names: object 0 is in the clusters of part 0.
    truth = np.array([1, 1, 0, 0, 0])
    for names in ([0, 1], [1, 0]):
        ensemble = Ensemble(np.column_stack([np.array(names)[truth]] * 3))
        parts = meta_clusters(ensemble, 2, partitioner="spectral", imbalance=0.05, seed=0)
        assert parts[ensemble.labels[0] + ensemble.offsets[:-1]].tolist() == [0, 0, 0]


def test_ties_go_to_the_lowest_index_and_the_unseen_to_the_first():
    labels = np.array([[0, 0], [0, 0], [1, 1], [1, 1], [1, 1], [0, 1], [-1, -1]])
    fitted = MCLA(2, random_state=0).fit(labels)
    # Object 5 is in half of the clusters of both; index 0 is that of object 0's clusters.
    assert fitted.labels_.tolist() == [0, 0, 1, 1, 1, 0, 0]
    assert fitted.confidence_[5:].tolist() == [0.5, 0.0]


def test_fewer_clusters_than_asked_for():
    with pytest.warns(UserWarning, match=r"no object ended with 2 of the n_clusters=4 meta"):
        fitted = MCLA(4, random_state=0).fit([[0], [0], [1], [1], [1]])
    assert fitted.n_clusters_ == 2
    assert fitted.predict([[0], [1], [7]]).tolist() == [1, 0, 1]


def test_graph_of_clusters_has_only_those_that_share_objects(monkeypatch):
    # A matrix of all pairs of 3,000 clusters would take 72 MB.
    truth = np.repeat(np.arange(300), 3)
    ensemble = Ensemble(np.column_stack([truth] * 10))
    assert naive.same_partition(MCLA(300).fit(ensemble).labels_, truth)
    tracemalloc.start()
    try:
        graph = jaccard_graph(ensemble, cluster_order(ensemble))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert graph.nnz == 300 * 10 * 10
    assert peak < 5e6


def test_memory_of_a_fit_is_what_was_checked():
    # 8 partitions of 500 clusters that share objects at random: nearly all is the graph.
    labels = np.random.default_rng(0).integers(0, 500, (20_000, 8))
    ensemble = Ensemble(labels)
    n_pairs = jaccard_graph(ensemble, cluster_order(ensemble)).nnz
    meta_clusters(ensemble, 4, partitioner="spectral", imbalance=0.05, seed=0)  # compiles
    tracemalloc.start()
    try:
        meta_clusters(ensemble, 4, partitioner="spectral", imbalance=0.05, seed=0)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < module._BYTES_PER_PAIR * n_pairs


def test_memory_does_not_depend_on_the_order_of_partitions(monkeypatch):
    monkeypatch.setenv("COTERIE_MEMORY_LIMIT", "1.2MB")
    monkeypatch.setattr(module, "_ROOM", 1)
    pairs, halves = np.repeat(np.arange(200), 2), np.repeat([0, 1], 200)
    for columns in ([halves, *[pairs] * 10], [*[pairs] * 10, halves]):
        ensemble = Ensemble(np.column_stack(columns))
        graph = jaccard_graph(ensemble, cluster_order(ensemble))
        assert graph.nnz == 2002 + 2 * (200 * 45 + 2000)


def test_words_of_errors(monkeypatch):
    monkeypatch.setenv("COTERIE_MEMORY_LIMIT", "10kB")
    with pytest.raises(MemoryLimitError, match=r"graph of \d+ clusters .*select"):
        MCLA(2).fit(random_labels(0, 200, 30))
    with pytest.raises(ValueError, match=r"partitioner must be one of .*; got 'x'"):
        MCLA(partitioner="x").fit([[0], [1]])
