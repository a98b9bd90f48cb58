"""The commands of the README run as written; its Python is tested with the pages of the site."""

import re
import shlex
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")


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
