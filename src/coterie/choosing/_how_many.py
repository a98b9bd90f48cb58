"""How many clusters: one rule, with its evidence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.cluster import KMeans
from sklearn.metrics import pairwise_distances, silhouette_samples
from sklearn.utils import check_array

from coterie._checks import check_random_state
from coterie._reading import check_table
from coterie.choosing._resampling import (
    N_BINS,
    RESAMPLED,
    Resampled,
    cuts_of_halves,
    resample,
    runs_on_parts,
)
from coterie.choosing._structure import StructureTest, structure_test
from coterie.choosing._text import align
from coterie.consensus import LWEA
from coterie.consensus._eac import cluster_lifetimes
from coterie.ensemble import Ensemble
from coterie.generation._recipes import make_generator

__all__ = ["MIN_SHARE", "ClusterNumbers", "how_many_clusters"]

MIN_SHARE = 0.1
"""Smallest cluster that counts as one, as a share of the mean cluster size."""
N_NEIGHBORS = 5
"""Neighbours that show whether a cluster is isolated."""
TIE = 0.03
"""Scores by features that differ by a smaller share count as equal: unions of clusters score almost
as well as the clusters."""
WALKS = (2, 8, 32)
"""Lengths of random walks: short ones tell coarse partitions apart, long ones join fine ones."""
_MAX_CLUSTERS = 60
_N_BOOTSTRAP = 200
CRITERIA = ("score", "silhouette", "isolation", "lifetime")
"""The criteria that are always there; `coterie.choosing._resampling.RESAMPLED` has the others."""


@dataclass(frozen=True)
class ClusterNumbers:
    """Result of `how_many_clusters`.

    Attributes
    ----------
    recommended : int
        The number of clusters to take.
    second : int or None
        The second-best answer: the best number that is not next to the recommended one.
    certainty : float
        In [0, 1]: share of bootstrap samples of the objects in which the recommended number wins.
    reason : str
        Why, in a sentence or two.
    n_clusters : ndarray of shape (m,)
        The numbers tried, ascending.
    criteria : dict of ndarray of shape (m,)
        For each number: 'score', 'silhouette', 'isolation' and 'lifetime'; with ``n_runs`` above
        0 also 'pac', 'area', 'delta_area', 'cophenetic' and 'stability'. NaN where a criterion
        is not defined.
    choices : dict of int or None
        The number that each criterion prefers.
    cdf : ndarray of shape (m, 101)
        With ``n_runs`` above 0, for each number the share of pairs whose consensus is at most 0,
        0.01, ..., 1; else of shape (0, 101).
    structure : StructureTest or None
        Whether there is a gap between clusters.
    kind : {'features', 'ensemble'}
        What was looked at.
    n_used : int
        Number of objects used.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import how_many_clusters
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2)) + np.repeat([[0], [9]], 30, axis=0)
    >>> numbers = how_many_clusters(X, range(2, 6), random_state=0)
    >>> numbers.recommended, numbers.choices["silhouette"]
    (2, 2)
    """

    recommended: int
    second: int | None
    certainty: float
    reason: str
    n_clusters: NDArray[np.int64]
    criteria: dict[str, NDArray[np.float64]]
    choices: dict[str, int | None]
    cdf: NDArray[np.float64]
    structure: StructureTest | None
    kind: str
    n_used: int

    def as_dict(self, *, cdf: bool = True) -> dict[str, Any]:
        """Return everything as plain data, ready for JSON."""
        known: dict[str, Any] = {
            "recommended": self.recommended,
            "second": self.second,
            "certainty": round(self.certainty, 6),
            "reason": self.reason,
            "n_clusters": self.n_clusters.tolist(),
            "criteria": {
                name: [float(v) if np.isfinite(v) else None for v in values]
                for name, values in self.criteria.items()
            },
            "choices": self.choices,
            "structure": None if self.structure is None else self.structure.as_dict(),
            "kind": self.kind,
            "n_used": self.n_used,
        }
        if cdf:
            known["cdf"] = self.cdf.round(6).tolist()
        return known

    def __repr__(self) -> str:
        head = ["clusters", *self.criteria]
        lines = [head]
        for i, k in enumerate(self.n_clusters):
            values = [self.criteria[name][i] for name in self.criteria]
            lines.append([str(k), *("-" if np.isnan(v) else f"{v:.3f}" for v in values)])
        picks = [self.choices.get(name) for name in self.criteria]
        lines.append(["choice", *("-" if p is None else str(p) for p in picks)])
        words = [self.reason] if self.structure is None else [self.reason, self.structure.reason]
        return "\n".join([*align(lines), "", *words])


def how_many_clusters(
    X: ArrayLike | Ensemble | Any,
    n_clusters: Sequence[int] | NDArray[np.integer[Any]] | None = None,
    *,
    ensemble: Ensemble | None = None,
    n_runs: int = 0,
    max_samples: float = 0.8,
    max_objects: int | None = 1500,
    structure: bool | StructureTest = True,
    n_jobs: int | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> ClusterNumbers:
    """Recommend a number of clusters, and show the evidence.

    The consensus tree of the partitions (`coterie.LWEA`) is cut into every number of clusters.
    The best number has the highest score: mean silhouette times isolation. By features,
    the largest number within 3 % of the highest is taken.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_objects, n_features), or Ensemble
        Features, scaled so that they are comparable; or an ensemble. (A matrix of labels must
        be made an `Ensemble`.)
    n_clusters : sequence of int, optional
        The numbers to try, all of at least 2. Default: 2, 3, ... up to 1.5 sqrt(n), at least 16
        and at most 60, and below the number of distinct objects.
    ensemble : Ensemble, optional
        Partitions of the rows of `X`, where `X` holds features. Default: those of the default
        recipe of `coterie.ConsensusClustering`.
    n_runs : int, default=0
        Runs on random parts of the data for each number, for the criteria of Monti et al. They
        inform, they do not change the recommendation. 20 is a good number; 0 leaves them out.
    max_samples : float, default=0.8
        Share of the objects drawn for each such run; for features only.
    max_objects : int or None, default=1500
        Objects used, drawn at random; None for all of them.
    structure : bool or StructureTest, default=True
        Also test whether there is a gap between clusters (`structure_test`). The result stands
        beside the answer and does not change it. A finished test can be given as well.
    n_jobs : int, optional
        Runs of k-means at a time.
    random_state : int, RandomState instance or None, default=None
        Seed of everything.

    Returns
    -------
    numbers : ClusterNumbers
        Criteria, the choice of each, and the recommendation. Its ``repr`` is a table.

    Notes
    -----
    A cluster of fewer than a tenth of the mean cluster size does not count: its objects join the
    cluster that the partitions put them with most often. So outliers make no clusters.

    silhouette
        Mean silhouette of the objects, by the Euclidean distance of the features. For an
        ensemble, by the cosine distance between the end distributions of random walks from two
        objects on the co-association graph, the mean over walks of 2, 8 and 32 steps.
    isolation
        1 - the largest share of neighbours that a cluster has outside of itself, of the five
        nearest neighbours of its objects. A cut through a dense region lowers it.
    score
        Silhouette times isolation. Recommended is the number with the highest score; for features
        the largest number with a local maximum of the score within 3 % of the highest, because
        unions of clusters score almost as well as the clusters.
    lifetime
        How long k clusters last in the tree [1]_.
    pac, area, delta_area, cophenetic, stability
        With ``n_runs`` above 0, from runs on random parts: the proportion of ambiguous pairs
        [3]_, the area under the distribution of the consensus and its growth [2]_, the cophenetic
        correlation [4]_ and the mean adjusted Rand index of two runs.

    One cluster is recommended only if there are fewer than two distinct objects.

    References
    ----------
    .. [1] Fred & Jain (2005), Combining multiple clusterings using evidence accumulation,
       :doi:`10.1109/TPAMI.2005.113`.
    .. [2] Monti, Tamayo, Mesirov & Golub (2003), Consensus clustering,
       :doi:`10.1023/A:1023949509487`.
    .. [3] Şenbabaoğlu, Michailidis & Li (2014), Critical limitations of consensus clustering in
       class discovery, :doi:`10.1038/srep06207`.
    .. [4] Brunet, Tamayo, Golub & Mesirov (2004), Metagenes and molecular pattern discovery
       using matrix factorization, :doi:`10.1073/pnas.0308531101`.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import how_many_clusters
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(90, 2)) + np.repeat([[0, 0], [9, 0], [0, 9]], 30, axis=0)
    >>> numbers = how_many_clusters(X, random_state=0)
    >>> numbers.recommended, numbers.certainty > 0.9
    (3, True)
    """
    if not isinstance(n_runs, Integral) or n_runs < 0 or n_runs == 1:
        raise ValueError(
            "n_runs must be 0 (no runs on parts), or at least 2, so that runs can be compared; "
            f"got {n_runs!r}."
        )
    random = check_random_state(random_state)
    seeds = [int(s) for s in random.randint(2**31 - 1, size=3)]
    rng = np.random.default_rng(seeds[0])
    test = structure if isinstance(structure, StructureTest) else None
    if structure is True:
        test = structure_test(X, random_state=seeds[1])
    evidence = _gather(X, ensemble, max_objects, rng, n_jobs, random_state)
    kind = "ensemble" if evidence.X is None else "features"
    n_used = evidence.ensemble.n_objects
    numbers = _check_numbers(n_clusters, n_used, len(evidence.ensemble.patterns.counts))
    if len(numbers) == 0:
        return _too_few(kind, n_used, test)

    found = _score_cuts(evidence, numbers)
    criteria, choices = found.criteria, found.choices
    cdf = np.empty((0, N_BINS + 1))
    if n_runs:
        parts = _resample(evidence, found.numbers, n_runs, max_samples, n_jobs, rng, seeds[2])
        criteria, choices, cdf = criteria | parts.criteria, choices | parts.choices, parts.cdf
    best = choices["score"]
    assert best is not None
    second = _second_best(found.numbers, criteria["score"], best)
    certainty = _certainty(found, best, rng)
    reason = _reason(found, best, second, certainty)
    return ClusterNumbers(
        *(best, second, certainty, reason, found.numbers, criteria, choices, cdf),
        *(test, kind, n_used),
    )


# --- evidence -----------------------------------------------------------------------------------


class _Evidence(NamedTuple):
    """The objects that the rule uses: partitions, distances and neighbours."""

    X: Any
    """Their features, or None."""
    ensemble: Ensemble
    distances: NDArray[np.float64]
    """(n, n), for silhouettes."""
    neighbors: NDArray[np.int64]
    """(n, m): the nearest neighbours of each object, nearest first."""


def _gather(
    X: Any,
    ensemble: Ensemble | None,
    max_objects: int | None,
    rng: np.random.Generator,
    n_jobs: int | None,
    seed: int | np.random.RandomState | None,
) -> _Evidence:
    """Return partitions, distances and neighbours of at most `max_objects` objects."""
    if isinstance(X, Ensemble):
        if max_objects is not None and X.n_objects > max_objects:
            X = _take(X, np.sort(rng.choice(X.n_objects, max_objects, replace=False)))
        distances = _walk_distances(X)
        apart = 1.0 - X.coassociation(memory_limit=8 * X.n_objects**2)
        return _Evidence(None, X, distances, _nearest(apart))
    check_table(X)
    X = check_array(X, dtype=np.float64, accept_sparse="csr", ensure_min_samples=2)
    n = X.shape[0]
    if ensemble is not None and ensemble.n_objects != n:
        raise ValueError(f"ensemble must have the objects of X ({n}); got {ensemble.n_objects}.")
    rows = None
    if max_objects is not None and n > max_objects:
        rows = np.sort(rng.choice(n, max_objects, replace=False))
    if ensemble is None:
        ensemble = _default_ensemble(X, rows, n_jobs, seed)
    elif rows is not None:
        ensemble = _take(ensemble, rows)
    X = X if rows is None else X[rows]
    distances = pairwise_distances(X)
    np.fill_diagonal(distances, 0.0)
    return _Evidence(X, ensemble, distances, _nearest(distances))


def _default_ensemble(
    X: Any,
    rows: NDArray[np.int64] | None,
    n_jobs: int | None,
    seed: int | np.random.RandomState | None,
) -> Ensemble:
    """Return the partitions of the default recipe for some of the rows; None means all.

    They are those that `coterie.ConsensusClustering` makes with the same seed.
    """
    generator = make_generator(
        "default", X.shape[0], n_jobs=n_jobs, random_state=seed, left_out="missing"
    ).fit(X)
    if rows is None and not generator.ensemble_.has_missing:
        return generator.ensemble_
    return Ensemble(generator.transform(X if rows is None else X[rows]))


def _take(ensemble: Ensemble, rows: NDArray[np.int64]) -> Ensemble:
    """Return the ensemble of some objects, without partitions that have no opinion on them."""
    seen = (ensemble.labels[rows] >= 0).any(axis=0)
    return ensemble.select(seen).take(rows)


def _walk_distances(ensemble: Ensemble) -> NDArray[np.float64]:
    """Return cosine distances between the end distributions of random walks.

    The walks are on the co-association graph; distances are means over walks of `WALKS` steps.
    """
    graph = ensemble.coassociation(memory_limit=8 * ensemble.n_objects**2)
    step = graph / np.maximum(graph.sum(axis=1, keepdims=True), 1e-300)
    distances = np.zeros_like(graph)
    for n_steps in WALKS:
        ends = np.linalg.matrix_power(step, n_steps)
        distances += pairwise_distances(ends, metric="cosine") / len(WALKS)
    np.fill_diagonal(distances, 0.0)
    return distances


def _nearest(distances: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the nearest neighbours of each object; ties to the smallest index."""
    others = distances.copy()
    np.fill_diagonal(others, np.inf)
    n_neighbors = min(N_NEIGHBORS, len(distances) - 1)
    return np.argsort(others, axis=1, kind="stable")[:, :n_neighbors]


