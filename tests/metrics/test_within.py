"""Confidence within a cluster: the definition, and what it is for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from coterie import LWEA
from coterie.metrics import within_confidence


def naive(labels, confidence):
    """From the definition, object by object."""
    found = []
    for label, value in zip(labels, confidence, strict=True):
        usual = [c for other, c in zip(labels, confidence, strict=True) if other == label and c > 0]
        found.append(min(1.0, value / np.median(usual)) if value > 0 else 0.0)
    return found


@given(
    st.lists(
        st.tuples(st.integers(0, 4), st.sampled_from([0.0, 0.2, 0.5, 0.5, 0.9, 1.0])), min_size=1
    )
)
def test_is_that_of_the_definition(pairs):
    labels, confidence = (np.array(values) for values in zip(*pairs, strict=True))
    assert_allclose(within_confidence(labels, confidence), naive(labels, confidence))


def test_marks_the_doubtful_objects_of_clusters_that_are_low_as_a_whole():
    """Two clusters that half of the partitions merge, and one object between them."""
    fine, coarse = np.repeat([0, 1, 2], 20), np.repeat([0, 0, 2], 20)
    labels = np.column_stack([fine] * 10 + [coarse] * 10)
    labels[0, :5] = 1
    model = LWEA(n_clusters=3).fit(labels)
    within = within_confidence(model.labels_, model.confidence_)
    assert model.confidence_[1:40].max() < 0.7  # as a whole
    assert_array_equal(within[1:] > 0.95, True)
    assert within[0] < 0.8


@pytest.mark.parametrize(
    ("labels", "confidence"), [([0, 1], [0.5]), ([[0], [1]], [0.5, 1.0]), ([0.5, 1], [0.5, 1.0])]
)
def test_input_is_checked(labels, confidence):
    with pytest.raises(ValueError, match="must be vectors of the same length"):
        within_confidence(labels, confidence)
