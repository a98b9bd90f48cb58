"""How well one partition, or one tree, fits the distances of the objects it was made from.

Both indices are correlations over the pairs of objects of the Euclidean distance and of a
height in a tree: the height of the merge that joins the pair or, for a partition, 0 within a
cluster and 1 between clusters, which is the tree with two levels. Sums over all pairs take
time quadratic in the number of objects and memory linear in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.cluster.hierarchy import is_valid_linkage
from sklearn.utils import check_array

from coterie._kernels.pair_statistics import order_leaves, sum_over_pairs
from coterie.metrics._tables import check_partition

__all__ = ["VALIDITY", "cophenetic_correlation", "hubert_gamma"]

# A standard deviation below this share of the values is rounding: they count as constant.
_CONSTANT = 1e-13


class ValidityIndex(Protocol):
    """The quality of one run in [0, 1]."""

    def __call__(self, X: ArrayLike, labels: ArrayLike, *, estimator: Any = None) -> float:
        """Return the quality of `labels`, found in `X` by the fitted `estimator`."""


class _Tree(NamedTuple):
    """A tree over n leaves in left-to-right order."""

    order: NDArray[np.intp]
    """(n,): leaves from left to right."""
    joined: NDArray[np.int64]
    """(n - 1,): which merge joins the leaves at positions p and p + 1."""
    heights: NDArray[np.float64]
    """(m,): of each merge; the merge of any two leaves is the last one between them."""
    n_pairs: NDArray[np.int64]
    """(m,): how many pairs each merge joins."""


def hubert_gamma(X: ArrayLike, labels: ArrayLike) -> float:
    """Hubert's Gamma of a partition, in its normalised form.

    The Pearson correlation, over the pairs i < j, of the Euclidean distance of i and j and of
    'i and j are in different clusters' (0 or 1). It is high for compact clusters far apart.

    Parameters
    ----------
    X : array-like of shape (n_objects, n_features)
        The objects.
    labels : array-like of shape (n_objects,)
        Their clusters: integers or strings. ``-1`` is a name like any other: leave out objects
        on which a partition has no opinion.

    Returns
    -------
    gamma : float
        Between -1 and 1; 0 where the correlation is not defined: one cluster, all singletons,
        or distances that are all the same (also two objects or one).

    See Also
    --------
    cophenetic_correlation : The same for a whole dendrogram.

    Notes
    -----
    Exact, in O(n^2 D) time and O(n D) memory, and the same on any number of threads.

    References
    ----------
    .. [1] Hubert & Schultz (1976), Quadratic assignment as a general data analysis strategy,
       :doi:`10.1111/j.2044-8317.1976.tb00714.x`.
    .. [2] Berikov (2017), Cluster ensemble with averaged co-association matrix maximizing the
       expected margin, section 2.2.

    Examples
    --------
    >>> X = [[0.0], [1.0], [10.0], [11.0]]
    >>> round(hubert_gamma(X, [0, 0, 1, 1]), 3)
    0.991
    >>> round(hubert_gamma(X, [0, 1, 0, 1]), 3)
    -0.495
    """
    X = _check_objects(X)
    codes = check_partition(labels, "labels", len(X))
    return _correlate(X, _tree_of_partition(codes))


def cophenetic_correlation(X: ArrayLike, tree: Any) -> float:
    """Correlation of the distances of objects with the heights at which a tree joins them.

    The Pearson correlation, over the pairs i < j, of the Euclidean distance of i and j and of
    their cophenetic distance: the height of the merge that first puts them together.

    Parameters
    ----------
    X : array-like of shape (n_objects, n_features)
        The objects.
    tree : ndarray of shape (n_objects - 1, 4), or fitted AgglomerativeClustering
        A linkage matrix in SciPy's format, or an estimator with the attributes ``children_``
        and ``distances_`` for the full tree: scikit-learn's `AgglomerativeClustering` has them
        with ``compute_distances=True, compute_full_tree=True``.

    Returns
    -------
    correlation : float
        Between -1 and 1; 0 where the correlation is not defined: merges all at one height, or
        distances that are all the same.

    See Also
    --------
    hubert_gamma : The same for one partition.
    scipy.cluster.hierarchy.cophenet : The same from a condensed matrix of distances.

    Notes
    -----
    Exact, in O(n^2 D) time and O(n D) memory. Heights need not rise from the leaves to the
    root (centroid and median linkage). ``RandomizedEnsemble(validity='cophenetic')`` uses the tree
    of each run, so it needs hierarchical clusterers.

    References
    ----------
    .. [1] Sokal & Rohlf (1962), The comparison of dendrograms by objective methods,
       :doi:`10.2307/1217208`.
    .. [2] Berikov (2017), Cluster ensemble with averaged co-association matrix maximizing the
       expected margin, section 2.2.

    Examples
    --------
    >>> from scipy.cluster.hierarchy import linkage
    >>> X = [[0.0], [1.0], [10.0], [12.0]]
    >>> round(cophenetic_correlation(X, linkage(X, "average")), 3)
    0.978
    """
    X = _check_objects(X)
    return _correlate(X, _check_tree(tree, len(X)))


def _hubert_validity(X: ArrayLike, labels: ArrayLike, *, estimator: Any = None) -> float:
    """Hubert's Gamma, negative values set to 0."""
    return max(0.0, hubert_gamma(X, labels))


