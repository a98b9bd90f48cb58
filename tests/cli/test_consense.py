"""``coterie consense``."""

import io
import json

import numpy as np
import polars as pl
import pytest
from scipy.io import savemat

from coterie import EAC, Ensemble

VOTES = np.array([[0, 5, 1], [0, 5, 1], [0, 7, 2], [1, 7, 2], [1, 7, 2]])
EXPECTED = EAC(n_clusters=2).fit(VOTES)
TWO = ("--clusters", "2", "--method", "eac")


@pytest.fixture
def votes(tmp_path):
    path = tmp_path / "votes.csv"
    pl.DataFrame({"who": list("abcde"), **{f"p{j}": VOTES[:, j] for j in range(3)}}).write_csv(path)
    return path


def frame_of(result):
    assert result.exit_code == 0, result.stderr
    return pl.read_csv(io.StringIO(result.stdout))


def test_table_of_labels(run, votes):
    frame = frame_of(run("consense", votes, "--id", "who", *TWO))
    assert frame["id"].to_list() == list("abcde")
    assert frame["cluster"].to_list() == EXPECTED.labels_.tolist()
    assert frame["confidence"].to_list() == pytest.approx(EXPECTED.confidence_, abs=1e-6)


@pytest.mark.parametrize("ending", ["npz", "npy", "parquet", "tsv"])
def test_every_format(run, tmp_path, ending):
    path = tmp_path / f"votes.{ending}"
    frame = pl.DataFrame({f"p{j}": VOTES[:, j] for j in range(3)})
    if ending == "npz":
        Ensemble(VOTES).save(path)
    elif ending == "npy":
        np.save(path, VOTES)
    elif ending == "parquet":
        frame.write_parquet(path)
    else:
        frame.write_csv(path, separator="\t")
    found = frame_of(run("consense", path, *TWO))
    assert found["cluster"].to_list() == EXPECTED.labels_.tolist()


def test_names_of_clusters_mean_nothing(run, tmp_path):
    words = [[f"c{v}" for v in VOTES[:, 0]], [f"0{v}" for v in VOTES[:, 1]], VOTES[:, 2] + 0.0]
    pl.DataFrame(words, schema=["a", "b", "c"]).write_csv(tmp_path / "words.csv")
    found = frame_of(run("consense", "words.csv", *TWO))
    assert found["cluster"].to_list() == EXPECTED.labels_.tolist()
    assert found["confidence"].to_list() == pytest.approx(EXPECTED.confidence_, abs=1e-6)


@pytest.mark.parametrize("mark", ["", "NA", "-1", "nan", "out"])
def test_missing_labels(run, tmp_path, mark):
    rows = [list(map(str, row)) for row in VOTES]
    rows[2][0] = mark
    rows[0][2] = mark
    lines = ["a,b,c", *(",".join(row) for row in rows)]
    (tmp_path / "gaps.csv").write_text("\n".join(lines) + "\n")
    gaps = VOTES.copy()
    gaps[2, 0] = gaps[0, 2] = -1
    result = run("consense", "gaps.csv", *TWO, "--missing", "out", "--json")
    summary = json.loads(result.stdout)
    assert summary["ensemble"]["missing"] == pytest.approx(2 / 15, abs=1e-6)
    assert summary["objects"]["cluster"] == EAC(n_clusters=2).fit(gaps).labels_.tolist()


def test_text_labels_with_a_gap_stay_text(run, tmp_path):
    (tmp_path / "t.csv").write_text("a,b\nu,1\nv,1\nv,2\nNA,2\n")
    summary = json.loads(run("consense", "t.csv", "--json").stdout)
    assert [row["n_clusters"] for row in summary["partitions"]] == [2, 2]
    assert summary["partitions"][0]["missing"] == 0.25


