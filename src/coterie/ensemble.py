"""The ensemble: many partitions of the same objects, and the views that methods compute from."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from coterie._archives import read_archive, write_archive
from coterie._encode import (
    MISSING,
    Column,
    column_names,
    encode_column,
    plain_columns,
    read_columns,
    recode,
)
from coterie._files import escape_formulas, unescape_formulas, written_whole
from coterie._limits import MemoryLimitError, check_fits
from coterie._mat import read_mat
from coterie._progress import track_progress
from coterie._reading import read_csv

__all__ = ["Ensemble", "Patterns", "as_ensemble"]

_FORMAT = 2  # files of format 1 have no checksum
_ROWS = 8192  # objects whose labels are written at a time, so that they stay in the cache
_SMALL_OVERLAP = 256 * 1024**2  # bytes up to which the overlap is made whole when a part is needed
_FIELDS = (
    "labels",
    "categories",
    "columns",
    "n_columns",
    "names",
    "groups",
    "validity",
    "posteriors",
    "subspaces",
    "features",
)


class Patterns(NamedTuple):
    """The distinct rows of a label matrix, in the order of their first object."""

    labels: NDArray[np.int32]
    """(p, L): the distinct rows."""
    counts: NDArray[np.int64]
    """(p,): how many objects have each row."""
    inverse: NDArray[np.int64]
    """(n,): which row each object has."""


class Ensemble:
    """Partitions of the same objects, ready for a consensus.

    An ensemble is immutable. Everything that methods need is computed from three views of it:
    the `labels` themselves, the distinct rows (`patterns`) and the counts of objects that two
    clusters share (`overlap`). The views are computed when first asked for, and kept.

    Parameters
    ----------
    labels : array-like of shape (n_objects, n_partitions), frame, or list of 1-D arrays
        One row per object and one column per partition; a list of arrays or series is read as
        columns. Cluster names may be any integers or strings. ``-1``, NaN, None and NA mean
        that the partition has no opinion on the object. A column with no opinion at all is
        dropped with a warning.
    names : sequence of str, optional
        A name for each partition, shown in reports and plots. Default: the column names of a
        frame, the names of series, else 'partition_0', 'partition_1' and so on. Where a name
        occurs again, '_2', '_3' and so on is added.
    groups : array-like of shape (n_partitions,), optional
        Which algorithm made each partition. One group if not given.
    validity : array-like of shape (n_partitions,), optional
        Quality of each partition in [0, 1]. 1 if not given.
    posteriors : sequence of arrays of shape (n_objects, k_l), optional
        Soft memberships, one array per partition, columns in the order of the sorted labels.
        There may be more columns than labels, for clusters that are nobody's most likely one:
        then labels that are column numbers name their columns, which are put in order; with any
        other labels the columns in excess are the last ones. Where a label is missing, the row is
        taken as 0: the partition has no opinion. Where most labels are not the largest of their
        rows there is a warning: columns are in another order, or hold distances.
    subspaces : sequence of pairs of arrays of shape (k_l, n_features), optional
        Centres and feature weights of the clusters of each partition, rows in the order of the
        columns of `posteriors`.
    features : {array-like, sparse matrix} of shape (n_objects, n_features), optional
        The objects themselves, in the units of `subspaces`: what a consensus needs that gives
        clusters with centres and feature weights (`coterie.WSBPA`). A copy is kept.

    Attributes
    ----------
    labels : ndarray of int32, shape (n_objects, n_partitions)
        Codes 0..k-1 in each column, in the order of the sorted input values; -1 is missing.
    categories : tuple of ndarray
        For each partition the input value behind each code.
    columns : ndarray of int
        Which columns of the input are kept (all, unless one had no opinion at all).
    n_columns : int
        Number of columns of the input.
    names : tuple of str
        Name of each partition; no two are the same.

    Examples
    --------
    >>> ensemble = Ensemble([[0, "a"], [0, "a"], [1, "a"], [1, None]])
    >>> ensemble
    Ensemble(4 objects, 2 partitions with 1 to 2 clusters, 12.5% missing)
    >>> ensemble.coassociation()
    array([[1. , 1. , 0.5, 0. ],
           [1. , 1. , 0.5, 0. ],
           [0.5, 0.5, 1. , 1. ],
           [0. , 0. , 1. , 1. ]])
    """

    labels: NDArray[np.int32]
    categories: tuple[NDArray[Any], ...]
    columns: NDArray[np.int64]
    n_columns: int
    names: tuple[str, ...]
    groups: NDArray[Any]
    validity: NDArray[np.float64]
    posteriors: tuple[NDArray[np.float64], ...] | None
    subspaces: tuple[tuple[NDArray[np.float64], NDArray[np.float64]], ...] | None
    features: Any

    def __init__(
        self,
        labels: ArrayLike | Any,
        *,
        names: Sequence[str] | None = None,
        groups: ArrayLike | None = None,
        validity: ArrayLike | None = None,
        posteriors: Sequence[ArrayLike] | None = None,
        subspaces: Sequence[tuple[ArrayLike, ArrayLike]] | None = None,
        features: ArrayLike | Any | None = None,
    ) -> None:
        named = not isinstance(labels, Ensemble)
        if isinstance(labels, Ensemble):
            encoded = [Column(labels.labels[:, e], c) for e, c in enumerate(labels.categories)]
            groups = labels.groups if groups is None else groups
            validity = labels.validity if validity is None else validity
            posteriors = labels.posteriors if posteriors is None else posteriors
            subspaces = labels.subspaces if subspaces is None else subspaces
            features = labels.features if features is None else features
            names = labels.names if names is None else names
        else:
            encoded = plain_columns(labels) or _encoded(labels)
            names = column_names(labels) if names is None else names
        self._init_from_columns(
            encoded, groups, validity, posteriors, subspaces, features, names, named=named
        )

    def _init_from_columns(
        self,
        encoded: list[Column],
        groups: ArrayLike | None,
        validity: ArrayLike | None,
        posteriors: Sequence[ArrayLike] | None,
        subspaces: Sequence[tuple[ArrayLike, ArrayLike]] | None,
        features: Any = None,
        names: Sequence[str] | None = None,
        *,
        named: bool = False,
    ) -> None:
        """Check and keep everything; `named`: labels may be numbers of columns of posteriors."""
        n_given = len(encoded)
        names = _check_names(names, n_given)
        kept = [i for i, column in enumerate(encoded) if len(column.categories)]
        if not kept:
            raise ValueError(
                "every partition is missing on every object: labels hold nothing but -1, NaN or "
                "None. At least one partition must label at least one object."
            )
        if len(kept) < n_given:
            dropped = sorted(set(range(n_given)) - set(kept))
            warnings.warn(
                f"dropped {len(dropped)} partition(s) with no label at all: "
                f"{_shorten(names[i] for i in dropped)}.",
                UserWarning,
                stacklevel=3,
            )
        labels = np.empty((len(encoded[0].codes), len(kept)), dtype=np.int32)
        for first in range(0, len(labels), _ROWS):
            some = slice(first, first + _ROWS)
            for out, i in enumerate(kept):
                labels[some, out] = encoded[i].codes[some]
        self._set(
            labels=_frozen(labels),
            categories=tuple(_frozen(encoded[i].categories) for i in kept),
            columns=_frozen(np.asarray(kept, dtype=np.int64)),
            n_columns=n_given,
            names=tuple(names[i] for i in kept),
            groups=_frozen(_check_groups(groups, n_given)[kept]),
            validity=_frozen(_check_validity(validity, n_given)[kept]),
        )
        self._set(
            posteriors=self._check_posteriors(posteriors, n_given, named),
            subspaces=self._check_subspaces(subspaces, n_given, named),
            features=self._check_features(features),
        )

    # --- size -------------------------------------------------------------------------------

    @property
    def n_objects(self) -> int:
        """Number of objects."""
        return int(self.labels.shape[0])

    @property
    def n_partitions(self) -> int:
        """Number of partitions."""
        return int(self.labels.shape[1])

    @cached_property
    def n_clusters(self) -> NDArray[np.int64]:
        """Number of clusters of each partition, shape (n_partitions,)."""
        return _frozen(np.array([len(c) for c in self.categories], dtype=np.int64))

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """Where the clusters of each partition start in `overlap`, shape (n_partitions + 1,)."""
        return _frozen(np.concatenate([[0], np.cumsum(self.n_clusters)]))

    @cached_property
    def has_missing(self) -> bool:
        """Whether some partition has no opinion on some object."""
        return bool(self.labels.min() == MISSING)

    @property
    def shape(self) -> tuple[int, int]:
        """(n_objects, n_partitions)."""
        return self.n_objects, self.n_partitions

    def __len__(self) -> int:
        return self.n_objects

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False and dtype is not None and np.dtype(dtype) != self.labels.dtype:
            raise ValueError("labels are int32; another dtype needs a copy.")
        return np.array(self.labels, dtype=dtype, copy=True if copy is None else copy)

    def __repr__(self) -> str:
        low, high = int(self.n_clusters.min()), int(self.n_clusters.max())
        clusters = f"{low}" if low == high else f"{low} to {high}"
        missing = ""
        if self.has_missing:
            missing = f", {100 * float(np.mean(self.labels == MISSING)):.3g}% missing"
        return (
            f"Ensemble({self.n_objects} objects, {self.n_partitions} partitions with "
            f"{clusters} clusters{missing})"
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Ensemble):
            return NotImplemented
        mine, theirs = self._arrays(), other._arrays()
        return mine.keys() == theirs.keys() and all(
            a.dtype.kind == theirs[name].dtype.kind and np.array_equal(a, theirs[name])
            for name, a in mine.items()
        )

    __hash__ = None  # type: ignore[assignment]  # holds arrays

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"an Ensemble is immutable: cannot set {name!r}; make a new one.")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"an Ensemble is immutable: cannot delete {name!r}.")

    def _set(self, **attributes: Any) -> None:
        self.__dict__.update(attributes)

    def __getstate__(self) -> dict[str, Any]:
        # The views are made again when asked for.
        return {name: self.__dict__[name] for name in _FIELDS}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({"features": None} | state)
        self.__dict__.setdefault("names", tuple(f"partition_{i}" for i in self.columns))
        for array in (self.labels, *self.categories, self.columns, self.groups, self.validity):
            _frozen(array)
        for array in (
            *(self.posteriors or ()),
            *(a for pair in self.subspaces or () for a in pair),
            *(_parts_of(self.features).values()),
        ):
            _frozen(array)

    # --- views ------------------------------------------------------------------------------

    @cached_property
    def patterns(self) -> Patterns:
        """The distinct rows of `labels`, how often each occurs, and which object has which."""
        from coterie._kernels.views import find_patterns

        first, inverse, counts = find_patterns(self.labels)
        return Patterns(_frozen(self.labels[first]), _frozen(counts), _frozen(inverse))

    @cached_property
    def overlap(self) -> NDArray[np.int64]:
        """(K, K): how many objects two clusters share; K counts the clusters of all partitions.

        Cluster c of partition e stands at ``offsets[e] + c``. The block of partitions e and f is
        their contingency table.
        """
        from coterie._kernels.views import count_overlap

        n_all = int(self.offsets[-1])
        check_fits(
            8 * n_all**2,
            f"the overlap of {n_all} clusters (int64)",
            hint="Use fewer partitions (select) or partitions with fewer clusters",
        )
        with track_progress("overlap of clusters", self.n_objects) as done:
            counts = count_overlap(self.labels, self.n_clusters, self.has_missing, done)
        return _frozen(counts)

    def tables(self, e: int) -> NDArray[np.int64]:
        """Return (k_e, K): the rows of `overlap` of partition e, without making all of it."""
        if "overlap" in self.__dict__ or 8 * int(self.offsets[-1]) ** 2 <= _SMALL_OVERLAP:
            return self.overlap[self.offsets[e] : self.offsets[e + 1]]
        from coterie._kernels.coassociation import missing_code
        from coterie._kernels.views import count_tables

        columns = self.compact_codes
        return count_tables(columns, missing_code(columns), e, self.offsets)

    def coassociation(
        self, *, dtype: DTypeLike = np.float64, memory_limit: int | str | None = None
    ) -> NDArray[Any]:
        """Return the (n, n) share of partitions that put two objects together.

        The share is among the partitions that saw both objects, 0 if none did. The diagonal is
        1 (0 for an object that no partition saw). No consensus method needs this matrix; it is
        made for people and for export.

        Parameters
        ----------
        dtype : float dtype, default=float64
            ``float32`` takes half the memory and less time.
        memory_limit : int or str, optional
            The most bytes it may take, as a number or a size such as ``'4GB'``. Default: the
            environment variable ``COTERIE_MEMORY_LIMIT``, else 2 GB.

        Raises
        ------
        MemoryLimitError
            If the matrix would not fit the limit.
        """
        from coterie._kernels.coassociation import share_matrix

        dtype = np.dtype(dtype)
        if dtype.kind != "f":
            raise TypeError(f"dtype must be a float dtype such as float32; got {dtype}.")
        n = self.n_objects
        check_fits(
            n * n * dtype.itemsize,
            f"the co-association matrix of {n} objects ({dtype})",
            limit=memory_limit,
            hint="Consensus methods do not need it: fit one on the ensemble",
        )
        return share_matrix(self.compact_codes, self.has_missing, dtype)

    @cached_property
    def compact_codes(self) -> NDArray[Any]:
        """(L, n) codes in the narrowest unsigned type; its largest value means missing."""
        return compact_codes(self.labels, int(self.n_clusters.max()))

    # --- new ensembles from old ---------------------------------------------------------------

    def select(self, columns: ArrayLike | slice) -> Ensemble:
        """Return the ensemble of some of the partitions.

        Parameters
        ----------
        columns : slice, or array-like of int or bool
            Positions, or a mask of length `n_partitions`.
        """
        positions = np.arange(self.n_partitions)
        if not isinstance(columns, slice):
            columns = np.atleast_1d(np.asarray(columns))
            if columns.dtype.kind not in "biu":
                raise TypeError(
                    "columns must be positions (integers), a boolean mask or a slice; got "
                    f"{columns.dtype}."
                )
            if columns.ndim > 1:
                raise ValueError(f"columns must have one axis; got shape {columns.shape}.")
        try:
            chosen = positions[columns]
        except IndexError as error:
            raise IndexError(
                f"columns must name some of the {self.n_partitions} partitions (0 to "
                f"{self.n_partitions - 1}), or be a mask of that length; {error}."
            ) from None
        if len(chosen) == 0:
            raise ValueError("columns must name at least one partition; got none.")
        made = object.__new__(Ensemble)
        made._init_from_columns(
            [Column(self.labels[:, e], self.categories[e]) for e in chosen],
            self.groups[chosen],
            self.validity[chosen],
            None if self.posteriors is None else [self.posteriors[e] for e in chosen],
            None if self.subspaces is None else [self.subspaces[e] for e in chosen],
            self.features,
            [self.names[e] for e in chosen],
        )
        return made

    def take(self, objects: ArrayLike | slice) -> Ensemble:
        """Return the ensemble of some of the objects; clusters left empty disappear.

        Soft memberships and subspaces stay behind: their columns would no longer fit.

        Parameters
        ----------
        objects : slice, or array-like of int or bool
            Positions, or a mask of length `n_objects`.
        """
        if not isinstance(objects, slice):
            objects = np.atleast_1d(np.asarray(objects))
            if objects.size and (objects.dtype.kind not in "biu" or objects.ndim > 1):
                raise TypeError(
                    "objects must be positions (integers), a boolean mask or a slice; got "
                    f"{objects.dtype} of shape {objects.shape}."
                )
            objects = objects if objects.size else objects.astype(np.int64)
        try:
            rows = self.labels[objects]
        except IndexError as error:
            raise IndexError(
                f"objects must name some of the {self.n_objects} objects (0 to "
                f"{self.n_objects - 1}), or be a mask of that length; {error}."
            ) from None
        if len(rows) == 0:
            raise ValueError("objects must name at least one object; got none.")
        columns = []
        for e, categories in enumerate(self.categories):
            codes, used = encode_column(rows[:, e], e)
            columns.append(Column(codes, categories[used]))
        made = object.__new__(Ensemble)
        features = None if self.features is None else self.features[objects]
        made._init_from_columns(
            columns, self.groups, self.validity, None, None, features, self.names
        )
        return made

    def concat(self, *others: Ensemble) -> Ensemble:
        """Return one ensemble of the partitions of several, of the same objects in one order.

        Also ``Ensemble.concat([a, b, c])``. Soft memberships are kept where all have them, or
        where the others can be written as memberships of 0 and 1; subspaces where all have them,
        and with these the features of the first. Names are kept; where none were given, the
        partitions are counted through.
        """
        parts = [*self] if isinstance(self, list | tuple) else [self]
        for other in others:
            parts.extend(other if isinstance(other, list | tuple) else [other])
        if not parts or not all(isinstance(part, Ensemble) for part in parts):
            raise TypeError("concat joins ensembles; wrap label matrices with Ensemble(labels).")
        sizes = sorted({part.n_objects for part in parts})
        if len(sizes) > 1:
            raise ValueError(
                f"ensembles must be of the same objects to be joined; got {sizes} objects."
            )
        posteriors = None
        if any(part.posteriors is not None for part in parts):
            posteriors = [p for part in parts for p in part.memberships()]
        subspaces = None
        if all(part.subspaces is not None for part in parts):
            subspaces = [s for part in parts for s in part.subspaces or ()]
        groups = [part.groups for part in parts]
        if len({g.dtype.kind for g in groups}) > 1:
            groups = [g.astype(str) for g in groups]
        names = None
        if any(part.names != _default_names(part.n_partitions) for part in parts):
            names = [name for part in parts for name in part.names]
        made = object.__new__(Ensemble)
        made._init_from_columns(
            [Column(part.labels[:, e], c) for part in parts for e, c in enumerate(part.categories)],
            np.concatenate(groups),
            np.concatenate([part.validity for part in parts]),
            posteriors,
            subspaces,
            None if subspaces is None else parts[0].features,
            names,
        )
        return made

    def memberships(self) -> tuple[NDArray[np.float64], ...]:
        """Return `posteriors`, or the labels as memberships of 0 and 1 (a missing label: all 0)."""
        if self.posteriors is not None:
            return self.posteriors
        return tuple(
            (self.labels[:, e, None] == np.arange(k)).astype(np.float64)
            for e, k in enumerate(self.n_clusters)
        )

    def encode(self, labels: ArrayLike | Ensemble | Any) -> NDArray[np.int32]:
        """Return the codes of new label rows in the vocabulary of this ensemble.

        A cluster that this ensemble does not have gets the code ``n_clusters[e]``: no known
        object is in it. Missing stays -1.
        """
        expected = self.n_columns
        if isinstance(labels, Ensemble):
            given = [Column(labels.labels[:, e], c) for e, c in enumerate(labels.categories)]
            if labels.n_columns in (expected, self.n_partitions):
                # Its columns without any label were dropped: put them back in their places.
                nothing = Column(np.full(len(labels), MISSING, dtype=np.int32), np.empty(0))
                place = dict(zip(labels.columns.tolist(), given, strict=True))
                given = [place.get(i, nothing) for i in range(labels.n_columns)]
        else:
            given = [encode_column(c, i) for i, c in enumerate(read_columns(labels))]
        if len(given) not in (expected, self.n_partitions):
            raise ValueError(
                f"new label rows must have {expected} columns, one per partition of the "
                f"ensemble; got {len(given)}."
            )
        kept = self.columns if len(given) == expected else range(self.n_partitions)
        rows = [recode(given[i], c) for i, c in zip(kept, self.categories, strict=True)]
        return np.column_stack(rows)

    # --- files --------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the ensemble to a file (numpy's npz format, no pickle), whole or not at all."""
        write_archive(path, self._arrays())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Ensemble:
        """Read an ensemble that `save` wrote."""
        try:
            return cls._from_arrays(read_archive(path), path)
        except MemoryLimitError:
            raise
        except (KeyError, TypeError, ValueError) as error:
            if "newer coterie" in str(error):
                raise
            raise ValueError(
                f"{path} is not an ensemble file: {error}. Label tables are read with "
                "Ensemble.from_csv."
            ) from error

    @classmethod
    def _from_arrays(cls, arrays: Mapping[str, NDArray[Any]], path: object) -> Ensemble:
        """Return the ensemble of the arrays in a file."""
        if int(arrays["format"]) > _FORMAT:
            raise ValueError(
                f"{path} was written by a newer coterie (format {int(arrays['format'])}); "
                "update coterie to read it."
            )
        if int(arrays["format"]) > 1 and "checksum" not in arrays:
            raise ValueError("it has no checksum, so it is damaged")
        encoded = _read_columns_of(arrays)
        n_partitions = len(encoded)
        made = object.__new__(cls)
        made._init_from_columns(
            encoded,
            arrays["groups"],
            arrays["validity"],
            [arrays[f"posteriors_{e}"] for e in range(n_partitions)]
            if "posteriors_0" in arrays
            else None,
            [(arrays[f"centres_{e}"], arrays[f"weights_{e}"]) for e in range(n_partitions)]
            if "centres_0" in arrays
            else None,
            _features_of(arrays),
            [str(name) for name in arrays["names"]]
            if "names" in arrays  # files of version 0.1 have none
            else [f"partition_{column}" for column in arrays["columns"]],
        )
        made._set(columns=_frozen(arrays["columns"]), n_columns=int(arrays["n_columns"]))
        return made

    def _arrays(self) -> dict[str, NDArray[Any]]:
        """Everything that makes this ensemble, as named arrays."""
        arrays: dict[str, NDArray[Any]] = {
            "format": np.asarray(_FORMAT),
            "labels": self.labels,
            "columns": self.columns,
            "n_columns": np.asarray(self.n_columns),
            "names": np.array(self.names),
            "groups": self.groups,
            "validity": self.validity,
        }
        arrays |= {f"categories_{e}": c for e, c in enumerate(self.categories)}
        if self.posteriors is not None:
            arrays |= {f"posteriors_{e}": p for e, p in enumerate(self.posteriors)}
        if self.subspaces is not None:
            arrays |= {f"centres_{e}": centres for e, (centres, _) in enumerate(self.subspaces)}
            arrays |= {f"weights_{e}": weights for e, (_, weights) in enumerate(self.subspaces)}
        return arrays | _parts_of(self.features)

    @classmethod
    def from_csv(
        cls, path: str | os.PathLike[str], *, separator: str = ",", id_column: str | None = None
    ) -> Ensemble:
        """Read a table of labels with a header; one column per partition, empty is missing.

        The header gives the names of the partitions.

        Parameters
        ----------
        path : path
            The file; ``.gz`` is read as well.
        separator : str, default=','
            What stands between two fields.
        id_column : str, optional
            A column with the names of the objects, which is no partition.
        """
        table = unescape_formulas(read_csv(Path(path), path, separator=separator))
        if id_column is not None:
            if id_column not in table.columns:
                raise ValueError(
                    f"id_column must name a column of {path}; got {id_column!r}, the columns are "
                    f"{_shorten(table.columns)}."
                )
            table = table.drop(id_column)
        return cls(table.select(_numbers_of_text(column) for column in table))

    @classmethod
    def from_mat(cls, path: str | os.PathLike[str], variable: str | None = None) -> Ensemble:
        """Read the label matrix of a MATLAB file (up to version 7.2).

        Parameters
        ----------
        path : path
            The file.
        variable : str, optional
            Name of the matrix: one row per object and one column per partition. Cluster names may
            be any whole numbers; -1 and NaN are missing. Default: the only matrix of whole numbers
            in the file; vectors, such as the true classes, do not count.

        Raises
        ------
        ValueError
            If the file cannot be read, or has no such variable, or several matrices to choose
            from.
        """
        _, labels = read_mat(path).labels(variable)
        return cls(labels)

    def to_csv(self, path: str | os.PathLike[str], *, separator: str = ",") -> None:
        """Write the labels as a table with a header, as they were given; empty is missing.

        The header has the names of the partitions.

        A table of text does not say what is a number: a partition whose names are strings, but
        all of them read like numbers, comes back with numbers. `save` keeps everything. Text that a
        spreadsheet would run as a formula gets a quote (') in front, which `from_csv` takes away.
        """
        import polars as pl

        columns = {}
        for e, categories in enumerate(self.categories):
            as_read = _numbers_of_text(pl.Series(categories.astype(str)))
            if (
                categories.dtype.kind == "U"
                and as_read.dtype.is_numeric()
                and (as_read == MISSING).any()
            ):
                raise ValueError(
                    f"partition {self.names[e]!r} has a cluster of the name '{MISSING}', which a "
                    "table of text cannot tell from a missing label. Rename it, or use save."
                )
            seen = self.labels[:, e] >= 0
            values = pl.Series(categories)[np.maximum(self.labels[:, e], 0)]
            columns[self.names[e]] = pl.select(pl.when(pl.Series(seen)).then(values)).to_series()
        with written_whole(path) as temporary:
            escape_formulas(pl.DataFrame(columns)).write_csv(temporary, separator=separator)

    # --- checks -------------------------------------------------------------------------------

    def _check_posteriors(
        self, posteriors: Sequence[ArrayLike] | None, n_given: int, named: bool
    ) -> tuple[NDArray[np.float64], ...] | None:
        if posteriors is None:
            return None
        if len(posteriors) != n_given:
            raise ValueError(
                f"posteriors must be one array per partition ({n_given}); got {len(posteriors)}."
            )
        checked = []
        for e, column in enumerate(self.columns):
            array = _owned_copy(posteriors[column])
            expected = (self.n_objects, int(self.n_clusters[e]))
            if array.ndim != 2 or array.shape[0] != expected[0] or array.shape[1] < expected[1]:
                raise ValueError(
                    f"posteriors[{column}] must have shape {expected} or more columns, a row per "
                    f"object and a column per cluster; got {array.shape}."
                )
            odd = array[~(array >= 0) | np.isinf(array)]
            if len(odd):
                raise ValueError(
                    f"posteriors[{column}] must be finite and not negative; got {odd[0]}. An "
                    "object of which a partition knows nothing has a row of 0."
                )
            if named:
                order = self._order_of_labels(e, array.shape[1])
                array = array if order is None else array[:, order]
            missing = self.labels[:, e] == MISSING
            if array[missing].any():
                array = np.where(missing[:, None], 0.0, array)
            if named:
                self._compare_with_labels(e, array)
            checked.append(_frozen(array))
        return tuple(checked)

    def _compare_with_labels(self, e: int, posteriors: NDArray[np.float64]) -> None:
        """Warn where most labels are not the largest posteriors: columns are in another order."""
        known = np.flatnonzero(self.labels[:, e] != MISSING)
        own = posteriors[known, self.labels[known, e]]
        n_other = int((own < posteriors[known].max(axis=1, initial=0.0) - 1e-9).sum())
        if 2 * n_other > len(known):
            warnings.warn(
                f"posteriors[{self.columns[e]}] have their largest value in another column than "
                f"that of the label for {n_other} of {len(known)} objects. Columns must be in the "
                "order of the sorted labels, and hold probabilities, not distances.",
                UserWarning,
                stacklevel=5,
            )

    def _order_of_labels(self, e: int, n_columns: int) -> NDArray[np.int64] | None:
        """Return the columns that the labels of a partition name, then the others; None: as is."""
        names = self.categories[e]
        if len(names) == n_columns or names.dtype.kind != "i":
            return None
        if names.min() < 0 or names.max() >= n_columns:
            return None
        return np.concatenate([names, np.setdiff1d(np.arange(n_columns), names)])

    def _check_subspaces(
        self, subspaces: Sequence[tuple[ArrayLike, ArrayLike]] | None, n_given: int, named: bool
    ) -> tuple[tuple[NDArray[np.float64], NDArray[np.float64]], ...] | None:
        if subspaces is None:
            return None
        if len(subspaces) != n_given:
            raise ValueError(
                f"subspaces must be one pair (centres, feature weights) per partition "
                f"({n_given}); got {len(subspaces)}."
            )
        checked = []
        for e, column in enumerate(self.columns):
            centres, weights = (_owned_copy(array) for array in subspaces[column])
            if centres.ndim != 2 or centres.shape != weights.shape:
                raise ValueError(
                    f"subspaces[{column}] must be two arrays of shape "
                    f"({self.n_clusters[e]}, n_features); got {centres.shape} and {weights.shape}."
                )
            if centres.shape[0] < self.n_clusters[e]:
                raise ValueError(
                    f"subspaces[{column}] must have a row for each of the {self.n_clusters[e]} "
                    f"clusters; got {centres.shape[0]}."
                )
            if not np.isfinite(centres).all() or not np.isfinite(weights).all():
                raise ValueError(f"subspaces[{column}] must be finite; got NaN or infinity.")
            if weights.min(initial=0.0) < 0:
                raise ValueError(
                    f"subspaces[{column}] must have no negative feature weight; got "
                    f"{weights.min()}."
                )
            order = self._order_of_labels(e, len(centres)) if named else None
            if order is not None:
                centres, weights = centres[order], weights[order]
            checked.append((_frozen(centres), _frozen(weights)))
        return tuple(checked)

    def _check_features(self, features: Any) -> Any:
        if features is None:
            return None
        if hasattr(features, "tocsr"):
            from scipy.sparse import csr_matrix

            table = csr_matrix(features, dtype=np.float64)
            if not _is_closed(table.data):
                table = table.copy()
                table.sum_duplicates()
            values = table.data
        else:
            table = values = _owned_copy(features)
        if table.ndim != 2 or table.shape[0] != self.n_objects:
            raise ValueError(
                f"features must have one row for each of the {self.n_objects} objects; got shape "
                f"{table.shape}."
            )
        if not np.isfinite(values).all():
            raise ValueError("features must be finite; fill in what is missing first.")
        for array in (table.data, table.indices, table.indptr) if values is not table else (table,):
            _frozen(array)
        return table


