"""Ensembles from randomised runs of scikit-learn clusterers.

With k-means these are the partitions of Fred and Jain (2005) and of the papers on LACA, PEACE and
HNE; with several clusterers and feature subsets, those of MSTEClust.
"""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import Pipeline
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, validate_data

from coterie._checks import check_choice, check_random_state, is_integer
from coterie._encode import MISSING
from coterie._limits import one_thread
from coterie._progress import track_progress
from coterie._reading import check_table
from coterie.blocks import is_blocks
from coterie.blocks._features import as_matrix, lazy_rows, sample_features
from coterie.blocks._sources import dask_source
from coterie.ensemble import Ensemble
from coterie.generation._checkpoint import (
    Checkpoint,
    describe_data,
    describe_estimators,
    describe_value,
)
from coterie.generation._parallel import run_unordered
from coterie.generation._parameters import (
    as_pair,
    check_estimators,
    count_range,
    takes_input,
)
from coterie.generation._runs import (
    Draw,
    Outcome,
    Recipe,
    codes_of_nearest,
    draw_run,
    execute_run,
    has_tree,
    label_by_neighbour,
    label_by_predict,
    metric_of,
    name_of,
    nearest_objects,
    select_features,
)

__all__ = ["RandomizedEnsemble"]

_VALIDITY = ("cophenetic", "hubert")


class _ReturnsEnsemble:
    """`fit_transform` that gives an `Ensemble`.

    It stands outside the transformer class because scikit-learn would otherwise wrap its result
    into a frame after ``set_output(transform='pandas')``.
    """

    def fit_transform(self, X: Any, y: Any = None) -> Ensemble:
        """Make the partitions and return them.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_objects, n_features)
            The objects.
        y : None
            Ignored.

        Returns
        -------
        ensemble : Ensemble
            Whatever `set_output` says: a consensus wants groups and validity, too. Of a Dask
            array or data frame: a Dask array of labels.
        """
        if is_blocks(X):
            labels: Any = self.fit(X, y).transform(X)  # type: ignore[attr-defined]
            return labels
        ensemble: Ensemble = self.fit(X, y).ensemble_  # type: ignore[attr-defined]
        return ensemble


