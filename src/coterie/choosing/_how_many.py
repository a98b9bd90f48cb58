"""How many clusters: the known criteria side by side, and one recommendation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.cluster import KMeans
from sklearn.utils import check_array, check_random_state

from coterie._memory import memory_limit_bytes
from coterie._reading import check_names_unique
from coterie.choosing._structure import StructureTest, structure_test
from coterie.ensemble import Ensemble

__all__ = ["ClusterNumbers", "how_many_clusters"]

N_BINS = 100  # of the consensus distribution
AMBIGUOUS = (0.1, 0.9)  # co-association between these is neither together nor apart
_PAC_TIE = 0.01
_AMBIGUOUS = 0.04  # PAC higher than at best by more than this contradicts a number
_CLEAR = 0.02  # the largest PAC of a number that parts of the data agree on
_UNSTABLE = 0.05  # halves of an ensemble agree less than at best by more than this
_STEEP, _FAINT = 0.3, 0.55
_PEAK = 0.4  # a peak of co-association counts if it stands out by this
_PER_CLUSTER, _MOST_OBJECTS = 20, 2000  # objects drawn for each cluster of a partition, at most
_LEAST_OBJECTS = 100  # that peaks are looked for among, whatever the memory limit
_CORE = 5  # neighbours that make the density of an object
_STABILITY_TIE = 0.01
_COPHENETIC_TIE = 0.005
_APPRECIABLE = 0.05  # growth of the area that still counts
_MOST_CLUSTERS = 20


@dataclass(frozen=True)
class ClusterNumbers:
    """Result of `how_many_clusters`.

    Attributes
    ----------
    recommended : int
        The number of clusters to take; 1 if there are none.
    reason : str
        Why, in a sentence.
    n_clusters : ndarray of shape (m,)
        The numbers tried, ascending.
    criteria : dict of ndarray of shape (m,)
        For each number: 'peaks', 'pac', 'area', 'delta_area', 'cophenetic', 'stability',
        'lifetime', 'laca' and 'msteclust'; NaN where a criterion is not defined.
    choices : dict of int or None
        The number that each criterion prefers. That of the peaks and of LACA may lie outside
        of what was tried.
    cdf : ndarray of shape (m, 101)
        For each number the share of pairs whose consensus is at most 0, 0.01, ..., 1.
    structure : StructureTest or None
        Whether there are clusters at all.
    kind : {'features', 'ensemble'}
        What was looked at.
    n_used : int
        Number of objects used.
    """

    recommended: int
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
        widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
        text = [
            "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True))
            for line in lines
        ]
        return "\n".join([*text, "", self.reason])


def how_many_clusters(
    X: ArrayLike | Ensemble | Any,
    n_clusters: Sequence[int] | NDArray[np.integer[Any]] | None = None,
    *,
    n_runs: int = 20,
    max_samples: float = 0.8,
    max_objects: int | None = 600,
    structure: bool | StructureTest = True,
    n_jobs: int | None = None,
    random_state: int | np.random.RandomState | None = None,
    callback: Callable[[int, int], None] | None = None,
) -> ClusterNumbers:
    """Return the usual criteria for the number of clusters side by side, and one recommendation.

    Each number of clusters k is tried many times on random parts: k-means with k clusters on
    subsamples of the objects [1]_, or for an ensemble, the average-linkage consensus of random
    halves of its partitions, cut into k. If k is right, the parts agree: two objects are
    together in all runs or in none.

    Parameters
    ----------
    X : array-like of shape (n_objects, n_features), or Ensemble
        Features, scaled so that they are comparable; or an ensemble. (A matrix of labels must
        be made an `Ensemble`.)
    n_clusters : sequence of int, optional
        The numbers to try, all of at least 2. Default: 2, 3, ..., 20, or as far as there are
        distinct objects, with five or more of them for each cluster.
    n_runs : int, default=20
        Runs for each number.
    max_samples : float, default=0.8
        Share of the objects, drawn for each run; for features only.
    max_objects : int or None, default=600
        Objects used, drawn at random; None for all of them. Of an ensemble with fine partitions
        more are used, 20 for each cluster of a partition, at most 2,000.
    structure : bool or StructureTest, default=True
        Also test whether there are clusters at all (`structure_test`); if not, the
        recommendation is 1. A test that was made already is taken as it is.
    n_jobs : int, optional
        Runs of k-means at a time.
    random_state : int, RandomState instance or None, default=None
        Seed of everything.
    callback : callable, optional
        ``callback(done, total)`` after every number tried.

    Returns
    -------
    numbers : ClusterNumbers
        Criteria, the choice of each, and the recommendation. Its ``repr`` is a table.

    Notes
    -----
    The criteria, and what each prefers:

    peaks
        How far the k-th dense region stands out: as in `structure_test`, the co-association at
        its densest place less that at the saddle to the next region. For features of k-means
        partitions with sqrt(n)/2 to sqrt(n) clusters. The choice is how many regions stand out
        by 0.4, up to the first fall by 0.3 or more to 0.55 or less.
    pac
        Proportion of ambiguous pairs, those together in more than 10 % and at most 90 % of the
        runs that saw both [2]_. The largest k with a local minimum within 0.01 of the smallest
        value: unions of clusters can be as stable as the clusters.
    area, delta_area
        Area under the distribution of the consensus, and its relative growth from the k before;
        the last k that adds 5 % [1]_.
    cophenetic
        Correlation of the consensus with the heights of its average-linkage tree [3]_. The
        largest k within 0.005 of the best.
    stability
        Mean adjusted Rand index of two runs, on the objects that both saw. The largest k within
        0.01 of the best.
    lifetime
        How long k clusters last in the average-linkage tree of an ensemble [4]_: of the one
        given, or of k-means partitions with sqrt(n)/2 to sqrt(n) clusters. The longest.
    laca
        Log-likelihood of LACA's last tree cut into k, for each pair of objects and partition;
        the choice is the k that LACA stops at.
    msteclust
        log F, the criterion of MSTEClust on its spanning tree. The smallest.

    The recommendation is the number of peaks, which need not be round, unless the runs
    contradict. For features: PAC is clear about another number (0.02 or less there), and higher
    at the number of peaks by more than 0.01, or by more than 0.04 if the other number is smaller.
    For an ensemble: stability is lower there than elsewhere by more than 0.05. Then the choice of
    PAC, or of stability, is recommended.

    References
    ----------
    .. [1] Monti, Tamayo, Mesirov & Golub (2003), Consensus clustering,
       :doi:`10.1023/A:1023949509487`.
    .. [2] Şenbabaoğlu, Michailidis & Li (2014), Critical limitations of consensus clustering in
       class discovery, :doi:`10.1038/srep06207`.
    .. [3] Brunet, Tamayo, Golub & Mesirov (2004), Metagenes and molecular pattern discovery
       using matrix factorization, :doi:`10.1073/pnas.0308531101`.
    .. [4] Fred & Jain (2005), Combining multiple clusterings using evidence accumulation,
       :doi:`10.1109/TPAMI.2005.113`.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import how_many_clusters
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(90, 2)) + np.repeat([[0, 0], [9, 0], [0, 9]], 30, axis=0)
    >>> numbers = how_many_clusters(X, range(2, 7), n_runs=10, random_state=0)
    >>> numbers.recommended
    3
    >>> numbers.choices["pac"], numbers.choices["stability"]
    (3, 3)
    """
    if not isinstance(n_runs, Integral) or n_runs < 2:
        raise ValueError(
            f"n_runs must be at least 2, so that runs can be compared; got {n_runs!r}."
        )
    random = check_random_state(random_state)
    seeds = [int(s) for s in random.randint(2**31 - 1, size=4)]
    rng = np.random.default_rng(seeds[0])
    test = structure if isinstance(structure, StructureTest) else None
    runs: Callable[[int], Ensemble]
    if isinstance(X, Ensemble):
        kind = "ensemble"
        if structure is True:
            test = structure_test(X, random_state=seeds[1])
        ensemble = _sampled_ensemble(X, max_objects, rng)
        n_used, n_distinct = ensemble.n_objects, len(ensemble.patterns.counts)
        numbers = _check_numbers(n_clusters, n_used, n_distinct)
        cuts = _cuts_of_halves(ensemble, numbers, n_runs, rng)
        runs = lambda k: Ensemble(cuts[k])  # noqa: E731
    else:
        kind = "features"
        check_names_unique(X)
        X = check_array(X, dtype=np.float64, ensure_min_samples=2)
        if structure is True:
            test = structure_test(X, random_state=seeds[1])
        if max_objects is not None and len(X) > max_objects:
            X = X[np.sort(rng.choice(len(X), max_objects, replace=False))]
        n_used = len(X)
        numbers = _check_numbers(n_clusters, n_used, len(np.unique(X, axis=0)))
        runs = lambda k: _runs_of_kmeans(X, k, n_runs, max_samples, n_jobs, seeds[2])  # noqa: E731
        ensemble = _default_ensemble(X, n_jobs, seeds[3])
    if len(numbers) == 0:
        return _too_few(kind, n_used, test)

    cdf = np.empty((len(numbers), N_BINS + 1))
    cophenetic, stability = np.empty(len(numbers)), np.empty(len(numbers))
    for i, k in enumerate(numbers):
        tried = runs(int(k))
        cdf[i] = consensus_cdf(tried)
        cophenetic[i] = _cophenetic(tried)
        stability[i] = _mean_agreement(tried)
        if callback is not None:
            callback(i + 1, len(numbers))
    area = cdf[:, :-1].mean(axis=1)
    criteria = {
        "pac": proportion_ambiguous(cdf),
        "area": area,
        "delta_area": np.concatenate([area[:1], np.diff(area) / np.maximum(area[:-1], 1e-12)]),
        "cophenetic": cophenetic,
        "stability": stability,
    }
    choices: dict[str, int | None] = {
        "pac": _last(numbers, _low_and_local(criteria["pac"])),
        "area": None,
        "delta_area": _last(numbers, criteria["delta_area"] >= _APPRECIABLE),
        "cophenetic": _last(numbers, cophenetic >= _most(cophenetic) - _COPHENETIC_TIE),
        "stability": _last(numbers, stability >= _most(stability) - _STABILITY_TIE),
    }
    _add_tree_criteria(ensemble, numbers, criteria, choices)
    peaks = _peaks(ensemble)
    criteria = {"peaks": _at(peaks, numbers - 2), **criteria}
    choices = {"peaks": count_peaks(peaks), **choices}
    recommended, reason = _recommend(numbers, criteria, choices, test, kind)
    return ClusterNumbers(recommended, reason, numbers, criteria, choices, cdf, test, kind, n_used)


# --- runs ---------------------------------------------------------------------------------------


def _check_numbers(
    asked: Sequence[int] | NDArray[np.integer[Any]] | None, n_objects: int, n_distinct: int
) -> NDArray[np.int64]:
    if asked is None:
        most = min(_MOST_CLUSTERS, n_distinct - 1, max(3, n_objects // 5))
        return np.arange(2, most + 1)
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
    return numbers[numbers <= max(n_distinct, 2)].astype(np.int64)


def _runs_of_kmeans(
    X: NDArray[np.float64],
    k: int,
    n_runs: int,
    max_samples: float,
    n_jobs: int | None,
    seed: int,
) -> Ensemble:
    from coterie.generation import RandomizedEnsemble

    maker = RandomizedEnsemble(
        KMeans(n_init=3),
        n_partitions=n_runs,
        n_clusters=k,
        max_samples=max_samples,
        n_jobs=n_jobs,
        random_state=seed,
    )
    return maker.fit_transform(X)


def _default_ensemble(X: NDArray[np.float64], n_jobs: int | None, seed: int) -> Ensemble:
    from coterie.generation import RandomizedEnsemble

    maker = RandomizedEnsemble(n_partitions=60, n_jobs=n_jobs, random_state=seed)
    return maker.fit_transform(X)


def _sampled_ensemble(
    ensemble: Ensemble, max_objects: int | None, rng: np.random.Generator
) -> Ensemble:
    if max_objects is None or ensemble.n_objects <= max_objects:
        return ensemble
    # Fine partitions of few objects would have none left in common.
    most = max(max_objects, _PER_CLUSTER * int(np.median(ensemble.n_clusters)))
    max_objects = min(ensemble.n_objects, max(max_objects, min(most, _MOST_OBJECTS)))
    rows = np.sort(rng.choice(ensemble.n_objects, max_objects, replace=False))
    labels = ensemble.labels[rows]
    kept = (labels >= 0).any(axis=0)
    return Ensemble(labels[:, kept], groups=ensemble.groups[kept], validity=ensemble.validity[kept])


def _cuts_of_halves(
    ensemble: Ensemble, numbers: NDArray[np.int64], n_runs: int, rng: np.random.Generator
) -> dict[int, NDArray[np.int64]]:
    """Return for each number (n, n_runs): cuts of the trees of random halves of the partitions."""
    from coterie._linkage import average_tree

    n, n_partitions = ensemble.shape
    cuts = {int(k): np.empty((n, n_runs), dtype=np.int64) for k in numbers}
    for run in range(n_runs):
        half = np.sort(rng.choice(n_partitions, max(1, (n_partitions + 1) // 2), replace=False))
        tree = average_tree(ensemble.select(half))
        for k, columns in cuts.items():
            columns[:, run] = tree.cut(k)
    return cuts


# --- criteria -----------------------------------------------------------------------------------


def consensus_cdf(ensemble: Ensemble) -> NDArray[np.float64]:
    """Return the share of pairs whose co-association is at most 0, 0.01, ..., 1.

    Pairs that no partition saw together are left out. No matrix of pairs is made.
    """
    from coterie._kernels.consensus_histogram import share_histogram

    counts = share_histogram(ensemble.narrow_columns, N_BINS)
    cdf: NDArray[np.float64] = np.cumsum(counts) / max(1, counts.sum())
    return cdf


def proportion_ambiguous(cdf: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return PAC, the share of pairs between the two limits of `AMBIGUOUS`."""
    low, high = (round(limit * N_BINS) for limit in AMBIGUOUS)
    pac: NDArray[np.float64] = cdf[..., high] - cdf[..., low]
    return pac


