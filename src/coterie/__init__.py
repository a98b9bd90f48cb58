"""Cluster ensembles: many clusterings of the same objects in, one you can trust out.

Public names are imported when first used, so that ``import coterie`` is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from coterie import datasets as datasets
    from coterie import metrics as metrics
    from coterie._memory import MemoryLimitError as MemoryLimitError
    from coterie.clustering import ConsensusClustering as ConsensusClustering
    from coterie.consensus import EAC as EAC
    from coterie.consensus import HNE as HNE
    from coterie.consensus import LACA as LACA
    from coterie.consensus import PEACE as PEACE
    from coterie.consensus import PWEC as PWEC
    from coterie.consensus import BaumEagon as BaumEagon
    from coterie.consensus import MixtureModel as MixtureModel
    from coterie.consensus import MSTEClust as MSTEClust
    from coterie.consensus import Voting as Voting
    from coterie.ensemble import Ensemble as Ensemble
    from coterie.generation import RandomizedEnsemble as RandomizedEnsemble

__version__ = "0.1.0"

_HOME = {
    "ConsensusClustering": "coterie.clustering",
    "BaumEagon": "coterie.consensus",
    "EAC": "coterie.consensus",
    "HNE": "coterie.consensus",
    "LACA": "coterie.consensus",
    "PEACE": "coterie.consensus",
    "MSTEClust": "coterie.consensus",
    "MixtureModel": "coterie.consensus",
    "Voting": "coterie.consensus",
    "PWEC": "coterie.consensus",
    "Ensemble": "coterie.ensemble",
    "MemoryLimitError": "coterie._memory",
    "RandomizedEnsemble": "coterie.generation",
}
_MODULES = ("datasets", "metrics")

__all__ = [*_HOME, *_MODULES, "__version__"]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(import_module(_HOME[name]), name)
    elif name in _MODULES:
        value = import_module(f"coterie.{name}")
    else:
        raise AttributeError(f"module 'coterie' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
