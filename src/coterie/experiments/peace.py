"""PEACE (Lourenço, Rota Bulò, Rebagliati, Fred, Figueiredo and Pelillo, 2013), section 5.

Nine data sets with two kinds of ensembles each (Figure 3): (1) k-means with a random start and a
random number of clusters, (2) six algorithms on nine tenths of the objects each. Two sets of texts
(Tables 2 and 3): k-means and mini-batch k-means on tf-idf vectors of length 1. PEACE is compared
with its predecessor (BE) and with single- and average-link evidence accumulation; all are told the
number of classes.

What the paper leaves open, and we chose: raw features; 100 partitions in ensembles of kind (1) and
of texts, with sqrt(n)/2 to sqrt(n) clusters; in (2) one partition for each algorithm and number of
clusters of Table 1, spectral clustering with a Gaussian kernel as wide as the median distance;
among 5 starts the best by the method's own criterion, for texts 3 starts, all of them reported.
"F1" is given as pairwise F and as class-weighted best F. Words are not stemmed. Of the two largest
sets, image-c and optdigits, there are at most three ensembles of each kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import pdist
from sklearn.cluster import KMeans, MiniBatchKMeans, SpectralClustering
from sklearn.feature_extraction.text import TfidfTransformer

from coterie.consensus import EAC, PEACE, BaumEagon
from coterie.datasets import Dataset, make_complex_image, make_two_spirals
from coterie.ensemble import Ensemble
from coterie.experiments._figures import grid, new_figure
from coterie.experiments._frame import Experiment, Results, Task, draw_per_class
from coterie.experiments._published import published
from coterie.experiments._tables import Row, Table
from coterie.generation import RandomizedEnsemble
from coterie.metrics import class_f, consistency_index, pairwise_f
from coterie.views._blocks import mean_blocks
from coterie.views._order import vat_order

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["EXPERIMENT"]

SETS = {  # in the paper: here, None where it is made; K_i of Table 1
    "spiral": (None, [*range(2, 9)]),
    "image-c": (None, [*range(8, 16), 20, 30]),
    "iris": ("iris", [*range(3, 11), 15, 20]),
    "wine": ("wine", [*range(4, 11), 15, 20]),
    "house-votes": ("house_votes", [*range(4, 11), 15, 20]),
    "ionosphere": ("ionosphere", [*range(4, 11), 15, 20]),
    "std-yeast-cell": ("yeast_cell_cycle", [*range(5, 11), 15, 20]),
    "breast-cancer": ("breast_cancer", [*range(3, 11), 15, 20]),
    "optdigits": ("optdigits", [10, 12, 15, 20, 35, 50]),
}
MAX_RUNS = {"image-c": 3, "optdigits": 3}  # the two that take minutes each
PER_CLASS = {"optdigits": 100}  # objects drawn from each class, for each ensemble
TEXTS = {"miniN": "mini_newsgroups", "webkd": "webkb_4univ"}
N_TERMS = {"miniN": 500, "webkd": 335}
_KEPT = {"alt": 1, "comp": 1, "comp.os.ms-windows.misc": 1, "comp ": 3, "misc": 1, "rec": 4}
_KEPT |= {"sci": 4, "soc": 1, "talk": 2, "talk.politics.misc": 1, "talk.religion.misc": 1}
NEWSGROUPS = [name.strip() for name, times in _KEPT.items() for _ in range(times)]
"""The classes of mini_newsgroups in order, those that are used by their first word."""
DROPPED = ("comp.os.ms-windows.misc", "talk.politics.misc", "talk.religion.misc")
METHODS = {"peace": "PEACE", "be": "BE", "eac_sl": "EAC-SL", "eac_al": "EAC-AL"}
MEASURES = {"ci": consistency_index, "pairwise_f": pairwise_f, "class_f": class_f}
WORDS = {"ci": "consistency index", "pairwise_f": "pairwise F", "class_f": "class F"}
STATISTICS: dict[str, Callable[[NDArray[np.float64]], Any]] = {
    "av": np.mean,
    "std": lambda x: float(x.std(ddof=1)) if len(x) > 1 else float("nan"),
    "max": np.max,
    "min": np.min,
}
PIXELS = 150  # side of the pictures of co-association

# --- The ensembles ------------------------------------------------------------------------------


def plan(runs: int, quick: bool) -> Iterator[Task]:
    """Yield a task for each data set, kind of ensemble and run; texts have one run."""
    common = {"n_partitions": 20 if quick else 100, "n_init": 2 if quick else 5}
    for name, (dataset, numbers) in SETS.items():
        for kind in ("1", "2"):
            own = {"kind": kind, "numbers": numbers, "per_class": PER_CLASS.get(name)}
            for run in range(min(runs, MAX_RUNS.get(name, runs))):
                parameters = common | own | {"set": name}
                yield Task(f"{name} ({kind})", run, dataset=dataset, parameters=parameters)
    for name, dataset in TEXTS.items():
        for kind in ("1a", "1b"):
            own = {"kind": kind, "n_terms": N_TERMS[name], "set": name}
            own |= {"min_documents": 40, "n_init": 2 if quick else 3}
            yield Task(f"{name} ({kind})", 0, dataset=dataset, parameters=common | own)


def objects_of(
    task: Task, dataset: Dataset | None, rng: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return features and classes; class -1 takes no part in the scores."""
    if task.parameters["set"] == "spiral":
        return make_two_spirals(200, random_state=rng)
    if task.parameters["set"] == "image-c":
        return make_complex_image(739, n_outliers=6, random_state=rng)
    assert dataset is not None
    X, y, per_class = dataset.data, dataset.target, task.parameters["per_class"]
    if per_class is None:
        return X, y
    chosen = draw_per_class(y, per_class, rng)
    return X[chosen], y[chosen]


