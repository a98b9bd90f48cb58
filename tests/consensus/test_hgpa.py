"""HGPA: balanced cuts of a hypergraph, and its normalised cut."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from coterie import HGPA, Ensemble, MemoryLimitError
from coterie.consensus import _hgpa as module
from coterie.metrics import nmi
from strategies import label_matrices, noisy_labels, random_labels


def balanced_labels(seed, noise):
    random = np.random.default_rng(seed)
    truth = random.permutation(np.repeat([0, 1, 2], 20))
    columns = [
        np.where(random.random(60) < noise, random.integers(0, 3, 60), truth) for _ in range(10)
    ]
    return truth, np.column_stack(columns)


def test_clusters_of_the_same_size_are_found(seed):
    truth, labels = balanced_labels(seed, 0.05)
    assert naive.same_partition(HGPA(3, random_state=0).fit(labels).labels_, truth)


def cut_pins(labels, found):
    """What is made small: the parts that each cluster is in, less 1."""
    return sum(len(set(found[c > 0])) - 1 for c in naive.incidence(labels).T)


def test_cut_is_not_heavier_than_that_of_the_truth(seed):
    for noise in (0.05, 0.2, 0.4):
        truth, labels = balanced_labels(seed, noise)
        found = HGPA(3, random_state=0).fit(labels).labels_
        assert cut_pins(labels, found) <= cut_pins(labels, truth)


def test_parts_are_of_the_same_size(seed):
    _, labels = noisy_labels(seed, 200, 8)
    sizes = np.bincount(HGPA(4, random_state=0).fit(labels).labels_)
    assert sizes.max() <= 1.05 * 50


def test_equal_objects_stay_together():
    labels = np.repeat([[0, 0], [1, 1], [0, 2]], [30, 3, 3], axis=0)
    found = HGPA(3, random_state=0).fit(labels)
    assert np.bincount(found.labels_).tolist() == [30, 3, 3]


def test_spectral_partition_of_the_hypergraph(seed):
    from sklearn.cluster import KMeans

    _, labels = noisy_labels(seed, 90, 9, noise=0.2)
    Z = naive.incidence(labels)
    rows = naive.spectral_rows(Z / Z.sum(axis=0) @ Z.T, 4)
    expected = KMeans(4, n_init=20, random_state=0).fit_predict(rows)
    found = HGPA(4, partitioner="spectral", random_state=0).fit(labels)
    assert naive.same_partition(found.labels_, expected)


@settings(max_examples=30)
@given(labels=label_matrices(), data=st.data())
def test_either_way_gives_the_number_asked_for(labels, data):
    k = data.draw(st.integers(1, len(labels)))
    for partitioner in ("hypergraph", "spectral"):
        assert HGPA(k, partitioner=partitioner, random_state=0).fit(labels).n_clusters_ == k


@given(labels=label_matrices(), data=st.data())
def test_rows_are_grouped_with_those_that_share_most_labels(labels, data):
    rows = Ensemble(labels).patterns.labels
    n_groups = data.draw(st.integers(1, len(rows)))
    seed = data.draw(st.integers(0, 9))
    drawn = sorted(np.random.default_rng(seed).permutation(len(rows))[:n_groups])
    shared = [[sum((row == rows[d]) & (row >= 0)) for d in drawn] for row in rows]
    expected = [np.argmax(counts) for counts in shared]
    for group, d in enumerate(drawn):
        expected[d] = group
    groups = module.group_rows(rows, n_groups, seed)
    assert naive.same_partition(groups, np.array(expected))
    assert sorted(set(groups.tolist())) == list(range(groups.max() + 1))


@given(labels=label_matrices())
def test_hyperedges_are_clusters_of_distinct_rows(labels):
    ensemble = Ensemble(labels)
    rows, counts, _ = ensemble.patterns
    graph = module.hypergraph_of_rows(ensemble)
    assert graph.weights.tolist() == counts.tolist()
    pins = np.split(graph.pins, graph.ends[1:-1]) if len(graph.ends) > 1 else []
    found = sorted(sorted(edge.tolist()) for edge in pins)
    clusters = [np.flatnonzero(c).tolist() for c in naive.incidence(rows.tolist()).T]
    assert found == sorted(edge for edge in clusters if len(edge) > 1)
    assert sorted(map(len, pins)) == list(map(len, pins))


def halved_labels(sizes, n_partitions, noise):
    """Each partition cuts every cluster in two, elsewhere; some labels are wrong."""
    random = np.random.default_rng(0)
    truth = np.repeat(np.arange(len(sizes)), sizes)
    n, most = len(truth), 2 * len(sizes)
    halves = [2 * truth + (random.random(n) < 0.5) for _ in range(n_partitions)]
    wrong = [random.random(n) < noise for _ in range(n_partitions)]
    columns = zip(halves, wrong, strict=True)
    return truth, np.column_stack([np.where(w, random.integers(0, most, n), h) for h, w in columns])


def watch_cuts(monkeypatch):
    """Return a list that gets the name of each cut and how many vertices were cut."""
    seen = []

    def watched(cut):
        def call(graph, *args, **options):
            seen.append((cut.__name__, len(graph.weights)))
            return cut(graph, *args, **options)

        return call

    attempts = [(most, per_part, watched(cut)) for most, per_part, cut in module._ATTEMPTS]
    monkeypatch.setattr(module, "_ATTEMPTS", attempts)
    return seen


def test_many_rows_are_cut_in_few_groups(monkeypatch):
    truth, labels = halved_labels([1500] * 4, 12, 0.0005)
    assert len(Ensemble(labels).patterns.counts) > 5000
    seen = watch_cuts(monkeypatch)
    fitted = HGPA(4, random_state=0).fit(labels)
    assert [name for name, _ in seen] == ["settled_spectral_cut"]
    assert 100 < seen[0][1] <= 200
    assert nmi(truth, fitted.labels_) > 0.99
    assert np.bincount(fitted.labels_).max() <= 1.05 * 1500
    assert HGPA(4, random_state=0).fit(labels).labels_.tolist() == fitted.labels_.tolist()


def test_more_groups_where_sizes_differ(monkeypatch):
    _, labels = halved_labels([4000, 1000, 700, 300], 12, 0.002)
    seen = watch_cuts(monkeypatch)
    fitted = HGPA(4, random_state=0).fit(labels)
    assert [name for name, _ in seen] == ["settled_spectral_cut", "cut_hypergraph"]
    assert 500 < seen[1][1] <= 1000
    assert np.bincount(fitted.labels_).max() <= 1.05 * 1500


def test_rows_are_settled_one_by_one(seed, monkeypatch):
    truth, labels = balanced_labels(seed, 0.05)
    rows, counts, inverse = Ensemble(labels).patterns
    wrong = np.empty(len(rows), dtype=np.int64)
    wrong[inverse] = truth
    light = np.flatnonzero(counts == 1)[:2]
    wrong[light] = (wrong[light] + 1) % 3
    monkeypatch.setattr(module, "_ATTEMPTS", [(200, 20, lambda *_, **__: wrong)])
    found = HGPA(3, imbalance=0.2, random_state=0).fit(labels).labels_
    assert naive.same_partition(found, truth)


@pytest.mark.parametrize("most", [0, 50_000])
def test_groups_too_heavy_for_a_balance_are_taken_apart(most, monkeypatch):
    # All rows are equally near to each other, so that most go with the first that is drawn.
    labels = np.arange(1200)[:, None].repeat(3, axis=1)
    labels[:, 0] = 0
    groups = module.group_rows(Ensemble(labels).patterns.labels, 1000, 0)
    assert np.bincount(groups).max() > 150
    monkeypatch.setattr(module, "_MOST_GAINS", most)
    assert np.bincount(HGPA(12, random_state=0).fit(labels).labels_).max() <= 105


def test_rows_with_labels_that_others_have_too(seed):
    # The first row has all labels of every other.
    random = np.random.default_rng(seed)
    labels = np.where(random.random((400, 12)) < 0.5, -1, 0)
    labels[0] = 0
    groups = module.group_rows(Ensemble(labels).patterns.labels, 200, 0)
    assert sorted(set(groups.tolist())) == list(range(200))
    assert np.bincount(HGPA(3, random_state=0).fit(labels).labels_).max() <= 140


def test_names_of_clusters_do_not_matter(seed):
    # All clusters are of the same size, so that nothing else gives them an order.
    random = np.random.default_rng(seed)
    for _ in range(5):
        labels = np.column_stack([random.permutation(504) // 84 for _ in range(7)])
        renamed = np.column_stack([random.permutation(6)[column] for column in labels.T])
        for k in (3, 5):
            first, second = (HGPA(k, random_state=0).fit(x).labels_ for x in (labels, renamed))
            assert first.tolist() == second.tolist()


def test_the_seed_is_heeded():
    labels = random_labels(0, 200, 6)
    found = {tuple(HGPA(5, random_state=seed).fit(labels).labels_) for seed in range(5)}
    assert len(found) > 1


def test_words_of_errors(monkeypatch):
    with pytest.raises(ValueError, match=r"partitioner must be one of .*hypergraph.*; got 'metis'"):
        HGPA(partitioner="metis").fit([[0], [1]])
    with pytest.raises(ValueError, match="imbalance must be finite and not negative"):
        HGPA(imbalance=-1).fit([[0], [1], [0]])
    monkeypatch.setenv("COTERIE_MEMORY_LIMIT", "1kB")
    with pytest.raises(MemoryLimitError, match=r"hypergraph of .* label rows.*spectral"):
        HGPA().fit(noisy_labels(0, 50, 5)[1])
    # The hypergraph itself is small, but not the table of 4,000 clusters and 40 parts.
    labels = np.column_stack([np.random.default_rng(e).permutation(4000) // 2 for e in range(2)])
    monkeypatch.setenv("COTERIE_MEMORY_LIMIT", "1MB")
    with pytest.raises(MemoryLimitError, match=r"cut into 40 parts"):
        HGPA(40).fit(labels)
    monkeypatch.setattr(module, "_check_room", lambda *_: None)
    monkeypatch.setenv("COTERIE_MEMORY_LIMIT", "1kB")
    with pytest.raises(MemoryLimitError, match=r"for Mt-KaHyPar.*spectral"):
        HGPA(3).fit(noisy_labels(0, 50, 5)[1])
