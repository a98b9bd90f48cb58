"""LWEA against the definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform
from sklearn.exceptions import NotFittedError

import naive
from coterie import EAC, LWEA, Ensemble, _linkage
from strategies import label_matrices, noisy_labels, random_labels


def similarity(labels, theta=0.4):
    """Summed weights of the clusters that two objects share, over the number of partitions."""
    n, n_partitions = labels.shape
    table = np.zeros((n, n))
    for (_, members), weight in zip(
        naive.clusters_of(labels), naive.eci(labels, theta), strict=True
    ):
        rows = sorted(members)
        table[np.ix_(rows, rows)] += weight / n_partitions
    return table


def merges_of(fitted):
    """The merges of `linkage_`, clusters known by their smallest objects."""
    n = len(fitted.linkage_) + 1
    members = [{i} for i in range(n)]
    for left, right, height, size in fitted.linkage_:
        u, v = sorted((min(members[int(left)]), min(members[int(right)])))
        members.append(members[int(left)] | members[int(right)])
        assert len(members[-1]) == size
        yield u, v, 1.0 - height


@given(labels=label_matrices(), data=st.data())
def test_tree_is_of_best_pairs(labels, data):
    n = len(labels)
    k = data.draw(st.integers(1, n))
    fitted = LWEA(k).fit(labels)
    merges = list(merges_of(fitted))
    naive.check_merges(similarity(labels).tolist(), merges)
    assert fitted.labels_.tolist() == naive.cut(merges, n, k)
    assert fitted.weights_ == pytest.approx(naive.eci(labels))


@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("regime", ["auto", "triangle", "matrix-free"])
def test_large_ensembles_get_scipys_tree(monkeypatch, seed, regime, missing):
    labels = random_labels(seed, 240, 60, most=4, missing=missing)
    labels[200:] = labels[:40]  # twins
    monkeypatch.setattr(_linkage, "GREEDY_MOST", 0)
    fitted = LWEA(5, theta=1.0, regime=regime).fit(labels)
    distance = squareform(1.0 - similarity(labels, 1.0), checks=False)
    expected = hierarchy.linkage(distance, "average")
    assert fitted.linkage_[:, 2] == pytest.approx(expected[:, 2], abs=1e-7)
    wanted = hierarchy.fcluster(expected, 5, "maxclust")
    assert naive.same_partition(fitted.labels_, wanted)


@pytest.mark.parametrize("Method", [EAC, LWEA])
def test_cut_is_what_a_fit_would_give(seed, Method):
    _, labels = noisy_labels(seed, 60, 9, noise=0.4, missing=0.05)
    fitted = Method(2).fit(labels)
    for k in (1, 2, 7, 60):
        assert fitted.cut_tree(k).tolist() == Method(k).fit(labels).labels_.tolist()
    with pytest.raises(ValueError, match="between 1 and the number of objects"):
        fitted.cut_tree(61)
    with pytest.raises(NotFittedError):
        Method(2).cut_tree(2)


def test_cluster_that_others_split_weighs_less():
    # Partition 0 joins what the others keep apart, in one of its two clusters.
    labels = np.array([[0, 0, 0]] * 4 + [[0, 1, 1]] * 4 + [[1, 2, 2]] * 4)
    joined, kept, *others = LWEA(3).fit(labels).weights_
    assert joined == pytest.approx(np.exp(-2.0 / (0.4 * 3)))
    assert kept == 1.0
    assert others == [1.0] * 6


def test_large_theta_is_evidence_accumulation(seed):
    _, labels = noisy_labels(seed, 80, 60, noise=0.5)
    one, two = LWEA(4, theta=1e300).fit(labels), EAC(4).fit(labels)
    assert one.linkage_ == pytest.approx(two.linkage_)
    assert naive.same_partition(one.labels_, two.labels_)


def test_ensemble_and_labels_agree():
    _, labels = noisy_labels(0, 40, 6)
    assert LWEA(3).fit(Ensemble(labels)).labels_.tolist() == LWEA(3).fit(labels).labels_.tolist()


@pytest.mark.parametrize(
    ("theta", "kind", "words"),
    [
        (0, ValueError, "theta must be positive; got 0"),
        (np.inf, ValueError, "theta must be finite; got inf"),
        ("x", TypeError, r"theta must be a number; got 'x' \(str\)"),
    ],
)
def test_words_of_errors(theta, kind, words):
    with pytest.raises(kind, match=words):
        LWEA(theta=theta).fit([[0, 0], [1, 1]])
