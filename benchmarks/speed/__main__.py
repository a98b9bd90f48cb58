"""Command line of the speed comparison: `python -m benchmarks.speed --help`."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import typer
from benchmarks.speed import peers, tables
from benchmarks.speed.cases import CASES, SCALE_CASES, Case
from benchmarks.speed.runner import Options, run
from rich.console import Console

SIZES = (1000, 2000, 5000, 10_000, 20_000)
QUICK_SIZES = (1000, 2000)
WIDTH = 160  # where the output is not a terminal


def main(
    sizes: Annotated[str, typer.Option(help="Numbers of objects, separated by commas.")] = "",
    cases: Annotated[str, typer.Option(help="Only these cases, separated by commas.")] = "",
    quick: Annotated[
        bool, typer.Option("--quick", help="Small sizes, one run each, 30 s at most.")
    ] = False,
    scale: Annotated[
        bool, typer.Option("--scale", help="Also 50,000 distinct rows and 1,000,000 x 50 labels.")
    ] = False,
    repeats: Annotated[int, typer.Option(help="Runs of each; the best counts.")] = 0,
    timeout: Annotated[float, typer.Option(help="Seconds for one timed call.")] = 0,
    threads: Annotated[int, typer.Option(help="Threads for everyone; 0: the default.")] = 0,
    memory: Annotated[
        float, typer.Option(help="GB one call may allocate; 0: three quarters of what is free.")
    ] = 0,
    peer_python: Annotated[
        list[str] | None,
        typer.Option(help="NAME=PATH: interpreter in which a peer is installed. Repeatable."),
    ] = None,
    install_peers: Annotated[
        Path | None,
        typer.Option(help="Make an environment for each peer in this directory, and use them."),
    ] = None,
    output: Annotated[Path | None, typer.Option(help="Directory for speed.csv, speed.md.")] = None,
    cache: Annotated[Path | None, typer.Option(help="Directory for the data made.")] = None,
) -> None:
    """Time and peak memory of coterie and of the alternatives, in the same run."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=WIDTH)
    options = Options(
        cache=cache or Path(tempfile.gettempdir(), "coterie-bench"),
        repeats=repeats or (1 if quick else 3),
        timeout=timeout or (30 if quick else 120),
        memory=int(memory * 2**30) or _free_memory() * 3 // 4,
        threads=threads or None,
        pythons=_pythons(peer_python or []),
    )
    options.cache.mkdir(parents=True, exist_ok=True)
    chosen = _chosen(cases, scale)
    numbers = _numbers(sizes) or (QUICK_SIZES if quick else SIZES)

    notes = {}
    if install_peers is not None:
        for name in peers.PEERS:
            with console.status(f"installing {name}"):
                notes[name] = peers.install(name, install_peers)
            options.pythons.setdefault(name, str(peers.python_of(name, install_peers)))

    about = tables.machine(options)
    for line in about:
        console.print(line)
    blocks = []
    with console.status("starting") as status:
        for block in run(chosen, numbers, options, status.update):
            blocks.append(block)
            tables.print_block(console, block)
            peer_lines = tables.peers_table(notes, blocks)
            goal_lines = tables.goals_table(blocks)
            if output is not None:
                tables.save(output, about, blocks, peer_lines, goal_lines)
    if goal_lines:
        tables.print_lines(console, "Goals", tables.GOALS_HEADER, goal_lines)
    title = "Packages for cluster ensembles"
    tables.print_lines(console, title, tables.PEERS_HEADER, peer_lines)


def _chosen(names: str, scale: bool) -> tuple[Case, ...]:
    """Return the cases asked for."""
    known = {case.name: case for case in (*CASES, *SCALE_CASES)}
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    for name in wanted:
        if name not in known:
            raise typer.BadParameter(f"no case {name!r}; there are {', '.join(known)}.")
    if wanted:
        return tuple(known[name] for name in wanted)
    return CASES + (SCALE_CASES if scale else ())


def _numbers(text: str) -> tuple[int, ...]:
    """Return the sizes asked for."""
    try:
        numbers = tuple(int(part.replace("_", "")) for part in text.split(",") if part.strip())
    except ValueError:
        raise typer.BadParameter(
            f"--sizes must be whole numbers separated by commas, as 1000,5000; got {text!r}."
        ) from None
    if numbers and min(numbers) < 100:
        raise typer.BadParameter(f"--sizes must be at least 100; got {min(numbers)}.")
    return numbers


def _pythons(pairs: list[str]) -> dict[str, str]:
    """Return the interpreter of each peer named."""
    pythons = {}
    for pair in pairs:
        name, _, path = pair.partition("=")
        if name not in peers.PEERS or not Path(path).is_file():
            raise typer.BadParameter(
                f"--peer-python must be NAME=PATH, NAME one of {', '.join(peers.PEERS)} and PATH "
                f"an interpreter; got {pair!r}."
            )
        pythons[name] = str(Path(path).absolute())
    return pythons


def _free_memory() -> int:
    """Return the bytes that are free now, 0 where the system does not say."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return 0
    return next((int(s.split()[1]) * 1024 for s in lines if s.startswith("MemAvailable:")), 0)


typer.run(main)
