"""PEACE (Lourenço, Rota Bulò, Rebagliati, Fred, Figueiredo and Pelillo, 2013).

Memberships inside are `Y`, (K, p), as in the paper: a column per object, or per group of
identical objects (a pattern).

Identical objects may share one column. Let y_1..y_m be the memberships of m identical objects,
and h the part of the likelihood that one of them has with all other objects. The whole is
sum h(y_i) + N sum_{i<j} log y_i'y_j + const. If all take the memberships of object i it is
m h(y_i) + N m(m - 1)/2 log y_i'y_i, and the mean of this over i is at least the former, because
log y_i'y_j <= (log y_i'y_i + log y_j'y_j)/2 (Cauchy and Schwarz). So the best of the m ways to
make them equal is never worse, some optimum of the likelihood has equal columns for identical
objects, and there the gradient of a shared column is the gradient of each of its objects: the
KKT conditions are the same. `solver='auto'` makes them equal in the start and keeps them so;
`solver='paper'` has one column per object, as the paper.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from numbers import Integral, Real
from threading import Lock
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from coterie._about import BOTH_SEEN, LARGEST_MEMBERSHIP, LOURENCO, MethodWords
from coterie._labels import order_by_size
from coterie.consensus._base import BaseConsensus
from coterie.consensus._peace_blocks import Votes, coarse_optimum
from coterie.ensemble import Ensemble, narrow_columns

__all__ = ["PEACE", "Run", "gradient", "kkt_residual", "log_likelihood"]

Array = NDArray[np.float64]

SLOW = 0.7  # what a pass leaves of the gap, above which it is worth while to extrapolate
WINDOW = 10  # earlier passes that an extrapolation uses
HELD = 1 << 26  # bytes of counts that are kept rather than made afresh
PATIENCE = 3  # numbers of clusters without a better criterion before the search ends
_BLOCK = 512  # new rows placed at a time


class Problem(NamedTuple):
    """The counts of all pairs, as the kernels take them: the labels they are made from."""

    columns: NDArray[Any]
    missing: Any
    has_missing: bool
    counts: NDArray[Any]
    """Of all pairs, if they are held, else empty; of the type that counts are made in."""
    weights: Array
    """Objects per column."""

    @classmethod
    def of(
        cls, labels: NDArray[np.int32], n_codes: int, weights: Array, has_missing: bool
    ) -> Problem:
        """Return the problem of label rows."""
        from coterie._kernels.coassociation import count_dtype, missing_code

        columns = narrow_columns(labels, n_codes)
        none = np.empty((0, 0, 0), dtype=count_dtype(labels.shape[1]))
        return cls(columns, missing_code(columns), has_missing, none, weights)

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

    def holding_counts(self) -> Problem:
        """Return the same with the counts of all pairs in memory, unless they are many.

        They are small integers, so that is a fraction of a co-association matrix; making them
        afresh takes about a sixth of a pass.
        """
        from coterie._kernels.coassociation import count_matrix, observed_matrix

        matrices = [count_matrix, observed_matrix] if self.has_missing else [count_matrix]
        if len(matrices) * len(self.weights) ** 2 * self.counts.itemsize > HELD:
            return self
        return self._replace(counts=np.stack([matrix(self.columns) for matrix in matrices]))

    def mean_observations(self) -> float:
        """Return the mean over objects of sum_j N_ij, by which the tolerance is scaled."""
        from coterie._kernels.peace import observations

        votes = np.empty(len(self.weights))
        observations(*self, votes)
        return float(votes @ self.weights / self.weights.sum())

    def log_likelihood(self, Y: Array) -> float:
        """Return f(Y) over i < j."""
        from coterie._kernels.peace import likelihood

        return float(likelihood(*self, Y))

    def gradient(self, Y: Array) -> Array:
        """Return the gradients g_i, one column each."""
        from coterie._kernels.peace import gradients

        G = np.empty_like(Y)
        gradients(*self, Y, G)
        return G

    def residual(self, Y: Array) -> float:
        """Return [g_J]_U - [g_J]_V."""
        from coterie._kernels.peace import residual

        return float(residual(self.gradient(Y), Y)) if len(Y) > 1 else 0.0


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
    """Where a climb is."""

    Y: Array
    n_iter: int
    residual: float
    """Exact in the last state; before, the largest gap met in the last pass."""
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
        steps, _ = climb_one_by_one(
            *problem,
            Y,
            problem.gradient(Y),
            stop_below,
            min(Y.shape[1], max_iter - n_iter),
            True,
            no_path,
        )
        n_iter += int(steps)
        gap = problem.residual(Y)
        if steps == 0:
            break
    yield State(Y, n_iter, gap, True)


def climb_by_columns(
    problem: Problem, Y: Array, stop_below: float, max_iter: int
) -> Iterator[State]:
    """Move one column at a time to its best memberships by Newton steps; yield after each pass.

    Passes in the order of the objects end in poorer optima than the paper's order, which lets
    clusters grow around the objects that are clearest. So the first pass is as many of the
    paper's steps as there are columns. Where that leads is cheap to see in a model of hard
    clusters (`coarse_optimum`): the second step goes there, if the likelihood is not lower.

    Passes alone converge linearly, at a rate near 1. So the passes of the recent past are
    combined to guess where they lead (Anderson's extrapolation) unless they are quick anyway; the
    guess is taken only if its likelihood is not lower than that of the pass.
    """
    from coterie._kernels.peace import climb_one_by_one, gain, residual, sweep

    Y = Y.copy()
    guess = Extrapolation()
    slope, n_iter = problem.gradient(Y), 0
    gap = residual(slope, Y) if len(Y) > 1 else 0.0
    exact = True  # whether that is the gap of Y, not the largest that was met on the way
    if gap >= stop_below and max_iter > 1:
        yield State(Y, n_iter, gap, False)
        Y = Y.copy()
        _, gap = climb_one_by_one(
            *problem, Y, slope, stop_below, Y.shape[1], False, np.empty((0, 4))
        )
        n_iter, exact = 1, gap < stop_below
        if exact:
            gap = problem.residual(Y)
    if gap >= stop_below and n_iter < max_iter:
        yield State(Y, n_iter, gap, False)
        coarse = coarse_optimum(Votes.of(problem), Y)
        if gain(*problem, Y, coarse) >= 0.0:
            Y = coarse
        n_iter += 1
    while gap >= stop_below and n_iter < max_iter:
        yield State(Y, n_iter, gap, False)
        passed, before = Y.copy(), gap
        gap, n_moved = sweep(*problem, passed, 0.25 * stop_below)
        n_iter, exact = n_iter + 1, False
        if gap < stop_below or n_moved == 0:
            Y = passed
            gap, exact = problem.residual(Y), True
            if n_moved == 0:
                break
            continue
        further = guess(Y, passed)
        Y = passed
        if further is not None and gap > SLOW * before:
            if gain(*problem, passed, further) >= 0.0:
                Y = further
            else:
                guess.forget()
    yield State(Y, n_iter, gap if exact else problem.residual(Y), True)


class Extrapolation:
    """Anderson's extrapolation of a map x -> S(x), for memberships.

    Of the affine combinations of the last points x, that one is sought for which S(x) - x is
    smallest if S were linear; the same combination of the S(x) is the guess. Entries that are 0
    in S(x) stay 0, and none falls below a tenth of what it is there.
    """

    def __init__(self) -> None:
        self._last: tuple[Array, Array] | None = None
        self._moves: list[Array] = []
        self._changes: list[Array] = []

    def forget(self) -> None:
        """Start again from nothing."""
        self.__init__()  # type: ignore[misc]

    def __call__(self, x: Array, image: Array) -> Array | None:
        """Take note of S(x) = image; return the guess, None as long as there is too little."""
        from coterie._kernels.peace import products

        change = image - x
        last, self._last = self._last, (image.ravel(), change.ravel())
        if last is None:
            return None
        # The differences of S(x), and of S(x) - x, from one point to the next.
        self._moves = [*self._moves, image.ravel() - last[0]][-WINDOW:]
        self._changes = [*self._changes, change.ravel() - last[1]][-WINDOW:]
        square, right = products(np.array(self._changes), change.ravel())
        size = np.trace(square)
        if not size > 0.0:
            return None
        square[np.diag_indices_from(square)] += 1e-12 * size
        factors = np.linalg.solve(square, right)
        guess = image.ravel().copy()
        for factor, moved in zip(factors, self._moves, strict=True):
            guess -= factor * moved
        guess = np.maximum(guess.reshape(image.shape), 0.1 * image)
        total = guess.sum(axis=0)
        return guess / total if np.isfinite(total).all() else None


CLIMBS: dict[str, Callable[[Problem, Array, float, int], Iterator[State]]] = {
    "auto": climb_by_columns,
    "paper": climb_by_the_paper,
}


# --- starts ------------------------------------------------------------------------------------


class Run(NamedTuple):
    """What became of one start, as `runs_` keeps it."""

    n_clusters: int
    log_likelihood: float
    n_iter: int
    kkt_residual: float
    converged: bool


class Outcome(NamedTuple):
    """One start and where it led."""

    run: Run
    Y: Array
    history: list[tuple[int, float]]


class Progress:
    """Tells a callback how far all starts have come, whichever thread asks."""

    def __init__(self, callback: Callable[[float, int], Any] | None, total: int) -> None:
        self._callback, self._lock = callback, Lock()
        self._shares = np.zeros(total)

    def __call__(self, task: int, share: float) -> None:
        if self._callback is None:
            return
        with self._lock:
            self._shares[task] = max(self._shares[task], share)
            self._callback(float(self._shares.sum()), len(self._shares))


def draw_start(n_objects: int, n_clusters: int, seed: Any) -> Array:
    """Return columns drawn from the uniform Dirichlet distribution."""
    rng = np.random.default_rng(seed)
    return np.ascontiguousarray(rng.dirichlet(np.ones(n_clusters), size=n_objects).T)


def share_columns(ensemble: Ensemble, Y: Array) -> Array:
    """Return a column per pattern: of identical objects, the one with the best likelihood."""
    from coterie._kernels.peace import best_twin

    patterns = ensemble.patterns
    if len(patterns.counts) < ensemble.n_objects:
        Y = Y.copy()
        best_twin(*Problem.of_objects(ensemble)[:4], patterns.inverse, Y)
    first = np.empty(len(patterns.counts), dtype=np.int64)
    first[patterns.inverse[::-1]] = np.arange(ensemble.n_objects - 1, -1, -1)
    return np.ascontiguousarray(Y[:, first])


def run_start(
    problem: Problem,
    Y: Array,
    *,
    solver: str,
    stop_below: float,
    max_iter: int,
    report: Callable[[float], None],
) -> Outcome:
    """Climb from one start."""
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
        report(1.0 if state.finished else share_done(first, state.residual, stop_below))
    # Without any pair to tell apart (one cluster, one object, nothing seen) there is no gap.
    converged = state.residual < stop_below or state.residual == 0.0
    run = Run(len(Y), history[-1][1], state.n_iter, state.residual, converged)
    return Outcome(run, state.Y, history)


def share_done(first: float, now: float, stop_below: float) -> float:
    """Return how much of the way down the residual has come, in powers of ten."""
    if not 0.0 < stop_below < now < first:
        return 0.0
    return math.log(first / now) / math.log(first / stop_below)


def best_of(outcomes: list[Outcome]) -> Outcome:
    """Return the outcome of highest likelihood, the first of equal ones."""
    return max(outcomes, key=lambda outcome: outcome.run.log_likelihood)


def run_starts(
    ensemble: Ensemble,
    starts: list[Array],
    *,
    solver: str,
    tol: float,
    max_iter: int,
    callback: Callable[[float, int], Any] | None = None,
) -> list[Outcome]:
    """Climb from every start, as many at a time as there are threads; columns are of objects."""
    from numba import get_num_threads

    shared = solver == "auto"
    problem = Problem.of_patterns(ensemble) if shared else Problem.of_objects(ensemble)
    problem = problem.holding_counts()
    stop_below = tol * problem.mean_observations()
    progress = Progress(callback, len(starts))

    def run(task: int) -> Outcome:
        Y = share_columns(ensemble, starts[task]) if shared else starts[task]
        outcome = run_start(
            problem,
            Y,
            solver=solver,
            stop_below=stop_below,
            max_iter=max_iter,
            report=lambda share: progress(task, share),
        )
        if shared:
            outcome = outcome._replace(Y=outcome.Y[:, ensemble.patterns.inverse])
        return outcome

    with ThreadPoolExecutor(max(1, min(len(starts), get_num_threads()))) as pool:
        return list(pool.map(run, range(len(starts))))


# --- the number of clusters --------------------------------------------------------------------


def search_n_clusters(
    ensemble: Ensemble,
    fit: Callable[[int], list[Outcome]],
    max_clusters: int,
) -> tuple[list[Outcome], dict[int, float]]:
    """Return the starts of the number of clusters with the best criterion, and the criteria.

    Numbers are tried from 1 upwards, until the criterion has not risen for some time.
    """
    criteria: dict[int, float] = {}
    kept: list[Outcome] = []
    best, found = -math.inf, 1
    for n_clusters in range(1, max_clusters + 1):
        outcomes = fit(n_clusters)
        criteria[n_clusters] = criterion(ensemble, best_of(outcomes).run)
        if not kept or criteria[n_clusters] > best:
            best, found, kept = criteria[n_clusters], n_clusters, outcomes
        if n_clusters >= max(2, found) + PATIENCE or best == 0.0:
            break
    return kept, criteria


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


class PEACE(BaseConsensus):
    """Probabilistic evidence accumulation: soft memberships by maximum likelihood.

    Every object i has probabilities y_i of belonging to each of k clusters. The number of
    partitions that put objects i and j together is taken as binomial: of the N_ij partitions
    that saw both, each does so with probability y_i'y_j. The memberships that make the observed
    counts most likely are sought from several random starts, and the best kept [1]_.

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters k. A cluster that is no object's largest is not in `labels_`. Default:
        chosen by the criterion in Notes.
    solver : {'auto', 'paper'}, default='auto'
        'paper' is Algorithm 1: mass is moved from one cluster to another in the one object
        where that pays most, by an exact line search. 'auto' begins like that, looks for a good
        arrangement of clusters in a coarser model (two divided anew, two joined and a third
        divided), then moves all memberships of one object at a time by Newton steps and
        extrapolates from one pass over the objects to the next: the same conditions to the same
        tolerance, several times faster. Neither ever takes a step that lowers the likelihood.
        From the same start they may end in different optima.
    init : 'random' or array-like of shape (n_objects, k), default='random'
        Memberships to start from: drawn from the uniform Dirichlet distribution, or given (then
        one start; `n_clusters` must be k or None, which takes k from it).
    n_init : int, default=5
        Number of random starts.
    tol : float, default=1e-6
        A start has converged when the KKT conditions hold to this, relative to the mean number
        of votes on the pairs of an object.
    max_iter : int, default=1000000
        The most steps ('paper') or passes over the objects ('auto') of a start.
    max_clusters : int, default=20
        The largest number of clusters tried where `n_clusters` is None.
    callback : callable, optional
        Called now and then as ``callback(done, total)``: of `total` starts, `done` are behind,
        a start under way counting as a part. For a progress bar. With ``n_clusters=None`` it
        starts again for each number of clusters.
    random_state : int, RandomState or None, default=None
        Seed of the starts.

    Attributes
    ----------
    membership_ : ndarray of shape (n_objects, k)
        Probabilities of the clusters for each object; columns in the order of `labels_`, those
        of clusters without an object last.
    labels_ : ndarray of int64, shape (n_objects,)
        The cluster of largest probability, of equal ones the first. Consecutive from 0, largest
        cluster first.
    n_clusters_ : int
        Number of clusters in `labels_`.
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
        Of that start: number of iterations, and log-likelihood then. It never falls.
    runs_ : list of Run
        For every start: n_clusters, log_likelihood, n_iter, kkt_residual, converged.
    criterion_ : dict or None
        For each number of clusters tried its criterion; None where `n_clusters` was given.
    confidence_ : ndarray of shape (n_objects,)
        The largest membership of each object.
    ensemble_ : Ensemble
        What was fitted.
    n_features_in_ : int
        Number of partitions.

    Notes
    -----
    Missing labels: N_ij and the count of votes for "together" are of the partitions that saw
    both objects. An object that no partition saw has membership 1/k in every cluster.

    Memory is linear in the size of the ensemble: counts of pairs are made from the labels when
    they are needed, in small integers, and no array over pairs is kept. A pass costs
    O(p^2 (k + L)) time for p distinct label rows. Starts run on as many threads as numba has.

    The likelihood has many optima. A higher one is not always a better partition; `runs_` shows
    how much the starts differ.

    Number of clusters: 2 f / (n - 1) - n (k - 1) log(L) / 2 is maximised, f the log-likelihood
    and L the mean number of labels of an object. It is the Bayesian information criterion with
    f scaled to the number of labels, because the votes on the n (n - 1) / 2 pairs come from
    only n L labels and are far from independent. Numbers from 1 on are tried until three in a
    row were not better.

    References
    ----------
    .. [1] A. Lourenço, S. Rota Bulò, N. Rebagliati, A. Fred, M. Figueiredo and M. Pelillo,
       "Probabilistic evidence accumulation for clustering ensembles", ICPRAM 2013,
       :doi:`10.5220/0004267900580067`.

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
        "a component or label may be nobody's best: fewer clusters, with a warning",
    ) | dict.fromkeys(
        ("confidence_is_the_same_measure_for_all",), "confidence is the largest membership"
    )

    membership_: Array

    object_parameters = ("init",)
    confidence_is_membership = True
    saved_state = ("membership_",)

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
        callback: Callable[[float, int], Any] | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.solver = solver
        self.init = init
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter
        self.max_clusters = max_clusters
        self.callback = callback
        self.random_state = random_state

    def _fit(self, ensemble: Ensemble) -> NDArray[np.int64]:
        self._check_parameters()
        self.criterion_ = None
        given = None if isinstance(self.init, str) else check_init(self, self.init, ensemble)
        if given is not None:
            check_likely(ensemble, given)
            outcomes = self._climb(ensemble, [given])
        else:
            entropy = check_random_state(self.random_state).randint(0, 2**32, 4, dtype=np.uint32)

            def fit(n_clusters: int) -> list[Outcome]:
                seeds = [[*entropy, n_clusters, start] for start in range(self.n_init)]
                n = ensemble.n_objects
                if n_clusters == 1 or n == 1:  # there is but one way
                    seeds = seeds[:1]
                return self._climb(ensemble, [draw_start(n, n_clusters, seed) for seed in seeds])

            if self.n_clusters is not None:
                outcomes = fit(int(self.n_clusters))
            else:
                most = min(self.max_clusters, ensemble.n_objects)
                outcomes, self.criterion_ = search_n_clusters(ensemble, fit, most)
        return self._keep(ensemble, outcomes)

    def _climb(self, ensemble: Ensemble, starts: list[Array]) -> list[Outcome]:
        return run_starts(
            ensemble,
            starts,
            solver=self.solver,
            tol=self.tol,
            max_iter=self.max_iter,
            callback=self.callback,
        )

    def _keep(self, ensemble: Ensemble, outcomes: list[Outcome]) -> NDArray[np.int64]:
        """Set the fitted attributes from the best start; return its labels."""
        self.runs_ = [outcome.run for outcome in outcomes]
        best = best_of(outcomes)
        _, self.log_likelihood_, self.n_iter_, self.kkt_residual_, self.converged_ = best.run
        self.tolerance_ = self.tol * Problem.of_patterns(ensemble).mean_observations()
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
        return np.argmax(self.membership_, axis=1)

    def _confidence(self, ensemble: Ensemble) -> Array:
        return self.membership_.max(axis=1)

    def _check_parameters(self) -> None:
        if self.solver not in CLIMBS:
            raise ValueError(
                f"solver must be one of {', '.join(map(repr, CLIMBS))}; got {self.solver!r}."
            )
        if isinstance(self.init, str) and self.init != "random":
            raise ValueError(
                f"init must be 'random' or memberships of shape (n_objects, k); got {self.init!r}."
            )
        if not isinstance(self.tol, Real) or not self.tol >= 0:
            raise ValueError(f"tol must be a number of at least 0; got {self.tol!r}.")
        for name in ("n_init", "max_iter", "max_clusters"):
            check_positive_integer(name, getattr(self, name))

    def predict_proba(self, X: ArrayLike | Ensemble | Any) -> Array:
        """Return the memberships of new label rows.

        They maximise the same likelihood, of the pairs of each row with the objects of the fit,
        whose memberships stay as they are. (A row equal to one of these objects is another
        object, so its memberships can differ from that one's.)

        Parameters
        ----------
        X : Ensemble or array-like of shape (n_new, n_partitions)
            As for `predict`.

        Returns
        -------
        membership : ndarray of shape (n_new, k)
            Columns as in `membership_`. A row without any label gets 1/k everywhere.
        """
        check_is_fitted(self)
        return place_rows(self.ensemble_, self.membership_, self._encode(X), min(self.tol, 1e-6))

    def _predict(self, codes: NDArray[np.int32]) -> NDArray[np.int64]:
        membership = place_rows(self.ensemble_, self.membership_, codes, min(self.tol, 1e-6))
        # A cluster without an object is no answer.
        return np.argmax(membership[:, : self.n_clusters_], axis=1)


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
        place_new(*problem, Y, n, tol, 1000)
        placed[start : start + _BLOCK] = Y[:, n:].T
    return placed


