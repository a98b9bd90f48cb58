"""``coterie cluster``."""

import io
import json
import os
import sys

import numpy as np
import polars as pl
import pytest

from coterie import Ensemble
from coterie.metrics import ari

COLUMNS = ("--id", "name", "--truth", "kind")
FEW = ("--partitions", "10", "--clusters", "3")
PREPARED = "coterie: note: prepared: 2 numeric columns scaled.\n"


def before_structure(stderr):
    """What stands before the sentence on the structure, which is always there."""
    before, found, _ = stderr.partition("coterie: note: structure: ")
    assert found
    return before


def frame_of(result):
    assert result.exit_code == 0, result.stderr
    return pl.read_csv(io.StringIO(result.stdout))


def test_labels_go_to_a_pipe_as_csv(run, table, blobs):
    result = run("cluster", table, *COLUMNS, *FEW)
    frame = frame_of(result)
    assert frame.columns == ["id", "cluster", "confidence", "truth", "runner_up"]
    assert frame["id"].to_list() == blobs["name"].to_list()
    assert ari(blobs["kind"].to_list(), frame["cluster"].to_list()) == 1.0
    assert frame["confidence"].is_between(0, 1).all()
    assert before_structure(result.stderr) == PREPARED
    assert before_structure(run("cluster", table, *COLUMNS, *FEW, "--raw").stderr) == ""


def test_rows_are_numbered_from_zero_without_id(run, table):
    frame = frame_of(run("cluster", table, "--columns", "x", "--columns", "y pos", *FEW))
    assert frame.columns == ["row", "cluster", "confidence", "runner_up"]
    assert frame["row"].to_list() == list(range(30))


@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz", "parquet", "npy"])
def test_every_format_gives_the_same_result(run, blobs, table, tmp_path, ending):
    import gzip

    features = blobs.select("x", "y pos")
    path = tmp_path / f"same.{ending}"
    if ending == "npy":
        np.save(path, features.to_numpy())
    elif ending == "parquet":
        features.write_parquet(path)
    elif ending == "tsv":
        features.write_csv(path, separator="\t")
    elif ending == "csv.gz":
        path.write_bytes(gzip.compress(features.write_csv().encode()))
    else:
        features.write_csv(path)
    expected = frame_of(run("cluster", table, "--exclude", "name", "--exclude", "kind", *FEW))
    assert frame_of(run("cluster", path, *FEW)).equals(expected)


def test_standard_input(run, table):
    expected = run("cluster", table, *COLUMNS, *FEW).stdout
    assert run("cluster", "-", *COLUMNS, *FEW, input=table.read_text()).stdout == expected


@pytest.mark.parametrize("ending", ["csv", "tsv", "json", "parquet"])
def test_output_file(run, table, tmp_path, ending):
    path = tmp_path / f"labels.{ending}"
    result = run("cluster", table, *COLUMNS, *FEW, "--output", path)
    assert (result.exit_code, result.stdout) == (0, "")
    assert before_structure(result.stderr) == PREPARED
    frame = {
        "csv": pl.read_csv,
        "tsv": lambda p: pl.read_csv(p, separator="\t"),
        "json": pl.read_json,
        "parquet": pl.read_parquet,
    }[ending](path)
    assert frame.columns == ["id", "cluster", "confidence", "truth", "runner_up"]
    assert frame.height == 30
    assert sorted(p.name for p in tmp_path.iterdir()) == ["blobs.csv", path.name]


def test_json_is_the_summary(run, table):
    result = run("cluster", table, *COLUMNS, *FEW, "--json", "--seed", "7")
    summary = json.loads(result.stdout)
    assert summary["n_clusters"] == 3
    assert summary["scores"]["error_rate"] == 0.0
    assert summary["generation"]["seed"] == 7
    assert len(summary["objects"]["cluster"]) == 30


