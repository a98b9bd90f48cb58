"""Malformed files through every command of the command line."""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from scipy.io import savemat
from typer.testing import CliRunner

from coterie import ConsensusClustering, Ensemble, RandomizedEnsemble
from coterie.cli import app

__all__ = ["attack"]

_COMMANDS = [
    ("cluster", "-p", "3", "-j", "1"),
    ("cluster", "--raw", "-p", "3", "-j", "1", "-k", "2"),
    ("consense", "-m", "eac"),
    ("consense", "-m", "voting", "-k", "2", "--json"),
    ("choose", "-p", "3", "-j", "1"),
    ("compare", "-p", "3", "-j", "1", "-m", "eac", "-m", "voting", "-k", "2"),
    ("info",),
    ("report", "--output", "r.html"),
    ("predict", "model.npz"),
]


def attack(rng: np.random.Generator, folder: Path) -> None:
    """Give a malformed file to a command: a result, or one line and exit code 2."""
    path = _draw_file(rng, folder)
    command = [*_COMMANDS[rng.integers(len(_COMMANDS))]]
    before = Path.cwd()
    os.chdir(folder)
    try:
        if command[0] == "predict":
            _save_model(folder)
        names = set(os.listdir(folder))
        given = None
        words = [*command, str(path.name), "--quiet"]
        if command[0] == "info":
            words.remove("--quiet")
        elif path.suffix == ".csv" and rng.random() < 0.3 and command[0] != "report":
            given, words[-2] = path.read_bytes(), "-"
        done = CliRunner().invoke(app, words, input=given)
        _check(done, words)
        left = set(os.listdir(folder)) - names
        assert left <= {"r.html"}, f"left behind: {left}"
        assert done.exit_code == 0 or not left, "a report was written by a command that failed"
    finally:
        os.chdir(before)


def _check(done: Any, words: list[str]) -> None:
    told = (done.stdout + done.stderr)[-2000:]
    said = f"{' '.join(words)}\n{told}"
    assert "internal error" not in told, said
    assert "Traceback" not in told, said
    assert done.exit_code in (0, 2), f"exit code {done.exit_code}: {said}"
    if done.exit_code == 2:
        assert "coterie: " in done.stderr or "Usage" in done.stderr, said


def _save_model(folder: Path) -> None:
    X = np.random.default_rng(0).normal(size=(20, 2))
    maker = RandomizedEnsemble(n_partitions=3, n_clusters=2, random_state=0)
    ConsensusClustering(2, maker, "eac", random_state=0).fit(X).save(folder / "model.npz")


def _draw_file(rng: np.random.Generator, folder: Path) -> Path:
    """Write a table in some format, and damage it, mostly."""
    n, n_columns = int(rng.choice([0, 1, 2, 8, 30])), int(rng.integers(1, 6))
    cells = rng.integers(0, 4, (n, n_columns)).astype(float)
    if rng.random() < 0.3:
        cells += rng.normal(size=cells.shape)
    writers = [_csv, _csv, _csv, _npy, _parquet, _npz, _mat, _noise]
    path = writers[rng.integers(len(writers))](rng, folder, cells)
    if rng.random() < 0.5:
        _break(rng, path)
    return path


def _csv(rng: np.random.Generator, folder: Path, cells: Any) -> Path:
    header = [f"c{j}" for j in range(cells.shape[1])]
    odd = ["", "NA", "nan", "1,5", '"', "x" * 3000, "=1+1", "\ufeff", "1e400", "-", "é", "0x1f"]
    rows = [[f"{value:g}" for value in row] for row in cells]
    for _ in range(int(rng.integers(0, 4))):
        if rows:
            rows[rng.integers(len(rows))][rng.integers(len(header))] = str(rng.choice(odd))
    if rng.random() < 0.15:
        header[-1] = header[0]
    if rng.random() < 0.15 and rows:
        rows[-1] = rows[-1] * 2
    mark = str(rng.choice([",", ",", ",", "\t", ";"]))
    end = str(rng.choice(["\n", "\n", "\r\n", "\r"]))
    text = end.join(mark.join(row) for row in [header, *rows]) + (end if rng.random() < 0.8 else "")
    content = text.encode(
        str(rng.choice(["utf-8", "utf-8", "utf-8", "utf-16", "latin-1"])), "replace"
    )
    name = "t.tsv" if mark == "\t" else "t.csv"
    if rng.random() < 0.15:
        content, name = gzip.compress(content), name + ".gz"
    (folder / name).write_bytes(content)
    return folder / name


def _npy(rng: np.random.Generator, folder: Path, cells: Any) -> Path:
    kinds = ["float64", "int64", "int8", "float32", "bool", "complex64", "U3", "datetime64[s]"]
    np.save(folder / "t.npy", cells.astype("int64").astype(str(rng.choice(kinds))))
    return folder / "t.npy"


def _parquet(rng: np.random.Generator, folder: Path, cells: Any) -> Path:
    frame = pl.DataFrame({f"c{j}": column for j, column in enumerate(cells.T)})
    if len(cells) and rng.random() < 0.4:
        odd = [[1, 2]] if rng.random() < 0.5 else [b"x"]
        frame = frame.with_columns(pl.Series("odd", odd * len(cells)))
    frame.write_parquet(folder / "t.parquet")
    return folder / "t.parquet"


def _npz(rng: np.random.Generator, folder: Path, cells: Any) -> Path:
    path = folder / "t.npz"
    if len(cells) and rng.random() < 0.7:
        Ensemble(cells.astype(int)).save(path)
    else:
        np.savez(path, labels=cells)
    return path


def _mat(rng: np.random.Generator, folder: Path, cells: Any) -> Path:
    content = {"labels": cells.astype(int) + 1, "gt": np.arange(len(cells))}
    if rng.random() < 0.3:
        content["cell"] = np.array([[1, 2], "x"], dtype=object)
    savemat(folder / "t.mat", content)
    return folder / "t.mat"


def _noise(rng: np.random.Generator, folder: Path, cells: Any) -> Path:
    ending = str(rng.choice([".csv", ".npy", ".npz", ".parquet", ".mat", ".json", ".txt", ""]))
    path = folder / f"t{ending}"
    deep = b"[" * 20_000 + b"]" * 20_000
    path.write_bytes([rng.bytes(200), b"", b"\n\n\n", deep, b"{}"][rng.integers(5)])
    return path


def _break(rng: np.random.Generator, path: Path) -> None:
    """Flip, cut or insert bytes."""
    content = bytearray(path.read_bytes())
    if not content:
        return
    place = int(rng.integers(len(content)))
    how = rng.integers(4)
    if how == 0:
        content[place] ^= 1 << int(rng.integers(8))
    elif how == 1:
        del content[place:]
    elif how == 2:
        content[place:place] = rng.bytes(5)
    else:
        content += rng.bytes(int(rng.integers(1, 30)))
    path.write_bytes(content)
