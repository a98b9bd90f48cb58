"""Ours, with the paper's own algorithm."""

from benchmarks.speed.methods.coterie import peace_start

from coterie import PEACE


def peace(labels, n_clusters):
    return PEACE(10, init=peace_start(len(labels), 10), solver="paper").fit(labels).labels_


def peace_loose(labels, n_clusters):
    start = peace_start(len(labels), 5)
    return PEACE(5, init=start, solver="paper", tol=1e-4).fit(labels).labels_
