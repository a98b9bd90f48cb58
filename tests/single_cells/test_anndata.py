"""coterie.anndata: labels in, results out, and back from a file as they were."""

import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

pytest.importorskip("anndata", reason="needs coterie[anndata]")
pytest.importorskip("igraph", reason="needs coterie[anndata]")

import anndata
import pandas as pd
from scipy import sparse
from sklearn.datasets import make_blobs
from sklearn.neighbors import kneighbors_graph

import coterie.anndata as ca
from coterie import EAC, LACA, WEAC, Ensemble
from coterie.anndata._adata import read_ensemble
from coterie.anndata._consensus import weights_of_partitions
from coterie.anndata._plots import cell_map
from coterie.metrics import within_confidence


def cells(n=90, centres=3, seed=0):
    """An AnnData object of lumps, with a neighbour graph as scanpy leaves it."""
    X, truth = make_blobs(n, n_features=4, centers=centres, random_state=seed)
    adata = anndata.AnnData(X.astype(np.float32))
    adata.obsm["X_pca"] = X
    adata.obs["truth"] = pd.Categorical(truth.astype(str))
    graph = kneighbors_graph(X, 8)
    adata.obsp["connectivities"] = sparse.csr_matrix((graph + graph.T) / 2)
    return adata


def same_partition(a, b):
    a, b = np.asarray(a), np.asarray(b)
    return np.array_equal(np.equal.outer(a, a), np.equal.outer(b, b))


@pytest.fixture
def labelled():
    """Columns of several kinds, that agree but for single cells."""
    adata = anndata.AnnData(np.zeros((8, 2), dtype=np.float32))
    truth = np.array([0, 0, 0, 1, 1, 1, 2, 2])
    adata.obs["run_text"] = [None, *np.array(["b", "a", "c"])[truth[1:]]]
    adata.obs["run_category"] = pd.Categorical.from_codes(
        [0, 0, 1, 1, 1, 1, 2, -1], categories=["x", "y", "z", "unused"]
    )
    adata.obs["run_integer"] = truth
    adata.obs["run_noise"] = pd.Categorical(["-1", *truth[1:].astype(str)])
    adata.obs["run_score"] = np.linspace(0, 1, 8)
    adata.obsm["runs"] = np.column_stack([truth, truth]).astype(np.int32)
    return adata


# --- labels that come in ------------------------------------------------------------------------


def test_columns_are_read_with_their_missing_labels(labelled):
    found = read_ensemble(labelled, ["run_text", "run_category", "run_integer", "run_noise"])
    assert found.names == ("run_text", "run_category", "run_integer", "run_noise")
    assert_array_equal(found.labels < 0, [[1, 0, 0, 1], *[[0] * 4] * 6, [0, 1, 0, 0]])
    assert same_partition(found.labels[1:, 0], [0, 0, 1, 1, 1, 2, 2])
    assert same_partition(found.labels[:7, 1], [0, 0, 1, 1, 1, 1, 2])
    assert list(found.n_clusters) == [3, 3, 3, 3]


@pytest.mark.parametrize("keys", ["run_", "run_*", ["run_*"]])
def test_prefixes_and_patterns_find_labels_and_no_floats(labelled, keys):
    labelled.obs["run_result"] = pd.Categorical(list("aabbaabb"))
    labelled.obs["run_result_2"] = pd.Categorical(list("aabbaabb"))
    found = read_ensemble(labelled, keys, own="run_result")
    assert found.names == ("run_text", "run_category", "run_integer", "run_noise")


def test_label_matrices_and_columns_can_be_mixed(labelled):
    labelled.obsm["frame"] = pd.DataFrame({"a": list("xxyyzzzz")}, index=labelled.obs_names)
    found = read_ensemble(labelled, ["runs", "run_integer", "frame"])
    assert found.names == ("runs_0", "runs_1", "run_integer", "a")
    assert same_partition(found.labels[:, 3], list("xxyyzzzz"))


def test_a_float_column_by_its_name_must_hold_whole_numbers(labelled):
    labelled.obs["run_float"] = [0.0, 0.0, 1.0, 1.0, np.nan, 1.0, 2.0, 2.0]
    found = read_ensemble(labelled, ["run_float", "run_integer"])
    assert_array_equal(found.labels[:, 0], [0, 0, 1, 1, -1, 1, 2, 2])
    with pytest.raises(ValueError, match="labels must name clusters"):
        read_ensemble(labelled, ["run_score"])


