"""Measure every method, fit the cost model, write it into the package and the page on scaling.

python -m benchmarks.cost            measures and fits
python -m benchmarks.cost --fit      fits to the measurements that are there
"""

import csv
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
from scipy.optimize import nnls

from coterie.consensus import CONSENSUS

ROOT = Path(__file__).parents[2]
MEASURED = ROOT / "docs" / "scaling" / "measured.csv"
MODEL = ROOT / "src" / "coterie" / "_costs.json"
BASE = {"n": 2000, "L": 20, "clusters": 24, "k": 8}
POINTS = [
    BASE | {"n": 1000},
    BASE,
    BASE | {"n": 4000},
    BASE | {"n": 16_000},
    BASE | {"L": 10},
    BASE | {"L": 40},
    BASE | {"clusters": 64},
    BASE | {"k": 16},
]
MOST_SECONDS = 25


def measure():
    MEASURED.parent.mkdir(parents=True, exist_ok=True)
    fields = ["method", "n", "L", "K", "k", "seconds", "cpu", "bytes"]
    done = set()
    if MEASURED.exists():
        with open(MEASURED, newline="") as file:
            done = {(r["method"], *(int(r[c]) for c in "nLKk")) for r in csv.DictReader(file)}
    with open(MEASURED, "a", newline="") as file:
        table = csv.DictWriter(file, fields)
        if not done:
            table.writeheader()
        for name in sorted(CONSENSUS):
            slow = np.inf
            for point in POINTS:
                if point["n"] >= slow:
                    continue
                key = (name, point["n"], point["L"], point["L"] * point["clusters"], point["k"])
                if key in done:
                    continue
                arguments = [str(point[c]) for c in ("n", "L", "clusters", "k")]
                command = [sys.executable, "-m", "benchmarks.cost.worker", name, *arguments]
                try:
                    run = subprocess.run(
                        command, capture_output=True, text=True, timeout=MOST_SECONDS, check=True
                    )
                except (subprocess.TimeoutExpired, subprocess.CalledProcessError) as error:
                    print(name, point, type(error).__name__, flush=True)
                    slow = min(slow, point["n"])
                    continue
                found = json.loads(run.stdout.splitlines()[-1])
                table.writerow(dict(zip(fields[:5], key, strict=True)) | found)
                file.flush()
                print(name, point, found, flush=True)


def fit():
    with open(MEASURED, newline="") as file:
        rows = list(csv.DictReader(file))
    model = {}
    for name in sorted({row["method"] for row in rows}):
        own = [row for row in rows if row["method"] == name]
        sizes = np.array([[float(row[c]) for c in "nLKk"] for row in own])
        cpu = np.array([float(row["cpu"]) for row in own])
        design = np.column_stack([np.log(sizes / sizes.min(axis=0)), np.ones(len(own))])
        # Exponents are not negative; K grows with L, so that the two share what L does.
        shifted = np.log(np.maximum(cpu, 1e-3)) - np.log(1e-3)
        exponents, residual = nnls(design, shifted)
        scale = np.log(1e-3) + exponents[-1] - exponents[:-1] @ np.log(sizes.min(axis=0))
        n, L, K, _ = sizes.T
        memory = np.array([float(row["bytes"]) for row in own])
        terms = np.column_stack([n * L, K**2, n**2])
        weights, _ = nnls(terms / terms.max(axis=0), memory)
        weights = weights / terms.max(axis=0)
        model[name] = {
            "exponents": dict(zip("nLKk", np.round(exponents[:-1], 3).tolist(), strict=True)),
            "log_seconds": round(float(scale), 4),
            "error": round(float(residual / np.sqrt(len(own))), 3),
            "bytes": dict(zip(("nL", "KK", "nn"), np.round(weights, 4).tolist(), strict=True)),
            "largest_measured_n": int(n.max()),
        }
    MODEL.write_text(json.dumps({"machine": MACHINE, "methods": model}, indent=1) + "\n")
    print(f"{len(model)} methods in {MODEL}")


MACHINE = "one process on 2 cores of a shared machine, processor time"

if __name__ == "__main__":
    if "--fit" not in sys.argv:
        measure()
    fit()