def largest_cluster_first(membership: Array) -> Array:
    """Return memberships with columns in the order that their labels will have.

    Ties go to the lowest column, so another order can change labels: until nothing changes.
    """
    k = membership.shape[1]
    for _ in range(k + 1):
        labels = np.argmax(membership, axis=1)
        names = order_by_size(labels)
        used = np.empty(names.max() + 1, dtype=np.int64)
        used[names] = labels
        order = np.concatenate([used, np.setdiff1d(np.arange(k), used)])
        if np.array_equal(order, np.arange(k)):
            break
        membership = membership[:, order]
    return np.ascontiguousarray(membership)


def check_init(estimator: BaseConsensus, init: Any, ensemble: Ensemble) -> Array:
    """Return given memberships as columns, or say what is wrong with them."""
    membership = np.array(init, dtype=np.float64)
    n = ensemble.n_objects
    if membership.ndim != 2 or membership.shape[0] != n or membership.shape[1] < 1:
        raise ValueError(
            f"init must be 'random' or memberships of shape ({n}, k), one row per object; got "
            f"shape {membership.shape}."
        )
    k = membership.shape[1]
    if estimator.n_clusters is not None and estimator.n_clusters != k:
        raise ValueError(
            f"init must have n_clusters = {estimator.n_clusters} columns; got {k}. Leave "
            "n_clusters out to take it from init."
        )
    # Written so that NaN fails.
    sums = membership.sum(axis=1)
    if not (membership >= 0).all() or not (np.abs(sums - 1.0) <= 1e-6).all():
        raise ValueError(
            "init must hold probabilities: no entry negative, every row summing to 1. Divide the "
            "rows by their sums."
        )
    return np.ascontiguousarray((membership / sums[:, None]).T)


def check_likely(ensemble: Ensemble, Y: Array) -> None:
    """Refuse memberships under which what was observed is impossible."""
    if len(Y) > 1 and not np.isfinite(Problem.of_objects(ensemble).log_likelihood(Y)):
        raise ValueError(
            "init must make the ensemble possible, but it has likelihood 0: some pair that is "
            "together in a partition has no cluster in common, or some pair that is apart is "
            "wholly in one cluster. Mix a little of 1/k into init."
        )


def check_positive_integer(name: str, value: Any) -> None:
    """Refuse what is no count."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} must be an integer of at least 1; got {value!r}.")