def test_report_and_ensemble(run, table, tmp_path):
    pytest.importorskip("jinja2")
    pytest.importorskip("matplotlib")
    report, kept = tmp_path / "r.html", tmp_path / "e.npz"
    run("cluster", table, *COLUMNS, *FEW, "--report", report, "--save-ensemble", kept)
    assert "3 clusters in blobs.csv" in report.read_text()
    assert Ensemble.load(kept).shape == (30, 10)


def test_same_seed_same_result_on_any_number_of_jobs(run, table):
    one = run("cluster", table, *COLUMNS, *FEW, "--jobs", "1").stdout
    assert run("cluster", table, *COLUMNS, *FEW, "--jobs", "2").stdout == one
    other = run("cluster", table, *COLUMNS, *FEW, "--seed", "1", "--json").stdout
    assert (
        json.loads(other)["partitions"]
        != json.loads(run("cluster", table, *COLUMNS, *FEW, "--json").stdout)["partitions"]
    )


LOCAL = ("kcc", "sec", "coassociation_kmeans", "hne")
"""Ten fine partitions leave k-means on label rows in a local optimum, and HNE a chain of edges."""


def test_every_method_runs(run, table):
    from coterie.consensus import CONSENSUS

    for method in CONSENSUS:
        frame = frame_of(run("cluster", table, *COLUMNS, *FEW, "--method", method))
        if method in LOCAL:
            assert frame["cluster"].n_unique() >= 3  # HNE stops where no edges are left
        else:
            assert ari(frame["truth"].to_list(), frame["cluster"].to_list()) == 1.0


def test_every_base_runs(run, table):
    from coterie.cli._bases import BASES

    bases = [word for name in BASES for word in ("--base", name)]
    result = run("cluster", table, *COLUMNS, "-k", "3", "-p", "2", "--json", *bases,
                 "--base-clusters", "3-5")  # fmt: skip
    assert result.exit_code == 0, result.stderr
    summary = json.loads(result.stdout)
    assert {row["group"] for row in summary["partitions"]} == set(BASES)
    assert summary["ensemble"]["n_clusters"][1] <= 5


def test_subsets_make_missing_labels(run, table):
    result = run("cluster", table, *COLUMNS, *FEW, "--json", "--max-samples", "0.8",
                 "--max-features", "1")  # fmt: skip
    assert json.loads(result.stdout)["ensemble"]["missing"] == pytest.approx(0.2)


def test_standardize_changes_the_scale(run, tmp_path):
    # The first feature decides when raw, the second when both have the same spread.
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], 20)
    frame = pl.DataFrame(
        {"big": rng.normal(size=40) * 1000, "small": group + rng.normal(size=40) * 0.02, "g": group}
    )
    frame.write_csv(tmp_path / "scales.csv")
    options = ("--truth", "g", "-k", "2", "-p", "20", "--base-clusters", "2-6", "--json")
    raw = json.loads(run("cluster", "scales.csv", "--raw", *options).stdout)
    scaled = json.loads(run("cluster", "scales.csv", "--standardize", *options).stdout)
    prepared = json.loads(run("cluster", "scales.csv", *options).stdout)
    assert scaled["scores"]["ari"] > raw["scores"]["ari"]
    assert prepared["scores"]["ari"] > raw["scores"]["ari"]
    assert "standardised" in scaled["methods"]
    assert "raw values" in raw["methods"]
    assert "2 numeric columns scaled" in prepared["methods"]


def test_impute(run, refuse, tmp_path, blobs):
    with_gaps = blobs.with_columns(
        pl.when(pl.int_range(30) == 4).then(None).otherwise(pl.col("x")).alias("x")
    )
    with_gaps.write_csv("gaps.csv")
    message = refuse("cluster", "gaps.csv", *COLUMNS, *FEW, "--raw")
    assert "'x', row 4" in message
    assert "--impute median" in message
    prepared = run("cluster", "gaps.csv", *COLUMNS, *FEW, "--json")
    assert "1 missing cell imputed." in prepared.stderr
    assert json.loads(prepared.stdout)["n_imputed"] == 1
    assert run("cluster", "gaps.csv", *COLUMNS, *FEW, "--impute", "mean").exit_code == 0