def _check_numbers(
    asked: Sequence[int] | NDArray[np.integer[Any]] | None, n_objects: int, n_distinct: int
) -> NDArray[np.int64]:
    if asked is None:
        largest = min(_MAX_CLUSTERS, max(16, int(1.5 * np.sqrt(n_objects))))
        return np.arange(2, min(largest, n_distinct, n_objects - 1) + 1)
    numbers = np.unique(np.asarray(list(asked)))
    if numbers.size == 0 or numbers.dtype.kind not in "iu" or numbers[0] < 2:
        raise ValueError(
            f"n_clusters must be whole numbers of at least 2, such as range(2, 11); got {asked!r}."
        )
    if numbers[-1] > n_objects:
        raise ValueError(
            f"n_clusters must be at most the number of objects that are used ({n_objects}); got "
            f"{numbers[-1]}."
        )
    return numbers[numbers <= n_distinct].astype(np.int64)


# --- criteria -----------------------------------------------------------------------------------


class _Scored(NamedTuple):
    """Criteria of the cuts of the consensus tree."""

    numbers: NDArray[np.int64]
    labels: list[NDArray[np.int64]]
    silhouettes: NDArray[np.float64]
    """(m, n): silhouette of each object in each cut."""
    leaks: NDArray[np.float64]
    """(m, n): share of each object's neighbours that are in another cluster."""
    criteria: dict[str, NDArray[np.float64]]
    choices: dict[str, int | None]
    tie: float
    """Share by which scores may differ and still count as equal."""


