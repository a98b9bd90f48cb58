"""MCLA against its definition: Jaccard indices, meta-clusters, the vote."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from coterie import MCLA, Ensemble, MemoryLimitError
from coterie._graphs import cluster_order
from coterie.consensus import _mcla as module
from coterie.consensus._in_blocks import MetaClusters
from coterie.consensus._mcla import jaccard_graph, meta_clusters
from strategies import label_matrices, noisy_labels, random_labels

ignore_warning = pytest.mark.filterwarnings("ignore:no object ended")


@given(labels=label_matrices())
def test_jaccard_indices(labels):
    ensemble = Ensemble(labels)
    order = cluster_order(ensemble)
    expected = pytest.approx(naive.jaccard(labels)[np.ix_(order, order)])
    assert jaccard_graph(ensemble, order) == expected
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "memory_limit_bytes", lambda: 0)
        graph = jaccard_graph(ensemble, order)
    assert scipy.sparse.issparse(graph)
    assert graph.toarray() == expected


@given(labels=label_matrices(), data=st.data())
def test_objects_go_where_most_of_their_clusters_are(labels, data):
    ensemble = Ensemble(labels)
    n_all = int(ensemble.offsets[-1])
    k = data.draw(st.integers(1, n_all))
    parts = np.array(data.draw(st.permutations([*range(k), *[0] * (n_all - k)])))
    shares = MetaClusters(ensemble.offsets, parts).associate(ensemble.labels)
    assert np.argmax(shares, axis=1).tolist() == naive.meta_vote(labels, parts)


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


def test_parts_are_numbered_by_the_first_clusters():
    # Whatever the names: object 0 is in the clusters of part 0.
    truth = np.array([1, 1, 0, 0, 0])
    for names in ([0, 1], [1, 0]):
        ensemble = Ensemble(np.column_stack([np.array(names)[truth]] * 3))
        parts = meta_clusters(ensemble, 2, partitioner="spectral", imbalance=0.05, seed=0)
        assert parts[ensemble.labels[0] + ensemble.offsets[:-1]].tolist() == [0, 0, 0]


def test_ties_go_to_the_lowest_index_and_the_unseen_to_the_first():
    labels = np.array([[0, 0], [0, 0], [1, 1], [1, 1], [1, 1], [0, 1], [-1, -1]])
    with pytest.warns(UserWarning, match="1 of 7 objects have no label"):
        fitted = MCLA(2, random_state=0).fit(labels)
    # Object 5 is in half of the clusters of both; index 0 is that of object 0's clusters.
    assert fitted.labels_.tolist() == [0, 0, 1, 1, 1, 0, 0]
    assert fitted.confidence_[5:].tolist() == [0.5, 0.0]


def test_fewer_clusters_than_asked_for():
    with pytest.warns(UserWarning, match=r"no object ended with 2 of the n_clusters=4 meta"):
        fitted = MCLA(4, random_state=0).fit([[0], [0], [1], [1], [1]])
    assert fitted.n_clusters_ == 2
    assert fitted.predict([[0], [1], [7]]).tolist() == [1, 0, 1]


@pytest.mark.slow
def test_many_clusters_need_no_matrix_of_all_pairs(monkeypatch):
    # A matrix of all pairs of 3,000 clusters takes 72 MB; few of them share objects.
    truth = np.repeat(np.arange(300), 3)
    labels = np.column_stack([truth] * 10)
    monkeypatch.setenv("COTERIE_MEMORY_LIMIT", "5MB")
    graph = jaccard_graph(Ensemble(labels), np.arange(3000))
    assert graph.nnz == 300 * 10 * 10
    assert naive.same_partition(MCLA(300, random_state=0).fit(labels).labels_, truth)


def test_words_of_errors(monkeypatch):
    monkeypatch.setenv("COTERIE_MEMORY_LIMIT", "10kB")
    with pytest.raises(MemoryLimitError, match=r"graph of \d+ clusters .*select"):
        MCLA(2).fit(random_labels(0, 200, 30))
    with pytest.raises(ValueError, match=r"partitioner must be .*; got 'x'"):
        MCLA(partitioner="x").fit([[0], [1]])
