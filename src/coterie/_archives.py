"""Archives of arrays: numpy's npz format with a checksum, without pickle.

The entry `checksum` is the SHA-256 of the names, types, shapes and bytes of all other entries. A
damaged file is refused; the checksum does not say who wrote the file. Sizes are checked before
anything is unpacked, and arrays of Python objects are never read.
"""

from __future__ import annotations

import errno
import hashlib
import os
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from coterie._files import written_whole
from coterie._limits import MemoryLimitError
from coterie._reading import check_memory, check_regular

__all__ = ["DamagedError", "read_archive", "write_archive"]

_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}

_BROKEN = (
    *(zipfile.BadZipFile, zlib.error, struct.error, tokenize.TokenError, SyntaxError, EOFError),
    *(NotImplementedError, RuntimeError, KeyError, ValueError, OverflowError),
)
"""What the readers of the standard library and numpy raise for a damaged file."""


class DamagedError(ValueError):
    """A file is no archive, or its content is not what was written."""


def write_archive(
    path: str | os.PathLike[str], arrays: Mapping[str, Any], *, compressed: bool = False
) -> None:
    """Write arrays with their checksum to a file, whole or not at all."""
    content = {name: np.asarray(array) for name, array in arrays.items()}
    content["checksum"] = np.frombuffer(_checksum(content), dtype=np.uint8)
    write = np.savez_compressed if compressed else np.savez
    # NumPy 1.26 has no allow_pickle for writing: it would pickle objects, so none may be there.
    if objects := [name for name, array in content.items() if array.dtype.hasobject]:
        raise ValueError(f"arrays must hold no Python objects; got some in {', '.join(objects)}.")
    with written_whole(path) as temporary, open(temporary, "wb") as file:
        write(file, **content)  # type: ignore[arg-type]


def read_archive(path: str | os.PathLike[str]) -> dict[str, NDArray[Any]]:
    """Read the arrays of a file, `checksum` among them if the file has one.

    Raises
    ------
    DamagedError
        If the file is no archive of arrays, or does not have the content of its checksum.
    MemoryLimitError
        If the arrays would not fit the memory limit.
    """
    path = Path(path)
    check_regular(path)
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            total = sum(member.file_size for member in members)
            check_memory(f"{path} (unpacked)", total, path)
            arrays = {
                member.filename.removesuffix(".npy"): _read_member(archive, member)
                for member in members
            }
        if len(arrays) < len(members):
            raise ValueError("two arrays have the same name")
        if "checksum" in arrays and arrays["checksum"].tobytes() != _checksum(arrays):
            raise ValueError("its checksum does not fit, so it is damaged")
    except MemoryLimitError:
        raise
    except _BROKEN as error:
        raise DamagedError(str(error)) from error
    except OSError as error:
        if error.errno != errno.EINVAL:  # a place before the beginning of the file
            raise
        raise DamagedError("it is damaged") from error
    return arrays


def _read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> NDArray[Any]:
    with archive.open(member) as file:
        claimed = _claimed_bytes(file)
    if claimed > member.file_size:
        raise ValueError(f"{member.filename} claims {claimed} bytes that are not there")
    with archive.open(member) as file:
        array: NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
        file.read()  # to the end, where the archive compares its own checksum
    return array


def _claimed_bytes(file: IO[bytes]) -> int:
    """Return the size of an array by its header."""
    shape, _, dtype = _HEADERS[np.lib.format.read_magic(file)](file)
    if dtype.hasobject:
        raise ValueError("it holds Python objects")
    size = dtype.itemsize
    for n in shape:
        size *= int(n)
    return size


def _checksum(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    digest = hashlib.sha256()
    for name in sorted(arrays.keys() - {"checksum"}):
        array = arrays[name]
        digest.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
        digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return digest.digest()
