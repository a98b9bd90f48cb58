"""MSTEClust (Berikov, 2016), section 5.

Two round and two chain-like classes in 16 dimensions, of which d0 are replaced by noise. For each
sample 25 runs of k-means and 25 of single linkage on three random features. MSTEClust and PEWEC
(here `PWEC`) find a consensus and its number of clusters; k-means and single linkage on all
features are told it (Figure 2). Table 1 estimates how often the runs are right about a pair.
K-means has one random start everywhere: the paper names no other, and calls both by one name.
Beyond the paper: k-means with ten starts, both methods told the number of clusters, the printed
rule, a paired test, and other settings under which Table 1 might have been made.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import ttest_1samp, wilcoxon
from sklearn.cluster import AgglomerativeClustering, KMeans

from coterie.consensus import PWEC, MSTEClust
from coterie.datasets import Dataset, make_noisy_classes
from coterie.ensemble import Ensemble
from coterie.experiments._figures import new_figure
from coterie.experiments._frame import Experiment, Results, Task
from coterie.experiments._published import published
from coterie.experiments._tables import Row, Table
from coterie.generation import RandomizedEnsemble
from coterie.metrics import ari

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["EXPERIMENT"]

NOISE = tuple(range(13))  # Figure 2
TABLE_NOISE = tuple(range(5))  # Table 1
TEST_AT = 10  # noise features at which the paired test is made
N_CLASSES = 4

METHODS = {
    "mste": "MSTEClust",
    "pwec": "PEWEC, tree",
    "km": "k-means",
    "hacsl": "single linkage",
}
BEYOND = {
    "mste_printed": "MSTEClust, printed rule",
    "mste_told": "MSTEClust, k = 4",
    "pwec_told": "PEWEC, k = 4",
    "km_ten": "k-means, ten starts",
}
ESTIMATES = {  # in the paper: here
    "q_1^0": "km_joined",
    "q_1^1": "km_parted",
    "q_2^0": "hacsl_joined",
    "q_2^1": "hacsl_parted",
}
RECIPE = {
    "n_features": 16,
    "n_partitions": 25,
    "n_used": 3,
    "max_clusters": 5,
    "n_starts": 1,
}
TRIED: dict[str, dict[str, int]] = {
    "runs of 2 to 4 clusters": {"max_clusters": 4},
    "runs of 2 or 3 clusters": {"max_clusters": 3},
    "ten starts of k-means": {"n_starts": 10},
    "runs on 2 features": {"n_used": 2},
    "8 features in all": {"n_features": 8},
    "8 features, 2 or 3 clusters": {"n_features": 8, "max_clusters": 3},
}
TRIED_NOISE = (0, 4)

# --- The recipe of section 5 --------------------------------------------------------------------


def plan(runs: int, quick: bool) -> Iterator[Task]:
    """Yield one task for each number of noise features and sample."""
    recipe = RECIPE | ({"n_partitions": 10} if quick else {})
    for n_noise in (0, 4, TEST_AT) if quick else NOISE:
        for run in range(runs):
            yield Task(_part(n_noise), run, parameters=recipe | {"n_noise": n_noise})
    for words, change in {} if quick else TRIED.items():
        for n_noise in TRIED_NOISE:
            for run in range(runs):
                own = recipe | change | {"n_noise": n_noise, "estimates_only": True}
                yield Task(_part(n_noise, words), run, parameters=own)


def _part(n_noise: int, words: str = "") -> str:
    return f"d0={n_noise}" + (f", {words}" if words else "")


def make_ensemble(task: Task, X: NDArray[np.float64]) -> Ensemble:
    """Run k-means and single linkage on random features, with random numbers of clusters.

    Runs of k-means are judged by Hubert's Gamma, those of single linkage by the cophenetic
    correlation, on the features they used.
    """
    given = task.parameters
    judged = not given.get("estimates_only", False)
    random = np.random.RandomState(task.seed)  # goes on from one algorithm to the next
    base = {
        "k-means": (KMeans(init="random", n_init=given["n_starts"]), "hubert"),
        "single linkage": (AgglomerativeClustering(linkage="single"), "cophenetic"),
    }
    first, second = (
        RandomizedEnsemble(
            [(name, clusterer)],
            n_partitions=given["n_partitions"],
            n_clusters=(2, given["max_clusters"]),
            max_features=given["n_used"],
            validity=validity if judged else None,
            random_state=random,
        ).fit_transform(X)
        for name, (clusterer, validity) in base.items()
    )
    return first.concat(second)


# --- One task: one sample -----------------------------------------------------------------------


def compute(task: Task, dataset: Dataset | None) -> dict[str, Any]:
    """Make a sample and an ensemble; score the methods and the runs."""
    given = task.parameters
    X, y = make_noisy_classes(
        n_noise=given["n_noise"], n_features=given["n_features"], random_state=task.seed
    )
    ensemble = make_ensemble(task, X)
    values = estimates(ensemble, y)
    if given.get("estimates_only", False):
        return values
    most = given["max_clusters"]
    fitted = {
        "mste": MSTEClust(max_clusters=most).fit(ensemble),
        "mste_printed": MSTEClust(max_clusters=most, rule="printed").fit(ensemble),
        "mste_told": MSTEClust(n_clusters=N_CLASSES).fit(ensemble),
        "pwec": PWEC(max_clusters=most).fit(ensemble),
        "pwec_told": PWEC(n_clusters=N_CLASSES).fit(ensemble),
        "km": KMeans(N_CLASSES, init="random", n_init=1, random_state=task.seed).fit(X),
        "km_ten": KMeans(N_CLASSES, init="random", n_init=10, random_state=task.seed).fit(X),
        "hacsl": AgglomerativeClustering(N_CLASSES, linkage="single").fit(X),
    }
    for name, method in fitted.items():
        values[f"{name}_ari"] = ari(y, method.labels_)
    for name in ("mste", "mste_printed", "pwec"):
        values[f"{name}_k"] = fitted[name].n_clusters_
        values[f"{name}_k_right"] = float(fitted[name].n_clusters_ == N_CLASSES)
    values["margin"] = fitted["mste"].expected_margin_
    values["km_share"] = fitted["mste"].group_share_[0]
    return values


def estimates(ensemble: Ensemble, y: NDArray[np.int64]) -> dict[str, float]:
    """Return for each algorithm how often its runs are right about pairs of one class, and of two.

    Averages over all pairs i < j and all runs: (6) is `joined`, (5) is `parted`.
    """
    pairs = np.triu_indices(len(y), 1)
    apart = np.not_equal.outer(y, y)[pairs]
    found = {}
    for name, short in (("k-means", "km"), ("single linkage", "hacsl")):
        together = ensemble.select(ensemble.groups == name).coassociation()[pairs]
        found[f"{short}_joined"] = float(together[~apart].mean())
        found[f"{short}_parted"] = float(1.0 - together[apart].mean())
    return found


# --- Tables -------------------------------------------------------------------------------------


def tables(results: Results) -> Iterator[Table]:
    """Yield the numbers of Figure 2, Table 1, and what the paper does not have."""
    yield _curve_table(results, METHODS, "figure-2", "Figure 2, adjusted Rand index")
    yield _curve_table(results, BEYOND, "figure-2-beyond", "The same, not in the paper")
    yield _paired_table(results)
    yield _number_table(results)
    yield _table_1(results)
    yield _tried_table(results)


def _shown(results: Results) -> list[int]:
    return [n_noise for n_noise in NOISE if _part(n_noise) in results.values]


def _titles(results: Results) -> dict[str, str]:
    return {_part(n_noise): str(n_noise) for n_noise in _shown(results)}


def _curve_table(results: Results, methods: dict[str, str], name: str, title: str) -> Table:
    columns = {f"{method}_ari": words for method, words in methods.items()}
    rows = results.rows(_titles(results), columns)
    notes = ["The paper draws these and prints no numbers."] if methods is METHODS else []
    return Table(name, title, ("d0", "method"), rows, across=True, notes=notes)


def _paired_table(results: Results) -> Table:
    rows: list[Row] = []
    for n_noise in _shown(results):
        lead = results.numbers(_part(n_noise), "mste_ari") - results.numbers(
            _part(n_noise), "pwec_ari"
        )
        error = _standard_error(lead)
        shares = {"ahead": float((lead > 0).mean()), "behind": float((lead < 0).mean())}
        p_values = paired_tests(lead)
        found = {"lead": float(lead.mean()), "s.e.": error, **shares, **p_values}
        rows += [Row((str(n_noise), w), ours=x, runs=len(lead)) for w, x in found.items()]
    notes = [
        "s.e.: standard error of the mean lead; ahead, behind: shares of the samples. t, Wilcoxon: "
        "two-sided p-values over samples, no correction for their number; the paper's claim is at "
        f"d0 = {TEST_AT}."
    ]
    title = "MSTEClust minus PEWEC on the same ensembles"
    return Table("lead", title, ("d0", "ARI"), rows, across=True, digits=4, notes=notes)


def paired_tests(lead: NDArray[np.float64]) -> dict[str, float | None]:
    """Return two-sided p-values of 'no lead'; None where there are no differences to test."""
    if len(lead) < 2 or np.ptp(lead) == 0:
        return {"t": None, "Wilcoxon": None}
    return {
        "t": float(ttest_1samp(lead, 0.0).pvalue),
        "Wilcoxon": float(wilcoxon(lead).pvalue),
    }


def _standard_error(numbers: NDArray[np.float64]) -> float | None:
    return float(numbers.std(ddof=1) / np.sqrt(len(numbers))) if len(numbers) > 1 else None


def _number_table(results: Results) -> Table:
    columns = {
        "mste_k": "MSTEClust k",
        "mste_k_right": "k = 4",
        "pwec_k": "PEWEC k",
        "pwec_k_right": "PEWEC k = 4",
        "margin": "expected margin",
        "km_share": "pairs left to k-means",
    }
    rows = results.rows(_titles(results), columns, statistic=np.mean)
    notes = ["Means over samples; k = 4: share of the samples in which four clusters were found."]
    title = "Numbers of clusters found, 2 to 5 tried (not in the paper)"
    return Table("number-of-clusters", title, ("d0", "mean"), rows, across=True, notes=notes)


def _table_1(results: Results) -> Table:
    printed = published("msteclust")
    rows = [
        results.row(
            _part(n_noise),
            key,
            keys=(estimate, str(n_noise)),
            paper=printed["1", estimate, str(n_noise)],
            paper_std=printed["1", estimate, f"{n_noise} std"],
        )
        for estimate, key in ESTIMATES.items()
        for n_noise in _shown(results)
        if n_noise in TABLE_NOISE
    ]
    notes = [
        "q^0: share of runs that join a pair of one class; q^1: that part a pair of two. 1: "
        "k-means, 2: single linkage."
    ]
    return Table("table-1", "Table 1, estimates of q", ("estimate", "d0"), rows, notes=notes)


def _tried_table(results: Results) -> Table:
    printed = published("msteclust")
    rows = []
    for n_noise in TRIED_NOISE:
        for words in ("", *TRIED):
            if _part(n_noise, words) not in results.values:
                continue
            keys = (str(n_noise), words or "as printed")
            rows += [
                results.row(_part(n_noise, words), key, keys=(*keys, estimate), statistic=np.mean)
                for estimate, key in ESTIMATES.items()
            ]
        if n_noise in _shown(results):
            rows += [
                Row((str(n_noise), "the paper", name), ours=printed["1", name, str(n_noise)])
                for name in ESTIMATES
            ]
    title = "Table 1 under other settings (means)"
    return Table("table-1-tried", title, ("d0", "setting", "estimate"), rows, across=True)


# --- Figures ------------------------------------------------------------------------------------


def figures(results: Results) -> dict[str, Figure]:
    """Return Figure 2: adjusted Rand index against noise, with 95 % confidence intervals."""
    figure = new_figure(6, 4)
    ax = figure.subplots()
    shown = _shown(results)
    drawn = METHODS | {"km_ten": BEYOND["km_ten"]}
    for place, (method, words) in enumerate(drawn.items()):
        scores = [results.numbers(_part(n_noise), f"{method}_ari") for n_noise in shown]
        ax.errorbar(
            [n_noise + 0.06 * (place - 2) for n_noise in shown],  # side by side
            [numbers.mean() for numbers in scores],
            yerr=[1.96 * (_standard_error(numbers) or 0.0) for numbers in scores],
            label=words,
            capsize=2,
            lw=2 if method == "mste" else 1.2,
            ls="-" if method in METHODS else ":",
        )
    ax.set(xlabel="noise features of 16", ylabel="adjusted Rand index", ylim=(-0.05, 1.05))
    ax.set_xticks(shown)
    ax.legend(frameon=False, loc="lower left")
    return {"figure-2": figure}


EXPERIMENT = Experiment(
    name="msteclust",
    title=(
        "Cluster ensemble with averaged co-association matrix maximizing the expected margin "
        "(Berikov, 2016)"
    ),
    runs=100,
    quick_runs=2,
    plan=plan,
    compute=compute,
    tables=tables,
    figures=figures,
)
