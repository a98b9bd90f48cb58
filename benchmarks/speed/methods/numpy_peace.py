"""The algorithm of the PEACE paper in plain NumPy: section 3.3 as printed, signs corrected."""

import numpy as np


def counts(labels):
    both = np.zeros((len(labels),) * 2)
    together = both.copy()
    for column in labels.T:
        seen = column >= 0
        both += np.outer(seen, seen)
        together += np.equal.outer(column, column) & np.outer(seen, seen)
    np.fill_diagonal(both, 0)
    np.fill_diagonal(together, 0)
    return together, both


def quotient(x, y):
    return np.divide(x, y, out=np.zeros_like(y), where=x > 0)


def climb(c, r, Y, stop_below):
    """Return (Y, steps); c and r are the counts for together and for apart."""
    A = Y.T @ Y
    G = Y @ (quotient(c, A) - quotient(r, 1 - A))
    steps = 0
    while True:
        lowest = np.where(Y > 0, G, np.inf)
        gaps = G.max(axis=0) - lowest.min(axis=0)
        J = int(np.argmax(gaps))
        if gaps[J] < stop_below:
            return Y, steps
        U, V = int(np.argmax(G[:, J])), int(np.argmin(lowest[:, J]))
        step = line_search(c[J], r[J], A[J], Y[U] - Y[V], Y[V, J], J)
        old = Y[:, J].copy()
        before = quotient(c[J], A[J]) - quotient(r[J], 1 - A[J])
        Y[U, J] += step
        Y[V, J] = 0.0 if step == old[V] else Y[V, J] - step
        A[J] = A[:, J] = Y[:, J] @ Y
        after = quotient(c[J], A[J]) - quotient(r[J], 1 - A[J])
        G += np.outer(Y[:, J], after) - np.outer(old, before)
        G[:, J] = Y @ after
        steps += 1


def line_search(c, r, a, d, most, J):
    d = d.copy()
    d[J] = 0.0

    def rho(step):
        x = a + step * d
        if (x[c > 0] <= 0).any() or (x[r > 0] >= 1).any():
            return -np.inf
        return np.sum(d * (quotient(c, x) - quotient(r, 1 - x)))

    if rho(most) >= 0:
        return most
    low, high = 0.0, most
    while True:
        middle = (low + high) / 2
        if middle in (low, high):
            return low
        if rho(middle) < 0:
            high = middle
        else:
            low = middle


def peace_loose(labels, n_clusters):
    from benchmarks.speed.methods.coterie import peace_start

    c, both = counts(labels)
    Y = np.ascontiguousarray(peace_start(len(labels), 5).T)
    Y, _ = climb(c, both - c, Y, 1e-4 * both.sum(axis=1).mean())
    return np.argmax(Y, axis=0)
