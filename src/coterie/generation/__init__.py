"""Making ensembles: many partitions of the same objects from features."""

from coterie.generation._randomized import RandomizedEnsemble

__all__ = ["RandomizedEnsemble"]
