"""Trees and what is read from them: dendrogram, lifetimes, MSTEClust's tree and criterion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coterie._ordering import ConsensusTree, leaf_order, tree_of
from coterie.plotting._style import check_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "choice_curve",
    "plot_criterion",
    "plot_dendrogram",
    "plot_lifetimes",
    "plot_tree",
    "top_of_tree",
]

_MOST_LEAVES = 60
_MOST_NODES = 2_000
_SQUEEZED = 2.5  # ranges of the interesting part in the whole, from which on only the part is drawn
_NUMBERED = 30  # leaves, up to which each gets its number
_TREE = "EAC, LACA up to 20,000 distinct objects, HNE, MSTEClust and PWEC have one."


# --- dendrogram ---------------------------------------------------------------------------------


class TopOfTree(NamedTuple):
    """The last merges of a tree, ready to be drawn."""

    x: NDArray[np.float64]
    """(m, 4): left foot, left shoulder, right shoulder, right foot of each merge."""
    y: NDArray[np.float64]
    cluster: NDArray[np.int64]
    """(m,): the cluster in which a merge is; -1 above the cut."""
    sizes: NDArray[np.int64]
    """(p,): objects of each leaf, from left to right."""
    leaves: NDArray[np.int64]
    """(p,): the object of each leaf, the first of several."""
    heights: NDArray[np.float64]
    """(p,): where each leaf hangs: 0 for an object, for several where they were joined."""
    cut: float | None
    """Height of the cut; None where the clusters are no cut of the tree."""


def top_of_tree(
    tree: ConsensusTree, labels: NDArray[np.int64], n_leaves: int = _MOST_LEAVES
) -> TopOfTree:
    """Return the last merges of a tree, from at most `n_leaves` leaves on.

    Merges of infinite height, which some methods write for what they did not join, are left
    out.
    """
    linkage = tree.linkage
    n = len(linkage) + 1
    p = min(n, n_leaves)
    order = leaf_order(linkage)
    group = tree.cut(p)
    starts = np.concatenate([[0], np.flatnonzero(np.diff(group[order])) + 1])
    place = np.empty(p)
    place[group[order[starts]]] = np.arange(p)
    rows = np.arange(n - p, n - 1)
    rows = rows[np.isfinite(linkage[rows, 2])]
    some_leaf = np.concatenate([np.arange(n), tree.first])
    node_x = np.full(2 * n - 1, np.nan)
    heights = np.zeros(p)
    x, y = np.empty((len(rows), 4)), np.empty((len(rows), 4))
    for m, row in enumerate(rows):
        feet = linkage[row, :2].astype(np.int64)
        for node in feet:
            if node < n or node - n < n - p:
                node_x[node] = place[group[some_leaf[node]]]
        low = [linkage[node - n, 2] if node >= n else 0.0 for node in feet]
        for node, height in zip(feet, low, strict=True):
            if node < n or node - n < n - p:
                heights[int(node_x[node])] = height
        left, right = (0, 1) if node_x[feet[0]] <= node_x[feet[1]] else (1, 0)
        a, b = node_x[feet[left]], node_x[feet[right]]
        x[m] = a, a, b, b
        y[m] = low[left], linkage[row, 2], linkage[row, 2], low[right]
        node_x[n + row] = (a + b) / 2
    k = int(labels.max()) + 1
    is_cut = k >= tree.least_clusters and np.array_equal(tree.cut(k), labels)
    cluster = np.where(rows < n - k, labels[tree.first[rows]], -1) if is_cut else rows * 0 - 1
    ends = np.append(starts, n)
    cut = _cut_height(linkage, k) if is_cut else None
    return TopOfTree(x, y, cluster, np.diff(ends), order[starts], heights, cut)


def _cut_height(linkage: NDArray[np.float64], k: int) -> float:
    """Return a height between the last merge that was made and the first that was not."""
    n = len(linkage) + 1
    below = linkage[n - k - 1, 2] if k < n else 0.0
    above = linkage[n - k, 2] if k > 1 else np.inf
    if np.isinf(above):
        return float(below + 0.03 * max(below, 1e-9))
    return float((below + above) / 2)


def plot_dendrogram(model: Any, *, max_leaves: int = _MOST_LEAVES, ax: Axes | None = None) -> Axes:
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
    """
    check_matplotlib()
    from matplotlib.collections import LineCollection

    from coterie.plotting._style import (
        ACCENT,
        GREY,
        cluster_colour,
        fitted,
        get_axes,
        name_axes,
        tidy,
    )

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


class ChoiceCurve(NamedTuple):
    """By what a method chooses the number of clusters."""

    kind: str
    """'lifetime', 'likelihood' or 'criterion'."""
    name: str
    numbers: NDArray[np.int64]
    values: NDArray[np.float64]
    best: str
    """'highest' or 'lowest'."""


def choice_curve(model: Any, most: int | None = None) -> ChoiceCurve | None:
    """Return what a fitted method chooses the number of clusters by; None if nothing was kept.

    As far as `most` clusters; by default a few beyond the number found.
    """
    curve = _whole_curve(model)
    if curve is None:
        return None
    most = max(15, model.n_clusters_ + 4) if most is None else most
    shown = curve.numbers <= most
    return curve._replace(numbers=curve.numbers[shown], values=curve.values[shown])


