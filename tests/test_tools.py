"""The tools of a release: versions, licences, and what is said about them."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]


def test_oldest_versions_are_those_of_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lines = [*project["dependencies"]]
    for extra, more in project["optional-dependencies"].items():
        lines += [] if extra == "all" else more
    stated = {}
    for need in map(Requirement, lines):
        (bound,) = [part for part in need.specifier if part.operator == ">="]
        stated[need.name] = bound.version
    pinned = {
        need.name: next(iter(need.specifier)).version
        for need in map(Requirement, re.findall(r"^\w.*$", oldest(), re.MULTILINE))
    }
    for name, version in stated.items():
        assert re.fullmatch(rf"{re.escape(version)}(\.\d+)*", pinned[name]), name


def oldest():
    return (ROOT / "tools" / "oldest.txt").read_text()


def test_licences_are_known_and_permissive():
    script = ROOT / "tools" / "licences.py"
    done = subprocess.run([sys.executable, script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert re.search(r"^numpy +\S+ +BSD", done.stdout, re.MULTILINE)


def test_make_names_what_contributing_says():
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"`make ([\w-]+)`", (ROOT / "CONTRIBUTING.md").read_text()):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
