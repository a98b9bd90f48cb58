"""Processes that run cases, and the book of what was tried and what failed."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from soak.attacks import ATTACKS

__all__ = ["Crew"]

TURN_SECONDS = 20.0  # a process works on one attack for so long
START_SECONDS = 600.0  # the first case of a process compiles kernels
_WORKER = """
import sys, traceback
sys.path.insert(0, {tests!r})
from soak.cases import run_case
for line in sys.stdin:
    number = int(line)
    try:
        run_case({attack!r}, {seed}, number)
        words = ""
    except BaseException:
        words = traceback.format_exc()
    sys.__stdout__.write("done " + repr(words) + "\\n")
    sys.__stdout__.flush()
"""


class Worker:
    """A process that runs cases of one attack, one at a time."""

    def __init__(self, attack: str, seed: int) -> None:
        self.attack, self.number, self.began, self.is_new = attack, -1, 0.0, True
        self.started = time.monotonic()
        code = _WORKER.format(tests=str(Path(__file__).parents[1]), attack=attack, seed=seed)
        environment = os.environ | {"NUMBA_NUM_THREADS": "1", "COLUMNS": "80"}
        self.process = subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            text=True,
            start_new_session=True,
        )

    def give(self, number: int) -> None:
        """Start a case."""
        self.number, self.began = number, time.monotonic()
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(f"{number}\n")
            self.process.stdin.flush()

    def result(self) -> str | None:
        """Return what failed ("" for nothing); None while the case is running."""
        allowed = START_SECONDS if self.is_new else ATTACKS[self.attack].patience
        if select.select([self.process.stdout], [], [], 0)[0]:
            line = self.process.stdout.readline()
            if line.startswith("done "):
                self.is_new = False
                return str(eval(line.removeprefix("done "), {}))
            if not line:
                return f"crash: the process ended with {self.process.wait()}"
            return self.result()
        if time.monotonic() - self.began > allowed:
            return f"hang: no answer after {allowed:.0f} s"
        return None

    def end(self) -> None:
        """Kill the process and all that it has started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


class Crew:
    """Runs attacks by their shares of the time, and keeps the book.

    Parameters
    ----------
    output : path
        Folder of the book and of a file for each failure.
    seed : int
        Another seed is another soak.
    attacks : list of str
        Which attacks.
    """

    def __init__(self, output: Path, seed: int, attacks: list[str]) -> None:
        self.output, self.seed, self.attacks = output, seed, attacks
        (output / "failures").mkdir(parents=True, exist_ok=True)
        self.book = output / f"counts-{seed}.json"
        stored: dict[str, Any] = {}
        if self.book.exists():
            stored = json.loads(self.book.read_text(encoding="utf-8"))
        empty = {"tried": 0, "failed": 0, "next": 0, "seconds": 0.0}
        self.counts = {name: empty | stored.get(name, {}) for name in attacks}

    def work(self, n_workers: int, until: float) -> dict[str, dict[str, int]]:
        """Run cases until the time is over; return the counts."""
        workers = [self._start() for _ in range(max(1, n_workers))]
        try:
            while time.monotonic() < until:
                for i, worker in enumerate(workers):
                    words = worker.result()
                    if words is None:
                        continue
                    self._note(worker, words)
                    workers[i] = self._next(worker, broken=words.startswith(("crash", "hang")))
                time.sleep(0.001)
        finally:
            for worker in workers:
                worker.end()
            self._save()
        return self.counts

    def _start(self, attack: str | None = None) -> Worker:
        worker = Worker(attack or self._most_behind(), self.seed)
        self._give(worker)
        return worker

    def _next(self, worker: Worker, broken: bool) -> Worker:
        """Return a worker for the next case: the same one while its attack is not ahead."""
        is_over = time.monotonic() - worker.started > TURN_SECONDS
        ahead = is_over and self._most_behind() != worker.attack
        if broken or ahead:
            worker.end()
            return self._start()
        self._give(worker)
        return worker

    def _give(self, worker: Worker) -> None:
        row = self.counts[worker.attack]
        worker.give(row["next"])
        row["next"] += 1

    def _most_behind(self) -> str:
        return min(self.attacks, key=lambda n: self.counts[n]["seconds"] / ATTACKS[n].share)

    def _note(self, worker: Worker, words: str) -> None:
        row = self.counts[worker.attack]
        row["tried"] += 1
        row["seconds"] += time.monotonic() - worker.began
        if words:
            row["failed"] += 1
            case = {"attack": worker.attack, "seed": self.seed, "number": worker.number}
            path = self.output / "failures" / f"{worker.attack}-{self.seed}-{worker.number}.json"
            path.write_text(json.dumps(case | {"what": words}, indent=1), encoding="utf-8")
            print(f"{worker.attack} {worker.number} failed: {words.strip().splitlines()[-1]}")
        if row["tried"] % 50 == 0:
            self._save()

    def _save(self) -> None:
        temporary = self.book.with_suffix(".tmp")
        temporary.write_text(json.dumps(self.counts, indent=1), encoding="utf-8")
        temporary.replace(self.book)