def _low_and_local(pac: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return where PAC is within the tie of its minimum, and not higher than at its neighbours."""
    padded = np.concatenate([[np.inf], pac, [np.inf]])
    is_local = (pac <= padded[:-2]) & (pac <= padded[2:])
    is_low: NDArray[np.bool_] = pac <= pac.min() + _PAC_TIE
    return is_low & is_local


def count_peaks(peaks: NDArray[np.float64]) -> int:
    """Return how many regions stand out, from the prominences of all but the first, sorted.

    Those by `_PEAK` count, but not beyond a steep fall to what is hardly more than noise.
    """
    count = int((peaks >= _PEAK).sum())
    after = np.append(peaks[1 : count + 1], 0.0)[:count]
    falls = np.flatnonzero((peaks[:count] - after >= _STEEP) & (after <= _FAINT))
    return 1 + (int(falls[0]) + 1 if len(falls) else count)


def _peaks(ensemble: Ensemble) -> NDArray[np.float64]:
    """Return how far the 2nd, 3rd, ... dense region stands out, the most prominent first."""
    from coterie._kernels.prominence import peak_prominences

    most = max(_LEAST_OBJECTS, int(np.sqrt(memory_limit_bytes() / 24)))  # three such matrices
    if ensemble.n_objects > most:
        rows = np.linspace(0, ensemble.n_objects - 1, most).round().astype(np.int64)
        ensemble = Ensemble(ensemble.labels[rows])
    distances = 1.0 - ensemble.coassociation(memory_limit=8 * ensemble.n_objects**2)
    m = min(_CORE, len(distances) - 1)
    core = np.partition(distances, m, axis=1)[:, m]
    return np.sort(peak_prominences(distances, core, m + 1, False))[::-1]


def _cophenetic(ensemble: Ensemble) -> float:
    """Return the correlation of 1 - co-association with the heights of its tree."""
    from scipy.cluster.hierarchy import cophenet, linkage

    from coterie._kernels.coassociation import condensed_distances

    n = ensemble.n_objects
    if n < 3 or 3 * 8 * n * n // 2 > memory_limit_bytes():
        return float("nan")
    distances = condensed_distances(ensemble.narrow_columns, ensemble.has_missing)
    heights = cophenet(linkage(distances, "average"))
    if np.ptp(distances) == 0 or np.ptp(heights) == 0:
        return float("nan")
    return float(np.corrcoef(distances, heights)[0, 1])


def _mean_agreement(ensemble: Ensemble) -> float:
    from coterie.metrics import pairwise_ari

    scores = pairwise_ari(ensemble)
    scores = scores[np.triu_indices(len(scores), 1)]
    scores = scores[~np.isnan(scores)]
    return float(scores.mean()) if len(scores) else float("nan")


def _add_tree_criteria(
    ensemble: Ensemble,
    numbers: NDArray[np.int64],
    criteria: dict[str, NDArray[np.float64]],
    choices: dict[str, int | None],
) -> None:
    """Add what comes from trees of one ensemble: lifetime, LACA and MSTEClust."""
    import warnings

    from coterie._linkage import average_tree
    from coterie.consensus import LACA
    from coterie.consensus._eac import cluster_lifetimes
    from coterie.consensus._separation import cut_criterion, spanning_tree

    lifetimes = cluster_lifetimes(1.0 - average_tree(ensemble).link)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        laca = LACA().fit(ensemble)
    log_f = cut_criterion(spanning_tree(ensemble, "margin"), int(numbers[-1]))
    path = laca.n_clusters_path_
    n = ensemble.n_objects
    n_votes = max(1, ensemble.n_partitions * n * (n - 1) // 2)
    criteria["lifetime"] = _at(lifetimes, numbers - 2)
    criteria["laca"] = _at(path if path is not None else np.empty(0), numbers - 1) / n_votes
    criteria["msteclust"] = _at(log_f, numbers - 2)
    choices["lifetime"] = _first(numbers, criteria["lifetime"], largest=True)
    choices["laca"] = int(laca.n_clusters_)
    choices["msteclust"] = _first(numbers, criteria["msteclust"], largest=False)


def _at(values: NDArray[np.float64], places: NDArray[np.int64]) -> NDArray[np.float64]:
    inside = (places >= 0) & (places < len(values))
    found = np.full(len(places), np.nan)
    found[inside] = values[places[inside]]
    return found


def _first(numbers: NDArray[np.int64], values: NDArray[np.float64], *, largest: bool) -> int | None:
    if np.isnan(values).all():
        return None
    best = np.nanmax(values) if largest else np.nanmin(values)
    return int(numbers[np.argmax(np.abs(values - best) <= 1e-12)])


def _most(values: NDArray[np.float64]) -> float:
    """Return the largest value, NaN if none is defined."""
    known = values[~np.isnan(values)]
    return float(known.max()) if len(known) else float("nan")


def _last(numbers: NDArray[np.int64], is_good: NDArray[np.bool_]) -> int | None:
    places = np.flatnonzero(is_good)
    return int(numbers[places[-1]]) if len(places) else None


# --- answer -------------------------------------------------------------------------------------


def _recommend(
    numbers: NDArray[np.int64],
    criteria: dict[str, NDArray[np.float64]],
    choices: dict[str, int | None],
    test: StructureTest | None,
    kind: str,
) -> tuple[int, str]:
    if test is not None and not test.has_structure:
        return 1, test.reason
    pac, peaks = criteria["pac"], choices["peaks"]
    assert peaks is not None
    k = int(np.clip(peaks, numbers[0], numbers[-1]))
    k = int(numbers[np.argmin(np.abs(numbers - k))])
    place = int(np.flatnonzero(numbers == k)[0])
    by, other = "peaks", "pac" if kind == "features" else "stability"
    stability = criteria["stability"]
    if kind == "features":
        best = int(choices["pac"] or 0)
        at_best = pac[int(np.flatnonzero(numbers == best)[0])]
        is_clear = bool(at_best <= _CLEAR)
        # Unions of clusters are stable as well: fewer clusters must be much clearer than more.
        margin = _PAC_TIE if best > k else _AMBIGUOUS
        agrees = bool(pac[place] <= at_best + margin)
    else:
        agrees = not bool(stability[place] < _most(stability) - _UNSTABLE)
        is_clear = True
    if not agrees and is_clear and choices[other] is not None:
        k, by = int(choices[other] or 0), other
        place = int(np.flatnonzero(numbers == k)[0])
    share = (
        f"{100 * pac[place]:.1f} % of the pairs are ambiguous"
        if kind == "features"
        else f"mean ARI {stability[place]:.2f}"
    )
    parts = "parts of the data" if kind == "features" else "halves of the partitions"
    if by != "peaks":
        reason = f"{k} clusters: {parts} agree best on them ({share})"
    else:
        reason = f"{k} clusters: so many dense regions are set apart"
        if agrees:
            reason += f", and {parts} agree on them ({share})"
    with_it = [name for name, choice in choices.items() if choice == k and name != by]
    with_it = [name for name in with_it if not (name == other and agrees)]
    if with_it:
        reason += f"; {_listed(with_it)} prefer{'s' * (len(with_it) == 1)} the same number"
    return k, reason + "."


def _listed(names: list[str]) -> str:
    words = [name.replace("_", " ") for name in names]
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1]


def _too_few(kind: str, n_used: int, test: StructureTest | None) -> ClusterNumbers:
    nothing = np.empty(0)
    names = (
        *("peaks", "pac", "area", "delta_area", "cophenetic"),
        *("stability", "lifetime", "laca", "msteclust"),
    )
    reason = "There are too few distinct objects to try two clusters or more."
    return ClusterNumbers(
        1,
        reason,
        np.empty(0, dtype=np.int64),
        dict.fromkeys(names, nothing),
        dict.fromkeys(names),
        np.empty((0, N_BINS + 1)),
        test,
        kind,
        n_used,
    )
