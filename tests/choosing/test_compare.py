"""Comparing methods: leaderboard, refusals, time limits, recommendation."""

import json
import os
import signal
import sys
import time

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClusterMixin, clone

from coterie import EAC, ConsensusClustering, Ensemble, RandomizedEnsemble, compare, metrics
from coterie.choosing import MethodResult, how_many_clusters, mean_ranks
from coterie.choosing._compare import _recommend
from coterie.consensus import CONSENSUS
from coterie.datasets import load
from strategies import noisy_labels

QUICK = ["eac", "laca", "voting", "hbgf"]


def lumps(seed=0, k=3, n=90):
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % k
    return np.column_stack([8.0 * truth, np.zeros(n)]) + rng.normal(size=(n, 2)), truth


@pytest.fixture(scope="module")
def ensemble():
    X, _ = lumps()
    return RandomizedEnsemble(n_partitions=12, n_clusters=(2, 8), random_state=0).fit_transform(X)


class Slow(ClusterMixin, BaseEstimator):
    """Sleeps on all but a few objects; an hour never ends in time."""

    finds_n_clusters = True

    def __init__(self, n_clusters=None, seconds=3600):
        self.n_clusters = n_clusters
        self.seconds = seconds

    def fit(self, X, y=None):
        if len(X) > 60:  # quick while it is warmed up
            time.sleep(self.seconds)
            np.sort(np.random.default_rng(0).random(100 * len(X)))  # some work as well
        self.labels_ = np.zeros(len(X), dtype=np.int64)
        self.confidence_ = np.ones(len(X))
        self.n_clusters_ = 1
        return self


class Broken(Slow):
    def fit(self, X, y=None):
        raise RuntimeError("lost\nits way")


@pytest.mark.slow
def test_every_method_has_a_row(ensemble):
    truth = lumps()[1]
    found = compare(ensemble, truth, n_clusters=3, stability=1, random_state=0)
    assert sorted(row.method for row in found.rows) == sorted(CONSENSUS)
    for row in found.rows:
        assert (row.status == "ok") == (row.labels is not None)
        if row.status != "ok":
            assert row.reason
            continue
        assert row.n_clusters == len(np.unique(row.labels))
        assert row.anmi == pytest.approx(metrics.anmi(row.labels, ensemble))
        assert row.scores["ari"] == pytest.approx(metrics.ari(truth, row.labels))
        assert row.scores["nmi"] == pytest.approx(metrics.nmi(truth, row.labels))
        assert row.scores["f"] == pytest.approx(metrics.pairwise_f(truth, row.labels))
        assert row.scores["ci"] == pytest.approx(metrics.consistency_index(truth, row.labels))
        assert row.scores["error"] == pytest.approx(metrics.error_rate(truth, row.labels))
        assert row.confidence == pytest.approx(row.object_confidence.mean())
        assert row.seconds > 0
    fine = [row for row in found.rows if row.status == "ok"]
    assert [row.anmi for row in fine] == sorted((row.anmi for row in fine), reverse=True)
    assert found.methods == [row.method for row in fine]
    expected = [[metrics.ari(a.labels, b.labels) for b in fine] for a in fine]
    assert found.agreement == pytest.approx(np.array(expected))
    assert found[found.recommended].scores["ari"] == 1.0
    assert found.recommended in found.reason


def test_number_of_clusters_auto_and_own(ensemble):
    auto = compare(ensemble, methods=QUICK, stability=0, random_state=0)
    assert auto["eac"].n_clusters == auto["hbgf"].n_clusters == auto.numbers.recommended
    assert all(row.n_clusters_given for row in auto.rows)
    assert auto.numbers.recommended in (2, 3, 4)
    own = compare(ensemble, methods=QUICK, n_clusters=None, stability=0, random_state=0)
    assert own["eac"].n_clusters == EAC().fit(ensemble).n_clusters_
    assert not own["eac"].n_clusters_given
    assert own["voting"].status == "refused"
    assert "n_clusters must be given" in own["voting"].reason
    given = compare(ensemble, methods=["eac"], n_clusters=auto.numbers, stability=0)
    assert given.numbers is auto.numbers


def test_the_number_is_that_of_the_default(seed):
    X, _ = lumps(seed)
    model = ConsensusClustering(random_state=seed).fit(X)
    found = compare(
        X,
        generator=clone(model.generator_),
        methods=["lwea"],
        stability=0,
        random_state=seed,
    )
    assert found.numbers.as_dict() == model.cluster_numbers_.as_dict()
    assert found["lwea"].n_clusters == model.n_clusters_


