"""Label matrices in MATLAB files."""

import numpy as np
import pytest
from scipy.io import savemat

from coterie import Ensemble

MEMBERS = np.array([[1, 2, 1], [1, 2, 2], [3, 1, 2], [3, 1, 1]])


@pytest.fixture
def save(tmp_path):
    def write(**variables):
        path = tmp_path / "pool.mat"
        savemat(path, variables)
        return path

    return write


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.float64])
def test_only_matrix_is_found(save, dtype):
    path = save(members=MEMBERS.astype(dtype), gt=np.array([[1], [1], [2], [2]]), note="text")
    found = Ensemble.from_mat(path)
    assert found.labels.tolist() == Ensemble(MEMBERS).labels.tolist()
    assert found == Ensemble.from_mat(str(path), "members")


def test_missing_labels(save):
    members = MEMBERS.astype(float)
    members[0, 1] = np.nan
    members[1, 0] = -1
    assert (Ensemble.from_mat(save(E=members)).labels[[0, 1], [1, 0]] == -1).all()


def test_matrix_of_features_is_no_choice(save):
    path = save(X=np.random.default_rng(0).random((4, 2)), members=MEMBERS)
    assert Ensemble.from_mat(path).n_partitions == 3


def test_one_partition_must_be_named(save):
    path = save(gt=MEMBERS[:, :1])
    assert Ensemble.from_mat(path, "gt").shape == (4, 1)
    with pytest.raises(ValueError, match=r"it holds 0. Name the variable: it has gt \(4\)"):
        Ensemble.from_mat(path)


def test_several_matrices_must_be_named(save):
    path = save(a=MEMBERS, b=MEMBERS[:, :2])
    assert Ensemble.from_mat(path, "b").n_partitions == 2
    with pytest.raises(ValueError, match=r"holds 2. .* it has a \(4 x 3\), b \(4 x 2\)"):
        Ensemble.from_mat(path)
    with pytest.raises(
        ValueError, match=r"must name a variable of .*; got 'c'. It has a \(4 x 3\)"
    ):
        Ensemble.from_mat(path, "c")


def test_files_that_cannot_be_read(tmp_path):
    (tmp_path / "text.mat").write_text("no MATLAB file at all, but some longer text")
    with pytest.raises(ValueError, match="cannot be read as a MATLAB file"):
        Ensemble.from_mat(tmp_path / "text.mat")
    header = b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM" + bytes(400)
    (tmp_path / "new.mat").write_bytes(header)
    with pytest.raises(ValueError, match=r"MATLAB 7.3 file \(HDF5\).*save\(..., '-v7'\)"):
        Ensemble.from_mat(tmp_path / "new.mat")
    with pytest.raises(FileNotFoundError):
        Ensemble.from_mat(tmp_path / "none.mat")


def cell_array(values):
    cells = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        cells[i] = value
    return cells


@pytest.mark.parametrize("shape", [(1, -1), (-1, 1)])
def test_cell_arrays_of_label_vectors_are_columns(save, shape):
    vectors = [column.reshape(shape) for column in MEMBERS.T]
    path = save(runs=cell_array(vectors), gt=np.array([[1], [1], [2], [2]]))
    assert Ensemble.from_mat(path).labels.tolist() == Ensemble(MEMBERS).labels.tolist()


@pytest.mark.parametrize(
    "cells",
    [
        [MEMBERS[:, 0], MEMBERS[:3, 1]],  # of different lengths
        [MEMBERS[:, 0], MEMBERS],
        [cell_array(["x", "x", "y", "y"]), cell_array(["p", "q", "q", "q"])],
    ],
)
def test_other_cell_arrays_are_named(save, cells):
    with pytest.raises(ValueError, match=r"no label vectors of the same length \(runs\).*horzcat"):
        Ensemble.from_mat(save(runs=cell_array(cells)))


def test_a_file_that_ends_too_early(tmp_path):
    """Found by fuzzing: SciPy raises OSError without a number."""
    path = tmp_path / "short.mat"
    path.write_bytes(b"\xff" * 124 + b',\x01,"\n1chy\n')
    with pytest.raises(ValueError, match=r"short\.mat"):
        Ensemble.from_mat(path)
