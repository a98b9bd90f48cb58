"""The consensus of labels in an AnnData object, and of many clusterings of its cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from coterie.anndata._adata import check_adata, plain, read_ensemble, read_features
from coterie.choosing._how_many import ClusterNumbers
from coterie.clustering import DEFAULT_CONSENSUS, ConsensusClustering, by_name, choose_number
from coterie.consensus import CONSENSUS
from coterie.consensus._base import BaseConsensus, pass_seed
from coterie.metrics import within_confidence
from coterie.metrics._tables import nmi_of, tables_with

if TYPE_CHECKING:
    from anndata import AnnData

__all__ = ["cluster", "consensus"]


def consensus(
    adata: AnnData,
    keys: str | Sequence[str],
    *,
    method: str | BaseConsensus = DEFAULT_CONSENSUS,
    n_clusters: int | None = None,
    key_added: str = "consensus",
    random_state: int | np.random.RandomState | None = 0,
    copy: bool = False,
) -> AnnData | None:
    """Find the consensus of clusterings that an AnnData object holds.

    Parameters
    ----------
    adata : AnnData
        The cells. A view becomes an object of its own when results are written to it, as in
        scanpy. A backed object keeps its results in memory until it is written.
    keys : str or sequence of str
        The clusterings: a key of ``.obsm`` that holds a label matrix (`leiden_ensemble` makes
        one); a pattern such as ``'leiden_*'`` or a prefix such as ``'leiden_'`` of columns of
        ``.obs``; or a sequence of whole names, patterns and keys of ``.obsm``. Labels may be
        categories, text or integers; missing values and -1 mean that a clustering has no opinion
        on a cell. A pattern or prefix leaves out columns of floats and earlier results under
        `key_added`.
    method : str or estimator, default='lwea'
        The consensus method, by name or as an estimator, as in `coterie.ConsensusClustering`.
    n_clusters : int, optional
        Number of clusters. Default: the method's own number, or for a method that does not find
        it the number that `coterie.how_many_clusters` recommends.
    key_added : str, default='consensus'
        The results' name.
    random_state : int, RandomState or None, default=0
        Seed of the method and of the choice of the number of clusters.
    copy : bool, default=False
        Return a copy with the results, and leave `adata` as it is.

    Returns
    -------
    adata : AnnData or None
        The copy, if asked for. These are written:

        ``.obs[key_added]``
            Clusters as ordered categories ``'0'``, ``'1'``, ..., largest first.
        ``.obs[f'{key_added}_confidence']``
            Confidence in [0, 1]: support for the cell's cluster / (own + best other cluster).
        ``.obs[f'{key_added}_within_confidence']``
            The same relative to the median of the cluster, at most 1: low for the doubtful cells
            of a cluster (`coterie.metrics.within_confidence`).
        ``.uns[key_added]``
            ``'params'``; ``'n_clusters'``; ``'partitions'``, a frame with the number of clusters,
            the weight and the agreement (NMI with the consensus) of each clustering; and
            ``'number'``, the evidence for the number of clusters if it was chosen here.

    Notes
    -----
    Memory grows linearly with the number of cells. The weight of a clustering is what the method
    gives it; for LWEA and LWGP, which weigh clusters, the mean over its cells; 1 for methods that
    count all clusterings alike.

    Examples
    --------
    >>> import anndata, numpy as np, pandas as pd
    >>> labels = pd.DataFrame({"run_0": list("aabbb"), "run_1": list("xxyyy")}, dtype="category")
    >>> labels.index = labels.index.astype(str)
    >>> adata = anndata.AnnData(np.zeros((5, 1)), obs=labels)
    >>> consensus(adata, "run_", n_clusters=2)
    >>> list(adata.obs["consensus"])
    ['1', '1', '0', '0', '0']
    """
    check_adata(adata, copy=copy)
    ensemble = read_ensemble(adata, keys, own=key_added)
    model = pass_seed(_named(method, n_clusters), random_state)
    numbers = choose_number(model, ensemble, random_state=random_state)
    model.fit(ensemble)
    params = plain(
        keys=keys if isinstance(keys, str) else np.array(keys, dtype=object),
        method=method,
        n_clusters=n_clusters,
        random_state=random_state,
    )
    return _write(adata, model, numbers, params, key_added, copy=copy)


def cluster(
    adata: AnnData,
    use_rep: str = "X_pca",
    n_clusters: int | None = None,
    key_added: str = "coterie",
    *,
    generator: Any = None,
    method: str | BaseConsensus = DEFAULT_CONSENSUS,
    n_jobs: int | None = None,
    random_state: int | np.random.RandomState | None = 0,
    copy: bool = False,
) -> AnnData | None:
    """Cluster cells by `coterie.ConsensusClustering` on a representation of them.

    Parameters
    ----------
    adata : AnnData
        The cells. Views and backed objects as in `consensus`.
    use_rep : str, default='X_pca'
        A key of ``.obsm``, or ``'X'``.
    n_clusters : int, optional
        Number of clusters. Default: the number that `coterie.how_many_clusters` recommends.
    key_added : str, default='coterie'
        The results' name.
    generator : str or transformer, optional
        What makes the clusterings, as in `coterie.ConsensusClustering`.
    method : str or estimator, default='lwea'
        The consensus method.
    n_jobs : int, optional
        Number of parallel runs; None means 1, -1 all processors. The result does not depend on it.
    random_state : int, RandomState or None, default=0
        Seed of everything.
    copy : bool, default=False
        Return a copy with the results, and leave `adata` as it is.

    Returns
    -------
    adata : AnnData or None
        The copy, if asked for. The same results are written as by `consensus`.

    Examples
    --------
    >>> import anndata
    >>> from sklearn.datasets import make_blobs
    >>> adata = anndata.AnnData(make_blobs(60, centers=3, random_state=0, cluster_std=0.5)[0])
    >>> cluster(adata, use_rep="X", n_clusters=3)
    >>> adata.obs["coterie"].cat.categories.tolist()
    ['0', '1', '2']
    """
    check_adata(adata, copy=copy)
    features = read_features(adata, use_rep)
    model = ConsensusClustering(
        n_clusters, generator=generator, consensus=method, n_jobs=n_jobs, random_state=random_state
    ).fit(features)
    params = plain(
        use_rep=use_rep,
        generator=generator,
        method=method,
        n_clusters=n_clusters,
        random_state=random_state,
    )
    return _write(adata, model.consensus_, model.cluster_numbers_, params, key_added, copy=copy)


def _named(method: str | BaseConsensus, n_clusters: int | None) -> BaseConsensus:
    """Return an unfitted consensus method with the number of clusters asked for."""
    if isinstance(method, BaseConsensus):
        model = clone(method)
        return model if n_clusters is None else model.set_params(n_clusters=n_clusters)
    if method not in CONSENSUS:
        known = ", ".join(map(repr, sorted(CONSENSUS)))
        raise ValueError(f"method must be an estimator or one of {known}; got {method!r}.")
    return by_name(method).set_params(n_clusters=n_clusters)


def _write(
    adata: AnnData,
    model: BaseConsensus,
    numbers: ClusterNumbers | None,
    params: dict[str, Any],
    key_added: str,
    *,
    copy: bool,
) -> AnnData | None:
    """Write the results of a fitted consensus method; return the copy if one is asked for."""
    import pandas as pd

    names = [str(c) for c in range(model.n_clusters_)]
    clusters = pd.Categorical.from_codes(model.labels_, categories=names, ordered=True)
    ensemble = model.ensemble_
    partitions = pd.DataFrame(
        {
            "n_clusters": ensemble.n_clusters,
            "weight": weights_of_partitions(model),
            "agreement": nmi_of(tables_with(model.labels_, ensemble.labels, ensemble.n_clusters)),
        },
        index=pd.Index(ensemble.names, dtype=object),
    )
    known: dict[str, Any] = {"params": params, "n_clusters": model.n_clusters_}
    known["partitions"] = partitions
    if numbers is not None:
        words = ("recommended", "second", "certainty", "reason")
        known["number"] = plain(**{word: getattr(numbers, word) for word in words})
    adata = adata.copy() if copy else adata
    adata.obs[key_added] = clusters
    adata.obs[f"{key_added}_confidence"] = model.confidence_
    adata.obs[f"{key_added}_within_confidence"] = within_confidence(
        model.labels_, model.confidence_
    )
    adata.uns[key_added] = known
    return adata if copy else None


def weights_of_partitions(model: BaseConsensus) -> NDArray[np.float64]:
    """Return (L,): the weight of each partition in a fitted consensus."""
    ensemble = model.ensemble_
    weights = np.asarray(getattr(model, "weights_", np.ones(ensemble.n_partitions)))
    if weights.ndim == 2:  # LACA: what together and apart are worth; the pair's score is linear
        return weights[:, 0] - weights[:, 1]
    if len(weights) == ensemble.n_partitions:
        return weights
    starts = ensemble.offsets[:-1]
    sizes = cluster_sizes(ensemble.labels, ensemble.offsets)
    mean: NDArray[np.float64] = np.add.reduceat(sizes * weights, starts) / np.add.reduceat(
        sizes, starts
    )
    return mean


def cluster_sizes(labels: NDArray[np.int32], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return (K,): the number of objects in each cluster of each partition."""
    columns = (
        np.bincount(column[column >= 0], minlength=n)
        for column, n in zip(labels.T, np.diff(offsets), strict=True)
    )
    return np.concatenate(list(columns))
