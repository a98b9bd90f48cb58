"""The methods of today against literal implementations of their definitions."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster import hierarchy
from sklearn.cluster import KMeans

import naive
from coterie import (
    ECCMS,
    ECPCS,
    GPMGLA,
    KCC,
    LCE,
    LWGP,
    PTA,
    SEC,
    WEAC,
    Ensemble,
    MemoryLimitError,
    _linkage,
)
from coterie._graphs import cluster_order
from coterie.consensus._eccms import enhance
from coterie.consensus._ecpcs import cluster_similarity
from coterie.consensus._kcc import LabelRows, lloyd
from coterie.consensus._lce import refined_memberships
from coterie.consensus._linked_graph import LinkedGraph
from coterie.consensus._pta import elite_neighbours, pattern_graph, pattern_similarity
from coterie.consensus._trajectories import trajectory_similarity
from strategies import label_matrices, noisy_labels, random_labels

# --- slow twins ----------------------------------------------------------------------------------


def walks(P, n_steps):
    """Cosines of the stacked rows of P, P^2, ..., P^n_steps; 1 on the diagonal."""
    stacked = np.hstack([np.linalg.matrix_power(P, t) for t in range(1, n_steps + 1)])
    lengths = np.linalg.norm(stacked, axis=1)
    lengths[lengths == 0] = 1.0
    found = (stacked / lengths[:, None]) @ (stacked / lengths[:, None]).T
    np.fill_diagonal(found, 1.0)
    return found


def row_normalised(W):
    sums = W.sum(axis=1, keepdims=True)
    return np.divide(W, sums, out=np.zeros_like(W), where=sums > 0)


def transfer_embedding(B, k):
    """Rows of the objects by W = B' D^-1 B, as the definition says."""
    D = B.sum(axis=1)
    inverse = np.divide(1.0, D, out=np.zeros_like(D), where=D > 0)
    W = B.T @ (inverse[:, None] * B)
    root = 1.0 / np.sqrt(W.sum(axis=1))
    _, vectors = np.linalg.eigh(root[:, None] * W * root)
    rows = inverse[:, None] * B @ (root[:, None] * vectors[:, ::-1][:, :k])
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-300)


def transfer_parts(B, k, n_objects):
    found = KMeans(k, n_init=20, random_state=0).fit_predict(transfer_embedding(B, k))
    return found[:n_objects]


def shared_neighbours(labels, weights):
    """Sum over z of weights[z] min(J_xz, J_yz), over its largest value off the diagonal."""
    J = naive.jaccard(labels)
    K = len(J)
    links = np.array(
        [[sum(weights[z] * min(J[x, z], J[y, z]) for z in range(K)) for y in range(K)]
         for x in range(K)]
    )  # fmt: skip
    return links


def by_cluster(labels, weights):
    """The weight of its partition for each cluster."""
    return np.array([weights[e] for e, _ in naive.clusters_of(labels)])


def lce_table(labels, decay=0.9):
    """(n, K): membership of each object in each cluster of its partitions."""
    clusters = naive.clusters_of(labels)
    links = shared_neighbours(labels, np.ones(len(clusters)))
    pairs = [
        links[x, y]
        for x in range(len(clusters))
        for y in range(x)
        if clusters[x][0] == clusters[y][0]
    ]
    largest = max(pairs, default=0.0)
    table = np.zeros((len(labels), len(clusters)))
    for i in range(len(labels)):
        for own, (e, members) in enumerate(clusters):
            if i not in members:
                continue
            for c, (f, _) in enumerate(clusters):
                if c == own:
                    table[i, c] = 1.0
                elif e == f and largest > 0:
                    table[i, c] = decay * links[own, c] / largest
    return table


def gpmgla_graph(labels, alpha=0.5):
    """(n + K, K): memberships, and links of clusters."""
    weights = by_cluster(labels, naive.ncai(labels))
    links = shared_neighbours(labels, weights)
    np.fill_diagonal(links, 0.0)
    links /= links.max() or 1.0
    np.fill_diagonal(links, 1.0)
    return np.vstack([alpha * weights * naive.incidence(labels), links])


def cluster_walks(labels, n_steps=20):
    J = naive.jaccard(labels)
    np.fill_diagonal(J, 0.0)
    return walks(row_normalised(J), n_steps)


