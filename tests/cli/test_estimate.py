"""How long a fit will take, and what is shown of it."""

import time

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from coterie import Ensemble
from coterie.cli import _estimate
from coterie.cli._estimate import clock_progress, estimate_seconds, extrapolate


class Slow(BaseEstimator):
    """Takes a time that grows with a power of the number of objects."""

    sizes = []  # noqa: RUF012

    def __init__(self, power=1.0, fails=False):
        self.power = power
        self.fails = fails

    def fit(self, ensemble):
        self.sizes.append(ensemble.n_objects)
        if self.fails:
            raise ValueError("no")
        time.sleep(1e-3 * (ensemble.n_objects / 25) ** self.power)
        return self


@pytest.mark.parametrize(("power", "expected"), [(1, 16 * 2.0), (2, 16**2.2 * 4.0)])
def test_growth_is_drawn_out(power, expected):
    assert extrapolate(1.0, 2.0**power, 16) == pytest.approx(expected)


def test_odd_times_stay_within_reason():
    assert extrapolate(3.0, 1.0, 16) == pytest.approx(16.0)  # smaller parts never take longer
    assert extrapolate(0.0, 1.0, 16) == pytest.approx(16**2.5)


def test_estimate_of_a_method(monkeypatch):
    ensemble = Ensemble(np.arange(1600)[:, None])
    assert estimate_seconds(Slow(), ensemble) is None  # too small to take long
    monkeypatch.setattr(_estimate, "LEAST_ROWS", 100)
    Slow.sizes.clear()
    found = estimate_seconds(Slow(power=1.0), ensemble)
    assert Slow.sizes == [25, 200, 400]
    assert 0.04 < found < 2.0  # 0.064 on an idle machine
    monkeypatch.setattr(_estimate, "MANY_ROWS", 1000)
    Slow.sizes.clear()
    estimate_seconds(Slow(power=1.0), ensemble)
    assert Slow.sizes == [6, 50, 100]
    assert estimate_seconds(Slow(fails=True), ensemble) is None


def test_clock_tells_how_far_it_is_and_gives_up_when_it_was_wrong():
    told = []
    with clock_progress(1.0, lambda *step: told.append(step)):
        time.sleep(1.8)
    assert told[-1] == (0, 0)
    assert len(told) >= 2
    assert [step[0] for step in told[:-1]] == sorted(step[0] for step in told[:-1])
    assert all(0 <= done < total for done, total in told[:-1])
    for seconds in (None, 0.5):
        with clock_progress(seconds, lambda *step: told.append("never")):
            time.sleep(0.01)
    assert "never" not in told
