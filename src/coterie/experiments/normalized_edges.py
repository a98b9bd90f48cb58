"""Normalized edges (Li, Yu, Hao and Li, 2007), section 4.

Five data sets; for each, 20 ensembles of k-means partitions with one random start. HNE gets 30 of
them, with a constant number of clusters larger than that of the classes, and the number of
classes; other ensemble methods get 50 (Table 2, error rates). Outliers do not count. Figure 1 shows
what co-association does for 2-spirals, Figure 2 the clusters found in the two sets with outliers.
Beyond the paper: voting, the automatic threshold, and what the threshold, the number of clusters
of the base partitions and noise on the spirals do to HNE.

The paper says for 2-spirals that its partitions have 60 clusters, and nothing for the others. Here
the sets in the plane have 60 as well, and the two others 10. Complex image and 3-paths are drawn
anew for each run.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.cluster import hierarchy
from scipy.spatial.distance import pdist, squareform
from sklearn.cluster import KMeans

from coterie.consensus import EAC, HNE, MixtureModel, Voting
from coterie.datasets import Dataset, make_complex_image, make_three_paths, make_two_spirals
from coterie.ensemble import Ensemble
from coterie.experiments._figures import grid, new_figure
from coterie.experiments._frame import Experiment, Results, Task
from coterie.experiments._graph_methods import GRAPH_METHODS, cut_by, usable_graph_methods
from coterie.experiments._published import published
from coterie.experiments._tables import Table
from coterie.generation import RandomizedEnsemble
from coterie.metrics import consistency_index, error_rate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["EXPERIMENT"]

MADE: dict[str, Callable[..., tuple[NDArray[np.float64], NDArray[np.int64]]]] = {
    "2-spirals": make_two_spirals,
    "Complex image": make_complex_image,
    "3-paths": make_three_paths,
}
LOADED = {"Breast-cancer": "breast_cancer", "Std Yeast": "yeast_cell_cycle"}
SETS = (*MADE, *LOADED)
BASE_CLUSTERS = dict.fromkeys(MADE, 60) | dict.fromkeys(LOADED, 10)
SPIRALS: dict[str, dict[str, Any]] = {  # which spirals; the first are those of Table 2
    "2-spirals": {"noise": 0.0},
    "2-spirals, noise 0.05": {"noise": 0.05},
    "2-spirals, noise 0.1": {"noise": 0.1},
    "2-spirals, even in angle": {"noise": 0.0, "spacing": "angle"},
    "2-spirals, even in angle, noise 0.1": {"noise": 0.1, "spacing": "angle"},
}
OTHER_SPIRALS = {"2-spirals of Lang and Witbrock": "two_spirals_194"}

METHODS = {  # in the order of the paper's table
    "km": "KM",
    "sl": "SL",
    "al": "AL",
    "sc": "SC",
    "cspa": "CSPA",
    "hgpa": "HGPA",
    "mcla": "MCLA",
    "boost_km": "Boost-KM",
    "eac_sl": "EAC-SL",
    "eac_al": "EAC-AL",
    "latent_em": "Latent-EM",
    "hne": "CA-HNE",
}
BEYOND = {"voting": "Voting", "hne_auto": "HNE, threshold='auto'"}
THRESHOLDS = (0.1, 0.2, 0.3, 0.4)
BASES = (10, 20, 30, 60)
NO_BOOST = (
    "Boost-KM: not compared. The sources at hand outline boost-clustering (weighted resampling, "
    "k-means, weighted voting), but not its measure of quality and its stopping rule."
)

# --- The recipe of section 4.1 ------------------------------------------------------------------


def plan(runs: int, quick: bool) -> Iterator[Task]:
    """Yield one task for each data set and run, and those on other spirals."""
    sizes = {"n_partitions": 30, "n_partitions_others": 20 if quick else 50, "threshold": 0.3}
    graph_methods = usable_graph_methods()
    for name in SETS:
        own = sizes | {"base_clusters": BASE_CLUSTERS[name], "graph_methods": graph_methods}
        own |= {"made": SPIRALS[name]} if name in SPIRALS else {}
        for run in range(runs):
            yield Task(name, run, dataset=LOADED.get(name), parameters=own | {"kind": "all"})
    for name in (*list(SPIRALS)[1:], *OTHER_SPIRALS):
        own = sizes | {"base_clusters": 60, "made": SPIRALS.get(name), "kind": "spirals"}
        for run in range(runs):
            yield Task(name, run, dataset=OTHER_SPIRALS.get(name), parameters=own)


def get_objects(
    task: Task, dataset: Dataset | None
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return features and classes, -1 for outliers."""
    if dataset is not None:
        return dataset.data, dataset.target
    if task.part.startswith("2-spirals"):
        return make_two_spirals(random_state=task.seed, **task.parameters["made"])
    return MADE[task.part](random_state=task.seed)


