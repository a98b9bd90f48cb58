"""How far the second of two dense regions stands out: peaks and the saddle between them."""

from __future__ import annotations

import numpy as np

from coterie._kernels._jit import njit


@njit
def spanning_edges(distances, core):
    """Return (i, j, weight) of a minimum spanning tree by Prim's algorithm.

    The weight of a pair is its distance, or the core distance of either object if that is larger
    (mutual reachability), so that a thin bridge or a lone object does not join what is dense.
    """
    n = distances.shape[0]
    best = np.full(n, np.inf)
    partner = np.zeros(n, dtype=np.int64)
    is_in = np.zeros(n, dtype=np.bool_)
    first = np.empty(n - 1, dtype=np.int64)
    second = np.empty(n - 1, dtype=np.int64)
    weights = np.empty(n - 1)
    current = 0
    is_in[0] = True
    for step in range(n - 1):
        nearest, least = -1, np.inf
        for j in range(n):
            if is_in[j]:
                continue
            weight = max(distances[current, j], core[current], core[j])
            if weight < best[j]:
                best[j] = weight
                partner[j] = current
            if nearest < 0 or best[j] < least:
                least = best[j]
                nearest = j
        first[step], second[step], weights[step] = partner[nearest], nearest, least
        is_in[nearest] = True
        current = nearest
    return first, second, weights


@njit
def _root(parent, i):
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@njit
def peak_prominences(distances, core, least, ratio):
    """Return how far each peak of density but the first stands out of the saddle below it.

    Clusters grow as the distance that joins objects rises. Where two clusters of at least
    `least` objects meet, the less dense of their two peaks has lasted from its own core distance
    to the distance of the meeting: as the difference of the two, or with `ratio` that of their
    logarithms. One value for each meeting, in no order.
    """
    n = distances.shape[0]
    first, second, weights = spanning_edges(distances, core)
    order = np.argsort(weights, kind="mergesort")
    parent = np.arange(n)
    size = np.ones(n, dtype=np.int64)
    peak = core.copy()
    found = np.empty(n)
    n_found = 0
    for step in order:
        a, b = _root(parent, first[step]), _root(parent, second[step])
        if min(size[a], size[b]) >= least:
            start, stop = max(peak[a], peak[b]), weights[step]
            if not ratio:
                found[n_found] = stop - start
            elif stop > start:
                found[n_found] = np.log(stop / start) if start > 0.0 else np.inf
            else:
                found[n_found] = 0.0
            n_found += 1
        if size[a] < size[b]:
            a, b = b, a
        parent[b] = a
        size[a] += size[b]
        peak[a] = min(peak[a], peak[b])
    return found[:n_found]
