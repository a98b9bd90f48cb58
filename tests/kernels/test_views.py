"""Patterns and overlap against the definitions."""

import numpy as np
import pytest
from hypothesis import given

import naive
from coterie import Ensemble
from coterie._kernels import views
from strategies import label_matrices, random_labels


@given(labels=label_matrices())
def test_patterns_match_the_definition(labels):
    rows, counts, inverse = naive.patterns(labels.tolist())
    found = Ensemble(labels).patterns
    coded = np.array([naive.codes(column)[0] for column in labels.T.tolist()]).T
    assert naive.patterns(coded.tolist())[0] == [tuple(row) for row in found.labels.tolist()]
    assert len(rows) == len(found.labels)
    assert found.counts.tolist() == counts
    assert found.inverse.tolist() == inverse


@given(labels=label_matrices())
def test_overlap_matches_the_definition(labels):
    overlap = Ensemble(labels).overlap
    assert overlap.dtype == np.int64
    assert overlap.tolist() == naive.overlap(labels)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_overlap_of_several_blocks_of_objects(seed, missing):
    labels = random_labels(seed, 2 * views._BLOCK + 37, 5, missing=missing)
    ensemble = Ensemble(labels)
    incidence = np.hstack(
        [ensemble.labels[:, [e]] == np.arange(k) for e, k in enumerate(ensemble.n_clusters)]
    ).astype(np.int64)
    assert np.array_equal(ensemble.overlap, incidence.T @ incidence)


def test_many_patterns_agree_with_numpy(seed):
    labels = random_labels(seed, 20_000, 5, most=7, missing=0.1)
    found = Ensemble(labels).patterns
    coded = Ensemble(labels).labels
    _, first, inverse, counts = np.unique(
        coded, axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    order = np.argsort(first)  # numpy sorts by value, we by the first object
    assert np.array_equal(found.labels, coded[np.sort(first)])
    assert np.array_equal(found.counts, counts[order])
    assert np.array_equal(found.inverse, np.argsort(order)[inverse])


def test_rows_with_equal_hashes_are_told_apart():
    labels = np.array([[0, 1], [1, 0], [0, 1], [5, 5], [1, 0]], dtype=np.int32)
    same = np.full(len(labels), 7, dtype=np.uint64)
    inverse = np.empty(len(labels), dtype=np.int64)
    n_patterns = views._assign_patterns(labels, same, np.full(16, -1), inverse)
    assert n_patterns == 3
    assert inverse.tolist() == [0, 1, 0, 2, 1]


def test_large_cluster_numbers():
    labels = np.column_stack([np.arange(70_000), np.zeros(70_000, dtype=int)])
    patterns = Ensemble(labels).patterns
    assert len(patterns.labels) == 70_000
    assert (patterns.inverse == np.arange(70_000)).all()
