"""``coterie choose``."""

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from coterie import RandomizedEnsemble, how_many_clusters
from coterie.cli.choose import print_numbers

QUICK = ("--raw", "--range", "2-5", "--runs", "4")


@pytest.fixture
def data(tmp_path):
    rng = np.random.default_rng(0)
    truth = np.arange(90) % 3
    X = np.column_stack([9.0 * truth, np.zeros(90)]) + rng.normal(size=(90, 2))
    pl.DataFrame({"a": X[:, 0], "b": X[:, 1]}).write_csv(tmp_path / "lumps.csv")
    noise = rng.normal(size=(90, 2))
    pl.DataFrame({"a": noise[:, 0], "b": noise[:, 1]}).write_csv(tmp_path / "noise.csv")
    maker = RandomizedEnsemble(n_partitions=20, n_clusters=(2, 8), random_state=0)
    maker.fit_transform(X).save(tmp_path / "ensemble.npz")
    return tmp_path


def read(result):
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def test_lumps_and_noise(run, data):
    found = read(run("choose", "lumps.csv", "--json", *QUICK))
    assert found["recommended"] == 3
    assert found["structure"]["has_structure"] is True
    assert found["n_clusters"] == [2, 3, 4, 5]
    assert set(found["choices"]) == set(found["criteria"])
    found = read(run("choose", "noise.csv", "--json", *QUICK))
    assert found["recommended"] > 1  # no gap is told beside the answer
    assert found["structure"]["has_structure"] is False


def test_table_for_people(run, data):
    result = run("choose", "lumps.csv", *QUICK)
    assert "There are gaps between clusters" in result.stdout
    assert result.stdout.startswith("3 clusters: ")  # the answer first
    table, legend = result.stdout.split("choice ", 1)
    for heading in ("score", "silh.", "isol.", "PAC", "stab."):
        assert heading in table
        assert f"\n{heading} " in legend
    assert "No gap between clusters was found" in run("choose", "noise.csv", *QUICK).stdout


def test_criteria_of_any_name_are_shown(data, capsys):
    found = how_many_clusters(np.random.default_rng(0).normal(size=(40, 2)), [2, 3])
    criteria = {"gap": np.array([0.125, np.nan]), "pac": np.array([0.5, 0.25])}
    print_numbers(replace(found, criteria=criteria, choices={"gap": 2}))
    shown = capsys.readouterr().out
    assert "gap" in shown
    assert "0.125" in shown
    assert "share of pairs" in shown


def test_ensemble_and_picture(run, data):
    found = read(run("choose", "ensemble.npz", "--json", "--plot", "criteria.png", *QUICK))
    assert found["kind"] == "ensemble"
    assert abs(found["recommended"] - 3) <= 1
    assert (data / "criteria.png").read_bytes().startswith(b"\x89PNG")


def test_settings_reach_the_test(run, data):
    found = read(
        run("choose", "noise.csv", "--json", "--null", "permuted", "--alpha", "0.9", *QUICK)
    )
    assert found["structure"]["null"] == "permuted"
    assert found["structure"]["alpha"] == 0.9


def test_bad_input(refuse, data):
    assert "--range must rise from 2" in refuse("choose", "lumps.csv", "--range", "5-2")
    assert "--range must be a number" in refuse("choose", "lumps.csv", "--range", "two")
    assert "--range must be at most" in refuse("choose", "lumps.csv", "--range", "2-400")
    assert "--alpha must lie" in refuse("choose", "lumps.csv", "--alpha", "3")
    assert "--plot must end in" in refuse("choose", "lumps.csv", "--plot", "x.bmp")
    assert "does not exist" in refuse("choose", "lump.csv")


def test_same_number_as_cluster_takes(run, table):
    chosen = read(run("choose", table, "--id", "name", "--truth", "kind", "--json"))
    clustered = read(run("cluster", table, "--id", "name", "--truth", "kind", "--json"))
    assert clustered["n_clusters"] == chosen["recommended"] == 3
    assert clustered["cluster_numbers"]["criteria"] == chosen["criteria"]
