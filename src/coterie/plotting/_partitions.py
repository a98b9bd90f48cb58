"""Plots of partitions: reliability, likelihood, diversity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coterie.ensemble import Ensemble, as_ensemble
from coterie.plotting._style import check_matplotlib, get_axes, name_axes, tidy, whole_numbers
from coterie.plotting._trees import draw_choice
from coterie.views._clusters import diversity_and_accuracy
from coterie.views._curves import choice_curve, likelihood_steps
from coterie.views._fitted import fitted, fitted_attribute
from coterie.views._palette import ACCENT, GREY, cluster_colour, cluster_marker

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_diversity", "plot_likelihood", "plot_reliability"]

_MAX_NAMED = 12  # more names would overlap
_MAX_GROUPS = 8  # that colours and marks can distinguish


def _scatter_by_group(
    ax: Axes, x: NDArray[Any], y: NDArray[Any], sizes: Any, groups: NDArray[Any]
) -> None:
    """Draw points, those of each group in its own colour and mark."""
    names = list(dict.fromkeys(str(g) for g in groups))
    few = 1 < len(names) <= _MAX_GROUPS
    of = np.array([str(g) for g in groups])
    sizes = np.broadcast_to(sizes, x.shape)
    for i, name in enumerate(names if few else [None]):
        members = of == name if few else np.ones(len(x), dtype=bool)
        ax.scatter(
            x[members],
            y[members],
            s=sizes[members],
            c=cluster_colour(i),
            marker=cluster_marker(i),
            alpha=0.65,
            edgecolors="white",
            linewidths=0.5,
            label=name,
        )
    if few:
        ax.legend(fontsize="small", frameon=False)


def _name_points(ax: Axes, x: NDArray[Any], y: NDArray[Any], ensemble: Ensemble) -> None:
    """Write the name of each partition beside its point, if there are few."""
    if ensemble.n_partitions > _MAX_NAMED:
        return
    for name, across, up in zip(ensemble.names, x, y, strict=True):
        if np.isfinite(across) and np.isfinite(up):
            ax.annotate(name, (across, up), (4, 4), textcoords="offset points", fontsize="x-small")


# --- LACA ---------------------------------------------------------------------------------------


def plot_reliability(model: Any, *, ax: Axes | None = None) -> Axes:
    """Draw how reliable LACA found each partition.

    Parameters
    ----------
    model : fitted LACA
        Each partition is a point: r is how often it joins objects of different consensus
        clusters, rho how often it joins objects of the same one. Top left is best; a partition on
        the dashed line carries no information, below it its votes count in reverse. The area of
        a point is the weight of the partition.
    ax : matplotlib Axes, optional
        Where to draw. Default: a new figure.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> from coterie import LACA
    >>> from coterie.plotting import plot_reliability
    >>> votes = [[0, 0, 0], [0, 0, 0], [0, 1, 1], [1, 1, 1], [1, 1, 1]]
    >>> ax = plot_reliability(LACA(n_clusters=2).fit(votes))
    """
    rho = np.asarray(fitted_attribute(model, "rho_", "LACA has it."))
    model = fitted(model)
    r, weight = np.asarray(model.r_), np.abs(np.asarray(model.weights_)[:, 0])
    ax = get_axes(ax)
    area = 12 + 70 * weight / max(weight.max(), 1e-12)
    largest = max(float(r.max()) * 1.15, 0.05)
    ax.plot([0, 1], [0, 1], color=GREY, linestyle=(0, (4, 2)), linewidth=1, zorder=0)
    _scatter_by_group(ax, r, rho, area, model.ensemble_.groups)
    _name_points(ax, r, rho, model.ensemble_)
    ax.set_xlim(-0.03 * largest, min(largest, 1.02))
    ax.set_ylim(0, 1.04)
    name_axes(ax, "r: joins objects of different clusters", "ρ: joins objects of one cluster")
    tidy(ax, grid="both")
    return ax


def plot_likelihood(
    model: Any,
    *,
    over: Literal["iterations", "clusters"] = "iterations",
    max_clusters: int | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the log-likelihood over the iterations of a method, or over the number of clusters.

    Parameters
    ----------
    model : fitted LACA, PEACE, MixtureModel, BaumEagon or Voting
        What to draw; for BaumEagon it is the squared error, which falls, for Voting the votes.
    over : {'iterations', 'clusters'}, default='iterations'
        'clusters' draws the cuts of LACA's last tree.
    max_clusters : int, optional
        The largest number of clusters drawn. Default: a few beyond the number found.
    ax : matplotlib Axes, optional
        Where to draw. Default: a new figure.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> from coterie import LACA
    >>> from coterie.plotting import plot_likelihood
    >>> votes = [[0, 0, 0], [0, 0, 0], [0, 1, 1], [1, 1, 1], [1, 1, 1]]
    >>> ax = plot_likelihood(LACA(n_clusters=2).fit(votes))
    """
    if over not in ("iterations", "clusters"):
        raise ValueError(f"over must be 'iterations' or 'clusters'; got {over!r}.")
    if over == "clusters":
        fitted_attribute(model, "n_clusters_curve_", "LACA up to 20,000 distinct objects has it.")
        model = fitted(model)
        ax = get_axes(ax, height=0.6)
        curve = choice_curve(model, max_clusters)
        if curve is not None:
            draw_choice(ax, curve, model.n_clusters_)
        return ax
    found = likelihood_steps(model)
    ax = get_axes(ax, height=0.6)
    marker = "o" if len(found.steps) <= 40 else ""
    ax.plot(found.steps, found.values, color=ACCENT, marker=marker, markersize=4, linewidth=1.3)
    name_axes(ax, "iteration", found.name)
    whole_numbers(ax)
    tidy(ax)
    return ax


# --- diversity ----------------------------------------------------------------------------------


def plot_diversity(
    model: Any, reference: ArrayLike | None = None, *, ax: Axes | None = None
) -> Axes:
    """Draw for each partition how much it differs from the others against how good it is.

    A consensus gains most from partitions that are good and differ: top right.

    Parameters
    ----------
    model : fitted consensus method, Ensemble or label matrix
        The partitions.
    reference : array-like of shape (n_objects,), optional
        Known classes. Default: the consensus of the fitted method; then accuracy is agreement
        with it, not truth.
    ax : matplotlib Axes, optional
        Where to draw. Default: a new figure.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> from coterie.plotting import plot_diversity
    >>> votes = [[0, 0, 0], [0, 0, 0], [0, 1, 1], [1, 1, 1], [1, 1, 1]]
    >>> ax = plot_diversity(votes, reference=[0, 0, 1, 1, 1])
    """
    check_matplotlib()
    from matplotlib.ticker import MaxNLocator

    is_model = hasattr(model, "fit")
    ensemble = fitted(model).ensemble_ if is_model else as_ensemble(model)
    if reference is None and not is_model:
        raise ValueError(
            "reference must be given for an ensemble: known classes, or the labels of a consensus."
        )
    against = "the consensus" if reference is None else "the reference"
    found = diversity_and_accuracy(
        ensemble, fitted(model).labels_ if reference is None else reference
    )
    ax = get_axes(ax)
    size = 26 if ensemble.n_partitions <= 300 else 8
    _scatter_by_group(ax, found.diversity, found.accuracy, size, ensemble.groups)
    _name_points(ax, found.diversity, found.accuracy, ensemble)
    ax.xaxis.set_major_locator(MaxNLocator(5))
    name_axes(ax, "diversity: 1 − mean NMI with the others", f"NMI with {against}")
    tidy(ax, grid="both")
    return ax