def test_checkpoint_is_continued_to_the_same_result(run, table):
    options = (*COLUMNS, "-k", "3", "--checkpoint", "kept")
    run("cluster", table, *options, "-p", "4")
    continued = run("cluster", table, *options, "-p", "10").stdout
    assert continued == run("cluster", table, *COLUMNS, *FEW).stdout


def test_checkpoint_of_other_data_is_refused(run, refuse, table):
    run("cluster", table, *COLUMNS, "-p", "4", "--checkpoint", "kept")
    message = refuse("cluster", table, "--id", "name", "--exclude", "kind", "--exclude", "x",
                     "-p", "4", "--checkpoint", "kept")  # fmt: skip
    assert "made from something else" in message


def test_set_a_parameter_of_the_method(run, refuse, table):
    options = ("cluster", table, *COLUMNS, *FEW, "--method", "eac", "--set")
    result = run(*options, "linkage=single", "--json")
    assert json.loads(result.stdout)["consensus"]["parameters"]["linkage"] == "single"
    assert "Did you mean 'linkage'?" in refuse(*options, "linkag=single")
    assert "linkage must be 'average', 'single'" in refuse(*options, "linkage=none")
    assert "NAME=VALUE" in refuse(*options, "linkage")


def test_notes_of_what_looks_like_a_mistake(run, tmp_path):
    (tmp_path / "n.csv").write_text("id,class,c\n1,0,5\n2,0,5\n3,1,5\n4,1,5\n")
    result = run("cluster", "n.csv", "-p", "3", "--raw")
    assert result.exit_code == 0
    assert "--truth class" in result.stderr
    assert "--id 'id'" in result.stderr
    assert "all rows have the same value: c." in result.stderr
    prepared = run("cluster", "n.csv", "-p", "3")
    assert prepared.exit_code == 0
    assert "--truth class" in prepared.stderr
    assert "left out: 'id' (identifier), 'c' (constant)." in prepared.stderr
    assert "'id' is used as a feature" not in prepared.stderr
    for options in ((), ("--raw",)):
        assert run("cluster", "n.csv", "-p", "3", *options, "--quiet").stderr == ""


def test_data_without_a_header(run, tmp_path):
    (tmp_path / "n.csv").write_text("1.5,2\n1,3\n4,2\n")
    first = run("cluster", "n.csv", "-p", "3")
    assert "--no-header" in first.stderr
    assert len(first.stdout.splitlines()) == 3
    assert len(run("cluster", "n.csv", "-p", "3", "--no-header").stdout.splitlines()) == 4


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        ("a,b\n", "header but no rows"),
        ("a,b\n1,2\n", "one row"),
        ("a,b\n1,2\n3,inf\n5,6\n", "column 'b' holds inf in row 1"),
        ("a,b\n1,2\n3,4,5\n", "line 3 has 3 fields, the first line has 2"),
        ("a;b\n1;2\n3;4\n", "--separator ';'"),
    ],
)
def test_tables_that_cannot_be_clustered(refuse, tmp_path, text, words):
    (tmp_path / "bad.csv").write_text(text)
    assert words in refuse("cluster", "bad.csv")
    assert words in refuse("cluster", "bad.csv", "--raw")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b\n1,2\n1,2\n1,2\n", "'a', 'b' (constant)"),
        ("name,b\nx,\ny,\nz,\n", "'name' (identifier), 'b' (nearly all cells missing)"),
        ("id\n4\n7\n9\n", "'id' (identifier)"),
    ],
)
def test_tables_without_a_column_to_cluster_by(refuse, tmp_path, text, words):
    (tmp_path / "bad.csv").write_text(text)
    message = refuse("cluster", "bad.csv")
    assert message == f"the table has no column to cluster by. Left out: {words}."


