"""Weighted cluster ensembles (Domeniconi and Al-Razgan, 2009), sections 5 to 8.

LAC is run for 50 values of 1/h from one start; WSPA, WBPA and WSBPA combine the runs, cutting by
METIS and by spectral clustering, and are compared with CSPA, MCLA, HBGF, HGPA, with k-means on
co-association rows, and with evidence accumulation over k-means (Tables II to XI, Figures 4 and
7). Then ensembles of 10 to 45 of the runs (Figure 8), words and their weights (section 7, Tables
XII and XIII, Figures 10 and 11), and diversity against accuracy (section 8, Figures 12 to 20).

What the paper leaves open, and we chose: features raw, min-max and z-scored, all three reported;
1/h = 1, 2, ..., 50, the only range it states. Texts: term counts of a document as a vector of
length 1, min-max scaled, 1/h = 20, 40, ..., 1000. The object from which LAC's start (farthest
first) begins is drawn anew in each run, as are the balanced samples of WDBC and Breast and the
points of the Gaussians. 50 runs in the ensembles of k-means. Email-1431 cannot be had: newsgroups
stand in for it, and are not compared with its numbers.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.stats import spearmanr
from sklearn.cluster import KMeans
from sklearn.preprocessing import MinMaxScaler, StandardScaler, normalize

from coterie.consensus import CSPA, EAC, HBGF, HGPA, MCLA, WBPA, WSBPA, WSPA, CoassociationKMeans
from coterie.datasets import Dataset, make_three_gaussian, make_two_gaussian
from coterie.ensemble import Ensemble
from coterie.experiments._figures import grid, label_grid
from coterie.experiments._frame import Experiment, Results, Task, draw_per_class
from coterie.experiments._published import published
from coterie.experiments._tables import Row, Table
from coterie.generation import LACEnsemble, RandomizedEnsemble
from coterie.metrics import ari, diversity_ari, error_rate, nmi, pairwise_nmi

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["EXPERIMENT"]

PAPER = "weighted_ensembles"
SETS = {  # in the paper: here (None: made), its table
    "Two-Gaussian": (None, "3"),
    "Three-Gaussian": (None, "4"),
    "Iris": ("iris", "5"),
    "WDBC": ("wdbc", "6"),
    "Breast": ("breast_cancer", "7"),
    "Letter(A,B)": ("letter_ab", "8"),
    "SatImage": ("satimage_1_7", "9"),
}
REAL = [name for name, (here, _) in SETS.items() if here]
BALANCED = ("WDBC", "Breast")  # the larger class is sampled down to the smaller one
SCALES = {"raw": None, "min-max": "minmax", "z-score": "zscore"}
OF_FIGURES = {
    "Two-Gaussian": "z-score",
    "Three-Gaussian": "z-score",
    "Iris": "min-max",
    "WDBC": "z-score",
    "Breast": "z-score",
    "Letter(A,B)": "min-max",
    "SatImage": "min-max",
}
"""The scaling of figures: LAC's average error came nearest to the paper's in a trial run."""

NEWSGROUPS = "20 Newsgroups"
HIGH = "20 Newsgroups, 1500 terms"
UNIONS = "mini newsgroups, unions"
TEXTS = {  # part: data set, classes that are merged (None: as they are), number of terms
    NEWSGROUPS: ("newsgroups_elec_med", None, 321),
    HIGH: ("newsgroups_elec_med", None, None),
    UNIONS: ("mini_newsgroups", ((9, 10), (15, 17)), 285),
}
CLASS_WORDS = {
    "newsgroups_elec_med": ("electronics", "medicine"),
    "mini_newsgroups": ("sport (baseball, hockey)", "religion and Middle East"),
}

CUTS: dict[str, dict[str, Any]] = {
    "METIS": {"partitioner": "metis"},
    "SPEC": {"partitioner": "spectral"},
    "SPEC 2..k+1": {"partitioner": "spectral", "skip_first": True},
}
WEIGHTED: dict[str, tuple[Any, dict[str, Any]]] = {
    f"{method.__name__}-{words}": (method, options)
    for method in (WSPA, WBPA, WSBPA)
    for words, options in CUTS.items()
}
RIVALS: dict[str, tuple[Any, dict[str, Any]]] = {
    "CSPA": (CSPA, {"partitioner": "metis"}),
    "MCLA": (MCLA, {"partitioner": "metis"}),
    "HGPA": (HGPA, {"partitioner": "hypergraph"}),
    "HBGF-METIS": (HBGF, {"partitioner": "metis"}),
    "HBGF-SPEC": (HBGF, {"partitioner": "spectral"}),
}
OTHERS = [
    "LAC+Co-as.",
    "LAC+wCo-as.",
    "k-means+Co-as.",
    "k-means+EAC-AL (k fixed)",
    "k-means+EAC-AL (k free)",
]
ORDER = [*WEIGHTED, *RIVALS, *OTHERS]
METIS = [name for name in WEIGHTED if name.endswith("METIS")]
SIZED = ("WSPA-METIS", "WBPA-METIS")
"""The methods of Figure 8."""
COMPONENTS: dict[str, Callable[..., Any]] = {"max": np.max, "min": np.min, "avg": np.mean}

# --- The recipe ---------------------------------------------------------------------------------


def plan(runs: int, quick: bool) -> Iterator[Task]:
    """Yield the tasks: tables by set and scaling, then sizes, words and diversity by set."""
    features = {
        "inv_h": inv_h_of("Iris", quick),
        "n_kmeans": 10 if quick else 50,
        "kmeans_clusters": [2, 20],
        "n_repeats": 2 if quick else 10,
    }
    terms = features | {"inv_h": inv_h_of(NEWSGROUPS, quick)}
    for run in range(runs):
        for name in SETS:
            for scale in SCALES:
                yield _task(f"{name}, {scale}", "methods", name, scale, features, run)
        for name in TEXTS:
            yield _task(name, "methods", name, "min-max", terms, run)
    sizes = {
        "sizes": [2, 3] if quick else list(range(10, 50, 5)),
        "n_ensembles": 2 if quick else 10,
    }
    diversity = {"n_ensembles": 5 if quick else 50, "size": 3 if quick else 15}
    for kind, names, own in (("sizes", REAL, sizes), ("diversity", [*SETS], diversity)):
        for name in [*names, NEWSGROUPS]:
            given = (terms if name in TEXTS else features) | own
            yield _task(f"{kind}, {name}", kind, name, scale_of(name), given)


def _task(
    part: str, kind: str, name: str, scale: str, parameters: dict[str, Any], run: int = 0
) -> Task:
    own = {"kind": kind, "set": name, "scale": scale}
    here = (SETS | TEXTS)[name][0]
    return Task(part, run, dataset=here, parameters=parameters | own)


def inv_h_of(name: str, quick: bool) -> list[int]:
    """Return the values of 1/h."""
    if name in TEXTS:
        return [20, 200, 1000] if quick else list(range(20, 1001, 20))
    return [1, 10, 25, 50] if quick else list(range(1, 51))


def scale_of(name: str) -> str:
    """Return the scaling of figures and of what is run with one scaling only."""
    return OF_FIGURES.get(name, "min-max")


def get_objects(
    task: Task, dataset: Dataset | None, rng: np.random.Generator
) -> tuple[Any, NDArray[np.int64], list[str]]:
    """Return features before scaling, classes, and the names of features."""
    name = task.parameters["set"]
    if dataset is None:
        make = make_two_gaussian if name == "Two-Gaussian" else make_three_gaussian
        X, y = make(random_state=rng)
        return X, y, []
    if name in TEXTS:
        return _get_texts(name, dataset)
    X, y = dataset.data, dataset.target
    if name in BALANCED:
        kept = draw_per_class(y, int(np.bincount(y).min()), rng)
        X, y = X[kept], y[kept]
    return X, y, []


def _get_texts(name: str, dataset: Dataset) -> tuple[Any, NDArray[np.int64], list[str]]:
    _, classes, n_terms = TEXTS[name]
    counts, y = dataset.data, dataset.target
    if classes is not None:
        kept = np.isin(y, classes[0] + classes[1])
        counts, y = counts[kept], np.isin(y[kept], classes[1]).astype(np.int64)
    terms = np.arange(counts.shape[1]) if n_terms is None else frequent_terms(counts, n_terms)
    X = normalize(counts[:, terms])
    words = [dataset.feature_names[t].removeprefix("w_") for t in terms]
    return (csr_matrix(X) if n_terms is None else X), y, words


def frequent_terms(counts: NDArray[np.float64], n_terms: int) -> NDArray[np.int64]:
    """Return the terms that occur most often together with another one, in order.

    After Kang, Domeniconi and Barbara (2005), who take the terms of frequent itemsets; here these
    are pairs, and the support is such that `n_terms` are left.
    """
    present = csr_matrix((counts > 0).astype(np.int64))
    together = (present.T @ present).toarray()
    np.fill_diagonal(together, 0)
    order = np.argsort(-together.max(axis=0), kind="stable")
    return np.sort(order[:n_terms])


def make_ensemble(task: Task, X: Any, n_clusters: int) -> Ensemble:
    """Return the runs of LAC from one start."""
    maker = LACEnsemble(
        n_clusters,
        task.parameters["inv_h"],
        SCALES[task.parameters["scale"]],
        random_state=task.seed,
    )
    return maker.fit_transform(X)


# --- One task -----------------------------------------------------------------------------------


def compute(task: Task, dataset: Dataset | None) -> dict[str, Any]:
    """Run one task."""
    rng = np.random.default_rng(task.seed)
    X, y, words = get_objects(task, dataset, rng)
    ensemble = make_ensemble(task, X, len(np.unique(y)))
    if task.parameters["kind"] == "sizes":
        return _by_size(task, ensemble, y, rng)
    if task.parameters["kind"] == "diversity":
        return _by_diversity(task, ensemble, y, rng)
    values = _compare(task, ensemble, y)
    if task.parameters["set"] not in (UNIONS, NEWSGROUPS):
        values |= _compare_kmeans(task, _scaled(X, task.parameters["scale"]), y)
    if words:
        values |= _weigh_words(task, ensemble, y, words)
    return values


def _compare(task: Task, ensemble: Ensemble, y: NDArray[np.int64]) -> dict[str, Any]:
    """Return error rates in percent of the runs of LAC and of what combines them."""
    k = len(np.unique(y))
    values: dict[str, Any] = {"lac_errors": [_percent(y, column) for column in ensemble.labels.T]}
    for name, (method, options) in (WEIGHTED | RIVALS).items():
        values[name] = _error(method(k, random_state=task.seed % 2**31, **options), ensemble, y)
    for name, weighted in (("LAC+Co-as.", False), ("LAC+wCo-as.", True)):
        values[name] = _mean_error(task, ensemble, y, weighted=weighted)
    return values


def _compare_kmeans(task: Task, X: Any, y: NDArray[np.int64]) -> dict[str, Any]:
    """Return the same for ensembles of k-means, with k or with 2 to 20 clusters."""
    k = len(np.unique(y))
    n_partitions = task.parameters["n_kmeans"]
    kmeans = KMeans(init="random", n_init=1)
    same_k = RandomizedEnsemble(
        kmeans, n_partitions, n_clusters=k, random_state=task.seed
    ).fit_transform(X)
    any_k = RandomizedEnsemble(
        kmeans,
        n_partitions,
        n_clusters=tuple(task.parameters["kmeans_clusters"]),
        random_state=task.seed,
    ).fit_transform(X)
    free = EAC().fit(any_k)
    return {
        "kmeans_errors": [_percent(y, column) for column in same_k.labels.T],
        "eac_errors": [_percent(y, column) for column in any_k.labels.T],
        "k-means+Co-as.": _mean_error(task, same_k, y, weighted=False),
        "k-means+EAC-AL (k fixed)": _percent(y, EAC(n_clusters=k).fit_predict(any_k)),
        "k-means+EAC-AL (k free)": _percent(y, free.labels_),
        "eac_k": free.n_clusters_,
    }


def _scaled(X: Any, scale: str) -> Any:
    scaler = {"raw": None, "min-max": MinMaxScaler(), "z-score": StandardScaler()}[scale]
    if isinstance(X, np.ndarray) and scaler is not None:
        return scaler.fit_transform(X)
    return X  # sparse documents stay vectors of length 1


def _percent(y: NDArray[np.int64], labels: NDArray[Any]) -> float:
    return 100.0 * error_rate(y, labels)


def _error(method: Any, ensemble: Ensemble, y: NDArray[np.int64]) -> float | None:
    """Return the error rate of a consensus, None if what it needs is not installed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # fewer clusters than asked for
            return _percent(y, method.fit_predict(ensemble))
    except ImportError:
        return None


