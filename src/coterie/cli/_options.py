"""Options that commands share: each declared once, with its help, and grouped.

A group is a named tuple whose fields are options. A command that has a parameter of that type takes
all its options (`with_groups`). Nothing heavy is imported here.
"""

from __future__ import annotations

import inspect
from ast import literal_eval
from collections.abc import Callable
from functools import partial, wraps
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, get_type_hints

import typer

from coterie._methods import DEFAULT_METHOD, METHODS
from coterie.cli._bases import BASES
from coterie.cli._errors import InputError

_input = partial(typer.Option, rich_help_panel="Input")
_ensemble = partial(typer.Option, rich_help_panel="Ensemble")
_consensus = partial(typer.Option, rich_help_panel="Consensus")
_output = partial(typer.Option, rich_help_panel="Output")


def _complete_method(incomplete: str) -> list[str]:
    return [name for name in sorted(METHODS) if name.startswith(incomplete)]


def _complete_base(incomplete: str) -> list[str]:
    return [name for name in BASES if name.startswith(incomplete)]


def _check_seed(seed: int) -> int:
    """Raise BadParameter for a seed that numpy does not take."""
    if seed >= 2**32:  # not the option's maximum, which would fill half of its help
        raise typer.BadParameter(f"{seed} is not below 2**32 = {2**32}.")
    return seed


def _check_jobs(jobs: int | None) -> int | None:
    if jobs == 0:
        raise InputError("--jobs must be a number of at least 1, or -1 for all processors; got 0.")
    return jobs


# --- options of single commands and of groups ---------------------------------------------------

Id = Annotated[
    str | None,
    _input(
        "--id",
        metavar="COLUMN",
        help="Column with the names of the objects. Default: row numbers from 0.",
    ),
]
Separator = Annotated[
    str | None,
    _input(
        "--separator",
        metavar="MARK",
        help="Character between two fields. Default: by the ending, comma or tab.",
    ),
]
NoHeader = Annotated[
    bool,
    _input(
        "--no-header",
        help="The first line is data; columns are then called column_1, column_2, ...",
    ),
]
Missing = Annotated[
    list[str] | None,
    _input(
        "--missing",
        metavar="VALUE",
        help="Another value that stands for a missing one. Repeat for more. An empty field, NA, "
        "NaN, null, None and ? always do; among labels -1, too.",
    ),
]
AsLabels = Annotated[
    bool | None,
    _input(
        "--labels/--features",
        help="The columns are clusterings, or they are features. Default: features, unless some "
        "column holds text, or all are named partition_0, partition_1, ...",
        show_default=False,
    ),
]
Jobs = Annotated[
    int | None,
    _ensemble(
        "--jobs",
        "-j",
        metavar="N",
        callback=_check_jobs,
        help="Processes that work at a time; -1 is all processors. Default: all processors; 1 for "
        "small data, where starting processes would take longer.",
    ),
]
Seed = Annotated[
    int,
    _ensemble(
        "--seed",
        metavar="N",
        min=0,
        callback=_check_seed,
        help="The same seed gives the same result, on any number of jobs.",
    ),
]
Transpose = Annotated[
    bool,
    _input(
        "--transpose",
        help="Rows are features (genes) and columns are objects (samples): exchange them. The "
        "column of --id, or else a first column of text, has the names of the features.",
    ),
]
Dask = Annotated[
    str | None,
    _input(
        "--dask",
        metavar="ADDRESS",
        help="Work in blocks on a Dask cluster: the address of its scheduler, or local (local:4 "
        "for four workers) to start one here. --output is then a folder.",
    ),
]
Output = Annotated[
    Path | None,
    _output(
        "--output",
        "-o",
        metavar="FILE",
        help="Write the labels here: .csv, .tsv, .json or .parquet, or - for CSV on standard "
        "output. Default: standard output if it is not a terminal.",
    ),
]
RawText = Annotated[
    bool,
    _output(
        "--raw-text",
        help="Write text to CSV as it is, also where a spreadsheet would run it as a formula. "
        "Default: such text gets a ' in front.",
    ),
]
Json = Annotated[bool, _output("--json", help="Print everything known about the result as JSON.")]
Report = Annotated[
    Path | None,
    _output(
        "--report",
        metavar="FILE.html",
        help="Write a report, one file that opens in any browser.",
    ),
]
Quiet = Annotated[bool, _output("--quiet", "-q", help="No progress, no notes and no summary.")]


FEATURE_OPTIONS = (
    "--raw, --standardize, --impute, --transpose, --log, --top-features, --by and --center"
)
"""The options of `Preparing`."""


