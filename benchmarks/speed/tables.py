"""The figures for people (a table on the terminal, Markdown) and for programs (CSV)."""

from __future__ import annotations

import csv
import os
import platform
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks.speed.cases import GOAL_SIZE, GOALS, METHODS, OURS
from benchmarks.speed.peers import PEERS
from benchmarks.speed.runner import Block, Options, Row
from rich.console import Console
from rich.table import Table

HEADER = (
    "method", "time", "× ours", "processor", "memory", "× ours", "call", "× ours", "peak", "× ours",
    "first call", "runs", "note",
)  # fmt: skip
_AGREEMENT = {"rows": "error", "ari": "ARI", "equal": "equal"}
_FIELDS = (
    "case", "n", "method", "title", "seconds", "time_ratio", "processor", "increase",
    "memory_ratio", "call", "call_ratio", "peak", "peak_ratio", "first_call", "runs", "agreement",
    "problem",
)  # fmt: skip


def machine(options: Options) -> list[str]:
    """Return what the figures depend on, a line each."""
    names = ("coterie", "numpy", "scipy", "scikit-learn", "numba", "fastcluster")
    return [
        f"Python {platform.python_version()}, {', '.join(_with_version(n) for n in names)}",
        f"{len(os.sched_getaffinity(0)) if hasattr(os, 'sched_getaffinity') else os.cpu_count()} "
        f"cores, {options.threads or 'default number of'} threads, load "
        f"{os.getloadavg()[0]:.1f} at the start; best of {options.repeats}, time-out "
        f"{options.timeout:g} s",
    ]


def title_of(block: Block) -> str:
    """Return a heading that says what was measured."""
    return (
        f"{block.case.title}: n = {block.n:,} ({block.n_distinct:,} distinct rows), "
        f"{'D' if block.case.dataset == 'points' else 'L'} = {block.n_partitions}"
    )


def cells(row: Row, check: str) -> list[str]:
    """Return a row of the table as text."""
    if row.seconds is None:
        return [row.title, *["-"] * (len(HEADER) - 2), row.problem]
    notes = [] if row.agreement is None else [f"{_AGREEMENT[check]} {row.agreement:.3g}"]
    if row.problem:
        notes.append(row.problem)
    return [
        row.title,
        f"{row.seconds:.3g} s",
        _ratio(row.time_ratio),
        f"{row.processor:.3g} s",
        _megabytes(row.increase),
        _ratio(row.memory_ratio),
        _megabytes(row.call),
        _ratio(row.call_ratio),
        _megabytes(row.peak),
        _ratio(row.peak_ratio),
        f"{row.first_call:.2g} s",
        str(row.runs),
        "; ".join(notes),
    ]


def print_block(console: Console, block: Block) -> None:
    """Print the table of a case and size."""
    table = Table(title=title_of(block), title_justify="left")
    for name in HEADER:
        table.add_column(
            name, justify="left" if name in ("method", "note") else "right", overflow="fold"
        )
    for row in block.rows:
        table.add_row(*cells(row, block.case.check), style="bold" if row.method == OURS else None)
    console.print(table)


def peers_table(notes: dict[str, dict[str, str]], blocks: Iterable[Block]) -> list[list[str]]:
    """Return for each peer what it offers, how it installs and whether it ran."""
    rows = [row for block in blocks for row in block.rows]
    outcomes = {METHODS[row.method].needs: row.problem for row in rows if row.problem}
    for row in sorted(rows, key=lambda row: row.n):
        if row.seconds is not None:
            outcomes[METHODS[row.method].needs] = f"ran up to n = {row.n:,}"
    return [
        [
            f"{name} {notes.get(name, {}).get('version', '')}".strip(),
            peer.offers,
            notes.get(name, {}).get("plain", "not tried"),
            notes.get(name, {}).get("used", ""),
            outcomes.get(name, "not run"),
        ]
        for name, peer in PEERS.items()
    ]


PEERS_HEADER = ("package", "offers", "pip install NAME", "installed here by", "outcome")


def goals_table(blocks: Iterable[Block]) -> list[list[str]]:
    """Return for each goal that this run measured: what, the goal, what was reached."""
    rows = {(row.case, row.method): row for b in blocks for row in b.rows if row.n == GOAL_SIZE}
    lines = []
    for goal in GOALS:
        row = rows.get((goal.case, goal.peer))
        if row is None:
            continue
        reached = getattr(row, f"{goal.what}_ratio")
        lines.append(
            [
                f"{goal.case}: {goal.what} against {METHODS[goal.peer].title}",
                f">= {goal.at_least:g} x",
                row.problem if reached is None else f"{reached:.1f} x",
                "" if reached is None else "yes" if reached >= goal.at_least else "NO",
            ]
        )
    return lines


GOALS_HEADER = (f"goal at n = {GOAL_SIZE:,}", "goal", "reached", "met")


def print_lines(console: Console, title: str, header: Iterable[str], lines: list) -> None:
    """Print a table of text."""
    table = Table(*header, title=title, title_justify="left")
    for line in lines:
        table.add_row(*line)
    console.print(table)


def save(directory: Path, about: list[str], blocks: list[Block], peers: list, goals: list) -> None:
    """Write speed.csv and speed.md; a reader never sees half a file."""
    directory.mkdir(parents=True, exist_ok=True)
    partial = directory / "speed.csv.tmp"
    with partial.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(_FIELDS)
        for row in (row for block in blocks for row in block.rows):
            writer.writerow([_plain(getattr(row, name)) for name in _FIELDS])
    partial.replace(directory / "speed.csv")

    parts = ["# Speed", *about]
    for block in blocks:
        body = [cells(row, block.case.check) for row in block.rows]
        parts += [f"## {title_of(block)}", _markdown(HEADER, body)]
    if goals:
        parts += ["## Goals", _markdown(GOALS_HEADER, goals)]
    parts += ["## Packages for cluster ensembles", _markdown(PEERS_HEADER, peers)]
    partial = directory / "speed.md.tmp"
    partial.write_text("\n\n".join(parts) + "\n")
    partial.replace(directory / "speed.md")


def _markdown(header: Iterable[str], lines: list[list[str]]) -> str:
    rows = [list(header), ["---"] * len(list(header)), *lines]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows
    )


def _with_version(name: str) -> str:
    try:
        return f"{name} {version(name)}"
    except PackageNotFoundError:
        return f"{name} not installed"


def _ratio(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"


def _megabytes(n_bytes: float | None) -> str:
    return "" if n_bytes is None else f"{n_bytes / 2**20:,.0f} MB"


def _plain(value: object) -> object:
    return f"{value:.6g}" if isinstance(value, float) else "" if value is None else value
