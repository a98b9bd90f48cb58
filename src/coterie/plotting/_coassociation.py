"""The co-association heat map: its numbers, then its picture."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coterie.ensemble import Ensemble, as_ensemble
from coterie.plotting._annotations import draw_annotations
from coterie.plotting._style import SEQUENTIAL, get_axes, name_axes, pixels
from coterie.views._annotations import annotation_codes
from coterie.views._blocks import Blocks, cluster_borders, mean_blocks
from coterie.views._order import consensus_order, vat_order
from coterie.views._per_k import at_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_coassociation"]

MAX_BLOCKS = 600


def plot_coassociation(
    model: Any,
    *,
    order: Literal["consensus", "vat"] | ArrayLike | None = None,
    clusters: bool = True,
    colorbar: bool = True,
    k: int | None = None,
    annotations: Mapping[str, ArrayLike] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw how often each two objects are together, as a heat map.

    Never more rows than there are pixels on the page: where there are more objects, neighbours
    share a row, which shows the mean. So any number of objects can be drawn, in memory linear
    in it.

    Parameters
    ----------
    model : fitted consensus method, ConsensusPerK, Ensemble or label matrix
        What to draw.
    order : {'consensus', 'vat'} or array-like of int, optional
        How objects are put in a row. 'consensus': cluster by cluster, within a cluster as in
        the tree of the method. 'vat': by the visual assessment of tendency, which knows no
        clusters; dark squares that appear by themselves are evidence of clusters. Or the
        objects to draw, in their order. Default: 'consensus' for a fitted method, else 'vat'.
    clusters : bool, default=True
        Whether to outline the clusters and to number the larger ones (with order 'consensus').
    colorbar : bool, default=True
        Whether to draw the scale.
    k : int, optional
        For a `coterie.ConsensusPerK`: the number of clusters. Default: the best one.
    annotations : mapping of str to array-like of shape (n_objects,), optional
        Known facts about the objects, drawn as bars above the heat map: classes (text, or
        integers of at most ten values) or numbers. Missing values are grey.
    ax : matplotlib Axes, optional
        Where to draw. Default: a new figure.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> from coterie import EAC
    >>> from coterie.plotting import plot_coassociation
    >>> votes = [[0, 0, 0], [0, 0, 0], [0, 1, 1], [1, 1, 1], [1, 1, 1]]
    >>> ax = plot_coassociation(EAC(n_clusters=2).fit(votes))
    """
    is_model = hasattr(model, "fit")
    consensus = at_number(model, k) if is_model else None
    ensemble = consensus.ensemble_ if consensus is not None else as_ensemble(model)
    if order is None:
        order = "consensus" if is_model else "vat"
    by_cluster = isinstance(order, str) and order == "consensus"
    objects = _objects(order, consensus, ensemble)
    ax = get_axes(ax, height=0.86 if colorbar else 1.0)
    blocks = mean_blocks(ensemble, objects, most=max(2, min(pixels(ax))))
    _draw_blocks(ax, blocks, colorbar=colorbar)
    if clusters and by_cluster and consensus is not None:
        _draw_clusters(ax, consensus.labels_, objects)
    if annotations:
        draw_annotations(ax, annotation_codes(annotations, ensemble.n_objects), objects)
    return ax


def _objects(order: Any, consensus: Any, ensemble: Ensemble) -> NDArray[np.int64]:
    if isinstance(order, str):
        if order == "vat":
            return vat_order(ensemble)
        if order == "consensus":
            if consensus is None:
                raise ValueError(
                    "order='consensus' needs a fitted consensus method; got an ensemble. Use "
                    "order='vat', or fit a method first."
                )
            return consensus_order(consensus)
        raise ValueError(
            f"order must be 'consensus', 'vat' or the objects in their order; got {order!r}."
        )
    objects = np.asarray(order)
    n = ensemble.n_objects
    if objects.ndim != 1 or objects.dtype.kind not in "iu" or not len(objects):
        raise ValueError(f"order must be 'consensus', 'vat' or a vector of objects; got {order!r}.")
    if objects.min() < 0 or objects.max() >= n:
        raise ValueError(f"order must name objects from 0 to {n - 1}; got {objects.max()}.")
    return objects.astype(np.int64)


def _draw_blocks(ax: Axes, blocks: Blocks, *, colorbar: bool) -> None:
    n = int(blocks.edges[-1])
    image = ax.imshow(
        blocks.shares,
        cmap=SEQUENTIAL,
        vmin=0,
        vmax=1,
        interpolation="nearest",
        extent=(0, n, n, 0),
    )
    name_axes(ax, f"{n:,} objects", "")
    ax.set_xticks([])
    ax.set_yticks([])
    if colorbar:
        bar = ax.figure.colorbar(image, ax=ax, shrink=0.9, ticks=[0, 0.5, 1])
        bar.set_label("share of partitions\nthat put them together", fontsize=8)
        bar.ax.tick_params(labelsize=7.5)


def _draw_clusters(ax: Axes, labels: NDArray[np.int64], order: NDArray[np.int64]) -> None:
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle

    n = len(order)
    borders = cluster_borders(labels, order)
    sizes = np.diff(borders)
    scale = pixels(ax)[0] / n
    seen = sizes * scale >= 3  # smaller ones would be nothing but outline
    outlines = [
        Rectangle((start, start), size, size)
        for start, size in zip(borders[:-1][seen], sizes[seen], strict=True)
    ]
    ax.add_collection(PatchCollection(outlines, facecolor="none", edgecolor="#D55E00", linewidth=1))
    ax.set_xlim(0, n)
    ax.set_ylim(n, 0)
    wide = sizes / n >= 0.05  # others would have their numbers on top of each other
    ax.set_yticks((borders[:-1] + sizes / 2)[wide], labels[order[borders[:-1]]][wide].astype(str))
    ax.tick_params(axis="y", length=0)
    ax.set_xlabel(f"{n:,} objects by cluster (numbers)", fontsize=8)