def _mean_error(
    task: Task, ensemble: Ensemble, y: NDArray[np.int64], *, weighted: bool
) -> float | None:
    """Return the mean over starts of k-means on rows of similarities, as the paper has it."""
    k = len(np.unique(y))
    errors = [
        _error(
            CoassociationKMeans(k, weighted=weighted, n_init=1, random_state=repeat), ensemble, y
        )
        for repeat in range(task.parameters["n_repeats"])
    ]
    return float(np.mean([error for error in errors if error is not None]))


def _by_size(
    task: Task, ensemble: Ensemble, y: NDArray[np.int64], rng: np.random.Generator
) -> dict[str, Any]:
    """Return mean error rates of ensembles of each size, drawn from all runs."""
    k = len(np.unique(y))
    values: dict[str, Any] = {"sizes": task.parameters["sizes"]}
    found: dict[str, list[float | None]] = {name: [] for name in SIZED}
    for size in task.parameters["sizes"]:
        errors: dict[str, list[float]] = {name: [] for name in found}
        for _ in range(task.parameters["n_ensembles"]):
            part = ensemble.select(rng.permutation(ensemble.n_partitions)[:size])
            for name in found:
                method, options = WEIGHTED[name]
                error = _error(method(k, random_state=0, **options), part, y)
                errors[name] += [] if error is None else [error]
        for name in found:
            found[name].append(float(np.mean(errors[name])) if errors[name] else None)
    return values | found


