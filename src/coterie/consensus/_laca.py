"""LACA, latent cluster analysis (Xie, Dong, Deng, He and Yang, 2013)."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie._about import BOTH_SEEN, MethodWords
from coterie._labels import order_by_size
from coterie._linkage import Regime, Tree
from coterie._progress import track_progress
from coterie.blocks import LabelBlocks, Rule
from coterie.consensus._base import BaseConsensus
from coterie.consensus._curve import ClusterNumberCurve
from coterie.consensus._laca_model import Model, Parameters, initial_parameters
from coterie.consensus._laca_search import improve, tree_step
from coterie.consensus._laca_tables import RowModel, TableSearch
from coterie.consensus._parameters import number, one_of
from coterie.ensemble import Ensemble

__all__ = ["LACA"]

TREE_MOST = 20_000  # distinct rows up to which solver='auto' grows the whole tree


class Step(NamedTuple):
    """One round of the algorithm, as `rounds_` keeps it."""

    n_clusters: int
    log_likelihood: float
    """Of the model of this round, at the parameters estimated from it."""
    change: float
    """How far the parameters moved: the measure of the convergence test."""
    kind: str
    """'tree', 'tables' or 'refine': how the model was found."""


class Fit(NamedTuple):
    """Where the algorithm ended."""

    model: Model
    parameters: Parameters
    """Estimated from `model`."""
    scored_with: Parameters
    """With which the last scores were made."""
    tree: Tree | None
    """On these scores."""
    history: list[Step]
    converged: bool
    best: Model
    """The model of highest likelihood of all rounds, the first of equal ones."""


class TablesFit(NamedTuple):
    """Where the algorithm ended that works on tables."""

    model: RowModel
    parameters: Parameters
    best: RowModel
    """The model of highest likelihood of all rounds, the first of equal ones."""
    history: list[Step]
    n_iter: int
    converged: bool

    def in_memory(self, ensemble: Ensemble) -> Fit:
        """Return the same with the labels of all objects."""
        model, best = self.model.in_memory(ensemble), self.best.in_memory(ensemble)
        return Fit(
            model, self.parameters, self.parameters, None, self.history, self.converged, best
        )


class Rounds:
    """The rounds of the algorithm: histories, the best model, and whether rounds repeat.

    The parameters follow from the model alone, so a model seen before means that the rounds
    between will repeat for ever: greedy merging is no exact step, and can cycle. Then the model of
    highest likelihood in the cycle is returned, not converged.
    """

    def __init__(self) -> None:
        self.history: list[Step] = []
        self.models: list[Any] = []
        self._keys: list[Any] = []

    def add(self, step: Step, model: Any, key: Any) -> None:
        """Keep a round; `key` is equal for equal models."""
        self.history.append(step)
        self.models.append(model)
        self._keys.append(key)

    def best(self, since: int = 0) -> Any:
        """Return the model of highest likelihood, the first of equal ones."""
        rounds = range(since, len(self.models))
        return self.models[max(rounds, key=lambda t: (self.history[t].log_likelihood, -t))]

    def repeated(self) -> int | None:
        """Return the round whose model the last one repeats, or None."""
        last = self._keys[-1]
        for t, other in enumerate(self._keys[:-1]):
            if np.array_equal(other, last):
                return t
        return None


def latent_clusters(
    ensemble: Ensemble,
    *,
    ess: float,
    tol: float,
    max_iter: int,
    regime: Regime = "auto",
) -> Fit:
    """Alternate between the latent model and the reliabilities until these stop changing."""
    parameters = initial_parameters(ensemble, ess)
    rounds = Rounds()
    for round_ in range(1, max_iter + 1):
        scored_with = parameters
        with track_progress(f"round {round_}"):
            model, tree = tree_step(ensemble, parameters, regime=regime)
        pairs = model.pair_counts(ensemble)
        parameters = pairs.estimate(ess)
        change = parameters.distance(scored_with)
        labels = _compact_labels(model.labels, model.n_clusters)
        step = Step(model.n_clusters, pairs.log_likelihood(parameters), change, "tree")
        rounds.add(step, labels, labels)
        if change < tol:
            break
        cycle = rounds.repeated()
        if cycle is not None:
            model = Model.of(ensemble, rounds.best(cycle).astype(np.int64))
            parameters = model.pair_counts(ensemble).estimate(ess)
            break
    best = Model.of(ensemble, rounds.best().astype(np.int64))
    converged = change < tol
    return Fit(model, parameters, scored_with, tree, rounds.history, converged, best)


def latent_clusters_by_tables(
    view: Ensemble | LabelBlocks,
    *,
    n_clusters: int | None,
    ess: float,
    tol: float,
    max_iter: int,
) -> TablesFit:
    """Do the same by passes over the label rows, and cut to a number of clusters."""
    search = TableSearch(view)
    parameters = initial_parameters(view, ess)
    model = search.first_model(parameters)
    rounds = Rounds()
    for round_ in range(1, max_iter + 1):
        scored_with = parameters
        with track_progress(f"round {round_}"):
            model = search.step(model, parameters)
        pairs = model.tables.pair_counts(view)
        parameters = pairs.estimate(ess)
        change = parameters.distance(scored_with)
        step = Step(model.n_clusters, pairs.log_likelihood(parameters), change, "tables")
        rounds.add(step, model, model.key())
        if change < tol:
            break
        cycle = rounds.repeated()
        if cycle is not None:
            model = rounds.best(cycle)
            parameters = model.tables.pair_counts(view).estimate(ess)
            break
    history, best = rounds.history, rounds.best()
    n_iter = len(history)
    if n_clusters is not None:
        model = best = search.cut(model, scored_with, n_clusters)
        pairs = model.tables.pair_counts(view)
        parameters = pairs.estimate(ess)
        distance = parameters.distance(scored_with)
        history = [*history, Step(n_clusters, pairs.log_likelihood(parameters), distance, "cut")]
    return TablesFit(model, parameters, best, history, n_iter, change < tol)


def cut_to(ensemble: Ensemble, fit: Fit, n_clusters: int, ess: float) -> Fit:
    """Return k-LACA: the last tree cut into `n_clusters`, whatever the sign of the links."""
    assert fit.tree is not None
    model = Model.of(ensemble, fit.tree.cut(n_clusters))
    pairs = model.pair_counts(ensemble)
    parameters = pairs.estimate(ess)
    step = Step(
        n_clusters,
        pairs.log_likelihood(parameters),
        parameters.distance(fit.scored_with),
        "cut",
    )
    return fit._replace(
        model=model, parameters=parameters, best=model, history=[*fit.history, step]
    )


def refined(ensemble: Ensemble, fit: Fit, *, ess: float, fixed: bool) -> Fit:
    """Raise the likelihood by local moves and unions, from the best model so far.

    With `fixed` the number of clusters stays what it is.
    """
    model = fit.best
    pairs = model.pair_counts(ensemble)
    parameters = pairs.estimate(ess)
    likelihood = pairs.log_likelihood(parameters)
    history = fit.history[-1:] if fixed else _best_so_far(fit.history)
    while True:
        moved = improve(ensemble, model, parameters, fixed=fixed)
        pairs = moved.pair_counts(ensemble)
        found = pairs.estimate(ess)
        reached = pairs.log_likelihood(found)
        # The estimates (21), (22) are shrunk towards 1/2, so a better model at the old
        # parameters can be a worse one at its own.
        if reached <= likelihood:
            return fit._replace(model=model, parameters=parameters, history=history)
        history.append(Step(moved.n_clusters, reached, found.distance(parameters), "refine"))
        model, parameters, likelihood = moved, found, reached


def likelihood_path(
    ensemble: Ensemble, tree: Tree, linkage: NDArray[np.float64], parameters: Parameters
) -> NDArray[np.float64]:
    """Return the log-likelihood of the cuts of a tree into 1, 2, ..., n clusters.

    A merge changes it by the sum of scores across the two clusters: link times pairs.
    """
    n = tree.n_objects
    sizes = np.concatenate([np.ones(n), linkage[:, 3]])
    pairs = sizes[linkage[:, 0].astype(np.int64)] * sizes[linkage[:, 1].astype(np.int64)]
    everyone_alone = Model.of(ensemble, np.zeros(n, dtype=np.int64)).pair_counts(ensemble)
    # One cluster of all has no pair apart: its pairs, taken as apart, are those of n singletons.
    alone = everyone_alone.n11 @ np.log(parameters.r) + everyone_alone.n10 @ np.log1p(-parameters.r)
    return np.concatenate([[alone], alone + np.cumsum(tree.link * pairs)])[::-1]


def _best_so_far(history: list[Step]) -> list[Step]:
    kept: list[Step] = []
    for step in history:
        if kept and step.log_likelihood < kept[-1].log_likelihood:
            best = kept[-1]
            step = Step(best.n_clusters, best.log_likelihood, step.change, step.kind)
        kept.append(step)
    return kept


def _compact_labels(labels: NDArray[np.int64], n_clusters: int) -> NDArray:
    """Return labels in a form that costs little to keep, equal for equal partitions."""
    return order_by_size(labels).astype(np.min_scalar_type(n_clusters))


class LACA(BaseConsensus):
    """Latent cluster analysis: partitions weighed by what they have shown to be worth.

    Each partition is taken as a noisy view of one latent partition. Two probabilities say how
    reliable it is: `rho_`, that it puts a pair together which is together in the latent model,
    and `r_`, that it does so for a pair which is not. The algorithm alternates between the
    latent model, by average linkage on the log-likelihood ratio of each pair, and the
    reliabilities, until they stop changing. It finds the number of clusters [1]_.

    A partition without information (``rho = r``) has no weight; one that is worse than chance
    (``rho < r``) votes against itself.

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters (k-LACA: the last tree is cut there). Default: merging stops when
        the likelihood would fall, or at two clusters.
    ess : float, default=30
        Equivalent sample size of the prior that both probabilities are 1/2.
    tol : float, default=1e-3
        The algorithm has converged when the probabilities change by less than this, summed
        over partitions.
    max_iter : int, default=100
        Largest number of rounds.
    refine : bool, default=False
        Go on from the best model of all rounds by moving single objects and joining clusters,
        whatever raises the likelihood. Never ends below the paper's algorithm.
    solver : {'auto', 'tree', 'multilevel'}, default='auto'
        'tree' is the paper's algorithm. 'multilevel' starts from groups of objects that the
        most informative partitions put together, and merges and moves by tables of labels, in time
        O(n L k) for each round and memory linear in the size of the ensemble; equal label rows
        stay together. 'auto' takes the tree up to 20,000 distinct label rows.

    Attributes
    ----------
    rho_, r_ : ndarray of shape (n_partitions,)
        Reliabilities, estimated from the returned model.
    weights_ : ndarray of shape (n_partitions, 2)
        What each partition's vote is worth: the log-likelihood ratio of a pair that it puts
        together, and of one that it puts apart. Near (0, 0): it has no influence.
    log_likelihood_ : float
        Of the returned model at `rho_` and `r_`.
    history_ : ndarray of shape (n_rounds, 2)
        Round, and log-likelihood of its model. With `refine`, of the best model so far, so that
        the log-likelihood never falls; its rounds come after the first `n_iter_`.
    rounds_ : list of Step
        For each round the number of clusters, log-likelihood, change of the parameters, and how
        the model was found.
    n_iter_ : int
        Number of rounds.
    converged_ : bool
        False if the rounds came back to an earlier model (then the best of that cycle is
        returned) or `max_iter` was reached.
    linkage_ : ndarray of shape (n_objects - 1, 4) or None
        The last tree in the format of `scipy.cluster.hierarchy`. Heights are the largest
        possible score minus the mean score of a pair; `cut_height_` is the height of score 0,
        where merging stops. None if there was no tree ('multilevel').
    cut_height_ : float or None
        See `linkage_`.
    n_clusters_curve_ : mapping or None
        Log-likelihood of the last tree cut into 1, 2, ..., n_objects clusters, at the parameters
        that it was made with, by the number of clusters; the largest is best. None if there was
        no tree.

    Notes
    -----
    Missing labels: a partition scores a pair only if it saw both objects, and its
    probabilities are estimated from such pairs.

    Examples
    --------
    >>> from coterie import LACA
    >>> good = [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]
    >>> bad = [0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2]
    >>> votes = list(zip(good, good, good, bad))
    >>> laca = LACA(ess=1).fit(votes)
    >>> laca.labels_
    array([0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2])
    >>> laca.weights_[:, 0].round(1)
    array([ 4.6,  4.6,  4.6, -0.5])
    """

    about = MethodWords(
        title="Latent cluster analysis",
        does=(
            "Takes every partition for a noisy view of one hidden partition, and learns how "
            "reliable each is: how often it joins what belongs together (rho) and what does not "
            "(r). Good partitions then count more, useless ones not at all, and misleading ones "
            "against themselves. Learning and clustering alternate until nothing changes."
        ),
        use=(
            "A good first choice: it needs no number of clusters and is robust to bad partitions. "
            "With a handful of partitions there is little to learn reliability from. refine=True "
            "raises the likelihood further."
        ),
        cost=(
            "Time O(p^2 L) for each of a few rounds up to 20,000 distinct objects, O(n L k) "
            "beyond (solver='multilevel'); memory linear in n L."
        ),
        missing=BOTH_SEEN,
        name=(
            "latent cluster analysis (LACA; Xie et al., 2013): a latent partition of maximum "
            "likelihood, each partition of the ensemble having two probabilities of its own, to "
            "put together what belongs together and to put together what does not"
        ),
        number="the one at which merging any two clusters would lower the likelihood",
        references=(
            "Z. Xie, R. Dong, Z. Deng, Z. He and W. Yang (2013). A probabilistic approach to "
            "latent cluster analysis. Proceedings of the 23rd International Joint Conference on "
            "Artificial Intelligence (IJCAI).",
        ),
    )

    saved_state = ("rho_", "r_")
    objective = "log-likelihood"
    rules: ClassVar = {
        "ess": number(positive=True),  # 0 could give a partition infinite weight
        "refine": one_of(False, True),
        "solver": one_of("auto", "tree", "multilevel"),
    }

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        ess: float = 30,
        tol: float = 1e-3,
        max_iter: int = 100,
        refine: bool = False,
        solver: Literal["auto", "tree", "multilevel"] = "auto",
        regime: Regime = "auto",
        memory_limit: int | str | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.ess = ess
        self.tol = tol
        self.max_iter = max_iter
        self.refine = refine
        self.solver = solver
        self.regime = regime
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs

    def _fit(self, ensemble: Ensemble) -> NDArray[np.int64]:
        if self._is_multilevel(ensemble):
            found = self._fit_tables(ensemble)
            fit = found.in_memory(ensemble)
        else:
            fit = latent_clusters(
                ensemble,
                ess=self.ess,
                tol=self.tol,
                max_iter=self.max_iter,
                regime=self.regime,
            )
            self.n_iter_ = len(fit.history)
            self.converged_ = fit.converged
            if self.n_clusters is not None:
                fit = cut_to(ensemble, fit, self.n_clusters, self.ess)
        if self.refine:
            fit = refined(ensemble, fit, ess=self.ess, fixed=self.n_clusters is not None)
        self._keep_rounds(fit.history)
        self.rho_, self.r_ = fit.parameters
        self.weights_ = np.column_stack([fit.parameters.together, fit.parameters.apart])
        self.log_likelihood_ = fit.model.pair_counts(ensemble).log_likelihood(fit.parameters)
        self._keep_tree(ensemble, fit)
        return fit.model.labels

    def _fit_tables(self, view: Ensemble | LabelBlocks) -> TablesFit:
        fit = latent_clusters_by_tables(
            view,
            n_clusters=self.n_clusters,
            ess=self.ess,
            tol=self.tol,
            max_iter=self.max_iter,
        )
        self.n_iter_, self.converged_ = fit.n_iter, fit.converged
        return fit

    def _fit_blocks(self, blocks: LabelBlocks) -> tuple[Rule, int]:
        if self.solver == "tree" or (self.solver == "auto" and blocks.n_objects <= TREE_MOST):
            return super()._fit_blocks(blocks)
        if self.refine:
            raise ValueError("refine must be False where rows come in blocks: it moves objects.")
        fit = self._fit_tables(blocks)
        self._keep_rounds(fit.history)
        self.rho_, self.r_ = fit.parameters
        self.weights_ = np.column_stack([fit.parameters.together, fit.parameters.apart])
        pairs = fit.model.tables.pair_counts(blocks)
        self.log_likelihood_ = pairs.log_likelihood(fit.parameters)
        self._forget_tree()
        return fit.model.rule, fit.model.n_clusters

    def _forget_tree(self) -> None:
        self.linkage_: NDArray[np.float64] | None = None
        self.cut_height_: float | None = None
        self.n_clusters_curve_: ClusterNumberCurve | None = None

    def _keep_rounds(self, rounds: list[Step]) -> None:
        self.rounds_ = rounds
        likelihoods = [step.log_likelihood for step in rounds]
        self.history_ = np.column_stack([np.arange(1, len(likelihoods) + 1), likelihoods])

    def _is_multilevel(self, ensemble: Ensemble) -> bool:
        if self.solver == "auto":
            return ensemble.n_objects > TREE_MOST and len(ensemble.patterns.counts) > TREE_MOST
        # Equal rows are always together by tables: with few of them, a tree is needed.
        n_rows = len(ensemble.patterns.counts)
        return self.solver == "multilevel" and n_rows >= (self.n_clusters or 1)

    def _keep_tree(self, ensemble: Ensemble, fit: Fit) -> None:
        self._forget_tree()
        if fit.tree is None:
            return
        scored = fit.scored_with
        self.cut_height_ = float(np.maximum(np.maximum(scored.together, scored.apart), 0).sum())
        self.linkage_ = fit.tree.to_scipy(np.maximum(self.cut_height_ - fit.tree.link, 0.0))
        path = likelihood_path(ensemble, fit.tree, self.linkage_, scored)
        self.n_clusters_curve_ = ClusterNumberCurve(
            "log-likelihood", 1, path, larger_is_better=True
        )

    def _confidence(self, ensemble: Ensemble) -> NDArray[np.float64]:
        # Prediction goes by the reliabilities; confidence is the same for all methods.
        self._model = Model.of(ensemble, self.labels_)
        self._parameters = Parameters(self.rho_, self.r_)
        return super()._confidence(ensemble)

    def _predict(self, codes: NDArray[np.int32]) -> NDArray[np.int64]:
        from coterie._kernels.laca import best_mean_score

        return best_mean_score(codes, self._model.tables(self.ensemble_, self._parameters))
