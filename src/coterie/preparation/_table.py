"""Preparing a whole table for clustering."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from numbers import Integral
from typing import Any, Self

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from coterie._checks import whole_seed
from coterie._reading import check_table
from coterie.preparation._cells import Cells, read_cells
from coterie.preparation._columns import Column, fit_column
from coterie.preparation._reduction import Reduction, are_counts, column_moments, share_unit

__all__ = ["TablePreparation"]

MOST_COLUMNS = 100
"""A table with more features is reduced."""
N_COMPONENTS = {"counts": 20, "pca": 50, "svd": 50}
"""Largest number of components after a reduction."""

_FORMAT = 1
_MOST_NAMED = 5
_REASONS = {"empty": "nearly all cells missing", "text": "free text"}


class TablePreparation(TransformerMixin, BaseEstimator):
    """Turn a table of numbers, categories and dates into features of comparable weight.

    Every number counts as much as any other: the expected squared difference of two random rows
    is 2. Categories and columns of two values count an eighth of that each, because their levels
    are discrete and would otherwise make clusters of their own.

    - **Numbers** are standardised. Where tails are heavy (the standard deviation exceeds twice
      the one that the quartiles suggest, and the kurtosis exceeds 6), they first go through
      asinh((x - median) / spread), which is linear around the median and logarithmic in the tails.
    - **Categories** (text, booleans) become 0/1 columns. Levels of one row or below 1 % of the
      rows are grouped as "other", and at most 30 levels keep a place of their own.
    - **Dates** are days, then numbers. Text is read as numbers or dates where all of it can be.
    - **Left out** are constant columns, columns with over 90 % of the cells missing, identifiers
      (text that differs in every row; unique integers that number the rows or are named as an
      identifier) and free text (more different values than half of the rows). A table without
      names of columns, such as an array, has no identifiers.
    - **Missing cells** become the median of a number, and a level of their own of a category.
    - **Wide tables**, of more than 100 features, are reduced. Counts as of words (over 80 % of
      the cells 0, the others mostly 1 or 2) are weighted by tf-idf and reduced by a truncated
      SVD to 20 components, with rows of length 1: as a whole they count as one column. Others
      are reduced by PCA (sparse tables by a truncated SVD) to 50 components. More than 100
      columns of numbers are scaled by one common factor if they vary alike, if need be after
      taking logarithms, and one by one otherwise.

    Parameters
    ----------
    scale : {'auto', 'standard', None}
        How numbers are scaled: as above, always standardised, or not at all.
    categories : {'auto', 'drop'}
        Whether categories are encoded or left out.
    reduce : 'auto', int or None, default='auto'
        Whether wide tables are reduced. An integer is the number of components; tables with
        more features than that are then reduced.
    random_state : int, RandomState or None
        Seed of the reduction.

    Attributes
    ----------
    columns_ : list of Column
        For each column of the table its `name`, `kind` ('number', 'category', 'date',
        'identifier', 'constant', 'empty', 'text'), `treatment` in words and `n_missing`.
    notes_ : list of str
        What was done, in short sentences.
    summary_ : str
        The same in one line.
    reduction_ : Reduction or None
        The linear map to fewer components.
    n_features_in_ : int
        Number of columns of the table.
    feature_names_in_ : ndarray of str
        Their names, if the table has names.

    Examples
    --------
    >>> import polars as pl
    >>> from coterie import TablePreparation
    >>> people = pl.DataFrame(
    ...     {
    ...         "customer_id": [17, 12, 31, 45],
    ...         "age": [25, 32, None, 51],
    ...         "plan": ["basic", "basic", "plus", "plus"],
    ...         "country": ["NL", "NL", "NL", "NL"],
    ...     }
    ... )
    >>> preparation = TablePreparation()
    >>> preparation.fit_transform(people).shape
    (4, 2)
    >>> print(preparation.summary_)
    1 numeric column scaled; 1 category encoded; 1 missing cell imputed; left out: 'customer_id'
    (identifier), 'country' (constant).
    """

    columns_: list[Column]
    notes_: list[str]
    reduction_: Reduction | None

    def __init__(
        self,
        *,
        scale: str | None = "auto",
        categories: str = "auto",
        reduce: str | int | None = "auto",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.scale = scale
        self.categories = categories
        self.reduce = reduce
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find out what the columns are.

        Parameters
        ----------
        X : pandas or polars frame, array-like or sparse matrix of shape (n_samples, n_features)
            The table. Arrays and sparse matrices hold numbers.
        y : ignored

        Returns
        -------
        self : object
        """
        self._fit(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> NDArray[Any]:
        """Find out what the columns are, and return the features.

        Parameters
        ----------
        X : pandas or polars frame, array-like or sparse matrix of shape (n_samples, n_features)
            The table.
        y : ignored

        Returns
        -------
        features : ndarray of shape (n_samples, n_features_out)
        """
        table, encoded = self._fit(X)
        return self._reduced(self._encode(table) if encoded is None else encoded)

    def transform(self, X: Any) -> NDArray[Any]:
        """Return the features of the rows of a table.

        A category that was not there when the table was fitted counts as "other", or as none of
        the levels if nothing was grouped.

        Parameters
        ----------
        X : pandas or polars frame, array-like or sparse matrix of shape (n_samples, n_features)
            A table with the same columns.

        Returns
        -------
        features : ndarray of shape (n_samples, n_features_out)
            Sparse only if `X` is, and has over 100 columns, and `reduce` is None.
        """
        check_is_fitted(self)
        return self._reduced(self._encode(self._read(X, reset=False)))

    def readable(self, X: Any) -> tuple[NDArray[np.float64], list[str]]:
        """Return the used columns of a table in terms that people know, and their names.

        Numbers are as in the table, missing ones filled; dates are years since 2000; a category
        is a column of 0 and 1 for each of its levels, so that a mean is a share.

        Parameters
        ----------
        X : pandas or polars frame, array-like or sparse matrix of shape (n_samples, n_features)
            A table with the same columns.

        Returns
        -------
        values : ndarray of shape (n_samples, m)
        names : list of str
        """
        check_is_fitted(self)
        table = self._read(X, reset=False)
        if table.is_sparse:
            return table.matrix.toarray(), list(table.names)
        values, names = [], []
        for column, cells in zip(self.columns_, table.cells(self.columns_), strict=True):
            if column.kind == "category" and column.is_used:
                shares, levels = column.indicators(cells)
                values.append(shares)
                names += levels
            elif column.is_used:
                numbers = column.numbers(cells)
                is_date = column.kind == "date"
                values.append((numbers / 365.2425 - 30 if is_date else numbers)[:, None])
                names.append(f"{column.name} (years since 2000)" if is_date else column.name)
        return np.hstack(values).astype(np.float64, copy=False), names

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the features.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of the columns; if the table had names, they must be the same.

        Returns
        -------
        names : ndarray of str
        """
        check_is_fitted(self)
        given = _check_feature_names_in(self, input_features)
        names = [
            str(name) + made[len(column.name) :]
            for column, name in zip(self.columns_, given, strict=True)
            for made in column.names_out()
        ]
        if self.reduction_ is not None:
            kept = ~self._reduced_part(self.reduction_.kind)
            names = [name for name, is_kept in zip(names, kept, strict=True) if is_kept]
            n_components = len(self.reduction_.components)
            names = [f"component{i}" for i in range(n_components)] + names
        return np.array(_made_unique(names), dtype=object)

    def to_dict(self) -> dict[str, Any]:
        """Return the fitted state without pickle: plain data, and arrays by themselves.

        Returns
        -------
        state : dict
            'plain': what JSON can hold. 'arrays': a dict of float64 arrays, empty unless the
            table was reduced.
        """
        check_is_fitted(self)
        seed = whole_seed(self.random_state)
        seed = seed if isinstance(seed, Integral) else None
        plain = {
            "format": _FORMAT,
            "parameters": {
                "scale": self.scale,
                "categories": self.categories,
                "reduce": self.reduce if isinstance(self.reduce, str | None) else int(self.reduce),
                "random_state": None if seed is None else int(seed),
            },
            "n_features_in": int(self.n_features_in_),
            "has_names": hasattr(self, "feature_names_in_"),
            "columns": [asdict(column) for column in self.columns_],
            "notes": list(self.notes_),
            "reduction": None if self.reduction_ is None else self.reduction_.kind,
        }
        arrays = {}
        if self.reduction_ is not None:
            arrays = {
                "offset": self.reduction_.offset,
                "components": self.reduction_.components,
            }
        return {"plain": plain, "arrays": arrays}

    @classmethod
    def from_dict(cls, state: dict[str, Any]) -> Self:
        """Return the preparation whose state `to_dict` returned.

        Parameters
        ----------
        state : dict
            As `to_dict` returns it.

        Returns
        -------
        preparation : TablePreparation
            Fitted.
        """
        plain, arrays = state["plain"], state["arrays"]
        if plain.get("format") != _FORMAT:
            raise ValueError(
                f"the state must be of format {_FORMAT}; got {plain.get('format')!r}. It was "
                "written by another version: fit the table again."
            )
        self = cls(**plain["parameters"])
        self.n_features_in_ = plain["n_features_in"]
        self.columns_ = [Column(**record) for record in plain["columns"]]
        if plain["has_names"]:
            names = [column.name for column in self.columns_]
            self.feature_names_in_ = np.array(names, dtype=object)
        self.reduction_ = None
        if plain["reduction"] is not None:
            self.reduction_ = Reduction(
                plain["reduction"], np.asarray(arrays["offset"]), np.asarray(arrays["components"])
            )
        self.notes_ = list(plain["notes"])
        return self

    @property
    def summary_(self) -> str:
        """What was done, in one line."""
        check_is_fitted(self)
        parts = [note.rstrip(".") for note in self.notes_]
        return "; ".join([parts[0], *(part[0].lower() + part[1:] for part in parts[1:])]) + "."

    # --- fitting ----------------------------------------------------------------------------------

    def _fit(self, X: Any) -> tuple[_Table, Any]:
        """Fit; return the table, and its features before reduction if they were needed."""
        self._check_parameters()
        table = self._read(X, reset=True)
        self.reduction_ = None
        if table.is_sparse:
            kind = "number" if table.matrix.count_nonzero() else "constant"
            self.columns_ = [Column(name, kind, "as it is") for name in table.names]
        else:
            self.columns_ = [
                fit_column(name, cells, position=i, scale=self.scale, named=table.is_frame)
                for i, (name, cells) in enumerate(zip(table.names, table.cells(), strict=True))
            ]
        if self.categories == "drop":
            for column in self.columns_:
                if column.kind == "category":
                    column.levels, column.shares, column.has_other = [], [], False
                    column.treatment = "left out: categories='drop'"
        if not any(column.is_used for column in self.columns_):
            raise ValueError(f"the table has no column to cluster by. {self._left_out()}")
        kind = self._fit_wide(table)
        encoded = None
        if self.reduce is not None and sum(c.n_out for c in self.columns_) > self._limit():
            encoded = self._encode(table)
            n_components = self.reduce if isinstance(self.reduce, Integral) else N_COMPONENTS[kind]
            part = encoded[:, self._reduced_part(kind)] if kind == "counts" else encoded
            self.reduction_ = Reduction.fit(
                part, kind, int(n_components), whole_seed(self.random_state)
            )
        self.notes_ = self._notes()
        return table, encoded

    def _check_parameters(self) -> None:
        for name, choices in (
            ("scale", ("auto", "standard", None)),
            ("categories", ("auto", "drop")),
        ):
            value = getattr(self, name)
            if value not in choices:
                words = " or ".join(map(repr, choices))
                raise ValueError(f"{name} must be {words}; got {value!r}.")
        if isinstance(self.reduce, Integral) and self.reduce >= 1:
            return
        if self.reduce is not None and self.reduce != "auto":
            raise ValueError(
                f"reduce must be 'auto', None or a positive number of components; got "
                f"{self.reduce!r}."
            )

    def _limit(self) -> int:
        """Return the largest number of features that is not reduced."""
        return int(self.reduce) if isinstance(self.reduce, Integral) else MOST_COLUMNS

    def _fit_wide(self, table: _Table) -> str:
        """Scale the numbers of a wide table together; return the kind of reduction it needs."""
        numbers = [column for column in self.columns_ if column.kind == "number"]
        if len(numbers) <= MOST_COLUMNS:
            return "pca"
        matrix = table.matrix if table.is_sparse else self._raw_numbers(table, numbers)
        if self.reduce is not None and are_counts(matrix):
            for column in numbers:
                column.shape, column.mean, column.deviation = "plain", 0.0, 1.0
                column.treatment = "counts, weighted by tf-idf"
            return "counts"
        shared = self.scale == "auto" and share_unit(numbers, matrix)
        if not table.is_sparse:
            return "pca"
        if self.scale is not None and not shared:
            for column, deviation in zip(numbers, column_moments(matrix)[1], strict=True):
                column.deviation, column.treatment = float(deviation) or 1.0, "scaled"
        return "svd"

    # --- features ---------------------------------------------------------------------------------

    def _read(self, X: Any, *, reset: bool) -> _Table:
        """Check a table, and its names against those of the fitted one."""
        check_table(X)
        if nw.dependencies.is_into_dataframe(X):
            names = [str(name) for name in X.columns]
            validate_data(self, X, skip_check_array=True, reset=reset)
            frame = nw.from_native(X, eager_only=True)
            fewest = 2 if reset else 1
            if len(frame) < fewest:
                raise ValueError(
                    f"Found a table with {len(frame)} sample(s) while a minimum of {fewest} is "
                    "required."
                )
            return _Table(names, len(frame), np.dtype(np.float64), frame=frame)
        X = validate_data(
            self,
            X,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            ensure_all_finite=False,
            ensure_min_samples=2 if reset else 1,
            reset=reset,
        )
        names = list(getattr(self, "feature_names_in_", [f"x{i}" for i in range(X.shape[1])]))
        if sparse.issparse(X) and not np.isfinite(X.data).all():
            raise ValueError(
                "a sparse table must not hold NaN or inf. Pass a dense one, or a frame."
            )
        if sparse.issparse(X) and X.shape[1] <= MOST_COLUMNS:
            X = X.toarray()
        return _Table(names, X.shape[0], X.dtype, matrix=X)

    def _raw_numbers(self, table: _Table, numbers: list[Column]) -> NDArray[Any]:
        """Return the number columns of a table, missing cells filled, not scaled."""
        raw = np.empty((table.n_rows, len(numbers)), dtype=table.dtype, order="F")
        position = 0
        for column, cells in zip(self.columns_, table.cells(), strict=True):
            if column.kind == "number":
                raw[:, position] = column.numbers(cells)
                position += 1
        return raw

    def _encode(self, table: _Table) -> Any:
        """Return the features before reduction."""
        if table.is_sparse:  # not centred: zeros stay zeros
            matrix = table.matrix.log1p() if self.columns_[0].shape == "log" else table.matrix
            deviation = np.array([column.deviation for column in self.columns_])
            return sparse.csr_array(matrix / deviation.astype(matrix.dtype))
        widths = [column.n_out for column in self.columns_]
        features = np.empty((table.n_rows, sum(widths)), dtype=table.dtype)
        starts = np.cumsum([0, *widths])
        for i, (column, cells) in enumerate(
            zip(self.columns_, table.cells(self.columns_), strict=True)
        ):
            if column.n_out:
                column.write(cells, features[:, starts[i] : starts[i + 1]])
        return features

    def _reduced_part(self, kind: str) -> NDArray[np.bool_]:
        """Return which features a reduction takes: counts alone, or all of them."""
        columns = [column for column in self.columns_ for _ in range(column.n_out)]
        return np.array([kind != "counts" or column.kind == "number" for column in columns])

    def _reduced(self, encoded: Any) -> NDArray[Any]:
        if self.reduction_ is None:
            return encoded
        part = self._reduced_part(self.reduction_.kind)
        if part.all():
            return self.reduction_.transform(encoded)
        return np.hstack([self.reduction_.transform(encoded[:, part]), encoded[:, ~part]])

    # --- words ------------------------------------------------------------------------------------

    def _notes(self) -> list[str]:
        columns = self.columns_
        numbers = [column for column in columns if column.kind == "number"]
        heavy = [column for column in columns if column.shape == "asinh"]
        notes = []
        kind = None if self.reduction_ is None else self.reduction_.kind
        if kind == "counts":
            notes.append(f"{_count(numbers, 'column')} of counts weighted by tf-idf.")
        elif numbers and self.scale is None:
            notes.append(f"{_count(numbers, 'numeric column')} left as they are.")
        elif numbers:
            words = " after taking logarithms" if numbers[0].shape == "log" else ""
            notes.append(f"{_count(numbers, 'numeric column')} scaled{words}.")
        for wanted, one, many, done in (
            ("date", "date", "dates", "counted in days"),
            ("category", "category", "categories", "encoded"),
        ):
            found = [column for column in columns if column.kind == wanted]
            if found:
                notes.append(f"{_count(found, one, many)} {done}.")
        if heavy:
            names = _shorten([repr(column.name) for column in heavy])
            notes.append(f"Scaled by median and quartiles (heavy tails): {names}.")
        n_missing = sum(column.n_missing for column in columns if column.is_used)
        if n_missing:
            notes.append(f"{n_missing:,} missing cell{'s' * (n_missing > 1)} imputed.")
        if any(not column.is_used for column in columns):
            notes.append(self._left_out())
        if self.reduction_ is not None:
            n = len(self.reduction_.components)
            what = "Counts" if kind == "counts" else "Features"
            notes.append(f"{what} reduced to {n} component{'s' * (n > 1)}.")
        return notes

    def _left_out(self) -> str:
        parts = []
        unused = [column for column in self.columns_ if not column.is_used]
        for kind in dict.fromkeys(column.kind for column in unused):
            names = [repr(column.name) for column in unused if column.kind == kind]
            listed = f"{len(names):,} columns" if len(names) > _MOST_NAMED else ", ".join(names)
            parts.append(f"{listed} ({_REASONS.get(kind, kind)})")
        return f"Left out: {', '.join(parts)}."

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class _Table:
    """A table that has been checked: a frame, a dense array or a wide sparse matrix."""

    def __init__(
        self,
        names: list[str],
        n_rows: int,
        dtype: np.dtype[Any],
        *,
        frame: nw.DataFrame[Any] | None = None,
        matrix: Any = None,
    ) -> None:
        self.names, self.n_rows, self.dtype = names, n_rows, dtype
        self.frame, self.matrix = frame, matrix
        self.is_frame, self.is_sparse = frame is not None, sparse.issparse(matrix)

    def cells(self, columns: list[Column] | None = None) -> Iterator[Cells]:
        """Yield the cells of each column, read as the fitted columns were."""
        if self.frame is None:
            for i in range(len(self.names)):
                yield Cells("number", np.array(self.matrix[:, i], dtype=np.float64))
            return
        for i, series in enumerate(self.frame.iter_columns()):
            if columns is None:
                yield read_cells(series)
            else:
                is_category = columns[i].kind == "category"
                yield read_cells(series, as_text=is_category, date_format=columns[i].date_format)


def _made_unique(names: list[str]) -> list[str]:
    """Add a number to names that occur more than once."""
    seen: set[str] = set()
    unique = []
    for name in names:
        new, number = name, 2
        while new in seen:
            new, number = f"{name} ({number})", number + 1
        seen.add(new)
        unique.append(new)
    return unique


def _count(items: list[Any], one: str, many: str | None = None) -> str:
    return f"{len(items):,} {one if len(items) == 1 else many or one + 's'}"


def _shorten(names: list[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")
