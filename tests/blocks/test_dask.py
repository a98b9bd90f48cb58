"""Dask feeds the same passes: arrays, data frames, a cluster whose workers may die."""

import os
import signal
import threading
import time

import numpy as np
import pandas as pd
import polars as pl
import pytest

from coterie import ConsensusClustering, RandomizedEnsemble
from coterie.blocks import as_label_blocks, open_source
from coterie.consensus import CONSENSUS
from strategies import noisy_labels

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")


def make(name, n_clusters=3):
    method = CONSENSUS[name](n_clusters=n_clusters)
    known = method.get_params()
    if "random_state" in known:
        method.set_params(random_state=0)
    return method.set_params(solver="multilevel") if name == "laca" else method


@pytest.mark.parametrize("name", ["hbgf", "laca", "lwea"])
def test_arrays_and_frames_are_clustered_lazily(name):
    labels = noisy_labels(0, 200, 6, n_clusters=3, noise=0.2, missing=0.1)[1]
    expected = make(name).fit(labels)
    frame = dd.from_pandas(pd.DataFrame(labels, columns=list("abcdef")), npartitions=3)
    for table in (da.from_array(labels, chunks=(70, 2)), frame):
        found = make(name).fit(table)
        assert type(found.labels_).__module__.startswith("dask")
        assert found.labels_.shape == (200,)
        assert found.labels_.compute().tolist() == expected.labels_.tolist()
        assert found.confidence_.compute().tolist() == expected.confidence_.tolist()


def test_features_become_labels_lazily():
    random = np.random.default_rng(0)
    centers = np.repeat([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]], 60, axis=0)
    X = random.permutation(centers + random.normal(size=(180, 2)))
    lazy = da.from_array(X, chunks=(50, 2))
    made = RandomizedEnsemble(n_partitions=5, n_clusters=6, random_state=0).fit(X)
    labels = RandomizedEnsemble(n_partitions=5, n_clusters=6, random_state=0).fit_transform(lazy)
    assert labels.shape == (180, 5)
    assert labels.compute().tolist() == made.ensemble_.labels.tolist()
    for consensus in ("hbgf", "lwea"):
        model = ConsensusClustering(3, consensus=consensus, random_state=0).fit(lazy)
        expected = ConsensusClustering(3, consensus=consensus, random_state=0).fit(X)
        assert model.labels_.compute().tolist() == expected.labels_.tolist()
        assert model.confidence_.shape == (180,)
        assert model.predict(X[:9]).tolist() == expected.labels_[:9].tolist()


def test_joblib_runs_partitions_on_dask():
    distributed = pytest.importorskip("distributed")
    import joblib

    X = np.random.default_rng(0).normal(size=(60, 2))
    expected = RandomizedEnsemble(n_partitions=4, n_clusters=3, random_state=0).fit(X)
    recipe = RandomizedEnsemble(n_partitions=4, n_clusters=3, random_state=0, n_jobs=2)
    with (
        distributed.Client(processes=False, dashboard_address=None, n_workers=1),
        joblib.parallel_backend("dask"),
    ):
        made = recipe.fit(X)
    assert made.ensemble_.labels.tolist() == expected.ensemble_.labels.tolist()


@pytest.mark.slow
def test_a_worker_that_dies_changes_nothing(tmp_path):
    n_workers = 2
    distributed = pytest.importorskip("distributed")
    labels = noisy_labels(1, 3000, 6, n_clusters=3, noise=0.25, missing=0.05)[1]
    names = [f"run{e}" for e in range(6)]
    for i, rows in enumerate(np.array_split(labels, 12)):
        frame = pl.DataFrame(rows, schema=names, orient="row")
        frame.write_parquet(tmp_path / f"{i:02d}.parquet")
    with (
        distributed.LocalCluster(
            n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        source = open_source(tmp_path)._replace(on_dask=True)
        for name in ("laca", "hbgf"):
            expected = make(name).fit(labels)
            victims = [worker["pid"] for worker in client.run(_pid).values()]
            killer = threading.Thread(target=_kill_soon, args=(victims[0],))
            killer.start()
            found = make(name).fit(as_label_blocks(source))
            result = found.labels_.__array__()
            killer.join()
            assert result.tolist() == expected.labels_.tolist(), name
            client.wait_for_workers(n_workers, timeout=60)


def _pid():
    return {"pid": os.getpid()}


def _kill_soon(pid):
    time.sleep(0.2)
    os.kill(pid, signal.SIGKILL)
