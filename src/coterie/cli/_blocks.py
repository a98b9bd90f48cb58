"""Tables that do not fit the memory limit: read, clustered and written in blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from coterie._block_clustering import Labelling, consense_blocks
from coterie._limits import format_bytes, memory_limit_bytes
from coterie.blocks import BlockError, LabelBlocks, draw_sample, open_source
from coterie.blocks._features import sample_features
from coterie.blocks._mapped import Results, Written
from coterie.blocks._sources import Source
from coterie.blocks._store import PartStore
from coterie.cli._console import Notes, on_terminal, step
from coterie.cli._errors import InputError, refused_input
from coterie.cli._features import read_features
from coterie.cli._options import Chosen, Destinations, Partitioning, Preparing, TableOptions
from coterie.cli._output import print_json
from coterie.cli._run import make_consensus, make_ensemble
from coterie.cli._tables import Table
from coterie.cli.predict import features_of_table
from coterie.clustering import choose_number
from coterie.consensus._base import BaseConsensus, pass_seed
from coterie.consensus._in_blocks import SAMPLE

__all__ = [
    "BlockRun",
    "cluster_in_blocks",
    "consense_in_blocks",
    "refuse_in_blocks",
    "why_in_blocks",
]

_BYTES_PER_CELL = 24  # of a table in memory, with the copies that reading and fitting make


class BlockRun(NamedTuple):
    """What a command in blocks is told by its options."""

    table: Path
    options: TableOptions
    to: Destinations
    checkpoint: Path | None
    dask: str | None
    seed: int
    why: str
    """Why the table is read in blocks."""

    def open(self) -> tuple[Source, Source | None]:
        """Return the table without the columns that are kept aside, and that of the ids."""
        id_column, columns = self.options.id_column, self.options.columns or []
        exclude = self.options.exclude or []
        with refused_input():
            whole = open_source(self.table)
            names = list(whole.names or ())
            if not names and (id_column or columns or exclude):
                raise InputError(
                    f"{self.table} has no names of columns: --id, --columns and --exclude need "
                    "a Parquet file."
                )
            for name in (id_column, *columns, *exclude):
                if name is not None and name not in names:
                    raise InputError(f"{self.table} has no column {name!r}.")
            aside = {id_column, *exclude}
            used = [name for name in columns or names if name not in aside]
            source, ids = open_source(self.table, columns=used or None), None
            if id_column is not None:
                rows = max(source.lengths)
                source = open_source(self.table, columns=used, block_rows=rows)
                ids = open_source(self.table, columns=[id_column], block_rows=rows)
        return source._replace(on_dask=self.dask is not None), ids

    def describe(self, source: Source, consensus: BaseConsensus, **more: Any) -> dict[str, Any]:
        """Return what the results depend on."""
        settings = {name: repr(value) for name, value in consensus.get_params().items()}
        method = {"name": type(consensus).__name__, **settings}
        return {"input": source.describe(), "method": method, "seed": self.seed, **more}

    def check(self) -> Path:
        """Return the folder of the results; refuse what cannot be had in blocks."""
        refuse_in_blocks(
            truth=self.options.truth,
            report=self.to.report,
            save_ensemble=self.to.save_ensemble,
        )
        if self.table.is_dir() and not any(self.table.glob("*.parquet")):
            raise InputError(f"{self.table} is a directory without .parquet files.")
        output = self.to.output
        if output is None or str(output) == "-" or output.suffix:
            raise InputError(
                f"{self.table} is read in blocks, and its results are written in blocks: --output "
                "must name a folder, such as --output clusters/."
            )
        if not output.parent.is_dir():
            raise InputError(f"--output {output}: the directory {output.parent} does not exist.")
        return output


def why_in_blocks(table: Path, dask: str | None) -> str | None:
    """Return why a table is read in blocks, None if it is read into memory."""
    if dask is not None:
        return f"{table} is read in blocks, by Dask."
    if table.is_dir():
        return f"{table} is a folder of Parquet files: read in blocks."
    if table.suffix not in (".parquet", ".npy") or not table.is_file():
        return None
    try:
        source = open_source(table)
    except BlockError:
        return None  # the reader of whole tables says why
    needed = _BYTES_PER_CELL * source.n_rows * source.n_columns
    if needed <= memory_limit_bytes():
        return None
    return (
        f"{table} would take about {format_bytes(needed)} in memory, over the limit of "
        f"{format_bytes(memory_limit_bytes())} (COTERIE_MEMORY_LIMIT): read in blocks."
    )


def refuse_in_blocks(**given: Any) -> None:
    """Refuse options that need the whole table in memory."""
    for name, value in given.items():
        if value:
            option = f"--{name.replace('_', '-')}"
            raise InputError(f"{option} needs a table that fits the memory; this one is too large.")


@contextmanager
def on_dask(address: str | None) -> Iterator[None]:
    """Connect with a Dask cluster, or start one here; None changes nothing."""
    if address is None:
        yield
        return
    try:
        from dask.distributed import Client, LocalCluster
    except ImportError as error:
        raise InputError(
            "--dask needs the package dask; install it with: pip install 'coterie[dask]'"
        ) from error
    if address.partition(":")[0] != "local":
        try:
            client = Client(address, timeout=20)
        except (OSError, ValueError) as error:
            raise InputError(f"--dask {address}: no Dask scheduler answers there.") from error
        with client:
            yield
        return
    number = address.partition(":")[2]
    if number and not (number.isdigit() and int(number) > 0):
        raise InputError(f"--dask local:N must give a number of workers; got {address!r}.")
    workers = int(number) if number else None
    with (
        LocalCluster(
            n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        Client(cluster),
    ):
        yield


def consense_in_blocks(run: BlockRun, chosen: Chosen) -> None:
    """Find the consensus of label rows in blocks, and write it in blocks."""
    notes = Notes(quiet=run.to.quiet)
    notes.add(run.why)
    refuse_in_blocks(missing=run.options.missing)
    consensus = make_consensus(chosen)
    folder = run.check()
    source, ids = run.open()
    with (
        on_dask(run.dask),
        step("Consensus", quiet=notes.quiet),
        notes.of_warnings(),
        refused_input(),
    ):
        description = run.describe(source, consensus)
        blocks = LabelBlocks(source)
        n = blocks.n_objects
        if consensus.n_clusters is None and not consensus.finds_n_clusters:
            sample = blocks.sample(draw_sample(n, min(n, SAMPLE)))
            choose_number(consensus, sample, random_state=run.seed)
        pass_seed(consensus, run.seed).fit(blocks)
        written = _write(folder, description, consensus._results, ids)
    _tell(run, consensus, written, folder)


def cluster_in_blocks(
    run: BlockRun, parts: Partitioning, preparing: Preparing, chosen: Chosen
) -> None:
    """Cluster the rows of a table in blocks, and write the result in blocks."""
    notes = Notes(quiet=run.to.quiet)
    notes.add(run.why)
    consensus = make_consensus(chosen)
    folder = run.check()
    source, ids = run.open()
    with on_dask(run.dask), refused_input():
        with step(f"Sampling {run.table}", quiet=notes.quiet):
            frame, n_drawn = sample_features(source, _join_frames)
        options = TableOptions(missing=run.options.missing)
        table = Table(run.table.name, frame)
        features = read_features(table, options, preparing, seed=run.seed, note=notes.add)
        if n_drawn < source.n_rows:
            notes.add(
                f"partitions are fitted to a sample of {n_drawn} of the {source.n_rows} rows; all "
                "rows get labels."
            )
        description = run.describe(source, consensus, partitions=repr(parts))
        generator = make_ensemble(features.X, _inside(parts, run.checkpoint), notes)
        read = partial(_features_of, run.table.name, tuple(features.used), features.preparation)
        with (
            step("Clustering", quiet=notes.quiet),
            notes.of_warnings(),
        ):
            choose_number(consensus, generator.ensemble_, features.X, random_state=run.seed)
            consensus, results = consense_blocks(
                source,
                Labelling(read, generator),
                pass_seed(consensus, run.seed),
                folder=run.checkpoint,
                description=description,
            )
            written = _write(folder, description, results, ids)
    _tell(run, consensus, written, folder)


def _inside(parts: Partitioning, checkpoint: Path | None) -> Partitioning:
    return parts._replace(checkpoint=None if checkpoint is None else checkpoint / "partitions")


def _join_frames(frames: Sequence[Any]) -> pl.DataFrame:
    if isinstance(frames[0], pl.DataFrame):
        return pl.concat(frames)
    table = np.concatenate(frames)
    return pl.DataFrame(table, schema=[f"column_{i}" for i in range(table.shape[1])])


def _features_of(
    name: str, used: tuple[str, ...], preparation: dict[str, Any] | None, rows: Any
) -> Any:
    """Return the features of a block, prepared as the sample was."""
    return features_of_table(Table(name, _join_frames([rows])), list(used), preparation)


def _write(
    folder: Path, description: dict[str, Any], results: Results, ids: Source | None
) -> Written:
    store = PartStore.open(folder, ".parquet", description)
    return results.write(store, ids, "writing the results")


def _tell(run: BlockRun, consensus: BaseConsensus, written: Written, folder: Path) -> None:
    """Say what was found: JSON if asked for, else a few lines."""
    summary = {
        "n_objects": written.n_rows,
        "n_clusters": len(written.sizes),
        "method": type(consensus).__name__,
        "sizes": written.sizes.tolist(),
        "mean_confidence": round(written.confidence / written.n_rows, 6),
        "output": str(folder),
    }
    if run.to.as_json:
        print_json(summary)
    elif on_terminal() and not run.to.quiet:
        print(
            f"{written.n_rows:,} objects in {len(written.sizes)} clusters "
            f"({type(consensus).__name__}), mean confidence {summary['mean_confidence']:.2f}.\n"
            f"Sizes: {', '.join(f'{size:,}' for size in written.sizes[:12].tolist())}.\n"
            f"Labels and confidence are in {folder}/part-*.parquet."
        )
