"""Features that make a cluster: where its objects differ most from all others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.stats import chi2_contingency, false_discovery_control, norm, rankdata

from coterie.preparation._cells import level_name, read_cells

__all__ = ["ClusterFeatures", "cluster_features"]

DOUBLE_DIPPING = (
    "The clusters were made from these features, so every p-value is too small (double dipping): "
    "use p and FDR to rank features, not as proof that the clusters exist."
)
_BLOCK = 1 << 22  # values that are ranked at a time
_COLUMNS = ("cluster", "feature", "kind", "mean", "rest", "difference", "effect", "p_value", "fdr")


@dataclass(frozen=True)
class ClusterFeatures:
    """Result of `cluster_features`: a table, one row per cluster and feature.

    Rows are sorted by cluster, then by the size of the effect.

    Attributes
    ----------
    cluster : ndarray of int64
        The cluster.
    feature : ndarray of str
        The feature; for a category, the feature and the level that differs most.
    kind : ndarray of str
        'number' or 'category'.
    mean, rest : ndarray
        Mean in the cluster and in all other objects; for a category, the shares of the level.
    difference : ndarray
        Standardised mean difference: mean - rest, divided by the pooled standard deviation. NaN
        for a category.
    effect : ndarray
        For a number the rank-biserial correlation, 2 AUC - 1, in [-1, 1]: 1 if all objects of
        the cluster have larger values than all others. For a category Cramér's V, in [0, 1].
    p_value : ndarray
        Mann-Whitney U test, or chi-squared test for a category; two-sided.
    fdr : ndarray
        Benjamini-Hochberg adjusted p-value, over all rows of the table.
    note : str
        What must be said of the p-values; empty if the features were not used for clustering.

    Examples
    --------
    >>> from coterie import cluster_features
    >>> X = [[1, 5], [2, 6], [1, 5], [9, 6], [8, 5], [9, 6]]
    >>> found = cluster_features(X, [0, 0, 0, 1, 1, 1], ["height", "width"])
    >>> found.cluster.tolist(), found.feature.tolist()
    ([0, 0, 1, 1], ['height', 'width', 'height', 'width'])
    """

    cluster: NDArray[np.int64]
    feature: NDArray[np.str_]
    kind: NDArray[np.str_]
    mean: NDArray[np.float64]
    rest: NDArray[np.float64]
    difference: NDArray[np.float64]
    effect: NDArray[np.float64]
    p_value: NDArray[np.float64]
    fdr: NDArray[np.float64]
    note: str

    def __len__(self) -> int:
        return len(self.cluster)

    def as_dict(self) -> dict[str, NDArray[Any]]:
        """Return the columns of the table, ready for ``pandas.DataFrame`` or polars."""
        return {name: getattr(self, name) for name in _COLUMNS}

    def top(self, cluster: int, n: int = 10) -> list[dict[str, Any]]:
        """Return the features that differ most in a cluster, as plain data.

        Parameters
        ----------
        cluster : int
            The cluster.
        n : int, default=10
            Number of features.
        """
        rows = np.flatnonzero(self.cluster == cluster)[:n]
        return [{name: _plain(getattr(self, name)[i]) for name in _COLUMNS} for i in rows]

    def __repr__(self) -> str:
        clusters = np.unique(self.cluster)
        lines = [f"ClusterFeatures: {len(clusters)} clusters, {len(self):,} rows"]
        for c in clusters:
            shown = (f"{row['feature']} ({row['effect']:+.2f})" for row in self.top(int(c), 5))
            lines.append(f"  {c}: {', '.join(shown)}")
        return "\n".join(lines)


class _Part(NamedTuple):
    """The rows of some features: names, and an array (k, number of features) for the others."""

    names: NDArray[np.str_]
    kind: str
    mean: NDArray[np.float64]
    rest: NDArray[np.float64]
    difference: NDArray[np.float64]
    effect: NDArray[np.float64]
    p_value: NDArray[np.float64]


def cluster_features(
    X: ArrayLike | Any,
    labels: ArrayLike,
    feature_names: Sequence[str] | None = None,
    *,
    used_for_clustering: bool = True,
) -> ClusterFeatures:
    """Return for each cluster how much each feature differs from all other objects.

    Parameters
    ----------
    X : frame, array-like or sparse matrix of shape (n_objects, n_features)
        The features, in any units: ranks do not depend on them. Text columns of a frame are
        categories. Missing values are left out.
    labels : array-like of shape (n_objects,)
        The clusters, numbered from 0 (`labels_` of a model); at least two.
    feature_names : sequence of str, optional
        Names of the features. Default: those of the frame, or numbers.
    used_for_clustering : bool, default=True
        Whether the clusters were made from these features. Then p-values are too small, and
        `note` says so.

    Returns
    -------
    features : ClusterFeatures
        A table, one row per cluster and feature, largest effects first.

    Notes
    -----
    P-values are those of ``scipy.stats.mannwhitneyu`` with the normal approximation, and of
    ``scipy.stats.chi2_contingency`` without a continuity correction. A constant feature has
    effect 0 and p = 1.

    Examples
    --------
    >>> from coterie import cluster_features
    >>> X = [[1, 5, 0], [2, 6, 1], [1, 5, 1], [9, 6, 0], [8, 5, 1], [9, 6, 0]]
    >>> found = cluster_features(X, [0, 0, 0, 1, 1, 1], ["height", "width", "flag"])
    >>> found.top(1, 1)[0]["feature"], found.top(1, 1)[0]["effect"]
    ('height', 1.0)
    """
    labels = _check_labels(labels)
    k = int(labels.max()) + 1
    members = sparse.csr_array(
        (np.ones(len(labels)), (labels, np.arange(len(labels)))), shape=(k, len(labels))
    )
    parts = list(_parts(X, labels, members, feature_names))
    if not parts:
        raise ValueError("X must have at least one feature of numbers or categories.")
    columns = {
        name: np.concatenate([getattr(part, name) for part in parts], axis=1)
        for name in ("mean", "rest", "difference", "effect", "p_value")
    }
    names = np.concatenate([part.names for part in parts], axis=1)
    kinds = np.concatenate([np.full(part.names.shape[1], part.kind) for part in parts])
    fdr = false_discovery_control(columns["p_value"].ravel()).reshape(names.shape)
    order = np.argsort(-np.abs(columns["effect"]), axis=1, kind="stable")
    rows = np.arange(k)[:, None]
    return ClusterFeatures(
        cluster=np.repeat(np.arange(k), names.shape[1]),
        feature=names[rows, order].ravel(),
        kind=kinds[order].ravel(),
        **{name: values[rows, order].ravel() for name, values in columns.items()},
        fdr=fdr[rows, order].ravel(),
        note=DOUBLE_DIPPING if used_for_clustering else "",
    )


def _check_labels(labels: ArrayLike) -> NDArray[np.int64]:
    given = np.asarray(labels)
    if given.ndim != 1 or given.dtype.kind not in "iu" or not len(given) or given.min() < 0:
        raise ValueError(
            f"labels must be one whole number of at least 0 per object; got shape {given.shape} "
            f"and dtype {given.dtype}."
        )
    codes = given.astype(np.int64)
    if codes.max() == codes.min():
        raise ValueError(
            "labels must name at least two clusters: a cluster is compared with all other objects."
        )
    if len(np.unique(codes)) <= codes.max():
        raise ValueError(
            f"labels must be numbered from 0 without gaps; got {len(np.unique(codes))} clusters "
            f"up to number {codes.max()}."
        )
    return codes


# --- reading --------------------------------------------------------------------------------------


def _parts(
    X: Any,
    labels: NDArray[np.int64],
    members: sparse.csr_array,
    names: Sequence[str] | None,
) -> Iterator[_Part]:
    if nw.dependencies.is_into_dataframe(X):
        frame = nw.from_native(X, eager_only=True)
        _check_shape(len(frame), len(frame.columns), labels, names)
        yield from _frame_parts(frame, labels, members, names)
        return
    X = sparse.csc_array(X) if sparse.issparse(X) else np.asarray(X)
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        raise ValueError(
            f"X must be a table of numbers, or a frame; got shape {X.shape} and dtype {X.dtype}."
        )
    n, n_features = X.shape
    _check_shape(n, n_features, labels, names)
    called = [f"feature {j}" for j in range(n_features)] if names is None else names
    step = max(1, _BLOCK // n)
    for start in range(0, n_features, step):
        block = X[:, start : start + step]
        values = block.toarray() if sparse.issparse(block) else block
        yield _number_part(
            np.asarray(values, dtype=np.float64), called[start : start + step], members
        )


def _frame_parts(
    frame: Any, labels: NDArray[np.int64], members: sparse.csr_array, names: Sequence[str] | None
) -> Iterator[_Part]:
    numbers: dict[str, NDArray[np.float64]] = {}
    for j, series in enumerate(frame.iter_columns()):
        name = str(series.name if names is None else names[j])
        cells = read_cells(series)
        if cells.kind in ("number", "date"):
            numbers[name] = cells.values
        elif cells.kind == "text":
            yield _category_part(name, cells.values, labels)
    if numbers:
        yield _number_part(np.column_stack(list(numbers.values())), list(numbers), members)


def _check_shape(
    n: int, n_features: int, labels: NDArray[np.int64], names: Sequence[str] | None
) -> None:
    if n != len(labels):
        raise ValueError(f"X must have a row for each of the {len(labels)} labels; got {n} rows.")
    if names is not None and len(names) != n_features:
        raise ValueError(
            f"feature_names must name each of the {n_features} features; got {len(names)}."
        )


# --- tests ----------------------------------------------------------------------------------------


def _number_part(
    values: NDArray[np.float64], names: Sequence[str], members: sparse.csr_array
) -> _Part:
    """Mann-Whitney test of each cluster against all other objects, for all features at once."""
    known = ~np.isnan(values)
    n = known.sum(axis=0)
    inside = members @ known.astype(np.float64)
    outside = n - inside
    filled = np.where(known, values, 0.0)
    total = filled.sum(axis=0)
    sums = members @ filled
    ranks = np.where(known, rankdata(np.where(known, values, np.inf), axis=0), 0.0)
    spread = (np.where(known, ranks - (n + 1) / 2, 0.0) ** 2).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean, rest = sums / inside, (total - sums) / outside
        product = inside * outside
        above = members @ ranks - inside * (inside + 1) / 2
        effect = 2 * above / product - 1
        deviation = np.sqrt(product * spread / (n * (n - 1)))  # ties included
        z = (np.abs(above - product / 2) - 0.5) / deviation
        p_value = np.clip(2 * norm.sf(z), 0.0, 1.0)
        difference = (mean - rest) / _pooled_deviation(filled, known, members, mean, rest)
    untested = ~(deviation > 0)
    return _Part(
        names=np.tile(np.asarray(names, dtype=str), (len(mean), 1)),
        kind="number",
        mean=mean,
        rest=rest,
        difference=np.where(untested, 0.0, difference),
        effect=np.where(untested, 0.0, effect),
        p_value=np.where(untested, 1.0, p_value),
    )


def _pooled_deviation(
    filled: NDArray[np.float64],
    known: NDArray[np.bool_],
    members: sparse.csr_array,
    mean: NDArray[np.float64],
    rest: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return (k, n_features): the standard deviation within a cluster and within the rest."""
    n = known.sum(axis=0)
    centre = filled.sum(axis=0) / np.maximum(n, 1)
    squares = np.where(known, filled - centre, 0.0) ** 2
    inside = members @ known.astype(np.float64)
    # Sum of squares around the two means: that around the common one, without what lies between.
    within = squares.sum(axis=0) - np.nan_to_num(
        inside * (mean - centre) ** 2 + (n - inside) * (rest - centre) ** 2
    )
    deviation: NDArray[np.float64] = np.sqrt(np.maximum(within, 0.0) / np.maximum(n - 2, 1))
    return deviation


