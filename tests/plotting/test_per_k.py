"""Pictures of one consensus per number: what is computed is tested, and each is drawn once."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

pytest.importorskip("matplotlib")

from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from sklearn.metrics import silhouette_samples

from coterie import EAC, ConsensusPerK, MSTEClust, plotting
from coterie.views._annotations import annotation_codes
from coterie.views._clustering_tree import clustering_tree
from coterie.views._palette import cluster_colour
from coterie.views._per_k import at_number, consensus_curves, consensus_silhouette, tracking_table


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(0)
    X = np.repeat(5 * np.eye(4)[:3], 10, axis=0) + rng.normal(size=(30, 4))
    return ConsensusPerK(k_range=[2, 3, 4], n_resamples=10, random_state=0).fit(X)


def axes():
    return Figure(figsize=(80 / 25.4, 2.2), layout="constrained").add_subplot()


def drawn(ax):
    """Draw in full, so that nothing is left to fail later."""
    ax.figure.canvas.draw()
    return ax


def test_tracking_shows_the_matched_clusters(found):
    order, table = tracking_table(found)
    assert sorted(order) == list(range(30))
    assert all(
        (row == found.labels_[k][order]).all() for k, row in zip([2, 3, 4], table, strict=True)
    )
    runs = np.flatnonzero(np.diff(found.labels_[found.best_k_][order])).size + 1
    assert runs == found.best_k_
    ax = drawn(plotting.plot_tracking(found, ax=axes()))
    assert_allclose(ax.images[0].get_array()[0, 0], to_rgb(cluster_colour(table[0, 0])))
    assert [t.get_text() for t in ax.get_yticklabels()] == ["2", "3 *", "4"]


def test_curves_are_those_of_the_fit(found):
    curves = consensus_curves(found)
    assert_allclose(curves.cdf[1], found.cdf(3))
    assert_allclose(curves.delta_area, list(found.delta_area_.values()))
    ax = drawn(plotting.plot_consensus_cdf(found, ax=axes()))
    assert "3 *" in [t.get_text() for t in ax.get_legend().get_texts()]
    ax = drawn(plotting.plot_delta_area(found, ax=axes()))
    assert_allclose(ax.lines[1].get_ydata(), [found.delta_area_[3]])


def test_silhouette_needs_no_matrix(found):
    view = at_number(found, 4)
    distances = 1 - found.consensus_matrix(4)
    np.fill_diagonal(distances, 0.0)
    expected = silhouette_samples(distances, view.labels_, metric="precomputed")
    assert_allclose(consensus_silhouette(view), expected, atol=1e-12)
    ax = drawn(plotting.plot_consensus_silhouette(found, 4, ax=axes()))
    assert len(ax.get_yticks()) == 4


def test_bars_are_item_and_cluster_consensus(found):
    ax = drawn(plotting.plot_item_consensus(found, ax=axes()))
    heights = np.zeros(30)
    for bar in ax.patches:
        heights[round(bar.get_x() + 0.5)] += bar.get_height()
    assert_allclose(np.sort(heights), np.sort(np.nansum(found.item_consensus(3), axis=1)))
    ax = drawn(plotting.plot_cluster_consensus(found, ax=axes()))
    expected = np.concatenate([found.cluster_consensus(k) for k in (2, 3, 4)])
    assert_allclose([bar.get_height() for bar in ax.patches], np.nan_to_num(expected))


@pytest.mark.parametrize("method", [EAC(2), MSTEClust(2)])
def test_consensus_pictures_take_any_method(method):
    labels = np.random.default_rng(0).integers(0, 3, size=(12, 5))
    model = method.fit(labels)
    drawn(plotting.plot_item_consensus(model, ax=axes()))
    drawn(plotting.plot_consensus_silhouette(model, ax=axes()))
    drawn(plotting.plot_coassociation(model, annotations={"kind": list("ab") * 6}, ax=axes()))
    with pytest.raises(ValueError, match="k must be the number of clusters of the consensus"):
        plotting.plot_item_consensus(model, 5)


def test_annotations_are_classes_or_numbers():
    codes = annotation_codes(
        {"sex": ["m", "f", None, "m"], "grade": [2, 1, 2, 3], "age": [40.5, np.nan, 31, 50]}, 4
    )
    assert codes["sex"][1] == ["f", "m"]
    assert_allclose(codes["sex"][0], [1, 0, np.nan, 1])
    assert codes["grade"][1] == ["1", "2", "3"]
    assert codes["age"][1] is None
    assert_allclose(codes["age"][0], [40.5, np.nan, 31, 50])
    with pytest.raises(ValueError, match="one value for each of the 3 objects"):
        annotation_codes({"sex": ["m"]}, 3)


def test_annotations_stand_in_the_order_of_the_heat_map(found):
    kinds = np.array(["a", "b", "c"])[found.labels_[3]]
    ax = drawn(plotting.plot_coassociation(found, k=3, annotations={"kind": kinds}, ax=axes()))
    bar = ax.child_axes[0].images[0].get_array()[0]
    assert (np.abs(np.diff(bar, axis=0)).sum(axis=1) > 0).sum() == 2
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["kind: a", "kind: b", "kind: c"]


def test_clustering_tree_counts_who_goes_where():
    levels = {0.5: [0, 0, 0, 0, 1, 1], 1.0: ["x", "x", "y", "y", "z", "z"]}
    names, nodes, edges = clustering_tree(levels)
    assert names == [0.5, 1.0]
    assert [(node.level, node.size) for node in nodes] == [(0, 4), (0, 2), (1, 2), (1, 2), (1, 2)]
    flow = {(nodes[e.start].cluster, nodes[e.end].cluster): (e.n_objects, e.share) for e in edges}
    assert flow == {(0, 0): (2, 1.0), (0, 1): (2, 1.0), (1, 2): (2, 1.0)}
    assert [node.stability for node in nodes] == [0.5, 1.0, 0.5, 0.5, 1.0]
    places = [node.place for node in nodes]
    assert places[4] > max(places[2:4])
    drawn(plotting.plot_clustering_tree(levels, ax=axes()))
    with pytest.raises(ValueError, match="at least two partitions"):
        clustering_tree({1: [0, 1]})


def test_clustering_tree_of_a_fit_shows_the_cluster_consensus(found):
    _, nodes, _ = clustering_tree(found)
    expected = np.concatenate([found.cluster_consensus(k) for k in (2, 3, 4)])
    assert_allclose([node.stability for node in nodes], expected)
    drawn(plotting.plot_clustering_tree(found, ax=axes()))


def test_doubtful_objects_are_faint(found):
    places = np.random.default_rng(0).normal(size=(30, 2))
    ax = drawn(plotting.plot_embedding(found, places, ax=axes()))
    shown = [c for c in ax.collections if len(c.get_offsets())]
    assert sum(len(c.get_offsets()) for c in shown) == 30
    assert max(np.max(c.get_alpha()) for c in shown) <= 1
    with pytest.raises(ValueError, match="embedding must have a row"):
        plotting.plot_embedding(found, places[:5])
