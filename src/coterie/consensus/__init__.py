"""Consensus functions: many partitions in, one out."""

from coterie.consensus._base import BaseConsensus
from coterie.consensus._eac import EAC
from coterie.consensus._laca import LACA

__all__ = [
    "CONSENSUS",
    "EAC",
    "LACA",
]

CONSENSUS: dict[str, type[BaseConsensus]] = {
    "laca": LACA,
    "eac": EAC,
}
"""The consensus functions by the name that the command line and ConsensusClustering know."""