def _category_part(name: str, values: list[Any], labels: NDArray[np.int64]) -> _Part:
    """Chi-squared test of each cluster against all other objects."""
    texts = np.array(
        [None if value is None else level_name(value) for value in values], dtype=object
    )
    known = np.array([text is not None for text in texts])
    levels, codes = np.unique(texts[known].astype(str), return_inverse=True)
    k = int(labels.max()) + 1
    table = np.zeros((k, max(1, len(levels))))
    np.add.at(table, (labels[known], codes), 1)
    made = [_test_category(table[c], table.sum(axis=0) - table[c]) for c in range(k)]
    names, numbers = [], []
    for level, *row in made:
        names.append(f"{name} = {levels[level]}" if len(levels) else name)
        numbers.append(row)
    mean, rest, effect, p_value = np.array(numbers).T[:, :, None]
    missing = np.full((k, 1), np.nan)
    return _Part(np.array(names)[:, None], "category", mean, rest, missing, effect, p_value)


def _test_category(
    inside: NDArray[np.float64], outside: NDArray[np.float64]
) -> tuple[int, float, float, float, float]:
    """Return the level that differs most, its two shares, Cramér's V and p."""
    shares = inside / max(inside.sum(), 1), outside / max(outside.sum(), 1)
    level = int(np.argmax(np.abs(shares[0] - shares[1])))
    used = (inside + outside) > 0
    table = np.stack([inside[used], outside[used]])
    if table.shape[1] < 2 or not (table.sum(axis=1) > 0).all():
        return level, float(shares[0][level]), float(shares[1][level]), 0.0, 1.0
    test = chi2_contingency(table, correction=False)
    effect = float(np.sqrt(test.statistic / table.sum()))
    return level, float(shares[0][level]), float(shares[1][level]), effect, float(test.pvalue)


def _plain(value: Any) -> Any:
    value = value.item()
    if isinstance(value, float):
        return float(f"{value:.6g}") if np.isfinite(value) else None
    return value