def _score_cuts(evidence: _Evidence, numbers: NDArray[np.int64]) -> _Scored:
    """Cut the tree into each number of clusters, and score the cuts."""
    ensemble, n = evidence.ensemble, evidence.ensemble.n_objects
    tree = LWEA(int(numbers[0]), min_share=MIN_SHARE, max_objects=None).fit(ensemble)
    labels = [tree.cut_tree(int(k)) for k in numbers]
    silhouettes, leaks = np.zeros((len(numbers), n)), np.zeros((len(numbers), n))
    for i, cut in enumerate(labels):
        if numbers[i] < n:  # n singletons have no silhouette
            silhouettes[i] = silhouette_samples(evidence.distances, cut, metric="precomputed")
        leaks[i] = (cut[evidence.neighbors] != cut[:, None]).mean(axis=1)
    everyone = np.ones(n)
    silhouette = silhouettes.mean(axis=1)
    isolation = np.array([_isolation(*pair, everyone) for pair in zip(leaks, labels, strict=True)])
    lifetimes = cluster_lifetimes(tree.linkage_[:, 2])
    inside = numbers - 2 < len(lifetimes)
    lifetime = np.full(len(numbers), np.nan)
    lifetime[inside] = lifetimes[numbers[inside] - 2]
    values = (silhouette * isolation, silhouette, isolation, lifetime)
    criteria = dict(zip(CRITERIA, values, strict=True))
    choices = {name: _first_best(numbers, values) for name, values in criteria.items()}
    tie = 0.0 if evidence.X is None else TIE
    choices["score"] = _best_number(numbers, criteria["score"], tie)
    return _Scored(numbers, labels, silhouettes, leaks, criteria, choices, tie)


