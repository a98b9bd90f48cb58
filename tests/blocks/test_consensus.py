"""A consensus of label rows in blocks is that of the same rows in memory."""

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from coterie import Ensemble
from coterie._graphs import _cluster_rows
from coterie.blocks import as_label_blocks
from coterie.consensus import CONSENSUS
from strategies import label_matrices, noisy_labels

EXACT = ["hbgf", "cspa", "wbpa", "lwgp", "mcla", "ecpcs", "voting", "mixture", "kcc"]
SAMPLED = ["laca", "eac", "lwea", "msteclust", "hne", "peace"]

every_method = pytest.mark.parametrize("name", EXACT + SAMPLED)
exact = pytest.mark.parametrize("name", EXACT)
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def make(name, n_clusters, **parameters):
    if "random_state" in CONSENSUS[name]().get_params():
        parameters.setdefault("random_state", 0)
    return CONSENSUS[name](n_clusters=n_clusters, **parameters)


def assert_same(in_blocks, in_memory):
    assert in_blocks.n_clusters_ == in_memory.n_clusters_
    assert np.asarray(in_blocks.labels_).tolist() == in_memory.labels_.tolist()
    if not in_memory.confidence_is_membership:
        assert np.asarray(in_blocks.confidence_).tolist() == in_memory.confidence_.tolist()


@every_method
@settings(max_examples=8)
@given(
    labels=label_matrices(min_objects=3, max_objects=12, unlabelled=True),
    block_rows=st.integers(1, 8),
    n_clusters=st.integers(2, 3),
)
def test_any_division_gives_what_memory_gives(name, labels, block_rows, n_clusters):
    assume(len(np.unique(labels[(labels != -1).any(axis=1)], axis=0)) >= n_clusters)
    expected = make(name, n_clusters).fit(labels)
    found = make(name, n_clusters).fit(as_label_blocks(labels, block_rows=block_rows))
    assert_same(found, expected)


@pytest.mark.parametrize("n_clusters", [None, 3])
@pytest.mark.parametrize("missing", [0.0, 0.15])
def test_laca_by_tables_is_that_of_memory(n_clusters, missing):
    labels = noisy_labels(3, 900, 8, n_clusters=4, noise=0.3, missing=missing)[1]
    expected = CONSENSUS["laca"](n_clusters, solver="multilevel").fit(labels)
    assert 1 < expected.n_clusters_ < 60
    for block_rows in (77, 900):
        found = CONSENSUS["laca"](n_clusters, solver="multilevel")
        found.fit(as_label_blocks(labels, block_rows=block_rows))
        assert_same(found, expected)
        assert found.log_likelihood_ == expected.log_likelihood_
        assert found.rho_.tolist() == expected.rho_.tolist()
        assert found.rounds_ == expected.rounds_


@exact
@pytest.mark.parametrize("most", [50_000, 150])
def test_also_where_k_means_sees_a_sample(name, most, monkeypatch):
    monkeypatch.setattr(_cluster_rows, "_MOST_ROWS", most)
    monkeypatch.setattr(_cluster_rows, "_ROWS_PER_PART", 1)
    labels = noisy_labels(1, 600, 7, n_clusters=4, noise=0.3)[1]
    labels[np.random.default_rng(0).random(labels.shape) < 0.1] = -1
    assert len(Ensemble(labels).patterns.counts) > 150
    expected = make(name, 4).fit(labels)
    for block_rows in (77, 600):
        found = make(name, 4).fit(as_label_blocks(labels, block_rows=block_rows))
        assert_same(found, expected)
        if hasattr(expected, "cluster_labels_"):
            assert found.cluster_labels_.tolist() == expected.cluster_labels_.tolist()
    assert found.predict(labels[:20]).tolist() == expected.labels_[:20].tolist()
    assert (found.predict_confidence(labels[:20]) >= 0).all()


def test_a_sample_is_said_and_is_that_of_memory():
    labels = noisy_labels(2, 500, 8, n_clusters=3, noise=0.3)[1]
    expected = CONSENSUS["lwea"](3, max_objects=100).fit(labels)
    with pytest.warns(UserWarning, match="fitted to a sample of 100 of the 500 objects"):
        found = CONSENSUS["lwea"](3, max_objects=100).fit(as_label_blocks(labels, block_rows=60))
    assert found.sample_.tolist() == expected.sample_.tolist()
    assert_same(found, expected)


def test_results_come_block_by_block(tmp_path):
    labels = noisy_labels(0, 90, 5, n_clusters=3, noise=0.2)[1]
    frame = pl.DataFrame(labels, schema=[str(e) for e in range(5)], orient="row")
    for i in range(3):
        frame[30 * i : 30 * (i + 1)].write_parquet(tmp_path / f"{i}.parquet")
    hbgf = make("hbgf", 3).fit(as_label_blocks(tmp_path))
    assert [len(block) for block in hbgf.labels_] == [30, 30, 30]
    assert "90 objects in 3 blocks" in repr(hbgf.labels_)
    assert len(hbgf.confidence_) == 90


def test_metis_needs_memory():
    with pytest.raises(ValueError, match="partitioner must be 'spectral' where rows come in"):
        make("hbgf", 2, partitioner="metis").fit(as_label_blocks([[0, 0], [1, 1], [0, 1]]))
