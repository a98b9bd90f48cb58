"""The experiment of the paper on LWEA and LWGP, on small pools made here."""

from csv import DictReader
from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat

from coterie.consensus import CONSENSUS, LWEA
from coterie.datasets import load
from coterie.experiments import get_experiment, lwea, published
from coterie.experiments._run import run_experiment
from coterie.metrics import nmi

FEW = ("VS", "IS", "MF")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Three pools: 30 clusterings each, an eighth of whose labels are drawn at random."""
    where = tmp_path_factory.mktemp("pools")
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(1, 4), 20)
    for pool in FEW:
        members = np.column_stack([truth * 2 + rng.integers(2, size=60) for _ in range(30)])
        shuffled = rng.permuted(members, axis=0)
        members = np.where(rng.random(members.shape) < 0.125, shuffled, members)
        savemat(where / f"bc_pool_{pool}.mat", {"members": members, "gt": truth.reshape(-1, 1)})
    return where


@pytest.fixture(scope="module")
def report(folder, tmp_path_factory):
    where = tmp_path_factory.mktemp("lwea")
    return run_experiment(
        get_experiment("lwea"), where, quick=True, only=FEW, data=folder, n_jobs=1
    )


def test_published_numbers_are_those_of_the_paper():
    paper = published("lwea")
    assert set(paper.rows("V")) == set(paper.rows("VII")) == set(lwea.POOLS)
    assert len(paper) == 2 * 15 * 13 * 2
    assert paper["V", "Caltech20", "LWEA"] == 0.452
    assert paper["V", "Caltech20", "LWEA std"] == 0.011
    compared = {lwea.IN_PAPER.get(title, title) for title in lwea.METHODS}
    assert {name for name in paper.columns("V") if not name.endswith("std")} - compared == {"TOME"}
    means = {m: np.mean([paper["V", pool, m] for pool in lwea.POOLS]) for m in ("LWEA", "LWGP")}
    assert means == pytest.approx({"LWEA": 0.556, "LWGP": 0.550}, abs=6e-4)


def test_every_method_takes_part_or_is_named():
    taking = {name for name, _ in lwea.METHODS.values()}
    assert set(CONSENSUS) - taking == {"pwec", "wspa", "wbpa", "wsbpa", "baum_eagon"}


def test_slow_methods_have_the_first_runs_of_the_pools_they_can_do():
    tasks = {(task.part, task.run): task.parameters["methods"] for task in lwea.plan(100, False)}
    assert len(tasks) == 15 * 100
    assert tasks["VS", 0] == list(lwea.METHODS)
    assert set(lwea.METHODS) - set(tasks["LR", 0]) == {"EC-CMS", "PEACE"}
    assert set(lwea.METHODS) - set(tasks["VS", 99]) == set(lwea.MAX_RUNS)
    for pool, runs in (("PD", 10), ("LR", 1)):
        assert sum("PTA" in tasks[pool, run] for run in range(100)) == runs


def test_scores_are_those_of_ten_members(report, folder):
    task = get_experiment("lwea").tasks(quick=True, only=["VS"])[0]
    pool = load("bc_pool_VS", folder)
    drawn = np.sort(np.random.default_rng(task.seed).choice(30, 10, replace=False))
    labels = LWEA(n_clusters=3).fit_predict(pool.data[:, drawn].astype(int))
    assert report.results.values["VS"][0]["LWEA_nmi"] == nmi(pool.target, labels)


def test_tables_and_figures(report):
    found = {table.name: table for table in report.tables}
    assert list(found) == ["summary", "table-v", "table-vii", "nmi-by-pool", "ari-by-pool"]
    summary = {row.keys: row for row in found["summary"].rows}
    scores = [report.results.numbers(pool, "LWGP_ari").mean() for pool in FEW]
    printed = [published("lwea")["VII", pool, "LWGP"] for pool in FEW]
    assert summary["LWGP", "ARI"].ours == pytest.approx(np.mean(scores))
    assert summary["LWGP", "ARI"].paper == pytest.approx(np.mean(printed))
    assert summary["HNE", "NMI"].paper is None
    ranks = [row.ours for keys, row in summary.items() if keys[1] == "rank by NMI"]
    assert sum(ranks) == pytest.approx(len(ranks) * (len(ranks) + 1) / 2)
    assert len(ranks) == len(lwea.METHODS) - len(lwea.MAX_RUNS)
    names = {path.name for path in report.files}
    assert {"lwea-ranks-nmi.png", "lwea-ranks-ari.png", "table-v.csv", "summary.csv"} <= names


def test_absent_pools_are_named(folder, tmp_path):
    report = run_experiment(
        get_experiment("lwea"), tmp_path, quick=True, only=["LR"], data=folder, n_jobs=1
    )
    assert not report.results.parts
    assert "bc_pool_LR not found" in report.tables[0].rows[0].note


@pytest.mark.parametrize("score", lwea.SCORES)
def test_the_page_follows_from_the_stored_scores(score):
    """The means on the page are those of the scores by pool that are kept beside it."""
    docs = Path(__file__).parents[2] / "docs" / "reproduction"
    with (docs / f"lwea-{score}.csv").open(newline="") as file:
        lines = list(DictReader(file))
    page = (docs / "lwea.md").read_text(encoding="utf-8")
    summary = page.split("## Means over 15 pools")[1].split("\n## ")[0]
    shown = [line.strip("| ").split(" | ") for line in summary.splitlines() if "|" in line][2:]
    assert {cells[0] for cells in shown} == set(lwea.METHODS)
    column = 2 if score == "nmi" else 5
    for cells in shown:
        stored = [line for line in lines if line["method"] == cells[0] and line["ours"]]
        mean = np.mean([float(line["ours"]) for line in stored])
        assert float(cells[column]) == pytest.approx(mean, abs=5.1e-4)
