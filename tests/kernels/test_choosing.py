"""Consensus histograms and peaks, against their definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from coterie import Ensemble
from coterie._kernels.consensus_histogram import share_histogram
from coterie._kernels.prominence import peak_prominences
from strategies import label_matrices, random_labels


@given(labels=label_matrices(), n_bins=st.integers(1, 12))
def test_histogram_is_that_of_the_definition(labels, n_bins):
    columns = Ensemble(labels).compact_codes
    expected = naive.share_histogram(labels.tolist(), n_bins)
    assert share_histogram(columns, n_bins).tolist() == expected


@pytest.mark.slow
def test_histogram_past_one_tile():
    labels = random_labels(0, 5000, 3, missing=0.1)
    ensemble = Ensemble(labels)
    shares = ensemble.coassociation(dtype=np.float32)
    seen = (ensemble.labels >= 0).astype(np.float32)
    upper = np.triu_indices(5000, 1)
    values = shares[upper][(seen @ seen.T)[upper] > 0]
    sixths = np.round(6 * values, 4)  # of at most three partitions: whole numbers
    expected = np.zeros(13, dtype=int)
    expected[::2] = np.bincount(sixths.astype(int), minlength=7)
    assert share_histogram(ensemble.compact_codes, 6).tolist() == expected.tolist()


@given(data=st.data(), n=st.integers(2, 9), least=st.integers(1, 3))
def test_peaks_are_those_of_the_definition(data, n, least):
    # Distinct distances: which of several equal edges joins first would be a matter of taste.
    ranks = data.draw(st.permutations(range(1, n * (n - 1) // 2 + 1)))
    distances = np.zeros((n, n))
    distances[np.triu_indices(n, 1)] = ranks
    distances += distances.T
    core = np.sort(distances, axis=1)[:, min(1, n - 1)]
    found = peak_prominences(distances, core, least, False)
    assert sorted(found.tolist()) == naive.peak_prominences(distances, core, least)


def test_ratio_is_of_logarithms():
    place = np.array([0.0, 1.0, 2.0, 20.0, 21.0, 22.0])
    distances = np.abs(place[:, None] - place)
    core = np.full(6, 1.0)
    assert peak_prominences(distances, core, 2, True).max() == pytest.approx(np.log(18.0))
    assert peak_prominences(distances, core, 2, False).max() == pytest.approx(17.0)
    assert len(peak_prominences(distances, core, 4, False)) == 0
