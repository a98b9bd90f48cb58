"""Orders of objects and the trees that methods leave."""

import numpy as np
import pytest
from hypothesis import given
from scipy.cluster.hierarchy import fcluster

import naive
from coterie import EAC, HNE, LACA, Ensemble, MSTEClust, Voting
from coterie._labels import order_by_size
from coterie.views import _order as ordering
from coterie.views._order import agreement_order, consensus_order, leaf_order, tree_of, vat_order
from strategies import label_matrices


def blobs(n=40, n_partitions=9, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 4, n)
    noise = rng.random((n, n_partitions)) < 0.2
    return Ensemble(np.where(noise, rng.integers(0, 6, (n, n_partitions)), truth[:, None])), truth


@given(labels=label_matrices(missing=False))
def test_vat_is_that_of_the_matrix(labels):
    ensemble = Ensemble(labels)
    # Rounded: 1 - 2/3 and 1/3 must tie as they do in the definition.
    D = np.round(1.0 - ensemble.coassociation(), 12)
    np.testing.assert_array_equal(vat_order(ensemble), naive.vat_order(D))


@given(labels=label_matrices())
def test_vat_is_an_order(labels):
    assert sorted(vat_order(Ensemble(labels))) == list(range(len(labels)))


def test_vat_shows_blocks():
    truth = np.array([0, 1, 0, 1, 2, 0, 2, 1])
    order = vat_order(Ensemble(truth[:, None]))
    assert (np.diff(truth[order]) != 0).sum() == 2  # every block in one piece


def test_vat_of_many_goes_by_a_sample(monkeypatch):
    ensemble, truth = blobs(300)
    exact = vat_order(ensemble)
    monkeypatch.setattr(ordering, "VAT_MAX_ROWS", 50)
    monkeypatch.setattr(ordering, "_VAT_SAMPLE", 40)
    order = vat_order(ensemble)
    assert sorted(order) == list(range(300))
    breaks = (np.diff(truth[order]) != 0).sum()
    assert breaks <= 3 * max(3, (np.diff(truth[exact]) != 0).sum())
    rng = np.random.default_rng(0)
    assert breaks < 0.5 * (np.diff(truth[rng.permutation(300)]) != 0).sum()


@pytest.mark.parametrize(
    "method", [EAC(), EAC(linkage="single"), LACA(), MSTEClust(), HNE(), Voting(n_clusters=4)]
)
def test_clusters_are_in_one_piece(method):
    fitted = method.fit(blobs()[0])
    order = consensus_order(fitted)
    assert sorted(order) == list(range(40))
    assert (np.diff(fitted.labels_[order]) != 0).sum() == fitted.n_clusters_ - 1


def test_so_is_every_cut_of_the_tree():
    eac = EAC().fit(blobs()[0])
    order = consensus_order(eac)
    for k in (2, 3, 5, 8):
        labels = EAC(n_clusters=k).fit(eac.ensemble_).labels_
        assert (np.diff(labels[order]) != 0).sum() == k - 1


def test_cuts_are_those_of_scipy():
    eac = EAC(linkage="complete").fit(blobs()[0])
    tree = tree_of(eac)
    for k in range(1, 12):
        # SciPy cuts ties at once; compare where it gives the number that was asked for.
        expected = fcluster(eac.linkage_, k, "maxclust")
        if len(np.unique(expected)) == k:
            np.testing.assert_array_equal(tree.cut(k), order_by_size(expected))


def test_spanning_trees_are_cut_at_their_heaviest_edges():
    mste = MSTEClust(n_clusters=3).fit(blobs()[0])
    tree = tree_of(mste)
    np.testing.assert_array_equal(tree.cut(3), mste.labels_)
    np.testing.assert_allclose(np.sort(tree.linkage[:, 2]), np.sort(mste.tree_[:, 2]))


def test_what_was_never_joined_stays_apart():
    hne = HNE().fit([[0, 0], [0, 0], [1, 1], [1, 1], [2, 2]])
    assert tree_of(hne).least_clusters == 3


def test_larger_branches_come_first():
    linkage = np.array([[1.0, 2.0, 0.1, 2.0], [0.0, 3.0, 0.2, 3.0]])
    assert leaf_order(linkage).tolist() == [1, 2, 0]


def test_methods_without_a_tree_have_none():
    assert tree_of(Voting(n_clusters=2).fit(blobs()[0])) is None
    assert tree_of(EAC().fit([[0, 1]])) is None


def test_methods_that_agree_stand_side_by_side():
    agreement = np.array(
        [[1.0, 0.1, 0.9, 0.0], [0.1, 1.0, 0.2, 0.8], [0.9, 0.2, 1.0, 0.1], [0.0, 0.8, 0.1, 1.0]]
    )
    place = np.argsort(agreement_order(agreement))
    assert abs(place[0] - place[2]) == abs(place[1] - place[3]) == 1
    assert agreement_order(agreement[:2, :2]).tolist() == [0, 1]
