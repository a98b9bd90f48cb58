"""Damaged files: a flipped bit or a lost end is refused by name, never another answer."""

from __future__ import annotations

import json
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from coterie import ConsensusClustering, Ensemble, RandomizedEnsemble
from coterie.experiments._frame import Task
from coterie.experiments._store import Store

__all__ = ["attack"]

_EACH = 40  # damaged copies of one file


@cache
def _originals() -> tuple[Path, Any]:
    """Make one file of each kind, once for all cases of this process."""
    folder = Path(tempfile.mkdtemp(prefix="soak-originals-"))
    X = np.random.default_rng(0).normal(size=(30, 3)) + 6 * np.repeat([0, 1, 2], 10)[:, None]
    maker = RandomizedEnsemble(n_partitions=4, n_clusters=3, random_state=0)
    model = ConsensusClustering(3, maker, "lwea", random_state=0).fit(X)
    model.ensemble_.save(folder / "ensemble.npz")
    model.save(folder / "model.npz")
    maker.set_params(checkpoint=folder / "checkpoint").fit(X)
    _store(folder / "store").save(_TASK, {}, {"score": 0.5, "more": [1, 2, 3]}, 0.1)
    return folder, X


_TASK = Task(part="a", run=0, parameters={"x": 1})


def _store(folder: Path) -> Store:
    return Store(folder, {"experiment": "soak"})


def attack(rng: np.random.Generator, folder: Path) -> None:
    """Damage copies of one kind of file and read them."""
    originals, X = _originals()
    kind = rng.choice(["ensemble", "model", "checkpoint", "store"])
    for _ in range(_EACH if kind in ("ensemble", "model") else 6):
        work = folder / "work"
        shutil.copytree(originals, work)
        {
            "ensemble": _check_ensemble,
            "model": _check_model,
            "checkpoint": _check_checkpoint,
            "store": _check_store,
        }[kind](rng, originals, work, X)
        shutil.rmtree(work)


def _damage(rng: np.random.Generator, path: Path) -> None:
    """Flip bits, cut the end off, or overwrite a stretch."""
    content = bytearray(path.read_bytes())
    how = rng.choice(["bit", "bit", "bit", "cut", "zeros", "noise"])
    place = int(rng.integers(len(content)))
    if how == "bit":
        content[place] ^= 1 << int(rng.integers(8))
    elif how == "cut":
        del content[place:]
    else:
        end = min(len(content), place + int(rng.integers(1, 64)))
        fill = bytes(end - place) if how == "zeros" else rng.bytes(end - place)
        content[place:end] = fill
    path.write_bytes(content)


def _check_named(word: str, error: Exception) -> None:
    assert word in str(error), f"the file is not named: {error}"


def _check_ensemble(rng: np.random.Generator, originals: Path, work: Path, X: Any) -> None:
    path = work / "ensemble.npz"
    _damage(rng, path)
    try:
        found = Ensemble.load(path)
    except ValueError as error:
        _check_named(path.name, error)
        return
    assert found == Ensemble.load(originals / path.name), "a damaged ensemble was read"


def _check_model(rng: np.random.Generator, originals: Path, work: Path, X: Any) -> None:
    path = work / "model.npz"
    _damage(rng, path)
    try:
        found = ConsensusClustering.load(path).predict(X)
    except ValueError as error:
        _check_named(path.name, error)
        return
    whole = ConsensusClustering.load(originals / path.name).predict(X)
    assert (found == whole).all(), "a damaged model was read"


def _check_checkpoint(rng: np.random.Generator, originals: Path, work: Path, X: Any) -> None:
    checkpoint = work / "checkpoint"
    _damage(rng, checkpoint / str(rng.choice(sorted(p.name for p in checkpoint.iterdir()))))
    maker = RandomizedEnsemble(n_partitions=4, n_clusters=3, random_state=0, checkpoint=checkpoint)
    try:
        found = maker.fit_transform(X)
    except ValueError as error:
        _check_named("checkpoint", error)
        return
    assert found == Ensemble.load(originals / "ensemble.npz"), "a damaged checkpoint was continued"


def _check_store(rng: np.random.Generator, originals: Path, work: Path, X: Any) -> None:
    path = work / "store" / "tasks" / f"{_TASK.name}.json"
    _damage(rng, path)
    try:
        found = _store(work / "store").finished([_TASK], {})
    except ValueError as error:
        _check_named("store", error)
        return
    whole = json.loads((originals / "store" / "tasks" / f"{_TASK.name}.json").read_text())["values"]
    assert found.get(_TASK.name, whole) == whole, "a damaged result was read"
