"""Other packages for cluster ensembles: what they are, and a virtual environment for each.

Their requirements exclude each other and ours, so each gets an environment of its own. First as
its authors meant it, `pip install NAME`; if that or the import fails, without its pins or with what
it forgot to ask for. Both outcomes are kept, because "cannot be installed" is a result.
"""

from __future__ import annotations

import itertools
import json
import re
import subprocess
import sys
import venv
from pathlib import Path
from typing import NamedTuple


class Peer(NamedTuple):
    """A package and how to get it where `pip install NAME` does not do."""

    offers: str
    rescue: tuple[tuple[str, ...], ...] = ()
    """Arguments of the calls of `pip install` that may still make it work."""


PEERS = {
    "openensembles": Peer(
        "co-association, linkage on it, mixture model, graph closure; clusters data itself",
        rescue=(
            ("--no-deps", "openensembles"),
            ("hdbscan", "matplotlib", "networkx", "numpy", "pandas", "scikit-learn", "scipy"),
        ),
    ),
    "Cluster_Ensembles": Peer(
        "CSPA, HGPA, MCLA on a label matrix",
        rescue=(
            ("--no-deps", "Cluster_Ensembles"),
            ("numpy", "scipy", "scikit-learn", "tables", "setuptools<81"),
        ),
    ),
    "consensusclustering": Peer(
        "consensus matrix of subsampled data (Monti et al.), choice of k; no partition",
        rescue=(("joblib", "scikit-learn"),),
    ),
    "ensembleclustering": Peer(
        "CSPA, HGPA, MCLA, HBGF, NMF on a label matrix; the maintained copy of ClusterEnsembles",
        rescue=(
            ("--no-deps", "ensembleclustering"),
            ("kahypar", "numba", "numpy", "pymetis", "scikit-learn", "scipy"),
        ),
    ),
    "pyckmeans": Peer("consensus k-means: co-association and linkage from data"),
}

INSTALL_TIMEOUT = 900


def python_of(name: str, directory: Path) -> Path:
    """Return the interpreter of a peer's environment."""
    return directory.absolute() / name / "bin" / "python"


def install(name: str, directory: Path) -> dict[str, str]:
    """Make the environment of a peer, unless it is there, and note how that went."""
    note_path = directory / name / "install.json"
    if note_path.exists():
        return json.loads(note_path.read_text())
    venv.create(directory / name, with_pip=True, clear=True)

    failure = _pip(name, directory, name)
    plain = failure or "installs"
    if failure is None:
        failure = _import_error(name, directory)
        plain += f"; then {failure}" if failure else ""
    calls: tuple[tuple[str, ...], ...] = ((name,),)
    if failure is not None and PEERS[name].rescue:
        calls = PEERS[name].rescue if plain == failure else (*calls, *PEERS[name].rescue)
        for arguments in PEERS[name].rescue:
            failure = _pip(name, directory, *arguments)
            if failure is not None:
                break
        else:
            failure = _import_error(name, directory)
    note = {
        "version": _version(name, directory),
        "plain": plain,
        "used": ", ".join(f"pip install {' '.join(arguments)}" for arguments in calls),
        "failure": failure or "",
    }
    note_path.write_text(json.dumps(note, indent=1))
    return note


def _pip(name: str, directory: Path, *arguments: str) -> str | None:
    """Run pip install in the environment; return why it failed, or None."""
    command = [python_of(name, directory), "-m", "pip", "install", "--disable-pip-version-check"]
    try:
        done = subprocess.run(
            [*command, *arguments], capture_output=True, text=True, timeout=INSTALL_TIMEOUT
        )
    except subprocess.TimeoutExpired:
        return f"pip took more than {INSTALL_TIMEOUT} s"
    return None if done.returncode == 0 else _reason(done.stdout + done.stderr)


def _reason(output: str) -> str:
    """Return the line of pip's output that says what went wrong."""
    lines = [line.strip() for line in output.splitlines()]
    exceptions = [line for line in lines if re.match(r"[\w.]+(Error|Exception): \S", line)]
    if exceptions:
        return without_paths(exceptions[-1])
    for line, following in itertools.pairwise(lines):
        if line.endswith("lines of output]"):
            return without_paths(following)
    return without_paths(next((line for line in lines if "error" in line.lower()), "pip failed"))


def _import_error(name: str, directory: Path) -> str | None:
    """Import the package under its own interpreter; return the error, or None."""
    command = [python_of(name, directory), "-W", "ignore", "-c", f"import {name}"]
    done = subprocess.run(command, capture_output=True, text=True)
    return None if done.returncode == 0 else _reason(done.stderr)


def _version(name: str, directory: Path) -> str:
    code = f"import importlib.metadata as m; print(m.version({name!r}))"
    command = [python_of(name, directory), "-c", code]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else ""


def without_paths(text: str) -> str:
    """Return a message without the places of files on this machine."""
    text = re.sub(r"\s*\(?(?<!\S)\(?(?:/[\w.+-]+){2,}/?\)?", "", text)
    return text.replace(sys.prefix, "").strip()
