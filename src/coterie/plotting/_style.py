"""Axes of plots: size, labels, ticks, grid."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["get_axes"]

SEQUENTIAL = "Blues"
"""Colour map of shares: light is 0, dark is 1."""
WIDTH = 80 / 25.4
"""Width of a journal column in inches; plots are legible at this width."""


def get_axes(ax: Axes | None, *, height: float = 0.75, width: float = 1.5) -> Axes:
    """Return axes to draw on: those given, or of a new figure.

    `width` is in columns of 80 mm, `height` in widths.
    """
    if ax is not None:
        return ax
    check_matplotlib()
    import matplotlib.pyplot as plt

    inches = WIDTH * width
    _, new = plt.subplots(figsize=(inches, inches * height), layout="constrained")
    return new


def check_matplotlib() -> None:
    """Raise ImportError with the name of the extra if matplotlib is not installed."""
    if find_spec("matplotlib") is None:
        raise ImportError(
            'plots need matplotlib, which is not installed: pip install "coterie[plot]"'
        )


def name_axes(ax: Axes, x: str, y: str) -> None:
    """Label the axes, in a size that fits a column of 80 mm."""
    ax.set_xlabel(x, fontsize=8)
    ax.set_ylabel(y, fontsize=8)
    ax.tick_params(labelsize=7.5)


def tidy(ax: Axes, *, grid: str | None = "y") -> None:
    """Remove the top and right spines, and draw the grid behind the data."""
    ax.spines[["top", "right"]].set_visible(False)
    for axis in (ax.xaxis, ax.yaxis):
        axis.get_offset_text().set_fontsize(7.5)
    ax.set_axisbelow(True)
    if grid is not None:
        ax.grid(axis=grid, color="#D9DEE4", linewidth=0.6)  # type: ignore[arg-type]


def whole_numbers(ax: Axes, axis: str = "x") -> None:
    """Put ticks at integers only."""
    from matplotlib.ticker import MaxNLocator

    which = ax.xaxis if axis == "x" else ax.yaxis
    which.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))


def pixels(ax: Axes) -> tuple[int, int]:
    """Return the width and height of axes on the page, in pixels."""
    box = ax.get_window_extent()
    return max(1, round(box.width)), max(1, round(box.height))
