"""Consensus functions: many partitions in, one out."""

from coterie.consensus._base import BaseConsensus
from coterie.consensus._baum_eagon import BaumEagon
from coterie.consensus._coassociation_kmeans import CoassociationKMeans
from coterie.consensus._cspa import CSPA
from coterie.consensus._eac import EAC
from coterie.consensus._eccms import ECCMS
from coterie.consensus._ecpcs import ECPCS
from coterie.consensus._gpmgla import GPMGLA
from coterie.consensus._hbgf import HBGF
from coterie.consensus._hgpa import HGPA
from coterie.consensus._hne import HNE
from coterie.consensus._kcc import KCC
from coterie.consensus._laca import LACA
from coterie.consensus._lce import LCE
from coterie.consensus._lwea import LWEA
from coterie.consensus._lwgp import LWGP
from coterie.consensus._mcla import MCLA
from coterie.consensus._mixture import MixtureModel
from coterie.consensus._msteclust import MSTEClust
from coterie.consensus._peace import PEACE
from coterie.consensus._pta import PTA
from coterie.consensus._pwec import PWEC
from coterie.consensus._sec import SEC
from coterie.consensus._voting import Voting
from coterie.consensus._wbpa import WBPA
from coterie.consensus._weac import WEAC
from coterie.consensus._wsbpa import WSBPA
from coterie.consensus._wspa import WSPA

__all__ = [
    "CONSENSUS",
    "CSPA",
    "EAC",
    "ECCMS",
    "ECPCS",
    "GPMGLA",
    "HBGF",
    "HGPA",
    "HNE",
    "KCC",
    "LACA",
    "LCE",
    "LWEA",
    "LWGP",
    "MCLA",
    "PEACE",
    "PTA",
    "PWEC",
    "SEC",
    "WBPA",
    "WEAC",
    "WSBPA",
    "WSPA",
    "BaumEagon",
    "CoassociationKMeans",
    "MSTEClust",
    "MixtureModel",
    "Voting",
]

CONSENSUS: dict[str, type[BaseConsensus]] = {
    "laca": LACA,
    "eac": EAC,
    "lwea": LWEA,
    "lwgp": LWGP,
    "weac": WEAC,
    "gpmgla": GPMGLA,
    "ecpcs": ECPCS,
    "lce": LCE,
    "pta": PTA,
    "kcc": KCC,
    "sec": SEC,
    "eccms": ECCMS,
    "msteclust": MSTEClust,
    "pwec": PWEC,
    "hne": HNE,
    "mixture": MixtureModel,
    "voting": Voting,
    "peace": PEACE,
    "baum_eagon": BaumEagon,
    "cspa": CSPA,
    "hgpa": HGPA,
    "mcla": MCLA,
    "hbgf": HBGF,
    "coassociation_kmeans": CoassociationKMeans,
    "wspa": WSPA,
    "wbpa": WBPA,
    "wsbpa": WSBPA,
}
"""The consensus functions by the name that the command line and ConsensusClustering know."""
