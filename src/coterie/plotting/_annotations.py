"""Bars beside a picture of objects that show known facts about them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from coterie.views._palette import cluster_colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_annotations"]

_HEIGHT, _GAP = 0.045, 0.012  # of a bar, in heights of the axes
_MISSING = "#D9DEE4"
_MAX_NAMED = 8  # classes of a legend


def draw_annotations(
    ax: Axes,
    annotations: dict[str, tuple[NDArray[np.float64], list[str] | None]],
    order: NDArray[np.int64],
) -> None:
    """Draw a bar for each annotation above the axes, and a legend below them.

    Objects are columns of the axes, in their order. Each bar takes its colours from another place
    of the palette, so that classes of different bars are not taken for each other.
    """
    from matplotlib.patches import Patch

    handles: list[Patch] = []
    offset = 0
    for i, (name, (values, classes)) in enumerate(annotations.items()):
        bottom = 1.0 + _GAP + i * (_HEIGHT + _GAP)
        bar = ax.inset_axes((0.0, bottom, 1.0, _HEIGHT))
        colours = _colours(values[order], classes, offset)
        bar.imshow(colours[None], aspect="auto", interpolation="nearest")
        bar.set_xticks([])
        bar.set_yticks([0], [name], fontsize=7.5)
        bar.tick_params(length=0)
        if classes is None:
            low, high = np.nanmin(values), np.nanmax(values)
            ends = zip((low, high), (0.0, 1.0), strict=True)
            handles += [
                Patch(color=_shade(share), label=f"{name}: {end:.4g}") for end, share in ends
            ]
        else:
            named = classes[:_MAX_NAMED]
            handles += [
                Patch(color=cluster_colour(offset + c), label=f"{name}: {text}")
                for c, text in enumerate(named)
            ]
            if len(classes) > len(named):
                handles.append(
                    Patch(color="none", label=f"{name}: {len(classes) - len(named)} more")
                )
            offset += len(classes)
    ax.legend(
        handles=handles,
        loc="upper center",
        bbox_to_anchor=(0.5, -0.08),
        ncols=min(3, max(1, len(handles))),
        fontsize=7,
        frameon=False,
        handlelength=1.0,
    )


def _colours(
    values: NDArray[np.float64], classes: list[str] | None, offset: int
) -> NDArray[np.float64]:
    from matplotlib.colors import to_rgba

    low, high = (np.nanmin(values), np.nanmax(values)) if not np.isnan(values).all() else (0, 1)
    found = []
    for value in values:
        if np.isnan(value):
            found.append(to_rgba(_MISSING))
        elif classes is None:
            found.append(to_rgba(_shade((value - low) / (high - low) if high > low else 1.0)))
        else:
            found.append(to_rgba(cluster_colour(offset + int(value))))
    return np.array(found)


def _shade(share: float) -> tuple[float, float, float, float]:
    from matplotlib import colormaps

    red, green, blue, alpha = colormaps["Purples"](0.15 + 0.85 * share)
    return red, green, blue, alpha
