"""Consensus functions: many partitions in, one out.

The classes are those of the table in `coterie._methods`, imported when first used.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from coterie._methods import METHODS, LazyClasses, class_names

if TYPE_CHECKING:
    from coterie.consensus._base import BaseConsensus as BaseConsensus

__all__ = ["CONSENSUS", *class_names()]

CONSENSUS: "Mapping[str, type[BaseConsensus]]" = LazyClasses(METHODS)
"""The consensus functions by the name that the command line and ConsensusClustering know."""


def __getattr__(name: str) -> Any:
    names = class_names()
    if name == "BaseConsensus":  # for methods of one's own
        from coterie.consensus import _base

        return _base.BaseConsensus
    if name not in names:
        raise AttributeError(f"module 'coterie.consensus' has no attribute {name!r}")
    return CONSENSUS[names[name]]


def __dir__() -> list[str]:
    return sorted(__all__)
