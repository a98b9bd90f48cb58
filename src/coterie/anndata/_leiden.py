"""Many Leiden clusterings of one neighbour graph (Traag et al., 2019), by igraph."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie._checks import check_integer, check_number, check_random_state
from coterie._labels import order_by_size
from coterie._progress import track_progress
from coterie.anndata._adata import check_adata, need, plain
from coterie.generation._parallel import run_unordered
from coterie.metrics import pairwise_ari, pairwise_nmi

if TYPE_CHECKING:
    from anndata import AnnData
    from pandas import DataFrame

__all__ = ["leiden_ensemble"]


class Edges(NamedTuple):
    """A graph as igraph takes it."""

    n_vertices: int
    ends: NDArray[np.int64]
    """(m, 2)"""
    weights: NDArray[np.float64]


class Run(NamedTuple):
    """One run of Leiden, and the column of its labels."""

    column: int
    resolution: float
    seed: int


def leiden_ensemble(
    adata: AnnData,
    resolutions: Sequence[float] = (0.5, 1.0, 1.5, 2.0),
    n_runs: int = 10,
    key_added: str = "leiden_ensemble",
    *,
    neighbors_key: str | None = None,
    n_iterations: int = 2,
    n_jobs: int | None = None,
    random_state: int | np.random.RandomState | None = 0,
    copy: bool = False,
) -> AnnData | None:
    """Cluster cells by Leiden many times, at several resolutions and with different seeds.

    Labels go into one integer matrix in ``.obsm``, so that ``.obs`` stays readable. `consensus`
    takes `key_added` as its `keys`.

    Parameters
    ----------
    adata : AnnData
        Cells with a neighbour graph (``scanpy.pp.neighbors``). Views and backed objects as in
        `consensus`.
    resolutions : sequence of float, default=(0.5, 1.0, 1.5, 2.0)
        Higher values give more clusters.
    n_runs : int, default=10
        Runs at each resolution.
    key_added : str, default='leiden_ensemble'
        The results' name.
    neighbors_key : str, optional
        The graph, as in ``scanpy.tl.leiden``. Default: ``.obsp['connectivities']``.
    n_iterations : int, default=2
        Iterations of one run; -1 runs until nothing changes.
    n_jobs : int, optional
        Number of processes; None means 1, -1 all processors. The result does not depend on it.
    random_state : int, RandomState or None, default=0
        The seeds of the runs are drawn from it, and kept in ``.uns``.
    copy : bool, default=False
        Return a copy with the results, and leave `adata` as it is.

    Returns
    -------
    adata : AnnData or None
        The copy, if asked for. These are written:

        ``.obsm[key_added]``
            Labels, int32, shape (n_cells, n_resolutions * n_runs): the runs of the first
            resolution, then those of the second, and so on. Clusters are numbered from 0, largest
            first.
        ``.uns[key_added]``
            ``'params'``; ``'partitions'``, a frame with resolution, seed and number of clusters of
            each column; and ``'stability'``, a frame with the mean ARI and NMI of every two runs
            at a resolution and their mean number of clusters. ARI and NMI are NaN for one run.

    Notes
    -----
    A column holds the clusters of ``scanpy.tl.leiden(adata, resolution, flavor='igraph',
    n_iterations=2, directed=False, random_state=seed)`` with its resolution and seed.

    References
    ----------
    .. [1] Traag, Waltman & van Eck (2019), From Louvain to Leiden: guaranteeing well-connected
       communities, :doi:`10.1038/s41598-019-41695-z`.

    Examples
    --------
    >>> import scanpy
    >>> adata = scanpy.datasets.pbmc68k_reduced()
    >>> leiden_ensemble(adata, resolutions=[0.5, 1.0], n_runs=3)
    >>> adata.obsm["leiden_ensemble"].shape
    (700, 6)
    >>> adata.uns["leiden_ensemble"]["stability"].columns.tolist()
    ['resolution', 'n_clusters', 'ari', 'nmi']
    """
    check_adata(adata, copy=copy)
    need("igraph")
    values = _check_resolutions(resolutions)
    check_integer("n_runs", n_runs, at_least=1)
    edges = read_edges(adata, neighbors_key)
    seeds = check_random_state(random_state).randint(2**31 - 1, size=len(values) * n_runs)
    at = np.repeat(values, n_runs)
    runs = [
        Run(column, float(resolution), int(seed))
        for column, (resolution, seed) in enumerate(zip(at, seeds, strict=True))
    ]
    labels = run_leiden(edges, runs, n_iterations, n_jobs)
    params = plain(
        resolutions=values,
        n_runs=n_runs,
        n_iterations=n_iterations,
        neighbors_key=neighbors_key,
        random_state=random_state,
    )
    partitions = _partitions_frame(runs, labels, n_runs)
    adata = adata.copy() if copy else adata
    adata.obsm[key_added] = labels
    adata.uns[key_added] = {
        "params": params,
        "partitions": partitions,
        "stability": stability_by_resolution(labels, values, n_runs),
    }
    return adata if copy else None


def _check_resolutions(resolutions: Sequence[float]) -> NDArray[np.float64]:
    if isinstance(resolutions, float | int):
        resolutions = [resolutions]
    for value in resolutions:
        check_number("resolutions", value, positive=True)
    if len(resolutions) == 0:
        raise ValueError("resolutions must hold at least one number; got none.")
    found = np.asarray(resolutions, dtype=np.float64)
    if len(np.unique(found)) < len(found):
        raise ValueError(
            f"resolutions must differ; got {found.tolist()}. For more runs at a resolution, raise "
            "n_runs."
        )
    return found


def read_edges(adata: AnnData, neighbors_key: str | None) -> Edges:
    """Return scanpy's neighbour graph; both directions of an edge are kept, as scanpy does."""
    where = "neighbors" if neighbors_key is None else neighbors_key
    key = adata.uns.get(where, {}).get("connectivities_key", "connectivities")
    if key not in adata.obsp or (neighbors_key is not None and where not in adata.uns):
        hint = "" if neighbors_key is None else f", key_added={neighbors_key!r}"
        raise KeyError(
            f"adata has no neighbour graph: .obsp[{key!r}] is missing. Run "
            f"scanpy.pp.neighbors(adata{hint}) first."
        )
    graph = adata.obsp[key].tocoo()
    ends = np.column_stack([graph.row, graph.col]).astype(np.int64)
    used = graph.data != 0
    return Edges(adata.n_obs, ends[used], graph.data[used].astype(np.float64))