def make_partitions(
    X: NDArray[np.float64], n_clusters: int, n_partitions: int, seed: int
) -> Ensemble:
    """Return partitions by k-means with one random start and a fixed number of clusters."""
    return RandomizedEnsemble(
        KMeans(init="random", n_init=1),
        n_partitions=n_partitions,
        n_clusters=n_clusters,
        random_state=seed,
    ).fit_transform(X)


# --- One task: one ensemble ---------------------------------------------------------------------


def compute(task: Task, dataset: Dataset | None) -> dict[str, Any]:
    """Return the error rates of all methods, and what HNE found."""
    given = task.parameters
    X, y = get_objects(task, dataset)
    counts = y >= 0
    k = len(np.unique(y[counts]))

    def error(labels: NDArray[np.int64]) -> float:
        return error_rate(y[counts], labels[counts])

    fine = make_partitions(X, given["base_clusters"], given["n_partitions_others"], task.seed)
    if fine.n_partitions < given["n_partitions"]:
        fine = make_partitions(X, given["base_clusters"], given["n_partitions"], task.seed)
    some = fine.select(slice(given["n_partitions"]))
    hne = _fit_hne(some, k, threshold=given["threshold"])
    values: dict[str, Any] = {
        "hne": error(hne.labels_),
        "hne_one_to_one": 1 - consistency_index(y[counts], hne.labels_[counts]),
        "hne_k": hne.n_clusters_,
    }
    if given["kind"] == "spirals":
        return values

    found = single_runs(X, k, task.seed)
    found |= {
        "eac_sl": EAC(k, linkage="single").fit_predict(fine),
        "eac_al": EAC(k).fit_predict(fine),
        "eac_al_same": EAC(k).fit_predict(some),
        "hne_auto": _fit_hne(some, k, threshold="auto").labels_,
    }
    coarse = make_partitions(X, k, given["n_partitions_others"], task.seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # fewer clusters than asked for
        found["latent_em"] = MixtureModel(k, random_state=task.seed).fit_predict(coarse)
        found["voting"] = Voting(k).fit_predict(coarse)
    for name in given["graph_methods"]:
        found[name] = cut_by(name, coarse, k, task.seed)
    values |= {name: error(labels) for name, labels in found.items()}

    for threshold in THRESHOLDS:
        fitted = _fit_hne(some, k, threshold=threshold)
        values[f"hne_threshold_{threshold}"] = error(fitted.labels_)
    for base in BASES:
        other = make_partitions(X, base, given["n_partitions"], task.seed)
        values[f"hne_base_{base}"] = error(_fit_hne(other, k).labels_)
    if task.run == 0:
        values["drawing"] = _drawing(task.part, X, y, some, hne)
    return values


def _fit_hne(ensemble: Ensemble, k: int, **parameters: Any) -> HNE:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # edges ran out: `hne_k` tells
        return HNE(k, **parameters).fit(ensemble)


def single_runs(X: NDArray[np.float64], k: int, seed: int) -> dict[str, NDArray[np.int64]]:
    """Return what single runs of clusterers find: k-means, single and average linkage, spectral."""
    distances = pdist(X)
    found = {
        "km": KMeans(k, init="random", n_init=1, random_state=seed).fit_predict(X),
        "sc": spectral_clusters(squareform(distances), k, seed),
    }
    for name, method in (("sl", "single"), ("al", "average")):
        tree = hierarchy.linkage(distances, method)
        found[name] = hierarchy.cut_tree(tree, k).ravel()
    return {name: labels.astype(np.int64) for name, labels in found.items()}


def spectral_clusters(distances: NDArray[np.float64], k: int, seed: int) -> NDArray[np.int64]:
    """Return the clusters of Ng, Jordan and Weiss (2002).

    They try widths of the kernel and keep the one whose embedding k-means fits best; which ones
    they do not say. Ours are 1, 2, 4, ..., 32 times the mean distance to the nearest other place.
    """
    best, least = np.zeros(len(distances), dtype=np.int64), np.inf
    nearest = np.where(distances > 0, distances, np.inf).min(axis=1).mean()
    for width in nearest * 2.0 ** np.arange(6):
        affinity = np.exp(-((distances / width) ** 2))
        np.fill_diagonal(affinity, 0.0)
        degree = np.sqrt(np.maximum(affinity.sum(axis=1), 1e-300))
        _, vectors = np.linalg.eigh(affinity / np.outer(degree, degree))
        rows = vectors[:, -k:]
        rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-300)
        found = KMeans(k, n_init=10, random_state=seed).fit(rows)
        if found.inertia_ < least - 1e-9:
            best, least = found.labels_.astype(np.int64), found.inertia_
    return best


