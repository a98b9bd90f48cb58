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


@pytest.mark.parametrize("option", ["prepared", "--raw", "--standardize"])
def test_the_library_reads_it_and_agrees(run, table, tmp_path, option):
    path = tmp_path / "model.npz"
    options = () if option == "prepared" else (option,)
    run("cluster", table, *FIT, *options, "--save-model", path, "-o", tmp_path / "l.csv")
    new = pl.DataFrame({"more": ["a", "b", "c"], "y pos": [0.1, 8.7, 1], "x": [9.2, 0.3, 1]})
    new.write_csv(tmp_path / "new.csv")
    loaded = ConsensusClustering.load(path)
    X = new.select("x", "y pos")
    if option != "--raw":
        X = loaded.preparation_.transform(X if option == "prepared" else X.to_numpy())
    result = run("predict", path, tmp_path / "new.csv", "--json")
    objects = json.loads(result.stdout)["objects"]
    assert objects["cluster"] == loaded.predict(X).tolist()
    assert objects["confidence"] == loaded.predict_confidence(X).tolist()
    assert objects["id"] == [0, 1, 2]
    origin = pl.read_csv(tmp_path / "l.csv")["cluster"][[10, 20, 0]].to_list()
    assert objects["cluster"] == origin


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
    bad.write_text("x,y pos\n1,red\n")
    message = refuse("predict", model, bad)
    assert message == (
        "column 'y pos' held numbers when the table was fitted; got 'red' in row 0 (counted "
        "from 0)."
    )
    bad.write_text("x,y pos\n1,inf\n")
    assert "column 'y pos' holds inf in row 0" in refuse("predict", model, bad)
    assert "is not a model" in refuse("predict", table, table)
    assert "does not exist" in refuse("predict", tmp_path / "none.npz", table)
    save = ("--save-model", tmp_path / "m.npz")
    assert "voting cannot be saved" in refuse("cluster", table, *FIT, "-m", "voting", *save)
    assert "got AgglomerativeClustering" in refuse("cluster", table, *FIT, "--base", "ward", *save)
    assert "--impute" in refuse("cluster", table, *FIT, "--impute", "mean", *save)
    assert "must end in .npz" in refuse("cluster", table, *FIT, "--save-model", tmp_path / "m.pkl")
    assert not np.any([path.name == "m.npz" for path in tmp_path.iterdir()])


def test_bad_input_of_a_model_of_raw_numbers_is_one_line(run, refuse, table, tmp_path):
    model, bad = tmp_path / "raw.npz", tmp_path / "bad.csv"
    run("cluster", table, *FIT, "--raw", "--save-model", model, "-o", tmp_path / "l.csv")
    bad.write_text("x,y pos\n1,2\n1,\n")
    assert "has no number in row 1 (counted from 0)" in refuse("predict", model, bad)
    bad.write_text("x,y pos\n1,red\n")
    assert "must hold numbers" in refuse("predict", model, bad)


def test_missing_cells_are_filled_in_as_for_the_fit(run, table, model, tmp_path):
    middle = pl.read_csv(table)["y pos"].median()
    (tmp_path / "gap.csv").write_text("x,y pos\n9,\n")
    (tmp_path / "full.csv").write_text(f"x,y pos\n9,{middle!r}\n")
    found = frame_of(run("predict", model, "gap.csv"))
    assert found.equals(frame_of(run("predict", model, "full.csv")))
