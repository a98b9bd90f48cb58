"""LACA (Xie, Dong, Deng, He and Yang, 2013), section 4.

Eight data sets; for each, 30 ensembles of 200 runs of k-means with random features and numbers of
clusters. LACA is compared with average-link evidence accumulation (EAC-AL), where both find the
number of clusters (Tables 2 and 3), and k-LACA with methods that are told it (Figures 2 and 3).
Beyond the paper: `LACA(refine=True)`, and ensembles of which a third is random labels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import cut_tree
from sklearn.cluster import KMeans

from coterie.consensus import EAC, LACA
from coterie.datasets import Dataset
from coterie.ensemble import Ensemble
from coterie.experiments._figures import grid, label_grid
from coterie.experiments._frame import Experiment, Results, Task, draw_per_class
from coterie.experiments._graph_methods import GRAPH_METHODS, cut_by, usable_graph_methods
from coterie.experiments._published import published
from coterie.experiments._tables import Row, Table
from coterie.generation import RandomizedEnsemble
from coterie.metrics import class_f, nmi, pairwise_f

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["EXPERIMENT"]

SETS = {  # name here: name in the paper
    "iris": "Iris",
    "glass": "Glass",
    "ecoli": "Ecoli",
    "libras": "Libras",
    "segmentation": "Segmentation",
    "seeds": "Seed",
    "pima": "Pima",
    "pendigits": "Pendigits",
}
PER_CLASS = {"pendigits": 100}  # objects drawn from each class, for each ensemble
METHODS = {"laca": "LACA", "eac": "EAC-AL", "refine": "refined LACA"}
CURVES = {"laca": "k-LACA", "eac": "k-EAC-AL", **GRAPH_METHODS}
MEASURES = {"nmi": nmi, "class_f": class_f, "pairwise_f": pairwise_f}
RANDOM_SHARE = 1 / 3

# --- The recipe of section 4.1 ------------------------------------------------------------------


def plan(runs: int, quick: bool) -> Iterator[Task]:
    """Yield one task for each data set and ensemble."""
    parameters = {
        "n_partitions": 20 if quick else 200,
        "min_features": 3,
        "min_clusters": 2,
        "objects_per_cluster": 15,
        "random_share": RANDOM_SHARE,
        "rivals": usable_graph_methods(),
    }
    for name in SETS:
        for run in range(runs):
            own = parameters | {"per_class": PER_CLASS.get(name)}
            yield Task(name, run, dataset=name, parameters=own)


def make_generator(task: Task, n_objects: int, n_features: int) -> RandomizedEnsemble:
    """Return what makes an ensemble: k-means on random features with a random number of clusters.

    Raw features, one random start; 3 to all features; 2 to n / 15 clusters.
    """
    given = task.parameters
    most = n_objects // given["objects_per_cluster"]
    return RandomizedEnsemble(
        KMeans(init="random", n_init=1),
        n_partitions=given["n_partitions"],
        n_clusters=(given["min_clusters"], most),
        max_features=(given["min_features"], n_features),
        random_state=task.seed,
    )


def with_random_labels(
    ensemble: Ensemble, share: float, rng: np.random.Generator
) -> tuple[Ensemble, NDArray[np.bool_]]:
    """Replace a share of the partitions by random labels with as many clusters; say which."""
    n_random = round(share * ensemble.n_partitions)
    replaced = rng.choice(ensemble.n_partitions, n_random, replace=False)
    labels = ensemble.labels.copy()
    for e in replaced:
        labels[:, e] = rng.integers(ensemble.n_clusters[e], size=ensemble.n_objects)
    return Ensemble(labels), np.isin(np.arange(ensemble.n_partitions), replaced)


# --- One task: one ensemble ---------------------------------------------------------------------


def compute(task: Task, dataset: Dataset | None) -> dict[str, Any]:
    """Make one ensemble, and score what the methods find in it."""
    assert dataset is not None
    rng = np.random.default_rng(task.seed)
    X, y = dataset.data, dataset.target
    if task.parameters["per_class"] is not None:
        kept = draw_per_class(y, task.parameters["per_class"], rng)
        X, y = X[kept], y[kept]
    ensemble = make_generator(task, *X.shape).fit_transform(X)
    fitted = {
        "laca": LACA().fit(ensemble),
        "eac": EAC().fit(ensemble),
        "refine": LACA(refine=True).fit(ensemble),
    }
    values: dict[str, Any] = {"converged": bool(fitted["laca"].converged_)}
    for name, method in fitted.items():
        values[f"{name}_k"] = method.n_clusters_
        for measure, score in MEASURES.items():
            values[f"{name}_{measure}"] = score(y, method.labels_)
    for name in ("laca", "refine"):
        values[f"{name}_log_likelihood"] = fitted[name].log_likelihood_
    values |= _curves(task, ensemble, y, fitted)
    values |= _against_random_labels(task, ensemble, y, values["laca_nmi"], rng)
    return values


def _curves(
    task: Task, ensemble: Ensemble, y: NDArray[np.int64], fitted: dict[str, Any]
) -> dict[str, Any]:
    """Return NMI and F for k from the number of classes to three times that."""
    n_classes = len(np.unique(y))
    ks = list(range(n_classes, 3 * n_classes + 1))
    found = {name: cut_tree(fitted[name].linkage_, ks).T for name in ("laca", "eac")}
    for name in task.parameters["rivals"]:
        found[name] = [cut_by(name, ensemble, k, task.seed) for k in ks]
    values: dict[str, Any] = {"curve_k": ks}
    for name, partitions in found.items():
        values[f"curve_{name}_nmi"] = [nmi(y, labels) for labels in partitions]
        values[f"curve_{name}_class_f"] = [class_f(y, labels) for labels in partitions]
    return values


def _against_random_labels(
    task: Task,
    ensemble: Ensemble,
    y: NDArray[np.int64],
    clean_nmi: float,
    rng: np.random.Generator,
) -> dict[str, Any]:
    """Return how LACA fares when a third of the partitions says nothing."""
    noisy, is_random = with_random_labels(ensemble, task.parameters["random_share"], rng)
    laca = LACA().fit(noisy)
    gain = laca.weights_[:, 0] - laca.weights_[:, 1]
    score = nmi(y, laca.labels_)
    return {
        "random_k": laca.n_clusters_,
        "random_nmi": score,
        "random_loss": clean_nmi - score,
        "random_lowest": float(gain[is_random].max() < gain[~is_random].min()),
        "random_below": np.less.outer(gain[is_random], gain[~is_random]).mean(),
    }


# --- Tables -------------------------------------------------------------------------------------


def tables(results: Results) -> Iterator[Table]:
    """Yield Tables 2 and 3, what follows from them, and what the paper does not have."""
    shown = {here: SETS[here] for here in results.asked(SETS)}
    yield _table_2(results, shown)
    yield _table_3(results, shown, "nmi", "NMI", "Table 3, NMI")
    yield _table_3(results, shown, "class_f", "F", "Table 3, F as the class-weighted best F")
    yield _table_3(results, shown, "pairwise_f", "F", "Table 3, F as the pairwise F")
    yield _paired_table(results, shown)
    yield _curve_table(results, shown)
    yield _random_table(results, shown)


def _table_2(results: Results, shown: dict[str, str]) -> Table:
    statistics: dict[str, Callable[[NDArray[np.float64]], Any]]
    statistics = {"min": np.min, "max": np.max, "average": np.mean, "std": _sample_std}
    printed = published("laca")
    rows = [
        results.row(
            here,
            f"{method}_k",
            keys=(paper, words, name),
            paper=printed.get(("2", paper, f"{words} {name}")),
            statistic=statistic,
        )
        for here, paper in shown.items()
        for method, words in METHODS.items()
        for name, statistic in statistics.items()
    ]
    keys = ("data set", "method", "number of clusters")
    title = "Table 2, predicted numbers of clusters"
    return Table("table-2", title, keys, rows, across=True, digits=2)


def _sample_std(numbers: NDArray[np.float64]) -> float:
    return float(numbers.std(ddof=1)) if len(numbers) > 1 else float("nan")


def _table_3(
    results: Results, shown: dict[str, str], measure: str, printed_as: str, title: str
) -> Table:
    printed = published("laca")
    rows = results.rows(
        shown,
        {f"{method}_{measure}": words for method, words in METHODS.items()},
        paper=lambda row, words: printed.get(("3", row, f"{words} {printed_as}")),
    )
    name = f"table-3-{measure.replace('_', '-')}"
    return Table(name, title, ("data set", "method"), rows, across=True, digits=4)


def _paired_table(results: Results, shown: dict[str, str]) -> Table:
    printed = published("laca")
    rows = []
    for here, paper in shown.items():
        for measure, words in (("nmi", "NMI"), ("class_f", "F")):
            lead = printed["3", paper, f"LACA {words}"] - printed["3", paper, f"EAC-AL {words}"]
            laca, eac = (results.numbers(here, f"{name}_{measure}") for name in ("laca", "eac"))
            ours = laca - eac
            if not len(ours):
                rows.append(Row((paper, words), lead, note=results.absent.get(here, "not run")))
                continue
            error = _sample_std(ours) / np.sqrt(len(ours))
            rows += [
                Row((paper, words), lead, ours.mean(), runs=len(ours)),
                Row((paper, f"{words} s.e."), ours=_known(error), runs=len(ours)),
                Row((paper, f"{words} ahead"), ours=(ours > 0).mean(), runs=len(ours)),
                Row((paper, f"{words} behind"), ours=(ours < 0).mean(), runs=len(ours)),
            ]
    title = "LACA minus EAC-AL on the same ensembles, from Table 3"
    notes = ["s.e.: standard error of the mean lead; ahead, behind: shares of the runs."]
    return Table("lead", title, ("data set", "lead"), rows, across=True, notes=notes)


def _known(number: float) -> float | None:
    return float(number) if np.isfinite(number) else None


def _curve_table(results: Results, shown: dict[str, str]) -> Table:
    rows = []
    for here, paper in shown.items():
        for measure, words in (("nmi", "NMI"), ("class_f", "F")):
            for method in _drawn_methods(results):
                curves = results.numbers(here, f"curve_{method}_{measure}")
                keys = (paper, f"{CURVES[method]} {words}")
                if len(curves):
                    rows.append(Row(keys, ours=float(curves.mean()), runs=len(curves)))
                else:
                    rows.append(Row(keys, note=results.absent.get(here, "not run")))
    notes = ["Ours; the paper draws these and prints no numbers."]
    lacking = [
        words for name, words in GRAPH_METHODS.items() if name not in _drawn_methods(results)
    ]
    if lacking:
        notes.append(f"{', '.join(lacking)}: not available here, so not compared.")
    title = "Figures 2 and 3, mean over k from the number of classes to three times that"
    return Table("figures-2-3", title, ("data set", "curve"), rows, across=True, notes=notes)


def _drawn_methods(results: Results) -> list[str]:
    runs = [run for part in results.parts for run in results.values[part]]
    return [name for name in CURVES if any(f"curve_{name}_nmi" in run for run in runs)]


def _random_table(results: Results, shown: dict[str, str]) -> Table:
    columns = {
        "laca_nmi": "NMI, clean",
        "random_nmi": "NMI, a third random",
        "random_loss": "loss",
        "laca_k": "clusters, clean",
        "random_k": "clusters, a third random",
        "random_lowest": "random weigh least, runs",
        "random_below": "random weigh less, pairs",
    }
    rows = results.rows(shown, columns, statistic=np.mean)
    title = "A third of the partitions replaced by random labels (not in the paper)"
    notes = [
        "Last columns: share of runs in which every random partition weighs less than every other "
        "one; share of pairs of a random and another partition in which the random one does."
    ]
    return Table("random-labels", title, ("data set", "LACA"), rows, across=True, notes=notes)


# --- Figures ------------------------------------------------------------------------------------


def figures(results: Results) -> dict[str, Figure]:
    """Return Figures 2 (NMI) and 3 (F): curves over the number of clusters."""
    return {
        "figure-2": _draw_curves(results, "nmi", "NMI"),
        "figure-3": _draw_curves(results, "class_f", "F"),
    }


def _draw_curves(results: Results, measure: str, words: str) -> Figure:
    shown = [here for here in SETS if here in results.parts]
    figure, axes = grid(len(shown), 4, (2.6, 2.2))
    for ax, here in zip(axes, shown, strict=True):
        ks = results.numbers(here, "curve_k")[0]
        for name in _drawn_methods(results):
            curve = results.numbers(here, f"curve_{name}_{measure}").mean(axis=0)
            ax.plot(ks, curve, label=CURVES[name], lw=2 if name == "laca" else 1.2)
        ax.set_title(SETS[here], fontsize="medium")
        ax.xaxis.get_major_locator().set_params(integer=True)
    label_grid(figure, axes, "number of clusters", words, ncols=5)
    return figure


EXPERIMENT = Experiment(
    name="laca",
    title="A probabilistic approach to latent cluster analysis (Xie et al., 2013)",
    runs=30,
    quick_runs=2,
    plan=plan,
    compute=compute,
    tables=tables,
    figures=figures,
)
