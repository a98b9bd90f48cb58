"""Evidence accumulation against the definition, and against SciPy where there are no ties."""

import itertools
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster import hierarchy

import naive
from coterie import EAC, Ensemble, MemoryLimitError, _linkage
from coterie.consensus._eac import LINKAGES
from coterie.consensus._unlabelled import is_one_cluster
from strategies import label_matrices, noisy_labels

pytestmark = pytest.mark.filterwarnings(
    "ignore:no partition puts two objects apart:UserWarning",
    "ignore:.* objects have no label:UserWarning",
)

every_linkage = pytest.mark.parametrize("linkage", LINKAGES)
EXACT = ("average", "single", "complete")


@cache
def tie_free(seed, n_objects=12, n_partitions=2003):
    """Labels whose co-associations all differ, and the distances in SciPy's order."""
    for attempt in itertools.count(1000 * seed):
        random = np.random.default_rng(attempt)
        # Two objects agree more often the nearer their places are; a third of the partitions
        # is noise.
        labels = (random.random((n_objects, 1)) > np.linspace(0, 1, n_partitions)).astype(int)
        noise = labels[:, ::3].shape
        labels[:, ::3] = random.integers(0, 3, size=noise)
        distance = 1.0 - Ensemble(labels).coassociation()
        condensed = distance[np.triu_indices(n_objects, 1)]
        if len(np.unique(condensed)) == len(condensed):
            return labels, condensed
    raise AssertionError


# --- the definition ------------------------------------------------------------------------------


@pytest.mark.parametrize("linkage", EXACT)
@given(labels=label_matrices(), data=st.data())
def test_labels_are_those_of_the_definition(linkage, labels, data):
    n = len(labels)
    k = data.draw(st.integers(1, n))
    merges = naive.greedy_merges(naive.coassociation(labels.tolist()), linkage)
    fitted = EAC(n_clusters=k, linkage=linkage).fit(labels)
    assert fitted.labels_.tolist() == naive.cut(merges, n, k)
    assert fitted.n_clusters_ == k


@pytest.mark.parametrize("linkage", EXACT)
@given(labels=label_matrices(min_objects=3))
def test_number_of_clusters_lives_longest(linkage, labels):
    merges = naive.greedy_merges(naive.coassociation(labels.tolist()), linkage)
    fitted = EAC(linkage=linkage).fit(labels)
    assert fitted.n_clusters_curve_.array == pytest.approx(
        [float(x) for x in naive.lifetimes(merges)]
    )
    # Where no partition puts two objects apart there is one cluster, whatever the lifetimes.
    expected = 1 if is_one_cluster(Ensemble(labels)) else naive.longest_lived(merges)
    assert fitted.n_clusters_ == expected
    assert fitted.labels_.tolist() == naive.cut(merges, len(labels), fitted.n_clusters_)


@given(labels=label_matrices())
def test_confidence_is_that_of_the_definition(labels):
    fitted = EAC().fit(labels)
    exact = naive.confidence(labels.tolist(), fitted.labels_.tolist())
    assert fitted.confidence_.tolist() == pytest.approx([float(x) for x in exact])


@given(labels=label_matrices(min_objects=2), data=st.data())
def test_prediction_is_that_of_the_definition(labels, data):
    fitted = EAC(n_clusters=data.draw(st.integers(1, len(labels)))).fit(labels)
    rows = [
        # 99 is a cluster that no known object is in.
        [data.draw(st.sampled_from([*column, -1, 99])) for column in labels.T.tolist()]
        for _ in range(3)
    ]
    consensus = fitted.labels_.tolist()
    expected = [naive.predict(labels.tolist(), consensus, row) for row in rows]
    found = fitted.predict(np.array(rows))
    assert found.tolist() == expected
    assert found.dtype == np.int64


@given(labels=label_matrices(min_objects=2), data=st.data())
def test_prediction_by_single_linkage_goes_to_the_nearest_object(labels, data):
    fitted = EAC(n_clusters=2, linkage="single").fit(labels)
    row = [data.draw(st.sampled_from([*column, -1, 99])) for column in labels.T.tolist()]
    shares = [naive.share(*naive.votes([row, known], 0, 1)) for known in labels.tolist()]
    nearest = [c for c, s in zip(fitted.labels_.tolist(), shares, strict=True) if s == max(shares)]
    expected = max(range(2), key=lambda c: (nearest.count(c), -c))
    assert fitted.predict([row]).tolist() == [expected]


def test_lifetimes_worked_by_hand():
    # Objects 0, 1 always together; 2, 3 in half of the partitions; the pairs never.
    labels = [[0, 0, 0, 0], [0, 0, 0, 0], [1, 1, 1, 1], [1, 1, 2, 2]]
    fitted = EAC().fit(labels)
    assert fitted.linkage_[:, 2].tolist() == [0, 0.5, 1]
    assert fitted.n_clusters_curve_.array.tolist() == [0.5, 0.5]  # of 2 and 3 clusters
    assert fitted.n_clusters_ == 2


def test_lifetimes_that_differ_by_rounding_are_equal():
    # Heights 0, 1/3, 2/3, 1: in floats the differences differ in the last place.
    labels = [[0, 0, 0], [0, 0, 0], [0, 0, 1], [0, 1, 2], [2, 3, 4]]
    single = EAC(linkage="single").fit(labels)
    assert single.n_clusters_curve_.array == pytest.approx([1 / 3, 1 / 3, 1 / 3], abs=1e-15)
    assert single.n_clusters_ == 2


