"""Consensus clustering in one step: features in, labels out."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from coterie._notebook import FittedRepr
from coterie._reading import check_names_unique
from coterie.consensus import CONSENSUS
from coterie.consensus._base import BaseConsensus
from coterie.generation import RandomizedEnsemble

__all__ = ["ConsensusClustering"]


class ConsensusClustering(FittedRepr, ClusterMixin, BaseEstimator):
    """Cluster objects by the consensus of many clusterings of them.

    Makes an ensemble of partitions of `X` and finds their consensus.

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters. Default: the consensus finds it.
    generator : transformer, optional
        What makes the ensemble: its `fit_transform` gives an `Ensemble`, its `transform` the
        label rows of new objects. Default: `RandomizedEnsemble()`, a hundred k-means runs, each
        with a number of clusters drawn between sqrt(n)/2 and sqrt(n).
    consensus : str or estimator, default='laca'
        The consensus function, by name or as an estimator.
    n_jobs : int, optional
        Number of parallel runs of the generator; None means 1, -1 all processors. The result
        does not depend on it.
    random_state : int, RandomState or None
        Seed of the generator.

    Attributes
    ----------
    labels_ : ndarray of int64, shape (n_samples,)
        Consecutive from 0, largest cluster first.
    n_clusters_ : int
        Number of clusters found.
    confidence_ : ndarray of shape (n_samples,)
        In [0, 1]: how strongly the ensemble supports each object's place.
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
        consensus: str | BaseConsensus = "laca",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.generator = generator
        self.consensus = consensus
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Make the ensemble and find its consensus.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The features.
        y : ignored

        Returns
        -------
        self : object
        """
        check_names_unique(X)
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32])
        self.generator_ = self._make_generator()
        self.ensemble_ = self.generator_.fit_transform(X)
        self.consensus_ = self._make_consensus().fit(self.ensemble_)
        self.labels_ = self.consensus_.labels_
        self.n_clusters_ = self.consensus_.n_clusters_
        self.confidence_ = self.consensus_.confidence_
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

    def _make_generator(self) -> Any:
        if self.generator is None:
            return RandomizedEnsemble(n_jobs=self.n_jobs, random_state=self.random_state)
        generator = clone(self.generator)
        own = generator.get_params(deep=False)
        given = {"n_jobs": self.n_jobs, "random_state": self.random_state}
        generator.set_params(
            **{name: value for name, value in given.items() if name in own and value is not None}
        )
        return generator

    def _make_consensus(self) -> BaseConsensus:
        if isinstance(self.consensus, str):
            if self.consensus not in CONSENSUS:
                raise ValueError(
                    f"consensus must be an estimator or one of "
                    f"{', '.join(map(repr, sorted(CONSENSUS)))}; got {self.consensus!r}."
                )
            return CONSENSUS[self.consensus](n_clusters=self.n_clusters)
        consensus = clone(self.consensus)
        if self.n_clusters is not None:
            consensus.set_params(n_clusters=self.n_clusters)
        return consensus

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
