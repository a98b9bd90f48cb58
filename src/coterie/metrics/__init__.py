"""Measuring partitions and ensembles: agreement, validity and diversity.

Partitions are compared as in scikit-learn: first the classes, then the clusters, and every
value is the name of a cluster, ``-1`` too. Only an `Ensemble` knows missing labels: each of its
partitions is compared on the objects it saw.
"""

from coterie.metrics._agreement import (
    PairwiseScores,
    anmi,
    ari,
    class_f,
    consistency_index,
    error_rate,
    nmi,
    pairwise_f,
    pairwise_precision_recall_f,
    rand,
)
from coterie.metrics._consensus import cluster_consensus, item_consensus
from coterie.metrics._diversity import (
    diversity_ari,
    diversity_nmi,
    diversity_np1,
    diversity_np2,
    diversity_p,
    pairwise_ari,
    pairwise_nmi,
)
from coterie.metrics._validity import VALIDITY, cophenetic_correlation, hubert_gamma
from coterie.metrics._within import within_confidence

__all__ = [
    "VALIDITY",
    "PairwiseScores",
    "anmi",
    "ari",
    "class_f",
    "cluster_consensus",
    "consistency_index",
    "cophenetic_correlation",
    "diversity_ari",
    "diversity_nmi",
    "diversity_np1",
    "diversity_np2",
    "diversity_p",
    "error_rate",
    "hubert_gamma",
    "item_consensus",
    "nmi",
    "pairwise_ari",
    "pairwise_f",
    "pairwise_nmi",
    "pairwise_precision_recall_f",
    "rand",
    "within_confidence",
]
