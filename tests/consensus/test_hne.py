"""Normalized edges against the definition."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster import hierarchy
from scipy.sparse.csgraph import connected_components

import naive
from coterie import HNE, Ensemble, MemoryLimitError
from coterie._kernels.normalized_edges import merge_by_normalized_edges
from coterie.consensus._hne import (
    AUTO_THRESHOLDS,
    Trial,
    best_trial,
    least_counts,
    merge_clusters,
    threshold_graph,
)
from coterie.metrics import ari
from strategies import label_matrices, noisy_labels, random_labels

pytestmark = pytest.mark.filterwarnings(
    "ignore:no partition puts two objects apart:UserWarning",
    "ignore:.* objects have no label:UserWarning",
)

# 1/3 makes the exponent 3/2: 8 edges between 4 and 4 objects tie with 1 between 1 and 1.
thresholds = st.one_of(
    st.sampled_from([0.0, 0.1, 0.3, 1 / 3, 0.4, 0.5, 0.6, 2 / 3, 0.8, 0.99]),
    st.integers(1, 7).flatmap(lambda d: st.integers(0, d - 1).map(lambda t: t / d)),
)
ignore_warning = pytest.mark.filterwarnings("ignore:no edge is left")


def merges_of(labels, threshold):
    return merge_clusters(threshold_graph(Ensemble(labels), threshold), threshold)


def assert_same_merges(labels, threshold):
    found = merges_of(labels, threshold)
    expected = naive.hne_merges(np.asarray(labels).tolist(), threshold)
    pairs = list(zip(found.first, found.second, found.edges, strict=True))
    assert pairs == [merge[:3] for merge in expected]
    assert found.normalized == pytest.approx([float(merge[3]) for merge in expected], rel=1e-9)


# --- the definition ------------------------------------------------------------------------------


@given(labels=label_matrices(max_objects=14), threshold=thresholds)
def test_merges_are_those_of_the_definition(labels, threshold):
    assert_same_merges(labels, threshold)


@pytest.mark.parametrize("draw", range(6))
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_merges_of_more_objects_are_those_of_the_definition(draw, missing):
    random = np.random.default_rng(draw)
    n_clusters = int(random.integers(2, 6))
    _, labels = noisy_labels(
        draw, 45, 10, n_clusters=n_clusters, noise=random.uniform(0.1, 0.7), missing=missing
    )
    labels = labels[random.integers(0, 45, size=45)]  # twins
    if (labels >= 0).any(axis=0).all():
        for threshold in (0.0, 0.1, 0.3, 1 / 3, 0.5):
            assert_same_merges(labels, threshold)


@pytest.mark.parametrize("draw", range(4))
def test_merges_of_chains_are_those_of_the_definition(draw):
    # Intervals on a line: long, thin clusters that meet each other late.
    random = np.random.default_rng(draw)
    place = np.sort(random.random(60))
    cuts = [np.sort(random.random(int(random.integers(5, 20)))) for _ in range(10)]
    labels = np.column_stack([np.searchsorted(c, place) for c in cuts])
    labels = labels[random.permutation(60)]
    for threshold in (0.1, 0.3, 1 / 3, 0.5):
        assert_same_merges(labels, threshold)


@ignore_warning
@given(labels=label_matrices(), threshold=thresholds, data=st.data())
def test_labels_are_those_of_the_definition(labels, threshold, data):
    n = len(labels)
    k = data.draw(st.integers(1, n))
    merges = [merge[:3] for merge in naive.hne_merges(labels.tolist(), threshold)]
    fitted = HNE(n_clusters=k, threshold=threshold).fit(labels)
    left = max(k, n - len(merges))
    assert fitted.labels_.tolist() == naive.cut(merges, n, left)
    assert fitted.n_clusters_ == left
    assert fitted.n_edges_ == len(naive.threshold_edges(labels.tolist(), threshold))
    assert fitted.threshold_ == threshold


@given(labels=label_matrices(), threshold=thresholds)
def test_without_a_number_clusters_are_the_components(labels, threshold):
    fitted = HNE(threshold=threshold).fit(labels)
    graph = np.zeros((len(labels), len(labels)))
    for i, j in naive.threshold_edges(labels.tolist(), threshold):
        graph[i, j] = 1
    n_components, components = connected_components(graph, directed=False)
    assert fitted.n_clusters_ == n_components
    assert naive.same_partition(fitted.labels_, components)


# --- the threshold -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("together", "n_partitions", "threshold", "is_edge"),
    [
        (9, 30, 0.30, False),
        (10, 30, 0.30, True),
        (9, 30, 0.29999999999999993, True),
        (3, 10, 0.3, False),
        (1, 3, 1 / 3, False),
        (6, 18, 1 / 3, False),
        (7, 10, 0.7, False),
        (29, 100, 0.29, False),
        (57, 100, 0.57, False),
        (58, 100, 0.58, False),
        (14, 25, 0.56, False),
        (0, 5, 0.0, False),
        (1, 5, 0.0, True),
        (5, 5, 0.999, True),
    ],
)
def test_edges_at_the_boundary(together, n_partitions, threshold, is_edge):
    labels = np.zeros((2, n_partitions), dtype=int)
    labels[1, together:] = 1
    assert HNE(threshold=threshold).fit(labels).n_edges_ == is_edge
    # Partitions that missed one of the two do not count.
    with_missing = np.hstack([labels, [[0] * 4, [-1] * 4]])
    assert HNE(threshold=threshold).fit(with_missing).n_edges_ == is_edge


@pytest.mark.parametrize("threshold", [0.1, 0.3, 1 / 3, 0.7, 0.999])
def test_hundredths_are_hundredths(threshold):
    least = least_counts(threshold, 300)
    for observed in range(1, 301):
        wanted = next((t for t in range(observed + 1) if t / observed > threshold), observed + 1)
        assert least[observed] == wanted
    assert least[0] == 1


def test_a_decimal_threshold_is_met_exactly_by_its_fraction():
    # t hundredths are not more than 0.0t, however 0.0t is rounded.
    for hundredths in range(100):
        least = least_counts(hundredths / 100, 300)
        for observed in range(1, 301):
            exact = Fraction(hundredths, 100) * observed
            assert least[observed] == exact.numerator // exact.denominator + 1


@pytest.mark.parametrize("n_partitions", [254, 255, 256, 300])
def test_counts_do_not_overflow(n_partitions):
    labels = np.zeros((3, n_partitions), dtype=int)
    labels[2, : n_partitions // 2] = 1
    fitted = HNE(threshold=0.5).fit(labels)
    assert fitted.n_edges_ == 3 if n_partitions % 2 else 1
    assert HNE(threshold=0.999).fit(labels).n_edges_ == 1


def test_threshold_auto_takes_the_one_that_agrees_best(seed):
    _, labels = noisy_labels(seed, 80, 20, noise=0.35)
    fitted = HNE(n_clusters=4, threshold="auto").fit(labels)
    parts = [HNE(n_clusters=4, threshold=t).fit(labels).labels_ for t in AUTO_THRESHOLDS]
    agreement = [
        np.mean([ari(one, two) for s, two in enumerate(parts) if s != t])
        for t, one in enumerate(parts)
    ]
    assert [trial.agreement for trial in fitted.threshold_scan_] == pytest.approx(agreement)
    assert [trial.threshold for trial in fitted.threshold_scan_] == list(AUTO_THRESHOLDS)
    best = AUTO_THRESHOLDS.index(fitted.threshold_)
    assert agreement[best] >= max(agreement) - 1e-12
    assert fitted.labels_.tolist() == parts[best].tolist()
    assert HNE(n_clusters=4).fit(labels).threshold_scan_ is None


def test_threshold_auto_prefers_030_among_equals():
    unanimous = np.column_stack([[0, 0, 1, 1, 2]] * 4)
    assert HNE(threshold="auto").fit(unanimous).threshold_ == 0.30
    trials = [Trial(t, 2, 1.0 if t in (0.20, 0.25, 0.35) else 0.5) for t in AUTO_THRESHOLDS]
    assert best_trial(trials) == 0.25  # as near as 0.35, and smaller


def test_threshold_auto_leaves_out_what_cannot_be_meant():
    # At 0.25 and below all are joined, in 4 of 7 trials; above there are two clusters.
    labels = np.zeros((8, 20), dtype=int)
    labels[4:, 6:] = 1  # 6 of 20 across: 0.30
    fitted = HNE(threshold="auto").fit(labels)
    assert [t.n_clusters for t in fitted.threshold_scan_] == [1, 1, 1, 1, 2, 2, 2]
    assert (
        np.isnan([t.agreement for t in fitted.threshold_scan_]).tolist() == [True] * 4 + [False] * 3
    )
    assert fitted.threshold_ == 0.30
    assert fitted.n_clusters_ == 2
    # Asked for one cluster, those that do not get there are left out.
    assert HNE(n_clusters=1, threshold="auto").fit(labels).n_clusters_ == 1
    assert HNE(threshold="auto").fit([[0, 0], [1, 1]]).n_clusters_ == 2


# --- what is left when edges run out --------------------------------------------------------------


def test_too_few_edges_are_said():
    labels = [[0, 0], [0, 0], [1, 1], [2, 2]]
    with pytest.warns(UserWarning, match=r"no edge is left between 3 clusters.*n_clusters=2"):
        fitted = HNE(n_clusters=2).fit(labels)
    assert fitted.labels_.tolist() == [0, 0, 1, 2]
    assert HNE().fit(labels).n_clusters_ == 3  # without a word
    assert HNE(n_clusters=3).fit(labels).n_clusters_ == 3
    assert HNE(n_clusters=4).fit(labels).n_clusters_ == 4


@ignore_warning
@given(labels=label_matrices(min_objects=2), threshold=thresholds)
def test_linkage_is_one_of_scipys(labels, threshold):
    n = len(labels)
    fitted = HNE(n_clusters=1, threshold=threshold).fit(labels)
    tree = fitted.linkage_
    assert tree.shape == (n - 1, 4)
    assert hierarchy.is_valid_linkage(tree)
    assert hierarchy.is_monotonic(tree)
    assert tree[-1, 3] == n
    assert (tree[:, 0] < tree[:, 1]).all()
    joined = np.isfinite(tree[:, 2])
    n_merges = len(fitted.normalized_edges_)
    assert joined.tolist() == [True] * n_merges + [False] * (n - 1 - n_merges)
    assert fitted.n_clusters_ == 1 + (~joined).sum()
    lowest = np.minimum.accumulate(fitted.normalized_edges_)
    assert tree[joined, 2] == pytest.approx(1 / lowest)
    # Below infinity nothing is joined that has no edges.
    wanted = hierarchy.fcluster(tree, 1e300, "distance")
    assert naive.same_partition(fitted.labels_, wanted)


def test_the_tree_does_not_depend_on_the_number_of_clusters():
    _, labels = noisy_labels(0, 30, 10, noise=0.4)
    whole = HNE().fit(labels).linkage_
    for k in (1, 5, 30):
        assert np.array_equal(HNE(n_clusters=k).fit(labels).linkage_, whole)


def test_normalized_edges_worked_by_hand():
    # Threshold 0: the exponent is 2, what is expected is 2 n_i n_j. Edges 0-1, 0-2, 1-2, 2-3.
    labels = [[0, 0], [0, 0], [0, 1], [1, 1]]
    fitted = HNE(threshold=0).fit(labels)
    assert fitted.n_edges_ == 4
    # (0, 1): 1 / 2, then ({0, 1}, 2): 2 / 4, tied with (2, 3): 1 / 2, then 1 / 6.
    assert fitted.normalized_edges_.tolist() == [1 / 2, 1 / 2, 1 / 6]
    assert fitted.linkage_[:, :2].tolist() == [[0, 1], [2, 4], [3, 5]]


def test_exact_ties_of_different_sizes_are_ties():
    # Exponent 3/2: 8 edges between 4 and 4 objects and 1 between 1 and 1 are equal; a rounding
    # error in the power of 8 does not change that.
    power = np.arange(11) ** 1.5
    power[8] = np.nextafter(power[8], np.inf)
    cliques = [(i, j) for i in range(4) for j in range(4) if i != j]
    edges = [*cliques, *((i + 4, j + 4) for i, j in cliques), (8, 9), (9, 8)]
    for i in range(4):
        for j in (4 + i, 4 + (i + 1) % 4):
            edges += [(i, j), (j, i)]
    edges = np.array(sorted([*edges, *((i, i) for i in range(10))]))
    start = np.searchsorted(edges[:, 0], np.arange(11))
    every = np.arange(10)
    done = np.zeros(1, dtype=np.int64)
    first, second, counts, links = merge_by_normalized_edges(
        start, edges[:, 1].astype(np.int32), np.arange(11), every, power, done
    )
    assert done[0] == len(first)
    assert list(zip(first, second, counts, strict=True))[-2:] == [(0, 4, 8), (8, 9, 1)]
    assert links[-2] < links[-1]


def test_objects_that_nobody_saw_join_the_largest_cluster():
    labels = [[0, 0], [-1, -1], [0, 0], [-1, -1]]
    fitted = HNE(threshold=0).fit(labels)
    assert fitted.labels_.tolist() == [0, 0, 0, 0]
    assert fitted.confidence_.tolist() == [1, 0, 1, 0]
    assert fitted.n_edges_ == 1


# --- confidence and prediction --------------------------------------------------------------------


@ignore_warning
@given(labels=label_matrices(min_objects=2), data=st.data())
def test_prediction_goes_to_the_nearest_object(labels, data):
    fitted = HNE(n_clusters=2).fit(labels)
    row = [data.draw(st.sampled_from([*column, -1, 99])) for column in labels.T.tolist()]
    shares = [naive.share(*naive.votes([row, known], 0, 1)) for known in labels.tolist()]
    nearest = [c for c, s in zip(fitted.labels_.tolist(), shares, strict=True) if s == max(shares)]
    expected = max(range(fitted.n_clusters_), key=lambda c: (nearest.count(c), -c))
    assert fitted.predict([row]).tolist() == [expected]


def test_known_rows_are_predicted_as_they_are():
    labels = random_labels(0, 60, 8)
    fitted = HNE(threshold=0.4).fit(labels)
    assert fitted.predict(labels).tolist() == fitted.labels_.tolist()


def test_confidence_of_a_thin_cluster():
    # A chain: an object has edges with its neighbours only, and all of them stay inside.
    place = np.arange(40)
    labels = np.column_stack([(place + shift) // 4 for shift in range(4)])
    labels[20:] += 100
    fitted = HNE(n_clusters=2, threshold=0.2).fit(labels)
    assert fitted.labels_.tolist() == [0] * 20 + [1] * 20
    assert fitted.confidence_.tolist() == [1] * 40


# --- sizes and errors -----------------------------------------------------------------------------


def test_one_object():
    fitted = HNE().fit([[0, 4, 4]])
    assert fitted.labels_.tolist() == [0]
    assert fitted.linkage_.shape == (0, 4)
    assert fitted.n_edges_ == 0
    assert fitted.confidence_.tolist() == [1]
    assert fitted.predict([[0, 4, 5], [9, 9, None]]).tolist() == [0, 0]


def test_two_objects():
    for labels, expected in (
        ([[3, 7], [3, 7]], [0, 0]),
        ([[3, 7], [4, 7]], [0, 0]),
        ([[3, 7], [4, 8]], [0, 1]),
        ([[3, 7], [3, -1]], [0, 0]),
        ([[3, -1], [-1, 3]], [0, 1]),
    ):
        fitted = HNE().fit(labels)
        assert fitted.labels_.tolist() == expected
        assert fitted.n_edges_ == (expected == [0, 0])
        assert np.isinf(fitted.linkage_[0, 2]) == (expected == [0, 1])
        assert HNE(n_clusters=2).fit(labels).n_clusters_ == 2


def test_many_twins_cost_nothing():
    rows = random_labels(0, 30, 12, most=3)
    random = np.random.default_rng(0)
    labels = rows[random.integers(0, 30, size=20_000)]
    fitted = HNE(n_clusters=3).fit(labels)
    assert len(fitted.linkage_) == 19_999
    _, counts = np.unique(labels, axis=0, return_counts=True)
    assert len(counts) <= 30
    distinct = naive.threshold_edges(rows.tolist(), 0.3)
    assert len(distinct) < fitted.n_edges_ < 20_000**2 / 2


def test_result_does_not_depend_on_threads():
    import numba

    labels = random_labels(1, 400, 15, missing=0.1)
    before = numba.get_num_threads()
    trees = []
    try:
        for threads in (1, numba.config.NUMBA_NUM_THREADS):
            numba.set_num_threads(threads)
            trees.append(HNE().fit(labels).linkage_)
    finally:
        numba.set_num_threads(before)
    assert np.array_equal(*trees)


def test_words_of_errors():
    labels = np.zeros((50, 3), dtype=int)
    labels[:, 0] = np.arange(50)
    for bad in (1, 1.5, -0.1, float("nan")):
        with pytest.raises(ValueError, match="threshold must be at least 0 and below 1"):
            HNE(threshold=bad).fit(labels)
    for bad in ("typo", None, True, [0.3]):
        with pytest.raises(TypeError, match=r"threshold must be a number .* or 'auto'; got"):
            HNE(threshold=bad).fit(labels)
    with pytest.raises(MemoryLimitError, match=r"threshold graph of 50 distinct.*higher threshold"):
        HNE(memory_limit="1kB").fit(labels)