@pytest.mark.parametrize(
    ("text", "words", "note"),
    [
        ("a,b\n1,2\n1,2\n1,3\n", None, "left out: 'a' (constant)"),
        ("a,b\n1,2\n1,2\n1,2\n", "all rows are the same in a, b", None),
        ("a,b\n1,\n3,\n5,\n", "'b' has no value at all", "'b' (nearly all cells missing)"),
        ("a,b\n1,x\n3,4\n", "column 'b' holds text ('x')", "1 category encoded"),
        (
            "a,b\n1,2020-01-01\n3,2020-01-02\n",
            "column 'b' holds text ('2020-01-01')",
            "1 date counted in days",
        ),
    ],
)
def test_columns_that_are_prepared_but_no_raw_numbers(run, refuse, tmp_path, text, words, note):
    (tmp_path / "t.csv").write_text(text)
    if words is not None:
        assert words in refuse("cluster", "t.csv", "--raw")
    if note is not None:
        result = run("cluster", "t.csv")
        assert result.exit_code == 0, result.stderr
        assert note in result.stderr


@pytest.mark.parametrize("name", ["noise.csv", "noise.parquet", "noise.npy", "noise.csv.gz"])
def test_files_that_are_no_tables(refuse, tmp_path, name):
    (tmp_path / name).write_bytes(bytes(range(256)) * 5)
    assert "cannot be read as a table" in refuse("cluster", name)


def test_arrays_of_the_wrong_shape(refuse, tmp_path):
    np.save(tmp_path / "v.npy", np.arange(5))
    assert "two axes" in refuse("cluster", "v.npy")
    np.save(tmp_path / "o.npy", np.array([[1, None]]), allow_pickle=True)
    assert "not a numpy array of numbers or text" in refuse("cluster", "o.npy")
    np.save(tmp_path / "c.npy", np.ones((3, 2), dtype=complex))
    assert "it holds complex128" in refuse("cluster", "c.npy")
    np.save(tmp_path / "e.npy", np.empty((0, 3)))
    assert "no rows" in refuse("cluster", "e.npy")


def test_files_that_are_not_there(refuse, table, tmp_path):
    assert "Did you mean 'blobs.csv'?" in refuse("cluster", "blob.csv")
    assert "is a directory" in refuse("cluster", tmp_path)
    (tmp_path / "table.xlsx").write_text("")
    assert "--separator" in refuse("cluster", "table.xlsx")
    assert "coterie consense" in refuse("cluster", _empty(tmp_path / "e.npz"))


def _empty(path):
    path.touch()
    return path


def test_columns_that_are_not_there(refuse, table):
    for option in ("--truth", "--id", "--exclude", "--columns"):
        message = refuse("cluster", table, option, "Kinds")
        assert option in message
        assert "Did you mean 'kind'?" in message
    assert "'name' holds text" in refuse("cluster", table, "--truth", "kind", "--raw")
    assert "no column left" in refuse("cluster", table, *COLUMNS, "--exclude", "x",
                                      "--exclude", "y pos")  # fmt: skip


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--clusters", "31"], "at most the number of objects (30)"),
        (["--clusters", "0"], "--clusters"),
        (["--clusters", "many"], "--clusters"),
        (["--method", "eca"], "Did you mean 'eac'?"),
        (["--base", "kmean"], "Did you mean 'kmeans'?"),
        (["--max-features", "9"], "--max-features must be"),
        (["--max-samples", "a-b"], "--max-samples must be"),
        (["--base-clusters", "5-3"], "--base-clusters must be"),
        (["--base-clusters", "few"], "--base-clusters must be"),
        (["--jobs", "0"], "--jobs"),
        (["--impute", "mode"], "'median', 'mean'"),
        (["--output", "nowhere/l.csv"], "nowhere does not exist"),
        (["--output", "."], "--output must end in"),
        (["--output", "blobs.csv"], "would overwrite the input"),
        (["--output", "l.doc"], ".csv or .tsv"),
        (["--report", "l.csv"], ".html"),
        (["--save-ensemble", "l.csv"], ".npz"),
        (["--checkpoint", "blobs.csv"], "is a file"),
        (["--sed", "1"], "--seed"),
    ],
)
def test_options_that_cannot_be(refuse, table, tmp_path, options, words):
    assert words in refuse("cluster", table, *COLUMNS, *options)
    assert [p.name for p in tmp_path.iterdir()] == ["blobs.csv"]


