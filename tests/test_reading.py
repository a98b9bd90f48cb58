"""Frames and files that the library reads."""

import numpy as np
import pandas as pd
import pytest

from coterie import EAC, LAC, ConsensusClustering, RandomizedEnsemble, how_many_clusters
from coterie._reading import read_csv
from coterie.choosing import structure_test


@pytest.mark.parametrize(
    "use",
    [
        EAC().fit,
        LAC(2, 1.0).fit,
        ConsensusClustering().fit,
        RandomizedEnsemble(n_partitions=2).fit,
        how_many_clusters,
        structure_test,
    ],
)
def test_two_columns_of_one_name(use):
    frame = pd.DataFrame(np.arange(60).reshape(20, 3) % 4, columns=["a", "b", "a"])
    with pytest.raises(ValueError, match="X has two columns with the name 'a'"):
        use(frame)


def test_lines_that_end_in_both_ways_with_quotes(tmp_path):
    """Found by fuzzing: the number of the line was beyond the lines that a line feed ends."""
    path = tmp_path / "t.csv"
    path.write_bytes(b'\r,\x08\r,",x\r,\x08\r,"\n\x08$1y\r,2')
    with pytest.raises(ValueError, match=r"t\.csv"):
        read_csv(path, path)
