"""How much the partitions of an ensemble differ.

The measures and numbers of formulas are those of Domeniconi & Al-Razgan (2009), Weighted cluster
ensembles, section 8, :doi:`10.1145/1460797.1460800`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import xlogy

from coterie.ensemble import Ensemble, as_ensemble
from coterie.metrics._tables import (
    ari_of,
    ari_of_pairs,
    check_partition,
    nmi_of_entropies,
    tables_with,
)

__all__ = [
    "diversity_ari",
    "diversity_nmi",
    "diversity_np1",
    "diversity_np2",
    "diversity_p",
    "pairwise_ari",
    "pairwise_nmi",
]


def pairwise_nmi(ensemble: Ensemble | ArrayLike) -> NDArray[np.float64]:
    """Return the NMI of every two partitions of an ensemble.

    Parameters
    ----------
    ensemble : Ensemble or array-like of shape (n_objects, n_partitions)
        Two partitions are compared on the objects that both saw.

    Returns
    -------
    scores : ndarray of shape (n_partitions, n_partitions)
        Symmetric, 1 on the diagonal; `nmi` of each two columns. NaN for two partitions that
        saw no object in common.

    Notes
    -----
    Computed from the contingency tables of one partition with all others (`Ensemble.tables`), so
    the time hardly depends on the number of objects once these are counted.

    Examples
    --------
    >>> pairwise_nmi([[0, 0], [0, 0], [1, 1], [1, 2]]).round(3)
    array([[1.   , 0.816],
           [0.816, 1.   ]])
    """
    ensemble = as_ensemble(ensemble)
    counts = np.arange(ensemble.n_objects + 1)
    return _pairwise(ensemble, partial(_nmi_of_tables, logs=xlogy(counts, counts)))


def pairwise_ari(ensemble: Ensemble | ArrayLike) -> NDArray[np.float64]:
    """Return the adjusted Rand index of every two partitions of an ensemble.

    Parameters
    ----------
    ensemble : Ensemble or array-like of shape (n_objects, n_partitions)
        Two partitions are compared on the objects that both saw.

    Returns
    -------
    scores : ndarray of shape (n_partitions, n_partitions)
        Symmetric, 1 on the diagonal; `ari` of each two columns. NaN for two partitions that
        saw no object in common.

    Notes
    -----
    Time and memory are as in `pairwise_nmi`.

    Examples
    --------
    >>> pairwise_ari([[0, 0], [0, 0], [1, 1], [1, 2]]).round(3)
    array([[1.   , 0.571],
           [0.571, 1.   ]])
    """
    return _pairwise(ensemble, _ari_of_tables)


def diversity_nmi(ensemble: Ensemble | ArrayLike) -> float:
    """Mean of 1 - NMI over the pairs of partitions, formula (14) of Domeniconi & Al-Razgan (2009).

    Parameters
    ----------
    ensemble : Ensemble or array-like of shape (n_objects, n_partitions)
        At least two partitions. Two are compared on the objects that both saw; a pair that saw
        no object in common is left out of the mean.

    Returns
    -------
    diversity : float
        Between 0 (all partitions are equal) and 1.

    Examples
    --------
    >>> round(diversity_nmi([[0, 0], [0, 0], [1, 1], [1, 2]]), 3)
    0.184
    """
    return _mean_over_pairs(1.0 - pairwise_nmi(ensemble))


def diversity_p(ensemble: Ensemble | ArrayLike) -> float:
    """Mean of 1 - ARI over the pairs of partitions, D_p of Domeniconi & Al-Razgan (2009).

    Parameters
    ----------
    ensemble : Ensemble or array-like of shape (n_objects, n_partitions)
        At least two partitions. Two are compared on the objects that both saw; a pair that saw
        no object in common is left out of the mean.

    Returns
    -------
    diversity : float
        0 if all partitions are equal, about 1 if they are independent, at most 3/2.

    Examples
    --------
    >>> round(diversity_p([[0, 0], [0, 0], [1, 1], [1, 2]]), 3)
    0.429
    """
    return _mean_over_pairs(1.0 - pairwise_ari(ensemble))


def diversity_np1(ensemble: Ensemble | ArrayLike, consensus: ArrayLike) -> float:
    """Mean of 1 - ARI of the partitions with the consensus, D_np1 of Domeniconi & Al-Razgan (2009).

    Parameters
    ----------
    ensemble : Ensemble or array-like of shape (n_objects, n_partitions)
        Each partition is compared with the consensus on the objects it saw.
    consensus : array-like of shape (n_objects,)
        The ensemble's result, P* in the paper. ``-1`` is a name like any other.

    Returns
    -------
    diversity : float
        0 if all partitions equal the consensus, about 1 if they are independent of it, at most
        3/2.

    Examples
    --------
    >>> round(diversity_np1([[0, 0], [0, 0], [1, 1], [1, 2]], [0, 0, 1, 1]), 3)
    0.214
    """
    return float(_departures(ensemble, consensus).mean())


def diversity_np2(ensemble: Ensemble | ArrayLike, consensus: ArrayLike) -> float:
    """Spread of 1 - ARI of partitions with the consensus, D_np2 of Domeniconi & Al-Razgan (2009).

    The standard deviation, with L - 1 in the denominator, of what `diversity_np1` averages.

    Parameters
    ----------
    ensemble : Ensemble or array-like of shape (n_objects, n_partitions)
        At least two partitions. Each is compared with the consensus on the objects it saw.
    consensus : array-like of shape (n_objects,)
        The ensemble's result, P* in the paper. ``-1`` is a name like any other.

    Returns
    -------
    spread : float
        0 if all partitions are equally far from the consensus.

    Examples
    --------
    >>> round(diversity_np2([[0, 0], [0, 0], [1, 1], [1, 2]], [0, 0, 1, 1]), 3)
    0.303
    """
    return _spread(_departures(ensemble, consensus))


def diversity_ari(ensemble: Ensemble | ArrayLike, consensus: ArrayLike) -> float:
    """(1 - D_np1 + D_np2) / 2, formula (16) of Domeniconi & Al-Razgan (2009).

    Unlike the other measures it rises with agreement: 1 - D_np1 is the mean agreement with the
    consensus, and only the spread D_np2 rewards difference. It is 1/2 if all partitions equal the
    consensus.

    Parameters
    ----------
    ensemble : Ensemble or array-like of shape (n_objects, n_partitions)
        At least two partitions. Each is compared with the consensus on the objects it saw.
    consensus : array-like of shape (n_objects,)
        The ensemble's result, P* in the paper. ``-1`` is a name like any other.

    Returns
    -------
    diversity : float
        About 0 if all partitions are independent of the consensus.

    See Also
    --------
    diversity_np1, diversity_np2 : Its parts.
    diversity_nmi, diversity_p : Pairwise diversity, which needs no consensus.

    Examples
    --------
    >>> diversity_ari([[0, 0], [0, 0], [1, 1], [1, 1]], [0, 0, 1, 1])
    0.5
    >>> round(diversity_ari([[0, 0], [0, 0], [1, 1], [1, 2]], [0, 0, 1, 1]), 3)
    0.544
    """
    departures = _departures(ensemble, consensus)
    return float(0.5 * (1.0 - departures.mean() + _spread(departures)))


class _Tables(NamedTuple):
    """The contingency tables of one partition, k clusters, with m others side by side."""

    cells: NDArray[np.int64]
    """(k, K'): objects that two clusters share; K' clusters of the others in all."""
    starts: NDArray[np.int64]
    """(m,): first column of each table."""
    rows: NDArray[np.int64]
    """(k, m): sums over the columns of each table."""
    columns: NDArray[np.int64]
    """(K',): sums over the rows."""
    n: NDArray[np.int64]
    """(m,): objects that both partitions saw."""

    def sums(self, of_columns: NDArray[Any]) -> NDArray[Any]:
        """Return (m,): the sum over the columns of each table."""
        return np.add.reduceat(of_columns, self.starts)


def _pairwise(
    ensemble: Ensemble | ArrayLike, score: Callable[[_Tables], NDArray[np.float64]]
) -> NDArray[np.float64]:
    """Return the score of every two partitions, from the tables of each with all later ones."""
    ensemble = as_ensemble(ensemble)
    scores = np.eye(ensemble.n_partitions)
    offsets = ensemble.offsets
    for e in range(ensemble.n_partitions - 1):
        cells = ensemble.tables(e)[:, offsets[e + 1] :]
        starts = offsets[e + 1 : -1] - offsets[e + 1]
        rows = np.add.reduceat(cells, starts, axis=1)
        tables = _Tables(cells, starts, rows, cells.sum(axis=0), rows.sum(axis=0))
        scores[e, e + 1 :] = scores[e + 1 :, e] = score(tables)
    return scores


def _ari_of_tables(tables: _Tables) -> NDArray[np.float64]:
    cells, rows, n = tables.cells, tables.rows, tables.n
    both = tables.sums(np.einsum("ij,ij->j", cells, cells)) - n
    first = np.einsum("ij,ij->j", rows, rows) - n
    second = tables.sums(tables.columns**2) - n
    return ari_of_pairs(n, both, first - both, second - both)


def _nmi_of_tables(tables: _Tables, logs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return NMI; `logs` are c log c for every number of objects c."""
    whole = logs[tables.n]
    first = whole - logs[tables.rows].sum(axis=0)
    second = whole - tables.sums(logs[tables.columns])
    joint = whole - tables.sums(sum(logs[row] for row in tables.cells))
    return nmi_of_entropies(first + second - joint, first, second, _ari_of_tables(tables))


def _mean_over_pairs(values: NDArray[np.float64]) -> float:
    _check_several(len(values))
    pairs = values[np.triu_indices(len(values), 1)]
    pairs = pairs[~np.isnan(pairs)]
    if len(pairs) == 0:
        raise ValueError(
            "diversity compares partitions on the objects that both saw; no two partitions of "
            "this ensemble saw an object in common."
        )
    return float(pairs.mean())


def _departures(ensemble: Ensemble | ArrayLike, consensus: ArrayLike) -> NDArray[np.float64]:
    """Return 1 - ARI of each partition with the consensus."""
    ensemble = as_ensemble(ensemble)
    codes = check_partition(consensus, "consensus", ensemble.n_objects)
    return 1.0 - ari_of(tables_with(codes, ensemble.labels, ensemble.n_clusters))


def _spread(departures: NDArray[np.float64]) -> float:
    _check_several(len(departures))
    return float(np.std(departures, ddof=1))


def _check_several(n_partitions: int) -> None:
    if n_partitions < 2:
        raise ValueError(
            f"diversity needs an ensemble of at least two partitions; got {n_partitions}."
        )
