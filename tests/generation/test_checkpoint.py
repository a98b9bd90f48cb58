"""Checkpoints: killed, broken, foreign, extended; the ensemble is always the same."""

from __future__ import annotations

import functools
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.datasets import make_blobs
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from coterie._files import with_checksum
from coterie.ensemble import Ensemble
from coterie.generation import RandomizedEnsemble
from coterie.generation._checkpoint import describe_value

X, _ = make_blobs(80, n_features=4, centers=4, cluster_std=1.5, random_state=0)


def _maker(checkpoint=None, **options):
    options = {
        "estimators": [
            KMeans(init="random", n_init=1),
            make_pipeline(StandardScaler(), AgglomerativeClustering()),
        ],
        "n_partitions": 4,
        "max_features": (2, 4),
        "max_samples": 0.8,
        "validity": "hubert",
        "random_state": 5,
    } | options
    return RandomizedEnsemble(checkpoint=checkpoint, **options)


def _files(directory):
    return sorted(directory.glob("partition-*.npz"))


def _times(directory):
    """{name: when it was written}."""
    return {path.name: path.stat().st_mtime_ns for path in directory.iterdir()}


def test_one_file_per_partition_and_no_recomputing(tmp_path):
    alone = _maker().fit_transform(X)
    directory = tmp_path / "new" / "run"
    assert _maker(directory).fit_transform(X) == alone
    assert len(_files(directory)) == 8
    before = _times(directory)
    assert _maker(str(directory)).fit_transform(X) == alone
    assert _times(directory) == before


def test_transform_after_a_checkpoint(tmp_path):
    X_new = X + 0.5
    expected = _maker().fit(X).transform(X_new)
    _maker(tmp_path).fit(X)
    continued = _maker(tmp_path).fit(X)
    np.testing.assert_array_equal(continued.transform(X_new), expected)
    np.testing.assert_array_equal(continued.transform(X_new), expected)


def test_refits_are_as_quiet_as_runs(tmp_path):
    few_points = np.repeat(np.eye(2), 10, axis=0)
    for _ in range(2):
        maker = RandomizedEnsemble(n_partitions=2, n_clusters=4, checkpoint=tmp_path)
        ensemble = maker.fit_transform(few_points)
    np.testing.assert_array_equal(maker.transform(few_points), ensemble.labels)


def test_refit_that_differs_is_noticed(tmp_path):
    X_mine = X.copy()
    _maker(tmp_path).fit(X_mine)
    continued = _maker(tmp_path).fit(X_mine)
    X_mine[:] = X_mine[::-1].copy()
    with pytest.raises(RuntimeError, match="gives other labels when it is made again"):
        continued.transform(X)


@pytest.mark.slow
def test_interrupted_and_continued(tmp_path, monkeypatch):
    fit_predict, runs = KMeans.fit_predict, []

    def stop(self, X):
        runs.append(X)
        if len(runs) == 4:
            raise KeyboardInterrupt
        return fit_predict(self, X)

    monkeypatch.setattr(KMeans, "fit_predict", stop)
    with pytest.raises(KeyboardInterrupt):
        _maker(tmp_path).fit(X)
    monkeypatch.undo()
    assert len(_files(tmp_path)) == 3
    assert _maker(tmp_path, n_jobs=2).fit_transform(X) == _maker().fit_transform(X)


def make_long(checkpoint=None, n_jobs=1):
    """Some work to be killed in; the killed processes find it in this file."""
    X = np.random.default_rng(0).normal(size=(1500, 8))
    return RandomizedEnsemble(
        KMeans(init="random", n_init=1),
        n_partitions=30,
        max_features=0.6,
        max_samples=0.9,
        n_jobs=n_jobs,
        random_state=1,
        checkpoint=checkpoint,
    ).fit_transform(X)


_SCRIPT = """
import runpy, sys
make_long = runpy.run_path(sys.argv[1])["make_long"]
make_long(sys.argv[2], int(sys.argv[4])).save(sys.argv[3])
"""


def _start(directory, out, n_jobs):
    # A group of its own, so that the workers of a killed process are killed with it.
    command = [sys.executable, "-c", _SCRIPT, __file__, str(directory), str(out), str(n_jobs)]
    return subprocess.Popen(command, start_new_session=True)