# --- groups -------------------------------------------------------------------------------------


class TableOptions(NamedTuple):
    """How a table is read, and which of its columns are used."""

    truth: Annotated[
        str | None,
        _input(
            "--truth",
            metavar="COLUMN",
            help="Column with known classes: kept aside, and the result is scored against it.",
        ),
    ] = None
    id_column: Id = None
    columns: Annotated[
        list[str] | None,
        _input("--columns", metavar="COLUMN", help="Use only this column. Repeat for more."),
    ] = None
    exclude: Annotated[
        list[str] | None,
        _input("--exclude", metavar="COLUMN", help="Leave this column out. Repeat for more."),
    ] = None
    separator: Separator = None
    no_header: NoHeader = False
    missing: Missing = None


class Preparing(NamedTuple):
    """How features are made from the columns of a table."""

    raw: Annotated[
        bool,
        _input(
            "--raw",
            help="Use the numbers as the file has them. Default: columns are prepared, that is "
            "scaled, encoded and filled in, and a note says how.",
        ),
    ] = False
    standardize: Annotated[
        bool,
        _input(
            "--standardize",
            help="Like --raw, and scale every column to mean 0 and standard deviation 1.",
        ),
    ] = False
    impute: Annotated[
        Literal["median", "mean"] | None,
        _input(
            "--impute", help="Like --raw, and fill missing numbers by this value of their column."
        ),
    ] = None
    transpose: Transpose = False
    log: Annotated[
        bool, _input("--log", help="Take log2(x + 1) of all features, before anything else.")
    ] = False
    top_features: Annotated[
        int | None,
        _input(
            "--top-features",
            metavar="N",
            min=1,
            help="Keep the N features that vary most, by the measure of --by.",
        ),
    ] = None
    by: Annotated[
        Literal["mad", "variance"] | None,
        _input(
            "--by",
            help="Measure of --top-features: median absolute deviation (the default) or variance.",
        ),
    ] = None
    center: Annotated[
        bool, _input("--center", help="Subtract the median of each feature that is kept.")
    ] = False

    @property
    def is_expression(self) -> bool:
        """Whether features are chosen or changed before anything else."""
        return self.log or self.top_features is not None or self.center

    @property
    def is_plain(self) -> bool:
        """Whether numbers are taken as the file has them, or only standardised and filled in."""
        return self.raw or self.standardize or self.impute is not None


class Partitioning(NamedTuple):
    """How the partitions of an ensemble are made."""

    recipe: Annotated[
        Literal["default", "laca"],
        _ensemble(
            "--recipe",
            help="How partitions are made: 'default', 100 fine k-means partitions; 'laca', those "
            "of the LACA paper. Options below change single settings.",
        ),
    ] = "default"
    partitions: Annotated[
        int | None,
        _ensemble(
            "--partitions",
            "-p",
            metavar="N",
            min=1,
            help="Number of partitions by each base clusterer. Default: as in the recipe.",
            show_default=False,
        ),
    ] = None
    base: Annotated[
        list[str] | None,
        _ensemble(
            "--base",
            metavar="NAME",
            help=f"Base clusterer: {', '.join(BASES)}. Repeat for several. Default: kmeans (one "
            "random start).",
            autocompletion=_complete_base,
        ),
    ] = None
    base_clusters: Annotated[
        str | None,
        _ensemble(
            "--base-clusters",
            metavar="LOW-HIGH",
            help="Number of clusters of a partition, or the range it is drawn from. Default: "
            "sqrt(n) to 2 sqrt(n) for n objects, n at most 5,000.",
        ),
    ] = None
    max_features: Annotated[
        str | None,
        _ensemble(
            "--max-features",
            metavar="PART",
            help="Features of a partition, drawn at random: a share (0.5), a number (3) or a "
            "range (0.3-0.8). Default: all.",
        ),
    ] = None
    max_samples: Annotated[
        str | None,
        _ensemble(
            "--max-samples",
            metavar="PART",
            help="Objects of a partition, in the same way; the others have no label in it. "
            "Default: fitted to at most 5,000, and all are labelled.",
        ),
    ] = None
    seed: Seed = 0
    jobs: Jobs = None
    checkpoint: Annotated[
        Path | None,
        _ensemble(
            "--checkpoint",
            metavar="DIR",
            help="Keep finished partitions here: the same command continues after an "
            "interruption, to the same result.",
        ),
    ] = None


