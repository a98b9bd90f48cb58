"""Heat map of the features that make the clusters."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coterie.choosing import cluster_features
from coterie.plotting._style import get_axes, name_axes, pixels
from coterie.views._blocks import cluster_borders
from coterie.views._feature_map import CLIP, FeatureMap, diverging_palette, feature_map
from coterie.views._fitted import fitted
from coterie.views._order import consensus_order
from coterie.views._palette import cluster_colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_feature_map"]


def plot_feature_map(
    model: Any,
    X: ArrayLike,
    *,
    names: Sequence[str] | None = None,
    n_features: int = 30,
    colorbar: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw the features that make the clusters as a heat map, objects in consensus order.

    Rows are the features that differ most between a cluster and all other objects, by
    `coterie.cluster_features`; each cluster has its share of them. Colours are standard
    deviations from the mean of the feature: blue above, orange below.

    Parameters
    ----------
    model : fitted consensus method or ConsensusClustering
        What found the clusters.
    X : array-like of shape (n_objects, n_features)
        The features, in any units.
    names : sequence of str, optional
        Names of the features. Default: those the model was fitted with, or numbers.
    n_features : int, default=30
        Number of rows.
    colorbar : bool, default=True
        Whether to draw the scale.
    ax : matplotlib Axes, optional
        Where to draw. Default: a new figure.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from coterie import ConsensusClustering
    >>> from coterie.plotting import plot_feature_map
    >>> iris = load_iris()
    >>> model = ConsensusClustering(3, random_state=0).fit(iris.data)
    >>> ax = plot_feature_map(model, iris.data, names=iris.feature_names)
    """
    consensus = fitted(model)
    values = np.asarray(X, dtype=np.float64)
    if names is None:
        names = getattr(model, "feature_names_in_", None)
    called = [f"feature {j}" for j in range(values.shape[1])] if names is None else list(names)
    found = cluster_features(values, consensus.labels_, called)
    order = consensus_order(consensus)
    ax = get_axes(ax, height=0.8, width=1.9)
    shown = feature_map(
        values,
        called,
        found,
        consensus.labels_,
        order,
        n_features=n_features,
        most_columns=max(2, pixels(ax)[0]),
    )
    _draw_values(ax, shown, len(order), colorbar=colorbar)
    _draw_clusters(ax, consensus.labels_, order)
    return ax


def _draw_values(ax: Axes, shown: FeatureMap, n: int, *, colorbar: bool) -> None:
    from matplotlib.colors import ListedColormap

    rows = len(shown.features)
    image = ax.imshow(
        shown.values,
        cmap=ListedColormap(diverging_palette() / 255),
        vmin=-CLIP,
        vmax=CLIP,
        aspect="auto",
        interpolation="nearest",
        extent=(0, n, rows, 0),
    )
    texts = [name.replace("$", r"\$") for name in shown.features]
    ax.set_yticks(np.arange(rows) + 0.5, [t if len(t) <= 24 else t[:23] + "…" for t in texts])
    ax.tick_params(axis="y", labelsize=7.5, length=0)
    ax.set_xticks([])
    ax.set_ylim(rows, -0.04 * rows)
    for side in ("top", "right", "left", "bottom"):
        ax.spines[side].set_visible(False)
    name_axes(ax, f"{n:,} objects by cluster", "")
    if colorbar:
        bar = ax.figure.colorbar(image, ax=ax, shrink=0.8, ticks=[-2, -1, 0, 1, 2])
        bar.set_label("standard deviations\nfrom the mean", fontsize=8)
        bar.ax.tick_params(labelsize=7.5)


def _draw_clusters(ax: Axes, labels: NDArray[np.int64], order: NDArray[np.int64]) -> None:
    """Mark the clusters above the heat map, and draw lines between them."""
    n, top = len(order), ax.get_ylim()[1]
    borders = cluster_borders(labels, order)
    for start, stop in pairwise(borders):
        cluster = int(labels[order[start]])
        ax.axhspan(top, top / 3, start / n, stop / n, color=cluster_colour(cluster), linewidth=0)
        if stop - start >= 0.03 * n:
            middle = ((start + stop) / 2, top)
            ax.annotate(
                str(cluster), middle, (0, 2), textcoords="offset points", ha="center", fontsize=8
            )
        if start:
            ax.axvline(start, color="white", linewidth=0.8)
