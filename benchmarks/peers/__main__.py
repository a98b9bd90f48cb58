"""Coterie beside other packages: `python -m benchmarks.peers --envs DIR`.

Installs each package from PyPI into an environment of its own under DIR (once), runs all of them on
the same data sets, and prints adjusted Rand index and seconds. ConsensusClusterPlus runs if Rscript
has it. A package that does not install or fails is a row that says why. `--output FILE` also writes
Markdown.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from benchmarks.peers.cases import Case, all_cases
from benchmarks.speed.peers import install, python_of, without_paths

from coterie.metrics import ari

ROOT = Path(__file__).resolve().parents[2]
FEATURES = (
    ("coterie, default", "coterie-default", ""),
    ("coterie, ConsensusPerK", "coterie-per-k", ""),
    ("pyckmeans", "pyckmeans", "pyckmeans"),
    ("consensusclustering", "consensusclustering", "consensusclustering"),
    ("ConsensusClusterPlus (R)", "ccp", "Rscript"),
)
LABELS = (
    ("coterie, LWEA", "coterie-LWEA", ""),
    ("coterie, EAC", "coterie-EAC", ""),
    ("coterie, HBGF", "coterie-HBGF", ""),
    ("coterie, HGPA", "coterie-HGPA", ""),
    ("coterie, MCLA", "coterie-MCLA", ""),
    ("openensembles, average linkage", "openensembles", "openensembles"),
    ("pyckmeans, average linkage", "pyckmeans-labels", "pyckmeans"),
    ("ensembleclustering, CSPA", "ensembleclustering-cspa", "ensembleclustering"),
    ("ensembleclustering, HGPA", "ensembleclustering-hgpa", "ensembleclustering"),
    ("ensembleclustering, MCLA", "ensembleclustering-mcla", "ensembleclustering"),
    ("ensembleclustering, HBGF", "ensembleclustering-hbgf", "ensembleclustering"),
    ("ensembleclustering, NMF", "ensembleclustering-nmf", "ensembleclustering"),
    ("Cluster_Ensembles", "Cluster_Ensembles", "Cluster_Ensembles"),
)


def run(command: list[str], directory: Path, timeout: float) -> str:
    """Run a worker; return why it failed, or nothing."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "MPLBACKEND": "agg"}
    try:
        done = subprocess.run(
            command, cwd=directory, env=env, capture_output=True, text=True, timeout=timeout
        )
    except subprocess.TimeoutExpired:
        return f"more than {timeout:g} s"
    last = (done.stderr.strip().splitlines() or ["no answer"])[-1]
    return "" if done.returncode == 0 else without_paths(last)[:90]


def found(directory: Path, number: int) -> tuple[np.ndarray, float] | None:
    """Return labels and seconds of one data set, if the worker got so far."""
    path = directory / f"found-{number:03d}.npz"
    if path.exists():
        result = np.load(path)
        return result["labels"], float(result["seconds"])
    path = path.with_suffix(".csv")
    if path.exists():
        lines = path.read_text().split()
        return np.array(lines[1:], dtype=int), float(lines[0])
    return None


def row(
    title: str,
    worker: str,
    needs: str,
    directory: Path,
    cases: list[Case],
    envs: Path,
    limit: float,
) -> str:
    """Run one package and return its line of the table."""
    for old in directory.glob("found-*"):
        old.unlink()
    python, problem = sys.executable, ""
    if needs == "Rscript":
        command = ["Rscript", str(Path(__file__).with_name("ccp.R")), str(directory)]
        problem = "" if shutil.which("Rscript") else "no Rscript here"
    else:
        if needs:
            problem = install(needs, envs)["failure"]
            python = str(python_of(needs, envs))
        command = [python, "-m", "benchmarks.peers.worker", worker, str(directory)]
    problem = problem or run(command, directory, limit)
    cells, total = [], 0.0
    for number, case in enumerate(cases):
        result = found(directory, number)
        cells.append("–" if result is None else f"{ari(case.truth, result[0]):.2f}")
        total += 0.0 if result is None else result[1]
    return f"| {title} | {' | '.join(cells)} | {f'{total:.1f}' if total else '–'} | {problem} |"


def main(
    envs: Annotated[Path, typer.Option(help="Directory of the packages' environments.")],
    output: Annotated[Path | None, typer.Option(help="Also write the tables to this file.")] = None,
    timeout: Annotated[float, typer.Option(help="Seconds for one package on all sets.")] = 900,
) -> None:
    """Compare packages on the same data sets, told the number of clusters."""
    cases = all_cases()
    lines = []
    with tempfile.TemporaryDirectory(prefix="coterie-peers-") as scratch:
        directory = Path(scratch)
        for number, case in enumerate(cases):
            path = directory / f"case-{number:03d}.npz"
            np.savez(path, X=case.X, labels=case.labels, n_clusters=case.n_clusters)
            np.savetxt(
                path.with_suffix(".csv"),
                case.X,
                delimiter=",",
                header=str(case.n_clusters),
                comments="",
            )
        for heading, methods in (("Features in", FEATURES), ("Labels in", LABELS)):
            names = " | ".join(case.name for case in cases)
            lines += ["", f"**{heading}**", "", f"| package | {names} | seconds | |"]
            lines.append("|" + "---|" * (len(cases) + 3))
            for title, worker, needs in methods:
                lines.append(row(title, worker, needs, directory, cases, envs, timeout))
                print(lines[-1], flush=True)
    text = "\n".join(lines[1:]) + "\n"
    if output is not None:
        output.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    typer.run(main)
