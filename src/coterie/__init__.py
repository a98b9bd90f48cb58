"""Cluster ensembles: many clusterings of the same objects in, one you can trust out.

Public names are imported when first used, so that ``import coterie`` is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from coterie._methods import METHODS, class_names

if TYPE_CHECKING:  # for editors and type checkers; the names themselves come from the tables
    from coterie import anndata as anndata
    from coterie import datasets as datasets
    from coterie import metrics as metrics
    from coterie import plotting as plotting
    from coterie._limits import MemoryLimitError as MemoryLimitError
    from coterie._progress import report_progress as report_progress
    from coterie.choosing import cluster_features as cluster_features
    from coterie.choosing import cluster_trust as cluster_trust
    from coterie.choosing import compare as compare
    from coterie.choosing import how_many_clusters as how_many_clusters
    from coterie.choosing import select as select
    from coterie.choosing import structure_test as structure_test
    from coterie.clustering import ConsensusClustering as ConsensusClustering
    from coterie.consensus._baum_eagon import BaumEagon as BaumEagon
    from coterie.consensus._coassociation_kmeans import CoassociationKMeans as CoassociationKMeans
    from coterie.consensus._cspa import CSPA as CSPA
    from coterie.consensus._eac import EAC as EAC
    from coterie.consensus._eccms import ECCMS as ECCMS
    from coterie.consensus._ecpcs import ECPCS as ECPCS
    from coterie.consensus._gpmgla import GPMGLA as GPMGLA
    from coterie.consensus._hbgf import HBGF as HBGF
    from coterie.consensus._hgpa import HGPA as HGPA
    from coterie.consensus._hne import HNE as HNE
    from coterie.consensus._kcc import KCC as KCC
    from coterie.consensus._laca import LACA as LACA
    from coterie.consensus._lce import LCE as LCE
    from coterie.consensus._lwea import LWEA as LWEA
    from coterie.consensus._lwgp import LWGP as LWGP
    from coterie.consensus._mcla import MCLA as MCLA
    from coterie.consensus._mixture import MixtureModel as MixtureModel
    from coterie.consensus._msteclust import MSTEClust as MSTEClust
    from coterie.consensus._peace import PEACE as PEACE
    from coterie.consensus._pta import PTA as PTA
    from coterie.consensus._pwec import PWEC as PWEC
    from coterie.consensus._sec import SEC as SEC
    from coterie.consensus._voting import Voting as Voting
    from coterie.consensus._wbpa import WBPA as WBPA
    from coterie.consensus._weac import WEAC as WEAC
    from coterie.consensus._wsbpa import WSBPA as WSBPA
    from coterie.consensus._wspa import WSPA as WSPA
    from coterie.ensemble import Ensemble as Ensemble
    from coterie.generation import LAC as LAC
    from coterie.generation import USPEC as USPEC
    from coterie.generation import BoostKMeans as BoostKMeans
    from coterie.generation import LACEnsemble as LACEnsemble
    from coterie.generation import RandomizedEnsemble as RandomizedEnsemble
    from coterie.per_k import ConsensusPerK as ConsensusPerK
    from coterie.preparation import ExpressionPreparation as ExpressionPreparation
    from coterie.preparation import TablePreparation as TablePreparation

__version__ = "0.2.0"

_HOME = {
    "cluster_features": "coterie.choosing",
    "cluster_trust": "coterie.choosing",
    "compare": "coterie.choosing",
    "how_many_clusters": "coterie.choosing",
    "select": "coterie.choosing",
    "structure_test": "coterie.choosing",
    "ConsensusClustering": "coterie.clustering",
    "ConsensusPerK": "coterie.per_k",
    "Ensemble": "coterie.ensemble",
    "ExpressionPreparation": "coterie.preparation",
    "BoostKMeans": "coterie.generation",
    "LAC": "coterie.generation",
    "LACEnsemble": "coterie.generation",
    "MemoryLimitError": "coterie._limits",
    "RandomizedEnsemble": "coterie.generation",
    "TablePreparation": "coterie.preparation",
    "report_progress": "coterie._progress",
    "USPEC": "coterie.generation",
}
_MODULES = ("datasets", "metrics", "plotting")
_HIDDEN = ("anndata",)
"""Modules that `import *` leaves out: the name would hide that of the package anndata."""

__all__ = [*_HOME, *class_names(), *_MODULES, "__version__"]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(import_module(_HOME[name]), name)
    elif name in (methods := class_names()):
        module, _, _ = METHODS[methods[name]].partition(":")
        value = getattr(import_module(module), name)
    elif name in _MODULES or name in _HIDDEN:
        value = import_module(f"coterie.{name}")
    else:
        raise AttributeError(f"module 'coterie' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