def _by_diversity(
    task: Task, ensemble: Ensemble, y: NDArray[np.int64], rng: np.random.Generator
) -> dict[str, Any]:
    """Return diversity and accuracy, (14) to (20), of ensembles drawn from all runs."""
    k = len(np.unique(y))
    values: dict[str, list[float]] = {}

    def add(key: str, number: float) -> None:
        values.setdefault(key, []).append(float(number))

    apart = 1.0 - pairwise_nmi(ensemble)
    own_nmi = np.array([nmi(y, column) for column in ensemble.labels.T])
    own_ari = np.array([ari(y, column) for column in ensemble.labels.T])
    for _ in range(task.parameters["n_ensembles"]):
        drawn = rng.permutation(ensemble.n_partitions)[: task.parameters["size"]]
        part = ensemble.select(drawn)
        pairs = np.triu_indices(len(drawn), 1)
        add("D_NMI", apart[np.ix_(drawn, drawn)][pairs].mean())
        add("Acc_NMI", own_nmi[drawn].mean())
        add("Acc_ARI", own_ari[drawn].mean())
        for name in METIS:
            method, options = WEIGHTED[name]
            try:
                labels = method(k, random_state=0, **options).fit_predict(part)
            except ImportError:
                continue
            add(f"{name} D_ARI", diversity_ari(part, labels))
            add(f"{name} Acc*_NMI", nmi(y, labels))
            add(f"{name} Acc*_ARI", ari(y, labels))
    return dict(values)


