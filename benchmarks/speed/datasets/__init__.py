"""Label matrices to measure on: one file per kind, each with `make(n_objects, seed)`."""

from __future__ import annotations

import importlib
import os
from pathlib import Path

import numpy as np

SEED = 0
N_PARTITIONS = 50
N_FEATURES = 10
CLUSTERS = (10, 40)
FRACTION = 0.8  # of the objects that a subsampled partition sees


def path_of(name: str, n_objects: int, cache: Path) -> Path:
    """Return the file of a data set, made if it is not in the cache yet."""
    path = cache / f"{name}-{n_objects}x{N_PARTITIONS}-seed{SEED}.npy"
    if not path.exists():
        labels = importlib.import_module(f"{__name__}.{name}").make(n_objects, SEED)
        partial = path.with_suffix(f".{os.getpid()}.tmp")
        with partial.open("wb") as file:
            np.save(file, labels)
        partial.replace(path)
    return path
