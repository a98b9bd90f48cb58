"""One measurement in a process of its own: `python -m benchmarks.speed.worker METHOD CASE FILE`.

Runs under the interpreter of the package it measures, so it needs nothing but that and NumPy.
The process does: import, load the labels (here the baseline of memory is read), a warm-up on a
few rows, the timed call. What it found goes as JSON to `--report`, because packages print.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import importlib
import json
import resource
import signal
import sys
import time
from pathlib import Path

import numpy as np
from benchmarks.speed import scores

WARM_UP_ROWS = 400


def main() -> None:
    """Measure once and write the report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed.worker", description=__doc__)
    parser.add_argument("method", help="file in methods/, without .py")
    parser.add_argument("case", help="function in that file")
    parser.add_argument("labels", type=Path, help="label matrix, .npy")
    parser.add_argument("--clusters", type=int, default=20)
    parser.add_argument("--check", choices=["rows", "ari", "equal", "none"], default="none")
    parser.add_argument("--timeout", type=float, default=0, help="seconds; 0: none")
    parser.add_argument("--memory", type=int, default=0, help="bytes it may allocate; 0: any")
    parser.add_argument("--save", type=Path, help="where to save the result, .npy")
    parser.add_argument("--report", type=Path, help="where to write the figures; else printed")
    options = parser.parse_args()

    try:
        report = measure(options)
    except BaseException as error:  # MemoryError and SystemExit are results here
        report = {
            "error": type(error).__name__,
            "message": next(iter(str(error).strip().splitlines()), ""),
            "missing": getattr(error, "name", None)
            if isinstance(error, ModuleNotFoundError)
            else None,
        }
    text = json.dumps(report)
    if options.report is None:
        print(text)
    else:
        options.report.write_text(text)
    sys.stdout.flush()


def measure(options: argparse.Namespace) -> dict[str, float]:
    """Return the figures of one call."""
    method = importlib.import_module(f"benchmarks.speed.methods.{options.method}")
    function = getattr(method, options.case)
    prepare = getattr(method, "prepare", lambda labels: labels)
    labels = np.load(options.labels)
    baseline = status("VmRSS")
    allow(options.memory)

    start = time.perf_counter()
    few = np.ascontiguousarray(labels[:: max(1, len(labels) // WARM_UP_ROWS)])
    function(prepare(few), min(options.clusters, len(few)))
    first_call = time.perf_counter() - start

    prepared = prepare(labels)
    gc.collect()
    in_use, highest = status("VmRSS"), peak()
    reset_peak()
    die_after(options.timeout)
    start, worked = time.perf_counter(), time.process_time()
    result = function(prepared, options.clusters)
    seconds, worked = time.perf_counter() - start, time.process_time() - worked
    die_after(0)
    during = peak()

    report = {
        "seconds": seconds,
        "processor": worked,
        "first_call": first_call,
        "baseline": baseline,
        "peak": max(highest, during),
        "increase": max(during - baseline, 0),
        "call": max(during - in_use, 0),
    }
    if options.check == "rows":
        report["error_of_rows"] = scores.largest_error(result, labels)
    if options.save is not None:
        np.save(options.save, np.asarray(result))
    return report


def status(field: str) -> int:
    """Return a size from /proc/self/status in bytes, 0 where there is none."""
    try:
        text = Path("/proc/self/status").read_text()
    except OSError:
        return 0
    for line in text.splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    return 0


def peak() -> int:
    """Return the most memory this process had in use, in bytes.

    Linux's VmHWM, because ru_maxrss starts at what the process that started us had in use.
    """
    unit = 1 if sys.platform == "darwin" else 1024
    return status("VmHWM") or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def reset_peak() -> None:
    """Let the peak start again from what is in use now, so that the warm-up does not count."""
    with contextlib.suppress(OSError):  # not Linux: the peak then includes the warm-up
        Path("/proc/self/clear_refs").write_text("5")


def die_after(seconds: float) -> None:
    """End the process by SIGALRM after `seconds`, compiled code or not; 0 calls it off."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds)


def allow(n_bytes: int) -> None:
    """Make allocations fail beyond `n_bytes` more than are in use now; 0: no limit."""
    if n_bytes and status("VmData"):
        limit = status("VmData") + n_bytes
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


if __name__ == "__main__":
    main()
