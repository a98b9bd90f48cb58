"""Run one method on one ensemble in a process of its own; print seconds and bytes."""

import json
import resource
import sys
import time
import warnings

import numpy as np


def make_labels(n, n_partitions, base_clusters, seed=0):
    """Partitions of eight groups: each splits them at random, and errs on every tenth object."""
    random = np.random.default_rng(seed)
    truth = random.integers(0, 8, n)
    labels = np.empty((n, n_partitions), dtype=np.int32)
    for e in range(n_partitions):
        fine = truth * max(1, base_clusters // 8) + random.integers(
            0, max(1, base_clusters // 8), n
        )
        wrong = random.random(n) < 0.1
        labels[:, e] = np.where(wrong, random.integers(0, base_clusters, n), fine % base_clusters)
    return labels


def main():
    name, n, n_partitions, base_clusters, k = sys.argv[1], *map(int, sys.argv[2:6])
    warnings.simplefilter("ignore")
    from coterie import Ensemble
    from coterie.consensus import CONSENSUS

    def fit(labels):
        method = CONSENSUS[name](n_clusters=k)
        if "random_state" in method.get_params():
            method.set_params(random_state=0)
        return method.fit(Ensemble(labels))

    fit(make_labels(200, 4, 8))  # compiled code is loaded
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    labels = make_labels(n, n_partitions, base_clusters)
    start = time.perf_counter()
    used = time.process_time()
    fit(labels)
    found = {
        "seconds": time.perf_counter() - start,
        "cpu": time.process_time() - used,
        "bytes": 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before),
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
