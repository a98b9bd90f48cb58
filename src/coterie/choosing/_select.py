"""Which partitions to trust: ensemble selection (Fern and Lin, 2008), also by LACA."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.cluster.hierarchy import cut_tree, linkage
from scipy.spatial.distance import squareform

from coterie.consensus import LACA
from coterie.ensemble import Ensemble, as_ensemble
from coterie.metrics import pairwise_nmi

__all__ = ["select"]

CRITERIA = ("joint", "cas", "quality", "laca", "validity")
_OUTSIDER = 0.25  # a partition that agrees with the rest this much less than the best do


def select(
    ensemble: Ensemble | ArrayLike | Any,
    size: int | float | None = None,
    criterion: Literal["joint", "cas", "quality", "laca", "validity"] = "joint",
    *,
    alpha: float = 0.5,
    screen: bool = True,
) -> NDArray[np.int64]:
    """Choose partitions of an ensemble that are good, and differ from each other.

    Without a truth, a partition is good if it shares information with the others: its quality
    is its mean NMI with them [1]_. A partition that says nothing (random labels, one cluster)
    differs from all others, so a criterion that rewards difference would take it. Therefore
    such outsiders are screened out first.

    Parameters
    ----------
    ensemble : Ensemble or array-like of shape (n_objects, n_partitions)
        The partitions.
    size : int, float or None, default=None
        How many to choose: a number, or a share in (0, 1). Default: all but the outsiders.
    criterion : {'joint', 'cas', 'quality', 'laca', 'validity'}, default='joint'
        'joint': one at a time, the one that raises most
        ``alpha * mean quality + (1 - alpha) * mean of 1 - NMI among the chosen`` [1]_.
        'cas', cluster and select: partitions are grouped by their NMI into `size` groups, and
        the one of best quality is taken from each [1]_. 'quality': the best. 'laca': those whose
        votes on pairs tell most, in bits, on LACA's latent partition. 'validity': the largest
        ``ensemble.validity``.
    alpha : float, default=0.5
        For 'joint': what quality counts; 1 is 'quality'.
    screen : bool, default=True
        Choose an outsider only when no other partition is left. An outsider agrees with the
        others, beyond what chance gives, at most a quarter as much as the best tenth of the
        partitions does.

    Returns
    -------
    chosen : ndarray of int64
        Positions in the ensemble, best first; ``ensemble.select(chosen)`` is the ensemble of
        them. No randomness: of equal partitions the first is taken.

    Notes
    -----
    Agreement beyond chance is (NMI - E) / (1 - E), with E from the information
    (k - 1)(k' - 1) / 2n that two independent partitions seem to share. 'cas' groups by average
    linkage where [1]_ uses spectral clustering, whose answer depends on a random start.

    References
    ----------
    .. [1] Fern & Lin (2008), Cluster ensemble selection, :doi:`10.1002/sam.10008`.

    Examples
    --------
    Three views of the same groups, and one of nothing:

    >>> from coterie import Ensemble, select
    >>> a = [0, 0, 0, 1, 1, 1, 2, 2, 2, 2]
    >>> b = [0, 0, 0, 1, 1, 1, 2, 2, 2, 1]
    >>> c = [0, 0, 0, 1, 1, 1, 1, 1, 1, 1]
    >>> nothing = [0, 1, 0, 1, 0, 1, 0, 1, 0, 1]
    >>> ensemble = Ensemble(list(zip(a, nothing, b, c)))
    >>> sorted(select(ensemble).tolist())
    [0, 2, 3]
    >>> ensemble.select(select(ensemble, 2))
    Ensemble(10 objects, 2 partitions with 2 to 3 clusters)
    """
    ensemble = as_ensemble(ensemble)
    _check_parameters(criterion, alpha)
    n_partitions = ensemble.n_partitions
    similarity = np.nan_to_num(pairwise_nmi(ensemble), nan=0.0)
    quality = _mean_of_others(similarity)
    is_outsider = np.zeros(n_partitions, dtype=bool)
    if screen:
        is_outsider = find_outsiders(ensemble, similarity)
    if size is None:
        size = int((~is_outsider).sum())
    wanted = _check_size(size, n_partitions)
    candidates = np.flatnonzero(~is_outsider)
    if len(candidates) < wanted:  # fill up with the best outsiders
        left = np.flatnonzero(is_outsider)
        rest = left[np.argsort(-quality[left], kind="stable")][: wanted - len(candidates)]
        wanted = len(candidates)
    else:
        rest = np.empty(0, dtype=np.int64)
    inner, good = similarity[np.ix_(candidates, candidates)], quality[candidates]
    if criterion == "joint":
        positions = _choose_jointly(inner, good, wanted, alpha)
    elif criterion == "cas":
        positions = _one_of_each_group(inner, good, wanted)
    else:
        worth = {"quality": quality, "validity": ensemble.validity}.get(criterion)
        worth = laca_information(ensemble) if worth is None else worth
        positions = np.argsort(-worth[candidates], kind="stable")[:wanted].tolist()
    chosen = candidates[positions]
    return np.concatenate([chosen, rest]).astype(np.int64)


def find_outsiders(ensemble: Ensemble, similarity: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which partitions share almost no information with the others."""
    if len(similarity) < 3:  # of two partitions neither is the outsider
        return np.zeros(len(similarity), dtype=bool)
    agreement = _mean_of_others(_beyond_chance(ensemble, similarity))
    best = float(np.quantile(agreement, 0.9))
    outside: NDArray[np.bool_] = agreement <= max(_OUTSIDER * best, 0.0)
    return outside if not outside.all() else np.zeros(len(similarity), dtype=bool)


def _beyond_chance(ensemble: Ensemble, similarity: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return NMI adjusted for chance: 0 for independent partitions with as many clusters."""
    entropies = np.zeros(ensemble.n_partitions)
    for e, k in enumerate(ensemble.n_clusters):
        codes = ensemble.labels[:, e]
        shares = np.bincount(codes[codes >= 0], minlength=k) / max(1, (codes >= 0).sum())
        shares = shares[shares > 0]
        entropies[e] = -(shares * np.log(shares)).sum()
    seen = (ensemble.labels >= 0).astype(np.float32)
    n_both = np.maximum(seen.T @ seen, 1.0)
    by_chance = np.outer(ensemble.n_clusters - 1, ensemble.n_clusters - 1) / (2.0 * n_both)
    scale = np.sqrt(np.outer(entropies, entropies))
    expected = np.divide(by_chance, scale, out=np.zeros(scale.shape), where=scale > 0)
    expected = np.minimum(expected, 0.999)
    adjusted: NDArray[np.float64] = (similarity - expected) / (1.0 - expected)
    # Two constant partitions are equal, but hold no information.
    adjusted[scale == 0] = 0.0
    return adjusted


def laca_information(ensemble: Ensemble) -> NDArray[np.float64]:
    """Return the bits of information on LACA's consensus in each partition's vote on a pair.

    LACA's rho and r say how often a partition votes "together" for pairs that are together in the
    consensus, and for pairs that are not. Negative for a partition with rho < r.
    """
    laca = LACA().fit(ensemble)
    sizes = np.bincount(laca.labels_).astype(np.float64)
    n = ensemble.n_objects
    prior = float((sizes * (sizes - 1)).sum() / max(1, n * (n - 1)))
    vote = prior * laca.rho_ + (1 - prior) * laca.r_
    bits = _entropy(vote) - prior * _entropy(laca.rho_) - (1 - prior) * _entropy(laca.r_)
    return np.where(laca.rho_ >= laca.r_, bits, -bits)


def _entropy(p: NDArray[np.float64]) -> NDArray[np.float64]:
    p = np.clip(p, 1e-300, 1.0)
    q = np.clip(1.0 - p, 1e-300, 1.0)
    return -(p * np.log2(p) + q * np.log2(q))


def _mean_of_others(similarity: NDArray[np.float64]) -> NDArray[np.float64]:
    n = len(similarity)
    if n == 1:
        return np.ones(1)
    means: NDArray[np.float64] = (similarity.sum(axis=1) - np.diag(similarity)) / (n - 1)
    return means


def _choose_jointly(
    similarity: NDArray[np.float64], quality: NDArray[np.float64], size: int, alpha: float
) -> list[int]:
    """Return a greedy choice by the joint criterion: the best first, then the largest gain."""
    if size == 0:
        return []
    chosen = [int(np.argmax(quality))]
    distance_sum = 1.0 - similarity[chosen[0]]
    is_free = np.ones(len(quality), dtype=bool)
    is_free[chosen[0]] = False
    while len(chosen) < size:
        gain = alpha * quality + (1.0 - alpha) * distance_sum / len(chosen)
        gain[~is_free] = -np.inf
        best = int(np.argmax(gain >= gain.max() - 1e-12))
        chosen.append(best)
        is_free[best] = False
        distance_sum += 1.0 - similarity[best]
    return chosen


def _one_of_each_group(
    similarity: NDArray[np.float64], quality: NDArray[np.float64], size: int
) -> list[int]:
    """Return the best of each of `size` groups of similar partitions, best first."""
    if size >= len(quality):
        groups = np.arange(len(quality))
    else:
        distances = squareform(np.clip(1.0 - similarity, 0.0, None), checks=False)
        groups = cut_tree(linkage(distances, "average"), n_clusters=size).ravel()
    order = np.argsort(-quality, kind="stable")
    _, first = np.unique(groups[order], return_index=True)
    return [int(order[i]) for i in np.sort(first)][:size]


def _check_parameters(criterion: str, alpha: float) -> None:
    if criterion not in CRITERIA:
        raise ValueError(
            f"criterion must be one of {', '.join(map(repr, CRITERIA))}; got {criterion!r}."
        )
    if not isinstance(alpha, Real) or not 0 <= alpha <= 1:
        raise ValueError(f"alpha must lie in [0, 1]; got {alpha!r}.")


def _check_size(size: Any, n_partitions: int) -> int:
    if isinstance(size, Integral) and not isinstance(size, bool):
        if 1 <= int(size) <= n_partitions:
            return int(size)
        raise ValueError(
            f"size must be between 1 and the number of partitions ({n_partitions}); got {size}."
        )
    if isinstance(size, Real) and not isinstance(size, bool) and 0 < float(size) < 1:
        return max(1, round(float(size) * n_partitions))
    raise ValueError(f"size must be a number of partitions or a share in (0, 1); got {size!r}.")
