"""How good the default is: beside other clusterings on every labelled set, told and untold."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.base import clone
from sklearn.cluster import HDBSCAN, AgglomerativeClustering, KMeans, SpectralClustering
from sklearn.metrics import pairwise_distances, silhouette_score
from sklearn.mixture import GaussianMixture

from coterie.choosing import mean_ranks
from coterie.clustering import DEFAULT_CONSENSUS, ConsensusClustering, by_name
from coterie.consensus import CONSENSUS
from coterie.consensus._base import pass_seed
from coterie.experiments._figures import new_figure, ranks_figure
from coterie.experiments._frame import Experiment, Results, Task, by_tenth, sample_of
from coterie.experiments._tables import Row, Table
from coterie.generation._recipes import make_generator
from coterie.metrics import ari
from coterie.plotting import plot_calibration
from coterie.preparation import TablePreparation

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from coterie.datasets import Dataset

__all__ = ["EXPERIMENT"]

TABLES = (
    *("breast_cancer", "breast_cancer_699", "covertype", "ecoli", "glass", "house_votes"),
    *("house_votes_435", "ionosphere", "iris", "letter", "letter_ab", "libras", "optdigits"),
    *("optdigits_test", "pendigits", "pima", "satimage", "satimage_1_7", "seeds", "segmentation"),
    *("shuttle", "wdbc", "wine", "yeast_cell_cycle"),
)
"""Tables of features, standardised."""
SHAPES = (
    *("a1", "a3", "aggregation", "birch1", "birch2", "d31", "flame", "jain", "pathbased", "r15"),
    *("s1", "s2", "s3", "s4", "spiral", "two_spirals", "two_spirals_194"),
)
"""Points in the plane, standardised."""
MANY_FEATURES = 100
"""Wider tables are reduced by `coterie.TablePreparation`, all others standardised."""
WIDE = (
    *("leukemia_golub", "mini_newsgroups", "nci60", "newsgroups_elec_med", "pbmc68k_reduced"),
    *("pbmc68k_reduced_pca50", "webkb_4univ"),
)
"""Genes and words."""
SETS = tuple(sorted((*TABLES, *SHAPES, *WIDE)))
UNSEEN = ("birch1", "birch2", "breast_cancer_699", "covertype", "house_votes_435")
"""Not looked at while the default was made."""
CHOSEN_ON = tuple(name for name in SETS if name not in UNSEEN)[::2]
"""The recipe and the rule for the number of clusters were chosen on these."""
REPORTED_ON = tuple(name for name in SETS if name not in UNSEEN)[1::2]
GROUPS = {
    "all": SETS,
    "chosen on": CHOSEN_ON,
    "reported on": REPORTED_ON,
    "not looked at": UNSEEN,
    "tables": TABLES,
    "shapes": SHAPES,
    "wide": WIDE,
}
LARGE = ("a3", "birch1", "letter", "optdigits", "pendigits", "satimage", "shuttle")
"""More than 5,000 objects, so that the default draws samples."""

TOLD = {
    "ours": "ours",
    "laca": "LACA",
    "eac": "EAC",
    "hbgf": "HBGF",
    "kmeans": "k-means",
    "mixture": "Gaussian mixture",
    "spectral": "spectral",
    "ward": "Ward",
}
"""Methods told the number of classes; the first four share an ensemble."""
UNTOLD = {
    "ours": "ours",
    "earlier": "earlier default",
    "kmeans": "k-means, silhouette",
    "mixture": "mixture, BIC",
    "hdbscan": "HDBSCAN",
}
"""Methods that find the number of clusters."""
SAID = {"told": "told the number of classes", "untold": "nothing said"}
BINS = 10
CALIBRATED = {
    "told": "told the number",
    "untold": "untold",
    "earlier": "earlier default, untold",
}
RULES = {"match": "best matching", "most": "class of most", "home": "cluster of most"}

WHY = {
    "letter": "26 classes that overlap (their own silhouette is 0.01), and no gap is found. A few "
    "large clusters are the most isolated (F, P, T, V, W and Y make one). k-means takes the "
    "largest number that it may.",
    "mini_newsgroups": "20 groups that share their words. Two clusters are the most isolated: the "
    "five groups on computers, and the others.",
    "nci60": "64 samples of 14 classes, five of which have one sample. The rule asks whether the "
    "five nearest neighbours are in the same cluster; so small classes cannot pass.",
    "pima": "The classes overlap almost wholly. No gap is found, and no method is above 0.2.",
    "segmentation": "Sky is far from the other six classes, which touch each other: the rule takes "
    "this gap and stops at two clusters.",
}
"""Sets on which the default, untold, can be below half of k-means with the best silhouette."""


def plan(runs: int, quick: bool) -> Iterator[Task]:
    """Return a task per data set and run, small sets first."""
    small = {"max_objects": 150 if quick else 1_500}
    large = {"max_objects": 300 if quick else 20_000, "n_partitions": 5 if quick else 100}
    for run in range(runs):
        for name in SETS:
            yield Task(part=name, run=run, dataset=name, parameters=small)
        for name in LARGE:
            yield Task(part=f"{name}, large", run=run, dataset=name, parameters=large)


def compute(task: Task, dataset: Dataset | None) -> dict[str, Any]:
    """Run every method on one set, or compare samples with all objects on a large one."""
    assert dataset is not None
    X, classes = prepared(dataset, task)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # no convergence, graphs in several pieces
        if "n_partitions" in task.parameters:
            return _large(task, X, classes)
        return _small(X, classes, task.seed % 2**31)


def prepared(dataset: Dataset, task: Task) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return features and classes of at most as many objects as the task wants."""
    X, classes = sample_of(dataset, task)
    scale = "auto" if X.shape[1] > MANY_FEATURES else "standard"
    X = TablePreparation(scale=scale, random_state=0).fit_transform(X)
    return X, classes


