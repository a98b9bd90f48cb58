"""Which number of clusters, and whether there are clusters at all, in words."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.per_k._gap import Gap

__all__ = ["Choice", "Evidence", "choose"]

ALPHA = 0.05
"""Level of the comparison with data without clusters."""
_TIE = 0.01  # PAC values that differ by less count as equal


class Evidence(NamedTuple):
    """What speaks for each number of clusters."""

    numbers: NDArray[np.int64]
    pac: NDArray[np.float64]
    delta_area: NDArray[np.float64]
    rcsi: NDArray[np.float64] | None
    p_values: NDArray[np.float64] | None
    gap: Gap


class Choice(NamedTuple):
    """The best number, whether it can be trusted, and why."""

    best: int
    has_clusters: bool
    reasons: list[str]


def choose(evidence: Evidence) -> Choice:
    """Return the best number of clusters and the reasons."""
    place = _best_place(evidence)
    k = int(evidence.numbers[place])
    reasons = [_why(evidence, place)]
    null_agrees = evidence.p_values is None or bool(evidence.p_values[place] <= ALPHA)
    has_clusters = evidence.gap.found and null_agrees
    if not has_clusters:
        reasons.insert(0, _no_clusters(evidence, place))
    elif evidence.p_values is None:
        reasons.append(
            "PAC was not compared with data without clusters; n_null=25 or more does that."
        )
    reasons.append(evidence.gap.words)
    return Choice(k, has_clusters, reasons)


def _best_place(evidence: Evidence) -> int:
    """Return the position of the best number: the largest RCSI, else the lowest PAC."""
    if evidence.rcsi is not None:
        return int(np.argmax(np.round(evidence.rcsi, 9)))
    return int(np.flatnonzero(evidence.pac <= evidence.pac.min() + _TIE)[-1])


def _why(evidence: Evidence, place: int) -> str:
    k, pac = evidence.numbers[place], evidence.pac[place]
    share = f"{100 * pac:.1f} % of the pairs are ambiguous (PAC)"
    if evidence.rcsi is None or evidence.p_values is None:
        return (
            f"{k} clusters: {share}, the lowest of the numbers tried within {100 * _TIE:.0f} "
            "percentage point; of equal ones the largest number."
        )
    return (
        f"{k} clusters: {share}, which is lowest relative to data of the same covariance without "
        f"clusters (RCSI {evidence.rcsi[place]:.2f}, p = {evidence.p_values[place]:.3g})."
    )


def _no_clusters(evidence: Evidence, place: int) -> str:
    p = None if evidence.p_values is None else evidence.p_values[place]
    if p is not None and p > ALPHA:
        why = (
            "data of the same covariance without clusters give partitions as stable as these "
            f"(p = {p:.3g})"
        )
    else:
        why = "no emptier region lies between dense ones"
    return (
        f"No clusters were found: {why}. The {evidence.numbers[place]} clusters cut a continuum "
        "or noise; do not read them as groups."
    )