def test_text_beside_numbers_is_no_noise():
    adata = anndata.AnnData(np.zeros((4, 1), dtype=np.float32))
    adata.obs["a"] = ["-1", "b", "b", "-1"]
    assert_array_equal(read_ensemble(adata, ["a"]).labels[:, 0] >= 0, [True] * 4)


@pytest.mark.parametrize(
    ("keys", "error", "words"),
    [
        ("leiden", KeyError, "nothing fits 'leiden'"),
        (["run_texts"], KeyError, "'run_text'"),
        (["run_"], KeyError, "nothing fits 'run_'"),
        ([], ValueError, "at least one partition"),
        ([3], TypeError, "keys must be strings"),
        ("score", ValueError, "must be a matrix of integers.*float64"),
        ("sparse", ValueError, "a sparse matrix"),
    ],
)
def test_keys_that_name_nothing(labelled, keys, error, words):
    labelled.obsm["score"] = np.zeros((8, 2))
    labelled.obsm["sparse"] = sparse.csr_matrix((8, 2))
    with pytest.raises(error, match=words):
        ca.consensus(labelled, keys)
    assert "consensus" not in labelled.obs


# --- consensus ----------------------------------------------------------------------------------


def test_consensus_is_that_of_the_method(labelled):
    ca.consensus(labelled, "run_", method="eac", n_clusters=3)
    fitted = EAC(n_clusters=3).fit(read_ensemble(labelled, "run_"))
    column = labelled.obs["consensus"]
    assert column.cat.ordered
    assert column.cat.categories.tolist() == ["0", "1", "2"]
    assert_array_equal(column.cat.codes, fitted.labels_)
    assert_array_equal(labelled.obs["consensus_confidence"], fitted.confidence_)
    assert_array_equal(
        labelled.obs["consensus_within_confidence"],
        within_confidence(fitted.labels_, fitted.confidence_),
    )
    table = labelled.uns["consensus"]["partitions"]
    agreement = normalized_mutual_info_score(
        labelled.obs["run_integer"], fitted.labels_, average_method="geometric"
    )
    assert_allclose(table.loc["run_integer", "agreement"], agreement)
    assert_array_equal(table["weight"], 1.0)
    assert_array_equal(table["n_clusters"], 3)
    assert labelled.uns["consensus"]["params"]["keys"] == "run_"


def test_methods_as_estimators_and_numbers_of_clusters():
    adata = cells()
    ca.leiden_ensemble(adata, [0.5, 1.0], n_runs=4)
    ca.consensus(adata, "leiden_ensemble")
    assert same_partition(adata.obs["consensus"], adata.obs["truth"])
    assert adata.uns["consensus"]["number"]["recommended"] == 3
    ca.consensus(adata, "leiden_ensemble", method=WEAC(n_clusters=2), key_added="weac")
    assert adata.obs["weac"].cat.categories.tolist() == ["0", "1"]
    assert "number" not in adata.uns["weac"]
    assert adata.uns["weac"]["params"]["method"] == "WEAC()"
    with pytest.raises(ValueError, match=r"method must be an estimator or one of .*'lwea'"):
        ca.consensus(adata, "leiden_ensemble", method="leiden")


@pytest.mark.parametrize("method", ["lwea", "weac", "laca", "hbgf"])
def test_weights_of_partitions_favour_those_that_agree(method):
    rng = np.random.default_rng(0)
    truth = np.arange(60) % 3
    adata = anndata.AnnData(np.zeros((60, 1), dtype=np.float32))
    noise = rng.integers(0, 3, size=(60, 1))
    adata.obsm["runs"] = np.column_stack([truth, truth, truth, noise]).astype(np.int32)
    ca.consensus(adata, "runs", method=method, n_clusters=3)
    weight = adata.uns["consensus"]["partitions"]["weight"]
    assert weight.shape == (4,)
    if method == "hbgf":
        assert_array_equal(weight, 1.0)
    else:
        assert (weight.iloc[:3] > weight.iloc[3]).all()


