"""The steps of locally adaptive clustering, for many runs on the same data at once.

`centres` and `weights` are (r, D), r = runs x clusters, the clusters of a run next to each other.
Distances are sums of squared differences, never expanded: with features such as a patient's
number (1e8) the difference of two large products would have no correct digit left. A distance
depends on its object and cluster alone, so that neither threads nor other runs change it.
"""

from __future__ import annotations

import numpy as np

from coterie._kernels._jit import njit, parallel_njit, prange

_OBJECTS = 64  # a block of objects whose features stay in the first-level cache
_FEATURES = 64
_SLAB = 1 << 17  # objects that are summed up together, whatever the number of threads
_CANCELLED = 1e-3  # a rest smaller than this share has lost digits: sum it again
_TIE = 1e-12  # distances that differ by less than this share are equal but for rounding


@njit
def _fill_distances(X, start, stop, centres, weights, tile, out):
    """Fill out[c, i] with the squared distance of object start + i to each cluster."""
    n_clusters, n_features = centres.shape
    size = stop - start
    out[:] = 0.0
    for low in range(0, n_features, _FEATURES):
        high = min(n_features, low + _FEATURES)
        for i in range(size):
            for s in range(low, high):
                tile[s - low, i] = X[start + i, s]
        for c in range(n_clusters):
            row = out[c]
            for s in range(low, high):
                weight, centre = weights[c, s], centres[c, s]
                values = tile[s - low]
                for i in range(_OBJECTS):  # all lanes, whatever the size: no branch
                    apart = values[i] - centre
                    row[i] += weight * (apart * apart)


@njit
def _first_nearest(found):
    """Return the first cluster that is as near as the nearest."""
    least = found[0]
    for c in range(1, found.size):
        least = min(least, found[c])
    for c in range(found.size):
        if found[c] <= least * (1.0 + _TIE):
            return c
    return 0