class RandomizedEnsemble(
    _ReturnsEnsemble, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator
):
    """Partitions by clusterers that see a random part of the data each time.

    Every estimator is run `n_partitions` times. Each run draws a number of clusters, a subset
    of the features, a subset of the objects and a seed, all uniformly and from a random
    generator of its own, so that neither the number of jobs nor the order in which runs finish
    changes anything.

    Parameters
    ----------
    estimators : clusterer, list of clusterers or list of (name, clusterer), optional
        What makes the partitions: anything with scikit-learn's interface, mixtures and
        pipelines included. Default: k-means with one random start,
        ``KMeans(init='random', n_init=1)``.
    n_partitions : int, default=100
        Number of runs of each estimator.
    n_clusters : int or pair of int, optional
        Number of clusters of a run (for mixtures: of components), fixed or drawn between
        (low, high), both included. Default: between sqrt(n) / 2, rounded up, and sqrt(n),
        rounded down, n being the number of objects in `X`; at least 2. A run never asks for
        more clusters than it uses objects. Ignored by estimators without such a parameter
        (DBSCAN, HDBSCAN, OPTICS, MeanShift, AffinityPropagation), and by those where it is
        None, because they are told to find the number (agglomerative clustering with a
        distance threshold, Birch without a last step).
    max_features : float, int or pair of these, default=1.0
        Features of a run, drawn without replacement: a share in (0, 1] (rounded, at least one
        feature), a number, or (low, high) to draw the number as well. Note that 1 is one
        feature and 1.0 is all.
    max_samples : float, int or pair of these, default=1.0
        Objects of a run, in the same way. `left_out` says what becomes of the others.
    validity : {'hubert', 'cophenetic'} or callable, optional
        How to measure the quality of a run in [0, 1]. `coterie.metrics.hubert_gamma` works
        for all clusterers; `coterie.metrics.cophenetic_correlation` needs agglomerative
        clustering. A callable gets the data and the labels, ``validity(X_used, labels)``, and
        returns a number. All are computed on the features and the objects that the run used
        (in a pipeline: as its last step got them), without objects that have no label;
        numbers outside [0, 1] are clipped, so negative ones become 0, and NaN becomes 0.
        Default: 1 for every run.
    n_jobs : int, optional
        Number of runs at a time, as in joblib; ``joblib.parallel_config`` chooses the backend.
        Each run uses a single thread.
    random_state : int, RandomState instance or None, default=None
        Seed of everything. The estimators' own `random_state` is set anew for every run.
    noise : {'missing', 'singletons'}, default='missing'
        What becomes of objects that a density method calls noise (any negative label): a
        missing label, or a cluster of their own for each.
    left_out : {'missing', 'assigned'}, default='missing'
        Label of the objects that a run did not draw: the missing label -1, or the label that
        `transform` would give them. With 'assigned' a run can be fitted to a sample of a large
        set and still label all of it.
    checkpoint : path, optional
        Directory that collects finished partitions. If `fit` is interrupted in whatever way,
        the same call continues it, to the same result as without interruption. See Notes.

    Attributes
    ----------
    ensemble_ : Ensemble
        The partitions, those of the first estimator first. `groups` tells the estimators
        apart, by name if names were given, else by position.
    runs_ : list of Draw
        What each run drew: ``n_clusters``, ``features`` and ``objects`` (None means all),
        ``seed``, and its place, ``group`` and ``run``.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, if `X` had any.

    See Also
    --------
    coterie.Ensemble : What comes out.

    Notes
    -----
    **New objects.** `transform` returns label rows in the vocabulary of `ensemble_`. Where the
    estimator has `predict`, it decides; a cluster in which there is no training object gets the
    code ``ensemble_.n_clusters[e]``, as in `Ensemble.encode`. Otherwise a new object takes the
    label of the nearest object that the run used, on the features of that run and with the
    metric of the estimator (Euclidean if it has none). If that one is noise, so is the new
    object: missing, or in the cluster of its nearest neighbour with ``noise='singletons'``. On
    the training objects this returns `ensemble_.labels`, except that objects left out by
    `max_samples` now get a label.

    **Checkpoints.** A directory holds ``manifest.json`` and one small file per partition, no
    pickle. It is refused, with the differences named, if data, parameters, the seed or the
    versions of Python, numpy, scipy or scikit-learn are others than those it was made with.
    With ``random_state=None`` the seed is kept in the directory and used again. Files that are
    broken are made again. A larger `n_partitions` adds to the directory, a smaller one takes
    the first ones. One process at a time should write to it. Fitted estimators are not stored:
    `transform` fits those it needs again, with the same seed, when it first needs them.

    **Memory.** Fitted estimators are kept where `transform` needs them, without what they store
    about training objects. The training data is kept (not copied) if some estimator has no
    `predict`.

    References
    ----------
    .. [1] Fred & Jain (2005), Combining multiple clusterings using evidence accumulation,
       :doi:`10.1109/TPAMI.2005.113`.

    Examples
    --------
    >>> from sklearn.cluster import AgglomerativeClustering, KMeans
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris().data
    >>> RandomizedEnsemble(n_partitions=30, random_state=0).fit_transform(X)
    Ensemble(150 objects, 30 partitions with 7 to 12 clusters)

    Two algorithms on random halves of the features and 80 % of the objects:

    >>> maker = RandomizedEnsemble(
    ...     [("k-means", KMeans(n_init=1)), ("ward", AgglomerativeClustering())],
    ...     n_partitions=10, n_clusters=(2, 6), max_features=0.5, max_samples=0.8,
    ...     random_state=0)
    >>> ensemble = maker.fit_transform(X)
    >>> ensemble
    Ensemble(150 objects, 20 partitions with 2 to 6 clusters, 20% missing)
    >>> ensemble.groups[[0, -1]]
    array(['k-means', 'ward'], dtype='<U7')
    >>> maker.transform(X[:3]).shape
    (3, 20)
    """

    def __init__(
        self,
        estimators: Any = None,
        n_partitions: int = 100,
        n_clusters: int | tuple[int, int] | None = None,
        max_features: float | tuple[float, float] = 1.0,
        max_samples: float | tuple[float, float] = 1.0,
        validity: str | Callable[[Any, NDArray[Any]], float] | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        *,
        noise: str = "missing",
        left_out: str = "missing",
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> None:
        self.estimators = estimators
        self.n_partitions = n_partitions
        self.n_clusters = n_clusters
        self.max_features = max_features
        self.max_samples = max_samples
        self.validity = validity
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.noise = noise
        self.left_out = left_out
        self.checkpoint = checkpoint

    def fit(self, X: ArrayLike | Any, y: Any = None) -> RandomizedEnsemble:
        """Make the partitions.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_objects, n_features)
            The objects. Sparse or with NaN only if every estimator takes it. Of a Dask array or
            data frame, a sample of 50,000 rows is used, and `ensemble_` holds their labels.
        y : None
            Ignored.

        Returns
        -------
        self : RandomizedEnsemble
            The fitted transformer.
        """
        names, estimators = check_estimators(self.estimators)
        self._check_parameters(estimators)
        if is_blocks(X):
            X, _ = sample_features(dask_source(X))
        X = self._check_data(X, reset=True)
        ranges = self._check_ranges(*X.shape)
        entropy = _draw_entropy(self.random_state)
        checkpoint = None
        if self.checkpoint is not None:
            checkpoint = self._open_checkpoint(X, estimators, entropy)
            entropy = checkpoint.entropy
        n_objects, n_features = X.shape
        recipe = Recipe(entropy, n_objects, n_features, *ranges, self.noise, self.validity)
        outcomes = self._run_all(X, estimators, recipe, checkpoint)
        self._set_fitted(X, names, estimators, recipe, outcomes)
        if self.left_out == "assigned" and recipe.objects[0] < recipe.n_objects:
            self._assign_left_out(X)
        return self

    def transform(self, X: ArrayLike | Any) -> NDArray[np.int32]:
        """Label objects, new or not, in the vocabulary of the fitted ensemble.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_objects, n_features)
            The objects.

        Returns
        -------
        labels : ndarray of int32 of shape (n_objects, n_partitions), or frame
            One column per partition of `ensemble_`; -1 where a partition has no opinion.
            `set_output` chooses a pandas or polars frame instead. Of a Dask array or data frame:
            a Dask array, whose chunks are computed when they are asked for.
        """
        check_is_fitted(self)
        if is_blocks(X):
            n_columns = len(self._outcomes)
            return lazy_rows(dask_source(X), _label_block, self, n_columns, np.int32)
        return self._label_all(self._check_data(X, reset=False))

    def _label_all(self, X: Any) -> NDArray[np.int32]:
        """Return the labels of all partitions for checked data."""
        labels = np.empty((X.shape[0], len(self._outcomes)), dtype=np.int32)
        with one_thread(), warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # of runs made again
            shared = self._shared_neighbours(X)
            Parallel(n_jobs=self.n_jobs, require="sharedmem")(
                delayed(self._label_column)(X, e, shared, labels) for e in range(labels.shape[1])
            )
        return labels

    @property
    def runs_(self) -> list[Draw]:
        """What each run drew. It is drawn again on each access, so it takes no memory."""
        if "_outcomes" not in self.__dict__:
            raise AttributeError("runs_ is there after fit.")
        return [draw_run(self._recipe, o.group, o.run) for o in self._outcomes]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._all_take("sparse")
        tags.input_tags.allow_nan = self._all_take("allow_nan")
        tags.transformer_tags.preserves_dtype = []
        return tags

    # --- checks -------------------------------------------------------------------------------

    def _all_take(self, tag: str) -> bool:
        """Whether all estimators have an input tag."""
        try:
            _, estimators = check_estimators(self.estimators)
            return all(takes_input(e, tag) for e in estimators)
        except (TypeError, ValueError, AttributeError):  # no tags
            return False

    def _check_data(self, X: Any, *, reset: bool) -> Any:
        # C order, because sums over rows in another order may differ in the last bit.
        check_table(X)
        return validate_data(
            self,
            X,
            reset=reset,
            dtype=[np.float64, np.float32],
            order="C",
            accept_sparse="csr" if self._all_take("sparse") else False,
            ensure_all_finite="allow-nan" if self._all_take("allow_nan") else True,
        )

    def _check_parameters(self, estimators: Sequence[Any]) -> None:
        if not is_integer(self.n_partitions) or self.n_partitions < 1:
            raise ValueError(
                "n_partitions must be a number of runs of at least 1 for each estimator; got "
                f"{self.n_partitions!r}."
            )
        check_choice("noise", self.noise, ("missing", "singletons"))
        check_choice("left_out", self.left_out, ("missing", "assigned"))
        if self.checkpoint is not None and not isinstance(self.checkpoint, str | os.PathLike):
            raise TypeError(f"checkpoint must be the path of a directory; got {self.checkpoint!r}.")
        if self.validity is None or callable(self.validity):
            return
        if self.validity not in _VALIDITY:
            raise ValueError(
                f"validity must be None, one of {_VALIDITY} or a callable(X, labels); got "
                f"{self.validity!r}."
            )
        flat = [name_of(e) for e in estimators if not has_tree(e)]
        if self.validity == "cophenetic" and flat:
            raise ValueError(
                "validity='cophenetic' compares distances with a dendrogram, which "
                f"AgglomerativeClustering has and {', '.join(flat)} has not. Use "
                "validity='hubert'."
            )

    def _check_ranges(
        self, n_objects: int, n_features: int
    ) -> tuple[tuple[int, int], tuple[int, int], tuple[int, int]]:
        """Return the ranges of the numbers of clusters, features and objects."""
        features = count_range("max_features", self.max_features, n_features, "features")
        objects = count_range("max_samples", self.max_samples, n_objects, "objects")
        if self.n_clusters is None:
            low = max(2, math.ceil(math.sqrt(n_objects) / 2))
            return (low, max(low, math.isqrt(n_objects))), features, objects
        low, high = as_pair(self.n_clusters)
        if not is_integer(low) or not is_integer(high) or not 1 <= low <= high:
            raise ValueError(
                "n_clusters must be a number of at least 1, a pair (low, high) of these or None; "
                f"got {self.n_clusters!r}."
            )
        if high > n_objects:
            raise ValueError(
                f"n_clusters must be at most the number of objects, n_samples = {n_objects}; got "
                f"{self.n_clusters!r}."
            )
        if low > objects[0]:
            raise ValueError(
                f"n_clusters asks for at least {low} clusters, but max_samples="
                f"{self.max_samples!r} leaves a run as few as {objects[0]} objects. Lower one or "
                "raise the other."
            )
        return (int(low), int(high)), features, objects

    # --- fit ----------------------------------------------------------------------------------

    def _open_checkpoint(
        self, X: Any, estimators: Sequence[Any], entropy: tuple[int, ...]
    ) -> Checkpoint:
        assert self.checkpoint is not None
        parameters, versions = describe_estimators(estimators)
        for name in ("n_clusters", "max_features", "max_samples", "noise", "validity"):
            parameters[name] = describe_value(getattr(self, name))
        return Checkpoint(
            self.checkpoint,
            {"data": describe_data(X), "parameters": parameters, "versions": versions},
            entropy=None if self.random_state is None else entropy,
            fresh_entropy=entropy,
        )

    def _run_all(
        self, X: Any, estimators: Sequence[Any], recipe: Recipe, checkpoint: Checkpoint | None
    ) -> list[Outcome]:
        """Return the outcomes of all runs in order, those of a checkpoint read from there."""
        keys = [(g, r) for g in range(len(estimators)) for r in range(self.n_partitions)]
        outcomes: dict[tuple[int, int], Outcome] = {}
        if checkpoint is not None:
            for key in keys:
                found = checkpoint.load(draw_run(recipe, *key, objects=False))
                if found is not None:
                    outcomes[key] = found
        missing = [(X, estimators[g], recipe, g, r) for g, r in keys if (g, r) not in outcomes]
        results = run_unordered(
            execute_run, missing, n_jobs=self.n_jobs, one_by_one=checkpoint is not None
        )
        with (
            track_progress("partitions", len(keys)) as done,
            one_thread(),
            warnings.catch_warnings(),
            closing(results),
        ):
            done[0] = len(outcomes)
            # Runs of an ensemble need not converge, and may have more clusters than distinct
            # objects; a hundred warnings would help nobody.
            warnings.simplefilter("ignore", ConvergenceWarning)
            for outcome in results:
                if checkpoint is not None:
                    checkpoint.save(outcome)
                outcomes[outcome.group, outcome.run] = outcome
                done[0] = len(outcomes)
        return [outcomes[key] for key in keys]

    def _set_fitted(
        self,
        X: Any,
        names: list[str] | None,
        estimators: list[Any],
        recipe: Recipe,
        outcomes: list[Outcome],
    ) -> None:
        """Set the fitted attributes."""
        empty = [o for o in outcomes if o.n_clusters == 0]
        if empty:
            outcomes = [o for o in outcomes if o.n_clusters > 0]
            who = ", ".join(sorted({name_of(estimators[o.group]) for o in empty}))
            hint = (
                "Let it find denser clusters (for DBSCAN a larger eps or smaller min_samples), or "
                "use noise='singletons'."
            )
            if not outcomes:
                raise ValueError(f"every run called every object noise ({who}). {hint}")
            warnings.warn(
                f"left out {len(empty)} of {len(empty) + len(outcomes)} partitions in which every "
                f"object is noise ({who}). {hint}",
                UserWarning,
                stacklevel=4,
            )
        self._recipe = recipe
        self.ensemble_ = Ensemble(
            [self._whole_column(o) for o in outcomes],
            groups=[o.group if names is None else names[o.group] for o in outcomes],
            validity=None if self.validity is None else [o.validity for o in outcomes],
        )
        self._n_drawn_clusters = self.ensemble_.n_clusters
        self._n_features_out = len(outcomes)
        self._base_estimators = [clone(e) for e in estimators]
        # The labels are in the ensemble, so the outcomes need not hold them.
        self._fitted = [o.estimator for o in outcomes]
        self._outcomes = [o._replace(codes=o.codes[:0], estimator=None) for o in outcomes]
        needed = any(
            not hasattr(estimators[o.group], "predict") or o.estimator is None for o in outcomes
        )
        self._fit_X = X if needed else None

    def _whole_column(self, outcome: Outcome) -> NDArray[Any]:
        """Return the codes of all objects, -1 for those that the run left out."""
        draw = draw_run(self._recipe, outcome.group, outcome.run)
        if draw.objects is None:
            return outcome.codes
        column = np.full(self._recipe.n_objects, MISSING, dtype=outcome.codes.dtype)
        column[draw.objects] = outcome.codes
        return column

    def _assign_left_out(self, X: Any) -> None:
        """Give the objects that a run did not draw the label that `transform` gives them."""
        drawn = self.ensemble_
        self.ensemble_ = Ensemble(self._label_all(X), groups=drawn.groups, validity=drawn.validity)

    # --- transform ----------------------------------------------------------------------------

    def _shared_neighbours(self, X: Any) -> dict[str, NDArray[np.int64]]:
        """Return the nearest training objects of runs that used all features and objects.

        They are the same for all runs with the same metric, so they are sought once.
        """
        shared: dict[str, NDArray[np.int64]] = {}
        if self._recipe.features[0] < self._recipe.n_features:
            return shared
        if self._recipe.objects[0] < self._recipe.n_objects:
            return shared
        for group in sorted({o.group for o in self._outcomes}):
            estimator = self._base_estimators[group]
            if hasattr(estimator, "predict") or isinstance(estimator, Pipeline):
                continue
            metric = metric_of(estimator)
            if repr(metric) not in shared:
                shared[repr(metric)] = nearest_objects(X, self._fit_X, **metric)
        return shared

    def _label_column(
        self,
        X: Any,
        position: int,
        shared: dict[str, NDArray[np.int64]],
        labels: NDArray[np.int32],
    ) -> None:
        """Fill one column of `labels` with the codes of the rows of `X`."""
        outcome = self._outcomes[position]
        base = self._base_estimators[outcome.group]
        predicts = hasattr(base, "predict")
        draw = draw_run(self._recipe, outcome.group, outcome.run, objects=not predicts)
        codes = self.ensemble_.labels[:, position]
        if predicts:
            estimator = self._fitted_estimator(position)
            new = label_by_predict(
                estimator,
                select_features(X, draw),
                int(self._n_drawn_clusters[position]),
                outcome.values,
                self._recipe.noise,
            )
        elif not isinstance(base, Pipeline) and repr(metric_of(base)) in shared:
            new = codes_of_nearest(shared[repr(metric_of(base))], codes)
        else:
            estimator = self._fitted_estimator(position) if isinstance(base, Pipeline) else base
            used = codes if draw.objects is None else codes[draw.objects]
            new = label_by_neighbour(
                estimator, select_features(X, draw), draw.used(self._fit_X), used
            )
        labels[:, position] = new

    def _fitted_estimator(self, position: int) -> Any:
        """Return the fitted estimator of a run; one that came from a checkpoint is fitted again."""
        if self._fitted[position] is None:
            old = self._outcomes[position]
            recipe = self._recipe._replace(validity=None)
            made = execute_run(
                self._fit_X, self._base_estimators[old.group], recipe, old.group, old.run
            )
            if not np.array_equal(self._whole_column(made), self.ensemble_.labels[:, position]):
                raise RuntimeError(
                    f"run {old.run} of estimator {old.group} from the checkpoint gives other "
                    "labels when it is made again: the training data or the machine has changed "
                    "since. Fit again without the checkpoint."
                )
            self._fitted[position] = made.estimator
        return self._fitted[position]


def _label_block(rows: Any, generator: RandomizedEnsemble) -> NDArray[np.int32]:
    return generator._label_all(as_matrix(rows))


def _draw_entropy(random_state: Any) -> tuple[int, ...]:
    words = check_random_state(random_state).randint(0, 2**32, size=4, dtype=np.uint32)
    return tuple(int(word) for word in words)
