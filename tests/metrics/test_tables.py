"""Contingency tables of one partition with an ensemble, and NMI by the smaller entropy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from coterie import Ensemble
from coterie._kernels.clusters import sum_label_rows
from coterie.metrics._tables import nmi_of, tables_from_sums, tables_with
from strategies import label_matrices


@given(labels=label_matrices(), data=st.data())
def test_tables_from_sums_are_those_of_the_objects(labels, data):
    ensemble = Ensemble(labels)
    rows, counts, inverse = ensemble.patterns
    chosen = np.array(
        data.draw(st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows)))
    )
    sums = sum_label_rows(rows, ensemble.offsets, counts, chosen, 4).astype(np.int64)
    found = tables_from_sums(sums, ensemble.offsets)
    expected = tables_with(chosen[inverse], ensemble.labels, ensemble.n_clusters)
    assert found.n_tables == expected.n_tables
    assert sorted(zip(*found[1:], strict=True)) == sorted(zip(*expected[1:], strict=True))


@pytest.mark.parametrize("by_smaller", [False, True])
@given(labels=label_matrices(missing=False), data=st.data())
def test_nmi_of_tables(by_smaller, labels, data):
    n = len(labels)
    codes = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    ensemble = Ensemble(labels)
    tables = tables_with(codes, ensemble.labels, ensemble.n_clusters)
    expected = [naive.nmi(codes, column, by_smaller=by_smaller) for column in labels.T]
    assert nmi_of(tables, by_smaller=by_smaller) == pytest.approx(expected, abs=1e-12)


def test_by_the_smaller_entropy_finer_partitions_agree_with_clusters_of_any_size():
    fine = np.repeat(np.arange(10), 10)[:, None].astype(np.int32)
    for size in (50, 90):
        coarse = (np.arange(100) >= size).astype(int)
        tables = tables_with(coarse, fine, np.array([10]))
        assert nmi_of(tables, by_smaller=True) == pytest.approx(1.0)
