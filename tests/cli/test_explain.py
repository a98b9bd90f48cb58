"""``coterie explain``, suggestions and shell completion."""

import json
import os
import subprocess
import sys

import pytest

from coterie.consensus import CONSENSUS


def test_every_method_is_explained(run):
    facts = json.loads(run("explain", "--json").stdout)
    assert set(facts) == {*CONSENSUS, "lac"}
    for name, fact in facts.items():
        for key in ("title", "does", "use", "cost", "missing labels", "paper"):
            assert fact[key], (name, key)
        if name in CONSENSUS:
            assert fact["finds the number of clusters"] == CONSENSUS[name].finds_n_clusters
    text = run("explain").stdout
    assert all(name in text for name in facts)


@pytest.mark.parametrize("name", ["laca", "LACA", "baum-eagon", "BaumEagon", "MixtureModel"])
def test_names_may_be_written_as_people_do(run, name):
    done = run("explain", name)
    assert done.exit_code == 0, done.stderr
    for words in ("does", "use", "cost", "missing", "paper", "coterie cluster DATA --method"):
        assert words in done.stdout


def test_mistyped_names_get_a_suggestion(refuse, table):
    assert "Did you mean 'laca'?" in refuse("explain", "lacca")
    assert "Did you mean 'hbgf'?" in refuse("explain", "hgbf")
    assert "Did you mean 'peace'?" in refuse("cluster", table, "--method", "peac")
    assert "Did you mean 'kind'?" in refuse("cluster", table, "--truth", "knd")
    assert "Did you mean 'linkage'?" in refuse(
        "cluster", table, "--method", "eac", "--set", "linkag=single"
    )


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("coterie explain l", "laca"),
        ("coterie cluster data.csv --method ms", "msteclust"),
        ("coterie cluster data.csv --base wa", "ward"),
        ("coterie rep", "report"),
        ("coterie reproduce pe", "peace"),
    ],
)
def test_shells_can_complete(words, expected):
    environment = os.environ | {
        "_COTERIE_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
    }
    code = "from coterie.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment
    )
    assert expected in done.stdout.split(), done.stderr


def test_completion_can_be_installed(run):
    assert "--install-completion" in run("--help").stdout
