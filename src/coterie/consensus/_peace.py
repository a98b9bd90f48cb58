"""PEACE (Lourenço, Rota Bulò, Rebagliati, Fred, Figueiredo and Pelillo, 2013).

Memberships inside are `Y`, (K, p), as in the paper: a column per object, or per group of
identical objects (a pattern).

Identical objects may share one column. Let y_1..y_m be the memberships of m identical objects,
and h the part of the likelihood that one of them has with all other objects. The whole is
sum h(y_i) + N sum_{i<j} log y_i'y_j + const. If all take the memberships of object i it is
m h(y_i) + N m(m - 1)/2 log y_i'y_i, and the mean of this over i is at least the former, because
log y_i'y_j <= (log y_i'y_i + log y_j'y_j)/2 (Cauchy and Schwarz). So some optimum of the
likelihood has equal columns for identical objects, and there the gradient of a shared column is
the gradient of each of its objects: the KKT conditions are the same. `solver='auto'` shares
columns wherever the start does; `solver='paper'` has one column per object, as the paper.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from coterie._about import BOTH_SEEN, LARGEST_MEMBERSHIP, LOURENCO, MethodWords
from coterie._checks import check_random_state
from coterie._labels import first_appearance
from coterie.consensus._curve import ClusterNumberCurve
from coterie.consensus._parameters import one_of
from coterie.consensus._soft import (
    SoftConsensus,
    check_init,
    draw_memberships,
    draw_seeds,
    largest_cluster_first,
    run_starts,
    soften,
    warn_of_empty_clusters,
)
from coterie.ensemble import Ensemble, compact_codes

__all__ = ["PEACE", "Run", "gradient", "kkt_residual", "log_likelihood"]

Array = NDArray[np.float64]

PATIENCE = 3  # numbers of clusters without a better criterion before the search ends
_BLOCK = 512  # new rows placed at a time


class Problem(NamedTuple):
    """The counts of all pairs, as the kernels take them: the labels they are made from."""

    columns: NDArray[Any]
    """(L, p) compact codes."""
    missing: Any
    """The code that means missing."""
    has_missing: bool
    weights: Array
    """Objects per column."""
    count_type: NDArray[Any]
    """An empty array of the type in which partitions are counted."""

    @classmethod
    def of(
        cls, labels: NDArray[np.int32], n_codes: int, weights: Array, has_missing: bool
    ) -> Problem:
        """Return the problem of label rows."""
        from coterie._kernels.coassociation import count_dtype, missing_code

        columns = compact_codes(labels, n_codes)
        count_type = np.empty(0, dtype=count_dtype(labels.shape[1]))
        return cls(columns, missing_code(columns), has_missing, weights, count_type)

    @classmethod
    def of_objects(cls, ensemble: Ensemble) -> Problem:
        """Return the problem with a column per object."""
        n_codes = int(ensemble.n_clusters.max())
        return cls.of(ensemble.labels, n_codes, np.ones(len(ensemble)), ensemble.has_missing)

    @classmethod
    def of_patterns(cls, ensemble: Ensemble) -> Problem:
        """Return the problem with a column per distinct label row."""
        patterns = ensemble.patterns
        n_codes = int(ensemble.n_clusters.max())
        weights = patterns.counts.astype(np.float64)
        return cls.of(patterns.labels, n_codes, weights, ensemble.has_missing)

    def log_likelihood(self, Y: Array) -> float:
        """Return f(Y) over i < j."""
        from coterie._kernels.peace import likelihood

        return float(likelihood(self, Y))

    def gradient(self, Y: Array) -> Array:
        """Return the gradients g_i, one column each."""
        from coterie._kernels.peace import gradients

        G: Array = gradients(self, Y)
        return G

    def residual(self, Y: Array) -> float:
        """Return [g_J]_U - [g_J]_V."""
        from coterie._kernels.peace import steepest

        return float(steepest(self.gradient(Y), Y)[0]) if len(Y) > 1 else 0.0


def mean_observations(ensemble: Ensemble) -> float:
    """Return the mean over objects of sum_j N_ij, by which the tolerance is scaled."""
    seen = (ensemble.labels >= 0).sum(axis=0).astype(np.float64)
    return float((seen * (seen - 1.0)).sum()) / ensemble.n_objects


# --- the likelihood of given memberships -------------------------------------------------------


def log_likelihood(ensemble: Ensemble, membership: ArrayLike) -> float:
    """Return the log-likelihood (2) of memberships, over i < j, without binomial coefficients.

    Parameters
    ----------
    ensemble : Ensemble
        Partitions of n objects.
    membership : array-like of shape (n, k)
        Rows in the probability simplex.

    Examples
    --------
    >>> ensemble = Ensemble([[0, 0], [0, 1], [1, 1]])
    >>> round(log_likelihood(ensemble, [[1, 0], [0.5, 0.5], [0, 1]]), 6)
    -2.772589
    """
    Y = np.ascontiguousarray(np.asarray(membership, dtype=np.float64).T)
    return Problem.of_objects(ensemble).log_likelihood(Y)


def gradient(ensemble: Ensemble, membership: ArrayLike) -> Array:
    """Return the gradients g_i of memberships, shape (n, k): of the sum over the pairs of i.

    Parameters
    ----------
    ensemble : Ensemble
        Partitions of n objects.
    membership : array-like of shape (n, k)
        Rows in the probability simplex, of finite likelihood.
    """
    Y = np.ascontiguousarray(np.asarray(membership, dtype=np.float64).T)
    return Problem.of_objects(ensemble).gradient(Y).T


def kkt_residual(ensemble: Ensemble, membership: ArrayLike) -> float:
    """Return [g_J]_U - [g_J]_V of Proposition 1, which is 0 where the KKT conditions hold.

    Parameters
    ----------
    ensemble : Ensemble
        Partitions of n objects.
    membership : array-like of shape (n, k)
        Rows in the probability simplex, of finite likelihood.
    """
    Y = np.ascontiguousarray(np.asarray(membership, dtype=np.float64).T)
    return Problem.of_objects(ensemble).residual(Y)


# --- climbing ----------------------------------------------------------------------------------


class State(NamedTuple):
    """State of an ascent."""

    Y: Array
    n_iter: int
    residual: float
    """Exact in the last state; before, with 'auto', the largest gap met in the last pass."""
    finished: bool


def climb_by_the_paper(
    problem: Problem, Y: Array, stop_below: float, max_iter: int
) -> Iterator[State]:
    """Algorithm 1: one pair of coordinates at a time; yield after every n steps.

    The gradients are kept up to date at O(nK) for a step, and made afresh after every n steps,
    so that rounding does not add up.
    """
    from coterie._kernels.peace import climb_one_by_one

    Y = Y.copy()
    n_iter = 0
    no_path = np.empty((0, 4))
    gap = problem.residual(Y)
    while gap >= stop_below and n_iter < max_iter:
        yield State(Y, n_iter, gap, False)
        n_steps = min(Y.shape[1], max_iter - n_iter)
        steps = climb_one_by_one(problem, Y, problem.gradient(Y), stop_below, n_steps, no_path)
        n_iter += int(steps)
        gap = problem.residual(Y)
        if steps == 0:
            break
    yield State(Y, n_iter, gap, True)


def climb_by_columns(
    problem: Problem, Y: Array, stop_below: float, max_iter: int
) -> Iterator[State]:
    """Move one column at a time to its best memberships by Newton steps; yield after each pass."""
    from coterie._kernels.peace import sweep

    Y = Y.copy()
    n_iter, n_moved = 0, 1
    gap = problem.residual(Y)
    while gap >= stop_below and n_iter < max_iter and n_moved > 0:
        yield State(Y, n_iter, gap, False)
        gap, n_moved = sweep(problem, Y, 0.25 * stop_below)
        n_iter += 1
        if gap < stop_below:  # as met in the pass: later moves can have raised it
            gap = problem.residual(Y)
    yield State(Y, n_iter, problem.residual(Y), True)


CLIMBS: dict[str, Callable[[Problem, Array, float, int], Iterator[State]]] = {
    "auto": climb_by_columns,
    "paper": climb_by_the_paper,
}


class Run(NamedTuple):
    """Result of one start, an entry of `runs_`."""

    n_clusters: int
    log_likelihood: float
    n_iter: int
    kkt_residual: float
    converged: bool


class Outcome(NamedTuple):
    """Result, memberships and history of one start."""

    run: Run
    Y: Array
    history: list[tuple[int, float]]


def run_start(
    problem: Problem,
    Y: Array,
    *,
    solver: str,
    stop_below: float,
    max_iter: int,
    report: Callable[[float], None],
) -> Outcome:
    """Maximise the likelihood from one start."""
    if len(Y) == 1:  # a draw from the simplex of one can be a rounding error away from 1
        Y = np.ones_like(Y)
    history: list[tuple[int, float]] = []
    first = math.nan
    for turn, state in enumerate(CLIMBS[solver](problem, Y, stop_below, max_iter)):
        # At the powers of two: the likelihood rises in the beginning, and costs half a pass.
        if state.finished or solver == "paper" or turn & (turn - 1) == 0:
            history.append((state.n_iter, problem.log_likelihood(state.Y)))
        if turn == 0:
            first = state.residual
        report(share_done(first, state.residual, stop_below))
    # Without any pair to tell apart (one cluster, one object, nothing seen) there is no gap.
    converged = state.residual < stop_below or state.residual == 0.0
    run = Run(len(Y), history[-1][1], state.n_iter, state.residual, converged)
    return Outcome(run, state.Y, history)


def share_done(first: float, now: float, stop_below: float) -> float:
    """Return the share of orders of magnitude by which the residual has to fall that is done."""
    if not 0.0 < stop_below < now < first:
        return 0.0
    return math.log(first / now) / math.log(first / stop_below)


def best_of(outcomes: list[Outcome]) -> Outcome:
    """Return the outcome of highest likelihood, the first of equal ones."""
    return max(outcomes, key=lambda outcome: outcome.run.log_likelihood)


# --- the number of clusters --------------------------------------------------------------------


def search_n_clusters(
    ensemble: Ensemble,
    fit: Callable[[int], list[Outcome]],
    max_clusters: int,
) -> tuple[list[Outcome], ClusterNumberCurve]:
    """Return the starts of the number of clusters with the best criterion, and the criteria.

    Numbers are tried from 1 upwards, until the criterion has not risen for some time.
    """
    criteria: list[float] = []
    kept: list[Outcome] = []
    best, found = -math.inf, 1
    for n_clusters in range(1, max_clusters + 1):
        outcomes = fit(n_clusters)
        criteria.append(criterion(ensemble, best_of(outcomes).run))
        if not kept or criteria[-1] > best:
            best, found, kept = criteria[-1], n_clusters, outcomes
        if n_clusters >= max(2, found) + PATIENCE or best == 0.0:
            break
    values = np.array(criteria)
    return kept, ClusterNumberCurve("criterion", 1, values, larger_is_better=True)


def criterion(ensemble: Ensemble, run: Run) -> float:
    """Return the penalised likelihood by which the number of clusters is chosen.

    A label of an object takes part in the votes on n - 1 pairs, and each pair has two objects,
    so a vote on a pair is worth 2 / (n - 1) of an independent observation: the likelihood of
    all pairs is scaled by that. Then every object has as many observations as partitions saw
    it, and k - 1 free memberships, and the penalty is that of the Bayesian information
    criterion.
    """
    n = ensemble.n_objects
    n_labels = float((ensemble.labels >= 0).sum()) / n
    information = 2.0 * run.log_likelihood / max(n - 1, 1)
    return information - 0.5 * n * (run.n_clusters - 1) * math.log(max(n_labels, 1.0))


class PEACE(SoftConsensus):
    """Probabilistic evidence accumulation: soft memberships by maximum likelihood.

    Every object i has probabilities y_i of belonging to each of k clusters. The number of
    partitions that put objects i and j together is taken as binomial: of the N_ij partitions
    that saw both, each does so with probability y_i'y_j. The memberships that make the observed
    counts most likely are sought from several random starts, and the best kept [1]_.

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters k. A cluster that is no object's largest is not in `labels_`: then
        there are fewer, with a warning. Default: chosen by the criterion in Notes.
    solver : {'auto', 'paper'}, default='auto'
        'paper' is Algorithm 1: mass is moved from one cluster to another in the one object
        where that pays most, by an exact line search. 'auto' moves all memberships of one object
        at a time by a Newton step, in passes over the objects: the same conditions to the same
        tolerance, many times faster. Neither ever takes a step that lowers the likelihood. From
        the same start they may end in different optima.
    init : 'random' or array-like of shape (n_objects, k), default='random'
        Memberships to start from. 'random' with 'paper': drawn from the uniform Dirichlet
        distribution, as in the paper. 'random' with 'auto': k objects are drawn far apart, and
        every object has half of its mass with the nearest of them, half spread over all
        clusters. Given memberships make one start; `n_clusters` must be k or None, which takes
        k from them.
    n_init : int, default=5
        Number of random starts; the one of highest likelihood is kept.
    tol : float, default=1e-6
        A start has converged when the KKT conditions hold to this, relative to the mean number
        of votes on the pairs of an object.
    max_iter : int, default=1000000
        Largest number of steps ('paper') or passes over the objects ('auto') of a start.
    max_clusters : int, default=20
        The largest number of clusters tried where `n_clusters` is None.

    Attributes
    ----------
    membership_ : ndarray of shape (n_objects, k)
        Probabilities of the clusters for each object; columns in the order of `labels_`, those
        of clusters without an object last.
    labels_ : ndarray of int64, shape (n_objects,)
        The cluster of largest probability, of equal ones the first. Consecutive from 0, largest
        cluster first.
    n_clusters_ : int
        Number of clusters in `labels_`: `n_clusters` or fewer.
    log_likelihood_ : float
        Of the memberships, over pairs i < j, without binomial coefficients.
    kkt_residual_ : float
        How far the memberships are from the KKT conditions: the largest difference over objects
        between the gradient's largest entry and its smallest where there is mass,
        [g_J]_U - [g_J]_V.
    tolerance_ : float
        What `kkt_residual_` had to fall below: `tol` times the mean over i of sum_j N_ij.
    n_iter_ : int
        Number of steps ('paper') or passes ('auto') of the start that was selected.
    converged_ : bool
        Whether that start converged.
    history_ : ndarray of shape (m, 2)
        Of that start: number of iterations, and log-likelihood then. It never falls. With
        'auto' it is computed after 0, 1, 2, 4, 8, ... passes and at the end.
    runs_ : list of Run
        For every start: n_clusters, log_likelihood, n_iter, kkt_residual, converged.
    n_clusters_curve_ : mapping or None
        Penalised log-likelihood by the number of clusters, for those tried; the largest is best.
        None where `n_clusters` was given.
    confidence_ : ndarray of shape (n_objects,)
        The largest membership of each object.

    Warns
    -----
    UserWarning
        If some clusters are no object's best, so that there are fewer than `n_clusters`.
    ConvergenceWarning
        If the selected start did not converge in `max_iter` iterations.

    Notes
    -----
    Missing labels: N_ij and the count of votes for "together" are of the partitions that saw
    both objects. An object that no partition saw has membership 1/k in every cluster.

    Memory is linear in the size of the ensemble: counts of pairs are made from the labels when
    they are needed, in small integers, and no array over pairs is kept. A pass costs
    O(p^2 (k + L)) time for p distinct label rows. Starts run on as many threads as numba has.

    Many clusters: memberships have n (k - 1) free values, and there are n (n - 1) / 2 pairs of
    objects. With k > (n + 1) / 2 there are more values than pairs, so that the likelihood no
    longer determines the memberships, and most clusters stay empty.

    The likelihood has many optima. A higher one is not always a better partition; `runs_` shows
    how much the starts differ.

    Number of clusters: 2 f / (n - 1) - n (k - 1) log(L) / 2 is maximised, f the log-likelihood
    and L the mean number of labels of an object. It is the Bayesian information criterion with
    f scaled to the number of labels, because the votes on the n (n - 1) / 2 pairs come from
    only n L labels and are far from independent. Numbers from 1 on are tried until three in a
    row were not better.

    Examples
    --------
    >>> from coterie import PEACE
    >>> votes = [[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1], [1, 1, 1]]
    >>> peace = PEACE(n_clusters=2, random_state=0).fit(votes)
    >>> peace.labels_
    array([0, 0, 0, 1, 1, 1])
    >>> peace.membership_.round(2)
    array([[1.  , 0.  ],
           [1.  , 0.  ],
           [0.67, 0.33],
           [0.  , 1.  ],
           [0.  , 1.  ],
           [0.  , 1.  ]])
    >>> peace.predict_proba([[1, 1, 0]]).round(2)
    array([[0.31, 0.69]])
    """

    objective = "log-likelihood"

    about = MethodWords(
        title="Probabilistic evidence accumulation",
        does=(
            "Gives every object probabilities of belonging to each cluster, such that the votes "
            "of the partitions on all pairs are most likely. The best of several random starts is"
            " kept."
        ),
        use=(
            "When you want degrees of membership, for objects between clusters. Slower than "
            "methods that give labels only; starts can end in different optima (runs_)."
        ),
        cost=(
            "Time O(p^2 (k + L)) for each of some tens of passes and each start; memory linear in"
            " n L."
        ),
        missing=BOTH_SEEN,
        name=(
            "probabilistic evidence accumulation (PEACE; Lourenço et al., 2013): memberships of "
            "maximum likelihood, the number of partitions that put two objects together being "
            "binomial"
        ),
        number=(
            "the one that maximises a Bayesian information criterion on the scale of the labels"
        ),
        confidence=LARGEST_MEMBERSHIP,
        references=(LOURENCO,),
    )
    exceptions = dict.fromkeys(
        ("every_number_of_clusters", "two_objects"),
        "a cluster may be the best of no object: fewer clusters, with a warning",
    ) | dict.fromkeys(
        ("confidence_is_the_same_measure_for_all",), "confidence is the largest membership"
    )

    membership_: Array

    object_parameters = ("init",)
    confidence_is_membership = True
    saved_state = ("membership_",)

    rules: ClassVar = {"solver": one_of("auto", "paper")}

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        solver: Literal["auto", "paper"] = "auto",
        init: str | ArrayLike = "random",
        n_init: int = 5,
        tol: float = 1e-6,
        max_iter: int = 1_000_000,
        max_clusters: int = 20,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.solver = solver
        self.init = init
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter
        self.max_clusters = max_clusters
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit(self, ensemble: Ensemble) -> NDArray[np.int64]:
        self.n_clusters_curve_ = None
        self.tolerance_ = self.tol * mean_observations(ensemble)
        given = check_init(self.init, self.n_clusters, ensemble.n_objects)
        entropy = check_random_state(self.random_state).randint(0, 2**32, 4, dtype=np.uint32)
        if given is not None:
            check_likely(ensemble, given)
            outcomes = self._climb(ensemble, [given])
        elif self.n_clusters is not None:
            outcomes = self._fit_k(ensemble, int(self.n_clusters), entropy)
        else:
            outcomes, self.n_clusters_curve_ = search_n_clusters(
                ensemble,
                lambda k: self._fit_k(ensemble, k, entropy),
                min(self.max_clusters, ensemble.n_objects),
            )
        return self._keep(outcomes)

    def _fit_k(self, ensemble: Ensemble, k: int, entropy: NDArray[np.uint32]) -> list[Outcome]:
        """Climb from random starts with k clusters."""
        n = ensemble.n_objects
        n_starts = 1 if k == 1 else self.n_init
        seeds = [[*entropy, k, start] for start in range(n_starts)]
        if self.solver == "paper":
            return self._climb(ensemble, [draw_memberships(n, k, seed) for seed in seeds])
        starts = [draw_seeds(ensemble, k, np.random.default_rng(seed)) for seed in seeds]
        inverse = ensemble.patterns.inverse
        return self._climb(ensemble, [soften(labels[inverse], k) for labels in starts])

    def _climb(self, ensemble: Ensemble, starts: list[Array]) -> list[Outcome]:
        """Climb from every start; columns are of objects."""
        inverse = ensemble.patterns.inverse
        first = first_appearance(inverse, len(ensemble.patterns.counts))
        # Identical objects share a column if they do so in every start.
        shared = self.solver == "auto" and all((Y[:, first[inverse]] == Y).all() for Y in starts)
        problem = Problem.of_patterns(ensemble) if shared else Problem.of_objects(ensemble)

        def run(start: int, report: Callable[[float], None]) -> Outcome:
            Y = starts[start]
            outcome = run_start(
                problem,
                np.ascontiguousarray(Y[:, first]) if shared else Y,
                solver=self.solver,
                stop_below=self.tolerance_,
                max_iter=self.max_iter,
                report=report,
            )
            return outcome._replace(Y=outcome.Y[:, inverse]) if shared else outcome

        found: list[Outcome] = run_starts(len(starts), run)
        return found

    def _keep(self, outcomes: list[Outcome]) -> NDArray[np.int64]:
        """Set the fitted attributes from the best start; return its labels."""
        self.runs_ = [outcome.run for outcome in outcomes]
        best = best_of(outcomes)
        _, self.log_likelihood_, self.n_iter_, self.kkt_residual_, self.converged_ = best.run
        self.history_ = np.array(best.history)
        if not self.converged_:
            warnings.warn(
                f"PEACE stopped after {self.n_iter_} iterations with a KKT residual of "
                f"{self.kkt_residual_:.3g}, above the tolerance of {self.tolerance_:.3g}. Raise "
                "max_iter or tol.",
                ConvergenceWarning,
                stacklevel=4,
            )
        self.membership_ = largest_cluster_first(np.minimum(best.Y.T, 1.0))  # rounding can pass 1
        labels = np.argmax(self.membership_, axis=1)
        warn_of_empty_clusters(self, int(labels.max()) + 1)
        return labels

    def _confidence(self, ensemble: Ensemble) -> Array:
        return self.membership_.max(axis=1)

    def _memberships(self, codes: NDArray[np.int32]) -> Array:
        # Those of highest likelihood of the pairs of each row with the objects of the fit.
        return place_rows(self.ensemble_, self.membership_, codes, min(self.tol, 1e-6))

    def _predict(self, codes: NDArray[np.int32]) -> NDArray[np.int64]:
        # A cluster without an object is no answer.
        return np.argmax(self._memberships(codes)[:, : self.n_clusters_], axis=1)


def place_rows(
    ensemble: Ensemble, membership: Array, codes: NDArray[np.int32], tol: float
) -> Array:
    """Return the memberships of new label rows, given those of the objects of an ensemble."""
    from coterie._kernels.peace import place_new

    k = membership.shape[1]
    placed = np.full((len(codes), k), 1.0 / k)
    if k == 1:
        return placed
    # Identical objects can have different memberships ('paper'), so there is a column for each.
    known, n = ensemble.labels, ensemble.n_objects
    for start in range(0, len(codes), _BLOCK):
        rows = codes[start : start + _BLOCK]
        weights = np.concatenate([np.ones(n), np.zeros(len(rows))])
        problem = Problem.of(
            np.vstack([known, rows]), int(ensemble.n_clusters.max()) + 1, weights, True
        )
        Y = np.vstack([membership, placed[start : start + _BLOCK]])
        Y = np.ascontiguousarray(Y.T)
        place_new(problem, Y, n, tol, 1000)
        placed[start : start + _BLOCK] = Y[:, n:].T
    return placed


def check_likely(ensemble: Ensemble, Y: Array) -> None:
    """Raise ValueError if the votes are impossible under these memberships."""
    if len(Y) > 1 and not np.isfinite(Problem.of_objects(ensemble).log_likelihood(Y)):
        raise ValueError(
            "init must make the ensemble possible, but it has likelihood 0: some pair that is "
            "together in a partition has no cluster in common, or some pair that is apart is "
            "wholly in one cluster. Mix a little of 1/k into init."
        )
