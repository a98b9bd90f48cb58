"""Mean NMI with the truth: `python -m benchmarks.agreement --help`.

Ensembles of k-means partitions of Gaussian clouds, of the same size and of very different sizes.
Every method gets the same ensembles; packages that need an interpreter of their own get it by
`--peer-python NAME=PATH`, as in the comparison of speed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from benchmarks.speed.cases import METHODS
from benchmarks.speed.peers import without_paths
from rich.console import Console
from rich.table import Table
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from threadpoolctl import threadpool_limits

_ROOT = Path(__file__).resolve().parents[2]
N_CLUSTERS = 10
N_PARTITIONS = 30
N_FEATURES = 10
PAIRS = (
    ("cspa", ("coterie_graphs", "coterie_metis", "sklearn_spectral", "cluster_ensembles_graphs")),
    ("mcla", ("coterie_graphs", "coterie_metis", "cluster_ensembles_graphs")),
    ("hbgf", ("coterie_graphs", "coterie_metis", "sklearn_spectral")),
    ("hgpa", ("coterie_graphs", "coterie_uneven", "coterie_metis", "cluster_ensembles_graphs")),
    ("coassociation_kmeans", ("coterie_graphs", "sklearn_spectral")),
    ("average", ("openensembles",)),
)


def make(n_objects: int, seed: int, balanced: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return (truth, labels): 30 k-means partitions with 5 to 25 clusters, one start each."""
    random = np.random.default_rng([seed, balanced])
    shares = np.ones(N_CLUSTERS) if balanced else 1.5 ** -np.arange(N_CLUSTERS)
    sizes = np.maximum(5, (n_objects * shares / shares.sum()).astype(int))
    X, truth = make_blobs(
        sizes, N_FEATURES, cluster_std=3.0, random_state=int(random.integers(2**31))
    )
    with threadpool_limits(1):  # the problems are too small for more
        labels = np.column_stack(
            [
                KMeans(
                    int(random.integers(5, 26)),
                    init="random",
                    n_init=1,
                    random_state=int(random.integers(2**31)),
                ).fit_predict(X)
                for _ in range(N_PARTITIONS)
            ]
        )
    return truth, labels.astype(np.int32)


def run(method: str, case: str, directory: Path, python: str, timeout: float) -> str:
    """Run one method on all ensembles in a process of its own; return what went wrong, if so."""
    for old in directory.glob("found-*.npz"):
        old.unlink()
    command = [python, "-m", "benchmarks.agreement.worker", METHODS[method].module, case]
    command += [str(directory), "--clusters", str(N_CLUSTERS)]
    env = {**os.environ, "PYTHONPATH": str(_ROOT), "MPLBACKEND": "agg"}
    try:
        done = subprocess.run(
            command, cwd=directory, env=env, capture_output=True, text=True, timeout=timeout
        )
    except subprocess.TimeoutExpired:
        return f"> {timeout:g} s"
    if done.returncode == 0:
        return ""
    last = next(iter(reversed(done.stderr.strip().splitlines())), "no answer")
    return without_paths(last)[:60]


def main(
    ensembles: Annotated[int, typer.Option(help="Number of ensembles of either kind.")] = 20,
    objects: Annotated[int, typer.Option(help="Objects of each.")] = 1000,
    timeout: Annotated[float, typer.Option(help="Seconds for one method on all.")] = 1200,
    only: Annotated[str, typer.Option(help="Only these methods, separated by commas.")] = "",
    peer_python: Annotated[
        list[str] | None, typer.Option(help="NAME=PATH: interpreter of a package. Repeatable.")
    ] = None,
) -> None:
    """Mean NMI (geometric) with the truth, and mean seconds, over several ensembles."""
    pythons = dict(pair.split("=", 1) for pair in peer_python or [])
    wanted = [name for name in only.split(",") if name]
    console = Console(width=None if sys.stdout.isatty() else 130)
    table = Table("consensus", "by", "same size", "seconds", "different sizes", "seconds", "note")
    with tempfile.TemporaryDirectory(prefix="coterie-agree-") as scratch:
        directory = Path(scratch)
        truths = {}
        for balanced in (True, False):
            for seed in range(ensembles):
                name = f"{'same' if balanced else 'different'}-{seed:03d}"
                truths[name], labels = make(objects, seed, balanced)
                np.save(directory / f"labels-{name}.npy", labels)
        for case, methods in PAIRS:
            if wanted and case not in wanted:
                continue
            for method in methods:
                python = pythons.get(METHODS[method].needs or "", sys.executable)
                problem = run(method, case, directory, python, timeout)
                cells = _cells(directory, truths)
                table.add_row(case, METHODS[method].title, *cells, problem)
    console.print(f"{ensembles} ensembles of either kind, {objects} objects, L = {N_PARTITIONS}")
    console.print(table)


def _cells(directory: Path, truths: dict[str, np.ndarray]) -> list[str]:
    """Return, for both kinds of ensembles, mean NMI with standard error and median seconds."""
    from coterie.metrics import nmi

    cells = []
    for kind in ("same", "different"):
        scores, seconds = [], []
        for path in sorted(directory.glob(f"found-{kind}-*.npz")):
            found = np.load(path)
            scores.append(nmi(truths[path.stem.removeprefix("found-")], found["labels"]))
            seconds.append(float(found["seconds"]))
        error = np.std(scores) / np.sqrt(len(scores)) if scores else 0
        cells.append(f"{np.mean(scores):.4f} ± {error:.4f}" if scores else "-")
        cells.append(f"{np.median(seconds):.3f}" if seconds else "-")
    return cells


typer.run(main)
