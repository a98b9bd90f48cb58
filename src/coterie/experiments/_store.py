"""The output directory: finished tasks, one small JSON file each, and what is made of them."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import sklearn

import coterie
from coterie._files import checksum_fits, with_checksum, written_whole
from coterie.experiments._frame import Task

__all__ = ["Store", "write_text"]


class Store:
    """Finished tasks in a directory.

    Parameters
    ----------
    directory : path
        Made if it is not there.
    common : mapping
        What all tasks in the directory share: experiment, seed, quick.
    """

    def __init__(self, directory: Path, common: Mapping[str, Any]) -> None:
        self.directory = directory
        self._tasks = directory / "tasks"
        self._common = dict(common) | {"versions": _versions()}
        try:
            self._tasks.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError) as error:
            raise NotADirectoryError(
                f"output must be a directory, or a name for a new one; {directory} is a file."
            ) from error

    def finished(self, tasks: Sequence[Task], data: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        """Return the stored results of tasks by name; broken files count as not there.

        Raises ValueError if the directory holds results of another experiment, seed, recipe,
        data or version.
        """
        planned = {task.name: task for task in tasks}
        found = {}
        for path in sorted(self._tasks.glob("[!.]*.json")):
            record = _read(path)
            if record is None:
                continue
            stored, wanted = record["made_from"], self._common
            if path.stem in planned:
                wanted = self._made_from(planned[path.stem], data)
            for key, value in wanted.items():
                if stored.get(key) != value:
                    raise ValueError(
                        f"{self.directory} holds results with another {key}: {path.stem} was made "
                        f"with {stored.get(key)}, and this run has {value}. Choose another output "
                        "directory, or delete this one."
                    )
            if path.stem in planned:
                found[path.stem] = record["values"]
        return found

    def save(
        self, task: Task, data: Mapping[str, Any], values: dict[str, Any], seconds: float
    ) -> dict[str, Any]:
        """Write the result of a task whole or not at all; return it as it will be read."""
        record = with_checksum(
            {
                "task": task.name,
                "part": task.part,
                "run": task.run,
                "seconds": round(seconds, 3),
                "made_from": self._made_from(task, data),
                "values": _plain(values),
            }
        )
        text = json.dumps(record, allow_nan=False)
        write_text(self._tasks / f"{task.name}.json", text + "\n")
        return json.loads(text)["values"]

    def _made_from(self, task: Task, data: Mapping[str, Any]) -> dict[str, Any]:
        return {
            **self._common,
            "parameters": _plain(dict(task.parameters)),
            "data": data.get(task.dataset) if task.dataset else None,
        }


def write_text(path: Path, text: str) -> None:
    """Write a text file whole or not at all."""
    with written_whole(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def _versions() -> dict[str, str]:
    python = ".".join(platform.python_version_tuple()[:2])
    versions = {"coterie": coterie.__version__, "python": python, "numpy": np.__version__}
    return versions | {"scipy": scipy.__version__, "scikit-learn": sklearn.__version__}


def _read(path: Path) -> dict[str, Any] | None:
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, FileNotFoundError):
        return None
    whole = isinstance(record, dict) and {"made_from", "values"} <= record.keys()
    whole = whole and checksum_fits(record)
    return record if whole else None


def _plain(value: Any) -> Any:
    """Return a value as JSON knows it; NaN becomes None."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value
