"""Clusters: their sizes, the confidence of their objects, soft memberships."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coterie.plotting._style import get_axes, name_axes, pixels, tidy
from coterie.views._clusters import confidence_quantiles, sorted_memberships
from coterie.views._fitted import fitted, fitted_attribute
from coterie.views._palette import cluster_colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_confidence", "plot_memberships", "plot_sizes"]

_MAX_BARS = 30


def plot_sizes(model: Any, *, max_clusters: int = _MAX_BARS, ax: Axes | None = None) -> Axes:
    """Draw the number of objects in each cluster.

    Parameters
    ----------
    model : fitted consensus method
        Its clusters are drawn, largest first.
    max_clusters : int, default=30
        Largest number of bars. The axis tells how many clusters are not drawn.
    ax : matplotlib Axes, optional
        Where to draw. Default: a new figure.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> from coterie import EAC
    >>> from coterie.plotting import plot_sizes
    >>> votes = [[0, 0, 0], [0, 0, 0], [0, 1, 1], [1, 1, 1], [1, 1, 1]]
    >>> ax = plot_sizes(EAC(n_clusters=2).fit(votes))
    >>> [int(bar.get_height()) for bar in ax.patches]
    [3, 2]
    """
    sizes = np.bincount(fitted(model).labels_)
    shown = sizes[:max_clusters]
    ax = get_axes(ax, height=0.6)
    bars = ax.bar(
        np.arange(len(shown)), shown, color=[cluster_colour(c) for c in range(len(shown))]
    )
    if len(shown) <= 10:
        ax.bar_label(bars, [f"{size:,}" for size in shown], fontsize="small", padding=1)
    _number_clusters(ax, len(shown))
    name_axes(ax, "cluster" + _left_out(len(sizes), len(shown)), "objects")
    ax.margins(y=0.1)
    tidy(ax)
    return ax


def _number_clusters(ax: Axes, n: int) -> None:
    step = 1 if n <= 15 else 5
    ax.set_xticks(range(0, n, step), [str(c) for c in range(0, n, step)])
    ax.set_xlim(-0.6, n - 0.4)


def _left_out(n: int, shown: int) -> str:
    return f" ({n - shown:,} smaller ones not shown)" if n > shown else ""


# --- confidence ---------------------------------------------------------------------------------


def plot_confidence(model: Any, *, max_clusters: int = _MAX_BARS, ax: Axes | None = None) -> Axes:
    """Draw the confidence of the objects in each cluster.

    Parameters
    ----------
    model : fitted consensus method
        Its `confidence_` is drawn: the box is the middle half of a cluster's objects, the line
        goes from the 5 % to the 95 % quantile, the cross is the lowest.
    max_clusters : int, default=30
        The largest clusters are drawn, up to this many.
    ax : matplotlib Axes, optional
        Where to draw. Default: a new figure.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> from coterie import EAC
    >>> from coterie.plotting import plot_confidence
    >>> votes = [[0, 0, 0], [0, 0, 0], [0, 1, 1], [1, 1, 1], [1, 1, 1]]
    >>> ax = plot_confidence(EAC(n_clusters=2).fit(votes))
    """
    model = fitted(model)
    n = int(model.n_clusters_)
    shown = min(n, max_clusters)
    least, low, quarter, median, upper, high, _ = confidence_quantiles(
        model.labels_, model.confidence_, shown
    ).T
    at = np.arange(shown)
    ax = get_axes(ax, height=0.6)
    colours = [cluster_colour(c) for c in range(shown)]
    ax.vlines(at, low, high, colors=colours, linewidth=1.5)
    height = np.maximum(upper - quarter, 0.004)
    ax.bar(at, height, bottom=quarter, width=0.6, color=colours, alpha=0.55)
    ax.hlines(median, at - 0.3, at + 0.3, colors="black", linewidth=1.5)
    ax.plot(at, least, linestyle="none", marker="x", color="black", markersize=4, clip_on=False)
    ax.set_ylim(0, 1.02)
    _number_clusters(ax, shown)
    name_axes(ax, "cluster" + _left_out(n, shown), "confidence of its objects\n(x: the lowest)")
    tidy(ax)
    return ax


# --- soft memberships ---------------------------------------------------------------------------


def plot_memberships(model: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the memberships of a soft consensus as stacked bars.

    Parameters
    ----------
    model : fitted PEACE, BaumEagon, MixtureModel or Voting
        Its `membership_` is drawn, cluster by cluster, in each the largest membership first.
        There are at most as many bars as pixels: neighbours share one, which shows their mean.
    ax : matplotlib Axes, optional
        Where to draw. Default: a new figure.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> from coterie import Voting
    >>> from coterie.plotting import plot_memberships
    >>> votes = [[0, 0, 0], [0, 0, 0], [0, 1, 1], [1, 1, 1], [1, 1, 1]]
    >>> ax = plot_memberships(Voting(n_clusters=2).fit(votes))
    """
    membership = np.asarray(
        fitted_attribute(model, "membership_", "PEACE, BaumEagon, MixtureModel and Voting have it.")
    )
    labels = fitted(model).labels_
    ax = get_axes(ax, height=0.5)
    bars = sorted_memberships(membership, labels, pixels(ax)[0])
    n = len(labels)
    owner = labels[bars.order[bars.edges[:-1]]]
    for own in np.unique(owner):
        here = np.flatnonzero(owner == own)
        edges = bars.edges[here[0] : here[-1] + 2]
        bottom = np.zeros(len(edges))
        # An object's own cluster stands at the bottom, so that its edge is one falling line.
        for c in sorted(range(membership.shape[1]), key=lambda c: c != own):
            values = bars.values[here, c]
            top = bottom + np.append(values, values[-1])
            ax.fill_between(edges, bottom, top, step="post", color=cluster_colour(c), linewidth=0)
            bottom = top
    starts = np.concatenate([[0], np.cumsum(np.bincount(labels))])
    for at in starts[1:-1]:
        ax.axvline(at, color="white", linewidth=1.2)
    middles, sizes = (starts[:-1] + starts[1:]) / 2, np.diff(starts)
    wide = sizes / n >= 0.04
    ax.set_xticks(middles[wide], np.flatnonzero(wide).astype(str))
    ax.tick_params(axis="x", length=0)
    ax.set_xlim(0, n)
    ax.set_ylim(0, 1)
    name_axes(ax, f"{n:,} objects by cluster, largest membership first", "membership")
    ax.spines[["top", "right"]].set_visible(False)
    return ax
