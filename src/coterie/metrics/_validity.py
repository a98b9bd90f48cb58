"""How well one partition, or one tree, fits the distances of the objects it was made from.

Both indices are Pearson correlations over the pairs of objects, of the Euclidean distance with 'in
different clusters' (0 or 1), or with the height of the merge that joins the pair.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.cluster.hierarchy import cophenet, is_valid_linkage
from scipy.spatial.distance import cdist, pdist
from sklearn.utils import check_array, gen_batches

from coterie._limits import check_fits
from coterie.metrics._tables import check_partition

__all__ = ["VALIDITY", "cophenetic_correlation", "hubert_gamma"]

# A standard deviation below this share of the values is rounding: they count as constant.
_CONSTANT = 1e-13
_CELLS = 1 << 15  # distances in memory at a time


class ValidityIndex(Protocol):
    """The quality of one run in [0, 1]."""

    def __call__(self, X: ArrayLike, labels: ArrayLike, *, estimator: Any = None) -> float:
        """Return the quality of `labels`, found in `X` by the fitted `estimator`."""


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
    Exact, in O(n^2 D) time and O(n D) memory.

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
    data = _to_unit_scale(check_array(X, dtype=np.float64, input_name="X"))
    codes = check_partition(labels, "labels", len(data))
    n = len(data)
    n_pairs = n * (n - 1) // 2
    sizes = np.bincount(codes)
    n_apart = n_pairs - int((sizes * (sizes - 1) // 2).sum())
    if n_pairs < 2 or n_apart in (0, n_pairs):
        return 0.0
    share = n_apart / n_pairs
    # The root mean square distance lies near the mean, so sums of the rest lose no digits.
    shift = np.sqrt(2.0 * np.square(data - data.mean(axis=0)).sum() / (n - 1))
    sums = np.zeros(3)
    for rows in gen_batches(n, max(1, _CELLS // n)):
        others = slice(rows.start, n)
        rest = cdist(data[rows], data[others]) - shift
        own = rest[:, : len(rest)]
        own[np.tril_indices(len(own))] = 0.0  # each pair once
        apart = codes[rows, None] != codes[others]
        # Not by BLAS, whose threads cost more than such short sums.
        sums += rest.sum(), np.einsum("ij,ij", rest, rest), np.einsum("ij,ij", rest, apart)
    mean, square, product = sums / n_pairs
    product -= share * mean
    variance = square - mean**2
    if variance <= (_CONSTANT * shift) ** 2:
        return 0.0
    return float(np.clip(product / np.sqrt(variance * share * (1 - share)), -1.0, 1.0))


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
    Exact, in O(n^2 D) time and O(n^2) memory. Heights need not rise from the leaves to the
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
    data: NDArray[np.float64] = check_array(X, dtype=np.float64, input_name="X")
    n = len(data)
    children, heights = (_merges_of_estimator if hasattr(tree, "fit") else _merges_of_linkage)(tree)
    if len(children) + 1 != n:
        raise ValueError(
            f"tree must join the {n} objects of X in {n - 1} merges; got {len(children)}."
        )
    check_fits(
        4 * 8 * n * (n - 1) // 2,
        f"the distances between {n} objects",
        hint="Use hubert_gamma, or a sample of the objects",
    )
    distances = pdist(_to_unit_scale(data))
    # Heights may fall from one merge to the next, so the merge is looked up, then its height.
    merges = cophenet(_numbered_linkage(children)).astype(np.int64) - 1
    joined = _to_unit_scale(heights)[merges]
    if any(np.ptp(v) <= _CONSTANT * np.abs(v).max() for v in (distances, joined)):
        return 0.0
    return float(np.clip(np.corrcoef(distances, joined)[0, 1], -1.0, 1.0))


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


def _to_unit_scale(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the values divided by a power of two (exact), so that the largest is near 1."""
    _, exponent = np.frexp(np.abs(values).max())
    return np.ldexp(values, -exponent)


def _numbered_linkage(children: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return a linkage matrix in SciPy's format in which merge m has the height m + 1."""
    n = len(children) + 1
    sizes = np.ones(2 * n - 1)
    for merge, pair in enumerate(children, start=n):
        sizes[merge] = sizes[pair].sum()
    return np.column_stack([children, np.arange(1.0, n), sizes[n:]])


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
