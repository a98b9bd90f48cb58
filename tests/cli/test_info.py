"""``coterie info``, and the command line as a whole."""

import itertools
import json
import subprocess
import sys

import pytest

import coterie
from coterie import Ensemble
from coterie.cli._options import DEFAULT_METHOD
from coterie.consensus import CONSENSUS


def test_installation(run):
    facts = json.loads(run("info", "--json").stdout)
    assert facts["coterie"] == coterie.__version__
    assert set(facts["methods"]) == set(CONSENSUS)
    assert facts["default method"] == coterie.ConsensusClustering().consensus
    assert set(facts["extras"]) == {"dask", "hypergraph", "metis", "plot", "report"}
    text = run("info").stdout
    assert all(name in text for name in CONSENSUS)


def test_extras_that_are_missing_say_how_to_get_them(run, monkeypatch):
    from coterie.cli import info

    monkeypatch.setattr(info, "find_spec", lambda name: None)
    assert (
        'pip install "coterie[dask]"' in json.loads(run("info", "--json").stdout)["extras"]["dask"]
    )


def test_table(run, table):
    facts = json.loads(run("info", table, "--json").stdout)
    assert (facts["kind"], facts["rows"], facts["columns"]) == ("table", 30, 4)
    assert facts["content"]["name"] == "text ('object 0'), 30 different"
    assert facts["content"]["x"].startswith("numbers from ")


def test_ensemble(run, tmp_path):
    Ensemble([[0, 1], [0, -1], [1, 1]], groups=["a", "b"]).save(tmp_path / "e.npz")
    facts = json.loads(run("info", "e.npz", "--json").stdout)
    assert (facts["objects"], facts["partitions"]) == (3, 2)
    assert facts["missing labels"] == "16.7 %"
    assert facts["groups"] == {"a": 1, "b": 1}


def test_markup_in_names_is_text(run, tmp_path):
    (tmp_path / "m.csv").write_text("[red]a[/red],b\n1,[bold]x\n")
    text = run("info", "m.csv").stdout
    assert "[red]a[/red]" in text
    assert "[bold]x" in text


def test_bad_files(refuse, tmp_path):
    assert "does not exist" in refuse("info", "none.csv")
    (tmp_path / "e.npz").touch()
    assert "not an ensemble" in refuse("info", "e.npz")


def test_bad_memory_limit(refuse, monkeypatch):
    monkeypatch.setenv("COTERIE_MEMORY_LIMIT", "plenty")
    assert "plenty" in refuse("info")


def test_help_version_and_mistyped_commands(run, refuse):
    assert run("--version").stdout == f"coterie {coterie.__version__}\n"
    everything = run()
    assert everything.exit_code == 0
    for command in ("demo", "cluster", "consense", "report", "explain", "info"):
        assert command in everything.stdout
        assert run(command, "--help").exit_code == 0
    assert "Did you mean 'cluster'?" in refuse("clustr")
    assert "--help" in refuse("cluster")


@pytest.mark.parametrize(
    ("words", "heavy"),
    [
        (["--help"], "numpy sklearn numba polars matplotlib"),
        (["--version"], "numpy sklearn numba polars matplotlib"),
        (["explain"], "polars matplotlib"),
        (["explain", "laca"], "polars matplotlib coterie.consensus._eac coterie.clustering"),
        (["info"], "polars matplotlib"),
        (["info", "blobs.csv"], "sklearn numba matplotlib"),
    ],
)
def test_quick_commands_import_nothing_heavy(table, words, heavy):
    code = (
        "import sys; from coterie.cli import app\n"
        f"try: app({words})\n"
        "except SystemExit as end: assert end.code == 0, end.code\n"
        f"print([name for name in {heavy.split()} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("[]\n")


def test_completion_imports_nothing_heavy(monkeypatch):
    words = {"_COTERIE_COMPLETE": "complete_bash", "COMP_CWORD": "3"}
    for name, value in (words | {"COMP_WORDS": "coterie cluster --method la"}).items():
        monkeypatch.setenv(name, value)
    code = (
        "import sys; from coterie.cli import app\n"
        "try: app(prog_name='coterie')\n"
        "except SystemExit as end: assert end.code == 0, end.code\n"
        "print([name for name in 'numpy sklearn numba polars'.split() if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "laca\n[]\n"


@pytest.mark.parametrize("name", ["cluster", "consense", "choose", "compare", "report"])
def test_help_fills_the_lines_of_a_narrow_terminal(run, monkeypatch, name):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("typer.rich_utils.MAX_WIDTH", 80)
    text = run(name, "--help").stdout
    above = [line.strip() for line in text.split("╭")[0].splitlines()]
    for line, following in itertools.pairwise(above):
        if line and following:  # a line ends only where the next word has no room
            assert len(line) + 1 + len(following.split()[0]) > 78, line
    assert max(map(len, text.splitlines())) <= 80


def test_help_names_the_default_method(run):
    assert coterie.ConsensusClustering().consensus == DEFAULT_METHOD
    assert f"Default: {DEFAULT_METHOD}." in " ".join(run("cluster", "--help").stdout.split())
