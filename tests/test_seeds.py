"""Seeds: 0.0, as R gives it, is the seed 0 wherever a seed is taken."""

import numpy as np
import pytest

import coterie
from coterie import datasets
from coterie._checks import as_seed, check_random_state
from coterie.consensus import CONSENSUS
from strategies import noisy_labels

X = np.random.default_rng(0).normal(size=(40, 3)) + np.repeat([[0.0] * 3, [6.0] * 3], 20, axis=0)
LABELS = noisy_labels(0, 30, 6, n_clusters=3, noise=0.3)[1]
TAKES_SEED = [n for n, c in CONSENSUS.items() if "random_state" in c().get_params(deep=False)]


def test_whole_numbers_are_seeds():
    for seed in (0.0, np.float64(0), np.float32(0)):
        assert as_seed(seed) == 0
        assert check_random_state(seed).randint(2**31) == check_random_state(0).randint(2**31)
    with pytest.raises(ValueError, match="cannot be used to seed"):
        check_random_state(0.5)
    with pytest.raises(ValueError):  # noqa: PT011  numpy's words
        as_seed(-1.0)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", sorted(TAKES_SEED))
def test_consensus_methods(name):
    settings = {"n_clusters": 3}
    if "partitioner" in CONSENSUS[name]().get_params(deep=False):
        settings["partitioner"] = "spectral"
    labels = LABELS
    if name == "wsbpa":
        labels = coterie.LACEnsemble(3, inv_h=[1, 2], random_state=0).fit_transform(X)
    whole, real = (
        CONSENSUS[name](random_state=seed, **settings).fit_predict(labels) for seed in (0, 0.0)
    )
    np.testing.assert_array_equal(whole, real)


@pytest.mark.parametrize(
    "make",
    [
        lambda s: coterie.RandomizedEnsemble(n_partitions=4, random_state=s).fit_transform(X),
        lambda s: coterie.LAC(2, init="random", random_state=s).fit_predict(X),
        lambda s: coterie.LACEnsemble(2, inv_h=[1], random_state=s).fit_transform(X).labels,
        lambda s: coterie.USPEC(2, random_state=s).fit_predict(X),
        lambda s: coterie.BoostKMeans(2, n_rounds=3, random_state=s).fit_predict(X),
        lambda s: coterie.ConsensusClustering(random_state=s).fit_predict(X),
        lambda s: coterie.TablePreparation(reduce=2, random_state=s).fit_transform(X),
        lambda s: coterie.how_many_clusters(X, n_runs=2, random_state=s).criteria["stability"],
        lambda s: coterie.structure_test(X, random_state=s).p_value,
        lambda s: coterie.compare(LABELS, methods=["kcc"], random_state=s)["kcc"].labels,
        lambda s: datasets.make_half_rings(random_state=s)[0],
    ],
)
def test_all_else(make):
    np.testing.assert_array_equal(make(0), make(0.0))
