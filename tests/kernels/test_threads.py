"""Fits from several threads, and in forked processes, under every threading layer of numba."""

import multiprocessing
import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

LAYERS = ["workqueue", "omp"]

START = """
import multiprocessing, threading
import numba, numpy as np
from coterie import EAC, HBGF, LACA, RandomizedEnsemble

X = np.random.default_rng(0).normal(size=(400, 3))
labels = RandomizedEnsemble(n_partitions=8, random_state=0).fit_transform(X).labels

def fit(_=None):
    return [method.fit(labels).labels_.tolist() for method in (EAC(3), LACA(), HBGF(3))]
"""
THREADS = """
found = [None] * 6
def put(i):
    for _ in range(4):
        found[i] = fit()
threads = [threading.Thread(target=put, args=(i,)) for i in range(6)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
expected = fit()
assert all(one == expected for one in found)
print(numba.threading_layer())
"""
FORKS = """
expected = fit()
with multiprocessing.get_context("fork").Pool(2) as pool:
    assert pool.map_async(fit, range(4)).get(timeout=120) == [expected] * 4
assert fit() == expected
print(numba.threading_layer())
"""
VALIDITY = """
import joblib
maker = RandomizedEnsemble(n_partitions=6, validity="hubert", random_state=0, n_jobs=2)
expected = maker.fit_transform(X)
for backend in ("threading", "multiprocessing"):
    with joblib.parallel_config(backend):
        assert maker.fit_transform(X) == expected
print(numba.threading_layer())
"""


def run(script, layer):
    """Run a script under a layer; where numba lacks it, the test is skipped."""
    done = subprocess.run(
        [sys.executable, "-c", START + script],
        env=os.environ | {"NUMBA_THREADING_LAYER": layer, "NUMBA_NUM_THREADS": "2"},
        capture_output=True,
        text=True,
        check=False,
    )
    if "No threading layer could be loaded" in done.stderr:
        pytest.skip(f"numba has no {layer} here")
    assert (done.returncode, done.stdout.strip()) == (0, layer), done.stderr


@pytest.mark.parametrize("layer", LAYERS)
def test_fits_in_several_threads(layer):
    run(THREADS, layer)


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="needs fork")
@pytest.mark.parametrize("script", [FORKS, VALIDITY], ids=["fits", "validity"])
@pytest.mark.parametrize("layer", LAYERS)
def test_fits_in_forked_processes(layer, script):
    run(script, layer)
