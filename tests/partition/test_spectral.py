"""Spectral partitions against all eigenvectors of the whole matrix."""

import numba
import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from coterie import Ensemble, MemoryLimitError
from coterie._kernels.clusters import weigh_overlap
from coterie._partition import _eigen as eigen
from coterie._partition import _spectral as module
from coterie._partition import (
    cluster_order,
    cluster_sizes,
    incidence_of,
    spectral_bipartite,
    spectral_bipartite_labels,
    spectral_dense,
    spectral_from_factor,
    spectral_graph,
    spectral_hypergraph,
    spectral_labels,
)
from coterie._partition._spectral import _embed_labels, _embed_matrix
from coterie.consensus._mcla import jaccard_graph
from strategies import label_matrices, noisy_labels, pieces, random_labels

parts = st.integers(2, 5)
either = st.booleans()


def gram(rows):
    """What k-means sees of an embedding: it is the same for every choice of axes."""
    return rows @ rows.T


def assert_same_rows(found, expected):
    assert gram(found) == pytest.approx(gram(expected), abs=1e-6)


def many_rows(seed, missing):
    """More distinct rows than clusters, so that the eigenproblem of the clusters is solved."""
    _, labels = noisy_labels(seed, 60, 5, n_clusters=3, noise=0.4, missing=missing)
    ensemble = Ensemble(labels)
    assert len(ensemble.patterns.labels) > ensemble.offsets[-1]
    return labels, ensemble


# --- the definition ------------------------------------------------------------------------------


@given(labels=label_matrices(), k=parts, skip_first=either, by_size=either)
def test_label_rows_are_embedded_as_by_the_whole_matrix(labels, k, skip_first, by_size):
    ensemble = Ensemble(labels)
    Z = naive.incidence(labels)
    similarity = Z / Z.sum(axis=0) @ Z.T if by_size else Z @ Z.T
    expected = naive.spectral_rows(similarity, k, skip_first=skip_first)
    found = _embed_labels(ensemble, k, by_size=by_size, skip_first=skip_first)
    assert_same_rows(found.rows[ensemble.patterns.inverse], expected)


@pytest.mark.parametrize("by_size", [False, True])
@pytest.mark.parametrize("skip_first", [False, True])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_both_sizes_of_the_eigenproblem(seed, by_size, skip_first, missing):
    labels, ensemble = many_rows(seed, missing)
    Z = naive.incidence(labels)
    similarity = Z / Z.sum(axis=0) @ Z.T if by_size else Z @ Z.T
    for k in (2, 3, 7):
        expected = naive.spectral_rows(similarity, k, skip_first=skip_first)
        found = _embed_labels(ensemble, k, by_size=by_size, skip_first=skip_first)
        assert_same_rows(found.rows[ensemble.patterns.inverse], expected)


@given(labels=label_matrices(), k=parts, skip_first=either)
def test_bipartite_graph_is_embedded_as_a_whole(labels, k, skip_first):
    ensemble = Ensemble(labels)
    W = naive.bipartite_graph(naive.incidence(labels))
    expected = naive.spectral_rows(W, k, skip_first=skip_first, n_first=len(labels), power=2)
    found = _embed_labels(ensemble, k, by_size=True, skip_first=skip_first)
    both = np.concatenate([found.rows[ensemble.patterns.inverse], found.columns])
    assert_same_rows(both, expected)


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("skip_first", [False, True])
def test_bipartite_graph_with_more_rows_than_clusters(seed, missing, skip_first):
    labels, ensemble = many_rows(seed, missing)
    W = naive.bipartite_graph(naive.incidence(labels))
    for k in (2, 3, 7):
        expected = naive.spectral_rows(W, k, skip_first=skip_first, n_first=len(labels), power=2)
        found = _embed_labels(ensemble, k, by_size=True, skip_first=skip_first)
        both = np.concatenate([found.rows[ensemble.patterns.inverse], found.columns])
        assert_same_rows(both, expected)


