"""Files that are written whole or not at all, and JSON records with a checksum."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

__all__ = ["checksum_fits", "with_checksum", "written_whole"]


@contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path beside `path`, which takes its name if the block succeeds."""
    path = Path(path)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)  # mkstemp makes files that only the owner can read
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def with_checksum(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record for a JSON file with the checksum of its other entries."""
    return record | {"checksum": _checksum(record)}


def checksum_fits(record: dict[str, Any]) -> bool:
    """Whether a record read from a JSON file has the content that `with_checksum` saw."""
    return record.get("checksum") == _checksum(record)


def _checksum(record: dict[str, Any]) -> str:
    content = {key: value for key, value in record.items() if key != "checksum"}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
