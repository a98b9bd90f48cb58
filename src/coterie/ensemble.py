"""The ensemble: many partitions of the same objects, and the views that methods compute from."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from functools import cached_property
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
from coterie._ensemble_files import from_arrays, read_label_table, to_arrays, write_label_table
from coterie._ensemble_parts import (
    check_features,
    check_groups,
    check_names,
    check_positions,
    check_posteriors,
    check_subspaces,
    check_validity,
    default_names,
    frozen,
    shorten,
)
from coterie._limits import MemoryLimitError, check_fits
from coterie._mat import read_mat
from coterie._progress import track_progress

__all__ = ["Ensemble", "Patterns", "as_ensemble"]

_ROWS = 8192  # rows that are filled at a time, so that they stay in the cache
_SMALL_OVERLAP = 256 * 1024**2  # bytes up to which all of the overlap is computed at once
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
    labels : array-like of shape (n_objects, n_partitions), frame, list of 1-D arrays, or dict
        One row per object and one column per partition; a list of arrays or series, and a dict of
        names to label vectors, is read as columns. Called from R, a list of vectors is, too.
        Cluster names may be any integers or strings. ``-1``, NaN, None and NA mean
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
        There may be more columns than labels, for clusters that are no object's most likely one.
        Then labels that are column numbers name their columns; with other labels the additional
        columns come last. Rows of objects whose label is missing count as 0. A warning says if
        most labels are not the column of the largest value: then columns are in another order, or
        hold distances.
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
        parts: dict[str, Any] = {
            "names": names,
            "groups": groups,
            "validity": validity,
            "posteriors": posteriors,
            "subspaces": subspaces,
            "features": features,
        }
        if isinstance(labels, Ensemble):
            for name, given in parts.items():
                parts[name] = getattr(labels, name) if given is None else given
            self._init_from_columns(labels._columns(), **parts)
            return
        encoded = plain_columns(labels) or _encoded(labels)
        if names is None:
            parts["names"] = column_names(labels)
        self._init_from_columns(encoded, named=True, **parts)

    def _init_from_columns(
        self,
        encoded: list[Column],
        *,
        groups: ArrayLike | None = None,
        validity: ArrayLike | None = None,
        posteriors: Sequence[ArrayLike] | None = None,
        subspaces: Sequence[tuple[ArrayLike, ArrayLike]] | None = None,
        features: Any = None,
        names: Sequence[str] | None = None,
        named: bool = False,
    ) -> None:
        """Check and store everything; `named`: labels may be column numbers of posteriors."""
        n_given = len(encoded)
        names = check_names(names, n_given)
        kept = {i: column for i, column in enumerate(encoded) if len(column.categories)}
        if not kept:
            raise ValueError(
                "every partition is missing on every object: labels hold nothing but -1, NaN or "
                "None. At least one partition must label at least one object."
            )
        if len(kept) < n_given:
            dropped = sorted(set(range(n_given)) - set(kept))
            warnings.warn(
                f"dropped {len(dropped)} partition(s) with no label at all: "
                f"{shorten(names[i] for i in dropped)}.",
                UserWarning,
                stacklevel=3,
            )
        positions = list(kept)
        labels = np.empty((len(encoded[0].codes), len(kept)), dtype=np.int32)
        for first in range(0, len(labels), _ROWS):
            rows = slice(first, first + _ROWS)
            for e, column in enumerate(kept.values()):
                labels[rows, e] = column.codes[rows]
        self._set(
            labels=frozen(labels),
            categories=tuple(frozen(column.categories) for column in kept.values()),
            columns=frozen(np.asarray(positions, dtype=np.int64)),
            n_columns=n_given,
            names=tuple(names[i] for i in positions),
            groups=frozen(check_groups(groups, n_given)[positions]),
            validity=frozen(check_validity(validity, n_given)[positions]),
            posteriors=check_posteriors(posteriors, kept, n_given, named=named),
            subspaces=check_subspaces(subspaces, kept, n_given, named=named),
            features=check_features(features, len(labels)),
        )

    @classmethod
    def _made_of(cls, encoded: list[Column], **parts: Any) -> Ensemble:
        """Return the ensemble of encoded partitions."""
        made = object.__new__(cls)
        made._init_from_columns(encoded, **parts)
        return made

    def _columns(self) -> list[Column]:
        return [Column(self.labels[:, e], c) for e, c in enumerate(self.categories)]

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
        return frozen(np.array([len(c) for c in self.categories], dtype=np.int64))

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """Where the clusters of each partition start in `overlap`, shape (n_partitions + 1,)."""
        return frozen(np.concatenate([[0], np.cumsum(self.n_clusters)]))

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
        mine, theirs = to_arrays(self), to_arrays(other)
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
        # The views are computed again when needed.
        return {name: self.__dict__[name] for name in _FIELDS}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({"features": None} | state)
        self.__dict__.setdefault("names", tuple(f"partition_{i}" for i in self.columns))
        for array in to_arrays(self).values():
            frozen(array)

    # --- views ------------------------------------------------------------------------------

    @cached_property
    def patterns(self) -> Patterns:
        """The distinct rows of `labels`, how often each occurs, and which object has which."""
        from coterie._kernels.views import find_patterns

        first, inverse, counts = find_patterns(self.labels)
        return Patterns(frozen(self.labels[first]), frozen(counts), frozen(inverse))

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
        return frozen(counts)

    @cached_property
    def cluster_facts(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(first, sizes), each (K,): first distinct row and number of objects of each cluster."""
        from coterie._kernels.clusters import describe_clusters

        rows, counts, _ = self.patterns  # in the order of their first objects
        first, sizes = describe_clusters(rows, counts, self.offsets)
        return frozen(first), frozen(sizes)

    def tables(self, e: int) -> NDArray[np.int64]:
        """Return (k_e, K): the rows of `overlap` of partition e, without computing all of it."""
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
        1 (0 for an object that no partition saw). Consensus methods do not need this matrix; it is
        meant for plots and export.

        Parameters
        ----------
        dtype : float dtype, default=float64
            ``float32`` takes half the memory and less time.
        memory_limit : int or str, optional
            Memory limit in bytes, or a size such as ``'4GB'``. Default: the environment variable
            ``COTERIE_MEMORY_LIMIT``, else 2 GB.

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
        chosen = check_positions("columns", columns, self.n_partitions, "partition")
        own = self._columns()
        return Ensemble._made_of(
            [own[e] for e in chosen],
            groups=self.groups[chosen],
            validity=self.validity[chosen],
            posteriors=self.posteriors and [self.posteriors[e] for e in chosen],
            subspaces=self.subspaces and [self.subspaces[e] for e in chosen],
            features=self.features,
            names=[self.names[e] for e in chosen],
        )

    def take(self, objects: ArrayLike | slice) -> Ensemble:
        """Return the ensemble of some of the objects; clusters left empty disappear.

        Soft memberships and subspaces are not taken along: their columns would no longer fit.

        Parameters
        ----------
        objects : slice, or array-like of int or bool
            Positions, or a mask of length `n_objects`.
        """
        chosen = check_positions("objects", objects, self.n_objects, "object")
        rows = self.labels[chosen]
        columns = []
        for e, categories in enumerate(self.categories):
            codes, used = encode_column(rows[:, e], e)
            columns.append(Column(codes, categories[used]))
        return Ensemble._made_of(
            columns,
            groups=self.groups,
            validity=self.validity,
            features=None if self.features is None else self.features[chosen],
            names=self.names,
        )

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
        if any(part.names != default_names(part.n_partitions) for part in parts):
            names = [name for part in parts for name in part.names]
        return Ensemble._made_of(
            [column for part in parts for column in part._columns()],
            groups=np.concatenate(groups),
            validity=np.concatenate([part.validity for part in parts]),
            posteriors=posteriors,
            subspaces=subspaces,
            features=None if subspaces is None else parts[0].features,
            names=names,
        )

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
            given = labels._columns()
            if labels.n_columns in (expected, self.n_partitions):
                # Put columns that were dropped, as they have no label, back in their places.
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
        write_archive(path, to_arrays(self))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Ensemble:
        """Read an ensemble that `save` wrote."""
        try:
            arrays = read_archive(path)
            columns, parts = from_arrays(arrays, path)
            made = cls._made_of(columns, **parts)
            made._set(columns=frozen(arrays["columns"]), n_columns=int(arrays["n_columns"]))
        except MemoryLimitError:
            raise
        except (KeyError, TypeError, ValueError) as error:
            if "newer coterie" in str(error):
                raise
            raise ValueError(
                f"{path} is not an ensemble file: {error}. Label tables are read with "
                "Ensemble.from_csv."
            ) from error
        return made

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
            A column with the names of the objects, which is no partition. Default: the first
            column, if its heading is empty and its values are all different, as R's
            ``write.csv`` makes it.
        """
        return cls(read_label_table(path, separator=separator, id_column=id_column))

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
        write_label_table(self, path, separator=separator)


def as_ensemble(X: Any) -> Ensemble:
    """Return `X` itself if it is an ensemble, else the ensemble of the label matrix `X`."""
    return X if isinstance(X, Ensemble) else Ensemble(X)


def compact_codes(labels: NDArray[np.int32], n_codes: int) -> NDArray[Any]:
    """Return (L, n) codes in the narrowest unsigned type whose largest value can mean missing."""
    dtype = np.uint8 if n_codes <= 255 else np.uint16 if n_codes <= 65535 else np.uint32
    # -1 wraps around to the largest value of the type.
    return frozen(np.ascontiguousarray(labels.T.astype(dtype)))


def _encoded(labels: Any) -> list[Column]:
    """Return the columns of labels of any kind."""
    columns = read_columns(labels)
    encoded = []
    with track_progress("labels", len(columns)) as done:
        for i, column in enumerate(columns):
            encoded.append(encode_column(column, i))
            done[0] += 1
    return encoded
