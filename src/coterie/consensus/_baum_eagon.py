"""Pairwise probabilistic clustering (Rota Bulò, Lourenço, Fred and Pelillo, 2010)."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from coterie._about import BOTH_SEEN, LARGEST_MEMBERSHIP, LOURENCO, MethodWords
from coterie._checks import check_random_state
from coterie.consensus._parameters import one_of
from coterie.consensus._peace import Array, Problem
from coterie.consensus._soft import (
    SoftConsensus,
    check_init,
    draw_memberships,
    largest_cluster_first,
    run_starts,
    warn_of_empty_clusters,
)
from coterie.ensemble import Ensemble

__all__ = ["BaumEagon", "GrowthRun", "factorisation_error"]

WINDOW = 10  # earlier steps that an extrapolation uses


class GrowthRun(NamedTuple):
    """Result of one start, an entry of `runs_`."""

    error: float
    n_iter: int
    converged: bool


class Growth(NamedTuple):
    """Result, memberships and errors of one start."""

    run: GrowthRun
    Y: Array
    history: list[float]


def factorisation_error(
    ensemble: Ensemble, membership: ArrayLike, *, diagonal: bool = True
) -> float:
    """Return sum_ij (S_ij - y_i'y_j)^2 over ordered pairs, S the co-association.

    Parameters
    ----------
    ensemble : Ensemble
        Partitions of n objects.
    membership : array-like of shape (n, k)
        Rows in the probability simplex.
    diagonal : bool, default=True
        Whether the n pairs of an object with itself count.

    Examples
    --------
    >>> factorisation_error(Ensemble([[0, 0], [0, 1], [1, 1]]), [[1, 0], [0.5, 0.5], [0, 1]])
    0.25
    """
    from coterie._kernels.baum_eagon import grow

    Y = np.ascontiguousarray(np.asarray(membership, dtype=np.float64).T)
    return float(grow(Problem.of_objects(ensemble), diagonal, Y)[1].sum())


class Extrapolation:
    """Anderson's extrapolation of a map x -> S(x), for memberships.

    The guess is the affine combination of the last images S(x) whose weights make S(x) - x
    smallest if S were linear. Entries that are 0 in S(x) stay 0, and none falls below a tenth of
    its value in S(x).
    """

    def __init__(self) -> None:
        self._last: tuple[Array, Array] | None = None
        self._moves: list[Array] = []
        self._changes: list[Array] = []

    def forget(self) -> None:
        """Start again from nothing."""
        self.__init__()  # type: ignore[misc]

    def __call__(self, x: Array, image: Array) -> Array | None:
        """Add the point x with S(x) = image; return the guess, None for the first point."""
        from coterie._kernels.baum_eagon import products

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


def grow_memberships(
    problem: Problem,
    Y: Array,
    *,
    solver: str,
    diagonal: bool,
    tol: float,
    max_iter: int,
    report: Callable[[int], Any] = lambda n_iter: None,
) -> Growth:
    """Repeat the growth transform until the error hardly falls; it never rises.

    With ``solver='auto'`` the recent transforms are extrapolated (Anderson, 1965; about a third
    of the time). The extrapolated memberships are kept if their error is not larger than before.
    The error comes with their transform, which is the next step, so a good guess costs nothing.
    """
    from coterie._kernels.baum_eagon import grow

    def transform(Y: Array) -> tuple[Array, float]:
        image, errors = grow(problem, diagonal, Y)
        return image, float(errors.sum())

    guess = Extrapolation()
    image, error = transform(Y)
    history, converged = [error], False
    enough = tol * Y.shape[1] ** 2
    while not converged and len(history) <= max_iter:
        further = guess(Y, image) if solver == "auto" else None
        before = history[-1]
        if further is not None:
            further_image, error = transform(further)
            if error <= before:
                Y, image = further, further_image
            else:
                guess.forget()
                further = None
        if further is None:
            Y = image
            image, error = transform(Y)
            # Convergence is judged by the transform itself: a guess may step too little.
            converged = before - error <= enough
        elif before - error <= enough:
            guess.forget()
        history.append(error)
        report(len(history) - 1)
    return Growth(GrowthRun(history[-1], len(history) - 1, converged), Y, history)


class BaumEagon(SoftConsensus):
    """Soft consensus by factorising co-association, with the transform of Baum and Eagon.

    Memberships y_i in the probability simplex are sought whose products y_i'y_j are nearest to
    the co-association S_ij in the squared error, the baseline of the PEACE paper [1]_, [2]_.
    Every step [3]_ multiplies y_ki by b_i + [Y (S - Y'Y)]_ki, b_i the number of terms in row i, and
    divides by the sum over k; the error never rises.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters k. The method does not find it by itself. A cluster that is no
        object's largest is not in `labels_`: then there are fewer, with a warning.
    solver : {'auto', 'paper'}, default='auto'
        'paper' is the transform and nothing else. 'auto' extrapolates from one transform to the
        next wherever that does not raise the error, which takes far fewer steps.
    init : 'random' or array-like of shape (n_objects, k), default='random'
        Memberships to start from: drawn from the uniform Dirichlet distribution, or given (one
        start).
    n_init : int, default=5
        Number of random starts; the one of smallest error is kept.
    diagonal : bool, default=True
        Whether the pairs of an object with itself (S_ii = 1) count: they pull memberships
        towards 0 and 1.
    tol : float, default=1e-7
        A start has converged when a step lowers its mean squared error by no more than this.
    max_iter : int, default=10000
        Largest number of steps of a start.

    Attributes
    ----------
    membership_ : ndarray of shape (n_objects, k)
        Probabilities of the clusters for each object; columns in the order of `labels_`.
    labels_ : ndarray of int64, shape (n_objects,)
        The cluster of largest probability, of equal ones the first. Consecutive from 0, largest
        cluster first.
    n_clusters_ : int
        Number of clusters in `labels_`: `n_clusters` or fewer.
    error_ : float
        Sum over ordered pairs of (S_ij - y_i'y_j)^2.
    n_iter_ : int
        Number of steps of the start that was selected.
    converged_ : bool
        Whether it converged.
    history_ : ndarray of shape (n_iter + 1, 2)
        Of that start: number of steps, and error then. It never rises.
    runs_ : list of GrowthRun
        For every start: error, n_iter, converged.
    confidence_ : ndarray of shape (n_objects,)
        The largest membership of each object.

    Warns
    -----
    UserWarning
        If some clusters are no object's best, so that there are fewer than `n_clusters`.
    ConvergenceWarning
        If the selected start did not converge in `max_iter` steps.

    Notes
    -----
    Missing labels: S_ij is the share among the partitions that saw both objects; a pair that
    none saw has no term. Memory is linear in the size of the ensemble, a step costs
    O(n^2 (k + L)) time. The transform sends memberships to 0 only in the limit.

    Prediction: the memberships of a new row minimise its squared error with the objects of the
    fit, whose memberships stay as they are.

    Examples
    --------
    >>> from coterie import BaumEagon
    >>> votes = [[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1], [1, 1, 1]]
    >>> soft = BaumEagon(n_clusters=2, random_state=0).fit(votes)
    >>> soft.labels_
    array([0, 0, 0, 1, 1, 1])
    >>> soft.membership_[2].round(1)
    array([0.7, 0.3])
    """

    about = MethodWords(
        title="Soft consensus by factorising the co-association",
        does=(
            "Gives every object memberships whose products come nearest to the co-association in "
            "the squared error."
        ),
        use=(
            "The baseline of PEACE: degrees of membership by a simpler criterion. Prefer PEACE "
            "unless you want the squared error."
        ),
        cost="Time O(p^2 (k + L)) for each step and start, memory linear in n L.",
        missing=BOTH_SEEN,
        name=(
            "a factorisation of the co-association matrix into memberships of least squared "
            "error, by the growth transform of Baum and Eagon (Lourenço et al., 2013)"
        ),
        confidence=LARGEST_MEMBERSHIP,
        references=(
            "S. Rota Bulò, A. Lourenço, A. Fred and M. Pelillo (2010). Pairwise probabilistic "
            "clustering using evidence accumulation. S+SSPR 2010. doi:10.1007/978-3-642-14980-1_38",
            LOURENCO,
            "L. E. Baum and J. A. Eagon (1967). An inequality with applications to statistical "
            "estimation for probabilistic functions of Markov processes and to a model for "
            "ecology. Bulletin of the American Mathematical Society, 73, 360-363.",
        ),
    )
    exceptions = (
        dict.fromkeys(
            ("every_number_of_clusters", "two_objects"),
            "a cluster may be the best of no object: fewer clusters, with a warning",
        )
        | dict.fromkeys(
            ("unanimous_partitions_leave_no_doubt",), "memberships reach 0 and 1 only in the limit"
        )
        | dict.fromkeys(
            ("confidence_is_the_same_measure_for_all",), "confidence is the largest membership"
        )
    )

    finds_n_clusters = False
    objective = "squared error"

    n_clusters: int
    membership_: Array

    object_parameters = ("init",)
    confidence_is_membership = True
    saved_state = ("membership_",)

    rules: ClassVar = {"solver": one_of("auto", "paper"), "diagonal": one_of(False, True)}

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        solver: Literal["auto", "paper"] = "auto",
        init: str | ArrayLike = "random",
        n_init: int = 5,
        diagonal: bool = True,
        tol: float = 1e-7,
        max_iter: int = 10_000,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.solver = solver
        self.init = init
        self.n_init = n_init
        self.diagonal = diagonal
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit(self, ensemble: Ensemble) -> NDArray[np.int64]:
        given = check_init(self.init, self.n_clusters, ensemble.n_objects)
        if given is not None:
            starts = [given]
        else:
            entropy = check_random_state(self.random_state).randint(0, 2**32, 4, dtype=np.uint32)
            k, n = int(self.n_clusters), ensemble.n_objects
            starts = [draw_memberships(n, k, [*entropy, k, start]) for start in range(self.n_init)]
        problem = Problem.of_objects(ensemble)

        def run(start: int, report: Callable[[float], None]) -> Growth:
            return grow_memberships(
                problem,
                starts[start],
                solver=self.solver,
                diagonal=self.diagonal,
                tol=self.tol,
                max_iter=self.max_iter,
                report=lambda n_iter: report(n_iter / self.max_iter),
            )

        return self._keep(run_starts(len(starts), run))

    def _keep(self, found: list[Growth]) -> NDArray[np.int64]:
        """Set the fitted attributes from the start of smallest error; return its labels."""
        self.runs_ = [growth.run for growth in found]
        best = min(found, key=lambda growth: growth.run.error)
        self.error_, self.n_iter_, self.converged_ = best.run
        self.history_ = np.column_stack([np.arange(len(best.history)), best.history])
        if not self.converged_:
            warnings.warn(
                f"BaumEagon stopped after {self.n_iter_} steps while its error still falls. Raise "
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

    def _predict(self, codes: NDArray[np.int32]) -> NDArray[np.int64]:
        return np.argmax(self._memberships(codes)[:, : self.n_clusters_], axis=1)

    def _memberships(self, codes: NDArray[np.int32]) -> Array:
        """Minimise |s - M y|^2 over the simplex for each row, s its co-association."""
        from coterie._kernels.baum_eagon import fit_rows
        from coterie._kernels.coassociation import count_block, count_dtype, observe_block

        ensemble, M = self.ensemble_, np.ascontiguousarray(self.membership_.T)
        placed = np.full((len(codes), len(M)), 1.0 / len(M))
        n = ensemble.n_objects
        step = max(1, (1 << 24) // n)
        for start in range(0, len(codes), step):
            rows = codes[start : start + step]
            labels = np.vstack([ensemble.labels, rows])
            problem = Problem.of(
                labels, int(ensemble.n_clusters.max()) + 1, np.ones(len(labels)), True
            )
            new = np.arange(n, len(labels))
            together = np.empty((len(rows), len(labels)), dtype=count_dtype(ensemble.n_partitions))
            observed = np.empty_like(together)
            count_block(problem.columns, problem.missing, new, together)
            observe_block(problem.columns, problem.missing, new, observed)
            fit_rows(together, observed, M, placed[start : start + step])
        return placed
