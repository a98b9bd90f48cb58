"""The largest eigenvalues: all of them, with all that are equal, whatever the pieces of a graph."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse

from coterie import MemoryLimitError
from coterie._partition import _eigen as module
from coterie._partition._eigen import Product, lanczos, largest_pairs
from strategies import pieces


def test_lanczos_is_not_believed_where_an_eigenvalue_is_there_twice():
    twice = scipy.sparse.csr_matrix(np.kron(np.eye(2), np.ones((300, 300)) / 300))
    assert lanczos(twice, 5, np.ones(600)) is None


def circle(size):
    ring = np.roll(np.eye(size), 1, axis=0)
    return scipy.sparse.csr_matrix((np.eye(size) + ring + ring.T) / 3)


def test_a_copy_that_was_missed_is_noticed(monkeypatch):
    # A start without the second of two equal eigenvectors, as rounding can leave it.
    random = np.random.default_rng(0)
    Q = np.linalg.qr(random.standard_normal((401, 401)))[0]
    values = np.concatenate([[1.0, 0.8, 0.8], np.linspace(0.6, 0.1, 40), np.zeros(358)])
    matrix = (Q * values) @ Q.T
    eigsh = scipy.sparse.linalg.eigsh

    def without_one(A, k, **options):
        if k > 1:
            A = matrix - 0.8 * np.outer(Q[:, 2], Q[:, 2])
        return eigsh(A, k, **options)

    monkeypatch.setattr(scipy.sparse.linalg, "eigsh", without_one)
    assert lanczos(scipy.sparse.linalg.aslinearoperator(matrix), 4, np.ones(401)) is None


def test_fewer_eigenvectors_than_asked_for_are_not_believed():
    # Two partitions that cross: LAPACK returns too few of those that are equal, and says nothing.
    gram = np.kron(np.eye(2), np.eye(30) / 2) + np.kron(1 - np.eye(2), np.ones((30, 30)) / 60)
    for n_wanted in (2, 3, 5):
        values, vectors = largest_pairs(gram, n_wanted)
        assert values == pytest.approx([0.5] * 58 + [1.0], abs=1e-12)
        assert np.abs(gram @ vectors - vectors * values).max() < 1e-12


def test_room_for_eigenvectors(monkeypatch):
    groups = np.kron(np.eye(20), np.ones((25, 25)) / 25)
    dense = (groups + np.full((500, 500), 1 / 500)) / 2
    monkeypatch.setenv("COTERIE_MEMORY_LIMIT", "1 MB")
    assert len(largest_pairs(dense, 5)[0]) == 20  # by LAPACK: the matrix is there already
    with pytest.raises(MemoryLimitError, match="search for 201 eigenvectors of 500 by 500"):
        largest_pairs(circle(500), 200)


def with_all_equal(values, n_wanted):
    """The largest eigenvalues, and all that equal the last of them."""
    return values[values >= values[-n_wanted] - 1e-9]


@pytest.mark.parametrize("sizes", [[450, 60, 5, 1, 1], [90] * 6, [3] * 200, [500, 500]])
@pytest.mark.parametrize("n_wanted", [1, 4, 11, 40])
def test_eigenvectors_of_a_graph_in_pieces(sizes, n_wanted, seed):
    graph = pieces(np.random.default_rng(seed), sizes)
    values, vectors = largest_pairs(graph, n_wanted)
    expected = with_all_equal(np.linalg.eigvalsh(graph.toarray()), n_wanted)
    assert values == pytest.approx(expected, abs=1e-12)
    assert np.abs(graph @ vectors - vectors * values).max() < 1e-12
    assert np.abs(vectors.T @ vectors - np.eye(len(values))).max() < 1e-10


@pytest.mark.parametrize("sizes", [[450, 60, 5, 1, 1], [3] * 100, [500, 450]])
@pytest.mark.parametrize("n_wanted", [1, 4, 11])
def test_eigenvectors_of_a_product_in_pieces(sizes, n_wanted, seed):
    random = np.random.default_rng(seed)
    n_rows = 2 * sum(sizes) + 3  # three of them are empty
    owner = np.repeat(np.arange(len(sizes)), sizes)
    row_owner = np.concatenate([random.permutation(np.repeat(owner, 2)), [-1] * 3])
    near = row_owner[:, None] == owner
    factor = near * (
        random.random((n_rows, len(owner))) < np.minimum(1, 20 / np.array(sizes))[owner]
    )
    factor[:-3][np.flatnonzero(~factor[:-3].any(axis=1))] = near[:-3][~factor[:-3].any(axis=1)]
    gram = factor.T.astype(float) @ factor
    scale = 1 / np.sqrt(gram.sum(axis=1))
    values, vectors = largest_pairs(Product(scipy.sparse.csr_matrix(factor * scale)), n_wanted)
    gram *= scale[:, None] * scale
    expected = with_all_equal(np.linalg.eigvalsh(gram), n_wanted)
    assert values == pytest.approx(expected, abs=1e-12)
    assert np.abs(gram @ vectors - vectors * values).max() < 1e-11
    assert np.abs(vectors.T @ vectors - np.eye(len(values))).max() < 1e-10


@pytest.mark.parametrize("size", [100, 300, 450])  # the last ones by the method of Lanczos
@pytest.mark.parametrize("n_wanted", [2, 3, 5, 7, 9])
def test_twin_pieces_have_all_their_equal_eigenvalues(size, n_wanted, seed):
    one = pieces(np.random.default_rng(seed), [size])
    graph = scipy.sparse.block_diag([one] * (1000 // size), format="csr")
    values, vectors = largest_pairs(graph, n_wanted)
    expected = with_all_equal(np.linalg.eigvalsh(graph.toarray()), n_wanted)
    assert len(values) > n_wanted or n_wanted % (1000 // size) == 0
    assert values == pytest.approx(expected, abs=1e-12)
    assert np.linalg.matrix_rank(vectors) == len(values)


def test_eigenvalues_that_are_there_many_times_in_one_piece():
    # All eigenvalues of a circle but the first and the last are there twice; and twins of it.
    for n_circles in (1, 2):
        graph = scipy.sparse.block_diag([circle(500)] * n_circles, format="csr")
        for n_wanted in (2, 3, 4, 9):
            values, vectors = largest_pairs(graph, n_wanted)
            expected = with_all_equal(np.linalg.eigvalsh(graph.toarray()), n_wanted)
            assert values == pytest.approx(expected, abs=1e-12)
            assert np.linalg.matrix_rank(vectors) == len(values)


def test_eigenvalues_that_are_there_many_times_in_a_dense_matrix():
    groups = np.kron(np.eye(20), np.ones((25, 25)) / 25)
    matrix = (groups + np.full((500, 500), 1 / 500)) / 2  # 1, and 19 times 1/2
    for n_wanted in (1, 2, 5, 19, 20):
        values, vectors = largest_pairs(matrix, n_wanted)
        assert values == pytest.approx([1.0] if n_wanted == 1 else [0.5] * 19 + [1.0], abs=1e-12)
        assert np.abs(matrix @ vectors - vectors * values).max() < 1e-12


@pytest.mark.parametrize("sizes", [[600], [500, 450], [450, 60, 50, 1]])
@pytest.mark.parametrize("n_wanted", [1, 4, 11, 100])
@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_matrix])
def test_eigenvectors_of_a_dense_matrix(sizes, n_wanted, kind, seed):
    random = np.random.default_rng(seed)
    blocks = [random.random((m, 2 * m)) for m in sizes]
    order = random.permutation(sum(sizes))
    matrix = scipy.linalg.block_diag(*[b @ b.T for b in blocks])
    matrix = matrix[np.ix_(order, order)]
    scale = 1 / np.sqrt(matrix.sum(axis=1))
    matrix *= scale[:, None] * scale
    values, vectors = largest_pairs(kind(matrix), n_wanted)
    expected = with_all_equal(np.linalg.eigvalsh(matrix), n_wanted)
    assert values == pytest.approx(expected, abs=1e-12)
    assert np.abs(matrix @ vectors - vectors * values).max() < 1e-12


def test_a_dense_matrix_in_pieces_needs_no_lapack(seed, monkeypatch):
    random = np.random.default_rng(seed)
    blocks = [b @ b.T for b in (random.random((m, 2 * m)) for m in (500, 450))]
    matrix = scipy.linalg.block_diag(*[b / b.sum(axis=1).max() for b in blocks])
    expected = np.linalg.eigvalsh(matrix)[-4:]
    monkeypatch.setattr(module, "_by_lapack", None)  # each piece by the method of Lanczos
    assert largest_pairs(matrix, 4)[0] == pytest.approx(expected, abs=1e-12)
    assert module._Dense(matrix).pieces()[0] == 2