def _cophenetic_validity(X: ArrayLike, labels: ArrayLike, *, estimator: Any = None) -> float:
    """Cophenetic correlation of the run's own tree, negative values set to 0."""
    if not hasattr(estimator, "children_"):
        raise ValueError(
            "validity='cophenetic' needs runs that build a tree, such as scikit-learn's "
            f"AgglomerativeClustering; got {type(estimator).__name__}. For other clusterers use "
            "validity='hubert'."
        )
    return max(0.0, cophenetic_correlation(X, estimator))


#: Validity indices by name, each ``(X, labels, *, estimator=None) -> float`` in [0, 1].
#: `X` holds the objects and features that the run used, `estimator` is the fitted clusterer.
VALIDITY: Mapping[str, ValidityIndex] = MappingProxyType(
    {"cophenetic": _cophenetic_validity, "hubert": _hubert_validity}
)


def _correlate(X: NDArray[np.float64], tree: _Tree) -> float:
    """Return the correlation over pairs of Euclidean distance and height in the tree."""
    n = len(X)
    n_pairs = n * (n - 1) // 2
    if n_pairs < 2:
        return 0.0
    # A correlation does not depend on units: keep squares within the range of floats.
    X = _to_unit_scale(X)
    heights = _to_unit_scale(tree.heights)
    levels = heights - np.average(heights, weights=tree.n_pairs)
    height_variance = np.average(levels**2, weights=tree.n_pairs)
    # The root mean square distance lies near the mean, so shifted sums lose no digits.
    shift = np.sqrt(2.0 * np.square(X - X.mean(axis=0)).sum() / (n - 1))
    columns = np.ascontiguousarray(X[tree.order].T)
    total, squares, products = (
        sum_over_pairs(columns, tree.joined, levels, shift).sum(axis=0) / n_pairs
    )
    distance_variance = squares - total**2
    if (
        height_variance <= (_CONSTANT * np.abs(heights).max()) ** 2
        or distance_variance <= (_CONSTANT * shift) ** 2
    ):
        return 0.0
    correlation = products / np.sqrt(distance_variance * height_variance)
    return float(np.clip(correlation, -1.0, 1.0))


def _to_unit_scale(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the values divided by a power of two (exact), so that the largest is near 1."""
    _, exponent = np.frexp(np.abs(values).max())
    return np.ldexp(values, -exponent)


def _tree_of_partition(codes: NDArray[np.intp]) -> _Tree:
    """Return the tree with two levels: merges within clusters at 0, between them at 1."""
    order = np.argsort(codes, kind="stable")
    sizes = np.bincount(codes)
    together = int((sizes * (sizes - 1) // 2).sum())
    n_pairs = len(codes) * (len(codes) - 1) // 2
    return _Tree(
        order=order,
        joined=(np.diff(codes[order]) > 0).astype(np.int64),
        heights=np.array([0.0, 1.0]),
        n_pairs=np.array([together, n_pairs - together]),
    )


def _check_objects(X: ArrayLike) -> NDArray[np.float64]:
    return check_array(X, dtype=np.float64, input_name="X")


def _check_tree(tree: Any, n_objects: int) -> _Tree:
    if hasattr(tree, "fit"):
        children, heights = _merges_of_estimator(tree)
    else:
        children, heights = _merges_of_linkage(tree)
    if len(children) + 1 != n_objects:
        raise ValueError(
            f"tree must join the {n_objects} objects of X in {n_objects - 1} merges; got "
            f"{len(children)}."
        )
    order, joined, n_pairs = order_leaves(children)
    return _Tree(order, joined, heights, n_pairs)


def _merges_of_linkage(tree: Any) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    linkage = np.asarray(tree)
    if linkage.ndim != 2 or linkage.shape[1] != 4:
        raise ValueError(
            "tree must be a linkage matrix of shape (n_objects - 1, 4) or a fitted "
            f"AgglomerativeClustering; got shape {linkage.shape}. To judge labels, use "
            "hubert_gamma; for the tree of each run of an ensemble, validity='cophenetic'."
        )
    linkage = linkage.astype(np.float64)
    try:
        is_valid_linkage(linkage, throw=True, name="tree")
    except ValueError as error:
        raise ValueError(f"tree must be a linkage matrix in SciPy's format: {error}") from None
    return linkage[:, :2].astype(np.int64), linkage[:, 2].copy()


def _merges_of_estimator(estimator: Any) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    if not hasattr(estimator, "children_") or not hasattr(estimator, "distances_"):
        raise ValueError(
            "tree must be a fitted estimator with children_ and distances_; "
            f"{type(estimator).__name__} lacks them. Fit AgglomerativeClustering with "
            "compute_distances=True."
        )
    children = np.asarray(estimator.children_, dtype=np.int64)
    n_leaves = getattr(estimator, "n_leaves_", len(children) + 1)
    if len(children) != n_leaves - 1:
        raise ValueError(
            f"tree must be whole: {n_leaves - 1} merges of {n_leaves} objects; got "
            f"{len(children)}. Fit AgglomerativeClustering with compute_full_tree=True."
        )
    heights = np.asarray(estimator.distances_, dtype=np.float64)
    # Compiled code does not check these numbers.
    is_tree = np.array_equal(np.sort(children, axis=None), np.arange(2 * len(children)))
    in_order = (children < n_leaves + np.arange(len(children))[:, None]).all()
    if not is_tree or not in_order or heights.shape != (len(children),):
        raise ValueError(
            f"tree must be a tree: children_ of {type(estimator).__name__} must name each of the "
            f"{2 * len(children)} nodes below the root once, before they are merged further, "
            "and distances_ hold one height per merge."
        )
    return children, heights
