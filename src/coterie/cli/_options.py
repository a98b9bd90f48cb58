"""Options that several commands share, and how their values are read."""

from __future__ import annotations

from ast import literal_eval
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from coterie.cli._bases import BASES
from coterie.cli._errors import InputError

DEFAULT_METHOD = "lwea"  # of ConsensusClustering, which takes long to import

_CONSENSUS = "Consensus"
_ENSEMBLE = "Ensemble"
_INPUT = "Input"
_OUTPUT = "Output"


def _complete_method(incomplete: str) -> list[str]:
    from coterie._methods import METHODS

    return [name for name in sorted(METHODS) if name.startswith(incomplete)]


def _complete_base(incomplete: str) -> list[str]:
    return [name for name in BASES if name.startswith(incomplete)]


def _check_seed(seed: int) -> int:
    """Refuse a seed that numpy refuses. A maximum of the option would fill half of its help."""
    if seed >= 2**32:
        raise typer.BadParameter(f"{seed} is not below 2**32 = {2**32}.")
    return seed


class RecipeName(StrEnum):
    """How partitions are made."""

    default = "default"
    laca = "laca"


class Filling(StrEnum):
    """How missing features are filled."""

    median = "median"
    mean = "mean"


Id = Annotated[
    str | None,
    typer.Option(
        "--id",
        metavar="COLUMN",
        help="Column with the names of the objects. Default: row numbers from 0.",
        rich_help_panel=_INPUT,
    ),
]
Truth = Annotated[
    str | None,
    typer.Option(
        "--truth",
        metavar="COLUMN",
        help="Column with known classes: kept aside, and the result is scored against it.",
        rich_help_panel=_INPUT,
    ),
]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--columns",
        metavar="COLUMN",
        help="Use only this column. Repeat for more.",
        rich_help_panel=_INPUT,
    ),
]
Exclude = Annotated[
    list[str] | None,
    typer.Option(
        "--exclude",
        metavar="COLUMN",
        help="Leave this column out. Repeat for more.",
        rich_help_panel=_INPUT,
    ),
]
Separator = Annotated[
    str | None,
    typer.Option(
        "--separator",
        metavar="MARK",
        help="What stands between fields. Default: by the ending, comma or tab.",
        rich_help_panel=_INPUT,
    ),
]
NoHeader = Annotated[
    bool,
    typer.Option(
        "--no-header",
        help="The first line is data; columns are then called column_1, column_2, ...",
        rich_help_panel=_INPUT,
    ),
]
Missing = Annotated[
    list[str] | None,
    typer.Option(
        "--missing",
        metavar="VALUE",
        help="Another value that stands for a missing one. Repeat for more. An empty field, NA, "
        "NaN, null, None and ? always do; among labels -1, too.",
        rich_help_panel=_INPUT,
    ),
]
Raw = Annotated[
    bool,
    typer.Option(
        "--raw",
        help="Use the numbers as the file has them. Default: columns are prepared, that is scaled, "
        "encoded and filled in, and a note says how.",
        rich_help_panel=_INPUT,
    ),
]
Standardize = Annotated[
    bool,
    typer.Option(
        "--standardize",
        help="Like --raw, and scale every column to mean 0 and standard deviation 1.",
        rich_help_panel=_INPUT,
    ),
]
Impute = Annotated[
    Filling | None,
    typer.Option(
        "--impute",
        help="Like --raw, and fill missing numbers by this value of their column.",
        rich_help_panel=_INPUT,
    ),
]

