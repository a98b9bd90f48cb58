"""A mixture of multinomials over label vectors (Topchy, Jain and Punch, 2004 and 2005)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie._about import MethodWords
from coterie._checks import check_random_state
from coterie._graphs import most_rows
from coterie._labels import first_appearance
from coterie._progress import track_progress
from coterie.blocks import LabelBlocks, Rule, fixed_point, sample_rows, scale_for, sum_rows
from coterie.consensus._soft import (
    SoftConsensus,
    nearest_seeds,
    warn_of_empty_clusters,
)
from coterie.ensemble import Ensemble

__all__ = ["MixtureModel"]

_DIGITS = 12  # by which memberships are compared: what is equal but for rounding is a tie
_SAMPLE_SEED = 0  # of the sample that starts see where there are very many distinct rows
_IMPOSSIBLE = -700.0  # log-probability, in prediction, of what never occurred in a component


class Components(NamedTuple):
    """The parameters of a mixture, in logarithms."""

    log_weights: NDArray[np.float64]
    """(k,)."""
    log_shares: NDArray[np.float64]
    """(K, k): how probable a cluster of a partition is in each component."""


class Start(NamedTuple):
    """What one start of EM came to."""

    components: Components
    resp: NDArray[np.float64]
    """(p, k): responsibilities of the components for the distinct rows."""
    log_likelihoods: list[float]
    converged: bool


class WeightedRows(NamedTuple):
    """Distinct label rows, how many objects have each, and where clusters start in tables."""

    rows: NDArray[np.int32]
    counts: NDArray[np.int64]
    offsets: NDArray[np.int64]


def maximize(data: WeightedRows, resp: NDArray[np.float64]) -> Components:
    """Return the parameters of highest likelihood for given responsibilities."""
    from coterie._kernels.mixture import tally

    rows, counts, offsets = data
    table, totals = tally(rows, offsets, counts.astype(np.float64), resp)
    return _parameters(table, totals, counts @ resp / counts.sum(), offsets)


def _parameters(
    table: NDArray[np.float64],
    totals: NDArray[np.float64],
    weights: NDArray[np.float64],
    offsets: NDArray[np.int64],
) -> Components:
    """Return the parameters for the weight of components in clusters, partitions and in all."""
    sizes = np.diff(offsets)
    total = np.repeat(totals, sizes, axis=0)
    # A component of which the partition saw nothing: any label is as good as another.
    even = np.repeat(1.0 / sizes, sizes)[:, None]
    shares = np.where(total > 0, table / np.where(total > 0, total, 1.0), even)
    with np.errstate(divide="ignore"):
        return Components(np.log(weights), np.log(shares))


def climb(data: WeightedRows, resp: NDArray[np.float64], *, tol: float, max_iter: int) -> Start:
    """Alternate the steps of EM from given responsibilities until the likelihood stands still."""
    from coterie._kernels.mixture import expect

    rows, counts, offsets = data
    reached: list[float] = []
    for _ in range(max_iter):
        components = maximize(data, resp)
        resp, likelihood = expect(rows, offsets, *components)
        reached.append(float(counts @ likelihood))
        if len(reached) > 1 and reached[-1] - reached[-2] <= tol * counts.sum():
            return Start(components, resp, reached, True)
    return Start(components, resp, reached, False)


def climb_in_passes(
    view: Ensemble | LabelBlocks, components: Components, *, tol: float, max_iter: int
) -> Start:
    """Continue EM with all label rows, a pass over them for each step."""
    n = view.n_objects
    scale, log_scale = scale_for(n, 1.0), scale_for(n, -_IMPOSSIBLE * (view.n_partitions + 2))
    reached: list[float] = []
    converged = False
    for _ in range(max_iter):
        table, totals, weights, likelihood = sum_rows(
            view, _em_step, view.offsets, components, scale, log_scale
        )
        reached.append(float(likelihood / log_scale))
        if len(reached) > 1 and reached[-1] - reached[-2] <= tol * n:
            converged = True
            break
        found = _parameters(table / scale, totals / scale, weights / (scale * n), view.offsets)
        components = _possible(found)
    return Start(components, np.empty((0, len(components.log_weights))), reached, converged)


def _possible(components: Components) -> Components:
    """Give what never occurred in a component a very small probability."""
    return Components(*(np.maximum(values, _IMPOSSIBLE) for values in components))


def _em_step(
    rows: NDArray[np.int32],
    counts: NDArray[np.int64],
    offsets: NDArray[np.int64],
    components: Components,
    scale: float,
    log_scale: float,
) -> tuple[NDArray[np.int64], ...]:
    """Return the sums of one step in fixed point: tables, weights and log-likelihood."""
    from coterie._kernels.mixture import expect, tally

    resp, likelihood = expect(rows, offsets, *components)
    fixed = fixed_point(resp, scale)
    table, totals = tally(rows, offsets, counts, fixed)
    return table, totals, counts @ fixed, counts @ fixed_point(likelihood, log_scale)


class MostProbable(NamedTuple):
    """Puts a label row to the component that is most probable, the first of equal ones."""

    offsets: NDArray[np.int64]
    components: Components

    def __call__(self, codes: NDArray[np.int32], start: int) -> NDArray[np.int64]:
        """Return the component of each row."""
        from coterie._kernels.mixture import expect

        resp = expect(codes, self.offsets, *self.components)[0]
        return np.argmax(np.round(resp, _DIGITS), axis=1)


class MixtureModel(SoftConsensus):
    """A mixture of multinomial distributions over the label vectors, fitted by EM.

    Each object's labels are taken as independent draws, one for each partition, from the
    distributions of one of `n_clusters` components. EM finds the components of highest
    likelihood [1]_, [2]_. Time and memory for one step are linear in the number of distinct label
    rows, so that millions of objects are no trouble.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of components. The method does not find it by itself.
    n_init : int, default=10
        Number of starts; the one of highest likelihood is returned, the first of equal ones.
    tol : float, default=1e-6
        A start ends when the mean log-likelihood of an object rises by no more than this.
    max_iter : int, default=200
        Largest number of steps of one start.

    Attributes
    ----------
    labels_ : ndarray of int64, shape (n_objects,)
        The component with the highest membership. Consecutive from 0, largest cluster first.
    n_clusters_ : int
        Number of clusters found: components that are the best for some object.
    membership_ : ndarray of shape (n_objects, n_clusters)
        Probability of each component given the object's labels. Columns in the order of the
        labels; components that are the best of no object come last.
    log_likelihood_ : float
        Of the returned start. Objects count one by one, missing labels not at all.
    log_likelihoods_ : ndarray of shape (n_init,)
        Of all starts.
    n_iter_ : int
        Steps of the returned start.
    converged_ : bool
        Whether it ended before `max_iter`.
    history_ : ndarray of shape (n_iter, 2)
        Of the returned start: number of steps, and log-likelihood then. It never falls.
    confidence_ : ndarray of shape (n_objects,)
        Confidence in [0, 1]: support for the object's own cluster / (own + best other cluster).
        Not the membership: the model takes partitions as independent, so that memberships come
        out near 0 and 1 even where half of the partitions disagree.

    Warns
    -----
    UserWarning
        If some components are the best of no object: there are fewer clusters than asked for.
        This is always so with more components than distinct label rows.

    Notes
    -----
    Starts: k rows are drawn far apart as in k-means++, and each object goes to the nearest.

    Missing labels are left out of the likelihood, as is a cluster that was not seen in fitting,
    in prediction. A label that never occurred in a component rules it out; a new row that is
    ruled out everywhere goes where the fewest of its labels are impossible.

    Examples
    --------
    >>> from coterie import MixtureModel
    >>> votes = [[0, 0, 0], [0, 0, 1], [0, 0, 0], [1, 1, 1], [1, 1, 1], [1, None, 1], [1, 1, 0]]
    >>> mixture = MixtureModel(n_clusters=2, random_state=0).fit(votes)
    >>> mixture.labels_
    array([1, 1, 1, 0, 0, 0, 0])
    >>> round(mixture.log_likelihood_, 2)
    -8.94
    >>> mixture.predict_proba([[0, 0, 1], [None, None, 1]]).round(2)
    array([[0.  , 1.  ],
           [0.75, 0.25]])
    """

    about = MethodWords(
        title="Mixture of multinomials over label vectors",
        does=(
            "Takes the labels of an object as draws from the distributions of one of k "
            "components, and finds the components of highest likelihood by EM. Gives "
            "probabilities."
        ),
        use=(
            "Very many objects, a number of clusters that is known, and missing labels. "
            "Partitions are taken as independent, so probabilities come out near 0 and 1."
        ),
        cost="Time O(p K k) for each EM step, memory linear in n L.",
        missing="Left out of the likelihood.",
        name=(
            "a mixture of multinomial distributions over the labels (Topchy et al., 2004, 2005), "
            "fitted by the EM algorithm from {n_init} starts"
        ),
        references=(
            "A. Topchy, A. K. Jain and W. Punch (2004). A mixture model for clustering ensembles."
            " SIAM International Conference on Data Mining. doi:10.1137/1.9781611972740.35",
            "A. Topchy, A. K. Jain and W. Punch (2005). Clustering ensembles: models of consensus"
            " and weak partitions. IEEE Transactions on Pattern Analysis and Machine "
            "Intelligence, 27(12), 1866-1881. doi:10.1109/TPAMI.2005.237",
        ),
    )
    exceptions = dict.fromkeys(
        ("every_number_of_clusters", "two_objects"),
        "a component may be the best of no object: then there are fewer clusters, with a warning",
    )

    finds_n_clusters = False
    objective = "log-likelihood"

    n_clusters: int

    saved_state = None

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        n_init: int = 10,
        tol: float = 1e-6,
        max_iter: int = 200,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit(self, ensemble: Ensemble) -> NDArray[np.int64]:
        return self._keep(ensemble, self._maximize(ensemble))

    def _maximize(self, view: Ensemble | LabelBlocks) -> Start:
        """Return the best start; where there are very many rows, starts see a sample of them."""
        random = check_random_state(self.random_state)
        most = most_rows(self.n_clusters, self.n_clusters)
        rows, counts, is_whole = sample_rows(view, most, _SAMPLE_SEED)
        data = WeightedRows(rows, counts, view.offsets)
        best = None
        reached = []
        with track_progress("starts", self.n_init) as done:
            for _ in range(self.n_init):
                seeds = nearest_seeds(rows, counts, self.n_clusters, random)
                resp = np.eye(self.n_clusters)[seeds]
                start = climb(data, resp, tol=self.tol, max_iter=self.max_iter)
                reached.append(start.log_likelihoods[-1])
                if best is None or reached[-1] > best.log_likelihoods[-1]:
                    best = start
                done[0] += 1
        assert best is not None  # n_init is at least 1
        if not is_whole:
            components = _possible(best.components)
            best = climb_in_passes(view, components, tol=self.tol, max_iter=self.max_iter)
        self.log_likelihoods_ = np.array(reached)
        self.log_likelihood_ = best.log_likelihoods[-1]
        self.n_iter_ = len(best.log_likelihoods)
        self.converged_ = best.converged
        self.history_ = np.column_stack([np.arange(1, self.n_iter_ + 1), best.log_likelihoods])
        return best

    def _fit_blocks(self, blocks: LabelBlocks) -> tuple[Rule, int]:
        components = self._maximize(blocks).components
        return MostProbable(blocks.offsets, components), self.n_clusters

    def _keep(self, ensemble: Ensemble, best: Start) -> NDArray[np.int64]:
        """Put the components in the order of their clusters; return labels."""
        from coterie._kernels.mixture import expect

        n_components = len(best.components.log_weights)
        rows, _, inverse = ensemble.patterns
        resp = best.resp
        if len(resp) < len(rows):  # the passes do not keep it
            resp = expect(rows, ensemble.offsets, *best.components)[0]
        chosen = np.argmax(np.round(resp, _DIGITS), axis=1)[inverse]
        sizes = np.bincount(chosen, minlength=n_components)
        order = np.lexsort((first_appearance(chosen, n_components), -sizes))
        n_found = int((sizes > 0).sum())
        warn_of_empty_clusters(self, n_found)
        self._components = Components(
            best.components.log_weights[order],
            np.maximum(best.components.log_shares[:, order], _IMPOSSIBLE),
        )
        # Ties between components go by their old numbers, here and in prediction.
        self._tie_order = order
        self.membership_ = resp[:, order][inverse]
        rank = np.empty(n_components, dtype=np.int64)
        rank[order] = np.arange(n_components)
        return rank[chosen]

    def _memberships(self, codes: NDArray[np.int32]) -> NDArray[np.float64]:
        from coterie._kernels.mixture import expect

        resp: NDArray[np.float64] = expect(codes, self.ensemble_.offsets, *self._components)[0]
        return resp

    def _predict(self, codes: NDArray[np.int32]) -> NDArray[np.int64]:
        proba = self._memberships(codes)[:, : self.n_clusters_]
        by_age = np.argsort(self._tie_order[: self.n_clusters_])
        return by_age[np.argmax(np.round(proba[:, by_age], _DIGITS), axis=1)]
