"""Cluster_Ensembles: the best of CSPA, HGPA and MCLA, so another consensus than linkage."""

import Cluster_Ensembles


def average(labels, n_clusters):
    return Cluster_Ensembles.cluster_ensembles(labels.T.astype(float), N_clusters_max=n_clusters)
