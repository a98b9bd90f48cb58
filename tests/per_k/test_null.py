"""Data without clusters, and what PAC is compared with."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import pdist, squareform

from coterie import ConsensusPerK
from coterie.per_k._distances import coordinates
from coterie.per_k._null import compare_with_null, draw_null


def runs_of(**changes):
    return ConsensusPerK(**changes)._make_runs()


def test_the_null_has_mean_and_covariance_of_the_data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3)) @ rng.normal(size=(3, 3)) + [5, 0, -5]
    drawn = np.vstack(list(draw_null(X, 400, rng, runs_of())))
    assert_allclose(drawn.mean(axis=0), X.mean(axis=0), atol=0.1)
    assert_allclose(np.cov(drawn.T), np.cov(X.T), atol=0.03 * np.cov(X.T).max())


def test_the_null_of_distances_are_distances():
    X = np.random.default_rng(0).normal(size=(20, 3))
    distances = squareform(pdist(X))
    (drawn,) = draw_null(distances, 1, np.random.default_rng(1), runs_of(distance="precomputed"))
    assert drawn.shape == (20, 20)
    assert_allclose(drawn, drawn.T)
    assert 0.5 < drawn.mean() / distances.mean() < 2.0


@pytest.mark.parametrize("metric", ["cityblock", "precomputed", "euclidean"])
def test_coordinates_keep_the_distances(metric):
    X = np.random.default_rng(0).normal(size=(12, 1 if metric == "cityblock" else 4))
    expected = squareform(pdist(X))
    given = expected if metric == "precomputed" else X
    assert_allclose(squareform(pdist(coordinates(given, metric))), expected, atol=1e-9)


def test_coordinates_of_correlations():
    X = np.random.default_rng(0).normal(size=(6, 9))
    squares = squareform(pdist(coordinates(X, "pearson"))) ** 2
    assert_allclose(squares / 2, 1 - np.corrcoef(X), atol=1e-12)


def test_rcsi_and_p_are_those_of_the_definition():
    null = np.array([[0.2, 0.5], [0.4, 0.1], [0.3, 0.3]])
    rcsi, p = compare_with_null(np.array([0.2, 0.0]), null, 10)
    assert_allclose(rcsi, [np.log(0.3) - np.log(0.2), np.log(0.3) - np.log(0.05)])
    assert_allclose(p, [2 / 4, 1 / 4])


def test_clusters_stand_out_of_the_null():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(45, 4)) + np.repeat(6 * np.eye(4)[:3], 15, axis=0)
    given = {"k_range": [2, 3, 4], "n_resamples": 20, "n_null": 19, "random_state": 0}
    found = ConsensusPerK(**given).fit(X)
    assert found.best_k_ == 3
    assert found.has_clusters_
    assert found.p_values_[3] == pytest.approx(1 / 20)
    assert found.null_pac_.shape == (19, 3)
    mean = found.null_pac_.mean(axis=0)
    assert found.rcsi_[2] == pytest.approx(np.log(mean[0]) - np.log(found.pac_[2]))
