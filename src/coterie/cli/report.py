"""``coterie report``: one HTML file from data, from labels or from a saved result."""

from __future__ import annotations

from pathlib import Path

from coterie._reading import read_json
from coterie.cli._errors import InputError, refused_input
from coterie.cli._options import (
    FEATURE_OPTIONS,
    Chosen,
    Destinations,
    Partitioning,
    Preparing,
    TableOptions,
)
from coterie.cli._output import check_destinations, print_results, write_files
from coterie.cli._tables import check_file, file_kind
from coterie.cli.cluster import cluster_table
from coterie.cli.consense import consense_labels

__all__ = ["write_any_report"]


def write_any_report(
    file: Path,
    table: TableOptions,
    preparing: Preparing,
    chosen: Chosen,
    to: Destinations,
    *,
    labels: bool,
    seed: int,
) -> None:
    """Write a report on a table, on clusterings or on a result that --json printed."""
    kind = file_kind(file)
    if kind == ".json":
        if any((*table, *preparing, *chosen, labels, seed)):
            raise InputError(
                f"{file} is a finished result and is shown as it is; leave out the options that "
                "say how to find one."
            )
        _show_result(file, to)
    elif kind == ".npz" or labels:
        if any(preparing):
            raise InputError(f"{FEATURE_OPTIONS} are for features, not for labels.")
        consense_labels(file, table, chosen, to, seed=seed, labels_to_pipe=False)
    else:
        parts = Partitioning(seed=seed)
        cluster_table(file, table, preparing, parts, chosen, to, labels_to_pipe=False)
    if not to.quiet and not to.as_json:
        print(f"{to.report}: open it in a browser.")


def _show_result(file: Path, to: Destinations) -> None:
    """Render what --json printed."""
    check_file(file)
    check_destinations(to, file)
    with refused_input():
        summary = read_json(file)
    needed = ("format", "objects", "cuts", "consensus", "ensemble")
    other = f"{file} is not a result of coterie; 'coterie cluster DATA --json' prints one."
    if not isinstance(summary, dict) or any(key not in summary for key in needed):
        raise InputError(other)
    try:
        write_files(summary, to)
    except (OSError, InputError):
        raise
    except Exception as error:  # of any kind, by what is missing in somebody else's JSON
        tells = isinstance(error, ImportError) or "must be of format" in str(error)
        raise InputError(str(error) if tells else other) from error
    if to.as_json:
        print_results(summary, to)