@pytest.mark.parametrize("shape", [(30, 8), (8, 30)])
@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_matrix])
def test_soft_weights(seed, shape, kind):
    A = np.random.default_rng(seed).random(shape)
    A[0] = 0  # an object that nothing is known of
    for skip_first in (False, True):
        found = _embed_matrix(
            kind(A), np.ones(shape[1]), A @ A.sum(axis=0), 4, skip_first=skip_first
        )
        assert_same_rows(found.rows, naive.spectral_rows(A @ A.T, 4, skip_first=skip_first))
        found = _embed_matrix(
            kind(A), A.sum(axis=0) ** -0.5, A.sum(axis=1), 4, skip_first=skip_first
        )
        expected = naive.spectral_rows(
            naive.bipartite_graph(A), 4, skip_first=skip_first, n_first=shape[0], power=2
        )
        assert_same_rows(np.concatenate([found.rows, found.columns]), expected)


def test_large_factors_go_in_blocks(monkeypatch):
    A = np.random.default_rng(0).random((50, 6))
    whole = spectral_from_factor(A, 3)
    monkeypatch.setattr("coterie._partition._spectral._BLOCK", 42)
    assert spectral_from_factor(A, 3).tolist() == whole.tolist()


# --- partitions ----------------------------------------------------------------------------------


@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("skip_first", [False, True])
def test_partitions_equal_those_of_the_dense_matrices(seed, missing, skip_first):
    _, labels = noisy_labels(seed, 300, 12, noise=0.3, missing=missing)
    ensemble = Ensemble(labels)
    Z = naive.incidence(labels)
    options = {"skip_first": skip_first, "random_state": seed}
    dense = spectral_dense(Z @ Z.T, 4, **options)
    for found in (
        spectral_labels(ensemble, 4, **options),
        spectral_from_factor(Z, 4, **options),
        spectral_from_factor(scipy.sparse.csr_matrix(Z), 4, **options),
    ):
        assert naive.same_partition(found, dense)
    dense = spectral_dense(naive.bipartite_graph(Z), 4, **options)
    for rows, columns in (
        spectral_bipartite_labels(ensemble, 4, **options),
        spectral_bipartite(Z, 4, **options),
    ):
        assert naive.same_partition(np.concatenate([rows, columns]), dense)
    dense = spectral_dense(Z / Z.sum(axis=0) @ Z.T, 4, **options)
    assert naive.same_partition(spectral_labels(ensemble, 4, by_size=True, **options), dense)


def test_dense_similarity_is_clustered_as_by_its_definition(seed):
    from sklearn.cluster import KMeans

    _, labels = noisy_labels(seed, 80, 8, n_clusters=3, noise=0.3)
    S = np.exp(4.0 * (labels[:, None] == labels).mean(axis=2))  # not a product of few factors
    rows = naive.spectral_rows(S, 3)
    expected = KMeans(3, n_init=20, random_state=0).fit(rows)
    found = spectral_dense(S, 3)
    assert naive.same_partition(found, expected.labels_)


@settings(max_examples=30)
@given(labels=label_matrices(), data=st.data())
def test_no_part_is_ever_empty(labels, data):
    k = data.draw(st.integers(1, len(labels)))
    skip_first = data.draw(either)
    ensemble = Ensemble(labels)
    Z = naive.incidence(labels)
    everyone = list(range(k))
    for found in (
        spectral_labels(ensemble, k, skip_first=skip_first),
        spectral_labels(ensemble, k, by_size=True, skip_first=skip_first),
        spectral_bipartite_labels(ensemble, k, skip_first=skip_first)[0],
        spectral_from_factor(Z, k, skip_first=skip_first),
        spectral_bipartite(Z, k, skip_first=skip_first)[0],
        spectral_dense(Z @ Z.T, k, skip_first=skip_first),
    ):
        assert found.dtype == np.int64
        assert sorted(set(found.tolist())) == everyone


def test_pieces_of_a_graph_are_found():
    truth = np.repeat([0, 1, 2], [5, 30, 3])
    S = (truth[:, None] == truth).astype(float)
    for skip_first in (False, True):
        assert naive.same_partition(spectral_dense(S, 3, skip_first=skip_first), truth)
    # Two parts of three pieces: whichever, but pieces stay whole.
    found = spectral_dense(S, 2)
    assert all(len(set(found[truth == piece])) == 1 for piece in range(3))


