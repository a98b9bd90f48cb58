"""Writing and printing results; destinations are checked before the work starts."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import polars as pl
from rich import box
from rich.table import Table
from rich.text import Text

from coterie._files import escape_formulas, written_whole
from coterie.cli._console import on_terminal, output_console
from coterie.cli._errors import InputError, refused_input
from coterie.cli._options import Destinations
from coterie.report import check_report_extra, render_html

__all__ = [
    "check_destinations",
    "check_writable",
    "needs_pictures",
    "print_json",
    "print_results",
    "print_summary",
    "write_files",
    "write_labels",
    "write_report",
]

_LABEL_ENDINGS = (".csv", ".tsv", ".json", ".parquet")
_MAX_CLUSTERS = 12


def needs_pictures(to: Destinations) -> bool:
    """Whether what is written shows more than the labels."""
    return to.as_json or to.report is not None


def check_destinations(to: Destinations, source: Path | None) -> None:
    """Raise InputError for what could not be written, before any work is done."""
    if to.output is not None and str(to.output) != "-":
        check_ending(to.output, "--output", _LABEL_ENDINGS)
    if to.report is not None:
        check_ending(to.report, "--report", (".html", ".htm"))
        with refused_input():
            check_report_extra()
    if to.save_ensemble is not None:
        check_ending(to.save_ensemble, "--save-ensemble", (".npz",))
    if to.as_json and str(to.output) == "-":
        raise InputError("--json and --output - both write to standard output; choose one.")
    files = {"--output": to.output, "--report": to.report, "--save-ensemble": to.save_ensemble}
    taken = {} if source is None else {source.resolve(): "the input"}
    for option, path in files.items():
        if path is None or str(path) == "-":
            continue
        check_directory(path, option)
        if path.resolve() in taken:
            raise InputError(f"{option} {path} would overwrite {taken[path.resolve()]}.")
        taken[path.resolve()] = f"what {option} writes"


def write_files(summary: dict[str, Any], to: Destinations) -> None:
    """Write labels and report to the files that were asked for."""
    if to.output is not None and str(to.output) != "-":
        write_labels(summary, to.output, raw_text=to.raw_text)
    if to.report is not None:
        write_report(summary, to.report)


def print_results(
    summary: dict[str, Any], to: Destinations, *, labels_to_pipe: bool = True
) -> None:
    """Print to standard output: JSON, the labels or a summary for people.

    Where standard output is no terminal and nothing else goes there, it gets the labels unless
    `labels_to_pipe` is False.
    """
    if to.as_json:
        print_json(summary)
    elif str(to.output) == "-" or (to.output is None and not on_terminal() and labels_to_pipe):
        frame = _labels_frame(summary)
        frame = frame if to.raw_text else escape_formulas(frame)
        sys.stdout.write(frame.write_csv(float_precision=6))
    elif on_terminal() and not to.quiet:
        files = (to.output, to.report, to.save_ensemble)
        print_summary(summary, [path for path in files if path is not None])
        more = {"the labels": (to.output, "--output labels.csv")}
        more["a report"] = (to.report, "--report report.html")
        hints = [f"for {what} add {how}" for what, (given, how) in more.items() if not given]
        if hints and labels_to_pipe:
            print(f"{hints[0].capitalize()}{', ' * (len(hints) > 1)}{''.join(hints[1:])}.")


def check_writable(path: Path | None, option: str, endings: tuple[str, ...]) -> None:
    """Raise InputError for a file that could not be written, before any work is done."""
    if path is not None:
        check_ending(path, option, endings)
        check_directory(path, option)


def check_ending(path: Path, option: str, endings: tuple[str, ...]) -> None:
    """Raise InputError unless the name of a file ends as its format needs."""
    if path.suffix.lower() not in endings:
        raise InputError(f"{option} must end in {' or '.join(endings)}; got {path}.")


def check_directory(path: Path, option: str) -> None:
    """Raise InputError unless a file can be made at this path."""
    parent = path.parent
    if path.is_dir():
        raise InputError(f"{option} {path} is a directory; give the name of a file in it.")
    if not parent.is_dir():
        raise InputError(f"{option} {path}: the directory {parent} does not exist; make it first.")
    if not os.access(parent, os.W_OK):
        raise InputError(f"{option} {path}: the directory {parent} cannot be written to.")


def _labels_frame(summary: dict[str, Any]) -> pl.DataFrame:
    objects = summary["objects"]
    numbered = objects["id"] == list(range(summary["n_objects"]))
    columns = {"row" if numbered else "id": objects["id"]}
    columns |= {"cluster": objects["cluster"], "confidence": objects["confidence"]}
    if objects["truth"] is not None:
        columns["truth"] = objects["truth"]
    if "runner_up" not in objects:  # of rows that a model was not fitted to
        return pl.DataFrame(columns, strict=False)
    columns["runner_up"] = objects["runner_up"]
    return pl.DataFrame(columns, schema_overrides={"runner_up": pl.Int64}, strict=False)


def write_labels(summary: dict[str, Any], path: Path, *, raw_text: bool = False) -> None:
    """Write one row per object: name, cluster, confidence, class if known, second-best cluster."""
    frame = _labels_frame(summary)
    kind = path.suffix.lower()
    with written_whole(path) as temporary:
        if kind == ".parquet":
            frame.write_parquet(temporary)
        elif kind == ".json":
            rows = ",\n".join(json.dumps(row, ensure_ascii=False) for row in frame.to_dicts())
            temporary.write_text(f"[\n{rows}\n]\n", encoding="utf-8")
        else:
            mark = "\t" if kind == ".tsv" else ","
            frame = frame if raw_text else escape_formulas(frame)
            frame.write_csv(temporary, separator=mark, float_precision=6)


def write_report(summary: dict[str, Any], path: Path) -> None:
    """Write the report as one HTML file."""
    page = render_html(summary)
    with written_whole(path) as temporary:
        temporary.write_text(page, encoding="utf-8")


def print_json(summary: dict[str, Any]) -> None:
    """Print JSON with one key of the top level per line."""
    lines = [
        f"  {json.dumps(key)}: {json.dumps(value, ensure_ascii=True, allow_nan=False)}"
        for key, value in summary.items()
    ]
    sys.stdout.write("{\n" + ",\n".join(lines) + "\n}\n")


def print_summary(summary: dict[str, Any], written: list[Path]) -> None:
    """Print a summary for people."""
    console = output_console()
    ensemble = summary["ensemble"]
    low, high = ensemble["n_clusters"]
    clusters = f"{low}" if low == high else f"{low} to {high}"
    missing = f", {100 * ensemble['missing']:.3g} % missing" if ensemble["missing"] else ""
    facts = {
        "objects": f"{summary['n_objects']:,}",
        "partitions": f"{ensemble['n_partitions']:,} with {clusters} clusters{missing}",
        "method": summary["consensus"]["method"],
        "clusters": summary["reason"],
        "structure": summary["structure"]["words"],
        "agreement": f"mean NMI with the partitions {summary['agreement']['anmi']:.3f}",
        "confidence": f"{summary['agreement']['confidence']:.3f} on average",
    }
    if summary["scores"]:
        scores = summary["scores"]
        facts["truth"] = (
            f"{scores['n_classes']} classes: NMI {scores['nmi']:.3f}, ARI {scores['ari']:.3f}, "
            f"error rate {scores['error_rate']:.3f}"
        )
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim")
    grid.add_column()
    for name, value in facts.items():
        grid.add_row(name, Text(value))
    console.print(grid)
    for caution in summary["cautions"]:
        console.print()
        console.print(Text.assemble(("caution ", "bold yellow"), caution["words"]))
    table = Table(box=box.SIMPLE_HEAD)
    headings = ("cluster", "objects", "confidence", "lowest", "consensus", "stability")
    for heading in headings:
        table.add_column(heading, justify="right")
    table.add_column("")
    for row in summary["clusters"][:_MAX_CLUSTERS]:
        cells = [row[key] for key in ("confidence", "least_confidence", "consensus", "stability")]
        texts = ("" if cell is None else f"{cell:.3f}" for cell in cells)
        verdict = "" if row["verdict"] == "unknown" else row["verdict"]
        table.add_row(str(row["cluster"]), f"{row['size']:,}", *texts, verdict)
    console.print(table)
    hidden = len(summary["clusters"]) - _MAX_CLUSTERS
    if hidden > 0:
        console.print(f"and {hidden:,} smaller clusters\n")
    if written:
        console.print(Text("wrote " + ", ".join(str(path) for path in written)), soft_wrap=True)