# --- sets of at most 1,500 objects ----------------------------------------------------------------


def _small(X: NDArray[np.float64], classes: NDArray[np.int64], seed: int) -> dict[str, Any]:
    k = int(classes.max()) + 1
    result = _Scores(classes)
    ours = result.add("untold_ours", ConsensusClustering(random_state=seed).fit, X)
    # The ensemble does not depend on the number: this is ConsensusClustering(k).
    consensus = clone(ours.consensus_).set_params(n_clusters=k)
    told = result.add("told_ours", consensus.fit, ours.ensemble_)
    earlier = ConsensusClustering(generator="laca", consensus="laca", random_state=seed)
    result.add("untold_earlier", earlier.fit, X)
    for model, name in zip((told, ours, earlier), CALIBRATED, strict=True):
        result.values |= _calibration(name, model.labels_, model.confidence_, classes)
    result.values["untold_certainty"] = ours.cluster_numbers_.certainty
    _told(result, X, ours.ensemble_, k, seed)
    _untold(result, X, seed)
    return {"n": len(X), "features": X.shape[1], "classes": k, **result.values}


class _Scores:
    """Collects score, number of clusters and processor time of methods."""

    def __init__(self, classes: NDArray[np.int64]) -> None:
        self.classes = classes
        self.values: dict[str, Any] = {}

    def add(self, name: str, cluster: Callable[..., Any], *args: Any) -> Any:
        """Call `cluster`, score the labels or the fitted model it returns, and return that."""
        start = time.process_time()
        found = cluster(*args)
        seconds = time.process_time() - start
        labels = getattr(found, "labels_", found)
        self.values |= {
            f"{name}_ari": ari(self.classes, labels),
            f"{name}_k": len(np.unique(labels[labels >= 0])),  # HDBSCAN's noise is -1
            f"{name}_seconds": seconds,
        }
        return found