def _weigh_words(
    task: Task, ensemble: Ensemble, y: NDArray[np.int64], words: list[str], n: int = 12
) -> dict[str, Any]:
    """Return the words that weigh more in one cluster than in the other, and their weights.

    Clusters are those of WSBPA with METIS, named by the class that most of their documents have.
    """
    try:
        fitted = WSBPA(2, partitioner="metis", random_state=task.seed % 2**31).fit(ensemble)
    except ImportError:
        return {}
    names = CLASS_WORDS[TEXTS[task.parameters["set"]][0]]
    place = {word: i for i, word in enumerate(words)}
    shown = []
    for cluster, top in enumerate(fitted.top_features(words, n, by="contrast")):
        members = y[fitted.labels_ == cluster]
        shown.append(
            {
                "class": names[int(np.bincount(members, minlength=2).argmax())],
                "words": [word for word, _ in top],
                "weights": [fitted.feature_weights_[:, place[word]].tolist() for word, _ in top],
                "means": [fitted.cluster_centers_[:, place[word]].tolist() for word, _ in top],
            }
        )
    return {"words": shown}


# --- Tables -------------------------------------------------------------------------------------


def tables(results: Results) -> Iterator[Table]:
    """Yield Tables II to XIII, what LAC's runs were, and correlations of section 8."""
    yield _average_table(results)
    for name, (_, number) in SETS.items():
        if results.asked(f"{name}, {scale}" for scale in SCALES):
            yield _methods_table(results, name, number)
    yield _components_table(results)
    yield _spam_table(results)
    yield _text_table(results)
    yield _size_table(results)
    yield _diversity_table(results)


