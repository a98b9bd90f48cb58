"""Pictures of one consensus per number of clusters, as ConsensusClusterPlus draws them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coterie.plotting._style import get_axes, name_axes, tidy
from coterie.views._blocks import cluster_borders
from coterie.views._order import consensus_order
from coterie.views._palette import GREY, cluster_colour
from coterie.views._per_k import (
    at_number,
    consensus_silhouette,
    stacked_items,
    tracking_table,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from coterie.per_k import ConsensusPerK

__all__ = [
    "plot_cluster_consensus",
    "plot_consensus_silhouette",
    "plot_item_consensus",
    "plot_tracking",
]

_MAX_BARS = 2_000  # objects drawn as bars; of more, every few-th


def plot_tracking(model: ConsensusPerK, *, ax: Axes | None = None) -> Axes:
    """Draw the cluster of every object for every number of clusters.

    Parameters
    ----------
    model : ConsensusPerK
        The fitted analysis. A row is a number of clusters, a column an object, a colour a
        cluster. A column that changes its colour from row to row is an object that belongs
        nowhere; a star marks the best number.
    ax : matplotlib Axes, optional
        Where to draw. Default: a new figure.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import ConsensusPerK
    >>> from coterie.plotting import plot_tracking
    >>> X = np.random.default_rng(0).normal(size=(40, 3)) + np.repeat([[0], [9]], 20, axis=0)
    >>> model = ConsensusPerK(k_range=range(2, 5), n_resamples=10, random_state=0).fit(X)
    >>> ax = plot_tracking(model)
    >>> [tick.get_text() for tick in ax.get_yticklabels()]
    ['2 *', '3', '4']
    """
    from matplotlib.colors import to_rgb

    ax = get_axes(ax, height=0.5)
    order, table = tracking_table(model)
    colours = np.array([to_rgb(cluster_colour(c)) for c in range(int(table.max()) + 1)])
    ax.imshow(colours[table], aspect="auto", interpolation="nearest")
    for row in range(1, len(table)):
        ax.axhline(row - 0.5, color="white", linewidth=1.5)
    numbers = model.k_range_.tolist()
    named = [f"{k} *" if k == model.best_k_ else f"{k}" for k in numbers]
    name_axes(ax, f"{len(order):,} objects by the tree of {model.best_k_} clusters", "clusters")
    ax.set_yticks(range(len(named)), named)
    ax.set_xticks([])
    ax.tick_params(length=0)
    for spine in ax.spines.values():
        spine.set_visible(False)
    return ax


def plot_cluster_consensus(model: ConsensusPerK, *, ax: Axes | None = None) -> Axes:
    """Draw the mean consensus of the pairs of each cluster, for every number of clusters.

    Parameters
    ----------
    model : ConsensusPerK
        The fitted analysis. Bars near 1 are clusters whose members are always together. A cluster
        of one object has no pairs: a small cross.
    ax : matplotlib Axes, optional
        Where to draw. Default: a new figure.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import ConsensusPerK
    >>> from coterie.plotting import plot_cluster_consensus
    >>> X = np.random.default_rng(0).normal(size=(40, 3)) + np.repeat([[0], [9]], 20, axis=0)
    >>> model = ConsensusPerK(k_range=range(2, 5), n_resamples=10, random_state=0).fit(X)
    >>> ax = plot_cluster_consensus(model)
    """
    ax = get_axes(ax, height=0.5)
    place, ticks = 0.0, []
    for k in model.k_range_.tolist():
        values = model.cluster_consensus(k)
        places = place + np.arange(k)
        colours = [cluster_colour(c) for c in range(k)]
        ax.bar(places, np.nan_to_num(values), width=0.85, color=colours)
        alone = np.isnan(values)
        ax.plot(places[alone], np.full(alone.sum(), 0.03), "x", color=GREY, markersize=4)
        ticks.append(places.mean())
        place += k + 1.5
    named = [f"{k} *" if k == model.best_k_ else f"{k}" for k in model.k_range_.tolist()]
    name_axes(ax, "number of clusters", "cluster consensus")
    ax.set_xticks(ticks, named)
    ax.tick_params(axis="x", length=0)
    ax.set_ylim(0, 1.02)
    tidy(ax)
    return ax


def plot_item_consensus(model: Any, k: int | None = None, *, ax: Axes | None = None) -> Axes:
    """Draw for each object its mean consensus with every cluster, as stacked bars.

    Parameters
    ----------
    model : ConsensusPerK or fitted consensus method
        What to draw. The own cluster stands at the bottom of a bar. A bar of one colour is an
        object that is only ever with that cluster, several colours are an object between
        clusters.
    k : int, optional
        For a `coterie.ConsensusPerK`: the number of clusters. Default: the best one.
    ax : matplotlib Axes, optional
        Where to draw. Default: a new figure.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> from coterie import EAC
    >>> from coterie.plotting import plot_item_consensus
    >>> votes = [[0, 0, 0], [0, 0, 0], [0, 1, 1], [1, 1, 1], [1, 1, 1]]
    >>> ax = plot_item_consensus(EAC(n_clusters=2).fit(votes))
    """
    view = at_number(model, k)
    ax = get_axes(ax, height=0.5)
    order = consensus_order(view)
    order = order[:: -(-len(order) // _MAX_BARS)]
    item, own = stacked_items(view, order), view.labels_[order]
    places = np.arange(len(order))
    height = np.zeros(len(order))
    # The own cluster stands at the bottom, so that bars can be compared.
    for is_own in (True, False):
        for c in range(view.n_clusters_):
            shown = np.where((own == c) == is_own, item[:, c], 0.0)
            ax.bar(places, shown, bottom=height, width=1.0, color=cluster_colour(c), linewidth=0)
            height += shown
    name_axes(ax, f"{len(view.labels_):,} objects by cluster (numbers)", "item consensus")
    ax.set_xlim(-0.5, len(order) - 0.5)
    borders = cluster_borders(view.labels_, order)
    middles, sizes = (borders[:-1] + borders[1:] - 1) / 2, np.diff(borders)
    wide = sizes >= 0.04 * len(order)
    ax.set_xticks(middles[wide], own[borders[:-1]][wide].astype(str))
    ax.tick_params(axis="x", length=0)
    tidy(ax)
    return ax


def plot_consensus_silhouette(model: Any, k: int | None = None, *, ax: Axes | None = None) -> Axes:
    """Draw the silhouette of every object, its distance to others being 1 - consensus.

    Parameters
    ----------
    model : ConsensusPerK or fitted consensus method
        What to draw. Objects with a negative value fit another cluster better. The line is the
        mean.
    k : int, optional
        For a `coterie.ConsensusPerK`: the number of clusters. Default: the best one.
    ax : matplotlib Axes, optional
        Where to draw. Default: a new figure.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> from coterie import EAC
    >>> from coterie.plotting import plot_consensus_silhouette
    >>> votes = [[0, 0, 0], [0, 0, 0], [0, 1, 1], [1, 1, 1], [1, 1, 1]]
    >>> ax = plot_consensus_silhouette(EAC(n_clusters=2).fit(votes))
    """
    view = at_number(model, k)
    ax = get_axes(ax, height=0.8)
    values = consensus_silhouette(view)
    start, ticks = 0, []
    gap = max(1, len(values) // 60)
    for c in range(view.n_clusters_):
        own = np.sort(values[view.labels_ == c])[::-1]
        places = start + np.arange(len(own))
        ax.fill_betweenx(
            np.append(places, start + len(own)) - 0.5,
            0.0,
            np.append(own, own[-1]),
            step="post",
            color=cluster_colour(c),
            linewidth=0,
        )
        ticks.append(places.mean())
        start += len(own) + gap
    ax.axvline(values.mean(), color="0.2", linestyle="--", linewidth=1.0)
    ax.axvline(0.0, color="0.3", linewidth=0.8)
    name_axes(ax, f"silhouette of the consensus (mean {values.mean():.2f})", "cluster")
    ax.set_yticks(ticks, [str(c) for c in range(view.n_clusters_)])
    ax.tick_params(axis="y", length=0)
    ax.set_xlim(min(-0.05, values.min()), 1.02)
    ax.invert_yaxis()
    tidy(ax, grid="x")
    return ax