def _told(result: _Scores, X: NDArray[np.float64], ensemble: Any, k: int, seed: int) -> None:
    for name in ("laca", "eac", "hbgf"):
        method = pass_seed(CONSENSUS[name](n_clusters=k), seed)
        result.add(f"told_{name}", method.fit, ensemble)
    result.add("told_kmeans", KMeans(k, n_init=10, random_state=seed).fit, X)
    result.add("told_mixture", GaussianMixture(k, random_state=seed).fit_predict, X)
    n_neighbors = min(10, len(X) - 1)
    spectral = SpectralClustering(
        k, affinity="nearest_neighbors", n_neighbors=n_neighbors, random_state=seed
    )
    result.add("told_spectral", spectral.fit, X)
    result.add("told_ward", AgglomerativeClustering(k, linkage="ward").fit, X)


def _untold(result: _Scores, X: NDArray[np.float64], seed: int) -> None:
    result.add("untold_kmeans", _kmeans_by_silhouette, X, seed)
    result.add("untold_mixture", _mixture_by_bic, X, seed)
    result.add("untold_hdbscan", HDBSCAN(copy=True).fit, X)


def numbers_tried(X: NDArray[np.float64]) -> range:
    """Return the numbers of clusters that the rules choose from: those of `how_many_clusters`."""
    distinct = len(np.unique(X, axis=0))
    return range(2, min(60, max(16, int(1.5 * math.sqrt(len(X)))), distinct, len(X) - 1) + 1)


def _kmeans_by_silhouette(X: NDArray[np.float64], seed: int) -> NDArray[np.int64]:
    distances = pairwise_distances(X)
    np.fill_diagonal(distances, 0.0)
    found = [KMeans(k, n_init=10, random_state=seed).fit_predict(X) for k in numbers_tried(X)]
    return max(found, key=lambda labels: silhouette_score(distances, labels, metric="precomputed"))


def _mixture_by_bic(X: NDArray[np.float64], seed: int) -> NDArray[np.int64]:
    found = [GaussianMixture(k, random_state=seed).fit(X) for k in (1, *numbers_tried(X))]
    return min(found, key=lambda model: model.bic(X)).predict(X)


# --- calibration ----------------------------------------------------------------------------------


def _calibration(
    name: str,
    labels: NDArray[np.int64],
    confidence: NDArray[np.float64],
    classes: NDArray[np.int64],
) -> dict[str, Any]:
    """Return objects and clusters by tenth of confidence, and how many of them are right."""
    table = np.zeros((labels.max() + 1, classes.max() + 1), dtype=np.int64)
    np.add.at(table, (labels, classes), 1)
    matched = np.full(len(table), -1)
    clusters, partners = linear_sum_assignment(table, maximize=True)
    matched[clusters] = partners
    sizes = table.sum(axis=1)
    mean = np.bincount(labels, confidence) / sizes
    result: dict[str, Any] = {
        f"{name}_objects": _histogram(confidence),
        f"{name}_objects_sum": _histogram(confidence, confidence),
        f"{name}_clusters": _histogram(mean),
        f"{name}_clusters_sum": _histogram(mean, mean),
    }
    right_by = {
        "match": matched[labels] == classes,
        "most": table.argmax(axis=1)[labels] == classes,
        "home": table.argmax(axis=0)[classes] == labels,
    }
    for rule, right in right_by.items():
        share = np.bincount(labels, right) / sizes
        result[f"{name}_objects_{rule}"] = _histogram(confidence, right)
        result[f"{name}_clusters_{rule}"] = _histogram(mean, share)
    return result


def _histogram(confidence: NDArray[np.float64], weights: Any = None) -> list[float]:
    return by_tenth(confidence, weights).tolist()


class Curve(NamedTuple):
    """Calibration over all sets and runs, by tenth of confidence."""

    counts: NDArray[np.float64]
    confidence: NDArray[np.float64]
    """Sum over the objects or clusters."""
    right: NDArray[np.float64]
    """Right objects, or the sum of the shares of right objects of clusters."""

    @property
    def gap(self) -> float:
        """Mean distance between confidence and share of right ones, weighted by count."""
        return float(np.abs(self.confidence - self.right).sum() / self.counts.sum())


def calibration_of(results: Results, name: str, what: str, rule: str) -> Curve:
    """Return the curve of one of `CALIBRATED`, of 'objects' or 'clusters', by one of `RULES`."""
    keys = (f"{name}_{what}", f"{name}_{what}_sum", f"{name}_{what}_{rule}")
    parts = _parts(results)
    return Curve(*(sum(results.numbers(p, key).sum(axis=0) for p in parts) for key in keys))


