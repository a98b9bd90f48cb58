"""Label matrices for hypothesis: with ties, twins, missing labels and degenerate partitions."""

import numpy as np
from hypothesis import strategies as st

MISSING = -1
NAMES = ["a", "b", "", "B", "1", "01", "x,y", 'q"', "ä", " "]


@st.composite
def label_columns(draw, n, *, missing=True):
    """One partition of n objects: constant, all singletons, or anything between."""
    kind = draw(st.sampled_from(["constant", "singletons", "few", "few", "many"]))
    if kind == "constant":
        column = [draw(st.sampled_from([0, 3, -7]))] * n
    elif kind == "singletons":
        column = draw(st.permutations(range(n)))
    else:
        most = 3 if kind == "few" else max(1, n)
        column = draw(st.lists(st.integers(0, most - 1), min_size=n, max_size=n))
    column = list(column)
    if missing and draw(st.booleans()):
        gone = draw(st.lists(st.booleans(), min_size=n, max_size=n))
        keep = draw(st.integers(0, n - 1))  # somebody must have a label
        column = [MISSING if gone[i] and i != keep else value for i, value in enumerate(column)]
    return column


@st.composite
def label_matrices(draw, *, min_objects=1, max_objects=10, max_partitions=6, missing=True):
    """(n, L) integers, -1 is missing; no column is missing as a whole.

    Rows and columns are repeated now and then.
    """
    n = draw(st.integers(min_objects, max_objects))
    columns = draw(st.lists(label_columns(n, missing=missing), min_size=1, max_size=max_partitions))
    if draw(st.booleans()):
        columns.append(draw(st.sampled_from(columns)))
    table = np.array(columns, dtype=np.int64).T
    if draw(st.booleans()):  # twins: every object takes the row of some object
        rows = draw(st.lists(st.integers(0, n - 1), min_size=n, max_size=n))
        twins = table[rows]
        if (twins != MISSING).any(axis=0).all():
            table = twins
    return table


@st.composite
def string_tables(draw, *, max_objects=8, max_partitions=4):
    """(n, L) object array of strings and None; no column is missing as a whole."""
    n = draw(st.integers(1, max_objects))
    n_partitions = draw(st.integers(1, max_partitions))
    table = np.empty((n, n_partitions), dtype=object)
    for e in range(n_partitions):
        values = st.one_of(st.none(), st.sampled_from(NAMES))
        table[:, e] = draw(st.lists(values, min_size=n, max_size=n))
        table[draw(st.integers(0, n - 1)), e] = draw(st.sampled_from(NAMES))
    return table


def pair_weights(n_partitions, *, among=None):
    """(together, apart): weights of partitions for pairs, also negative ones, with exact ties."""
    value = among or st.sampled_from([-1.5, -1.0, -0.5, 0.0, 0.25, 0.5, 1.0, 2.0, 3.0])
    vector = st.lists(value, min_size=n_partitions, max_size=n_partitions).map(np.array)
    return st.tuples(vector, vector)


@st.composite
def weights_by_cluster(draw, labels):
    """(together, apart): as `pair_weights`, but a dictionary of labels for each partition."""
    value = st.sampled_from([-1.5, -0.5, 0.0, 0.25, 0.5, 1.0, 2.0])
    together = [
        {name: draw(value) for name in sorted(set(column) - {MISSING})}
        for column in labels.T.tolist()
    ]
    apart = np.array([draw(value) for _ in together])
    return together, apart


def random_labels(seed, n_objects, n_partitions, *, most=6, missing=0.0):
    """(n, L) random labels for larger tests; no column is missing as a whole."""
    random = np.random.default_rng(seed)
    k = random.integers(2, most + 1, size=n_partitions)
    labels = random.integers(0, k, size=(n_objects, n_partitions))
    labels[random.random(labels.shape) < missing] = MISSING
    labels[0] = 0
    return labels


def noisy_labels(seed, n_objects, n_partitions, *, n_clusters=4, noise=0.2, missing=0.0):
    """(truth, labels): partitions that repeat a truth with random errors and names."""
    random = np.random.default_rng(seed)
    truth = random.integers(0, n_clusters, size=n_objects)
    labels = np.empty((n_objects, n_partitions), dtype=np.int64)
    for e in range(n_partitions):
        column = np.where(
            random.random(n_objects) < noise, random.integers(0, n_clusters, n_objects), truth
        )
        labels[:, e] = random.permutation(n_clusters)[column]
    labels[random.random(labels.shape) < missing] = MISSING
    return truth, labels
