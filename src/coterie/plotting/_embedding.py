"""Objects in an embedding of two dimensions, with their clusters and confidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from coterie.plotting._style import get_axes, name_axes, tidy
from coterie.views._palette import cluster_colour, cluster_marker
from coterie.views._per_k import at_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_embedding"]

_MAX_NAMED = 20  # clusters of a legend
_FAINTEST = 0.15  # opacity of an object without confidence


def plot_embedding(
    model: Any,
    embedding: ArrayLike,
    k: int | None = None,
    *,
    size: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw objects where an embedding puts them: colours are clusters, faint ones are in doubt.

    Parameters
    ----------
    model : fitted consensus method, ConsensusClustering or ConsensusPerK
        Clusters and confidence.
    embedding : array-like of shape (n_objects, 2)
        Places of the objects, such as those of PCA, t-SNE or UMAP; of more columns the first two.
    k : int, optional
        For a `coterie.ConsensusPerK`: the number of clusters. Default: the best one.
    size : float, optional
        Area of a mark in square points. Default: by the number of objects.
    ax : matplotlib Axes, optional
        Where to draw. Default: a new figure.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> from coterie import EAC
    >>> from coterie.plotting import plot_embedding
    >>> votes = [[0, 0, 0], [0, 0, 0], [0, 1, 1], [1, 1, 1], [1, 1, 1]]
    >>> places = [[0, 0], [0, 1], [2, 1], [4, 0], [4, 1]]
    >>> ax = plot_embedding(EAC(n_clusters=2).fit(votes), places)
    """
    view = at_number(model, k)
    places = np.asarray(embedding, dtype=np.float64)
    n = len(view.labels_)
    if places.ndim != 2 or places.shape[0] != n or places.shape[1] < 2:
        raise ValueError(
            f"embedding must have a row of at least 2 coordinates for each of the {n} objects; "
            f"got shape {places.shape}."
        )
    ax = get_axes(ax, height=0.8)
    area = float(np.clip(4000 / n, 3, 40)) if size is None else size
    # Confidence of 0.5 or less: another cluster would do as well.
    opacity = _FAINTEST + (1 - _FAINTEST) * np.clip(2 * view.confidence_ - 1, 0.0, 1.0)
    for c in range(view.n_clusters_):
        own = np.flatnonzero(view.labels_ == c)
        own = own[np.argsort(-view.confidence_[own], kind="stable")]  # the doubtful ones on top
        ax.scatter(
            places[own, 0],
            places[own, 1],
            s=area,
            marker=cluster_marker(c),
            facecolor=cluster_colour(c),
            edgecolor="0.25",
            linewidth=0.3,
            alpha=opacity[own],
        )
        if c < _MAX_NAMED:
            ax.scatter(
                [], [], s=30, marker=cluster_marker(c), color=cluster_colour(c), label=str(c)
            )
    ax.legend(
        title="cluster",
        fontsize=7,
        title_fontsize=7,
        frameon=False,
        loc="center left",
        bbox_to_anchor=(1.0, 0.5),
    )
    name_axes(ax, "first dimension", "second dimension")
    tidy(ax, grid=None)
    return ax