def _isolation(
    leaks: NDArray[np.float64], labels: NDArray[np.int64], weights: NDArray[np.float64]
) -> float:
    """Return 1 - the largest mean leak of a cluster; `weights` counts each object."""
    total = np.bincount(labels, weights)
    leaked = np.bincount(labels, weights * leaks)
    return 1.0 - float((leaked / np.maximum(total, 1e-300)).max())


def _best_number(numbers: NDArray[np.int64], scores: NDArray[np.float64], tie: float) -> int:
    """Return the largest number with a local maximum of the score within `tie` of the highest."""
    padded = np.concatenate([[-np.inf], scores, [-np.inf]])
    is_peak = (scores >= padded[:-2]) & (scores >= padded[2:])
    highest = scores.max()
    return int(numbers[is_peak & (scores >= highest - tie * abs(highest))][-1])


def _first_best(numbers: NDArray[np.int64], values: NDArray[np.float64]) -> int | None:
    """Return the number with the largest value, the smallest number among equal ones."""
    if np.isnan(values).all():
        return None
    return int(numbers[np.argmax(values >= np.nanmax(values) - 1e-12)])


def _resample(
    evidence: _Evidence,
    numbers: NDArray[np.int64],
    n_runs: int,
    max_samples: float,
    n_jobs: int | None,
    rng: np.random.Generator,
    seed: int,
) -> Resampled:
    runs: Callable[[int], Ensemble]
    if evidence.X is None:
        cuts = cuts_of_halves(evidence.ensemble, numbers, n_runs, rng)
        runs = lambda k: Ensemble(cuts[k])  # noqa: E731
    else:
        X = evidence.X
        given: Any = {"max_samples": max_samples, "n_jobs": n_jobs, "seed": seed}
        runs = lambda k: runs_on_parts(KMeans(n_init=3), X, k, n_runs, **given)  # noqa: E731
    return resample(numbers, runs)


