"""``coterie choose``: is there any structure, and how many clusters."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coterie.cli import _options as options
from coterie.cli._choosing import AsLabels, Data, check_writable, read_input
from coterie.cli._errors import InputError, refused_input

if TYPE_CHECKING:
    from coterie.choosing import ClusterNumbers

__all__ = ["choose"]

_CHOICE = "Choice"
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


class Null(StrEnum):
    """What is called no structure."""

    uniform = "uniform"
    permuted = "permuted"


def choose(
    data: Data,
    as_labels: AsLabels = None,
    truth: options.Truth = None,
    id_column: options.Id = None,
    columns: options.Columns = None,
    exclude: options.Exclude = None,
    separator: options.Separator = None,
    no_header: options.NoHeader = False,
    missing: options.Missing = None,
    raw: options.Raw = False,
    standardize: options.Standardize = False,
    impute: options.Impute = None,
    transpose: options.Transpose = False,
    log: options.Log = False,
    top_features: options.TopFeatures = None,
    by: options.By = options.Variation.mad,
    center: options.Center = False,
    numbers: Annotated[
        str,
        typer.Option(
            "--range",
            metavar="LOW-HIGH",
            help="Numbers of clusters to try. Default: from 2 to 1.5 sqrt(n), 16 to 60 at the end.",
            show_default=False,
            rich_help_panel=_CHOICE,
        ),
    ] = "",
    runs: Annotated[
        int,
        typer.Option(
            "--runs",
            metavar="N",
            min=0,
            help="Runs on random parts of the data for each number: adds the criteria of Monti et "
            "al., such as PAC. Try 20.",
            rich_help_panel=_CHOICE,
        ),
    ] = 0,
    null: Annotated[
        Null,
        typer.Option(
            "--null",
            help="What is called no structure: uniform data of the same covariance, or every "
            "feature (or partition) shuffled by itself.",
            rich_help_panel=_CHOICE,
        ),
    ] = Null.uniform,
    alpha: Annotated[
        float,
        typer.Option(
            "--alpha",
            metavar="P",
            help="The largest p-value that is called structure.",
            rich_help_panel=_CHOICE,
        ),
    ] = 0.01,
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            metavar="FILE",
            help="Draw the criteria: .png, .svg or .pdf.",
            rich_help_panel="Output",
        ),
    ] = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Recommend a number of clusters, and say whether there is a gap between them.

    It is the number that 'coterie cluster' takes, with its evidence: the criteria for each number,
    the second-best answer, and how sure the rule is. With features the answer is safer than with
    clusterings, which have lost what lies between the objects.
    """
    from coterie.cli._console import Notes, step
    from coterie.cli._tables import Preparing

    notes = Notes(quiet=quiet)
    check_writable(plot, "--plot", (".png", ".svg", ".pdf"))
    wanted = options.parse_range(numbers or None, "--range")
    if wanted is not None:
        low, high = (wanted, wanted) if isinstance(wanted, int) else wanted
        if not 2 <= low <= high:
            raise InputError(f"--range must rise from 2 or more, such as 2-10; got {numbers!r}.")
        wanted = range(low, high + 1)
    with step(f"Reading {data}", quiet=quiet, watching=True):
        given = read_input(
            data,
            as_labels=as_labels,
            truth=truth,
            id_column=id_column,
            columns=columns,
            exclude=exclude,
            separator=separator,
            no_header=no_header,
            missing=missing,
            preparing=Preparing(
                raw,
                standardize,
                None if impute is None else impute.value,
                seed,
                transpose,
                log,
                top_features,
                by.value,
                center,
            ),
            notes=notes,
        )
    from coterie.choosing import how_many_clusters, structure_test

    what = given.ensemble if given.features is None else given.features.X
    renamed = {"n_clusters": "--range", "alpha": "--alpha", "n_runs": "--runs"}
    with (
        step("Is there structure?", quiet=quiet, watching=True),
        notes.of_warnings(),
        refused_input(renamed),
    ):
        test = structure_test(what, null=null.value, alpha=alpha, random_state=seed)
    with (
        step("How many clusters?", quiet=quiet, watching=True),
        notes.of_warnings(),
        refused_input(renamed),
    ):
        found = how_many_clusters(
            what,
            wanted,
            n_runs=runs,
            structure=test,
            n_jobs=jobs,
            random_state=seed,
        )
    if plot is not None:
        _draw(found, plot)
    if as_json:
        from coterie.cli._output import _print_json

        _print_json({"source": given.source, **found.as_dict()}, sys.stdout)
    elif not quiet:
        print_numbers(found)
        if plot is not None:
            print(f"wrote {plot}")


def _draw(found: ClusterNumbers, path: Path) -> None:
    from coterie._files import written_whole

    with refused_input():
        from coterie.plotting import plot_n_clusters

        ax = plot_n_clusters(found)
    figure: Any = ax.figure
    with written_whole(path) as temporary:
        figure.savefig(temporary, format=path.suffix[1:].lower(), dpi=150, bbox_inches="tight")


def print_numbers(found: ClusterNumbers) -> None:
    """Print the criteria and the recommendation for people."""
    import numpy as np
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from coterie.cli._choosing import wide_console

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
