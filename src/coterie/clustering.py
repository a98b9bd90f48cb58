"""Consensus clustering in one step: features in, labels out."""

from __future__ import annotations

import os
import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from coterie._block_clustering import Labelling, consense_blocks
from coterie._methods import DEFAULT_METHOD
from coterie._model_file import load_model, save_model
from coterie._notebook import FittedRepr
from coterie._reading import check_table
from coterie.blocks import is_blocks
from coterie.blocks._features import as_matrix, sample_features
from coterie.blocks._sources import Source, dask_source
from coterie.choosing._how_many import MIN_SHARE, ClusterNumbers, how_many_clusters
from coterie.consensus import CONSENSUS
from coterie.consensus._base import BaseConsensus, pass_seed
from coterie.ensemble import Ensemble
from coterie.generation._recipes import make_generator
from coterie.preparation import TablePreparation

__all__ = ["DEFAULT_CONSENSUS", "ConsensusClustering", "by_name", "choose_number"]

DEFAULT_CONSENSUS = DEFAULT_METHOD
SETTINGS: dict[str, dict[str, Any]] = {"lwea": {"min_share": MIN_SHARE, "max_objects": 10_000}}
"""Settings of consensus functions given by name, where they differ from those of the class."""


class ConsensusClustering(FittedRepr, ClusterMixin, BaseEstimator):
    """Cluster objects by the consensus of many clusterings of them.

    Makes an ensemble of partitions of `X`, chooses the number of clusters, and finds the consensus.

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters. Default: the number that `how_many_clusters` recommends; with a
        `consensus` that finds the number by itself, such as 'laca', its own number.
    generator : str or transformer, optional
        What makes the ensemble: its `fit_transform` gives an `Ensemble`, its `transform` the
        label rows of new objects. Default: 100 k-means runs with sqrt(n) to 2 sqrt(n) clusters,
        each fitted to at most 5,000 objects. ``'laca'`` is the recipe of the LACA paper: a
        hundred k-means runs with sqrt(n)/2 to sqrt(n) clusters.
    consensus : str or estimator, default='lwea'
        The consensus function, by name or as an estimator. The name 'lwea' stands for
        ``LWEA(min_share=0.1)``: no cluster is smaller than a tenth of the mean cluster size.
    n_jobs : int, optional
        Number of parallel runs of the generator, where it does not have its own; None means 1,
        -1 all processors. The result does not depend on it.
    random_state : int, RandomState or None
        Seed of everything: generator, rule for the number of clusters and consensus get integers
        drawn from it; a part that has a `random_state` of its own keeps it.

    Attributes
    ----------
    labels_ : ndarray of int64, shape (n_samples,)
        Consecutive from 0, largest cluster first.
    n_clusters_ : int
        Number of clusters found.
    cluster_numbers_ : ClusterNumbers or None
        The evidence for the number of clusters; None if the number was given, or the consensus
        found it.
    confidence_ : ndarray of shape (n_samples,)
        Confidence in [0, 1]: how strongly the ensemble supports each object's cluster.
    ensemble_ : Ensemble
        The partitions.
    generator_, consensus_ : estimators
        The fitted parts.
    n_features_in_ : int
        Number of features.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from coterie import ConsensusClustering
    >>> X, _ = make_blobs(60, centers=3, random_state=0, cluster_std=0.5)
    >>> model = ConsensusClustering(n_clusters=3, random_state=0).fit(X)
    >>> model.n_clusters_
    3
    >>> bool((model.predict(X[:5]) == model.labels_[:5]).all())
    True
    """

    def __init__(
        self,
        n_clusters: int | None = None,
        generator: Any = None,
        consensus: str | BaseConsensus = DEFAULT_CONSENSUS,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.generator = generator
        self.consensus = consensus
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: ArrayLike | Any, y: Any = None) -> Self:
        """Make the ensemble and find its consensus.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The features. Of a Dask array or data frame, partitions are fitted to a sample of
            50,000 rows, and `labels_` and `confidence_` are Dask arrays.
        y : ignored

        Returns
        -------
        self : object
        """
        if is_blocks(X):
            return self._fit_in_blocks(dask_source(X))
        check_table(X)
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32])
        self.generator_ = self._make_generator(np.shape(X)[0])
        self.ensemble_ = self.generator_.fit_transform(X)
        consensus = pass_seed(self._make_consensus(), self.random_state)
        if consensus.n_clusters is None and _is_constant(X):
            warnings.warn(
                "all objects are the same, so there is one cluster.", UserWarning, stacklevel=2
            )
            consensus.set_params(n_clusters=1)
        self.cluster_numbers_ = choose_number(
            consensus, self.ensemble_, X, n_jobs=self.n_jobs, random_state=self.random_state
        )
        self.consensus_ = consensus.fit(self.ensemble_)
        self.labels_ = self.consensus_.labels_
        self.n_clusters_ = self.consensus_.n_clusters_
        self.confidence_ = self.consensus_.confidence_
        return self

    def _fit_in_blocks(self, source: Source) -> Self:
        """Fit to a table in blocks: partitions to a sample, labels of all rows when asked for."""
        sample, n_drawn = sample_features(source)
        self.n_features_in_ = sample.shape[1]
        self.generator_ = self._make_generator(n_drawn)
        self.ensemble_ = self.generator_.fit_transform(sample)
        consensus = pass_seed(self._make_consensus(), self.random_state)
        self.cluster_numbers_ = choose_number(
            consensus, self.ensemble_, sample, n_jobs=self.n_jobs, random_state=self.random_state
        )
        labelling = Labelling(as_matrix, self.generator_)
        self.consensus_, results = consense_blocks(source, labelling, consensus)
        self.n_clusters_ = self.consensus_.n_clusters_
        self.labels_, self.confidence_ = (results.column(which) for which in (0, 1))
        return self

    def predict(self, X: ArrayLike) -> NDArray[np.int64]:
        """Put new objects into the consensus clusters.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)

        Returns
        -------
        labels : ndarray of shape (n_new,)
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        return self.consensus_.predict(self.generator_.transform(X))

    def predict_confidence(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the confidence in the predicted clusters of new objects, as in `confidence_`.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)

        Returns
        -------
        confidence : ndarray of shape (n_new,)
            In [0, 1], for the cluster that `predict` returns.
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        return self.consensus_.predict_confidence(self.generator_.transform(X))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write what prediction needs to a file (npz format, no pickle), whole or not at all.

        Base clusterers must be k-means; a message says what else cannot be saved.

        Parameters
        ----------
        path : path
            The file.
        """
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        save_model(path, self.generator_, self.consensus_, feature_names=names)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> ConsensusClustering:
        """Read a model that `save` or ``coterie cluster --save-model`` wrote.

        It predicts; to fit it again, give it a generator. If the command prepared the table, the
        fitted preparation is `preparation_`, and the model takes prepared features:
        ``model.predict(model.preparation_.transform(table))``.

        Parameters
        ----------
        path : path
            The file.

        Returns
        -------
        model : ConsensusClustering
        """
        generator, consensus, names, preparation = load_model(path)
        model = cls(n_clusters=consensus.n_clusters, consensus=clone(consensus))
        model.generator_, model.consensus_ = generator, consensus
        model.n_features_in_ = generator.n_features_in_
        if preparation:
            model.preparation_ = _preparation(preparation)
        elif names is not None and len(names) == model.n_features_in_:
            model.feature_names_in_ = np.asarray(names, dtype=object)
        model.ensemble_ = consensus.ensemble_
        model.labels_, model.n_clusters_ = consensus.labels_, consensus.n_clusters_
        model.confidence_, model.cluster_numbers_ = consensus.confidence_, None
        return model

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; with `deep` those of the parts too, also of one given by name.

        Parameters
        ----------
        deep : bool, default=True

        Returns
        -------
        params : dict
        """
        params: dict[str, Any] = super().get_params(deep=deep)
        if deep and isinstance(self.consensus, str) and self.consensus in CONSENSUS:
            own = by_name(self.consensus).get_params(deep=False)
            params |= {f"consensus__{name}": value for name, value in own.items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters, those of parts as ``consensus__linkage='single'``.

        A consensus given by name becomes an estimator when one of its parameters is set.

        Parameters
        ----------
        params : dict

        Returns
        -------
        self : object
        """
        name = params.get("consensus", self.consensus)
        nested = any(key.startswith("consensus__") for key in params)
        if nested and isinstance(name, str) and name in CONSENSUS:
            params = {"consensus": by_name(name)} | {
                key: value for key, value in params.items() if key != "consensus"
            }
        return super().set_params(**params)

    def _make_generator(self, n_objects: int) -> Any:
        given = {"n_jobs": self.n_jobs, "random_state": self.random_state}
        if self.generator is None or isinstance(self.generator, str):
            recipe = "default" if self.generator is None else self.generator
            return make_generator(recipe, n_objects, **given)
        generator = clone(self.generator)
        own = generator.get_params(deep=False)
        generator.set_params(
            **{name: value for name, value in given.items() if own.get(name, "absent") is None}
        )
        return generator

    def _make_consensus(self) -> BaseConsensus:
        if isinstance(self.consensus, str):
            if self.consensus not in CONSENSUS:
                raise ValueError(
                    f"consensus must be an estimator or one of "
                    f"{', '.join(map(repr, sorted(CONSENSUS)))}; got {self.consensus!r}."
                )
            consensus = by_name(self.consensus).set_params(n_clusters=self.n_clusters)
        else:
            consensus = clone(self.consensus)
            if self.n_clusters is not None:
                consensus.set_params(n_clusters=self.n_clusters)
        return consensus

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def choose_number(
    consensus: BaseConsensus,
    ensemble: Ensemble,
    X: Any = None,
    *,
    n_jobs: int | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> ClusterNumbers | None:
    """Set the number of clusters of a consensus function that has none and cannot find it.

    Returns the evidence for the number; None where it was given, or the consensus finds it.
    """
    if consensus.n_clusters is not None or consensus.finds_n_clusters:
        return None
    if X is None:
        numbers = how_many_clusters(ensemble, random_state=random_state)
    else:
        numbers = how_many_clusters(X, ensemble=ensemble, n_jobs=n_jobs, random_state=random_state)
    consensus.set_params(n_clusters=numbers.recommended)
    return numbers


def by_name(name: str) -> BaseConsensus:
    """Return the consensus function that a name stands for, without a number of clusters."""
    return CONSENSUS[name](n_clusters=None, **SETTINGS.get(name, {}))


def _preparation(state: dict[str, Any]) -> Any:
    """Return the fitted transformer that a model file describes."""
    if "expression" in state:
        from coterie.preparation import ExpressionPreparation

        first = ExpressionPreparation.from_dict(state["expression"]["fitted"])
        rest = {name: value for name, value in state.items() if name != "expression"}
        first.set_output(transform="polars" if "table" in rest else "default")
        return make_pipeline(first, _preparation(rest)) if rest else first
    if "table" in state:
        return TablePreparation.from_dict(state["table"])
    scaler = StandardScaler()
    scaler.mean_, scaler.scale_ = np.array(state["mean"]), np.array(state["scale"])
    scaler.n_features_in_ = len(scaler.mean_)
    return scaler


def _is_constant(X: Any) -> bool:
    """Whether there are several objects, all with the same features."""
    differs = X.max(axis=0) != X.min(axis=0)
    return X.shape[0] > 1 and not (differs.nnz if hasattr(differs, "nnz") else differs.any())
