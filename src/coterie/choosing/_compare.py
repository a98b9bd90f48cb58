"""Which method: every consensus function on one ensemble, side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from numbers import Integral
from typing import Any

import numpy as np
from joblib import cpu_count, effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone

from coterie import metrics
from coterie._checks import check_integer, check_number, check_random_state
from coterie.choosing._how_many import ClusterNumbers, how_many_clusters
from coterie.choosing._text import align
from coterie.choosing._worker import Job, run_here, run_in_processes
from coterie.consensus import CONSENSUS
from coterie.ensemble import Ensemble, as_ensemble

__all__ = ["Comparison", "MethodResult", "compare"]

SCORES = ("nmi", "ari", "f", "ci", "error")
_SMALL = 60_000  # labels; below, starting processes would take longer than the work
_TIE = 0.005  # smaller differences in agreement with the ensemble do not count


@dataclass(frozen=True)
class MethodResult:
    """One method's row of a `Comparison`.

    Attributes
    ----------
    method : str
        Its name.
    status : {'ok', 'refused', 'failed', 'skipped'}
        Whether it gave a consensus. 'refused': it cannot be used here; 'failed': it broke;
        'skipped': it was stopped at the time limit.
    reason : str
        Why there is no consensus; empty if there is one.
    n_clusters : int or None
        Number of clusters.
    n_clusters_given : bool
        Whether the number was given to the method, rather than found by it.
    anmi : float or None
        Mean NMI with the partitions of the ensemble.
    stability : float or None
        Mean ARI between the consensus of one half of the partitions and that of the other.
    confidence : float or None
        Mean of `confidence_`.
    seconds : float or None
        Time of one fit, compilation not counted.
    peak_memory : int or None
        Bytes by which the process grew during the fit; None if the system does not tell.
    scores : dict or None
        NMI, ARI, F of pairs, consistency index and error rate against the truth.
    notes : list of str
        What the method warned of.
    labels : ndarray or None
        The consensus.
    object_confidence : ndarray or None
        `confidence_` of each object.

    Examples
    --------
    >>> from coterie import compare
    >>> votes = [[0, 0, 0], [0, 0, 0], [0, 1, 1], [1, 1, 1], [1, 1, 1]]
    >>> row = compare(votes, methods=["eac"], n_clusters=2, random_state=0)["eac"]
    >>> row.status, row.labels
    ('ok', array([1, 1, 0, 0, 0]))
    """

    method: str
    status: str = "ok"
    reason: str = ""
    n_clusters: int | None = None
    n_clusters_given: bool = False
    anmi: float | None = None
    stability: float | None = None
    confidence: float | None = None
    seconds: float | None = None
    peak_memory: int | None = None
    scores: dict[str, float] | None = None
    notes: list[str] = field(default_factory=list)
    labels: NDArray[np.int64] | None = field(default=None, repr=False)
    object_confidence: NDArray[np.float64] | None = field(default=None, repr=False)

    def as_dict(self, *, labels: bool = False) -> dict[str, Any]:
        """Return the row as plain data, ready for JSON."""
        known = {f.name: getattr(self, f.name) for f in fields(self) if f.repr}
        if labels:
            known["labels"] = None if self.labels is None else self.labels.tolist()
        return known


@dataclass(frozen=True)
class Comparison:
    """Result of `compare`.

    Attributes
    ----------
    rows : list of MethodResult
        Best agreement with the ensemble first; those without a consensus last.
    recommended : str or None
        The method to take, None if none gave a consensus.
    reason : str
        Why, in a sentence.
    methods : list of str
        The methods with a consensus, in the order of `agreement`.
    agreement : ndarray of shape (n_methods, n_methods)
        Adjusted Rand index of every two of them.
    n_objects, n_partitions : int
        Size of the ensemble.
    numbers : ClusterNumbers or None
        The evidence for the number of clusters, with ``n_clusters='auto'``.

    Examples
    --------
    >>> from coterie import compare
    >>> votes = [[0, 0, 0], [0, 0, 0], [0, 1, 1], [1, 1, 1], [1, 1, 1]]
    >>> result = compare(votes, methods=["eac", "voting"], n_clusters=2, random_state=0)
    >>> sorted(result.methods), result.agreement.shape
    (['eac', 'voting'], (2, 2))
    """

    rows: list[MethodResult]
    recommended: str | None
    reason: str
    methods: list[str]
    agreement: NDArray[np.float64]
    n_objects: int
    n_partitions: int
    numbers: ClusterNumbers | None = None

    def __getitem__(self, method: str) -> MethodResult:
        for row in self.rows:
            if row.method == method:
                return row
        raise KeyError(method)

    def as_dict(self, *, labels: bool = False) -> dict[str, Any]:
        """Return everything as plain data, ready for JSON; with `labels` the partitions too."""
        return {
            "n_objects": self.n_objects,
            "n_partitions": self.n_partitions,
            "recommended": self.recommended,
            "reason": self.reason,
            "leaderboard": [row.as_dict(labels=labels) for row in self.rows],
            "methods": self.methods,
            "agreement": self.agreement.tolist(),
            "numbers": None if self.numbers is None else self.numbers.as_dict(cdf=False),
        }

    def __repr__(self) -> str:
        has_scores = any(row.scores for row in self.rows)
        head = ["method", "clusters", "ANMI", "stability", "seconds"]
        head += ["NMI", "ARI"] if has_scores else []
        lines = [head]
        for row in self.rows:
            if row.status != "ok":
                lines.append([row.method, f"{row.status}: {row.reason}"])
                continue
            line = [row.method, str(row.n_clusters), _number(row.anmi), _number(row.stability)]
            line.append(_number(row.seconds, 2))
            if has_scores:
                line += [_number((row.scores or {}).get(name)) for name in ("nmi", "ari")]
            lines.append(line)
        reasons = [self.reason]
        if self.numbers is not None:
            reasons.append(self.numbers.reason)
        return "\n".join([*align(lines, n_left=1), "", *reasons])


def compare(
    X: Ensemble | ArrayLike | Any,
    truth: ArrayLike | Any = None,
    *,
    methods: Iterable[str] | Mapping[str, BaseEstimator] | None = None,
    n_clusters: int | str | ClusterNumbers | None = "auto",
    generator: Any = None,
    stability: int = 3,
    time_limit: float | None = 60.0,
    n_jobs: int | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> Comparison:
    """Run every consensus method on the same ensemble, and recommend one.

    A method that cannot be used, fails or takes too long is a row that says why.

    Parameters
    ----------
    X : Ensemble or array-like of shape (n_objects, n_partitions)
        The partitions. With a `generator`: features of shape (n_objects, n_features).
    truth : array-like of shape (n_objects,), optional
        Known classes, to score the methods with; None and NaN where not known.
    methods : iterable of names, or mapping from names to estimators, optional
        What to run. Default: all of `coterie.consensus.CONSENSUS`.
    n_clusters : int, 'auto', ClusterNumbers or None, default='auto'
        The number that methods are given. With 'auto' all get the number that `how_many_clusters`
        recommends, for the features if there are any, else for the ensemble; its result can be
        given as well. Agreement with the ensemble can only be compared between consensus
        partitions with the same number of clusters: it favours many. With None each method
        finds the number by itself, and those that cannot refuse.
    generator : transformer, optional
        Makes the ensemble from features, such as ``RandomizedEnsemble(random_state=0)``.
    stability : int, default=3
        How often the partitions are halved at random to measure stability; 0 to leave it out.
    time_limit : float or None, default=60
        Seconds that a method may take, its stability included. Methods that run in this process
        (see `n_jobs`) cannot be stopped; they only leave out the stability.
    n_jobs : int, optional
        1: methods run in this process, one after the other. Any other number: so many methods
        run at a time, each in a process that can be stopped; -1 means one per processor.
        Default: 1 for small ensembles, else -1.
    random_state : int, RandomState instance or None, default=None
        Seed of the methods with random starts, and of the halves.

    Returns
    -------
    comparison : Comparison
        The leaderboard, the agreement between methods and the recommendation. Its ``repr`` is a
        table.

    Notes
    -----
    The recommended method is the one that agrees best with the ensemble, by mean NMI: the
    supra-consensus function of [1]_. Of methods within 0.005 of the best the most stable is
    taken (to two digits), then the first in the list of methods. The truth is never looked at.

    Results do not depend on `n_jobs`, except times, memory, and what the time limit stops.

    References
    ----------
    .. [1] Strehl & Ghosh (2002), Cluster ensembles: a knowledge reuse framework for combining
       multiple partitions. JMLR 3.

    Examples
    --------
    >>> from coterie import RandomizedEnsemble, compare
    >>> from coterie.datasets import load
    >>> iris = load("iris")
    >>> maker = RandomizedEnsemble(n_partitions=20, n_clusters=(3, 8), random_state=0)
    >>> result = compare(iris.data, iris.target, generator=maker, methods=["eac", "voting"],
    ...                  n_clusters=3, random_state=0)
    >>> [row.n_clusters for row in result.rows]
    [3, 3]
    >>> result.recommended in ("eac", "voting")
    True
    """
    ensemble: Ensemble = generator.fit_transform(X) if generator is not None else as_ensemble(X)
    classes = None if truth is None else _check_truth(truth, ensemble.n_objects)
    _check_parameters(stability, time_limit, n_clusters)
    seed = int(check_random_state(random_state).randint(2**31 - 1))
    numbers = None
    if isinstance(n_clusters, ClusterNumbers):
        numbers = n_clusters
    elif n_clusters == "auto":
        seen = ensemble if generator is None else X
        numbers = how_many_clusters(seen, ensemble=ensemble, random_state=random_state)
    given = n_clusters if isinstance(n_clusters, Integral) else None
    if numbers is not None:
        given = min(numbers.recommended, ensemble.n_objects)
    jobs = _make_jobs(methods, given, stability, seed, time_limit)
    if n_jobs is None:
        n_jobs = 1 if ensemble.labels.size <= _SMALL else -1
    if n_jobs == 0:
        raise ValueError("n_jobs must be at least 1, or negative to count from all; got 0.")
    if n_jobs == 1:
        found = run_here(jobs, ensemble)
    else:
        n_workers = min(effective_n_jobs(n_jobs), len(jobs))
        found = run_in_processes(jobs, ensemble, n_workers, max(1, cpu_count() // n_workers))
    rows = [_row(job, found[job.name], ensemble, classes) for job in jobs]
    rows.sort(key=lambda row: (row.status != "ok", -round(row.anmi or 0.0, 6)))
    methods_ok = [row.method for row in rows if row.status == "ok"]
    recommended, reason = _recommend(rows)
    return Comparison(
        rows,
        recommended,
        reason,
        methods_ok,
        _agreement([row.labels for row in rows if row.labels is not None]),
        ensemble.n_objects,
        ensemble.n_partitions,
        numbers,
    )


# --- jobs ---------------------------------------------------------------------------------------


def _make_jobs(
    methods: Iterable[str] | Mapping[str, BaseEstimator] | None,
    n_clusters: Any,
    stability: int,
    seed: int,
    time_limit: float | None,
) -> list[Job]:
    """Return a job per method; parameters that an estimator has already are kept."""
    estimators: dict[str, Any] = {}
    if isinstance(methods, Mapping):
        estimators = dict(methods)
    else:
        names = list(CONSENSUS) if methods is None else list(methods)
        for name in names:
            if name not in CONSENSUS:
                raise ValueError(f"methods must be among {', '.join(CONSENSUS)}; got {name!r}.")
            # Methods that need a number have a default, which the user did not choose.
            estimators[name] = CONSENSUS[name](n_clusters=None)
    if not estimators:
        raise ValueError("methods must name at least one method.")
    jobs = []
    for name, estimator in estimators.items():
        parameters = estimator.get_params(deep=False)
        for parameter, value in (("n_clusters", n_clusters), ("random_state", seed)):
            if parameter in parameters and parameters[parameter] is None and value is not None:
                estimator = clone(estimator).set_params(**{parameter: value})
        jobs.append(Job(name, estimator, stability, seed, time_limit))
    return jobs


# --- rows ---------------------------------------------------------------------------------------


def _row(
    job: Job,
    found: dict[str, Any],
    ensemble: Ensemble,
    classes: NDArray[np.int64] | None,
) -> MethodResult:
    if found["status"] != "ok":
        return MethodResult(job.name, found["status"], found["reason"])
    labels = found["labels"]
    return MethodResult(
        job.name,
        n_clusters=found["n_clusters"],
        n_clusters_given=getattr(job.estimator, "n_clusters", None) is not None,
        anmi=metrics.anmi(labels, ensemble),
        stability=found.get("stability"),
        confidence=float(found["confidence"].mean()),
        seconds=found["seconds"],
        peak_memory=found["peak_memory"],
        scores=None if classes is None else truth_scores(classes, labels),
        notes=found["notes"],
        labels=labels,
        object_confidence=found["confidence"],
    )


def truth_scores(classes: NDArray[np.int64], labels: NDArray[np.int64]) -> dict[str, float]:
    """Return the scores against known classes, on the objects whose class is known (not -1)."""
    known = classes >= 0
    pair = classes[known], labels[known]
    return {
        "nmi": metrics.nmi(*pair),
        "ari": metrics.ari(*pair),
        "f": metrics.pairwise_f(*pair),
        "ci": metrics.consistency_index(*pair),
        "error": metrics.error_rate(*pair),
    }


def _agreement(partitions: list[NDArray[np.int64]]) -> NDArray[np.float64]:
    if not partitions:
        return np.empty((0, 0))
    return metrics.pairwise_ari(np.column_stack(partitions))


def _recommend(rows: list[MethodResult]) -> tuple[str | None, str]:
    fine = [row for row in rows if row.status == "ok" and row.anmi is not None]
    if not fine:
        return None, "No method gave a consensus; the rows say why."
    top = max(row.anmi or 0.0 for row in fine)
    near = [row for row in fine if (row.anmi or 0.0) >= top - _TIE]
    best = min(near, key=lambda row: -round(row.stability or 0.0, 2))  # the first of equal ones
    clusters = f"{best.n_clusters} cluster{'s' * (best.n_clusters != 1)}"
    reason = f"Take {best.method}: with {clusters} it agrees "
    n_near = len(near) - 1
    if n_near:
        reason += (
            f"with the partitions as well as any (mean NMI {best.anmi:.3f}; "
            f"{n_near} other{'s' * (n_near > 1)} within {_TIE})"
        )
        if best.stability is not None:
            reason += (
                f" and of these it is the most stable (ARI {best.stability:.2f} between halves)"
            )
        return best.method, reason + "."
    others = sorted((row for row in fine if row is not best), key=lambda row: -(row.anmi or 0.0))
    second = f"; the next, {others[0].method}, has {others[0].anmi:.3f}" if others else ""
    reason += f"best with the partitions (mean NMI {best.anmi:.3f}{second})"
    if best.stability is not None:
        reason += f", and ARI {best.stability:.2f} between halves of them"
    return best.method, reason + "."


def _check_truth(truth: ArrayLike, n_objects: int) -> NDArray[np.int64]:
    """Return codes, -1 where the class is not known."""
    values = np.asarray(truth, dtype=object)
    if values.ndim != 1 or len(values) != n_objects:
        raise ValueError(
            f"truth must have one class for each of the {n_objects} objects; got shape "
            f"{values.shape}."
        )
    known = np.array([value is not None and value == value for value in values], dtype=bool)
    if not known.any():
        raise ValueError("truth must name the class of at least one object; got none.")
    codes = np.full(n_objects, -1, dtype=np.int64)
    codes[known] = np.unique(values[known].astype(str), return_inverse=True)[1]
    return codes


def _check_parameters(stability: int, time_limit: float | None, n_clusters: Any) -> None:
    check_integer("stability", stability, at_least=0)
    if time_limit is not None:
        check_number("time_limit", time_limit, positive=True)
    if isinstance(n_clusters, str) and n_clusters != "auto":
        raise ValueError(f"n_clusters must be a number, 'auto' or None; got {n_clusters!r}.")
    if n_clusters is not None and not isinstance(n_clusters, str | ClusterNumbers):
        check_integer("n_clusters", n_clusters, at_least=1)


def _number(value: float | None, digits: int = 3) -> str:
    return "-" if value is None else f"{value:.{digits}f}"