def _nearest_scale(results: Results, name: str) -> str:
    """Return the scaling with which LAC's average error is nearest to the paper's."""
    paper = published(PAPER)[SETS[name][1], "WSPA-METIS", "Avg-ER"]
    ours = {scale: results.numbers(f"{name}, {scale}", "lac_errors") for scale in SCALES}
    gaps = {scale: abs(errors.mean() - paper) for scale, errors in ours.items() if errors.size}
    return min(gaps, key=lambda scale: gaps[scale]) if gaps else scale_of(name)


def _paper_name(method: str) -> str:
    """Return the row of the paper's tables that a method belongs to."""
    return method.removesuffix(" 2..k+1")


def _methods_table(results: Results, name: str, number: str) -> Table:
    printed = published(PAPER)
    rows = []
    for method in ORDER:
        paper = printed.get((number, _paper_name(method), "Ens-ER"))
        for scale in SCALES:
            part = f"{name}, {scale}"
            if results.asked([part]):
                rows.append(results.row(part, method, keys=(method, scale), paper=paper))
    notes = [
        "Error rates in percent, mean ± standard deviation over runs; 1/h = 1, ..., 50; scaling of "
        "the features in the headings. The paper's scaling is not known; LAC's errors come nearest "
        f"with {_nearest_scale(results, name)}."
    ]
    if (number, "k-means+EAC-AL (k free)", "k") in printed:
        free = printed[number, "k-means+EAC-AL (k free)", "k"]
        ours = [
            f"{np.nanmean(results.numbers(f'{name}, {scale}', 'eac_k')):.1f} ({scale})"
            for scale in SCALES
            if f"{name}, {scale}" in results.parts
        ]
        notes.append(
            f"Clusters found with k free: {free:.0f} in the paper; {', '.join(ours)} here."
        )
    title = f"Table {_roman(number)}, {name}: error rates"
    return Table(f"table-{number}", title, ("method", "scaling"), rows, True, 1, notes)


def _roman(number: str) -> str:
    numerals = ["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX"]
    return numerals[int(number) - 1]


def _average_table(results: Results) -> Table:
    """Table II over the real sets that can be had, for the paper and for each scaling."""
    printed = published(PAPER)
    rows = []
    for method in [*ORDER, "LAC"]:
        key = "WSPA-METIS" if method == "LAC" else _paper_name(method)
        column = "Avg-ER" if method == "LAC" else "Ens-ER"
        of_paper = [printed.get((SETS[name][1], key, column)) for name in REAL]
        paper = None if None in of_paper else float(np.mean([v for v in of_paper if v is not None]))
        for scale in [*SCALES, "nearest"]:
            means = []
            for name in REAL:
                chosen = _nearest_scale(results, name) if scale == "nearest" else scale
                part = f"{name}, {chosen}"
                numbers = results.numbers(part, "lac_errors" if method == "LAC" else method)
                means.append(float(np.mean(numbers)) if numbers.size else float("nan"))
            ours = float(np.mean(means))
            known = np.isfinite(ours)
            rows.append(
                Row(
                    (method, scale),
                    paper,
                    ours if known else None,
                    runs=max(len(results.values.get(f"{name}, raw", ())) for name in REAL),
                    note="" if known else "not all sets were run",
                )
            )
    notes = [
        f"Mean over {', '.join(REAL)}, for the paper, too (from its Tables V to IX): its Table II "
        "includes the two Spam sets, which cannot be had. 'nearest': for each set the scaling with "
        "which LAC's average error is nearest to the paper's ("
        + ", ".join(f"{name} {_nearest_scale(results, name)}" for name in REAL)
        + ")."
    ]
    title = "Table II, average error rates on real data"
    return Table("table-2", title, ("method", "scaling"), rows, True, 1, notes)


