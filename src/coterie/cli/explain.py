"""``coterie explain``: what a method does, when to use it, what it costs."""

from __future__ import annotations

import json
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from coterie._about import words_of
from coterie._methods import BASE_CLUSTERERS, METHODS, LazyClasses, class_names
from coterie.cli._console import output_console
from coterie.cli._errors import InputError, did_you_mean

__all__ = ["explain_methods", "explained_methods"]


def explain_methods(method: str | None, as_json: bool) -> None:
    """Print what is told about one method, or a list of all."""
    methods = explained_methods()
    if method is None:
        facts = {name: _facts(name, cls) for name, cls in methods.items()}
        if as_json:
            print(json.dumps(facts, indent=2))
        else:
            _print_list(facts)
        return
    plain = _plain(method)
    by_name = {_plain(name): name for name in methods}
    by_name |= {_plain(cls): name for name, cls in methods.items()}
    if plain not in by_name:
        known = [*methods.values(), *methods]
        raise InputError(
            f"METHOD must be one of {', '.join(methods)}; got {method!r}."
            f"{did_you_mean(method, known)}"
        )
    name = by_name[plain]
    facts = _facts(name, methods[name])
    if as_json:
        print(json.dumps(facts, indent=2))
    else:
        _print_facts(facts)


def _plain(name: str) -> str:
    """Return a name as people may write it: without case, dashes and underscores."""
    return name.casefold().replace("-", "").replace("_", "")


def explained_methods() -> dict[str, str]:
    """Return the name of each method and of its class; base clusterers last."""
    return {name: cls for cls, name in class_names(METHODS | BASE_CLUSTERERS).items()}


def _facts(name: str, cls: str) -> dict[str, Any]:
    estimator = LazyClasses(METHODS | BASE_CLUSTERERS)[name]
    words = words_of(estimator)
    return {
        "name": name,
        "class": cls,
        "title": words.title,
        "does": words.does,
        "use": words.use,
        "finds the number of clusters": getattr(estimator, "finds_n_clusters", False),
        "parameters": list(estimator().get_params(deep=False)) if name in METHODS else [],
        "cost": words.cost,
        "missing labels": words.missing,
        "paper": list(words.references),
        "is consensus": name in METHODS,
    }


def _print_list(facts: dict[str, dict[str, Any]]) -> None:
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("method", no_wrap=True)
    table.add_column("stands for")
    table.add_column("finds k")
    for name, fact in facts.items():
        found = "yes" if fact["finds the number of clusters"] else ""
        table.add_row(Text(name), Text(fact["title"]), found)
    console = output_console()
    console.print(table)
    console.print("For one of them: coterie explain laca")


def _print_facts(facts: dict[str, Any]) -> None:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column()
    rows = {
        "does": facts["does"],
        "use": facts["use"],
        "clusters": "It finds the number of clusters, or takes one."
        if facts["finds the number of clusters"]
        else "The number of clusters must be given.",
        "cost": facts["cost"],
        "missing": facts["missing labels"],
        "paper": "\n".join(facts["paper"]),
    }
    if facts["is consensus"]:
        parameters = [name for name in facts["parameters"] if name != "n_clusters"]
        rows["--set"] = ", ".join(parameters)
        rows["Python"] = f"from coterie import {facts['class']}"
        rows["try"] = f"coterie cluster DATA --method {facts['name']}" + (
            "" if facts["finds the number of clusters"] else " --clusters K"
        )
    console = output_console()
    console.print(Text(f"{facts['class']}: {facts['title']}", style="bold"))
    console.print()
    for name, value in rows.items():
        if value:
            grid.add_row(name, Text(value))
            grid.add_row("", "")
    console.print(grid)