def as_ensemble(X: Any) -> Ensemble:
    """Return `X` itself if it is an ensemble, else the ensemble of the label matrix `X`."""
    return X if isinstance(X, Ensemble) else Ensemble(X)


def compact_codes(labels: NDArray[np.int32], n_codes: int) -> NDArray[Any]:
    """Return (L, n) codes in the narrowest unsigned type whose largest value can mean missing."""
    dtype = np.uint8 if n_codes <= 255 else np.uint16 if n_codes <= 65535 else np.uint32
    # -1 wraps around to the largest value of the type.
    return _frozen(np.ascontiguousarray(labels.T.astype(dtype)))


def _default_names(n_partitions: int) -> tuple[str, ...]:
    return tuple(f"partition_{i}" for i in range(n_partitions))


def _check_names(names: Sequence[str] | None, n_partitions: int) -> Sequence[str]:
    """Return one name per partition, no two the same."""
    if names is None:
        return _default_names(n_partitions)
    names = [names] if isinstance(names, str) else list(names)
    if len(names) != n_partitions:
        raise ValueError(
            f"names must have one name per partition ({n_partitions}); got {len(names)}."
        )
    given = set(map(str, names))
    unique: dict[str, None] = {}
    for name in map(str, names):
        own, count = name, 1
        while own in unique or (count > 1 and own in given):
            count += 1
            own = f"{name}_{count}"
        unique[own] = None
    return list(unique)


