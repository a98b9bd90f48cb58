"""Base class of the consensus functions: checks, limits, fit and prediction."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from coterie._about import MethodWords
from coterie._checks import check_random_state
from coterie._labels import order_by_size
from coterie._limits import kernel_threads, limit_memory
from coterie._notebook import FittedRepr
from coterie._reading import check_table
from coterie.blocks import LabelBlocks, Rule, as_label_blocks, draw_sample, is_blocks
from coterie.consensus._in_blocks import (
    SAMPLE,
    Placement,
    SampleLabels,
    place_blocks,
    results_of,
)
from coterie.consensus._parameters import Check, check_parameters, complete_docstring
from coterie.consensus._unlabelled import (
    extend_attributes,
    is_one_cluster,
    labelled_objects,
    labelled_part,
)
from coterie.consensus._votes import ClusterVotes
from coterie.ensemble import Ensemble, as_ensemble

__all__ = ["BaseConsensus", "check_n_clusters", "pass_seed"]


class BaseConsensus(FittedRepr, ClusterMixin, BaseEstimator):
    """Base of the consensus functions.

    A method writes `_fit(ensemble)`, which sets its fitted attributes and returns a label per
    object. It may write `_predict(codes)`; the default goes by the share of votes between an
    object and the members of a cluster. Confidence is the same measure for all methods, so that
    they can be compared.

    These are the same for all methods, and done here:

    - Parameters are checked by the rules of `_parameters.py` and of `rules`; descriptions of
      shared parameters and attributes are added to the docstring.
    - `n_jobs` and `memory_limit`, where a method has them, hold while `fit` runs.

    - Objects that no partition labels are left out of `_fit`. They go to the largest cluster,
      with confidence 0, and attributes over objects are extended to them (`_unlabelled.py`).
    - Where no partition puts two objects apart (and shared partitions connect all of them), and
      no number of clusters was asked for, there is one cluster: `_fit` runs with
      ``n_clusters=1``.
    """

    finds_n_clusters = True
    """Whether ``n_clusters=None`` is possible."""
    confidence_is_membership = False
    """Whether confidence is the membership in the own cluster, and not the share of votes."""
    rules: ClassVar[Mapping[str, Check]] = {}
    """Checks of parameters that `_parameters.RULES` does not have, by name."""
    objective: ClassVar[str]
    """What the second column of `history_` holds, where there is a history."""
    about: ClassVar[MethodWords]
    """Words about the method: for `coterie explain`, the report and the docs."""
    exceptions: ClassVar[dict[str, str]] = {}
    """Properties of all methods (tests in ``test_common.py``) that it cannot have, and why."""
    saved_state: tuple[str, ...] | None = ()
    """Arrays that `_predict` needs besides ensemble and labels; None: a model cannot be saved."""
    object_parameters: tuple[str, ...] = ()
    """Parameters that may be arrays with a row per object, and then say the number of clusters."""

    n_clusters: Any
    labels_: NDArray[np.int64]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "about" in vars(cls):  # a method, not a base of methods
            complete_docstring(cls)

    def fit(self, X: ArrayLike | Ensemble | Any, y: Any = None) -> Self:
        """Find the consensus of an ensemble.

        Parameters
        ----------
        X : Ensemble or array-like of shape (n_objects, n_partitions)
            One column per partition; -1 or NaN where a partition has no opinion. Of
            `coterie.blocks.LabelBlocks` and Dask arrays and data frames, only one block at a
            time is in memory; see the page on scaling for what `labels_` is then.
        y : ignored

        Returns
        -------
        self : object
        """
        self.__dict__.pop("_placement", None)  # of an earlier fit to blocks
        if is_blocks(X):
            check_parameters(self)
            with self._limits():
                return self._fit_in_blocks(as_label_blocks(X))
        ensemble = as_ensemble(X)
        self._remember_columns(X, ensemble)
        check_parameters(self)
        check_n_clusters(self, self.n_clusters, ensemble.n_objects)
        self.ensemble_ = ensemble
        labelled = labelled_objects(ensemble)
        n_labelled = int(labelled.sum())
        # More clusters than labelled objects: then the others are needed as clusters.
        is_whole = n_labelled == ensemble.n_objects or (self.n_clusters or 1) > n_labelled
        part = ensemble if is_whole else labelled_part(ensemble, labelled)
        with self._settings_for(part, labelled), self._limits():
            self.labels_ = order_by_size(self._fit(part))
            self.n_clusters_ = int(self.labels_.max()) + 1
            self._votes = ClusterVotes.tally(part, self.labels_, self.n_clusters_)
            self.confidence_ = self._confidence(part)
        if not is_whole:
            extend_attributes(self, labelled)
            warnings.warn(
                f"{ensemble.n_objects - n_labelled} of {ensemble.n_objects} objects have no label "
                "in any partition. They were put into the largest cluster, with confidence 0.",
                UserWarning,
                stacklevel=2,
            )
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
        return self._predict_codes(self._encode(X))

    def predict_confidence(self, X: ArrayLike | Ensemble | Any) -> NDArray[np.float64]:
        """Return the confidence in the predicted clusters of new label rows, as `confidence_`.

        Parameters
        ----------
        X : Ensemble or array-like of shape (n_new, n_partitions)
            As for `predict`.

        Returns
        -------
        confidence : ndarray of shape (n_new,)
            In [0, 1], for the cluster that `predict` returns; 0 for a row without any label.
        """
        check_is_fitted(self)
        codes = self._encode(X)
        if self.confidence_is_membership and "_placement" not in self.__dict__:
            labels = self._predict_codes(codes)
            confidence = self.predict_proba(X)[np.arange(len(labels)), labels]
            # Memberships sum to 1 up to rounding, so one can be larger than 1 by the last bit.
            return np.where((codes >= 0).any(axis=1), np.minimum(confidence, 1.0), 0.0)
        return self._predict_with_confidence(codes)[1]

    def _predict_with_confidence(
        self, codes: NDArray[np.int32]
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return label and confidence, by votes, of encoded label rows."""
        labels = self._predict_codes(codes)
        return labels, self._votes.confidence_of_rows(codes, labels)

    @property
    def runs_on_blocks(self) -> bool:
        """Whether all label rows count where they come in blocks, and not a sample of them."""
        return type(self)._fit_blocks is not BaseConsensus._fit_blocks

    def _fit_in_blocks(self, blocks: LabelBlocks) -> Self:
        """Find the consensus of label rows in blocks."""
        self.n_features_in_ = blocks.n_columns
        self.__dict__.pop("feature_names_in_", None)
        self._has_names = False
        check_n_clusters(self, self.n_clusters, blocks.n_objects)
        view: Any = blocks  # it has what prediction needs of an ensemble
        self.ensemble_ = view
        rule, n_parts = self._fit_blocks(blocks)
        placement = place_blocks(blocks, rule, n_parts)
        self._placement: Placement = placement
        self._votes = placement.votes
        self.n_clusters_ = len(placement.sizes)
        self._name_parts(placement.rank)
        self._results = results_of(blocks, placement)
        self.labels_, self.confidence_ = (self._results.column(which) for which in (0, 1))
        n_without = blocks.n_rows - blocks.n_objects
        if n_without:
            warnings.warn(
                f"{n_without} of {blocks.n_rows} objects have no label in any partition. They "
                "were put into the largest cluster, with confidence 0.",
                UserWarning,
                stacklevel=3,
            )
        asked = self.n_clusters
        if asked is not None and self.n_clusters_ < asked:
            warnings.warn(
                f"{type(self).__name__} found {self.n_clusters_} clusters, fewer than "
                f"n_clusters={asked}: no object went to the others.",
                UserWarning,
                stacklevel=3,
            )
        return self

    def _fit_blocks(self, blocks: LabelBlocks) -> tuple[Rule, int]:
        """Return a rule that gives label rows their parts, and the number of parts.

        Here: the method is fitted to a sample of the objects, and the others go where the votes
        of the sample say. A method that is sums over label rows writes its own.
        """
        n = blocks.n_objects
        n_drawn = min(n, SAMPLE)
        objects = draw_sample(n, n_drawn)
        self.sample_fit_ = clone(self).fit(blocks.sample(objects))
        self._say_sampled(n_drawn, n)
        n_parts = self.sample_fit_.n_clusters_
        return SampleLabels.of(blocks, objects, self.sample_fit_.labels_, n_parts), n_parts

    def _say_sampled(self, n_drawn: int, n: int) -> None:
        if n_drawn < n:
            warnings.warn(
                f"{type(self).__name__} was fitted to a sample of {n_drawn} of the {n} objects, "
                "drawn at random; the others were put where the votes of the sample say.",
                UserWarning,
                stacklevel=5,
            )

    def _name_parts(self, rank: NDArray[np.int64]) -> None:
        """Set the fitted attributes that name parts; `rank` is the label of each."""
        if "_cluster_parts" in self.__dict__:
            self.cluster_labels_ = rank[self._cluster_parts]

    def _predict_codes(self, codes: NDArray[np.int32]) -> NDArray[np.int64]:
        placement: Placement | None = self.__dict__.get("_placement")
        if placement is None:
            return self._predict(codes)
        # A label that no block has says nothing.
        known = np.where(codes < self.ensemble_.n_clusters, codes, -1).astype(np.int32)
        labels = np.zeros(len(codes), dtype=np.int64)
        seen = (known >= 0).any(axis=1)
        if seen.any():
            parts = placement.rule(known[seen], self.ensemble_.n_objects)
            by_votes = self._votes.predict(known[seen])
            labels[seen] = np.where(parts >= 0, placement.rank[parts], by_votes)
        return labels

    def _restore(
        self,
        ensemble: Ensemble,
        labels: NDArray[np.int64],
        confidence: NDArray[np.float64],
        state: dict[str, NDArray],
    ) -> None:
        """Set the fitted attributes that prediction needs, from what a file holds."""
        n, n_partitions = ensemble.shape
        is_partition = labels.shape == (n,) and labels.dtype == np.int64
        if not is_partition or not np.array_equal(order_by_size(labels), labels):
            raise ValueError("the labels are not one consecutive number per object")
        if confidence.shape != (n,) or confidence.dtype != np.float64:
            raise ValueError("the confidence is not one number per object")
        for name, array in state.items():
            if array.dtype != np.float64 or len(array) not in (n, n_partitions):
                raise ValueError(f"{name} is not one number per object or partition")
            setattr(self, name, array)
        labelled = labelled_objects(ensemble)
        part = ensemble if labelled.all() else labelled_part(ensemble, labelled)
        self._remember_columns(ensemble, ensemble)
        self.ensemble_ = ensemble
        self.labels_ = labels[labelled]
        self.n_clusters_ = int(labels.max()) + 1
        self._votes = ClusterVotes.tally(part, self.labels_, self.n_clusters_)
        self._confidence(part)
        self.labels_, self.confidence_ = labels, confidence

    @contextmanager
    def _limits(self) -> Iterator[None]:
        """Hold the number of threads and the memory limit, where the method has them."""
        with (
            kernel_threads(getattr(self, "n_jobs", None)),
            limit_memory(getattr(self, "memory_limit", None)),
        ):
            yield

    @contextmanager
    def _settings_for(self, part: Ensemble, labelled: NDArray[np.bool_]) -> Iterator[None]:
        """Set the parameters that `_fit` needs for this part, and restore them afterwards."""
        settings: dict[str, Any] = {}
        given = {name: getattr(self, name) for name in self.object_parameters}
        arrays = {name: value for name, value in given.items() if np.ndim(value) > 0}
        if part.n_objects < len(labelled):
            whole = {name: value for name, value in arrays.items() if len(value) == len(labelled)}
            settings |= {name: np.asarray(value)[labelled] for name, value in whole.items()}
        if self.n_clusters is None and not arrays and is_one_cluster(part):
            settings["n_clusters"] = 1
            if part.n_objects > 1:
                warnings.warn(
                    "no partition puts two objects apart, so there is one cluster.",
                    UserWarning,
                    stacklevel=4,
                )
        before = {name: getattr(self, name) for name in settings}
        try:
            for name, value in settings.items():
                setattr(self, name, value)
            yield
        finally:
            for name, value in before.items():
                setattr(self, name, value)

    def _fit(self, ensemble: Ensemble) -> NDArray[np.int64]:
        raise NotImplementedError(f"{type(self).__name__} must define _fit")

    def _confidence(self, ensemble: Ensemble) -> NDArray[np.float64]:
        return self._votes.confidence(ensemble, self.labels_)

    def _predict(self, codes: NDArray[np.int32]) -> NDArray[np.int64]:
        return self._votes.predict(codes)

    def _remember_columns(self, X: Any, ensemble: Ensemble) -> None:
        if hasattr(X, "columns") and not isinstance(X, Ensemble):
            check_table(X)
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


