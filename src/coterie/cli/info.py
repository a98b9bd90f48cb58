"""``coterie info``: what is installed."""

from __future__ import annotations

import platform
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import numba

from coterie import __version__
from coterie._about import words_of
from coterie._limits import format_bytes, memory_limit_bytes
from coterie._methods import DEFAULT_METHOD
from coterie.cli._errors import refused_input
from coterie.consensus import CONSENSUS

__all__ = ["installation"]

_EXTRAS = {"report": ("jinja2",), "metis": ("pymetis",), "dask": ("dask",)}
_EXTRAS |= {"plot": ("matplotlib",), "hypergraph": ("mtkahypar",)}


def installation() -> dict[str, Any]:
    """Return what is installed."""
    with refused_input():
        limit = memory_limit_bytes()
    return {
        "coterie": __version__,
        "python": platform.python_version(),
        "scikit-learn": version("scikit-learn"),
        "methods": {name: words_of(cls).title for name, cls in CONSENSUS.items()},
        "default method": DEFAULT_METHOD,
        "threads": numba.get_num_threads(),
        "memory limit": f"{format_bytes(limit)} for one array over pairs of objects or "
        "one table; set COTERIE_MEMORY_LIMIT to change it",
        "extras": {extra: _extra_state(extra) for extra in sorted(_EXTRAS)},
    }


def _extra_state(extra: str) -> str:
    missing = [name for name in _EXTRAS[extra] if find_spec(name) is None]
    return "installed" if not missing else f'missing: pip install "coterie[{extra}]"'