def _drawing(
    part: str, X: NDArray[np.float64], y: NDArray[np.int64], ensemble: Ensemble, hne: HNE
) -> dict[str, Any] | None:
    """Return what Figures 1 and 2 need."""
    if part == "2-spirals":
        return {"X": X.round(4), "labels": ensemble.labels}
    if part in MADE:
        return {"X": X.round(4), "classes": y, "found": hne.labels_}
    return None


# --- Tables -------------------------------------------------------------------------------------


def tables(results: Results) -> Iterator[Table]:
    """Yield Table 2 and what lies beyond the paper."""
    shown = results.asked(SETS)
    yield _table_2(results, shown)
    yield _same_ensemble(results, shown)
    yield _curve(results, shown, "threshold", THRESHOLDS, "HNE at other thresholds")
    yield _curve(
        results, shown, "base", BASES, "HNE on base partitions with other numbers of clusters"
    )
    yield _spiral_table(results)


def _table_2(results: Results, shown: list[str]) -> Table:
    printed = published("normalized_edges")
    rows = results.rows(
        shown, METHODS | BEYOND, paper=lambda part, words: printed.get(("2", part, words))
    )
    rows = [row._replace(note="") if "not run" in row.note else row for row in rows]
    notes = ["Mean and standard deviation of the error rate over runs.", NO_BOOST]
    lacking = [words for name, words in GRAPH_METHODS.items() if not _has(results, name)]
    if lacking:
        notes.append(f"{', '.join(lacking)}: not available here, so not compared.")
    return Table("table-2", "Table 2, error rates", ("data set", "method"), rows, notes=notes)


def _has(results: Results, key: str) -> bool:
    return any(key in run for part in results.parts for run in results.values[part])


def _same_ensemble(results: Results, shown: list[str]) -> Table:
    columns = {
        "hne": "HNE",
        "hne_one_to_one": "HNE, one to one",
        "eac_al_same": "EAC-AL",
        "hne_k": "clusters of HNE",
    }
    rows = results.rows(shown, columns)
    notes = [
        "Both on the same 30 partitions. Where HNE leaves more clusters than classes, because its "
        "edges ran out, each cluster counts for its majority class; one to one, only the best "
        "cluster of each class counts."
    ]
    title = "HNE and EAC-AL on the same ensembles"
    return Table("same-ensembles", title, ("data set", "method"), rows, across=True, notes=notes)


def _curve(
    results: Results, shown: list[str], name: str, places: tuple[float, ...], title: str
) -> Table:
    rows = results.rows(shown, {f"hne_{name}_{place}": f"{place:g}" for place in places})
    words = {"threshold": "threshold", "base": "clusters of a base partition"}[name]
    return Table(f"hne-{name}", f"{title}, error rates", ("data set", words), rows, across=True)