def _kill_after(process, directory, more):
    """Kill the process group once `more` further partitions are there; True if it was alive."""
    wanted = len(_files(directory)) + more
    deadline = time.monotonic() + 60
    while process.poll() is None and len(_files(directory)) < wanted:
        assert time.monotonic() < deadline
        time.sleep(0.002)
    alive = process.poll() is None
    if alive:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return alive


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "killpg"), reason="needs process groups")
@pytest.mark.parametrize(("n_jobs", "more"), [(1, (1, 2, 3)), (2, (2,))])
def test_killed_several_times(tmp_path, n_jobs, more):
    directory, out = tmp_path / "checkpoint", tmp_path / "ensemble"
    for n_finished in more:
        assert _kill_after(_start(directory, out, n_jobs), directory, n_finished)
    assert not out.exists()
    assert sum(more) <= len(_files(directory)) < 30
    process = _start(directory, out, n_jobs)
    assert process.wait(timeout=60) == 0
    assert Ensemble.load(out) == make_long()


def test_unseeded_runs_continue_with_their_seed(tmp_path):
    first = _maker(tmp_path, random_state=None).fit_transform(X)
    for path in _files(tmp_path)[::2]:
        path.unlink()
    assert _maker(tmp_path, random_state=None).fit_transform(X) == first
    with pytest.raises(ValueError, match="random_state: another seed"):
        _maker(tmp_path, random_state=3).fit(X)


@pytest.mark.parametrize("damage", ["cut", "empty", "flip", "text", "swap", "directory"])
def test_broken_files_are_made_again(tmp_path, damage):
    alone = _maker(tmp_path).fit_transform(X)
    path, other = _files(tmp_path)[2:4]
    content = path.read_bytes()
    if damage == "cut":
        path.write_bytes(content[: len(content) // 2])
    elif damage == "empty":
        path.write_bytes(b"")
    elif damage == "flip":
        at = content.index(b"codes.npy") + 140  # inside the array of codes
        path.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
    elif damage == "text":
        path.write_text("labels")
    elif damage == "swap":
        path.write_bytes(other.read_bytes())
    else:
        path.unlink()
        (tmp_path / ".partition-00-00002.npz.abc").write_bytes(b"half")
    before = _times(tmp_path)
    assert _maker(tmp_path).fit_transform(X) == alone
    after = _times(tmp_path)
    assert [name for name in after if after[name] != before.get(name)] == [path.name]
    assert path.read_bytes() == content


def test_old_leftovers_are_removed(tmp_path):
    _maker(tmp_path).fit(X)
    old, new = tmp_path / ".partition-00-00001.npz.old", tmp_path / ".manifest.json.new"
    foreign = tmp_path / ".profile"
    for path in (old, new, foreign):
        path.write_bytes(b"")
    for path in (old, foreign):
        os.utime(path, (0, 0))
    _maker(tmp_path).fit(X)
    assert not old.exists()
    assert new.exists()
    assert foreign.exists()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"n_clusters": (2, 3)}, r"parameters: n_clusters was null, now \[2, 3\]"),
        ({"max_features": 1}, r"max_features was \[2, 4\], now 1"),
        ({"max_samples": (0.5, 0.8)}, "max_samples"),
        ({"validity": None}, "validity"),
        ({"noise": "singletons"}, 'noise was "missing", now "singletons"'),
        ({"random_state": 6}, "random_state: another seed"),
        ({"estimators": KMeans(init="random", n_init=1)}, r"estimators\[1\] was"),
        (
            {"estimators": [KMeans(init="k-means++", n_init=1), KMeans()]},
            r'estimators\[0\].init was "random", now "k-means\+\+"',
        ),
    ],
)
def test_other_parameters_are_refused(tmp_path, change, words):
    _maker(tmp_path).fit(X)
    with pytest.raises(ValueError, match="made from something else") as error:
        _maker(tmp_path, **change).fit(X)
    error.match(words)
    error.match("Use another directory or delete this one")


def test_other_data_are_refused(tmp_path):
    _maker(tmp_path).fit(X)
    with pytest.raises(ValueError, match=r"data: sha256 was"):
        _maker(tmp_path).fit(X + 1e-12)
    with pytest.raises(ValueError, match=r'dtype was "float64", now "float32"'):
        _maker(tmp_path).fit(X.astype(np.float32))
    with pytest.raises(ValueError, match=r"shape was \[80, 4\], now \[79, 4\]"):
        _maker(tmp_path).fit(X[:-1])


