"""Tables of gene expression: logarithms, the most variable features, centring."""

from __future__ import annotations

from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

__all__ = ["ExpressionPreparation"]

_FORMAT = 1


class ExpressionPreparation(TransformerMixin, BaseEstimator):
    """Take logarithms, keep the most variable features, centre them.

    The usual steps before samples are clustered by their genes. A sample is a row, a gene a
    column. Use it as the first step of a pipeline, before `TablePreparation` if features should
    also be scaled and reduced.

    Parameters
    ----------
    log : bool, default=False
        Whether to take log2(x + 1). Negative values are refused.
    top_features : int, optional
        Number of features to keep, those that vary most (after the logarithm). Default: all.
    by : {'mad', 'variance'}, default='mad'
        How variation is measured: median absolute deviation, or variance.
    center : bool, default=False
        Whether to subtract the median of each feature. It changes correlations between rows, but
        not Euclidean distances, which k-means uses.

    Attributes
    ----------
    kept_ : ndarray of int64
        Positions of the features that are kept, ascending.
    variation_ : ndarray of shape (n_features,)
        The variation of each feature, after the logarithm; NaN where all values are missing.
    offset_ : ndarray
        What is subtracted from the features that are kept.
    notes_ : list of str
        What was done, in short sentences.
    n_features_in_ : int
        Number of features of the table.
    feature_names_in_ : ndarray of str
        Their names, if the table has names.

    Notes
    -----
    Missing values (NaN) stay missing and are left out of medians and variances. Features that
    vary alike are taken in the order of the table.

    Examples
    --------
    >>> from coterie import ExpressionPreparation
    >>> genes = [[0, 7, 3], [1, 7, 3], [0, 0, 3]]
    >>> ExpressionPreparation(log=True, top_features=2, by="variance").fit_transform(genes)
    array([[0., 3.],
           [1., 3.],
           [0., 0.]])
    """

    def __init__(
        self,
        *,
        log: bool = False,
        top_features: int | None = None,
        by: str = "mad",
        center: bool = False,
    ) -> None:
        self.log = log
        self.top_features = top_features
        self.by = by
        self.center = center

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the features to keep, and their medians.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Numbers; NaN is missing.
        y : ignored

        Returns
        -------
        self : object
        """
        self._fit(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> NDArray[Any]:
        """Fit, and return the features that are kept.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Numbers; NaN is missing.
        y : ignored

        Returns
        -------
        features : ndarray of shape (n_samples, n_kept)
        """
        values: NDArray[Any] = self._fit(X)[:, self.kept_] - self.offset_
        return values

    def transform(self, X: Any) -> NDArray[Any]:
        """Return the features that are kept, prepared as those of the fitted table.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            A table with the same columns.

        Returns
        -------
        features : ndarray of shape (n_samples, n_kept)
        """
        check_is_fitted(self)
        values: NDArray[Any] = self._logarithm(self._read(X, reset=False)[:, self.kept_])
        return values - self.offset_

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the features that are kept.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of the columns; if the table had names, they must be the same.

        Returns
        -------
        names : ndarray of str
        """
        check_is_fitted(self)
        names: NDArray[np.object_] = np.asarray(
            _check_feature_names_in(self, input_features), dtype=object
        )
        return names[self.kept_]

    def to_dict(self) -> dict[str, Any]:
        """Return the fitted state as plain data, ready for JSON; `from_dict` reads it back.

        Returns
        -------
        state : dict
        """
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        return {
            "format": _FORMAT,
            "parameters": {
                "log": bool(self.log),
                "top_features": None if self.top_features is None else int(self.top_features),
                "by": self.by,
                "center": bool(self.center),
            },
            "n_features_in": int(self.n_features_in_),
            "names": None if names is None else [str(name) for name in names],
            "kept": self.kept_.tolist(),
            "offset": self.offset_.tolist(),
            "variation": [float(v) if np.isfinite(v) else None for v in self.variation_],
            "notes": list(self.notes_),
        }

    @classmethod
    def from_dict(cls, state: dict[str, Any]) -> Self:
        """Return the preparation whose state `to_dict` returned.

        Parameters
        ----------
        state : dict
            As `to_dict` returns it.

        Returns
        -------
        preparation : ExpressionPreparation
            Fitted.
        """
        if state.get("format") != _FORMAT:
            raise ValueError(
                f"the state must be of format {_FORMAT}; got {state.get('format')!r}. It was "
                "written by another version: fit the table again."
            )
        self = cls(**state["parameters"])
        self.n_features_in_ = state["n_features_in"]
        if state["names"] is not None:
            self.feature_names_in_ = np.array(state["names"], dtype=object)
        self.kept_ = np.array(state["kept"], dtype=np.int64)
        self.offset_ = np.array(state["offset"], dtype=np.float64)
        self.variation_ = np.array(state["variation"], dtype=np.float64)
        self.notes_ = list(state["notes"])
        return self

    # --- fitting ----------------------------------------------------------------------------------

    def _fit(self, X: Any) -> NDArray[Any]:
        """Fit; return all features after the logarithm."""
        self._check_parameters()
        X = self._logarithm(self._read(X, reset=True))
        self.variation_ = feature_variation(X, self.by)
        n_kept = X.shape[1] if self.top_features is None else min(self.top_features, X.shape[1])
        order = np.argsort(-np.nan_to_num(self.variation_, nan=-1.0), kind="stable")
        self.kept_ = np.sort(order[:n_kept])
        self.offset_ = np.zeros(n_kept, dtype=X.dtype)
        if self.center:
            self.offset_ = np.nan_to_num(_median(X[:, self.kept_]))
        self.notes_ = self._notes(X.shape[1])
        return X

    def _check_parameters(self) -> None:
        if self.by not in ("mad", "variance"):
            raise ValueError(f"by must be 'mad' or 'variance'; got {self.by!r}.")
        top = self.top_features
        if top is None:
            return
        if not isinstance(top, Integral) or isinstance(top, bool) or top < 1:
            raise ValueError(
                f"top_features must be a whole number of at least 1, or None for all; got {top!r}."
            )

    def _read(self, X: Any, *, reset: bool) -> NDArray[Any]:
        X = validate_data(
            self,
            X,
            dtype=[np.float64, np.float32],
            ensure_all_finite="allow-nan",
            reset=reset,
        )
        checked: NDArray[Any] = X
        return checked

    def _logarithm(self, X: NDArray[Any]) -> NDArray[Any]:
        if not self.log:
            return X
        negative = np.argwhere(X < 0)
        if len(negative):
            row, column = negative[0]
            names = getattr(self, "feature_names_in_", None)
            place = f"column {column}" if names is None else f"column {names[column]!r}"
            raise ValueError(
                f"log takes values of at least 0; {place} holds {X[row, column]:g} in row {row} "
                "(counted from 0). The table may hold logarithms already: then leave log out."
            )
        logs: NDArray[Any] = np.log2(X + 1)
        return logs

    def _notes(self, n_features: int) -> list[str]:
        notes = ["log2(x + 1) of the values."] if self.log else []
        if self.top_features is not None:
            measure = "median absolute deviation" if self.by == "mad" else "variance"
            notes.append(
                f"{len(self.kept_):,} of {n_features:,} features kept, those of the largest "
                f"{measure}."
            )
        if self.center:
            notes.append("The median of each feature subtracted.")
        return notes

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.positive_only = bool(self.log)
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def feature_variation(X: NDArray[Any], by: str) -> NDArray[np.float64]:
    """Return the median absolute deviation or the variance of each feature, NaN left out."""
    if by == "mad":
        return np.asarray(_median(np.abs(X - _median(X))), dtype=np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        known = ~np.isnan(X)
        n = known.sum(axis=0)
        mean = np.where(known, X, 0).sum(axis=0, dtype=np.float64) / n
        squares = np.where(known, (X - mean) ** 2, 0).sum(axis=0)
        variance: NDArray[np.float64] = squares / n
    return variance


def _median(X: NDArray[Any]) -> NDArray[Any]:
    """Return the median of each column; NaN where all values are missing."""
    if not np.isnan(X).any():
        return np.asarray(np.median(X, axis=0))
    medians = np.full(X.shape[1], np.nan, dtype=X.dtype)
    some = ~np.isnan(X).all(axis=0)
    medians[some] = np.nanmedian(X[:, some], axis=0)
    return medians
