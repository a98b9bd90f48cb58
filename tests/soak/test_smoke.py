"""A few seconds of the soak, and that it notices what it is there for."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from coterie import EAC, _archives
from soak import cases, damage
from soak.attacks import ATTACKS
from soak.cases import run_case
from soak.crew import Crew

pytestmark = pytest.mark.slow
SOAK = Path(__file__).parent


def run_cases(attack, n, seed=0):
    for number in range(n):
        run_case(attack, seed, number)


@pytest.mark.parametrize("attack", ["ensembles", "choosing", "features", "files", "damage"])
def test_a_few_cases_hold(attack):
    run_cases(attack, 6, seed=1)


def test_the_command_prints_a_table_and_continues(tmp_path):
    words = [sys.executable, str(SOAK), "--attacks", "files", "--jobs", "1", "--output", tmp_path]
    for _ in range(2):
        done = subprocess.run(
            [*words, "--minutes", "0.15"], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert "attack" in done.stdout
    counts = json.loads((tmp_path / "counts-0.json").read_text())["files"]
    assert counts["tried"] <= counts["next"] <= counts["tried"] + 2
    assert counts["failed"] == 0


def test_wrong_answers_are_noticed(monkeypatch):
    monkeypatch.setattr(EAC, "predict_confidence", lambda self, X: np.full(len(X), 1.5))
    monkeypatch.setattr("soak.ensembles._METHODS_EACH", len(ATTACKS))
    with pytest.raises(AssertionError):
        run_cases("ensembles", 60)


def test_silent_damage_is_noticed(monkeypatch):
    damage._originals.cache_clear()
    monkeypatch.setattr(_archives, "_checksum", lambda arrays: b"always the same")
    monkeypatch.setattr("zipfile.ZipExtFile._update_crc", lambda self, data: None)
    with pytest.raises(AssertionError, match="a damaged"):
        run_cases("damage", 60)
    damage._originals.cache_clear()


@pytest.mark.parametrize("what", ["crash", "hang"])
def test_crashes_and_hangs_are_noticed_and_can_be_replayed(tmp_path, monkeypatch, what):
    monkeypatch.setattr("soak.crew.START_SECONDS", 3.0)
    body = {"crash": "import os; os.abort()", "hang": "import time; time.sleep(99)"}[what]
    code = "import sys\nfor line in sys.stdin:\n    " + body
    monkeypatch.setattr("soak.crew._WORKER", code)
    crew = Crew(tmp_path, 0, ["files"])
    worker = crew._start()
    while (words := worker.result()) is None:
        pass
    crew._note(worker, words)
    worker.end()
    assert words.startswith(what)
    case = json.loads((tmp_path / "failures" / "files-0-0.json").read_text())
    assert case["attack"] == "files"
    monkeypatch.setattr(cases, "ATTACKS", ATTACKS)
    run_case(case["attack"], case["seed"], case["number"])
