"""Mean NMI with the truth: `python -m benchmarks.agreement --help`.

Ensembles of k-means partitions: of Gaussian clouds, of the same size and of very different sizes,
or of data sets in a directory, with few and with many clusters, where classes are of about the
same size and where not. Every method gets the same ensembles; packages that need an interpreter of
their own get it by `--peer-python NAME=PATH`, as in the comparison of speed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import typer
from benchmarks.speed.cases import METHODS
from benchmarks.speed.peers import without_paths
from rich.console import Console
from rich.table import Table
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from threadpoolctl import threadpool_limits

from coterie.datasets import load

_ROOT = Path(__file__).resolve().parents[2]
N_CLUSTERS = 10
N_PARTITIONS = 30
N_FEATURES = 10
PAIRS = (
    ("cspa", ("coterie_graphs", "coterie_metis", "sklearn_spectral")),
    ("mcla", ("coterie_graphs", "coterie_metis")),
    ("hbgf", ("coterie_graphs", "coterie_metis", "sklearn_spectral")),
    ("hgpa", ("coterie_graphs", "coterie_metis")),
    ("coassociation_kmeans", ("coterie_graphs", "sklearn_spectral")),
    ("average", ("openensembles",)),
)


class Case(NamedTuple):
    """One ensemble."""

    kind: str
    name: str
    truth: np.ndarray
    labels: np.ndarray
    n_clusters: int


def of_clouds(n_objects: int, n_ensembles: int) -> Iterator[Case]:
    """Yield partitions with 5 to 25 clusters of ten clouds."""
    for balanced in (True, False):
        shares = np.ones(N_CLUSTERS) if balanced else 1.5 ** -np.arange(N_CLUSTERS)
        sizes = np.maximum(5, (n_objects * shares / shares.sum()).astype(int))
        for seed in range(n_ensembles):
            random = np.random.default_rng([seed, balanced])
            X, truth = make_blobs(
                sizes, N_FEATURES, cluster_std=3.0, random_state=int(random.integers(2**31))
            )
            kind = "same size" if balanced else "different sizes"
            yield Case(kind, f"{seed:03d}", truth, _partitions(X, 5, 25, random), N_CLUSTERS)


def of_data(folder: Path, most_objects: int) -> Iterator[Case]:
    """Yield two ensembles of each data set: about its number of clusters, and many more.

    Classes are of the same size if the largest is at most 10 % over the mean.
    """
    for name in sorted({path.name.split(".")[0] for path in folder.glob("*.csv*")}):
        X, truth = (found := load(name, directory=folder)).data, found.target
        if len(X) > most_objects or np.isnan(X).any() or (truth < 0).any():
            continue
        k, root = len(found.target_names), np.sqrt(len(X))
        for many in (False, True):
            low, high = (int(max(2, root / 2)), int(max(3, root))) if many else (2, 2 * k + 2)
            labels = _partitions(X, low, high, np.random.default_rng(many))
            is_even = np.bincount(truth).max() <= 1.1 * len(X) / k
            kind = f"{'many' if many else 'few'}, {'same size' if is_even else 'different'}"
            yield Case(kind, name, truth, labels, k)


def _partitions(X: np.ndarray, low: int, high: int, random: np.random.Generator) -> np.ndarray:
    """Return 30 k-means partitions, one start each."""
    with threadpool_limits(1):  # the problems are too small for more
        columns = [
            KMeans(
                min(int(random.integers(low, high + 1)), len(X) - 1),
                init="random",
                n_init=1,
                random_state=int(random.integers(2**31)),
            ).fit_predict(X)
            for _ in range(N_PARTITIONS)
        ]
    return np.column_stack(columns).astype(np.int32)


def run(method: str, case: str, directory: Path, python: str, timeout: float) -> str:
    """Run one method on all ensembles in a process of its own; return what went wrong, if so."""
    for old in directory.glob("found-*.npz"):
        old.unlink()
    command = [python, "-m", "benchmarks.agreement.worker", METHODS[method].module, case]
    command += [str(directory)]
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
    objects: Annotated[int, typer.Option(help="Objects of each; of data sets, the most.")] = 1000,
    data: Annotated[
        Path | None, typer.Option(help="Ensembles of the data sets (CSV) in this directory.")
    ] = None,
    timeout: Annotated[float, typer.Option(help="Seconds for one method on all.")] = 1200,
    only: Annotated[str, typer.Option(help="Only these methods, separated by commas.")] = "",
    peer_python: Annotated[
        list[str] | None, typer.Option(help="NAME=PATH: interpreter of a package. Repeatable.")
    ] = None,
) -> None:
    """Mean NMI (geometric) with the truth, and median seconds, over several ensembles."""
    pythons = dict(pair.split("=", 1) for pair in peer_python or [])
    wanted = [name for name in only.split(",") if name]
    console = Console(width=None if sys.stdout.isatty() else 170)
    cases = list(of_clouds(objects, ensembles) if data is None else of_data(data, objects))
    kinds = list(dict.fromkeys(case.kind for case in cases))
    headings = [heading for kind in kinds for heading in (kind, "seconds")]
    table = Table("consensus", "by", *headings, "note")
    with tempfile.TemporaryDirectory(prefix="coterie-agree-") as scratch:
        directory = Path(scratch)
        for number, case in enumerate(cases):
            path = directory / f"labels-{number:03d}.npz"
            np.savez(path, labels=case.labels, n_clusters=case.n_clusters)
        for consensus, methods in PAIRS:
            if wanted and consensus not in wanted:
                continue
            for method in methods:
                python = pythons.get(METHODS[method].needs or "", sys.executable)
                problem = run(method, consensus, directory, python, timeout)
                cells = [cell for kind in kinds for cell in _cells(directory, cases, kind)]
                table.add_row(consensus, METHODS[method].title, *cells, problem)
    number = Counter(case.kind for case in cases)
    console.print(", ".join(f"{n} ensembles: {kind}" for kind, n in number.items()))
    console.print(f"{max(len(case.truth) for case in cases)} objects at most, L = {N_PARTITIONS}")
    console.print(table)


def _cells(directory: Path, cases: list[Case], kind: str) -> tuple[str, str]:
    """Return mean NMI with standard error and median seconds over one kind of ensembles."""
    from coterie.metrics import nmi

    scores, seconds = [], []
    for number, case in enumerate(cases):
        path = directory / f"found-{number:03d}.npz"
        if case.kind == kind and path.exists():
            found = np.load(path)
            scores.append(nmi(case.truth, found["labels"]))
            seconds.append(float(found["seconds"]))
    if not scores:
        return "-", "-"
    error = np.std(scores) / np.sqrt(len(scores))
    return f"{np.mean(scores):.4f} ± {error:.4f}", f"{np.median(seconds):.3f}"


typer.run(main)
