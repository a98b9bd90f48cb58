"""Ours."""

import numpy as np
from benchmarks.speed.methods.groups import groups_and_validity, rounded_weights

from coterie import EAC, HNE, LACA, PEACE, Ensemble, MSTEClust


def coassociation(labels, n_clusters):
    return Ensemble(labels).coassociation()


coassociation_subsampled = coassociation


def average(labels, n_clusters):
    return EAC(n_clusters=n_clusters, linkage="average").fit(labels).labels_


def single(labels, n_clusters):
    return EAC(n_clusters=n_clusters, linkage="single").fit(labels).labels_


def laca(labels, n_clusters):
    return LACA(n_clusters).fit(labels).labels_


def margin_tree(labels, n_clusters):
    groups, validity = groups_and_validity(labels.shape[1])
    ensemble = Ensemble(labels, groups=groups, validity=validity)
    return rounded_weights(MSTEClust().fit(ensemble).tree_[:, 2])


def overlap(labels, n_clusters):
    return Ensemble(labels).overlap


def normalized_edges(labels, n_clusters):
    return HNE(n_clusters=n_clusters).fit(labels).labels_


def peace_start(n_objects, k):
    """The same random memberships for every way to fit PEACE."""
    return np.random.default_rng(0).dirichlet(np.ones(k), size=n_objects)


def peace(labels, n_clusters):
    return PEACE(10, init=peace_start(len(labels), 10)).fit(labels).labels_


def peace_loose(labels, n_clusters):
    return PEACE(5, init=peace_start(len(labels), 5), tol=1e-4).fit(labels).labels_
