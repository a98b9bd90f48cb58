"""The default beside other clusterings, quickly, on what comes with the package."""

from csv import DictReader
from pathlib import Path

import numpy as np
import pytest

from coterie import ConsensusClustering
from coterie.datasets import load
from coterie.experiments import get_experiment, quality
from coterie.experiments._run import run_experiment
from coterie.metrics import ari

FEW = ("iris", "two_spirals", "wine")


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    where = tmp_path_factory.mktemp("quality")
    return run_experiment(get_experiment("quality"), where, quick=True, only=FEW, n_jobs=1)


def test_every_set_is_of_one_kind_and_in_one_half():
    kinds = (*quality.TABLES, *quality.SHAPES, *quality.WIDE)
    halves = (*quality.CHOSEN_ON, *quality.REPORTED_ON, *quality.UNSEEN)
    assert sorted(kinds) == sorted(halves) == list(quality.SETS)
    assert len(set(kinds)) == len(kinds)
    assert quality.CHOSEN_ON[:2] == ("a1", "aggregation")
    assert quality.REPORTED_ON[:2] == ("a3", "breast_cancer")


@pytest.mark.parametrize("name", FEW)
def test_every_method_is_scored(report, name):
    (found,) = report.results.values[name]
    for kind, methods in (("told", quality.TOLD), ("untold", quality.UNTOLD)):
        for method in methods:
            assert -1 <= found[f"{kind}_{method}_ari"] <= 1
            if kind == "told":
                assert found[f"told_{method}_k"] <= found["classes"]
    assert found["told_ours_k"] == found["told_kmeans_k"] == found["classes"]


def test_ours_is_what_a_user_gets(report):
    """Told, the experiment cuts the tree that it has already; that must change nothing."""
    (task,) = get_experiment("quality").tasks(quick=True, only=["wine"])
    X, classes = quality.prepared(load("wine"), task)
    assert len(X) == 150
    np.testing.assert_allclose([X.mean(), X.std()], [0, 1], atol=1e-12)
    (found,) = report.results.values["wine"]
    for kind, k in (("told", 3), ("untold", None)):
        model = ConsensusClustering(k, random_state=task.seed % 2**31).fit(X)
        assert found[f"{kind}_ours_ari"] == ari(classes, model.labels_)
        assert found[f"{kind}_ours_k"] == model.n_clusters_


def test_rules_find_blobs():
    rng = np.random.default_rng(0)
    classes = np.repeat(np.arange(4), 30)
    X = rng.normal(size=(120, 2), scale=0.3) + 5 * np.eye(4)[classes][:, :2]
    X[classes == 3] += 20
    for rule in (quality._kmeans_by_silhouette, quality._mixture_by_bic):
        assert ari(classes == 3, rule(X, 0) == rule(X, 0)[-1]) == 1
    assert quality.numbers_tried(X) == range(2, 17)
    assert quality.numbers_tried(X[:5]) == range(2, 5)


def test_calibration_by_every_rule():
    labels = np.array([0, 0, 0, 0, 1, 1, 2, 2])
    classes = np.array([0, 0, 0, 1, 1, 1, 0, 0])  # cluster 2 has no class left to match
    confidence = np.array([1.0, 0.95, 0.95, 0.35, 0.5, 0.5, 0.72, 0.78])
    found = quality._calibration("told", labels, confidence, classes)
    assert found["told_objects"] == [0, 0, 0, 1, 0, 2, 0, 2, 0, 3]
    assert found["told_objects_most"] == [0, 0, 0, 0, 0, 2, 0, 2, 0, 3]
    assert found["told_objects_match"] == [0, 0, 0, 0, 0, 2, 0, 0, 0, 3]
    assert found["told_objects_home"] == [0, 0, 0, 0, 0, 2, 0, 0, 0, 3]
    assert found["told_clusters"] == [0, 0, 0, 0, 0, 1, 0, 1, 1, 0]
    assert found["told_clusters_match"] == [0, 0, 0, 0, 0, 1, 0, 0, 0.75, 0]
    assert found["told_objects_sum"][7] == pytest.approx(1.5)


def test_calibration_counts_every_object(report):
    for name in quality.CALIBRATED:
        curve = quality.calibration_of(report.results, name, "objects", "most")
        assert curve.counts.sum() == 150 + 150 + 150
        assert (curve.right <= curve.counts).all()
        assert 0 <= curve.gap <= 1


