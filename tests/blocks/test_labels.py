"""Label rows in blocks: sources, codes and views are those of an ensemble."""

import os
import pickle

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie import Ensemble
from coterie.blocks import (
    BlockError,
    LabelBlocks,
    as_label_blocks,
    fixed_point,
    open_source,
    sample_rows,
    scale_for,
)
from strategies import label_matrices, noisy_labels


def parts_of(labels, path, cuts=(40, 41, 90)):
    """Write a table as Parquet files that end at the given rows."""
    for i, rows in enumerate(np.split(labels, cuts)):
        names = [f"run{e}" for e in range(labels.shape[1])]
        pl.DataFrame(rows, schema=names, orient="row").write_parquet(path / f"part-{i}.parquet")
    return path


@given(labels=label_matrices(), block_rows=st.integers(1, 9))
def test_views_are_those_of_the_ensemble(labels, block_rows):
    ensemble = Ensemble(labels)
    labelled = ensemble.labels[(ensemble.labels >= 0).any(axis=1)]
    blocks = as_label_blocks(labels, block_rows=block_rows)
    assert blocks.n_objects == len(labelled)
    assert blocks.offsets.tolist() == ensemble.offsets.tolist()
    assert blocks.overlap.tolist() == ensemble.overlap.tolist()
    whole = Ensemble(labelled)
    assert np.argsort(blocks.cluster_facts[0], kind="stable").tolist() == (
        np.argsort(whole.cluster_facts[0], kind="stable").tolist()
    )
    assert blocks.cluster_facts[1].tolist() == whole.cluster_facts[1].tolist()
    rows, counts = blocks.distinct_rows(len(labelled))
    assert rows.tolist() == whole.patterns.labels.tolist()
    assert counts.tolist() == whole.patterns.counts.tolist()
    assert blocks.distinct_rows(len(rows) - 1) is None
    some = np.arange(0, len(labelled), 2)
    assert blocks.take(some).tolist() == labelled[some].tolist()


@given(labels=label_matrices(), block_rows=st.integers(1, 9), most=st.integers(1, 6))
def test_samples_do_not_depend_on_the_blocks(labels, block_rows, most):
    labels = labels[(labels != -1).any(axis=1)]
    expected = sample_rows(Ensemble(labels), most, 3)
    found = sample_rows(as_label_blocks(labels, block_rows=block_rows), most, 3)
    assert found.is_whole == expected.is_whole
    assert found.rows.tolist() == expected.rows.tolist()
    assert found.counts.tolist() == expected.counts.tolist()


def test_files_give_what_memory_gives(tmp_path):
    labels = noisy_labels(0, 120, 4, n_clusters=5, noise=0.2)[1]
    labels[3] = -1
    ensemble = Ensemble(labels)
    np.save(tmp_path / "labels.npy", labels)
    (tmp_path / "parts").mkdir()
    parts_of(labels, tmp_path / "parts")
    for path in (tmp_path / "labels.npy", tmp_path / "parts"):
        blocks = as_label_blocks(path, block_rows=32)
        assert blocks.n_rows == 120
        assert blocks.n_objects == 119
        assert blocks.overlap.tolist() == ensemble.overlap.tolist()
        assert len(pickle.loads(pickle.dumps(blocks.source)).parts) == len(blocks.source.parts)
    assert blocks.names == tuple(f"run{e}" for e in range(labels.shape[1]))


def test_names_of_clusters_may_come_late(tmp_path):
    frames = [
        pl.DataFrame({"a": ["x", None], "b": [7, 7], "c": [None, None]}),
        pl.DataFrame({"a": ["y", "x"], "b": [3, None], "c": [None, None]}),
    ]
    for i, frame in enumerate(frames):
        frame.cast({"c": pl.Int64}).write_parquet(tmp_path / f"{i}.parquet")
    with pytest.warns(UserWarning, match="dropped 1 partition.*: c"):
        blocks = as_label_blocks(tmp_path)
    assert [c.tolist() for c in blocks.categories] == [["x", "y"], [3, 7]]
    assert blocks.take(np.arange(4)).tolist() == [[0, 1], [-1, 1], [1, 0], [0, -1]]
    assert blocks.encode([["y", 3, None], ["z", 8, None]]).tolist() == [[1, 0], [2, 2]]


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    parts_of(noisy_labels(0, 120, 4, n_clusters=5)[1], tmp_path)
    (tmp_path / "part-2.parquet").write_bytes(b"PAR1 but not really")
    with pytest.raises(BlockError, match=r"part-2\.parquet cannot be read"):
        open_source(tmp_path)
    (tmp_path / "empty.npy").write_bytes(b"")
    with pytest.raises(BlockError, match=r"empty\.npy cannot be read"):
        open_source(tmp_path / "empty.npy")
    with pytest.raises(BlockError, match="folder of these"):
        open_source(tmp_path / "table.csv")


def test_a_file_that_changes_is_refused(tmp_path):
    path = tmp_path / "labels.npy"
    np.save(path, noisy_labels(0, 120, 4, n_clusters=5)[1])
    blocks = LabelBlocks(open_source(path, block_rows=50))
    np.save(path, noisy_labels(1, 120, 4, n_clusters=5)[1])
    os.utime(path, ns=(1, 1))
    with pytest.raises(BlockError, match=r"labels\.npy has changed since"):
        _ = blocks.overlap


def test_files_of_a_folder_must_have_the_same_columns(tmp_path):
    pl.DataFrame({"a": [1], "b": [1]}).write_parquet(tmp_path / "1.parquet")
    pl.DataFrame({"b": [1], "a": [1]}).write_parquet(tmp_path / "2.parquet")
    with pytest.raises(BlockError, match=r"2\.parquet must have the columns of .*1\.parquet"):
        open_source(tmp_path)


def test_fixed_point_sums_do_not_depend_on_the_order():
    values = np.random.default_rng(0).random(1001) * 3.7
    whole = fixed_point(values, scale_for(1001, values.max()))
    assert whole.sum() == whole[::-1].sum() == whole[:500].sum() + whole[500:].sum()
    assert whole.sum() / scale_for(1001, values.max()) == pytest.approx(values.sum(), rel=1e-12)
