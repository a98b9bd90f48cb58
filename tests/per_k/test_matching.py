"""Cluster numbers matched from one number of clusters to the next."""

from itertools import permutations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from coterie._labels import order_by_size
from coterie.per_k._matching import match_numbers


@given(
    pairs=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 4)), min_size=5, max_size=12),
)
def test_the_matching_shares_as_many_objects_as_possible(pairs):
    previous, labels = (order_by_size(column) for column in np.array(pairs).T)
    n_before, n_now = previous.max() + 1, labels.max() + 1
    if n_now < n_before:
        previous, labels, n_now = labels, previous, n_before
    renamed = match_numbers(previous, labels)
    assert sorted(set(renamed)) == list(range(n_now))
    assert len(set(zip(labels, renamed, strict=True))) == n_now
    best = max(sum(np.array(p)[labels] == previous) for p in permutations(range(n_now)))
    assert (renamed == previous).sum() == best


def test_a_split_keeps_the_number_of_the_larger_part():
    previous = np.array([0, 0, 0, 0, 1, 1])
    labels = np.array([2, 1, 1, 1, 0, 0])
    assert match_numbers(previous, labels).tolist() == [2, 0, 0, 0, 1, 1]