# --- large sets -----------------------------------------------------------------------------------


def _large(task: Task, X: NDArray[np.float64], classes: NDArray[np.int64]) -> dict[str, Any]:
    """Score the recipe that draws samples beside k-means to the end on all objects."""
    k, seed = int(classes.max()) + 1, task.seed % 2**31
    result: dict[str, Any] = {"n": len(X), "features": X.shape[1], "classes": k}
    settings = {"n_partitions": task.parameters["n_partitions"], "random_state": seed}
    converged = settings | {"estimators": KMeans(init="random", n_init=1), "max_samples": 1.0}
    make_generator("default", 100, n_partitions=2, max_samples=50).fit(X[:100])  # compiles
    for name, chosen in (("sampled", settings), ("whole", converged)):
        start = time.process_time()
        ensemble = make_generator("default", len(X), **chosen).fit_transform(X)
        result[f"{name}_seconds"] = time.process_time() - start
        consensus = by_name(DEFAULT_CONSENSUS).set_params(n_clusters=k).fit(ensemble)
        result[f"{name}_ari"] = ari(classes, consensus.labels_)
    return result


# --- tables and figures ---------------------------------------------------------------------------


def _parts(results: Results, among: Sequence[str] = SETS) -> list[str]:
    return [name for name in among if name in results.parts]


def scores(results: Results, kind: str, parts: Sequence[str]) -> NDArray[np.float64]:
    """Return (sets, methods): mean ARI over the runs, methods as in `TOLD` or `UNTOLD`."""
    methods = TOLD if kind == "told" else UNTOLD
    return np.array(
        [[results.numbers(part, f"{kind}_{m}_ari").mean() for m in methods] for part in parts]
    )


def within_one(results: Results, method: str, parts: Sequence[str]) -> float:
    """Return the share of runs whose number of clusters is that of the classes, or one off."""
    off = [
        results.numbers(part, f"untold_{method}_k") - results.numbers(part, "classes")
        for part in parts
    ]
    return float(np.mean([np.mean(np.abs(differences) <= 1) for differences in off]))


def tables(results: Results) -> Iterator[Table]:
    """Return the summary, its parts, where we lose, calibration, scores by set, large sets."""
    parts = _parts(results)
    if parts:
        yield _summary(results, "told", TOLD)
        yield _summary(results, "untold", UNTOLD)
        yield _losses(results, parts)
        yield _beaten(results, parts)
        yield _calibration_table(results)
        yield _certainty_table(results, parts)
        for kind, methods in (("told", TOLD), ("untold", UNTOLD)):
            yield _by_set(results, f"{kind}-ari", f"ARI by set, {kind}", kind, methods, "ari")
        yield _by_set(
            results, "untold-numbers", "Clusters found by set", "untold", UNTOLD, "k", "classes"
        )
    yield from _large_table(results)


def _summary(results: Results, kind: str, methods: dict[str, str]) -> Table:
    groups = {name: _parts(results, among) for name, among in GROUPS.items()}
    groups = {name: parts for name, parts in groups.items() if len(parts) > 1}
    rows = []
    for group, parts in groups.items():
        table = scores(results, kind, parts)
        ranks = mean_ranks(table, list(methods))
        columns = {
            "mean ARI": dict(zip(methods, table.mean(axis=0), strict=True)),
            "mean rank": dict(zip(ranks.methods, ranks.ranks, strict=True)),
        }
        if kind == "untold":
            columns["number within one"] = {m: within_one(results, m, parts) for m in methods}
        rows += [
            Row((what, title, f"{group} ({len(parts)})"), ours=float(found[m]), runs=len(parts))
            for what, found in columns.items()
            for m, title in methods.items()
        ]
    rows.sort(key=lambda row: ("mean ARI", "number within one", "mean rank").index(row.keys[0]))
    notes = []
    if len(groups.get("all", ())) > 2:
        ranks = mean_ranks(scores(results, kind, groups["all"]), list(methods))
        notes = [
            f"Over all {ranks.n_sets} sets, mean ranks that differ by less than "
            f"{ranks.critical_difference:.2f} are not told apart (Nemenyi's test at 5 %; "
            f"Friedman's test that all are alike: p = {ranks.p_value:.0e}).",
            f"![Mean ranks, {SAID[kind]}](figures/quality-ranks-{kind}.png)",
        ]
    keys = ("what", "method", "sets")
    return Table(kind, f"Summary, {SAID[kind]}", keys, rows, across=True, notes=notes)