@parallel_njit
def assign(X, centres, weights, n_runs):
    """Return (runs, n): the nearest cluster of each run, the first of equally near ones."""
    n, n_all = X.shape[0], centres.shape[0]
    k = n_all // n_runs
    labels = np.empty((n_runs, n), dtype=np.int32)
    for block in prange((n + _OBJECTS - 1) // _OBJECTS):
        start = block * _OBJECTS
        stop = min(n, start + _OBJECTS)
        tile = np.zeros((_FEATURES, _OBJECTS))
        found = np.empty((n_all, _OBJECTS))
        _fill_distances(X, start, stop, centres, weights, tile, found)
        for run in range(n_runs):
            for i in range(stop - start):
                labels[run, start + i] = _first_nearest(found[run * k : (run + 1) * k, i])
    return labels


@parallel_njit
def distances(X, centres, weights):
    """Return (n, r) squared distances."""
    n, n_all = X.shape[0], centres.shape[0]
    out = np.empty((n, n_all))
    for block in prange((n + _OBJECTS - 1) // _OBJECTS):
        start = block * _OBJECTS
        stop = min(n, start + _OBJECTS)
        tile = np.zeros((_FEATURES, _OBJECTS))
        found = np.empty((n_all, _OBJECTS))
        _fill_distances(X, start, stop, centres, weights, tile, found)
        for i in range(stop - start):
            for c in range(n_all):
                out[start + i, c] = found[c, i]
    return out


@njit
def _add_squares(X, start, stop, labels, centres, out):
    for i in range(start, stop):
        c = labels[i]
        row, centre, to = X[i], centres[c], out[c]
        for s in range(row.size):
            apart = row[s] - centre[s]
            to[s] += apart * apart


@parallel_njit
def sum_squares(X, labels, centres):
    """Return (r, D): sums over the members of squared differences to the centre."""
    n_runs, n = labels.shape
    k = centres.shape[0] // n_runs
    n_slabs = (n + _SLAB - 1) // _SLAB
    n_all = centres.shape[0]
    sums = np.zeros((n_slabs * n_all, centres.shape[1]))
    for task in prange(n_runs * n_slabs):
        run, slab = task % n_runs, task // n_runs
        first, out = run * k, slab * n_all + run * k
        _add_squares(
            X,
            slab * _SLAB,
            min(n, (slab + 1) * _SLAB),
            labels[run],
            centres[first : first + k],
            sums[out : out + k],
        )
    return sums.reshape(n_slabs, n_all, -1).sum(axis=0)


@njit
def _add_members(X, start, stop, labels, out):
    for i in range(start, stop):
        row, to = X[i], out[labels[i]]
        for s in range(row.size):
            to[s] += row[s]


@parallel_njit
def sum_members(X, labels, k):
    """Return (r, D): sums of the members."""
    n_runs, n = labels.shape
    n_slabs = (n + _SLAB - 1) // _SLAB
    n_all = n_runs * k
    sums = np.zeros((n_slabs * n_all, X.shape[1]))
    for task in prange(n_runs * n_slabs):
        run, slab = task % n_runs, task // n_runs
        out = slab * n_all + run * k
        stop = min(n, (slab + 1) * _SLAB)
        _add_members(X, slab * _SLAB, stop, labels[run], sums[out : out + k])
    return sums.reshape(n_slabs, n_all, -1).sum(axis=0)


# --- the same for sparse rows: stored values, their columns, and where rows start ----------------


@njit
def _fill_sparse_row(values, columns, turned_centres, turned_weights, loads, total, rest, out):
    """Fill out (r,) with the squared distances of one object.

    `loads` is weight x centre^2, (D, r) like the other tables, and `total` its sum over features:
    what is left of it beside the stored values is the distance along the features that are 0.
    """
    n_features, n_all = turned_centres.shape
    out[:] = 0.0
    rest[:] = total
    for p in range(values.size):
        value, s = values[p], columns[p]
        centre, weight, load = turned_centres[s], turned_weights[s], loads[s]
        for c in range(n_all):
            apart = value - centre[c]
            out[c] += weight[c] * (apart * apart)
            rest[c] -= load[c]
    for c in range(n_all):
        if rest[c] < _CANCELLED * total[c]:
            rest[c] = 0.0
            p = 0
            for s in range(n_features):
                if p < columns.size and columns[p] == s:
                    p += 1
                else:
                    rest[c] += loads[s, c]
        out[c] += rest[c]


@parallel_njit
def assign_sparse(data, indices, indptr, turned_centres, turned_weights, loads, total, n_runs):
    """Return (runs, n), as `assign`; column numbers of a row must be sorted."""
    n, n_all = indptr.size - 1, turned_centres.shape[1]
    k = n_all // n_runs
    labels = np.empty((n_runs, n), dtype=np.int32)
    for block in prange((n + _OBJECTS - 1) // _OBJECTS):
        found, rest = np.empty(n_all), np.empty(n_all)
        for i in range(block * _OBJECTS, min(n, (block + 1) * _OBJECTS)):
            row = slice(indptr[i], indptr[i + 1])
            _fill_sparse_row(
                data[row], indices[row], turned_centres, turned_weights, loads, total, rest, found
            )
            for run in range(n_runs):
                labels[run, i] = _first_nearest(found[run * k : (run + 1) * k])
    return labels


@parallel_njit
def distances_sparse(data, indices, indptr, turned_centres, turned_weights, loads, total):
    """Return (n, r) squared distances."""
    n, n_all = indptr.size - 1, turned_centres.shape[1]
    out = np.empty((n, n_all))
    for block in prange((n + _OBJECTS - 1) // _OBJECTS):
        rest = np.empty(n_all)
        for i in range(block * _OBJECTS, min(n, (block + 1) * _OBJECTS)):
            row = slice(indptr[i], indptr[i + 1])
            _fill_sparse_row(
                data[row], indices[row], turned_centres, turned_weights, loads, total, rest, out[i]
            )
    return out


@parallel_njit
def sum_squares_sparse(data, indices, indptr, labels, centres):
    """Return (r, D), as `sum_squares`: what is stored, and centre^2 for what is not."""
    n_runs, n = labels.shape
    n_all, n_features = centres.shape
    k = n_all // n_runs
    out = np.zeros((n_all, n_features))
    for run in prange(n_runs):
        sizes = np.zeros(k)
        stored = np.zeros((k, n_features))
        for i in range(n):
            c = labels[run, i]
            sizes[c] += 1.0
            for p in range(indptr[i], indptr[i + 1]):
                s = indices[p]
                apart = data[p] - centres[run * k + c, s]
                out[run * k + c, s] += apart * apart
                stored[c, s] += 1.0
        for c in range(k):
            for s in range(n_features):
                centre = centres[run * k + c, s]
                out[run * k + c, s] += (sizes[c] - stored[c, s]) * (centre * centre)
    return out


@parallel_njit
def sum_members_sparse(data, indices, indptr, labels, k, n_features):
    """Return (r, D): sums of the members."""
    n_runs, n = labels.shape
    out = np.zeros((n_runs * k, n_features))
    for run in prange(n_runs):
        for i in range(n):
            c = run * k + labels[run, i]
            for p in range(indptr[i], indptr[i + 1]):
                out[c, indices[p]] += data[p]
    return out
