"""``coterie demo``, and the commands it recommends."""

import shlex

import polars as pl
import pytest

pytest.importorskip("jinja2")


def test_demo_writes_its_files_and_its_advice_runs(run, tmp_path):
    first = run("demo")
    assert first.exit_code == 0, first.stderr
    assert first.stderr == ""
    assert "NMI" in first.stdout
    made = tmp_path / "coterie-demo"
    names = ["ensemble.npz", "iris.csv", "labels.csv", "report.html"]
    assert sorted(p.name for p in made.iterdir()) == names
    labels = pl.read_csv(made / "labels.csv")
    assert labels.columns == ["id", "cluster", "confidence", "truth", "runner_up"]
    assert labels.height == 150
    advice = [line.strip() for line in first.stdout.splitlines() if " coterie c" in line]
    assert len(advice) == 3
    for line in advice:
        words = shlex.split(line.removeprefix("next"))
        assert run(*words[1:]).exit_code == 0


def test_demo_is_repeatable(run, tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    for directory in (one, two, two):
        assert run("demo", "--output", directory, "--quiet").stdout == ""
    for name in ("labels.csv", "report.html", "iris.csv"):
        assert (one / name).read_bytes() == (two / name).read_bytes()


def test_demo_as_json_and_with_the_report_elsewhere(run, tmp_path):
    import json

    done = run("demo", "--json", "--report", "other.html")
    assert json.loads(done.stdout)["n_objects"] == 150
    assert (tmp_path / "other.html").exists()
    assert not (tmp_path / "coterie-demo" / "report.html").exists()


def test_demo_without_the_report_extra(run, tmp_path, monkeypatch):
    from coterie.report import _html

    monkeypatch.setattr(_html, "find_spec", lambda name: None)
    result = run("demo")
    assert result.exit_code == 0
    assert 'pip install "coterie[report]"' in result.stdout
    assert not (tmp_path / "coterie-demo" / "report.html").exists()


def test_demo_needs_a_directory(refuse, tmp_path):
    (tmp_path / "file").touch()
    assert "is a file" in refuse("demo", "--output", "file")