# --- answer -------------------------------------------------------------------------------------


def _second_best(numbers: NDArray[np.int64], scores: NDArray[np.float64], best: int) -> int | None:
    """Return the best of the numbers that are not next to the best one."""
    others = np.abs(numbers - best) > 1
    return _first_best(numbers[others], scores[others]) if others.any() else None


def _certainty(found: _Scored, best: int, rng: np.random.Generator) -> float:
    """Return the share of bootstrap samples of the objects in which the best number wins."""
    n = found.silhouettes.shape[1]
    wins = 0
    for _ in range(_N_BOOTSTRAP):
        weights = np.bincount(rng.integers(n, size=n), minlength=n).astype(np.float64)
        isolation = [
            _isolation(leaks, labels, weights)
            for leaks, labels in zip(found.leaks, found.labels, strict=True)
        ]
        scores = found.silhouettes @ weights / n * isolation
        wins += _best_number(found.numbers, scores, found.tie) == best
    return wins / _N_BOOTSTRAP


def _reason(found: _Scored, best: int, second: int | None, certainty: float) -> str:
    place = int(np.flatnonzero(found.numbers == best)[0])
    silhouette, isolation = (found.criteria[c][place] for c in ("silhouette", "isolation"))
    reason = (
        f"{best} clusters: most compact and isolated (mean silhouette {silhouette:.2f}, isolation "
        f"{isolation:.2f}); the same number wins in {100 * certainty:.0f} % of resamples."
    )
    if second is not None:
        reason += f" Second best: {second}."
    return reason


def _too_few(kind: str, n_used: int, test: StructureTest | None) -> ClusterNumbers:
    names = (*CRITERIA, *RESAMPLED)
    reason = "One cluster: there are too few distinct objects to try two clusters or more."
    return ClusterNumbers(
        recommended=1,
        second=None,
        certainty=1.0,
        reason=reason,
        n_clusters=np.empty(0, dtype=np.int64),
        criteria=dict.fromkeys(names, np.empty(0)),
        choices=dict.fromkeys(names),
        cdf=np.empty((0, N_BINS + 1)),
        structure=test,
        kind=kind,
        n_used=n_used,
    )
