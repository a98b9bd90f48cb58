"""Coverage-guided fuzzing of the readers, where atheris is installed."""

from __future__ import annotations

import io
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from coterie import Ensemble

__all__ = ["attack"]

_SECONDS = 10


def attack(rng: np.random.Generator, folder: Path) -> None:
    """Fuzz from small valid files; an input that ends the process is a failure."""
    if find_spec("atheris") is None:
        return
    corpus = folder / "corpus"
    corpus.mkdir()
    for i, seed in enumerate(_seeds(folder)):
        (corpus / f"seed{i}").write_bytes(seed)
    words = [f"-max_total_time={_SECONDS}", f"-seed={rng.integers(1, 2**31)}", "-max_len=4096"]
    words += ["-timeout=20", f"-artifact_prefix={folder}/", "-verbosity=0", str(corpus)]
    script = Path(__file__).with_name("fuzz_readers.py")
    done = subprocess.run(
        [sys.executable, str(script), str(folder), *words],
        capture_output=True,
        text=True,
        errors="replace",
        timeout=_SECONDS + 120,
        check=False,
    )
    found = [path.read_bytes() for path in folder.glob("*-*") if path.is_file()]
    assert done.returncode == 0, f"inputs {found!r}\n{done.stderr[-3000:]}"


def _seeds(folder: Path) -> list[bytes]:
    """Return a valid input for each reader, its number in front."""
    array, path = io.BytesIO(), folder / "seed.npz"
    np.save(array, np.arange(6).reshape(3, 2))
    Ensemble([[0, 1], [0, 1], [1, 0]]).save(path)
    text = b'a,b\n1,"x"\n2,y\n'
    return [
        *(bytes([number]) + text for number in (0, 1, 8)),
        b"\x02" + array.getvalue(),
        *(bytes([number]) + path.read_bytes() for number in (3, 4, 5)),
        b'\x06{"a": [1, 2.5, null]}',
    ]
