"""Our graph methods: spectral partitions."""

from coterie import CSPA, HBGF, HGPA, MCLA, CoassociationKMeans


def cspa(labels, n_clusters):
    return CSPA(n_clusters, random_state=0).fit(labels).labels_


def mcla(labels, n_clusters):
    return MCLA(n_clusters, random_state=0).fit(labels).labels_


def hbgf(labels, n_clusters):
    return HBGF(n_clusters, random_state=0).fit(labels).labels_


def hgpa(labels, n_clusters):
    return HGPA(n_clusters, random_state=0).fit(labels).labels_


def coassociation_kmeans(labels, n_clusters):
    return CoassociationKMeans(n_clusters, random_state=0).fit(labels).labels_