def test_tables_agree_with_the_results(report):
    tables = {table.name: table for table in report.tables}
    means = {row.keys: row.ours for row in tables["untold"].rows if row.keys[-1] == "all (3)"}
    for method, title in quality.UNTOLD.items():
        runs = [report.results.values[name][0] for name in FEW]
        expected = np.mean([run[f"untold_{method}_ari"] for run in runs])
        assert means["mean ARI", title, "all (3)"] == pytest.approx(expected)
        close = [abs(run[f"untold_{method}_k"] - run["classes"]) <= 1 for run in runs]
        assert means["number within one", title, "all (3)"] == pytest.approx(np.mean(close))
    ranks = [value for keys, value in means.items() if keys[0] == "mean rank"]
    assert sum(ranks) == pytest.approx(sum(range(1, len(quality.UNTOLD) + 1)))


def test_sets_that_are_lost_are_named():
    """A made-up result: half of what k-means has, and a set that the page does not explain."""
    scores = {f"told_{m}_ari": 0.5 for m in quality.TOLD}
    scores |= {f"untold_{m}_ari": 0.5 for m in quality.UNTOLD} | {"classes": 3, "untold_ours_k": 2}
    values = {
        "iris": [scores | {"untold_ours_ari": 0.2}],
        "letter": [scores | {"untold_ours_ari": 0.2}],
        "wine": [scores | {"untold_ours_ari": 0.3}],
    }
    results = quality.Results(values)
    parts = quality._parts(results)
    named = {row.keys[0]: row.note for row in quality._losses(results, parts).rows}
    assert list(named) == ["iris (3 classes)", "letter (3 classes)"]
    assert named["iris (3 classes)"] == "not explained yet"
    assert named["letter (3 classes)"] == quality.WHY["letter"]
    counts = {row.keys: (row.ours, row.note) for row in quality._beaten(results, parts).rows}
    lost = counts["untold", quality.UNTOLD["kmeans"], "we lose"]
    assert lost == (3, "iris (0.30), letter (0.30), wine (0.20)")
    assert counts["told", quality.TOLD["ward"], "we lose"] == (0, "")


def test_certainty_counts_every_run():
    runs = [
        {"untold_certainty": certainty, "untold_ours_k": k, "classes": 4}
        for certainty, k in ((0.95, 4), (1.0, 3), (0.9, 9), (0.5, 4), (0.4, 6))
    ]
    results = quality.Results({"iris": runs[:2], "wine": runs[2:]})
    rows = quality._certainty_table(results, ["iris", "wine"]).rows
    found = {row.keys: row.ours for row in rows}
    assert [found[words, "runs"] for words in ("below 0.5", "0.5 to 0.9", "from 0.9")] == [1, 1, 3]
    assert found["from 0.9", "number within one"] == pytest.approx(2 / 3)
    assert found["below 0.5", "number within one"] == 0


def test_figures_are_where_the_page_links_them(report):
    pytest.importorskip("matplotlib")
    page = next(path for path in report.files if path.name == "tables.md")
    links = {line.split("](")[1][:-1] for line in page.read_text().splitlines() if "](" in line}
    assert len(links) == 3
    for link in links:
        assert page.parent / link in report.files
        assert (page.parent / link).stat().st_size > 5_000


def test_large_sets_have_both_ensembles():
    tasks = get_experiment("quality").tasks(quick=True, only=["pendigits, large"])
    wine = load("wine")
    values = quality.compute(tasks[0], wine)
    assert values["n"] == len(wine.data)
    assert min(values["sampled_ari"], values["whole_ari"]) > 0.5
    results = quality.Results({"pendigits, large": [values]})
    (table,) = quality._large_table(results)
    columns = {row.keys: row.ours for row in table.rows}
    assert columns["pendigits (178 objects, 3 classes)", "samples, ARI"] == values["sampled_ari"]
    assert columns["pendigits (178 objects, 3 classes)", "all objects, ARI"] == values["whole_ari"]


@pytest.mark.parametrize("kind", ["told", "untold"])
def test_the_page_follows_from_the_stored_scores(kind):
    """The means in docs/quality.md are those of the scores by set that are kept beside it."""
    docs = Path(__file__).parents[2] / "docs"
    with (docs / "quality" / f"{kind}-ari.csv").open(newline="") as file:
        stored = {
            (line["data set"], line["method"]): float(line["ours"]) for line in DictReader(file)
        }
    page = (docs / "quality.md").read_text(encoding="utf-8")
    summary = page.split(f"## Summary, {quality.SAID[kind]}")[1].split("\n## ")[0]
    lines = [
        line.strip("| ").split(" | ") for line in summary.splitlines() if "| mean ARI |" in line
    ]
    methods = quality.TOLD if kind == "told" else quality.UNTOLD
    assert [line[1] for line in lines] == list(methods.values())
    for _, method, *cells in lines:
        for among, cell in zip(quality.GROUPS.values(), cells, strict=True):
            mean = np.mean([stored[name, method] for name in among])
            assert float(cell) == pytest.approx(mean, abs=5.1e-4)