def _components_table(results: Results) -> Table:
    printed = published(PAPER)
    rows = []
    for name, (_, number) in SETS.items():
        for scale in SCALES:
            part = f"{name}, {scale}"
            if not results.asked([part]):
                continue
            for what, key, of_paper in (
                ("LAC", "lac_errors", "WSPA-METIS"),
                ("k-means", "kmeans_errors", "k-means+Co-as."),
                ("k-means, 2 to 20 clusters", "eac_errors", "k-means+EAC-AL (k fixed)"),
            ):
                for statistic, reduce in COMPONENTS.items():
                    paper = printed[number, of_paper, f"{statistic.capitalize()}-ER"]
                    keys = (name, what, scale, statistic)
                    rows.append(_reduced_row(results, part, key, keys, paper, reduce))
    notes = ["Largest, smallest and average error rate of the partitions, mean over runs."]
    title = "Tables III to IX: error rates of the partitions that are combined"
    keys = ("data set", "partitions", "scaling", "error rate")
    return Table("components", title, keys, rows, True, 1, notes)


def _reduced_row(
    results: Results,
    part: str,
    key: str,
    keys: tuple[str, ...],
    paper: float | None,
    reduce: Callable[..., Any],
) -> Row:
    """Return a row of a statistic over the partitions of a run, averaged over runs."""
    numbers = results.numbers(part, key)
    if numbers.ndim < 2 or not numbers.size:
        return Row(keys, paper, note=results.absent.get(part, "not run"))
    return Row(keys, paper, float(np.mean(reduce(numbers, axis=1))), runs=len(numbers))


def _spam_table(results: Results) -> Table:
    printed = published(PAPER)
    rows = []
    for method in ORDER:
        for number, name in (("10", "Spam2000"), ("11", "Spam5996")):
            paper = printed.get((number, _paper_name(method), "Ens-ER"))
            if paper is not None:
                rows.append(Row((method, name), paper, note="Email-1431 cannot be had"))
        rows.append(results.row(HIGH, method, keys=(method, HIGH)))
    for statistic, reduce in COMPONENTS.items():
        keys = (f"LAC, {statistic}", HIGH)
        rows.append(_reduced_row(results, HIGH, "lac_errors", keys, None, reduce))
    notes = [
        "Ours is another set of texts, not to be compared with the paper's numbers: electronics "
        "and medicine of 20 Newsgroups, 1974 documents, 1500 terms; counts as vectors of length 1, "
        "min-max scaled, 1/h = 20, 40, ..., 1000. k-means has the vectors of length 1."
    ]
    title = "Tables X and XI, texts of high dimension: error rates"
    return Table("tables-10-11", title, ("method", "data set"), rows, True, 1, notes)


def _text_table(results: Results) -> Table:
    printed = published(PAPER)
    rows = []
    for method in WEIGHTED:
        paper = printed["13", _paper_name(method), "Ens-ER"]
        rows.append(results.row(NEWSGROUPS, method, keys=(method, NEWSGROUPS), paper=paper))
        email = printed["12", _paper_name(method), "Ens-ER"]
        rows.append(Row((method, "Email-1431"), email, note="Email-1431 cannot be had"))
        rows.append(results.row(UNIONS, method, keys=(method, UNIONS)))
    for statistic, reduce in COMPONENTS.items():
        keys = f"LAC, {statistic}"
        column = f"{statistic.capitalize()}-ER"
        paper = printed["13", "WSPA-METIS", column]
        rows.append(
            _reduced_row(results, NEWSGROUPS, "lac_errors", (keys, NEWSGROUPS), paper, reduce)
        )
        email = printed["12", "WSPA-METIS", column]
        rows.append(Row((keys, "Email-1431"), email, note="Email-1431 cannot be had"))
        rows.append(_reduced_row(results, UNIONS, "lac_errors", (keys, UNIONS), None, reduce))
    notes = [
        "20 Newsgroups: electronics and medicine, 1974 documents, the 321 terms that occur most "
        "often together with another one (the paper has 1971 documents and 321 terms of frequent "
        "itemsets, stemmed). Unions, in place of Email-1431 and not to be compared with it: "
        "baseball and hockey against Christian religion and Middle East, 400 documents, 285 terms. "
        "Counts as vectors of length 1, min-max scaled, 1/h = 20, 40, ..., 1000."
    ]
    title = "Tables XII and XIII, words of unlabelled documents: error rates"
    return Table("tables-12-13", title, ("method", "data set"), rows, True, 2, notes)


