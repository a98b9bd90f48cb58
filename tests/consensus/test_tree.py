"""Cutting a consensus tree: only large clusters count, and a sample can stand for all."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie import LWEA, WEAC, Ensemble
from coterie._linkage import Tree
from strategies import label_matrices, noisy_labels


def cut_large(fitted, n_clusters, min_size):
    """Split the tree from the top until so many clusters are large; None if that never is."""
    tree = Tree.from_scipy(fitted.linkage_)
    for q in range(1, tree.n_objects + 1):
        labels = tree.cut(q)
        sizes = np.bincount(labels)
        if (sizes >= min_size).sum() == n_clusters:
            return [label if sizes[label] >= min_size else -1 for label in labels]
    return None


@given(labels=label_matrices(min_objects=2), data=st.data())
def test_cut_into_large_clusters(labels, data):
    k = data.draw(st.integers(1, len(labels)))
    size = data.draw(st.integers(1, len(labels)))
    fitted = LWEA(k).fit(labels)
    found = Tree.from_scipy(fitted.linkage_).cut_large(k, size)
    expected = cut_large(fitted, k, size)
    assert (None if found is None else found.tolist()) == expected


@given(labels=label_matrices(min_objects=2, unlabelled=True), data=st.data())
def test_exactly_as_many_clusters_as_asked_for(labels, data):
    k = data.draw(st.integers(1, len(labels)))
    share = data.draw(st.sampled_from([0.0, 0.1, 0.5, 1.0]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # objects without a label
        fitted = LWEA(k, min_share=share).fit(labels)
    assert fitted.n_clusters_ == len(np.unique(fitted.labels_)) == k


def test_an_outlier_is_no_cluster():
    truth = np.repeat([0, 1, 2], [30, 30, 1])
    labels = np.column_stack([truth] * 5)
    assert np.bincount(LWEA(3).fit(labels).labels_).tolist() == [30, 30, 1]
    labels[:10, 0] = 3
    labels[:10, 1:] += 3 * (np.arange(4) < 2)
    found = LWEA(3, min_share=0.2).fit(labels).labels_
    assert sorted(np.bincount(found)) == [10, 20, 31]


@pytest.mark.parametrize("method", [LWEA, WEAC])
def test_tree_of_a_sample(method, seed):
    _, labels = noisy_labels(seed, 600, 12, n_clusters=3)
    whole = method(3).fit(labels)
    fitted = method(3, max_objects=150).fit(labels)
    assert whole.sample_ is None
    assert len(fitted.sample_) == 150
    assert len(fitted.linkage_) == 149
    assert len(fitted.labels_) == 600
    assert (fitted.labels_ == whole.labels_).mean() > 0.95
    again = method(3, max_objects=150).fit(Ensemble(labels))
    assert (again.labels_ == fitted.labels_).all()
    assert len(np.unique(fitted.cut_tree(7))) == 7


def test_sample_counts_objects_without_labels_too(seed):
    _, labels = noisy_labels(seed, 600, 12, n_clusters=3)
    gaps = np.insert(labels, np.arange(0, 300, 3), -1, axis=0)
    labelled = gaps[:, 0] >= 0
    fitted = LWEA(3, max_objects=150).fit(labels)
    with pytest.warns(UserWarning, match="100 of 700 objects have no label"):
        with_gaps = LWEA(3, max_objects=150).fit(gaps)
    assert (gaps[with_gaps.sample_] == labels[fitted.sample_]).all()
    assert (with_gaps.cut_tree(3)[labelled] == fitted.labels_).all()
    assert (with_gaps.cut_tree(3) == with_gaps.labels_).all()


def test_few_distinct_rows_need_no_sample():
    labels = np.repeat([[0, 0], [1, 0], [1, 1]], 100, axis=0)
    assert LWEA(2, max_objects=50).fit(labels).sample_ is None


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"min_share": 2}, "min_share must be at most 1; got 2"),
        ({"max_objects": 1}, "max_objects must be at least 2; got 1"),
    ],
)
def test_bad_settings(settings, words):
    with pytest.raises(ValueError, match=words):
        LWEA(2, **settings).fit([[0], [1], [1]])


def test_more_clusters_than_the_sample_has_objects(seed):
    _, labels = noisy_labels(seed, 300, 12, n_clusters=3)
    with pytest.raises(ValueError, match="max_objects=None"):
        LWEA(120, max_objects=100).fit(labels)
