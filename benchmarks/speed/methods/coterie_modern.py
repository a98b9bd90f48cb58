"""Our methods of the last decade, and USPEC on features."""

from coterie import ECPCS, GPMGLA, HBGF, KCC, LCE, LWEA, LWGP, SEC, USPEC, WEAC


def lwea(labels, n_clusters):
    return LWEA(n_clusters).fit(labels).labels_


def weac(labels, n_clusters):
    return WEAC(n_clusters).fit(labels).labels_


def lwgp(labels, n_clusters):
    return LWGP(n_clusters, random_state=0).fit(labels).labels_


def gpmgla(labels, n_clusters):
    return GPMGLA(n_clusters, random_state=0).fit(labels).labels_


def ecpcs(labels, n_clusters):
    return ECPCS(n_clusters, random_state=0).fit(labels).labels_


def lce(labels, n_clusters):
    return LCE(n_clusters, random_state=0).fit(labels).labels_


def kcc(labels, n_clusters):
    return KCC(n_clusters, random_state=0).fit(labels).labels_


def sec(labels, n_clusters):
    return SEC(n_clusters, random_state=0).fit(labels).labels_


def usenc(labels, n_clusters):
    """The consensus of U-SENC."""
    return HBGF(n_clusters, random_state=0).fit(labels).labels_


def uspec(points, n_clusters):
    return USPEC(n_clusters, random_state=0).fit(points).labels_
