"""Small files for the commands, and two ways to run them."""

import subprocess
import sys

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from coterie.cli import app


@pytest.fixture(autouse=True)
def _own_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COTERIE_DEBUG", raising=False)


@pytest.fixture
def run():
    """Run a command in this process; the result has exit_code, stdout and stderr."""

    def call(*args, input=None):
        return CliRunner().invoke(app, [str(arg) for arg in args], input=input)

    return call


@pytest.fixture
def refuse(run):
    """Run a command that must refuse its input; return its one line on stderr."""

    def call(*args, input=None):
        result = run(*args, input=input)
        assert result.exit_code == 2, (result.stdout, result.stderr)
        assert result.stdout == ""
        lines = result.stderr.splitlines()
        assert lines[-1].startswith("coterie: ")
        assert len([line for line in lines if not line.startswith("coterie: note: ")]) == 1
        return lines[-1].removeprefix("coterie: ")

    return call


@pytest.fixture
def command():
    """Return how to start a command as a process of its own."""

    def start(*args, program=(sys.executable, "-m", "coterie.cli"), **settings):
        settings = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True} | settings
        return subprocess.Popen([*program, *map(str, args)], **settings)

    return start


@pytest.fixture
def blobs():
    """Three well-separated groups of ten rows: names, two features and classes."""
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1, 2], 10)
    X = rng.normal(size=(30, 2)) * 0.3 + np.array([[0, 0], [9, 0], [0, 9]])[group]
    return pl.DataFrame(
        {
            "name": [f"object {i}" for i in range(30)],
            "x": X[:, 0],
            "y pos": X[:, 1],
            "kind": np.array(["one", "two", "three"])[group],
        }
    )


@pytest.fixture
def table(blobs, tmp_path):
    path = tmp_path / "blobs.csv"
    blobs.write_csv(path)
    return path
