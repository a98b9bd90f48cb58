"""Our own study, quickly, on what comes with the package."""

import pytest

from coterie import metrics
from coterie.consensus import CONSENSUS
from coterie.datasets import load
from coterie.experiments import get_experiment
from coterie.experiments._run import run_experiment
from coterie.experiments.study import calibration_of, methods_of

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    where = tmp_path_factory.mktemp("study")
    study = get_experiment("study")
    return run_experiment(study, where, quick=True, only=["iris"], runs=2, n_jobs=1)


def test_every_method_is_scored(report):
    (first, second) = report.results.values["iris"]
    for name in CONSENSUS:
        if name in ("wspa", "wbpa", "wsbpa"):
            continue
        if f"{name}_refused" in first:  # an extra that is not installed
            continue
        assert -1 <= first[f"{name}_ari"] <= 1
        assert first[f"{name}_seconds"] > 0
    assert first["kmeans_ari"] > 0.5
    assert {"laca", "eac", "supra", "kmeans"} <= set(methods_of(report.results))
    # Another recipe, other partitions.
    assert first["members_ari"] != second["members_ari"]


def test_supra_is_the_method_of_best_agreement(report):
    for run in report.results.values["iris"]:
        scores = {k[:-5]: v for k, v in run.items() if k.endswith("_anmi")}
        best = max(scores.values())
        chosen = [name for name, value in scores.items() if value >= best - 1e-6]
        assert run["supra_ari"] in [run[f"{name}_ari"] for name in chosen]


def test_calibration_counts_every_object(report):
    bins, right = calibration_of(report.results, "eac")
    assert bins.sum() == 2 * 150
    assert (right <= bins).all()
    iris = load("iris")
    assert right.sum() / bins.sum() > 1 - metrics.error_rate(iris.target, [0] * 150)


def test_tables_and_figures(report):
    names = {table.name for table in report.tables}
    assert {"ari", "nmi", "ranks"} <= names
    assert any(path.name == "calibration.png" for path in report.files)


def test_scores_by_kind_of_ensemble(report):
    (table,) = (table for table in report.tables if table.name == "ranks")
    found = {row.keys: row.ours for row in table.rows}
    for run, recipe in enumerate(("fine", "mixed")):
        score = report.results.values["iris"][run]["lwea_ari"]
        assert found["lwea", f"ARI, {recipe}"] == pytest.approx(score)
    assert ("lwea", "ARI, subspace") not in found
