"""Co-association kernels against the definition, also across tiles and integer widths."""

import numba
import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_array_equal

import naive
from coterie import Ensemble
from coterie._kernels import coassociation as kernels
from strategies import label_matrices, random_labels


def floats(fractions):
    return np.array([[float(value) for value in row] for row in fractions])


@given(labels=label_matrices())
def test_coassociation_matches_the_definition(labels):
    exact = floats(naive.coassociation(labels.tolist()))
    ensemble = Ensemble(labels)
    # Correctly rounded quotients: equal to the last bit, so that ties are ties.
    assert_array_equal(ensemble.coassociation(), exact)
    assert_array_equal(ensemble.coassociation(dtype=np.float32), exact.astype(np.float32))


@given(labels=label_matrices())
def test_counts_match_the_definition(labels):
    n = len(labels)
    columns = Ensemble(labels).compact_codes
    exact = [[naive.votes(labels.tolist(), i, j) for j in range(n)] for i in range(n)]
    assert_array_equal(kernels.count_matrix(columns), [[t for t, _ in row] for row in exact])
    assert_array_equal(kernels.observed_matrix(columns), [[o for _, o in row] for row in exact])


@given(labels=label_matrices(min_objects=2))
def test_condensed_distances_match_the_definition(labels):
    exact = 1.0 - floats(naive.coassociation(labels.tolist()))
    ensemble = Ensemble(labels)
    found = kernels.condensed_distances(ensemble.compact_codes, ensemble.has_missing)
    assert_array_equal(found, exact[np.triu_indices(len(labels), 1)])


def test_rows_longer_than_a_tile(seed):
    n = 2 * kernels._TILE + 11
    ensemble = Ensemble(random_labels(seed, n, 7, missing=0.3))
    columns, labels = ensemble.compact_codes, ensemble.labels
    rows = np.array([0, kernels._TILE - 1, kernels._TILE, n - 1])
    together = np.empty((len(rows), n), dtype=np.uint8)
    observed = np.empty_like(together)
    kernels.count_block(columns, kernels.missing_code(columns), rows, together)
    kernels.observe_block(columns, kernels.missing_code(columns), rows, observed)
    seen = (labels[rows, None] >= 0) & (labels[None] >= 0)
    assert_array_equal(observed, seen.sum(axis=2))
    assert_array_equal(together, (seen & (labels[rows, None] == labels[None])).sum(axis=2))
    share = np.empty(n)
    codes = kernels.Codes.of(columns, True)
    kernels.share_row(codes, n - 1, kernels.share_scratch(codes), share)
    assert_array_equal(share, together[3] / np.maximum(observed[3], 1))


@pytest.mark.parametrize("n_partitions", [255, 256, 300])
def test_more_partitions_than_a_byte_counts(n_partitions):
    labels = np.zeros((3, n_partitions), dtype=int)
    labels[2] = 1
    labels[2, 0] = 0
    counts = kernels.count_matrix(Ensemble(labels).compact_codes)
    assert counts.tolist() == [
        [n_partitions, n_partitions, 1],
        [n_partitions, n_partitions, 1],
        [1, 1, n_partitions],
    ]


@pytest.mark.parametrize(
    ("n_clusters", "width"), [(255, 1), (256, 2), (257, 2), (65535, 2), (65536, 4)]
)
def test_codes_never_meet_the_code_of_missing(n_clusters, width):
    # The last cluster is as near to "missing" as its type allows.
    column = np.append(np.arange(n_clusters), [-1, n_clusters - 1])
    columns = Ensemble(column[:, None]).compact_codes
    assert columns.itemsize == width
    out = np.empty((2, len(column)), dtype=np.uint8)
    rows = np.array([n_clusters - 1, n_clusters])
    kernels.count_block(columns, kernels.missing_code(columns), rows, out)
    assert np.flatnonzero(out[0]).tolist() == [n_clusters - 1, n_clusters + 1]
    assert not out[1].any()


@pytest.mark.skipif(numba.config.NUMBA_NUM_THREADS < 2, reason="numba has one thread here")
def test_number_of_threads_changes_nothing(seed):
    ensemble = Ensemble(random_labels(seed, 300, 9, missing=0.2))
    before, found = numba.get_num_threads(), []
    try:
        for n_threads in (1, 2):
            numba.set_num_threads(n_threads)
            found.append(ensemble.coassociation())
    finally:
        numba.set_num_threads(before)
    assert_array_equal(*found)
