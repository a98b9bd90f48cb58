"""CSPA, HGPA and MCLA as the papers have them: cut by METIS and a hypergraph partitioner."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from coterie.consensus import CSPA, HGPA, MCLA
from coterie.ensemble import Ensemble

__all__ = ["GRAPH_METHODS", "cut_by", "usable_graph_methods"]

GRAPH_METHODS = {"cspa": "CSPA", "hgpa": "HGPA", "mcla": "MCLA"}
_METHODS = {"cspa": (CSPA, "metis"), "hgpa": (HGPA, "hypergraph"), "mcla": (MCLA, "metis")}


def cut_by(name: str, ensemble: Ensemble, n_clusters: int, seed: int) -> NDArray[np.int64]:
    """Return the consensus of a graph method."""
    method, partitioner = _METHODS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # MCLA: fewer clusters than asked for
        fitted = method(n_clusters, partitioner=partitioner, random_state=seed)
        return fitted.fit_predict(ensemble)


def usable_graph_methods() -> list[str]:
    """Return those whose partitioner is installed."""
    usable = []
    tiny = Ensemble(np.repeat([[0, 0], [1, 1]], 4, axis=0))
    for name in GRAPH_METHODS:
        try:
            cut_by(name, tiny, 2, seed=0)
        except ImportError:
            continue
        usable.append(name)
    return usable
