"""The experiment of the paper on normalized edges."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from coterie.datasets import Dataset
from coterie.experiments import Task, get_experiment, normalized_edges, published
from coterie.experiments._run import run_experiment
from coterie.metrics import error_rate

pytestmark = pytest.mark.slow


def _task(part, run=0):
    return next(
        t for t in normalized_edges.EXPERIMENT.tasks(runs=1 + run) if (t.part, t.run) == (part, run)
    )


def test_published_numbers_are_those_of_the_paper():
    paper = published("normalized_edges")
    assert list(normalized_edges.SETS) == paper.rows("1") == paper.rows("2")
    # SL and AL have no standard deviation.
    assert len(paper) == 5 * 3 + 5 * (12 + 10)
    assert paper["1", "Complex image", "objects"] == 743
    assert paper["2", "2-spirals", "CA-HNE"] == 0
    assert paper["2", "2-spirals", "EAC-AL std"] == 0.051
    assert paper["2", "Complex image", "EAC-SL"] == 0.136
    assert paper["2", "3-paths", "MCLA std"] == 0.138
    assert paper["2", "Breast-cancer", "CA-HNE"] == 0.030
    assert paper["2", "Std Yeast", "Boost-KM"] == 0.332
    assert paper.get(("2", "2-spirals", "SL std")) is None
    for words in normalized_edges.METHODS.values():
        assert all(("2", part, words) in paper for part in normalized_edges.SETS)


def test_plan_is_five_sets_and_twenty_runs():
    tasks = normalized_edges.EXPERIMENT.tasks()
    of_table = [t for t in tasks if t.parameters["kind"] == "all"]
    assert len(of_table) == 5 * 20
    assert {t.part for t in of_table} == set(normalized_edges.SETS)
    assert {t.parameters["n_partitions"] for t in tasks} == {30}
    assert {t.parameters["n_partitions_others"] for t in tasks} == {50}
    assert {t.parameters["threshold"] for t in tasks} == {0.3}
    base = {t.part: t.parameters["base_clusters"] for t in of_table}
    assert base["2-spirals"] == 60
    assert base["Breast-cancer"] == 10


def test_objects_are_those_of_table_1():
    paper = published("normalized_edges")
    for part in normalized_edges.MADE:
        X, y = normalized_edges.get_objects(_task(part), None)
        assert X.shape == (paper["1", part, "objects"], paper["1", part, "features"])
        assert len(np.unique(y[y >= 0])) == paper["1", part, "classes"]
    X, _ = normalized_edges.get_objects(_task("2-spirals"), None)
    again, _ = normalized_edges.get_objects(_task("2-spirals", run=1), None)
    assert np.array_equal(X, again)  # without noise nothing is random
    noisy, _ = normalized_edges.get_objects(_task("2-spirals, noise 0.1"), None)
    assert not np.array_equal(X, noisy)


def test_spirals_are_separated_as_in_the_paper():
    values = normalized_edges.compute(_task("2-spirals"), None)
    assert values["hne"] == values["hne_one_to_one"] == 0
    assert values["hne_k"] == 2
    assert values["eac_sl"] == values["sl"] == 0
    assert values["km"] > 0.3
    assert set(normalized_edges.METHODS) - set(values) <= {"boost_km", "cspa", "hgpa", "mcla"}
    assert np.shape(values["drawing"]["labels"]) == (200, 30)


def test_spectral_clustering_finds_what_is_clear():
    X, y = make_blobs(90, centers=[[0, 0], [8, 0], [0, 8]], random_state=0)
    distances = np.linalg.norm(X[:, None] - X[None], axis=2)
    assert error_rate(y, normalized_edges.spectral_clusters(distances, 3, seed=0)) == 0
    found = normalized_edges.single_runs(X, 3, seed=0)
    assert sorted(found) == ["al", "km", "sc", "sl"]
    assert error_rate(y, found["al"]) == 0


def test_outliers_do_not_count():
    X, y = make_blobs(60, centers=[[0, 0], [30, 0]], random_state=0)
    y = y.astype(np.int64)
    y[:5] = -1
    X[:5] += [0, 500]
    dataset = Dataset("d", X, y, ("a", "b"), ("0", "1"), "")
    parameters = dict(_task("Breast-cancer").parameters) | {"base_clusters": 4}
    values = normalized_edges.compute(Task("Breast-cancer", 1, parameters=parameters), dataset)
    assert 0 <= values["hne"] <= 1
    assert "drawing" not in values


def test_runs_through_the_frame(tmp_path):
    report = run_experiment(
        get_experiment("normalized-edges"),
        tmp_path,
        quick=True,
        runs=1,
        only=["2-spirals", "2-spirals of Lang and Witbrock"],
        n_jobs=1,
    )
    names = {table.name for table in report.tables}
    assert names == {"table-2", "same-ensembles", "hne-threshold", "hne-base", "spirals"}
    table = next(table for table in report.tables if table.name == "table-2")
    row = next(row for row in table.rows if row.keys == ("2-spirals", "CA-HNE"))
    assert (row.paper, row.paper_std, row.ours, row.runs) == (0, 0, 0, 1)
    assert any("Boost-KM: not compared" in note for note in table.notes)
    if not report.notes:  # with matplotlib
        assert (tmp_path / "figure-1.png").stat().st_size < 150_000


def test_figures_of_small_results():
    pytest.importorskip("matplotlib")
    drawing = {
        "X": np.random.default_rng(0).normal(size=(12, 2)),
        "classes": np.repeat([0, 1, -1], 4),
        "found": np.arange(12),
    }
    figure = normalized_edges.draw_clusters({"one": drawing, "two": drawing})
    assert [ax.get_title() for ax in figure.axes] == ["one, 12 clusters", "two, 12 clusters"]
