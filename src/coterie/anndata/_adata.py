"""Reading labels and features from AnnData objects, and writing results to them."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie._encode import MISSING
from coterie.ensemble import Ensemble

if TYPE_CHECKING:
    from anndata import AnnData
    from pandas import Series

__all__ = ["check_adata", "need", "plain", "read_ensemble", "read_features"]

_GLOB = frozenset("*?[")
_NAMES = "partitions"  # where `.uns` keeps the names of the columns of a label matrix


def need(package: str) -> None:
    """Import a package, or raise ImportError that names the extra."""
    try:
        import_module(package)
    except ImportError as error:
        raise ImportError(
            f"coterie.anndata needs {package}, which is not installed: "
            'pip install "coterie[anndata]"'
        ) from error


def check_adata(adata: AnnData, *, copy: bool) -> None:
    """Raise unless `adata` is an AnnData object that results can be written to."""
    need("anndata")
    from anndata import AnnData

    if not isinstance(adata, AnnData):
        raise TypeError(
            f"adata must be an AnnData object; got {type(adata).__name__}. For a label matrix "
            "use a consensus method (coterie.LWEA), for features coterie.ConsensusClustering."
        )
    if copy and adata.isbacked:
        raise ValueError(
            "copy=True needs adata in memory, but adata is backed by a file. Pass copy=False, "
            "which writes to .obs, .obsm and .uns in memory, or call adata.to_memory() first."
        )


def plain(**values: Any) -> dict[str, Any]:
    """Return parameters as ``.h5ad`` files hold them: no None, other objects by their words."""
    kinds = (str, bool, int, float, np.ndarray, np.generic)
    return {
        name: value if isinstance(value, kinds) else repr(value)
        for name, value in values.items()
        if value is not None
    }


# --- features -----------------------------------------------------------------------------------


def read_features(adata: AnnData, use_rep: str) -> Any:
    """Return the features named `use_rep`: ``'X'``, or a key of ``.obsm``."""
    if use_rep == "X":
        if adata.isbacked:
            raise ValueError(
                "use_rep='X' needs adata in memory, but adata is backed by a file. Use a "
                "representation in .obsm such as 'X_pca', or call adata.to_memory() first."
            )
        return adata.X
    if use_rep not in adata.obsm:
        known = ", ".join(map(repr, adata.obsm)) or "nothing"
        hint = " Run scanpy.pp.pca(adata) first." if use_rep == "X_pca" else ""
        raise KeyError(
            f"use_rep must be 'X' or a key of adata.obsm, which holds {known}; got "
            f"{use_rep!r}.{hint}"
        )
    features = adata.obsm[use_rep]
    return features.to_numpy() if hasattr(features, "to_numpy") else features


# --- labels -------------------------------------------------------------------------------------


class Labels(NamedTuple):
    """Partitions as columns of raw values or codes, and their names."""

    columns: list[NDArray[Any]]
    names: list[str]


def read_ensemble(adata: AnnData, keys: str | Sequence[str], *, own: str = "") -> Ensemble:
    """Return the partitions that `keys` name.

    Parameters
    ----------
    adata : AnnData
    keys : str or sequence of str
        A key of ``.obsm`` that holds a label matrix, a pattern such as ``'leiden_*'``, or the
        prefix of columns of ``.obs``; a sequence of keys of ``.obsm``, patterns and whole names
        of columns.
    own : str
        Columns of this name, or that begin with it and an underscore, hold results: patterns and
        prefixes do not find them.
    """
    found = Labels([], [])
    for key in [keys] if isinstance(keys, str) else keys:
        part = _read_key(adata, key, own, is_prefix=isinstance(keys, str))
        found.columns.extend(part.columns)
        found.names.extend(part.names)
    if not found.columns:
        raise ValueError("keys must name at least one partition; got an empty sequence.")
    n_partitions = len(found.columns)
    if all(column.dtype.kind == "i" for column in found.columns):
        table = np.empty((adata.n_obs, n_partitions), dtype=np.int32)
        for i, column in enumerate(found.columns):
            table[:, i] = column
        return Ensemble(table, names=found.names)
    return Ensemble(found.columns, names=found.names)


def _read_key(adata: AnnData, key: str, own: str, *, is_prefix: bool) -> Labels:
    if not isinstance(key, str):
        raise TypeError(f"keys must be strings; got {key!r} ({type(key).__name__}).")
    if key in adata.obsm:
        return _read_matrix(adata, key)
    if key in adata.obs.columns and not is_prefix:
        return Labels([_codes(adata.obs[key])], [key])
    if _GLOB & set(key):
        names = [name for name in adata.obs.columns if fnmatchcase(name, key)]
    else:
        names = [name for name in adata.obs.columns if is_prefix and name.startswith(key)]
    # A confidence or a count of genes may begin like the labels: floats are no labels.
    names = [
        name
        for name in names
        if adata.obs[name].dtype.kind != "f" and not (name == own or name.startswith(f"{own}_"))
    ]
    if names:
        return Labels([_codes(adata.obs[name]) for name in names], names)
    known = [*map(str, adata.obs.columns), *map(str, adata.obsm)]
    close = get_close_matches(key, known, n=3) or known[:10]
    words = ", ".join(map(repr, close)) or "none"
    raise KeyError(
        f"keys must name columns of adata.obs (labels, not floats) or a label matrix in "
        f"adata.obsm; nothing fits {key!r}. Keys there are: {words}."
    )


def _read_matrix(adata: AnnData, key: str) -> Labels:
    """Return the columns of a label matrix in ``.obsm``."""
    matrix = adata.obsm[key]
    if hasattr(matrix, "columns"):
        return Labels([_codes(matrix[name]) for name in matrix], [str(name) for name in matrix])
    values = np.asarray(matrix) if not hasattr(matrix, "nnz") else None
    if values is None or values.ndim != 2 or values.dtype.kind not in "iu":
        kind = "a sparse matrix" if values is None else f"{values.ndim}-D {values.dtype}"
        raise ValueError(
            f"keys={key!r}: adata.obsm[{key!r}] must be a matrix of integers, one column per "
            f"partition; it is {kind}. To cluster features, use coterie.anndata.cluster."
        )
    table = adata.uns.get(key, {}).get(_NAMES)
    names = [f"{key}_{i}" for i in range(values.shape[1])] if table is None else list(table.index)
    return Labels(list(values.T), names)


def _codes(column: Series) -> NDArray[Any]:
    """Return integer codes of text and categories, -1 where missing; other values as they are."""
    import pandas as pd

    kind = column.dtype.kind
    if kind in "biuf":
        return column.to_numpy()
    codes, categories = pd.factorize(column, sort=False)
    if isinstance(categories, pd.CategoricalIndex):
        categories = categories.categories[categories.codes]
    if len(categories) and all(_is_whole(value) for value in categories):
        # Numbers as text, as HDBSCAN's labels often are: -1 is noise.
        codes = np.where(np.isin(codes, np.flatnonzero(categories.astype(str) == "-1")), -1, codes)
    return np.where(codes < 0, MISSING, codes).astype(np.int32)


def _is_whole(value: Any) -> bool:
    text = str(value)
    return text.removeprefix("-").isdigit()
