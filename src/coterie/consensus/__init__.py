"""Consensus functions: many partitions in, one out."""

from coterie.consensus._base import BaseConsensus
from coterie.consensus._baum_eagon import BaumEagon
from coterie.consensus._eac import EAC
from coterie.consensus._hne import HNE
from coterie.consensus._laca import LACA
from coterie.consensus._mixture import MixtureModel
from coterie.consensus._msteclust import MSTEClust
from coterie.consensus._peace import PEACE
from coterie.consensus._pwec import PWEC
from coterie.consensus._voting import Voting

__all__ = [
    "CONSENSUS",
    "EAC",
    "HNE",
    "LACA",
    "PEACE",
    "PWEC",
    "BaumEagon",
    "MSTEClust",
    "MixtureModel",
    "Voting",
]

CONSENSUS: dict[str, type[BaseConsensus]] = {
    "laca": LACA,
    "eac": EAC,
    "msteclust": MSTEClust,
    "pwec": PWEC,
    "hne": HNE,
    "mixture": MixtureModel,
    "voting": Voting,
    "peace": PEACE,
    "baum_eagon": BaumEagon,
}
"""The consensus functions by the name that the command line and ConsensusClustering know."""