def test_other_versions_are_refused(tmp_path):
    _maker(tmp_path).fit(X)
    path = tmp_path / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["versions"]["scikit-learn"] = "0.1"
    path.write_text(json.dumps(with_checksum(manifest)))
    with pytest.raises(ValueError, match=r'versions: scikit-learn was "0\.1", now'):
        _maker(tmp_path).fit(X)


def test_what_has_no_influence_may_change(tmp_path):
    alone = _maker(tmp_path).fit_transform(X)
    estimators = [
        ("k", KMeans(n_clusters=3, init="random", n_init=1, random_state=3, verbose=0)),
        ("w", make_pipeline(StandardScaler(), AgglomerativeClustering(5))),
    ]
    renamed = _maker(tmp_path, estimators=estimators, n_jobs=2).fit_transform(X)
    np.testing.assert_array_equal(renamed.labels, alone.labels)
    assert renamed.groups.tolist() == ["k"] * 4 + ["w"] * 4


def test_more_and_fewer_partitions(tmp_path):
    _maker(tmp_path).fit(X)
    before = _times(tmp_path)
    more = _maker(tmp_path, n_partitions=6)
    assert more.fit_transform(X) == _maker(n_partitions=6).fit_transform(X)
    assert before.items() <= _times(tmp_path).items()
    assert _maker(tmp_path, n_partitions=2).fit_transform(X) == _maker(
        n_partitions=2
    ).fit_transform(X)


def test_broken_manifest(tmp_path):
    alone = _maker(tmp_path).fit_transform(X)
    manifest = tmp_path / "manifest.json"
    manifest.write_text(manifest.read_text()[:100])
    before = _times(tmp_path)
    with pytest.warns(UserWarning, match="is not JSON.* written anew"):
        assert _maker(tmp_path).fit_transform(X) == alone
    after = _times(tmp_path)
    assert [name for name in after if after[name] != before[name]] == ["manifest.json"]
    (tmp_path / "thesis.tex").touch()
    manifest.write_text("{")
    with pytest.raises(ValueError, match="is no checkpoint"):
        _maker(tmp_path).fit(X)
    assert manifest.read_text() == "{"


def test_foreign_places_are_refused(tmp_path):
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(NotADirectoryError, match="checkpoint must be a directory"):
        _maker(file).fit(X)
    (tmp_path / "manifest.json").write_text('{"name": "a web application"}')
    with pytest.raises(ValueError, match="was not written by RandomizedEnsemble"):
        _maker(tmp_path).fit(X)
    manifest = {"what": "partitions of coterie.RandomizedEnsemble", "entropy": [1], "format": 99}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(ValueError, match="has the format 99"):
        _maker(tmp_path).fit(X)


@pytest.mark.parametrize(
    "changed",
    [
        {"entropy": "abc"},
        {"entropy": []},
        {"entropy": [[1]]},
        {"entropy": [-1]},
        {"data": "x"},
        {"parameters": [1]},
        {"versions": None},
    ],
)
def test_manifest_of_another_shape(tmp_path, changed):
    _maker(tmp_path).fit(X)
    path = tmp_path / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changed))
    with pytest.raises(ValueError, match="was not written by RandomizedEnsemble"):
        _maker(tmp_path).fit(X)


def test_manifest_that_is_nested_too_deeply(tmp_path):
    (tmp_path / "manifest.json").write_text("[" * 100_000)
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(ValueError, match="nested too deeply"):
        _maker(tmp_path).fit(X)


def test_values_are_described_alike_in_every_process():
    def plus(x):
        return x + 1

    plus_one = plus

    def plus(x):
        return x + 2

    assert describe_value(plus_one) != describe_value(plus)
    assert describe_value(functools.partial(plus, 1)) != describe_value(functools.partial(plus, 2))
    assert json.dumps(describe_value(1)) != json.dumps(describe_value(1.0))
    assert describe_value(np.float64(0.5)) == 0.5
    assert describe_value(np.eye(2)) == describe_value(np.eye(2))
    assert describe_value(np.eye(2)) != describe_value(2 * np.eye(2))
    assert describe_value((2, range(2), None)) == [2, [0, 1], None]
    assert describe_value(KMeans(n_init=1)) != describe_value(KMeans(n_init=2))
    assert describe_value(float("nan")) == "nan"
    assert "0x" not in json.dumps(describe_value(object()))
