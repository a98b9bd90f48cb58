"""The pages of the site: complete, true, and linked. `make docs` builds them."""

import doctest
import importlib.util
import inspect
import re
from pathlib import Path

import pytest

from coterie._methods import METHODS

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
MADE = ("_build", "gallery", "api")  # folders that the build writes
PAGES = [
    path
    for path in sorted(DOCS.rglob("*.md"))
    if path.relative_to(DOCS).parts[0] not in MADE and "figures" not in path.parts
]
EXAMPLES = [path for path in PAGES if ">>> " in path.read_text(encoding="utf-8")]
SCRIPTS = sorted((ROOT / "examples" / "gallery").glob("plot_*.py"))


def module(name):
    """The script of this name in docs, as a module."""
    spec = importlib.util.spec_from_file_location(Path(name).name, DOCS / f"{name}.py")
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def ids(paths):
    return [path.relative_to(ROOT).as_posix() for path in paths]


@pytest.mark.parametrize(
    "path", [ROOT / "README.md", *EXAMPLES], ids=ids([ROOT / "README.md", *EXAMPLES])
)
def test_python_examples(path):
    pytest.importorskip("matplotlib")
    pytest.importorskip("jinja2")
    failed, tried = doctest.testfile(str(path), module_relative=False, optionflags=FLAGS)
    assert tried > 0
    assert failed == 0


@pytest.mark.parametrize("name", METHODS)
def test_every_method_has_a_page(name):
    text = (DOCS / "methods" / f"{name}.md").read_text(encoding="utf-8")
    assert f"```{{consensus-method}} {name}\n```" in text
    assert "## When it fails" in text
    assert "$" in text, "no formula"
    assert f"\n{name}\n" in (DOCS / "methods" / "index.md").read_text(encoding="utf-8")


def test_the_reference_lists_public_names_only():
    """Names that it forgets are put on a page of their own by the build."""
    pytest.importorskip("sphinx")
    made = module("_ext/methods")
    listed = made.listed_names((DOCS / "api.md").read_text(encoding="utf-8"))
    assert len(listed) > 100
    assert listed <= made.public_names()


def public_objects():
    """Public classes and functions by name; a constant has no docstring."""
    pytest.importorskip("sphinx")
    found = {}
    for name in sorted(module("_ext/methods").public_names()):
        home, _, own = name.rpartition(".")
        found[name] = getattr(importlib.import_module(home), own)
    return {name: one for name, one in found.items() if callable(one)}


def test_every_public_name_has_an_example():
    found = public_objects()
    assert len(found) > 100
    without = [
        name
        for name, one in found.items()
        if not re.search(
            r"^Examples\n-{8}\n(.*\n)*?>>> ", inspect.cleandoc(one.__doc__ or ""), re.M
        )
    ]
    assert without == []


@pytest.mark.parametrize("path", SCRIPTS, ids=ids(SCRIPTS))
def test_gallery_scripts_tell_a_story_and_draw(path):
    text = path.read_text(encoding="utf-8")
    assert re.match(r'"""\n.+\n=+\n\n', text), "a title, underlined, and a sentence"
    assert "# %%" in text
    assert "pyplot" in text
    assert not re.search(r"https?://|/tmp|fetch_|urlopen", text), "data come with the package"


@pytest.mark.parametrize(
    "path",
    [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *PAGES],
    ids=ids([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *PAGES]),
)
def test_links_lead_somewhere(path):
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.S)
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)\s]*)?\)", text):
        made = target.startswith("gallery/")  # written by the build, which checks these links
        assert made or "://" in target or (path.parent / target).exists(), target


def test_link_checker_finds_what_is_broken(tmp_path):
    page = '<a id="here"></a><a href="other.html#there">x</a><a href="#here">y</a>'
    (tmp_path / "index.html").write_text(page + '<img src="none.png">', encoding="utf-8")
    (tmp_path / "other.html").write_text('<p id="elsewhere"></p>', encoding="utf-8")
    found = module("check_links").broken_links(tmp_path)
    assert found == ["index.html: other.html#there", "index.html: none.png"]
