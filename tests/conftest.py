"""Settings of the whole test run.

``COTERIE_SEEDS`` widens the random tests: a number of seeds, or ``3-7`` for these seeds. CI sets
``CI``, and hypothesis then draws the same examples in every run; ``HYPOTHESIS_PROFILE=thorough``
draws many more, ``quick`` few.
"""

import os

import numba
import pytest
from hypothesis import settings

from coterie import _progress

if "PYTEST_XDIST_WORKER" in os.environ:
    # Each worker has one thread for kernels. With more threads than processors, a kernel on a few
    # objects waits for its threads, a hundred times as long as it works.
    numba.set_num_threads(1)

settings.register_profile("dev", deadline=None, max_examples=50)
settings.register_profile("ci", deadline=None, max_examples=50, derandomize=True)
settings.register_profile("quick", deadline=None, max_examples=10)
settings.register_profile("thorough", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if "CI" in os.environ else "dev"))


def _seeds():
    asked = os.environ.get("COTERIE_SEEDS", "1")
    low, _, high = asked.partition("-")
    return list(range(int(low), int(high) + 1)) if high else list(range(int(low)))


def pytest_generate_tests(metafunc):
    """Run a test that takes `seed` once for each seed asked for."""
    if "seed" in metafunc.fixturenames and not any(
        "seed" in str(mark.args[0]).replace(" ", "").split(",")
        for mark in metafunc.definition.iter_markers("parametrize")
    ):
        metafunc.parametrize("seed", _seeds())


class TaskRecord(list):
    """The tasks under way, and all that there have been."""

    def __init__(self):
        self.all = []

    def append(self, task):
        super().append(task)
        self.all.append(task)

    def counts(self):
        """{description: (steps done, steps)} of the tasks with a known number of steps."""
        return {t.description: (int(t.cells.sum()), t.total) for t in self.all if t.total}


@pytest.fixture
def progress():
    """Record every task that `track_progress` opens."""
    record = TaskRecord()
    token = _progress._tasks.set(record)
    yield record
    _progress._tasks.reset(token)
    assert not record