def _check_groups(groups: ArrayLike | None, n_partitions: int) -> NDArray[Any]:
    if groups is None:
        return np.zeros(n_partitions, dtype=np.int64)
    array = np.asarray(groups)
    if array.shape != (n_partitions,):
        raise ValueError(
            f"groups must have one entry per partition ({n_partitions}); got shape {array.shape}."
        )
    return array.astype(str) if array.dtype.kind in "OUS" else array


def _check_validity(validity: ArrayLike | None, n_partitions: int) -> NDArray[np.float64]:
    if validity is None:
        return np.ones(n_partitions)
    try:
        array = np.asarray(validity, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"validity must be numbers in [0, 1]; {error}.") from None
    if array.shape != (n_partitions,):
        raise ValueError(
            f"validity must have one entry per partition ({n_partitions}); got shape {array.shape}."
        )
    if not ((array >= 0) & (array <= 1)).all():
        raise ValueError("validity must lie in [0, 1]; clip it, for example with np.clip.")
    return array


def _read_columns_of(arrays: Mapping[str, NDArray[Any]]) -> list[Column]:
    """Return the partitions in the arrays of a file, checked: compiled code trusts the codes."""
    labels = arrays["labels"]
    if labels.ndim != 2 or labels.dtype.kind not in "iu":
        raise ValueError(f"labels must be a table of integers; got {labels.dtype}{labels.shape}")
    columns = []
    for e in range(labels.shape[1]):
        categories = arrays[f"categories_{e}"]
        codes = labels[:, e].astype(np.int32)
        if categories.ndim != 1 or codes.min() < MISSING or codes.max() >= len(categories):
            raise ValueError(f"the codes of partition {e} do not fit its categories")
        columns.append(Column(codes, categories))
    return columns