def many_algorithms(
    X: NDArray[np.float64], numbers: list[int], rng: np.random.Generator
) -> Ensemble:
    """Return ensemble (2): each algorithm with each number of clusters, on 90 % of the objects."""
    columns, groups = [], []
    for k in numbers:
        for name in ("single", "average", "ward", "centroid", "k-means", "spectral"):
            kept = np.sort(rng.choice(len(X), round(0.9 * len(X)), replace=False))
            labels = np.full(len(X), -1)
            labels[kept] = _cluster(name, X[kept], k, int(rng.integers(2**31)))
            columns.append(labels)
            groups.append(name)
    return Ensemble(columns, groups=groups)


def _cluster(name: str, X: NDArray[np.float64], k: int, seed: int) -> NDArray[np.int64]:
    if name == "k-means":
        return KMeans(k, init="random", n_init=1, random_state=seed).fit_predict(X)
    if name == "spectral":
        # Equal objects (house-votes has many) could make the median 0, hence of those apart.
        distances = pdist(X)
        gamma = 0.5 / np.median(distances[distances > 0]) ** 2
        return SpectralClustering(k, gamma=gamma, n_init=1, random_state=seed).fit_predict(X)
    return fcluster(linkage(X, name), k, "maxclust")


def text_features(
    dataset: Dataset, name: str, min_documents: int, n_terms: int
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return tf-idf vectors of length 1 of the terms that vary most, and the classes."""
    X, y = dataset.data, dataset.target
    if name == "miniN":
        groups = np.array(NEWSGROUPS)[y]
        kept = ~np.isin(groups, DROPPED)
        X, y = X[kept], np.unique(groups[kept], return_inverse=True)[1].astype(np.int64)
    X = X[:, (X > 0).sum(axis=0) >= min_documents]
    varying = np.argsort(-X.var(axis=0), kind="stable")[:n_terms]
    return TfidfTransformer().fit_transform(X[:, np.sort(varying)]).toarray(), y


# --- One task: one ensemble ---------------------------------------------------------------------


def compute(task: Task, dataset: Dataset | None) -> dict[str, Any]:
    """Make one ensemble, and score what the methods find in it."""
    given = task.parameters
    rng = np.random.default_rng(task.seed)
    if given["kind"] in ("1a", "1b"):
        assert dataset is not None
        X, y = text_features(dataset, given["set"], given["min_documents"], given["n_terms"])
        base = KMeans if given["kind"] == "1a" else MiniBatchKMeans
        ensemble = _split(base(init="random", n_init=1), given["n_partitions"], X, task.seed)
        order = np.argsort(y, kind="stable")
        values = _all_starts(ensemble, y, given["n_init"], task.seed)
        return values | {"picture": _picture(ensemble, order), "n_features": X.shape[1]}
    X, y = objects_of(task, dataset, rng)
    if given["kind"] == "1":
        ensemble = _split(KMeans(init="random", n_init=1), given["n_partitions"], X, task.seed)
    else:
        ensemble = many_algorithms(X, given["numbers"], rng)
    values = _compare(ensemble, y, given["n_init"], task.seed)
    if given["set"] == "image-c" and task.run == 0:
        values["picture"] = _picture(ensemble, vat_order(ensemble))
    return values


def _split(base: Any, n_partitions: int, X: NDArray[np.float64], seed: int) -> Ensemble:
    return RandomizedEnsemble(base, n_partitions=n_partitions, random_state=seed).fit_transform(X)


def _scores(y: NDArray[np.int64], labels: NDArray[np.int64]) -> dict[str, float]:
    return {name: score(y[y >= 0], labels[y >= 0]) for name, score in MEASURES.items()}


def _compare(ensemble: Ensemble, y: NDArray[np.int64], n_init: int, seed: int) -> dict[str, Any]:
    k = len(np.unique(y[y >= 0]))
    fitted = {
        "peace": PEACE(k, n_init=n_init, random_state=seed).fit(ensemble),
        "be": BaumEagon(k, n_init=n_init, random_state=seed).fit(ensemble),
        "eac_sl": EAC(k, linkage="single").fit(ensemble),
        "eac_al": EAC(k, linkage="average").fit(ensemble),
    }
    values: dict[str, Any] = {}
    for name, method in fitted.items():
        for measure, score in _scores(y, method.labels_).items():
            values[f"{name}_{measure}"] = score
    found = [run.log_likelihood for run in fitted["peace"].runs_]
    values["peace_optima"] = len({round(value, 1) for value in found})
    return values


def _all_starts(ensemble: Ensemble, y: NDArray[np.int64], n_init: int, seed: int) -> dict[str, Any]:
    """Score every start by itself; the first in each list is the one selected."""
    k = len(np.unique(y))
    values: dict[str, Any] = {}
    for name, method, worth in (
        ("peace", PEACE, lambda fitted: fitted.log_likelihood_),
        ("be", BaumEagon, lambda fitted: -fitted.error_),
    ):
        starts = [
            method(k, n_init=1, random_state=seed % 2**31 + start).fit(ensemble)
            for start in range(n_init)
        ]
        starts.sort(key=worth, reverse=True)
        for measure in MEASURES:
            values[f"{name}_{measure}"] = [_scores(y, s.labels_)[measure] for s in starts]
    return values


def _picture(ensemble: Ensemble, order: NDArray[np.int64]) -> list[list[float]]:
    """Return co-association with objects in this order, made small by means over blocks."""
    return np.round(mean_blocks(ensemble, order, PIXELS).shares, 2).tolist()


# --- Tables -------------------------------------------------------------------------------------


def tables(results: Results) -> Iterator[Table]:
    """Yield the numbers behind Figure 3, and Tables 2 and 3."""
    for kind in ("1", "2"):
        for measure, words in WORDS.items():
            yield _figure_table(results, kind, measure, words)
    yield _text_table(results, "2", "ci", "Table 2, consistency index")
    yield _text_table(results, "3", "pairwise_f", "Table 3, F1 as the pairwise F")
    yield _text_table(results, "3", "class_f", "Table 3, F1 as the class-weighted best F")


def _figure_table(results: Results, kind: str, measure: str, words: str) -> Table:
    rows = results.rows(
        {f"{name} ({kind})": name for name in SETS},
        {f"{method}_{measure}": title for method, title in METHODS.items()},
    )
    return Table(
        f"figure-3-ensemble-{kind}-{measure.replace('_', '-')}",
        f"Figure 3, ensemble ({kind}), {words}",
        ("data set", "method"),
        rows,
        across=True,
        notes=["Ours; the paper draws these and prints no numbers."],
    )


def _text_table(results: Results, table: str, measure: str, title: str) -> Table:
    printed = published("peace")
    rows = []
    for kind in ("1a", "1b"):
        for name in TEXTS:
            part = f"{name} ({kind})"
            if not results.asked([part]):
                continue
            for method in ("peace", "be"):
                for statistic in ("selected", *STATISTICS):
                    row = f"E{kind} {name}"
                    paper = printed.get((table, row, f"{METHODS[method]} {statistic}"))
                    keys = (f"E{kind}", name, METHODS[method], statistic)
                    rows.append(
                        _of_starts(results, part, f"{method}_{measure}", statistic)._replace(
                            keys=keys, paper=paper
                        )
                    )
    keys = ("ensemble", "data set", "method", "over starts")
    return Table(f"table-{table}-{measure.replace('_', '-')}", title, keys, rows, across=True)


def _of_starts(results: Results, part: str, key: str, statistic: str) -> Row:
    starts = results.numbers(part, key)
    if not len(starts):
        return Row((), note=results.absent.get(part, "not run"))
    found = starts[0, 0] if statistic == "selected" else STATISTICS[statistic](starts[0])
    return Row((), ours=float(found), runs=starts.shape[1])


# --- Figures ------------------------------------------------------------------------------------


def figures(results: Results) -> dict[str, Figure]:
    """Return Figure 3, and Figures 2 and 4 where their co-association was kept."""
    drawn = {"figure-3": _draw_scores(results)}
    two = {"image-c (1)": "ensemble (1)", "image-c (2)": "ensemble (2)"}
    four = {"miniN (1a)": "miniNewsgroups", "webkd (1a)": "webKD"}
    for name, parts in (("figure-2", two), ("figure-4", four)):
        shown = {part: title for part, title in parts.items() if part in results.parts}
        if shown:
            drawn[name] = _draw_pictures(results, shown)
    return drawn


def _draw_scores(results: Results) -> Figure:
    figure = new_figure(10, 7.5)
    axes = figure.subplots(3, 2, sharey=True)
    for across, kind in enumerate(("1", "2")):
        names = [name for name in SETS if f"{name} ({kind})" in results.parts]
        for down, (measure, words) in enumerate(WORDS.items()):
            ax = axes[down, across]
            for m, (method, title) in enumerate(METHODS.items()):
                runs = [results.numbers(f"{n} ({kind})", f"{method}_{measure}") for n in names]
                x = np.arange(len(names)) + 0.2 * (m - 1.5)
                spread = [r.std(ddof=1) if len(r) > 1 else 0.0 for r in runs]
                ax.bar(
                    x,
                    [r.mean() for r in runs],
                    0.19,
                    yerr=spread,
                    label=title,
                    error_kw={"lw": 0.7},
                )
            ax.set_xticks(range(len(names)), names, rotation=30, ha="right", fontsize="x-small")
            ax.set_title(f"ensemble ({kind}), {words}", fontsize="medium")
            ax.set_ylim(0, 1.02)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=4)
    return figure


def _draw_pictures(results: Results, shown: dict[str, str]) -> Figure:
    figure, axes = grid(len(shown), len(shown), (3.4, 3.6))
    for ax, (part, title) in zip(axes, shown.items(), strict=True):
        picture = np.array(results.values[part][0]["picture"])
        image = ax.imshow(picture, vmin=0, vmax=1, cmap="viridis", interpolation="nearest")
        ax.set_title(title, fontsize="medium")
        ax.set_axis_off()
    figure.colorbar(image, ax=axes, shrink=0.8, label="co-association")
    return figure


EXPERIMENT = Experiment(
    name="peace",
    title="Probabilistic evidence accumulation for clustering ensembles (Lourenço et al., 2013)",
    runs=5,
    quick_runs=1,
    plan=plan,
    compute=compute,
    tables=tables,
    figures=figures,
)
