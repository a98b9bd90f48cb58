"""How far a long computation is."""

import time

import numpy as np
import pytest

from coterie import Ensemble, _progress
from coterie._progress import Task, current, report_progress, track_progress
from coterie.consensus import CONSENSUS
from strategies import noisy_labels


def test_nobody_needs_to_watch():
    with track_progress("work", 3, 2) as done:
        done[1] = 3
    assert done.tolist() == [0, 3]
    assert _progress._tasks.get() is None


def test_the_watcher_is_told(monkeypatch):
    monkeypatch.setattr(_progress, "INTERVAL", 0.01)
    monkeypatch.setattr(_progress, "MIN_DURATION", 0.0)
    told = []
    with report_progress(lambda *what: told.append(what)), track_progress("round 1"):
        with track_progress("merging", 4, 2) as done:
            time.sleep(0.1)
            done[:] = 1, 2
            time.sleep(0.1)
        time.sleep(0.1)
    seen = list(dict.fromkeys(told))
    assert [*seen] == sorted(seen, key=told.index)
    assert (0, 4, "round 1: merging") in seen
    assert (3, 4, "round 1: merging") in seen
    assert seen[-1] == (0, 0, "round 1")
    assert _progress._tasks.get() is None


def test_what_is_told():
    def part(words, total, done, began):
        return Task(words, total, np.array([done]), began)

    outer, inner = part("round 2", 6, 1, 0.0), part("tree", 9, 4, 2.0)
    assert current((), 10.0) is None
    assert current((outer,), 0.1) is None  # too short to be worth a word
    assert current((outer, inner), 2.1) == (1, 6, "round 2")
    assert current((outer, inner), 3.0) == (4, 9, "round 2: tree")
    unknown = part("eigenvectors", 0, 0, 2.0)
    assert current((outer, unknown), 3.0) == (1, 6, "round 2")
    assert current((part("round 2", 0, 0, 0.0), unknown), 3.0) == (0, 0, "round 2: eigenvectors")
    assert current((part("", 4, 9, 0.0),), 3.0) == (4, 4, "")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("missing", [0.0, 0.05])
@pytest.mark.parametrize("name", sorted(CONSENSUS))
def test_every_method_tells_how_far_it_is(name, missing, progress):
    consensus = CONSENSUS[name](n_clusters=4)
    parameters = consensus.get_params(deep=False)
    if "partitioner" in parameters:
        consensus.set_params(partitioner="spectral")
    if "random_state" in parameters:
        consensus.set_params(random_state=0)
    _, labels = noisy_labels(0, 1700, 12, noise=0.4, n_clusters=8, missing=missing)
    ensemble = Ensemble(labels)
    assert len(ensemble.patterns.counts) > 1500  # where trees are grown another way
    if name in ("peace", "baum_eagon"):  # slow at this size
        consensus.set_params(max_iter=2, n_init=2)
    consensus.fit(ensemble)
    counted = [s for s in progress.all if s.total > 0]
    # SciPy and scikit-learn do not say how far they are: then at least what is being done.
    by_libraries = {"eigenvectors", "k-means"}
    assert counted or {s.description for s in progress.all} & by_libraries
    # Those that end early aside (fewer rounds than allowed), all steps were done in the end.
    assert all(
        0 < s.cells.sum() <= s.total for s in counted if s.description != "overlap of clusters"
    )