def test_missing_extra_is_named(refuse, table, monkeypatch):
    from coterie.report import _html

    monkeypatch.setattr(_html, "find_spec", lambda name: None)
    message = refuse("cluster", table, *COLUMNS, "--report", "r.html")
    assert 'pip install "coterie[report]"' in message


def test_internal_errors_take_one_line(run, table, monkeypatch):
    from coterie.consensus import CONSENSUS

    def fail(self, X, y=None):
        raise KeyError("oops")

    for cls in CONSENSUS.values():
        monkeypatch.setattr(cls, "fit", fail)
    result = run("cluster", table, *COLUMNS, *FEW, "--raw")
    assert result.exit_code == 1
    assert len(result.stderr.splitlines()) == 1
    assert "internal error: KeyError" in result.stderr
    monkeypatch.setenv("COTERIE_DEBUG", "1")
    assert "Traceback" in run("cluster", table, *COLUMNS, *FEW).stderr


def test_summary_on_a_terminal(run, table, monkeypatch):
    from coterie.cli import _output

    monkeypatch.setattr(_output, "on_terminal", lambda: True)
    text = run("cluster", table, *COLUMNS, *FEW).stdout
    assert "3 clusters as asked for" in text
    assert "error rate 0.000" in text
    assert "--output labels.csv" in text
    assert run("cluster", table, *COLUMNS, *FEW, "--quiet").stdout == ""


def test_cautions_are_printed(run, tmp_path, monkeypatch):
    from coterie.cli import _output

    np.save(tmp_path / "noise.npy", np.random.default_rng(0).random((200, 2)))
    words = "No gap between the clusters was found"
    piped = run("cluster", "noise.npy", "-p", "20")
    assert words in piped.stderr
    assert words not in piped.stdout
    assert words not in run("cluster", "noise.npy", "-p", "20", "--quiet").stderr
    found = json.loads(run("cluster", "noise.npy", "-p", "20", "--json").stdout)["cautions"]
    assert [caution["kind"] for caution in found] == ["no_gap"]
    monkeypatch.setattr(_output, "on_terminal", lambda: True)
    text = " ".join(run("cluster", "noise.npy", "-p", "20").stdout.split())
    assert f"caution {words}" in text


def test_methods_tell_what_was_left_out_and_filled_in(run, table, blobs):
    blobs = blobs.with_columns(pl.when(pl.arange(30) < 2).then(None).otherwise("x").alias("x"))
    blobs.write_csv(table)
    options = ("--id", "name", "--exclude", "kind", "--impute", "median", *FEW, "--json")
    text = json.loads(run("cluster", table, *options).stdout)["methods"]
    assert "The column 'kind' was left out." in text
    assert "2 missing values of the features were filled in." in text


# --- as processes of their own --------------------------------------------------------------------


@pytest.mark.skipif(sys.platform == "win32", reason="pipes are closed the POSIX way")
def test_closed_pipe_is_no_error_message(command, table):
    process = command("cluster", table, *COLUMNS, *FEW)
    process.stdout.close()
    err = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=30) == 141
    assert before_structure(err) == PREPARED


def test_exit_codes_and_streams_of_a_process(command, table):
    process = command("cluster", table, "--raw")
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (2, "")
    assert len(err.splitlines()) == 1


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere"
)
def test_directory_that_cannot_be_written(refuse, table, tmp_path):
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    assert "cannot be written" in refuse("cluster", table, *COLUMNS, "--output", closed / "l.csv")