def test_lonely_objects_lie_at_the_origin(seed):
    # In a connected graph next to objects without any label; rounding must not place them.
    A = np.random.default_rng(seed).random((40, 5))
    A[[3, 8, 20]] = 0
    assert (naive.spectral_rows(A @ A.T, 3)[[3, 8, 20]] == 0).all()
    found = [spectral_dense(A @ A.T, 3), spectral_from_factor(A, 3)]
    found += [spectral_dense(naive.bipartite_graph(A), 3)[:40], spectral_bipartite(A, 3)[0]]
    for labels in found:
        assert len(set(labels[[3, 8, 20]].tolist())) == 1


def test_nothing_is_known():
    for found in (
        spectral_dense(np.zeros((4, 4)), 2),
        spectral_from_factor(np.zeros((4, 3)), 2),
        spectral_bipartite(np.zeros((4, 3)), 2)[0],
    ):
        assert set(found.tolist()) == {0, 1}


def test_result_does_not_depend_on_the_number_of_threads():
    ensemble = Ensemble(random_labels(0, 9000, 12, missing=0.1))
    threads = numba.get_num_threads()
    found = []
    try:
        for n in {1, threads}:
            numba.set_num_threads(n)
            rows = _embed_labels(ensemble, 5, by_size=False, skip_first=False).rows
            found.append((rows.tobytes(), spectral_labels(ensemble, 5).tobytes()))
    finally:
        numba.set_num_threads(threads)
    assert all(one == found[0] for one in found)


def test_eigenproblem_too_large(monkeypatch):
    monkeypatch.setenv("COTERIE_MEMORY_LIMIT", "10kB")
    _, ensemble = many_rows(0, 0.0)
    large = Ensemble(np.hstack([ensemble.labels] * 2))
    with pytest.raises(MemoryLimitError, match=r"eigenproblem of 30 clusters.*select"):
        spectral_labels(large, 3)


def test_many_clusters_are_as_few(seed, monkeypatch):
    # Past 400 clusters of which few overlap, the eigenproblem is solved as a sparse one.
    truth, _ = noisy_labels(seed, 3000, 1, n_clusters=8)
    random = np.random.default_rng(seed)
    columns = [
        np.where(random.random(3000) < 0.02, random.integers(0, 8, 3000), truth) * 3
        + random.integers(0, 3, 3000)
        for _ in range(30)
    ]
    ensemble = Ensemble(np.column_stack(columns))
    calls = []
    lanczos = eigen.lanczos
    monkeypatch.setattr(eigen, "lanczos", lambda *args: calls.append(lanczos(*args)) or calls[-1])
    for skip_first in (False, True):
        quick = _embed_labels(ensemble, 8, by_size=True, skip_first=skip_first)
        assert calls.pop() is not None
        with monkeypatch.context() as context:
            context.setattr(eigen, "lanczos", lambda *args: None)
            slow = _embed_labels(ensemble, 8, by_size=True, skip_first=skip_first)
        some = slice(0, 500)
        assert_same_rows(quick.rows[some], slow.rows[some])
        assert_same_rows(quick.columns, slow.columns)


def test_more_pieces_than_parts(seed, monkeypatch):
    # All eigenvalues used are 1; which pieces get directions of their own, the first objects say.
    graph = pieces(np.random.default_rng(seed), [20] * 25)
    found = spectral_graph(graph, 6)
    assert len(np.unique(found)) == 6
    piece = scipy.sparse.csgraph.connected_components(graph)[1]
    assert all(len(np.unique(found[piece == p])) == 1 for p in range(25))
    monkeypatch.setattr(eigen, "SMALL", 10_000)  # the whole matrix at once
    assert naive.same_partition(found, spectral_graph(graph, 6))


def test_eigenvectors_of_pieces_must_fit(monkeypatch):
    monkeypatch.setenv("COTERIE_MEMORY_LIMIT", "1MB")
    graph = pieces(np.random.default_rng(0), [3] * 200)
    with pytest.raises(MemoryLimitError, match=r"200 eigenvectors of a graph in 200 pieces .*"):
        spectral_graph(graph, 6)


