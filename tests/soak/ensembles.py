"""Ensembles through every method and every choosing function."""

from __future__ import annotations

import copy
import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

import coterie
from coterie import Ensemble
from coterie._labels import order_by_size
from coterie.consensus import CONSENSUS
from soak.labels import Votes, draw_votes

__all__ = ["attack", "attack_choosing", "check_fitted", "check_words"]

_SLOW = {"peace": {"n_init": 1, "max_iter": 20}, "baum_eagon": {"n_init": 1, "max_iter": 20}}
_METHODS_EACH = 4


def attack(rng: np.random.Generator, folder: Path) -> None:
    """Fit a few methods to an ensemble and check what must hold for any of them."""
    votes = draw_votes(rng)
    before = copy.deepcopy(votes.given)
    ensemble = Ensemble(votes.given)
    _check_ensemble(ensemble, votes, folder)
    for name in rng.choice(sorted(CONSENSUS), _METHODS_EACH, replace=False):
        _check_method(name, votes, ensemble, rng)
    _same(votes.given, before)


def attack_choosing(rng: np.random.Generator, folder: Path) -> None:
    """Give an ensemble to the choosing functions: a result, or a ValueError that says why."""
    votes = draw_votes(rng, most_objects=40)
    ensemble = Ensemble(votes.given)
    try:
        first = coterie.how_many_clusters(ensemble, random_state=0)
        again = coterie.how_many_clusters(ensemble, random_state=0)
        assert 1 <= first.recommended <= ensemble.n_objects
        assert first.recommended == again.recommended
        coterie.structure_test(ensemble, random_state=0)
        if ensemble.n_partitions > 1:
            chosen = coterie.select(ensemble, 1 + int(rng.integers(ensemble.n_partitions)))
            assert set(chosen.tolist()) <= set(range(ensemble.n_partitions))
    except ValueError as error:
        check_words(error)


def _check_ensemble(ensemble: Ensemble, votes: Votes, folder: Path) -> None:
    """The codes are the given partitions, and files keep everything."""
    n, n_partitions = votes.labels.shape
    assert ensemble.shape == (n, n_partitions)
    assert ((ensemble.labels == -1) == (votes.labels == -1)).all()
    for mine, theirs in zip(ensemble.labels.T, votes.labels.T, strict=True):
        seen = theirs >= 0
        assert len(set(zip(mine[seen], theirs[seen], strict=True))) == len(set(theirs[seen]))
    ensemble.save(folder / "e.npz")
    assert Ensemble.load(folder / "e.npz") == ensemble
    assert pickle.loads(pickle.dumps(ensemble)) == ensemble


def _check_method(name: str, votes: Votes, ensemble: Ensemble, rng: np.random.Generator) -> None:
    method = CONSENSUS[name]
    n = ensemble.n_objects
    k = None if method.finds_n_clusters and rng.random() < 0.5 else int(rng.integers(1, n + 1))
    consensus = method(n_clusters=k, **_SLOW.get(name, {}))
    if "random_state" in consensus.get_params():
        consensus.set_params(random_state=int(rng.integers(100)))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted = clone(consensus).fit(ensemble)
    check_fitted(fitted, n)
    assert k is None or fitted.n_clusters_ == k or caught, f"{name}: another k without a word"
    rows = ensemble.labels
    again = clone(consensus).fit(votes.given)
    assert (again.labels_ == fitted.labels_).all(), f"{name}: another result from the same input"
    renamed = clone(consensus).fit(_renamed(rows, rng))
    assert (renamed.labels_ == fitted.labels_).all(), f"{name}: the names of clusters matter"
    restored = pickle.loads(pickle.dumps(fitted))
    placed = fitted.predict(ensemble)
    assert (restored.predict(ensemble) == placed).all()
    assert ((placed >= 0) & (placed < fitted.n_clusters_)).all()
    sure = fitted.predict_confidence(ensemble)
    assert ((sure >= 0) & (sure <= 1)).all()


def check_fitted(fitted: Any, n_objects: int) -> None:
    """What every fitted consensus must be."""
    labels, confidence = fitted.labels_, fitted.confidence_
    assert labels.dtype == np.int64
    assert labels.shape == confidence.shape == (n_objects,)
    assert (order_by_size(labels) == labels).all()
    assert fitted.n_clusters_ == labels.max() + 1
    assert ((confidence >= 0) & (confidence <= 1)).all()


def _renamed(rows: Any, rng: np.random.Generator) -> Any:
    """The same partitions with other names for the clusters."""
    renamed = rows.astype(np.int64)
    for e in range(rows.shape[1]):
        names = rng.permutation(rows.max() + 1) + 3
        renamed[:, e] = np.where(rows[:, e] < 0, -1, names[rows[:, e]])
    return renamed


def _same(one: Any, two: Any) -> None:
    if isinstance(one, list):
        for mine, theirs in zip(one, two, strict=True):
            np.testing.assert_array_equal(mine, theirs)
    elif hasattr(one, "equals"):
        assert one.equals(two)
    elif one.dtype.kind == "O":
        assert one.tolist() == two.tolist()
    else:
        np.testing.assert_array_equal(one, two)


def check_words(error: Exception) -> None:
    """An error must say something helpful."""
    words = str(error)
    assert len(words) > 20, f"no helpful words: {words!r}"
