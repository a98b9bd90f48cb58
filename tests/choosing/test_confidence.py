"""Confidence must mean the same for every method: where it is low, objects are wrong more often."""

import numpy as np
import pytest

from coterie import Ensemble, RandomizedEnsemble
from coterie.consensus import CONSENSUS


@pytest.fixture(scope="module")
def overlapping():
    """(ensemble, classes): four lumps that touch, in k-means partitions of 3 to 12 clusters."""
    rng = np.random.default_rng(0)
    classes = np.arange(240) % 4
    corners = 3.0 * np.array([[0, 0], [1, 0], [0, 1], [1, 1]])
    X = corners[classes] + rng.normal(size=(240, 2))
    maker = RandomizedEnsemble(n_partitions=40, n_clusters=(3, 12), random_state=0)
    return maker.fit_transform(X), classes


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", sorted(CONSENSUS))
def test_low_confidence_is_wrong_more_often(name, overlapping):
    ensemble, classes = overlapping
    method = CONSENSUS[name](n_clusters=4)
    if "random_state" in method.get_params():
        method.set_params(random_state=0)
    fitted = method.fit(ensemble)
    majority = [
        np.bincount(classes[fitted.labels_ == c]).argmax() for c in range(fitted.n_clusters_)
    ]
    right = np.array(majority)[fitted.labels_] == classes
    if name in ("msteclust", "pwec"):
        # A spanning tree chains through lumps that touch, and confidence says so.
        assert right.mean() < 0.5
        assert (fitted.confidence_ > 0.9).mean() < 0.1
        return
    order = np.argsort(fitted.confidence_, kind="stable")
    lowest, highest = right[order[:80]].mean(), right[order[-80:]].mean()
    assert highest > lowest + 0.1
    # By the definition 0.5 means that another cluster would do as well.
    assert right[fitted.confidence_ > 0.9].mean() > 0.8


def test_confidence_does_not_depend_on_how_fine_partitions_are():
    truth = np.arange(120) % 3
    rng = np.random.default_rng(0)
    fine = np.column_stack([truth * 10 + rng.integers(0, 5, size=120) for _ in range(30)])
    coarse = np.column_stack([truth] * 30)
    for labels in (fine, coarse):
        fitted = CONSENSUS["eac"](n_clusters=3).fit(Ensemble(labels))
        assert fitted.confidence_.min() == 1.0
