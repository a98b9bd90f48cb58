"""Comparing methods over many data sets: mean ranks and the critical difference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import friedmanchisquare, rankdata, studentized_range

__all__ = ["MeanRanks", "mean_ranks"]


@dataclass(frozen=True)
class MeanRanks:
    """Result of `mean_ranks`, methods from the best mean rank to the worst.

    Attributes
    ----------
    methods : list of str
        Names, best first.
    ranks : ndarray of shape (n_methods,)
        Mean rank over the data sets, 1 is best.
    p_value : float
        Of Friedman's test that all methods are alike.
    critical_difference : float
        Nemenyi's: methods whose mean ranks differ by less cannot be distinguished.
    groups : list of (int, int)
        First and last position of each maximal run of methods that cannot be distinguished.
    n_sets : int
        Number of data sets.

    Examples
    --------
    >>> from coterie.choosing import mean_ranks
    >>> found = mean_ranks([[0.9, 0.5, 0.1], [0.8, 0.7, 0.2], [0.9, 0.4, 0.3]], ["a", "b", "c"])
    >>> round(found.critical_difference, 2), found.groups
    (1.91, [(0, 1), (1, 2)])
    """

    methods: list[str]
    ranks: NDArray[np.float64]
    p_value: float
    critical_difference: float
    groups: list[tuple[int, int]]
    n_sets: int


def mean_ranks(scores: ArrayLike, methods: Sequence[str], *, alpha: float = 0.05) -> MeanRanks:
    """Rank methods on each data set, and average.

    Parameters
    ----------
    scores : array-like of shape (n_sets, n_methods)
        A score for each, higher is better; no NaN. Equal scores share the mean of their ranks.
    methods : sequence of str
        Names of the columns.
    alpha : float, default=0.05
        Level of the critical difference.

    Returns
    -------
    ranks : MeanRanks
        Mean ranks with Friedman's test and Nemenyi's critical difference [1]_.

    References
    ----------
    .. [1] Demšar (2006), Statistical comparisons of classifiers over multiple data sets,
       JMLR 7.

    Examples
    --------
    >>> found = mean_ranks([[0.9, 0.5, 0.1], [0.8, 0.7, 0.2], [0.9, 0.4, 0.3]], ["a", "b", "c"])
    >>> found.methods, found.ranks.tolist()
    (['a', 'b', 'c'], [1.0, 2.0, 3.0])
    """
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] != len(methods) or min(table.shape) < 2:
        raise ValueError(
            "scores must have a row per data set and a column per method, at least two of each; "
            f"got shape {table.shape} for {len(methods)} methods."
        )
    if np.isnan(table).any():
        raise ValueError("scores must not hold NaN; leave out data sets or methods with gaps.")
    n_sets, n_methods = table.shape
    ranks = rankdata(-np.round(table, 12), axis=1).mean(axis=0)
    p_value = float(friedmanchisquare(*table.T).pvalue) if n_methods > 2 else float("nan")
    quantile = studentized_range.ppf(1 - alpha, n_methods, np.inf) / np.sqrt(2)
    difference = float(quantile * np.sqrt(n_methods * (n_methods + 1) / (6 * n_sets)))
    order = np.argsort(ranks, kind="stable")
    ranks = ranks[order]
    groups: list[tuple[int, int]] = []
    for first in range(n_methods):
        last = int(np.searchsorted(ranks, ranks[first] + difference, side="right")) - 1
        if last > first and (not groups or last > groups[-1][1]):
            groups.append((first, last))
    return MeanRanks([methods[i] for i in order], ranks, p_value, difference, groups, n_sets)
