"""``coterie reproduce``."""

import json
import subprocess
import sys
import time

import pytest
from typer.testing import CliRunner

from coterie.cli import app

pytestmark = pytest.mark.slow

QUICK = ("reproduce", "laca", "--quick", "--only", "iris")


@pytest.fixture(autouse=True)
def _own_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COTERIE_DATA", raising=False)


def _run(*args):
    return CliRunner().invoke(app, [str(arg) for arg in args])


def test_papers_are_listed():
    listed = _run("reproduce")
    assert listed.exit_code == 0
    assert listed.stdout.startswith("laca")
    assert "latent cluster analysis" in listed.stdout
    assert "laca" in json.loads(_run("reproduce", "--json").stdout)


def test_quick_run_of_laca(tmp_path):
    pytest.importorskip("matplotlib")
    result = _run(*QUICK, "--jobs", 1)
    assert result.exit_code == 0, result.stderr
    assert result.stderr == ""
    assert "## Table 3, NMI" in result.stdout
    assert "| Iris | 0.7535 |" in result.stdout
    made = tmp_path / "reproduce-laca"
    names = {path.name for path in made.iterdir()}
    assert {"tasks", "tables.md", "table-2.csv", "figure-2.png", "figure-3.png"} <= names
    assert len(list((made / "tasks").iterdir())) == 2
    assert (made / "tables.md").read_text().count("Glass") == 0
    assert (
        "`coterie reproduce laca --only iris --quick --runs 2 --seed 0`"
        in (made / "tables.md").read_text()
    )

    again = json.loads(_run(*QUICK, "--jobs", 1, "--json").stdout)
    rows = again["tables"]["table-3-nmi"]["rows"]
    assert rows[0]["data set"] == "Iris"
    assert rows[0]["runs"] == 2
    assert rows[0]["difference"] == pytest.approx(rows[0]["ours"] - rows[0]["paper"])
    assert _run(*QUICK, "--quiet").stdout == ""


def test_missing_data_is_no_failure():
    result = _run("reproduce", "laca", "--quick", "--only", "glass", "--jobs", 1)
    assert result.exit_code == 0
    assert "no data: glass not found" in result.stdout


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("reproduce", "lacca"), "PAPER must be one of laca"),
        (("reproduce", "laca", "--only", "beer"), "--only must name parts of 'laca': iris"),
        (("reproduce", "laca", "--jobs", 0), "--jobs must be"),
        (
            ("reproduce", "laca", "--data", "nowhere"),
            "--data must be a directory of data sets; got nowhere",
        ),
        (("reproduce", "laca", "--runs", 0), "--runs"),
    ],
)
def test_bad_input_is_one_line(args, message, tmp_path):
    result = _run(*args)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1
    assert message in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_another_seed_is_refused():
    assert _run(*QUICK, "--runs", 1, "--jobs", 1).exit_code == 0
    result = _run(*QUICK, "--runs", 1, "--jobs", 1, "--seed", 5)
    assert result.exit_code == 2
    assert "another seed" in result.stderr
    assert "another --output directory" in result.stderr


def test_a_killed_command_is_continued(tmp_path):
    words = [sys.executable, "-m", "coterie.cli", *QUICK, "--runs", "5", "--jobs", "1"]
    tasks = tmp_path / "killed" / "tasks"
    process = subprocess.Popen([*words, "--output", "killed"], stdout=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 60
        while not list(tasks.glob("iris-*.json")):
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.005)
    finally:
        process.kill()
        process.wait()
    kept = {path.name: path.stat().st_mtime_ns for path in tasks.glob("iris-*.json")}
    assert len(kept) < 5
    assert not (tmp_path / "killed" / "tables.md").exists()
    for output in ("killed", "whole"):
        result = _run(*QUICK, "--runs", 5, "--jobs", 1, "--output", output)
        assert result.exit_code == 0, result.stderr
    assert len(list(tasks.glob("iris-*.json"))) == 5
    assert all((tasks / name).stat().st_mtime_ns == made for name, made in kept.items())
    tables = [(tmp_path / name / "tables.md").read_text() for name in ("killed", "whole")]
    assert tables[0] == tables[1]
