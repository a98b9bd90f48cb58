"""The base clusterers that the command line knows by name."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from coterie.cli._errors import InputError, did_you_mean

__all__ = ["BASES", "base_estimators"]

_ONE_RANDOM_START = {"init": "random", "n_init": 1}
BASES: dict[str, tuple[str, dict[str, Any]]] = {
    "kmeans": ("sklearn.cluster:KMeans", _ONE_RANDOM_START),
    "minibatch": ("sklearn.cluster:MiniBatchKMeans", _ONE_RANDOM_START),
    "average": ("sklearn.cluster:AgglomerativeClustering", {"linkage": "average"}),
    "single": ("sklearn.cluster:AgglomerativeClustering", {"linkage": "single"}),
    "complete": ("sklearn.cluster:AgglomerativeClustering", {"linkage": "complete"}),
    "ward": ("sklearn.cluster:AgglomerativeClustering", {"linkage": "ward"}),
    "spectral": ("sklearn.cluster:SpectralClustering", {"n_init": 1}),
    "mixture": ("sklearn.mixture:GaussianMixture", {"init_params": "random_from_data"}),
    "birch": ("sklearn.cluster:Birch", {}),
}
"""What ``--base`` takes: class and parameters."""


def base_estimators(names: Sequence[str] | None) -> list[tuple[str, Any]]:
    """Return the named clusterers as `RandomizedEnsemble` takes them; k-means if none."""
    chosen = list(dict.fromkeys(names or ["kmeans"]))
    for name in chosen:
        if name not in BASES:
            raise InputError(
                f"--base must be one of {', '.join(BASES)}; got {name!r}."
                f"{did_you_mean(name, BASES)}"
            )
    return [(name, _make(*BASES[name])) for name in chosen]


def _make(where: str, parameters: dict[str, Any]) -> Any:
    module, _, cls = where.partition(":")
    return getattr(import_module(module), cls)(**parameters)
