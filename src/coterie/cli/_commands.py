"""The commands: their arguments, options and help.

A command imports its work when it runs, so that help and completion are quick. The modules that do
the work have their imports at the top, as everywhere.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer

from coterie.cli._options import (
    AsLabels,
    Chosen,
    Dask,
    Destinations,
    Id,
    Jobs,
    Json,
    Missing,
    NoHeader,
    Output,
    Partitioning,
    Preparing,
    Quiet,
    RawText,
    Report,
    Resampling,
    Seed,
    Separator,
    TableOptions,
    Transpose,
)

__all__ = ["COMMANDS"]

_argument = partial(typer.Argument, show_default=False)
_choice = partial(typer.Option, rich_help_panel="Choice")
_comparison = partial(typer.Option, rich_help_panel="Comparison")
_output = partial(typer.Option, rich_help_panel="Output")

_FORMATS = ".csv, .tsv (also .gz), .parquet or .npy"
Data = Annotated[
    Path,
    _argument(
        metavar="DATA",
        help=f"Table with a header, a row per object: {_FORMATS}; - for CSV on standard input.",
    ),
]
DataOrLabels = Annotated[
    Path,
    _argument(
        metavar="DATA|LABELS",
        help="Table of features, a row per object; or, with --labels, of clusterings, a column "
        f"per partition: {_FORMATS}; or an ensemble (.npz); - for CSV on standard input.",
    ),
]


def demo(
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="DIR", help="Directory for the files; made if needed."
        ),
    ] = Path("coterie-demo"),
    report: Report = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Cluster Fisher's iris flowers and write a report: no data needed."""
    from coterie.cli.demo import run_demo

    run_demo(output, report, as_json, quiet)


def cluster(
    data: Data,
    table: TableOptions,
    preparing: Preparing,
    parts: Partitioning,
    chosen: Chosen,
    to: Destinations,
    save_model: Annotated[
        Path | None,
        _output(
            "--save-model",
            metavar="FILE.npz",
            help="Write what 'coterie predict' needs to put new rows into the clusters.",
        ),
    ] = None,
    dask: Dask = None,
) -> None:
    """Cluster the rows of a table by the consensus of many clusterings.

    The result is one row per object: its name (or row number from 0), its cluster (0 is the
    largest), its confidence in [0, 1] and its known class if there is one. It goes to --output,
    to a pipe as CSV; on a terminal a summary is shown.

    A folder of Parquet files, and a table over the memory limit, are read in blocks; --output is
    then a folder of Parquet files, too.
    """
    from coterie.cli.cluster import cluster_table

    cluster_table(data, table, preparing, parts, chosen, to, save_model=save_model, dask=dask)


