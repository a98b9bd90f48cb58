"""Weights of clusters and partitions against their definitions."""

import numpy as np
import pytest
from hypothesis import given

import naive
from coterie import Ensemble
from coterie.consensus._weights import cluster_weights, jaccard, partition_weights
from strategies import label_matrices


@pytest.mark.parametrize("theta", [0.1, 0.4, 3.0])
@given(labels=label_matrices())
def test_cluster_weights_are_those_of_the_definition(theta, labels):
    assert cluster_weights(Ensemble(labels), theta) == pytest.approx(naive.eci(labels, theta))


@given(labels=label_matrices())
def test_partition_weights_are_those_of_the_definition(labels):
    weights = partition_weights(Ensemble(labels))
    assert weights == pytest.approx(naive.ncai(labels), abs=1e-9)
    assert weights.max() == pytest.approx(1.0)


@given(labels=label_matrices())
def test_jaccard_is_that_of_the_definition(labels):
    assert jaccard(Ensemble(labels)) == pytest.approx(naive.jaccard(labels))


def test_partitions_that_share_no_information_weigh_the_same():
    labels = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    assert partition_weights(Ensemble(labels)).tolist() == [1.0, 1.0]
    assert partition_weights(Ensemble(labels[:, :1])).tolist() == [1.0]


def test_constant_partition_weighs_nothing_among_others():
    labels = np.array([[0, 0, 5], [0, 0, 5], [1, 1, 5], [1, 1, 5]])
    assert partition_weights(Ensemble(labels)).tolist() == [1.0, 1.0, 0.0]
