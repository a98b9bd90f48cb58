"""Spectral cuts against eigenvectors of whole matrices, from the definitions."""

import numba
import numpy as np
import pytest
import scipy.sparse
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans

import naive
from coterie import Ensemble, MemoryLimitError
from coterie._graphs import LabelGraph, MatrixGraph, similarity_cut, spectral_cut, transfer_cut
from coterie._graphs import _spectral as module
from coterie._graphs._spectral import embed_bipartite, embed_product, embed_similarity
from strategies import label_matrices, noisy_labels, random_labels

parts = st.integers(2, 5)
either = st.booleans()
# LAPACK; ARPACK with the matrix made; ARPACK with products.
every_solver = pytest.mark.parametrize("sizes", [(500, 4096), (5, 4096), (5, 5)])


def use_solver(monkeypatch, sizes):
    monkeypatch.setattr(module, "_SMALL", sizes[0])
    monkeypatch.setattr(module, "_DENSE", sizes[1])


def gram(rows):
    """What k-means sees of an embedding: it is the same for every choice of axes."""
    return rows @ rows.T


def assert_same_rows(found, expected):
    assert gram(found) == pytest.approx(gram(expected), abs=1e-6)


def embed_both(graph, k, skip_first):
    """Objects, then columns in the order of the ensemble's clusters."""
    found = embed_bipartite(graph, k, skip_first=skip_first)
    return np.concatenate([found.rows[graph.inverse], graph.named(found.columns)])


# --- embeddings ----------------------------------------------------------------------------------


@given(labels=label_matrices(), k=parts, skip_first=either, seed=st.none() | st.integers(0, 9))
def test_label_rows_are_embedded_as_by_whole_matrices(labels, k, skip_first, seed):
    ensemble = Ensemble(labels)
    Z = naive.incidence(labels)
    weights = None if seed is None else np.random.default_rng(seed).uniform(0.5, 2, Z.shape[1])
    B = Z if weights is None else Z * weights
    similar = naive.spectral_rows(B @ B.T, k, skip_first=skip_first)
    placed = naive.transfer_rows(B, k, skip_first=skip_first)
    assume(similar is not None and placed is not None)
    graph, inverse = LabelGraph(ensemble, weights), ensemble.patterns.inverse
    assert_same_rows(embed_product(graph, k, skip_first=skip_first)[inverse], similar)
    assert_same_rows(embed_both(graph, k, skip_first), placed)


@every_solver
@pytest.mark.parametrize("skip_first", [False, True])
@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("n", [15, 90])  # fewer, and more, distinct rows than clusters
def test_every_way_to_solve_the_eigenproblem(sizes, skip_first, missing, n, seed, monkeypatch):
    use_solver(monkeypatch, sizes)
    _, labels = noisy_labels(seed, n, 7, n_clusters=4, noise=0.4, missing=missing)
    ensemble = Ensemble(labels)
    assert (len(ensemble.patterns.counts) > ensemble.offsets[-1]) == (n == 90)
    graph, inverse = LabelGraph(ensemble), ensemble.patterns.inverse
    Z = naive.incidence(labels)
    expected = naive.spectral_rows(Z @ Z.T, 3, skip_first=skip_first)
    assert_same_rows(embed_product(graph, 3, skip_first=skip_first)[inverse], expected)
    found = embed_similarity(Z @ Z.T, 3, skip_first=skip_first)
    assert_same_rows(found, expected)
    found = embed_similarity(scipy.sparse.csr_matrix(Z @ Z.T), 3, skip_first=skip_first)
    assert_same_rows(found, expected)
    expected = naive.transfer_rows(Z, 3, skip_first=skip_first)
    assert_same_rows(embed_both(graph, 3, skip_first), expected)


@every_solver
@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_matrix])
@pytest.mark.parametrize("shape", [(40, 12), (12, 40)])
def test_any_weights_and_rows_with_multiplicities(sizes, kind, shape, seed, monkeypatch):
    use_solver(monkeypatch, sizes)
    random = np.random.default_rng(seed)
    B = random.random(shape) * (random.random(shape) < 0.7)
    B[0] = 0  # an object that nothing is known of
    counts = random.integers(1, 5, shape[0])
    inverse = random.permutation(np.repeat(np.arange(shape[0]), counts))
    graph = MatrixGraph(kind(B), counts, inverse)
    for skip_first in (False, True):
        expected = naive.transfer_rows(B[inverse], 3, skip_first=skip_first)
        assert_same_rows(embed_both(graph, 3, skip_first), expected)
        expected = naive.spectral_rows(B[inverse] @ B[inverse].T, 3, skip_first=skip_first)
        assert_same_rows(embed_product(graph, 3, skip_first=skip_first)[inverse], expected)