def predict(
    model: Annotated[
        Path,
        _argument(
            metavar="MODEL", help="A model that 'coterie cluster --save-model' wrote (.npz)."
        ),
    ],
    data: Annotated[
        Path,
        _argument(
            metavar="DATA",
            help=f"Table with the columns of the model, a row per object: {_FORMATS}; - for CSV "
            "on standard input. Other columns are not used.",
        ),
    ],
    id_column: Id = None,
    separator: Separator = None,
    no_header: NoHeader = False,
    transpose: Transpose = False,
    output: Output = None,
    raw_text: RawText = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Put new rows into the clusters of a saved model.

    The result is one row per object: its name (or row number from 0), its cluster and its
    confidence in [0, 1], by the same measure as that of 'coterie cluster'.
    """
    from coterie.cli.predict import predict_table

    table = TableOptions(id_column=id_column, separator=separator, no_header=no_header)
    to = Destinations(output, as_json, quiet=quiet, raw_text=raw_text)
    predict_table(model, data, table, to, transpose=transpose)


def consense(
    labels: Annotated[
        Path,
        _argument(
            metavar="LABELS",
            help=f"Table with a header, a row per object and a column per partition: {_FORMATS}; "
            "or an ensemble (.npz); - for CSV on standard input.",
        ),
    ],
    *,
    table: TableOptions,
    chosen: Chosen,
    seed: Seed = 0,
    to: Destinations,
    dask: Dask = None,
) -> None:
    """Find the consensus of clusterings that you already have.

    Every column of LABELS is one clustering; names of clusters may be numbers or text, and mean
    nothing across columns. The result is as that of 'coterie cluster'.

    A folder of Parquet files, and a table over the memory limit, are read in blocks; --output is
    then a folder of Parquet files, too.
    """
    from coterie.cli.consense import consense_labels

    consense_labels(labels, table, chosen, to, seed=seed, dask=dask)


def choose(
    data: DataOrLabels,
    *,
    as_labels: AsLabels = None,
    table: TableOptions,
    preparing: Preparing,
    numbers: Annotated[
        str | None,
        _choice(
            "--range",
            metavar="LOW-HIGH",
            help="Numbers of clusters to try. Default: 2 to 1.5 sqrt(n), the end between 16 and "
            "60.",
        ),
    ] = None,
    runs: Annotated[
        int,
        _choice(
            "--runs",
            metavar="N",
            min=0,
            help="Runs on random parts of the data for each number: adds the criteria of Monti et "
            "al., such as PAC. Try 20.",
        ),
    ] = 0,
    null: Annotated[
        Literal["uniform", "permuted"],
        _choice(
            "--null",
            help="What is called no structure: uniform data of the same covariance, or every "
            "feature (or partition) shuffled by itself.",
        ),
    ] = "uniform",
    alpha: Annotated[
        float,
        _choice("--alpha", metavar="P", help="The largest p-value that is called structure."),
    ] = 0.01,
    seed: Seed = 0,
    jobs: Jobs = None,
    plot: Annotated[
        Path | None,
        _output("--plot", metavar="FILE", help="Draw the criteria: .png, .svg or .pdf."),
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Recommend a number of clusters, and say whether there is a gap between them.

    It is the number that 'coterie cluster' takes, with its evidence: the criteria for each number,
    the second-best answer, and how sure the rule is. With features the answer is safer than with
    clusterings, which do not tell what lies between the objects.
    """
    from coterie.cli.choose import ChoiceOptions, choose_number

    asked = ChoiceOptions(numbers, runs, null, alpha, seed, jobs)
    to = Destinations(as_json=as_json, quiet=quiet)
    choose_number(data, table, preparing, asked, to, as_labels=as_labels, plot=plot)


def monti(
    data: Data,
    *,
    output: Annotated[
        Path,
        _output(
            "--output",
            "-o",
            metavar="DIR",
            help="Folder for the tables and report.html; made if needed.",
            show_default=False,
        ),
    ],
    table: TableOptions,
    preparing: Preparing,
    runs: Resampling,
    annotate: Annotated[
        list[str] | None,
        _output(
            "--annotate",
            metavar="COLUMN",
            help="Show this column beside the heat maps; it is not clustered by. Repeat for more.",
        ),
    ] = None,
    matrices: Annotated[
        bool, _output("--matrices", help="Also write the consensus matrix of each number.")
    ] = False,
    as_json: Json = False,
    raw_text: RawText = False,
    quiet: Quiet = False,
) -> None:
    """Find one consensus for each number of clusters (Monti et al.), as ConsensusClusterPlus does.

    Writes a folder of CSV tables (classes, item consensus, cluster consensus, PAC and areas, CDF)
    and a report with CDF, delta area, tracking plot and consensus matrices. Prints the best
    number and why, and says so if there seem to be no clusters.
    """
    from coterie.cli.monti import consensus_per_number

    consensus_per_number(
        *(data, output, table, preparing, runs),
        annotate=annotate or (),
        matrices=matrices,
        as_json=as_json,
        raw_text=raw_text,
        quiet=quiet,
    )


def compare(
    data: DataOrLabels,
    *,
    as_labels: AsLabels = None,
    table: TableOptions,
    preparing: Preparing,
    parts: Partitioning,
    methods: Annotated[
        list[str] | None,
        _comparison(
            "--method",
            "-m",
            metavar="NAME",
            help="Compare only this method. Repeat for more. Default: all.",
        ),
    ] = None,
    clusters: Annotated[
        str,
        _comparison(
            "--clusters",
            "-k",
            metavar="K",
            help="Number of clusters for all methods; 'auto' is the one that 'coterie choose' "
            "recommends, 'own' lets each method find it.",
        ),
    ] = "auto",
    halves: Annotated[
        int,
        _comparison(
            "--halves",
            metavar="N",
            min=0,
            help="How often the partitions are halved to measure stability.",
        ),
    ] = 3,
    time_limit: Annotated[
        float,
        _comparison(
            "--time-limit",
            metavar="SECONDS",
            min=0.001,
            help="Time for each method; beyond, it is stopped or left out.",
        ),
    ] = 60.0,
    output: Annotated[
        Path | None,
        _output(
            "--output",
            "-o",
            metavar="FILE",
            help="Write the leaderboard here: .csv, .tsv or .json (with all labels).",
        ),
    ] = None,
    as_json: Json = False,
    report: Report = None,
    quiet: Quiet = False,
) -> None:
    """Compare the consensus methods on one ensemble, and say which to take.

    The leaderboard has the number of clusters, agreement with the partitions (ANMI, mean NMI),
    stability (ARI between the consensus of two halves of the partitions), time and memory, and
    with --truth the scores against known classes. The method with the best agreement is
    recommended; the truth is not looked at for that.
    """
    from coterie.cli.compare import ComparisonOptions, compare_methods

    wanted = ComparisonOptions(methods, clusters, halves, time_limit)
    to = Destinations(output, as_json, report, quiet=quiet)
    compare_methods(data, table, preparing, parts, wanted, to, as_labels=as_labels)


def report(
    file: Annotated[
        Path,
        _argument(
            metavar="FILE",
            help="A table of features (.csv, .tsv, .parquet, .npy), an ensemble (.npz), a table "
            "of labels (with --labels), or a result that --json printed (.json).",
        ),
    ],
    *,
    labels: Annotated[
        bool,
        typer.Option(
            "--labels",
            help="The columns are clusterings, as for 'coterie consense', not features.",
            rich_help_panel="Input",
        ),
    ] = False,
    table: TableOptions,
    preparing: Preparing,
    chosen: Chosen,
    output: Annotated[
        Path, _output("--output", "-o", metavar="FILE.html", help="Where the report goes.")
    ] = Path("report.html"),
    seed: Seed = 0,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write a report that opens in any browser, without a network.

    Short for 'coterie cluster FILE --report report.html' (or 'coterie consense'), which have
    more options. A result that --json printed is shown as it is.
    """
    from coterie.cli.report import write_any_report

    to = Destinations(as_json=as_json, report=output, quiet=quiet)
    write_any_report(file, table, preparing, chosen, to, labels=labels, seed=seed)


def _complete_explained(incomplete: str) -> list[str]:
    from coterie.cli.explain import explained_methods

    return [name for name in explained_methods() if name.startswith(incomplete.casefold())]


def explain(
    method: Annotated[
        str | None,
        _argument(
            metavar="[METHOD]",
            help="A method by its name, such as laca. Default: list all.",
            autocompletion=_complete_explained,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Explain a method: what it does, when to use it, its paper and its cost."""
    from coterie.cli.explain import explain_methods

    explain_methods(method, as_json)


def _complete_paper(incomplete: str) -> list[str]:
    from coterie.experiments import EXPERIMENTS

    return [name for name in EXPERIMENTS if name.startswith(incomplete)]


def reproduce(
    paper: Annotated[
        str | None,
        _argument(
            metavar="[PAPER]",
            help="Which paper. Default: list them.",
            autocompletion=_complete_paper,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="DIR",
            help="Directory for finished tasks, tables and figures; made if needed. The same "
            "command continues what was killed. Default: reproduce-PAPER.",
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            "--data",
            metavar="DIR",
            help="Directory of data sets, NAME.csv or NAME.csv.gz. Default: $COTERIE_DATA.",
        ),
    ] = None,
    runs: Annotated[
        int | None,
        typer.Option("--runs", min=1, metavar="N", help="Repetitions. Default: as in the paper."),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="SET", help="Only this data set or part. Repeat for more."),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="A small version, to see it work.")
    ] = False,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of everything.")] = 0,
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", metavar="N", help="Tasks at a time; -1: one per core.")
    ] = -1,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Run a paper's experiment and compare with its published numbers."""
    from coterie.cli.reproduce import RunOptions, reproduce_paper

    settings = RunOptions(output, data, runs, only, quick, seed, jobs)
    reproduce_paper(paper, settings, Destinations(as_json=as_json, quiet=quiet))


def info(
    file: Annotated[
        Path | None,
        _argument(
            metavar="[FILE]",
            help="A table or an ensemble to look into. Default: tell about the installation.",
        ),
    ] = None,
    separator: Separator = None,
    no_header: NoHeader = False,
    missing: Missing = None,
    as_json: Json = False,
) -> None:
    """Tell what is installed, or what is in a file."""
    from coterie.cli._console import print_facts

    if file is None:
        from coterie.cli.info import installation

        facts = installation()
    else:
        from coterie.cli.file_info import file_facts

        table = TableOptions(separator=separator, no_header=no_header, missing=missing)
        facts = file_facts(file, table)
    print_facts(facts, as_json=as_json)


COMMANDS = (
    demo,
    cluster,
    predict,
    consense,
    choose,
    monti,
    compare,
    report,
    explain,
    reproduce,
    info,
)
"""In the order of ``coterie --help``."""
