"""Cluster ensembles: many clusterings of the same objects in, one you can trust out.

Public names are imported when first used, so that ``import coterie`` is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from coterie import datasets as datasets
    from coterie import metrics as metrics
    from coterie import plotting as plotting
    from coterie._memory import MemoryLimitError as MemoryLimitError
    from coterie.choosing import compare as compare
    from coterie.choosing import how_many_clusters as how_many_clusters
    from coterie.choosing import select as select
    from coterie.choosing import structure_test as structure_test
    from coterie.clustering import ConsensusClustering as ConsensusClustering
    from coterie.consensus import CSPA as CSPA
    from coterie.consensus import EAC as EAC
    from coterie.consensus import ECCMS as ECCMS
    from coterie.consensus import ECPCS as ECPCS
    from coterie.consensus import GPMGLA as GPMGLA
    from coterie.consensus import HBGF as HBGF
    from coterie.consensus import HGPA as HGPA
    from coterie.consensus import HNE as HNE
    from coterie.consensus import KCC as KCC
    from coterie.consensus import LACA as LACA
    from coterie.consensus import LCE as LCE
    from coterie.consensus import LWEA as LWEA
    from coterie.consensus import LWGP as LWGP
    from coterie.consensus import MCLA as MCLA
    from coterie.consensus import PEACE as PEACE
    from coterie.consensus import PTA as PTA
    from coterie.consensus import PWEC as PWEC
    from coterie.consensus import SEC as SEC
    from coterie.consensus import WBPA as WBPA
    from coterie.consensus import WEAC as WEAC
    from coterie.consensus import WSBPA as WSBPA
    from coterie.consensus import WSPA as WSPA
    from coterie.consensus import BaumEagon as BaumEagon
    from coterie.consensus import CoassociationKMeans as CoassociationKMeans
    from coterie.consensus import MixtureModel as MixtureModel
    from coterie.consensus import MSTEClust as MSTEClust
    from coterie.consensus import Voting as Voting
    from coterie.ensemble import Ensemble as Ensemble
    from coterie.generation import LAC as LAC
    from coterie.generation import USPEC as USPEC
    from coterie.generation import BoostKMeans as BoostKMeans
    from coterie.generation import LACEnsemble as LACEnsemble
    from coterie.generation import RandomizedEnsemble as RandomizedEnsemble

__version__ = "0.1.0"

_HOME = {
    "compare": "coterie.choosing",
    "how_many_clusters": "coterie.choosing",
    "select": "coterie.choosing",
    "structure_test": "coterie.choosing",
    "ConsensusClustering": "coterie.clustering",
    "BaumEagon": "coterie.consensus",
    "CSPA": "coterie.consensus",
    "HBGF": "coterie.consensus",
    "HGPA": "coterie.consensus",
    "MCLA": "coterie.consensus",
    "CoassociationKMeans": "coterie.consensus",
    "EAC": "coterie.consensus",
    "HNE": "coterie.consensus",
    "LACA": "coterie.consensus",
    "LWEA": "coterie.consensus",
    "ECCMS": "coterie.consensus",
    "ECPCS": "coterie.consensus",
    "WEAC": "coterie.consensus",
    "SEC": "coterie.consensus",
    "PTA": "coterie.consensus",
    "LWGP": "coterie.consensus",
    "LCE": "coterie.consensus",
    "KCC": "coterie.consensus",
    "GPMGLA": "coterie.consensus",
    "PEACE": "coterie.consensus",
    "MSTEClust": "coterie.consensus",
    "MixtureModel": "coterie.consensus",
    "Voting": "coterie.consensus",
    "PWEC": "coterie.consensus",
    "WBPA": "coterie.consensus",
    "WSBPA": "coterie.consensus",
    "WSPA": "coterie.consensus",
    "Ensemble": "coterie.ensemble",
    "BoostKMeans": "coterie.generation",
    "LAC": "coterie.generation",
    "LACEnsemble": "coterie.generation",
    "MemoryLimitError": "coterie._memory",
    "RandomizedEnsemble": "coterie.generation",
    "USPEC": "coterie.generation",
}
_MODULES = ("datasets", "metrics", "plotting")

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
