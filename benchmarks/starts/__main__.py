"""PEACE's two solvers from random starts: `python -m benchmarks.starts --help`."""

from __future__ import annotations

import sys
import time
import warnings
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.table import Table
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, make_blobs
from threadpoolctl import threadpool_limits

from coterie import PEACE, Ensemble

N_OBJECTS = 1000
N_PARTITIONS = 50
N_CLUSTERS = 10


def points(name: str) -> np.ndarray:
    """Return 1,000 points: handwritten digits, or ten Gaussian clouds."""
    if name == "handwritten digits":
        images = load_digits().data
        return images[np.random.default_rng(5).choice(len(images), N_OBJECTS, replace=False)]
    if name == "clear clouds":
        return make_blobs(N_OBJECTS, 5, centers=N_CLUSTERS, cluster_std=3.0, random_state=3)[0]
    return make_blobs(N_OBJECTS, 2, centers=N_CLUSTERS, cluster_std=1.5, random_state=1)[0]


def ensemble_of(X: np.ndarray) -> Ensemble:
    """Return k-means partitions with sqrt(n)/2 to sqrt(n) clusters, one random start each."""
    random = np.random.default_rng(0)
    with threadpool_limits(1):
        return Ensemble(
            np.column_stack(
                [
                    KMeans(
                        int(random.integers(16, 32)), init="random", n_init=1, random_state=run
                    ).fit_predict(X)
                    for run in range(N_PARTITIONS)
                ]
            )
        )


def main(
    starts: Annotated[int, typer.Option(help="Number of starts.")] = 20,
    tolerances: Annotated[str, typer.Option(help="Separated by commas.")] = "1e-4,1e-6",
) -> None:
    """Seconds of one core for a start, and the best log-likelihood less the best of both."""
    from numba import set_num_threads

    set_num_threads(1)  # starts run one after the other
    console = Console(width=None if sys.stdout.isatty() else 110)
    table = Table(title=f"{N_OBJECTS} objects, L = {N_PARTITIONS}, {starts} starts, one core")
    table.add_column("ensemble")
    for title in ("tol", "auto, s", "paper, s", "ratio", "auto", "paper"):
        table.add_column(title, justify="right")
    for name in ("clear clouds", "overlapping clouds", "handwritten digits"):
        ensemble = ensemble_of(points(name))
        PEACE(N_CLUSTERS, n_init=1, tol=1e-2, random_state=0).fit(ensemble)  # compiles
        for tol in map(float, tolerances.split(",")):
            seconds, reached = {}, {}
            for solver in ("auto", "paper"):
                model = PEACE(N_CLUSTERS, solver=solver, n_init=starts, tol=tol, random_state=0)
                began = time.perf_counter()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    runs = model.fit(ensemble).runs_
                seconds[solver] = (time.perf_counter() - began) / starts
                reached[solver] = np.array([run.log_likelihood for run in runs])
            best = max(values.max() for values in reached.values())
            table.add_row(
                name,
                f"{tol:g}",
                f"{seconds['auto']:.2f}",
                f"{seconds['paper']:.2f}",
                f"{seconds['paper'] / seconds['auto']:.1f}",
                *(f"{reached[solver].max() - best:,.0f}" for solver in ("auto", "paper")),
            )
    console.print(table)


if __name__ == "__main__":
    typer.run(main)
