"""Tables of genes: rows that are genes, logarithms, selection; row names as R writes them."""

import io
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from coterie import ConsensusClustering, Ensemble
from coterie.metrics import ari

GROUPS = np.repeat([0, 1], 12)
QUICK = ("-p", "10", "-k", "2")


@pytest.fixture
def genes():
    """Counts of 300 genes (rows) in 24 samples (columns) of two groups, as write.csv writes it."""
    random = np.random.default_rng(0)
    counts = random.poisson(20, (300, 24))
    counts[:20, GROUPS == 1] *= 8
    frame = pl.DataFrame(counts, schema=[f"GSM{i}" for i in range(24)])
    frame.insert_column(0, pl.Series("", [f"gene{i}" for i in range(300)]))
    frame.write_csv("genes.csv")
    turned = pl.DataFrame(counts.T, schema=[f"gene{i}" for i in range(300)])
    turned.insert_column(0, pl.Series("", [f"GSM{i}" for i in range(24)])).write_csv("samples.csv")
    return counts


def frame_of(result):
    assert result.exit_code == 0, result.stderr
    return pl.read_csv(io.StringIO(result.stdout))


def test_genes_in_rows_are_noticed_and_exchanged(run, genes):
    first = run("cluster", "genes.csv", *QUICK)
    assert "300 rows and 24 columns named like samples (GSM0, GSM1, ...)" in first.stderr
    assert "add --transpose" in first.stderr
    result = run("cluster", "genes.csv", "--transpose", "--log", "--top-features", 30, *QUICK)
    frame = frame_of(result)
    assert frame["id"].to_list() == [f"GSM{i}" for i in range(24)]
    assert ari(GROUPS, frame["cluster"].to_list()) == 1.0
    assert "log2(x + 1) of the values. 30 of 300 features kept" in result.stderr
    assert "--transpose" not in result.stderr


def test_exchanged_and_given_tables_give_the_same(run, genes):
    options = ("--log", "--top-features", 30, "--by", "variance", "--center", *QUICK)
    turned = run("cluster", "genes.csv", "--transpose", *options)
    straight = run("cluster", "samples.csv", *options)
    assert frame_of(turned).equals(frame_of(straight))
    assert "it was taken for the names of the rows" in straight.stderr


@pytest.mark.parametrize("raw", [(), ("--raw",), ("--standardize",)])
def test_models_keep_the_preparation(run, genes, raw):
    options = ("--log", "--top-features", 30, "--center", *raw, *QUICK)
    run("cluster", "genes.csv", "--transpose", *options, "--save-model", "m.npz", "-o", "l.csv")
    fitted = pl.read_csv("l.csv")["cluster"].to_list()
    for args in (("genes.csv", "--transpose"), ("samples.csv",)):
        found = frame_of(run("predict", "m.npz", *args))
        assert found["id"].to_list()[:2] == ["GSM0", "GSM1"]
        assert found["cluster"].to_list() == fitted
    model = ConsensusClustering.load("m.npz")
    table = pl.read_csv("samples.csv").drop("")
    features = model.preparation_.transform(table)
    assert model.predict(np.asarray(features)).tolist() == fitted


def test_other_commands_take_the_same_options(run, genes):
    options = ("--transpose", "--log", "--top-features", 20)
    assert run("choose", "genes.csv", *options, "--range", "2-3").exit_code == 0
    assert run("compare", "genes.csv", *options, *QUICK, "-m", "eac").exit_code == 0
    result = run("report", "genes.csv", *options, "-k", 2, "-o", "r.html")
    assert result.exit_code == 0, result.stderr
    page = Path("r.html").read_text(encoding="utf-8")
    assert "20 of 300 features kept" in page


def test_bad_options_are_refused_in_one_line(run, refuse, genes):
    pl.DataFrame({"a": [-1.5, 2.0, 3.0], "b": [1, 2, 4]}).write_csv("negative.csv")
    words = refuse("cluster", "negative.csv", "--log")
    assert words.startswith("--log takes values of at least 0; column 'a' holds -1.5 in row 0")
    pl.DataFrame({"a": ["x", "y", "x"], "b": [1, 2, 4]}).write_csv("text.csv")
    assert "column 'a' holds text" in refuse("cluster", "text.csv", "--top-features", 1)
    Ensemble(np.random.default_rng(0).integers(0, 2, (9, 3))).save("e.npz")
    assert "are for features" in refuse("report", "e.npz", "--log")
    pl.DataFrame({"name": ["x", "y"], "b": [1, 2]}).write_csv("narrow.csv")
    assert "--transpose needs at least two columns" in refuse(
        "cluster", "narrow.csv", "--transpose"
    )


def test_repeated_names_of_genes_get_a_number(run):
    pl.DataFrame(
        {"gene": ["a", "a", "b"], "s1": [0, 9, 1], "s2": [0, 8, 1], "s3": [9, 1, 0]}
    ).write_csv("twice.csv")
    result = run("cluster", "twice.csv", "--transpose", "--raw", "-p", 3, "-k", 2)
    assert "names of rows occur more than once (a); a number was added" in result.stderr
    assert frame_of(result)["id"].to_list() == ["s1", "s2", "s3"]


def test_row_names_of_labels_are_kept_aside(run):
    labels = pl.DataFrame({"": ["r1", "r2", "r3", "r4"], "a": [1, 1, 2, 2], "b": [5, 5, 6, 6]})
    labels.write_csv("labels.csv")
    result = run("consense", "labels.csv", "-k", 2)
    assert frame_of(result)["id"].to_list() == ["r1", "r2", "r3", "r4"]
    assert "it was taken for the names of the rows" in result.stderr
    assert Ensemble.from_csv("labels.csv").n_partitions == 2
    again = labels.with_columns(pl.Series("", ["1", "1", "2", "2"]))
    again.write_csv("repeated.csv")
    assert Ensemble.from_csv("repeated.csv").n_partitions == 3


@pytest.mark.parametrize("kind", ["gradient", "noise"])
def test_every_output_says_that_there_are_no_clusters(run, kind):
    random = np.random.default_rng(0)
    t = random.random(150)
    X = np.column_stack([5 * t, 3 * t, -4 * t]) + random.normal(scale=0.3, size=(150, 3))
    if kind == "noise":
        X = random.random((150, 3))
    pl.DataFrame(X, schema=["a", "b", "c"]).write_csv("x.csv")
    words = "there are no separate clusters"
    result = run("cluster", "x.csv", "-p", "20", "--json", "--report", "x.html")
    assert words in result.stderr
    summary = json.loads(result.stdout)
    assert summary["structure"]["found"] is False
    assert words in summary["structure"]["words"]
    assert words in Path("x.html").read_text(encoding="utf-8")


def test_trust_is_in_json_and_on_the_page(run):
    pl.DataFrame(np.random.default_rng(0).random((60, 2)), schema=["a", "b"]).write_csv("x.csv")
    result = run("cluster", "x.csv", "-p", "10", "-k", "4", "--json", "--report", "x.html")
    clusters = json.loads(result.stdout)["clusters"]
    page = Path("x.html").read_text(encoding="utf-8")
    assert len(clusters) == 4
    for row in clusters:
        assert 0 < row["stability"] <= 1
        assert 0 < row["consensus"] <= 1
        assert row["words"] in page
