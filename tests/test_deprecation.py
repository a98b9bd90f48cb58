"""Renamed names work, warn at the caller's line, and are invisible to scikit-learn."""

import inspect

import pytest
from sklearn.base import BaseEstimator, clone

from coterie._deprecation import renamed_attribute, renamed_parameter


class Cut(BaseEstimator):
    @renamed_parameter("k", "n_clusters", removed_in="0.4")
    def __init__(self, n_clusters=2):
        self.n_clusters = n_clusters


def test_old_parameter_is_taken_with_a_warning_at_the_callers_line():
    message = r"parameter k is now n_clusters; the old name goes in version 0\.4\."
    with pytest.warns(FutureWarning, match=message) as caught:
        made = Cut(k=5)
    assert made.n_clusters == 5
    assert caught[0].filename == __file__


def test_new_parameter_does_not_warn():  # warnings are errors here
    assert Cut(3).n_clusters == Cut(n_clusters=3).n_clusters == 3
    assert list(inspect.signature(Cut).parameters) == ["n_clusters"]
    assert clone(Cut(4)).get_params() == {"n_clusters": 4}


def test_both_names_are_refused():
    with pytest.raises(TypeError, match="k is the former name of n_clusters; give n_clusters only"):
        Cut(k=1, n_clusters=2)


def test_old_attribute_warns_and_unknown_ones_are_errors():
    with pytest.warns(FutureWarning, match=r"coterie\.old is now coterie\.new; .* version 0\.4"):
        assert renamed_attribute("coterie", "old", {"old": "new"}, "0.4") == "new"
    with pytest.raises(AttributeError, match="module 'coterie' has no attribute 'none'"):
        renamed_attribute("coterie", "none", {"old": "new"}, "0.4")
