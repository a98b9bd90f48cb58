"""Tables in blocks on the command line: chosen by size, continued, refused when they change."""

import json
import os

import numpy as np
import polars as pl
import pytest
from sklearn.utils import check_random_state

from coterie import HBGF
from strategies import noisy_labels

CONSENSE = ("--id", "name", "--method", "hbgf", "--clusters", "3", "--json")


@pytest.fixture
def labels(tmp_path):
    labels = noisy_labels(0, 120, 5, n_clusters=3, noise=0.2)[1]
    folder = tmp_path / "labels"
    folder.mkdir()
    for i, rows in enumerate(np.array_split(labels, 3)):
        frame = pl.DataFrame(rows, schema=[f"run{e}" for e in range(5)], orient="row")
        names = pl.Series("name", [f"o{40 * i + j}" for j in range(len(rows))])
        frame.insert_column(0, names).write_parquet(folder / f"{i}.parquet")
    return labels, folder


def test_a_folder_is_read_and_written_in_blocks(run, labels, tmp_path):
    table, folder = labels
    result = run("consense", folder, "--output", tmp_path / "out", *CONSENSE)
    assert result.exit_code == 0, result.stderr
    assert "is a folder of Parquet files: read in blocks" in result.stderr
    seed = int(check_random_state(0).randint(2**31 - 1))
    expected = HBGF(3, random_state=seed).fit(table)
    assert json.loads(result.stdout)["sizes"] == np.bincount(expected.labels_).tolist()
    found = pl.read_parquet(tmp_path / "out" / "part-*.parquet")
    assert found["cluster"].to_list() == expected.labels_.tolist()
    assert found["id"].to_list() == [f"o{i}" for i in range(120)]
    assert found["confidence"].to_numpy() == pytest.approx(expected.confidence_)


def test_finished_parts_are_kept_and_a_changed_input_is_refused(run, refuse, labels, tmp_path):
    _, folder = labels
    out = tmp_path / "out"
    command = ("consense", folder, "--output", out, *CONSENSE)
    assert run(*command).exit_code == 0
    first = (out / "part-000000.parquet").stat().st_mtime_ns
    (out / "part-000001.parquet").write_bytes(b"half of a fi")  # of a run that was killed
    assert run(*command).exit_code == 0
    assert (out / "part-000000.parquet").stat().st_mtime_ns == first
    assert pl.read_parquet(out / "part-*.parquet").height == 120
    os.utime(folder / "2.parquet", ns=(1, 1))
    assert "another computation: the input has changed" in refuse(*command)


def test_a_table_over_the_limit_is_read_in_blocks(run, refuse, tmp_path, monkeypatch):
    random = np.random.default_rng(0)
    X = np.repeat([[0.0, 0.0], [9.0, 9.0]], 500, axis=0) + random.normal(size=(1000, 2))
    pl.DataFrame(X, schema=["x", "z"]).write_parquet(tmp_path / "big.parquet")
    monkeypatch.setenv("COTERIE_MEMORY_LIMIT", "40kB")
    command = ("cluster", tmp_path / "big.parquet", "--partitions", "6", "--clusters", "2")
    command += ("--method", "mcla", "--base-clusters", "4", "--json")
    command += ("--checkpoint", tmp_path / "work")
    assert "--output must name a folder" in refuse(*command)
    result = run(*command, "--output", tmp_path / "out")
    assert result.exit_code == 0, result.stderr
    assert "over the limit of 40.0 kB (COTERIE_MEMORY_LIMIT): read in blocks" in result.stderr
    assert json.loads(result.stdout)["sizes"] == [500, 500]
    found = pl.read_parquet(tmp_path / "out" / "part-*.parquet")
    assert found["cluster"].n_unique() == 2
    assert (tmp_path / "work" / "labels" / "part-000000.npy").exists()
    assert (tmp_path / "work" / "partitions").is_dir()


def test_a_folder_that_others_wrote_is_left_alone(refuse, labels, tmp_path):
    _, folder = labels
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    words = refuse("consense", folder, "--output", tmp_path / "mine", *CONSENSE)
    assert "is not empty, and coterie did not write it" in words