@pytest.mark.slow
def test_processes_give_the_same_as_here(ensemble):
    here = compare(ensemble, methods=QUICK, n_clusters=3, n_jobs=1, random_state=0)
    there = compare(ensemble, methods=QUICK, n_clusters=3, n_jobs=2, random_state=0)
    for row in here.rows:
        other = there[row.method]
        assert row.labels.tolist() == other.labels.tolist()
        assert row.stability == other.stability
    assert here.recommended == there.recommended


@pytest.mark.slow
def test_a_slow_method_is_stopped_and_a_broken_one_reported(ensemble):
    methods = {"slow": Slow(), "broken": Broken(), "quick": Slow(seconds=0)}
    found = compare(ensemble, methods=methods, n_clusters=1, stability=0, time_limit=10.0, n_jobs=2)
    assert found["slow"].status == "skipped"
    assert "time limit of 10 s" in found["slow"].reason
    assert found["broken"].status == "failed"
    assert found["broken"].reason == "RuntimeError: lost its way"
    assert found.recommended == "quick"
    assert found.rows[0].method == "quick"


class Killed(Slow):
    """Ends its own process as the system does when memory is short."""

    def fit(self, X, y=None):
        os.kill(os.getpid(), signal.SIGKILL)


class Loud(Slow):
    """Prints, as libraries do."""

    def fit(self, X, y=None):
        os.write(1, b"noise")
        os.write(2, b"noise")
        return super().fit(X)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
def test_a_killed_process_is_a_row_and_the_next_method_gets_a_new_one(ensemble):
    methods = {"a": Killed(), "b": Killed(), "c": Slow(seconds=0), "d": Slow(seconds=0)}
    found = compare(ensemble, methods=methods, n_clusters=1, stability=1, n_jobs=2)
    for name in "ab":
        assert found[name].status == "failed"
        assert found[name].reason.startswith("its process was ended by the system")
    for name in "cd":
        assert found[name].status == "ok"
        assert found[name].stability == 1.0
        assert found[name].peak_memory is not None or sys.platform != "linux"


@pytest.mark.slow
def test_what_methods_print_in_a_process_is_not_ours(ensemble, capfd):
    class Local(Loud):
        """Cannot be imported by name."""

    methods = {"loud": Loud(seconds=0), "local": Local(seconds=0)}
    found = compare(ensemble, methods=methods, n_clusters=1, stability=0, n_jobs=2)
    assert {row.status for row in found.rows} == {"ok"}
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
def test_a_single_method_is_stopped_as_well(ensemble):
    found = compare(ensemble, methods={"slow": Slow()}, n_clusters=1, time_limit=1.0, n_jobs=2)
    assert found["slow"].status == "skipped"
    assert found.recommended is None
    assert "No method" in found.reason


def test_memory_limit_is_a_refusal(ensemble, monkeypatch):
    monkeypatch.setenv("COTERIE_MEMORY_LIMIT", "1kB")
    methods = {"ward": EAC(3, linkage="ward"), "single": EAC(3, linkage="single")}
    found = compare(ensemble, methods=methods, n_clusters=3, stability=0)
    assert found["ward"].status == "refused"
    assert "memory limit" in found["ward"].reason
    assert found["single"].status == "ok"


@pytest.mark.slow
def test_features_with_a_generator():
    iris = load("iris")
    maker = RandomizedEnsemble(n_partitions=15, random_state=0)
    found = compare(iris.data, iris.target, generator=maker, methods=QUICK, random_state=0)
    assert found.numbers.kind == "features"
    assert found["eac"].n_clusters == found.numbers.recommended
    with pytest.raises(ValueError, match="RandomizedEnsemble"):
        compare(iris.data)


def test_truth_may_be_known_in_part(ensemble):
    truth = [None if i % 5 == 0 else f"c{c}" for i, c in enumerate(lumps()[1])]
    found = compare(ensemble, truth, methods=["eac"], n_clusters=3, stability=0)
    assert found["eac"].scores["ari"] == 1.0


@pytest.mark.slow
def test_one_class_duplicates_and_a_single_partition():
    labels = np.zeros((20, 4), dtype=int)
    found = compare(labels, np.zeros(20), n_clusters=1, stability=1, random_state=0)
    assert found.recommended is not None
    assert found["eac"].n_clusters == 1
    repeated = np.repeat([[0, 0], [1, 1], [1, 2]], 10, axis=0)
    found = compare(repeated, methods=QUICK, n_clusters=3, random_state=0)
    assert found["eac"].stability is None  # two partitions cannot be halved twice
    assert compare(repeated[:, :1], methods=QUICK, random_state=0).recommended is not None


