"""Tables that do not fit the memory limit: read, clustered and written in blocks."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from coterie.cli._console import Notes, on_terminal, step
from coterie.cli._errors import InputError, refused_input
from coterie.cli._output import Destinations

if TYPE_CHECKING:
    from coterie.blocks._mapped import Results, Written
    from coterie.blocks._sources import Source
    from coterie.cli._run import Partitioning
    from coterie.cli._tables import Preparing
    from coterie.consensus._base import BaseConsensus

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
    destinations: Destinations
    id_column: str | None
    columns: Sequence[str]
    exclude: Sequence[str]
    checkpoint: Path | None
    dask: str | None
    seed: int

    def open(self) -> tuple[Source, Source | None]:
        """Return the table without the columns that are kept aside, and that of the ids."""
        from coterie.blocks import open_source

        with refused_input():
            whole = open_source(self.table)
            names = None if whole.names is None else list(whole.names)
            if names is None and (self.id_column or self.columns or self.exclude):
                raise InputError(
                    f"{self.table} has no names of columns: --id, --columns and --exclude need "
                    "a Parquet file."
                )
            for name in (self.id_column, *self.columns, *self.exclude):
                if name is not None and name not in (names or ()):
                    raise InputError(f"{self.table} has no column {name!r}.")
            used = [
                name
                for name in (self.columns or names or ())
                if name != self.id_column and name not in self.exclude
            ]
            source = open_source(self.table, columns=used or None)
            ids = None
            if self.id_column is not None:
                rows = max(source.lengths)
                source = open_source(self.table, columns=used, block_rows=rows)
                ids = open_source(self.table, columns=[self.id_column], block_rows=rows)
        return source._replace(on_dask=self.dask is not None), ids

    def describe(self, source: Source, consensus: BaseConsensus, **more: Any) -> dict[str, Any]:
        """Return what the results depend on."""
        settings = {name: repr(value) for name, value in consensus.get_params().items()}
        method = {"name": type(consensus).__name__, **settings}
        return {"input": source.describe(), "method": method, "seed": self.seed, **more}

    def check(self) -> Path:
        """Return the folder of the results; refuse what cannot be had in blocks."""
        output = self.destinations.output
        if output is None or str(output) == "-" or output.suffix:
            raise InputError(
                f"{self.table} is read in blocks, and its results are written in blocks: --output "
                "must name a folder, such as --output clusters/."
            )
        if self.destinations.report or self.destinations.save_ensemble:
            raise InputError("--report and --save-ensemble need a table that fits the memory.")
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
    from coterie._limits import format_bytes, memory_limit_bytes
    from coterie.blocks import BlockError, open_source

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


def consense_in_blocks(run: BlockRun, consensus: BaseConsensus, why: str) -> None:
    """Find the consensus of label rows in blocks, and write it in blocks."""
    from coterie.blocks import LabelBlocks, draw_sample
    from coterie.clustering import choose_number
    from coterie.consensus._base import pass_seed
    from coterie.consensus._in_blocks import SAMPLE

    notes = Notes(quiet=run.destinations.quiet)
    notes.add(why)
    folder = run.check()
    source, ids = run.open()
    with (
        on_dask(run.dask),
        step("Consensus", quiet=notes.quiet, counted=False, watching=True),
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
        written = _write(run, folder, description, consensus._results, ids)
    _tell(run, consensus, written, folder)


def cluster_in_blocks(
    run: BlockRun,
    parts: Partitioning,
    preparing: Preparing,
    consensus: BaseConsensus,
    missing: Sequence[str],
    why: str,
) -> None:
    """Cluster the rows of a table in blocks, and write the result in blocks."""
    from coterie._block_clustering import Labelling, consense_blocks
    from coterie.blocks._features import sample_features
    from coterie.cli._run import make_ensemble
    from coterie.cli._tables import Table, read_features
    from coterie.clustering import choose_number
    from coterie.consensus._base import pass_seed

    notes = Notes(quiet=run.destinations.quiet)
    notes.add(why)
    folder = run.check()
    source, ids = run.open()
    with on_dask(run.dask), refused_input():
        with step(f"Sampling {run.table}", quiet=notes.quiet, watching=True):
            frame, n_drawn = sample_features(source, _join_frames)
        features = read_features(
            Table(run.table.name, frame),
            preparing,
            id_column=None,
            truth_column=None,
            columns=(),
            exclude=(),
            missing=missing,
            note=notes.add,
        )
        if n_drawn < source.n_rows:
            notes.add(
                f"partitions are fitted to a sample of {n_drawn} of the {source.n_rows} rows; all "
                "rows get labels."
            )
        description = run.describe(source, consensus, partitions=repr(parts))
        generator = make_ensemble(features.X, _inside(parts, run.checkpoint), notes)
        read = partial(_features_of, run.table.name, tuple(features.used), features.preparation)
        labelling = Labelling(read, generator)
        with (
            step("Clustering", quiet=notes.quiet, counted=False, watching=True),
            notes.of_warnings(),
        ):
            choose_number(consensus, generator.ensemble_, features.X, random_state=run.seed)
            pass_seed(consensus, run.seed)
            consensus, results = consense_blocks(
                source, labelling, consensus, folder=run.checkpoint, description=description
            )
            written = _write(run, folder, description, results, ids)
    _tell(run, consensus, written, folder)


def _inside(parts: Partitioning, checkpoint: Path | None) -> Partitioning:
    return parts._replace(checkpoint=None if checkpoint is None else checkpoint / "partitions")


def _join_frames(frames: Sequence[Any]) -> Any:
    import polars as pl

    if not isinstance(frames[0], pl.DataFrame):
        import numpy as np

        table = np.concatenate(frames)
        return pl.DataFrame(table, schema=[f"column_{i}" for i in range(table.shape[1])])
    return pl.concat(frames)


def _features_of(
    name: str, used: tuple[str, ...], preparation: dict[str, Any] | None, rows: Any
) -> Any:
    """Return the features of a block, prepared as the sample was."""
    from coterie.cli._tables import Table
    from coterie.cli.predict import features_of_table

    table = Table(name, _join_frames([rows]))
    return features_of_table(table, list(used), preparation)


def _write(
    run: BlockRun, folder: Path, description: dict[str, Any], results: Results, ids: Source | None
) -> Written:
    from coterie.blocks._store import PartStore

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
    if run.destinations.json:
        print(json.dumps(summary, indent=2))
    elif on_terminal() and not run.destinations.quiet:
        print(
            f"{written.n_rows:,} objects in {len(written.sizes)} clusters "
            f"({type(consensus).__name__}), mean confidence {summary['mean_confidence']:.2f}.\n"
            f"Sizes: {', '.join(f'{size:,}' for size in written.sizes[:12].tolist())}.\n"
            f"Labels and confidence are in {folder}/part-*.parquet."
        )