def planted_graph(random, n_parts, size, across):
    """Parts of the same size, each half of their pairs joined, in no order."""
    truth = random.permutation(np.repeat(np.arange(n_parts), size))
    share = np.where(np.equal.outer(truth, truth), 0.5, across)
    upper = np.triu(random.random(share.shape) < share, 1)
    return truth, scipy.sparse.csr_matrix((upper | upper.T) + np.eye(len(truth)))


def test_one_start_by_qr_finds_planted_parts():
    # Any twelve vertices as seeds, or points far apart, mostly do not.
    for seed in range(10):
        truth, graph = planted_graph(np.random.default_rng(seed), 12, 25, across=0.015)
        assert naive.same_partition(spectral_graph(graph, 12, n_init=1), truth)


def test_few_starts_are_as_good_as_many(seed):
    from sklearn.cluster import KMeans

    ratios = []
    for number in range(20):
        random = np.random.default_rng([seed, number])
        k = int(random.integers(3, 8))
        truth = random.integers(0, k, 300)
        columns = []
        for _ in range(20):  # coarse partitions that join different clusters, and noise
            names = random.integers(0, 2 * k, k)[truth]
            columns.append(np.where(random.random(300) < 0.2, random.integers(0, k, 300), names))
        ensemble = Ensemble(np.column_stack(columns))
        graph = jaccard_graph(ensemble, cluster_order(ensemble))
        rows = naive.spectral_rows(graph.toarray(), k)
        found = spectral_graph(graph, k)
        centres = np.array([rows[found == c].mean(axis=0) for c in range(k)])
        best = KMeans(k, n_init=10, random_state=0).fit(rows).inertia_
        ratios.append(((rows - centres[found]) ** 2).sum() / best)
    assert np.mean(ratios) < 1.02


def test_a_graph_is_cut_as_by_its_definition(seed):
    from sklearn.cluster import KMeans

    _, labels = noisy_labels(seed, 80, 8, n_clusters=3, noise=0.3)
    Z = naive.incidence(labels)
    similarity = Z @ Z.T
    expected = KMeans(3, n_init=20, random_state=0).fit_predict(naive.spectral_rows(similarity, 3))
    assert naive.same_partition(spectral_graph(scipy.sparse.csr_matrix(similarity), 3), expected)
    assert spectral_graph(scipy.sparse.csr_matrix(similarity), 1).tolist() == [0] * 80


@pytest.mark.parametrize("shape", [(12, 40), (40, 12)])
def test_a_hypergraph_is_cut_as_one_of_equal_vertices(seed, shape):
    from sklearn.cluster import KMeans

    random = np.random.default_rng(seed)
    truth = random.integers(0, 3, shape[0])
    near = random.integers(0, 3, shape[1]) == truth[:, None]
    pins = (random.random(shape) < np.where(near, 0.5, 0.1)).astype(float)
    pins = pins[:, pins.any(axis=0)]
    weights = random.integers(1, 6, shape[0]) ** 2
    Z = np.repeat(pins, weights, axis=0)
    rows = naive.spectral_rows(Z / Z.sum(axis=0) @ Z.T, 3)
    expected = KMeans(3, n_init=20, random_state=0).fit(rows).inertia_
    found = spectral_hypergraph(scipy.sparse.csr_matrix(pins), 3, vertex_weights=weights, n_init=20)
    parts = [rows[np.repeat(found, weights) == part] for part in range(3)]
    assert sum(len(part) * part.var(axis=0).sum() for part in parts) <= 1.001 * expected
    assert spectral_hypergraph(pins, 1, vertex_weights=weights).tolist() == [0] * shape[0]