def test_weight_of_a_partition_of_clusters_is_the_mean_over_cells():
    from coterie import LWEA

    labels = np.array([[0, 0], [0, 0], [0, 1], [1, 1], [1, -1]])
    model = LWEA(n_clusters=2).fit(labels)
    a, b, c, d = model.weights_
    assert_allclose(weights_of_partitions(model), [(3 * a + 2 * b) / 5, (2 * c + 2 * d) / 4])
    laca = LACA(n_clusters=2).fit(labels)
    assert_allclose(weights_of_partitions(laca), laca.weights_[:, 0] - laca.weights_[:, 1])


# --- features -----------------------------------------------------------------------------------


def test_cluster_by_a_representation():
    adata = cells()
    ca.cluster(adata, n_clusters=3)
    assert same_partition(adata.obs["coterie"], adata.obs["truth"])
    assert adata.uns["coterie"]["params"]["use_rep"] == "X_pca"
    adata.obsm["frame"] = pd.DataFrame(adata.obsm["X_pca"], index=adata.obs_names)
    ca.cluster(adata, "frame", 3, "other")
    assert_array_equal(adata.obs["other"], adata.obs["coterie"])
    with pytest.raises(KeyError, match=r"use_rep must be 'X' or a key of adata\.obsm"):
        ca.cluster(adata, use_rep="X_scvi")
    del adata.obsm["X_pca"]
    with pytest.raises(KeyError, match=r"scanpy\.pp\.pca"):
        ca.cluster(adata)


# --- Leiden -------------------------------------------------------------------------------------


def test_runs_are_those_of_scanpy():
    scanpy = pytest.importorskip("scanpy", reason="needs coterie[anndata]")
    adata = cells(200, centres=1, seed=2)  # without clusters, so that the seed matters
    ca.leiden_ensemble(adata, [0.7, 2.0], n_runs=2, random_state=5)
    labels, runs = adata.obsm["leiden_ensemble"], adata.uns["leiden_ensemble"]["partitions"]
    assert not same_partition(labels[:, 0], labels[:, 1])
    adata.uns["neighbors"] = {"connectivities_key": "connectivities", "params": {}}
    for column, (_, run) in enumerate(runs.iterrows()):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scanpy.tl.leiden(
                adata,
                run["resolution"],
                flavor="igraph",
                n_iterations=2,
                directed=False,
                random_state=int(run["seed"]),
            )
        assert same_partition(labels[:, column], adata.obs["leiden"])
        assert run["n_clusters"] == labels[:, column].max() + 1


def test_stability_is_the_mean_over_pairs_of_runs():
    adata = cells(120, centres=6, seed=1)
    ca.leiden_ensemble(adata, [3.0, 1.0], n_runs=3)
    labels = adata.obsm["leiden_ensemble"]
    table = adata.uns["leiden_ensemble"]["stability"]
    assert table["resolution"].tolist() == [3.0, 1.0]
    for row in range(2):
        own = labels[:, 3 * row : 3 * row + 3].T
        pairs = [(own[0], own[1]), (own[0], own[2]), (own[1], own[2])]
        ari = np.mean([adjusted_rand_score(a, b) for a, b in pairs])
        nmi = np.mean(
            [normalized_mutual_info_score(a, b, average_method="geometric") for a, b in pairs]
        )
        assert_allclose(table[["ari", "nmi"]].iloc[row], [ari, nmi])
        assert table["n_clusters"].iloc[row] == np.mean(own.max(axis=1) + 1)
    ca.leiden_ensemble(adata, 1.0, n_runs=1)
    assert adata.uns["leiden_ensemble"]["stability"]["ari"].isna().all()


@pytest.mark.slow
def test_parallel_runs_are_the_same():
    adata = cells()
    alone = ca.leiden_ensemble(adata, [1.0, 4.0], n_runs=5, copy=True)
    together = ca.leiden_ensemble(adata, [1.0, 4.0], n_runs=5, n_jobs=2, copy=True)
    assert_array_equal(alone.obsm["leiden_ensemble"], together.obsm["leiden_ensemble"])
    again = ca.leiden_ensemble(adata, [1.0, 4.0], n_runs=5, random_state=0.0, copy=True)  # from R
    assert_array_equal(alone.obsm["leiden_ensemble"], again.obsm["leiden_ensemble"])
    other = ca.leiden_ensemble(adata, [1.0, 4.0], n_runs=5, random_state=1, copy=True)
    assert not np.array_equal(alone.obsm["leiden_ensemble"], other.obsm["leiden_ensemble"])


