"""How well two partitions of the same objects agree.

Everything comes from the contingency table, which has at most one cell per object, never from
a matrix over pairs of objects.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array, diags_array, hstack
from scipy.sparse.csgraph import min_weight_full_bipartite_matching
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score, rand_score
from sklearn.metrics.cluster import contingency_matrix, pair_confusion_matrix

from coterie.ensemble import Ensemble, as_ensemble
from coterie.metrics._tables import check_partition, nmi_of, tables_with

__all__ = [
    "PairwiseScores",
    "anmi",
    "ari",
    "class_f",
    "consistency_index",
    "error_rate",
    "nmi",
    "pairwise_f",
    "pairwise_precision_recall_f",
    "rand",
]

_DENSE_CELLS = 1 << 20  # match on a dense table up to this size, on a sparse one beyond


class PairwiseScores(NamedTuple):
    """How well the pairs put together by one partition are those put together by another.

    Examples
    --------
    >>> from coterie.metrics import pairwise_precision_recall_f
    >>> scores = pairwise_precision_recall_f([0, 0, 1, 1], [0, 0, 1, 2])
    >>> scores.precision, scores.recall
    (1.0, 0.5)
    """

    f: float
    """Harmonic mean of precision and recall."""
    precision: float
    """Share of the pairs together in the prediction that belong together."""
    recall: float
    """Share of the pairs that belong together that the prediction puts together."""


def nmi(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """Normalised mutual information, I(A, B) / sqrt(H(A) H(B)).

    scikit-learn's `normalized_mutual_info_score` with the geometric mean, as in [1]_; its own
    default is the arithmetic mean, which gives smaller values.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_objects,)
        Two partitions: integers or strings. ``-1`` is a name like any other.

    Returns
    -------
    nmi : float
        Between 0 and 1. 1 for equal partitions, also if both have one cluster only; 0 if just
        one of them has one cluster only. Symmetric.

    References
    ----------
    .. [1] Strehl & Ghosh (2002), Cluster ensembles: a knowledge reuse framework for combining
       multiple partitions. JMLR 3.

    Examples
    --------
    >>> nmi([0, 0, 1, 1], ["b", "b", "a", "a"])
    1.0
    >>> round(nmi([0, 0, 1, 1], [0, 0, 1, 2]), 3)
    0.816
    """
    truth, found = _check_two(labels_true, labels_pred)
    with _many_clusters_are_fine(truth, found):
        score = normalized_mutual_info_score(truth, found, average_method="geometric")
    return float(min(score, 1.0))  # rounding can leave it above 1


def ari(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """Rand index adjusted for chance (scikit-learn's `adjusted_rand_score`).

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_objects,)
        Two partitions: integers or strings. ``-1`` is a name like any other.

    Returns
    -------
    ari : float
        1 for equal partitions, near 0 for independent ones, at least -1/2. Symmetric.

    References
    ----------
    .. [1] Hubert & Arabie (1985), Comparing partitions, :doi:`10.1007/BF01908075`.

    Examples
    --------
    >>> ari([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    >>> round(ari([0, 0, 1, 1], [0, 0, 1, 2]), 3)
    0.571
    """
    truth, found = _check_two(labels_true, labels_pred)
    with _many_clusters_are_fine(truth, found):
        return float(adjusted_rand_score(truth, found))


def rand(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """Share of the n(n-1)/2 pairs on which two partitions agree (scikit-learn's `rand_score`).

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_objects,)
        Two partitions: integers or strings. ``-1`` is a name like any other.

    Returns
    -------
    rand : float
        Between 0 and 1; 1 for a single object, which has no pairs. Symmetric.

    References
    ----------
    .. [1] Rand (1971), :doi:`10.1080/01621459.1971.10482356`.

    Examples
    --------
    >>> round(rand([0, 0, 1, 1], [0, 0, 1, 2]), 3)
    0.833
    """
    truth, found = _check_two(labels_true, labels_pred)
    with _many_clusters_are_fine(truth, found):
        return float(rand_score(truth, found))


def pairwise_precision_recall_f(labels_true: ArrayLike, labels_pred: ArrayLike) -> PairwiseScores:
    """F, precision and recall of the decisions 'together' on the n(n-1)/2 pairs of objects.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_objects,)
        Two partitions: integers or strings. ``-1`` is a name like any other. Exchanging them
        exchanges precision and recall.

    Returns
    -------
    scores : PairwiseScores
        Named tuple (f, precision, recall), each between 0 and 1. Where neither partition puts
        any two objects together they are equal, and all three are 1; where only one does,
        no pair is right, and all three are 0.

    See Also
    --------
    pairwise_f : F alone.

    References
    ----------
    .. [1] Manning, Raghavan & Schütze (2008), Introduction to Information Retrieval, 16.3.

    Examples
    --------
    >>> pairwise_precision_recall_f([0, 0, 1, 1], [0, 0, 1, 2])
    PairwiseScores(f=0.666..., precision=1.0, recall=0.5)
    """
    truth, found = _check_two(labels_true, labels_pred)
    with _many_clusters_are_fine(truth, found):
        (_, found_only), (true_only, both) = pair_confusion_matrix(truth, found).tolist()
    if both + found_only + true_only == 0:
        return PairwiseScores(1.0, 1.0, 1.0)
    if both == 0:
        return PairwiseScores(0.0, 0.0, 0.0)
    return PairwiseScores(
        f=2 * both / (2 * both + found_only + true_only),
        precision=both / (both + found_only),
        recall=both / (both + true_only),
    )


def pairwise_f(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """F measure of the decisions 'together' on the n(n-1)/2 pairs of objects.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_objects,)
        Two partitions: integers or strings. ``-1`` is a name like any other.

    Returns
    -------
    f : float
        Between 0 and 1; edge cases as in `pairwise_precision_recall_f`. Symmetric.

    See Also
    --------
    class_f : The F measure of classes, which some papers print under the same name.

    Examples
    --------
    >>> round(pairwise_f([0, 0, 1, 1], [0, 0, 1, 2]), 3)
    0.667
    """
    return pairwise_precision_recall_f(labels_true, labels_pred).f


def class_f(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """Mean over the classes, weighted by their size, of the best F among the clusters.

    F of a class and a cluster is 2 c / (a + b): c objects in common, a in the class and b in
    the cluster. One cluster may be the best for several classes.

    Parameters
    ----------
    labels_true : array-like of shape (n_objects,)
        The classes: integers or strings. ``-1`` is a name like any other.
    labels_pred : array-like of shape (n_objects,)
        The clusters.

    Returns
    -------
    f : float
        In (0, 1], 1 only for equal partitions. Not symmetric.

    References
    ----------
    .. [1] Larsen & Aone (1999), Fast and effective text mining using linear-time document
       clustering, :doi:`10.1145/312129.312186`.

    Examples
    --------
    The first class is found; the best cluster for the second holds half of it:

    >>> round(class_f([0, 0, 1, 1], [0, 0, 1, 2]), 3)
    0.833
    """
    table = _contingency(*_check_two(labels_true, labels_pred))
    class_sizes, cluster_sizes = table.sum(axis=1), table.sum(axis=0)
    row = np.repeat(np.arange(table.shape[0]), np.diff(table.indptr))
    scores = 2 * table.data / (class_sizes[row] + cluster_sizes[table.indices])
    best = np.maximum.reduceat(scores, table.indptr[:-1])  # every class has an object
    return float(np.average(best, weights=class_sizes))


def consistency_index(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """Share of objects that the best one-to-one matching of clusters and classes explains.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_objects,)
        Two partitions: integers or strings. ``-1`` is a name like any other. Where they have
        different numbers of clusters, those left without a partner count as wrong.

    Returns
    -------
    index : float
        In (0, 1], 1 only for equal partitions. Symmetric.

    See Also
    --------
    error_rate : 1 - this index, except that splitting a class is no error.

    References
    ----------
    .. [1] Fred (2001), Finding consistent clusters in data partitions,
       :doi:`10.1007/3-540-48219-9_31`.

    Examples
    --------
    >>> consistency_index([0, 0, 1, 1], [0, 0, 1, 2])
    0.75
    """
    truth, found = _check_two(labels_true, labels_pred)
    return _match(_contingency(truth, found)) / len(truth)


def error_rate(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """Share of objects in a cluster that stands for another class than theirs.

    With at most as many clusters as classes, each cluster stands for one class and each class
    for at most one cluster, matched in the best way (one less `consistency_index`). With more
    clusters than classes, each cluster stands for its majority class: splitting a class is
    then no error, and all singletons have an error of 0.

    Parameters
    ----------
    labels_true : array-like of shape (n_objects,)
        The classes: integers or strings. ``-1`` is a name like any other.
    labels_pred : array-like of shape (n_objects,)
        The clusters.

    Returns
    -------
    error : float
        In [0, 1).

    Examples
    --------
    >>> error_rate([0, 0, 0, 1], [1, 1, 0, 0])
    0.25
    >>> error_rate([0, 0, 1, 1], [0, 0, 1, 2])
    0.0
    """
    truth, found = _check_two(labels_true, labels_pred)
    table = _contingency(truth, found)
    n_classes, n_clusters = table.shape
    right = _match(table) if n_clusters <= n_classes else int(table.max(axis=0).sum())
    return (len(truth) - right) / len(truth)


def anmi(labels: ArrayLike, ensemble: Ensemble | ArrayLike) -> float:
    """Mean `nmi` of one partition with the partitions of an ensemble.

    For a consensus this is the objective of [1]_; for the true classes it is the average
    accuracy of the members.

    Parameters
    ----------
    labels : array-like of shape (n_objects,)
        A partition: integers or strings. ``-1`` is a name like any other.
    ensemble : Ensemble or array-like of shape (n_objects, n_partitions)
        Each of its partitions is compared with `labels` on the objects it saw.

    Returns
    -------
    anmi : float
        Between 0 and 1.

    References
    ----------
    .. [1] Strehl & Ghosh (2002), Cluster ensembles: a knowledge reuse framework for combining
       multiple partitions. JMLR 3.

    Examples
    --------
    >>> round(anmi([0, 0, 1, 1], [[0, 0], [0, 0], [1, 1], [1, 2]]), 3)
    0.908
    """
    ensemble = as_ensemble(ensemble)
    codes = check_partition(labels, "labels", ensemble.n_objects)
    return float(nmi_of(tables_with(codes, ensemble.labels, ensemble.n_clusters)).mean())


def _check_two(
    labels_true: ArrayLike, labels_pred: ArrayLike
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    truth = check_partition(labels_true, "labels_true")
    found = check_partition(labels_pred, "labels_pred")
    if len(truth) != len(found):
        raise ValueError(
            "labels_true and labels_pred must label the same objects; got "
            f"{len(truth)} and {len(found)} labels."
        )
    return truth, found


def _contingency(truth: NDArray[np.intp], found: NDArray[np.intp]) -> csr_array:
    """Return the (n_classes, n_clusters) counts, only cells that hold objects."""
    return csr_array(contingency_matrix(truth, found, sparse=True, dtype=np.int64))


def _match(table: csr_array) -> int:
    """Return how many objects the best one-to-one matching of rows and columns holds."""
    n_rows, n_columns = table.shape
    if n_rows * n_columns <= _DENSE_CELLS:
        dense = table.toarray()
        return int(dense[linear_sum_assignment(dense, maximize=True)].sum())
    # Each row gets a column of its own, so that a matching of all rows exists. Adding 1 to all
    # weights keeps these edges, as 0 would mean no edge, and does not change the best matching.
    edges = csr_array((table.data + 1.0, table.indices, table.indptr), shape=table.shape)
    graph = csr_array(hstack([edges, diags_array(np.ones(n_rows))]))
    rows, columns = min_weight_full_bipartite_matching(graph, maximize=True)
    return int(graph[rows, columns].sum()) - n_rows


@contextmanager
def _many_clusters_are_fine(*partitions: NDArray[Any]) -> Iterator[None]:
    """Silence the guess of some versions of scikit-learn that many labels mean regression."""
    if all(2 * (int(codes.max()) + 1) < len(codes) for codes in partitions):
        yield
        return
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)
        yield