def _size_table(results: Results) -> Table:
    rows = []
    for name in [*REAL, NEWSGROUPS]:
        part = f"sizes, {name}"
        if part not in results.parts:
            continue
        sizes = results.numbers(part, "sizes")[0]
        for method in SIZED:
            errors = results.numbers(part, method)[0]
            for size, error in zip(sizes, errors, strict=True):
                ours = float(error) if np.isfinite(error) else None
                keys = (f"{name} ({scale_of(name)})", method, f"{size:.0f}")
                rows.append(Row(keys, ours=ours, runs=1))
    title = "Figure 8: error rates by the size of the ensemble"
    notes = ["Mean of ten ensembles of each size, drawn from 50 runs of LAC; percent."]
    keys = ("data set", "method", "partitions")
    return Table("figure-8", title, keys, rows, True, 2, notes)


def _diversity_table(results: Results) -> Table:
    rows = []
    for name in [*SETS, NEWSGROUPS]:
        part = f"diversity, {name}"
        if part not in results.parts:
            continue
        run = results.values[part][0]
        for method in METIS:
            if f"{method} D_ARI" not in run:
                continue
            for measure in ("NMI", "ARI"):
                diversity = run["D_NMI" if measure == "NMI" else f"{method} D_ARI"]
                of_parts, of_all = run[f"Acc_{measure}"], run[f"{method} Acc*_{measure}"]
                numbers = {
                    f"D_{measure} with Acc": _rank_correlation(diversity, of_parts),
                    f"D_{measure} with Acc*": _rank_correlation(diversity, of_all),
                    f"Acc* above Acc, {measure}": float(np.mean(np.greater(of_all, of_parts))),
                }
                for words, number in numbers.items():
                    keys = (f"{name} ({scale_of(name)})", method, words)
                    note = "" if number is not None else "one of them is constant"
                    rows.append(Row(keys, ours=number, runs=len(diversity), note=note))
    notes = [
        "Spearman's rank correlation over 50 ensembles of 15 out of 50 runs of LAC; share of "
        "ensembles in which the consensus is more accurate than its members on average. The paper "
        "draws these and says that larger diversity goes with larger accuracy everywhere."
    ]
    title = "Figures 12 to 20: diversity and accuracy"
    return Table("diversity", title, ("data set", "method", "correlation"), rows, True, 2, notes)


def _rank_correlation(first: list[float], second: list[float]) -> float | None:
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return None
    return float(spearmanr(first, second).statistic)


# --- Figures ------------------------------------------------------------------------------------


def figures(results: Results) -> dict[str, Figure]:
    """Return Figures 4, 7, 8, 10, 11 and 12 to 20."""
    drawn = {
        "figure-4": _draw_by_h(results, ["Two-Gaussian"]),
        "figure-7": _draw_by_h(results, [*list(SETS)[1:], HIGH, NEWSGROUPS]),
        "figure-8": _draw_by_size(results),
        "figure-10": _draw_words(results, UNIONS),
        "figure-11": _draw_words(results, NEWSGROUPS),
    }
    for number, name in enumerate([*SETS, NEWSGROUPS], start=12):
        drawn[f"figure-{number}"] = _draw_diversity(results, name)
    return {name: figure for name, figure in drawn.items() if figure is not None}