def _losses(results: Results, parts: Sequence[str]) -> Table:
    """List the sets on which ours, untold, is below half of k-means, and why."""
    columns = {
        "ours": "untold_ours_ari",
        "k-means, silhouette": "untold_kmeans_ari",
        "ours found": "untold_ours_k",
        "k-means found": "untold_kmeans_k",
    }
    rows = []
    for part in parts:
        values = {what: results.numbers(part, key).mean() for what, key in columns.items()}
        if values["ours"] < values["k-means, silhouette"] / 2:
            why, runs = WHY.get(part, "not explained yet"), len(results.values[part])
            title = f"{part} ({results.numbers(part, 'classes')[0]:.0f} classes)"
            rows += [
                Row((title, what), ours=float(value), runs=runs, note=why)
                for what, value in values.items()
            ]
    title = "Untold, below half of k-means with the best silhouette"
    notes = () if rows else ("None.",)
    return Table("losses", title, ("data set", "what"), rows, across=True, digits=2, notes=notes)


def _beaten(results: Results, parts: Sequence[str], margin: float = 0.1) -> Table:
    """Count the sets on which ours is better or worse than each other method by a margin."""
    rows = []
    for kind, methods in (("told", TOLD), ("untold", UNTOLD)):
        table = scores(results, kind, parts)
        behind = table - table[:, :1]
        for j, title in list(enumerate(methods.values()))[1:]:
            lost = np.flatnonzero(behind[:, j] > margin)
            won = int((behind[:, j] < -margin).sum())
            order = lost[np.argsort(-behind[lost, j], kind="stable")]
            names = ", ".join(f"{parts[i]} ({behind[i, j]:.2f})" for i in order.tolist())
            for what, count in (("we win", won), ("we lose", len(lost))):
                rows.append(
                    Row((kind, title, what), ours=float(count), note=names, runs=len(parts))
                )
    return Table(
        "beaten",
        f"Sets where we win or lose by more than {margin} of ARI",
        keys=("kind", "beside", "what"),
        rows=rows,
        across=True,
        digits=0,
        notes=["The note names the sets where we lose, and by how much."],
    )


def _calibration_table(results: Results) -> Table:
    rows = []
    for what in ("objects", "clusters"):
        for name, title in CALIBRATED.items():
            for rule, words in RULES.items():
                curve = calibration_of(results, name, what, rule)
                keys = (what, title, words)
                for b, count in enumerate(curve.counts):
                    share = float(curve.right[b] / count) if count >= 10 else None
                    tenth = f"to {(b + 1) / BINS:.1f}"
                    rows.append(Row((*keys, tenth), ours=share, runs=int(count)))
                rows.append(Row((*keys, "gap"), ours=curve.gap, runs=int(curve.counts.sum())))
    return Table(
        "calibration",
        "Share that is right, by confidence",
        keys=("of", "default", "right by", "confidence"),
        rows=rows,
        across=True,
        digits=2,
        notes=[
            "Objects by the tenth that their confidence is in, clusters by the tenth of their mean "
            "confidence; tenths with fewer than ten are left out. An object is right by *best "
            "matching* if its class is the one that its cluster has in the best one-to-one "
            "matching of clusters and classes: strict where their numbers differ. By *class of "
            "most* it is right if its class is that of most objects in its cluster: this "
            "forgives too many clusters. By *cluster of most*, if its cluster is that of most "
            "objects of its class: this forgives too few. *gap* is the mean distance between "
            "confidence and share of right ones.",
            "![Share of right objects and clusters by confidence](figures/quality-calibration.png)",
        ],
    )


