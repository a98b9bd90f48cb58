"""One consensus per number of clusters beside ConsensusClusterPlus: `python -m benchmarks.per_k`.

The same data and settings in both: correlation of the consensus matrices (and of two seeds of R),
PAC, cluster consensus and processor time. Without R and the package it says so and ends.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import polars as pl
import typer
from rich.console import Console
from rich.table import Table

from coterie import ConsensusPerK, metrics

_PEER = Path(__file__).with_name("peer.R")


class Data(NamedTuple):
    """One data set, objects in rows."""

    name: str
    X: np.ndarray
    truth: np.ndarray | None = None


class Peer(NamedTuple):
    """What R found, and the seconds of its call."""

    processor: float
    elapsed: float
    matrices: list[np.ndarray]
    labels: list[np.ndarray]


def reason_to_skip() -> str | None:
    """Return why there is nothing to compare with, or None."""
    if shutil.which("Rscript") is None:
        return "Rscript is not installed (Debian: r-base-core)"
    test = ["Rscript", "-e", "library(ConsensusClusterPlus)"]
    if subprocess.run(test, capture_output=True, check=False).returncode:
        return "the R package ConsensusClusterPlus is missing (Debian: r-bioc-consensusclusterplus)"
    return None


def synthetic() -> Data:
    """Return 128 samples of 3,000 genes in three groups."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(128, 3000))
    X[:40, :300] += 0.7
    X[40:80, 300:600] += 0.7
    return Data("synthetic", X, np.repeat([0, 1, 2], [40, 40, 48]))


def read(folder: Path, names: list[str]) -> Iterator[Data]:
    """Yield tables whose last column is the class; the features of golub are logarithms."""
    for name in names:
        frame = pl.read_csv(folder / f"{name}.csv.gz", infer_schema_length=None)
        X = frame[:, :-1].to_numpy().astype(np.float64)
        X = np.log2(X) if "golub" in name else X
        yield Data(name, X - np.median(X, axis=0), frame[:, -1].to_numpy())


def by_r(X: np.ndarray, max_k: int, reps: int, algorithm: str, distance: str, seed: int) -> Peer:
    """Run ConsensusClusterPlus."""
    n, n_features = X.shape
    with tempfile.TemporaryDirectory() as folder:
        data, out = Path(folder, "data"), Path(folder, "out")
        X.astype(np.float64).tofile(data)
        words = [data, n_features, n, max_k, reps, algorithm, distance, seed, out]
        subprocess.run(
            ["Rscript", str(_PEER), *map(str, words)], check=True, cwd=folder, capture_output=True
        )
        numbers = np.fromfile(out)
    blocks = numbers[2:].reshape(max_k - 1, n * n + n)
    matrices = [block[: n * n].reshape(n, n) for block in blocks]
    return Peer(*numbers[:2], matrices, [block[n * n :].astype(int) for block in blocks])


def pac(matrix: np.ndarray) -> float:
    shares = matrix[np.triu_indices(len(matrix), 1)]
    return float(((shares > 0.1 + 1e-9) & (shares < 0.9 - 1e-9)).mean())


def cluster_consensus(matrix: np.ndarray, labels: np.ndarray) -> float:
    """Return the mean over clusters of two or more."""
    found = []
    for c in range(labels.max() + 1):
        own = np.flatnonzero(labels == c)
        if len(own) > 1:
            found.append(matrix[np.ix_(own, own)][np.triu_indices(len(own), 1)].mean())
    return float(np.mean(found))


def compare(data: Data, table: Table, max_k: int, reps: int, algorithm: str, distance: str) -> None:
    estimator = {"hc": "hierarchical", "pam": "kmedoids", "km": "kmeans"}[algorithm]
    model = ConsensusPerK(
        estimator,
        range(2, max_k + 1),
        reps,
        distance=None if algorithm == "km" else distance,
        random_state=0,
    )
    model.fit(data.X[:, :50])  # loads compiled code
    began = time.process_time(), time.perf_counter()
    model.fit(data.X)
    ours = time.process_time() - began[0], time.perf_counter() - began[1]
    first, second = (by_r(data.X, max_k, reps, algorithm, distance, seed) for seed in (1, 2))
    upper = np.triu_indices(len(data.X), 1)
    for i, k in enumerate(range(2, max_k + 1)):
        matrix = model.consensus_matrix(k)
        r, r_of_r = (
            np.corrcoef(one[upper], first.matrices[i][upper])[0, 1]
            for one in (matrix, second.matrices[i])
        )
        scores = ["", ""]
        if data.truth is not None:
            labels = (model.labels_[k], first.labels[i])
            scores = [f"{metrics.nmi(data.truth, found):.2f}" for found in labels]
        table.add_row(
            *(data.name if i == 0 else "", str(k), f"{r:.4f}", f"{r_of_r:.4f}"),
            *(f"{model.pac_[k]:.3f}", f"{pac(first.matrices[i]):.3f}"),
            f"{cluster_consensus(matrix, model.labels_[k]):.3f}",
            f"{cluster_consensus(first.matrices[i], first.labels[i]):.3f}",
            *scores,
            *((f"{ours[0]:.2f}", f"{first.processor:.2f}") if i == 0 else ("", "")),
            *((f"{ours[1]:.2f}", f"{first.elapsed:.2f}") if i == 0 else ("", "")),
        )
    print(f"{data.name}: best k {model.best_k_}", file=sys.stderr)


def main(
    data: Annotated[Path | None, typer.Option(help="Folder with NAME.csv.gz tables.")] = None,
    names: Annotated[list[str] | None, typer.Option("--name", help="Tables to use.")] = None,
    max_k: int = 6,
    reps: int = 500,
    algorithm: Annotated[str, typer.Option(help="hc, pam or km, as R calls them.")] = "hc",
    distance: str = "pearson",
) -> None:
    """Compare ConsensusPerK with ConsensusClusterPlus."""
    why = reason_to_skip()
    if why is not None:
        print(f"skipped: {why}.")
        return
    headings = ["data", "k", "r", "r of two R seeds", "PAC", "PAC (R)", "cluster consensus", "(R)"]
    headings += ["NMI", "NMI (R)", "processor s", "(R)", "elapsed s", "(R)"]
    table = Table(*headings)
    for one in [synthetic(), *(read(data, names or []) if data is not None else ())]:
        compare(one, table, max_k, reps, algorithm, distance)
    Console(width=150).print(table)


if __name__ == "__main__":
    typer.run(main)
