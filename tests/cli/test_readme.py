"""The README and the guide run as written."""

import doctest
import re
import shlex
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS

pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")


@pytest.mark.parametrize(
    "name",
    [
        "README.md",
        "docs/choosing.md",
        "docs/guide.md",
        "docs/seeing.md",
        "docs/tables.md",
        "docs/methods/hne.md",
        "docs/methods/mixture.md",
        "docs/methods/modern.md",
        "docs/methods/msteclust.md",
        "docs/methods/peace.md",
        "docs/methods/voting.md",
    ],
)
def test_python_examples(name):
    failed, tried = doctest.testfile(str(ROOT / name), module_relative=False, optionflags=FLAGS)
    assert tried > 0
    assert failed == 0


def shape_of(text):
    """Return the words of an output; numbers may differ in other versions of scikit-learn."""
    return re.sub(r"\d+(\.\d+)?", "#", " ".join(text.replace("─", " ").split()))


def test_console_examples(run, monkeypatch):
    from coterie.cli import _output

    monkeypatch.setattr(_output, "on_terminal", lambda: True)
    assert run("demo", "--quiet").exit_code == 0
    blocks = re.findall(r"```console\n\$ (.*?)\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    assert len(blocks) == 2
    for command, expected in blocks:
        words = shlex.split(command)
        if words[0] == "coterie":
            result = run(*words[1:])
            assert result.exit_code == 0
            printed = result.stdout
        else:
            assert words[:2] == ["head", "-3"]
            printed = "\n".join(Path(words[2]).read_text().splitlines()[:3])
        assert shape_of(printed) == shape_of(expected)


def test_links_lead_somewhere():
    for name in (
        "README.md",
        "CONTRIBUTING.md",
        "docs/guide.md",
        "docs/seeing.md",
        "docs/choosing.md",
    ):
        text = (ROOT / name).read_text()
        for target in re.findall(r"\]\(([^)#]+)\)", text):
            assert (ROOT / name).parent.joinpath(target).exists(), target