def _certainty_table(results: Results, parts: Sequence[str]) -> Table:
    """Show how often the number of clusters is right, by how sure the rule is."""
    certainty, off = (
        np.concatenate([results.numbers(part, key) for part in parts])
        for key in ("untold_certainty", "untold_ours_k")
    )
    off = np.abs(off - np.concatenate([results.numbers(part, "classes") for part in parts]))
    rows = []
    for words, low, high in (("below 0.5", 0, 0.5), ("0.5 to 0.9", 0.5, 0.9), ("from 0.9", 0.9, 2)):
        inside = (low <= certainty) & (certainty < high)
        share = float(np.mean(off[inside] <= 1)) if inside.any() else None
        rows.append(Row((words, "runs"), ours=float(inside.sum())))
        rows.append(Row((words, "number within one"), ours=share, runs=int(inside.sum())))
    title = "Number within one, by the certainty of the number"
    return Table("certainty", title, ("certainty", "what"), rows, across=True, digits=2)


def _by_set(
    results: Results,
    name: str,
    title: str,
    kind: str,
    methods: dict[str, str],
    score: str,
    *first: str,
) -> Table:
    columns = {f"{kind}_{m}_{score}": words for m, words in methods.items()}
    columns = {key: key for key in first} | columns
    rows = results.rows(SETS, columns, statistic=np.mean)
    digits = 3 if score == "ari" else 1
    return Table(name, title, keys=("data set", "method"), rows=rows, across=True, digits=digits)


def _large_table(results: Results) -> Iterator[Table]:
    columns = {
        "sampled_ari": "samples, ARI",
        "whole_ari": "all objects, ARI",
        "sampled_seconds": "samples, s",
        "whole_seconds": "all objects, s",
    }
    titles = {}
    for name in LARGE:
        part = f"{name}, large"
        if part in results.parts:
            n, k = (int(results.numbers(part, key)[0]) for key in ("n", "classes"))
            titles[part] = f"{name} ({n:,} objects, {k} classes)"
    rows = results.rows(titles, columns, statistic=np.mean)
    if not rows:
        return
    yield Table(
        "large",
        "Larger sets: samples beside all objects",
        keys=("data set", "what"),
        rows=rows,
        across=True,
        digits=2,
        notes=[
            "100 k-means partitions: of the default recipe (each fitted to 5,000 objects drawn at "
            "random, in at most 30 iterations, all others assigned to the nearest centre), and "
            "with the same numbers of clusters on all objects until they converge. ARI of the "
            "default consensus, told the number of classes. Seconds of processor time for the "
            "partitions. At most 20,000 objects, drawn anew for each run."
        ],
    )


def figures(results: Results) -> dict[str, Figure]:
    """Draw the critical differences, told and untold, and the calibration."""
    parts = _parts(results)
    drawn: dict[str, Figure] = {}
    if len(parts) > 2:
        for kind, methods in (("told", TOLD), ("untold", UNTOLD)):
            found = scores(results, kind, parts)
            drawn[f"figures/quality-ranks-{kind}"] = ranks_figure(found, [*methods.values()], 2.8)
    if parts:
        figure = new_figure(7.0, 7.0)
        shown = [
            (what, name, rule)
            for name, rule in (("told", "match"), ("untold", "home"))
            for what in ("objects", "clusters")
        ]
        for ax, (what, name, rule) in zip(figure.subplots(2, 2).flat, shown, strict=True):
            curve = calibration_of(results, name, what, rule)
            plot_calibration({f"right by {RULES[rule]}": (curve.counts, curve.right)}, ax=ax)
            ax.set_title(f"{what}, {CALIBRATED[name]}", fontsize=9)
        drawn["figures/quality-calibration"] = figure
    return drawn


EXPERIMENT = Experiment(
    "quality",
    title="The default beside other clusterings, told and untold the number of clusters",
    runs=2,
    quick_runs=1,
    plan=plan,
    compute=compute,
    tables=tables,
    figures=figures,
)