def _spiral_table(results: Results) -> Table:
    columns: Mapping[str, tuple[str, Callable[[NDArray[np.float64]], Any] | None]] = {
        "error": ("hne", None),
        "error, one to one": ("hne_one_to_one", None),
        "runs without error": ("hne", lambda e: float(np.mean(e == 0))),
        "runs with two clusters": ("hne_k", lambda k: float(np.mean(k == 2))),
        "clusters, most": ("hne_k", np.max),
    }
    rows = [
        results.row(part, key, keys=(part, words), statistic=statistic)
        for part in results.asked((*SPIRALS, *OTHER_SPIRALS))
        for words, (key, statistic) in columns.items()
    ]
    notes = [
        "Noise is the standard deviation added to both coordinates; arms are 3.1 apart, neighbours "
        "on an arm 0.6. Points are evenly spaced along the arm, or in the angle. In the last set "
        "the other arm is nearer, in the outer turns, than the next point of the own."
    ]
    title = "HNE on other spirals"
    return Table("spirals", title, ("spirals", "HNE"), rows, across=True, notes=notes)


# --- Figures ------------------------------------------------------------------------------------


def figures(results: Results) -> dict[str, Figure]:
    """Return Figures 1 (two kinds of similarity) and 2 (clusters found), of the first run."""
    drawn = {}
    for part in results.parts:
        drawing = results.values[part][0].get("drawing")
        if drawing:
            drawn[part] = {name: np.array(values) for name, values in drawing.items()}
    made: dict[str, Figure] = {}
    if "2-spirals" in drawn:
        made["figure-1"] = draw_similarities(drawn["2-spirals"])
    found = {part: drawing for part, drawing in drawn.items() if "found" in drawing}
    if found:
        made["figure-2"] = draw_clusters(found)
    return made


def draw_similarities(drawing: Mapping[str, NDArray[Any]]) -> Figure:
    """Return Figure 1: the spirals, and their Euclidean and co-association similarity."""
    X, labels = drawing["X"], drawing["labels"]
    distances = squareform(pdist(X))
    together = Ensemble(labels).coassociation()
    figure = new_figure(9, 2.6)
    axes = figure.subplots(1, 4)
    half = len(X) // 2
    axes[0].scatter(*X[:half].T, s=4)
    axes[0].scatter(*X[half:].T, s=4, marker="s")
    axes[0].set(title="(a) 2-spirals", aspect="equal", xticks=[], yticks=[])
    near = slice(0, half // 2)
    for ax, title, matrix, place in (
        (axes[1], "(b) Euclidean similarity", 1 - distances / distances.max(), (0, len(X))),
        (axes[2], "(c) co-association", together, (0, len(X))),
        (axes[3], "(d) part of (c)", together[near, near], (0, half // 2)),
    ):
        extent = (*place, *place[::-1])
        image = ax.imshow(matrix, cmap="gray_r", vmin=0, vmax=1, extent=extent)
        ax.set_title(title)
    for ax in axes:
        ax.title.set_fontsize("medium")
        ax.tick_params(labelsize="small")
    figure.colorbar(image, ax=axes[1:], shrink=0.8)
    return figure


def draw_clusters(drawings: Mapping[str, Mapping[str, NDArray[Any]]]) -> Figure:
    """Return Figure 2: the clusters of HNE; outliers are crosses in the colour of theirs."""
    figure, axes = grid(len(drawings), len(drawings), (4.2, 3.6))
    for ax, (part, drawing) in zip(axes, drawings.items(), strict=True):
        X, found = drawing["X"], drawing["found"]
        outlier = drawing["classes"] < 0
        # More clusters than colours: the small ones share the last.
        colours = np.minimum(found, 9)
        shades: dict[str, Any] = {"cmap": "tab10", "vmin": 0, "vmax": 9}
        ax.scatter(*X[~outlier].T, c=colours[~outlier], s=6, **shades)
        ax.scatter(*X[outlier].T, c=colours[outlier], s=14, marker="x", lw=0.7, **shades)
        ax.set_title(f"{part}, {found.max() + 1} clusters", fontsize="medium")
        ax.set(aspect="equal", xticks=[], yticks=[])
    return figure


EXPERIMENT = Experiment(
    name="normalized-edges",
    title="Clustering ensembles based on normalized edges (Li et al., 2007)",
    runs=20,
    quick_runs=2,
    plan=plan,
    compute=compute,
    tables=tables,
    figures=figures,
)