def pattern_walks(labels):
    """(rows, similarity of the distinct rows)."""
    rows, counts, _ = naive.patterns(labels.tolist())
    n_steps = max(1, min(20, math.floor(math.sqrt(len(rows)) / 2)))
    Z = naive.incidence(labels)[[labels.tolist().index(list(row)) for row in rows]]
    together = Z @ Z.T / labels.shape[1]
    kept = np.zeros_like(together)
    for i in range(len(rows)):
        others = [j for j in range(len(rows)) if j != i]
        for j in sorted(others, key=lambda j: (-together[i, j], j))[:n_steps]:
            kept[i, j] = kept[j, i] = together[i, j]
    return Z, walks(row_normalised(kept * np.array(counts)), n_steps)


def check_tree(fitted, similarity):
    """`linkage_` is of best pairs of objects, and `labels_` its cut."""
    tree = _linkage.Tree.from_scipy(fitted.linkage_)
    merges = list(zip(tree.first, tree.second, tree.link, strict=True))
    naive.check_merges(np.asarray(similarity).tolist(), merges)
    assert fitted.labels_.tolist() == naive.cut(merges, tree.n_objects, fitted.n_clusters)


# --- weighted evidence accumulation --------------------------------------------------------------


@given(labels=label_matrices(), data=st.data())
def test_weac_is_a_tree_of_weighted_votes(labels, data):
    k = data.draw(st.integers(1, len(labels)))
    fitted = WEAC(k).fit(labels)
    weights = naive.ncai(labels)
    Z = naive.incidence(labels)
    similarity = (Z * by_cluster(labels, weights)) @ Z.T / sum(weights)
    assert fitted.weights_ == pytest.approx(weights, abs=1e-9)
    check_tree(fitted, similarity)


# --- random walks --------------------------------------------------------------------------------


@settings(max_examples=60)
@given(labels=label_matrices(), n_steps=st.integers(1, 25))
def test_walks_on_clusters_are_those_of_the_definition(labels, n_steps):
    found = cluster_similarity(Ensemble(labels), n_steps)
    assert found == pytest.approx(cluster_walks(labels, n_steps), abs=1e-7)


def test_walks_on_a_graph_of_pieces():
    graph = np.zeros((5, 5))
    graph[0, 1] = graph[1, 0] = 2.0
    graph[2, 3] = graph[3, 2] = 0.5
    found = trajectory_similarity(graph, 3)
    # From 0 the walk is at 1 after one step, from 1 it is at 0.
    assert found == pytest.approx(walks(row_normalised(graph), 3))
    assert np.array_equal(found, found.T)
    assert found[4].tolist() == [0, 0, 0, 0, 1]


@settings(max_examples=60)
@given(labels=label_matrices(max_objects=14))
def test_walks_on_patterns_are_those_of_the_definition(labels):
    ensemble = Ensemble(labels)
    Z, expected = pattern_walks(labels)
    n_steps = max(1, min(20, math.floor(math.sqrt(len(expected)) / 2)))
    found = pattern_similarity(ensemble, n_steps)
    assert found == pytest.approx(expected, abs=1e-7)
    graph = pattern_graph(ensemble, found)
    edges = np.column_stack([expected[:, column > 0].mean(axis=1) for column in Z.T])
    assert graph.whole() == pytest.approx(edges[:, cluster_order(ensemble)], abs=1e-7)


def test_nearest_neighbours_are_kept_both_ways():
    similarity = np.array(
        [[1, 0.9, 0.2, 0.2], [0.9, 1, 0.3, 0.1], [0.2, 0.3, 1, 0], [0.2, 0.1, 0, 1]]
    )
    kept = elite_neighbours(similarity, 1)
    expected = np.zeros((4, 4))
    expected[0, 1], expected[1, 2], expected[0, 3] = 0.9, 0.3, 0.2
    assert kept.tolist() == (expected + expected.T).tolist()


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_pta_is_average_linkage_of_patterns(seed, missing):
    labels = random_labels(seed, 90, 6, most=4, missing=missing)
    labels[70:] = labels[:20]
    _, similarity = pattern_walks(labels)
    inverse = Ensemble(labels).patterns.inverse
    condensed = (1.0 - similarity)[np.triu_indices(len(similarity), 1)]
    expected = hierarchy.linkage(condensed, "average")
    fitted = PTA(5).fit(labels)
    assert naive.same_partition(
        fitted.labels_, hierarchy.fcluster(expected, 5, "maxclust")[inverse]
    )
    heights = fitted.linkage_[len(inverse) - len(similarity) :, 2]
    assert heights == pytest.approx(expected[:, 2], abs=1e-7)