def test_named_neighbour_graph():
    adata = cells()
    adata.obsp["other_connectivities"] = adata.obsp["connectivities"]
    adata.uns["other"] = {"connectivities_key": "other_connectivities"}
    ca.leiden_ensemble(adata, 1.0, n_runs=2, key_added="a")
    del adata.obsp["connectivities"]
    ca.leiden_ensemble(adata, 1.0, n_runs=2, key_added="b", neighbors_key="other")
    assert_array_equal(adata.obsm["a"], adata.obsm["b"])
    with pytest.raises(KeyError, match=r"scanpy\.pp\.neighbors\(adata\)"):
        ca.leiden_ensemble(adata)
    with pytest.raises(KeyError, match="key_added='third'"):
        ca.leiden_ensemble(adata, neighbors_key="third")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"resolutions": []}, "at least one number"),
        ({"resolutions": [1.0, 1.0]}, "must differ"),
        ({"resolutions": [-1.0]}, "must be positive"),
        ({"n_runs": 0}, "n_runs must be at least 1"),
    ],
)
def test_settings_of_leiden(settings, words):
    with pytest.raises(ValueError, match=words):
        ca.leiden_ensemble(cells(), **settings)


# --- AnnData objects of all kinds ---------------------------------------------------------------


def assert_same(a, b):
    """The same values and kinds, dictionaries in any order."""
    if isinstance(a, dict):
        assert a.keys() == b.keys()
        for key in a:
            assert_same(a[key], b[key])
    elif isinstance(a, pd.DataFrame):
        pd.testing.assert_frame_equal(a, b, check_exact=True)
    elif isinstance(a, np.ndarray):
        assert_array_equal(a, b)
        assert np.asarray(b).dtype == a.dtype
    else:
        assert a == b


def test_files_give_back_the_same(tmp_path):
    adata = cells()
    ca.leiden_ensemble(adata, [0.5, 1.0], n_runs=3)
    ca.consensus(adata, ["leiden_ensemble", "truth"])
    ca.cluster(adata, n_clusters=3)
    adata.write_h5ad(tmp_path / "cells.h5ad")
    again = anndata.read_h5ad(tmp_path / "cells.h5ad")
    pd.testing.assert_frame_equal(adata.obs, again.obs, check_exact=True)
    assert again.obs["consensus"].cat.ordered
    assert_same(adata.obsm["leiden_ensemble"], again.obsm["leiden_ensemble"])
    assert set(adata.uns) == {"leiden_ensemble", "consensus", "coterie"}
    assert_same(dict(adata.uns), dict(again.uns))
    # What was read can be worked with, and gives the same.
    ca.consensus(again, ["leiden_ensemble", "truth"])
    assert_same(adata.uns["consensus"], again.uns["consensus"])


def test_copies_leave_the_original_as_it_is():
    adata = cells()
    found = ca.leiden_ensemble(adata, 1.0, n_runs=2, copy=True)
    found = ca.consensus(found, "leiden_ensemble", n_clusters=3, copy=True)
    found = ca.cluster(found, n_clusters=3, copy=True)
    assert {"consensus", "consensus_confidence", "coterie"} <= set(found.obs)
    assert list(adata.obs) == ["truth"]
    assert list(adata.obsm) == ["X_pca"]
    assert not adata.uns


def test_views_become_objects_of_their_own():
    adata = cells()
    view = adata[:60]
    with pytest.warns(anndata.ImplicitModificationWarning):
        ca.leiden_ensemble(view, 1.0, n_runs=2)
    ca.consensus(view, "leiden_ensemble", n_clusters=2)
    assert not view.is_view
    assert len(view.obs["consensus"]) == 60
    assert list(adata.obs) == ["truth"]


def test_backed_objects(tmp_path):
    cells().write_h5ad(tmp_path / "cells.h5ad")
    backed = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    ca.leiden_ensemble(backed, 1.0, n_runs=2)
    ca.consensus(backed, "leiden_ensemble", n_clusters=3)
    ca.cluster(backed, n_clusters=3)
    assert same_partition(backed.obs["coterie"], backed.obs["truth"])
    with pytest.raises(ValueError, match=r"use_rep='X' needs adata in memory.*to_memory"):
        ca.cluster(backed, use_rep="X")
    with pytest.raises(ValueError, match="copy=True needs adata in memory"):
        ca.consensus(backed, "leiden_ensemble", copy=True)
    backed.file.close()


