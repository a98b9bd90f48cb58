"""Models in files: exact predictions after loading, damaged and foreign files refused."""

import json
import zipfile

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import AgglomerativeClustering, KMeans, MiniBatchKMeans
from sklearn.datasets import make_blobs

from coterie import EAC, PEACE, ConsensusClustering, MemoryLimitError, RandomizedEnsemble
from coterie._archives import write_archive
from coterie.consensus import CONSENSUS

X, _ = make_blobs(80, centers=4, cluster_std=1.5, n_features=4, random_state=0)
NEW = np.random.default_rng(1).uniform(X.min(), X.max(), size=(50, 4))
SAVED = sorted(name for name, cls in CONSENSUS.items() if cls.saved_state is not None)


def fit(consensus="laca", data=X, **recipe):
    generator = RandomizedEnsemble(**{"n_partitions": 12, **recipe})
    return ConsensusClustering(4, generator, consensus, random_state=0).fit(data)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.npz"


@pytest.fixture
def arrays(path):
    fit().save(path)
    with np.load(path) as archive:
        return dict(archive)


def rewrite(path, arrays, **changed):
    """Write a file whose checksum fits, as somebody could who means harm."""
    content = arrays | changed
    del content["checksum"]
    write_archive(path, content)


@pytest.mark.slow
@pytest.mark.parametrize("consensus", [*SAVED, EAC(linkage="single")])
def test_loaded_models_predict_the_same(path, consensus):
    model = fit(consensus)
    model.save(path)
    loaded = ConsensusClustering.load(path)
    assert loaded.labels_.tolist() == model.labels_.tolist()
    assert loaded.confidence_.tolist() == model.confidence_.tolist()
    assert loaded.ensemble_ == model.ensemble_
    assert loaded.predict(NEW).tolist() == model.predict(NEW).tolist()
    assert loaded.predict_confidence(NEW).tolist() == model.predict_confidence(NEW).tolist()
    loaded.save(path)
    assert ConsensusClustering.load(path).predict(NEW).tolist() == model.predict(NEW).tolist()


def test_methods_that_cannot_be_saved_say_so(path):
    for name in sorted(set(CONSENSUS) - set(SAVED)):
        with pytest.raises(TypeError, match=rf"consensus {name} cannot be saved; these can: laca"):
            fit(name).save(path)
    assert not path.exists()


@pytest.mark.filterwarnings("ignore:.*objects have no label:UserWarning")
@pytest.mark.parametrize(
    "recipe",
    [
        {"max_features": 0.5},
        {"max_samples": 0.1, "n_clusters": 3},  # some objects are in no run
        {"estimators": [KMeans(n_init=1), MiniBatchKMeans(n_init=1)], "n_partitions": 4},
    ],
    ids=["features", "objects", "bases"],
)
@pytest.mark.parametrize("consensus", ["laca", "eac"])
def test_every_recipe_of_kmeans(path, recipe, consensus):
    model = fit(consensus, **recipe)
    model.save(path)
    loaded = ConsensusClustering.load(path)
    assert loaded.predict(NEW).tolist() == model.predict(NEW).tolist()
    assert loaded.predict_confidence(NEW).tolist() == model.predict_confidence(NEW).tolist()


def test_names_of_features_are_kept(path):
    frame = pd.DataFrame(X, columns=list("abcd"))
    fit(data=frame).save(path)
    loaded = ConsensusClustering.load(path)
    assert loaded.feature_names_in_.tolist() == list("abcd")
    with pytest.raises(ValueError, match="feature names should match"):
        loaded.predict(frame[["b", "a", "c", "d"]])


def test_what_cannot_be_saved(path):
    with pytest.raises(TypeError, match="KMeans or MiniBatchKMeans; got AgglomerativeClustering"):
        fit(estimators=AgglomerativeClustering()).save(path)
    start = np.full((80, 4), 0.25) + np.eye(4)[np.arange(80) % 4] * 0.01
    start /= start.sum(axis=1, keepdims=True)
    with pytest.raises(TypeError, match="init of PEACE is of type ndarray"):
        fit(PEACE(init=start, max_iter=10_000)).save(path)
    assert not path.exists()


def test_no_pickle_and_nothing_else(path, arrays):
    assert all(array.dtype.kind in "iufU" for array in arrays.values())
    assert json.loads(arrays["header"].tobytes())["preparation"] is None


def test_damaged_files_are_refused(path, arrays):
    whole = path.read_bytes()
    for broken in (whole[:-40], whole[: len(whole) // 2], b"", b"PK", b"no model at all"):
        path.write_bytes(broken)
        with pytest.raises(ValueError, match="is not a model that"):
            ConsensusClustering.load(path)
    np.savez(path, **(arrays | {"labels": arrays["labels"][::-1]}))
    with pytest.raises(ValueError, match="checksum does not fit"):
        ConsensusClustering.load(path)
    with pytest.raises(FileNotFoundError):
        ConsensusClustering.load(path.with_name("nothing"))


@pytest.mark.parametrize(
    "changed",
    [
        {"labels": np.full(80, 99)},
        {"labels": np.zeros(5, dtype=np.int64)},
        {"codes_0": np.full(3, -5, dtype=np.int32)},
        {"features_0": np.array([0, 1, 2, 77])},
        {"ensemble_labels": np.zeros((80, 3), dtype=np.int32)},
        {"state_rho_": np.zeros(3)},
        {"header": np.frombuffer(b"[" * 100_000, dtype=np.uint8)},
        {"header": np.frombuffer(b"{}", dtype=np.uint8)},
        {"header": np.frombuffer(b"3", dtype=np.uint8)},
    ],
)
def test_files_that_do_not_fit_themselves_are_refused(path, arrays, changed):
    rewrite(path, arrays, **changed)
    with pytest.raises(ValueError, match="is not a model that"):
        ConsensusClustering.load(path)


def test_newer_formats_are_named(path, arrays):
    header = json.loads(arrays["header"].tobytes()) | {"format": 2}
    rewrite(path, arrays, header=np.frombuffer(json.dumps(header).encode(), dtype=np.uint8))
    with pytest.raises(ValueError, match="a newer coterie wrote it"):
        ConsensusClustering.load(path)


def test_sizes_are_checked_before_unpacking(path, arrays, monkeypatch):
    monkeypatch.setenv("COTERIE_MEMORY_LIMIT", "1kB")
    with pytest.raises(MemoryLimitError, match="over the memory limit"):
        ConsensusClustering.load(path)
    monkeypatch.delenv("COTERIE_MEMORY_LIMIT")
    claims = np.lib.format.magic(1, 0) + b"\x76\x00"
    text = b"{'descr': '<f8', 'fortran_order': False, 'shape': (99999999, 99999999), }"
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("junk.npy", claims + text.ljust(117) + b"\n")
    with pytest.raises(ValueError, match=r"claims \d+ bytes that are not there"):
        ConsensusClustering.load(path)