@given(labels=label_matrices(max_objects=8), data=st.data())
def test_ecpcs_hc_is_a_tree_of_mean_similarities(labels, data):
    k = data.draw(st.integers(1, len(labels)))
    Z = naive.incidence(labels)
    partition = np.array([e for e, _ in naive.clusters_of(labels)])
    within = cluster_walks(labels) * (partition[:, None] == partition)
    fitted = ECPCS(k, method="hc").fit(labels)
    assert fitted.similarity_ == pytest.approx(cluster_walks(labels), abs=1e-7)
    tree = _linkage.Tree.from_scipy(fitted.linkage_)
    merges = list(zip(tree.first, tree.second, tree.link, strict=True))
    similarity = Z @ within @ Z.T / labels.shape[1]
    naive.check_merges(similarity.tolist(), merges, tolerance=1e-6)
    assert fitted.labels_.tolist() == naive.cut(merges, len(labels), k)


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_ecpcs_mc_cuts_clusters_and_votes(seed, missing):
    _, labels = noisy_labels(seed, 120, 10, noise=0.3, missing=missing)
    similarity = cluster_walks(labels)
    rows = naive.spectral_rows(similarity, 4)
    parts = KMeans(4, n_init=20, random_state=0).fit_predict(rows)
    fitted = ECPCS(4, random_state=0).fit(labels)
    assert naive.same_partition(fitted.cluster_labels_, parts)
    Z = naive.incidence(labels)
    means = np.column_stack([Z[:, parts == m].mean(axis=1) for m in range(4)])
    clear = np.sort(means, axis=1)[:, -1] > np.sort(means, axis=1)[:, -2] + 1e-9
    assert clear.mean() > 0.9
    assert naive.same_partition(fitted.labels_[clear], means.argmax(axis=1)[clear])


# --- transfer cuts -------------------------------------------------------------------------------


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_lwgp_cuts_the_weighted_graph(seed, missing):
    _, labels = noisy_labels(seed, 120, 10, noise=0.35, missing=missing)
    B = naive.incidence(labels) * naive.eci(labels)
    fitted = LWGP(4, random_state=0).fit(labels)
    assert naive.same_partition(fitted.labels_, transfer_parts(B, 4, 120))
    assert fitted.weights_ == pytest.approx(naive.eci(labels))


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_gpmgla_cuts_the_graph_of_both_kinds_of_edges(seed, missing):
    _, labels = noisy_labels(seed, 120, 8, noise=0.3, missing=missing)
    fitted = GPMGLA(4, random_state=0).fit(labels)
    assert naive.same_partition(fitted.labels_, transfer_parts(gpmgla_graph(labels), 4, 120))


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_lce_cuts_the_refined_table(seed, missing):
    _, labels = noisy_labels(seed, 120, 8, noise=0.3, missing=missing)
    fitted = LCE(4, random_state=0).fit(labels)
    assert naive.same_partition(fitted.labels_, transfer_parts(lce_table(labels), 4, 120))


@given(labels=label_matrices())
def test_refined_table_is_that_of_the_definition(labels):
    refined = naive.incidence(labels) @ refined_memberships(Ensemble(labels), 0.9)
    assert refined == pytest.approx(lce_table(labels))


@given(labels=label_matrices(), data=st.data())
def test_linked_graph_computes_with_its_matrix(labels, data):
    ensemble = Ensemble(labels)
    counts = ensemble.patterns.counts
    K = int(ensemble.offsets[-1])
    random = np.random.default_rng(data.draw(st.integers(0, 99)))
    memberships, links, table = random.random((K, K)), random.random((K, K)), random.random((K, 3))
    graph = LinkedGraph(ensemble, memberships, links)
    first = [labels.tolist().index(row) for row in labels.tolist()]
    Z = naive.incidence(labels)[sorted(set(first))]
    order = np.argsort(LinkedGraph(ensemble, memberships).named(np.arange(K)))
    B = np.vstack([Z @ memberships, links[order]])
    times = np.concatenate([counts, np.ones(K)])
    degrees = random.uniform(0.5, 2, K)
    scale = times / np.maximum(B @ degrees, 1e-300)
    assert graph.shape == B.shape
    assert graph @ table[order] == pytest.approx(B @ table)
    assert graph.named(graph.column_sums()) == pytest.approx(times @ B)
    expected = ((B.T * scale) @ B)[np.ix_(order, order)]
    assert graph.gram(degrees[order]) == pytest.approx(expected)
    assert graph.whole().toarray() == pytest.approx(B[:, order])


