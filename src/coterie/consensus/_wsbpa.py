"""Weighted subspace bipartite partitioning, WSBPA (Domeniconi and Al-Razgan, 2009)."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.utils.validation import check_array, check_is_fitted

from coterie._about import DOMENICONI_2009, MethodWords
from coterie.consensus._hbgf import in_order
from coterie.consensus._wbpa import WBPA
from coterie.ensemble import Ensemble
from coterie.generation._lac import assign_nearest, mean_of_members, read_only

__all__ = ["WSBPA"]


def mean_weights(
    ensemble: Ensemble, cluster_parts: NDArray[np.int64], n_parts: int
) -> NDArray[np.float64]:
    """Return (k, D), formula (12): the mean feature weights of the clusters in each part.

    A part without clusters gets equal weights.
    """
    weights = np.concatenate([weights for _, weights in _subspaces(ensemble)])
    sums = np.zeros((n_parts, weights.shape[1]))
    np.add.at(sums, cluster_parts, weights)
    counts = np.bincount(cluster_parts, minlength=n_parts)[:, None]
    return np.where(counts > 0, sums / np.maximum(counts, 1), 1.0 / weights.shape[1])


def mean_centres(
    ensemble: Ensemble, labels: NDArray[np.int64], n_parts: int
) -> NDArray[np.float64]:
    """Return (k, D): centres of parts without the features, from the centres of the ensemble.

    An object stands where its clusters' centres are on average. This is exact where partitions
    agree with the parts.
    """
    subspaces = _subspaces(ensemble)
    sums = np.zeros((n_parts, subspaces[0][0].shape[1]))
    seen = np.zeros(n_parts)
    for e, (centres, _) in enumerate(subspaces):
        codes = ensemble.labels[:, e]
        table = np.zeros((n_parts, len(centres)))
        np.add.at(table, (labels[codes >= 0], codes[codes >= 0]), 1.0)
        sums += table @ centres
        seen += table.sum(axis=1)
    return sums / np.maximum(seen, 1)[:, None]


def _subspaces(ensemble: Ensemble) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Return centres and weights of the clusters that are columns of the posterior matrix."""
    assert ensemble.subspaces is not None
    widths = {centres.shape[1] for centres, _ in ensemble.subspaces}
    if len(widths) > 1:
        raise ValueError(
            "subspaces must all have the same features for WSBPA; got partitions with "
            f"{sorted(widths)} features. Give features that a partition did not use the weight 0."
        )
    chosen = []
    for e, (centres, weights) in enumerate(ensemble.subspaces):
        k = int(ensemble.n_clusters[e])
        if ensemble.posteriors is not None:
            k = ensemble.posteriors[e].shape[1]
            if len(centres) != k:
                raise ValueError(
                    f"subspaces and posteriors must have the same clusters; partition {e} has "
                    f"{len(centres)} centres and {k} columns of posteriors."
                )
        chosen.append((centres[:k], weights[:k]))
    return chosen


