"""Cluster_Ensembles' CSPA, HGPA and MCLA, with what Python 3 and newer packages took away put back.

The package (2016) uses `xrange` and `reduce`, a function that scikit-learn removed, a module that
SciPy is removing and what NumPy no longer allows. It calls METIS's program `gpmetis`, which must be
on the path (its source comes with the package), and a 32-bit `shmetis` of its own for HGPA, which
needs the 32-bit C library. It works in files in the current directory.
"""

import builtins
import functools
import os
import tempfile
import types

import numpy as np
import scipy.sparse
import sklearn.metrics

builtins.xrange, builtins.reduce = range, functools.reduce
scipy.sparse.csr = types.SimpleNamespace(csr_matrix=scipy.sparse.csr_matrix)
sklearn.metrics.jaccard_similarity_score = sklearn.metrics.jaccard_score
_reshape = np.reshape
np.reshape = lambda a, shape=None, order="C", *, newshape=None: _reshape(
    a, shape if newshape is None else newshape, order
)

import Cluster_Ensembles.Cluster_Ensembles as package  # noqa: E402

# A column of sums, which NumPy no longer takes for numbers.
_cmetis = package.cmetis
package.cmetis = lambda file, k, w: _cmetis(file, k, np.asarray(w, dtype=float).ravel())


def _run(method, labels, n_clusters):
    runs = labels.T.astype(float)
    with tempfile.TemporaryDirectory() as scratch:
        before = os.getcwd()
        os.chdir(scratch)
        try:
            with package.tables.open_file("ensemble.h5", "w") as file:
                file.create_group(file.root, "consensus_group")
            adjacency = package.build_hypergraph_adjacency(runs)
            package.store_hypergraph_adjacency(adjacency, "ensemble.h5")
            found = method("ensemble.h5", runs, verbose=False, N_clusters_max=n_clusters)
        finally:
            os.chdir(before)
    return np.asarray(found)


def cspa(labels, n_clusters):
    return _run(package.CSPA, labels, n_clusters)


def hgpa(labels, n_clusters):
    return _run(package.HGPA, labels, n_clusters)


def mcla(labels, n_clusters):
    return _run(package.MCLA, labels, n_clusters)