Recipe = Annotated[
    RecipeName,
    typer.Option(
        "--recipe",
        help="How partitions are made: 'default', 100 fine k-means partitions; 'laca', those of "
        "the LACA paper. Options below change single settings.",
        rich_help_panel=_ENSEMBLE,
    ),
]
Partitions = Annotated[
    int | None,
    typer.Option(
        "--partitions",
        "-p",
        metavar="N",
        min=1,
        help="Number of partitions by each base clusterer. Default: as in the recipe.",
        rich_help_panel=_ENSEMBLE,
        show_default=False,
    ),
]
Base = Annotated[
    list[str] | None,
    typer.Option(
        "--base",
        metavar="NAME",
        help=f"Base clusterer: {', '.join(BASES)}. Repeat for several. Default: kmeans (one "
        "random start).",
        autocompletion=_complete_base,
        rich_help_panel=_ENSEMBLE,
    ),
]
BaseClusters = Annotated[
    str | None,
    typer.Option(
        "--base-clusters",
        metavar="LOW-HIGH",
        help="Number of clusters of a partition, or the range it is drawn from. Default: "
        "sqrt(n) to 2 sqrt(n) for n objects, n at most 5,000.",
        rich_help_panel=_ENSEMBLE,
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        "-j",
        metavar="N",
        help="Processes that work at a time. Default: all processors; 1 for small data, where "
        "starting workers would take longer.",
        rich_help_panel=_ENSEMBLE,
    ),
]
Seed = Annotated[
    int,
    typer.Option(
        "--seed",
        metavar="N",
        min=0,
        callback=_check_seed,
        help="The same seed gives the same result, on any number of jobs.",
        rich_help_panel=_ENSEMBLE,
    ),
]
Clusters = Annotated[
    int | None,
    typer.Option(
        "--clusters",
        "-k",
        metavar="K",
        min=1,
        help="Number of clusters. Default: the method finds it.",
        rich_help_panel=_CONSENSUS,
    ),
]
Method = Annotated[
    str | None,
    typer.Option(
        "--method",
        "-m",
        metavar="NAME",
        help=f"Consensus method. Default: {DEFAULT_METHOD}. 'coterie explain' lists them all.",
        autocompletion=_complete_method,
        rich_help_panel=_CONSENSUS,
    ),
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="A parameter of the method, such as linkage=single. Repeat for more.",
        rich_help_panel=_CONSENSUS,
    ),
]
Dask = Annotated[
    str | None,
    typer.Option(
        "--dask",
        metavar="ADDRESS",
        help="Work in blocks on a Dask cluster: the address of its scheduler, or local (local:4 "
        "for four workers) to start one here. --output is then a folder.",
        show_default=False,
    ),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write the labels here: .csv, .tsv, .json or .parquet, or - for CSV on standard "
        "output. Default: standard output if it is not a terminal.",
        rich_help_panel=_OUTPUT,
    ),
]
Json = Annotated[
    bool,
    typer.Option(
        "--json", help="Print everything known about the result as JSON.", rich_help_panel=_OUTPUT
    ),
]
RawText = Annotated[
    bool,
    typer.Option(
        "--raw-text",
        help="Write text to CSV as it is, also where a spreadsheet would run it as a formula. "
        "Default: such text gets a ' in front.",
        rich_help_panel=_OUTPUT,
    ),
]
Report = Annotated[
    Path | None,
    typer.Option(
        "--report",
        metavar="FILE.html",
        help="Write a report, one file that opens in any browser.",
        rich_help_panel=_OUTPUT,
    ),
]
SaveEnsemble = Annotated[
    Path | None,
    typer.Option(
        "--save-ensemble",
        metavar="FILE.npz",
        help="Write the partitions, for 'coterie consense' and Ensemble.load.",
        rich_help_panel=_OUTPUT,
    ),
]
SaveModel = Annotated[
    Path | None,
    typer.Option(
        "--save-model",
        metavar="FILE.npz",
        help="Write what 'coterie predict' needs to put new rows into the clusters.",
        rich_help_panel=_OUTPUT,
    ),
]
Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet",
        "-q",
        help="No progress, no notes and no summary.",
        rich_help_panel=_OUTPUT,
    ),
]


def parse_part(text: str | None, option: str) -> Any:
    """Return a share, a number or a range of these: '0.5', '3', '0.3-0.8', '2-5'."""
    if text is None:
        return 1.0
    try:
        parts = [float(part) if "." in part else int(part) for part in text.split("-")]
    except ValueError:
        parts = []
    if not 1 <= len(parts) <= 2:
        raise InputError(
            f"{option} must be a share such as 0.5, a number such as 3 or a range such as "
            f"0.3-0.8 or 2-5; got {text!r}."
        )
    return parts[0] if len(parts) == 1 else tuple(parts)


def parse_range(text: str | None, option: str) -> Any:
    """Return a number or a range of numbers: '10', '10-40'."""
    if text is None:
        return None
    try:
        parts = [int(part) for part in text.split("-")]
    except ValueError:
        parts = []
    if not 1 <= len(parts) <= 2:
        raise InputError(
            f"{option} must be a number such as 10 or a range such as 10-40; got {text!r}."
        )
    return parts[0] if len(parts) == 1 else tuple(parts)


def parse_settings(items: list[str] | None) -> dict[str, Any]:
    """Return the parameters of ``--set``: numbers, True, False and None as such, else text."""
    settings = {}
    for item in items or ():
        name, equals, value = item.partition("=")
        if not equals or not name:
            raise InputError(f"--set must be NAME=VALUE, such as linkage=single; got {item!r}.")
        try:
            settings[name] = literal_eval(value)
        except (ValueError, SyntaxError):
            settings[name] = value
    return settings