def test_partition_without_labels_is_noted(run, tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,\n1,\n2,\n")
    result = run("consense", "t.csv")
    assert result.exit_code == 0
    assert "note: dropped 1 partition(s)" in result.stderr


def test_truth_and_report(run, votes, tmp_path):
    pytest.importorskip("jinja2")
    pytest.importorskip("matplotlib")
    result = run("consense", votes, "--id", "who", "--truth", "p2", *TWO, "--json",
                 "--report", "r.html")  # fmt: skip
    summary = json.loads(result.stdout)
    assert summary["scores"]["n_classes"] == 2
    assert summary["n_features"] is None
    assert summary["heat_map"]["n_blocks"] == 5
    assert "were taken as given" in (tmp_path / "r.html").read_text()


def test_ensemble_is_saved_and_read_again(run, votes, tmp_path):
    first = run("consense", votes, "--exclude", "who", *TWO, "--save-ensemble", "e.npz").stdout
    assert run("consense", "e.npz", *TWO).stdout == first


def test_features_are_refused(refuse, tmp_path):
    (tmp_path / "f.csv").write_text("a,b\n1,0.5\n2,1.5\n")
    message = refuse("consense", "f.csv")
    assert "column 'b' holds 0.5" in message
    assert "coterie cluster" in message


def test_what_is_no_ensemble_is_refused(refuse, tmp_path, votes):
    (tmp_path / "bad.npz").write_bytes(b"PK\x03\x04 and then nothing")
    assert "not an ensemble" in refuse("consense", "bad.npz")
    np.savez(tmp_path / "other.npz", a=VOTES)
    assert "not an ensemble" in refuse("consense", "other.npz")
    Ensemble(VOTES).save(tmp_path / "e.npz")
    assert "has no columns to choose" in refuse("consense", "e.npz", "--id", "who")
    assert "does not exist" in refuse("consense", "no.npz")
    assert "at most the number of objects (5)" in refuse("consense", votes, "-k", "6")
    assert "would overwrite the input" in refuse("consense", "e.npz", "--save-ensemble", "e.npz")


def test_nothing_but_missing_is_refused(refuse, tmp_path):
    (tmp_path / "m.csv").write_text("a,b\n,\n-1,NA\n")
    assert "missing on every object" in refuse("consense", "m.csv")


@pytest.mark.parametrize("method", ["laca", "eac", "hne", "msteclust"])
def test_constant_labels_are_one_cluster(run, tmp_path, method):
    path = tmp_path / "constant.csv"
    path.write_text("p,q\n" + "1,2\n" * 9 + ",\n")
    result = run("consense", path, "--method", method, "--json",
                 "--report", tmp_path / "report.html")  # fmt: skip
    assert result.exit_code == 0, result.stderr
    summary = json.loads(result.stdout)
    assert summary["objects"]["cluster"] == [0] * 10
    assert summary["objects"]["confidence"] == [1.0] * 9 + [0.0]
    assert summary["reason"] == "1 cluster: no partition puts two objects apart."
    assert "so there is one cluster" in result.stderr
    assert "1 of 10 objects have no label" in result.stderr


def test_partitions_are_named_by_the_header(run, tmp_path):
    (tmp_path / "named.csv").write_text("kmeans3,ward3,random\n0,0,1\n0,0,0\n1,1,1\n1,1,0\n")
    done = run("consense", "named.csv", "-k", "2", "--json", "--save-ensemble", "e.npz")
    again = run("consense", "e.npz", "-k", "2", "--json")
    for result in (done, again):
        rows = json.loads(result.stdout)["partitions"]
        assert [row["name"] for row in rows] == ["kmeans3", "ward3", "random"]
        assert {row["group"] for row in rows} == {None}


def test_pool_of_a_matlab_file(run, refuse, tmp_path):
    savemat(tmp_path / "pool.mat", {"members": VOTES + 1, "gt": [[1], [1], [2], [2], [2]]})
    frame = frame_of(run("consense", "pool.mat", "--truth", "gt", *TWO))
    assert frame["cluster"].to_list() == EXPECTED.labels_.tolist()
    assert frame["truth"].to_list() == [1, 1, 2, 2, 2]
    # The classes are no partition, whether they are asked for or not.
    assert frame_of(run("consense", "pool.mat", *TWO))["cluster"].to_list() == (
        EXPECTED.labels_.tolist()
    )
    assert "'truth' is no vector in pool.mat" in refuse(
        "consense", "pool.mat", "--truth", "truth", *TWO
    )
    savemat(tmp_path / "turned.mat", {"members": VOTES.T, "gt": [[1], [1], [2], [2], [2]]})
    assert "one value for each of the 3 rows" in refuse(
        "consense", "turned.mat", "--truth", "gt", *TWO
    )


def test_names_that_look_like_formulas(tmp_path, run):
    table = tmp_path / "labels.csv"
    table.write_text("id,a,b\n=1+1,0,0\n-2,0,0\n@x,1,1\nplain,1,1\n")
    words = ["consense", str(table), "--id", "id", "--clusters", "2", "--method", "eac"]
    names = [line.split(",")[0] for line in run(*words).stdout.splitlines()[1:]]
    assert names == ["'=1+1", "-2", "'@x", "plain"]
    names = [line.split(",")[0] for line in run(*words, "--raw-text").stdout.splitlines()[1:]]
    assert names == ["=1+1", "-2", "@x", "plain"]
    run(*words, "--output", str(tmp_path / "out.csv"))
    assert "'=1+1" in (tmp_path / "out.csv").read_text()
    run(*words, "--output", str(tmp_path / "out.json"))
    assert '"=1+1"' in (tmp_path / "out.json").read_text()