def pass_seed(
    consensus: BaseConsensus, random_state: int | np.random.RandomState | None
) -> BaseConsensus:
    """Seed a consensus function, as ConsensusClustering, compare and the command line do.

    It gets an integer drawn from `random_state`. One without a `random_state` of its own, or
    with one that its maker has set, stays as it is.
    """
    unset = consensus.get_params(deep=False).get("random_state", "absent") is None
    if random_state is not None and unset:
        seed = int(check_random_state(random_state).randint(2**31 - 1))
        consensus.set_params(random_state=seed)
    return consensus


def check_n_clusters(estimator: BaseConsensus, n_clusters: int | None, n_objects: int) -> None:
    """Raise TypeError or ValueError for a number of clusters that is not possible."""
    if n_clusters is None:
        if not estimator.finds_n_clusters:
            raise ValueError(
                f"{type(estimator).__name__} does not find the number of clusters by itself: "
                f"n_clusters must be given. Methods that find it: {', '.join(_finders())}."
            )
        return
    if not isinstance(n_clusters, Integral) or isinstance(n_clusters, bool):
        is_whole = isinstance(n_clusters, float) and n_clusters % 1 == 0
        raise TypeError(
            f"n_clusters must be an integer or None; got {n_clusters!r} "
            f"({type(n_clusters).__name__})."
            + (f" Write {int(n_clusters)}, in R {int(n_clusters)}L." if is_whole else "")
        )
    if not 1 <= n_clusters <= n_objects:
        raise ValueError(
            f"n_clusters must be between 1 and the number of objects ({n_objects}); got "
            f"{n_clusters}."
        )


def _finders() -> list[str]:
    """Return the classes of the methods that find the number of clusters."""
    from coterie.consensus import CONSENSUS

    return sorted(cls.__name__ for cls in CONSENSUS.values() if cls.finds_n_clusters)
