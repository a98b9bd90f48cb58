"""Features in blocks: partitions fitted to a sample, all rows labelled block by block."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.blocks import LabelBlocks
from coterie.blocks._labels import Codes
from coterie.blocks._mapped import Results, keep_labels, map_source
from coterie.blocks._sources import Source
from coterie.blocks._store import PartStore
from coterie.consensus._base import BaseConsensus

__all__ = ["Labelling", "consense_blocks"]


class Labelling(NamedTuple):
    """How features become labels of partitions."""

    read: Callable[[Any], NDArray[np.float64]]
    """From a block of the table to features."""
    generator: Any
    """Fitted."""

    def codes(self, rows: Any) -> NDArray[np.int32]:
        """Return the labels of a block by all partitions."""
        labels: NDArray[np.int32] = self.generator._label_all(self.read(rows))
        ensemble = self.generator.ensemble_
        plain = all(np.array_equal(c, np.arange(len(c))) for c in ensemble.categories)
        return labels if plain else ensemble.encode(labels)


def consense_blocks(
    source: Source,
    labelling: Labelling,
    consensus: BaseConsensus,
    *,
    folder: Path | None = None,
    description: dict[str, Any] | None = None,
) -> tuple[BaseConsensus, Results]:
    """Fit a consensus to rows in blocks, and return it with the results of all rows.

    A method that is sums over label rows sees all of them: labels of the partitions are kept, on
    disk (in `folder`, else in a temporary folder) or on Dask's workers. Another method is fitted
    to the sample, and the votes of the sample place all rows in one pass.
    """
    if not consensus.runs_on_blocks:
        consensus.fit(labelling.generator.ensemble_)
        consensus._say_sampled(len(consensus.labels_), source.n_rows)
        given = [((labelling, consensus),)] * len(source.parts)
        return consensus, Results(source, predict_rows, given)
    ensemble = labelling.generator.ensemble_
    labels = map_source(source, _label_rows, labelling, ensemble.n_partitions)
    store = None
    if not source.on_dask:
        if folder is None:
            # Results are read from it when they are asked for: kept as long as the consensus.
            folder = Path(tempfile.mkdtemp(prefix="coterie-labels-"))
            weakref.finalize(consensus, shutil.rmtree, folder, ignore_errors=True)
        store = PartStore.open(folder / "labels", ".npy", description or {})
    labels = keep_labels(labels, store)
    kept = np.arange(ensemble.n_partitions)
    n_codes = [np.arange(len(c)) for c in ensemble.categories]
    blocks = LabelBlocks(labels, Codes(tuple(n_codes), kept, len(kept), True))
    blocks.names = ensemble.names
    consensus.fit(blocks)
    return consensus, consensus._results


def _label_rows(rows: Any, labelling: Labelling) -> NDArray[Any]:
    codes = labelling.codes(rows)
    return codes.astype(np.min_scalar_type(-1 - int(codes.max(initial=0))))


def predict_rows(
    rows: Any, fitted: tuple[Labelling, BaseConsensus]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return label and confidence of a block by a consensus that was fitted to a sample."""
    labelling, consensus = fitted
    codes = labelling.codes(rows)
    return consensus._predict_with_confidence(codes)
