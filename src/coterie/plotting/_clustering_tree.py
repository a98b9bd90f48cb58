"""Clustering trees across numbers of clusters or resolutions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coterie.plotting._style import get_axes, name_axes
from coterie.views._clustering_tree import clustering_tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_clustering_tree"]

_LARGEST = 700.0  # area of the mark of all objects, in square points
_SMALLEST = 70.0
_MAP = "viridis"


def plot_clustering_tree(source: Any, *, least_share: float = 0.05, ax: Axes | None = None) -> Axes:
    """Draw how clusters split as their number grows (a clustering tree, as clustree draws it).

    Parameters
    ----------
    source : ConsensusPerK, or mapping of name to array-like of shape (n_objects,)
        The fitted analysis; or partitions by number of clusters or resolution, coarse ones first.
        A row is a partition, a mark a cluster: its area shows its size, its colour its stability
        (cluster consensus; of other partitions the mean over the other rows of the largest
        Jaccard index). Lines show where objects go: the darker, the larger their share in the
        cluster below. Lines that cross are clusters that are not nested.
    least_share : float, default=0.05
        Lines with a smaller share of the cluster below are left out.
    ax : matplotlib Axes, optional
        Where to draw. Default: a new figure.

    Returns
    -------
    ax : matplotlib Axes

    References
    ----------
    .. [1] Zappia & Oshlack (2018), Clustering trees: a visualization for evaluating clusterings
       at multiple resolutions, :doi:`10.1093/gigascience/giy083`.

    Examples
    --------
    >>> from coterie.plotting import plot_clustering_tree
    >>> ax = plot_clustering_tree({"coarse": [0, 0, 0, 1, 1], "fine": [0, 0, 2, 1, 1]})
    """
    names, nodes, edges = clustering_tree(source)
    ax = get_axes(ax, height=0.9)
    for edge in sorted(edges, key=lambda e: e.share):
        if edge.share < least_share:
            continue
        ends = nodes[edge.start], nodes[edge.end]
        ax.plot(
            [node.place for node in ends],
            [node.level for node in ends],
            color=str(0.85 - 0.65 * edge.share),
            linewidth=0.5 + 2.5 * edge.share,
            solid_capstyle="round",
            zorder=1,
        )
    sizes = np.array([node.size for node in nodes], dtype=float)
    stability = np.array([node.stability for node in nodes])
    areas = np.maximum(_SMALLEST, _LARGEST * sizes / sizes[: _count_first(nodes)].sum())
    known = ~np.isnan(stability)
    x = np.array([node.place for node in nodes])
    y = np.array([node.level for node in nodes])
    low = min(0.5, float(stability[known].min(initial=1.0)))
    marks = ax.scatter(
        x[known],
        y[known],
        s=areas[known],
        c=stability[known],
        cmap=_MAP,
        vmin=low,
        vmax=1.0,
        edgecolor="white",
        linewidth=0.8,
        zorder=2,
    )
    ax.scatter(x[~known], y[~known], s=areas[~known], color="0.55", edgecolor="white", zorder=2)
    for node in nodes:
        # Dark colours are unstable clusters; text must stay legible on both ends.
        dark = np.isnan(node.stability) or (node.stability - low) / max(1 - low, 1e-9) < 0.6
        ax.annotate(
            str(node.cluster),
            (node.place, node.level),
            ha="center",
            va="center",
            fontsize=6.5,
            color="white" if dark else "black",
            zorder=3,
        )
    _finish(ax, marks, names)
    return ax


def _count_first(nodes: list[Any]) -> int:
    return sum(node.level == 0 for node in nodes)


def _finish(ax: Axes, marks: Any, names: list[Any]) -> None:
    bar = ax.figure.colorbar(marks, ax=ax, shrink=0.7)
    bar.set_label("stability of the cluster", fontsize=8)
    bar.ax.tick_params(labelsize=7.5)
    name_axes(ax, "", "clusters or resolution")
    ax.set_yticks(range(len(names)), [str(name) for name in names])
    ax.set_xticks([])
    ax.tick_params(length=0)
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.spines[["top", "right", "bottom", "left"]].set_visible(False)
