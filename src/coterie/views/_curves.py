"""Curves: criteria over the number of clusters, calibration, progress of a fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coterie.views._fitted import fitted, fitted_attribute

if TYPE_CHECKING:
    from coterie.choosing import ClusterNumbers

__all__ = [
    "CRITERION_NAMES",
    "Calibration",
    "ChoiceCurve",
    "LikelihoodSteps",
    "calibration_curve",
    "choice_curve",
    "likelihood_steps",
    "readable_range",
    "scaled_criteria",
]

_SQUEEZED = 2.5  # draw only the values near the choice if all values span more than this many times
CRITERION_NAMES = {
    "score": "score",
    "silhouette": "silhouette",
    "isolation": "isolation",
    "lifetime": "lifetime",
    "pac": "PAC",
    "delta_area": "delta area",
    "cophenetic": "cophenetic",
    "stability": "stability",
}
_SMALL_IS_GOOD = ("pac",)


class ChoiceCurve(NamedTuple):
    """Criterion of a method over the number of clusters."""

    kind: str
    """'lifetime', 'likelihood' or 'criterion'."""
    name: str
    numbers: NDArray[np.int64]
    values: NDArray[np.float64]
    best: str
    """'highest' or 'lowest'."""


def choice_curve(model: Any, most: int | None = None) -> ChoiceCurve | None:
    """Return the criterion of a fitted method over the number of clusters; None without one.

    Numbers go up to `most`; by default a few beyond the number found.
    """
    curve = _whole_curve(model)
    if curve is None:
        return None
    most = max(15, model.n_clusters_ + 4) if most is None else most
    shown = curve.numbers <= most
    return curve._replace(numbers=curve.numbers[shown], values=curve.values[shown])


def readable_range(
    numbers: NDArray[np.int64], values: NDArray[np.float64], chosen: int
) -> tuple[float, float]:
    """Return the lowest and highest value to draw, so that values near the choice can be compared.

    The values of very few clusters are often so far off that all others would look alike. Then
    the range is that of the numbers from three quarters of the chosen one on.
    """
    whole = float(values.min()), float(values.max())
    near = values[numbers >= min(chosen, max(2, 3 * chosen // 4))]
    if not len(near) or whole[1] - whole[0] <= _SQUEEZED * np.ptp(near):
        return whole
    return float(near.min()), float(near.max())


def _whole_curve(model: Any) -> ChoiceCurve | None:
    curve = getattr(model, "n_clusters_curve_", None)
    if not curve or len(curve) == 1 == curve.first:  # one object
        return None
    kind = {"lifetime": "lifetime", "log-likelihood": "likelihood"}.get(curve.name, "criterion")
    best = "highest" if curve.larger_is_better else "lowest"
    return ChoiceCurve(kind, curve.name, curve.numbers, curve.array, best)


def scaled_criteria(numbers: ClusterNumbers) -> dict[str, NDArray[np.float64]]:
    """Return the criteria on a scale from 0 (worst number tried) to 1 (best).

    Criteria of which small values are good are reversed; those without any value are left out.
    """
    scaled = {}
    for name, values in numbers.criteria.items():
        if name not in CRITERION_NAMES or not np.isfinite(values).any():
            continue
        low, high = np.nanmin(values), np.nanmax(values)
        share = (values - low) / (high - low) if high > low else np.ones(len(values))
        scaled[name] = 1.0 - share if name in _SMALL_IS_GOOD and high > low else share
    return scaled


class Calibration(NamedTuple):
    """Confidence and how often it was right, by bins of confidence."""

    confidence: NDArray[np.float64]
    """Middle of each bin that holds enough objects."""
    right: NDArray[np.float64]
    """Share of its objects that are right."""
    counts: NDArray[np.int64]


def calibration_curve(counts: ArrayLike, right: ArrayLike, *, least: int = 10) -> Calibration:
    """Return the share of right objects by bin of confidence.

    Parameters
    ----------
    counts, right : array-like of shape (n_bins,)
        Objects in equal bins of confidence from 0 to 1, and how many of these are right.
    least : int, default=10
        Bins with fewer objects are left out.
    """
    counts = np.asarray(counts, dtype=np.int64)
    right = np.asarray(right, dtype=np.float64)
    middles = (np.arange(len(counts)) + 0.5) / len(counts)
    kept = counts >= least
    return Calibration(middles[kept], right[kept] / counts[kept], counts[kept])


class LikelihoodSteps(NamedTuple):
    """Objective of a method after each iteration."""

    steps: NDArray[np.int64]
    values: NDArray[np.float64]
    name: str


def likelihood_steps(model: Any) -> LikelihoodSteps:
    """Return the history of a fitted method."""
    history = fitted_attribute(model, "history_", "LACA and the methods with memberships have it.")
    model = fitted(model)
    values = np.asarray(history, dtype=np.float64)
    return LikelihoodSteps(values[:, 0].astype(np.int64), values[:, 1], model.objective)
