"""One method on all ensembles: `python -m benchmarks.agreement.worker METHOD CASE DIRECTORY`.

Runs under the interpreter of the package it measures, so it needs nothing but that and NumPy. For
each file of labels in the directory it writes what was found beside it, with the seconds it took.
"""

from __future__ import annotations

import argparse
import importlib
import time
from pathlib import Path

import numpy as np


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.agreement.worker")
    parser.add_argument("method", help="file in speed/methods/, without .py")
    parser.add_argument("case", help="function in that file")
    parser.add_argument("directory", type=Path)
    options = parser.parse_args()
    module = importlib.import_module(f"benchmarks.speed.methods.{options.method}")
    function = getattr(module, options.case)
    prepare = getattr(module, "prepare", lambda labels: labels)
    for path in sorted(options.directory.glob("labels-*.npz")):
        given = np.load(path)
        prepared = prepare(given["labels"])
        start = time.perf_counter()
        found = np.asarray(function(prepared, int(given["n_clusters"])))
        seconds = time.perf_counter() - start
        name = path.name.replace("labels-", "found-")
        np.savez(path.with_name(name), labels=found, seconds=seconds)


if __name__ == "__main__":
    main()
