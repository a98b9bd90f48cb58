"""What all consensus functions share: reading the ensemble, checking, predicting."""

from __future__ import annotations

from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from coterie._labels import order_by_size
from coterie._notebook import FittedRepr
from coterie._reading import check_names_unique
from coterie.consensus._votes import ClusterVotes
from coterie.ensemble import Ensemble, as_ensemble

__all__ = ["BaseConsensus", "check_n_clusters"]


class BaseConsensus(FittedRepr, ClusterMixin, BaseEstimator):
    """Base of the consensus functions.

    A method writes `_fit(ensemble)`, which sets its fitted attributes and returns a label per
    object. It may write `_predict(codes)`; the default goes by the share of votes between an
    object and the members of a cluster. Confidence is the same measure for all methods, so that
    they can be compared.
    """

    finds_n_clusters = True
    """Whether ``n_clusters=None`` is possible."""

    n_clusters: int | None
    labels_: NDArray[np.int64]

    def fit(self, X: ArrayLike | Ensemble | Any, y: Any = None) -> Self:
        """Find the consensus of an ensemble.

        Parameters
        ----------
        X : Ensemble or array-like of shape (n_objects, n_partitions)
            One column per partition; -1 or NaN where a partition has no opinion.
        y : ignored

        Returns
        -------
        self : object
        """
        ensemble = as_ensemble(X)
        self._remember_columns(X, ensemble)
        check_n_clusters(self, self.n_clusters, ensemble.n_objects)
        self.ensemble_ = ensemble
        self.labels_ = order_by_size(self._fit(ensemble))
        self.n_clusters_ = int(self.labels_.max()) + 1
        self._votes = ClusterVotes.tally(ensemble, self.labels_, self.n_clusters_)
        self.confidence_ = self._confidence(ensemble)
        return self

    def predict(self, X: ArrayLike | Ensemble | Any) -> NDArray[np.int64]:
        """Put new label rows into the consensus clusters.

        Parameters
        ----------
        X : Ensemble or array-like of shape (n_new, n_partitions)
            Labels by the same partitions, in the same words. A label that was not seen in
            fitting is a cluster that no known object is in.

        Returns
        -------
        labels : ndarray of shape (n_new,)
        """
        check_is_fitted(self)
        return self._predict(self._encode(X))

    def _fit(self, ensemble: Ensemble) -> NDArray[np.int64]:
        raise NotImplementedError(f"{type(self).__name__} must define _fit")

    def _confidence(self, ensemble: Ensemble) -> NDArray[np.float64]:
        return self._votes.confidence(ensemble, self.labels_)

    def _predict(self, codes: NDArray[np.int32]) -> NDArray[np.int64]:
        return self._votes.predict(codes)

    def _remember_columns(self, X: Any, ensemble: Ensemble) -> None:
        if hasattr(X, "columns") and not isinstance(X, Ensemble):
            check_names_unique(X)
            validate_data(self, X, skip_check_array=True)
        else:
            self.n_features_in_ = ensemble.n_columns
            self.__dict__.pop("feature_names_in_", None)  # of an earlier fit to a frame
        # In a pipeline whose output is frames, fit gets an ensemble and predict gets a frame.
        self._has_names = not isinstance(X, Ensemble)

    def _encode(self, X: Any) -> NDArray[np.int32]:
        if hasattr(X, "columns") and not isinstance(X, Ensemble) and self._has_names:
            validate_data(self, X, skip_check_array=True, reset=False)
        shape = None if isinstance(X, Ensemble) else getattr(X, "shape", None)
        if shape is not None and len(shape) == 2 and shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {shape[1]} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input: one column per partition."
            )
        return self.ensemble_.encode(X)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        return tags


def check_n_clusters(estimator: BaseConsensus, n_clusters: int | None, n_objects: int) -> None:
    """Refuse a number of clusters that cannot be had."""
    if n_clusters is None:
        if not estimator.finds_n_clusters:
            raise ValueError(
                f"{type(estimator).__name__} does not find the number of clusters by itself: "
                "n_clusters must be given. LACA, EAC and MSTEClust can find it."
            )
        return
    if not isinstance(n_clusters, Integral) or isinstance(n_clusters, bool):
        raise TypeError(
            f"n_clusters must be an integer or None; got {n_clusters!r} "
            f"({type(n_clusters).__name__})."
        )
    if not 1 <= n_clusters <= n_objects:
        raise ValueError(
            f"n_clusters must be between 1 and the number of objects ({n_objects}); got "
            f"{n_clusters}."
        )
