"""Recipes, and runs that are fitted to a sample and label everybody."""

import numpy as np
import pytest
from sklearn.cluster import AgglomerativeClustering, KMeans

from coterie import ConsensusClustering, RandomizedEnsemble
from coterie.generation._recipes import MAX_OBJECTS, RECIPES, make_generator


def lumps(n, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 3)) + 8 * rng.normal(size=(4, 3))[np.arange(n) % 4]


@pytest.mark.parametrize("n_objects", [2, 3, 4, 5, 17, 150, 5_000, 60_000])
def test_default_recipe_suits_any_size(n_objects):
    maker = make_generator("default", n_objects, random_state=0)
    low, high = maker.n_clusters
    assert 2 <= low <= high <= min(n_objects, MAX_OBJECTS)
    assert maker.left_out == "assigned"
    assert maker.max_samples == (1.0 if n_objects <= MAX_OBJECTS else MAX_OBJECTS)


def test_laca_recipe_is_that_of_the_paper():
    paper = RandomizedEnsemble().get_params()
    assert make_generator("laca", 100).get_params() == paper
    X = lumps(100)
    model = ConsensusClustering(generator="laca", consensus="laca", random_state=0).fit(X)
    assert model.ensemble_ == RandomizedEnsemble(random_state=0).fit_transform(X)


def test_settings_replace_those_of_the_recipe():
    assert make_generator("default", 100, n_partitions=7).n_partitions == 7
    assert set(RECIPES) == {"default", "laca"}
    with pytest.raises(ValueError, match="recipe must be one of 'default', 'laca'; got 'best'"):
        make_generator("best", 100)


@pytest.mark.parametrize("base", [KMeans(n_init=1), AgglomerativeClustering()])
def test_left_out_objects_get_the_label_of_transform(base):
    X = lumps(120)
    settings = {"n_partitions": 6, "n_clusters": (3, 8), "max_samples": 40, "random_state": 0}
    drawn = RandomizedEnsemble(base, **settings).fit(X)
    whole = RandomizedEnsemble(base, left_out="assigned", **settings).fit(X)
    assert drawn.ensemble_.has_missing
    assert not whole.ensemble_.has_missing
    assert (whole.ensemble_.labels == drawn.transform(X)).all()
    seen = drawn.ensemble_.labels >= 0
    assert (whole.ensemble_.labels[seen] == drawn.ensemble_.labels[seen]).all()
    assert (whole.transform(X) == whole.ensemble_.labels).all()


def test_left_out_must_be_known():
    with pytest.raises(ValueError, match="left_out must be 'missing' or 'assigned'"):
        RandomizedEnsemble(left_out="guessed").fit(lumps(20))


def test_default_on_more_objects_than_a_run_sees(monkeypatch):
    X = lumps(900)
    monkeypatch.setattr("coterie.generation._recipes.MAX_OBJECTS", 300)
    model = ConsensusClustering(random_state=0).fit(X)
    assert model.generator_.max_samples == 300
    assert model.n_clusters_ == 4
    assert (model.predict(X) == model.labels_).mean() > 0.99
