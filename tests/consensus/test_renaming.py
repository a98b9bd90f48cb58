"""The names of clusters are no information: any other names give the same consensus."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie import HNE, PEACE, PWEC, BaumEagon, MixtureModel, MSTEClust, Voting
from strategies import label_matrices

METHODS = {
    "voting": lambda k: Voting(k),
    "cumulative voting": lambda k: Voting(k, voting="cumulative"),
    "mixture": lambda k: MixtureModel(k, n_init=3, random_state=0),
    "peace": lambda k: PEACE(k, n_init=1, tol=1e-2, random_state=0),
    "baum_eagon": lambda k: BaumEagon(k, n_init=1, tol=1e-2, random_state=0),
    "hne": lambda k: HNE(k),
    "msteclust": lambda k: MSTEClust(k),
    "pwec": lambda k: PWEC(k),
}

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@st.composite
def renamings(draw):
    """Labels with missing ones, the same labels under other names, a number of clusters."""
    labels = draw(label_matrices(min_objects=2, max_objects=10))
    renamed = labels.copy()
    for e, column in enumerate(labels.T):
        names = draw(st.permutations(range(int(labels.max()) + 1)))
        renamed[:, e] = [name if name < 0 else names[name] for name in column]
    return labels, renamed, draw(st.integers(1, min(4, len(labels))))


@pytest.mark.parametrize("name", METHODS)
@given(case=renamings())
def test_renaming_clusters_changes_nothing(name, case):
    labels, renamed, k = case
    one, two = METHODS[name](k).fit(labels), METHODS[name](k).fit(renamed)
    assert one.labels_.tolist() == two.labels_.tolist()
    assert one.predict(labels).tolist() == two.predict(renamed).tolist()
    if hasattr(one, "membership_"):
        np.testing.assert_allclose(one.membership_, two.membership_, atol=1e-9)
        np.testing.assert_allclose(one.predict_proba(labels), two.predict_proba(renamed), atol=1e-9)


# Ensembles on which an order of clusters by their names gave another partition.
@pytest.mark.parametrize("name", ["voting", "mixture"])
def test_renaming_many_ensembles(name):
    random = np.random.default_rng(0)
    for _ in range(150):
        n, n_partitions, most = random.integers(4, 12), random.integers(2, 6), random.integers(2, 5)
        labels = random.integers(0, most, size=(n, n_partitions))
        labels[random.random(labels.shape) < random.choice([0.0, 0.2])] = -1
        labels[0] = 0
        names = np.column_stack([random.permutation(most) for _ in range(n_partitions)])
        renamed = np.where(labels < 0, -1, names[labels, np.arange(n_partitions)])
        k = int(random.integers(2, 4))
        one, two = METHODS[name](k).fit(labels), METHODS[name](k).fit(renamed)
        assert one.labels_.tolist() == two.labels_.tolist()
