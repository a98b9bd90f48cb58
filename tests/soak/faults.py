"""Signals, full disks, read-only folders, changed files, two processes, little memory.

Every case runs a command of its own. Nothing may be half-written, nothing lost but the partition
in work, no process left behind, and the same result comes out after resuming.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np

__all__ = ["attack_places", "attack_signals"]

_ENTRY = [sys.executable, "-P", "-m", "coterie.cli"]
_DEADLINE = 50.0


@cache
def _table(n: int) -> bytes:
    """Return a table of three lumps as CSV."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4)) + 5 * rng.integers(0, 3, n)[:, None]
    lines = ["a,b,c,d", *(",".join(f"{value:.6f}" for value in row) for row in X)]
    return ("\n".join(lines) + "\n").encode()


@cache
def _reference(n: int, words: tuple[str, ...]) -> bytes:
    """Return the labels of a run that nobody disturbs."""
    done = subprocess.run(
        [*_ENTRY, *words, "-"], input=_table(n), capture_output=True, check=True, timeout=600
    )
    return done.stdout


def _words(rng: np.random.Generator) -> tuple[int, tuple[str, ...]]:
    n = int(rng.choice([200, 800]))
    jobs = str(rng.choice(["1", "2"]))
    return n, ("cluster", "-k", "3", "-p", "40", "-j", jobs, "--quiet", "--output", "-")


def attack_signals(rng: np.random.Generator, folder: Path) -> None:
    """Send a signal at a random moment, look, and run the same command again."""
    n, words = _words(rng)
    (folder / "t.csv").write_bytes(_table(n))
    command = [*_ENTRY, *words[:-2], "t.csv", "--checkpoint", "kept", "--output", "out.csv"]
    process = _start(command, folder)
    time.sleep(float(rng.uniform(0.0, 4.0)))
    sent = signal.Signals(rng.choice([signal.SIGKILL, signal.SIGINT, signal.SIGTERM]))
    if process.poll() is None:
        victim = process.pid
        workers = _children(process.pid)
        if workers and rng.random() < 0.3:  # a worker instead, as the system does out of memory
            victim, sent = int(rng.choice(workers)), signal.SIGKILL
        with contextlib.suppress(ProcessLookupError):
            os.kill(victim, sent)
    told = _wait(process)
    assert "Traceback" not in told, told
    assert "internal error" not in told, told
    _check_nothing_left(process.pid, folder)
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=_DEADLINE)
    assert done.returncode == 0, done.stderr
    found = (folder / "out.csv").read_bytes()
    assert found == _reference(n, words), "another result after resuming"
    _check_nothing_left(-1, folder)


def attack_places(rng: np.random.Generator, folder: Path) -> None:
    """Run where writing fails or the input changes: one line, and no half-written file."""
    faults = [_full_disk, _read_only, _changing_file, _two_processes, _little_memory, _bad_clock]
    faults[rng.integers(len(faults))](rng, folder)


# --- places ---------------------------------------------------------------------------------------


def _full_disk(rng: np.random.Generator, folder: Path) -> None:
    """A limit of the file size, below what the report or the ensemble needs."""
    n, words = _words(rng)
    (folder / "t.csv").write_bytes(_table(n))
    target = str(rng.choice(["--report=r.html", "--save-ensemble=e.npz", "--output=o.csv"]))
    limit = int(rng.integers(100, 3_000))

    def limit_size() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    command = [*_ENTRY, *words[:-2], "t.csv", target]
    environment = {"COTERIE_NUMBA_CACHE": "0"} if rng.random() < 0.05 else {}
    done = _run(command, folder, limit_size, environment)
    _check_refused_or_done(done)
    left = {path.name for path in folder.iterdir()} - {"t.csv"}
    assert not left or done.returncode == 0, f"half-written: {left}"


def _read_only(rng: np.random.Generator, folder: Path) -> None:
    """A folder that cannot be written to (as root: a file in the place of the folder)."""
    n, words = _words(rng)
    (folder / "t.csv").write_bytes(_table(n))
    (folder / "place").write_text("a file")
    target = ["--report", "place/r.html"] if rng.random() < 0.5 else ["--checkpoint", "place"]
    done = _run([*_ENTRY, *words[:-2], "t.csv", *target], folder)
    _check_refused_or_done(done)
    assert done.returncode == 2
    assert (folder / "place").read_text() == "a file"


