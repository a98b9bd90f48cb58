"""Our own study: every consensus method on every labelled set, the same partitions for all."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer

from coterie.choosing import compare, mean_ranks
from coterie.consensus import CONSENSUS
from coterie.ensemble import Ensemble
from coterie.experiments._figures import new_figure, ranks_figure
from coterie.experiments._frame import Experiment, Results, Task, by_tenth, sample_of
from coterie.experiments._tables import Row, Table
from coterie.generation import RandomizedEnsemble
from coterie.metrics import anmi, ari, nmi
from coterie.plotting import plot_calibration

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from coterie.datasets import Dataset

__all__ = ["EXPERIMENT"]

PLAIN = (
    *("iris", "wine", "seeds", "glass", "ecoli", "yeast_cell_cycle", "libras", "segmentation"),
    *("breast_cancer", "wdbc", "pima", "ionosphere", "house_votes", "letter_ab", "satimage_1_7"),
    *("satimage", "pendigits", "optdigits_test"),
)
"""Tables of features, standardised."""
SHAPES = (
    *("aggregation", "flame", "jain", "pathbased", "spiral", "two_spirals"),
    *("r15", "d31", "s1", "s2", "s3", "s4", "a1"),
)
"""Points in the plane, as they are."""
WIDE = (
    *("leukemia_golub", "pbmc68k_reduced_pca50"),
    *("webkb_4univ", "newsgroups_elec_med", "mini_newsgroups"),
)
"""More features than one can see: genes (logarithms), and words (tf-idf, 50 components)."""
LARGE = ("pendigits", "letter", "shuttle", "birch1")
"""Whole, or 20,000 objects of it; only methods that end in time."""

RECIPES = ("fine", "mixed", "subspace")
_SLOW = ("peace", "baum_eagon")  # not asked for their own number of clusters
_SAME = ("wspa", "wbpa", "wsbpa")
"""On partitions without memberships these are CSPA and HBGF; `weighted-ensembles` is their test."""
_SHORT = {"baum_eagon": {"n_init": 1, "max_iter": 200}}
_MAX_LARGE = 20_000


def plan(runs: int, quick: bool) -> Iterator[Task]:
    """Return a task per data set and run; the recipe of the partitions goes with the run."""
    most, n_partitions = (150, 10) if quick else (400, 40)
    for name in (*PLAIN, *SHAPES, *WIDE):
        for run in range(runs):
            recipe = RECIPES[run % len(RECIPES)]
            parameters = {"recipe": recipe, "n_partitions": n_partitions, "max_objects": most}
            yield Task(part=name, run=run, dataset=name, parameters=parameters)
    if not quick:
        for name in LARGE:
            parameters = {"max_objects": _MAX_LARGE, "n_partitions": 30, "time_limit": 40}
            # Last, because a time limit should not meet a machine that is still compiling.
            yield Task(part=f"{name}, large", run=runs, dataset=name, parameters=parameters)


def compute(task: Task, dataset: Dataset | None) -> dict[str, Any]:
    """Make one ensemble, and run every method on it."""
    assert dataset is not None
    X, classes = _prepared(dataset, task)
    if "recipe" in task.parameters:
        return _small(task, X, classes)
    return _large(task, X, classes)


def _prepared(dataset: Dataset, task: Task) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    X, classes = sample_of(dataset, task)
    name = dataset.name
    if name in SHAPES or name == "birch1" or name.endswith("pca50"):
        return X, classes
    if name == "leukemia_golub":
        X = np.log(np.maximum(X, 20.0))
    elif name in WIDE:
        X = TfidfTransformer(sublinear_tf=True).fit_transform(X)
        return TruncatedSVD(50, random_state=0).fit_transform(X), classes
    spread = X.std(axis=0)
    return (X - X.mean(axis=0))[:, spread > 0] / spread[spread > 0], classes


def _ensemble(
    X: NDArray[np.float64], recipe: str, n_partitions: int, k: int, seed: int
) -> Ensemble:
    recipes: dict[str, dict[str, Any]] = {
        "fine": {},  # sqrt(n)/2 to sqrt(n) clusters
        "mixed": {"n_clusters": (2, max(4, 2 * k))},
        "subspace": {"max_features": 0.5},
    }
    settings = recipes[recipe]
    return RandomizedEnsemble(
        n_partitions=n_partitions, random_state=seed, **settings
    ).fit_transform(X)


def _small(task: Task, X: NDArray[np.float64], classes: NDArray[np.int64]) -> dict[str, Any]:
    k = int(classes.max()) + 1
    ensemble = _ensemble(
        X, task.parameters["recipe"], task.parameters["n_partitions"], k, task.seed
    )
    result: dict[str, Any] = {"n": len(X), "k": k}
    agreement: dict[str, float] = {}
    for name, cls in CONSENSUS.items():
        if name in _SAME:
            continue
        parameters: dict[str, Any] = {"n_clusters": k, **_SHORT.get(name, {})}
        if "random_state" in cls().get_params():
            parameters["random_state"] = task.seed % 2**31
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            start = time.perf_counter()
            try:
                fitted = cls(**parameters).fit(ensemble)
            except (ValueError, TypeError, ImportError) as error:
                result[f"{name}_refused"] = str(error)[:200]
                continue
            result[f"{name}_seconds"] = time.perf_counter() - start
            result[f"{name}_ari"] = ari(classes, fitted.labels_)
            result[f"{name}_nmi"] = nmi(classes, fitted.labels_)
            result[f"{name}_anmi"] = agreement[name] = anmi(fitted.labels_, ensemble)
            result[f"{name}_bins"], result[f"{name}_right"] = _calibration(fitted, classes)
            if cls.finds_n_clusters and name not in _SLOW:
                parameters["n_clusters"] = None
                own = cls(**parameters).fit(ensemble)
                result[f"{name}_own_k"] = own.n_clusters_
                result[f"{name}_own_ari"] = ari(classes, own.labels_)
    chosen = max(agreement, key=lambda name: round(agreement[name], 6))
    for score in ("ari", "nmi"):
        result[f"supra_{score}"] = result[f"{chosen}_{score}"]
    kmeans = KMeans(k, n_init=10, random_state=task.seed % 2**31).fit_predict(X)
    result["kmeans_ari"], result["kmeans_nmi"] = ari(classes, kmeans), nmi(classes, kmeans)
    result["members_ari"] = float(np.mean([ari(classes, c) for c in ensemble.labels.T]))
    return result


def _calibration(fitted: Any, classes: NDArray[np.int64]) -> tuple[list[int], list[int]]:
    """Return how many objects have a confidence in each tenth, and how many of them are right.

    An object is right if its class is that of most objects in its cluster.
    """
    labels = fitted.labels_
    # One measure for all: PEACE and BaumEagon give memberships as their confidence.
    confidence = fitted._votes.confidence(fitted.ensemble_, labels)
    table = np.zeros((fitted.n_clusters_, int(classes.max()) + 1), dtype=np.int64)
    np.add.at(table, (labels, classes), 1)
    right = table.argmax(axis=1)[labels] == classes
    return by_tenth(confidence).tolist(), by_tenth(confidence[right]).tolist()


def _large(task: Task, X: NDArray[np.float64], classes: NDArray[np.int64]) -> dict[str, Any]:
    k = int(classes.max()) + 1
    ensemble = _ensemble(X, "mixed", task.parameters["n_partitions"], k, task.seed)
    found = compare(
        ensemble,
        classes,
        methods=[name for name in CONSENSUS if name not in _SAME],
        n_clusters=k,
        stability=0,
        time_limit=task.parameters["time_limit"],
        n_jobs=2,
        random_state=task.seed % 2**31,
    )
    result: dict[str, Any] = {"n": len(X), "k": k}
    for row in found.rows:
        if row.status == "ok":
            assert row.scores is not None
            result[f"{row.method}_ari"] = row.scores["ari"]
            result[f"{row.method}_seconds"] = row.seconds
            result[f"{row.method}_memory"] = row.peak_memory
        else:
            result[f"{row.method}_refused"] = row.reason[:200]
    return result


# --- tables and figures ---------------------------------------------------------------------------


def methods_of(results: Results) -> list[str]:
    """Return the methods that have a score on every small set, in the order of the registry."""
    parts = _small_parts(results)
    names = [*CONSENSUS, "supra", "kmeans"]
    return [
        name
        for name in names
        if parts and all(np.isfinite(results.numbers(p, f"{name}_ari")).all() for p in parts)
    ]


def _small_parts(results: Results, among: tuple[str, ...] = (*PLAIN, *SHAPES, *WIDE)) -> list[str]:
    return [part for part in among if part in results.parts]


def score_table(
    results: Results, parts: list[str], methods: list[str], score: str = "ari"
) -> NDArray[np.float64]:
    """Return (sets, methods): mean score over the runs."""
    return np.array(
        [[results.numbers(part, f"{m}_{score}").mean() for m in methods] for part in parts]
    )


def tables(results: Results) -> Iterator[Table]:
    """Return scores by set, and mean ranks and scores by kind of set and of ensemble."""
    methods = methods_of(results)
    for score in ("ari", "nmi"):
        rows = results.rows(_small_parts(results), {f"{m}_{score}": m for m in methods})
        yield Table(
            f"{score}",
            f"{score.upper()} with the classes, mean over ensembles",
            keys=("data set", "method"),
            rows=rows,
            across=True,
        )
    yield _ranks_table(results, methods)
    large = [part for part in results.parts if part.endswith(", large")]
    rows = [
        results.row(part, f"{m}_{what}", keys=(part, m, what))
        for part in large
        for m in CONSENSUS
        for what in ("ari", "seconds")
        if np.isfinite(results.numbers(part, f"{m}_ari")).all()
    ]
    if rows:
        yield Table("large", "Large sets", keys=("data set", "method", "what"), rows=rows)


def _ranks_table(results: Results, methods: list[str]) -> Table:
    """Return mean ranks and mean ARI by kind of set, and mean ARI by kind of ensemble."""
    kinds = {"all": (*PLAIN, *SHAPES, *WIDE), "tables": PLAIN, "shapes": SHAPES, "wide": WIDE}
    columns: dict[str, dict[str, float]] = {}
    means: dict[str, dict[str, float]] = {}
    for kind, among in kinds.items():
        parts = _small_parts(results, among)
        if len(parts) > 1 and len(methods) > 2:
            scores = score_table(results, parts, methods)
            ranks = mean_ranks(scores, methods)
            columns[f"rank, {kind}"] = dict(zip(ranks.methods, ranks.ranks, strict=True))
            means[f"ARI, {kind}"] = dict(zip(methods, scores.mean(axis=0), strict=True))
    parts = _small_parts(results)
    for first, recipe in enumerate(RECIPES):
        # The recipe goes with the run; a short trial has not all of them.
        if parts and min(len(results.values[part]) for part in parts) > first:
            means[f"ARI, {recipe}"] = {
                m: float(np.mean([_mean_of_recipe(results, part, m, first) for part in parts]))
                for m in methods
            }
    order = sorted(methods, key=lambda m: columns.get("rank, all", {}).get(m, 0.0))
    rows = [
        Row((m, what), ours=float(found[m]), runs=len(parts))
        for m in order
        for what, found in (columns | means).items()
    ]
    title = "Mean rank by ARI, and mean ARI"
    return Table("ranks", title, ("method", "what"), rows, across=True, digits=2)


def _mean_of_recipe(results: Results, part: str, method: str, first: int) -> float:
    return float(results.numbers(part, f"{method}_ari")[first :: len(RECIPES)].mean())


def calibration_of(results: Results, method: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return objects and right objects by tenth of confidence, over all small sets and runs."""
    bins, right = (
        sum(results.numbers(p, f"{method}_{key}").sum(axis=0) for p in _small_parts(results))
        for key in ("bins", "right")
    )
    return np.asarray(bins, dtype=np.int64), np.asarray(right, dtype=np.int64)


def figures(results: Results) -> dict[str, Figure]:
    """Draw the critical differences and the calibration."""
    methods = methods_of(results)
    parts = _small_parts(results)
    drawn: dict[str, Figure] = {}
    if len(parts) > 2 and len(methods) > 2:
        found = score_table(results, parts, methods)
        drawn["critical-differences"] = ranks_figure(found, methods, 4.2)
    shown = [m for m in methods if m not in ("supra", "kmeans")]
    if parts and shown:
        figure = new_figure(4.5, 4.0)
        counts = {m: calibration_of(results, m) for m in shown}
        plot_calibration(counts, ax=figure.add_subplot())
        drawn["calibration"] = figure
    return drawn


EXPERIMENT = Experiment(
    "study",
    title="All consensus methods on all labelled sets, the same partitions for all",
    runs=3,
    quick_runs=1,
    plan=plan,
    compute=compute,
    tables=tables,
    figures=figures,
)
