"""One consensus for each number of clusters, against the definitions."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import cdist, squareform
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.metrics import silhouette_score
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from coterie import ConsensusPerK, MemoryLimitError, metrics
from coterie.choosing._resampling import runs_on_parts
from coterie.per_k._clusterers import k_medoids

EXCEPTIONS = {"check_clustering": "labels_ holds an array for each number of clusters"}


def lumps(seed=0, k=3, size=12, d=4, apart=8.0):
    rng = np.random.default_rng(seed)
    centres = apart * np.eye(max(k, d))[:k, :d]
    return rng.normal(size=(k * size, d)) + np.repeat(centres, size, axis=0)


def small(**changes):
    given = {"k_range": [2, 3, 4], "n_resamples": 12, "random_state": 0}
    return ConsensusPerK(**(given | changes))


@pytest.fixture(scope="module")
def fitted():
    return small(distance="pearson").fit(lumps(apart=2.0))


@pytest.mark.slow
@pytest.mark.parametrize("estimator", ["kmeans", "hierarchical"])
def test_scikit_learn_checks(estimator):
    given = small(estimator=estimator, n_resamples=15)
    check_estimator(given, expected_failed_checks=EXCEPTIONS, on_skip=None)


# --- the consensus of each number -------------------------------------------------------------


def naive_matrix(labels):
    """Together / drawn together, from label rows with -1 for what was not drawn."""
    n = len(labels)
    matrix = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            both = [(a, b) for a, b in zip(labels[i], labels[j], strict=True) if a >= 0 and b >= 0]
            matrix[i, j] = sum(a == b for a, b in both) / max(len(both), 1)
    return matrix


def test_consensus_matrix_is_together_over_drawn_together(fitted):
    for k, ensemble in fitted.ensembles_.items():
        assert_allclose(fitted.consensus_matrix(k), naive_matrix(ensemble.labels))


def test_labels_cut_the_tree_of_the_consensus(fitted):
    for k in fitted.k_range_:
        tree = linkage(squareform(1 - fitted.consensus_matrix(k), checks=False), "average")
        heights = np.sort(tree[:, 2])
        if heights[-k + 1] - heights[-k] > 1e-9:  # else ties decide
            assert metrics.ari(fcluster(tree, k, "maxclust"), fitted.labels_[k]) == 1.0
        assert sorted(set(fitted.labels_[k])) == list(range(k))


def test_every_part_is_clustered_by_the_tree_of_its_distances():
    X = lumps(apart=2.0)
    found = small(distance="cityblock", inner_linkage="complete", n_resamples=5).fit(X)
    distances = cdist(X, X, "cityblock")
    for k, ensemble in found.ensembles_.items():
        for column in ensemble.labels.T:
            drawn = np.flatnonzero(column >= 0)
            assert len(drawn) == round(0.8 * len(X))
            part = squareform(distances[np.ix_(drawn, drawn)], checks=False)
            expected = fcluster(linkage(part, "complete"), k, "maxclust")
            assert metrics.ari(expected, column[drawn]) == 1.0


def test_distances_are_those_of_their_names():
    X = lumps(d=30, apart=3.0)  # many features: ranks give few ties
    found = {
        name: small(distance=name).fit(X).consensus_matrix(3) for name in ("pearson", "spearman")
    }
    ranks = X.argsort(axis=1).argsort(axis=1)
    for name, rows in (("pearson", X), ("spearman", ranks)):
        given = small(distance="precomputed").fit(np.maximum(1 - np.corrcoef(rows), 0))
        assert_allclose(found[name], given.consensus_matrix(3))


@pytest.mark.parametrize("estimator", ["hierarchical", "kmeans"])
def test_the_same_parts_for_every_number(estimator):
    found = small(estimator=estimator, max_features=0.5).fit(lumps())
    first, *others = (ensemble.labels >= 0 for ensemble in found.ensembles_.values())
    assert not first.all()
    assert all((first == other).all() for other in others)


@pytest.mark.parametrize(
    "estimator",
    ["hierarchical", "kmeans", "kmedoids", "nmf", "spectral", GaussianMixture(), KMeans(n_init=1)],
)
def test_clear_clusters_are_found_by_every_clusterer(estimator):
    X = np.maximum(lumps(), 0)
    found = small(estimator=estimator).fit(X)
    assert metrics.ari(np.repeat(range(3), 12), found.labels_[3]) == 1.0
    assert found.confidence_[3].min() > 0.75


def test_any_clusterer_takes_distances():
    X = lumps(apart=2.0)
    clusterer = AgglomerativeClustering(metric="precomputed", linkage="average")
    ours, theirs = (small(estimator=e, distance="pearson").fit(X) for e in (None, clusterer))
    assert_allclose(ours.consensus_matrix(3), theirs.consensus_matrix(3))


def test_features_of_a_part_are_drawn():
    X = lumps(d=20)
    whole, parts = (small(distance="pearson", max_features=f).fit(X) for f in (1.0, 0.2))
    assert not np.array_equal(whole.consensus_matrix(4), parts.consensus_matrix(4))


def test_runs_on_features_are_those_of_how_many_clusters():
    X = lumps(apart=2.0)
    found = small(estimator=KMeans(n_init=3)).fit(X)
    seed = int(np.random.RandomState(0).randint(2**31 - 1, size=3)[0])
    assert found.ensembles_[3] == runs_on_parts(KMeans(n_init=3), X, 3, 12, seed=seed)


@pytest.mark.parametrize("estimator", ["hierarchical", "kmedoids"])
def test_same_seed_same_result_on_any_number_of_jobs(estimator):
    X = lumps(apart=2.0)
    one, two = (small(estimator=estimator, n_resamples=60, n_jobs=j).fit(X) for j in (1, 2))
    assert all(one.ensembles_[k] == two.ensembles_[k] for k in (2, 3, 4))
    assert one.reasons_ == two.reasons_


# --- what is told about each number -----------------------------------------------------------


def test_item_and_cluster_consensus_are_means_over_pairs(fitted):
    for k, labels in fitted.labels_.items():
        matrix = fitted.consensus_matrix(k)
        item, cluster = fitted.item_consensus(k), fitted.cluster_consensus(k)
        for c in range(k):
            members = np.flatnonzero(labels == c)
            pairs = [matrix[i, j] for i in members for j in members if i < j]
            assert_allclose(cluster[c], np.mean(pairs) if pairs else np.nan)
            for i in range(len(labels)):
                others = [matrix[i, j] for j in members if j != i]
                assert_allclose(item[i, c], np.mean(others) if others else np.nan)


def test_criteria_of_the_distribution(fitted):
    upper = np.triu_indices(len(fitted.labels_[2]), 1)
    areas = []
    for k in fitted.k_range_:
        shares = fitted.consensus_matrix(k)[upper]
        assert fitted.pac_[k] == pytest.approx(((shares > 0.1) & (shares < 0.9)).mean())
        expected = [(shares <= x + 1e-9).mean() for x in np.linspace(0, 1, 101)]
        assert_allclose(fitted.cdf(k), expected)
        areas.append(np.mean(expected[1:]))
        assert fitted.area_[k] == pytest.approx(areas[-1])
    assert fitted.delta_area_[2] == pytest.approx(areas[0])
    assert fitted.delta_area_[4] == pytest.approx(areas[2] / areas[1] - 1)


def test_the_number_of_the_clusters_is_found_with_reasons():
    found = small(k_range=range(2, 7), n_resamples=30).fit(lumps(k=4))
    assert found.best_k_ == 4
    assert found.has_clusters_
    assert found.reasons_[0].startswith("4 clusters")


def test_the_silhouette_is_that_of_the_consensus(fitted):
    for k, labels in fitted.labels_.items():
        distances = 1 - fitted.consensus_matrix(k)
        np.fill_diagonal(distances, 0.0)
        expected = silhouette_score(distances, labels, metric="precomputed")
        assert fitted.silhouette_[k] == pytest.approx(expected)


def test_tables_are_written(fitted, tmp_path):
    files = fitted.save_tables(tmp_path / "out", [f"s{i}" for i in range(36)])
    assert sorted(path.name for path in files) == sorted(
        p.name for p in (tmp_path / "out").iterdir()
    )
    first, second = (tmp_path / "out" / "classes.csv").read_text().splitlines()[:2]
    assert first == "item,k=2,k=3,k=4"
    assert second == ",".join(["s0", *(str(fitted.labels_[k][0]) for k in (2, 3, 4))])
    with pytest.raises(ValueError, match="names must have one name per object"):
        fitted.save_tables(tmp_path, ["a"])


def test_fit_predict_gives_the_best_number():
    X = lumps()
    pipeline = make_pipeline(StandardScaler(), small())
    assert metrics.ari(np.repeat(range(3), 12), pipeline.fit_predict(X)) == 1.0


def test_distances_need_dense_data():
    X = np.maximum(lumps(), 0)
    dense, other = (small(estimator="kmeans").fit(M) for M in (X, sparse.csr_matrix(X)))
    assert metrics.ari(dense.labels_[3], other.labels_[3]) == 1.0
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        small(estimator="hierarchical").fit(sparse.csr_matrix(X))


# --- k-medoids --------------------------------------------------------------------------------


@pytest.mark.parametrize("draw", range(8))  # the build phase alone is at rest for some
def test_no_exchange_of_a_medoid_lowers_the_sum(draw):
    X = np.random.default_rng(draw).normal(size=(15, 2))
    distances = cdist(X, X)
    for k, labels in zip([2, 3, 5], k_medoids(distances, [2, 3, 5]).T, strict=True):
        medoids = []
        for c in range(k):
            members = np.flatnonzero(labels == c)
            medoids.append(members[np.argmin(distances[np.ix_(members, members)].sum(axis=1))])
        assert (np.argmin(distances[medoids], axis=0) == labels).all()
        total = distances[medoids].min(axis=0).sum()
        for place, other in product(range(k), range(15)):
            exchanged = [*medoids[:place], other, *medoids[place + 1 :]]
            assert distances[exchanged].min(axis=0).sum() >= total - 1e-9


def test_equal_objects_keep_every_cluster():
    assert set(k_medoids(np.zeros((5, 5)), [3])[:, 0]) == {0, 1, 2}


# --- limits and errors ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"estimator": "ward"}, "estimator must be one of"),
        ({"estimator": KMeans}, "estimator must be a name or a clusterer"),
        ({"estimator": "kmeans", "distance": "pearson"}, "works on features"),
        (
            {"estimator": AgglomerativeClustering(n_clusters=None, distance_threshold=1.0)},
            "has none",
        ),
        ({"k_range": [1, 2]}, "at least 2"),
        ({"k_range": []}, "at least 2"),
        ({"k_range": [40]}, "Lower k_range or raise max_samples"),
        ({"distance": "pierson"}, "distance must be 'pearson'"),
        ({"distance": "precomputed"}, "square matrix"),
        ({"distance": "precomputed", "max_features": 0.5}, "max_features must be 1.0"),
        ({"linkage": "mean"}, "linkage must be"),
        ({"inner_linkage": "mean"}, "inner_linkage must be"),
        ({"n_resamples": 1}, "n_resamples must be at least 2"),
        ({"n_null": -1}, "n_null must be at least 0"),
        ({"max_samples": 2.0}, "max_samples must be a share"),
        ({"estimator": "nmf"}, "features of at least 0"),
        (
            {"distance": "euclidean", "memory_limit": 1000},
            "the distances of all pairs of 36 objects",
        ),
    ],
)
def test_errors_name_parameter_and_rule(changes, message):
    kinds = (ValueError, TypeError, MemoryLimitError)
    with pytest.raises(kinds, match=message):
        small(**changes).fit(lumps())


def test_numbers_above_a_part_are_left_out():
    with pytest.warns(UserWarning, match="the largest is 6"):
        found = small(k_range=range(2, 11)).fit(lumps(size=3)[:8])
    assert found.k_range_.tolist() == [2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    ("change", "message"),
    [(lambda D: D - 1, "at least 0"), (lambda D: D + 1, "diagonal"), (np.triu, "symmetric")],
)
def test_distances_must_be_distances(change, message):
    X = lumps()
    with pytest.raises(ValueError, match=message):
        small(distance="precomputed").fit(change(cdist(X, X)))


def test_correlation_of_flat_rows_is_refused():
    X = lumps()
    X[3] = 5.0
    with pytest.raises(ValueError, match=r"1 of 36 rows \(3\)"):
        small(distance="pearson").fit(X)


def test_only_fitted_numbers_can_be_asked_for(fitted):
    with pytest.raises(ValueError, match="k must be a number of k_range_"):
        fitted.consensus_matrix(9)


def test_the_matrix_obeys_the_memory_limit():
    found = small(estimator="kmeans", memory_limit="12kB").fit(lumps())
    found.set_params(memory_limit=1000)
    with pytest.raises(MemoryLimitError, match="co-association matrix"):
        found.consensus_matrix(3)
    assert found.item_consensus(3).shape == (36, 3)