def test_other_objects_are_refused():
    with pytest.raises(TypeError, match="adata must be an AnnData object; got ndarray"):
        ca.consensus(np.zeros((3, 2)), "a")
    with pytest.raises(TypeError, match="adata must be an AnnData object; got Ensemble"):
        ca.plot_confidence(Ensemble([[0], [1]]))


@pytest.mark.slow
def test_packages_are_imported_when_used_and_missing_ones_are_named():
    code = (
        "import sys; sys.modules['anndata'] = None; import coterie.anndata as ca\n"
        "assert not {'scanpy', 'igraph', 'matplotlib'} & set(sys.modules)\n"
        "try:\n    ca.consensus(None, 'a')\nexcept ImportError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 'pip install "coterie[anndata]"' in done.stdout


# --- pictures -----------------------------------------------------------------------------------


def test_cells_of_low_confidence_are_drawn_last():
    adata = cells()
    adata.obs["consensus"] = adata.obs["truth"]
    adata.obs["consensus_confidence"] = np.linspace(1.0, 0.5, 90)[::-1]
    found = cell_map(adata, "consensus", "pca")
    assert_array_equal(found.places, adata.obsm["X_pca"][::-1, :2])
    assert (np.diff(found.confidence) < 0).all()
    assert found.axes == ("PCA 1", "PCA 2")
    for name, place in found.centres.items():
        own = adata.obsm["X_pca"][adata.obs["truth"] == name, :2]
        distance = np.linalg.norm(own - np.median(own, axis=0), axis=1)
        assert_allclose(place, own[distance.argmin()])


def test_plots():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    adata = cells()
    ca.leiden_ensemble(adata, [1.0, 0.5], n_runs=3)
    ca.consensus(adata, "leiden_ensemble", n_clusters=3)
    ax = ca.plot_confidence(adata, basis="X_pca")
    assert {text.get_text() for text in ax.texts} == {"0", "1", "2"}
    assert len(ax.collections[0].get_offsets()) == 90
    ax = ca.plot_confidence(adata, basis="pca", within=True)
    drawn = ax.collections[0].get_array()
    assert_array_equal(np.sort(drawn), np.sort(adata.obs["consensus_within_confidence"]))
    ax = ca.plot_stability(adata)
    ari, _ = ax.get_lines()
    assert_array_equal(ari.get_xdata(), [0.5, 1.0])
    table = adata.uns["leiden_ensemble"]["stability"]
    assert_array_equal(ari.get_ydata(), table["ari"].to_numpy()[::-1])
    pyplot.close("all")
    with pytest.raises(KeyError, match=r"scanpy\.tl\.umap"):
        ca.plot_confidence(adata)
    with pytest.raises(KeyError, match="'other_confidence'"):
        ca.plot_confidence(adata, "other")
    with pytest.raises(KeyError, match="no stability under 'consensus'"):
        ca.plot_stability(adata, "consensus")
    ca.leiden_ensemble(adata, 1.0, n_runs=1, key_added="one")
    with pytest.raises(ValueError, match="at least two runs"):
        ca.plot_stability(adata, "one")


# --- the page -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_analysis_on_the_page_runs_in_six_lines():
    pytest.importorskip("scanpy", reason="needs coterie[anndata]")
    pyplot = pytest.importorskip("matplotlib.pyplot")
    page = Path(__file__).parents[2] / "docs" / "anndata.md"
    code = re.search(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.S)[1]
    assert len([line for line in code.splitlines() if line]) <= 6
    names = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scanpy's own
        exec(code, names)
    adata = names["adata"]
    assert adata.obs["consensus"].nunique() == 12
    # The clusters carry the cell types, and doubt within them is not a matter of the cluster.
    assert normalized_mutual_info_score(adata.obs["bulk_labels"], adata.obs["consensus"]) > 0.55
    within = adata.obs["consensus_within_confidence"]
    between = within.groupby(adata.obs["consensus"], observed=True).transform("mean")
    assert between.var() < 0.2 * within.var()
    pyplot.close("all")
