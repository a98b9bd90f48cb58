"""Our graph methods with METIS; HGPA with Mt-KaHyPar."""

from coterie import CSPA, HBGF, HGPA, MCLA


def cspa(labels, n_clusters):
    return CSPA(n_clusters, partitioner="metis", random_state=0).fit(labels).labels_


def mcla(labels, n_clusters):
    return MCLA(n_clusters, partitioner="metis", random_state=0).fit(labels).labels_


def hbgf(labels, n_clusters):
    return HBGF(n_clusters, partitioner="metis", random_state=0).fit(labels).labels_


def hgpa(labels, n_clusters):
    return HGPA(n_clusters, partitioner="hypergraph", random_state=0).fit(labels).labels_
