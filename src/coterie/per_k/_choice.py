"""Which number of clusters, and whether there are clusters at all, in words."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.per_k._gap import Gap

__all__ = ["Choice", "Evidence", "choose"]

ALPHA = 0.05
"""Level of the comparison with data without clusters."""
TIE = 0.01
"""Silhouettes of the consensus that differ by less count as equal."""


class Evidence(NamedTuple):
    """What speaks for each number of clusters."""

    numbers: NDArray[np.int64]
    pac: NDArray[np.float64]
    silhouette: NDArray[np.float64]
    rcsi: NDArray[np.float64] | None
    p_values: NDArray[np.float64] | None
    n_null: int
    gap: Gap


class Choice(NamedTuple):
    """The best number, whether there are clusters, and why."""

    best: int
    has_clusters: bool
    reasons: list[str]


def choose(evidence: Evidence) -> Choice:
    """Return the best number of clusters and the reasons."""
    place = best_place(evidence.silhouette)
    k = int(evidence.numbers[place])
    null_words, refuted = _null_words(evidence)
    has_clusters = evidence.gap.found and not refuted
    reasons = [_why(evidence, place), null_words, evidence.gap.words]
    if not has_clusters:
        reasons.insert(0, _no_clusters(k, refuted))
    return Choice(k, has_clusters, reasons)


def best_place(silhouette: NDArray[np.float64]) -> int:
    """Return the last local maximum that is within `TIE` of the highest value."""
    padded = np.concatenate([[-np.inf], silhouette, [-np.inf]])
    is_peak = (silhouette >= padded[:-2]) & (silhouette >= padded[2:])
    return int(np.flatnonzero(is_peak & (silhouette >= silhouette.max() - TIE))[-1])


def _why(evidence: Evidence, place: int) -> str:
    k, silhouette, pac = (int(evidence.numbers[place]), evidence.silhouette, evidence.pac)
    highest = int(evidence.numbers[np.argmax(silhouette)])
    reason = (
        f"{k} clusters: the silhouette of the consensus is {silhouette[place]:.2f}, the highest "
        f"of the numbers tried; {100 * pac[place]:.1f} % of the pairs are ambiguous (PAC)."
    )
    if highest != k:
        reason = (
            f"{k} clusters: the silhouette of the consensus has a peak of {silhouette[place]:.2f}, "
            f"within {TIE} of the highest ({silhouette.max():.2f}, {highest} clusters); "
            f"{100 * pac[place]:.1f} % of the pairs are ambiguous (PAC)."
        )
    lowest = int(evidence.numbers[np.argmin(np.round(pac, 9))])
    if lowest != k:
        reason += f" PAC is lowest for {lowest} clusters."
    return reason


def _null_words(evidence: Evidence) -> tuple[str, bool]:
    """Return what the comparison with data without clusters says, and whether it refutes them."""
    p_values, rcsi = evidence.p_values, evidence.rcsi
    if p_values is None or rcsi is None:
        return "PAC was not compared with data without clusters (n_null=25, --null 25).", False
    best = int(np.argmax(rcsi))
    words = (
        f"Compared with data of the same covariance without clusters, {evidence.numbers[best]} "
        f"clusters stand out most (RCSI {rcsi[best]:.2f}, p = {p_values[best]:.3g})."
    )
    if p_values.min() <= ALPHA:
        return words, False
    if 1 / (1 + evidence.n_null) > ALPHA:
        return f"{words} For a p-value of {ALPHA} n_null must be at least 19.", False
    return words, True


def _no_clusters(k: int, refuted: bool) -> str:
    why = (
        "data of the same covariance without clusters give partitions as stable as these"
        if refuted
        else "no emptier region lies between dense ones"
    )
    return (
        f"No clusters were found: {why}. The {k} clusters cut a continuum or noise; do not read "
        "them as groups."
    )