def run_leiden(
    edges: Edges, runs: Sequence[Run], n_iterations: int, n_jobs: int | None
) -> NDArray[np.int32]:
    """Return (n, L): the labels of each run, largest cluster first."""
    import joblib

    labels = np.empty((edges.n_vertices, len(runs)), dtype=np.int32)
    n_workers = min(joblib.effective_n_jobs(n_jobs), len(runs))
    # A worker makes the graph once for each share of the runs. Several shares for each worker
    # even out runs that take longer.
    n_shares = 1 if n_workers == 1 else min(len(runs), 4 * n_workers)
    shares = [runs[i::n_shares] for i in range(n_shares)]
    with track_progress("Leiden runs", len(runs)) as done:
        if n_workers == 1:
            for column, found in leiden_labels(edges, runs, n_iterations):
                labels[:, column] = found
                done[0] += 1
            return labels
        arguments = [(edges, share, n_iterations) for share in shares]
        for results in run_unordered(_run_share, arguments, n_jobs=n_workers, one_by_one=True):
            for column, found in results:
                labels[:, column] = found
            done[0] += len(results)
    return labels


def _run_share(edges: Edges, runs: Sequence[Run], n_iterations: int) -> list[Any]:
    return list(leiden_labels(edges, runs, n_iterations))


def leiden_labels(edges: Edges, runs: Sequence[Run], n_iterations: int) -> Any:
    """Yield (column, labels) of each run, on a graph that is made once."""
    import igraph

    graph = igraph.Graph(n=edges.n_vertices, edges=edges.ends)
    for run in runs:
        igraph.set_random_number_generator(_Generator(run.seed))
        try:
            found = graph.community_leiden(
                objective_function="modularity",
                weights=edges.weights,
                resolution=run.resolution,
                n_iterations=n_iterations,
            )
        finally:
            igraph.set_random_number_generator(random)  # igraph's default
        yield run.column, order_by_size(np.array(found.membership, dtype=np.int64))


class _Generator:
    """NumPy's random numbers in the words of Python's `random`, which igraph asks in.

    The same numbers as in ``scanpy.tl.leiden(flavor='igraph')``, so that the runs are the same.
    """

    def __init__(self, seed: int) -> None:
        self._state = np.random.RandomState(seed)

    def getrandbits(self, k: int) -> int:
        return int(self._state.tomaxint()) & ((1 << k) - 1)

    def randint(self, a: int, b: int) -> int:
        return int(self._state.randint(a, b + 1))

    def random(self) -> float:
        return float(self._state.random_sample())

    def gauss(self, mu: float, sigma: float) -> float:
        return float(self._state.normal(mu, sigma))


def _partitions_frame(runs: Sequence[Run], labels: NDArray[np.int32], n_runs: int) -> DataFrame:
    import pandas as pd

    names = [f"resolution {run.resolution:g}, run {run.column % n_runs + 1}" for run in runs]
    return pd.DataFrame(
        {
            "resolution": [run.resolution for run in runs],
            "seed": np.array([run.seed for run in runs], dtype=np.int64),
            "n_clusters": labels.max(axis=0).astype(np.int64) + 1,
        },
        index=pd.Index(names, dtype=object),
    )


def stability_by_resolution(
    labels: NDArray[np.int32], resolutions: NDArray[np.float64], n_runs: int
) -> DataFrame:
    """Return the mean agreement of every two runs at each resolution."""
    import pandas as pd

    rows = []
    for i, resolution in enumerate(resolutions):
        some = labels[:, i * n_runs : (i + 1) * n_runs]
        ari = nmi = np.nan
        if n_runs > 1:
            pairs = np.triu_indices(n_runs, 1)
            ari, nmi = (score(some)[pairs].mean() for score in (pairwise_ari, pairwise_nmi))
        rows.append((resolution, float(some.max(axis=0).mean() + 1), ari, nmi))
    frame = pd.DataFrame(rows, columns=["resolution", "n_clusters", "ari", "nmi"])
    frame.index = pd.Index([f"{resolution:g}" for resolution in resolutions], dtype=object)
    return frame
