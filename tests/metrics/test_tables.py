"""NMI from contingency tables of one partition with an ensemble."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from coterie import Ensemble
from coterie.metrics._tables import nmi_of, tables_with
from strategies import label_matrices


@given(labels=label_matrices(missing=False), data=st.data())
def test_nmi_of_tables(labels, data):
    n = len(labels)
    codes = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    ensemble = Ensemble(labels)
    tables = tables_with(codes, ensemble.labels, ensemble.n_clusters)
    expected = [naive.nmi(codes, column) for column in labels.T]
    assert nmi_of(tables) == pytest.approx(expected, abs=1e-12)
