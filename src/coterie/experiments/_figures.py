"""Figures that several experiments draw."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from coterie.choosing import mean_ranks
from coterie.plotting import plot_critical_differences

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["grid", "label_grid", "new_figure", "ranks_figure"]


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure; sizes in inches."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def grid(n: int, across: int, size: tuple[float, float]) -> tuple[Figure, list[Any]]:
    """Return a figure and `n` axes in rows of at most `across`; `size` is that of one."""
    across = min(across, n)
    down = -(-n // across)
    figure = new_figure(size[0] * across, size[1] * down)
    axes = list(figure.subplots(down, across, squeeze=False).ravel())
    for ax in axes:
        ax.tick_params(labelsize="small")
    for ax in axes[n:]:
        ax.set_axis_off()
    return figure, axes[:n]


def label_grid(figure: Figure, axes: Sequence[Any], across: str, up: str, ncols: int) -> None:
    """Put one legend above a grid, and one label beside each of its two sides."""
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=ncols)
    figure.supxlabel(across, fontsize="medium")
    figure.supylabel(up, fontsize="medium")


def ranks_figure(scores: ArrayLike, methods: Sequence[str], height: float) -> Figure:
    """Draw the mean ranks of methods with their critical difference; scores (sets, methods)."""
    figure = new_figure(7.0, height)
    plot_critical_differences(mean_ranks(scores, list(methods)), ax=figure.add_subplot())
    return figure