def test_large_matrices_go_in_blocks(monkeypatch):
    B = np.random.default_rng(0).random((50, 6))
    whole = similarity_cut(B, 3)
    monkeypatch.setattr("coterie._graphs._bipartite._BLOCK", 42)
    assert similarity_cut(B, 3).tolist() == whole.tolist()


# --- cuts ----------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("skip_first", [False, True])
def test_cuts_are_k_means_on_the_embedding(seed, missing, skip_first):
    _, labels = noisy_labels(seed, 300, 12, noise=0.3, missing=missing)
    graph = LabelGraph(Ensemble(labels))
    Z = naive.incidence(labels)
    options = {"skip_first": skip_first, "random_state": seed}
    best = KMeans(4, n_init=20, random_state=0)
    expected = best.fit_predict(naive.spectral_rows(Z @ Z.T, 4, skip_first=skip_first))
    assert naive.same_partition(similarity_cut(graph, 4, **options), expected)
    assert naive.same_partition(similarity_cut(Z, 4, **options), expected)
    assert naive.same_partition(spectral_cut(Z @ Z.T, 4, **options), expected)
    rows = naive.transfer_rows(Z, 4, skip_first=skip_first)
    best.fit(rows[:300])
    expected = np.concatenate([best.labels_, best.predict(rows[300:])])
    for B in (graph, Z, scipy.sparse.csr_matrix(Z)):
        assert naive.same_partition(np.concatenate(transfer_cut(B, 4, **options)), expected)


