"""Coverage-guided fuzzing of the readers, by atheris, in a process of its own.

    python tests/soak/fuzz_readers.py FOLDER -max_total_time=30

The first byte of an input chooses the reader. A reader may return something or raise ValueError
(or its memory and file errors); anything else ends the process, and libFuzzer keeps the input.
"""

from __future__ import annotations

import contextlib
import io
import sys
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["coterie"]):
    from coterie import Ensemble
    from coterie._archives import read_archive
    from coterie._mat import read_mat
    from coterie._model_file import load_model
    from coterie._reading import read_csv, read_json, read_npy

FOLDER = Path(sys.argv[1])
READERS = {
    0: ("t.csv", lambda path: read_csv(path, path)),
    1: ("t.csv", lambda path: read_csv(io.BytesIO(path.read_bytes()), "standard input")),
    2: ("t.npy", read_npy),
    3: ("t.npz", read_archive),
    4: ("t.npz", Ensemble.load),
    5: ("t.npz", load_model),
    6: ("t.json", read_json),
    7: ("t.mat", read_mat),
    8: ("t.csv", Ensemble.from_csv),
}


def read_one(data: bytes) -> None:
    """Give the input to the reader that its first byte chooses."""
    if not data:
        return
    name, reader = READERS[data[0] % len(READERS)]
    path = FOLDER / name
    path.write_bytes(data[1:])
    with contextlib.suppress(ValueError, MemoryError, IsADirectoryError):
        reader(path)


if __name__ == "__main__":
    atheris.Setup([sys.argv[0], *sys.argv[2:]], read_one)
    atheris.Fuzz()
