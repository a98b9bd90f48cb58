"""Archives of arrays: a damaged file is refused, never read as something else."""

import json
import zipfile

import numpy as np
import pytest

from coterie import Ensemble
from coterie._archives import DamagedError, read_archive, write_archive
from coterie._files import checksum_fits, with_checksum


@pytest.fixture
def path(tmp_path):
    ensemble = Ensemble([[0, "a"], [0, "b"], [1, None], [-1, "a"]], names=["x", "y"])
    ensemble.save(tmp_path / "e.npz")
    return tmp_path / "e.npz"


def test_round_trip(tmp_path):
    arrays = {
        "numbers": np.arange(6.0).reshape(2, 3),
        "words": np.array(["é", "bb"]),
        "nothing": np.empty((0, 4), dtype=np.int8),
        "one": np.asarray(7),
        "columns": np.asfortranarray(np.arange(6).reshape(2, 3)),
    }
    for compressed in (False, True):
        write_archive(tmp_path / "a.npz", arrays, compressed=compressed)
        found = read_archive(tmp_path / "a.npz")
        assert found.keys() - {"checksum"} == arrays.keys()
        for name, array in arrays.items():
            assert found[name].dtype == array.dtype
            np.testing.assert_array_equal(found[name], array)


def test_a_flipped_bit_is_never_read_as_another_ensemble(path):
    whole, before = path.read_bytes(), Ensemble.load(path)
    rng = np.random.default_rng(0)
    refused = []
    for place in rng.choice(len(whole), 500, replace=False):
        changed = bytearray(whole)
        changed[place] ^= 1 << rng.integers(8)
        path.write_bytes(changed)
        try:
            assert Ensemble.load(path) == before  # a date in the archive, for example
        except ValueError as error:
            refused.append(str(error))
    assert len(refused) > 250
    assert all("e.npz" in words for words in refused)


def test_a_truncated_file_is_refused(path):
    whole = path.read_bytes()
    for size in np.linspace(0, len(whole) - 1, 60).astype(int):
        path.write_bytes(whole[:size])
        with pytest.raises(ValueError, match=r"e\.npz is not an ensemble file"):
            Ensemble.load(path)


def test_changed_content_with_an_old_checksum_is_refused(tmp_path):
    write_archive(tmp_path / "a.npz", {"x": np.arange(3)})
    arrays = read_archive(tmp_path / "a.npz")
    np.savez(tmp_path / "a.npz", **(arrays | {"x": np.arange(3)[::-1]}))
    with pytest.raises(DamagedError, match="checksum does not fit"):
        read_archive(tmp_path / "a.npz")


def test_objects_and_two_arrays_of_one_name_are_refused(tmp_path):
    np.savez(tmp_path / "a.npz", x=np.array([{}], dtype=object))
    with pytest.raises(DamagedError, match="Python objects"):
        read_archive(tmp_path / "a.npz")
    write_archive(tmp_path / "b.npz", {"x": np.arange(3)})
    with zipfile.ZipFile(tmp_path / "b.npz", "a") as archive, archive.open("x", "w") as file:
        np.lib.format.write_array(file, np.arange(4))
    with pytest.raises(DamagedError, match="the same name"):
        read_archive(tmp_path / "b.npz")


def test_records_with_a_checksum():
    record = with_checksum({"a": [1, 2.5, None], "b": {"c": "é"}})
    assert checksum_fits(json.loads(json.dumps(record)))
    assert not checksum_fits(record | {"a": [1, 2.5]})
    assert not checksum_fits({"a": 1})