def test_weights_of_clusters_count():
    # Two partitions that contradict each other: the heavier one decides.
    labels = np.array([[i % 2, i // 2 % 2, 0] for i in range(8)])
    for heavy in (0, 1):
        weights = np.array([1.0, 1.0, 1.0, 1.0, 1.0])
        weights[[2 * heavy, 2 * heavy + 1]] = 3.0
        found = transfer_cut(LabelGraph(Ensemble(labels), weights), 2).objects
        assert naive.same_partition(found, labels[:, heavy])


def test_rows_that_no_object_has_are_vertices_too(seed):
    _, labels = noisy_labels(seed, 100, 6, noise=0.3)
    Z = naive.incidence(labels)
    extra = np.eye(Z.shape[1]) + 0.01
    B = np.concatenate([Z, extra])
    counts = np.ones(len(B), dtype=int)
    found = transfer_cut(MatrixGraph(B, counts, np.arange(100)), 4)
    assert len(found.objects) == 100
    assert len(found.clusters) == Z.shape[1]
    assert found.objects.tolist() == transfer_cut(B, 4).objects[:100].tolist()


@settings(max_examples=40)
@given(labels=label_matrices(), data=st.data())
def test_no_part_is_ever_empty(labels, data):
    k = data.draw(st.integers(1, len(labels)))
    skip_first = data.draw(either)
    graph = LabelGraph(Ensemble(labels))
    Z = naive.incidence(labels)
    for found in (
        similarity_cut(graph, k, skip_first=skip_first),
        transfer_cut(graph, k, skip_first=skip_first).objects,
        similarity_cut(Z, k, skip_first=skip_first),
        transfer_cut(Z, k, skip_first=skip_first).objects,
        spectral_cut(Z @ Z.T, k, skip_first=skip_first),
    ):
        assert found.dtype == np.int64
        assert sorted(set(found.tolist())) == list(range(k))


@settings(max_examples=60)
@given(labels=label_matrices(), k=parts, skip_first=either, seed=st.integers(0, 99))
def test_names_of_clusters_do_not_matter(labels, k, skip_first, seed):
    # Also where eigenvalues are equal, so that eigenvectors are not determined.
    random = np.random.default_rng(seed)
    ensemble = Ensemble(labels)
    columns = [
        np.where(column < 0, -1, random.permutation(column.max() + 1)[column])
        for column in ensemble.labels.T
    ]
    k = min(k, len(labels))
    for cut in (similarity_cut, lambda *given, **more: transfer_cut(*given, **more).objects):
        one, two = (
            cut(LabelGraph(e), k, skip_first=skip_first) for e in (ensemble, Ensemble(columns))
        )
        assert one.tolist() == two.tolist()


@every_solver
def test_names_do_not_matter_where_eigenvalues_are_equal(sizes, seed, monkeypatch):
    # Rows and columns of a grid: eigenvalue 1/2 has ten vectors, of which two are taken.
    use_solver(monkeypatch, sizes)
    random = np.random.default_rng(seed)
    grid = np.indices((6, 6)).reshape(2, 36)
    cuts = set()
    for _ in range(5):
        renamed = Ensemble(np.column_stack([random.permutation(6)[column] for column in grid]))
        graph = LabelGraph(renamed)
        cuts.add((tuple(similarity_cut(graph, 3)), tuple(transfer_cut(graph, 3).objects)))
    assert len(cuts) == 1


@every_solver
@pytest.mark.parametrize("skip_first", [False, True])
def test_pieces_of_a_graph_are_found(sizes, skip_first, monkeypatch):
    use_solver(monkeypatch, sizes)
    truth = np.repeat([0, 1, 2], [5, 30, 3])
    S = (truth[:, None] == truth).astype(float)
    assert naive.same_partition(spectral_cut(S, 3, skip_first=skip_first), truth)
    labels = np.column_stack([truth] * 4)
    found = transfer_cut(LabelGraph(Ensemble(labels)), 3, skip_first=skip_first)
    assert naive.same_partition(found.objects, truth)
    halves = np.column_stack([labels, np.arange(38) % 2 + 2 * truth])
    found = transfer_cut(LabelGraph(Ensemble(halves)), 3)
    assert naive.same_partition(found.objects, truth)


@every_solver
def test_more_pieces_than_parts(sizes, seed, monkeypatch):
    use_solver(monkeypatch, sizes)
    # Pieces stay whole, and the largest ones are parts of their own.
    truth = np.random.default_rng(seed).permutation(np.repeat(np.arange(9), [30, 20, *[3] * 7]))
    labels = np.column_stack([truth] * 3)
    for found in (
        transfer_cut(LabelGraph(Ensemble(labels)), 3).objects,
        similarity_cut(LabelGraph(Ensemble(labels)), 3),
    ):
        assert sorted(np.bincount(found)) == [20, 21, 30]
        assert all(len(set(found[truth == piece])) == 1 for piece in range(9))


def test_equal_eigenvalues_are_all_found(seed):
    # 12 parts of the same size, all joined a little: eigenvalue 2 to 12 are nearly the same.
    random = np.random.default_rng(seed)
    truth = random.permutation(np.repeat(np.arange(12), 60))
    labels = np.column_stack([truth * 5 + random.integers(0, 5, 720) for _ in range(14)])
    labels = np.column_stack([labels, random.integers(0, 2, 720)])
    ensemble = Ensemble(labels)
    assert ensemble.offsets[-1] > module._SMALL
    assert naive.same_partition(transfer_cut(LabelGraph(ensemble), 12).objects, truth)


def test_lonely_objects_lie_at_the_origin(seed):
    A = np.random.default_rng(seed).random((40, 5))
    A[[3, 8, 20]] = 0
    for rows in (
        embed_similarity(A @ A.T, 3),
        embed_product(MatrixGraph(A), 3),
        embed_bipartite(MatrixGraph(A), 3).rows,
    ):
        assert np.flatnonzero(~rows.any(axis=1)).tolist() == [3, 8, 20]


def test_nothing_is_known():
    for found in (
        spectral_cut(np.zeros((4, 4)), 2),
        similarity_cut(np.zeros((4, 3)), 2),
        transfer_cut(np.zeros((4, 3)), 2).objects,
    ):
        assert set(found.tolist()) == {0, 1}


def test_result_does_not_depend_on_the_number_of_threads():
    ensemble = Ensemble(random_labels(0, 9000, 12, missing=0.1))
    threads = numba.get_num_threads()
    found = []
    try:
        for n in {1, numba.config.NUMBA_NUM_THREADS}:
            numba.set_num_threads(n)
            graph = LabelGraph(ensemble)
            rows = embed_bipartite(graph, 5).rows
            found.append((rows.tobytes(), transfer_cut(graph, 5).objects.tobytes()))
    finally:
        numba.set_num_threads(threads)
    assert all(one == found[0] for one in found)


def test_eigenproblem_too_large(monkeypatch):
    _, labels = noisy_labels(0, 60, 9, n_clusters=3, noise=0.4)
    monkeypatch.setenv("COTERIE_MEMORY_LIMIT", "10kB")
    with pytest.raises(MemoryLimitError, match=r"eigenproblem of 27 clusters.*select"):
        similarity_cut(LabelGraph(Ensemble(labels)), 3)


@pytest.mark.slow
def test_a_million_objects():
    random = np.random.default_rng(0)
    truth = random.integers(0, 10, 1_000_000)
    labels = np.empty((1_000_000, 20), dtype=np.int32)
    for e in range(20):
        wrong = random.random(1_000_000) < 0.2
        labels[:, e] = np.where(wrong, random.integers(0, 10, 1_000_000), truth)
    ensemble = Ensemble(labels)
    assert len(ensemble.patterns.counts) > 500_000
    found = transfer_cut(LabelGraph(ensemble), 10).objects
    table = np.bincount(10 * truth + found, minlength=100).reshape(10, 10)
    assert table.max(axis=1).sum() > 990_000
