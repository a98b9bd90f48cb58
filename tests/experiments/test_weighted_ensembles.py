"""The experiment of the paper on weighted cluster ensembles."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from coterie.datasets import Dataset
from coterie.experiments import get_experiment, published, weighted_ensembles
from coterie.experiments._run import run_experiment
from coterie.experiments.weighted_ensembles import (
    HIGH,
    NEWSGROUPS,
    SETS,
    UNIONS,
    frequent_terms,
    get_objects,
)

pytestmark = pytest.mark.slow

EXPERIMENT = weighted_ensembles.EXPERIMENT


def _task(part, **options):
    return next(t for t in EXPERIMENT.tasks(**options) if t.part == part)


def test_published_numbers_are_those_of_the_paper():
    paper = published("weighted_ensembles")
    assert paper.rows("1") == [*SETS, "Spam2000", "Spam5996"]
    assert paper["1", "SatImage", "objects"] == 2110
    for table in map(str, range(3, 12)):
        assert len(paper.rows(table)) == 13
        assert paper.columns(table) == ["Ens-ER", "Max-ER", "Min-ER", "Avg-ER", "k"]
    assert len(paper) == 9 * 3 + 14 + 9 * (13 * 4 + 1) + 2 * 6 * 4
    assert paper["2", "LAC", "Avg-Error"] == 13.59
    assert paper["3", "WSPA-METIS", "Ens-ER"] == 0.17
    assert paper["6", "WBPA-METIS", "Ens-ER"] == 8.7
    assert paper["7", "CSPA", "Ens-ER"] == 4.8
    assert paper["9", "WSBPA-SPEC", "Ens-ER"] == 15.2
    assert paper["9", "k-means+EAC-AL (k free)", "Min-ER"] == 1.0
    assert paper["11", "LAC+wCo-as.", "Ens-ER"] == 1.6
    assert paper["13", "WSPA-METIS", "Max-ER"] == 46.17
    # Table II is the mean over the seven real sets, up to its rounding.
    for method in ("WSPA-METIS", "WBPA-METIS", "MCLA", "k-means+Co-as."):
        mean = np.mean([paper[str(t), method, "Ens-ER"] for t in range(5, 12)])
        assert mean == pytest.approx(paper["2", method, "Avg-Error"], abs=0.1)


def test_plan():
    tasks = EXPERIMENT.tasks()
    of_tables = [t for t in tasks if t.parameters["kind"] == "methods"]
    assert len(of_tables) == 5 * (7 * 3 + 3)
    assert {t.parameters["scale"] for t in of_tables} == {"raw", "min-max", "z-score"}
    for task in tasks:
        text = task.parameters["set"] in weighted_ensembles.TEXTS
        expected = range(20, 1001, 20) if text else range(1, 51)
        assert task.parameters["inv_h"] == list(expected)
    sizes = [t for t in tasks if t.parameters["kind"] == "sizes"]
    assert sizes[0].parameters["sizes"] == [10, 15, 20, 25, 30, 35, 40, 45]
    diversity = [t for t in tasks if t.parameters["kind"] == "diversity"]
    assert {(t.parameters["n_ensembles"], t.parameters["size"]) for t in diversity} == {(50, 15)}
    assert len(diversity) == 8


def test_objects_are_those_of_table_1():
    paper = published("weighted_ensembles")
    rng = np.random.default_rng(0)
    for part in ("Two-Gaussian", "Three-Gaussian"):
        X, y, _ = get_objects(_task(f"{part}, raw"), None, rng)
        assert X.shape == (paper["1", part, "objects"], paper["1", part, "features"])
        assert len(np.unique(y)) == paper["1", part, "classes"]


def test_terms_of_frequent_pairs():
    counts = np.array([[2, 1, 0, 0], [1, 3, 0, 1], [0, 0, 9, 0], [0, 0, 9, 0], [1, 1, 9, 1]])
    assert frequent_terms(counts, 2).tolist() == [0, 1]  # together in three documents
    assert frequent_terms(counts, 3).tolist() == [0, 1, 3]


def _blobs(name, n_features=6):
    X, y = make_blobs(60, n_features=n_features, centers=2, cluster_std=1.0, random_state=1)
    names = tuple(f"w_{i}" for i in range(n_features))
    return Dataset(name, np.abs(X), y, names, ("a", "b"), "")


def test_methods_and_figures_on_small_data():
    task = _task("SatImage, min-max", quick=True)
    values = weighted_ensembles.compute(task, _blobs("satimage_1_7"))
    assert len(values["lac_errors"]) == 4
    for method in weighted_ensembles.ORDER:
        assert values[method] is None or 0 <= values[method] <= 50
    assert values["WBPA-SPEC"] <= 2
    assert values["k-means+EAC-AL (k fixed)"] <= 2


def test_words_of_documents():
    pytest.importorskip("pymetis")
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 40)
    counts = rng.poisson(0.05, size=(80, 8)).astype(float)
    counts[y == 0, :3] += rng.poisson(2, size=(40, 3))
    counts[y == 1, 3:6] += rng.poisson(2, size=(40, 3))
    names = tuple(f"w_{word}" for word in "abcdefgh")
    dataset = Dataset("newsgroups_elec_med", counts, y, names, ("0", "1"), "")
    values = weighted_ensembles.compute(_task(NEWSGROUPS, quick=True), dataset)
    electronics, medicine = sorted(values["words"], key=lambda top: top["class"])
    assert (electronics["class"], medicine["class"]) == ("electronics", "medicine")
    # What a class does not use does not vary there, so it weighs most.
    assert set(electronics["words"][:3]) == set("def")
    assert set(medicine["words"][:3]) == set("abc")
    assert values["WSBPA-METIS"] <= 10


def test_quick_run_writes_tables_and_figures(tmp_path):
    pytest.importorskip("matplotlib")
    report = run_experiment(
        EXPERIMENT,
        tmp_path,
        quick=True,
        only=["Two-Gaussian, z-score", "diversity, Two-Gaussian", "iris"],
        n_jobs=1,
    )
    found = {table.name: table for table in report.tables}
    rows = {row.keys: row for row in found["table-3"].rows}
    row = rows["WBPA-SPEC", "z-score"]
    assert row.paper == 1.3
    assert row.ours <= 2
    assert rows["WBPA-SPEC 2..k+1", "z-score"].paper == 1.3
    assert "z-score" in found["table-3"].notes[0]
    assert "1/h" in found["table-3"].notes[0]
    components = {row.keys: row for row in found["components"].rows}
    assert components["Two-Gaussian", "LAC", "z-score", "max"].paper == 5.5
    assert found["table-2"].rows[0].note == "not all sets were run"
    assert {path.name for path in report.files} >= {"figure-4.png", "figure-7.png", "figure-8.png"}
    assert "figure-12.png" in {path.name for path in report.files}
    text = (tmp_path / "tables.md").read_text()
    assert "Email-1431 cannot be had" in text


def test_papers_name_and_texts():
    assert get_experiment("weighted-ensembles") is EXPERIMENT
    assert weighted_ensembles.TEXTS[HIGH][0] == weighted_ensembles.TEXTS[NEWSGROUPS][0]
    assert weighted_ensembles.TEXTS[UNIONS][2] == 285
