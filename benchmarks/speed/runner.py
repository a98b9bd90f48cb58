"""Repeats and times: every measurement in a fresh process, ours and the others in turn."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.speed import datasets, scores
from benchmarks.speed.cases import METHODS, Case, Method
from benchmarks.speed.peers import PEERS, without_paths

N_CLUSTERS = 20
_ROOT = Path(__file__).resolve().parents[2]
_SET_UP = 120  # seconds that import, loading, warm-up and check may take on top of the time-out
_REPEAT_BELOW = 0.25  # of the time-out: what takes longer is measured once
_LASTING_ERRORS = ("MemoryError", "ImportError", "ModuleNotFoundError", "MemoryLimitError")
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


@dataclass
class Options:
    """How to measure."""

    cache: Path
    repeats: int = 3
    timeout: float = 120
    memory: int = 0
    threads: int | None = None
    pythons: dict[str, str] = field(default_factory=dict)
    """Interpreters of packages that do not live in ours."""


@dataclass
class Row:
    """What a method did in a case at a size."""

    case: str
    n: int
    method: str
    title: str
    seconds: float | None = None
    processor: float | None = None
    first_call: float | None = None
    increase: float | None = None
    call: float | None = None
    peak: float | None = None
    runs: int = 0
    agreement: float | None = None
    problem: str = ""
    time_ratio: float | None = None
    memory_ratio: float | None = None
    call_ratio: float | None = None
    peak_ratio: float | None = None
    result: Any = None


@dataclass
class Block:
    """The rows of one case at one size."""

    case: Case
    n: int
    n_distinct: int
    n_partitions: int
    rows: list[Row]


def run(
    cases: Iterable[Case],
    sizes: Iterable[int],
    options: Options,
    report: Callable[[str], None] = lambda text: None,
) -> Iterable[Block]:
    """Yield the figures of each case and size as they are ready."""
    hopeless: dict[tuple[str, str], str] = {}
    for case in cases:
        for n in case.sizes or sorted(sizes):
            report(f"{case.name}, n = {n:,}: data")
            path = datasets.path_of(case.dataset, n, options.cache)
            counts = _count_distinct(path), np.load(path, mmap_mode="r").shape[1]
            block = Block(case, n, *counts, [_row(case, n, m) for m in case.methods])
            for repeat in range(options.repeats):
                for row in block.rows:
                    if not _worth_running(row, repeat, hopeless, options):
                        continue
                    report(f"{case.name}, n = {n:,}: {row.title}, run {repeat + 1}")
                    _measure(row, case, path, options)
                    if row.problem and _stays(row.problem):
                        hopeless[case.name, row.method] = f"{row.problem} (n = {n:,})"
            _compare(block)
            yield block


def _row(case: Case, n: int, method: str) -> Row:
    return Row(case.name, n, method, METHODS[method].title)


def _worth_running(
    row: Row, repeat: int, hopeless: dict[tuple[str, str], str], options: Options
) -> bool:
    if row.problem:
        return False
    if (row.case, row.method) in hopeless:
        row.problem = hopeless[row.case, row.method]
        return False
    return repeat == 0 or row.seconds is None or row.seconds < _REPEAT_BELOW * options.timeout


def _stays(problem: str) -> bool:
    """Say whether a larger size can only go the same way."""
    return problem.startswith((">", "not installed", "killed", *_LASTING_ERRORS))


def _measure(row: Row, case: Case, path: Path, options: Options) -> None:
    """Run the worker once and put what it found into the row, the best of all runs."""
    method = METHODS[row.method]
    timeout = max(options.timeout, case.timeout)
    with tempfile.TemporaryDirectory(prefix="coterie-bench-") as scratch:
        report, result = Path(scratch, "report.json"), Path(scratch, "result.npy")
        command = [
            options.pythons.get(method.needs or "", sys.executable),
            *("-m", "benchmarks.speed.worker"),
            *(method.module, case.function or case.name, str(path.absolute())),
            *("--clusters", str(N_CLUSTERS), "--check", case.check),
            *("--timeout", str(timeout)),
            *("--memory", str(case.memory or options.memory)),
            *("--report", str(report)),
        ]
        if case.check != "rows":
            command += ["--save", str(result)]
        try:
            done = subprocess.run(
                command,
                cwd=scratch,
                env=_environment(method, options),
                capture_output=True,
                text=True,
                timeout=timeout + _SET_UP,
            )
        except subprocess.TimeoutExpired:
            row.problem = f"> {timeout:g} s"
            return
        if not report.exists():
            row.problem = _death(done, timeout)
            return
        found = json.loads(report.read_text())
        if "error" in found:
            row.problem = _problem(found, method)
            return
        if result.exists() and row.result is None:
            row.result = np.load(result)

    row.runs += 1
    row.seconds = min(found["seconds"], row.seconds or np.inf)
    row.processor = min(found["processor"], row.processor or np.inf)
    row.first_call = max(found["first_call"], row.first_call or 0)
    row.increase = max(found["increase"], row.increase or 0)
    row.call = max(found["call"], row.call or 0)
    row.peak = max(found["peak"], row.peak or 0)
    row.agreement = found.get("error_of_rows", row.agreement)


def _environment(method: Method, options: Options) -> dict[str, str]:
    path = os.pathsep.join([str(_ROOT), str(_ROOT / "src")])  # this checkout's coterie
    env = {**os.environ, "PYTHONPATH": path, "MPLBACKEND": "agg", **dict(method.env)}
    if options.threads is not None:
        env |= dict.fromkeys(_THREADS, str(options.threads))
    return env


def _death(done: subprocess.CompletedProcess[str], timeout: float) -> str:
    if done.returncode == -signal.SIGALRM:
        return f"> {timeout:g} s"
    last = next(iter(reversed(done.stderr.strip().splitlines())), "")
    if done.returncode < 0:
        return f"killed by {signal.Signals(-done.returncode).name}"
    return without_paths(f"exit code {done.returncode}: {last}")


def _problem(found: dict[str, Any], method: Method) -> str:
    missing = found.get("missing")
    if missing is not None and method.needs and missing.lower() == method.needs.lower():
        how = "--install-peers DIR" if method.needs in PEERS else f"pip install {method.needs}"
        return f"not installed ({how})"
    return without_paths(f"{found['error']}: {found['message']}").rstrip(": ")


def _compare(block: Block) -> None:
    """Fill in ratios to our row, the first, and agreement with its result."""
    ours = block.rows[0]
    measure = scores.equal if block.case.check == "equal" else scores.adjusted_rand
    for row in block.rows:
        if row.result is not None and ours.result is not None:
            row.agreement = measure(ours.result, row.result)
        if row.seconds is None or ours.seconds is None:
            continue
        row.time_ratio = row.seconds / ours.seconds
        row.memory_ratio = row.increase / max(ours.increase, 1)
        row.call_ratio = row.call / max(ours.call, 1)
        row.peak_ratio = row.peak / max(ours.peak, 1)
    for row in block.rows:
        row.result = None


def _count_distinct(path: Path) -> int:
    labels = np.load(path)
    return len(np.unique(labels.view([("", labels.dtype)] * labels.shape[1])))
