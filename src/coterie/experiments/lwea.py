"""LWEA and LWGP (Huang, Wang and Lai, 2018), Tables V and VII: the pools of the field.

A pool holds 100 k-means clusterings of one data set, made by the authors. Each run draws 10 of
them, and every consensus method is told the number of classes. NMI is Table V, ARI Table VII;
published is the mean of 100 runs. The paper's second figure of each method, at the number of
clusters that gives the best score, looks at the classes and is left out.

Methods that take long take part in the first runs only, or not on large pools: `MAX_RUNS`. All
see the same draws.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from coterie.choosing import mean_ranks
from coterie.consensus import CONSENSUS
from coterie.consensus._base import pass_seed
from coterie.ensemble import Ensemble
from coterie.experiments._figures import ranks_figure
from coterie.experiments._frame import Experiment, Results, Task
from coterie.experiments._published import published
from coterie.experiments._tables import Row, Table
from coterie.metrics import ari, nmi

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from coterie.datasets import Dataset

__all__ = ["EXPERIMENT"]

POOLS = {  # name: number of objects
    **{"VS": 846, "Semeion": 1_593, "SPF": 1_941, "MF": 2_000, "IS": 2_310, "Caltech20": 2_386},
    **{"FCT": 3_780, "MNIST": 5_000, "Texture": 5_500, "ODR": 5_620, "LS": 6_435},
    **{"ISOLET": 7_797, "PD": 10_992, "USPS": 11_000, "LR": 20_000},
}
METHODS: dict[str, tuple[str, dict[str, str]]] = {  # title: method, parameters
    "LWEA": ("lwea", {}),
    "LWGP": ("lwgp", {}),
    "WEAC": ("weac", {}),
    "GP-MGLA": ("gpmgla", {}),
    "ECPCS-MC": ("ecpcs", {}),
    "ECPCS-HC": ("ecpcs", {"method": "hc"}),
    "LCE": ("lce", {}),
    "PTA": ("pta", {}),
    "PTGP": ("pta", {"cut": "graph"}),
    "KCC": ("kcc", {}),
    "SEC": ("sec", {}),
    "EC-CMS": ("eccms", {}),
    "LACA": ("laca", {}),
    "HNE": ("hne", {}),
    "EAC": ("eac", {}),
    "CSPA": ("cspa", {}),
    "HGPA": ("hgpa", {}),
    "MCLA": ("mcla", {}),
    "HBGF": ("hbgf", {}),
    "MSTEClust": ("msteclust", {}),
    "PEACE": ("peace", {}),
    "mixture": ("mixture", {}),
    "voting": ("voting", {}),
    "co-as. k-means": ("coassociation_kmeans", {}),
}
"""PWEC is MSTEClust here, and WSPA, WBPA and WSBPA are CSPA and HBGF; Baum-Eagon takes hours."""
IN_PAPER = {"LCE": "WCT"}
"""Name in the paper, where it is another."""
MAX_RUNS: dict[str, dict[int, int]] = {
    "EC-CMS": {2_000: 2},
    "PEACE": {5_000: 4},
    "PTA": {10_992: 10, 20_000: 1},
    "PTGP": {10_992: 10, 20_000: 1},
}
"""Methods that take long: runs on pools of up to so many objects; none on larger ones."""
SCORES: dict[str, tuple[str, Callable[..., float]]] = {"nmi": ("V", nmi), "ari": ("VII", ari)}
N_MEMBERS = 10


def takes_part(title: str, run: int, n: int) -> bool:
    """Return whether a method takes part in a run on a pool of n objects."""
    limits = MAX_RUNS.get(title, {n: run + 1})
    return run < next((runs for size, runs in limits.items() if n <= size), 0)


def plan(runs: int, quick: bool) -> Iterator[Task]:
    """Yield a task for each pool and run, with the methods that take part in it."""
    for pool, n in POOLS.items():
        for run in range(runs):
            chosen = [title for title in METHODS if takes_part(title, run, n)]
            if quick:
                chosen = [title for title in chosen if title not in MAX_RUNS]
            parameters = {"n_members": N_MEMBERS, "methods": chosen}
            yield Task(pool, run, dataset=f"bc_pool_{pool}", parameters=parameters)


def compute(task: Task, dataset: Dataset | None) -> dict[str, Any]:
    """Draw the members, and score every method."""
    assert dataset is not None
    rng = np.random.default_rng(task.seed)
    drawn = rng.choice(dataset.data.shape[1], task.parameters["n_members"], replace=False)
    labels = dataset.data[:, np.sort(drawn)].astype(np.int64)
    k = len(dataset.target_names)
    values: dict[str, Any] = {"n": len(labels), "k": k}
    for title in task.parameters["methods"]:
        name, parameters = METHODS[title]
        method = pass_seed(CONSENSUS[name](n_clusters=k, **parameters), task.seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # PEACE and the mixture at their last iteration
            start = time.process_time()
            found = method.fit(Ensemble(labels)).labels_
            values[f"{title}_seconds"] = time.process_time() - start
        for score, (_, measure) in SCORES.items():
            values[f"{title}_{score}"] = measure(dataset.target, found)
    return values


# --- Tables -------------------------------------------------------------------------------------


def means(results: Results, score: str, titles: Sequence[str]) -> NDArray[np.float64]:
    """Return (pools, methods): mean over the runs, NaN where a method has none."""
    rows = [[results.row(p, f"{t}_{score}", keys=()).ours for t in titles] for p in results.parts]
    return np.array(rows, dtype=np.float64)


def on_all_pools(results: Results) -> list[str]:
    """Return the methods that ran on every pool that there is."""
    return [title for title in METHODS if np.isfinite(means(results, "nmi", [title])).all()]


def _paper(score: str, pool: str, title: str) -> float | None:
    name, is_std, _ = title.partition(" std")
    return published("lwea").get((SCORES[score][0], pool, IN_PAPER.get(name, name) + is_std))


def tables(results: Results) -> Iterator[Table]:
    """Yield the means over pools, the two tables beside ours, and ours by pool."""
    if results.parts:
        yield _summary(results)
    asked = results.asked(POOLS)
    for score, (number, _) in SCORES.items():
        rows = results.rows(
            asked, {f"{title}_{score}": title for title in METHODS}, paper=partial(_paper, score)
        )
        keys = ("pool", "method")
        yield Table(f"table-{number.lower()}", f"Table {number}, {score.upper()}", keys, rows)
    for score in SCORES:
        rows = [
            results.row(pool, f"{title}_{score}", keys=(title, pool), statistic=np.mean)
            for title in METHODS
            for pool in asked
        ]
        rows = [row._replace(note="") if row.keys[1] in results.parts else row for row in rows]
        title = f"{score.upper()} by pool, ours"
        yield Table(f"{score}-by-pool", title, ("method", "pool"), rows, across=True)


def _summary(results: Results) -> Table:
    """Return mean scores, mean ranks and time over the pools, best NMI first."""
    pools, whole = results.parts, on_all_pools(results)
    rows = []
    for title in METHODS:
        counts = {p: int(np.isfinite(results.numbers(p, f"{title}_nmi")).sum()) for p in pools}
        taken = [p for p in pools if counts[p]]
        if not taken:
            continue
        note = _runs_in_words([counts[p] for p in taken], results)
        for score in SCORES:
            ours = float(np.nanmean(means(results, score, [title])))
            printed = [_paper(score, p, title) for p in taken]
            known = [number for number in printed if number is not None]
            paper = float(np.mean(known)) if known else None
            keys = (title, score.upper())
            rows.append(Row(keys, paper, ours, runs=max(counts.values()), note=note))
        seconds = float(np.nanmax(means(results, "seconds", [title])))
        rows.append(Row((title, "seconds, slowest pool"), ours=seconds, runs=len(taken)))
    for score in SCORES:
        if len(whole) > 2 and len(pools) > 1:
            ranks = mean_ranks(means(results, score, whole), whole)
            rows += [
                Row((title, f"rank by {score.upper()}"), ours=float(rank), runs=len(pools))
                for title, rank in zip(ranks.methods, ranks.ranks, strict=True)
            ]
    best = {row.keys[0]: -(row.ours or 0.0) for row in rows if row.keys[1] == "NMI"}
    rows.sort(key=lambda row: (row.keys[0] not in whole, best[row.keys[0]]))
    return Table("summary", f"Means over {len(pools)} pools", ("method", "what"), rows, across=True)


def _runs_in_words(counts: Sequence[int], results: Results) -> str:
    """Return how a method's runs differ from all runs on all pools, or nothing."""
    all_runs = max(len(results.values[pool]) for pool in results.parts)
    words = [] if max(counts) == all_runs else [f"{max(counts)} runs"]
    if min(counts) < max(counts) < all_runs:
        words.append(f"{min(counts)} on the largest pools")
    if len(counts) < len(results.parts):
        words.append(f"{len(counts)} pools")
    return ", ".join(words)


# --- Figures ------------------------------------------------------------------------------------


def figures(results: Results) -> dict[str, Figure]:
    """Draw the mean ranks with their critical difference, by NMI and by ARI."""
    whole = on_all_pools(results)
    if len(results.parts) < 3 or len(whole) < 3:
        return {}
    return {
        f"figures/lwea-ranks-{score}": ranks_figure(means(results, score, whole), whole, 3.8)
        for score in SCORES
    }


EXPERIMENT = Experiment(
    "lwea",
    title="Locally weighted ensemble clustering (Huang, Wang and Lai, 2018)",
    runs=100,
    quick_runs=2,
    plan=plan,
    compute=compute,
    tables=tables,
    figures=figures,
)
