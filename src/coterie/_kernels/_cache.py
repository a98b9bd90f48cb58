"""Where compiled kernels are kept: a directory that is named after all their sources.

Kernels call kernels of other files, and numba looks for changes only in the file of the caller.
With a directory for each state of the sources, old code is never found again.
"""

import contextlib
import hashlib
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numba
import numpy as np

__all__ = ["cache_directory"]

_SWITCH = "COTERIE_NUMBA_CACHE"
_NAME = re.compile(r"coterie-[0-9a-f]{16}")
_KEPT = 4  # directories of other states, for going to and fro between branches


def cache_directory() -> Path | None:
    """Return the directory of the compiled kernels, None where they cannot be kept.

    It is in the first place that can be written: numba's NUMBA_CACHE_DIR, beside the sources, the
    user's cache directory. ``COTERIE_NUMBA_CACHE=0`` keeps nothing.
    """
    sources = sorted(Path(__file__).parent.glob("*.py"))
    if os.environ.get(_SWITCH, "1") == "0" or not sources:
        return None
    name = f"coterie-{_digest(sources)}"
    for place in _places():
        with contextlib.suppress(OSError):
            directory = place / name
            is_new = not directory.exists()
            directory.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=directory).close()  # can be written
            os.utime(directory)  # in use
            if is_new:
                _remove_old(place, directory)
            return directory
    return None


def _digest(sources: list[Path]) -> str:
    """Return a hash of the sources and of what compiles them; numba itself tells CPUs apart."""
    versions = (numba.__version__, np.__version__, sys.implementation.cache_tag)
    digest = hashlib.sha256(repr(versions).encode())
    for path in sources:
        digest.update(f"\n{path.name}\n".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def _places() -> Iterator[Path]:
    if given := getattr(numba.config, "CACHE_DIR", ""):
        yield Path(given)
        return
    yield Path(__file__).parent / "__pycache__"
    with contextlib.suppress(RuntimeError):  # there is no home
        default = Path.home() / ("AppData/Local" if os.name == "nt" else ".cache")
        yield Path(os.environ.get("XDG_CACHE_HOME") or default) / "coterie"


def _remove_old(place: Path, own: Path) -> None:
    """Remove directories of other states, except the last in use."""
    others = [path for path in place.iterdir() if _NAME.fullmatch(path.name) and path != own]
    with contextlib.suppress(OSError):  # another process may be removing them, too
        others.sort(key=lambda path: path.stat().st_mtime)
        for path in others[:-_KEPT]:
            shutil.rmtree(path, ignore_errors=True)  # leaves links alone
