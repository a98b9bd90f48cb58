"""The same methods as people write them: NumPy, SciPy and scikit-learn."""

import numpy as np
from benchmarks.speed.methods.onehot import incidence
from scipy.cluster.hierarchy import fcluster, linkage
from sklearn.cluster import KMeans, SpectralClustering, SpectralCoclustering


def entropy_weights(labels, theta=0.4):
    """Return the incidence of objects and clusters, and the weight of each cluster (ECI)."""
    Z = incidence(labels, dtype=np.float64)
    Z = Z[:, Z.getnnz(axis=0) > 0]
    table = (Z.T @ Z).toarray()
    share = table / table.diagonal()[:, None]
    entropy = -(share * np.log2(np.where(share > 0, share, 1))).sum(axis=1)
    return Z, np.exp(-entropy / (theta * labels.shape[1]))


def lwea(labels, n_clusters):
    Z, weights = entropy_weights(labels)
    similarity = (Z.multiply(weights).tocsr() @ Z.T).toarray() / labels.shape[1]
    condensed = 1.0 - similarity[np.triu_indices(len(labels), 1)]
    return fcluster(linkage(condensed, "average"), n_clusters, "maxclust")


def lwgp(labels, n_clusters):
    """Co-clustering of objects and weighted clusters (Dhillon, 2001)."""
    Z, weights = entropy_weights(labels)
    weighted = Z.multiply(weights).tocsr()
    return SpectralCoclustering(n_clusters, random_state=0).fit(weighted).row_labels_


def ecpcs(labels, n_clusters, n_steps=20):
    Z = incidence(labels, dtype=np.float64)
    Z = Z[:, Z.getnnz(axis=0) > 0]
    table = (Z.T @ Z).toarray()
    sizes = table.diagonal()
    links = table / (sizes[:, None] + sizes - table)
    np.fill_diagonal(links, 0)
    step = links / np.maximum(links.sum(axis=1, keepdims=True), 1e-300)
    steps = [step]
    for _ in range(n_steps - 1):
        steps.append(steps[-1] @ step)
    trajectories = np.hstack(steps)
    trajectories /= np.maximum(np.linalg.norm(trajectories, axis=1, keepdims=True), 1e-300)
    similarity = trajectories @ trajectories.T
    groups = SpectralClustering(n_clusters, affinity="precomputed", random_state=0)
    groups = groups.fit_predict(np.clip(similarity, 0, 1))
    member = np.eye(n_clusters)[groups] / np.bincount(groups, minlength=n_clusters)
    return np.asarray(Z @ member).argmax(axis=1)


def usenc(labels, n_clusters):
    Z = incidence(labels)
    Z = Z[:, Z.getnnz(axis=0) > 0]
    return SpectralCoclustering(n_clusters, random_state=0).fit(Z).row_labels_


def kcc(labels, n_clusters):
    """K-means on the incidence of objects and clusters."""
    return KMeans(n_clusters, n_init=10, random_state=0).fit_predict(incidence(labels))


def uspec(points, n_clusters):
    clusterer = SpectralClustering(n_clusters, affinity="nearest_neighbors", random_state=0)
    return clusterer.fit_predict(points)
