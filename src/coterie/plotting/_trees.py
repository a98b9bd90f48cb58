"""Trees and what is read from them: dendrogram, lifetimes, MSTEClust's tree and criterion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from coterie.plotting._style import check_matplotlib, get_axes, name_axes, tidy, whole_numbers
from coterie.views._curves import ChoiceCurve, choice_curve, readable_range
from coterie.views._fitted import fitted, fitted_attribute
from coterie.views._order import tree_of
from coterie.views._palette import ACCENT, GREY, cluster_colour, cluster_marker
from coterie.views._projection import place_objects
from coterie.views._trees import DrawnTree, contracted_tree, top_of_tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_criterion", "plot_dendrogram", "plot_lifetimes", "plot_tree"]

_MAX_LEAVES = 60
_NUMBERED = 30  # leaves, up to which each gets its number
_TREE = "EAC, LACA up to 20,000 distinct objects, HNE, MSTEClust and PWEC have one."


# --- dendrogram ---------------------------------------------------------------------------------


def plot_dendrogram(model: Any, *, max_leaves: int = _MAX_LEAVES, ax: Axes | None = None) -> Axes:
    """Draw the tree of a consensus method, and where it was cut.

    Parameters
    ----------
    model : fitted consensus method with a tree
        EAC, LACA, HNE, MSTEClust or PWEC.
    max_leaves : int, default=60
        Leaves that are drawn. Where there are more objects, a leaf stands for several, and the
        area of its dot says for how many.
    ax : matplotlib Axes, optional
        Where to draw. Default: a new figure.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> from coterie import EAC
    >>> from coterie.plotting import plot_dendrogram
    >>> votes = [[0, 0, 0], [0, 0, 0], [0, 1, 1], [1, 1, 1], [1, 1, 1]]
    >>> ax = plot_dendrogram(EAC(n_clusters=2).fit(votes))
    """
    check_matplotlib()
    from matplotlib.collections import LineCollection

    model = fitted(model)
    tree = tree_of(model)
    if tree is None:
        raise TypeError(f"{type(model).__name__} has no tree here. {_TREE}")
    if max_leaves < 2:
        raise ValueError(f"max_leaves must be at least 2; got {max_leaves}.")
    top = top_of_tree(tree, model.labels_, max_leaves)
    ax = get_axes(ax)
    colours = [GREY if c < 0 else cluster_colour(int(c)) for c in top.cluster]
    lines = np.stack([top.x, top.y], axis=2)
    ax.add_collection(LineCollection(list(lines), colors=colours, linewidths=1.1))
    p = len(top.sizes)
    if top.cut is not None:
        ax.axhline(top.cut, color=ACCENT, linestyle=(0, (5, 2)), linewidth=1)
        ax.annotate(
            f"{model.n_clusters_} cluster{'s' * (model.n_clusters_ != 1)}",
            (1, top.cut),
            xycoords=("axes fraction", "data"),
            ha="right",
            va="bottom",
            color=ACCENT,
            fontsize="small",
        )
    many = top.sizes > 1
    if many.any():
        leaf_colour = [cluster_colour(int(c)) for c in model.labels_[top.leaves]]
        area = 3 + 36 * top.sizes / top.sizes.max()
        ax.scatter(np.arange(p), top.heights, s=area, c=leaf_colour, zorder=3, clip_on=False)
    highest = top.y.max() if len(top.y) else 1.0
    ax.set_xlim(-0.7, p - 0.3)
    ax.set_ylim(0, 1.06 * (highest or 1.0))
    if many.any():
        ax.set_xticks([])
        below = f"{top.sizes.sum():,} objects in {p} leaves (by area)"
    elif p <= _NUMBERED:
        ax.set_xticks(range(p), top.leaves.astype(str), fontsize="x-small", rotation=90)
        below = "object"
    else:
        ax.set_xticks([])
        below = f"{p} objects"
    tidy(ax)
    name_axes(ax, below, "height of merge")
    ax.spines["bottom"].set_visible(False)
    return ax


# --- the number of clusters ---------------------------------------------------------------------


def plot_lifetimes(model: Any, *, max_clusters: int | None = None, ax: Axes | None = None) -> Axes:
    """Draw how long each number of clusters lasts as the tree of EAC is cut.

    Parameters
    ----------
    model : fitted EAC
        Its `n_clusters_curve_` is drawn.
    max_clusters : int, optional
        The largest number of clusters drawn. Default: a few beyond the number found.
    ax : matplotlib Axes, optional
        Where to draw. Default: a new figure.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> from coterie import EAC
    >>> from coterie.plotting import plot_lifetimes
    >>> votes = [[0, 0, 0], [0, 0, 0], [0, 1, 1], [1, 1, 1], [1, 1, 1]]
    >>> ax = plot_lifetimes(EAC().fit(votes))
    >>> ax.get_xlabel()
    'clusters (hatched: 2, this consensus)'
    """
    kept = fitted_attribute(model, "n_clusters_curve_", "EAC has it.")
    model = fitted(model)
    if kept.name != "lifetime":
        raise TypeError(
            f"{type(model).__name__} has no lifetimes, which this plot shows. EAC has it."
        )
    curve = choice_curve(model, max_clusters)
    ax = get_axes(ax, height=0.6)
    if curve is None:
        ax.annotate("too few objects", (0.5, 0.5), xycoords="axes fraction", ha="center")
    else:
        chosen = curve.numbers == model.n_clusters_
        bars = ax.bar(curve.numbers, curve.values, color=GREY, width=0.8)
        for bar, mark in zip(bars, chosen, strict=True):
            if mark:
                bar.set(facecolor=ACCENT, hatch="///", edgecolor="white")
    name_axes(ax, f"clusters (hatched: {model.n_clusters_}, this consensus)", "lifetime")
    whole_numbers(ax)
    tidy(ax)
    return ax


def plot_criterion(model: Any, *, max_clusters: int | None = None, ax: Axes | None = None) -> Axes:
    """Draw the criterion by which a method chooses the number of clusters.

    Parameters
    ----------
    model : fitted MSTEClust, PWEC or PEACE
        Its `n_clusters_curve_` is drawn: log F of MSTEClust and PWEC, of which the lowest is
        best, or the criterion of PEACE, of which the highest is.
    max_clusters : int, optional
        The largest number of clusters drawn. Default: a few beyond the number found.
    ax : matplotlib Axes, optional
        Where to draw. Default: a new figure.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> from coterie import MSTEClust
    >>> from coterie.plotting import plot_criterion
    >>> votes = [[0, 0, 0], [0, 0, 0], [0, 1, 1], [1, 1, 1], [1, 1, 1], [2, 2, 1]]
    >>> ax = plot_criterion(MSTEClust().fit(votes))
    """
    fitted_attribute(
        model,
        "n_clusters_curve_",
        "MSTEClust and PWEC (cut='tree') have it, and PEACE that found k.",
    )
    model = fitted(model)
    curve = choice_curve(model, max_clusters)
    ax = get_axes(ax, height=0.6)
    if curve is None:
        ax.annotate("too few objects", (0.5, 0.5), xycoords="axes fraction", ha="center")
        return ax
    draw_choice(ax, curve, model.n_clusters_)
    return ax


def draw_choice(ax: Axes, curve: ChoiceCurve, chosen: int) -> None:
    """Draw a curve over the number of clusters, the chosen one marked."""
    ax.plot(curve.numbers, curve.values, color=GREY, marker="o", markersize=4, linewidth=1.2)
    mark = curve.numbers == chosen
    ax.plot(
        curve.numbers[mark],
        curve.values[mark],
        color=ACCENT,
        marker="D",
        markersize=8,
        linestyle="none",
    )
    low, high = readable_range(curve.numbers, curve.values, chosen)
    if (low, high) != (curve.values.min(), curve.values.max()):
        margin = 0.06 * ((high - low) or 1.0)
        ax.set_ylim(low - margin, high + margin)
    name_axes(
        ax, f"clusters (diamond: {chosen}, this consensus)", f"{curve.name} ({curve.best} is best)"
    )
    whole_numbers(ax)
    tidy(ax)


# --- spanning tree ------------------------------------------------------------------------------


def plot_tree(model: Any, X: ArrayLike | None = None, *, ax: Axes | None = None) -> Axes:
    """Draw the spanning tree of MSTEClust or PWEC, and the edges at which it was cut.

    Parameters
    ----------
    model : fitted MSTEClust or PWEC
        Its `tree_` is drawn; where it has more than 2,000 nodes, objects joined by its shortest
        edges share one.
    X : array-like of shape (n_objects, n_features), optional
        The features, to place the objects by: two are taken as they are, of more the first two
        principal components. Default: placed by their labels in the ensemble.
    ax : matplotlib Axes, optional
        Where to draw. Default: a new figure.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> from coterie import MSTEClust
    >>> from coterie.plotting import plot_tree
    >>> votes = [[0, 0, 0], [0, 0, 0], [0, 1, 1], [1, 1, 1], [1, 1, 1]]
    >>> ax = plot_tree(MSTEClust(n_clusters=2).fit(votes))
    >>> ax.get_title(loc="left")
    '5 objects; 1 edge cut (dashed)'
    """
    check_matplotlib()
    from matplotlib.collections import LineCollection

    edges = np.asarray(fitted_attribute(model, "tree_", "MSTEClust and PWEC (cut='tree') have it."))
    model = fitted(model)
    projection = place_objects(model.ensemble_, X)
    drawn = contracted_tree(edges, model.labels_, projection.places)
    ax = get_axes(ax)
    lines = drawn.places[drawn.edges]
    inner, outer = lines[~drawn.removed], lines[drawn.removed]
    ax.add_collection(LineCollection(list(inner), colors="#9AA3AD", linewidths=0.7, zorder=1))
    _draw_nodes(ax, drawn)
    ax.add_collection(
        LineCollection(
            list(outer), colors="black", linewidths=1.2, linestyles=[(0, (2, 1.5))], zorder=3
        )
    )
    name_axes(ax, *projection.axes)
    ax.set_xticks([])
    ax.set_yticks([])
    cuts = "no edge" if not len(outer) else "1 edge" if len(outer) == 1 else f"{len(outer)} edges"
    text = f"{len(model.labels_):,} objects; {cuts} cut (dashed)"
    ax.set_title(text, fontsize="small", loc="left")
    return ax


def _draw_nodes(ax: Axes, drawn: DrawnTree) -> None:
    """Draw the nodes, each cluster with a colour and a mark of its own."""
    small = 14 if len(drawn.sizes) <= 300 else 5
    for c in np.unique(drawn.cluster):
        members = drawn.cluster == c
        area = small * np.sqrt(drawn.sizes[members] / max(drawn.sizes.min(), 1))
        ax.scatter(
            drawn.places[members, 0],
            drawn.places[members, 1],
            s=area,
            c=cluster_colour(int(c)),
            marker=cluster_marker(int(c)),
            linewidths=0,
            zorder=2,
        )
    ax.autoscale_view()
