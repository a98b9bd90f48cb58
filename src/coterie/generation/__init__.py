"""Making ensembles: many partitions of the same objects from features."""

from coterie.generation._boost_kmeans import BoostKMeans
from coterie.generation._lac import LAC
from coterie.generation._lac_ensemble import LACEnsemble
from coterie.generation._randomized import RandomizedEnsemble
from coterie.generation._uspec import USPEC

__all__ = ["LAC", "USPEC", "BoostKMeans", "LACEnsemble", "RandomizedEnsemble"]
