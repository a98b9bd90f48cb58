"""Plots for choosing: number of clusters, agreement and ranks of methods, calibration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from coterie.choosing._resampling import AMBIGUOUS
from coterie.plotting._style import SEQUENTIAL, get_axes, name_axes, tidy, whole_numbers
from coterie.views._curves import CRITERION_NAMES, calibration_curve, scaled_criteria
from coterie.views._order import agreement_order
from coterie.views._palette import ACCENT, GREY, cluster_colour, cluster_marker
from coterie.views._per_k import consensus_curves

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from coterie.choosing import ClusterNumbers, Comparison, MeanRanks
    from coterie.per_k import ConsensusPerK

__all__ = [
    "plot_agreement",
    "plot_calibration",
    "plot_consensus_cdf",
    "plot_critical_differences",
    "plot_delta_area",
    "plot_n_clusters",
]

_MAX_LINES = 8  # that a legend can name


def plot_consensus_cdf(
    numbers: ClusterNumbers | ConsensusPerK, *, ax: Axes | None = None, most: int = 8
) -> Axes:
    """Draw for each number of clusters how the consensus of pairs is distributed.

    Parameters
    ----------
    numbers : ClusterNumbers or ConsensusPerK
        Result of `coterie.how_many_clusters` with ``n_runs`` above 0, or a fitted
        `coterie.ConsensusPerK`. A curve that is flat between 0 and 1 means that pairs are either
        always or never together; PAC is its rise between the dotted lines. A star marks the
        recommended number.
    ax : matplotlib Axes, optional
        Where to draw. Default: a new figure.
    most : int, default=8
        The most curves: those of the smallest numbers, and that of the recommended one.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import ConsensusPerK
    >>> from coterie.plotting import plot_consensus_cdf
    >>> X = np.random.default_rng(0).normal(size=(40, 3)) + np.repeat([[0], [9]], 20, axis=0)
    >>> model = ConsensusPerK(k_range=range(2, 5), n_resamples=10, random_state=0).fit(X)
    >>> ax = plot_consensus_cdf(model)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['2 *', '3', '4']
    """
    curves = consensus_curves(numbers)
    ax = get_axes(ax)
    grid = np.linspace(0.0, 1.0, curves.cdf.shape[1])
    shown = [int(k) for k in curves.numbers[:most]]
    if curves.best in curves.numbers and curves.best not in shown:
        shown[-1:] = [curves.best]
    dashes = ("-", "--", "-.", ":")
    greys = np.linspace(0.25, 0.72, max(len(shown), 2))
    for i, k in enumerate(shown):
        is_best = k == curves.best
        values = curves.cdf[int(np.flatnonzero(curves.numbers == k)[0])]
        ax.plot(
            grid,
            values,
            linestyle="-" if is_best else dashes[i % len(dashes)],
            color=ACCENT if is_best else str(greys[i]),
            linewidth=2.2 if is_best else 1.0,
            zorder=3 if is_best else 2,
            label=f"{k}" + (" *" if is_best else ""),
        )
    for limit in AMBIGUOUS:
        ax.axvline(limit, color=GREY, linestyle=":", linewidth=0.8)
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 1.02)
    name_axes(ax, "share of runs that put a pair together", "share of pairs, cumulative")
    ax.legend(
        title="clusters",
        fontsize=7,
        title_fontsize=7,
        frameon=False,
        loc="center left",
        bbox_to_anchor=(1.0, 0.5),
        handlelength=1.6,
    )
    tidy(ax)
    return ax


def plot_delta_area(numbers: ClusterNumbers | ConsensusPerK, *, ax: Axes | None = None) -> Axes:
    """Draw how much the area under the consensus distribution grows with the number of clusters.

    Parameters
    ----------
    numbers : ClusterNumbers or ConsensusPerK
        Result of `coterie.how_many_clusters` with ``n_runs`` above 0, or a fitted
        `coterie.ConsensusPerK`. Where the curve has come down, more clusters add nothing.
    ax : matplotlib Axes, optional
        Where to draw. Default: a new figure.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import ConsensusPerK
    >>> from coterie.plotting import plot_delta_area
    >>> X = np.random.default_rng(0).normal(size=(40, 3)) + np.repeat([[0], [9]], 20, axis=0)
    >>> model = ConsensusPerK(k_range=range(2, 5), n_resamples=10, random_state=0).fit(X)
    >>> ax = plot_delta_area(model)
    """
    curves = consensus_curves(numbers)
    ax = get_axes(ax)
    ax.plot(curves.numbers, curves.delta_area, "o-", color=GREY, markersize=4, linewidth=1.2)
    best = curves.numbers == curves.best
    ax.plot(curves.numbers[best], curves.delta_area[best], "s", color=ACCENT, markersize=7)
    ax.axhline(0.0, color="0.3", linewidth=0.8)
    name_axes(ax, "number of clusters", "relative growth of the area")
    whole_numbers(ax)
    tidy(ax)
    return ax


def plot_n_clusters(numbers: ClusterNumbers, *, ax: Axes | None = None) -> Axes:
    """Draw all criteria for the number of clusters side by side.

    Parameters
    ----------
    numbers : ClusterNumbers
        Result of `coterie.how_many_clusters`. A row per criterion, a column per number: dark is
        good by that criterion. A square marks its choice, the frame the recommended number.
    ax : matplotlib Axes, optional
        Where to draw. Default: a new figure.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> from coterie import how_many_clusters
    >>> from coterie.datasets import load
    >>> from coterie.plotting import plot_n_clusters
    >>> numbers = how_many_clusters(load("iris").data, range(2, 6), random_state=0)
    >>> ax = plot_n_clusters(numbers)
    """
    from matplotlib.patches import Rectangle

    scaled = scaled_criteria(numbers)
    ax = get_axes(ax, height=0.55)
    image = np.array(list(scaled.values())) if scaled else np.empty((0, len(numbers.n_clusters)))
    if image.size:
        shade = np.ma.masked_invalid(image)
        ax.imshow(shade, cmap="Greys", vmin=0.0, vmax=1.35, aspect="auto")
    columns = {int(k): i for i, k in enumerate(numbers.n_clusters)}
    for row, name in enumerate(scaled):
        choice = numbers.choices.get(name)
        if choice in columns:
            ax.plot(
                columns[choice],
                row,
                marker="s",
                markersize=7,
                markerfacecolor="white",
                markeredgecolor="black",
                markeredgewidth=1.2,
            )
    if numbers.recommended in columns and scaled:
        place = columns[numbers.recommended] - 0.5, -0.5
        frame = Rectangle(place, 1, len(scaled), fill=False, color=ACCENT, linewidth=2.2)
        ax.add_patch(frame)
        frame.set_clip_on(False)
    ax.set_yticks(range(len(scaled)), [CRITERION_NAMES[name] for name in scaled])
    step = 1 if len(columns) <= 12 else 2
    ax.set_xticks(list(columns.values())[::step], [str(k) for k in list(columns)[::step]])
    name_axes(ax, "number of clusters", "")
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    return ax


def plot_agreement(comparison: Comparison, *, ax: Axes | None = None) -> Axes:
    """Draw the agreement (ARI) of every two methods.

    Parameters
    ----------
    comparison : Comparison
        Result of `coterie.compare`. Methods that agree stand together: they are in the order of
        an average-linkage tree of 1 - ARI.
    ax : matplotlib Axes, optional
        Where to draw. Default: a new figure.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> from coterie import compare
    >>> from coterie.plotting import plot_agreement
    >>> votes = [[0, 0, 0], [0, 0, 0], [0, 1, 1], [1, 1, 1], [1, 1, 1]]
    >>> comparison = compare(votes, methods=["eac", "voting"], n_clusters=2, random_state=0)
    >>> ax = plot_agreement(comparison)
    """
    n = len(comparison.methods)
    order = agreement_order(comparison.agreement)
    values = comparison.agreement[np.ix_(order, order)]
    names = [comparison.methods[i] for i in order]
    ax = get_axes(ax, height=0.95)
    ax.imshow(values, cmap=SEQUENTIAL, vmin=0.0, vmax=1.0)
    size = 6.5 if n <= 12 else 5
    for i in range(n):
        for j in range(n):
            colour = "white" if values[i, j] > 0.55 else "black"
            text = f"{values[i, j]:.2f}".replace("0.", ".") if values[i, j] < 1 else "1"
            ax.text(j, i, text, ha="center", va="center", color=colour, fontsize=size)
    words = [name + (" *" if name == comparison.recommended else "") for name in names]
    ax.set_xticks(range(n), words, rotation=90, fontsize=7)
    ax.set_yticks(range(n), words, fontsize=7)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    return ax


def plot_critical_differences(ranks: MeanRanks, *, ax: Axes | None = None) -> Axes:
    """Draw mean ranks on a line, with bars over methods that do not differ significantly.

    Parameters
    ----------
    ranks : MeanRanks
        Result of `coterie.choosing.mean_ranks`.
    ax : matplotlib Axes, optional
        Where to draw. Default: a new figure.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> from coterie.choosing import mean_ranks
    >>> from coterie.plotting import plot_critical_differences
    >>> scores = [[0.9, 0.5, 0.1], [0.8, 0.7, 0.2], [0.9, 0.4, 0.3]]
    >>> ax = plot_critical_differences(mean_ranks(scores, ["eac", "voting", "cspa"]))
    """
    ax = get_axes(ax, height=0.6, width=2.0)
    n = len(ranks.methods)
    low, high = int(np.floor(ranks.ranks.min())), int(np.ceil(ranks.ranks.max()))
    left = (n + 1) // 2
    depth = 1.0 + 0.28 * len(ranks.groups)
    ax.plot([low, high], [0, 0], color="black", linewidth=1.2)
    for tick in range(low, high + 1):
        ax.plot([tick, tick], [0, 0.18], color="black", linewidth=1.0)
        ax.text(tick, 0.28, str(tick), ha="center", va="bottom", fontsize=7.5)
    span = high - low
    for i, (name, rank) in enumerate(zip(ranks.methods, ranks.ranks, strict=True)):
        on_left = i < left
        row = -depth - 0.55 * (i if on_left else n - 1 - i)
        edge = low - 0.06 * span if on_left else high + 0.06 * span
        ax.plot([rank, rank, edge], [0, row, row], color="0.35", linewidth=0.8)
        ax.text(
            edge + (-0.01 if on_left else 0.01) * span,
            row,
            f"{name}  {rank:.1f}" if on_left else f"{rank:.1f}  {name}",
            ha="right" if on_left else "left",
            va="center",
            fontsize=7.5,
        )
    for level, (first, last) in enumerate(ranks.groups):
        height = -0.3 - 0.28 * level
        ends = ranks.ranks[first] - 0.01 * span, ranks.ranks[last] + 0.01 * span
        ax.plot(ends, [height, height], color=ACCENT, linewidth=3.5, solid_capstyle="round")
    top = 1.05
    ax.plot([low, low + ranks.critical_difference], [top, top], color="black", linewidth=1.5)
    ax.text(
        low + ranks.critical_difference / 2,
        top + 0.1,
        f"critical difference {ranks.critical_difference:.2f} ({ranks.n_sets} data sets)",
        ha="center",
        va="bottom",
        fontsize=7.5,
    )
    ax.set_xlim(low - 0.42 * span, high + 0.42 * span)
    ax.set_ylim(-depth - 0.55 * left, top + 0.7)
    ax.axis("off")
    return ax


def plot_calibration(
    counts: Mapping[str, tuple[ArrayLike, ArrayLike]], *, ax: Axes | None = None
) -> Axes:
    """Draw how often objects are right, by their confidence.

    Parameters
    ----------
    counts : mapping from a method to (objects, right objects) by bin of confidence
        Bins are of equal width from 0 to 1. With more than eight methods each is a thin grey
        line, and the thick one is all of them together.
    ax : matplotlib Axes, optional
        Where to draw. Default: a new figure.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    Of 10 objects with a confidence below 0.5, 4 are right; of 90 others, 81 are.

    >>> from coterie.plotting import plot_calibration
    >>> ax = plot_calibration({"eac": ([10, 90], [4, 81])})
    """
    ax = get_axes(ax, height=0.9, width=1.2)
    ax.plot([0, 1], [0, 1], color="0.3", linestyle=":", linewidth=1.0, label="confidence = right")
    few = len(counts) <= _MAX_LINES
    for i, (name, pair) in enumerate(counts.items()):
        curve = calibration_curve(*pair)
        style: dict[str, Any] = {"color": GREY, "linewidth": 0.8, "alpha": 0.7}
        if few:
            style = {"color": cluster_colour(i), "marker": cluster_marker(i), "markersize": 4}
            style |= {"label": name, "linewidth": 1.2}
        elif i == 0:
            style["label"] = "each method"
        ax.plot(curve.confidence, curve.right, **style)
    if len(counts) > 1:
        objects, right = (
            np.sum([np.asarray(pair[part]) for pair in counts.values()], axis=0) for part in (0, 1)
        )
        curve = calibration_curve(objects, right)
        ax.plot(curve.confidence, curve.right, "o-", color=ACCENT, linewidth=2.2, label="all")
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 1)
    ax.set_aspect("equal")
    name_axes(ax, "confidence", "share of objects that are right")
    ax.legend(fontsize=7, frameon=False, loc="upper left")
    tidy(ax)
    return ax
