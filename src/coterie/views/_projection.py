"""Two coordinates per object, from features or from labels alone."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, diags_array
from scipy.sparse.linalg import svds
from sklearn.decomposition import PCA

from coterie.ensemble import Ensemble

__all__ = ["Projection", "place_by_labels", "place_objects"]

_DIRECTIONS = 8  # of the embedding, of which the plane is the best view


class Projection(NamedTuple):
    """Where objects are in a picture."""

    places: NDArray[np.float64]
    """(n, 2)"""
    axes: tuple[str, str]
    """What the two directions are."""
    kind: str
    """'features', 'components' or 'labels'."""


def place_objects(
    ensemble: Ensemble,
    X: ArrayLike | Any | None = None,
    names: list[str] | None = None,
) -> Projection:
    """Return two coordinates per object: of the features if there are any, else of the labels."""
    if X is None:
        return place_by_labels(ensemble)
    X = X.toarray() if hasattr(X, "toarray") else np.asarray(X, dtype=np.float64)
    if X.ndim != 2 or len(X) != ensemble.n_objects:
        raise ValueError(
            f"X must have a row for each of the {ensemble.n_objects} objects; got shape {X.shape}."
        )
    n_features = X.shape[1]
    names = [f"feature {j}" for j in range(n_features)] if names is None else names
    if n_features == 1:
        return Projection(np.column_stack([X[:, 0], np.zeros(len(X))]), (names[0], ""), "features")
    if n_features == 2:
        return Projection(X.astype(np.float64), (names[0], names[1]), "features")
    return _components(X)


def _components(X: NDArray[np.float64]) -> Projection:
    if len(X) < 2 or not (X[0] != X).any():
        return Projection(np.zeros((len(X), 2)), ("component 1", "component 2"), "components")
    pca = PCA(2, random_state=0)
    places = pca.fit_transform(X)
    shares = np.nan_to_num(pca.explained_variance_ratio_)
    words = [f"component {i + 1} ({100 * share:.0f} %)" for i, share in enumerate(shares)]
    return Projection(np.asarray(places, dtype=np.float64), (words[0], words[1]), "components")


def place_by_labels(ensemble: Ensemble) -> Projection:
    """Return a spectral embedding: objects that share clusters are near each other.

    From the leading singular vectors of the graph of objects and clusters, each scaled by its
    degree. Objects with the same labels share a place. Needs memory linear in the size of the
    ensemble.
    """
    patterns = ensemble.patterns
    rows, n_columns = patterns.labels, int(ensemble.offsets[-1])
    seen = rows >= 0
    columns = (rows + ensemble.offsets[:-1])[seen]
    pointers = np.concatenate([[0], np.cumsum(seen.sum(axis=1))])
    Z = csr_array((np.ones(len(columns)), columns, pointers), shape=(len(rows), n_columns))
    weight = patterns.counts.astype(np.float64)
    degree = np.maximum(seen.sum(axis=1), 1)
    sizes = np.maximum(Z.T @ weight, 1e-300)
    scaled = diags_array(np.sqrt(weight / degree)) @ Z @ diags_array(1.0 / np.sqrt(sizes))
    vectors = _leading_vectors(scaled, _DIRECTIONS)
    # Rows of length 1, so that every group is about a point (Ng, Jordan and Weiss, 2002); the
    # plane that shows most of their differences is what is drawn.
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    points = np.divide(vectors, length, out=np.zeros_like(vectors), where=length > 0)
    points -= (points * weight[:, None]).sum(axis=0) / weight.sum()
    _, planes = np.linalg.eigh((points * weight[:, None]).T @ points)
    places = points @ planes[:, :-3:-1]
    signs = np.sign(places[np.abs(places).argmax(axis=0), [0, 1]])
    places = places * np.where(signs == 0, 1.0, signs)
    places /= np.maximum(np.abs(places).max(axis=0, keepdims=True), 1e-12)
    return Projection(
        places[patterns.inverse], ("spectral direction 1", "spectral direction 2"), "labels"
    )


def _leading_vectors(scaled: Any, n_vectors: int) -> NDArray[np.float64]:
    """Return the left singular vectors times their values, largest first; zeros where fewer."""
    small = min(scaled.shape)
    if small <= 300:
        u, s, _ = np.linalg.svd(scaled.toarray(), full_matrices=False)
    else:
        start = np.ones(small) / np.sqrt(small)
        u, s, _ = svds(scaled, k=min(n_vectors, small - 1), v0=start)
        largest = np.argsort(-s, kind="stable")
        u, s = u[:, largest], s[largest]
    found = np.zeros((scaled.shape[0], n_vectors))
    kept = min(n_vectors, int((s > 1e-10).sum()))
    found[:, :kept] = u[:, :kept] * s[:kept]
    return found
