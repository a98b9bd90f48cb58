"""Running one case: its random numbers, its folder, its warnings."""

from __future__ import annotations

import tempfile
import warnings
import zlib
from importlib import import_module
from pathlib import Path

import numpy as np

from soak.attacks import ATTACKS

__all__ = ["run_case"]


def run_case(attack: str, seed: int, number: int) -> None:
    """Run one case; whatever it raises is a failure."""
    module, _, function = ATTACKS[attack].where.partition(":")
    rng = np.random.default_rng([seed, number, zlib.crc32(attack.encode())])
    with tempfile.TemporaryDirectory(prefix="soak-") as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        getattr(import_module(module), function)(rng, Path(folder))
