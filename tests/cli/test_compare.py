"""``coterie compare``."""

import json

import numpy as np
import polars as pl
import pytest

from coterie import Ensemble, RandomizedEnsemble
from coterie.cli.compare import _memory_cell

FEW = ("--method", "eac", "--method", "voting", "--partitions", "10", "--halves", "1")


@pytest.fixture
def data(tmp_path):
    rng = np.random.default_rng(0)
    truth = np.arange(60) % 3
    X = np.column_stack([9.0 * truth, np.zeros(60)]) + rng.normal(size=(60, 2))
    frame = pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "class": [f"c{c}" for c in truth]})
    frame.write_csv(tmp_path / "data.csv")
    ensemble = RandomizedEnsemble(n_partitions=8, n_clusters=(2, 6), random_state=0)
    made = ensemble.fit_transform(X)
    made.save(tmp_path / "ensemble.npz")
    made.to_csv(tmp_path / "labels.csv")
    return tmp_path


def read(result):
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def test_features_with_truth(run, data):
    found = read(run("compare", "data.csv", "--raw", "--truth", "class", "--json", *FEW))
    assert found["source"] == "data.csv"
    assert found["recommended"] in ("eac", "voting")
    rows = {row["method"]: row for row in found["leaderboard"]}
    assert rows["eac"]["n_clusters"] == found["numbers"]["recommended"] == 3
    assert rows["eac"]["scores"]["ari"] == 1.0
    assert found["numbers"]["kind"] == "features"
    assert np.array(found["agreement"]).shape == (2, 2)


def test_table_for_people(run, data):
    result = run("compare", "data.csv", "--truth", "class", "--clusters", "3", *FEW)
    assert result.exit_code == 0
    assert "Take " in result.stdout
    assert "ANMI" in result.stdout
    assert "agreement of the methods" in result.stdout
    quiet = run("compare", "data.csv", "--truth", "class", "--clusters", "3", "-q", *FEW)
    assert quiet.stdout == quiet.stderr == ""


def test_memory_for_people():
    shown = [_memory_cell(n) for n in (None, 0, 4096, 3 * 1024**2)]
    assert shown == ["-", "< 1 MB", "< 1 MB", "3.0 MB"]


@pytest.mark.parametrize("source", ["ensemble.npz", "labels.csv"])
def test_clusterings(run, data, source):
    found = read(run("compare", source, "--json", "--clusters", "3", *FEW))
    rows = {row["method"]: row for row in found["leaderboard"]}
    assert rows["eac"]["status"] == "ok"
    assert found["n_partitions"] == 8


def test_labels_or_features(run, tmp_path):
    labels = np.column_stack([np.arange(30) % 3, np.arange(30) % 2])
    pl.DataFrame({"x": labels[:, 0], "y": labels[:, 1]}).write_csv("numbers.csv")
    taken = run("compare", "numbers.csv", "--json", "--clusters", "2", *FEW)
    assert "add --labels" in taken.stderr
    assert read(taken)["n_partitions"] == 10
    said = run("compare", "numbers.csv", "--labels", "--json", "--clusters", "2", *FEW)
    assert said.stderr == ""
    assert read(said)["n_partitions"] == 2
    pl.DataFrame({"x": ["a", "b", "a", "b"], "y": ["u", "u", "v", "v"]}).write_csv("words.csv")
    assert read(run("compare", "words.csv", "--json", "-k", "2", *FEW))["n_partitions"] == 2


def test_own_numbers_and_refusals(run, data):
    result = run("compare", "ensemble.npz", "--clusters", "own", *FEW)
    assert result.exit_code == 0
    assert "voting: refused, Voting does not find the number of clusters" in result.stdout


@pytest.mark.parametrize("ending", ["csv", "tsv", "json"])
def test_output(run, data, ending):
    path = data / f"board.{ending}"
    options = ("--clusters", "3", "--output", path, "--truth", "class")
    assert run("compare", "data.csv", *options, *FEW).exit_code == 0
    if ending == "json":
        written = json.loads(path.read_text())
        assert len(written["leaderboard"][0]["labels"]) == 60
    else:
        frame = pl.read_csv(path, separator="," if ending == "csv" else "\t")
        assert set(frame["method"]) == {"eac", "voting"}
        assert frame["ari"].max() == 1.0


def test_one_class_constant_features_and_duplicates(run, tmp_path):
    rng = np.random.default_rng(0)
    few = rng.normal(size=(10, 1))
    frame = {"x": np.repeat(few, 4), "same": [1.0] * 40, "class": ["only"] * 40}
    pl.DataFrame(frame).write_csv("odd.csv")
    result = run("compare", "odd.csv", "--truth", "class", "--json", *FEW)
    assert "left out: 'same' (constant)" in result.stderr
    assert read(result)["recommended"] is not None


def test_bad_input(refuse, data):
    Ensemble([[0], [1]]).save(data / "two.npz")
    (data / "bad.csv").write_text("a,b\n1,2\n3\n4,5,6\n")
    (data / "words.csv").write_text("a,b\n1,x\n2,y\n")
    (data / "holes.csv").write_text("a,b\n1,\n2,3\n4,5\n")
    (data / "constant.csv").write_text("a\n1\n1\n1\n")
    assert "does not exist" in refuse("compare", "nothing.csv")
    assert "cannot be read as a table" in refuse("compare", "bad.csv")
    assert "features must be numbers" in refuse("compare", "words.csv", "--raw")
    assert "--impute" in refuse("compare", "holes.csv", "--raw")
    assert "no column to cluster by" in refuse("compare", "constant.csv")
    assert "Did you mean 'eac'" in refuse("compare", "data.csv", "--method", "eacc")
    assert "'auto' or 'own'" in refuse("compare", "data.csv", "--clusters", "some")
    assert "at most the number of objects" in refuse(
        "compare", "data.csv", "--truth", "class", "-k", "99"
    )
    assert "must name a column" in refuse("compare", "data.csv", "--truth", "klass")
    assert "is an ensemble" in refuse("compare", "two.npz", "--truth", "x")
    assert "--output must end in" in refuse("compare", "data.csv", "--output", "x.txt")
    assert "--jobs" in refuse("compare", "data.csv", "--truth", "class", "--jobs", "0")
    assert "for features" in refuse("compare", "labels.csv", "--labels", "--standardize")
