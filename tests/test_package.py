"""The package as a whole: quick to import, complete, and its docstrings true."""

import ast
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from sklearn.base import BaseEstimator

import coterie

ROOT = Path(__file__).parents[1]


def run_python(code):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.strip()


def public_objects():
    """(name, class or function) for everything public, methods included."""
    found = {}
    modules = ("consensus", *coterie._MODULES, *coterie._HIDDEN)
    for module_name in ["coterie", *(f"coterie.{m}" for m in modules)]:
        module = importlib.import_module(module_name)
        for name in getattr(module, "__all__", ()):
            thing = getattr(module, name)
            if inspect.isclass(thing) or inspect.isfunction(thing):
                found[f"{thing.__module__}.{thing.__qualname__}"] = thing
            if inspect.isclass(thing):
                for attribute, method in vars(thing).items():
                    method = getattr(method, "__func__", method)
                    if not attribute.startswith("_") and inspect.isfunction(method):
                        found[f"{thing.__module__}.{method.__qualname__}"] = method
    return sorted(found.items())


PUBLIC = public_objects()


def documented_parameters(docstring):
    """{name: type and default as written} of a numpydoc docstring."""
    lines = inspect.cleandoc(docstring or "").splitlines()
    found = {}
    section = None
    for line, underline in zip(lines, [*lines[1:], ""], strict=True):
        if re.fullmatch(r"-{3,}", underline):
            section = line
        elif section == "Parameters" and re.match(r"[\w*]+(, [\w*]+)* : ", line):
            names, _, kind = line.partition(" : ")
            found |= dict.fromkeys(names.split(", "), kind)
    return found


@pytest.mark.slow
def test_import_is_light():
    heavy = ("numba", "polars", "pandas", "matplotlib", "dask", "sklearn", "scipy", "typer")
    code = f"import sys, coterie; print([m for m in {heavy} if m in sys.modules])"
    assert run_python(code) == "[]"


@pytest.mark.slow
def test_ensembles_need_neither_numba_nor_frames():
    code = (
        "import sys; from coterie import Ensemble; Ensemble([[0, 1], [1, 1]]);"
        "print([m for m in ('numba', 'polars', 'pandas', 'matplotlib') if m in sys.modules])"
    )
    assert run_python(code) == "[]"


def test_version_is_that_of_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert project["project"]["dynamic"] == ["version"]
    assert project["tool"]["hatch"]["version"]["path"] == "src/coterie/__init__.py"
    changelog = (ROOT / "CHANGELOG.md").read_text()
    assert re.search(r"^## (.*)$", changelog, re.MULTILINE)[1].startswith(coterie.__version__)


def test_every_public_name_is_there():
    assert dir(coterie) == sorted(coterie.__all__)
    for name in coterie.__all__:
        assert getattr(coterie, name) is not None
    for name in ("Ensemble", "EAC", "ConsensusClustering", "RandomizedEnsemble", "metrics"):
        assert name in coterie.__all__
    with pytest.raises(AttributeError, match="module 'coterie' has no attribute 'nothing'"):
        coterie.nothing  # noqa: B018


def test_star_import():
    namespace = {}
    exec("from coterie import *", namespace)
    assert set(coterie.__all__) <= set(namespace)


def test_every_module_can_be_imported():
    for module in pkgutil.walk_packages(coterie.__path__, "coterie."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)


def test_every_module_says_what_it_is():
    for path in (ROOT / "src" / "coterie").rglob("*.py"):
        assert path.read_text().lstrip().startswith('"""'), path


@pytest.mark.parametrize(("name", "thing"), PUBLIC, ids=[name for name, _ in PUBLIC])
def test_public_things_are_documented(name, thing):
    assert inspect.getdoc(thing), name


@pytest.mark.parametrize(("name", "thing"), PUBLIC, ids=[name for name, _ in PUBLIC])
def test_documented_parameters_are_those_of_the_signature(name, thing):
    documented = documented_parameters(thing.__doc__)
    if not documented:  # a short method, or a class that users do not make
        assert not inspect.isclass(thing) or not issubclass(thing, BaseEstimator)
        return
    signature = inspect.signature(thing).parameters
    actual = {p for p in signature if p not in ("self", "cls", "y")}
    assert set(documented) - {"y"} <= {*actual, *(f"*{p}" for p in actual), "y"}, "unknown names"
    assert actual <= {p.lstrip("*") for p in documented}, "undocumented"
    for parameter, kind in documented.items():
        default = signature[parameter.lstrip("*")].default
        written = re.search(r"default=(.+)$", kind)
        if written is None:
            # "optional" means None; a set of choices starts with the default.
            if default is inspect.Parameter.empty or default is None:
                continue
            choices = re.match(r"\{(['\w. -]+)", kind)
            assert choices, f"{name}: {parameter} has a default that is not documented"
            assert choices[1] == repr(default)
        else:
            words = f"{name}: {parameter} is {default!r}, not {written[1]}"
            try:
                assert ast.literal_eval(written[1]) == default, words
            except ValueError:  # a name, such as float64
                assert written[1] in (str(default), getattr(default, "__name__", None)), words


def test_parser_of_docstrings_sees_a_wrong_default():
    text = "Do.\n\nParameters\n----------\na, b : int, default=3\n    Text : x.\n"
    assert documented_parameters(text) == {"a": "int, default=3", "b": "int, default=3"}


def test_citation_is_of_this_version_and_names_the_papers():
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {coterie.__version__}\n" in text
    assert re.search(r'^date-released: "\d{4}-\d\d-\d\d"$', text, re.MULTILINE)
    for method in ("LACA", "MSTEClust", "PEACE", "HNE", "WSPA", "EAC"):
        assert re.search(rf"^    notes: .*\b{method}\b", text, re.MULTILINE)