class Resampling(NamedTuple):
    """How one consensus for each number of clusters is made."""

    max_k: Annotated[
        int, _consensus("--max-k", "-k", metavar="K", min=2, help="Try 2 to K clusters.")
    ] = 10
    estimator: Annotated[
        Literal["hierarchical", "kmeans", "kmedoids", "nmf", "spectral"] | None,
        _consensus(
            "--estimator", help="Base clusterer. Default: kmeans; with --distance hierarchical."
        ),
    ] = None
    distance: Annotated[
        str | None,
        _consensus(
            "--distance",
            metavar="NAME",
            help="Distance of two rows for hierarchical, kmedoids and spectral: pearson, "
            "spearman, precomputed (the table is a square matrix of distances), or a metric of "
            "SciPy such as euclidean. The first three imply --raw.",
        ),
    ] = None
    resamples: Annotated[
        int, _consensus("--resamples", metavar="N", min=2, help="Random parts of the data.")
    ] = 100
    max_samples: Annotated[
        str,
        _consensus(
            "--max-samples", metavar="PART", help="Objects of a part: a share (0.8) or a number."
        ),
    ] = "0.8"
    max_features: Annotated[
        str | None,
        _consensus(
            "--max-features",
            metavar="PART",
            help="Features of a part: a share (0.8) or a number. Default: all.",
        ),
    ] = None
    linkage: Annotated[
        Literal["average", "complete", "single", "ward", "weighted"],
        _consensus("--linkage", help="Linkage of the tree of the consensus."),
    ] = "average"
    inner_linkage: Annotated[
        Literal["average", "complete", "single", "ward", "weighted"],
        _consensus("--inner-linkage", help="Linkage of the base clusterer hierarchical."),
    ] = "average"
    null: Annotated[
        int,
        _consensus(
            "--null",
            metavar="N",
            min=0,
            help="Data sets without clusters to compare with (M3C), 25 or more. Each takes as "
            "long as the analysis itself.",
        ),
    ] = 0
    seed: Seed = 0
    jobs: Jobs = None


class Chosen(NamedTuple):
    """The consensus method, and the number of clusters."""

    clusters: Annotated[
        int | None,
        _consensus(
            "--clusters",
            "-k",
            metavar="K",
            min=1,
            help="Number of clusters. Default: chosen from the data.",
        ),
    ] = None
    method: Annotated[
        str | None,
        _consensus(
            "--method",
            "-m",
            metavar="NAME",
            help=f"Consensus method. Default: {DEFAULT_METHOD}. 'coterie explain' lists them all.",
            autocompletion=_complete_method,
        ),
    ] = None
    settings: Annotated[
        list[str] | None,
        _consensus(
            "--set",
            metavar="NAME=VALUE",
            help="A parameter of the method, such as linkage=single. Repeat for more.",
        ),
    ] = None


class Destinations(NamedTuple):
    """Where the results go."""

    output: Output = None
    as_json: Json = False
    report: Report = None
    save_ensemble: Annotated[
        Path | None,
        _output(
            "--save-ensemble",
            metavar="FILE.npz",
            help="Write the partitions, for 'coterie consense' and Ensemble.load.",
        ),
    ] = None
    quiet: Quiet = False
    raw_text: RawText = False


def with_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command in which each option group is replaced by its options, for typer."""
    signature = inspect.signature(command, eval_str=True)
    groups = {
        name: parameter.annotation
        for name, parameter in signature.parameters.items()
        if hasattr(parameter.annotation, "_fields")
    }
    flat = []
    for name, parameter in signature.parameters.items():
        if name not in groups:
            flat.append(parameter.replace(kind=parameter.KEYWORD_ONLY))
            continue
        hints = get_type_hints(groups[name], include_extras=True)
        flat += [
            inspect.Parameter(
                field, parameter.KEYWORD_ONLY, default=default, annotation=hints[field]
            )
            for field, default in groups[name]._field_defaults.items()
        ]

    @wraps(command)
    def flattened(**values: Any) -> None:
        packed = {
            name: group(**{field: values.pop(field) for field in group._fields})
            for name, group in groups.items()
        }
        command(**values, **packed)

    flattened.__signature__ = inspect.Signature(flat)  # type: ignore[attr-defined]
    flattened.__annotations__ = {parameter.name: parameter.annotation for parameter in flat}
    return flattened


# --- values -------------------------------------------------------------------------------------


def parse_part(text: str | None, option: str) -> Any:
    """Return a share, a number or a range of these: '0.5', '3', '0.3-0.8', '2-5'."""
    if text is None:
        return None
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
