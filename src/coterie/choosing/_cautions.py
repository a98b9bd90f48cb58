"""Cautions: reasons not to trust a consensus, in plain sentences."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.decomposition import PCA

from coterie._limits import one_thread
from coterie.choosing._structure import CLEAR, StructureTest, structure_test
from coterie.choosing._trust import ClusterTrust
from coterie.ensemble import Ensemble

__all__ = ["Caution", "Gap", "cautions", "find_gap"]

_TINY_SHARE = 0.05  # of the mean size of a cluster
_LOPSIDED_SHARE = 0.95  # of the objects in one cluster
_LEAST_OBJECTS, _LEAST_PARTITIONS = 20, 10  # with fewer a gap cannot be tested
_MOST_OBJECTS, _MOST_FEATURES = 500, 50  # in the test for a gap: it takes well below a second
_MOST_NAMED = 5


class Gap(NamedTuple):
    """Whether the clusters are set apart.

    Examples
    --------
    >>> from coterie import EAC
    >>> from coterie.choosing import find_gap
    >>> gap = find_gap(EAC(n_clusters=2).fit([[0, 0], [0, 0], [1, 1]]))
    >>> print(gap.found, gap.kind)
    None ensemble
    """

    found: bool | None
    """None where it cannot be told."""
    words: str
    """The answer in a sentence."""
    p_value: float | None
    kind: str
    """What was tested: 'features' or 'ensemble'."""


class Caution(NamedTuple):
    """One reason to be careful with a consensus.

    Examples
    --------
    >>> from coterie import EAC
    >>> from coterie.choosing import cautions
    >>> caution, = cautions(EAC(n_clusters=3).fit([[0, 0], [0, 0], [1, 1], [1, 1], [2, 2]]))
    >>> caution.kind
    'tiny'
    """

    kind: str
    """'unlabelled', 'lopsided', 'tiny', 'unstable' or 'no_gap'."""
    words: str
    """The reason in plain sentences."""


def cautions(
    model: Any,
    X: ArrayLike | Any | None = None,
    *,
    structure: StructureTest | Gap | None = None,
    trust: ClusterTrust | None = None,
) -> list[Caution]:
    """Return the reasons to be careful with a consensus; none means that none was found.

    - 'unlabelled': no partition has a label for some objects.
    - 'lopsided': one of several clusters holds at least 95 % of the objects.
    - 'tiny': a cluster has a single object, or less than 5 % of the mean size of a cluster.
    - 'unstable': resamples of the ensemble do not find a cluster again; only with `trust`.
    - 'no_gap': `coterie.structure_test` finds no emptier region between dense ones, in the
      features if they are given, else in at least ten partitions. Uniform noise gets a consensus
      with a high confidence too, because its partitions cut it alike.

    Parameters
    ----------
    model : fitted consensus function or ConsensusClustering
        What found the clusters.
    X : {array-like, sparse matrix} of shape (n_objects, n_features), optional
        The features as they were clustered. A sample of at most 500 objects is tested, of many
        features the first 50 principal components.
    structure : StructureTest or Gap, optional
        A finished test of the features or of the ensemble.
    trust : ClusterTrust, optional
        Stability of the clusters, from `coterie.cluster_trust`: adds 'unstable'.

    Returns
    -------
    found : list of Caution
        The same for the same input.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import EAC
    >>> from coterie.choosing import cautions
    >>> votes = np.zeros((40, 3), dtype=int)
    >>> votes[7] = 1
    >>> [caution.kind for caution in cautions(EAC(n_clusters=2).fit(votes))]
    ['lopsided', 'tiny']
    """
    consensus = getattr(model, "consensus_", model)
    ensemble, labels = consensus.ensemble_, consensus.labels_
    sizes = np.bincount(labels)
    found = [_unlabelled(ensemble), _lopsided(sizes), _tiny(sizes), _unstable(trust)]
    if len(sizes) > 1 and found[1] is None:
        gap = structure if isinstance(structure, Gap) else find_gap(model, X, structure=structure)
        if gap.found is False:
            found.append(_no_gap(float(consensus.confidence_.mean()), gap.kind))
    return [caution for caution in found if caution is not None]


def find_gap(
    model: Any, X: ArrayLike | Any | None = None, *, structure: StructureTest | None = None
) -> Gap:
    """Return whether there is a gap between clusters, in a sentence; see `structure_test`.

    Parameters
    ----------
    model : fitted consensus function or ConsensusClustering
        What found the clusters.
    X : {array-like, sparse matrix} of shape (n_objects, n_features), optional
        The features as they were clustered; a sample is tested. Default: the ensemble is tested.
    structure : StructureTest, optional
        A finished test of the features or of the ensemble.

    Returns
    -------
    gap : Gap
        The same for the same input.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import ConsensusClustering
    >>> from coterie.choosing import find_gap
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2)) + np.repeat([[0], [9]], 30, axis=0)
    >>> gap = find_gap(ConsensusClustering(2, random_state=0).fit(X), X)
    >>> gap.found, gap.p_value
    (True, 0.005)
    """
    ensemble = getattr(model, "consensus_", model).ensemble_
    given = structure is not None and (structure.kind == "features" or X is None)
    of_features = X is not None or (given and structure.kind == "features")  # type: ignore[union-attr]
    kind = "features" if of_features else "ensemble"
    if ensemble.n_objects < _LEAST_OBJECTS:
        return _untold(f"there are fewer than {_LEAST_OBJECTS} objects", kind)
    if not of_features and ensemble.n_partitions < _LEAST_PARTITIONS:
        return _untold(f"there are no features, and under {_LEAST_PARTITIONS} partitions", kind)
    # Many small products: several threads would wait for each other.
    with one_thread():
        if structure is None or not given:
            structure = structure_test(ensemble if X is None else _sample(X), random_state=0)
    if not structure.is_decided:
        return Gap(None, structure.reason, None, kind)
    # Where even partitions of noise agree as clearly, partitions cannot tell.
    if kind == "ensemble" and structure.statistic >= CLEAR and not structure.has_structure:
        return _untold("partitions of noise would agree as clearly as these", kind)
    return Gap(structure.has_structure, structure.reason, structure.p_value, kind)


def _untold(why: str, kind: str) -> Gap:
    words = f"Whether there is a gap between the clusters cannot be told: {why}."
    return Gap(None, words, None, kind)


def _unlabelled(ensemble: Ensemble) -> Caution | None:
    n = int((ensemble.labels < 0).all(axis=1).sum())
    if n == 0:
        return None
    subject = "1 object has" if n == 1 else f"{n:,} objects have"
    return Caution(
        "unlabelled",
        f"{subject} no label in any partition: nothing is known about {'it' if n == 1 else 'them'}"
        ", and the cluster shown is arbitrary.",
    )


def _lopsided(sizes: NDArray[np.int64]) -> Caution | None:
    n = int(sizes.sum())
    if len(sizes) < 2 or sizes[0] < _LOPSIDED_SHARE * n:
        return None
    return Caution(
        "lopsided",
        f"One cluster holds {sizes[0]:,} of {n:,} objects. This splits off a few objects rather "
        "than finding groups, and a high confidence says no more than that. Look for outliers, "
        "standardise the features, or ask for another number of clusters.",
    )


def _tiny(sizes: NDArray[np.int64]) -> Caution | None:
    """Caution of clusters of one object, or of less than 5 % of the mean size."""
    if len(sizes) < 2:
        return None
    least = max(2.0, _TINY_SHARE * float(sizes.mean()))
    tiny = np.flatnonzero(sizes < least)
    if len(tiny) == 0:
        return None
    shown = ", ".join(f"{c} ({_objects(int(sizes[c]))})" for c in tiny[:_MOST_NAMED])
    more = f" and {len(tiny) - _MOST_NAMED} more" if len(tiny) > _MOST_NAMED else ""
    subject = "Cluster" if len(tiny) == 1 else f"{len(tiny)} clusters are tiny:"
    verb = " is tiny" if len(tiny) == 1 else ""
    return Caution(
        "tiny",
        f"{subject} {shown}{more}{verb}. The mean is {_objects(round(sizes.mean()))} per cluster. "
        "Look at these objects before you take them for groups: they may be outliers or errors.",
    )


def _unstable(trust: ClusterTrust | None) -> Caution | None:
    verdicts = [] if trust is None else trust.verdicts
    unstable = [c for c, verdict in enumerate(verdicts) if verdict == "not stable"]
    if trust is None or not unstable:
        return None
    if len(unstable) == 1:
        return Caution("unstable", trust.words[unstable[0]])
    shown = ", ".join(f"{c} ({100 * trust.stability[c]:.0f} %)" for c in unstable[:_MOST_NAMED])
    more = f" and {len(unstable) - _MOST_NAMED} more" if len(unstable) > _MOST_NAMED else ""
    return Caution(
        "unstable",
        f"{len(unstable)} of {len(verdicts)} clusters are not stable: {shown}{more}. The "
        "percentage is how much of a cluster is found again in resamples, on average. Do not rely "
        "on these clusters.",
    )


def _no_gap(confidence: float, kind: str) -> Caution:
    compared = (
        "the objects are no more set apart than evenly spread ones would be"
        if kind == "features"
        else "the partitions agree on clusters no more clearly than those of evenly spread objects"
    )
    return Caution(
        "no_gap",
        f"No gap between the clusters was found: {compared}. The mean confidence of "
        f"{confidence:.2f} says that the partitions cut the data alike, not that the clusters are "
        "separate. They may touch or overlap, or there may be none.",
    )


def _sample(X: Any) -> NDArray[np.float64]:
    """Return some rows of the features; of many features their principal components."""
    X = X.tocsr() if hasattr(X, "tocsr") else np.asarray(X, dtype=np.float64)
    if X.shape[0] > _MOST_OBJECTS:
        rows = np.random.default_rng(0).choice(X.shape[0], _MOST_OBJECTS, replace=False)
        X = X[np.sort(rows)]
    dense: NDArray[np.float64] = X.toarray() if hasattr(X, "toarray") else X
    if min(dense.shape) > _MOST_FEATURES:
        dense = PCA(_MOST_FEATURES, random_state=0).fit_transform(dense)
    return dense


def _objects(n: int) -> str:
    return f"{n:,} object" + "s" * (n != 1)