def test_stability_is_that_of_halves():
    _, labels = noisy_labels(0, 60, 10, n_clusters=3, noise=0.4)
    calm = compare(labels, methods=["eac"], n_clusters=3, stability=5, random_state=0)
    _, labels = noisy_labels(0, 60, 10, n_clusters=3, noise=0.0)
    sure = compare(labels, methods=["eac"], n_clusters=3, stability=5, random_state=0)
    assert sure["eac"].stability == 1.0
    assert calm["eac"].stability < 1.0


@pytest.mark.parametrize("n_jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_progress_counts_methods(ensemble, progress, n_jobs):
    compare(ensemble, methods=QUICK, n_clusters=3, stability=0, n_jobs=n_jobs)
    assert progress.counts()["methods"] == (4, 4)


def test_result_is_plain_data(ensemble):
    found = compare(ensemble, methods=QUICK, stability=1, random_state=0)
    plain = json.loads(json.dumps(found.as_dict(labels=True), allow_nan=False))
    assert len(plain["leaderboard"]) == 4
    assert plain["leaderboard"][0]["labels"] == found.rows[0].labels.tolist()
    text = repr(found)
    assert text.splitlines()[0].split()[:3] == ["method", "clusters", "ANMI"]
    assert text.splitlines()[-2] == found.reason


def test_recommendation():
    rows = [
        MethodResult("a", n_clusters=3, anmi=0.800, stability=0.5),
        MethodResult("b", n_clusters=3, anmi=0.798, stability=0.9),
        MethodResult("c", n_clusters=3, anmi=0.700, stability=1.0),
        MethodResult("d", status="failed", reason="x"),
    ]
    name, reason = _recommend(rows)
    assert name == "b"
    assert "most stable" in reason
    name, reason = _recommend([rows[0], rows[2]])
    assert name == "a"
    assert "the next, c, has 0.700" in reason


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"methods": ["eaac"]}, "methods must be among"),
        ({"methods": []}, "at least one method"),
        ({"n_clusters": 0}, "n_clusters must be at least 1; got 0"),
        ({"n_clusters": "many"}, "n_clusters must be a number, 'auto' or None; got 'many'"),
        ({"stability": -1}, "stability must be at least 0"),
        ({"time_limit": 0}, "time_limit must be positive"),
        ({"n_jobs": 0}, "n_jobs must be at least 1"),
        ({"truth": [1, 2]}, "truth must have one class for each of the 90 objects"),
        ({"truth": [None] * 90}, "truth must name the class of at least one object"),
    ],
)
def test_bad_settings(ensemble, settings, words):
    with pytest.raises(ValueError, match=words):
        compare(ensemble, **{"n_clusters": 2, **settings})


def test_numbers_without_structure_do_not_stop_the_comparison():
    noise = np.random.default_rng(0).normal(size=(60, 2))
    numbers = how_many_clusters(noise, range(2, 5), random_state=0)
    assert not numbers.structure.has_structure
    assert "No gap between clusters was found" in numbers.structure.reason
    ensemble = RandomizedEnsemble(n_partitions=8, random_state=0).fit_transform(noise)
    found = compare(ensemble, methods=["eac"], n_clusters=numbers, stability=0)
    assert found["eac"].n_clusters == numbers.recommended


# --- ranks ----------------------------------------------------------------------------------------


def test_mean_ranks_worked_by_hand():
    scores = [[0.9, 0.8, 0.8], [0.5, 0.7, 0.1], [0.9, 0.8, 0.7], [0.6, 0.5, 0.4]]
    found = mean_ranks(scores, ["a", "b", "c"])
    assert found.methods == ["a", "b", "c"]
    assert found.ranks == pytest.approx([1.25, 1.875, 2.875])
    # Demšar (2006), table 5: q = 2.343 for three methods at 0.05.
    assert found.critical_difference == pytest.approx(2.343 * np.sqrt(3 * 4 / (6 * 4)), abs=2e-3)
    assert found.groups == [(0, 2)]
    many = mean_ranks(np.repeat(scores, 5, axis=0), ["a", "b", "c"])
    assert many.groups == [(0, 1)]
    assert many.p_value < 1e-4
    with pytest.raises(ValueError, match="must not hold NaN"):
        mean_ranks([[1, np.nan], [1, 2]], ["a", "b"])
    with pytest.raises(ValueError, match="a row per data set"):
        mean_ranks([1, 2], ["a", "b"])


def test_ensemble_is_not_taken_for_features(ensemble):
    assert isinstance(ensemble, Ensemble)
    found = compare(ensemble.labels, methods=["eac"], n_clusters=3, stability=0)
    assert found["eac"].labels.tolist() == EAC(3).fit(ensemble).labels_.tolist()
