"""Is there a gap between clusters? The test of `structure_test`, where features are many."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie._limits import one_thread
from coterie.choosing._structure import StructureTest, structure_test
from coterie.per_k._distances import coordinates
from coterie.per_k._runs import Runs

__all__ = ["Gap", "find_gap", "leading_scores"]

ALPHA = 0.01
"""p-value of the features from which on there is a gap."""
WEAK = 0.1
"""p-value of the features up to which the geometry of the distance may decide."""
MANY = 7
"""Leading components of the features from which on the geometry may decide in any case."""
_FEW = 10  # features that are tested as they are
_MOST_COMPONENTS = 20
_MOST_OBJECTS = 500
_N_SHUFFLED = 5


class Gap(NamedTuple):
    """Tests for an emptier region between dense ones."""

    features: StructureTest
    """In the space of the features (of precomputed distances: of the principal coordinates)."""
    geometry: StructureTest | None
    """In the geometry of a distance that is not Euclidean."""
    n_components: int
    """Number of leading components of the features."""

    @property
    def found(self) -> bool:
        """Whether there is a gap.

        The geometry decides where the features are in doubt, or have many directions: the
        correlation of centred features turns gradients in few directions into opposite groups.
        """
        if self.features.p_value <= ALPHA:
            return True
        return (
            self.geometry is not None
            and (self.features.p_value <= WEAK or self.n_components >= MANY)
            and self.geometry.p_value <= ALPHA
        )

    @property
    def words(self) -> str:
        """The finding in a sentence."""
        p = self.features.p_value
        if not self.found:
            return (
                "No gap between clusters: dense regions are not set apart more than in uniform "
                f"data of the same covariance (p = {p:.3g})."
            )
        if p <= ALPHA or self.geometry is None:
            return (
                "There is a gap between clusters: dense regions are set apart more than in "
                f"uniform data of the same covariance (p = {p:.3g})."
            )
        return (
            f"There is a gap between clusters by the distance (p = {self.geometry.p_value:.3g}); "
            f"the features themselves do not show it (p = {p:.3g})."
        )


def find_gap(runs: Runs, X: Any, seed: int) -> Gap:
    """Test the objects of `X`, at most 500 of them, by their leading principal components."""
    rng = np.random.default_rng(seed)
    rows = np.arange(X.shape[0])
    if len(rows) > _MOST_OBJECTS:
        rows = np.sort(rng.choice(len(rows), _MOST_OBJECTS, replace=False))
    is_square = runs.distance == "precomputed"
    part = X[rows][:, rows] if is_square else X[rows]
    part = part.toarray() if hasattr(part, "toarray") else part
    places = coordinates(part, "precomputed") if is_square else part
    with one_thread():  # many small products: several threads would wait for each other
        leading = leading_scores(places, rng)
        features = structure_test(leading, alpha=ALPHA, random_state=seed)
        if is_square or not runs.uses_distances or runs.metric == "euclidean":
            return Gap(features, None, leading.shape[1])
        scores = leading_scores(coordinates(part, runs.metric), rng)
        geometry = structure_test(scores, alpha=ALPHA, random_state=seed)
        return Gap(features, geometry, leading.shape[1])


def leading_scores(X: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Return the principal components with more variance than those of shuffled features.

    In thousands of features noise fills every gap; it is left out by parallel analysis (Horn,
    1965). At least two and at most twenty components are kept; up to ten features stay as they
    are.
    """
    if min(X.shape) <= _FEW:
        return X
    centred = X - X.mean(axis=0)
    values, vectors = np.linalg.eigh(centred @ centred.T)
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    limits = np.zeros(len(values))
    for _ in range(_N_SHUFFLED):
        shuffled = rng.permuted(centred, axis=0)
        np.maximum(limits, np.linalg.eigvalsh(shuffled @ shuffled.T)[::-1], out=limits)
    n_larger = int(np.argmin(np.append(values > limits, False)))
    kept = min(max(2, n_larger), _MOST_COMPONENTS)
    found: NDArray[np.float64] = vectors[:, :kept] * np.sqrt(values[:kept])
    return found
