"""One sparse co-association product and one average linkage by fastcluster."""

import fastcluster
import numpy as np
from benchmarks.speed.methods.onehot import incidence
from scipy.cluster.hierarchy import fcluster


def laca(labels, n_clusters):
    Z = incidence(labels)
    distance = 1.0 - (Z @ Z.T).toarray() / labels.shape[1]
    condensed = distance[np.triu_indices(len(labels), 1)]
    tree = fastcluster.linkage(condensed, method="average", preserve_input=False)
    return fcluster(tree, n_clusters, "maxclust")