def test_object_that_nobody_saw_has_no_confidence():
    fitted = EAC(n_clusters=2).fit([[0, 0], [0, 0], [-1, -1], [1, 1]])
    assert fitted.labels_.tolist() == [0, 0, 0, 1]
    assert fitted.confidence_.tolist() == [1, 1, 0, 1]
    assert EAC(n_clusters=1).fit([[0, 0], [0, 0], [-1, -1]]).confidence_.tolist() == [1, 1, 0]


# --- SciPy ---------------------------------------------------------------------------------------


@every_linkage
def test_agrees_with_scipy_without_ties(seed, linkage):
    labels, condensed = tie_free(seed)
    expected = hierarchy.linkage(condensed, linkage)
    fitted = EAC(n_clusters=6, linkage=linkage).fit(labels)
    assert fitted.linkage_ == pytest.approx(expected)
    if (np.diff(expected[:, 2]) >= 0).all():
        wanted = hierarchy.fcluster(expected, 6, "maxclust")
        assert naive.same_partition(fitted.labels_, wanted)
    assert np.bincount(fitted.labels_).tolist() == sorted(np.bincount(fitted.labels_))[::-1]


@every_linkage
@given(labels=label_matrices(min_objects=2), data=st.data())
def test_linkage_is_one_of_scipys(linkage, labels, data):
    fitted = EAC(n_clusters=1, linkage=linkage).fit(labels)
    tree = fitted.linkage_
    assert tree.shape == (len(labels) - 1, 4)
    assert hierarchy.is_valid_linkage(tree)
    assert tree[-1, 3] == len(labels)
    assert (tree[:, 0] < tree[:, 1]).all()
    leaves = hierarchy.dendrogram(tree, no_plot=True)["leaves"]
    assert sorted(leaves) == list(range(len(labels)))
    if linkage in EXACT:
        assert hierarchy.is_monotonic(tree)
        assert (tree[:, 2] >= 0).all()
        assert (tree[:, 2] <= 1).all()
        # Without a tie at the cut, SciPy's cut is ours.
        k = data.draw(st.integers(1, len(labels) - 1))
        heights = np.append(tree[:, 2], 2.0)
        below, above = heights[len(labels) - k - 1], heights[len(labels) - k]
        if above - below > 1e-9:
            wanted = hierarchy.fcluster(tree, (below + above) / 2, "distance")
            found = EAC(n_clusters=k, linkage=linkage).fit(labels).labels_
            assert naive.same_partition(found, wanted)


# --- regimes, sizes ------------------------------------------------------------------------------


@pytest.mark.parametrize("regime", ["triangle", "matrix-free"])
def test_regimes_find_the_clusters(monkeypatch, seed, regime):
    truth, labels = noisy_labels(seed, 300, 30, noise=0.1)
    monkeypatch.setattr(_linkage, "GREEDY_MOST", 0)
    fitted = EAC(n_clusters=4, regime=regime).fit(labels)
    assert naive.same_partition(fitted.labels_, truth)
    assert naive.same_partition(EAC(n_clusters=4).fit(labels).labels_, truth)


@every_linkage
def test_one_object(linkage):
    fitted = EAC(linkage=linkage).fit([[0, 4, 4]])
    assert fitted.labels_.tolist() == [0]
    assert fitted.linkage_.shape == (0, 4)
    assert fitted.n_clusters_curve_.array.shape == (0,)
    assert fitted.confidence_.tolist() == [1]
    assert fitted.predict([[0, 4, 5], [9, 9, None]]).tolist() == [0, 0]


@every_linkage
@pytest.mark.parametrize(
    ("labels", "n_clusters"),
    [
        ([[0, 0, 0], [0, 0, 0]], 1),
        ([[0, 0, 0], [0, 0, 1]], 1),
        ([[0, 0, 0], [0, 1, 1]], 2),
        ([[0, 0], [0, 1]], 2),  # half of the partitions are not most
        ([[0], [1]], 2),
        ([[0, -1], [-1, 0]], 2),
    ],
)
def test_two_objects_are_together_if_most_partitions_say_so(linkage, labels, n_clusters):
    fitted = EAC(linkage=linkage).fit(labels)
    assert fitted.n_clusters_ == n_clusters
    assert fitted.n_clusters_curve_.array.shape == (0,)


@every_linkage
def test_more_clusters_than_distinct_rows(linkage):
    labels = [[0, 0]] * 4 + [[1, 1]] * 2
    fitted = EAC(n_clusters=4, linkage=linkage).fit(labels)
    assert fitted.n_clusters_ == 4
    if linkage in EXACT:  # merged smallest first
        assert fitted.labels_.tolist() == [0, 0, 0, 1, 2, 3]


def test_constant_partitions_say_nothing():
    labels = np.array([[0, 0], [0, 0], [1, 1], [1, 1]])
    with_constant = np.column_stack([labels, np.zeros(4, dtype=int)])
    assert EAC().fit(labels).labels_.tolist() == EAC().fit(with_constant).labels_.tolist()


def test_words_of_errors():
    labels = np.arange(50)[:, None]
    with pytest.raises(ValueError, match=r"linkage must be 'average', .* or 'median'; got 'typo'"):
        EAC(linkage="typo").fit(labels)
    with pytest.raises(ValueError, match=r"regime must be 'auto', .*; got 'typo'"):
        EAC(regime="typo").fit(labels)
    with pytest.raises(ValueError, match=r"memory_limit must be .* got 'typo'"):
        EAC(memory_limit="typo").fit(labels)
    with pytest.raises(MemoryLimitError, match=r"linkage='ward' needs.*'average' or 'single'"):
        EAC(linkage="ward", memory_limit="1kB").fit(labels)