@pytest.mark.parametrize("by_size", [False, True])
@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_many_clusters_need_no_matrix_of_clusters(monkeypatch, by_size, missing):
    random = np.random.default_rng(0)
    truth = random.integers(0, 5, 1500)
    columns = [
        np.where(random.random(1500) < 0.05, random.integers(0, 5, 1500), truth) * 6
        + random.integers(0, 6, 1500)
        for _ in range(20)
    ]
    labels = np.where(random.random((1500, 20)) < missing, -1, np.column_stack(columns))
    ensemble = Ensemble(labels)
    n_all = int(ensemble.offsets[-1])
    for skip_first in (False, True):
        dense = _embed_labels(ensemble, 5, by_size=by_size, skip_first=skip_first)
        with monkeypatch.context() as context:
            context.setattr(module, "memory_limit_bytes", lambda: 24 * n_all**2 - 1)
            context.setattr(eigen, "_by_lapack", None)  # what needs the matrix
            found = _embed_labels(ensemble, 5, by_size=by_size, skip_first=skip_first)
        some = slice(0, 300)
        assert_same_rows(found.rows[some], dense.rows[some])
        assert_same_rows(found.columns, dense.columns)


@pytest.mark.parametrize("skip_first", [False, True])
@pytest.mark.parametrize("n_parts", [2, 3, 5])
def test_many_clusters_in_pieces_need_none_either(monkeypatch, skip_first, n_parts):
    random = np.random.default_rng(0)
    truth = np.repeat(np.arange(3), [300, 200, 100])
    labels = np.column_stack([truth * 8 + random.integers(0, 8, 600) for _ in range(10)])
    labels[0] = -1  # in no piece
    ensemble = Ensemble(labels)
    dense = _embed_labels(ensemble, n_parts, by_size=True, skip_first=skip_first)
    monkeypatch.setattr(module, "memory_limit_bytes", lambda: 24 * 240**2 - 1)
    monkeypatch.setattr(module, "_BYTES_PER_LABEL", 1)
    asked = []
    monkeypatch.setattr(module, "Product", lambda G: asked.append(G.shape) or eigen.Product(G))
    found = _embed_labels(ensemble, n_parts, by_size=True, skip_first=skip_first)
    assert asked == [(len(ensemble.patterns.counts), 240)]
    assert_same_rows(found.rows, dense.rows)
    assert_same_rows(found.columns, dense.columns)


@pytest.mark.parametrize(("n_clusters", "n_parts"), [(100, 80), (65, 5), (25, 3)])
def test_many_parts_need_no_matrix_of_clusters_either(monkeypatch, n_clusters, n_parts):
    # Where LAPACK would be quicker, but its matrix does not fit.
    ensemble = Ensemble(np.random.default_rng(0).integers(0, n_clusters, (1200, 6)))
    dense = _embed_labels(ensemble, n_parts, by_size=True, skip_first=False)
    monkeypatch.setattr(module, "_BYTES_PER_LABEL", 1)
    monkeypatch.setenv("COTERIE_MEMORY_LIMIT", str(24 * (6 * n_clusters) ** 2 - 1))
    found = _embed_labels(ensemble, n_parts, by_size=True, skip_first=False)
    assert_same_rows(found.rows, dense.rows)


@pytest.mark.parametrize("skip_first", [False, True])
@pytest.mark.parametrize("n_pieces", [1, 2])
def test_few_rows_need_no_matrix_of_rows(monkeypatch, skip_first, n_pieces):
    random = np.random.default_rng(0)
    truth = random.integers(0, 4, 400)
    # Now and then another of the clusters of the same piece.
    width = 4 // n_pieces
    others = truth - truth % width + random.integers(0, width, (8, 400))
    noisy = np.where(random.random((8, 400)) < 0.05, others, truth)
    labels = (20 * noisy + random.integers(0, 20, (8, 400))).T
    labels[0] = -1  # in no piece
    ensemble = Ensemble(labels)
    assert len(ensemble.patterns.counts) <= ensemble.offsets[-1]
    dense = _embed_labels(ensemble, 4, by_size=True, skip_first=skip_first)
    n_rows = len(ensemble.patterns.counts)
    monkeypatch.setattr(module, "memory_limit_bytes", lambda: 24 * n_rows**2 - 1)
    monkeypatch.setattr(module, "_dense", lambda matrix: np.asarray(matrix))  # none of a matrix
    found = _embed_labels(ensemble, 4, by_size=True, skip_first=skip_first)
    assert_same_rows(found.rows, dense.rows)
    assert_same_rows(found.columns, dense.columns)


