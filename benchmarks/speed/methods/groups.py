"""Groups and validity for label matrices that come without, and what trees are compared by."""

import numpy as np


def groups_and_validity(n_partitions):
    """Two groups, the first half and the second; a different validity for every run."""
    groups = (2 * np.arange(n_partitions) >= n_partitions).astype(int)
    validity = np.random.default_rng(0).uniform(0.3, 0.9, n_partitions)
    return groups, validity


def rounded_weights(weights):
    """The weights of a minimum spanning tree, sorted: the same for every such tree."""
    return np.round(np.sort(weights), 9) + 0.0  # no -0
