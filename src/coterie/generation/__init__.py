"""Making ensembles: many partitions of the same objects from features."""

from coterie.generation._lac import LAC
from coterie.generation._lac_ensemble import LACEnsemble
from coterie.generation._randomized import RandomizedEnsemble

__all__ = ["LAC", "LACEnsemble", "RandomizedEnsemble"]