class WSBPA(WBPA):
    """Weighted subspace bipartite partitioning: a consensus with centres and feature weights.

    The graph of objects and clusters is cut as by `coterie.WBPA`. The feature weights of the
    clusters in a part, averaged, are the weights of the consensus cluster, and the mean of the
    objects in it is its centre; every object then goes to the nearest centre in the weighted
    distance of its cluster [1]_. So the consensus says which features make a cluster, and
    places new objects by their features.

    Parameters
    ----------
    partitioner : {'spectral', 'metis'}, default='spectral'
        How the graph is cut. 'spectral' allows clusters of any size. 'metis' makes parts of
        about the same size, so use it only where clusters are; it needs the package pymetis.

    Attributes
    ----------
    labels_ : ndarray of int64, shape (n_objects,)
        The nearest cluster. Consecutive from 0, largest cluster first.
    n_clusters_ : int
        Number of clusters with objects.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The mean of the objects in each part of the graph, in the order of the labels and in the
        units of the ensemble's features. Only if the ensemble has subspaces.
    feature_weights_ : ndarray of shape (n_clusters, n_features)
        The mean weights (12) of the clusters in each part; rows sum to 1 if theirs do. Only if
        the ensemble has subspaces.
    graph_labels_ : ndarray of int64, shape (n_objects,)
        Where the cut of the graph put each object, in the same numbers.
    cluster_labels_ : ndarray of int64, shape (K,)
        The consensus cluster of each cluster of each partition, partition after partition, in the
        order of the columns of `posteriors`.

    See Also
    --------
    coterie.LACEnsemble : Makes ensembles with posteriors, subspaces and features.

    Notes
    -----
    **What the ensemble must hold.** `coterie.LACEnsemble` gives all that is needed. Others can
    be completed: ``Ensemble(labels, posteriors=..., subspaces=..., features=X)``. Without
    `features` objects stay where the cut put them, and a centre is the mean of the centres of
    the clusters that the objects of the part are in; this is exact where the partitions agree.
    Without `subspaces` there are no centres and weights either: the result is that of WBPA.

    **Scale.** Centres and weights are in the units of the ensemble's features, so features to
    predict from must be scaled in the same way: `LACEnsemble.scale_features`.

    A missing label is a row of zeros in the posteriors: no edges. A part without cluster vertices
    gets equal weights. Objects that are as near to two centres go to the first. Reassignment may
    leave a cluster without objects; its centre comes last then, and a warning says so.

    Examples
    --------
    >>> from coterie import LACEnsemble, WSBPA
    >>> from coterie.datasets import make_two_gaussian
    >>> X, y = make_two_gaussian(random_state=0)
    >>> ensemble = LACEnsemble(n_clusters=2, inv_h=[0.1, 0.2, 0.3], random_state=0).fit_transform(X)
    >>> wsbpa = WSBPA(n_clusters=2, random_state=0).fit(ensemble)
    >>> wsbpa.feature_weights_.round(2)
    array([[0.81, 0.19],
           [0.33, 0.67]])
    >>> wsbpa.predict([[0.0, 9.0], [16.0, 5.0]])
    array([0, 1])
    >>> [features[0][0] for features in wsbpa.top_features(["width", "height"], n=1)]
    ['width', 'height']
    """

    about = MethodWords(
        title="Weighted subspace bipartite partitioning algorithm",
        does=(
            "Cuts the graph of WBPA, gives each part the mean feature weights of its clusters and"
            " a centre, and puts each object to the nearest centre in its own weighted distance. "
            "So the clusters of the consensus say which features make them."
        ),
        use=(
            "Clusters that live in different features, such as topics in texts, and when you want"
            " to know which. Needs partitions with feature weights: LACEnsemble makes them."
        ),
        cost="As WBPA, plus O(n D k) for D features.",
        missing="As in WBPA.",
        name=(
            "weighted subspace bipartite partitioning (WSBPA; Domeniconi and Al-Razgan, 2009): as"
            " weighted bipartite partitioning, and then each cluster gets a centre and feature "
            "weights and each object the nearest centre in its weighted distance"
        ),
        references=(DOMENICONI_2009,),
    )

    saved_state = None

    def _fit(self, ensemble: Ensemble) -> NDArray[np.int64]:
        for name in ("cluster_centers_", "feature_weights_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        parts = self._cut(ensemble)
        k = int(self.n_clusters or 1)
        labels = parts.objects
        if ensemble.subspaces is not None:
            weights = mean_weights(ensemble, parts.clusters, k)
            if ensemble.features is None:
                centres = mean_centres(ensemble, labels, k)
            else:
                self._check_width(ensemble, weights)
                X = read_only(ensemble.features)
                centres = mean_of_members(X, labels, k)
                labels = assign_nearest(X, centres[None], weights[None])[0].astype(np.int64)
            order = np.argsort(in_order(labels, k))
            self.cluster_centers_ = centres[order]
            self.feature_weights_ = weights[order]
        place = in_order(labels, k)
        self.graph_labels_ = place[parts.objects]
        self.cluster_labels_ = place[parts.clusters]
        n_found = len(np.unique(labels))
        if n_found < k:
            warnings.warn(
                f"only {n_found} of n_clusters={k} clusters are the nearest for some object; the "
                "others are empty.",
                UserWarning,
                stacklevel=3,
            )
        return labels

    @staticmethod
    def _check_width(ensemble: Ensemble, weights: NDArray[np.float64]) -> None:
        if ensemble.features.shape[1] != weights.shape[1]:
            raise ValueError(
                f"features must be those of the subspaces, {weights.shape[1]} columns; got "
                f"{ensemble.features.shape[1]}."
            )

    def predict(self, X: ArrayLike | Ensemble | Any) -> NDArray[np.int64]:
        """Put new objects into the consensus clusters, by features or by label rows.

        Parameters
        ----------
        X : Ensemble, or array-like of shape (n_new, n_features) or (n_new, n_partitions)
            Features (dense or sparse, scaled as those of the ensemble): each goes to the nearest
            centre in the weighted distance of its cluster. Or labels by the same partitions, as
            a pipeline with `LACEnsemble` passes them on: the cluster with the largest share of
            votes. The number of columns tells which; where it fits both, integers and text are
            labels and floating-point numbers are features.

        Returns
        -------
        labels : ndarray of shape (n_new,)
        """
        check_is_fitted(self)
        if not self._are_features(X):
            return super().predict(X)
        X = check_array(X, accept_sparse="csr", dtype=np.float64, order="C", input_name="X")
        nearest = assign_nearest(
            read_only(X), self.cluster_centers_[None], self.feature_weights_[None]
        )
        return nearest[0].astype(np.int64)

    def _are_features(self, X: Any) -> bool:
        if isinstance(X, Ensemble) or not hasattr(self, "cluster_centers_"):
            return False
        n_features = self.cluster_centers_.shape[1]
        table = np.asarray(X) if not hasattr(X, "shape") else X
        widths = [n_features] if issparse(X) else [n_features, self.n_features_in_]
        if len(table.shape) != 2 or table.shape[1] not in widths:
            labels = "" if issparse(X) else f", or {self.n_features_in_} columns of labels"
            raise ValueError(
                f"X must have {n_features} columns, the features of the ensemble{labels}; got "
                f"shape {table.shape}."
            )
        if issparse(X):
            return True
        if table.shape[1] != n_features:
            return False
        if n_features not in (self.n_features_in_, self.ensemble_.n_partitions):
            return True
        return np.asarray(table).dtype.kind == "f"

    def top_features(
        self, names: Sequence[str] | None = None, n: int = 10, *, by: str = "weight"
    ) -> list[list[tuple[str, float]]]:
        """Return the features that weigh most in each cluster.

        Parameters
        ----------
        names : sequence of str of length n_features, optional
            What the features are called, such as words. Default: their numbers.
        n : int, default=10
            How many for each cluster.
        by : {'weight', 'contrast'}, default='weight'
            What to sort by: the weight, or how far it is above the largest weight of the same
            feature in another cluster.

        Returns
        -------
        features : list of list of (name, weight)
            For each cluster, largest first; of equal ones the first feature.

        Notes
        -----
        A large weight says that the objects of a cluster agree in a feature. In text this may be
        a word that none of them has: the paper finds that words of one topic weigh most in the
        *other* cluster. `cluster_centers_` tells how often a word occurs.
        """
        check_is_fitted(self)
        if not hasattr(self, "feature_weights_"):
            raise ValueError(
                "there are no feature weights, because the ensemble had no subspaces. Make it with "
                "LACEnsemble, or give Ensemble(labels, subspaces=...) centres and weights."
            )
        weights = self.feature_weights_
        n_features = weights.shape[1]
        shown = [str(s) for s in (range(n_features) if names is None else names)]
        if len(shown) != n_features:
            raise ValueError(f"names must be {n_features}, one per feature; got {len(shown)}.")
        if not isinstance(n, Integral) or n < 1:
            raise ValueError(f"n must be a whole number of features, at least 1; got {n!r}.")
        if by not in ("weight", "contrast"):
            raise ValueError(f"by must be 'weight' or 'contrast'; got {by!r}.")
        found = []
        for c, own in enumerate(weights):
            rank = own
            if by == "contrast" and len(weights) > 1:
                rank = own - np.delete(weights, c, axis=0).max(axis=0)
            order = np.argsort(-rank, kind="stable")[:n]
            found.append([(shown[s], float(own[s])) for s in order])
        return found