@pytest.mark.parametrize("Method", [LWGP, GPMGLA, LCE, PTA])
@settings(max_examples=30)
@given(labels=label_matrices(), data=st.data())
def test_number_asked_for_is_given(Method, labels, data):
    k = data.draw(st.integers(1, len(labels)))
    options = {"cut": "graph"} if Method is PTA else {}
    assert Method(k, random_state=0, **options).fit(labels).n_clusters_ == k


# --- k-means on labels ---------------------------------------------------------------------------


def kcc_distances(labels, parts, k, utility):
    """(n, k): distance of each object to each part, over the labels that it has."""
    found = np.zeros((len(labels), k))
    for column in labels.T:
        for part in range(k):
            members = [v for v in column[parts == part] if v != -1]
            members = members or [v for v in column if v != -1]
            names = sorted({v for v in column if v != -1})
            centre = [members.count(v) / len(members) for v in names]
            for i, value in enumerate(column):
                if value == -1:
                    continue
                x = [float(v == value) for v in names]
                if utility == "euclidean":
                    found[i, part] += sum((a - b) ** 2 for a, b in zip(x, centre, strict=True))
                else:
                    share = centre[names.index(value)]
                    found[i, part] -= math.log(max(share, np.finfo(float).tiny))
    return found


@pytest.mark.parametrize("utility", ["euclidean", "entropy"])
@given(labels=label_matrices(), data=st.data())
def test_kcc_distances_are_those_of_the_definition(utility, labels, data):
    k = data.draw(st.integers(1, 3))
    parts = np.array(
        data.draw(st.lists(st.integers(0, k - 1), min_size=len(labels), max_size=len(labels)))
    )
    ensemble = Ensemble(labels)
    rows = LabelRows(ensemble.labels, np.ones(len(labels)), ensemble.offsets)
    found = rows.distances(rows.shares(parts, k), utility)
    assert found == pytest.approx(kcc_distances(labels, parts, k, utility))


@pytest.mark.parametrize("utility", ["euclidean", "entropy"])
@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_kcc_ends_where_every_object_is_nearest_to_its_own(seed, utility, missing):
    _, labels = noisy_labels(seed, 80, 8, noise=0.5, missing=missing)
    fitted = KCC(4, utility=utility, random_state=0).fit(labels)
    distances = kcc_distances(labels, fitted.labels_, 4, utility)
    own = distances[np.arange(80), fitted.labels_]
    assert own == pytest.approx(distances.min(axis=1))
    assert fitted.inertia_ == pytest.approx(own.sum())
    # No start by truth or at random ends lower than the best of ten.
    ensemble = Ensemble(labels)
    rows = LabelRows(ensemble.labels, np.ones(80), ensemble.offsets)
    random = np.random.default_rng(seed)
    ends = [lloyd(rows, random.integers(0, 4, 80), 4, utility, 100).inertias[-1] for _ in range(10)]
    assert fitted.inertia_ <= min(ends) * 1.05


def test_sec_is_kmeans_on_scaled_rows(seed):
    _, labels = noisy_labels(seed, 120, 10, noise=0.2, missing=0.1)
    Z = naive.incidence(labels)
    w = Z @ Z.sum(axis=0)
    points = Z / w[:, None] * w.mean()
    expected = KMeans(4, n_init=20, random_state=0).fit(points, sample_weight=w)
    fitted = SEC(4, random_state=0).fit(labels)
    assert naive.same_partition(fitted.labels_, expected.labels_)


