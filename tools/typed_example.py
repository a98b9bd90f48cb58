"""What a user's type checker must accept; `make dist` checks it against the installed wheel."""

import numpy as np
from numpy.typing import NDArray

from coterie import EAC, ConsensusClustering, Ensemble, RandomizedEnsemble

votes = Ensemble([[0, 0], [0, 0], [1, 1]])
n_objects: int = votes.n_objects
eac: EAC = EAC(n_clusters=2).fit(votes)
labels: NDArray[np.int64] = eac.labels_
maker = RandomizedEnsemble(n_partitions=10, random_state=0)
made: Ensemble = maker.fit_transform(np.zeros((5, 2)))
model = ConsensusClustering(n_clusters=2, random_state=0)