@pytest.mark.parametrize("n", [500, 900])
@pytest.mark.parametrize("skip_first", [False, True])
def test_products_with_labels_are_as_their_matrix(seed, monkeypatch, n, skip_first):
    random = np.random.default_rng(seed)
    truth = random.integers(0, 5, n)
    noisy = np.where(random.random((10, n)) < 0.1, random.integers(0, 5, (10, n)), truth)
    labels = (12 * noisy + random.integers(0, 12, (10, n))).T
    ensemble = Ensemble(np.where(random.random((n, 10)) < 0.1, -1, labels))
    asked = []
    monkeypatch.setattr(module, "Product", lambda G: asked.append(G.shape) or eigen.Product(G))
    for by_size in (False, True):
        found = _embed_labels(ensemble, 5, by_size=by_size, skip_first=skip_first)
        with monkeypatch.context() as context:
            context.setattr(module, "_ENTRIES", np.inf)
            dense = _embed_labels(ensemble, 5, by_size=by_size, skip_first=skip_first)
        assert_same_rows(found.rows, dense.rows)
        assert_same_rows(found.columns, dense.columns)
    assert asked == [(max(n, 600), min(n, 600))] * 2


@pytest.mark.parametrize("shape", [(1000, 9, 50), (3000, 11, 20)])  # by products; dense
def test_halves_that_are_the_same_but_for_one_partition(monkeypatch, shape):
    # The second eigenvector is opposite in the halves: orthogonal to all that is the same in them.
    n_half, n_partitions, n_levels = shape
    random = np.random.default_rng(0)
    half = random.integers(0, n_levels, (n_half, n_partitions))
    joined = random.integers(0, n_levels, (n_half, 1))
    ensemble = Ensemble(np.block([[half, joined], [half + n_levels, joined]]))
    truth = np.repeat([0, 1], n_half)
    assert naive.same_partition(spectral_labels(ensemble, 2, by_size=True), truth)
    monkeypatch.setattr(eigen, "_by_lapack", None)  # found at once, not by the check afterwards
    assert naive.same_partition(spectral_labels(ensemble, 2, by_size=True), truth)


def test_directions_of_many_pieces_must_fit(monkeypatch):
    # 40 pieces of 3 clusters in each of 4 partitions, with all their 81 combinations.
    inside = np.indices([3] * 4).reshape(4, 81).T
    labels = np.concatenate([3 * piece + inside for piece in range(40)])
    monkeypatch.setattr(module, "_BYTES_PER_LABEL", 1)
    monkeypatch.setenv("COTERIE_MEMORY_LIMIT", str(24 * 40 * 81 * 40 - 1))
    with pytest.raises(MemoryLimitError, match="40 equal eigenvectors of 3240 distinct objects"):
        spectral_labels(Ensemble(labels), 5)
    monkeypatch.setenv("COTERIE_MEMORY_LIMIT", str(24 * 40 * 81 * 40))
    assert len(np.unique(spectral_labels(Ensemble(labels), 5))) == 5


# --- clusters ------------------------------------------------------------------------------------


@given(labels=label_matrices())
def test_incidence_sizes_and_order(labels):
    ensemble = Ensemble(labels)
    Z = naive.incidence(labels)
    assert np.array_equal(incidence_of(ensemble.labels, ensemble.offsets).toarray(), Z)
    assert cluster_sizes(ensemble).tolist() == Z.sum(axis=0).tolist()
    order = cluster_order(ensemble)
    for e in range(ensemble.n_partitions):
        own = order[ensemble.offsets[e] : ensemble.offsets[e + 1]]
        assert sorted(own) == list(range(ensemble.offsets[e], ensemble.offsets[e + 1]))
        first = [int(np.argmax(Z[:, c])) for c in own]
        assert first == sorted(first)


@given(labels=label_matrices(), seed=st.integers(0, 99))
def test_weighted_overlap(labels, seed):
    ensemble = Ensemble(labels)
    weights = np.random.default_rng(seed).random(len(labels))
    Z = naive.incidence(labels)
    found = weigh_overlap(ensemble.labels, weights, ensemble.offsets)
    assert found == pytest.approx(Z.T * weights @ Z)
