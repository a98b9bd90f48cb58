"""The papers' experiments: published numbers, ours, and the difference.

``coterie reproduce PAPER`` runs one. How to add a paper: see README.md beside this file.
"""

from __future__ import annotations

from importlib import import_module
from typing import NamedTuple

from coterie.experiments._frame import Experiment, Results, Task
from coterie.experiments._published import Published, published
from coterie.experiments._tables import Row, Table

__all__ = [
    "EXPERIMENTS",
    "Experiment",
    "Paper",
    "Published",
    "Results",
    "Row",
    "Table",
    "Task",
    "get_experiment",
    "published",
]


class Paper(NamedTuple):
    """A paper that can be reproduced."""

    module: str
    """In this package, with `EXPERIMENT` in it."""
    title: str


EXPERIMENTS = {
    "laca": Paper("laca", "Xie et al. (2013), A probabilistic approach to latent cluster analysis"),
    "lwea": Paper("lwea", "Huang, Wang and Lai (2018), Locally weighted ensemble clustering"),
    "msteclust": Paper(
        "msteclust",
        "Berikov (2016), Cluster ensemble with averaged co-association matrix maximizing the "
        "expected margin",
    ),
    "normalized-edges": Paper(
        "normalized_edges", "Li et al. (2007), Clustering ensembles based on normalized edges"
    ),
    "peace": Paper(
        "peace",
        "Lourenço et al. (2013), Probabilistic evidence accumulation for clustering ensembles",
    ),
    "weighted-ensembles": Paper(
        "weighted_ensembles",
        "Domeniconi and Al-Razgan (2009), Weighted cluster ensembles: methods and analysis",
    ),
    "quality": Paper(
        "quality", "Our default beside k-means, mixtures, spectral clustering and HDBSCAN"
    ),
    "study": Paper(
        "study", "Our own study: all consensus methods on all labelled sets, the same partitions"
    ),
}
"""The papers by the name that the command line knows."""


def get_experiment(name: str) -> Experiment:
    """Return the experiment of a paper; its module is imported now.

    Parameters
    ----------
    name : str
        One of `EXPERIMENTS`.

    Returns
    -------
    experiment : Experiment
        See `coterie.experiments._run.run_experiment`.
    """
    if name not in EXPERIMENTS:
        raise ValueError(f"paper must be one of {', '.join(EXPERIMENTS)}; got {name!r}.")
    return import_module(f"coterie.experiments.{EXPERIMENTS[name].module}").EXPERIMENT
