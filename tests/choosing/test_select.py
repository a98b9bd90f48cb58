"""Selection of partitions: planted bad ones must go."""

import numpy as np
import pytest

import naive
from coterie import Ensemble, RandomizedEnsemble, select
from coterie.choosing._select import CRITERIA, _choose_jointly
from coterie.metrics import pairwise_nmi

every_criterion = pytest.mark.parametrize("criterion", CRITERIA)


def planted(seed, n=240, good=15, bad=6):
    """(ensemble, which are bad): k-means partitions of lumps, random ones and constant ones."""
    rng = np.random.default_rng(seed)
    corners = 6.0 * np.array([[0, 0], [1, 0], [0, 1], [1, 1]])
    X = corners[np.arange(n) % 4] + rng.normal(size=(n, 2))
    maker = RandomizedEnsemble(n_partitions=good, n_clusters=(3, 12), random_state=seed)
    fine = maker.fit_transform(X).labels
    sizes = rng.integers(2, 12, size=bad)
    noise = [rng.integers(0, k, size=n) for k in sizes]
    shuffled = [rng.permutation(fine[:, 0]), rng.permutation(fine[:, 1])]
    constant = [np.zeros(n, dtype=int), np.full(n, 7)]
    columns = [*fine.T, *noise, *shuffled, *constant]
    is_bad = np.arange(len(columns)) >= good
    order = rng.permutation(len(columns))
    return Ensemble(np.column_stack(columns)[:, order]), is_bad[order]


@pytest.mark.parametrize("planting", range(5))
@every_criterion
def test_planted_bad_partitions_are_dropped(criterion, planting):
    ensemble, is_bad = planted(planting)
    for size in (5, 15):
        chosen = select(ensemble, size, criterion)
        assert len(set(chosen.tolist())) == size
        assert not is_bad[chosen].any()
    assert sorted(select(ensemble).tolist()) == np.flatnonzero(~is_bad).tolist()


@pytest.mark.parametrize("criterion", ["laca", "quality"])
def test_bad_majority(criterion):
    ensemble, is_bad = planted(0, good=8, bad=12)
    assert not is_bad[select(ensemble, 8, criterion)].any()


def test_without_the_screen_diversity_takes_noise():
    ensemble, is_bad = planted(1)
    assert is_bad[select(ensemble, 10, "joint", alpha=0.1, screen=False)].any()


@every_criterion
def test_nearly_the_same_partition_is_taken_once(criterion):
    # Copies of one partition with a single swap each add nothing that another view would not.
    rng = np.random.default_rng(0)
    truth = np.arange(120) % 3
    copies = []
    for _ in range(6):
        copy = truth.copy()
        i, j = rng.choice(120, 2, replace=False)
        copy[[i, j]] = copy[[j, i]]
        copies.append(copy)
    other = (np.arange(120) % 3 == 0).astype(int) + 2 * (np.arange(120) < 60)
    labels = np.column_stack([*copies, other])
    chosen = select(labels, 2, criterion)
    assert (6 in chosen) == (criterion in ("joint", "cas"))


def test_joint_criterion_is_that_of_the_definition(seed):
    ensemble, _ = planted(seed + 3)
    similarity = pairwise_nmi(ensemble)
    quality = (similarity.sum(axis=1) - 1) / (len(similarity) - 1)
    for alpha in (0.2, 0.5, 1.0):
        # The greedy step compares the same objective, term by term.
        expected = [int(np.argmax(quality))]
        while len(expected) < 6:
            free = [i for i in range(len(quality)) if i not in expected]
            gain = [
                alpha * quality[i] + (1 - alpha) * np.mean([1 - similarity[i, j] for j in expected])
                for i in free
            ]
            expected.append(free[int(np.argmax(np.round(gain, 12)))])
        assert _choose_jointly(similarity, quality, 6, alpha) == expected
    assert naive.joint_criterion(similarity, quality, 4, 1.0) == _choose_jointly(
        similarity, quality, 4, 1.0
    )


@every_criterion
def test_sizes(criterion):
    ensemble, is_bad = planted(2)
    n = ensemble.n_partitions
    assert sorted(select(ensemble, n, criterion).tolist()) == list(range(n))
    assert len(select(ensemble, 0.2, criterion)) == round(0.2 * n)
    # Outsiders come last, when nothing else is left.
    everything = select(ensemble, n, criterion)
    assert is_bad[everything[15:]].all()
    assert select(ensemble, 4, criterion).tolist() == select(ensemble, 4, criterion).tolist()


def test_validity_is_used():
    labels = np.column_stack([np.arange(12) % 3] * 4)
    ensemble = Ensemble(labels, validity=[0.1, 0.9, 0.5, 0.9])
    assert select(ensemble, 3, "validity").tolist() == [1, 3, 2]


def test_one_or_two_partitions():
    assert select([[0], [1], [1]]).tolist() == [0]
    assert sorted(select([[0, 0], [1, 0], [1, 1]]).tolist()) == [0, 1]
    assert sorted(select([[0, 0, 0], [0, 0, 0]]).tolist()) == [0, 1, 2]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"size": 0}, "size must be between 1 and the number of partitions"),
        ({"size": 99}, "size must be between 1 and the number of partitions"),
        ({"size": 1.5}, "size must be a number of partitions or a share"),
        ({"size": 1, "criterion": "best"}, "criterion must be one of"),
        ({"size": 1, "alpha": 2}, "alpha must lie in"),
    ],
)
def test_bad_settings(settings, words):
    with pytest.raises(ValueError, match=words):
        select(planted(0)[0], **settings)
