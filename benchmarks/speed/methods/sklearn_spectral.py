"""scikit-learn's spectral clusterers on the matrices that people write by hand."""

from benchmarks.speed.methods import onehot, sparse_product_dense
from sklearn.cluster import KMeans, SpectralClustering, SpectralCoclustering


def cspa(labels, n_clusters):
    """On the dense co-association matrix."""
    C = sparse_product_dense.coassociation(labels, n_clusters)
    clusterer = SpectralClustering(n_clusters, affinity="precomputed", random_state=0)
    return clusterer.fit_predict(C)


def hbgf(labels, n_clusters):
    """Bipartite spectral co-clustering of objects and clusters (Dhillon, 2001)."""
    Z = onehot.incidence(labels)
    Z = Z[:, Z.getnnz(axis=0) > 0]  # it cannot do with empty clusters, which a few rows leave
    return SpectralCoclustering(n_clusters, random_state=0).fit(Z).row_labels_


def coassociation_kmeans(labels, n_clusters):
    """K-means on the rows of the dense matrix."""
    C = sparse_product_dense.coassociation(labels, n_clusters)
    return KMeans(n_clusters, n_init=10, random_state=0).fit_predict(C)
