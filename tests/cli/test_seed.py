"""``--seed`` reaches everything that draws, in every command."""

import json

import numpy as np
import polars as pl
import pytest

from coterie import ConsensusClustering, RandomizedEnsemble, TablePreparation
from coterie.consensus import CONSENSUS

K = ("-k", "4", "--seed", "5", "--json")


@pytest.fixture
def noise(tmp_path):
    """Features without clusters, and clusterings without agreement: starts end differently."""
    rng = np.random.default_rng(0)
    pl.DataFrame(rng.random((60, 3)), schema=["x", "y", "z"]).write_csv(tmp_path / "x.csv")
    labels = rng.integers(0, 5, size=(60, 8))
    pl.DataFrame(labels, schema=[f"partition_{e}" for e in range(8)]).write_csv(
        tmp_path / "labels.csv"
    )
    return tmp_path


def clusters_of(result):
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)["objects"]["cluster"]


@pytest.mark.parametrize("method", sorted(CONSENSUS))
@pytest.mark.parametrize("command", ["cluster", "consense"])
def test_three_runs_one_partition(run, noise, method, command):
    words = ("cluster", noise / "x.csv", "-p", "8") if command == "cluster" else (
        "consense", noise / "labels.csv")  # fmt: skip
    found = [clusters_of(run(*words, *K, "--method", method)) for _ in range(3)]
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("prepared", [False, True])
@pytest.mark.parametrize("recipe", ["default", "laca"])
def test_command_line_and_library_agree(run, noise, recipe, prepared):
    table = pl.read_csv(noise / "x.csv")
    X = TablePreparation(random_state=5).fit_transform(table) if prepared else table.to_numpy()
    generator = None if recipe == "default" else RandomizedEnsemble(n_partitions=8)
    model = ConsensusClustering(4, generator, "coassociation_kmeans", random_state=5).fit(X)
    options = ("--recipe", recipe, *(() if recipe == "default" else ("-p", "8")))
    options += () if prepared else ("--raw",)
    found = clusters_of(
        run("cluster", noise / "x.csv", *options, *K, "--method", "coassociation_kmeans")
    )
    assert found == model.labels_.tolist()


def test_command_line_and_library_choose_the_same_number(run, noise):
    model = ConsensusClustering(random_state=5).fit(pl.read_csv(noise / "x.csv").to_numpy())
    found = clusters_of(run("cluster", noise / "x.csv", "--raw", "--seed", "5", "--json"))
    assert found == model.labels_.tolist()


def test_report_and_compare_take_a_seed(run, noise):
    method = ("--method", "coassociation_kmeans")
    expected = clusters_of(run("consense", noise / "labels.csv", *K, *method))
    assert clusters_of(run("report", noise / "labels.csv", "--labels", *K, *method)) == expected
    result = run("compare", noise / "labels.csv", *K[:-1], *method, "-o", noise / "all.json")
    assert result.exit_code == 0, result.stderr
    rows = json.loads((noise / "all.json").read_text())["leaderboard"]
    assert [row["labels"] for row in rows] == [expected]
