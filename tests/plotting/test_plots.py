"""Plots: their numbers against definitions, and that every one can be drawn."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from coterie import (
    EAC,
    HNE,
    LACA,
    PEACE,
    BaumEagon,
    ConsensusClustering,
    Ensemble,
    MixtureModel,
    MSTEClust,
    RandomizedEnsemble,
    Voting,
)
from coterie.plotting import _style
from coterie.views import _palette
from coterie.views._blocks import mean_blocks
from coterie.views._clusters import (
    confidence_quantiles,
    diversity_and_accuracy,
    heaviest_features,
    sorted_memberships,
)
from coterie.views._curves import choice_curve, likelihood_steps
from coterie.views._order import tree_of
from coterie.views._projection import place_by_labels, place_objects
from coterie.views._trees import contracted_tree, top_of_tree
from strategies import label_matrices

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

from coterie import plotting  # noqa: E402


@pytest.fixture(autouse=True)
def _no_figures_left():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def ensemble():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(c, 0.6, size=(25, 3)) for c in (0, 4, 8)])
    return RandomizedEnsemble(n_partitions=15, n_clusters=(3, 8), random_state=0).fit_transform(X)


TWO = Ensemble([[0, 0], [0, 0], [0, 1], [1, 1], [1, 1], [2, 1]])
ONE = Ensemble([[0, 0]])


# --- numbers --------------------------------------------------------------------------------------


@given(labels=label_matrices(), data=st.data())
def test_few_blocks_are_the_coassociation(labels, data):
    ensemble = Ensemble(labels)
    order = np.array(data.draw(st.permutations(range(ensemble.n_objects))))
    blocks = mean_blocks(ensemble, order)
    expected = np.array(naive.coassociation(ensemble.labels), dtype=float)[np.ix_(order, order)]
    off_diagonal = ~np.eye(len(order), dtype=bool)
    np.testing.assert_allclose(blocks.shares[off_diagonal], expected[off_diagonal])


@pytest.mark.parametrize("dense_cells", [1 << 22, 0])
def test_blocks_are_shares_of_the_votes(monkeypatch, dense_cells):
    from coterie.views import _blocks

    monkeypatch.setattr(_blocks, "_DENSE_CELLS", dense_cells)
    rng = np.random.default_rng(0)
    labels = rng.integers(-1, 3, size=(23, 4))
    order = rng.permutation(23)
    edges, shares = mean_blocks(Ensemble(labels), order, most=5)
    assert (edges[0], edges[-1], len(edges)) == (0, 23, 6)
    for a in range(5):
        for b in range(5):
            first = labels[order[edges[a] : edges[a + 1]]][:, None]
            second = labels[order[edges[b] : edges[b + 1]]][None]
            both = (first >= 0) & (second >= 0)
            assert shares[a, b] == pytest.approx(((first == second) & both).sum() / both.sum())


@pytest.mark.parametrize("n_leaves", [4, 12, 1000])
def test_top_of_tree_keeps_objects_and_heights(ensemble, n_leaves):
    eac = EAC(n_clusters=3).fit(ensemble)
    tree = tree_of(eac)
    top = top_of_tree(tree, eac.labels_, n_leaves)
    p = min(75, n_leaves)
    assert len(top.sizes) == p
    assert top.sizes.sum() == 75
    assert len(top.x) == p - 1
    np.testing.assert_allclose(np.sort(top.y[:, 1]), np.sort(eac.linkage_[75 - p :, 2]))
    assert ((top.x[:, 0] <= top.x[:, 2]) & (top.y[:, 1] >= top.y[:, [0, 3]].max(axis=1))).all()
    # Three clusters: all but two merges are below the cut, and each is within one cluster.
    assert (top.cluster < 0).sum() == 2
    assert (top.y[top.cluster < 0, 1] > top.cut).all()
    assert (top.y[top.cluster >= 0, 1] < top.cut).all()


def test_top_of_tree_without_a_cut(ensemble):
    refined = LACA(refine=True).fit(ensemble)
    refined.labels_ = np.roll(refined.labels_, 1)  # certainly no cut of the tree
    top = top_of_tree(tree_of(refined), refined.labels_)
    assert top.cut is None
    assert (top.cluster == -1).all()


def test_unjoined_clusters_are_not_drawn():
    hne = HNE().fit([[0, 0], [0, 0], [1, 1], [1, 1], [2, 2]])
    top = top_of_tree(tree_of(hne), hne.labels_)
    assert len(top.x) == 2
    assert np.isfinite(top.cut)


def test_memberships_are_sorted_and_averaged():
    membership = np.array([[0.6, 0.4], [0.9, 0.1], [0.2, 0.8], [0.7, 0.3]])
    labels = np.array([0, 0, 1, 0])
    values, edges, order = sorted_memberships(membership, labels, most=10)
    assert order.tolist() == [1, 3, 0, 2]
    np.testing.assert_allclose(values, membership[order])
    values, edges, _ = sorted_memberships(membership, labels, most=2)
    assert edges.tolist() == [0, 2, 4]
    np.testing.assert_allclose(values, [[0.8, 0.2], [0.4, 0.6]])


def test_quantiles_are_of_each_cluster():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 50)
    confidence = rng.random(50)
    found = confidence_quantiles(labels, confidence, 3)
    for c in range(3):
        members = confidence[labels == c]
        expected = np.quantile(members, [0, 0.05, 0.25, 0.5, 0.75, 0.95, 1])
        np.testing.assert_allclose(found[c], expected)


def test_diversity_and_accuracy_by_definition(ensemble):
    from coterie.metrics import nmi

    reference = np.repeat([0, 1, 2], 25)
    found = diversity_and_accuracy(ensemble, reference)
    columns = ensemble.labels.T
    for e in (0, 7):
        others = [nmi(columns[e], other) for f, other in enumerate(columns) if f != e]
        assert found.diversity[e] == pytest.approx(1 - np.mean(others))
        assert found.accuracy[e] == pytest.approx(nmi(columns[e], reference))
    alone = diversity_and_accuracy(Ensemble([[0], [1]]), [0, 1])
    assert np.isnan(alone.diversity).all()


def test_heaviest_features_are_in_order():
    found = heaviest_features([[0.1, 0.7, 0.2], [0.5, 0.0, 0.5]], 2)
    assert found.features.tolist() == [[1, 2], [0, 2]]
    np.testing.assert_allclose(found.weights, [[0.7, 0.2], [0.5, 0.5]])


def test_choice_curves(ensemble):
    eac = EAC().fit(ensemble)
    curve = choice_curve(eac, 6)
    assert curve.numbers.tolist() == [2, 3, 4, 5, 6]
    np.testing.assert_allclose(curve.values, eac.n_clusters_curve_.array[:5])
    mste = MSTEClust().fit(ensemble)
    curve = choice_curve(mste)
    assert curve.best == "lowest"
    assert curve.numbers[np.argmin(curve.values)] == mste.n_clusters_
    assert choice_curve(Voting(n_clusters=2).fit(TWO)) is None


def test_contracted_trees_keep_objects_and_cuts(ensemble):
    mste = MSTEClust(n_clusters=3).fit(ensemble)
    places = np.arange(150.0).reshape(75, 2)
    whole = contracted_tree(mste.tree_, mste.labels_, places)
    assert len(whole.sizes) == 75
    small = contracted_tree(mste.tree_, mste.labels_, places, n_nodes=10)
    assert len(small.sizes) == 10
    assert len(small.edges) == 9
    for drawn in (whole, small):
        assert drawn.sizes.sum() == 75
        assert drawn.removed.sum() == 2
        np.testing.assert_allclose(drawn.sizes @ drawn.places, places.sum(axis=0))


def test_likelihood_steps(ensemble):
    laca = LACA().fit(ensemble)
    found = likelihood_steps(laca)
    assert found.values[-1] == laca.history_[-1, 1]
    peace = PEACE(n_clusters=3, n_init=1, random_state=0).fit(ensemble)
    assert (np.diff(likelihood_steps(peace).values) >= 0).all()
    error = BaumEagon(n_clusters=3, n_init=1, random_state=0).fit(ensemble)
    assert likelihood_steps(error).name == "squared error"


def test_places_by_labels_put_equal_objects_together():
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1, 2], 200)
    labels = np.where(rng.random((600, 20)) < 0.1, rng.integers(0, 5, (600, 20)), group[:, None])
    labels[7] = labels[3]
    labels[labels.shape[0] // 2 :, 0] = -1
    places = place_by_labels(Ensemble(labels)).places
    np.testing.assert_allclose(places[7], places[3])
    centres = np.array([places[group == g].mean(axis=0) for g in range(3)])
    nearest = np.linalg.norm(places[:, None] - centres, axis=2).argmin(axis=1)
    assert (nearest == group).mean() > 0.98


def test_places_of_many_clusters_use_the_sparse_solver():
    rng = np.random.default_rng(1)
    group = np.repeat([0, 1], 300)
    labels = group[:, None] * 40 + rng.integers(0, 40, (600, 10))
    places = place_by_labels(Ensemble(labels)).places
    centres = np.array([places[group == g].mean(axis=0) for g in range(2)])
    nearest = np.linalg.norm(places[:, None] - centres, axis=2).argmin(axis=1)
    assert (nearest == group).mean() > 0.98


@pytest.mark.parametrize("votes", [[[0]], [[0], [0]], [[0], [1]], [[0, 1], [1, 0], [1, 1]]])
def test_places_of_few_objects_are_finite(votes):
    assert np.isfinite(place_by_labels(Ensemble(votes)).places).all()


def test_places_by_features():
    X = np.random.default_rng(0).normal(size=(6, 5))
    assert place_objects(TWO, X[:, :1]).axes == ("feature 0", "")
    np.testing.assert_allclose(place_objects(TWO, X[:, :2], ["a", "b"]).places, X[:, :2])
    assert place_objects(TWO, X).kind == "components"
    assert np.isfinite(place_objects(TWO, np.ones((6, 4))).places).all()
    with pytest.raises(ValueError, match="row for each of the 6 objects"):
        place_objects(TWO, X[:3])


# --- drawing --------------------------------------------------------------------------------------

WEIGHTS = np.abs(np.random.default_rng(0).normal(size=(5, 40)))
DRAWINGS = {
    "coassociation": lambda e, ax: plotting.plot_coassociation(LACA().fit(e), ax=ax),
    "vat": lambda e, ax: plotting.plot_coassociation(e, ax=ax),
    "some objects": lambda e, ax: plotting.plot_coassociation(e, order=[2, 0, 1], ax=ax),
    "dendrogram": lambda e, ax: plotting.plot_dendrogram(EAC().fit(e), ax=ax),
    "dendrogram of HNE": lambda e, ax: plotting.plot_dendrogram(HNE().fit(e), ax=ax),
    "lifetimes": lambda e, ax: plotting.plot_lifetimes(EAC().fit(e), ax=ax),
    "reliability": lambda e, ax: plotting.plot_reliability(LACA().fit(e), ax=ax),
    "likelihood": lambda e, ax: plotting.plot_likelihood(LACA().fit(e), ax=ax),
    "over k": lambda e, ax: plotting.plot_likelihood(LACA().fit(e), over="clusters", ax=ax),
    "criterion": lambda e, ax: plotting.plot_criterion(MSTEClust().fit(e), ax=ax),
    "tree": lambda e, ax: plotting.plot_tree(MSTEClust().fit(e), ax=ax),
    "memberships": lambda e, ax: plotting.plot_memberships(Voting(n_clusters=2).fit(e), ax=ax),
    "sizes": lambda e, ax: plotting.plot_sizes(EAC().fit(e), ax=ax),
    "confidence": lambda e, ax: plotting.plot_confidence(EAC().fit(e), ax=ax),
    "diversity": lambda e, ax: plotting.plot_diversity(EAC().fit(e), ax=ax),
    "weights": lambda e, ax: plotting.plot_feature_weights(WEIGHTS, ax=ax),
    "weights of one": lambda e, ax: plotting.plot_feature_weights(WEIGHTS, cluster=2, ax=ax),
    "feature map": lambda e, ax: plotting.plot_feature_map(
        EAC(n_clusters=2).fit(e), np.random.default_rng(0).random((e.n_objects, 5)), ax=ax
    ),
    "words": lambda e, ax: plotting.plot_words(WEIGHTS, names=["$x_1$ <b>"] * 40, ax=ax),
}


@pytest.mark.parametrize("which", ["many", "two"])
@pytest.mark.parametrize("name", DRAWINGS)
def test_draws_on_the_axes_given_and_on_its_own(name, which, ensemble):
    chosen = ensemble if which == "many" else TWO
    settings = dict(plt.rcParams)
    figure, ax = plt.subplots(figsize=(_style.WIDTH, _style.WIDTH * 0.75), layout="constrained")
    assert DRAWINGS[name](chosen, ax) is ax
    figure.canvas.draw()
    own = DRAWINGS[name](chosen, None)
    assert own is not ax
    own.figure.canvas.draw()
    assert dict(plt.rcParams) == settings
    assert own.has_data() or own.texts


def test_never_more_rows_than_pixels():
    labels = np.random.default_rng(0).integers(0, 5, size=(3000, 4))
    _, ax = plt.subplots(figsize=(2, 2), dpi=50)
    plotting.plot_coassociation(Ensemble(labels), order=np.arange(3000), ax=ax)
    assert max(ax.images[0].get_array().shape) <= 100
    voting = Voting(n_clusters=2).fit(labels)
    _, ax = plt.subplots(figsize=(2, 2), dpi=50)
    plotting.plot_memberships(voting, ax=ax)
    vertices = sum(len(c.get_paths()[0].vertices) for c in ax.collections)
    assert vertices < 100 * 2 * 2 * 4 + 100


def test_models_may_be_wrapped(ensemble):
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(c, 0.6, size=(25, 3)) for c in (0, 4, 8)])
    model = ConsensusClustering(n_clusters=3, random_state=0).fit(X)
    assert plotting.plot_sizes(model).patches
    from sklearn.pipeline import make_pipeline

    pipeline = make_pipeline(RandomizedEnsemble(n_partitions=5, random_state=0), EAC(n_clusters=3))
    assert len(plotting.plot_sizes(pipeline.fit(X)).patches) == 3


@pytest.mark.parametrize(
    ("draw", "error", "words"),
    [
        (lambda: plotting.plot_dendrogram(Voting(2).fit(TWO)), TypeError, "Voting has no tree"),
        (lambda: plotting.plot_lifetimes(LACA().fit(TWO)), TypeError, "EAC has it"),
        (lambda: plotting.plot_memberships(EAC().fit(TWO)), TypeError, "PEACE"),
        (lambda: plotting.plot_sizes(EAC()), ValueError, "Call fit first"),
        (lambda: plotting.plot_coassociation(TWO, order="size"), ValueError, "'vat'"),
        (lambda: plotting.plot_coassociation(TWO, order="consensus"), ValueError, "fit a method"),
        (lambda: plotting.plot_coassociation(TWO, order=[9]), ValueError, "from 0 to 5; got 9"),
        (lambda: plotting.plot_coassociation(TWO, order=[[1]]), ValueError, "vector of objects"),
        (lambda: plotting.plot_likelihood(LACA().fit(TWO), over="k"), ValueError, "'clusters'"),
        (lambda: plotting.plot_diversity(TWO), ValueError, "reference must be given"),
        (lambda: plotting.plot_feature_weights(WEIGHTS, cluster=5), ValueError, "0 to 4; got 5"),
        (lambda: plotting.plot_feature_weights(WEIGHTS, names=["a"]), ValueError, "40 features"),
        (lambda: plotting.plot_dendrogram(EAC().fit(TWO), max_leaves=1), ValueError, "at least 2"),
        (lambda: plotting.plot_nothing, AttributeError, "no attribute 'plot_nothing'"),
    ],
)
def test_errors_say_what_to_do(draw, error, words):
    with pytest.raises(error, match=words):
        draw()


@pytest.mark.parametrize("name", ["coassociation", "sizes", "confidence", "memberships"])
def test_a_single_object(name):
    model = Voting(n_clusters=1).fit(ONE)
    getattr(plotting, f"plot_{name}")(model).figure.canvas.draw()


def test_mixtures_have_memberships(ensemble):
    model = MixtureModel(n_clusters=3, n_init=2, random_state=0).fit(ensemble)
    plotting.plot_memberships(model).figure.canvas.draw()


@pytest.mark.slow
def test_matplotlib_is_imported_when_it_is_needed():
    code = (
        "import sys; from coterie import plotting; plotting.plot_sizes; plotting.plot_tree;"
        "print('matplotlib' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


@pytest.mark.parametrize("name", DRAWINGS)
def test_without_matplotlib_the_extra_is_named(name, monkeypatch):
    monkeypatch.setattr(_style, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r'pip install "coterie\[plot\]"'):
        DRAWINGS[name](TWO, None)


def lightness(colour):
    """CIE L*."""
    rgb = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    y = linear @ [0.2126, 0.7152, 0.0722]
    return 116 * np.cbrt(y) - 16


def test_neighbours_in_the_palette_differ_in_grey():
    values = [lightness(colour) for colour in _palette.PALETTE]
    assert len(set(_palette.PALETTE)) == len(values)
    assert (np.abs(np.diff(values)) >= 12).all()
    assert _palette.cluster_marker(0) != _palette.cluster_marker(len(values))


def test_few_partitions_are_named():
    good = np.repeat([0, 1, 2], 10)
    ensemble = Ensemble([good, good % 2, np.tile([0, 1, 2], 10)], names=["a3", "b2", "c"])
    laca = LACA().fit(ensemble)
    for ax in (plotting.plot_reliability(laca), plotting.plot_diversity(laca)):
        assert {"a3", "b2", "c"} <= {text.get_text() for text in ax.texts}
    many = LACA().fit(Ensemble([good] * 13))
    assert not plotting.plot_reliability(many).texts
