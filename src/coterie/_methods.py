"""The table of methods: the only list of them. A new method is a file and a line here.

The names are those of the command line and of ConsensusClustering. Lazy imports, `__all__`,
`compare`, completion and the tests read the table; importing it is quick.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

__all__ = ["BASE_CLUSTERERS", "DEFAULT_METHOD", "METHODS", "LazyClasses", "class_names"]

METHODS = {
    "laca": "coterie.consensus._laca:LACA",
    "eac": "coterie.consensus._eac:EAC",
    "lwea": "coterie.consensus._lwea:LWEA",
    "lwgp": "coterie.consensus._lwgp:LWGP",
    "weac": "coterie.consensus._weac:WEAC",
    "gpmgla": "coterie.consensus._gpmgla:GPMGLA",
    "ecpcs": "coterie.consensus._ecpcs:ECPCS",
    "lce": "coterie.consensus._lce:LCE",
    "pta": "coterie.consensus._pta:PTA",
    "kcc": "coterie.consensus._kcc:KCC",
    "sec": "coterie.consensus._sec:SEC",
    "eccms": "coterie.consensus._eccms:ECCMS",
    "msteclust": "coterie.consensus._msteclust:MSTEClust",
    "pwec": "coterie.consensus._pwec:PWEC",
    "hne": "coterie.consensus._hne:HNE",
    "mixture": "coterie.consensus._mixture:MixtureModel",
    "voting": "coterie.consensus._voting:Voting",
    "peace": "coterie.consensus._peace:PEACE",
    "baum_eagon": "coterie.consensus._baum_eagon:BaumEagon",
    "cspa": "coterie.consensus._cspa:CSPA",
    "hgpa": "coterie.consensus._hgpa:HGPA",
    "mcla": "coterie.consensus._mcla:MCLA",
    "hbgf": "coterie.consensus._hbgf:HBGF",
    "coassociation_kmeans": "coterie.consensus._coassociation_kmeans:CoassociationKMeans",
    "wspa": "coterie.consensus._wspa:WSPA",
    "wbpa": "coterie.consensus._wbpa:WBPA",
    "wsbpa": "coterie.consensus._wsbpa:WSBPA",
}
"""Name of each consensus method: where its class is."""

DEFAULT_METHOD = "lwea"
"""The consensus method where none is named."""

BASE_CLUSTERERS = {"lac": "coterie.generation._lac:LAC"}
"""Clusterers of our own that `coterie explain` knows, too."""


class LazyClasses(Mapping[str, type[Any]]):
    """The classes of a table by name, each imported when first asked for."""

    def __init__(self, table: Mapping[str, str]) -> None:
        self._table = table

    def __getitem__(self, name: str) -> type[Any]:
        module, _, cls = self._table[name].partition(":")
        found: type[Any] = getattr(import_module(module), cls)
        return found

    def __contains__(self, name: object) -> bool:
        return name in self._table

    def __iter__(self) -> Iterator[str]:
        return iter(self._table)

    def __len__(self) -> int:
        return len(self._table)


def class_names(table: Mapping[str, str] = METHODS) -> dict[str, str]:
    """Return the name of each class of a table: the method's name."""
    return {where.partition(":")[2]: name for name, where in table.items()}
