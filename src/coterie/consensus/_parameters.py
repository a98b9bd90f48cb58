"""Parameters that several consensus functions have: one rule and one description for each."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, get_args

import numpy as np

from coterie._checks import check_choice, check_integer, check_number, check_random_state
from coterie._limits import memory_limit_bytes
from coterie._linkage import Regime

__all__ = ["RULES", "Check", "check_parameters", "complete_docstring", "number", "one_of"]

Check = Callable[[str, Any], None]
"""Raises TypeError or ValueError, with the name, the rule and the value in the message."""


def check_seed(name: str, value: Any) -> None:
    """Raise unless the value can seed NumPy's generators."""
    try:
        check_random_state(value)
    except ValueError as error:
        raise ValueError(
            f"{name} must be an integer from 0 to 2^32 - 1, a RandomState or None; got {value!r}."
        ) from error


def check_n_jobs(name: str, value: Any) -> None:
    """Raise unless the value is a number of threads, negative as in joblib, or None."""
    if value is not None and (
        not isinstance(value, int | np.integer) or isinstance(value, bool) or value == 0
    ):
        raise ValueError(
            f"{name} must be None, a number of threads or -1 for all of them; got {value!r}."
        )


def check_limit(name: str, value: Any) -> None:
    """Raise unless the value is a size of memory or None."""
    memory_limit_bytes(value)


def one_of(*choices: Any) -> Check:
    """Return the rule that a parameter is one of some values."""
    return partial(check_choice, choices=choices)


def number(**bounds: Any) -> Check:
    """Return the rule that a parameter is a number, with the bounds of `check_number`."""
    return partial(check_number, **bounds)


RULES: Mapping[str, Check] = {
    "imbalance": check_number,
    "max_clusters": partial(check_integer, at_least=1),
    "max_iter": partial(check_integer, at_least=1),
    "max_objects": partial(check_integer, at_least=2, optional=True),
    "memory_limit": check_limit,
    "min_share": number(at_most=1),
    "n_init": partial(check_integer, at_least=1),
    "n_jobs": check_n_jobs,
    "n_steps": partial(check_integer, at_least=1),
    "partitioner": one_of("spectral", "metis"),
    "random_state": check_seed,
    "regime": one_of(*get_args(Regime)),
    "skip_first": one_of(False, True),
    "theta": number(positive=True),
    "tol": check_number,
}
"""By the name of the parameter; a method with another rule has it in its `rules`."""


def check_parameters(estimator: Any) -> None:
    """Raise TypeError or ValueError for the first parameter that breaks its rule."""
    rules = {**RULES, **estimator.rules}
    for name, value in estimator.get_params(deep=False).items():
        if name in rules:
            rules[name](name, value)


# --- docstrings ---------------------------------------------------------------------------------

PARAMETERS: Mapping[str, str] = {
    "n_clusters": """n_clusters : int, default=2
    Number of clusters. The method does not find it by itself.""",
    "max_objects": """max_objects : int or None, default=20000
    Largest number of distinct label rows that the tree is grown on. If there are more, it is
    grown on that many objects drawn at random (with a fixed seed), and the others join the
    cluster that the partitions put them with most often. None: always all.""",
    "regime": """regime : {'auto', 'triangle', 'matrix-free'}, default='auto'
    For average linkage: keep the sums over pairs of clusters, or compute them from the labels.
    By default they are kept as soon as they fit `memory_limit`.""",
    "imbalance": """imbalance : float, default=0.05
    With 'metis': by how much a part may be larger than the mean.""",
    "skip_first": """skip_first : bool, default=False
    With 'spectral': use eigenvectors 2 to k+1 instead of 1 to k.""",
    "memory_limit": """memory_limit : int or str, optional
    Memory limit for pairwise arrays, in bytes or as a size such as ``'4GB'``. Default: the
    environment variable ``COTERIE_MEMORY_LIMIT``, else 2 GB.""",
    "n_jobs": """n_jobs : int, optional
    Number of threads of compiled code; -1 means all processors. Default: as many as numba is
    set to use. The result does not depend on it.""",
    "random_state": """random_state : int, RandomState instance or None, default=None
    Seed. The same seed gives the same result.""",
}
ATTRIBUTES: Mapping[str, str] = {
    "labels_": """labels_ : ndarray of int64, shape (n_objects,)
    Consecutive from 0, largest cluster first.""",
    "n_clusters_": """n_clusters_ : int
    Number of clusters.""",
    "confidence_": """confidence_ : ndarray of shape (n_objects,)
    Confidence in [0, 1]: support for the object's own cluster / (own + best other cluster). Near
    0.5 the other cluster would do as well.""",
    "ensemble_": """ensemble_ : Ensemble
    The ensemble that was fitted.""",
    "n_features_in_": """n_features_in_ : int
    Number of partitions.""",
}
_FIRST = ("labels_", "n_clusters_")


def complete_docstring(cls: Any) -> None:
    """Add the shared descriptions that the docstring of a method leaves out, and its papers."""
    if not cls.__doc__:  # python -OO
        return
    sections = _split(inspect.cleandoc(cls.__doc__))
    parameters = list(inspect.signature(cls).parameters)
    own = [name for name in _entries(sections.get("Attributes", "")) if name not in ATTRIBUTES]
    attributes = [*_FIRST, *own, *(name for name in ATTRIBUTES if name not in _FIRST)]
    examples = sections.pop("Examples", "")
    completed = {
        "": sections.pop(""),
        "Parameters": _complete(sections.pop("Parameters", ""), PARAMETERS, parameters),
        "Attributes": _complete(sections.pop("Attributes", ""), ATTRIBUTES, attributes),
        **sections,
        "References": _cite(cls.about.references, sections.get("References", "")),
        "Examples": examples,
    }
    cls.__doc__ = "\n\n".join(
        f"{title}\n{'-' * len(title)}\n{text}" if title else text
        for title, text in completed.items()
        if text
    )


def _split(text: str) -> dict[str, str]:
    """Return the text of each section of a docstring by its title; '' is the text before them."""
    parts = re.split(r"^(\S.*)\n-+\n", text, flags=re.MULTILINE)
    return {
        "": parts[0].strip(),
        **dict(zip(parts[1::2], map(str.rstrip, parts[2::2]), strict=True)),
    }


def _entries(text: str) -> dict[str, str]:
    """Return the entries of a section by their names; one for several names by the first."""
    entries = [entry.rstrip() for entry in re.split(r"^(?=\S)", text, flags=re.MULTILINE) if entry]
    return {entry.partition(" : ")[0].split(",")[0]: entry for entry in entries}


def _complete(text: str, shared: Mapping[str, str], order: Iterable[str]) -> str:
    """Return a section with the shared entries that it lacks, all entries in the given order."""
    entries = _entries(text)
    completed = [entries.pop(name, shared.get(name)) for name in order]
    return "\n".join([entry for entry in completed if entry] + list(entries.values()))


def _cite(papers: tuple[str, ...], others: str) -> str:
    """Return the papers of a method as a section, numbered from 1, and other references."""
    if ".. [1]" in others:
        return others
    cited = []
    for number, paper in enumerate(papers, start=1):
        text = re.sub(r"doi:(\S+)", r":doi:`\1`", paper)
        cited.append(textwrap.fill(f".. [{number}] {text}", 99, subsequent_indent="   "))
    return "\n".join([*cited, others]).rstrip()
