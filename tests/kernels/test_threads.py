"""Fits from several threads, and in forked processes, under every threading layer of numba."""

import multiprocessing
import os
import subprocess
import sys
from pathlib import Path

import numba
import pytest

pytestmark = pytest.mark.slow

LAYERS = ["workqueue", "omp", "tbb"]
LIBRARIES = Path(numba.__file__).parents[3]  # where pip puts the library of TBB

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
found = [None] * 8
def put(i):
    for _ in range(3):
        found[i] = fit()
threads = [threading.Thread(target=put, args=(i,)) for i in range(8)]
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
fit()
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
        env=os.environ
        | {"NUMBA_THREADING_LAYER": layer, "NUMBA_NUM_THREADS": "2"}
        | {"LD_LIBRARY_PATH": str(LIBRARIES)},
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


JOBS = """
import numpy as np
from coterie import RandomizedEnsemble
if __name__ == "__main__":
    import joblib, sys
    X = np.random.default_rng(0).normal(size=(400, 3))
    maker = RandomizedEnsemble(n_partitions=6, random_state=0, n_jobs=2)
    expected = maker.fit_transform(X)
    backend = sys.argv[1]
    if backend == "dask":
        from dask.distributed import Client, LocalCluster
        cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
        client = Client(cluster)
    with joblib.parallel_config(backend):
        assert maker.fit_transform(X) == expected
    if backend == "dask":
        client.close()
        cluster.close()
    print("same")
"""
SPAWN = """
if __name__ == "__main__":
    expected = fit()
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert pool.map_async(fit, range(2)).get(timeout=300) == [expected] * 2
    print("same")
"""


@pytest.mark.parametrize("backend", ["loky", "threading", "dask"])
def test_every_backend_of_joblib_gives_the_same(tmp_path, backend):
    if backend == "dask":
        pytest.importorskip("dask.distributed", reason="needs coterie[dask]")
    run_file(
        tmp_path,
        "import numpy as np\nfrom coterie import RandomizedEnsemble\n" + JOBS,
        backend,
        start="",
    )


def test_fits_in_spawned_processes(tmp_path):
    run_file(tmp_path, SPAWN)


def test_without_home_and_without_a_place_for_the_cache(tmp_path):
    """As in a container: no HOME, a file where the caches would be."""
    (tmp_path / "file").write_text("")
    script = START.replace("n_partitions=8", "n_partitions=2") + "EAC(3).fit(labels); print('same')"
    run_file(tmp_path, script, start="", HOME=None, XDG_CACHE_HOME=str(tmp_path / "file"))


def run_file(folder, script, *words, start=START, **environment):
    """Run a script from a file, as processes that import it need."""
    path = folder / "script.py"
    path.write_text(start + script)
    given = os.environ | environment
    done = subprocess.run(
        [sys.executable, str(path), *words],
        env={name: value for name, value in given.items() if value is not None},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout.strip()) == (0, "same"), done.stderr
