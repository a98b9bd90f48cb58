"""The base clusterers that the command line knows by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from coterie.cli._errors import InputError, did_you_mean

__all__ = ["BASES", "base_estimators"]


def _kmeans() -> Any:
    from sklearn.cluster import KMeans

    return KMeans(init="random", n_init=1)


def _minibatch() -> Any:
    from sklearn.cluster import MiniBatchKMeans

    return MiniBatchKMeans(init="random", n_init=1)


def _agglomerative(linkage: str) -> Callable[[], Any]:
    def make() -> Any:
        from sklearn.cluster import AgglomerativeClustering

        return AgglomerativeClustering(linkage=linkage)

    return make


def _spectral() -> Any:
    from sklearn.cluster import SpectralClustering

    return SpectralClustering(n_init=1)


def _mixture() -> Any:
    from sklearn.mixture import GaussianMixture

    return GaussianMixture(init_params="random_from_data")


def _birch() -> Any:
    from sklearn.cluster import Birch

    return Birch()


BASES: dict[str, Callable[[], Any]] = {
    "kmeans": _kmeans,
    "minibatch": _minibatch,
    "average": _agglomerative("average"),
    "single": _agglomerative("single"),
    "complete": _agglomerative("complete"),
    "ward": _agglomerative("ward"),
    "spectral": _spectral,
    "mixture": _mixture,
    "birch": _birch,
}
"""What ``--base`` takes, and what makes it."""


def base_estimators(names: Sequence[str]) -> list[tuple[str, Any]]:
    """Return the named clusterers as `RandomizedEnsemble` takes them; k-means if none."""
    chosen = list(dict.fromkeys(names)) or ["kmeans"]
    for name in chosen:
        if name not in BASES:
            raise InputError(
                f"--base must be one of {', '.join(BASES)}; got {name!r}."
                f"{did_you_mean(name, BASES)}"
            )
    return [(name, BASES[name]()) for name in chosen]
