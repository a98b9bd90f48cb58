"""Feature weights of clusters: as bars, as a table of shades, and as words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from coterie.plotting._style import SEQUENTIAL, get_axes, name_axes, pixels, tidy
from coterie.views._clusters import heaviest_features
from coterie.views._fitted import fitted_attribute
from coterie.views._palette import cluster_colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_feature_weights", "plot_words"]

_MAX_COLUMNS = 12


def _weights_of(model: Any) -> NDArray[np.float64]:
    if isinstance(model, np.ndarray | list):
        return np.asarray(model, dtype=np.float64)
    return np.asarray(fitted_attribute(model, "feature_weights_", "LAC and WSBPA have it."))


def _names(names: Sequence[Any] | NDArray[Any] | None, model: Any, n: int) -> list[str]:
    if names is None:
        names = getattr(model, "feature_names_in_", None)
    if names is None:
        return [f"feature {j}" for j in range(n)]
    if len(names) != n:
        raise ValueError(f"names must name each of the {n} features; got {len(names)}.")
    return [str(name) for name in names]


def _plain(text: str, most: int = 24) -> str:
    """Return a name that matplotlib draws as it is: a dollar would start a formula."""
    text = text if len(text) <= most else text[: most - 1] + "…"
    return text.replace("$", r"\$")


def plot_feature_weights(
    model: Any,
    *,
    cluster: int | None = None,
    names: Sequence[str] | None = None,
    n_features: int = 15,
    ax: Axes | None = None,
) -> Axes:
    """Draw which features count in which cluster.

    Parameters
    ----------
    model : fitted LAC or WSBPA, or array of shape (n_clusters, n_features)
        The weights.
    cluster : int, optional
        Draw bars for this cluster. Default: a table of all clusters, shaded by weight.
    names : sequence of str, optional
        Names of the features. Default: those the model was fitted with, or numbers.
    n_features : int, default=15
        Features that are drawn, heaviest first.
    ax : matplotlib Axes, optional
        Where to draw. Default: a new figure.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> from coterie.datasets import load
    >>> from coterie.generation import LAC
    >>> from coterie.plotting import plot_feature_weights
    >>> iris = load("iris")
    >>> model = LAC(n_clusters=3, random_state=0).fit(iris.data)
    >>> ax = plot_feature_weights(model, cluster=0, names=iris.feature_names)
    >>> ax.get_xlabel()
    'weight in cluster 0'
    """
    weights = _weights_of(model)
    k, n = weights.shape
    words = _names(names, model, n)
    if cluster is not None:
        if not 0 <= cluster < k:
            raise ValueError(f"cluster must be from 0 to {k - 1}; got {cluster}.")
        top = heaviest_features(weights[[cluster]], n_features)
        at = np.arange(top.features.shape[1])
        ax = get_axes(ax, height=max(0.35, 0.06 * len(at)))
        ax.barh(at, top.weights[0], color=cluster_colour(cluster))
        ax.set_yticks(at, [_plain(words[j]) for j in top.features[0]], fontsize="small")
        ax.invert_yaxis()
        name_axes(ax, f"weight in cluster {cluster}", "")
        tidy(ax, grid="x")
        return ax
    # Those that are heaviest anywhere, so that every cluster has its own in the table.
    chosen = np.argsort(-weights.max(axis=0), kind="stable")[:n_features]
    shown = weights[: _MAX_COLUMNS * 2, chosen].T
    ax = get_axes(ax, height=max(0.4, 0.06 * len(chosen)))
    image = ax.imshow(shown, cmap=SEQUENTIAL, aspect="auto", vmin=0, interpolation="nearest")
    ax.set_yticks(range(len(chosen)), [_plain(words[j]) for j in chosen], fontsize="small")
    step = 1 if shown.shape[1] <= 15 else 5
    ax.set_xticks(range(0, shown.shape[1], step))
    left = k - shown.shape[1]
    name_axes(ax, "cluster" + (f" ({left} more not shown)" if left > 0 else ""), "")
    bar = ax.figure.colorbar(image, ax=ax)
    bar.set_label("weight", fontsize=8)
    bar.ax.tick_params(labelsize=7.5)
    return ax


def plot_words(
    model: Any,
    *,
    names: Sequence[str] | None = None,
    n_words: int = 8,
    ax: Axes | None = None,
) -> Axes:
    """Write the heaviest features of each cluster, larger where they weigh more.

    For texts, where features are words.

    Parameters
    ----------
    model : fitted LAC or WSBPA, or array of shape (n_clusters, n_features)
        The weights.
    names : sequence of str, optional
        The words. Default: the names the model was fitted with, or numbers.
    n_words : int, default=8
        Words of each cluster.
    ax : matplotlib Axes, optional
        Where to draw. Default: a new figure.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> from coterie.plotting import plot_words
    >>> weights = [[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]]
    >>> ax = plot_words(weights, names=["ball", "match", "vote"], n_words=2)
    >>> [text.get_text() for text in ax.texts]
    ['cluster 0', 'ball', 'match', 'cluster 1', 'vote', 'match']
    """
    weights = _weights_of(model)
    k, n = weights.shape
    words = _names(names, model, n)
    shown = min(k, _MAX_COLUMNS)
    top = heaviest_features(weights[:shown], n_words)
    across = min(shown, 4)
    down = -(-shown // across)
    ax = get_axes(ax, height=0.06 * (top.features.shape[1] + 2) * down + 0.05)
    ax.set_axis_off()
    rows = top.features.shape[1] + 1.6
    # As large as the lines have room for, and no larger than text on a page.
    points = pixels(ax)[1] / ax.figure.dpi * 72 / (rows * down)
    size = float(np.clip(0.95 * points, 3.0, 9.0))
    for c in range(shown):
        x = (c % across) / across
        y = 1 - (c // across) / down
        ax.text(
            x,
            y,
            f"cluster {c}",
            color=cluster_colour(c),
            weight="bold",
            fontsize=min(size, 8),
            va="top",
            transform=ax.transAxes,
        )
        heaviest = max(top.weights[c, 0], 1e-12)
        for i, (j, weight) in enumerate(zip(top.features[c], top.weights[c], strict=True)):
            ax.text(
                x,
                y - (i + 1.2) / rows / down,
                _plain(words[j], 64 // across),
                fontsize=size * (0.6 + 0.4 * weight / heaviest),
                va="top",
                transform=ax.transAxes,
            )
    return ax
