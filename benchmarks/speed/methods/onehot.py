"""The 0/1 incidence of objects and clusters, and its products: what people write by hand."""

import numpy as np
from scipy import sparse


def incidence(labels, dtype=np.float32):
    """Return Z (n, K) as a sparse matrix; a missing label is an empty place in its row."""
    n_objects, n_partitions = labels.shape
    offsets = np.concatenate([[0], np.cumsum(labels.max(axis=0) + 1)])
    columns = labels + offsets[:-1].astype(labels.dtype)
    present = labels >= 0
    if present.all():
        indptr = np.arange(0, labels.size + 1, n_partitions)
    else:
        columns = columns[present]
        indptr = np.concatenate([[0], np.cumsum(present.sum(axis=1))])
    indices = columns.ravel()
    ones = np.ones(len(indices), dtype=dtype)
    return sparse.csr_matrix((ones, indices, indptr), shape=(n_objects, offsets[-1]))
