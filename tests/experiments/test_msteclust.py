"""The experiment of the paper on MSTEClust."""

import numpy as np
import pytest
from scipy.stats import t as student_t

import naive
from coterie import Ensemble
from coterie.experiments import Results, msteclust, published
from coterie.experiments._run import run_experiment

pytestmark = pytest.mark.slow


def _task(part):
    return next(t for t in msteclust.plan(1, quick=False) if t.part == part).seeded(0)


def test_published_numbers_are_those_of_the_paper():
    paper = published("msteclust")
    assert paper.rows("1") == list(msteclust.ESTIMATES)
    assert len(paper) == 4 * 5 * 2
    assert paper["1", "q_1^0", "0"] == 0.957
    assert paper["1", "q_1^1", "4"] == 0.659
    assert paper["1", "q_2^0", "0"] == 0.99
    assert paper["1", "q_2^1", "4 std"] == 0.043
    # The text: above 0.5 up to three noise features.
    assert min(paper["1", row, str(d)] for row in paper.rows("1") for d in range(4)) > 0.5


def test_the_recipe_is_that_of_section_5():
    X = np.random.default_rng(0).normal(size=(100, 16))
    ensemble = msteclust.make_ensemble(_task("d0=0"), X)
    assert ensemble.n_partitions == 50
    assert np.unique(ensemble.groups, return_counts=True)[1].tolist() == [25, 25]
    assert set(ensemble.n_clusters) == {2, 3, 4, 5}
    assert ((ensemble.validity > 0) & (ensemble.validity < 1)).all()


def test_estimates_are_shares_of_right_votes():
    labels = np.random.default_rng(0).integers(0, 3, size=(9, 4))
    y = np.repeat([0, 1, 2], 3)
    groups = ["k-means", "k-means", "single linkage", "single linkage"]
    found = msteclust.estimates(Ensemble(labels, groups=groups), y)
    right = naive.pairs_together(y)
    for short, columns in (("km", (0, 1)), ("hacsl", (2, 3))):
        joined = [naive.pairs_together(labels[:, e]) for e in columns]
        assert found[f"{short}_joined"] == pytest.approx(np.mean([j[right].mean() for j in joined]))
        assert found[f"{short}_parted"] == pytest.approx(
            np.mean([1 - j[~right].mean() for j in joined])
        )


def test_one_sample_without_noise():
    task = _task("d0=0")
    values = msteclust.compute(task, None)
    assert values == msteclust.compute(task, None)
    for name in ("mste", "mste_told", "pwec_told", "km_ten", "hacsl"):
        assert values[f"{name}_ari"] == 1.0
    assert values["mste_k"] == 4
    few = msteclust.compute(_task("d0=4, runs on 2 features"), None)
    assert sorted(few) == sorted(msteclust.ESTIMATES.values())


def test_paired_tests():
    lead = np.array([0.1, 0.2, 0.15, 0.3, -0.02, 0.12])
    found = msteclust.paired_tests(lead)
    t = lead.mean() / (lead.std(ddof=1) / np.sqrt(6))
    assert found["t"] == pytest.approx(2 * student_t.sf(t, df=5))
    # The smallest is the only negative one: 2 of 2^6 signs are so extreme on either side.
    assert found["Wilcoxon"] == pytest.approx(2 * 2 / 2**6)
    assert msteclust.paired_tests(np.zeros(5)) == {"t": None, "Wilcoxon": None}


def test_quick_run(tmp_path):
    report = run_experiment(msteclust.EXPERIMENT, tmp_path, quick=True, runs=2, n_jobs=1)
    assert report.results.parts == ["d0=0", "d0=4", "d0=10"]
    names = {path.name for path in report.files}
    assert {"table-1.csv", "figure-2.csv", "lead.csv", "tables.md"} <= names
    table = next(t for t in report.tables if t.name == "table-1")
    assert {row.keys for row in table.rows} == {
        (estimate, d) for estimate in msteclust.ESTIMATES for d in ("0", "4")
    }
    assert all(row.paper is not None and row.ours is not None for row in table.rows)


def test_figure(tmp_path):
    pytest.importorskip("matplotlib")
    keys = [*msteclust.METHODS, "km_ten"]
    runs = [{f"{key}_ari": 0.5 + 0.1 * r for key in keys} for r in range(3)]
    figure = msteclust.figures(Results({"d0=0": runs, "d0=10": runs}))["figure-2"]
    (ax,) = figure.axes
    assert next(text.get_text() for text in ax.get_legend().get_texts()) == "MSTEClust"
    assert len(ax.containers) == 5
