"""Ours."""

from coterie import EAC, Ensemble


def coassociation(labels, n_clusters):
    return Ensemble(labels).coassociation()


coassociation_subsampled = coassociation


def average(labels, n_clusters):
    return EAC(n_clusters=n_clusters, linkage="average").fit(labels).labels_


def single(labels, n_clusters):
    return EAC(n_clusters=n_clusters, linkage="single").fit(labels).labels_


def overlap(labels, n_clusters):
    return Ensemble(labels).overlap