@pytest.mark.parametrize("Method", [KCC, SEC])
def test_sample_of_very_many_rows_finds_the_same(monkeypatch, seed, Method):
    from coterie._graphs import _cluster_rows

    truth, labels = noisy_labels(seed, 3000, 12, noise=0.15)
    monkeypatch.setattr(_cluster_rows, "_MOST_ROWS", 500)
    assert naive.same_partition(Method(4, random_state=0).fit(labels).labels_, truth)


# --- self-enhancement ----------------------------------------------------------------------------


def test_enhanced_matrix_is_the_minimum(seed):
    # By projected gradient descent, which needs no ADMM.
    random = np.random.default_rng(seed)
    n = 12
    A = random.random((n, n))
    A = (A + A.T) / 2
    np.fill_diagonal(A, 1.0)
    H = np.where(A > 0.7, A, 0.0)
    L = np.diag(H.sum(axis=1)) - H
    C = A.copy()
    for _ in range(20_000):
        C = C - 0.01 * (L @ C + C @ L + 0.4 * (C - A))
        C = np.clip((C + C.T) / 2, 0.0, 1.0)
        C[H > 0] = A[H > 0]
    found, changes = enhance(A, H, smoothness=0.4, max_iter=5000, tol=1e-10)
    assert found == pytest.approx(C, abs=1e-6)
    assert 1 < len(changes) < 5000
    assert np.abs(C - A).max() > 0.05


def test_eccms_is_average_linkage_of_the_enhanced_matrix(seed):
    _, labels = noisy_labels(seed, 40, 10, noise=0.2, missing=0.05)
    Z = naive.incidence(labels)
    A = (Z * naive.eci(labels)) @ Z.T / 10
    np.fill_diagonal(A, 1.0)
    H = Z @ Z.T / 10
    H[H < 0.8 - 1e-12] = 0.0
    C, _ = enhance(A, H, smoothness=0.4, max_iter=200, tol=1e-6)
    fitted = ECCMS(4).fit(labels)
    check_tree(fitted, C)


# --- words ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "kind", "words"),
    [
        (ECPCS(method="x"), ValueError, r"method must be .*; got 'x'"),
        (ECPCS(n_steps=0), ValueError, "n_steps must be at least 1; got 0"),
        (ECPCS(n_steps=1.5), TypeError, r"n_steps must be an integer; got 1.5 \(float\)"),
        (PTA(cut="x"), ValueError, r"cut must be .*; got 'x'"),
        (KCC(utility="x"), ValueError, r"utility must be .*; got 'x'"),
        (KCC(n_init=0), ValueError, "n_init must be at least 1; got 0"),
        (SEC(n_init=0), ValueError, "n_init must be at least 1; got 0"),
        (LCE(decay=2), ValueError, "decay must be at most 1; got 2"),
        (GPMGLA(alpha=0), ValueError, "alpha must be positive; got 0"),
        (LWGP(theta=-1), ValueError, "theta must be positive; got -1"),
        (ECCMS(alpha=0), ValueError, "alpha must be positive; got 0"),
        (ECCMS(smoothness=0), ValueError, "smoothness must be positive; got 0"),
        (ECCMS(max_objects=3), ValueError, "there are 4, more than max_objects=3. Use LWEA"),
        (ECCMS(memory_limit=10), MemoryLimitError, "matrices of all pairs of 4 objects.*Use LWEA"),
        (PTA(memory_limit=10), MemoryLimitError, "random walks on 2 distinct objects.*Use LWEA"),
    ],
)
def test_words_of_errors(method, kind, words):
    with pytest.raises(kind, match=words):
        method.fit([[0, 0], [0, 0], [1, 1], [1, 1]])


def test_trees_of_all_pairs_keep_to_the_memory_limit():
    _, labels = noisy_labels(0, 80, 8, noise=0.6)
    with pytest.raises(MemoryLimitError, match="Use method='mc', which needs none"):
        ECPCS(4, method="hc", memory_limit=25_000).fit(labels)
    assert ECPCS(4, memory_limit=25_000, random_state=0).fit(labels).n_clusters_ == 4


@pytest.mark.parametrize("method", [PTA(cut="graph"), ECPCS()])
def test_method_without_a_tree_says_so(method):
    fitted = method.fit([[0, 0], [0, 0], [1, 1], [1, 1]])
    with pytest.raises(ValueError, match="has no tree"):
        fitted.cut_tree(2)