def _changing_file(rng: np.random.Generator, folder: Path) -> None:
    """A checkpoint is not continued with a table that has changed."""
    n, words = _words(rng)
    (folder / "t.csv").write_bytes(_table(n))
    command = [*_ENTRY, *words[:-2], "t.csv", "--checkpoint", "kept", "--output", "out.csv"]
    process = _start(command, folder)
    time.sleep(float(rng.uniform(0.0, 3.0)))
    lines = _table(n).splitlines()
    (folder / "t.csv").write_bytes(b"\n".join(lines[: len(lines) // 2]) + b"\n")
    told = _wait(process)
    assert "internal error" not in told, told
    again = _run(command, folder)
    _check_refused_or_done(again)
    if again.returncode == 0:  # the first process had read the changed file already
        n_rows = len((folder / "out.csv").read_text().splitlines()) - 1
        assert n_rows == len(lines) // 2 - 1


def _two_processes(rng: np.random.Generator, folder: Path) -> None:
    """Two processes on one checkpoint give the same labels."""
    n, words = _words(rng)
    (folder / "t.csv").write_bytes(_table(n))
    command = [*_ENTRY, *words[:-2], "t.csv", "--checkpoint", "kept"]
    both = [_start([*command, "--output", f"{i}.csv"], folder) for i in range(2)]
    for process in both:
        told = _wait(process)
        assert process.returncode == 0, told
    for i in range(2):
        assert (folder / f"{i}.csv").read_bytes() == _reference(n, words)


def _little_memory(rng: np.random.Generator, folder: Path) -> None:
    """Little address space: a result or one line."""
    n, words = _words(rng)
    (folder / "t.csv").write_bytes(_table(n))
    limit = int(rng.uniform(0.3, 2.0) * 1024**3)

    def limit_memory() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    done = _run([*_ENTRY, *words[:-2], "t.csv", "--output", "o.csv"], folder, limit_memory)
    assert done.returncode in (0, 1, 2, -signal.SIGKILL, -signal.SIGABRT, -signal.SIGSEGV)
    assert (done.returncode == 0) == (folder / "o.csv").exists()


def _bad_clock(rng: np.random.Generator, folder: Path) -> None:
    """Files of the future and of the past in the checkpoint change nothing."""
    n, words = _words(rng)
    (folder / "t.csv").write_bytes(_table(n))
    command = [*_ENTRY, *words[:-2], "t.csv", "--checkpoint", "kept", "--output", "out.csv"]
    assert _run(command, folder).returncode == 0
    for path in (folder / "kept").iterdir():
        stamp = time.time() + float(rng.uniform(-1e9, 1e9))
        os.utime(path, (stamp, stamp))
    assert _run(command, folder).returncode == 0
    assert (folder / "out.csv").read_bytes() == _reference(n, words)


# --- processes ------------------------------------------------------------------------------------


def _start(command: list[str], folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def _wait(process: subprocess.Popen[str]) -> str:
    """Wait for the end of a process; return what it has said."""
    try:
        out, err = process.communicate(timeout=_DEADLINE)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    return out + err


def _run(
    command: list[str],
    folder: Path,
    before: Callable[[], None] | None = None,
    environment: dict[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=_DEADLINE,
        preexec_fn=before,
        env=os.environ | (environment or {}),
        check=False,
    )


def _check_refused_or_done(done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode in (0, 1, 2), (done.returncode, done.stderr)
    assert "Traceback" not in done.stderr, done.stderr
    assert "internal error" not in done.stderr, done.stderr


def _check_nothing_left(parent: int, folder: Path) -> None:
    """No half-written file under a wrong name, no process of ours."""
    end = time.monotonic() + 10
    while time.monotonic() < end and _in_folder(folder):
        time.sleep(0.05)
    assert not _in_folder(folder), f"processes left behind: {_in_folder(folder)}"
    names = {path.name for path in folder.iterdir()}
    visible = {name for name in names if not name.startswith(".")}
    assert visible <= {"t.csv", "kept", "out.csv"}, names


def _in_folder(folder: Path) -> list[int]:
    """Return the processes whose working directory is the folder of this case."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if (entry / "cwd").resolve() == folder.resolve() and _is_alive(entry):
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def _is_alive(entry: Path) -> bool:
    return (entry / "stat").read_text().rpartition(")")[2].split()[0] != "Z"


def _children(pid: int) -> list[int]:
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if int((entry / "stat").read_text().rpartition(")")[2].split()[1]) == pid:
                found.append(int(entry.name))
        except (OSError, ValueError, IndexError):
            continue
    return found
