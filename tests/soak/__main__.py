"""Attack coterie at random for a while, and say what failed.

    python tests/soak                       ten minutes, or SOAK_MINUTES
    python tests/soak --attacks files       one kind of attack only
    python tests/soak --replay FILE         a failed case again

A case is an attack, a seed and a number, so that each can be replayed alone. Cases run in
processes of their own: one that dies is a crash, one that takes longer than a minute a hang.
`--output` (soak-results) keeps the counts and a file for each failure; a second run with the same
seed continues where the first has stopped.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from soak.attacks import ATTACKS
from soak.cases import run_case
from soak.crew import Crew


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="soak", description="Attack coterie at random.")
    minutes = float(os.environ.get("SOAK_MINUTES", "10"))
    parser.add_argument("--minutes", type=float, default=minutes)
    parser.add_argument("--seed", type=int, default=int(os.environ.get("SOAK_SEED", "0")))
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--attacks", nargs="+", choices=sorted(ATTACKS), default=list(ATTACKS))
    parser.add_argument("--output", type=Path, default=Path("soak-results"))
    parser.add_argument("--replay", type=Path, metavar="FILE")
    return parser.parse_args()


def replay(path: Path) -> int:
    """Run a failed case in this process: a traceback, or a word that it holds now."""
    case = json.loads(path.read_text(encoding="utf-8"))
    run_case(case["attack"], case["seed"], case["number"])
    print(f"{case['attack']} {case['seed']} {case['number']}: holds")
    return 0


def print_table(counts: dict[str, dict[str, int]], seconds: float) -> int:
    """Print attack, tried, failed; return the number of failures."""
    width = max(len(name) for name in counts)
    print(f"{'attack':<{width}}  {'tried':>8}  {'failed':>8}")
    for name, row in counts.items():
        print(f"{name:<{width}}  {row['tried']:>8}  {row['failed']:>8}")
    failed = sum(row["failed"] for row in counts.values())
    tried = sum(row["tried"] for row in counts.values())
    print(f"{'all':<{width}}  {tried:>8}  {failed:>8}   in {seconds / 60:.1f} minutes")
    # What CI reads: a plain closing line.
    print(f"{tried - failed} passed, {failed} failed")
    return failed


def main() -> int:
    given = parse_arguments()
    if given.replay is not None:
        return replay(given.replay)
    began = time.monotonic()
    crew = Crew(given.output, given.seed, given.attacks)
    counts = crew.work(given.jobs, until=began + 60 * given.minutes)
    failed = print_table(counts, time.monotonic() - began)
    if failed:
        print(f"replay a failure with: python tests/soak --replay {given.output}/failures/FILE")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
