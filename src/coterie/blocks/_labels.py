"""Label rows in blocks, with the views that methods compute from."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie._encode import MISSING, Column, encode_column, plain_columns, read_columns, recode
from coterie._kernels.clusters import describe_clusters
from coterie._kernels.views import count_overlap, find_patterns
from coterie._limits import check_fits
from coterie.blocks._run import iterate_blocks, reduce_blocks
from coterie.blocks._sources import Source, array_source, dask_source, open_source
from coterie.ensemble import Ensemble

__all__ = ["LabelBlocks", "as_label_blocks", "is_blocks", "merge_distinct", "on_all_codes"]


class Codes(NamedTuple):
    """How the labels of a block become codes."""

    categories: tuple[NDArray[Any], ...]
    """For each kept column the value behind each code."""
    columns: NDArray[np.int64]
    """Which columns are kept."""
    n_columns: int
    are_codes: bool
    """Whether all labels are codes already."""

    def encode(self, rows: Any) -> NDArray[np.int32]:
        """Return the codes of a block, -1 where a label is missing."""
        if isinstance(rows, Ensemble):
            return rows.labels
        if self.are_codes and isinstance(rows, np.ndarray) and rows.dtype.kind in "iu":
            return np.ascontiguousarray(rows[:, self.columns], dtype=np.int32)
        given = read_columns(rows)
        if len(given) != self.n_columns:
            raise ValueError(f"a block must have {self.n_columns} columns; got {len(given)}.")
        codes = np.empty((len(given[0]), len(self.columns)), dtype=np.int32)
        for out, (i, known) in enumerate(zip(self.columns, self.categories, strict=True)):
            codes[:, out] = recode(encode_column(given[i], int(i)), known)
        return codes


class LabelBlocks:
    """Label rows that come in blocks, and are never all in memory.

    It has the views of an `Ensemble` that do not grow with the number of objects: `n_clusters`,
    `offsets`, `overlap`, sizes of clusters. Every view is a pass over the blocks, made when it is
    first asked for. Rows without any label take part in nothing: `n_objects` does not count them.

    Parameters
    ----------
    source : Source
        From `open_source`, `array_source` or `dask_source`.
    codes : Codes, optional
        How labels become codes. Default: found by a pass over all blocks.
    """

    def __init__(self, source: Source, codes: Codes | None = None) -> None:
        self.source = source
        everything = [()] * len(source.parts)
        found = reduce_blocks(source, _discover, everything, _unite, "labels that occur")
        n_columns = source.n_columns
        if codes is None:
            codes = _codes_of(found.categories, n_columns, self._names(n_columns))
        self.codes = codes
        self._labelled = found.labelled
        self.names = tuple(np.array(self._names(n_columns), dtype=object)[codes.columns])
        self.has_missing = bool(found.missing[codes.columns].any())

    def _names(self, n_columns: int) -> list[str]:
        return list(self.source.names or (f"partition_{i}" for i in range(n_columns)))

    # --- sizes ------------------------------------------------------------------------------

    @property
    def n_rows(self) -> int:
        """Number of rows, those without any label included."""
        return self.source.n_rows

    @property
    def n_objects(self) -> int:
        """Number of rows with a label."""
        return int(sum(self._labelled))

    @property
    def categories(self) -> tuple[NDArray[Any], ...]:
        """For each partition the input value behind each code."""
        return self.codes.categories

    @property
    def columns(self) -> NDArray[np.int64]:
        """Which columns of the input are kept."""
        return self.codes.columns

    @property
    def n_columns(self) -> int:
        """Number of columns of the input."""
        return self.codes.n_columns

    @property
    def n_partitions(self) -> int:
        """Number of partitions."""
        return len(self.codes.categories)

    @property
    def shape(self) -> tuple[int, int]:
        """(n_rows, n_partitions)."""
        return self.n_rows, self.n_partitions

    def __len__(self) -> int:
        return self.n_rows

    def __repr__(self) -> str:
        return (
            f"LabelBlocks({self.n_rows} objects, {self.n_partitions} partitions, "
            f"{len(self.source.parts)} blocks)"
        )

    @cached_property
    def n_clusters(self) -> NDArray[np.int64]:
        """Number of clusters of each partition."""
        return np.array([len(c) for c in self.codes.categories], dtype=np.int64)

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """Where the clusters of each partition start in `overlap`."""
        return np.concatenate([[0], np.cumsum(self.n_clusters)])

    # --- passes -----------------------------------------------------------------------------

    def reduce(
        self,
        function: Callable[..., Any],
        combine: Callable[[Any, Any], Any],
        *arguments: Any,
        words: str = "passes over the labels",
    ) -> Any:
        """Combine ``function(codes, start, *arguments)`` over all blocks, in their order.

        `codes` are the labelled rows of a block, and `start` counts the labelled rows before it.
        """
        given = self.arguments(function, *arguments)
        return reduce_blocks(self.source, _on_codes, given, combine, words)

    def arguments(self, function: Callable[..., Any], *arguments: Any) -> list[tuple[Any, ...]]:
        """Return what `on_all_codes` needs, after the rows, for each block."""
        return [(self.codes, function, start, *arguments) for start in self._starts]

    def sum(self, function: Callable[..., tuple[Any, ...]], *arguments: Any) -> tuple[Any, ...]:
        """Add up ``function(codes, counts, *arguments)``, a tuple of integer arrays."""
        found: tuple[Any, ...] = self.reduce(_counted, _add, function, *arguments)
        return found

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *np.cumsum(self._labelled)[:-1].tolist()]

    # --- views ------------------------------------------------------------------------------

    @cached_property
    def overlap(self) -> NDArray[np.int64]:
        """(K, K): how many objects two clusters share, as in `Ensemble`."""
        n_all = int(self.offsets[-1])
        check_fits(
            8 * n_all**2,
            f"the overlap of {n_all} clusters (int64)",
            hint="Use fewer partitions or partitions with fewer clusters",
        )
        found: NDArray[np.int64] = self.sum(_overlap, self.n_clusters, self.has_missing)[0]
        return found

    def tables(self, e: int) -> NDArray[np.int64]:
        """Return (k_e, K): the rows of `overlap` of partition e."""
        return self.overlap[self.offsets[e] : self.offsets[e + 1]]

    @cached_property
    def cluster_facts(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(first, sizes): the first object in each of the K clusters, and its objects."""
        found: tuple[NDArray[np.int64], NDArray[np.int64]]
        found = self.reduce(_describe, _first_and_sum, self.offsets, self.n_objects)
        return found

    def distinct_rows(self, most: int) -> tuple[NDArray[np.int32], NDArray[np.int64]] | None:
        """Return the distinct rows in the order of their first objects, and their counts.

        None if there are more than `most`.
        """
        cache = self.__dict__.setdefault("_distinct", {})
        if most not in cache:
            cache[most] = self._find_distinct(most)
        found: tuple[NDArray[np.int32], NDArray[np.int64]] | None = cache[most]
        return found

    def _find_distinct(self, most: int) -> Any:
        merge = partial(merge_distinct, most=most)
        if self.source.on_dask:
            return self.reduce(_distinct, merge, most)
        given = self.arguments(_distinct, most)
        found: Any = (np.empty((0, self.n_partitions), np.int32), np.empty(0, np.int64))
        for block in iterate_blocks(self.source, _on_codes, given, "distinct rows"):
            found = merge(found, block)
            if found is None:  # the blocks that are left change nothing
                return None
        return found

    def take(self, objects: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return the label rows of some objects, given in rising order."""
        found: NDArray[np.int32] = self.reduce(_take, _stack, np.asarray(objects))
        return found

    def sample(self, objects: NDArray[np.int64]) -> Ensemble:
        """Return the ensemble of some objects, given in rising order."""
        rows = self.take(objects)
        columns = [Column(rows[:, e], c) for e, c in enumerate(self.categories)]
        return Ensemble._made_of(columns, names=self.names).take(slice(None))

    def encode(self, labels: Any) -> NDArray[np.int32]:
        """Return the codes of new label rows in the vocabulary of these blocks."""
        if isinstance(labels, Ensemble):
            given = [Column(labels.labels[:, e], c) for e, c in enumerate(labels.categories)]
        else:
            given = [encode_column(c, i) for i, c in enumerate(read_columns(labels))]
        if len(given) == self.n_columns:
            given = [given[i] for i in self.columns]
        if len(given) != self.n_partitions:
            raise ValueError(
                f"new label rows must have {self.n_columns} columns, one per partition; got "
                f"{len(given)}."
            )
        return np.column_stack([recode(g, c) for g, c in zip(given, self.categories, strict=True)])


def is_blocks(X: Any) -> bool:
    """Whether rows come in blocks: `LabelBlocks`, or a Dask array or data frame."""
    return isinstance(X, LabelBlocks) or type(X).__module__.partition(".")[0].startswith("dask")


def as_label_blocks(
    X: Any, *, block_rows: int | None = None, columns: Sequence[str] | None = None
) -> LabelBlocks:
    """Return label rows in blocks.

    Parameters
    ----------
    X : LabelBlocks, Source, Dask array or data frame, path, Ensemble or array-like
        A path names a .npy file, a .parquet file or a folder of Parquet files.
    block_rows : int, optional
        Rows of a block, of files and arrays.
    columns : sequence of str, optional
        Columns to read, of Parquet files.
    """
    if isinstance(X, LabelBlocks):
        return X
    if isinstance(X, Source):
        return LabelBlocks(X)
    if is_blocks(X):
        return LabelBlocks(dask_source(X))
    if isinstance(X, str | os.PathLike):
        return LabelBlocks(open_source(X, columns=columns, block_rows=block_rows))
    ensemble = X if isinstance(X, Ensemble) else Ensemble(X)
    source = array_source(ensemble.labels, block_rows=block_rows)
    kept = np.arange(ensemble.n_partitions)
    return LabelBlocks(source, Codes(ensemble.categories, kept, len(kept), True))


# --- what is done to a block ---------------------------------------------------------------------


class _Discovered(NamedTuple):
    """What one pass over the raw labels finds."""

    categories: list[NDArray[Any]]
    labelled: list[int]
    """Rows with a label, block by block."""
    missing: NDArray[np.bool_]
    """Whether some label of each column is missing."""


def _discover(rows: Any) -> _Discovered:
    encoded = plain_columns(rows) if isinstance(rows, np.ndarray) else None
    if encoded is None:
        encoded = [encode_column(c, i) for i, c in enumerate(read_columns(rows))]
    seen = np.zeros(len(encoded[0].codes), dtype=bool)
    missing = np.zeros(len(encoded), dtype=bool)
    for e, column in enumerate(encoded):
        present = column.codes != MISSING
        missing[e] = not present.all()
        seen |= present
    return _Discovered([column.categories for column in encoded], [int(seen.sum())], missing)


def _unite(left: _Discovered, right: _Discovered) -> _Discovered:
    return _Discovered(
        [_union(a, b) for a, b in zip(left.categories, right.categories, strict=True)],
        left.labelled + right.labelled,
        left.missing | right.missing,
    )


def _union(left: NDArray[Any], right: NDArray[Any]) -> NDArray[Any]:
    if len(left) == 0 or len(right) == 0:
        return left if len(right) == 0 else right
    if left.dtype.kind != right.dtype.kind:  # a block of numbers among blocks of words
        left, right = left.astype(str), right.astype(str)
    return np.union1d(left, right)


def _codes_of(categories: list[NDArray[Any]], n_columns: int, names: list[str]) -> Codes:
    kept = [i for i, found in enumerate(categories) if len(found)]
    if not kept:
        raise ValueError(
            "every partition is missing on every object: labels hold nothing but -1, NaN or "
            "None. At least one partition must label at least one object."
        )
    if len(kept) < n_columns:
        dropped = [names[i] for i in range(n_columns) if i not in kept]
        warnings.warn(
            f"dropped {len(dropped)} partition(s) with no label at all: {', '.join(dropped[:8])}.",
            UserWarning,
            stacklevel=3,
        )
    found = tuple(categories[i] for i in kept)
    are_codes = all(c.dtype.kind == "i" and c[0] == 0 and c[-1] == len(c) - 1 for c in found)
    return Codes(found, np.array(kept, dtype=np.int64), n_columns, are_codes)


def _on_codes(rows: Any, codes: Codes, function: Any, start: int, *arguments: Any) -> Any:
    encoded = codes.encode(rows)
    labelled = (encoded >= 0).any(axis=1)
    if not labelled.all():
        encoded = encoded[labelled]
    return function(encoded, start, *arguments)


def on_all_codes(rows: Any, codes: Codes, function: Any, start: int, *arguments: Any) -> Any:
    """Return ``function(codes of the rows, start, *arguments)``, of all rows of a block."""
    return function(codes.encode(rows), start, *arguments)


def _counted(codes: NDArray[np.int32], start: int, function: Any, *arguments: Any) -> Any:
    return function(codes, np.ones(len(codes), dtype=np.int64), *arguments)


def _add(left: tuple[Any, ...], right: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(a + b for a, b in zip(left, right, strict=True))


def _overlap(
    codes: NDArray[np.int32], counts: Any, n_clusters: NDArray[np.int64], has_missing: bool
) -> tuple[NDArray[np.int64]]:
    done = np.zeros(1, dtype=np.int64)  # progress counts blocks
    return (count_overlap(codes, n_clusters, has_missing, done),)


def _describe(
    codes: NDArray[np.int32], start: int, offsets: NDArray[np.int64], n_objects: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    first, sizes = describe_clusters(codes, np.ones(len(codes), dtype=np.int64), offsets)
    return np.where(sizes > 0, first + start, n_objects), sizes


def _first_and_sum(left: Any, right: Any) -> Any:
    return np.minimum(left[0], right[0]), left[1] + right[1]


def _distinct(codes: NDArray[np.int32], start: int, most: int) -> Any:
    if len(codes) == 0:
        return codes, np.empty(0, dtype=np.int64)
    first, _, counts = find_patterns(codes)
    return None if len(first) > most else (codes[first], counts)


def merge_distinct(left: Any, right: Any, *, most: int) -> Any:
    """Merge the distinct rows of blocks; None where there are more than `most`."""
    if left is None or right is None:
        return None
    rows = np.concatenate([left[0], right[0]])
    if len(rows) == 0:
        return left
    first, inverse, _ = find_patterns(rows)
    if len(first) > most:
        return None
    counts = np.zeros(len(first), dtype=np.int64)
    np.add.at(counts, inverse, np.concatenate([left[1], right[1]]))
    return rows[first], counts


def _take(codes: NDArray[np.int32], start: int, objects: NDArray[np.int64]) -> NDArray[np.int32]:
    low, high = np.searchsorted(objects, [start, start + len(codes)])
    return codes[objects[low:high] - start]


def _stack(left: NDArray[Any], right: NDArray[Any]) -> NDArray[Any]:
    return np.concatenate([left, right])
