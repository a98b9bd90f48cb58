"""Trust per cluster: cluster consensus and stability, beside their definitions."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_blobs

from coterie import EAC, PWEC, BaumEagon, ConsensusClustering, Ensemble, cluster_trust
from coterie.choosing._trust import largest_jaccard
from coterie.consensus import CONSENSUS
from strategies import label_matrices, noisy_labels


def naive_consensus(labels, clusters):
    """Mean over the pairs of each cluster of together / both present, 0 if never both present."""
    found = []
    for c in sorted(set(clusters)):
        shares = []
        for i, j in itertools.combinations(np.flatnonzero(clusters == c), 2):
            both = [(a, b) for a, b in zip(labels[i], labels[j], strict=True) if -1 not in (a, b)]
            shares.append(sum(a == b for a, b in both) / len(both) if both else 0.0)
        found.append(np.mean(shares) if shares else np.nan)
    return np.array(found)


def naive_jaccard(labels, found, n_clusters):
    largest = []
    for c in range(n_clusters):
        own = {i for i, label in enumerate(labels) if label == c}
        others = [{i for i, label in enumerate(found) if label == d} for d in set(found)]
        largest.append(max(len(own & d) / len(own | d) for d in others) if own else np.nan)
    return np.array(largest)


@pytest.mark.filterwarnings("ignore::UserWarning")
@given(labels=label_matrices(unlabelled=True), n_clusters=st.integers(1, 4))
def test_consensus_is_the_mean_over_pairs(labels, n_clusters):
    fitted = EAC(n_clusters=min(n_clusters, len(labels))).fit(labels)
    trust = cluster_trust(fitted, n_resamples=0)
    np.testing.assert_allclose(trust.consensus, naive_consensus(labels, fitted.labels_))
    assert trust.size.tolist() == np.bincount(fitted.labels_).tolist()
    assert np.isnan(trust.stability).all()


@given(labels=label_matrices(min_objects=2, missing=False))
def test_nearest_cluster_is_the_one_of_largest_mean(labels):
    fitted = EAC(n_clusters=min(3, len(labels))).fit(labels)
    trust = cluster_trust(fitted, n_resamples=0)
    shares = Ensemble(labels).coassociation()
    clusters = fitted.labels_
    for c, (near, between) in enumerate(zip(trust.nearest, trust.between, strict=True)):
        means = [shares[np.ix_(clusters == c, clusters == d)].mean() for d in set(clusters) - {c}]
        if not means or max(means) == 0:
            assert near == -1
            assert np.isnan(between)
        else:
            assert between == pytest.approx(max(means))
            own = shares[np.ix_(clusters == c, clusters == near)].mean()
            assert own == pytest.approx(max(means))


@given(
    pair=st.integers(1, 12).flatmap(
        lambda n: st.tuples(*[st.lists(st.integers(0, 3), min_size=n, max_size=n)] * 2)
    )
)
def test_jaccard_matches_the_definition(pair):
    labels, found = map(np.array, pair)
    _, found = np.unique(found, return_inverse=True)
    np.testing.assert_allclose(largest_jaccard(labels, found, 4), naive_jaccard(labels, found, 4))


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", sorted(CONSENSUS))
def test_every_method_has_stable_and_unstable_clusters(name):
    """Two groups on which all partitions agree, and a third that they cut at random."""
    random = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2, 3], [20, 20, 10, 10])
    labels = np.tile(truth[:, None], 12)
    labels[40:] = random.integers(2, 4, (20, 12))
    method = CONSENSUS[name]
    parameters = {"random_state": 0} if "random_state" in method().get_params() else {}
    fitted = method(n_clusters=4, **parameters).fit(labels)
    trust = cluster_trust(fitted, n_resamples=8, random_state=0)
    assert trust.stability.shape == (fitted.n_clusters_,)
    assert ((trust.stability > 0) & (trust.stability <= 1)).all()
    whole = [c for c in range(fitted.n_clusters_) if 20 == trust.size[c] == _inside(fitted, c, 40)]
    torn = [c for c in range(fitted.n_clusters_) if _inside(fitted, c, 40) == 0]
    if whole and torn:
        assert trust.consensus[whole].min() > np.nanmax(trust.consensus[torn])
        assert trust.stability[whole].min() > trust.stability[torn].max() - 1e-12


def _inside(fitted, cluster, end):
    """How many of the first objects are in a cluster."""
    return int((fitted.labels_[:end] == cluster).sum())


def test_confidence_alone_does_not_tell_what_trust_tells():
    """Two clusters of nearly the same mean confidence, one of consensus .98 and one of .77."""
    random = np.random.default_rng(0)
    labels = np.zeros((60, 50), dtype=int)
    labels[30:] = 1
    for e in range(50):  # each partition splits a few objects off, of the second group more
        labels[random.choice(30, random.integers(0, 2), replace=False), e] = 2
        labels[30 + random.choice(30, 4 if e % 2 else 3, replace=False), e] = 3 + e % 2
    fitted = EAC(n_clusters=2).fit(labels)
    confidence = [fitted.confidence_[fitted.labels_ == fitted.labels_[i]].mean() for i in (0, 59)]
    trust = cluster_trust(fitted, random_state=0)
    first, second = (trust.consensus[fitted.labels_[i]] for i in (0, 59))
    assert abs(confidence[0] - confidence[1]) < 0.01
    assert first > 0.96
    assert second < 0.82


def test_words_follow_the_thresholds():
    truth, labels = noisy_labels(0, 200, 20, n_clusters=3, noise=0.05)
    labels[truth == 2] = np.random.default_rng(0).integers(2, 4, ((truth == 2).sum(), 20))
    trust = cluster_trust(EAC(n_clusters=4).fit(labels), random_state=0)
    for value, verdict, words in zip(trust.stability, trust.verdicts, trust.words, strict=True):
        assert (value < 0.6) == (verdict == "not stable") == ("is not stable" in words)
        assert (value >= 0.85) == (verdict == "very stable")
        assert f"{100 * value:.0f} %" in words
    assert {"very stable", "not stable"} <= set(trust.verdicts)
    assert trust.as_dicts()[0]["words"] == trust.words[0]
    assert "not stable" in repr(trust)


def test_same_seed_same_result_on_any_number_of_threads():
    from coterie._limits import kernel_threads

    _, labels = noisy_labels(1, 150, 15, missing=0.1)
    fitted = EAC(n_clusters=4).fit(labels)
    results = []
    for threads in (1, 2):
        with kernel_threads(threads):
            results.append(cluster_trust(fitted, random_state=3))
    for name in ("consensus", "between", "stability"):
        first, second = (getattr(result, name) for result in results)
        np.testing.assert_array_equal(first, second)
    other = cluster_trust(fitted, random_state=4)
    assert not np.array_equal(other.stability, results[0].stability)


def test_one_cluster_or_two_partitions_say_nothing_of_stability():
    one = cluster_trust(EAC(n_clusters=1).fit([[0, 1, 0]] * 5), random_state=0)
    assert np.isnan(one.stability).all()
    assert "no other cluster" in one.words[0]
    two = cluster_trust(EAC(n_clusters=2).fit([[0, 0], [0, 0], [1, 1]]), random_state=0)
    assert np.isnan(two.stability).all()
    assert two.verdicts == ["unknown", "unknown"]


@pytest.mark.filterwarnings("ignore::UserWarning")
@settings(max_examples=30)
@given(labels=label_matrices(min_objects=2, unlabelled=True))
def test_any_label_matrix_gets_an_answer(labels):
    for method in (EAC, CONSENSUS["lwea"], CONSENSUS["hbgf"], CONSENSUS["wspa"]):
        for n_clusters in (2, len(labels)):
            fitted = method(n_clusters=n_clusters).fit(labels)
            trust = cluster_trust(fitted, n_resamples=2, random_state=0)
            known = trust.stability[~np.isnan(trust.stability)]
            assert ((known > 0) & (known <= 1)).all()


def test_parameters_over_objects_and_partitions_are_drawn_along():
    _, labels = noisy_labels(2, 40, 6, n_clusters=2)
    start = np.random.default_rng(0).dirichlet([1, 1], size=40)
    for method in (BaumEagon(n_clusters=2, init=start), PWEC(n_clusters=2, weights=np.ones(6))):
        trust = cluster_trust(method.fit(labels), n_resamples=3, random_state=0)
        assert (trust.stability > 0.5).all()


def test_posteriors_stay_with_their_partitions():
    _, labels = noisy_labels(3, 60, 8, n_clusters=3)
    soft = [np.eye(3)[column] * 0.8 + 0.2 / 3 for column in labels.T]
    ensemble = Ensemble(labels, posteriors=soft)
    for name in ("wspa", "wbpa"):
        fitted = CONSENSUS[name](n_clusters=3, random_state=0).fit(ensemble)
        assert (cluster_trust(fitted, n_resamples=3, random_state=0).stability > 0.8).all()


def test_a_model_of_features_is_taken_too():
    X, _ = make_blobs(120, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    model = ConsensusClustering(3, random_state=0).fit(X)
    trust = cluster_trust(model, random_state=0)
    assert (trust.stability > 0.95).all()
    split = ConsensusClustering(5, random_state=0).fit(X)
    assert cluster_trust(split, random_state=0).stability.min() < 0.75


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"n_resamples": -1}, "n_resamples must be a whole number of at least 0; got -1"),
        ({"n_resamples": 2.5}, "n_resamples must be a whole number"),
        ({"max_objects": 5}, "max_objects must be a whole number of at least 10"),
    ],
)
def test_bad_parameters_are_refused(parameters, words):
    with pytest.raises(ValueError, match=words):
        cluster_trust(EAC(n_clusters=2).fit([[0, 0], [1, 1]]), **parameters)


def test_what_is_no_model_is_refused():
    with pytest.raises(TypeError, match="model must be a fitted consensus method"):
        cluster_trust([[0, 0], [1, 1]])