def _numbers_of_text(column: Any) -> Any:
    """Return a polars series of text as numbers if all fields read like numbers.

    "01" does not: as a number it could not be told from "1".
    """
    import polars as pl

    fields = column.drop_nulls()
    integer = "-?(0|[1-9][0-9]*)"
    for pattern, dtype in (
        (f"^{integer}$", pl.Int64),
        (rf"^({integer}(\.[0-9]+([eE][+-]?[0-9]+)?)?|[nN]a[nN])$", pl.Float64),
    ):
        if fields.str.contains(pattern).all():
            numbers = column.cast(dtype, strict=False)
            return numbers if numbers.null_count() == column.null_count() else column
    return column


def _parts_of(features: Any) -> dict[str, NDArray[Any]]:
    """Return features as named arrays, sparse ones as four."""
    if features is None:
        return {}
    if isinstance(features, np.ndarray):
        return {"features": features}
    return {
        "features_data": features.data,
        "features_indices": features.indices,
        "features_indptr": features.indptr,
        "features_shape": np.array(features.shape),
    }


def _features_of(arrays: Mapping[str, NDArray[Any]]) -> Any:
    """Return the features in the arrays of a file, or None."""
    if "features_data" not in arrays:
        return arrays.get("features")
    from scipy.sparse import csr_matrix

    parts = tuple(arrays[f"features_{name}"] for name in ("data", "indices", "indptr"))
    made = csr_matrix(parts, shape=tuple(arrays["features_shape"]))
    made.check_format(full_check=True)
    return made


def _owned_copy(array: ArrayLike) -> NDArray[np.float64]:
    """Return a copy of what the caller could still change; a frozen array as it is."""
    if isinstance(array, np.ndarray) and array.dtype == np.float64 and _is_closed(array):
        return array
    return np.array(array, dtype=np.float64)


def _is_closed(array: NDArray[Any]) -> bool:
    """Whether nobody can write to an array; a frozen view's base may be open for writing."""
    return array.flags.owndata and not array.flags.writeable


def _encoded(labels: Any) -> list[Column]:
    """Return the columns of labels of any kind."""
    columns = read_columns(labels)
    encoded = []
    with track_progress("labels", len(columns)) as done:
        for i, column in enumerate(columns):
            encoded.append(encode_column(column, i))
            done[0] += 1
    return encoded


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array, which must be ours, closed for writing."""
    array.flags.writeable = False
    return array


def _shorten(items: Iterable[Any], most: int = 8) -> str:
    items = list(items)
    shown = ", ".join(str(item) for item in items[:most])
    return shown if len(items) <= most else f"{shown} and {len(items) - most} more"
