"""The heat map of features: which rows, which columns, which values."""

import numpy as np
import pytest

from coterie import cluster_features
from coterie.views._feature_map import CLIP, diverging_palette, feature_map, marker_features


@pytest.fixture
def table():
    """Nine features; the first three each make one of three clusters."""
    random = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], [30, 20, 10])
    X = random.normal(size=(60, 9))
    for c in range(3):
        X[labels == c, c] += 5
    return X, labels, [f"f{j}" for j in range(9)]


def test_each_cluster_has_its_features_and_none_comes_twice(table):
    X, labels, names = table
    found = cluster_features(X, labels, names)
    assert marker_features(found, 3) == [("f0", 0), ("f1", 1), ("f2", 2)]
    all_of_them = marker_features(found, 100)
    assert sorted(name for name, _ in all_of_them) == names
    assert [c for _, c in all_of_them] == sorted(c for _, c in all_of_them)


@pytest.mark.parametrize("most", [60, 60_000, 7])
def test_values_are_means_of_neighbours_in_standard_deviations(table, most):
    X, labels, names = table
    X[3, 0] = np.nan
    order = np.random.default_rng(1).permutation(60)
    order = order[np.argsort(labels[order], kind="stable")]
    found = cluster_features(X, labels, names)
    shown = feature_map(X, names, found, labels, order, n_features=4, most_columns=most)
    assert shown.values.shape == (4, min(most, 60))
    assert (shown.edges[0], shown.edges[-1]) == (0, 60)
    for row, name in enumerate(shown.features):
        column = X[:, names.index(name)]
        known = column[~np.isnan(column)]
        scaled = np.nan_to_num((column - known.mean()) / known.std())
        for b, (start, stop) in enumerate(zip(shown.edges[:-1], shown.edges[1:], strict=True)):
            mean = scaled[order[start:stop]].mean()
            assert shown.values[row, b] == pytest.approx(np.clip(mean, -CLIP, CLIP))
    if most >= 60:
        assert shown.column_clusters.tolist() == labels[order].tolist()


def test_colours_go_from_orange_over_white_to_blue():
    colours = diverging_palette().astype(int)
    assert colours.shape == (101, 3)
    assert colours[0, 0] > colours[0, 2]
    assert colours[100, 2] > colours[100, 0]
    assert np.ptp(colours[50]) == 0
