"""Pictures of results in AnnData objects, beside those of scanpy."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.anndata._adata import check_adata
from coterie.plotting._style import get_axes, name_axes, tidy
from coterie.views._palette import ACCENT, GREY

if TYPE_CHECKING:
    from anndata import AnnData
    from matplotlib.axes import Axes

__all__ = ["plot_confidence", "plot_stability"]


class CellMap(NamedTuple):
    """What `plot_confidence` draws, cells in the order in which they are drawn."""

    places: NDArray[np.float64]
    """(n, 2)"""
    confidence: NDArray[np.float64]
    centres: dict[str, tuple[float, float]]
    """Where the name of each cluster is written: the cell nearest to its median."""
    axes: tuple[str, str]


def cell_map(adata: AnnData, key: str, basis: str, *, within: bool = False) -> CellMap:
    """Return places and confidence of the cells, the least confident ones last."""
    column = f"{key}_within_confidence" if within else f"{key}_confidence"
    if key not in adata.obs or column not in adata.obs:
        raise KeyError(
            f"adata.obs has no {key!r} and {column!r}. Run coterie.anndata.consensus(adata, ..., "
            f"key_added={key!r}) first."
        )
    name = basis if basis in adata.obsm else f"X_{basis}"
    if name not in adata.obsm:
        known = ", ".join(map(repr, adata.obsm)) or "nothing"
        raise KeyError(
            f"basis must be a key of adata.obsm, with or without 'X_'; it holds {known}; got "
            f"{basis!r}. For 'umap', run scanpy.tl.umap(adata) first."
        )
    places = np.asarray(adata.obsm[name], dtype=np.float64)[:, :2]
    if places.shape[1] < 2:
        raise ValueError(f"basis must have two columns; adata.obsm[{name!r}] has one.")
    confidence = adata.obs[column].to_numpy(dtype=np.float64)
    centres = {}
    for cluster in adata.obs[key].cat.categories:
        own = places[(adata.obs[key] == cluster).to_numpy()]
        if len(own):
            middle = np.median(own, axis=0)
            nearest = own[np.argmin(((own - middle) ** 2).sum(axis=1))]
            centres[str(cluster)] = (float(nearest[0]), float(nearest[1]))
    order = np.argsort(-confidence, kind="stable")
    word = name.removeprefix("X_").upper()
    return CellMap(places[order], confidence[order], centres, (f"{word} 1", f"{word} 2"))


def plot_confidence(
    adata: AnnData,
    key: str = "consensus",
    *,
    basis: str = "umap",
    within: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """Draw the cells in an embedding, coloured by their confidence.

    Cells of low confidence are drawn last, so that others do not hide them.

    Parameters
    ----------
    adata : AnnData
        Cells with results of `consensus` or `cluster`.
    key : str, default='consensus'
        The results' name.
    basis : str, default='umap'
        The embedding, as in ``scanpy.pl.embedding``: a key of ``.obsm``, with or without ``X_``.
    within : bool, default=False
        Draw the confidence relative to the median of the cell's cluster, which shows the doubtful
        cells of clusters that are doubtful as a whole.
    ax : matplotlib Axes, optional
        Where to draw. Default: a new figure.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> import anndata
    >>> from sklearn.datasets import make_blobs
    >>> from coterie.anndata import cluster, plot_confidence
    >>> X = make_blobs(60, centers=3, random_state=0, cluster_std=0.5)[0]
    >>> adata = anndata.AnnData(X, obsm={"X_pca": X})
    >>> cluster(adata, use_rep="X", n_clusters=3)
    >>> ax = plot_confidence(adata, "coterie", basis="pca")
    """
    check_adata(adata, copy=False)
    found = cell_map(adata, key, basis, within=within)
    ax = get_axes(ax, height=0.75)
    from matplotlib.patheffects import withStroke

    size = float(np.clip(12_000 / max(len(found.places), 1), 0.5, 18))
    x, y = found.places.T
    points = ax.scatter(
        x,
        y,
        c=found.confidence,
        s=size,
        cmap="viridis",
        vmin=min(0.5, found.confidence.min(initial=0.5)),
        vmax=1.0,
        linewidths=0,
        rasterized=len(found.places) > 5_000,
    )
    halo = [withStroke(linewidth=2.5, foreground="white")]
    for name, place in found.centres.items():
        ax.text(*place, name, fontsize=8, ha="center", va="center", path_effects=halo)
    bar = ax.figure.colorbar(points, ax=ax, shrink=0.8)
    bar.set_label("confidence" + (" relative to the cluster" if within else ""), fontsize=8)
    bar.ax.tick_params(labelsize=7.5)
    name_axes(ax, *found.axes)
    ax.set_xticks([])
    ax.set_yticks([])
    tidy(ax, grid=None)
    return ax


def plot_stability(adata: AnnData, key: str = "leiden_ensemble", *, ax: Axes | None = None) -> Axes:
    """Draw how well the runs at each resolution agree, and how many clusters they have.

    Parameters
    ----------
    adata : AnnData
        Cells with the result of `leiden_ensemble`, at least two runs at each resolution.
    key : str, default='leiden_ensemble'
        The result's name.
    ax : matplotlib Axes, optional
        Where to draw. Default: a new figure.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> import scanpy
    >>> from coterie.anndata import leiden_ensemble, plot_stability
    >>> adata = scanpy.datasets.pbmc68k_reduced()
    >>> leiden_ensemble(adata, resolutions=[0.5, 1.0], n_runs=2)
    >>> ax = plot_stability(adata)
    """
    check_adata(adata, copy=False)
    table = adata.uns.get(key, {}).get("stability")
    if table is None:
        raise KeyError(
            f"adata.uns has no stability under {key!r}. Run "
            f"coterie.anndata.leiden_ensemble(adata, ..., key_added={key!r}) first."
        )
    if table["ari"].isna().all():
        raise ValueError("stability needs at least two runs at each resolution: n_runs=2 or more.")
    table = table.sort_values("resolution")
    ax = get_axes(ax, height=0.6)
    ax.plot(table["resolution"], table["ari"], "o-", color=ACCENT, label="ARI", markersize=4)
    ax.plot(table["resolution"], table["nmi"], "s--", color=GREY, label="NMI", markersize=4)
    for x, y, k in zip(table["resolution"], table["ari"], table["n_clusters"], strict=True):
        ax.annotate(
            f"{k:.3g}", (x, y), (0, -11), textcoords="offset points", fontsize=7, ha="center"
        )
    ax.set_ylim(min(0.0, float(table["ari"].min())), 1.05)
    ax.legend(fontsize=7.5, frameon=False, loc="lower left")
    name_axes(ax, "resolution (numbers: mean number of clusters)", "mean agreement of two runs")
    tidy(ax)
    return ax
