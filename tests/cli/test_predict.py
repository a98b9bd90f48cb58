"""``coterie cluster --save-model`` and ``coterie predict``."""

import io
import json

import numpy as np
import polars as pl
import pytest

from coterie import ConsensusClustering

FIT = ("--id", "name", "--exclude", "kind", "-k", "3", "-p", "8")


@pytest.fixture
def model(run, table, tmp_path):
    path = tmp_path / "model.npz"
    result = run("cluster", table, *FIT, "--save-model", path, "-o", tmp_path / "labels.csv")
    assert result.exit_code == 0, result.stderr
    return path


def frame_of(result):
    assert result.exit_code == 0, result.stderr
    return pl.read_csv(io.StringIO(result.stdout))


def test_rows_go_where_they_were(run, table, model, tmp_path):
    found = frame_of(run("predict", model, table, "--id", "name"))
    fitted = pl.read_csv(tmp_path / "labels.csv")
    assert found.columns == ["id", "cluster", "confidence"]
    assert found["id"].to_list() == fitted["id"].to_list()
    assert found["cluster"].to_list() == fitted["cluster"].to_list()


def test_the_library_reads_it_and_agrees(run, model, tmp_path):
    new = pl.DataFrame({"more": ["a", "b"], "y pos": [0.1, 8.7], "x": [9.2, 0.3]})
    new.write_csv(tmp_path / "new.csv")
    loaded = ConsensusClustering.load(model)
    X = new.select("x", "y pos")
    result = run("predict", model, tmp_path / "new.csv", "--json")
    objects = json.loads(result.stdout)["objects"]
    assert objects["cluster"] == loaded.predict(X).tolist()
    assert objects["confidence"] == loaded.predict_confidence(X).tolist()
    assert objects["id"] == [0, 1]


def test_one_row_and_standard_input(run, model):
    assert frame_of(run("predict", model, "-", input="x,y pos\n9,0\n")).height == 1


def test_standardised_features(run, table, tmp_path):
    path = tmp_path / "model.npz"
    stretched = pl.read_csv(table).with_columns(pl.col("x") * 1000)
    stretched.write_csv(table)
    run("cluster", table, *FIT, "--standardize", "--save-model", path, "-o", tmp_path / "l.csv")
    found = frame_of(run("predict", path, table))
    assert found["cluster"].to_list() == pl.read_csv(tmp_path / "l.csv")["cluster"].to_list()


@pytest.mark.parametrize("ending", ["csv", "tsv", "json", "parquet"])
def test_files_are_written(run, table, model, tmp_path, ending):
    path = tmp_path / f"out.{ending}"
    result = run("predict", model, table, "-o", path)
    assert (result.exit_code, result.stdout) == (0, "")
    assert path.stat().st_size > 100


def test_bad_input_is_one_line(refuse, table, model, tmp_path):
    bad = tmp_path / "bad.csv"
    bad.write_text("x,ypos\n1,2\n")
    assert "'y pos'" in refuse("predict", model, bad)
    bad.write_text("x,y pos\n1,2\n1,\n")
    assert "has no number in row 1 (counted from 0)" in refuse("predict", model, bad)
    bad.write_text("x,y pos\n1,red\n")
    assert "must hold numbers" in refuse("predict", model, bad)
    assert "is not a model" in refuse("predict", table, table)
    assert "does not exist" in refuse("predict", tmp_path / "none.npz", table)
    save = ("--save-model", tmp_path / "m.npz")
    assert "voting cannot be saved" in refuse("cluster", table, *FIT, "-m", "voting", *save)
    assert "got AgglomerativeClustering" in refuse("cluster", table, *FIT, "--base", "ward", *save)
    assert "--impute" in refuse("cluster", table, *FIT, "--impute", "mean", *save)
    assert "must end in .npz" in refuse("cluster", table, *FIT, "--save-model", tmp_path / "m.pkl")
    assert not np.any([path.name == "m.npz" for path in tmp_path.iterdir()])
