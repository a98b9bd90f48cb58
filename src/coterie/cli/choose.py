"""``coterie choose``: is there any structure, and how many clusters."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from rich import box
from rich.table import Table
from rich.text import Text

from coterie._files import written_whole
from coterie.choosing import ClusterNumbers, how_many_clusters, structure_test
from coterie.cli._console import Notes, step, wide_console
from coterie.cli._errors import InputError, refused_input
from coterie.cli._input import read_input
from coterie.cli._options import Destinations, Preparing, TableOptions, parse_range
from coterie.cli._output import check_writable, print_json
from coterie.plotting import plot_n_clusters

__all__ = ["ChoiceOptions", "choose_number", "print_numbers"]

_OPTIONS = {"n_clusters": "--range", "alpha": "--alpha", "n_runs": "--runs"}
_LEGEND = {
    "score": ("score", "silhouette x isolation; the number with the highest is recommended"),
    "silhouette": ("silh.", "mean silhouette: how compact and apart clusters are; high is good"),
    "isolation": ("isol.", "1 - the largest share of neighbours that a cluster has outside"),
    "lifetime": ("life", "how long the number lasts in the tree; high is good"),
    "pac": ("PAC", "share of pairs that are neither together nor apart; low is good"),
    "area": ("area", "area under the distribution of consensus"),
    "delta_area": ("delta", "relative growth of that area; where it ends"),
    "cophenetic": ("coph.", "cophenetic correlation of the consensus; high is good"),
    "stability": ("stab.", "agreement (ARI) of runs on parts of the data; high is good"),
}
"""Heading and meaning of criteria. Others stand under their own names."""


class ChoiceOptions(NamedTuple):
    """How the number of clusters is chosen."""

    numbers: str | None
    runs: int
    null: Literal["uniform", "permuted"]
    alpha: float
    seed: int
    jobs: int | None


def choose_number(
    data: Path,
    table: TableOptions,
    preparing: Preparing,
    asked: ChoiceOptions,
    to: Destinations,
    *,
    as_labels: bool | None = None,
    plot: Path | None = None,
) -> None:
    """Test for structure, recommend a number of clusters, and print the evidence."""
    seed, notes = asked.seed, Notes(quiet=to.quiet)
    check_writable(plot, "--plot", (".png", ".svg", ".pdf"))
    wanted = _numbers(asked.numbers)
    with step(f"Reading {data}", quiet=to.quiet):
        given = read_input(data, table, preparing, notes, as_labels=as_labels, seed=seed)
    with notes.of_warnings(), refused_input(_OPTIONS):
        with step("Is there structure?", quiet=to.quiet):
            test = structure_test(given.data, null=asked.null, alpha=asked.alpha, random_state=seed)
        with step("How many clusters?", quiet=to.quiet):
            found = how_many_clusters(
                given.data,
                wanted,
                n_runs=asked.runs,
                structure=test,
                n_jobs=asked.jobs,
                random_state=seed,
            )
    if plot is not None:
        _draw(found, plot)
    if to.as_json:
        print_json({"source": given.source, **found.as_dict()})
    elif not to.quiet:
        print_numbers(found)
        if plot is not None:
            print(f"wrote {plot}")


def _numbers(text: str | None) -> range | None:
    """Return the numbers of clusters to try; None leaves them to the library."""
    wanted = parse_range(text, "--range")
    if wanted is None:
        return None
    low, high = (wanted, wanted) if isinstance(wanted, int) else wanted
    if not 2 <= low <= high:
        raise InputError(f"--range must rise from 2 or more, such as 2-10; got {text!r}.")
    return range(low, high + 1)


def _draw(found: ClusterNumbers, path: Path) -> None:
    with refused_input():
        figure: Any = plot_n_clusters(found).figure
    with written_whole(path) as temporary:
        figure.savefig(temporary, format=path.suffix[1:].lower(), dpi=150, bbox_inches="tight")


def print_numbers(found: ClusterNumbers) -> None:
    """Print the criteria and the recommendation for people."""
    console = wide_console()
    console.print(Text(found.reason, style="bold"), soft_wrap=True)
    if found.structure is not None:
        console.print(Text(found.structure.reason), soft_wrap=True)
    if not len(found.n_clusters):
        return
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 0, 0, 1))
    table.add_column("clusters", justify="right", no_wrap=True)
    for name in found.criteria:
        table.add_column(_LEGEND.get(name, (name,))[0], justify="right", no_wrap=True)
    for i, k in enumerate(found.n_clusters):
        cells = []
        for name, values in found.criteria.items():
            text = "-" if np.isnan(values[i]) else f"{values[i]:.3f}"
            cells.append(Text(text, style="bold" if found.choices.get(name) == k else ""))
        style = "reverse" if k == found.recommended else None
        table.add_row(str(k), *cells, style=style, end_section=i == len(found.n_clusters) - 1)
    picks = [found.choices.get(name) for name in found.criteria]
    table.add_row("choice", *("-" if pick is None else str(pick) for pick in picks))
    console.print(table)
    legend = Table.grid(padding=(0, 2))
    legend.add_row("choice", "the number that a criterion prefers by itself")
    for name in found.criteria:
        if name in _LEGEND:
            legend.add_row(*_LEGEND[name])
    console.print(legend)
