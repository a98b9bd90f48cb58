"""One consensus for each number of clusters (Monti et al., 2003)."""

from coterie.per_k._estimator import ConsensusPerK

__all__ = ["ConsensusPerK"]