def _draw_by_h(results: Results, names: list[str]) -> Figure | None:
    parts = {n: n if n in TEXTS else f"{n}, {scale_of(n)}" for n in names}
    parts = {n: part for n, part in parts.items() if part in results.parts}
    if not parts:
        return None
    figure, axes = grid(len(parts), 3, (3.6, 2.8))
    for ax, (name, part) in zip(axes, parts.items(), strict=False):
        errors = results.numbers(part, "lac_errors").mean(axis=0)
        inv_h = next(
            v for v in (inv_h_of(name, False), inv_h_of(name, True)) if len(v) == len(errors)
        )
        ax.plot(inv_h, errors, color="0.5", label="LAC")
        for i, method in enumerate([*METIS, "CSPA", "MCLA"]):
            error = results.numbers(part, method)
            if np.isfinite(error).any():
                style = ("-", "--", ":", "-.", (0, (1, 3)))[i]
                ax.axhline(np.nanmean(error), color=f"C{i}", ls=style, lw=1.4, label=method)
        ax.set_title(f"{name} ({scale_of(name)})", fontsize="medium")
        ax.set_ylim(bottom=0)
    label_grid(figure, axes, "1/h", "error rate, %", ncols=3)
    return figure


def _draw_by_size(results: Results) -> Figure | None:
    parts = {n: f"sizes, {n}" for n in [*REAL, NEWSGROUPS] if f"sizes, {n}" in results.parts}
    if not parts:
        return None
    figure, axes = grid(len(parts), 3, (3.2, 2.4))
    for ax, (name, part) in zip(axes, parts.items(), strict=False):
        sizes = results.numbers(part, "sizes")[0]
        for method, marker in zip(SIZED, ("o-", "s--"), strict=True):
            ax.plot(sizes, results.numbers(part, method)[0], marker, ms=4, label=method)
        ax.set_title(f"{name} ({scale_of(name)})", fontsize="medium")
        low, high = ax.get_ylim()
        middle = (low + high) / 2
        ax.set_ylim(min(low, middle - 1), max(high, middle + 1))  # flat stays flat
    label_grid(figure, axes, "size of the ensemble", "error rate, %", ncols=2)
    return figure


def _draw_words(results: Results, part: str) -> Figure | None:
    runs = results.values.get(part, ())
    if not runs or "words" not in runs[0]:
        return None
    shown = runs[0]["words"]
    figure, axes = grid(len(shown), 2, (4.4, 4.2))
    for cluster, (ax, top) in enumerate(zip(axes, shown, strict=True)):
        place = np.arange(len(top["words"]))
        for other, weights in enumerate(np.array(top["weights"]).T):
            label = f"in: {shown[other]['class']}"
            ax.barh(place + 0.4 * other - 0.2, weights, 0.38, color=f"C{other}", label=label)
        ax.set_yticks(place, top["words"])
        ax.invert_yaxis()
        ax.set_title(f"weigh most in: {shown[cluster]['class']}", fontsize="medium")
        ax.locator_params(axis="x", nbins=5)
    label_grid(figure, axes, "feature weight", "", ncols=2)
    return figure


def _draw_diversity(results: Results, name: str) -> Figure | None:
    part = f"diversity, {name}"
    if part not in results.parts:
        return None
    run = results.values[part][0]
    methods = [method for method in METIS if f"{method} D_ARI" in run]
    if not methods:
        return None
    figure, axes = grid(2 * len(methods), len(methods), (2.9, 2.3))
    for row, measure in enumerate(("NMI", "ARI")):
        for column, method in enumerate(methods):
            ax = axes[row * len(methods) + column]
            diversity = np.array(run["D_NMI" if measure == "NMI" else f"{method} D_ARI"])
            order = np.argsort(diversity, kind="stable")
            of_parts = np.array(run[f"Acc_{measure}"])[order]
            of_all = np.array(run[f"{method} Acc*_{measure}"])[order]
            ax.plot(diversity[order], of_parts, "*-", ms=4, lw=0.8, label="members, mean (Acc)")
            ax.plot(
                diversity[order], of_all, "s-", ms=3.5, lw=0.8, mfc="none", label="consensus (Acc*)"
            )
            ax.set_title(f"{method}, {measure}", fontsize="small")
            ax.set_xlabel(f"D_{measure}", fontsize="small")
    label_grid(figure, axes, "", f"accuracy: {name} ({scale_of(name)})", ncols=2)
    return figure


EXPERIMENT = Experiment(
    name="weighted-ensembles",
    title="Weighted cluster ensembles: methods and analysis (Domeniconi and Al-Razgan, 2009)",
    runs=5,
    quick_runs=1,
    plan=plan,
    compute=compute,
    tables=tables,
    figures=figures,
)
