"""Recipes: named ways to make an ensemble from features."""

from __future__ import annotations

import math
from typing import Any

from sklearn.cluster import KMeans

from coterie.generation._randomized import RandomizedEnsemble

__all__ = ["RECIPES", "make_generator"]

MAX_OBJECTS = 5_000
"""Most objects that one run of the default recipe is fitted to."""
_N_PARTITIONS = 100
_MAX_ITER = 30  # partitions of an ensemble need not converge


def make_generator(recipe: str, n_objects: int, **settings: Any) -> RandomizedEnsemble:
    """Return the generator of a recipe for a number of objects.

    Parameters
    ----------
    recipe : {'default', 'laca'}
        See `RECIPES`.
    n_objects : int
        Number of objects.
    **settings
        Parameters of `RandomizedEnsemble` that replace those of the recipe.
    """
    if recipe not in RECIPES:
        names = ", ".join(map(repr, RECIPES))
        raise ValueError(f"recipe must be one of {names}; got {recipe!r}.")
    return RandomizedEnsemble(**{**RECIPES[recipe](n_objects), **settings})


def _fine(n_objects: int) -> dict[str, Any]:
    """100 k-means runs with sqrt(n) to 2 sqrt(n) clusters, n being at most 5,000.

    Each run is fitted to at most 5,000 objects drawn at random, in at most 30 iterations; all
    others get the label of the nearest centre. Fine partitions follow clusters of any shape and
    size.
    """
    n_fitted = min(n_objects, MAX_OBJECTS)
    low = max(2, math.ceil(math.sqrt(n_fitted)))
    low, high = min(low, n_fitted), min(max(2, 2 * math.isqrt(n_fitted)), n_fitted)
    return {
        "estimators": KMeans(init="random", n_init=1, max_iter=_MAX_ITER),
        "n_partitions": _N_PARTITIONS,
        "n_clusters": (min(low, high), high),
        "max_samples": 1.0 if n_fitted == n_objects else n_fitted,
        "left_out": "assigned",
    }


def _laca(n_objects: int) -> dict[str, Any]:
    """100 k-means runs until they converge, sqrt(n)/2 to sqrt(n) clusters (Xie et al., 2013)."""
    return {}


RECIPES = {"default": _fine, "laca": _laca}
"""Recipe by name: a function from the number of objects to settings of `RandomizedEnsemble`."""