def readable_range(
    numbers: NDArray[np.int64], values: NDArray[np.float64], chosen: int
) -> tuple[float, float]:
    """Return the lowest and highest value to draw, so that the numbers around the choice differ.

    The value of one cluster, and of a few more, is often so far off that all others would lie on
    a line. Then the range is that of the numbers from three quarters of the chosen one on, its
    lower neighbour among them.
    """
    whole = float(values.min()), float(values.max())
    near = values[numbers >= min(chosen, max(2, 3 * chosen // 4))]
    if not len(near) or whole[1] - whole[0] <= _SQUEEZED * np.ptp(near):
        return whole
    return float(near.min()), float(near.max())


def _whole_curve(model: Any) -> ChoiceCurve | None:
    lifetimes = getattr(model, "lifetimes_", None)
    if lifetimes is not None and len(lifetimes):
        values = np.asarray(lifetimes, dtype=np.float64)
        numbers = np.arange(2, 2 + len(values))
        return ChoiceCurve("lifetime", "lifetime", numbers, values, "highest")
    path = getattr(model, "n_clusters_path_", None)
    if path is not None and len(path) > 1:
        numbers = np.arange(1, 1 + len(path))
        return ChoiceCurve("likelihood", "log-likelihood", numbers, np.asarray(path), "highest")
    criterion = getattr(model, "criterion_", None)
    if isinstance(criterion, dict) and criterion:
        numbers = np.array(sorted(criterion))
        values = np.array([criterion[k] for k in sorted(criterion)], dtype=np.float64)
        return ChoiceCurve("criterion", "criterion", numbers, values, "highest")
    if isinstance(criterion, np.ndarray) and len(criterion):
        numbers = np.arange(2, 2 + len(criterion))
        return ChoiceCurve("criterion", "log F", numbers, criterion, "lowest")
    return None


def plot_lifetimes(model: Any, *, max_clusters: int | None = None, ax: Axes | None = None) -> Axes:
    """Draw how long each number of clusters lasts as the tree of EAC is cut.

    Parameters
    ----------
    model : fitted EAC
        Its `lifetimes_` are drawn.
    max_clusters : int, optional
        The largest number of clusters drawn. Default: a few beyond the number found.
    ax : matplotlib Axes, optional
        Where to draw. Default: a new figure.

    Returns
    -------
    ax : matplotlib Axes
    """
    from coterie.plotting._style import (
        ACCENT,
        GREY,
        fitted,
        get_axes,
        name_axes,
        needs,
        tidy,
        whole_numbers,
    )

    needs(model, "lifetimes_", "EAC has it.")
    model = fitted(model)
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
        Its `criterion_` is drawn: log F of MSTEClust and PWEC, of which the lowest is best, or
        the criterion of PEACE, of which the highest is.
    max_clusters : int, optional
        The largest number of clusters drawn. Default: a few beyond the number found.
    ax : matplotlib Axes, optional
        Where to draw. Default: a new figure.

    Returns
    -------
    ax : matplotlib Axes
    """
    from coterie.plotting._style import fitted, get_axes, needs

    needs(model, "criterion_", "MSTEClust and PWEC (cut='tree') have it, and PEACE that found k.")
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
    from coterie.plotting._style import ACCENT, GREY, name_axes, tidy, whole_numbers

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


class DrawnTree(NamedTuple):
    """A spanning tree with a place for every node."""

    places: NDArray[np.float64]
    """(p, 2): where the nodes are."""
    sizes: NDArray[np.int64]
    """(p,): objects of each node."""
    cluster: NDArray[np.int64]
    edges: NDArray[np.int64]
    """(p - 1, 2): nodes."""
    removed: NDArray[np.bool_]
    """(p - 1,): the edges between clusters."""


def contracted_tree(
    edges: NDArray[np.float64],
    labels: NDArray[np.int64],
    places: NDArray[np.float64],
    n_nodes: int = _MOST_NODES,
) -> DrawnTree:
    """Return a spanning tree with at most `n_nodes` nodes: the shortest edges are contracted."""
    from coterie._kernels.linkage import cut_merges, name_clusters

    n = len(labels)
    first, second = name_clusters(edges[:, :2].astype(np.int64))
    kept = min(n, max(n_nodes, int(labels.max()) + 1)) - 1
    roots = cut_merges(first, second, n - 1 - kept, n)
    names, node = np.unique(roots, return_inverse=True)
    sizes = np.bincount(node)
    middle = np.stack([np.bincount(node, weights=axis) / sizes for axis in places.T], axis=1)
    ends = node[edges[n - 1 - kept :, :2].astype(np.int64)]
    cluster = labels[names]
    return DrawnTree(middle, sizes, cluster, ends, cluster[ends[:, 0]] != cluster[ends[:, 1]])


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
    """
    check_matplotlib()
    from matplotlib.collections import LineCollection

    from coterie.plotting._projection import place_objects
    from coterie.plotting._style import fitted, get_axes, name_axes, needs

    edges = np.asarray(needs(model, "tree_", "MSTEClust and PWEC (cut='tree') have it."))
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
    from coterie.plotting._style import cluster_colour, cluster_marker

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
