"""The co-association heat map: its numbers, then its picture."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coterie._ordering import consensus_order, vat_order
from coterie.ensemble import Ensemble, as_ensemble

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Blocks", "mean_blocks", "plot_coassociation"]

MOST_BLOCKS = 600
_DENSE_CELLS = 1 << 22  # of the table of runs and clusters; beyond, it is kept sparse


class Blocks(NamedTuple):
    """Mean co-association between runs of neighbouring objects."""

    edges: NDArray[np.int64]
    """(m + 1,): run b holds the objects from edges[b] to edges[b + 1] - 1 of the order."""
    shares: NDArray[np.float64]
    """(m, m): of the votes on the pairs of two runs, the share for together."""


def mean_blocks(
    ensemble: Ensemble,
    order: NDArray[np.int64],
    most: int = MOST_BLOCKS,
    *,
    callback: Callable[[int, int], Any] | None = None,
) -> Blocks:
    """Return the co-association matrix in this order, at most `most` rows and columns.

    With at most `most` objects this is the matrix itself. Otherwise neighbours share a row, and
    a value is the share of votes for together among the votes on the pairs between two rows:
    the mean of the matrix where no label is missing. Needs time and memory linear in the
    number of objects.
    """
    from scipy.sparse import csr_array

    from coterie._kernels.coassociation import missing_code

    columns = ensemble.compact_codes
    missing = missing_code(columns)
    n = len(order)
    m = min(n, most)
    edges = np.linspace(0, n, m + 1).round().astype(np.int64)
    block = np.repeat(np.arange(m), np.diff(edges))
    together = np.zeros((m, m))
    both = np.zeros((m, m))
    for e, k in enumerate(ensemble.n_clusters):
        narrow = columns[e][order]
        seen = narrow != missing
        codes = narrow.astype(np.int64)
        if m * k <= _DENSE_CELLS:
            cells = np.bincount(block[seen] * k + codes[seen], minlength=m * k)
            table = cells.reshape(m, k).astype(np.float64)
            together += table @ table.T
        else:
            ones = np.ones(int(seen.sum()))
            sparse = csr_array((ones, (block[seen], codes[seen])), shape=(m, int(k)))
            together += (sparse @ sparse.T).toarray()
        present = np.bincount(block[seen], minlength=m).astype(np.float64)
        both += np.outer(present, present)
        if callback is not None:
            callback(e + 1, ensemble.n_partitions)
    shares = np.divide(together, both, out=np.zeros_like(together), where=both > 0)
    return Blocks(edges, shares)


def cluster_borders(labels: NDArray[np.int64], order: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where in the order another cluster begins, with 0 and n at the ends."""
    starts = np.flatnonzero(np.diff(labels[order])) + 1
    return np.concatenate([[0], starts, [len(order)]])


def plot_coassociation(
    model: Any,
    *,
    order: Literal["consensus", "vat"] | ArrayLike | None = None,
    clusters: bool = True,
    colorbar: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw how often each two objects are together, as a heat map.

    Never more rows than there are pixels on the page: where there are more objects, neighbours
    share a row, which shows the mean. So any number of objects can be drawn, in memory linear
    in it.

    Parameters
    ----------
    model : fitted consensus method, Ensemble or label matrix
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
    from coterie.plotting._style import fitted, get_axes, pixels

    is_model = hasattr(model, "fit")
    consensus = fitted(model) if is_model else None
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
    from coterie.plotting._style import SEQUENTIAL, name_axes

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

    from coterie.plotting._style import pixels

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
