"""Finished parts of a long computation on disk: whole, with checksums, for one input alone."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any, NamedTuple

from coterie._files import written_whole
from coterie.blocks._sources import BlockError

__all__ = ["PartStore"]

_MANIFEST = "manifest.json"


class PartStore(NamedTuple):
    """A folder of finished parts, each with a file that holds its checksum.

    A part counts as finished when its checksum file is there and fits: a run that was killed
    loses the parts that were under way.
    """

    folder: Path
    ending: str
    """Of the files of parts, such as '.parquet'."""

    @classmethod
    def open(
        cls, folder: str | os.PathLike[str], ending: str, description: dict[str, Any]
    ) -> PartStore:
        """Open a folder, or make it; refuse one whose parts are of another computation.

        Parameters
        ----------
        folder : path
        ending : str
            Of the files of parts.
        description : dict
            What the parts are made from: input, parameters, seed. Plain data.
        """
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        manifest = folder / _MANIFEST
        words = json.dumps(description, sort_keys=True, default=str)
        if manifest.exists():
            stored = manifest.read_text(encoding="utf-8")
            if stored != words:
                changed = _first_difference(stored, description)
                raise BlockError(
                    f"{folder} holds parts of another computation: {changed} has changed. Results "
                    "of two inputs are never mixed: give another folder, or remove this one."
                )
        elif any(folder.iterdir()):
            raise BlockError(
                f"{folder} is not empty, and coterie did not write it. Give the name of a new "
                "folder."
            )
        else:
            with written_whole(manifest) as temporary:
                temporary.write_text(words, encoding="utf-8")
        return cls(folder, ending)

    def path(self, part: int) -> Path:
        """Return the file of a part."""
        return self.folder / f"part-{part:06d}{self.ending}"

    def is_done(self, part: int) -> bool:
        """Whether a part is finished and is what was written."""
        checksum = self._checksum_path(part)
        if not checksum.exists() or not self.path(part).exists():
            return False
        return checksum.read_text(encoding="ascii") == _digest(self.path(part))

    def finish(self, part: int) -> None:
        """Write the checksum of a part that has been written whole."""
        with written_whole(self._checksum_path(part)) as temporary:
            temporary.write_text(_digest(self.path(part)), encoding="ascii")

    def _checksum_path(self, part: int) -> Path:
        return self.folder / f".part-{part:06d}.sha256"


def _digest(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _first_difference(stored: str, description: dict[str, Any]) -> str:
    try:
        before = json.loads(stored)
    except ValueError:
        return "its manifest"
    now = json.loads(json.dumps(description, default=str))
    for name in now:
        if not isinstance(before, dict) or before.get(name) != now[name]:
            return f"the {name}"
    return "the manifest"
