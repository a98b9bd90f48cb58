"""Facts about the consensus methods, for commands that run none.

To import the methods takes a second of processor time, so the facts are read from the source
instead. Where the methods are loaded already, they are asked themselves.
"""

from __future__ import annotations

import ast
import inspect
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

__all__ = ["MethodFacts", "method_facts"]

_PACKAGE = "coterie.consensus"


class MethodFacts(NamedTuple):
    """What a class says of its method."""

    class_name: str
    summary: str
    """First line of the docstring."""
    finds_n_clusters: bool
    parameters: tuple[str, ...]
    """Sorted, as scikit-learn's `get_params` gives them."""


def method_facts() -> dict[str, MethodFacts]:
    """Return the facts about each method by its name."""
    return _from_classes() if _PACKAGE in sys.modules else _from_source()


def _from_classes() -> dict[str, MethodFacts]:
    from coterie.consensus import CONSENSUS

    return {
        name: MethodFacts(
            cls.__name__,
            _first_line(inspect.getdoc(cls)),
            cls.finds_n_clusters,
            tuple(sorted(cls().get_params(deep=False))),
        )
        for name, cls in CONSENSUS.items()
    }


@cache
def _from_source() -> dict[str, MethodFacts]:
    spec = find_spec(_PACKAGE)
    package = Path(str(spec and spec.origin))
    classes = {
        node.name: node
        for path in sorted(package.parent.glob("_*.py"))
        for node in ast.parse(path.read_bytes()).body
        if isinstance(node, ast.ClassDef)
    }
    table = next(
        node.value
        for node in ast.parse(package.read_bytes()).body
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "CONSENSUS"
    )
    assert isinstance(table, ast.Dict)
    return {
        ast.literal_eval(key): _facts_of(ast.unparse(value), classes)
        for key, value in zip(table.keys, table.values, strict=True)
        if key is not None
    }


def _facts_of(name: str, classes: dict[str, ast.ClassDef]) -> MethodFacts:
    """Return what stands in a class or in the nearest of its bases."""
    finds: bool | None = None
    parameters: tuple[str, ...] | None = None
    line = [classes[name]]
    while line:
        node = line.pop(0)
        line += [classes[base] for base in map(ast.unparse, node.bases) if base in classes]
        for part in node.body:
            if isinstance(part, ast.FunctionDef) and part.name == "__init__" and parameters is None:
                arguments = part.args
                names = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
                parameters = tuple(sorted(a.arg for a in names if a.arg != "self"))
            if isinstance(part, ast.Assign) and ast.unparse(part.targets[0]) == "finds_n_clusters":
                finds = ast.literal_eval(part.value) if finds is None else finds
    return MethodFacts(
        name, _first_line(ast.get_docstring(classes[name])), bool(finds), parameters or ()
    )


def _first_line(doc: str | None) -> str:
    return (doc or "").strip().split("\n")[0]
