"""The k-means partitions, each with a fifth of the objects left out (-1).

Left out as the package consensusclustering draws them for a seed, because it accepts no others:
so every method works on the same matrix (the error column would show if that changed).
"""

import numpy as np
from benchmarks.speed.datasets import FRACTION, kmeans


def make(n_objects, seed):
    labels = kmeans.make(n_objects, seed)
    rng = np.random.default_rng(seed)
    for column in labels.T:
        child = np.random.default_rng(rng.integers(0, 2**31))
        kept = child.choice(n_objects, size=int(n_objects * FRACTION), replace=False)
        left_out = np.ones(n_objects, dtype=bool)
        left_out[kept] = False
        column[left_out] = -1
    return labels
